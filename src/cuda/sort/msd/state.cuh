// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels of the MSD sort tell each other in device memory.
#ifndef GSORT_CUDA_SORT_MSD_STATE_CUH_
#define GSORT_CUDA_SORT_MSD_STATE_CUH_

#include <cstdint>

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/hash.cuh"
#include "cuda/sort/msd/msd_plan.h"

namespace gsort_internal {

// Written by the sample kernel. The kernels up to the histogram may clear `go` and `sorted`; no key is moved before it
// has run. With go = 0 the MSD kernels do nothing; with sorted = 0 the LSD sort behind them does the work.
template <class U>
struct MsdState {
  uint32_t go;
  uint32_t sorted;        // as `go`, but set too where the keys are sorted before this sort begins
  uint32_t foreign;       // set by the histogram: a key has another prefix
  uint32_t tickets;       // of the histogram's blocks
  uint32_t late_tickets;  // of the late count's blocks
  uint32_t mapped;        // the keys spread unevenly: cells are found by the map
  uint32_t map_tickets;   // of the blocks that make the map
  uint32_t range_bits;    // bits of a key below the common prefix
  U prefix;               // the prefix in place, zeros below
};

template <class U>
struct MsdArguments {
  MsdState<U> *state;
  uint32_t *cells;        // one more than there are cells: keys in a cell, after the scan the place of its first key
  uint32_t *bin_first;    // one more than bins of the first pass: place of a bin's first key
  uint32_t *first_room;   // cursors of the first pass, one a bin
  uint32_t *room;         // cursors of the second pass, one a cell
  uint32_t *first_tile;   // one more than bins: number of the first tile of each bin of the first pass, in the second
  uint32_t *weights;      // kMsdMapWeights: sampled keys of each part of the range
  uint32_t *map;          // kMsdMapEntries: first cell, and number of cells in the upper half
  uint32_t *bin_entries;  // one more than bins: the map's first entry that keys of a bin of the first pass can have
  uint2 *ranges;          // mapped_cells: see MsdMappedDigits
  MsdPlan plan;
  uint32_t ahead;  // by how many tiles or cells keys are fetched into the L2 cache before their turn
};

struct MsdCut {
  uint32_t cells, second_bits;
  __device__ __forceinline__ uint32_t bins() const { return cells >> second_bits; }  // of the first pass
};

template <class U>
__device__ __forceinline__ MsdCut msd_cut(const MsdArguments<U> &arguments) {
  const MsdPlan &plan = arguments.plan;
  if (arguments.state->mapped != 0) return {plan.mapped_cells, plan.second_bits};
  return {1u << plan.cell_bits, plan.second_bits};
}

// With a map: how far up the common prefix is to be shifted out. 4-byte keys keep theirs.
template <class U>
__device__ __forceinline__ uint32_t msd_align(const MsdArguments<U> &arguments) {
  return sizeof(U) == 8 ? 64 - arguments.state->range_bits : 0;
}

// The leading 32 of a key's bits below the common prefix.
template <class U>
__device__ __forceinline__ uint32_t msd_leading(U key, uint32_t align) {
  if (sizeof(U) == 8) return static_cast<uint32_t>(static_cast<uint64_t>(key << align) >> 32);
  return static_cast<uint32_t>(key);
}

// Monotone in `leading`. Within an entry cells are of equal width.
__device__ __forceinline__ uint32_t msd_mapped_cell(const uint32_t *map, uint32_t leading) {
  const uint32_t entry = map[leading >> kMsdMapShift];
  return (entry & 0xffffu) + __umulhi(leading << kMsdMapBits, entry >> 16);
}

// The data is not for this method.
template <class U>
__device__ __forceinline__ void msd_turn_away(MsdState<U> *state) {
  state->go = 0;
  state->sorted = 0;
}

// Bits of a key below those that tell its cell. The sample kernel turns ranges of fewer bits than cell_bits away.
template <class U>
__device__ __forceinline__ uint32_t msd_cell_shift(const MsdArguments<U> &arguments) {
  return arguments.state->range_bits - arguments.plan.cell_bits;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_MSD_STATE_CUH_
