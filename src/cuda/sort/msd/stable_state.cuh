// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels of the stable MSD sort tell each other in device memory.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_STATE_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_STATE_CUH_

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/sort/msd/stable_plan.h"

namespace gsort_internal::sort::msd {

// On an architecture with too little shared memory for this sort code for it would never run: it is left out, and
// should it be chosen all the same, the sample turns every input away.
constexpr bool kStableHasCode = kFitsHere<kStableSharedBytesMin>;

constexpr uint32_t stable_blocks_per_sm(uint32_t threads) { return blocks_here(threads, 2); }

// Written by the sample kernel. The histogram may clear `go` and `sorted`; no pair is moved before it has run. With
// go = 0 the kernels behind do nothing; with sorted = 0 the LSD sort behind them does the work.
struct StableState {
  uint32_t go;
  uint32_t sorted;        // as `go`, but set too where another method has done the work before
  uint32_t foreign;       // set by the histogram: a key has another prefix
  uint32_t tickets;       // of the histogram's blocks
  uint32_t range_bits;    // bits of a key below the common prefix; at least cell_bits
  uint32_t next_tile[2];  // of the two passes
  uint64_t prefix;        // in place, zeros below
};

struct StableArguments {
  StableState *state;
  uint32_t *cells;       // 2^cell_bits + 1: pairs in a cell, after the scan the place of its first
  uint32_t *first_tile;  // 2^first_bits + 1: number of the first tile of each bin of the first pass, in the second pass
  uint32_t *look_back;   // [tiles of the second pass][256]
  StablePlan plan;
  uint32_t tile_items;
};

// Bits of a key below those that tell its cell.
__device__ __forceinline__ uint32_t stable_cell_shift(const StableArguments &arguments) {
  return arguments.state->range_bits - arguments.plan.cell_bits;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_STATE_CUH_
