// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels of the sort in place are given.
#ifndef GSORT_CUDA_SORT_IN_PLACE_JOB_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_JOB_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/sort/in_place/regions.h"

namespace gsort_internal::sort::in_place {

template <class U>
struct Job {
  const U *keys_in;
  U *keys;  // the output; may be keys_in
  KeyCodec<U> codec;
  SlotGrid grid;  // slots of `keys`
  uint32_t buckets, stripes;
  uint32_t stripe_slots;  // of every stripe but the last, which may have fewer
  uint64_t samples;
  uint64_t sample_part;  // keys of which one is sampled
  uint64_t slack;
  State *state;
  U *sample;
  uint8_t *labels;  // of every slot: the bucket of its brick, or kHole, or kBorder
  uint32_t *holes;  // slots
  uint32_t *list;   // slots of misplaced bricks, by edge
  Cycle *cycles;
  U *left;  // a list for every bucket of the keys that are in no slot
  uint64_t left_keys;

  __device__ __forceinline__ U *left_of(uint32_t bucket) const { return left + bucket * left_keys; }
  __device__ __forceinline__ U *slot(uint32_t slot) const { return keys + grid.head + uint64_t{slot} * grid.brick; }
};

// Copies a brick to a place of any alignment, by the threads of a block.
template <class U>
__device__ __forceinline__ void copy_brick_to(U *to, const U *brick, uint32_t keys) {
  for (uint32_t i = threadIdx.x; i < keys; i += blockDim.x) to[i] = brick[i];
}

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_JOB_CUH_
