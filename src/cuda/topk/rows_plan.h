// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows that a block reads once and lists the best of, for k of some dozen and more. Read by host and device.
#ifndef GSORT_CUDA_TOPK_ROWS_PLAN_H_
#define GSORT_CUDA_TOPK_ROWS_PLAN_H_

#include <cstdint>

#include "cuda/topk/shape.h"
#include "cuda/topk/tile_plan.h"

namespace gsort_internal::topk {

// Most elements of a row that a block chooses and sorts.
constexpr uint64_t kRowsSortMax = 2048;

constexpr uint32_t kRowsThreads[] = {128, 256, 512}, kRowsThreadsMost = 512;

// A list of so many a thread, and as many bins.
constexpr uint32_t kRowsListEach = kTileEach;
GSORT_HOST_DEVICE constexpr uint64_t rows_room(uint32_t threads) { return uint64_t{threads} * kRowsListEach; }
// Half of the list, so that it need not be made shorter all the time.
constexpr uint64_t rows_k_max(uint32_t threads) { return rows_room(threads) / 2; }
static_assert(rows_k_max(kRowsThreadsMost) == kRowsSortMax, "");
// Elements of a tile of a row, in the registers of a thread.
constexpr uint32_t kRowsTileEach = 8;
constexpr uint32_t rows_bytes(uint32_t threads, uint32_t key_bytes) {
  return tile_bytes(threads, key_bytes == 8 ? 8 : 4);
}

// Elements of the first tile of a row, of pieces of 32 that `tiles` tiles take in turns.
GSORT_HOST_DEVICE constexpr uint32_t rows_sampled(uint32_t items, uint32_t tiles) {
  const uint32_t pieces = (items + 31) / 32, first = (pieces + tiles - 1) / tiles;
  return 32 * first - ((pieces - 1) % tiles == 0 ? 32 * pieces - items : 0);
}

// As rank_of_sample(), in the few steps that numbers of a block's elements need.
GSORT_HOST_DEVICE constexpr uint32_t rows_root(uint32_t v) { return integer_root(v, uint32_t{64}); }
GSORT_HOST_DEVICE constexpr uint32_t rows_rank_above(uint32_t mean) { return mean + 4 * rows_root(mean) + 5; }

// How a row is bound: by the rank of an element of its first tile, and, of long rows, once more by that of one of the
// first tiles that the first bound has let through.
struct RowsBounds {
  uint32_t rank, slack;  // in the first tile, and how many more may pass; no rank: no bound would do
  uint32_t tiles;        // that are listed under it; not 0: then
  uint32_t again;        // is the rank in these
};
constexpr uint32_t kRowsAgainTiles = 8;
GSORT_HOST_DEVICE constexpr uint32_t rows_slack_of_sample(uint32_t rank) { return rank / 8 + 1; }

// Whether there is room for what passes of `items` elements under a bound of such a rank in `sampled` of them: the rank
// of one that hardly ever has so few sampled ones under it.
GSORT_HOST_DEVICE constexpr bool rows_fit(uint32_t rank, uint32_t items, uint32_t sampled, uint32_t room) {
  const uint32_t most = rank + rows_slack_of_sample(rank);
  return rank <= sampled && uint64_t{most + 4 * rows_root(most) + 8} * items <= uint64_t{sampled} * room;
}

// Of a row that the list has no room for.
GSORT_HOST_DEVICE constexpr RowsBounds rows_bounds(uint32_t items, uint32_t k, uint32_t threads) {
  const uint32_t tile = threads * kRowsTileEach, tiles = (items + tile - 1) / tile;
  const uint32_t room = static_cast<uint32_t>(rows_room(threads));
  const uint32_t sampled = rows_sampled(items, tiles), rank = rows_rank_above(k * sampled / items + 1);
  if (rows_fit(rank, items, sampled, room)) return {rank, rows_slack_of_sample(rank), 0, 0};
  if (tiles < 2 * kRowsAgainTiles) return {0, 0, 0, 0};
  const uint32_t several = kRowsAgainTiles * tile;
  const uint32_t again = rows_rank_above(static_cast<uint32_t>(uint64_t{k} * several / items) + 1);
  const uint32_t first = rows_rank_above(again / kRowsAgainTiles + 1);
  if (!rows_fit(first, several, tile, room) || !rows_fit(again, items, several, room)) return {0, 0, 0, 0};
  return {first, rows_slack_of_sample(first), kRowsAgainTiles, again};
}

// Whether a block has shared memory for its list and its bins.
constexpr bool rows_block_fits(uint32_t threads, uint32_t key_bytes, const DeviceFacts &d) {
  return rows_bytes(threads, key_bytes) <= d.shared_bytes_block_max;
}

// Whether a block has room for k and for what its bound lets through, and there are rows enough to fill all SMs with
// such blocks, once and for the most part once more.
constexpr bool rows_suit(uint32_t threads, uint64_t rows, uint64_t columns, uint64_t k, const DeviceFacts &d) {
  if (k > rows_k_max(threads) || rows * threads <= 512 * uint64_t{d.multiprocessors}) return false;
  if (columns <= rows_room(threads)) return true;
  const RowsBounds bounds = rows_bounds(static_cast<uint32_t>(columns), static_cast<uint32_t>(k), threads);
  return bounds.rank != 0 && bounds.tiles == 0;
}

// Threads of the smallest block that suits, but the largest, of the fewest threads that are asked for; 0: none does.
// Only devices with clusters take these where the largest fits: they were timed on no others. (H200, 2026-11-28, 67
// million f32 in rows of 2,000, k = 256, by 128, 256 and 512 threads 352 us, 581, 657; of 4,000 234, 323, 590; of
// 10,000, k = 129 162, 199, 514.)
constexpr uint32_t rows_by_few(uint64_t rows, uint64_t columns, uint64_t k, const DeviceFacts &d,
                               uint32_t threads_min = 0) {
  for (const uint32_t threads : kRowsThreads)
    if (threads >= threads_min && threads < kRowsThreadsMost && d.clusters() && rows_suit(threads, rows, columns, k, d))
      return threads;
  return 0;
}

// Threads of the block; 0: none has room for k.
constexpr uint32_t rows_threads(uint64_t rows, uint64_t columns, uint64_t k, uint32_t key_bytes, const DeviceFacts &d,
                                uint32_t threads_min = 0) {
  constexpr uint32_t kMost = kRowsThreadsMost, kLess = kRowsThreads[1];
  if (const uint32_t few = rows_by_few(rows, columns, k, d, threads_min)) return few;
  if (rows_block_fits(kMost, key_bytes, d)) return k <= rows_k_max(kMost) ? kMost : 0;
  return k <= rows_k_max(kLess) && rows_block_fits(kLess, key_bytes, d) ? kLess : 0;
}

// Blocks that do a row each, for k of up to half of what their list has room for.
struct RowsPlan {
  uint32_t threads;
  RowsBounds bounds;  // of rows with offsets the kernel finds them
};

// False if a block cannot hold what a row needs.
constexpr bool plan_rows(const Shape &s, const DeviceFacts &d, RowsPlan &plan) {
  plan = {s.columns < uint64_t{1} << 31 ? rows_threads(s.rows, s.columns, s.k, s.key_bytes, d) : 0, {}};
  if (plan.threads != 0 && s.columns > rows_room(plan.threads))
    plan.bounds = rows_bounds(static_cast<uint32_t>(s.columns), static_cast<uint32_t>(s.k), plan.threads);
  return plan.threads != 0;
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_ROWS_PLAN_H_
