// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows of different lengths: who does a row, and where rows of each class are listed.
#ifndef GSORT_CUDA_TOPK_RAGGED_PLAN_H_
#define GSORT_CUDA_TOPK_RAGGED_PLAN_H_

#include <cstdint>

#include "cuda/topk/plan.h"

namespace gsort_internal {

// Rows longer than this are left to all blocks together, unless there are many of them.
constexpr uint64_t kTopkRaggedLong = uint64_t{1} << 18;
constexpr uint64_t kTopkRaggedLongMany = 64;
constexpr uint32_t kTopkRaggedThreads = 512;

// Who does a row of ragged rows, and rows of which class are listed where.
enum class TopkRaggedClass : uint32_t { kWarp, kBlock, kLong, kTeam };

GSORT_HOST_DEVICE constexpr TopkRaggedClass topk_ragged_class(uint64_t items, uint64_t k, uint64_t block_k_max) {
  const uint64_t found = topk_min(items, k);
  if (items <= kTopkWarpItemsMax && found <= kTopkWarpSortMax) return TopkRaggedClass::kWarp;
  if (found > block_k_max || items >= uint64_t{1} << 31) return TopkRaggedClass::kTeam;
  return items <= kTopkRaggedLong ? TopkRaggedClass::kBlock : TopkRaggedClass::kLong;
}

// Most rows that the classes can have among n elements. More than kTopkWarpSortMax elements are in every row that no
// warp does.
struct TopkRaggedLayout {
  uint64_t lists[3];     // of kBlock, kLong, kTeam
  uint64_t capacity[3];  // rows
  uint64_t team;
  uint64_t bytes;
};

constexpr uint32_t kTopkRaggedCounters = 4;  // rows in each list, and the ticket of the list in work

constexpr TopkRaggedLayout topk_ragged_layout(const TopkShape &whole, uint64_t segments) {
  TopkRaggedLayout l{};
  l.bytes = topk_round(kTopkRaggedCounters * 8);
  const uint64_t least[3] = {kTopkWarpSortMax + 1, kTopkRaggedLong + 1, kTopkWarpSortMax + 1};
  for (uint32_t i = 0; i < 3; ++i) {
    l.lists[i] = l.bytes;
    l.capacity[i] = topk_min(segments, whole.columns / least[i]);
    l.bytes += topk_round(l.capacity[i] * 8);
  }
  l.team = l.bytes;
  l.bytes += topk_team_layout(whole, false).bytes;
  return l;
}

// The plan of blocks that do one row each, whatever its length: the sample is found for each row.
constexpr TopkRowsPlan topk_plan_ragged_rows(const TopkShape &whole, const TopkDevice &d) {
  TopkRowsPlan plan{};
  const uint32_t composite = whole.key_bytes == 8 ? 16 : 8;
  plan.threads = kTopkRaggedThreads;
  plan.bin_bits = kTopkBinBits;
  plan.sorted_items = topk_rows_sorted_items(topk_min(whole.k, kTopkRowsSortMax));
  while (plan.sorted_items > 32 &&
         topk_rows_room(composite, plan.bin_bits, plan.sorted_items, d) < topk_max(plan.sorted_items, 1024))
    plan.sorted_items /= 2;
  // Two blocks an SM.
  const TopkDevice half{d.multiprocessors, d.shared_bytes_block_max / 2 - kTopkScratchBytes};
  const uint64_t room = topk_max(topk_rows_room(composite, plan.bin_bits, plan.sorted_items, half),
                                 topk_min(topk_rows_room(composite, plan.bin_bits, plan.sorted_items, d), 4096));
  plan.buffer_items = static_cast<uint32_t>(topk_min(room, kTopkRowsCandidatesMax));
  plan.direct_items = static_cast<uint32_t>(topk_min(plan.buffer_items, kTopkRowsDirectMax));
  return plan;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_TOPK_RAGGED_PLAN_H_
