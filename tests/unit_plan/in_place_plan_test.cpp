// SPDX-License-Identifier: MIT OR Apache-2.0
// The sort in place: its plan keeps to an eighth of the bytes of keys and values.
#include <string>

#include "core/dtype.h"
#include "core/slices.h"
#include "cuda/sort/in_place/plan.h"
#include "cuda/sort/msd/tables.h"
#include "cuda/sort/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::sort::in_place;

Plan plan_of(gsort_dtype t, uint64_t n) { return make_plan(make(Operation::kSort, t, n, 0)); }

Plan plan_of_pairs(gsort_dtype t, uint64_t n, uint32_t value_bytes) {
  return make_plan(make(Operation::kSortPairs, t, n, value_bytes));
}

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

TEST(InPlacePlan, TakesAnEighthOfTheBytesOfPairs) {
  for (const gsort_dtype t : {GSORT_F32, GSORT_U64})
    for (const uint32_t value_bytes : {4u, 8u, 16u})
      for (const uint64_t n : plan_sizes()) {
        SCOPED_TRACE(std::to_string(n) + " and values of " + std::to_string(value_bytes));
        const Plan plan = plan_of_pairs(t, n, value_bytes);
        const uint64_t bytes = n * (dtype_bytes(t) + value_bytes);
        ASSERT_FALSE(plan.applies && bytes < kBytesMin);
        // The windows of shorter arrays are of few items, whose sorts take more memory for each.
        ASSERT_TRUE(plan.applies || bytes < uint64_t{1} << 27);
        if (!plan.applies) continue;
        ASSERT_GE(plan.buckets, kBucketsMin);
        ASSERT_LE(plan.buckets, kBucketsMax);
        EXPECT_LE(slice_bytes(plan.workspace_bytes + kEngineBytes), bytes / 8);
        EXPECT_GE(plan.stripes_max, 8u);
        EXPECT_TRUE(fits(plan, {90, 132, 227 * 1024}));
      }
}

TEST(InPlacePlan, OtherRequestsAreNotForIt) {
  constexpr uint64_t kMany = uint64_t{1} << 28;
  EXPECT_TRUE(plan_of(GSORT_U32, kMany).applies);
  EXPECT_TRUE(plan_of_pairs(GSORT_U32, kMany, 4).applies);
  EXPECT_FALSE(plan_of_pairs(GSORT_U16, kMany, 4).applies);
  EXPECT_FALSE(plan_of_pairs(GSORT_U32, kMany, 5).applies);
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
      const uint64_t target = bucket_target(plan.n, plan.buckets, bucket + 1);
      EXPECT_LT(target - n * (bucket + 1) / plan.buckets + 1, 3u);
      if (bucket + 1 < plan.buckets) {
        EXPECT_EQ(window.end, target + plan.slack);
        EXPECT_EQ(window_of(plan, bucket + 1).begin, target - plan.slack);
        // The bucket behind the next begins past this window.
        EXPECT_LE(window.end, bucket_target(plan.n, plan.buckets, bucket + 2) - plan.slack);
      }
      const uint64_t needed = sort::workspace_bytes(make(Operation::kSort, GSORT_I64, window.end - window.begin, 0));
      EXPECT_LE(plan.slices.window_workspace + needed, plan.workspace_bytes);
    }
  }
}

TEST(InPlacePlan, ValuesLieAtMultiplesOfTheirSize) {
  Request request = make(Operation::kSortPairs, GSORT_U32, 100, 8);
  const auto at = [](uintptr_t place) { return reinterpret_cast<char *>(place); };
  request.values_in = at(4096), request.values_out = at(8192 + 8);
  EXPECT_TRUE(takes_arrays(request));
  request.values_out = at(8192 + 4);
  EXPECT_FALSE(takes_arrays(request));
  request.values_in = at(4100), request.values_out = at(8192);
  EXPECT_FALSE(takes_arrays(request));
  request.values_in = nullptr;
  EXPECT_FALSE(takes_arrays(request));
  EXPECT_TRUE(takes_arrays(make(Operation::kSort, GSORT_U32, 100, 0)));
}

// Cells of keys alone, for as many as the MSD sort counts at once.
TEST(InPlacePlan, KeysAloneAreTriedByCells) {
  constexpr DeviceFacts kHopper = {90, 132, 227 * 1024};
  for (const gsort_dtype t : {GSORT_F32, GSORT_U64})
    for (const uint64_t n : plan_sizes()) {
      SCOPED_TRACE(n);
      const uint64_t bytes = n * dtype_bytes(t);
      const Plan plan = plan_of(t, n);
      const CellsPlan &cells = plan.cells;
      const bool counted = n <= sort::msd::kItemsMax && !sort::msd::make_plan(n < 1 << 20 ? 1 << 20 : n).counted_late;
      // The shortest arrays of 8-byte keys have no room for a few large batches.
      ASSERT_TRUE(cells.applies || bytes < 2 * kCellsBytesMin || !counted);
      ASSERT_FALSE(cells.applies && (bytes < kCellsBytesMin || !counted));
      if (!cells.applies) continue;
      EXPECT_TRUE(cells_fit(plan, kHopper));
      EXPECT_FALSE(cells_fit(plan, {120, 170, 99 * 1024}));
      EXPECT_LE(slice_bytes(plan.workspace_bytes + kEngineBytes), bytes / 8);
      EXPECT_LE(cells.bins, kBinsMax);
      EXPECT_GE(cells.stripes_max, 64u);
      EXPECT_NE(cells.msd.second_bits, 0u);
      EXPECT_FALSE(cells.msd.takes_crowds || cells.msd.takes_frequent);
      // Batches that are as full as they may be hold all even keys.
      EXPECT_GE(uint64_t{cells.batch_keys} * kBatchesMax, n);
      EXPECT_GE(cells.batch_bins * kBatchesMax, cells.bins);
      const CellsSlices &s = cells.slices;
      const uint64_t key_bytes = dtype_bytes(t), brick = bin_brick_keys(dtype_bytes(t)),
                     slots = (n + brick - 1) / brick;
      const Slice tables = {"tables", s.tables, sort::msd::tables_bytes(cells.msd, {}, dtype_bytes(t))},
                  state = {"state", plan.slices.state, kStateBytes}, done = {"done", plan.slices.done, 4},
                  batches = {"batches", s.batches, kBatchesMax * sizeof(sort::msd::Batch)},
                  bricks = {"bricks", s.bricks, 8 * uint64_t{cells.bins}};
      expect_apart({state,
                    done,
                    tables,
                    batches,
                    bricks,
                    {"what is left", s.left, uint64_t{cells.bins} * cells.left_each * key_bytes},
                    {"sources and targets", s.source, 8 * slots},
                    {"moves", s.moves, 4 * slots},
                    {"emptied slots", s.cut_keys, (slots / kSlotsPerCut + 1) * 512}},
                   plan.workspace_bytes, kSliceAlignment);
      expect_apart({state,
                    done,
                    tables,
                    batches,
                    bricks,
                    {"fast path", s.fast_path_state, sort::fast_path::kStateBytes},
                    {"counts", s.fast_path_counts, 4 * sort::fast_path::kBins},
                    {"bases", s.fast_path_bases, 4 * sort::fast_path::kBins}},
                   plan.workspace_bytes, kSliceAlignment);
      expect_apart({state, done, tables, batches, bricks, {"scratch", s.scratch, cells.batch_keys * key_bytes}},
                   plan.workspace_bytes, kSliceAlignment);
    }
  // Arrays of the tests that force them.
  EXPECT_TRUE(make_plan(make(Operation::kSort, GSORT_F32, 9000001, 0), 0).cells.applies);
  EXPECT_TRUE(make_plan(make(Operation::kSort, GSORT_F64, 9000001, 0), 0).cells.applies);
  EXPECT_FALSE(plan_of_pairs(GSORT_U32, uint64_t{1} << 28, 4).cells.applies);
  EXPECT_FALSE(make_plan(make(Operation::kSort, GSORT_U32, uint64_t{1} << 28, 0), ~uint64_t{0}).cells.applies);
}

TEST(InPlacePlan, SlicesOfEachStepLieApart) {
  for (const uint32_t value_bytes : {0u, 8u}) {
    const Plan plan = value_bytes == 0 ? plan_of(GSORT_U32, 10000019) : plan_of_pairs(GSORT_U32, 10000019, value_bytes);
    const Slices &s = plan.slices;
    const uint64_t brick = brick_items(plan.item_bytes()), slots = (plan.n + brick - 1) / brick;
    const uint64_t parts = uint64_t{plan.buckets} * plan.stripes_max + 1, cuts = slots / kSlotsPerCut + 1;
    expect_apart({{"state", s.state, kStateBytes},
                  {"sample", s.sample, plan.samples * 4},
                  {"sorted", s.sample_sorted, plan.samples * 4},
                  {"its workspace", s.sample_workspace,
                   sort::workspace_bytes(make(Operation::kSort, GSORT_U32, plan.samples, 0))}},
                 plan.workspace_bytes, kSliceAlignment);
    expect_apart({{"state", s.state, kStateBytes},
                  {"counts", s.counts, parts * 4},
                  {"starts", s.starts, parts * 8},
                  {"piece of", s.piece_of, parts * 4},
                  {"keys of pieces", s.piece_keys, parts * brick * 4},
                  {"values of pieces", s.piece_values, parts * brick * value_bytes},
                  {"source", s.source, slots * 4},
                  {"target", s.target, slots * 4},
                  {"moves", s.moves, slots * 4},
                  {"keys of cuts", s.cut_keys, cuts * brick * 4},
                  {"values of cuts", s.cut_values, cuts * brick * value_bytes}},
                 plan.workspace_bytes, kSliceAlignment);
  }
}

}  // namespace
}  // namespace gsort_test
