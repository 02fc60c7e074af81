// SPDX-License-Identifier: MIT OR Apache-2.0
// Host scratch memory from the caller's allocator: every allocation fails in turn, and what is given out comes back.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

class CountingAllocator {
 public:
  // The allocation with this number fails, and all after it if `for_good`.
  void fail_at(uint64_t number, bool for_good) {
    calls_ = 0;
    fail_at_ = number;
    for_good_ = for_good;
  }
  void never_fail() { fail_at_ = UINT64_MAX; }
  uint64_t calls() const { return calls_; }
  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t peak_bytes() const { return peak_bytes_; }
  bool failed() const { return calls_ > fail_at_; }
  const std::string &misuse() const { return misuse_; }

  gsort_options options() {
    gsort_options o = default_options(GSORT_BACKEND_CPU);
    o.threads = 2;
    o.host_allocate = allocate;
    o.host_deallocate = deallocate;
    o.allocator_user = this;
    return o;
  }

 private:
  static constexpr uint8_t kFiller = 0xEE;
  static constexpr uint64_t kRedZone = 256;

  static void *allocate(void *user, uint64_t bytes, uint64_t alignment) {
    auto *self = static_cast<CountingAllocator *>(user);
    const std::lock_guard<std::mutex> lock(self->mutex_);
    const uint64_t number = self->calls_++;
    if (bytes == 0) self->misuse_ = "asked for 0 bytes";
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) self->misuse_ = "alignment is no power of two";
    if (number == self->fail_at_ || (self->for_good_ && number > self->fail_at_)) return nullptr;
    const uint64_t step = std::max<uint64_t>(alignment, sizeof(void *));
    void *memory = std::aligned_alloc(step, (bytes + kRedZone + step - 1) / step * step);
    if (memory == nullptr) return nullptr;
    // Memory is not promised to be zero.
    std::memset(memory, kFiller, bytes + kRedZone);
    self->live_[memory] = bytes;
    self->live_bytes_ += bytes;
    self->peak_bytes_ = std::max(self->peak_bytes_, self->live_bytes_);
    return memory;
  }

  static void deallocate(void *user, void *memory, uint64_t bytes) {
    auto *self = static_cast<CountingAllocator *>(user);
    const std::lock_guard<std::mutex> lock(self->mutex_);
    const auto found = self->live_.find(memory);
    if (found == self->live_.end()) {
      self->misuse_ = "gave back what was not given out";
      return;
    }
    if (found->second != bytes) self->misuse_ = "gave back another size than was given out";
    const auto *const behind = static_cast<const uint8_t *>(memory) + found->second;
    if (std::any_of(behind, behind + kRedZone, [](uint8_t byte) { return byte != kFiller; }))
      self->misuse_ = "wrote behind what was given out";
    self->live_bytes_ -= found->second;
    self->live_.erase(found);
    std::free(memory);
  }

  std::mutex mutex_;
  std::map<void *, uint64_t> live_;
  uint64_t calls_ = 0;
  uint64_t fail_at_ = UINT64_MAX;
  bool for_good_ = false;
  uint64_t live_bytes_ = 0;
  uint64_t peak_bytes_ = 0;
  std::string misuse_;
};

class AllocatorTest : public ::testing::TestWithParam<gsort_dtype> {
 protected:
  static constexpr uint64_t kItems = 30000;
  void check_operation(const NamedOperation &operation, bool for_good);
};

// Fails at the first allocation, then at the second, until the call has all it wants. Each time on a new handle, so
// that no allocation is saved by an earlier one.
void AllocatorTest::check_operation(const NamedOperation &operation, bool for_good) {
  const Array input = generate(Distribution::kSmallRange, GetParam(), kItems, 2);
  const Arrays arrays(Place::kHost, input);
  Bytes expected;
  {
    const Handle handle(GSORT_BACKEND_CPU);
    ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays)));
    expected = operation.result(arrays);
  }
  bool succeeded_at_last = false;
  for (uint64_t number = 0; number < 200 && !succeeded_at_last; number++) {
    SCOPED_TRACE(testing::Message() << operation.name << ", allocation " << number << (for_good ? " and on" : ""));
    CountingAllocator allocator;
    {
      const Handle handle(allocator.options());
      ASSERT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
      allocator.fail_at(number, for_good);
      const gsort_status status = operation.run(handle.get(), arrays);
      if (allocator.failed()) {
        // A smaller plan may do without; otherwise the failure is told.
        if (status != GSORT_OK) {
          ASSERT_EQ(GSORT_ERROR_OUT_OF_MEMORY, status) << gsort_status_name(status);
          EXPECT_STRNE("", gsort_error_message(handle.get()));
        }
      } else {
        succeeded_at_last = true;
        ASSERT_TRUE(succeeded(handle.get(), status));
      }
      ASSERT_TRUE(arrays.inputs_intact());
      allocator.never_fail();
      ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays))) << "after the failure";
      ASSERT_EQ(expected, operation.result(arrays));
    }
    ASSERT_EQ("", allocator.misuse());
    ASSERT_EQ(0u, allocator.live_bytes()) << "memory was kept after gsort_destroy()";
  }
  EXPECT_TRUE(succeeded_at_last) << operation.name << " never succeeded";
}

TEST_P(AllocatorTest, EveryAllocationFailsOnce) {
  for (const NamedOperation &operation : all_operations()) check_operation(operation, false);
}

TEST_P(AllocatorTest, EveryAllocationFailsFromSomePointOn) {
  for (const NamedOperation &operation : all_operations()) check_operation(operation, true);
}

TEST_P(AllocatorTest, CreateUnderFailure) {
  for (uint64_t number = 0; number < 20; number++) {
    CountingAllocator allocator;
    allocator.fail_at(number, false);
    {
      const Handle handle(allocator.options());
      if (handle.status() != GSORT_OK) {
        EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, handle.status());
        EXPECT_EQ(nullptr, handle.get());
      }
    }
    EXPECT_EQ(0u, allocator.live_bytes());
  }
}

// In-place work that fails for want of memory leaves the same elements behind.
TEST_P(AllocatorTest, InPlaceKeepsTheMultiset) {
  const Array input = generate(Distribution::kUniform, GetParam(), kItems, 5);
  const Array sorted = reference_sort(input, 0);
  for (uint64_t number = 0; number < 10; number++) {
    CountingAllocator allocator;
    const Handle handle(allocator.options());
    Buffer keys(Place::kHost, input.bytes().size());
    keys.write(input.bytes());
    allocator.fail_at(number, false);
    const gsort_status status = gsort_sort(handle.get(), GetParam(), keys.data(), keys.data(), kItems, 0);
    EXPECT_TRUE(status == GSORT_OK || status == GSORT_ERROR_OUT_OF_MEMORY) << status;
    EXPECT_TRUE(same_elements(sorted, reference_sort(Array(GetParam(), keys.read()), 0)));
    EXPECT_TRUE(keys.red_zones_intact());
  }
}

// By all threads, and with tables of each one's parts.
TEST_P(AllocatorTest, LongCallsKeepToTheirMemory) {
  for (const uint64_t n : {uint64_t{200000}, uint64_t{1} << 20}) {
    const Arrays arrays(Place::kHost, generate(Distribution::kUniform, GetParam(), n, 2));
    for (const uint32_t threads : {2u, 3u, 7u, 8u})
      for (const NamedOperation &operation : all_operations()) {
        CountingAllocator allocator;
        {
          gsort_options options = allocator.options();
          options.threads = threads;
          const Handle handle(options);
          ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays))) << operation.name;
        }
        ASSERT_EQ("", allocator.misuse()) << operation.name << ", " << n << " elements, " << threads << " threads";
      }
  }
}

// A limit holds: what the allocator sees never exceeds it, and the call either manages or says so.
TEST_P(AllocatorTest, HostMemoryLimit) {
  for (const uint64_t limit : {uint64_t{1}, uint64_t{4096}, uint64_t{100000}, uint64_t{400000}, uint64_t{1} << 40}) {
    for (const NamedOperation &operation : all_operations()) {
      SCOPED_TRACE(testing::Message() << operation.name << ", limit " << limit);
      const Arrays arrays(Place::kHost, generate(Distribution::kSmallRange, GetParam(), kItems, 2));
      CountingAllocator allocator;
      gsort_options options = allocator.options();
      options.host_memory_limit_bytes = limit;
      const Handle handle(options);
      if (handle.status() != GSORT_OK) {
        EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, handle.status());
        continue;
      }
      const gsort_status status = operation.run(handle.get(), arrays);
      EXPECT_TRUE(status == GSORT_OK || status == GSORT_ERROR_OUT_OF_MEMORY) << gsort_status_name(status);
      if (limit == uint64_t{1} << 40) {
        EXPECT_EQ(GSORT_OK, status);
      }
      EXPECT_LE(allocator.peak_bytes(), limit);
      EXPECT_TRUE(arrays.inputs_intact());
      gsort_info info = {};
      info.struct_size = sizeof info;
      ASSERT_TRUE(succeeded(handle.get(), gsort_info_get(handle.get(), &info)));
      EXPECT_LE(info.host_held_bytes, limit);
      EXPECT_EQ(allocator.live_bytes(), info.host_held_bytes);
      EXPECT_EQ("", allocator.misuse());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, AllocatorTest, ::testing::Values(GSORT_U8, GSORT_U32, GSORT_F64),
                         [](const auto &test) { return std::string(element_type(test.param).name); });

}  // namespace
}  // namespace gsort_test
