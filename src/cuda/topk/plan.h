// SPDX-License-Identifier: MIT OR Apache-2.0
// Which algorithm does a top-k, with which numbers, and what lies where in the workspace. Pure functions of the call's
// shape and a few device facts.
#ifndef GSORT_CUDA_TOPK_PLAN_H_
#define GSORT_CUDA_TOPK_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "core/request.h"
#include "cuda/topk/best_plan.h"
#include "cuda/topk/buckets_plan.h"
#include "cuda/topk/row_ways.h"
#include "cuda/topk/rows_plan.h"
#include "cuda/topk/shape.h"
#include "cuda/topk/team_plan.h"
#include "cuda/topk/tile_plan.h"

namespace gsort_internal::topk {

enum class Algorithm : uint32_t {
  kBest,
  kLanes,
  kSortedLanes,
  kBoundLanes,
  kBoundRows,
  kParts,
  kWarp,
  kStream,
  kRows,
  kTile,
  kTeam,
  kBuckets,
  kSelect,
  kSort
};

// Large k: the best k of a row are selected, or all of it is taken, and the library's own sort does the rest.
struct SortStep {
  bool all;              // the whole row is sorted
  uint64_t items;        // that are sorted
  uint32_t index_bytes;  // as they travel through the sort, whatever the caller's index type
  // Slices of the workspace; rest: the selection's, then the sort's.
  uint64_t keys, indices, rest, bytes;
};

// Large k of one row where key and index fit 64 bits: a team lists what a bound lets through, or the best k of it, and
// the library's own sort of u64 puts that in order. Slices of the workspace, behind the team's.
struct SelectStep {
  uint64_t items;                // that are listed; what is not there is padding
  uint64_t sorted, rest, bytes;  // rest: the sort's
};

struct Plan {
  Shape shape;
  Algorithm algorithm;
  uint32_t index_bits;
  uint32_t composite_bytes;
  uint32_t tile_threads;  // of a block that holds a row; 0: none does
  BestPlan best;
  LanesPlan lanes;
  SortedLanesPlan sorted_lanes;
  BoundLanesPlan bound_lanes;
  BoundRowsPlan bound_rows;
  PartsPlan parts;
  StreamPlan stream;
  RowsPlan rows;
  TeamPlan team;
  TeamLayout team_layout;
  BucketsPlan buckets;
  SelectStep select;
  SortStep sort;
  uint64_t workspace_bytes;  // whatever the device
};

// For tests: make a call take the way it would not take by itself.
struct Options {
  // A way that cannot do the call is not taken.
  bool best = false, sorted_lanes = false, bound_lanes = false, bound_rows = false, parts = false, warp = false,
       stream = false, rows = false, tile = false, team = false, buckets = false, select = false, sort = false;
  uint32_t stream_threads = 0;  // not 0: in place of the planned ones
  bool no_sample = false;
  bool no_cluster = false;
  bool random_sample = false;  // also where the whole row would be its own sample
  uint64_t sample_rank = 0;    // not 0: in place of the planned one (1: too few candidates; huge: too many)
  uint32_t count_items = 0;    // not 0: in place of the planned ones (small: candidates are thinned out first)
};

// k = 1. Only architectures with clusters have the kernels: they were timed on no others. (H200, 2026-11-28, us as with
// k = 2 and so, 67 million f32 in rows of 200 109 and 196, of 512 92 and 81, of 1,000 82 and 72, of 1,100 154 and 83,
// of 2,048 106 and 72, of 16,384 114 and 72, u16 of 512 91 and 98, of 1,000 79 and 56, of 2,000 115 and 46, u8 of 512
// 89 and 83, of 2,000 89 and 29; 34 million f64 of 256 98 and 90; 32 rows of 262,144 35 and 18, 8 of 1,048,576 37 and
// 16, one of 8 million 32 and 17; 16 of 4,000 15 and 10.)
constexpr bool best_fits(const Shape &s, const DeviceFacts &d) {
  return s.k == 1 && d.clusters() && s.rows <= 0x7fffffff;
}
constexpr uint64_t best_columns_min(uint32_t key_bytes) { return key_bytes == 8 ? 250 : key_bytes == 2 ? 700 : 450; }
constexpr bool best_better(const Shape &s, const DeviceFacts &d, const Options &force) {
  const bool of_teams =
      force.no_sample || force.no_cluster || force.random_sample || force.sample_rank != 0 || force.count_items != 0;
  return best_fits(s, d) && !of_teams && s.columns >= best_columns_min(s.key_bytes);
}

// Few launches sort a row of so many elements, which is quicker than a selection of so many of them and more. (H200,
// 2026-11-22, f32: 2^13, k = 512 19 us by a block, sorted whole 12; 2^14, k = 512 33 and 12; 2^16, k = 1024 28 and 14.
// H100, 2026-11-27, times of a selection over these, where values are in order in brackets: u8 2^14, k = 17 2.0 (2.3);
// 2^16, k = 33 1.4 (3.6); 2^18, k = 65 1.6 (6.6); u16 2^14, k = 33 1.35 (2.3); 2^16, k = 129 1.0 (2.9); u32 10,927, k =
// 129 1.2; 2^18, k = 769 1.1 (6.1); u64 2^18, k = 1,000 0.7 (4.6).)
constexpr uint64_t kSortWholeItemsMax = uint64_t{1} << 18;
constexpr uint64_t sort_whole_k_min(uint64_t columns, uint32_t key_bytes) {
  if (key_bytes == 1) return columns <= kWarpItemsMax ? kNever : columns <= uint64_t{1} << 15 ? 17 : 33;
  if (key_bytes == 2 && columns <= kRowsColumnsSingle) return columns <= 8192 ? 1025 : 193;
  if (key_bytes == 2) return columns <= uint64_t{1} << 15 ? 33 : 257;
  if (columns <= 12000) return 129;
  if (columns <= uint64_t{1} << 17) return columns <= uint64_t{1} << 15 ? 257 : 513;
  return key_bytes == 4 ? 577 : 897;
}

// The k from which on a sort of all of a longer row is quicker than a selection of so many and a sort of them; above
// the columns: none. (H100, 2026-11-26, us by selection and by a sort: f32 2^19, k = 2^17 118 and 46; 2^21, k = 2^18
// 137 and 96; 2^22, k = 2^19 164 and 158; 2^23, k = 2^21 295 and 283; 2^24, k = 2^23 708 and 516; f64 2^19, k = 2^17
// 267 and 89; 2^21, k = 2^18 248 and 202; 2^22, k = 2^20 354 and 432; 2^24, k = 2^23 1,218 and 1,050; u16 2^19, k =
// 2^12 63 and 33, u8 2^19, k = 2^12 64 and 20. 8-byte keys that a sample lets select by, times of a sort over these: up
// to 1,700,000, k of a 64th to a 24th of them 1.3 to 1.6, to an 8th 0.8 to 1.2; up to 2,200,000, a 10th to an 8th 0.9;
// up to 3,400,000, to a 6th 1.1. H100, 2026-11-27, times of a selection over those of a sort, geometric means of ten
// kinds of data: u8 2,800,000, k = 257 0.83, but where keys are in order 4.8; 4,200,000, k = 513 0.8 and 3.7;
// 11,200,000, a 64th 1.1; 44,700,000, a 24th 1.2, an 8th 2; u16 699,000, k = 513 1.1 and 7; 2,800,000, k = 1,500 0.8
// and 5.4; 4,200,000, a 32nd 1.0; 16,800,000, a 10th 0.95, an 8th 1.3; 44,700,000, a 6th 1.0; u32 and f32 16,800,000, a
// 3rd 1.05; 44,700,000, a 3rd 1.0; u64 and f64 4,200,000, a 4th 1.0, a 3rd 1.45; 44,700,000, a 5th 1.0, half 1.4.)
struct SortFrom {
  uint64_t columns_max, k_min, share;  // of rows of so many columns: that k, or the columns over `share`, if more
};
constexpr uint64_t kAnyColumns = ~uint64_t{0};
constexpr SortFrom kSortFrom1[] = {
    {uint64_t{1} << 20, 81, 0}, {3000000, 257, 0}, {6000000, 513, 0}, {12000000, 0, 64}, {kAnyColumns, 0, 32}};
constexpr SortFrom kSortFrom2[] = {
    {uint64_t{1} << 20, 401, 0}, {3500000, 1501, 0}, {5000000, 0, 32}, {uint64_t{1} << 25, 0, 12}, {kAnyColumns, 0, 6}};
constexpr SortFrom kSortFrom4[] = {{uint64_t{1} << 20, kBucketsKMax + 1, 0},
                                   {1500000, 0, 16},
                                   {3000000, 0, 10},
                                   {5000000, 0, 7},
                                   {12000000, 0, 4},
                                   {kAnyColumns, 0, 3}};
constexpr SortFrom kSortFrom8[] = {{uint64_t{1} << 20, kBucketsKMax + 1, 0},
                                   {1700000, 0, 24},
                                   {2200000, 0, 10},
                                   {3400000, 0, 6},
                                   {uint64_t{1} << 25, 0, 4},
                                   {kAnyColumns, 0, 3}};
template <uint32_t kCount>
constexpr bool sorts_from(const Shape &s, const SortFrom (&table)[kCount]) {
  for (const SortFrom &from : table)
    if (s.columns <= from.columns_max) return s.k >= max_of(from.k_min, from.share == 0 ? 0 : s.columns / from.share);
  return false;
}
constexpr bool sorts_whole(const Shape &s) {
  if (s.rows != 1) return false;
  if (s.columns <= kSortWholeItemsMax) return s.k >= sort_whole_k_min(s.columns, s.key_bytes);
  return s.key_bytes == 8   ? sorts_from(s, kSortFrom8)
         : s.key_bytes == 4 ? sorts_from(s, kSortFrom4)
         : s.key_bytes == 2 ? sorts_from(s, kSortFrom2)
                            : sorts_from(s, kSortFrom1);
}

// Up to here a list of candidates is sorted as it is, in one launch; the best k of longer ones are selected first.
constexpr uint64_t kSelectItemsMax = uint64_t{1} << 18;
// More overflow the blocks' shared memory by far (2^28 f32, k = 2^22: 1.95 ms, by exact selection 2.65; k = 2^24: 5.7
// and 3.2 ms). Shorter keys are sorted in fewer passes than composites are (H100, 67 million u16: k = 2,800,000 520 us,
// 4,200,000 900, 5,600,000, by exact selection, 670).
constexpr uint64_t kSelectKMax = uint64_t{1} << 22, kSelectKMaxShort = 3000000;

// Without a sample the pairs that an exact selection leaves are sorted as well as composites, in less memory.
constexpr bool select_fits(const Shape &s) {
  const uint64_t k_max = s.key_bytes <= 2 ? kSelectKMaxShort : kSelectKMax;
  return s.rows == 1 && composite_bytes_of(s) == 8 && s.k <= (team_sample(s).items != 0 ? k_max : kTeamItemsMax);
}

// Elements that are listed. A sample lets through a bound's rank of its elements, and more where its groups have two of
// them; three times what varies by chance comes on top.
constexpr uint64_t select_items(const Shape &s) {
  const Sample sample = team_sample(s);
  if (sample.items == 0) return s.k;
  const uint64_t groups = sample.rank + slack_of_sample(sample.rank);
  const uint64_t drawn = groups * 2 * kSampleGroups / (2 * kSampleGroups - groups);
  const uint64_t items = min_of((drawn + 3 * integer_root(drawn)) * (s.columns / sample.items + 1), s.columns);
  return items >= s.k && items <= kSelectItemsMax ? items : s.k;
}

// Large k of 8-byte keys, of which a team would sort the composites that it has selected: the library's sort of pairs
// is quicker. Shorter rows are cut into buckets; of longer ones the read is most of the work, and the map of what is
// selected grows with them. (H100, 2026-11-26, times of a team over these: k = 2,049 to 3,000 1.4, 2^15 1.5, 2^17 1.5;
// 2^20 elements 1.55, 2^22 1.5, 2^24 1.35.)
constexpr uint64_t kSplitColumnsMin = kBucketsColumnsMax + 1, kSplitColumnsMax = uint64_t{1} << 26;
constexpr bool splits(const Shape &s) {
  return s.rows == 1 && s.key_bytes == 8 && s.columns >= kSplitColumnsMin && s.columns <= kSplitColumnsMax &&
         s.k > kCountedMax && team_sample(s).items != 0;
}

// Near k = columns sorting everything is cheaper than selecting first.
constexpr bool sorts_all(const Shape &s) { return s.k > s.columns - s.columns / 4 || sorts_whole(s); }

// Which way, as far as the device has no say; kTeam: it has.
constexpr Algorithm large_k_algorithm(const Shape &s, const Options &force) {
  if (force.team) return Algorithm::kTeam;
  if (force.sort) return Algorithm::kSort;
  if (force.select && select_fits(s)) return Algorithm::kSelect;
  if (sorts_whole(s)) return Algorithm::kSort;
  if (splits(s)) return Algorithm::kSort;
  if (s.k > kCountedMax && select_fits(s)) return Algorithm::kSelect;
  return s.k > kTeamItemsMax ? Algorithm::kSort : Algorithm::kTeam;
}

// From here on a grid's buckets are quicker than a team, or a team and a sort; than one with the row in its registers,
// from the other k on (H200, 2026-11-24, 2^20 f32, k = 1,100: 17.7 us by a team, 20.1 by buckets; 1,500: 22.8
// and 20.3).
constexpr uint64_t kBucketsKMin = 1025, kBucketsKMinResident = 1313;
// Keys of 4 bytes: where the team's bound lets too many through, as of uneven data, it takes 50 to 160 us.
constexpr uint64_t kBucketsKMinNarrow = 897;
constexpr uint64_t buckets_k_min(const Shape &s, bool resident) {
  if (s.columns > kBucketsColumnsMax) return kCountedMax + 1;
  return s.key_bytes == 4 ? kBucketsKMinNarrow : resident ? kBucketsKMinResident : kBucketsKMin;
}
constexpr bool wants_buckets(const Shape &s, const Options &force) {
  if (!buckets_fit(s) || force.buckets) return buckets_fit(s);
  const bool other = force.team || force.sort || force.no_sample || force.random_sample || force.count_items != 0;
  return !other && s.columns > kSortWholeItemsMax && s.k >= buckets_k_min(s, false);
}

// What tests change of a team and of the samples.
constexpr void force_samples(const Shape &s, const Options &force, Plan &plan) {
  if (force.no_cluster) plan.team.cluster = false;
  if (force.no_sample) plan.team.sample = {0, 0};
  if (force.random_sample && plan.team.group_lanes != 0)
    plan.team.sample = team_sample(s), plan.team.group_lanes = 0, plan.team.groups = kSampleGroups;
  if (force.sample_rank != 0 && plan.team.sample.items != 0)
    plan.team.sample.rank = min_of(force.sample_rank, plan.team.groups);
  if (force.count_items != 0) plan.team.count_items = force.count_items;
  if (force.sample_rank != 0 && plan.rows.bounds.rank != 0) {
    const uint64_t tile = plan.rows.threads * kRowsTileEach, tiles = (s.columns + tile - 1) / tile;
    const uint32_t sampled = rows_sampled(static_cast<uint32_t>(s.columns), static_cast<uint32_t>(tiles));
    plan.rows.bounds = {static_cast<uint32_t>(min_of(force.sample_rank, sampled)), 0, 0, 0};
  }
}

// Where a team, or a team and a sort, would do the row of themselves.
constexpr void choose_buckets(const DeviceFacts &d, const Options &force, Plan &plan) {
  plan.buckets = plan_buckets(plan.shape);
  if (force.sample_rank != 0)
    plan.buckets.rank = static_cast<uint32_t>(
        min_of(force.sample_rank, plan.buckets.is_long ? kLongBucketsRankMax : plan.buckets.samples));
  const bool by_team = plan.algorithm == Algorithm::kTeam || (plan.algorithm == Algorithm::kSelect && !force.select);
  const bool split = splits(plan.shape) && !sorts_whole(plan.shape);
  const bool better = (by_team || split) && plan.shape.k >= buckets_k_min(plan.shape, plan.team.resident.need != 0);
  if (buckets_fit(d, plan.buckets.is_long) && (force.buckets || better)) plan.algorithm = Algorithm::kBuckets;
}

// All of a plan but its workspace.
constexpr Plan choose(const Shape &s, const DeviceFacts &d, const Options &force) {
  Plan plan{};
  plan.shape = s;
  plan.index_bits = index_bits_of(s);
  plan.composite_bytes = composite_bytes_of(s);
  plan.tile_threads = plan_tile(s, d);
  plan.best = plan_best(s, d);
  plan.lanes = plan_lanes(s);
  plan.sorted_lanes = plan_sorted_lanes(s);
  plan.bound_lanes = plan_bound_lanes(s);
  plan.bound_rows = plan_bound_rows(s);
  plan.parts = plan_parts(s);
  plan.stream = plan_stream(s, d);
  if (force.stream_threads != 0 && s.k <= stream_k_max(force.stream_threads)) plan.stream = {force.stream_threads};
  const bool rows_fit = plan_rows(s, d, plan.rows);
  const Algorithm large = large_k_algorithm(s, force);
  const bool cluster = cluster_better(s, d);
  plan.algorithm = rows_fit && rows_better(s, d) && !cluster && !sorts_whole(s) ? Algorithm::kRows : Algorithm::kTeam;
  if (plan.algorithm == Algorithm::kTeam) plan.algorithm = large;
  if (stream_better(s, d, plan.stream) && !cluster && !sorts_whole(s)) plan.algorithm = Algorithm::kStream;
  if (tile_better(s, d, plan.tile_threads) && !cluster) plan.algorithm = Algorithm::kTile;
  // A block is quicker with a row, but it takes a warp's rows at the speed of its barriers.
  const bool warp_fits = s.columns <= kWarpItemsMax && s.k <= kWarpSortMax;
  const bool by_warp = warp_fits && force.warp;
  if (many_for_warps(s, d) || by_warp) plan.algorithm = Algorithm::kWarp;
  if (plan.lanes.lanes != 0 && !force.warp) plan.algorithm = Algorithm::kLanes;
  if (plan.bound_lanes.registers != 0 && !force.warp && bound_lanes_better(s, d))
    plan.algorithm = Algorithm::kBoundLanes;
  if (!by_warp && bound_rows_better(s, d) && !(plan.bound_rows.warps == 16 && sorts_whole(s)))
    plan.algorithm = Algorithm::kBoundRows;
  if (plan.sorted_lanes.lanes != 0 && !force.warp && sorted_lanes_better(s, d))
    plan.algorithm = Algorithm::kSortedLanes;
  if (parts_better(s, d)) plan.algorithm = Algorithm::kParts;
  if ((force.best && best_fits(s, d)) || (!by_warp && best_better(s, d, force))) plan.algorithm = Algorithm::kBest;
  if (force.bound_lanes && sorted_lanes_run(d) && plan.bound_lanes.registers != 0)
    plan.algorithm = Algorithm::kBoundLanes;
  if (force.bound_rows && sorted_lanes_run(d) && s.rows <= 0x7fffffff && plan.bound_rows.warps != 0)
    plan.algorithm = Algorithm::kBoundRows;
  if (force.parts && parts_fit(s, d)) plan.algorithm = Algorithm::kParts;
  if (force.sorted_lanes && sorted_lanes_run(d) && plan.sorted_lanes.lanes != 0)
    plan.algorithm = Algorithm::kSortedLanes;
  if (force.stream && plan.stream.threads != 0) plan.algorithm = Algorithm::kStream;
  if (force.rows && rows_fit) plan.algorithm = Algorithm::kRows;
  if (force.tile && plan.tile_threads != 0) plan.algorithm = Algorithm::kTile;
  const bool select = large == Algorithm::kSelect && (force.select || plan.algorithm == Algorithm::kSelect);
  if (force.team || force.sort || select) plan.algorithm = large;
  // Before a sort the rows are selected from one after the other, each by all blocks: a team for every row would wait
  // for teams that have none.
  const Shape at_a_time{plan.algorithm == Algorithm::kSort ? 1 : s.rows, s.columns, s.k, s.key_bytes};
  plan.team = plan_team(at_a_time, d, !select);
  force_samples(s, force, plan);
  if (!select) {
    plan.team.resident = plan_resident(at_a_time, plan.team);
    plan.team.drawn_rank = plan_drawn_rank(s, plan.team);
    plan.team.slot_bits = plan_few_slots(s, plan.team);
  }
  plan.team.tiles_ahead = plan_tiles_ahead(s, plan.team);
  if (wants_buckets(s, force)) choose_buckets(d, force, plan);
  return plan;
}

// gsort_topk and gsort_topk_rows.
Plan make_plan(const Request &request, const DeviceFacts &device, const Options &options = {});

// What make_plan() says for any device.
uint64_t workspace_bytes(const Request &shape);

// The sort of the composites that a team listed.
Request composite_sort_request(uint64_t items);

// The sort of a row's keys, or of its pairs of key and index.
Request sort_request(const Plan &plan, const KeyOrder &order, bool pairs);

// One line for the log.
void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_PLAN_H_
