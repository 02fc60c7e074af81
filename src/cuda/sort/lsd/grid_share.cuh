// SPDX-License-Identifier: MIT OR Apache-2.0
// What the blocks of the radix sort by a grid work on and hold: see grid_radix_sort.cuh.
#ifndef GSORT_CUDA_SORT_LSD_GRID_SHARE_CUH_
#define GSORT_CUDA_SORT_LSD_GRID_SHARE_CUH_

#include <cstdint>
#include <type_traits>

#include "core/key_bits.h"
#include "cuda/primitive/digit_rank.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/job.h"
#include "cuda/sort/lsd/plan.h"
#include "cuda/sort/lsd/radix_pass.cuh"
#include "cuda/sort/msd/tables.h"

namespace gsort_internal::sort::lsd {

template <class U>
struct GridParams : Arrays<U> {
  KeyCodec<U> codec;
  uint32_t n;
  uint32_t rows;             // of a share
  uint32_t *counts;          // [block][kDigitBins / 2]: two digits' counts a word
  uint32_t *group_counts;    // [kGridRounds][group][kDigitBins]: of a group's blocks
  uint64_t *varying;         // [block]: bits in which its keys differ from the first of all
  msd::FoundCells<U> cells;  // of keys alone; no places: even keys are sorted like any others
  bool leaves_uneven;        // keys that have no cells are left to another sort
  bool values_are_indices;
  bool keys_wanted;
  FinalValues final_values;
};

template <class U, class V>
constexpr bool kGridFindsCells = std::is_same<V, NoValue>::value && sizeof(U) >= 4;

template <class U, class V, uint32_t kRows>
struct GridStorage {
  static constexpr uint32_t kShareMax = kGridThreads * kRows;
  static constexpr bool kHasValues = !std::is_same<V, NoValue>::value;
  using Value = typename std::conditional<kHasValues, V, unsigned char>::type;

  alignas(16) U keys[kShareMax];
  Value values[kHasValues ? kShareMax : 16];
  DigitRankStorage<kGridThreads / 32> rank;
  uint32_t totals[kGridGroups][kDigitBins];  // of a digit in some blocks; `before`: in those before this one
  uint32_t before[kGridGroups][kDigitBins];
  uint32_t first_place[kDigitBins];  // in the output, of the digit's first key in this share, less its place there
  uint32_t digit_sums[kDigitBins / 32];
  uint64_t varying[kGridThreads / 32];
  uint64_t zeros[kGridThreads / 32];  // bits that some sampled key has not set
};

__device__ __forceinline__ uint32_t lowest_bit(uint64_t bits) {
  return static_cast<uint32_t>(__ffsll(static_cast<long long>(bits))) - 1;
}

// Each digit begins at the lowest bit that varies and that no digit before has.
__device__ __forceinline__ uint32_t digits_of_bits(uint64_t varying) {
  uint32_t digits = 0;
  for (; varying != 0; ++digits) varying &= ~(uint64_t{kDigitBins - 1} << lowest_bit(varying));
  return digits;
}

// What this block has in every pass.
struct Share {
  uint32_t begin, items, rows;

  // Index within the share of this thread's item of row 0; the next row is 32 further.
  __device__ __forceinline__ uint32_t first_item() const { return threadIdx.x / 32 * (32 * rows) + lane_id(); }
};

template <class U>
__device__ __forceinline__ Share share_of(const GridParams<U> &params) {
  const uint32_t items = params.rows * kGridThreads, begin = blockIdx.x * items;
  return {begin, min(items, params.n - begin), params.rows};
}

// What passes come next.
template <class U>
struct GridPass {
  const U *source;
  const void *values;
  bool first, known;    // known: the bits that vary are
  uint32_t range_bits;  // not 0: the pass moves keys to cells by the leading ones of so many bits, if none is too full
  uint64_t left;        // of these, those that have had no pass
  uint32_t shift;
};

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_GRID_SHARE_CUH_
