// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels of the stable MSD sort tell each other in device memory.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_STATE_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_STATE_CUH_

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/stable_plan.h"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

// On an architecture with too little shared memory for this sort code for it would never run: it is left out, and
// should it be chosen all the same, the sample turns every input away.
constexpr bool kStableHasCode = kFitsHere<kStableSharedBytesMin>;
template <class U>
constexpr bool kStableMapHasCode = stable_offers_map(sizeof(U)) && kFitsHere<kStableMapSharedBytesMin>;

constexpr uint32_t stable_blocks_per_sm(uint32_t threads) { return blocks_here(threads, 2); }

// How a key's cell is found.
enum class StableWay : uint32_t {
  kEven,       // by its leading bits
  kMapped,     // by the map
  kSplitters,  // by two searches
};

// Written by the sample kernel. The map and the histogram may turn the keys away, to the splitters if these are
// offered; no pair is moved before these have run. With go = 0 the kernels behind do nothing; with sorted = 0 the LSD
// sort behind them does the work.
struct StableState {
  uint32_t go;
  uint32_t sorted;  // as `go`, but set too where another method has done the work before
  StableWay way;
  uint32_t passes;         // that the LSD sort would take, or what dense keys cost in passes, by the first sample
  uint32_t mostly_equal;   // most of its keys are equal to others
  float entropy;           // of its keys' bytes
  uint32_t has_splitters;  // where another way turns the keys away
  uint32_t foreign;        // set by the histogram: a key has another prefix
  uint32_t tickets;        // of the histogram's blocks
  uint32_t range_bits;     // bits of a key below the common prefix; at least cell_bits
  uint32_t next_tile[2];   // of the two passes
  uint32_t map_tickets;    // of the blocks that make the map
  uint64_t prefix;         // in place, zeros below
  // Of splitters:
  uint32_t bins;         // of the first pass
  uint32_t bin_tickets;  // of the blocks that count them
  uint32_t finished;     // listed cells that a block of the finish sorts
  uint32_t large;        // listed cells that take more
  uint32_t pieces;       // listed parts of runs of equal keys
  uint32_t dirty;        // turned away behind the first pass: look-back words are to be cleared
};

// Leaves the keys to the splitters, or to the LSD sort. By one thread, before a pair is moved.
__device__ __forceinline__ void turn_away(StableState *state) {
  if (state->has_splitters != 0)
    state->way = StableWay::kSplitters;
  else
    state->go = 0, state->sorted = 0;
}

struct StableArguments {
  StableState *state;
  uint32_t *cells;       // one more than there are cells: pairs in a cell, after the scan the place of its first
  uint32_t *first_tile;  // one more than bins: number of the first tile of each bin of the first pass, in the second
  uint32_t *map;         // kStableMapEntries: first cell of an entry, and number of cells in the upper half
  uint32_t *weights;     // kMapWeights: sampled keys of each part of the range
  TwoWords *ranges;      // of the map's cells: leading bits of the least key, and number of cells of the entry
  // Of splitters, a row of kStableBinsMax for each bin. A cell has the keys from its start to the next one's; behind
  // the last comes 0.
  uint64_t *starts;
  uint32_t *bin_counts, *cell_counts;  // pairs
  uint32_t *first_chunk;               // one more than bins: number of the first chunk of each
  uint32_t *counted_chunks;            // of each bin
  uint32_t *finished, *large;          // listed cells
  TwoWords *pieces;                    // first pair, and number of pairs
  uint32_t *look_back;                 // [tiles of the second pass][256]
  StablePlan plan;
  uint32_t tile_items;
};

// How the passes number the cells.
struct StableCut {
  uint32_t cells, second_bits;
  __device__ __forceinline__ uint32_t bins() const { return cells >> second_bits; }  // of the first pass
};
template <StableWay kWay>
__device__ __forceinline__ StableCut stable_cut(const StableArguments &arguments) {
  const StablePlan &plan = arguments.plan;
  if constexpr (kWay == StableWay::kEven) return {1u << plan.cell_bits, plan.second_bits};
  if constexpr (kWay == StableWay::kMapped) return {plan.mapped_cells, kStableUnevenSecondBits};
  return {plan.split_bins * kStableBinsMax, kStableUnevenSecondBits};
}

// Without a map: bits of a key below those that tell its cell.
__device__ __forceinline__ uint32_t stable_cell_shift(const StableArguments &arguments) {
  return arguments.state->range_bits - arguments.plan.cell_bits;
}

// With a map: how far up the common prefix is to be shifted out.
template <class U>
__device__ __forceinline__ uint32_t stable_map_align(const StableArguments &arguments) {
  return 8 * sizeof(U) - arguments.state->range_bits;
}

// Monotone in `leading`. Within an entry cells are of equal width.
__device__ __forceinline__ uint32_t stable_mapped_cell(const uint32_t *map, uint32_t leading) {
  const uint32_t entry = map[leading >> kStableMapShift];
  return (entry & 0xffffu) + __umulhi(leading << kStableMapBits, entry >> 16);
}

// Bits of a key, below the least one, in a cell of an entry with so many cells.
__device__ __forceinline__ uint32_t stable_mapped_rest_bits(uint32_t range_bits, uint32_t cells) {
  return range_bits - kStableMapBits - (31 - static_cast<uint32_t>(__clz(static_cast<int>(cells))));
}

// Bits of a pair's place in such a cell.
template <class U>
__device__ __forceinline__ uint32_t stable_mapped_place_bits(uint32_t rest_bits) {
  return min(kStablePlaceBits, 8 * uint32_t{sizeof(U)} - rest_bits);
}

// What the finish must know of a cell. A word holds what is left of a key above the least one, without its `dropped`
// lowest bits, and below that the pair's place.
template <class U>
struct StableCell {
  U least;             // that a key of it can be
  uint32_t word_bits;  // of what is left of a key in a word
  uint32_t place_bits;
  uint32_t dropped;  // of the bits of a key: only of cells between splitters, which may be as wide as they are
};
template <class U, StableWay kWay>
__device__ __forceinline__ StableCell<U> stable_cell(const StableArguments &arguments, uint32_t cell) {
  const U prefix = static_cast<U>(arguments.state->prefix);
  if constexpr (kWay == StableWay::kEven) {
    const uint32_t shift = stable_cell_shift(arguments);
    return {static_cast<U>(prefix | uint64_t{cell} << shift), shift, arguments.plan.place_bits, 0};
  } else if constexpr (kWay == StableWay::kMapped) {
    const TwoWords range = arguments.ranges[cell];
    const uint32_t rest_bits = stable_mapped_rest_bits(arguments.state->range_bits, range.y);
    const uint64_t begin = uint64_t{range.x} << (32 - stable_map_align<U>(arguments));
    return {static_cast<U>(prefix | begin), rest_bits, stable_mapped_place_bits<U>(rest_bits), 0};
  } else {
    constexpr uint32_t kRoom = 8 * sizeof(U) - kStablePlaceBits;
    const U least = static_cast<U>(arguments.starts[cell]);
    const uint32_t bits = bit_width(static_cast<U>(static_cast<U>(arguments.starts[cell + 1]) - least - 1));
    const uint32_t dropped = bits > kRoom ? bits - kRoom : 0;
    return {least, bits - dropped, kStablePlaceBits, dropped};
  }
}

// Cells that blocks of the finish sort, and which of them the block of this number does.
template <StableWay kWay>
__device__ __forceinline__ uint32_t finished_cells(const StableArguments &arguments) {
  if constexpr (kWay == StableWay::kSplitters) return arguments.state->finished;
  return stable_cut<kWay>(arguments).cells;
}
template <StableWay kWay>
__device__ __forceinline__ uint32_t finished_cell(const StableArguments &arguments, uint32_t block) {
  if constexpr (kWay == StableWay::kSplitters) return arguments.finished[block];
  return block;
}

// Whether a kernel that serves one way has nothing to do.
template <class U, StableWay kWay>
__device__ __forceinline__ bool is_for_other(const StableState &state) {
  constexpr bool kHasCode = kWay == StableWay::kEven ? kStableHasCode : kStableMapHasCode<U>;
  return !kHasCode || state.go == 0 || state.way != kWay;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_STATE_CUH_
