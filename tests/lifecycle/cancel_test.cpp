// SPDX-License-Identifier: MIT OR Apache-2.0
// Progress, cancelling from the progress function and from another thread, and the log.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "inputs/distributions.h"
#include "reference/float_scan.h"
#include "reference/sums.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

constexpr uint64_t kManyItems = uint64_t{1} << 22;

struct Progress {
  uint64_t calls = 0;
  uint64_t last_done = 0;
  uint64_t total = 0;
  bool consistent = true;
  std::thread::id thread = std::this_thread::get_id();
  uint64_t cancel_at_call = UINT64_MAX;
  gsort *cancel_handle = nullptr;
};

int32_t watch(void *user, uint64_t done, uint64_t total) {
  auto *p = static_cast<Progress *>(user);
  if (done > total || done < p->last_done || (p->calls > 0 && total != p->total)) p->consistent = false;
  if (std::this_thread::get_id() != p->thread) p->consistent = false;
  p->last_done = done;
  p->total = total;
  if (p->calls++ != p->cancel_at_call) return 0;
  if (p->cancel_handle == nullptr) return 1;
  gsort_cancel(p->cancel_handle);
  return 0;
}

class CancelTest : public BackendTest {
 protected:
  // Host arrays on either backend: progress belongs to work on host memory.
  void SetUp() override {
    BackendTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    owned_ = std::make_unique<Handle>(backend(), 2);
    ASSERT_EQ(GSORT_OK, owned_->status());
    keys_ = generate(Distribution::kUniform, GSORT_U64, kManyItems, 1);
  }
  gsort *g() const { return owned_->get(); }
  void expect_usable() {
    ASSERT_TRUE(succeeded(g(), gsort_set_progress(g(), nullptr, nullptr)));
    const Array small = generate(Distribution::kUniform, GSORT_U32, 5000, 1);
    EXPECT_TRUE(same_elements(reference_sort(small, 0), run_sort({g()}, small, 0)));
  }
  // The sum of all keys and of their squares, which no lost or doubled key leaves as it is.
  static std::pair<uint64_t, uint64_t> fingerprint(const Array &keys) {
    uint64_t sum = 0;
    uint64_t squares = 0;
    for (uint64_t i = 0; i < keys.size(); i++) {
      sum += keys.get(i);
      squares += keys.get(i) * keys.get(i);
    }
    return {sum, squares};
  }

  std::unique_ptr<Handle> owned_;
  Array keys_;
};

TEST_P(CancelTest, ProgressRunsToTheEnd) {
  Progress progress;
  ASSERT_TRUE(succeeded(g(), gsort_set_progress(g(), watch, &progress)));
  Array out = keys_;
  ASSERT_TRUE(succeeded(g(), gsort_sort_u64(g(), reinterpret_cast<uint64_t *>(out.bytes().data()), kManyItems, 0)));
  EXPECT_GT(progress.calls, 0u);
  EXPECT_TRUE(progress.consistent) << "done must grow up to a total that stays, on the calling thread";
  EXPECT_EQ(fingerprint(keys_), fingerprint(out));
  expect_usable();
}

TEST_P(CancelTest, ProgressFunctionCancels) {
  for (const uint64_t call : {uint64_t{0}, uint64_t{1}, uint64_t{3}}) {
    for (const bool by_gsort_cancel : {false, true}) {
      SCOPED_TRACE(testing::Message() << "at call " << call << (by_gsort_cancel ? " by gsort_cancel()" : ""));
      Progress progress;
      progress.cancel_at_call = call;
      progress.cancel_handle = by_gsort_cancel ? g() : nullptr;
      ASSERT_TRUE(succeeded(g(), gsort_set_progress(g(), watch, &progress)));
      Array in_place = keys_;
      const gsort_status status =
          gsort_sort_u64(g(), reinterpret_cast<uint64_t *>(in_place.bytes().data()), kManyItems, 0);
      // Only the call that ran after the last chunk may be too late.
      if (progress.calls > call && progress.last_done < progress.total) {
        EXPECT_EQ(GSORT_ERROR_CANCELLED, status) << gsort_status_name(status);
      }
      EXPECT_EQ(fingerprint(keys_), fingerprint(in_place)) << "must be a permutation of the input";
      expect_usable();
    }
  }
}

TEST_P(CancelTest, SeparateInputStaysIntact) {
  Progress progress;
  progress.cancel_at_call = 0;
  ASSERT_TRUE(succeeded(g(), gsort_set_progress(g(), watch, &progress)));
  const Array before = keys_;
  Array out(GSORT_U64, kManyItems);
  EXPECT_EQ(GSORT_ERROR_CANCELLED, gsort_sort(g(), GSORT_U64, keys_.bytes().data(), out.bytes().data(), kManyItems, 0));
  EXPECT_STRNE("", gsort_error_message(g()));
  EXPECT_EQ(before.bytes(), keys_.bytes());
  expect_usable();
}

// A scan is no permutation of its input: in place it is done whole or leaves everything as it was.
TEST_P(CancelTest, ScanInPlaceIsAllOrNothing) {
  for (const gsort_dtype t : {GSORT_U16, GSORT_I64, GSORT_F32, GSORT_F64}) {
    const Array in = generate(Distribution::kSmallRange, t, 300000, 1);
    const bool is_float = element_type(t).is_float;
    const auto scanned = [&](uint32_t flags) {
      return is_float ? reference_float_scan(in, flags) : reference_integer_scan(in, flags);
    };
    const Array inclusive = scanned(0);
    const Array exclusive = scanned(GSORT_EXCLUSIVE);
    for (const uint32_t threads : {1u, 3u}) {
      const Handle own(backend(), threads);
      bool was_cancelled = false;
      for (uint64_t call = 0; call < 40; call += 1 + call / 2) {
        for (const uint32_t flags : {0u, GSORT_EXCLUSIVE}) {
          Progress progress;
          progress.cancel_at_call = call;
          ASSERT_TRUE(succeeded(own.get(), gsort_set_progress(own.get(), watch, &progress)));
          Array in_place = in;
          const gsort_status status =
              gsort_scan(own.get(), t, in_place.bytes().data(), in_place.bytes().data(), in.size(), flags);
          SCOPED_TRACE(testing::Message() << element_type(t).name << ", cancelled at call " << call << " of " << threads
                                          << " threads" << describe_flags(flags));
          if (status == GSORT_ERROR_CANCELLED) {
            was_cancelled = true;
            ASSERT_TRUE(same_elements(in, in_place)) << "must be untouched";
          } else {
            ASSERT_EQ(GSORT_OK, status);
            ASSERT_TRUE(same_elements(flags == 0 ? inclusive : exclusive, in_place));
          }
        }
      }
      EXPECT_TRUE(was_cancelled);
    }
  }
}

TEST_P(CancelTest, WithNothingRunningItHasNoEffect) {
  EXPECT_TRUE(succeeded(g(), gsort_cancel(g())));
  expect_usable();
}

TEST_P(CancelTest, FromAnotherThread) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      gsort_cancel(g());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  for (int i = 0; i < 5; i++) {
    Array in_place = keys_;
    const gsort_status status =
        gsort_sort_u64(g(), reinterpret_cast<uint64_t *>(in_place.bytes().data()), kManyItems, 0);
    EXPECT_TRUE(status == GSORT_OK || status == GSORT_ERROR_CANCELLED) << gsort_status_name(status);
    EXPECT_EQ(fingerprint(keys_), fingerprint(in_place));
  }
  stop = true;
  other.join();
  expect_usable();
}

void keep_line(void *user, const char *message) { static_cast<std::vector<std::string> *>(user)->push_back(message); }

TEST_P(CancelTest, LogTellsThePlan) {
  std::vector<std::string> lines;
  gsort_options options = default_options(backend());
  options.log = keep_line;
  options.log_user = &lines;
  {
    const Handle handle(options);
    ASSERT_EQ(GSORT_OK, handle.status());
    const Array keys = generate(Distribution::kUniform, GSORT_U32, 100000, 1);
    run_sort({handle.get()}, keys, 0);
  }
  EXPECT_FALSE(lines.empty());
  for (const std::string &line : lines) {
    EXPECT_FALSE(line.empty());
    EXPECT_EQ(std::string::npos, line.find('\n')) << line;
  }
}

GSORT_INSTANTIATE_BACKENDS(CancelTest);

}  // namespace
}  // namespace gsort_test
