// SPDX-License-Identifier: MIT OR Apache-2.0
// The sample sort of 8-byte keys alone, and the looks for even keys before it: any are sorted, whatever their spread,
// and nothing else is written.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "cuda/sort/launch.h"
#include "cuda/sort/sample_sort/crowding.cuh"
#include "cuda/sort/sample_sort/tables.h"
#include "uneven_words.h"

namespace gsort_internal::sort::sample_sort {
namespace {

using gsort_test::all_poison;
using gsort_test::DeviceArray;
using gsort_test::make_keys;
using gsort_test::mixed;
using gsort_test::Word;

// Of 8-byte keys the most that a grid looks at; kHeld: that the blocks of a grid hold between counting and moving.
constexpr uint64_t kGridMost = lsd::grid_items_max(8, true), kFew = 600011, kHeld = share_items_max(8), kMore = 2500003;

uint32_t narrow(uint64_t word) { return static_cast<uint32_t>(word >> 32 != 0 ? word >> 32 : word); }

class SampleSort : public gsort_test::MsdTest {
 protected:
  SampleSort() { options_.algorithm = Algorithm::kSampleSort; }

  // Sorts and checks all that must hold. Leaves what the sort knew in the end in state_: nothing, where even keys were
  // sorted before it.
  template <class U>
  void run(const std::vector<U> &keys, const KeyOrder &order, bool in_place = false, uint64_t offset = 0) {
    const uint64_t bytes = keys.size() * sizeof(U);
    const DeviceArray in(keys, offset * sizeof(U)), out(bytes, (offset ^ 1) * sizeof(U));
    Request request{Operation::kSort, order};
    request.n = keys.size();
    request.in = in.data();
    request.out = in_place ? in.data() : out.data();
    const DeviceArray workspace(workspace_bytes(request, options_), 0);
    const LaunchContext context = {nullptr, &gsort_test::device_facts(), &gsort_test::quiet()};
    sort::launch(context, request, workspace.data(), options_);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    workspace.check_zones();
    const std::vector<U> after_in = in.read_as<U>(), after_out = out.read_as<U>();
    EXPECT_TRUE((in_place ? after_in : after_out) == gsort_test::in_order(keys, make_codec<U>(order)));
    EXPECT_TRUE(in_place ? all_poison(after_out) : after_in == keys) << "something else was written";
    plan_ = make_plan(request, facts_, options_);
    if (plan_.algorithm != Algorithm::kSampleSort) GTEST_SKIP() << "a chip whose blocks do not hold the keys";
    const uint8_t *const tables = workspace.as<uint8_t>() + plan_.slices.sample_sort_tables;
    ASSERT_EQ(cudaMemcpy(&state_, tables, sizeof(state_), cudaMemcpyDeviceToHost), cudaSuccess);
  }
  // The workspace is poisoned before, and the first kernel writes the tickets of blocks.
  bool sorted_before() const {
    State poison;
    std::memset(&poison, gsort_test::kPoison, sizeof(poison));
    return state_.cells == poison.cells;
  }

  Options options_;
  sort::Plan plan_{};
  State state_{};
};

TEST_F(SampleSort, AnyKeysAreSorted) {
  for (const uint64_t n : {items_min(8), kGridMost, kGridMost + 1, kHeld, kHeld + 1, kItemsMax})
    for (const Word &word : gsort_test::uneven_words())
      for (const gsort_dtype t : {GSORT_U64, GSORT_F64}) {
        const std::vector<uint64_t> keys = make_keys<uint64_t>(n, word);
        run(keys, {t, n % 2 == 0, t == GSORT_F64 && n == kHeld});
        EXPECT_EQ(t == GSORT_F64, plan_.even_first == EvenFirst::kNothing);
        if (HasFailure()) return;
      }
}

TEST_F(SampleSort, AnyShortKeysAreSorted) {
  for (const uint64_t n : {items_min(4), uint64_t{3000001}, items_max(4)})
    for (const Word &word : gsort_test::uneven_words())
      for (const gsort_dtype t : {GSORT_U32, GSORT_F32}) {
        const auto keys = make_keys<uint32_t>(n, [&](uint64_t i) { return narrow(word(i)); });
        run(keys, {t, n % 2 == 0, t == GSORT_F32 && n == 3000001}, n == items_min(4), n % 4);
        if (HasFailure() || IsSkipped()) return;
      }
}

TEST_F(SampleSort, InPlaceAtOddAddressesInEveryOrder) {
  const auto spiky = [](uint64_t i) { return mixed(~i) % 4 ? mixed(mixed(i) % 300) : mixed(i); };
  for (const uint64_t n : {kFew, kMore}) {
    const std::vector<uint64_t> keys = make_keys<uint64_t>(n, spiky);
    for (const uint64_t offset : {0, 1, 2, 3})
      for (const bool in_place : {false, true})
        for (const bool descending : {false, true})
          for (const gsort_dtype t : {GSORT_U64, GSORT_I64, GSORT_F64})
            run(keys, {t, descending, t == GSORT_F64 && offset % 2 == 0}, in_place, offset);
  }
}

// Even keys are sorted before, and a key that the look at them misses leaves all to this sort.
TEST_F(SampleSort, EvenKeysHaveAWayOfTheirOwn) {
  for (const uint64_t n : {kFew, kGridMost, kHeld, kMore})
    for (const bool in_place : {false, true}) {
      std::vector<uint64_t> keys = make_keys<uint64_t>(n, [](uint64_t i) { return mixed(i) >> 1; });
      run(keys, {GSORT_U64, false, false}, in_place);
      EXPECT_NE(EvenFirst::kNothing, plan_.even_first);
      EXPECT_TRUE(sorted_before());
      keys[31337] |= uint64_t{1} << 63;
      run(keys, {GSORT_U64, false, false}, in_place);
      EXPECT_FALSE(sorted_before());
      // Of a hundredth of the range there are twice as many as a cell has room for.
      for (uint64_t i = 0; i < 20000; ++i) keys[i * (n / 20000)] = uint64_t{5} << 60 | mixed(i) >> 12;
      run(keys, {GSORT_U64, true, false}, in_place);
      EXPECT_FALSE(sorted_before());
    }
}

// Keys that differ in few bytes are left to passes by a grid, if that looks at them.
TEST_F(SampleSort, FewPassesAreTakenAtOnce) {
  const auto narrow = [](uint64_t i) { return mixed(mixed(i) % 3000) >> 24; };
  run(make_keys<uint64_t>(kFew, narrow), {GSORT_U64, false, false});
  EXPECT_EQ(plan_.even_first == EvenFirst::kGrid, sorted_before());
  run(make_keys<uint64_t>(kMore, narrow), {GSORT_U64, false, false});
  EXPECT_FALSE(sorted_before());
}

// The places of the sample, as the kernel has them.
uint64_t sampled_place(uint64_t number, uint64_t n) {
  uint32_t bits = static_cast<uint32_t>(number);
  bits = (bits ^ bits >> 16) * 0x85ebca6bu;
  bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
  bits ^= bits >> 14;
  const uint64_t part = n / kSample;
  return number * part + (uint64_t{bits} * part >> 32);
}

// Nothing that the sample shows is so: cells of nearly all keys, which one block cuts.
TEST_F(SampleSort, KeysThatTheSampleMisses) {
  const std::vector<Word> words = {
      [](uint64_t i) { return mixed(i); },
      [](uint64_t i) { return mixed(mixed(i) % 50); },
      [](uint64_t i) { return i; },
      [](uint64_t i) { return ~i; },
      [](uint64_t i) { return i % 2 ? 5 : mixed(i) >> 20; },
  };
  for (const uint64_t value : {uint64_t{0}, uint64_t{1} << 40, ~uint64_t{0}})
    for (const Word &word : words)
      for (const bool in_place : {false, true}) {
        // One that the blocks of a grid hold, and one that they do not.
        for (const uint64_t n : {kFew, kMore}) {
          if (n == kMore && value != 0) continue;
          std::vector<uint64_t> keys = make_keys<uint64_t>(n, word);
          for (uint64_t i = 0; i < kSample; ++i) keys[sampled_place(i, n)] = value;
          run(keys, {GSORT_F64, false, false}, in_place);
          EXPECT_NE(0u, state_.bigs);
          EXPECT_NE(0u, state_.fills);
        }
      }
}

// A range of two to two thousand values, and all bins of one value.
TEST_F(SampleSort, NarrowRanges) {
  for (const uint64_t values : {1, 2, 3, 1000, 1024, 2000, 5000, 100000})
    for (const uint64_t from : {uint64_t{0}, uint64_t{77} << 50, 0 - values}) {
      for (const uint64_t n : {kFew, kMore})
        run(make_keys<uint64_t>(n, [&](uint64_t i) { return from + mixed(i) % values; }), {GSORT_F64, false, false});
    }
}

// Clusters in clusters are told from the sample, and a few kinds that are not.
TEST_F(SampleSort, CrowdedKeysAreTold) {
  const auto crowded = [&](const Word &word) {
    run(make_keys<uint64_t>(kMore, word), {GSORT_F64, false, false});
    return are_crowded<uint64_t>(state_);
  };
  for (const int words : {3, 4}) EXPECT_TRUE(crowded([&](uint64_t i) { return gsort_test::anded(i, words); })) << words;
  EXPECT_TRUE(crowded(gsort_test::text));
  EXPECT_FALSE(crowded([](uint64_t i) { return mixed(i); }));
  EXPECT_FALSE(crowded([](uint64_t i) { return mixed(gsort_test::zipf_rank(i)); }));
  EXPECT_FALSE(crowded([](uint64_t i) { return gsort_test::bell(i, 0x1p28); }));
}

}  // namespace
}  // namespace gsort_internal::sort::sample_sort
