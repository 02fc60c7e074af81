// SPDX-License-Identifier: MIT OR Apache-2.0
// The MSD sort of keys alone: it sorts exactly or says that it did not, whatever the data, and never writes elsewhere.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "core/control.h"
#include "cuda/msd.h"
#include "plan/msd_plan.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kZone = 64;  // keys before and behind every array that nobody may write
constexpr unsigned char kPoison = 0xA5;

DeviceFacts device_facts() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return {};
  return {static_cast<uint32_t>(properties.major * 10 + properties.minor),
          static_cast<uint32_t>(properties.multiProcessorCount),
          static_cast<uint32_t>(properties.sharedMemPerBlockOptin), static_cast<uint32_t>(properties.l2CacheSize)};
}

uint64_t mixed(uint64_t i) {
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// An array on the device, between two zones.
template <class U>
class Guarded {
 public:
  Guarded(uint64_t n, uint64_t offset) : n_(n), offset_(offset) {
    EXPECT_EQ(cudaMalloc(&memory_, whole() * sizeof(U)), cudaSuccess);
    EXPECT_EQ(cudaMemset(memory_, kPoison, whole() * sizeof(U)), cudaSuccess);
  }
  ~Guarded() { cudaFree(memory_); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  U *get() const { return memory_ + kZone + offset_; }
  void put(const std::vector<U> &keys) {
    EXPECT_EQ(cudaMemcpy(get(), keys.data(), n_ * sizeof(U), cudaMemcpyHostToDevice), cudaSuccess);
  }
  std::vector<U> take() const {
    std::vector<U> all(whole());
    EXPECT_EQ(cudaMemcpy(all.data(), memory_, whole() * sizeof(U), cudaMemcpyDeviceToHost), cudaSuccess);
    const auto begin = all.begin() + static_cast<int64_t>(kZone + offset_);
    const auto end = begin + static_cast<int64_t>(n_);
    EXPECT_TRUE(std::all_of(all.begin(), begin, is_poison)) << "written before the array";
    EXPECT_TRUE(std::all_of(end, all.end(), is_poison)) << "written behind the array";
    return std::vector<U>(begin, end);
  }
  static bool is_poison(U key) { return key == static_cast<U>(0xA5A5A5A5A5A5A5A5u); }

 private:
  uint64_t whole() const { return n_ + offset_ + 2 * kZone; }
  uint64_t n_, offset_;
  U *memory_ = nullptr;
};

struct How {
  bool in_place = false;
  uint64_t offset = 0;
  KeyOrder order = {GSORT_U32, false, false};
};

// Runs the sort, checks all that must hold and returns whether the keys were sorted.
template <class U>
bool run(const std::vector<U> &keys, const How &how) {
  const uint64_t n = keys.size(), tables_bytes = msd_tables_bytes(n, sizeof(U));
  const KeyCodec<U> codec = make_codec<U>(how.order);
  const DeviceFacts facts = device_facts();
  const Control control;
  const LaunchContext context = {nullptr, &facts, &control};
  Guarded<U> in(n, how.offset), out(n, how.offset ^ 1), scratch(n, 0);
  Guarded<uint64_t> tables(tables_bytes / 8 + 1, 0);
  in.put(keys);
  const uint32_t *const go = launch_msd<U>(
      context, {in.get(), how.in_place ? in.get() : out.get(), scratch.get(), n, codec, tables.get(), nullptr});
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  uint32_t sorted = 0;
  EXPECT_EQ(cudaMemcpy(&sorted, go, sizeof(sorted), cudaMemcpyDeviceToHost), cudaSuccess);
  scratch.take();
  tables.take();
  std::vector<U> expected = keys;
  std::sort(expected.begin(), expected.end(), [&](U a, U b) { return codec.encode(a) < codec.encode(b); });
  const std::vector<U> after_in = in.take(), after_out = out.take();
  if (!how.in_place) {
    EXPECT_TRUE(after_in == keys) << "the input was written";
    EXPECT_TRUE(sorted ? after_out == expected
                       : std::all_of(after_out.begin(), after_out.end(), Guarded<U>::is_poison));
  } else {
    EXPECT_TRUE(after_in == (sorted ? expected : keys));
  }
  return sorted != 0;
}

template <class U>
std::vector<U> make_keys(uint64_t n, const std::function<uint64_t(uint64_t)> &key) {
  std::vector<U> keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = static_cast<U>(key(i));
  return keys;
}

constexpr uint64_t kOnePass = uint64_t{1} << 20, kTwoPasses = 5000003;

class Msd : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      (void)cudaGetLastError();
      GTEST_SKIP() << "no GPU";
    }
    if (device_facts().shared_bytes_block_max < kMsdSharedBytesMin) GTEST_SKIP() << "a chip with less shared memory";
  }
};

TEST_F(Msd, EvenKeysAreSortedAtEverySize) {
  for (const uint64_t n : {kMsdItemsMin, kMsdItemsMin + 1, kOnePass - 1, kOnePass, uint64_t{kMsdCellKeysMean} << 9,
                           (uint64_t{kMsdCellKeysMean} << 9) + 1, kTwoPasses, kMsdSmallSampleItemsMax + 1}) {
    EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, mixed), {})) << n;
    EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(n, mixed), {})) << n;
  }
}

double unit(uint64_t i) { return static_cast<double>(mixed(i) >> 11) * 0x1p-53; }
double normal(uint64_t i) {
  return std::sqrt(-2 * std::log(unit(2 * i) + 0x1p-60)) * std::cos(6.283185307179586 * unit(2 * i + 1));
}
uint32_t bits_of(double value) {
  const float narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof(bits));
  return bits;
}

// Smooth data of uneven density, which the map serves where the chip has the shared memory for it.
// run() checks both answers: sorted keys, or keys left alone.
TEST_F(Msd, UnevenKeysAreSortedOrLeftAlone) {
  const uint64_t n = (uint64_t{1} << 25) + 12345;
  How how;
  how.order = {GSORT_F32, false, false};
  how.offset = 1;
  run<uint32_t>(make_keys<uint32_t>(n, [](uint64_t i) { return bits_of(unit(i)); }), how);
  how.in_place = true;
  run<uint32_t>(make_keys<uint32_t>(n, [](uint64_t i) { return bits_of(normal(i)); }), how);
  how.order.descending = true;
  run<uint32_t>(make_keys<uint32_t>(n, [](uint64_t i) { return bits_of(-std::log(1 - unit(i))); }), how);
  how.order = {GSORT_I32, false, false};
  const auto integer = [](uint64_t i) { return static_cast<uint64_t>(static_cast<int64_t>(normal(i) * 0x1p27)); };
  run<uint32_t>(make_keys<uint32_t>(n, integer), how);
  how.order = {GSORT_U32, false, false};
  run<uint32_t>(make_keys<uint32_t>(n, [](uint64_t i) { return mixed(i) % 600000000; }), how);
  // Keys in parts of the range where no sample was, below and above and between those of the others.
  std::vector<uint32_t> keys =
      make_keys<uint32_t>(n, [](uint64_t i) { return 0x20000000 + (mixed(i) % 0x10000000 | (i % 2) << 30); });
  for (uint64_t i = 0; i < 600; ++i) keys[mixed(i) % n] = static_cast<uint32_t>(mixed(i + 1000));
  run<uint32_t>(keys, how);
  how.order = {GSORT_F64, false, false};
  const auto wide = [](uint64_t i) {
    const double value = unit(i);
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  };
  run<uint64_t>(make_keys<uint64_t>(n, wide), how);
}

TEST_F(Msd, InPlaceAndAtOddAddresses) {
  for (const uint64_t n : {kOnePass + 7, kTwoPasses})
    for (const uint64_t offset : {0, 1, 3})
      for (const bool in_place : {false, true}) {
        How how;
        how.in_place = in_place;
        how.offset = offset;
        EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, mixed), how)) << n << ' ' << offset;
        EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(n, mixed), how)) << n << ' ' << offset;
      }
}

TEST_F(Msd, EveryOrder) {
  for (const bool descending : {false, true})
    for (const bool nan_last : {false, true})
      for (const gsort_dtype type : {GSORT_U32, GSORT_I32, GSORT_F32}) {
        How how;
        how.order = {type, descending, nan_last};
        // All bit patterns of floats, NaNs too.
        EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kTwoPasses, mixed), how));
      }
  How how;
  how.order = {GSORT_F64, true, true};
  EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(kTwoPasses, mixed), how));
}

TEST_F(Msd, RangesAnywhereInTheWord) {
  for (const uint32_t bits : {20, 24, 29, 31})
    for (const uint32_t low : {0, 1}) {
      const auto key = [&](uint64_t i) {
        return uint64_t{0x40000000} ^ (mixed(i) >> (64 - bits) << (low ? 32 - bits : 0));
      };
      run<uint32_t>(make_keys<uint32_t>(kOnePass, key), {});
      run<uint32_t>(make_keys<uint32_t>(kTwoPasses, key), {});
    }
  EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(kTwoPasses, [](uint64_t i) { return mixed(i) >> 32; }), {}));
  EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(kTwoPasses, [](uint64_t i) { return mixed(i) << 32 | 5; }), {}));
}

// Keys that come in groups with one digit of the finish, around every limit of its methods.
TEST_F(Msd, CrowdedDigits) {
  for (const uint64_t group : {2, 8, 9, 48, 49, 200})
    for (const uint64_t n : {kOnePass, kTwoPasses}) {
      const auto near = [&](uint64_t i) { return (mixed(i * 7919 % n / group) & ~uint64_t{255}) | (mixed(~i) & 255); };
      // Larger groups make cells uneven, too.
      EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, near), {}) || group > 9) << group << ' ' << n;
      run<uint64_t>(make_keys<uint64_t>(n, near), {});
      const auto equal = [&](uint64_t i) { return mixed(i * 7919 % n / group); };
      run<uint32_t>(make_keys<uint32_t>(n, equal), {});
      run<uint64_t>(make_keys<uint64_t>(n, equal), {});
    }
}

// A cell of exactly as many keys as the finish holds, among others that are even; one key more turns the sort away.
TEST_F(Msd, FullestCell) {
  const uint64_t n = kTwoPasses, most = MsdShape<4>::kFinishKeysMax;
  const uint32_t cell_shift = 32 - plan_msd(n).cell_bits;
  for (const uint64_t cell_keys : {most, most + 1}) {
    const uint64_t cell = 77;
    std::vector<uint32_t> keys = make_keys<uint32_t>(n, mixed);
    uint64_t there = 0;
    for (const uint32_t key : keys) there += key >> cell_shift == cell;
    for (uint64_t i = 0; there < cell_keys; i += 97)
      if (keys[i % n] >> cell_shift != cell) {
        keys[i % n] = static_cast<uint32_t>(cell << cell_shift | mixed(i) >> (64 - cell_shift));
        ++there;
      }
    EXPECT_EQ(run<uint32_t>(keys, {}), cell_keys == most);
  }
}

TEST_F(Msd, DataForAnotherMethodIsLeftAlone) {
  const auto expect_away = [](const std::function<uint64_t(uint64_t)> &key) {
    for (const bool in_place : {false, true}) {
      How how;
      how.in_place = in_place;
      EXPECT_FALSE(run<uint32_t>(make_keys<uint32_t>(kOnePass, key), how));
      EXPECT_FALSE(run<uint64_t>(make_keys<uint64_t>(kTwoPasses, key), how));
    }
  };
  expect_away([](uint64_t) { return 42; });
  expect_away([](uint64_t i) { return i % 2; });
  expect_away([](uint64_t i) { return mixed(i) % 1000; });
  expect_away([](uint64_t i) { return i == 12345 ? uint64_t{1} << 31 : mixed(i) >> 60; });
  // One full cell among empty ones.
  expect_away([](uint64_t i) { return i % 64 == 0 ? mixed(i) : (mixed(i) & 0x00ffffff) | 0x33000000; });
}

// Single keys with another prefix than all others, most of which no sample sees.
TEST_F(Msd, ForeignPrefix) {
  for (const uint64_t n : {kOnePass, kTwoPasses})
    for (const uint64_t place : {uint64_t{0}, uint64_t{1}, n / 2, n - 1, uint64_t{31337}}) {
      std::vector<uint32_t> keys = make_keys<uint32_t>(n, [](uint64_t i) { return mixed(i) & 0x7fffffff; });
      keys[place] |= 0x80000000u;
      EXPECT_FALSE(run<uint32_t>(keys, {})) << n << ' ' << place;
    }
}

TEST_F(Msd, SortedReversedAndRepeated) {
  const uint64_t n = kTwoPasses;
  EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, [&](uint64_t i) { return (i << 32) / n; }), {}));
  EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, [&](uint64_t i) { return ((n - 1 - i) << 32) / n; }), {}));
  for (int repeat = 0; repeat < 20; ++repeat)
    EXPECT_TRUE(run<uint32_t>(
        make_keys<uint32_t>(kOnePass, [&](uint64_t i) { return mixed(i + static_cast<uint64_t>(repeat) * kOnePass); }),
        {}));
}

}  // namespace
}  // namespace gsort_internal
