// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arguments/fixture.h"

#include <cctype>

namespace gsort_test {
namespace {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool has_word(const std::string &text, const std::string &word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool starts = at == 0 || !is_word_character(text[at - 1]);
    if (starts && (end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::string refused_flags(uint32_t flags) {
  const std::pair<uint32_t, const char *> names[] = {{GSORT_DESCENDING, "GSORT_DESCENDING"},
                                                     {GSORT_NAN_LAST, "GSORT_NAN_LAST"},
                                                     {GSORT_SMALLEST, "GSORT_SMALLEST"},
                                                     {GSORT_EXCLUSIVE, "GSORT_EXCLUSIVE"},
                                                     {0x10u, "bit 4"},
                                                     {0x40u, "bit 6"},
                                                     {0x100u, "bit 8"},
                                                     {0x80000000u, "bit 31"}};
  std::string text = "flags has";
  for (const auto &[flag, name] : names)
    if ((flags & flag) != 0) text += (text == "flags has" ? " " : " | ") + std::string(name);
  return text + ", which this call does not take";
}

::testing::AssertionResult has_words(const std::string &text, const Words &words) {
  for (const std::string &word : words) {
    if (!has_word(text, word)) return ::testing::AssertionFailure() << "no \"" << word << "\" in \"" << text << "\"";
  }
  return ::testing::AssertionSuccess();
}

void ArgumentsTest::SetUp() {
  BackendTest::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  // Room for two columns of a matrix and for 8-byte elements: overlaps are made inside one array.
  keys_ = std::make_unique<Buffer>(place(), kItems * 8);
  values_ = std::make_unique<Buffer>(place(), kItems * 8);
  out_ = std::make_unique<Buffer>(place(), kItems * 8);
  values_out_ = std::make_unique<Buffer>(place(), kItems * 8);
  indices_ = std::make_unique<Buffer>(place(), kItems * 8);
  keys_content_ = generate(Distribution::kSmallRange, GSORT_U64, kItems, 1).bytes();
  values_content_ = generate_values(kItems, 8, 2);
  keys_->write(keys_content_);
  values_->write(values_content_);
}

void ArgumentsTest::TearDown() {
  if (IsSkipped() || keys_ == nullptr) return;
  expect_usable();
}

void ArgumentsTest::expect_usable() {
  const Array small = generate(Distribution::kUniform, GSORT_U32, 50, 1);
  EXPECT_TRUE(same_elements(reference_sort(small, 0), run_sort({g(), place()}, small, 0))) << "after the failures";
}

void ArgumentsTest::expect_invalid(gsort_status status, const Words &words) {
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, status) << gsort_status_name(status);
  if (status != GSORT_OK) {
    EXPECT_TRUE(has_words(gsort_error_message(g()), words));
  }
  EXPECT_TRUE(succeeded(g(), gsort_synchronize(g())));
  expect_untouched();
}

void ArgumentsTest::expect_untouched() {
  for (const Buffer *output : {out_.get(), values_out_.get(), indices_.get()}) {
    EXPECT_TRUE(output->untouched()) << "an output was written";
  }
  for (const Buffer *input : {keys_.get(), values_.get()}) EXPECT_TRUE(input->red_zones_intact());
  EXPECT_EQ(keys_content_, keys_->read()) << "the keys were changed";
  EXPECT_EQ(values_content_, values_->read()) << "the values were changed";
}

void ArgumentsTest::expect_ok(gsort_status status) {
  EXPECT_TRUE(succeeded(g(), status));
  EXPECT_TRUE(succeeded(g(), gsort_synchronize(g())));
}

}  // namespace gsort_test
