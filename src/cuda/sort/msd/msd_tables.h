// SPDX-License-Identifier: MIT OR Apache-2.0
// Places of the MSD sort's tables in their slice of the workspace, the same for the size query and the run.
#ifndef GSORT_CUDA_SORT_MSD_MSD_TABLES_H_
#define GSORT_CUDA_SORT_MSD_MSD_TABLES_H_

#include <cstdint>

#include "core/slices.h"
#include "cuda/sort/msd/msd_plan.h"

namespace gsort_internal {

constexpr uint64_t kMsdStateBytes = 64;  // holds an MsdState
constexpr uint64_t kMsdRangeBytes = 8;   // holds a uint2

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

// Bytes for the tables, besides one array of n keys. n and key_bytes as msd_applies() allows. cell_bits: see MsdSort.
constexpr uint64_t msd_tables_bytes(uint64_t n, uint32_t, uint32_t cell_bits = 0) {
  return msd_tables(plan_msd(n, cell_bits)).bytes;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_MSD_MSD_TABLES_H_
