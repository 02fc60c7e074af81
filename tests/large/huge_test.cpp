// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts past 2^32 for the operations that tests/large leaves out, and 2^33 bytes. Inputs are functions of the index,
// so that all threads make and check them by chunks: an order is proved by properties, or the result is known. The CPU
// engine's tests run with GSORT_TESTS_HUGE=1 in the environment; all skip where memory is too little.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

constexpr uint64_t kTwo32 = uint64_t{1} << 32;
constexpr uint64_t kChunkBytes = uint64_t{1} << 24;

uint64_t mixed(uint64_t bits) {
  bits = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15u;
  return bits ^ bits >> 29;
}

// Every u32 once in the first 2^32, then the first ones again.
uint32_t scrambled(uint64_t i) { return static_cast<uint32_t>(i) * 0x9e3779b1u; }
uint64_t rank_of_scrambled(uint64_t i, uint64_t n) {
  uint64_t rank = scrambled(i) + (i >= kTwo32 ? 1 : 0);
  for (uint64_t again = kTwo32; again < n; again++) rank += scrambled(again) < scrambled(i) ? 1 : 0;
  return rank;
}
uint8_t random_byte(uint64_t i) { return static_cast<uint8_t>(mixed(i) >> 40); }

uint64_t host_free_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

// Runs work(chunk number, first element, elements) for all chunks of n elements, on every processor.
void each_chunk(uint32_t backend, uint64_t n, uint64_t items,
                const std::function<void(uint64_t, uint64_t, uint64_t)> &work) {
  std::atomic<uint64_t> next{0};
  std::vector<std::thread> threads;
  const uint64_t chunks = (n + items - 1) / items;
  for (uint32_t t = 0; t < std::max(1u, std::min(32u, std::thread::hardware_concurrency())); ++t)
    threads.emplace_back([&] {
      if (backend == GSORT_BACKEND_CUDA) use_device(0);
      for (uint64_t c = next++; c < chunks; c = next++) work(c, c * items, std::min(items, n - c * items));
    });
  for (std::thread &thread : threads) thread.join();
}

class HugeTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    GSORT_SKIP_WITHOUT(GetParam());
    if (!cuda() && std::getenv("GSORT_TESTS_HUGE") == nullptr) GTEST_SKIP() << "GSORT_TESTS_HUGE is not set";
    handle_ = std::make_unique<Handle>(GetParam());
    ASSERT_EQ(GSORT_OK, handle_->status()) << gsort_error_message(nullptr);
  }
  void TearDown() override {
    handle_.reset();
    for (void *memory : allocated_) place_free(default_place(GetParam()), memory);
  }
  bool cuda() const { return GetParam() == GSORT_BACKEND_CUDA; }
  gsort *g() const { return handle_->get(); }

  // The arrays, and what the operation needs beside them; on the CPU engine a copy of the keys, with indices or not.
  bool room_for(uint64_t array_bytes, uint32_t op, gsort_dtype t, uint64_t n, uint64_t parameter) const {
    uint64_t workspace = 0;
    EXPECT_EQ(GSORT_OK, gsort_workspace_bytes(op, t, n, parameter, &workspace)) << gsort_error_message(nullptr);
    if (cuda()) return array_bytes + workspace + (uint64_t{1} << 30) < device_free_bytes();
    const bool copies = op == GSORT_OP_SORT || op == GSORT_OP_SORT_SEGMENTS;
    const bool orders = op == GSORT_OP_ARGSORT || op == GSORT_OP_RANK;
    const uint64_t beside = copies ? n * element_type(t).bytes : orders ? n * (element_type(t).bytes + 16) : 0;
    return array_bytes + beside + (uint64_t{2} << 30) < host_free_bytes();
  }

  void copy(void *to, const void *from, size_t bytes) const {
    if (cuda()) copy_bytes(to, from, bytes);
    if (!cuda()) std::memcpy(to, from, bytes);
  }

  template <typename T>
  T *allocate(uint64_t n) {
    allocated_.push_back(place_allocate(default_place(GetParam()), n * sizeof(T)));
    EXPECT_NE(nullptr, allocated_.back());
    return static_cast<T *>(allocated_.back());
  }

  template <typename T, typename Element>
  void fill(T *array, uint64_t n, Element element) {
    each_chunk(GetParam(), n, kChunkBytes / sizeof(T), [&](uint64_t, uint64_t begin, uint64_t count) {
      std::vector<T> chunk(count);
      for (uint64_t i = 0; i < count; i++) chunk[i] = element(begin + i);
      copy(array + begin, chunk.data(), count * sizeof(T));
    });
  }

  // check(first element, chunk) returns how many elements are wrong.
  template <typename T, typename Check>
  void expect_all(const T *array, uint64_t n, Check check) {
    std::atomic<uint64_t> wrong{0};
    each_chunk(GetParam(), n, kChunkBytes / sizeof(T), [&](uint64_t, uint64_t begin, uint64_t count) {
      std::vector<T> chunk(count);
      copy(chunk.data(), array + begin, count * sizeof(T));
      wrong += check(begin, chunk);
    });
    EXPECT_EQ(0u, wrong) << "elements that are wrong";
  }
  template <typename T, typename Element>
  void expect_elements(const T *array, uint64_t n, Element element) {
    expect_all(array, n, [&](uint64_t begin, const std::vector<T> &chunk) {
      uint64_t wrong = 0;
      for (uint64_t i = 0; i < chunk.size(); i++) wrong += chunk[i] != element(begin + i) ? 1 : 0;
      return wrong;
    });
  }

  // Indices below n along which (key, index) rises strictly: a permutation, in order, and stable.
  template <typename I, typename Key>
  void expect_stable_order(const I *order, uint64_t n, Key key) {
    expect_all(order, n, [&](uint64_t begin, const std::vector<I> &chunk) {
      uint64_t wrong = 0;
      I last = 0;
      if (begin > 0) copy(&last, order + begin - 1, sizeof last);
      for (uint64_t i = 0; i < chunk.size(); i++) {
        const bool rises =
            begin + i == 0 || key(last) < key(chunk[i]) || (key(last) == key(chunk[i]) && last < chunk[i]);
        wrong += !rises || chunk[i] >= n ? 1 : 0;
        last = chunk[i];
      }
      return wrong;
    });
  }

  // keys[begin] to keys[end - 1] hold the random bytes of these indices in order.
  void expect_sorted_bytes(const uint8_t *keys, uint64_t begin, uint64_t end) {
    std::array<std::atomic<uint64_t>, 256> counts = {};
    each_chunk(GSORT_BACKEND_CPU, end - begin, kChunkBytes, [&](uint64_t, uint64_t first, uint64_t count) {
      std::array<uint64_t, 256> own = {};
      for (uint64_t i = 0; i < count; i++) own[random_byte(begin + first + i)]++;
      for (size_t key = 0; key < own.size(); key++) counts[key] += own[key];
    });
    std::array<uint64_t, 256> ends = {};
    for (uint64_t key = 0, sum = 0; key < ends.size(); key++) ends[key] = sum += counts[key];
    expect_all(keys + begin, end - begin, [&](uint64_t first, const std::vector<uint8_t> &chunk) {
      uint64_t wrong = 0;
      for (uint64_t i = 0; i < chunk.size(); i++) {
        const uint8_t key = chunk[i];
        wrong += first + i >= ends[key] || (key > 0 && first + i < ends[key - 1]) ? 1 : 0;
      }
      return wrong;
    });
  }

  void expect_ok(gsort_status status) {
    ASSERT_TRUE(succeeded(g(), status));
    ASSERT_TRUE(succeeded(g(), gsort_synchronize(g())));
  }

  template <typename T, typename I, typename Key>
  void check_argsort(gsort_dtype t, gsort_dtype index_t, uint64_t n, Key key) {
    if (!room_for(n * (sizeof(T) + sizeof(I)), GSORT_OP_ARGSORT, t, n, sizeof(I))) GTEST_SKIP() << "too little memory";
    T *const keys = allocate<T>(n);
    I *const order = allocate<I>(n);
    fill(keys, n, key);
    expect_ok(gsort_argsort(g(), t, keys, n, index_t, order, 0));
    expect_stable_order(order, n, key);
  }
  template <typename T, typename I, typename Key, typename Rank>
  void check_rank(gsort_dtype t, gsort_dtype index_t, uint64_t n, Key key, Rank rank) {
    if (!room_for(n * (sizeof(T) + sizeof(I)), GSORT_OP_RANK, t, n, sizeof(I))) GTEST_SKIP() << "too little memory";
    T *const keys = allocate<T>(n);
    I *const ranks = allocate<I>(n);
    fill(keys, n, key);
    expect_ok(gsort_rank(g(), t, keys, n, index_t, ranks, 0));
    expect_elements(ranks, n, [&](uint64_t i) { return static_cast<I>(rank(i)); });
  }

 private:
  std::unique_ptr<Handle> handle_;  // a test's own: it holds the memory that it worked in
  std::vector<void *> allocated_;
};

TEST_P(HugeTest, ArgsortOf2To32KeysWith32BitIndices) {
  check_argsort<uint32_t, uint32_t>(GSORT_U32, GSORT_U32, kTwo32, scrambled);
}
TEST_P(HugeTest, ArgsortOf2To32BytesWith32BitIndices) {
  check_argsort<uint8_t, uint32_t>(GSORT_U8, GSORT_U32, kTwo32, random_byte);
}
TEST_P(HugeTest, ArgsortOf2To32KeysWith64BitIndices) {
  check_argsort<uint32_t, uint64_t>(GSORT_U32, GSORT_U64, kTwo32, scrambled);
}
TEST_P(HugeTest, ArgsortPast2To32) { check_argsort<uint32_t, uint64_t>(GSORT_U32, GSORT_U64, kTwo32 + 3, scrambled); }
TEST_P(HugeTest, ArgsortPast2To32Bytes) {
  check_argsort<uint8_t, uint64_t>(GSORT_U8, GSORT_I64, kTwo32 + 3, random_byte);
}

TEST_P(HugeTest, RankOf2To32KeysWith32BitRanks) {
  check_rank<uint32_t, uint32_t>(GSORT_U32, GSORT_U32, kTwo32, scrambled,
                                 [](uint64_t i) { return rank_of_scrambled(i, kTwo32); });
}
TEST_P(HugeTest, RankOf2To32KeysWith64BitRanks) {
  check_rank<uint32_t, uint64_t>(GSORT_U32, GSORT_U64, kTwo32, scrambled,
                                 [](uint64_t i) { return rank_of_scrambled(i, kTwo32); });
}
TEST_P(HugeTest, RankPast2To32) {
  check_rank<uint32_t, uint64_t>(GSORT_U32, GSORT_U64, kTwo32 + 3, scrambled,
                                 [](uint64_t i) { return rank_of_scrambled(i, kTwo32 + 3); });
}
// Ties of millions: key i % 251, of which each has (n + 250 - key) / 251.
TEST_P(HugeTest, RankOfBytesPast2To32) {
  const uint64_t n = kTwo32 + 3;
  std::array<uint64_t, 252> first = {};
  for (uint64_t key = 0; key < 251; key++) first[key + 1] = first[key] + (n + 250 - key) / 251;
  check_rank<uint8_t, uint64_t>(
      GSORT_U8, GSORT_U64, n, [](uint64_t i) { return static_cast<uint8_t>(i % 251); },
      [&](uint64_t i) { return first[i % 251] + i / 251; });
}

// 2^32 + 3 indices do not fit 32 bits: refused, and nothing written.
TEST_P(HugeTest, IndicesThatDoNotFitAreRefused) {
  uint32_t place[2] = {7, 7};
  for (const gsort_dtype index_t : {GSORT_U32, GSORT_I32}) {
    const uint64_t n = index_t == GSORT_U32 ? kTwo32 + 1 : (uint64_t{1} << 31) + 1;
    EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_argsort(g(), GSORT_U8, place, n, index_t, place + 1, 0));
    EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_rank(g(), GSORT_U8, place, n, index_t, place + 1, 0));
  }
  EXPECT_EQ(7u, place[0] & place[1]);
}

// a holds every u32, b the even ones: of two merged keys, three stand in a row.
TEST_P(HugeTest, MergePast2To32) {
  const uint64_t a_n = kTwo32, b_n = kTwo32 / 2, n = a_n + b_n;
  if (!room_for(2 * n * 4, GSORT_OP_MERGE, GSORT_U32, n, 0)) GTEST_SKIP() << "too little memory";
  uint32_t *const a = allocate<uint32_t>(a_n);
  uint32_t *const b = allocate<uint32_t>(b_n);
  uint32_t *const out = allocate<uint32_t>(n);
  fill(a, a_n, [](uint64_t i) { return static_cast<uint32_t>(i); });
  fill(b, b_n, [](uint64_t i) { return static_cast<uint32_t>(2 * i); });
  expect_ok(gsort_merge(g(), GSORT_U32, a, a_n, b, b_n, out, 0));
  expect_elements(out, n, [](uint64_t i) { return static_cast<uint32_t>(i / 3 * 2 + (i % 3 == 2 ? 1 : 0)); });
}
TEST_P(HugeTest, MergeBytesPast2To32) {
  const uint64_t a_n = kTwo32 + 256, b_n = kTwo32 / 2, n = a_n + b_n;
  if (!room_for(2 * n, GSORT_OP_MERGE, GSORT_U8, n, 0)) GTEST_SKIP() << "too little memory";
  uint8_t *const a = allocate<uint8_t>(a_n);
  uint8_t *const b = allocate<uint8_t>(b_n);
  uint8_t *const out = allocate<uint8_t>(n);
  fill(a, a_n, [&](uint64_t i) { return static_cast<uint8_t>(i / (a_n / 256)); });
  fill(b, b_n, [&](uint64_t i) { return static_cast<uint8_t>(i / (b_n / 256)); });
  expect_ok(gsort_merge(g(), GSORT_U8, a, a_n, b, b_n, out, 0));
  expect_elements(out, n, [&](uint64_t i) { return static_cast<uint8_t>(i / (n / 256)); });
}

// One segment of more than 2^32 keys between short ones.
TEST_P(HugeTest, SegmentLongerThan2To32) {
  const uint64_t n = kTwo32 + 4000;
  const std::vector<uint64_t> offsets = {0, 5, 1000, kTwo32 + 1007, kTwo32 + 1007, kTwo32 + 1100, n};
  if (!room_for(n, GSORT_OP_SORT_SEGMENTS, GSORT_U8, n, offsets.size() - 1)) GTEST_SKIP() << "too little memory";
  uint8_t *const keys = allocate<uint8_t>(n);
  fill(keys, n, random_byte);
  expect_ok(gsort_sort_segments(g(), GSORT_U8, keys, keys, n, offsets.data(), offsets.size() - 1, 0));
  for (size_t s = 0; s + 1 < offsets.size(); s++) expect_sorted_bytes(keys, offsets[s], offsets[s + 1]);
}

// Segments of 1000 keys, the last ones past 2^32, each sorted by counting.
TEST_P(HugeTest, SegmentsPast2To32) {
  constexpr uint64_t kLength = 1000;
  const uint64_t segments = kTwo32 / kLength + 1000, n = segments * kLength;
  if (!room_for(n + segments * 8, GSORT_OP_SORT_SEGMENTS, GSORT_U8, n, segments)) GTEST_SKIP() << "too little memory";
  uint8_t *const keys = allocate<uint8_t>(n);
  fill(keys, n, random_byte);
  std::vector<uint64_t> offsets(segments + 1);
  for (uint64_t s = 0; s <= segments; s++) offsets[s] = s * kLength;
  expect_ok(gsort_sort_segments(g(), GSORT_U8, keys, keys, n, offsets.data(), segments, 0));
  std::atomic<uint64_t> wrong{0};
  each_chunk(GetParam(), n, kLength << 13, [&](uint64_t, uint64_t begin, uint64_t count) {
    std::vector<uint8_t> chunk(count);
    copy(chunk.data(), keys + begin, count);
    for (uint64_t s = 0; s < count; s += kLength) {
      std::array<uint8_t, kLength> want = {};
      for (uint64_t i = 0; i < kLength; i++) want[i] = random_byte(begin + s + i);
      std::sort(want.begin(), want.end());
      wrong += std::equal(want.begin(), want.end(), chunk.begin() + static_cast<int64_t>(s)) ? 0 : 1;
    }
  });
  EXPECT_EQ(0u, wrong) << "segments that are wrong";
}

// Multiples of 2^-10 of up to 24 bits, whose sum 64-bit integers hold; and two values of 2^120 that cancel.
TEST_P(HugeTest, FloatSumAndMeanPast2To32) {
  const uint64_t n = kTwo32 + 5;
  if (!room_for(n * 4, GSORT_OP_SUM, GSORT_F32, n, 0)) GTEST_SKIP() << "too little memory";
  float *const in = allocate<float>(n);
  const auto integer = [](uint64_t i) { return static_cast<int64_t>(mixed(i) >> 40) - (int64_t{1} << 23) + 777; };
  const auto element = [&](uint64_t i) {
    return i == 1 ? 0x1p120f : i == n - 2 ? -0x1p120f : static_cast<float>(integer(i)) * 0x1p-10f;
  };
  std::atomic<int64_t> sum{0};
  each_chunk(GetParam(), n, kChunkBytes / 4, [&](uint64_t, uint64_t begin, uint64_t count) {
    int64_t part = 0;
    for (uint64_t i = begin; i < begin + count; i++) part += i == 1 || i == n - 2 ? 0 : integer(i);
    sum += part;
  });
  ASSERT_LT(std::abs(sum.load()), int64_t{1} << 53);
  fill(in, n, element);
  double got = 0;
  expect_ok(gsort_sum(g(), GSORT_F32, in, n, &got, 0));
  EXPECT_EQ(static_cast<double>(sum) * 0x1p-10, got);
  expect_ok(gsort_reduce(g(), GSORT_MEAN, GSORT_F32, in, n, &got, 0));
  EXPECT_EQ(static_cast<double>(sum) / static_cast<double>(n) * 0x1p-10, got);
}

constexpr uint64_t kTwo33 = uint64_t{1} << 33;

TEST_P(HugeTest, Sort2To33Bytes) {
  if (!room_for(kTwo33, GSORT_OP_SORT, GSORT_U8, kTwo33, 0)) GTEST_SKIP() << "too little memory";
  uint8_t *const keys = allocate<uint8_t>(kTwo33);
  fill(keys, kTwo33, random_byte);
  expect_ok(gsort_sort(g(), GSORT_U8, keys, keys, kTwo33, 0));
  expect_sorted_bytes(keys, 0, kTwo33);
}

TEST_P(HugeTest, SumAndScan2To33Bytes) {
  if (!room_for(kTwo33, GSORT_OP_SCAN, GSORT_U8, kTwo33, 0)) GTEST_SKIP() << "too little memory";
  uint8_t *const in = allocate<uint8_t>(kTwo33);
  fill(in, kTwo33, random_byte);
  const uint64_t items = kChunkBytes;
  std::vector<uint64_t> before(kTwo33 / items + 1);
  each_chunk(GSORT_BACKEND_CPU, kTwo33, items, [&](uint64_t c, uint64_t begin, uint64_t count) {
    for (uint64_t i = begin; i < begin + count; i++) before[c + 1] += random_byte(i);
  });
  for (size_t c = 1; c < before.size(); c++) before[c] += before[c - 1];
  uint64_t sum = 0;
  expect_ok(gsort_sum(g(), GSORT_U8, in, kTwo33, &sum, 0));
  EXPECT_EQ(before.back(), sum);
  expect_ok(gsort_scan(g(), GSORT_U8, in, in, kTwo33, 0));
  expect_all(in, kTwo33, [&](uint64_t begin, const std::vector<uint8_t> &chunk) {
    uint64_t wrong = 0, running = before[begin / items];
    for (uint64_t i = 0; i < chunk.size(); i++) {
      running += random_byte(begin + i);
      wrong += chunk[i] != static_cast<uint8_t>(running) ? 1 : 0;
    }
    return wrong;
  });
}

// Ones at every 4,099th place: all of them by index, then the first zeros.
TEST_P(HugeTest, TopkOf2To33Bytes) {
  constexpr uint64_t kStep = 4099, kOnes = (kTwo33 - 1) / kStep + 1, kK = kOnes + 5000;
  if (!room_for(kTwo33 + kK * 9, GSORT_OP_TOPK, GSORT_U8, kTwo33, kK)) GTEST_SKIP() << "too little memory";
  uint8_t *const in = allocate<uint8_t>(kTwo33);
  uint8_t *const values = allocate<uint8_t>(kK);
  uint64_t *const indices = allocate<uint64_t>(kK);
  fill(in, kTwo33, [](uint64_t i) { return static_cast<uint8_t>(i % kStep == 0 ? 1 : 0); });
  expect_ok(gsort_topk(g(), GSORT_U8, in, kTwo33, kK, values, GSORT_U64, indices, 0));
  expect_elements(values, kK, [](uint64_t i) { return static_cast<uint8_t>(i < kOnes ? 1 : 0); });
  // Between two ones there are kStep - 1 zeros.
  expect_elements(indices, kK, [](uint64_t i) {
    const uint64_t zero = i - kOnes;
    return i < kOnes ? i * kStep : zero + zero / (kStep - 1) + 1;
  });
}

GSORT_INSTANTIATE_BACKENDS(HugeTest);

}  // namespace
}  // namespace gsort_test
