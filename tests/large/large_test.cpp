// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts around 2^31 and 2^32 on the GPU, where 32-bit counters wrap. Made and checked by chunks on the host; each test
// skips if the device has too little memory.
#include <algorithm>
#include <array>

#include "inputs/distributions.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{1} << 26;

// A number an element that shows lost, doubled and altered elements when summed up.
uint64_t mixed(uint64_t bits) {
  bits = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15u;
  return bits ^ bits >> 29;
}

class cuda_Large : public ::testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override { GSORT_SKIP_WITHOUT(GSORT_BACKEND_CUDA); }
  void TearDown() override {
    for (void *memory : allocated_) place_free(Place::kDevice, memory);
  }

  // The arrays and as much again as the operation needs beside them.
  bool room_for(uint64_t array_bytes, uint32_t op, gsort_dtype t, uint64_t n, uint64_t last) const {
    uint64_t workspace = 0;
    EXPECT_EQ(GSORT_OK, gsort_workspace_bytes(op, t, n, last, &workspace)) << gsort_error_message(nullptr);
    return array_bytes + workspace + (uint64_t{1} << 30) < device_free_bytes();
  }

  uint8_t *allocate(uint64_t bytes) {
    allocated_.push_back(place_allocate(Place::kDevice, bytes));
    EXPECT_NE(nullptr, allocated_.back());
    return static_cast<uint8_t *>(allocated_.back());
  }

  // Random elements; returns the sum of their mixed numbers. One random chunk is written again and again, changed here
  // and there, so that making billions of elements takes seconds.
  template <typename T>
  uint64_t fill(uint8_t *device, uint64_t n) {
    std::vector<T> chunk(kChunkBytes / sizeof(T));
    Random random(n);
    for (T &element : chunk) element = static_cast<T>(random.next());
    uint64_t sum = 0;
    for (uint64_t begin = 0; begin < n; begin += chunk.size()) {
      const uint64_t count = std::min<uint64_t>(chunk.size(), n - begin);
      for (uint64_t i = 0; i < count; i += 4099) chunk[i] = static_cast<T>(random.next());
      for (uint64_t i = 0; i < count; i++) sum += mixed(chunk[i]);
      copy_bytes(device + begin * sizeof(T), chunk.data(), count * sizeof(T));
    }
    return sum;
  }

  // Checks the order and returns the sum of the mixed numbers.
  template <typename T>
  uint64_t check_ascending(const uint8_t *device, uint64_t n) {
    std::vector<T> chunk(kChunkBytes / sizeof(T));
    uint64_t sum = 0;
    uint64_t wrong = 0;
    T last = 0;
    for (uint64_t begin = 0; begin < n; begin += chunk.size()) {
      const uint64_t count = std::min<uint64_t>(chunk.size(), n - begin);
      copy_bytes(chunk.data(), device + begin * sizeof(T), count * sizeof(T));
      for (uint64_t i = 0; i < count; i++) {
        wrong += chunk[i] < last ? 1 : 0;
        last = chunk[i];
        sum += mixed(chunk[i]);
      }
    }
    EXPECT_EQ(0u, wrong) << "places where the order falls";
    return sum;
  }

  gsort *g() const { return shared_handle(GSORT_BACKEND_CUDA); }
  void expect_ok(gsort_status status) {
    ASSERT_TRUE(succeeded(g(), status));
    ASSERT_TRUE(succeeded(g(), gsort_synchronize(g())));
  }

 private:
  std::vector<void *> allocated_;
};

TEST_P(cuda_Large, SortU8) {
  const uint64_t n = GetParam();
  if (!room_for(n, GSORT_OP_SORT, GSORT_U8, n, 0)) GTEST_SKIP() << "too little device memory";
  uint8_t *keys = allocate(n);
  const uint64_t before = fill<uint8_t>(keys, n);
  expect_ok(gsort_sort(g(), GSORT_U8, keys, keys, n, 0));
  EXPECT_EQ(before, check_ascending<uint8_t>(keys, n));
}

TEST_P(cuda_Large, SortU32) {
  const uint64_t n = GetParam();
  if (!room_for(n * 4, GSORT_OP_SORT, GSORT_U32, n, 0)) GTEST_SKIP() << "too little device memory";
  uint8_t *keys = allocate(n * 4);
  const uint64_t before = fill<uint32_t>(keys, n);
  expect_ok(gsort_sort_u32(g(), reinterpret_cast<uint32_t *>(keys), n, 0));
  EXPECT_EQ(before, check_ascending<uint32_t>(keys, n));
}

// Few distinct keys make long runs of equals; their values must keep the order of the input.
TEST_P(cuda_Large, StablePairsU8) {
  const uint64_t n = GetParam();
  if (!room_for(n * 5, GSORT_OP_SORT_PAIRS, GSORT_U8, n, 4)) GTEST_SKIP() << "too little device memory";
  uint8_t *keys = allocate(n);
  uint8_t *values = allocate(n * 4);
  const uint64_t chunk = kChunkBytes / 4;
  Bytes some_keys(chunk);
  std::vector<uint32_t> some_values(chunk);
  for (uint64_t begin = 0; begin < n; begin += chunk) {
    const uint64_t count = std::min(chunk, n - begin);
    for (uint64_t i = 0; i < count; i++) {
      some_keys[i] = static_cast<uint8_t>(mixed(begin + i) % 3);
      some_values[i] = static_cast<uint32_t>((begin + i) >> 1);  // fits 32 bits up to 2^33 elements
    }
    copy_bytes(keys + begin, some_keys.data(), count);
    copy_bytes(values + begin * 4, some_values.data(), count * 4);
  }
  expect_ok(gsort_sort_pairs(g(), GSORT_U8, keys, keys, 4, values, values, n, 0));
  uint64_t wrong = 0;
  uint64_t last = 0;
  for (uint64_t begin = 0; begin < n; begin += chunk) {
    const uint64_t count = std::min(chunk, n - begin);
    copy_bytes(some_keys.data(), keys + begin, count);
    copy_bytes(some_values.data(), values + begin * 4, count * 4);
    for (uint64_t i = 0; i < count; i++) {
      const uint64_t now = uint64_t{some_keys[i]} << 32 | some_values[i];
      wrong += now < last ? 1 : 0;
      last = now;
    }
  }
  EXPECT_EQ(0u, wrong);
}

// The best element stands at the very end, the next ones tie over the whole range.
TEST_P(cuda_Large, TopkAndArgmax) {
  const uint64_t n = GetParam();
  if (!room_for(n, GSORT_OP_TOPK, GSORT_U8, n, 100)) GTEST_SKIP() << "too little device memory";
  uint8_t *in = allocate(n);
  const Bytes zeros(kChunkBytes, 0);
  for (uint64_t begin = 0; begin < n; begin += kChunkBytes) {
    copy_bytes(in + begin, zeros.data(), std::min(kChunkBytes, n - begin));
  }
  const uint8_t best = 9;
  const uint8_t second = 7;
  copy_bytes(in + n - 1, &best, 1);
  copy_bytes(in + n / 2, &second, 1);
  copy_bytes(in + 12345, &second, 1);
  std::array<uint8_t, 5> values = {};
  std::array<uint64_t, 5> indices = {};
  expect_ok(gsort_topk(g(), GSORT_U8, in, n, 5, values.data(), GSORT_U64, indices.data(), 0));
  EXPECT_EQ((std::array<uint8_t, 5>{9, 7, 7, 0, 0}), values);
  EXPECT_EQ((std::array<uint64_t, 5>{n - 1, 12345, n / 2, 0, 1}), indices);
  uint64_t where = 0;
  expect_ok(gsort_reduce(g(), GSORT_ARGMAX, GSORT_U8, in, n, &where, 0));
  EXPECT_EQ(n - 1, where);
}

TEST_P(cuda_Large, SumAndScan) {
  const uint64_t n = GetParam();
  if (!room_for(n * 4, GSORT_OP_SCAN, GSORT_U32, n, 0)) GTEST_SKIP() << "too little device memory";
  uint8_t *in = allocate(n * 4);
  const std::vector<uint32_t> ones(kChunkBytes / 4, 1);
  for (uint64_t begin = 0; begin < n; begin += ones.size()) {
    copy_bytes(in + begin * 4, ones.data(), std::min<uint64_t>(ones.size(), n - begin) * 4);
  }
  uint64_t sum = 0;
  expect_ok(gsort_sum(g(), GSORT_U32, in, n, &sum, 0));
  EXPECT_EQ(n, sum);
  expect_ok(gsort_scan(g(), GSORT_U32, in, in, n, 0));
  std::vector<uint32_t> chunk(ones.size());
  uint64_t wrong = 0;
  for (uint64_t begin = 0; begin < n; begin += chunk.size()) {
    const uint64_t count = std::min<uint64_t>(chunk.size(), n - begin);
    copy_bytes(chunk.data(), in + begin * 4, count * 4);
    for (uint64_t i = 0; i < count; i++) wrong += chunk[i] != static_cast<uint32_t>(begin + i + 1) ? 1 : 0;
  }
  EXPECT_EQ(0u, wrong) << "running sums that differ, modulo 2^32";
}

INSTANTIATE_TEST_SUITE_P(Counts, cuda_Large,
                         ::testing::Values((uint64_t{1} << 28) + 1, (uint64_t{1} << 31) - 1, uint64_t{1} << 31,
                                           (uint64_t{1} << 31) + 1, (uint64_t{1} << 32) - 6, (uint64_t{1} << 32) - 1,
                                           uint64_t{1} << 32, (uint64_t{1} << 32) + 1),
                         [](const auto &test) { return "n" + std::to_string(test.param); });

}  // namespace
}  // namespace gsort_test
