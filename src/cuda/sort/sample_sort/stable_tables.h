// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable sample sort's tables in device memory: what they are, and where they lie in their slice of the workspace.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_TABLES_H_
#define GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_TABLES_H_

#include <cstdint>

#include "cuda/sort/msd/stable_plan.h"
#include "cuda/sort/msd/tables.h"
#include "cuda/sort/sample_sort/stable_plan.h"

namespace gsort_internal::sort::sample_sort {

using msd::TwoWords;

// Cells, and what is to be done in them, are told as splitters of the stable MSD sort tell them, whose kernels finish
// them (../msd/stable_state.cuh).
struct StableTables {
  unsigned char *state;    // msd::StableState
  uint64_t *sample;        // kStableRuns of kStableRun keys, each sorted
  uint64_t *run_bits;      // of each run: bits that all its keys have, bits that some have
  uint64_t *sorted;        // the sample
  uint64_t *range;         // the least key of all, and the greatest
  uint16_t *counts;        // [block][bin]: pairs
  uint32_t *group_counts;  // [group][bin]: of a group's blocks
  uint64_t *starts;        // of every cell: the least key that it can hold; one more
  uint32_t *cells;         // of every cell: place of its first pair; one more
  uint32_t *finished, *large;
  TwoWords *pieces;
};

inline StableTables make_stable_tables(uint64_t n, msd::TableSlices &slices) {
  constexpr uint64_t kMost = 1u << kStableBinBits;  // bins
  StableTables tables{};
  slices.take(msd::kStableStateBytes, tables.state);
  slices.take(kStableSample, tables.sample, tables.sorted);
  slices.take(2 * kStableRuns, tables.run_bits);
  slices.take(2, tables.range);
  slices.take(kStableBlocksMax * kMost, tables.counts);
  slices.take(kStableGroups * kMost, tables.group_counts);
  slices.take(kMost + 1, tables.starts);
  slices.take(kMost + 1, tables.cells);
  slices.take(kMost, tables.finished, tables.large);
  slices.take(n / msd::kStablePieceItems + kMost, tables.pieces);
  return tables;
}

// Bytes for the tables; 0 for pairs that this sort does not take.
inline uint64_t stable_tables_bytes(uint64_t n, uint32_t key_bytes, uint32_t value_bytes, bool forced = false) {
  if (!stable_applies(n, key_bytes, value_bytes, forced)) return 0;
  msd::TableSlices slices(nullptr);
  make_stable_tables(n, slices);
  return slices.bytes();
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_TABLES_H_
