// SPDX-License-Identifier: MIT OR Apache-2.0
// How the blocks of the fast path share their work and agree on the verdict.
#ifndef GSORT_CUDA_SORT_FAST_PATH_STATE_CUH_
#define GSORT_CUDA_SORT_FAST_PATH_STATE_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/fast_path/fast_path.h"
#include "cuda/sort/fast_path/plan.h"

namespace gsort_internal::sort::fast_path {

struct alignas(128) PaddedWord {
  uint32_t word;
};

// In device memory, 0 before the kernel.
struct State {
  PaddedWord tickets;         // chunks of the first phase, the one that finds the verdict
  PaddedWord second_tickets;  // of the phase that writes where the first must not
  PaddedWord progress;        // chunks that passed the first phase, and the bits below
  PaddedWord claim;           // the kind of work that the first block saw
  uint32_t done;              // the result: everything is sorted
};
static_assert(sizeof(State) == kStateBytes, "the layout counts with this size");

constexpr uint32_t kFailed = 1u << 31;  // a key is not as the sample says
constexpr uint32_t kReady = 1u << 30;   // all are, and the second phase may begin

template <class U>
struct Params {
  Arrays<U> work;
  Plan plan;
  State *state;
  bool reversible;  // descending keys may be reversed
};

// Hands the chunks that a counter gives out to step(chunk) until they run out or a step returns false; called by whole
// warps. Returns how many steps returned true. The next chunk is asked for before this one is worked on, so that the
// way to the counter and back costs nothing.
//
// Progress: a chunk belongs to a warp that runs already, and no warp waits for anything between taking chunks and
// finishing them, so whoever waits until all chunks are finished waits for running blocks only, however few of the
// grid's blocks the device runs at a time.
template <class Step>
__device__ __forceinline__ uint32_t for_each_chunk(uint32_t *counter, uint32_t chunks, const Step &step) {
  uint32_t passed = 0;
  uint32_t taken = lane_id() == 0 ? atomicAdd(counter, 1u) : 0;
  for (;;) {
    const uint32_t chunk = __shfl_sync(kFullWarp, taken, 0);
    if (chunk >= chunks) return passed;
    if (lane_id() == 0) taken = atomicAdd(counter, 1u);
    if (!step(chunk)) return passed;
    ++passed;
  }
}

// By one lane: lets all chunks of the first phase run out and the verdict never become good.
__device__ __forceinline__ void fail(State *state) {
  atomicOr(&state->progress.word, kFailed);
  atomicOr(&state->tickets.word, kFailed);
}

// All threads of a block, which has passed `chunks` chunks of `total`. Whether these were the last; the block then sees
// what all others wrote before, and says so by announce_ready() once the second phase may begin.
__device__ __forceinline__ bool arrive_with_chunks(State *state, uint32_t chunks, uint32_t total) {
  __threadfence();  // release: this thread's additions to counts come before its block's arrival
  __syncthreads();  // ... and so do those, and the reads of keys, of all threads of the block
  int last = 0;
  // With a failure the sum has its top bit set, and nobody is the last.
  if (threadIdx.x == 0) last = atomicAdd(&state->progress.word, chunks) + chunks == total;
  last = __syncthreads_or(last);
  if (last) __threadfence();  // acquire: pairs with the fences of the blocks that arrived before
  return last != 0;
}

// All threads of the last block. The verdict is final.
__device__ __forceinline__ void announce_ready(State *state) {
  __threadfence();  // release: first places that this block wrote come before the announcement
  __syncthreads();
  if (threadIdx.x != 0) return;
  state->done = 1;
  atomicOr(&state->progress.word, kReady);
}

// All threads of a block without chunks in hand: waits for the verdict. False: a key is not as the sample says.
__device__ __forceinline__ bool wait_for_verdict(State *state) {
  int ready = 0;
  if (threadIdx.x == 0) {
    uint32_t progress;
    while (((progress = *static_cast<volatile uint32_t *>(&state->progress.word)) & (kFailed | kReady)) == 0)
      __nanosleep(100);
    ready = (progress & kReady) != 0;
  }
  ready = __syncthreads_or(ready);
  __threadfence();  // acquire: pairs with the release of announce_ready()
  return ready != 0;
}

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_STATE_CUH_
