// SPDX-License-Identifier: MIT OR Apache-2.0
// What every test of a wrong argument does: the status, the words of the message, nothing written, handle usable.
#ifndef GSORT_TESTS_ARGUMENTS_FIXTURE_H_
#define GSORT_TESTS_ARGUMENTS_FIXTURE_H_

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "inputs/distributions.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {

using Words = std::vector<std::string>;

inline std::string as_text(const void *pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}
inline std::string as_text(uint64_t number) { return std::to_string(number); }
// What a message says of flags that a call does not take, by their names.
std::string refused_flags(uint32_t flags);

// True if the text has the words, each not as a part of a longer one.
::testing::AssertionResult has_words(const std::string &text, const Words &words);

class ArgumentsTest : public BackendTest {
 protected:
  static constexpr uint64_t kItems = 64;
  static constexpr uint64_t kTooMany = uint64_t{1} << 62;  // times 4 bytes is past 2^64

  void SetUp() override;
  void TearDown() override;

  // The call failed as it should; afterwards nothing is written and the handle works.
  void expect_invalid(gsort_status status, const Words &words);
  void expect_ok(gsort_status status);
  // Nothing was written into the fixture's outputs, and its inputs are as they were.
  void expect_untouched();

  gsort *g() const { return handle(); }
  const void *keys() const { return keys_->data(); }
  void *out() const { return out_->data(); }
  const void *values() const { return values_->data(); }
  void *values_out() const { return values_out_->data(); }
  void *indices() const { return indices_->data(); }
  static uint8_t *bytes(const void *array) { return static_cast<uint8_t *>(const_cast<void *>(array)); }

 private:
  void expect_usable();

  std::unique_ptr<Buffer> keys_;
  std::unique_ptr<Buffer> values_;
  std::unique_ptr<Buffer> out_;
  std::unique_ptr<Buffer> values_out_;
  std::unique_ptr<Buffer> indices_;
  Bytes keys_content_;
  Bytes values_content_;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_ARGUMENTS_FIXTURE_H_
