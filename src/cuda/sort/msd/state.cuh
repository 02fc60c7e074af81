// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels of the MSD sort read out of their tables.
#ifndef GSORT_CUDA_SORT_MSD_STATE_CUH_
#define GSORT_CUDA_SORT_MSD_STATE_CUH_

#include <cstdint>

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/hash.cuh"
#include "cuda/sort/msd/tables.h"

namespace gsort_internal::sort::msd {

struct Cut {
  uint32_t cells, second_bits;
  __device__ __forceinline__ uint32_t bins() const { return cells >> second_bits; }  // of the first pass
};

template <class U>
__device__ __forceinline__ Cut cut_of(const Arguments<U> &arguments) {
  const Plan &plan = arguments.plan;
  if (arguments.state->mapped != 0) return {plan.mapped_cells, plan.second_bits};
  return {1u << plan.cell_bits, plan.second_bits};
}

// With a map: how far up the common prefix is to be shifted out. 4-byte keys keep theirs.
template <class U>
__device__ __forceinline__ uint32_t map_align(const Arguments<U> &arguments) {
  return sizeof(U) == 8 ? 64 - arguments.state->range_bits : 0;
}

// The leading 32 of a key's bits below the common prefix.
template <class U>
__device__ __forceinline__ uint32_t leading_bits(U key, uint32_t align) {
  if (sizeof(U) == 8) return static_cast<uint32_t>(static_cast<uint64_t>(key << align) >> 32);
  return static_cast<uint32_t>(key);
}

// Monotone in `leading`. Within an entry cells are of equal width.
__device__ __forceinline__ uint32_t mapped_cell(const uint32_t *map, uint32_t leading) {
  const uint32_t entry = map[leading >> kMapShift];
  return (entry & 0xffffu) + __umulhi(leading << kMapBits, entry >> 16);
}

// The data is not for this method.
template <class U>
__device__ __forceinline__ void turn_away(State<U> *state) {
  state->go = 0;
  state->sorted = 0;
}

// Bits of a key below those that tell its cell. The sample kernel turns ranges of fewer bits than cell_bits away.
template <class U>
__device__ __forceinline__ uint32_t bits_below_cell(const Arguments<U> &arguments) {
  return arguments.state->range_bits - arguments.plan.cell_bits;
}

// Whether cells that the finish leaves are sorted by counting values.
template <class U>
__device__ __forceinline__ bool counts_values(const State<U> &state) {
  return sizeof(U) == 4 && state.counting != 0 && state.mapped == 0;
}

// The least number of keys of a huge cell with so many bits below it: its table fits the place of its keys.
__device__ __forceinline__ uint32_t huge_cell_keys(uint32_t bits) { return max(kHugeCellKeys, 1u << bits); }

// How many huge cells, chunks and pieces of them there are, in one word, so that one addition numbers all alike.
struct HugeCounts {
  uint32_t cells, chunks, pieces;

  explicit __device__ __forceinline__ HugeCounts(unsigned long long word)
      : cells(static_cast<uint32_t>(word >> 48)),
        chunks(static_cast<uint32_t>(word >> 24) & 0xffffffu),
        pieces(static_cast<uint32_t>(word) & 0xffffffu) {}
  static __device__ __forceinline__ unsigned long long of_cell(uint32_t keys) {
    const uint64_t chunk_count = (keys - 1) / kHugeChunk + 1, piece_count = (keys - 1) / kHugePiece + 1;
    return uint64_t{1} << 48 | chunk_count << 24 | piece_count;
  }
};

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STATE_CUH_
