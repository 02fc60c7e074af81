// SPDX-License-Identifier: MIT OR Apache-2.0
// The workspace of a sort as named slices: the size query and the run read the same one.
#ifndef GSORT_CUDA_SORT_SORT_LAYOUT_H_
#define GSORT_CUDA_SORT_SORT_LAYOUT_H_

#include <cstdint>

#include "core/slices.h"
#include "cuda/sort/sort_plan.h"

namespace gsort_internal {

constexpr uint32_t kPassActionBytes = 24;
constexpr uint32_t kCountFillBins = 65536;

// One slot a digit, and for one-digit keys a second that can bring the result back where an input is its output.
constexpr uint32_t slots_of(uint32_t digits) { return digits < 2 ? 2 : digits; }

struct SortLayout {
  uint32_t slots;
  uint64_t tiles;

  // Cleared before every sort by passes; the first zero_bytes of the workspace.
  uint64_t counts, blocks_done, tickets, look_back, actions, zero_bytes;
  // Sorts that look for a shortcut clear these as well, at the same time; counts only for keys alone.
  uint64_t shortcut_state, shortcut_counts, shortcut_zero_bytes;

  uint64_t bases;
  uint64_t keys_x, keys_y;      // x only where the sorted keys are not an output
  uint64_t values_x, values_y;  // x only where the values are not of the travelling kind
  uint64_t small_indices;       // pairs sorted by one block or a team
  uint64_t gathered;            // values on their way to an output that is their input
  uint64_t fill_counts;         // count and fill: counts, the counter of blocks (both cleared), first places
  uint64_t fill_blocks_done;
  uint64_t fill_bases;
  uint64_t shortcut_bases;
  uint64_t msd_tables;  // MSD partition sorts
  uint64_t team_staged, team_spare, team_starts;
  uint64_t bytes;
};

inline SortLayout sort_layout(const Request &request, const SortPlan &plan) {
  SortLayout layout{};
  SliceCounter slices;
  layout.slots = slots_of(plan.digits);
  layout.tiles = request.n / plan.tile_items + 1 + (plan.algorithm == SortAlgorithm::kStable ? kStableBinsMax : 0);
  layout.counts = slices.take(uint64_t{plan.digits} * kDigitBins * 8);
  layout.blocks_done = slices.take(8);
  layout.tickets = slices.take((plan.portions + 1) * layout.slots * 4);
  layout.look_back = slices.take(layout.tiles * kDigitBins * 4);
  // All zeros is the action of doing nothing.
  layout.actions = slices.take(uint64_t{layout.slots} * kPassActionBytes);
  layout.zero_bytes = slices.bytes();
  const uint64_t shortcut_bins = plan.shortcut && plan.carry == Carry::kNothing ? kShortcutBins : 0;
  layout.shortcut_state = slices.take(plan.shortcut ? kShortcutStateBytes : 0);
  layout.shortcut_counts = slices.take(shortcut_bins * 4);
  layout.shortcut_zero_bytes = slices.bytes();
  layout.bases = slices.take(uint64_t{layout.slots} * 2 * kDigitBins * 8);

  const bool keys_are_output = request.operation == Operation::kSort || request.operation == Operation::kSortPairs;
  const uint64_t key_bytes = request.n * plan.key_bytes, carried_bytes = request.n * carry_bytes(plan.carry);
  layout.keys_x = slices.take(keys_are_output ? 0 : key_bytes);
  layout.keys_y = slices.take(key_bytes);
  layout.values_x = slices.take(gathers_values(request) ? carried_bytes : 0);
  layout.values_y = slices.take(carried_bytes);
  const bool pairs = request.operation == Operation::kSortPairs;
  const bool sources = request.operation != Operation::kSort, may_be_team = team_applies(request.n, plan.key_bytes);
  const bool may_be_small =
      pairs && (may_be_team || small_sort_applies(request.n, plan.key_bytes, sources, kLongBlockSharedBytes));
  layout.small_indices = slices.take(may_be_small ? request.n * 4 : 0);
  layout.gathered = slices.take(gathers_values(request) || may_be_small ? request.n * request.value_bytes : 0);
  const bool may_count = plan.key_bytes == 2 && plan.carry == Carry::kNothing;
  layout.fill_counts = slices.take(may_count ? uint64_t{kCountFillBins} * 8 : 0);
  layout.fill_blocks_done = slices.take(may_count ? 8 : 0);
  layout.fill_bases = slices.take(may_count ? uint64_t{kCountFillBins} * 8 : 0);
  layout.shortcut_bases = slices.take(shortcut_bins * 4);
  layout.msd_tables = slices.take(plan.msd_tables_bytes);
  const uint64_t team_bytes = may_be_team ? request.n * small_item_bytes(plan.key_bytes, sources) : 0;
  layout.team_staged = slices.take(team_bytes);
  layout.team_spare = slices.take(team_bytes);
  layout.team_starts = slices.take(may_be_team ? kTeamStartsBytes : 0);
  layout.bytes = slices.bytes();
  return layout;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_SORT_LAYOUT_H_
