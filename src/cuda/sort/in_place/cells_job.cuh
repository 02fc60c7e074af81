// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels are given that sort keys alone by their cells, in place.
#ifndef GSORT_CUDA_SORT_IN_PLACE_CELLS_JOB_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_CELLS_JOB_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/sort/in_place/job.cuh"
#include "cuda/sort/in_place/plan.h"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::in_place {

// Of moves.cuh it has the names of a Job.
template <class U>
struct CellsJob {
  using Key = U;
  using Value = NoValue;
  static constexpr uint32_t kItemBytes = sizeof(U);
  static constexpr uint32_t kBrick = bin_brick_keys(sizeof(U));
  static constexpr bool kHasCode = kFitsHere<kBinSharedBytesMin>;

  const U *keys_in;
  U *keys;  // the output; may be keys_in
  NoValue *values;
  bool vectors;  // keys begin at a multiple of 16 bytes in the output
  KeyCodec<U> codec;
  uint64_t n;
  uint32_t slots;         // of whole and of the last, maybe short, brick
  uint32_t stripe_slots;  // of a stripe; a block has one
  State *state;
  uint32_t *source, *target, *moves;
  U *cut_keys;
  NoValue *cut_values;
  uint32_t *bricks;      // of bins: how many were filled
  uint32_t *left_count;  // of bins: keys that filled no brick of their block, or for whose brick there is no slot
  U *left;               // those, left_each for a bin
  uint32_t left_each;
  msd::Arguments<U> arguments;
  msd::Batch *batches;
  uint32_t batch_keys;  // at most, in one
  uint32_t batch_bins;  // likewise
  uint32_t *done;
};

// Slots that lie in one bin alone: `count` from `first` on.
struct BinSlots {
  uint32_t begin, end;  // places of the bin's keys
  uint32_t first, count;
};
template <class U>
__device__ __forceinline__ BinSlots slots_of_bin(const CellsJob<U> &job, uint32_t bin) {
  constexpr uint32_t kBrick = CellsJob<U>::kBrick;
  const uint32_t begin = job.arguments.bin_first[bin], end = job.arguments.bin_first[bin + 1];
  const uint32_t first = (begin + kBrick - 1) / kBrick, last = end / kBrick;
  return {begin, end, first, last > first ? last - first : 0};
}

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_CELLS_JOB_CUH_
