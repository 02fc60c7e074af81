// SPDX-License-Identifier: MIT OR Apache-2.0
// The sort in place: its plan keeps to an eighth of the keys' bytes, and its partition's arithmetic gives every key a
// place and every brick a way there, however the buckets fall.
#include <algorithm>
#include <random>
#include <vector>

#include "core/dtype.h"
#include "core/slices.h"
#include "cuda/sort/in_place/plan.h"
#include "cuda/sort/in_place/regions.h"
#include "cuda/sort/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::sort::in_place;

Plan plan_of(gsort_dtype t, uint64_t n) { return make_plan(make(Operation::kSort, t, n, 0)); }

TEST(InPlacePlan, TakesAnEighthOfTheKeysBytes) {
  for (const gsort_dtype t : {GSORT_F32, GSORT_U64})
    for (const uint64_t n : plan_sizes()) {
      SCOPED_TRACE(n);
      const Plan plan = plan_of(t, n);
      const uint64_t bytes = n * dtype_bytes(t);
      if (bytes < kBytesMin) {
        EXPECT_FALSE(plan.applies);
        continue;
      }
      ASSERT_TRUE(plan.applies);
      EXPECT_FALSE(plan.counts);
      ASSERT_GE(plan.buckets, kBucketsMin);
      ASSERT_LE(plan.buckets, kBucketsMax);
      EXPECT_LE(slice_bytes(plan.workspace_bytes + kEngineBytes), bytes / 8);
      EXPECT_GE(plan.stripes_max, 8u);
      EXPECT_LE(plan.samples, n / 32);
      EXPECT_EQ(plan.samples & (plan.samples - 1), 0u);
    }
}

TEST(InPlacePlan, OtherRequestsAreNotForIt) {
  constexpr uint64_t kMany = uint64_t{1} << 28;
  EXPECT_TRUE(plan_of(GSORT_U32, kMany).applies);
  EXPECT_FALSE(make_plan(make(Operation::kSortPairs, GSORT_U32, kMany, 4)).applies);
  EXPECT_FALSE(make_plan(make(Operation::kArgsort, GSORT_U32, kMany, 4)).applies);
}

TEST(InPlacePlan, ShortKeysAreCounted) {
  constexpr uint64_t kMany = uint64_t{1} << 24;
  // Of 1 byte always, and of 2 where the device holds the counters.
  EXPECT_FALSE(plan_of(GSORT_U8, kMany).applies);
  EXPECT_LT(sort::workspace_bytes(make(Operation::kSort, GSORT_U8, kMany, 0)), uint64_t{1} << 17);
  const Plan plan = plan_of(GSORT_F16, kMany);
  EXPECT_TRUE(plan.applies && plan.counts);
  EXPECT_LE(slice_bytes(plan.workspace_bytes + kEngineBytes), kMany * 2 / 8);
  EXPECT_TRUE(fits(plan, {90, 132, 227 * 1024}));
  EXPECT_FALSE(fits(plan, {86, 84, 99 * 1024}));
  sort::Options counting;
  counting.algorithm = sort::Algorithm::kCountFill;
  for (const DeviceFacts &device : {DeviceFacts{90, 132, 227 * 1024}, DeviceFacts{80, 108, 163 * 1024}})
    EXPECT_EQ(sort::make_plan(make(Operation::kSort, GSORT_F16, kMany, 0), device, counting).workspace_bytes,
              plan.workspace_bytes);
}

TEST(InPlacePlan, WhichDevicesTakeIt) {
  const Plan plan = plan_of(GSORT_U32, uint64_t{1} << 28);
  EXPECT_EQ(plan.buckets, kBucketsMin);
  EXPECT_TRUE(fits(plan, {90, 132, 227 * 1024}));
  EXPECT_TRUE(fits(plan, {120, 170, 99 * 1024}));
  EXPECT_FALSE(fits(plan, {75, 40, 64 * 1024}));
  EXPECT_FALSE(fits(plan, kLeastDevice));
  EXPECT_FALSE(fits(Plan{}, {90, 132, 227 * 1024}));
}

// Windows meet by the slack on both sides of where a bucket should begin, and each has room in the workspace.
TEST(InPlacePlan, WindowsCoverTheKeys) {
  for (const uint64_t n : {uint64_t{4194304}, uint64_t{10000019}, uint64_t{1} << 28, (uint64_t{1} << 32) + 3}) {
    SCOPED_TRACE(n);
    const Plan plan = plan_of(GSORT_I64, n);
    EXPECT_EQ(window_of(plan, 0).begin, 0u);
    EXPECT_EQ(window_of(plan, plan.buckets - 1).end, n);
    for (uint32_t bucket = 0; bucket < plan.buckets; ++bucket) {
      const Window window = window_of(plan, bucket);
      const uint64_t target = bucket_target(plan, bucket + 1);
      EXPECT_LT(target - n * (bucket + 1) / plan.buckets + 1, 3u);
      if (bucket + 1 < plan.buckets) {
        EXPECT_EQ(window.end, target + plan.slack);
        EXPECT_EQ(window_of(plan, bucket + 1).begin, target - plan.slack);
        // The bucket behind the next begins past this window.
        EXPECT_LE(window.end, bucket_target(plan, bucket + 2) - plan.slack);
      }
      const uint64_t needed = sort::workspace_bytes(make(Operation::kSort, GSORT_I64, window.end - window.begin, 0));
      EXPECT_LE(plan.slices.window_workspace + needed, plan.workspace_bytes);
    }
  }
}

TEST(InPlacePlan, SlicesOfEachStepLieApart) {
  const Plan plan = plan_of(GSORT_U32, 10000019);
  const Slices &s = plan.slices;
  const uint64_t slots = plan.n / brick_keys(4);
  expect_apart({{"state", s.state, kStateBytes},
                {"sample", s.sample, plan.samples * 4},
                {"its workspace", s.sample_workspace,
                 sort::workspace_bytes(make(Operation::kSort, GSORT_U32, plan.samples, 0))}},
               plan.workspace_bytes, kSliceAlignment);
  expect_apart({{"state", s.state, kStateBytes},
                {"labels", s.labels, slots},
                {"holes", s.holes, 4 * uint64_t{plan.stripes_max} * plan.buckets},
                {"list", s.list, 4 * slots},
                {"cycles", s.cycles, kCyclesMax * sizeof(Cycle)},
                {"left", s.left, plan.buckets * plan.left_keys * 4}},
               plan.workspace_bytes, kSliceAlignment);
}

// An array of slots as the kernels work on it, brick by brick; a brick is the number of its bucket.
struct Model {
  SlotGrid grid;
  uint32_t buckets;
  std::vector<uint8_t> slots;
  std::vector<uint64_t> left;
  Regions regions;

  std::vector<uint64_t> sizes() const {
    std::vector<uint64_t> all = left;
    for (const uint8_t label : slots)
      if (label < buckets) all[label] += grid.brick;
    return all;
  }
  void take_out(uint32_t slot, uint8_t remains) {
    if (slots[slot] < buckets) left[slots[slot]] += grid.brick;
    slots[slot] = remains;
  }
  // As borders_kernel, holes_kernel and fill_kernel do it.
  void settle() {
    find_regions(grid, sizes().data(), buckets, regions);
    for (uint32_t i = 0; i < regions.borders; ++i) take_out(regions.border[i], kBorder);
    for (uint32_t b = 0; b < buckets; ++b) {
      const uint64_t bricks = static_cast<uint64_t>(std::count(slots.begin(), slots.end(), b));
      const uint64_t room = regions.last[b] - regions.first[b];
      ASSERT_LE(bricks, room + 1) << "more than one brick too many";
      if (bricks > room)
        take_out(static_cast<uint32_t>(std::find(slots.begin(), slots.end(), b) - slots.begin()), kHole);
    }
    for (uint32_t b = 0; b < buckets; ++b) {
      uint64_t bricks = static_cast<uint64_t>(std::count(slots.begin(), slots.end(), b));
      for (; bricks < regions.last[b] - regions.first[b]; ++bricks) {
        const auto hole = std::find(slots.begin(), slots.end(), kHole);
        ASSERT_NE(hole, slots.end()) << "fewer holes than bricks are wanted";
        ASSERT_GE(left[b], grid.brick);
        left[b] -= grid.brick;
        *hole = static_cast<uint8_t>(b);
      }
    }
    EXPECT_EQ(std::count(slots.begin(), slots.end(), kHole), 0);
  }
  // As edges_kernel, list_kernel and cycles_kernel do it. Returns the cycles.
  uint32_t permute() {
    Edges edges{};
    std::vector<std::vector<uint32_t>> of_edge(kBucketsMax * kBucketsMax);
    for (uint32_t slot = 0; slot < slots.size(); ++slot) {
      const uint32_t region = region_of(regions, buckets, slot);
      EXPECT_EQ(region == buckets, slots[slot] == kBorder);
      if (region == buckets || region == slots[slot]) continue;
      of_edge[region * kBucketsMax + slots[slot]].push_back(slot);
    }
    std::vector<uint32_t> list;
    for (uint32_t e = 0; e < of_edge.size(); ++e) {
      edges.next[e] = static_cast<uint32_t>(list.size());
      edges.count[e] = static_cast<uint32_t>(of_edge[e].size());
      list.insert(list.end(), of_edge[e].begin(), of_edge[e].end());
    }
    std::vector<Cycle> cycles(kCyclesMax);
    uint32_t count = 0;
    const uint32_t items = find_cycles(edges, buckets, cycles.data(), count);
    EXPECT_LE(count, kCyclesMax);
    std::vector<uint32_t> moved(slots.size());
    for (uint32_t c = 0; c < count; ++c) {
      const uint32_t end = c + 1 < count ? cycles[c + 1].first : items;
      for (uint32_t item = cycles[c].first; item < end; ++item) {
        std::vector<uint8_t> bricks;
        for (uint32_t t = 0; t < cycles[c].length; ++t)
          bricks.push_back(slots[list[cycles[c].start[t] + item - cycles[c].first]]);
        for (uint32_t t = 0; t < cycles[c].length; ++t) {
          const uint32_t to = list[cycles[c].start[(t + 1) % cycles[c].length] + item - cycles[c].first];
          slots[to] = bricks[t];
          ++moved[to];
        }
      }
    }
    EXPECT_LE(moved.empty() ? 0 : *std::max_element(moved.begin(), moved.end()), 1u) << "a brick is moved twice";
    return count;
  }
  void expect_in_place() const {
    for (uint32_t slot = 0; slot < slots.size(); ++slot) {
      const uint32_t region = region_of(regions, buckets, slot);
      ASSERT_EQ(slots[slot], region == buckets ? kBorder : region) << slot;
    }
    for (uint32_t b = 0; b < buckets; ++b) {
      const uint64_t keys = regions.start[b + 1] - regions.start[b];
      EXPECT_EQ(left[b], keys - uint64_t{grid.brick} * (regions.last[b] - regions.first[b]));
    }
  }
};

// Stripes that end with holes, and a list for each bucket, which make n keys together.
Model random_model(std::mt19937 &random) {
  Model model{};
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  model.buckets = 9 + below(8);
  model.grid.brick = 8;
  model.grid.head = below(8);
  model.grid.slots = 1 + below(120);
  model.grid.n = model.grid.head + uint64_t{model.grid.slots} * model.grid.brick + below(model.grid.brick);
  model.left.assign(model.buckets, 0);
  const uint32_t used = below(2) ? model.buckets : 1 + below(model.buckets), order = below(3);
  uint64_t keys = model.grid.n;
  for (uint32_t slot = 0; slot < model.grid.slots; ++slot) {
    const uint32_t in_order = slot * used / model.grid.slots;
    const uint32_t bucket = order == 0 ? below(used) : order == 1 ? in_order : used - 1 - in_order;
    const bool hole = below(8) == 0;
    model.slots.push_back(hole ? kHole : static_cast<uint8_t>(bucket));
    if (!hole) keys -= model.grid.brick;
  }
  for (; keys != 0; --keys) ++model.left[below(4) == 0 ? 0 : below(used)];
  return model;
}

TEST(InPlaceRegions, EveryBrickComesToItsRegion) {
  std::mt19937 random(1);
  uint32_t most_cycles = 0;
  for (int round = 0; round < 20000; ++round) {
    SCOPED_TRACE(round);
    Model model = random_model(random);
    const std::vector<uint64_t> sizes = model.sizes();
    model.settle();
    if (HasFatalFailure()) return;
    EXPECT_EQ(model.regions.start[model.buckets], model.grid.n);
    EXPECT_EQ(model.sizes(), sizes);
    most_cycles = std::max(most_cycles, model.permute());
    model.expect_in_place();
    if (HasFailure()) return;
  }
  EXPECT_GT(most_cycles, 30u) << "the inputs are too plain";
}

}  // namespace
}  // namespace gsort_test
