// SPDX-License-Identifier: MIT OR Apache-2.0
// The ways to do rows of which a small part is wanted, in registers, by streams, clusters and parts: what each is
// planned as, and where it is quicker than others. choose() in plan.h asks them in turn.
#ifndef GSORT_CUDA_TOPK_ROW_WAYS_H_
#define GSORT_CUDA_TOPK_ROW_WAYS_H_

#include <cstdint>

#include "cuda/topk/parts_plan.h"
#include "cuda/topk/rows_plan.h"
#include "cuda/topk/shape.h"
#include "cuda/topk/team_plan.h"

namespace gsort_internal::topk {

constexpr uint64_t kNever = ~uint64_t{0};

// Up to here a single row is left to one block, and up to the other size one of several rows: a launch of one block
// is cheaper than grid barriers.
constexpr uint64_t kRowsColumnsSingle = (uint64_t{1} << 14) - 1;
constexpr uint64_t kRowsColumnsSeveral = uint64_t{1} << 17;
constexpr uint64_t kSeveralRows = 16;
// Elements of the longest row that a warp does, and the most of them it sorts; four warps a block.
constexpr uint32_t kWarpItemsMax = 1024;
constexpr uint32_t kWarpSortMax = 256;
constexpr uint32_t kWarpThreads = 128;

// A row in the registers of some lanes of a warp, 32 / lanes rows a warp; lanes = 0: it does not fit.
struct LanesPlan {
  uint32_t lanes, registers;
};

// A row that some lanes of a warp sort, so many keys in each; lanes = 0: it does not fit.
struct SortedLanesPlan {
  uint32_t lanes, keys;
};

// A row in the registers of a warp, in so many groups a lane; registers = 0: it does not fit, or k is too large.
struct BoundLanesPlan {
  uint32_t registers, groups;
};

// A row in the registers of a block of so many warps, in so many groups a thread, and places for what passes; warps =
// 0: it does not fit, or k is too large.
struct BoundRowsPlan {
  uint32_t warps, groups, places;
};

// Parts of rows, and the slice of the workspace for their best, of which the values come first; rows.warps = 0: rows
// are not cut.
struct PartsPlan {
  BoundRowsPlan rows;  // of a part
  uint32_t of_row;     // parts, where rows have one length
  uint64_t indices, bytes;
};

// Blocks that read a row each, for k of up to half their groups; threads = 0: k is too large.
struct StreamPlan {
  uint32_t threads;
};

// The fewest registers that hold the row, and lanes enough for k: of a group for every two k 1.4 k candidates are left.
constexpr LanesPlan plan_lanes(const Shape &s) {
  constexpr LanesPlan narrow[] = {{8, 8}, {16, 8}, {16, 16}, {32, 16}, {32, 32}};
  constexpr LanesPlan wide[] = {{8, 8}, {16, 8}, {32, 8}, {32, 16}, {32, 32}};
  for (const LanesPlan &plan : s.key_bytes == 8 ? wide : narrow)
    if (s.columns <= plan.lanes * plan.registers && s.k <= plan.lanes) return plan;
  return {0, 0};
}

// Only architectures with clusters have kernels of these and of bound lanes: they were timed on no others.
constexpr bool sorted_lanes_run(const DeviceFacts &d) { return d.clusters(); }

constexpr SortedLanesPlan plan_sorted_lanes(const Shape &s) {
  if (s.columns > (s.key_bytes == 8 ? 128 : 256)) return {0, 0};
  return {s.columns <= 128 ? 8u : 16u, s.columns <= 64 ? 8u : 16u};
}
// Where so much is wanted that choosing first takes longer, and there are rows enough for lanes that wait for each
// other. (H200, 2026-11-28, us by a warp's histograms and so, 33.5 million in rows of 32, all of them: f32 882 and 257,
// u8 2,073 and 340, f64 1,514 and 315; of 128, k = 20 221 and 143, all 370 and 181, f64 676 and 330; of 256, k = 128
// f32 271 and 226, k = 33 u16 219 and 183; of 100 rows of 65 to 128 12 and 13, of 10,000 of 256 33 and 33.)
constexpr bool sorted_lanes_better(const Shape &s, const DeviceFacts &d) {
  if (!sorted_lanes_run(d) || s.rows == 1 || s.k <= (s.columns <= 128 ? 16u : s.key_bytes == 4 ? 64u : 32u))
    return false;
  return s.rows >= uint64_t{d.multiprocessors} * (s.columns <= 64 ? 0 : s.columns <= 128 ? 8 : 128);
}

// Groups for twice k.
constexpr BoundLanesPlan plan_bound_lanes(const Shape &s) {
  if (s.columns > kWarpItemsMax || s.k > 128) return {0, 0};
  return {s.columns <= 512 ? 16u : 32u, s.k <= 64 ? 4u : 8u};
}
// (H200, 2026-11-28, us by a warp's histograms and so, 33.5 million in rows of 300, k = 64: f32 223 and 162, f64 394
// and 260; of 500 166 and 106, 298 and 171; of 1,024 154 and 73, 279 and 110; k = 128 167 and 110, 307 and 192, u16 159
// and 119, u8 of 1,000 with ties 38 and 50 of 8.4 million; of 700 179 and 163, f64 306 and 278, of 513 320 and 365; of
// 530 rows of 1,000 19 and 13.)
constexpr bool bound_lanes_better(const Shape &s, const DeviceFacts &d) {
  if (!sorted_lanes_run(d) || s.rows < uint64_t{d.multiprocessors} * 4 || s.columns <= 128 || s.k <= 32) return false;
  return s.k <= 64 || (s.key_bytes > 1 && s.columns >= 700);
}

// Groups and places for twice k.
constexpr uint32_t kBoundRowsRegisters = 32;
constexpr BoundRowsPlan plan_bound_rows(const Shape &s) {
  constexpr BoundRowsPlan plans[] = {{2, 2, 256}, {2, 4, 256}, {4, 2, 256}, {4, 4, 512},
                                     {8, 2, 256}, {8, 2, 512}, {16, 2, 256}};
  for (const BoundRowsPlan &plan : plans)
    if (s.columns <= 32 * plan.warps * kBoundRowsRegisters &&
        2 * s.k <= min_of(32 * plan.warps * plan.groups, plan.places) && (plan.warps < 16 || s.key_bytes < 8))
      return plan;
  return {0, 0, 0};
}
// (H200, 2026-11-28, us by streams, by lists or by tiles and so, 67 million f32 in rows of 1,100, k = 8, 64 and 128:
// 191 and 154, 474 and 169, 619 and 253; of 2,048 144 and 94, 275 and 105, 356 and 148; of 4,096 131 and 88, 250 and
// 96, 230 and 122; of 8,192 118 and 86, 189 and 96, 170 and 117; half of the registers empty, of 2,100, k = 4 and 10
// 138 and 146, 166 and 147, of 4,100 134 and 146, 152 and 149; seven tenths full, of 3,000, k = 2 and 8 109 and 109,
// 138 and 112; k = 160 and 256 of 3,000 286 and 168, 297 and 232, of 6,000 198 and 164, 203 and 207, f64 of 2,048 259
// and 214, 280 and 280; u8 of 2,048, k = 16, 32 and 64 97 and 119, 161 and 110, 301 and 112, of 8,192 71 and 116, 86
// and 117, 103 and 120, k = 128 262 and 151; 333 f32 rows of 3,000, k = 8, 64, 160 and 256 16 and 11, 17 and 11, 19 and
// 16, 20 and 20, 43 of 1,500, k = 256 15 and 18; 65 of 1,000, k = 33, 64 and 128 13 and 10, 14 and 9, 15 and 14, 218 of
// 300, k = 128 14 and 13. 2026-11-29, 67 million in rows of 9,000, k = 8 and 64 125 and 147, 189 and 170, of 12,288 109
// and 117, 162 and 133, of 16,384 122 and 97, 181 and 105, k = 128 of 14,500 150 and 145; u16 of 12,288, k = 64 142 and
// 141, of 16,384 145 and 115; u8 of 16,384, k = 64 and 128 105 and 140, 203 and 166; 34 million f64 of 4,500, k = 8 and
// 64 140 and 143, 183 and 153, of 8,192 126 and 95, 142 and 98; few: one of 9,000, k = 8 16 and 12, 240, k = 64 22 and
// 18, 961, k = 128 34 and 45; u8 20 and 528 of 16,384, k = 16 17 and 13, 22 and 27; 20 f64 of 8,192, k = 8 and 256 71
// and 10, 93 and 18.)
constexpr bool bound_rows_better(const Shape &s, const DeviceFacts &d) {
  const BoundRowsPlan plan = plan_bound_rows(s);
  if (!sorted_lanes_run(d) || plan.warps == 0 || s.rows > 0x7fffffff || s.k == 1) return false;
  const bool few = s.rows < 8 * uint64_t{d.multiprocessors};
  if (s.columns <= kWarpItemsMax)
    return s.rows < 4 * uint64_t{d.multiprocessors} && s.k > 32 && s.k <= 128 && s.columns >= (s.k <= 64 ? 129 : 500);
  // Of all of the registers.
  const auto full = [&](uint64_t eighths) { return 8 * s.columns >= eighths * 32 * plan.warps * kBoundRowsRegisters; };
  if (plan.warps == 16 || (plan.warps == 8 && s.key_bytes == 8)) {
    if (s.key_bytes == 8 ? few : s.rows <= (s.key_bytes == 1 ? 2 : 4) * uint64_t{d.multiprocessors})
      return s.k <= (s.key_bytes == 1 ? 64 : s.key_bytes == 8 ? 256 : 128);
    if (s.k > 128 || (s.key_bytes == 1 && s.k < 96)) return false;
    return full(s.key_bytes == 8 ? (s.k > 8 ? 0 : 6) : s.key_bytes == 4 && s.k > 8 && s.k <= 64 ? 6 : 7);
  }
  if (s.k > 192) return !few && s.columns <= 4096 && (s.key_bytes < 8 || s.columns > 2048);
  if (few) return true;
  if (s.key_bytes == 1) return s.k >= (s.columns <= 2048 ? 24 : s.columns <= 4096 ? 40 : 80);
  return s.k > 8 || plan.warps == 2 || 10 * s.columns >= 7 * 32 * plan.warps * kBoundRowsRegisters;
}

// Rows that are cut into so many parts in all.
constexpr PartsPlan plan_parts_of(uint64_t parts, uint64_t k, uint32_t key_bytes) {
  PartsPlan plan{};
  plan.rows = plan_bound_rows({1, kPartItems, k, key_bytes});
  plan.indices = slice_bytes(parts * k * key_bytes);
  plan.bytes = plan.indices + slice_bytes(parts * k * sizeof(uint32_t));
  return plan;
}
constexpr PartsPlan plan_parts(const Shape &s) {
  if (s.k == 1 || s.k > kPartsKMax || s.columns <= kPartItems || s.columns > kPartsRowMax) return {};
  const uint32_t of_row = parts_of_row(s.columns);
  if (s.rows > 0x7fffffff / of_row) return {};
  PartsPlan plan = plan_parts_of(s.rows * of_row, s.k, s.key_bytes);
  plan.of_row = of_row;
  return plan.bytes <= kPartsBytesMax ? plan : PartsPlan{};
}

// What any number of rows that are cut from s.columns elements may take.
constexpr uint64_t parts_bytes_max(const Shape &s) {
  if (s.k == 1 || s.k > kPartsKMax || s.columns <= kPartItems) return 0;
  const uint64_t parts = parts_max(s.columns, s.columns / (kPartItems + 1));
  return min_of(plan_parts_of(parts, s.k, s.key_bytes).bytes, kPartsBytesMax);
}

// Threads of a stream's block, and the k that its groups are enough for.
constexpr uint32_t kStreamThreadsMin = 32;
constexpr uint64_t stream_k_max(uint32_t threads) { return min_of(threads / 2, 128); }
// Shorter rows are a warp's.
constexpr uint64_t kStreamColumnsMin = kWarpItemsMax + 1;

// The rows that fewer than 128 threads do: a warp or two hardly wait for each other, but have few loads under way, so
// that twice as many rows are wanted. Only devices with clusters have the kernels: it was timed on no others. (H200,
// 2026-11-28, us by 128 threads and by 32: 67 million elements in rows of 1,150, f32, k = 1 333 and 147, k = 8 357 and
// 183; u8 424 and 134; f64, k = 16 657 and 380; of 4,045, f32, k = 8 151 and 127; 8.4 million in 2,385 rows of 3,517,
// f32, k = 16 31 and 41. By 128 and 64: 5,350, f32, k = 16 157 and 155, k = 32 182 and 177, f64, k = 32 383 and 293.)
constexpr uint64_t stream_columns_max(uint32_t threads) {
  return threads >= 128 ? kNever : threads == 64 ? uint64_t{1} << 13 : uint64_t{1} << 12;
}

// The more rows, the less of an SM each of them gets.
constexpr StreamPlan plan_stream(const Shape &s, const DeviceFacts &d) {
  if (s.columns >= uint64_t{1} << 31 || s.rows > 0x7fffffff) return {0};
  uint32_t threads = 1024;
  while (threads > (d.clusters() ? kStreamThreadsMin : 128) &&
         s.rows * threads > uint64_t{d.multiprocessors} * 1024 * (threads <= 128 ? 2 : 1) &&
         s.k <= stream_k_max(threads / 2) && (threads > 256 || s.columns < 16384) &&
         s.columns <= stream_columns_max(threads / 2))
    threads /= 2;
  return {s.k <= stream_k_max(threads) ? threads : 0};
}

// From here on small blocks that list the best of a row are quicker than streams. (H200, 2026-11-28, us by streams and
// by lists, 67 million f32 in rows of 1,050, k = 50, 65, 128: 460 and 577, 977 and 581, 1,152 and 590; of 8,000 174 and
// 160, 217 and 163, 306 and 173; 34 million f64 in rows of 2,000, k = 33, 65 240 and 229, 424 and 234, of 4,000, k = 33
// 224 and 171.)
constexpr uint64_t stream_listed_k_min(uint32_t key_bytes) { return key_bytes == 8 ? 33 : 65; }

// Few long rows need more blocks than there are rows: up to 16 a cluster each.
constexpr uint64_t kStreamRowsMin = kSeveralRows + 1;
constexpr bool stream_better(const Shape &s, const DeviceFacts &d, const StreamPlan &plan) {
  if (plan.threads == 0 || s.columns < kStreamColumnsMin) return false;
  if (s.k >= stream_listed_k_min(s.key_bytes) && rows_by_few(s.rows, s.columns, s.k, d)) return false;
  return s.columns <= kRowsColumnsSingle || s.rows >= d.multiprocessors / 2 ||
         (s.columns <= kRowsColumnsSeveral && s.rows >= kStreamRowsMin);
}

// One block a row, not a team. Where some hundred and more are wanted a team counts them, or sorts them, for as long as
// a block takes for a longer row. (H200, 2026-11-28, us by teams and by blocks, f32: 2 rows of 50,000, k = 512 19 and
// 26, k = 1,000 36 and 28, k = 2,048 65 and 30; of 150,000, k = 2,048 46 and 54; 16 rows of 50,000, k = 512 29 and 26;
// of 100,000, k = 1,000 45 and 39; of 262,000, k = 1,000 47 and 71, k = 2,048 89 and 75; 55 rows of 150,000, k = 512 59
// and 47, k = 1,000 79 and 51; of 600,000, k = 1,000 137 and 145; 2026-11-29, u8 5 rows of 20,000, k = 130 and 300 31
// and 25, 42 and 24.)
constexpr uint64_t kRowsManyKMin = 400;
constexpr bool rows_better(const Shape &s, const DeviceFacts &d) {
  if (s.columns <= kRowsColumnsSingle || s.rows >= d.multiprocessors / 2) return true;
  if (s.key_bytes == 1 && s.rows > 1 && s.columns <= 2 * kRowsColumnsSingle) return true;
  if (s.columns <= kRowsColumnsSeveral && s.rows > kSeveralRows) return true;
  if (s.rows == 1 || s.k < kRowsManyKMin || s.columns > uint64_t{1} << 18) return false;
  return s.columns <= s.k * (50 + s.rows * 9 / 2);
}

// Several blocks a row, as a cluster, where there are not rows enough for a block each. (H200, 2026-11-28, us by a
// block or a team of a row and by clusters, f32: 24 rows of 16,500, k = 8 18 and 14; of 50,257, k = 50 27 and 17; of
// 128,256, k = 8 and 50 30 and 20, 37 and 23; 48 of 16,500, k = 50 19 and 17, of 50,257 26 and 26; 15 of 262,144, k = 8
// 32 and 23; u16, 24 of 128,256, k = 50 36 and 20.)
constexpr uint64_t kClusterBytesMin = uint64_t{64} << 10;
constexpr bool cluster_better(const Shape &s, const DeviceFacts &d) {
  const uint64_t blocks = cluster_blocks(s.rows, d.multiprocessors), bytes = s.columns * s.key_bytes;
  if (!d.clusters() || s.rows == 1 || blocks == 0 || s.k > kClusterKMax || bytes < kClusterBytesMin) return false;
  if (team_sample(s).items == 0) return false;  // the team would select exactly
  if (cluster_tiles(bytes / 16, blocks) > 1) return cluster_reads_tiles(s, d);
  return cluster_candidates(s, blocks, 1) <= quickly_counted(blocks);
}

constexpr bool parts_fit(const Shape &s, const DeviceFacts &d) { return d.clusters() && plan_parts(s).rows.warps != 0; }

// Whether the registers of a cluster hold a row: then its blocks are quicker, unless they have many keys of 8 bytes.
constexpr bool cluster_holds_row(const Shape &s, const DeviceFacts &d) {
  const uint64_t bytes = s.columns * s.key_bytes, blocks = cluster_blocks(s.rows, d.multiprocessors);
  if (blocks == 0 || bytes < kClusterBytesMin || cluster_tiles(bytes / 16, blocks) > 1) return false;
  if (s.rows > kSeveralRows && s.columns <= kRowsColumnsSeveral && !cluster_better(s, d)) return false;
  return s.key_bytes < 8 || s.k > 64 || bytes < blocks * 48 * 1024;
}

// Rows of one length in parts. (H200, 2026-11-29, us by other ways and by parts, k = 8, 64 and 128: f32 24 rows of
// 128,256 19 and 16, 22 and 17, 39 and 22, 66 30 and 23, 35 and 25, 41 and 34, 132 30 and 34, 36 and 38, 41 and 46;
// 1,000 of 32,000 59 and 55, 82 and 60, 75 and 75; 16 of 50,257 13 and 14, 13 and 16, 15 and 19; 8 of 1,000,000 36 and
// 25, 37 and 29, 37 and 38; f64 16 of 50,257 22 and 17, 25 and 19, 32 and 24, 40 of 9,000 91 and 17, 94 and 18, 94 and
// 22, 1,000 of 32,000 109 and 97, 108 and 104, 111 and 127; f16 24 of 24,000 18 and 17, 19 and 18, 21 and 21, 300 of
// 32,000 26 and 25, 34 and 27, 35 and 35; u8 4 of 24,000 28 and 15, 29 and 16, 31 and 18, 24 of 40,000 17 and 13, 17
// and 16, 20 and 17, 600 of 32,000 30 and 44, 34 and 40, 73 and 50; f32 1,000 of 32,000 that are constant, k = 8 51
// and 71.)
constexpr bool parts_better_of_bytes(const Shape &s, const DeviceFacts &d) {
  const uint64_t sms = d.multiprocessors;
  if (s.rows > 2 * sms) return s.k > 64 && s.columns > 10000 && s.columns <= 100000;
  const bool some = s.columns > 2 * kPartItems && s.columns <= 4 * kPartItems;
  if (s.rows <= kSeveralRows) return some || (s.rows > 1 && s.rows <= 4 && s.k > 32 && s.columns > 700000);
  if (some) return 8 * s.rows <= 6 * sms && (s.k <= 64 || 3 * s.rows <= sms);
  return s.columns > 2 * kPartItems && s.columns <= 500000 && 3 * s.rows <= sms && !cluster_holds_row(s, d) &&
         !cluster_better(s, d);
}
// Of two parts, half full.
constexpr bool two_parts_better(const Shape &s, const DeviceFacts &d) {
  const uint64_t sms = d.multiprocessors;
  if (s.key_bytes < 8) return s.key_bytes == 4 && s.k > 16 && s.k <= 64 && s.rows > 4 * sms;
  if (s.rows <= sms) return true;
  if (s.k > 32) return s.rows <= 2 * sms;
  return s.k > 8 || s.rows <= 3 * sms;
}
// Many parts take long to merge.
constexpr bool few_parts(const Shape &s) {
  const bool longer = s.columns > uint64_t{1} << 20, longest = s.columns > uint64_t{1} << 21;
  if (s.rows > kSeveralRows) return !longest || s.k <= 64;
  if (s.rows <= 4 && s.k > 64 && s.columns > uint64_t{1} << 19) return false;
  return !longer || (!longest && (s.k <= 32 || (s.k <= 64 && s.rows > 4)));
}
// A row or two for each multiprocessor.
constexpr bool rows_fill_blocks(const Shape &s, const DeviceFacts &d) {
  const uint64_t sms = d.multiprocessors;
  if (s.columns > 100000 && 4 * s.rows > 7 * sms && s.rows <= 2 * sms) return true;
  if (s.columns <= 50000 || 4 * s.rows <= 3 * sms || 2 * s.rows > 3 * sms) return false;
  return s.key_bytes < 4 || s.k <= 16 || s.k > 64 || 5 * s.rows > 4 * sms;
}
// Rows that multiprocessors have more than two of each: shorter ones, and such as are not read once as quickly.
constexpr bool many_in_parts(const Shape &s) {
  switch (s.key_bytes) {
    case 8:
      return s.k > 4 && (s.k <= 32 ? s.columns <= 132000 : s.k <= 64 && s.columns > 20000 && s.columns <= 50000);
    case 4:
      return s.k > 8 && s.k <= 64 && s.columns <= (s.k > 16 ? 132000 : 50000);
    default:
      return s.k > 64 ? s.columns > 20000 && s.columns <= 45000 : s.k > 16 && s.columns <= 70000;
  }
}
constexpr bool parts_better(const Shape &s, const DeviceFacts &d) {
  if (!parts_fit(s, d) || !few_parts(s)) return false;
  const uint64_t sms = d.multiprocessors;
  if (s.key_bytes == 1) return parts_better_of_bytes(s, d);
  if (s.rows == 1)
    return s.k <= 32 && s.columns <= uint64_t{1} << 20 && s.key_bytes > 2 &&
           s.columns >= (s.key_bytes == 8 ? 65536 : 200000);
  if (s.columns <= 2 * kPartItems) return two_parts_better(s, d);
  if (cluster_holds_row(s, d) || rows_fill_blocks(s, d)) return false;
  if (s.rows > 2 * sms) return many_in_parts(s);
  const bool half = 2 * s.rows <= sms, several = s.rows > kSeveralRows;
  switch (s.key_bytes) {
    case 8:
      return s.k > 4 || s.rows <= sms;
    case 4:
      return s.k > 64 ? half : s.k > 4 || s.rows <= sms;
    default:
      if (s.k > 64) return half && several && s.columns > 35000;
      return (several || s.columns > 4 * kPartItems) && (half || s.columns <= (s.k > 16 ? 70000 : 42000));
  }
}

// A block that holds its row chooses and sorts at once. Of many short ones warps are quicker up to the k that they can
// do.
constexpr bool many_for_warps(const Shape &s, const DeviceFacts &d) {
  return s.columns <= kWarpItemsMax && s.k <= kWarpSortMax && s.rows > 4 * uint64_t{d.multiprocessors};
}
// Of many longer ones smaller blocks are quicker that have room for the best, and not for the row.
constexpr bool tile_better(const Shape &s, const DeviceFacts &d, uint32_t threads) {
  if (threads == 0 || many_for_warps(s, d)) return false;
  if (s.columns <= kWarpItemsMax) return s.k > 32;
  const uint32_t few = rows_by_few(s.rows, s.columns, s.k, d);
  return s.k > 128 && (few == 0 || s.columns <= rows_room(few));
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_ROW_WAYS_H_
