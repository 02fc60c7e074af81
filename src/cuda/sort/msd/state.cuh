// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels of the MSD sort read out of their tables.
#ifndef GSORT_CUDA_SORT_MSD_STATE_CUH_
#define GSORT_CUDA_SORT_MSD_STATE_CUH_

#include <cstdint>

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/hash.cuh"
#include "cuda/sort/msd/shares.h"
#include "cuda/sort/msd/tables.h"

namespace gsort_internal::sort::msd {

// Cells of the map that have keys.
template <class U>
__host__ __device__ __forceinline__ uint32_t mapped_cells(const Plan &plan) {
  return sizeof(U) == 4 ? plan.map_shares : plan.mapped_cells;
}

struct Cut {
  uint32_t cells, second_bits;
  __device__ __forceinline__ uint32_t bins() const { return cells >> second_bits; }  // of the first pass
};

template <class U>
__device__ __forceinline__ Cut cut_of(const Arguments<U> &arguments) {
  const Plan &plan = arguments.plan;
  if (arguments.state->mapped != 0) return {mapped_cells<U>(plan), plan.second_bits};
  return {even_cells(plan, sizeof(U)), plan.second_bits};
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
template <class U>
__device__ __forceinline__ uint32_t mapped_cell(const uint32_t *map, uint32_t leading) {
  if constexpr (sizeof(U) == 4) return shared_cell(map, leading);
  const uint32_t entry = map[leading >> kMapShift];
  return (entry & 0xffffu) + __umulhi(leading << kMapBits, entry >> 16);
}

// Keys of a cell that lie in it once they are moved: all but those of its frequent value.
template <class U>
__device__ __forceinline__ uint32_t moved_keys(const Arguments<U> &arguments, uint32_t cell) {
  if (sizeof(U) == 4 && arguments.state->frequent != 0) return arguments.room[cell] - arguments.cells[cell];
  return arguments.cells[cell + 1] - arguments.cells[cell];
}

// The data is not for this method.
template <class U>
__device__ __forceinline__ void turn_away(State<U> *state) {
  state->go = 0;
  state->sorted = 0;
}

// By one thread.
template <class U>
__device__ __forceinline__ void tell_no_cells(const FoundCells<U> &cells) {
  *cells.state = State<U>{};
}
// The finish may have the cells, whose keys are there. By a block; place: of the first key of the thread's cell.
template <class U>
__device__ __forceinline__ void tell_found_cells(const FoundCells<U> &cells, uint32_t place, uint32_t n,
                                                 uint32_t range_bits) {
  if (threadIdx.x < 1u << kFoundCellBits) cells.places[threadIdx.x] = place;
  if (threadIdx.x != 0) return;
  cells.places[1u << kFoundCellBits] = n;
  State<U> state = {};
  state.go = state.sorted = 1;
  state.range_bits = range_bits;
  *cells.state = state;
}

// Bits of an 8-byte key below those that tell its cell. The sample kernel turns ranges of fewer bits than cell_bits
// away.
__device__ __forceinline__ uint32_t bits_below_cell(const Arguments<uint64_t> &arguments) {
  return arguments.state->range_bits - arguments.plan.cell_bits;
}

// How far up the common prefix of 4-byte keys is to be shifted out, for their equal cells.
__device__ __forceinline__ uint32_t even_align(const Arguments<uint32_t> &arguments) {
  return 32 - arguments.state->range_bits;
}

// Which of the equal cells a key lies in, without the lowest bits of the cell's number.
template <class U>
struct EvenCells;

// Cells come in whole bins, so that a bin is found as a cell is, among the fewer bins.
template <>
struct EvenCells<uint32_t> {
  uint32_t align, cells;
  __device__ __forceinline__ EvenCells(const Arguments<uint32_t> &arguments, uint32_t lowest_bits)
      : align(even_align(arguments)), cells(arguments.plan.narrow_cells >> lowest_bits) {}
  __device__ __forceinline__ uint32_t operator()(uint32_t key) const { return __umulhi(key << align, cells); }
};

template <>
struct EvenCells<uint64_t> {
  uint32_t shift, mask;
  __device__ __forceinline__ EvenCells(const Arguments<uint64_t> &arguments, uint32_t lowest_bits)
      : shift(bits_below_cell(arguments) + lowest_bits), mask((1u << (arguments.plan.cell_bits - lowest_bits)) - 1) {}
  __device__ __forceinline__ uint32_t operator()(uint64_t key) const {
    return static_cast<uint32_t>(key >> shift) & mask;
  }
};

// The least key of an equal cell, without the common prefix; of the one behind the last: one more than the greatest.
__device__ __forceinline__ uint64_t first_key_of_even_cell(const Arguments<uint32_t> &arguments, uint32_t cell) {
  const uint32_t align = even_align(arguments), cells = arguments.plan.narrow_cells;
  const uint64_t aligned = ((uint64_t{cell} << 32) + cells - 1) / cells;
  return (aligned + (1u << align) - 1) >> align;
}

// The values that keys of a cell can have.
__device__ __forceinline__ KeyRange range_of_cell(const Arguments<uint32_t> &arguments, uint32_t cell) {
  if (arguments.state->mapped != 0) {
    // Written by the kernel that also asks for it, by other blocks.
    const uint32_t begin = cell == 0 ? 0 : __ldcg(&arguments.ranges[cell].x) + 1;
    const uint32_t last = cell + 1 < arguments.plan.map_shares ? __ldcg(&arguments.ranges[cell + 1].x) : ~0u;
    return {begin, last - begin};
  }
  const uint64_t begin = first_key_of_even_cell(arguments, cell), end = first_key_of_even_cell(arguments, cell + 1);
  return {arguments.state->prefix | static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin) - 1};
}

// Whether the values of a cell of `count` keys are counted by many blocks: their table fits the room of its keys.
__device__ __forceinline__ bool is_huge(uint32_t count, const KeyRange &range) {
  return count >= kHugeCellKeys && range.last < min(count, kHugeValuesMax);
}

// Values that a block counts of a chunk at a time, and how often it takes all.
__device__ __forceinline__ uint32_t windows_of(uint32_t last) { return last / kValueWords + 1; }

// How many huge cells, counts and pieces of them there are, in one word, so that one addition numbers all alike.
struct HugeCounts {
  uint32_t cells, counts, pieces;

  explicit __device__ __forceinline__ HugeCounts(unsigned long long word)
      : cells(static_cast<uint32_t>(word >> 48)),
        counts(static_cast<uint32_t>(word >> 24) & 0xffffffu),
        pieces(static_cast<uint32_t>(word) & 0xffffffu) {}
  static __device__ __forceinline__ unsigned long long of_cell(uint32_t keys, const KeyRange &range, const Plan &plan) {
    const uint64_t chunk_count = (keys - 1) / plan.huge_chunk + 1, piece_count = (keys - 1) / plan.huge_piece + 1;
    return uint64_t{1} << 48 | chunk_count * windows_of(range.last) << 24 | piece_count;
  }
};

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STATE_CUH_
