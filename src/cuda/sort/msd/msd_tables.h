// SPDX-License-Identifier: MIT OR Apache-2.0
// Places of the MSD sort's tables in their slice of the workspace, the same for the size query and the run.
#ifndef GSORT_CUDA_SORT_MSD_MSD_TABLES_H_
#define GSORT_CUDA_SORT_MSD_MSD_TABLES_H_

#include <cstdint>

#include "core/slices.h"
#include "cuda/sort/msd/msd_plan.h"
#include "cuda/sort/msd/split_plan.h"

namespace gsort_internal {

constexpr uint64_t kMsdStateBytes = 64;    // holds an MsdState
constexpr uint64_t kMsdRangeBytes = 8;     // holds a uint2
constexpr uint64_t kSplitStateBytes = 64;  // holds a SplitState
constexpr uint64_t kSplitFillBytes = 12;   // holds a SplitFill

struct MsdTables {
  uint64_t state, cells, bin_first, first_room, room, first_tile, weights, map, bin_entries, ranges, bytes;
};

constexpr MsdTables msd_tables(const MsdPlan &plan) {
  const uint64_t cells = msd_cells_max(plan), bins = msd_bins_max(plan);
  SliceCounter slices;
  MsdTables tables{};
  tables.state = slices.take(kMsdStateBytes);
  tables.cells = slices.take((cells + 1) * sizeof(uint32_t));
  tables.bin_first = slices.take((bins + 1) * sizeof(uint32_t));
  tables.first_room = slices.take(bins * sizeof(uint32_t));
  tables.room = slices.take(cells * sizeof(uint32_t));
  tables.first_tile = slices.take((bins + 1) * sizeof(uint32_t));
  tables.weights = slices.take(kMsdMapWeights * sizeof(uint32_t));
  tables.map = slices.take(kMsdMapEntries * sizeof(uint32_t));
  tables.bin_entries = slices.take((bins + 1) * sizeof(uint32_t));
  tables.ranges = slices.take(cells * kMsdRangeBytes);
  tables.bytes = slices.bytes();
  return tables;
}

// Places of the tables of the sort by splitters, which lie behind the others.
struct SplitSlices {
  uint64_t state, sample, root, sub_least, sub_place, starts, digit_least, digit_shift, knots, knot_shift, kinds,
      bin_counts, bin_done, scratch_first, out_first, first_room, first_tile, bin_cells, digits, digit_cell, cells,
      room, big, fills, bytes;
};

constexpr SplitSlices split_tables(const SplitPlan &plan) {
  const uint64_t bins = plan.bins_max + 1, digits = bins << plan.digit_bits;
  SliceCounter slices;
  SplitSlices tables{};
  tables.state = slices.take(kSplitStateBytes);
  tables.sample = slices.take(kSplitSampleMax * 8);
  tables.root = slices.take(kSplitTableWords * 4);
  tables.sub_least = slices.take(kSplitSubsMax * 8);
  tables.sub_place = slices.take(kSplitSubsMax * 4);
  tables.starts = slices.take(bins * 8);
  tables.digit_least = slices.take(bins * 8);
  tables.digit_shift = slices.take(bins * 4);
  tables.knots = slices.take(bins * kSplitKnots * 8);
  tables.knot_shift = slices.take(bins * kSplitKnots * 4);
  tables.kinds = slices.take(bins * 4);
  tables.bin_counts = slices.take(bins * 4);
  tables.bin_done = slices.take(bins * 4);
  tables.scratch_first = slices.take(bins * 4);
  tables.out_first = slices.take(bins * 4);
  tables.first_room = slices.take(bins * 4);
  tables.first_tile = slices.take(bins * 4);
  tables.bin_cells = slices.take(bins * 8);
  tables.digits = slices.take(digits * 4);
  tables.digit_cell = slices.take(digits * 2);
  tables.cells = slices.take(uint64_t{plan.cells_max} * 8);
  tables.room = slices.take(uint64_t{plan.cells_max} * 4);
  tables.big = slices.take(uint64_t{plan.cells_max} * 4);
  tables.fills = slices.take(plan.fills_max * kSplitFillBytes);
  tables.bytes = slices.bytes();
  return tables;
}

// Bytes for the tables, besides one array of n keys. n and key_bytes as msd_applies() allows. cell_bits, splits: see
// MsdSort.
constexpr uint64_t msd_tables_bytes(uint64_t n, uint32_t, uint32_t cell_bits, bool splits) {
  return msd_tables(plan_msd(n, cell_bits)).bytes + (splits ? split_tables(plan_split(n)).bytes : 0);
}
constexpr uint64_t msd_tables_bytes(uint64_t n, uint32_t key_bytes, uint32_t cell_bits = 0) {
  return msd_tables_bytes(n, key_bytes, cell_bits, msd_splits(n, key_bytes));
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_MSD_MSD_TABLES_H_
