// SPDX-License-Identifier: MIT OR Apache-2.0
// The sample sort's tables in device memory: what they are, and where they lie in their slice of the workspace.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_TABLES_H_
#define GSORT_CUDA_SORT_SAMPLE_SORT_TABLES_H_

#include <cstdint>

#include "cuda/sort/msd/tables.h"
#include "cuda/sort/sample_sort/plan.h"

namespace gsort_internal::sort::sample_sort {

using msd::TwoWords;

struct State {
  uint32_t cells, bigs, fills;          // in the lists
  uint32_t tickets;                     // of the blocks that sort cells
  uint32_t differing, equal, repeated;  // sampled keys, see crowding.cuh
};

// Keys [first, first + count) of the output are the value that begins bin `bin`.
struct Fill {
  uint32_t first, count, bin;
};

template <class U>
struct Arguments {
  // Not 0: another sort has the keys, which spread evenly; NULL: there is none. Written before the first kernel, or, if
  // that looks for even keys, by it and those behind it up to the count.
  const uint32_t *sorted;
  bool looks;
  State *state;
  U *sample;             // kSample: sorted
  U *splitters;          // kBins: every fourth key of the sample
  uint32_t *bin_counts;  // kBins
  uint16_t *bins;        // of every key of 8 bytes, unless the blocks of a grid hold all
  uint32_t *room;        // of every cell: keys that lie there
  U *starts;             // kBins: the least key that each can hold
  TwoWords *cells;       // kBins: place in the output, number of keys that are moved
  uint32_t *big;         // cells with more keys than a block holds
  Fill *fills;
  uint32_t part_keys;  // cells have the bins that end in equal parts of the output of so many keys
};

template <class U>
Arguments<U> make_arguments(const uint32_t *sorted, uint64_t n, msd::TableSlices &slices) {
  Arguments<U> tables{};
  tables.sorted = sorted;
  slices.take(1, tables.state);
  slices.take(kSample, tables.sample);
  slices.take(kBins, tables.splitters, tables.starts);
  slices.take(kBins, tables.bin_counts, tables.room, tables.big);
  slices.take(kBins, tables.cells);
  slices.take(n / kFillKeys + kBins, tables.fills);
  slices.take(sizeof(U) == 8 ? n : 0, tables.bins);
  return tables;
}

// Bytes for the tables; 0 for keys that this sort does not take.
inline uint64_t tables_bytes(uint64_t n, uint32_t key_bytes) {
  if (!applies(n, key_bytes)) return 0;
  msd::TableSlices slices(nullptr);
  key_bytes == 8 ? void(make_arguments<uint64_t>(nullptr, n, slices))
                 : void(make_arguments<uint32_t>(nullptr, n, slices));
  return slices.bytes();
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_TABLES_H_
