// SPDX-License-Identifier: MIT OR Apache-2.0
// The bins that the stable sample sort makes of a sorted sample: whatever it is, every key lies in one bin, and few
// bins but those of one value have many of the sample's keys.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cuda/sort/sample_sort/stable_bins.cuh"
#include "made_keys.h"

namespace gsort_internal::sort::sample_sort {
namespace {

using Keys = std::vector<uint64_t>;
using Random = std::mt19937_64;

template <uint32_t kBits>
class MadeBins {
 public:
  explicit MadeBins(const Keys &sorted) : sorted_(sorted) {
    std::vector<uint64_t> room(StableBins<kBits>::kBins);
    emulation::launch(1, kStableThreads, 0, [&] {
      const bool crowded = make_bins<kBits>(sorted_.data(), room.data(), bins_);
      if (threadIdx.x == 0) crowded_ = crowded;
    });
  }
  bool crowded() const { return crowded_; }

  uint32_t bin_of(uint64_t key) const {
    uint32_t bins[1];
    find_parts<kBits>(bins_.tree, &key, bins);
    return bins[0];
  }
  bool one_value(uint32_t bin) const { return has_one_value(bins_.starts[bin], bins_.starts[bin + 1]); }

  // A bin has the keys from its start to the next one's, and bins have all keys.
  void check_bins() const {
    EXPECT_EQ(0u, bins_.starts[0]);
    EXPECT_EQ(0u, bins_.starts[StableBins<kBits>::kBins]);
    for (uint32_t bin = 1; bin < StableBins<kBits>::kBins; ++bin)
      ASSERT_LE(bins_.starts[bin - 1], bins_.starts[bin]) << bin;
  }
  void check_key(uint64_t key) const {
    const uint32_t bin = bin_of(key);
    ASSERT_LE(bins_.starts[bin], key);
    ASSERT_TRUE(bins_.starts[bin + 1] > key || bins_.starts[bin + 1] == 0) << key;
  }
  // Of bins of several values: the most of the sample's keys, as a share of those that a bin is meant to have.
  double fullest() const {
    std::vector<uint32_t> counts(StableBins<kBits>::kBins, 0);
    for (const uint64_t key : sorted_) ++counts[bin_of(key)];
    uint32_t most = 0;
    for (uint32_t bin = 0; bin < counts.size(); ++bin)
      if (!one_value(bin)) most = std::max(most, counts[bin]);
    return static_cast<double>(most) / StableBins<kBits>::kApart;
  }

 private:
  const Keys &sorted_;
  StableBins<kBits> bins_;
  bool crowded_ = false;
};

template <class Make>
Keys sample_of(uint64_t seed, const Make &make) {
  Keys sample = made_keys<uint64_t>(kStableSample, seed, make);
  std::sort(sample.begin(), sample.end());
  return sample;
}

template <uint32_t kBits>
void check(const Keys &sorted, double fullest_most, bool crowded = false) {
  const MadeBins<kBits> bins(sorted);
  EXPECT_EQ(crowded, bins.crowded());
  bins.check_bins();
  Random random(3);
  for (uint32_t i = 0; i < 20000; ++i) bins.check_key(random());
  for (const uint64_t key : sorted)
    for (const uint64_t near : {key - 1, key, key + 1}) bins.check_key(near);
  for (const uint64_t end : {uint64_t{0}, uint64_t{1}, ~uint64_t{0} - 1, ~uint64_t{0}}) bins.check_key(end);
  EXPECT_LE(bins.fullest(), fullest_most);
}
void check_both(const Keys &sorted, double fullest_most, bool crowded = false) {
  check<kStableBinBits - 1>(sorted, fullest_most, crowded);
  check<kStableBinBits>(sorted, fullest_most, crowded);
}

TEST(StableBins, OfKeysThatDiffer) {
  check_both(sample_of(1, [](Random &random) { return random(); }), 1.1);
  check_both(sample_of(2, [](Random &random) { return random() >> 40; }), 1.1);
  check_both(sample_of(3, [](Random &random) { return random() >> random() % 60; }), 1.2);
  check_both(sample_of(4, [](Random &random) { return uint64_t{0} - random() % 1000000; }), 1.1);
  check_both(sample_of(5, [](Random &random) { return (random() % 2 << 63) + (random() >> 30); }), 1.1);
}

// Values of every frequency: where one is at a splitter it has a bin of its own or lies on its lesser side.
TEST(StableBins, OfValuesThatComeOften) {
  for (const uint64_t values : {1, 2, 3, 40, 400, 700, 1500, 5000, 30000}) {
    SCOPED_TRACE(values);
    check_both(sample_of(values, [=](Random &random) { return (random() % values + 1) * 0x9e3779b97f4a7c15; }), 2);
    check_both(sample_of(values, [=](Random &random) { return random() % values; }), 2);
    check_both(sample_of(values, [=](Random &random) { return ~(random() % values); }), 2);
  }
  const auto zipf = [](Random &random) {
    return static_cast<uint64_t>(std::pow(2e5, unit(random()))) * 0x9e3779b97f4a7c15;
  };
  check_both(sample_of(9, zipf), 1.4);
  check_both(sample_of(10, [](Random &random) { return random() % 10 != 0 ? uint64_t{1} << 63 : random(); }), 1.1);
}

// A bin so wide is cut around its gap, so that no bin has many keys on both sides of one.
TEST(StableBins, AreCutAroundGaps) {
  Keys sample = sample_of(6, [](Random &random) { return random() % 2 != 0 ? random() >> 20 : ~(random() >> 20); });
  check_both(sample, 1.1);
  const MadeBins<kStableBinBits> bins(sample);
  const auto above = std::lower_bound(sample.begin(), sample.end(), uint64_t{1} << 63);
  const uint32_t low = bins.bin_of(above[-1]), middle = bins.bin_of(uint64_t{1} << 63), high = bins.bin_of(above[0]);
  EXPECT_LT(low, middle);
  EXPECT_LT(middle, high);
}

// More that ask for a bin of their own than there are bins to spare.
TEST(StableBins, RunOut) {
  check_both(sample_of(7, [](Random &random) { return random() % 900 * (~uint64_t{0} / 900); }), 2);
  check_both(sample_of(8, [](Random &random) { return random() % 500 * (~uint64_t{0} / 500); }), 2);
}

TEST(StableBins, OfClustersInClustersAreCrowded) {
  const auto letters = [](Random &random) {
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word = word << 8 | "eeetaoinshrdlu"[random() % 14];
    return word;
  };
  check_both(sample_of(11, letters), 2, true);
  // Few leading halves, each with small numbers in the other half.
  const auto numbered = [](Random &random) {
    const uint64_t leading = (random() % 3000 + 1) * 0x9e3779b97f4a7c15 >> 32 << 32;
    return leading | (random() % 3 == 0 ? random() >> 32 : random() & 0xffff);
  };
  check_both(sample_of(12, numbered), 2, true);
  // A thousand clusters that are smooth inside.
  std::normal_distribution<double> normal;
  const auto cluster = [&](Random &random) {
    return (random() % 1000 + 1) * 0x9e3779b97f4a7c15 + static_cast<uint64_t>((normal(random) + 20) * 0x1p44);
  };
  check_both(sample_of(13, cluster), 2);
}

}  // namespace
}  // namespace gsort_internal::sort::sample_sort
