// SPDX-License-Identifier: MIT OR Apache-2.0
// Which algorithm sorts a request on the GPU, and the tuning numbers of the stable radix sorts, read by host and
// device.
#ifndef GSORT_CUDA_SORT_SORT_PLAN_H_
#define GSORT_CUDA_SORT_SORT_PLAN_H_

#include <cstdint>

#include "core/dtype.h"
#include "core/request.h"
#include "cuda/primitive/tile_shape.h"
#include "cuda/sort/fast_path/fast_path_plan.h"
#include "cuda/sort/msd/msd_plan.h"
#include "cuda/sort/msd/stable_plan.h"
#include "cuda/sort/small/small_plan.h"

namespace gsort_internal {

enum class SortAlgorithm : uint32_t {
  kAuto,
  kRankSort,    // one block, every thread counts the elements below its own
  kSmallBlock,  // one block, everything in shared memory
  kTeam,        // blocks of one cooperative launch: cut into ranges by a sample, ranges sorted on chip
  kLsd,         // stable passes over memory from the lowest digit
  kMsd,         // keys alone: unstable partition by leading bits, finished on chip; LSD where the data is not for it
  kStable,      // pairs and argsort: stable partition by leading bits, finished on chip; LSD behind it likewise
  kCountFill,   // keys of 1 or 2 bytes alone: count every value, write them out
};

inline const char *sort_algorithm_name(SortAlgorithm algorithm) {
  switch (algorithm) {
    case SortAlgorithm::kRankSort:
      return "rank sort in one block";
    case SortAlgorithm::kSmallBlock:
      return "sort in one block";
    case SortAlgorithm::kTeam:
      return "sample sort by a team of blocks";
    case SortAlgorithm::kLsd:
      return "LSD radix sort";
    case SortAlgorithm::kMsd:
      return "MSD partition sort, an LSD radix sort behind it";
    case SortAlgorithm::kStable:
      return "stable MSD partition sort, an LSD radix sort behind it";
    case SortAlgorithm::kCountFill:
      return "count and fill";
    default:
      return "undecided";
  }
}

// Tiles of a radix pass by the wider of key and value, in bytes.
//
// Large: long runs, so few lines of memory per store. 64 registers, which two blocks an SM leave each thread, hold 24
// items of 4 bytes or 14 of 8 and their places almost without spilling. H200, 2^28 keys of 4 bytes: 24 rows 4.68 ms, 22
// rows 4.83, 20 rows 5.07; three blocks of fewer registers spill and are slower (2026-11-21).
// Small: short inputs are spread over more SMs, and SMs of sm_75 take no large tile of 8-byte items.
template <uint32_t WideBytes>
using LargeTile = TileShape<512, WideBytes == 8 ? 14 : 24>;
template <uint32_t WideBytes>
using SmallTile = TileShape<512, 8>;
constexpr uint32_t kLargeTileSharedBytes = 77 * 1024;
// Up to here more SMs outweigh longer runs: 2^18 pairs of 4 + 4 bytes take 0.0615 ms in small tiles and 0.0724 in large
// ones, 2^20 pairs 0.0882 and 0.0820 (H200, 2026-11-21).
constexpr uint64_t kSmallTilesItemsMax = 1u << 19;

constexpr uint32_t wide_bytes(uint32_t key_bytes, uint32_t value_bytes) {
  return key_bytes == 8 || value_bytes == 8 ? 8 : 4;
}

// A look-back word has 30 bits for a count; longer inputs are sorted in portions that carry the digits' ends along.
constexpr uint32_t kPortionItemsMax = 1u << 29;

// One block sorts a segment of up to this many keys in shared memory.
constexpr uint32_t kSmallRows = 8;
constexpr uint32_t kSmallThreads = 256;
constexpr uint32_t kMediumThreads = 1024;
constexpr uint32_t small_rows(uint32_t key_bytes) { return key_bytes == 8 ? kSmallRows / 2 : kSmallRows; }
constexpr uint32_t small_items(uint32_t key_bytes) { return kSmallThreads * small_rows(key_bytes); }
constexpr uint32_t medium_items(uint32_t key_bytes) { return kMediumThreads * small_rows(key_bytes); }

// Below this many 2-byte keys two passes are quicker than 65,536 counters.
constexpr uint64_t kCountFillItemsMin2 = 1u << 21;

// What travels with a key through the passes.
enum class Carry : uint32_t { kNothing, kValue4, kValue8, kIndex4, kIndex8 };

constexpr uint32_t carry_bytes(Carry carry) {
  return carry == Carry::kNothing ? 0 : carry == Carry::kValue4 || carry == Carry::kIndex4 ? 4 : 8;
}
constexpr bool carries_index(Carry carry) { return carry == Carry::kIndex4 || carry == Carry::kIndex8; }

inline Carry carry_of(const Request &request) {
  if (request.operation == Operation::kSort) return Carry::kNothing;
  if (request.operation == Operation::kSortPairs && request.value_bytes == 4) return Carry::kValue4;
  if (request.operation == Operation::kSortPairs && request.value_bytes == 8) return Carry::kValue8;
  // The last index is n - 1. Indices for the caller have the caller's type, which holds it, so 4 bytes are never
  // widened where 4 are wanted.
  return request.n <= uint64_t{1} << 32 ? Carry::kIndex4 : Carry::kIndex8;
}

// Values that do not travel are fetched by the sorted indices in the end.
inline bool gathers_values(const Request &request) {
  return request.operation == Operation::kSortPairs && carries_index(carry_of(request));
}

struct SortPlan {
  SortAlgorithm algorithm;
  Carry carry;
  uint32_t key_bytes;
  uint32_t digits;
  bool small_tiles;
  uint32_t tile_items;
  uint64_t portion_items;  // a multiple of tile_items
  uint64_t portions;
  uint64_t msd_tables_bytes;  // 0 but for the MSD partition sorts
  bool shortcut;              // looks first whether the keys need a sort by passes or partitions
};

// The one place that chooses. `shared_bytes`: of a block of the device; 0 asks for a plan that needs no less workspace
// than that for any device. `teams`: the device can hold a team of blocks. `forced` is SortAlgorithm::kAuto outside
// tests; `portion_tiles` 0 likewise.
inline SortPlan plan_sort(const Request &request, uint32_t shared_bytes, bool teams, SortAlgorithm forced,
                          uint32_t portion_tiles) {
  SortPlan plan{};
  plan.carry = carry_of(request);
  plan.key_bytes = dtype_bytes(request.order.dtype);
  plan.digits = digits_of(plan.key_bytes);
  const bool wide = wide_bytes(plan.key_bytes, carry_bytes(plan.carry)) == 8;
  plan.small_tiles = request.n <= kSmallTilesItemsMax || (wide && shared_bytes < kLargeTileSharedBytes);
  plan.tile_items = plan.small_tiles ? SmallTile<4>::kItems : wide ? LargeTile<8>::kItems : LargeTile<4>::kItems;
  plan.portion_items =
      uint64_t{portion_tiles != 0 ? portion_tiles : kPortionItemsMax / plan.tile_items} * plan.tile_items;
  plan.portions = request.n / plan.portion_items + (request.n % plan.portion_items != 0 ? 1 : 0);

  const bool can_count = plan.carry == Carry::kNothing && plan.key_bytes <= 2;
  const bool can_partition = plan.carry == Carry::kNothing && msd_applies(request.n, plan.key_bytes);
  const bool can_stable =
      plan.carry != Carry::kNothing && stable_applies(request.n, plan.key_bytes, forced == SortAlgorithm::kStable);
  SortAlgorithm algorithm = can_partition ? SortAlgorithm::kMsd : SortAlgorithm::kLsd;
  if (can_stable) algorithm = SortAlgorithm::kStable;
  if (can_count && (plan.key_bytes == 1 || request.n >= kCountFillItemsMin2)) algorithm = SortAlgorithm::kCountFill;
  const bool sources = request.operation != Operation::kSort;
  const bool can_be_small = small_sort_applies(request.n, plan.key_bytes, sources, shared_bytes);
  const bool can_be_team = teams && team_applies(request.n, plan.key_bytes);
  if (can_be_small) algorithm = SortAlgorithm::kSmallBlock;
  if (can_be_team && request.n > single_block_items(plan.key_bytes, sources)) algorithm = SortAlgorithm::kTeam;
  if (request.n <= kRankSortItemsMax) algorithm = SortAlgorithm::kRankSort;
  const bool can_force =
      forced == SortAlgorithm::kLsd || (forced == SortAlgorithm::kCountFill && can_count) ||
      (forced == SortAlgorithm::kMsd && can_partition) || (forced == SortAlgorithm::kStable && can_stable) ||
      (forced == SortAlgorithm::kSmallBlock && can_be_small) || (forced == SortAlgorithm::kTeam && can_be_team) ||
      (forced == SortAlgorithm::kRankSort && request.n <= kRankSortItemsMax);
  plan.algorithm = can_force ? forced : algorithm;
  plan.shortcut = (plan.algorithm == SortAlgorithm::kLsd || plan.algorithm == SortAlgorithm::kMsd ||
                   plan.algorithm == SortAlgorithm::kStable) &&
                  shortcut_applies(request.n, plan.key_bytes);
  return plan;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_SORT_PLAN_H_
