// SPDX-License-Identifier: MIT OR Apache-2.0
// Cells of any keys that a block sorts on chip, and what the sample sort makes of its bins and its sample.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cuda/sort/msd/split_cell.cuh"
#include "cuda/sort/sample_sort/crowding.cuh"
#include "cuda/sort/sample_sort/layout.cuh"
#include "made_keys.h"

namespace gsort_internal::sort {
namespace {

using Random = std::mt19937_64;

template <class U>
void check_cell(const std::vector<U> &keys, bool by_passes) {
  const auto count = static_cast<uint32_t>(keys.size());
  const auto storage = std::make_unique<msd::SplitFinishStorage<U>>();
  std::vector<U> out(keys.size() + 1, U{0x5a});
  const KeyCodec<U> codec = make_codec<U>({sizeof(U) == 4 ? GSORT_U32 : GSORT_U64, false});
  emulation::launch(1, msd::kSplitFinishThreads, 0,
                    [&] { msd::finish_split_cell(keys.data(), out.data(), count, by_passes, codec, *storage); });
  EXPECT_EQ(U{0x5a}, out.back()) << "written behind the cell";
  out.pop_back();
  std::vector<U> expected = keys;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(expected, out);
}

template <class U, class Make>
void check_made(uint64_t seed, const Make &make) {
  for (const uint32_t count : {1u, 2u, 33u, 1024u, 5300u, msd::kSplitFinishKeysMax})
    for (const bool by_passes : {false, true}) {
      SCOPED_TRACE(testing::Message() << count << " keys of " << sizeof(U) << " bytes"
                                      << (by_passes ? ", passes" : ""));
      check_cell<U>(made_keys<U>(count, seed, [&](Random &random) { return static_cast<U>(make(random)); }), by_passes);
    }
}

template <class Make>
void check_both(uint64_t seed, const Make &make) {
  check_made<uint32_t>(seed, make);
  check_made<uint64_t>(seed, make);
}

TEST(SplitCell, OfAnyKeysIsSorted) {
  check_both(1, [](Random &random) { return random(); });
  check_both(2, [](Random &random) { return random() >> random() % 60; });
  check_both(3, [](Random &random) { return random() & random() & random(); });
  check_both(4, [](Random &random) { return (random() % 500 + 1) * 0x9e3779b97f4a7c15; });
  check_both(5, [](Random &random) { return ~uint64_t{0} - random() % 3 * (random() % 2); });
  check_both(6, [](Random &random) { return (random() % 9 + 1) * 0x9e3779b97f4a7c15 + random() % 700; });
}

// Keys so close that each value has a counter, or several for the lanes to share out; and the first that do not.
TEST(SplitCell, OfCloseKeysIsCounted) {
  for (const uint64_t values : {2, 3, 31, 255, 256, 257, 1023, 1025, 4095, 4097, 8191, 8192, 8193, 20000}) {
    SCOPED_TRACE(values);
    check_both(values, [=](Random &random) { return 0x12345678 + random() % values; });
    check_both(values, [=](Random &random) { return uint64_t{0} - 1 - random() % values; });
  }
}

// No two values meet in a counter, in whichever lane, and counters are in the order of values.
TEST(SplitScale, GivesCloseValuesCountersOfTheirOwn) {
  for (uint32_t width = 1; width < msd::kFinishDigits; width += width < 300 ? 1 : 97) {
    const msd::SplitScale<uint32_t> scale(1000, 1000 + width);
    const msd::SplitScale<uint64_t> wide(~uint64_t{0} - width, ~uint64_t{0});
    EXPECT_EQ(scale.copies, wide.copies);
    EXPECT_EQ(width + 1 > msd::kFinishDigits / 3, scale.copies == 0) << width;
    uint32_t last = 0;
    for (uint32_t value = 0; value <= width; ++value) {
      const uint32_t first = scale.digit(1000 + value) & ~scale.copies;
      ASSERT_EQ(first, wide.digit(~uint64_t{0} - width + value) & ~wide.copies);
      ASSERT_TRUE(value == 0 || first > last) << width << ": " << value;
      last = first | scale.copies;
      ASSERT_LT(last, msd::kFinishDigits);
    }
  }
}

template <class U>
bool is_crowded(std::vector<U> sample) {
  std::sort(sample.begin(), sample.end());
  sample_sort::State state{};
  sample_sort::Arguments<U> arguments{};
  arguments.sample = sample.data(), arguments.state = &state;
  emulation::launch(97, 32, 0, [&] { sample_sort::note_crowding(arguments); });
  return sample_sort::are_crowded<U>(state);
}
template <class U, class Make>
bool is_made_crowded(uint64_t seed, const Make &make) {
  return is_crowded(
      made_keys<U>(sample_sort::kSample, seed, [&](Random &random) { return static_cast<U>(make(random)); }));
}

double zipf(Random &random) { return std::floor(std::exp2(20.0 * unit(random()))); }
uint32_t hashed(double value) { return static_cast<uint32_t>(static_cast<uint64_t>(value) * 0x9e3779b97f4a7c15 >> 32); }

TEST(SampleSort, TellsKeysThatCrowdInCells) {
  std::normal_distribution<double> normal;
  EXPECT_FALSE(is_made_crowded<uint32_t>(1, [](Random &random) { return random(); }));
  EXPECT_FALSE(is_made_crowded<uint32_t>(2, [&](Random &random) { return 2e9 + 1e8 * normal(random); }));
  EXPECT_FALSE(is_made_crowded<uint64_t>(2, [&](Random &random) { return 9e18 + 1e17 * normal(random); }));
  EXPECT_TRUE(is_made_crowded<uint32_t>(3, [](Random &random) { return random() & random() & random(); }));
  EXPECT_TRUE(is_made_crowded<uint64_t>(3, [](Random &random) { return random() & random() & random(); }));
  // Of values that come often: where they lie anywhere, but not where they lie in steps, or have bins of their own.
  EXPECT_TRUE(is_made_crowded<uint32_t>(4, [](Random &random) { return hashed(zipf(random)); }));
  EXPECT_FALSE(is_made_crowded<uint64_t>(4, [](Random &random) { return uint64_t{hashed(zipf(random))} << 32; }));
  EXPECT_FALSE(is_made_crowded<uint32_t>(5, [](Random &random) { return zipf(random) * 4000; }));
  EXPECT_FALSE(
      is_made_crowded<uint32_t>(6, [&](Random &random) { return 100 * std::floor(std::exp(8 + normal(random))); }));
  EXPECT_FALSE(is_made_crowded<uint32_t>(7, [](Random &random) { return hashed(random() % 200); }));
  EXPECT_FALSE(is_made_crowded<uint32_t>(8, [](Random &) { return 7; }));
}

// Bins of so many keys that some cells are full, and what the layout makes of them.
class BinsAndCells {
 public:
  static constexpr uint32_t kOwn = 2, kThreads = sample_sort::kBins / kOwn;

  // count(bin), one_value(bin): of each of kBins bins. As many parts as a sort may have on any device.
  template <class Count, class OneValue>
  BinsAndCells(const Count &count, const OneValue &one_value) {
    for (uint32_t bin = 0; bin < sample_sort::kBins; ++bin) {
      places_.push_back(bin == 0 ? 0 : places_[bin - 1] + counts_[bin - 1]);
      counts_.push_back(count(bin));
      one_value_.push_back(one_value(bin));
    }
    part_keys_ = (places_.back() + counts_.back()) / sample_sort::kPartsMax + 1;
    emulation::launch(1, kThreads, 0, [&] { number(); });
  }

  // Every key that is moved lies in its bin's cell.
  void check() const {
    EXPECT_LE(cells_, sample_sort::kCellsMax);
    for (uint32_t bin = 0; bin < sample_sort::kBins; ++bin) {
      ASSERT_EQ(one_value(bin), cell(bin) == msd::kSplitNoBin);
      if (one_value(bin) || count(bin) == 0) continue;
      ASSERT_LT(cell(bin), cells_);
      ASSERT_TRUE(place(bin) >= first_place(cell(bin)) && place(bin) + count(bin) <= end(cell(bin)));
    }
  }

  uint32_t count(uint32_t bin) const { return counts_[bin]; }
  bool one_value(uint32_t bin) const { return one_value_[bin]; }
  uint32_t cell(uint32_t bin) const { return layout_.bin_cell[bin]; }
  uint32_t first_place(uint32_t cell) const { return layout_.cell_first[cell]; }
  uint32_t end(uint32_t cell) const { return layout_.cell_first[cell] + layout_.cell_keys[cell]; }
  uint32_t place(uint32_t bin) const { return places_[bin]; }

 private:
  void number() {
    sample_sort::OwnBins<uint32_t, kOwn> own;
    for (uint32_t i = 0; i < kOwn; ++i) {
      const uint32_t bin = threadIdx.x * kOwn + i;
      own.counts[i] = counts_[bin], own.places[i] = places_[bin], own.one_value[i] = one_value_[bin];
    }
    if (lane_id() == 31) layout_.ends_in_value[threadIdx.x / 32] = own.one_value[kOwn - 1];
    __syncthreads();
    const uint32_t found = sample_sort::number_cells(own, part_keys_, layout_);
    if (threadIdx.x == 0) cells_ = found;
  }

  std::vector<uint32_t> counts_, places_;
  std::vector<bool> one_value_;
  sample_sort::Layout layout_;
  uint32_t part_keys_ = 0, cells_ = 0;
};

// Cells of two bins side by side fit a block, where these are not of two warps and no bin is empty between them.
TEST(SampleSort, BinsSideBySideFitABlock) {
  uint32_t checked = 0;
  for (uint32_t trial = 0; trial < 20; ++trial) {
    Random random(trial);
    const auto count = [&](uint32_t) {
      double share = 1;
      for (int i = 0; i < 4; ++i) share *= 1 - unit(random());
      return trial % 3 == 1 && random() % 4 == 0 ? 0 : static_cast<uint32_t>(-1024 * std::log(share));
    };
    const BinsAndCells made(count, [&](uint32_t bin) { return trial % 3 == 2 && bin % 7 == 3; });
    made.check();
    for (uint32_t bin = 0; bin < sample_sort::kBins; ++bin) {
      if (made.one_value(bin) || made.count(bin) == 0) continue;
      const uint32_t cell = made.cell(bin), place = made.place(bin);
      const bool has_neighbour = bin % (32 * BinsAndCells::kOwn) != 0 && made.count(bin - 1) != 0;
      if (!has_neighbour || made.first_place(cell) != made.place(bin - 1)) continue;
      ++checked;
      EXPECT_LE(place + made.count(bin) - made.first_place(cell), sample_sort::kCellKeysMax) << trial << ": " << bin;
    }
  }
  EXPECT_LT(1000u, checked);
}

// Bins of the same size, as of keys in order, would be as many cells as there are bins, were they cut wherever it
// helps.
TEST(SampleSort, CellsAreNoMoreThanHaveCounters) {
  for (const uint32_t keys : {3300u, 3700u, 4000u, 4200u, 4297u, 4296u, 4600u, 5000u})
    for (const uint32_t values : {0u, 3u, 40u, 100u}) {
      SCOPED_TRACE(testing::Message() << keys << " keys a bin, " << values << " values");
      const auto count = [&](uint32_t bin) { return keys + bin % 2; };
      BinsAndCells(count, [&](uint32_t bin) { return bin % 10 == 5 && bin / 10 < values; }).check();
    }
}

}  // namespace
}  // namespace gsort_internal::sort
