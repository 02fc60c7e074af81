// SPDX-License-Identifier: MIT OR Apache-2.0
// The sorts of short inputs, in one block and by the blocks of a grid, on data that each of their steps finds hard:
// keys that do not spread over the bins, a sample that misleads, and every edge of the plan.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sort_support.h"

namespace gsort_internal {
namespace {

enum class Hard {
  kNormal,       // floats: most keys in few of the equal parts of the range of bits
  kExponents,    // doubling distances
  kZipf,         // a few values that most keys have, among many others
  kTwoClusters,  // neighbouring values at both ends of the range
  kOneFarKey,    // a cluster, and one key that widens the range
  kManyBits,     // three random words and-ed
  kSawtooth,     // few values, evenly spread
  kNested,       // clusters in clusters
  kCount
};

template <class U>
std::vector<U> hard_keys(Hard hard, uint64_t n, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  constexpr uint32_t kBits = sizeof(U) * 8;
  std::vector<U> keys(n);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t r = random();
    uint64_t key = r;
    if (hard == Hard::kNormal) {
      const double value = normal(random);
      const float narrow = static_cast<float>(value);
      if (sizeof(U) == 8)
        std::memcpy(&key, &value, 8);
      else
        std::memcpy(&key, &narrow, 4);
    }
    if (hard == Hard::kExponents) key = (r >> 8 | uint64_t{1} << 55) >> (r % 56);
    if (hard == Hard::kZipf) key = (1000000 / (1 + r % 1000000)) * 0x9e3779b97f4a7c15u;
    if (hard == Hard::kTwoClusters) key = (r & 1 ? 0 : ~uint64_t{0} << (kBits - 8)) | (r >> 1 & 1023);
    if (hard == Hard::kOneFarKey) key = i == n / 3 ? ~uint64_t{0} : r & 0xffff;
    if (hard == Hard::kManyBits) key = r & random() & random();
    if (hard == Hard::kSawtooth) key = i % 1000 * (~uint64_t{0} >> (64 - kBits)) / 1000;
    if (hard == Hard::kNested) key = uint64_t{1} << (kBits - 1) >> (r % 7 * 4) | (r >> 8) % 100;
    keys[i] = static_cast<U>(key);
  }
  return keys;
}

class SmallSortTest : public SortFixture {
 protected:
  void launch(const Request &request) {
    const DeviceArray workspace(sort::workspace_bytes(request, options_), 0);
    sort::launch(context(), request, workspace.data(), options_);
    ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    workspace.check_zones();
  }

  // Keys, keys in place, pairs whose values are places, and ranks.
  template <class U>
  void check(const std::vector<U> &keys) {
    const uint64_t n = keys.size();
    const KeyOrder order{sizeof(U) == 8   ? GSORT_U64
                         : sizeof(U) == 4 ? GSORT_U32
                         : sizeof(U) == 2 ? GSORT_U16
                                          : GSORT_U8,
                         false, false};
    std::vector<uint32_t> places(n), ranks(n);
    std::iota(places.begin(), places.end(), 0u);
    const std::vector<uint32_t> identity = places;
    std::stable_sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
    std::vector<U> sorted(n);
    for (uint64_t i = 0; i < n; ++i) sorted[i] = keys[places[i]], ranks[places[i]] = static_cast<uint32_t>(i);

    const DeviceArray in(keys, sizeof(U)), out(n * sizeof(U), 3 * sizeof(U));
    const DeviceArray values_in(identity, 4), values_out(n * 4, 0);
    Request request{Operation::kSort, order};
    request.n = n, request.in = in.data(), request.out = out.data();
    launch(request);
    ASSERT_TRUE(out.read_as<U>() == sorted) << "keys";

    request.operation = Operation::kSortPairs;
    request.values_in = values_in.data(), request.values_out = values_out.data(), request.value_bytes = 4;
    launch(request);
    ASSERT_TRUE(out.read_as<U>() == sorted) << "keys of pairs";
    ASSERT_TRUE(values_out.read_as<uint32_t>() == places) << "values";

    request = Request{Operation::kRank, order};
    request.n = n, request.in = in.data(), request.out = values_out.data(), request.index_t = GSORT_U32;
    launch(request);
    ASSERT_TRUE(values_out.read_as<uint32_t>() == ranks) << "ranks";

    request = Request{Operation::kSort, order};
    request.n = n, request.in = in.data(), request.out = in.data();
    launch(request);
    ASSERT_TRUE(in.read_as<U>() == sorted) << "keys in place";
  }

  void check_hard(Hard hard, uint64_t n, uint32_t seed) {
    SCOPED_TRACE("hard=" + std::to_string(static_cast<int>(hard)) + " n=" + std::to_string(n));
    check(hard_keys<uint32_t>(hard, n, seed));
    if (!HasFatalFailure()) check(hard_keys<uint64_t>(hard, n, seed));
  }
};

TEST_F(SmallSortTest, HardKeysInOneBlock) {
  options_.algorithm = sort::Algorithm::kSmallBlock;
  for (int hard = 0; hard < static_cast<int>(Hard::kCount); ++hard) {
    for (const uint64_t n : {65u, 129u, 1000u, 2048u, 4096u, 4097u, 8191u}) {
      check_hard(static_cast<Hard>(hard), n, static_cast<uint32_t>(n));
      if (HasFatalFailure()) return;
    }
  }
}

// Of which a block takes its radix passes, or counts them.
TEST_F(SmallSortTest, HardNarrowKeysInOneBlock) {
  options_.algorithm = sort::Algorithm::kSmallBlock;
  for (int hard = 0; hard <= static_cast<int>(Hard::kCount); ++hard) {
    for (const uint64_t n : {65u, 1023u, 1025u, 2048u, 2049u, 4097u, 8191u, 8192u, 16384u, 32768u}) {
      SCOPED_TRACE("hard=" + std::to_string(hard) + " n=" + std::to_string(n));
      check(hard_keys<uint8_t>(static_cast<Hard>(hard), n, static_cast<uint32_t>(n)));
      check(hard_keys<uint16_t>(static_cast<Hard>(hard), n, static_cast<uint32_t>(n)));
      check(std::vector<uint8_t>(n, 200));
      check(std::vector<uint16_t>(n, 40000));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SmallSortTest, HardKeysByAGrid) {
  options_.algorithm = sort::Algorithm::kGridSampleSort;
  for (int hard = 0; hard < static_cast<int>(Hard::kCount); ++hard) {
    for (const uint64_t n : {513u, 4097u, 20001u, 65536u, 131073u, 262144u}) {
      check_hard(static_cast<Hard>(hard), n, static_cast<uint32_t>(n));
      if (HasFatalFailure()) return;
    }
  }
}

// A sample of a few leading items of sorted keys puts nearly all items into one range, which no block can hold.
TEST_F(SmallSortTest, MisleadingSample) {
  options_.algorithm = sort::Algorithm::kGridSampleSort;
  for (const uint32_t sampled : {1u, 100u, 3000u}) {
    options_.sampled_items = sampled;
    for (const uint64_t n : {6500u, 20000u, 65537u}) {
      SCOPED_TRACE("sampled=" + std::to_string(sampled) + " n=" + std::to_string(n));
      std::vector<uint32_t> keys = hard_keys<uint32_t>(Hard::kCount, n, sampled);
      check(keys);
      std::sort(keys.begin(), keys.end(), std::greater<uint32_t>());
      check(keys);
      check(std::vector<uint64_t>(keys.begin(), keys.end()));
      check(std::vector<uint32_t>(n, 5));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SmallSortTest, ManySeeds) {
  options_.algorithm = sort::Algorithm::kGridSampleSort;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    check(hard_keys<uint32_t>(seed % 3 == 0 ? Hard::kNormal : Hard::kCount, 9000 + seed * 3001, seed));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gsort_internal
