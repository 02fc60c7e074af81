// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable MSD sort of keys that neither equal cells nor the map serve, by splitters: all its kernels, one behind the
// other.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/sort/msd/stable_count.cuh"
#include "cuda/sort/msd/stable_finish.cuh"
#include "cuda/sort/msd/stable_pass.cuh"
#include "cuda/sort/msd/stable_rest.cuh"
#include "cuda/sort/msd/stable_split.cuh"
#include "made_keys.h"

namespace gsort_internal::sort::msd {

// The kernels' dynamic shared memory, by the names that they give it; the sample's is in msd_lumps_test.cpp.
alignas(16) thread_local unsigned char shared[227 << 10];
alignas(16) thread_local uint64_t sampled[16384];

namespace {

using Keys = std::vector<uint64_t>;
using Shape = LargeTile<8>;

enum class Work { kPairs, kPairsInPlace, kArgsort, kWideArgsort, kRank };

// One sort with values of type V, which are indices but for pairs.
template <class V>
class SplitSort {
 public:
  SplitSort(const Keys &keys, gsort_dtype dtype, Work work)
      : keys_(keys),
        n_(static_cast<uint32_t>(keys.size())),
        work_(work),
        codec_(make_codec<uint64_t>({dtype, false, false})),
        plan_(plan_stable_on(n_, 8, 8, 227 << 10)),
        tiles_((n_ + Shape::kItems - 1) / Shape::kItems),
        look_back_((tiles_ + kStableBinsMax) * kDigitBins, 0),
        x_(n_, 0xabab),
        y_(n_, 0xabab),
        values_(n_),
        values_x_(n_, V{77}),
        values_y_(n_, V{77}),
        wide_(n_, 77) {
    for (uint32_t i = 0; i < n_; ++i) values_[i] = 3 * V{i} + 1;
    name_tables();
    StableState state{};
    state.go = state.sorted = 1;
    state.way = StableWay::kSplitters;
    state.passes = 8;
    *arguments_.state = state;
    if (work == Work::kPairsInPlace) x_ = keys, values_x_ = values_;
    move();
    if (is_done()) finish();
  }

  bool is_done() const { return arguments_.state->go != 0; }
  bool look_back_is_clear() const {
    return std::all_of(look_back_.begin(), look_back_.end(), [](uint32_t word) { return word == 0; });
  }
  const StableState &state() const { return *arguments_.state; }

  void expect_sorted() const {
    ASSERT_TRUE(is_done());
    std::vector<std::pair<uint64_t, uint32_t>> expected(n_);
    for (uint32_t i = 0; i < n_; ++i) expected[i] = {codec_.encode(keys_[i]), i};
    std::sort(expected.begin(), expected.end());
    for (uint32_t i = 0; i < n_; ++i) {
      const uint32_t source = expected[i].second;
      if (work_ == Work::kRank) {
        ASSERT_EQ(i, reinterpret_cast<const uint32_t *>(wide_.data())[source]) << i;
      } else if (work_ == Work::kWideArgsort) {
        ASSERT_EQ(source, wide_[i]) << i;
      } else {
        ASSERT_EQ(is_pairs() ? values_[source] : V{source}, values_x_[i]) << i;
      }
      if (is_pairs()) {
        ASSERT_EQ(keys_[source], x_[i]) << i;
      }
    }
  }

  // Cells lie one behind the other, those that are listed are as large as their list says, and no key is left out.
  void expect_cells() const {
    EXPECT_GT(state().bins, 1u);
    EXPECT_LE(state().bins, plan_.split_bins);
    uint64_t pairs = 0;
    const auto items_of = [&](uint32_t cell) { return arguments_.cells[cell + 1] - arguments_.cells[cell]; };
    for (uint32_t i = 0; i < state().finished; ++i) {
      EXPECT_LE(items_of(arguments_.finished[i]), kStableFinishItems);
      pairs += items_of(arguments_.finished[i]);
    }
    for (uint32_t i = 0; i < state().large; ++i) {
      EXPECT_GT(items_of(arguments_.large[i]), kStableFinishItems);
      EXPECT_LE(items_of(arguments_.large[i]), kStableLargeItems);
      pairs += items_of(arguments_.large[i]);
    }
    for (uint32_t i = 0; i < state().pieces; ++i) {
      EXPECT_LE(arguments_.pieces[i].y, kStablePieceItems);
      pairs += arguments_.pieces[i].y;
    }
    EXPECT_EQ(n_, pairs);
  }

 private:
  bool is_pairs() const { return work_ == Work::kPairs || work_ == Work::kPairsInPlace; }

  void name_tables() {
    const StableTables tables = stable_tables(plan_, n_);
    memory_.assign(tables.bytes / 8 + 1, 0xa5a5a5a5a5a5a5a5);
    char *const begin = reinterpret_cast<char *>(memory_.data());
    const auto words = [&](uint64_t offset) { return reinterpret_cast<uint32_t *>(begin + offset); };
    const auto pairs = [&](uint64_t offset) { return reinterpret_cast<TwoWords *>(begin + offset); };
    arguments_ = {reinterpret_cast<StableState *>(begin),
                  words(tables.cells),
                  words(tables.first_tile),
                  words(tables.map),
                  words(tables.weights),
                  pairs(tables.ranges),
                  reinterpret_cast<uint64_t *>(begin + tables.starts),
                  words(tables.bin_counts),
                  words(tables.cell_counts),
                  words(tables.first_chunk),
                  words(tables.counted_chunks),
                  words(tables.finished),
                  words(tables.large),
                  pairs(tables.pieces),
                  look_back_.data(),
                  plan_,
                  Shape::kItems};
  }

  void run_pass(const StablePassParams<uint64_t> &pass, uint32_t blocks) const {
    emulation::launch(blocks, Shape::kThreads, 0,
                      [&] { stable_pass_kernel<uint64_t, V, Shape, StableWay::kSplitters>(pass); });
  }

  void move() {
    const bool in_place = work_ == Work::kPairsInPlace;
    const uint64_t *const keys = in_place ? x_.data() : keys_.data();
    emulation::launch(1, kStableCutThreads, 0, [&] { stable_split_kernel<uint64_t>(keys, n_, codec_, arguments_); });
    emulation::launch(3, kStableCountThreads, 0, [&] { stable_bins_kernel<uint64_t>(keys, n_, codec_, arguments_); });
    StablePassParams<uint64_t> pass{};
    pass.keys_in = keys;
    pass.keys_out = is_pairs() ? y_.data() : x_.data();
    pass.values_in = in_place ? values_x_.data() : values_.data();
    pass.values_out = is_pairs() ? values_y_.data() : values_x_.data();
    pass.codec = codec_;
    pass.arguments = arguments_;
    pass.n = n_;
    pass.values_are_indices = !is_pairs();
    run_pass(pass, tiles_);
    const uint64_t *const moved = pass.keys_out;
    emulation::launch(plan_.split_bins, kStableCutThreads, 0, [&] { stable_cuts_kernel<uint64_t>(moved, arguments_); });
    emulation::launch(4, kStableCountThreads, 0, [&] { stable_cells_kernel<uint64_t>(moved, arguments_); });
    pass.second = true;
    pass.keys_in = moved;
    pass.keys_out = is_pairs() ? x_.data() : y_.data();
    pass.values_in = pass.values_out;
    pass.values_out = is_pairs() ? values_x_.data() : values_y_.data();
    run_pass(pass, tiles_ + kStableBinsMax);
  }

  void finish() {
    StableFinishParams<uint64_t> finish{};
    finish.keys_in = is_pairs() ? x_.data() : y_.data();
    finish.values_in = is_pairs() ? values_x_.data() : values_y_.data();
    finish.keys_out = is_pairs() ? x_.data() : nullptr;
    const bool wide = work_ == Work::kWideArgsort || work_ == Work::kRank;
    finish.values_out = wide ? static_cast<void *>(wide_.data()) : static_cast<void *>(values_x_.data());
    finish.codec = codec_;
    finish.final_values = work_ == Work::kRank ? FinalValues::kRank4 : wide ? FinalValues::kWiden : FinalValues::kStore;
    finish.arguments = arguments_;
    emulation::launch(plan_.split_cells, StableFinishShape<8>::kThreads, 0,
                      [&] { stable_finish_kernel<uint64_t, V>(finish); });
    emulation::launch(5, kStableLargeThreads, 0, [&] { stable_rest_kernel<uint64_t, V>(finish); });
  }

  const Keys &keys_;
  uint32_t n_;
  Work work_;
  KeyCodec<uint64_t> codec_;
  StablePlan plan_;
  uint32_t tiles_;
  std::vector<uint64_t> memory_;
  std::vector<uint32_t> look_back_;
  StableArguments arguments_ = {};
  Keys x_, y_;
  std::vector<V> values_, values_x_, values_y_;
  std::vector<uint64_t> wide_;
};

constexpr uint64_t kItems = 400000;  // bins of more than a cell

template <class V>
void expect_sorted(const Keys &keys, gsort_dtype dtype, Work work) {
  const SplitSort<V> sort(keys, dtype, work);
  sort.expect_sorted();
  sort.expect_cells();
}

template <class Make>
Keys keys_of(const Make &make) {
  return made_keys<uint64_t>(kItems, 5, make);
}

uint64_t hashed(uint64_t word) { return mix_bits(word + 1); }

TEST(StableSplit, ValuesThatComeAgainAndAgain) {
  expect_sorted<uint32_t>(keys_of([](auto &random) { return hashed(random() % 100); }), GSORT_U64, Work::kPairs);
  expect_sorted<uint32_t>(keys_of([](auto &random) { return hashed(random() % 3000); }), GSORT_F64, Work::kRank);
  const auto often =
      keys_of([](auto &random) { return hashed(static_cast<uint64_t>(std::exp2(18 * unit(random())))); });
  expect_sorted<uint64_t>(often, GSORT_I64, Work::kPairsInPlace);
  expect_sorted<uint32_t>(often, GSORT_F64, Work::kWideArgsort);
}

// Values that many pairs have, and the next one that a few have: the first have cells of their own all the same.
TEST(StableSplit, RareValuesBehindFrequentOnes) {
  const auto keys = keys_of([](auto &random) {
    const uint64_t draw = random() % 1000;
    return draw < 500 ? hashed(draw % 5) : draw < 505 ? hashed(draw % 5) + 1 : random();
  });
  expect_sorted<uint32_t>(keys, GSORT_U64, Work::kPairs);
}

// Behind a method that has done the work, later kernels must not take garbage in the workspace for a state or a count.
TEST(StableSplit, NothingIsLeftToDoBehindAnotherMethod) {
  const uint32_t done = 1;
  StableState state;
  std::memset(&state, 0xa5, sizeof state);
  StableArguments arguments = {};
  arguments.state = &state;
  std::vector<uint64_t> memory = uncleared_memory(10000);
  const Cleared cleared = {memory.data(), 10000 / 2};
  emulation::launch(4, kStableCountThreads, 0, [&] {
    stable_sample_kernel<uint64_t, SmallSample>(nullptr, kItems, make_codec<uint64_t>({GSORT_U64, false, false}), &done,
                                                cleared, arguments);
  });
  EXPECT_TRUE(is_cleared(memory));
  EXPECT_EQ(0u, state.go);
  EXPECT_EQ(1u, state.sorted);
  EXPECT_EQ(0u, state.dirty);
  EXPECT_EQ(0u, state.large + state.finished + state.pieces);
}

// The least and the greatest key there can be, and runs of neighbouring values.
TEST(StableSplit, EndsOfTheRange) {
  const auto ends = keys_of([](auto &random) { return random() % 3 == 0 ? random() : 0 - random() % 3; });
  expect_sorted<uint64_t>(ends, GSORT_U64, Work::kPairs);
  expect_sorted<uint32_t>(ends, GSORT_I64, Work::kArgsort);
  expect_sorted<uint32_t>(keys_of([](auto &random) { return random() % 2 * ~uint64_t{0}; }), GSORT_I64, Work::kPairs);
}

// Cells that are wider than words hold, over clusters whose keys differ in the lowest bits.
TEST(StableSplit, NarrowClusters) {
  const auto clusters = keys_of([](auto &random) { return hashed(random() % 50) + random() % 700; });
  expect_sorted<uint64_t>(clusters, GSORT_U64, Work::kPairsInPlace);
  expect_sorted<uint32_t>(clusters, GSORT_F64, Work::kArgsort);
}

// Cells within which keys crowd again.
TEST(StableSplit, ClustersOfClusters) {
  const auto ands = keys_of([](auto &random) { return random() & random() & random() & random(); });
  expect_sorted<uint32_t>(ands, GSORT_U64, Work::kPairs);
  expect_sorted<uint64_t>(ands, GSORT_I64, Work::kPairs);
  const auto letters = keys_of([](auto &random) {
    uint64_t word = 0;
    for (int place = 0; place < 8; ++place)
      word = word << 8 | (97 + static_cast<uint64_t>(26 * unit(random()) * unit(random())));
    return word;
  });
  expect_sorted<uint32_t>(letters, GSORT_U64, Work::kArgsort);
}

// What both samples miss: one cell has nearly all keys. The look-back words are left as the LSD sort wants them.
TEST(StableSplit, AnOverfullCellTurnsTheKeysAway) {
  const StablePlan plan = plan_stable_on(kItems, 8, 8, 227 << 10);
  const uint64_t dense = ~uint64_t{0} << 40;
  auto keys = keys_of([&](auto &random) { return dense + random() % 30000; });
  const auto part = static_cast<uint32_t>(kItems / plan.split_sample);
  for (uint32_t i = 0; i < plan.split_sample; ++i) keys[split_place(i, part)] = hashed(i) >> 1;
  Keys sample;
  for (uint32_t i = 0; i < plan.split_sample; ++i) sample.push_back(hashed(i) >> 1);
  std::sort(sample.begin(), sample.end());
  const uint64_t last_bin = sample[(plan.split_sample - 1) / plan.split_share * plan.split_share];
  std::vector<uint64_t> there;
  for (uint64_t i = 0; i < kItems; ++i)
    if (keys[i] >= last_bin) there.push_back(i);
  const auto items = static_cast<uint32_t>(there.size());
  const uint32_t count = std::min((items / kStableSplitItems + 1) * kStableSplitSamples, kStableSplitSampleMax);
  for (uint32_t i = 0; i < count; ++i)
    keys[there[split_place(i, items / count)]] = dense + (uint64_t{1} << 32) + (hashed(i) >> 26);
  const SplitSort<uint32_t> sort(keys, GSORT_U64, Work::kPairs);
  EXPECT_FALSE(sort.is_done());
  EXPECT_EQ(0u, sort.state().sorted);
  EXPECT_EQ(1u, sort.state().dirty);
  EXPECT_TRUE(sort.look_back_is_clear());
}

Keys sorted_sample(uint32_t count, const std::function<uint64_t(std::mt19937_64 &)> &draw) {
  std::mt19937_64 random(count);
  Keys sample(count);
  for (uint64_t &key : sample) key = draw(random);
  std::sort(sample.begin(), sample.end());
  return sample;
}
uint64_t bytes_of(std::mt19937_64 &random, uint64_t values) {
  uint64_t word = 0;
  for (int place = 0; place < 8; ++place) word = word << 8 | (31 + random() % values * 3 % 256);
  return word;
}

TEST(SampledBytes, ValuesAndEntropyOfBytes) {
  struct Expected {
    uint64_t values;
    uint32_t bits;
    double entropy;
  };
  for (const Expected &of :
       {Expected{1, 0, 0}, {2, 8, 8}, {10, 32, 26.6}, {16, 32, 32}, {26, 40, 37.6}, {64, 48, 48}, {256, 64, 64}}) {
    const Keys sample = sorted_sample(kSampledBytesKeys, [&](auto &random) { return bytes_of(random, of.values); });
    emulation::launch(1, kStableCountThreads, 0, [&] {
      const SampledBytes bytes = look_at_bytes<kStableCountThreads>([&](uint32_t i) { return sample[i]; });
      ASSERT_EQ(of.bits, bytes.dense_bits) << of.values;
      ASSERT_NEAR(of.entropy, bytes.entropy, 0.5) << of.values;
    });
  }
}

// What the first sample says of random keys, of letters, which dense keys help with, and of mostly equal ones.
TEST(StableSplit, PassesByDenseKeysAreHeldAgainstSplitters) {
  const auto has_splitters = [](uint32_t value_bytes, uint32_t dense_passes, uint32_t dense_bits, uint64_t differ,
                                bool mostly_equal) {
    StablePlan plan = plan_stable_on(uint64_t{1} << 24, 8, value_bytes, 227 << 10);
    plan.dense_passes = dense_passes;
    SampleView<uint64_t> view{};
    view.differ = differ, view.range_bits = 64, view.crowded = true, view.mostly_equal = mostly_equal;
    const StableState state = decide_stable(view, {dense_bits, 30}, plan, false, uint64_t{1} << 24);
    EXPECT_EQ(StableWay::kMapped, state.way);
    EXPECT_EQ(StableWay::kSplitters, decide_stable(view, {dense_bits, 23}, plan, false, uint64_t{1} << 24).way)
        << "bytes that have too few values for so many keys";
    return state.has_splitters != 0;
  };
  constexpr uint64_t kAll = ~uint64_t{0};
  for (const uint32_t value_bytes : {4u, 8u}) {
    EXPECT_TRUE(has_splitters(value_bytes, kDensePassesBack, 64, kAll, false));
    EXPECT_TRUE(has_splitters(value_bytes, kDensePassesBack, 48, kAll, false)) << "six passes and two";
    EXPECT_FALSE(has_splitters(value_bytes, kDensePasses, 48, kAll, false)) << "six passes and one";
    EXPECT_FALSE(has_splitters(value_bytes, kDensePassesBack, 40, kAll, false));
    EXPECT_TRUE(has_splitters(value_bytes, kDensePassesBack, 40, kAll, true)) << "mostly equal";
    EXPECT_FALSE(has_splitters(value_bytes, kDensePassesBack, 16, kAll, true));
    EXPECT_TRUE(has_splitters(value_bytes, kStableNoPasses, 16, kAll, false)) << "dense keys are not offered";
    EXPECT_FALSE(has_splitters(value_bytes, kDensePassesBack, 56, kAll >> 8, false)) << "seven bytes";
  }
}

// The second sample: keys in clusters of clusters, of little entropy or of few passes.
TEST(StableSplit, CrowdsAreLeftToPasses) {
  const auto ands = [](auto &random) { return random() & random() & random() & random(); };
  const auto uniform = [](auto &random) { return random(); };
  const auto left = [](uint32_t passes, float entropy, uint32_t crowded_entropy, bool mostly_equal,
                       const std::function<uint64_t(std::mt19937_64 &)> &draw) {
    StableState state{};
    state.passes = passes, state.entropy = entropy, state.mostly_equal = mostly_equal;
    StableArguments arguments{};
    arguments.state = &state;
    arguments.plan = plan_stable_on(uint64_t{1} << 24, 8, 8, 227 << 10);
    arguments.plan.crowded_entropy = crowded_entropy;
    const Keys sample = sorted_sample(arguments.plan.split_sample, draw);
    bool result = false;
    emulation::launch(1, kStableCutThreads, 0, [&] {
      const bool own = crowds_are_for_passes(sample.data(), arguments.plan.split_sample, arguments);
      if (threadIdx.x == 0) result = own;
    });
    return result;
  };
  EXPECT_TRUE(left(8, 12, 42, false, ands));
  EXPECT_FALSE(left(8, 12, 42, true, ands)) << "mostly equal";
  EXPECT_FALSE(left(8, 43, 42, false, ands)) << "of more entropy";
  EXPECT_TRUE(left(7, 43, 42, false, ands)) << "of few passes";
  EXPECT_TRUE(left(8, 64, kStableAnyEntropy, false, ands));
  EXPECT_FALSE(left(8, 12, 0, false, ands));
  for (const uint32_t passes : {7u, 8u}) EXPECT_FALSE(left(passes, 12, kStableAnyEntropy, false, uniform));
}

}  // namespace
}  // namespace gsort_internal::sort::msd
