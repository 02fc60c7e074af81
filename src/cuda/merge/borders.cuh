// SPDX-License-Identifier: MIT OR Apache-2.0
// What all kinds of merge do about inputs that are not sorted, which must not harm: searches stay inside both arrays
// whatever they hold, and a tile's network loses no key. What remains is that the parts of two neighbours might not fit
// together. All find the border between them by the same search, so it is enough that somebody looks at each part.
#ifndef GSORT_CUDA_MERGE_BORDERS_CUH_
#define GSORT_CUDA_MERGE_BORDERS_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/merge/plan.h"
#include "cuda/merge/split.cuh"

namespace gsort_internal::merge {

// Zero before a launch and after it: blocks that have ended, and, from bit 32 on, those of them that have found a part
// whose borders do not fit together. One word, so that the last block learns of all with its own ticket.
struct Counters {
  unsigned long long ended;
};
static_assert(sizeof(Counters) <= kCountersBytes, "the plan leaves them room");

// What the kernel that finds the borders of groups leaves the one that merges.
struct Between {
  uint32_t unsorted;  // not zero if some group's borders do not fit together; where a block merges a group
  uint32_t taken;     // groups that a block has taken; where blocks stay
};
static_assert(sizeof(Between) <= kBetweenBytes, "the plan leaves it room");

template <class U>
struct Arguments {
  const U *a;
  const U *b;
  U *out;
  uint64_t a_n, b_n;
  KeyCodec<U> codec;
  uint64_t tiles, groups;
  Counters *counters;  // not looked at by a grid of one block
  // Of merges in groups.
  Between *between;
  uint64_t *borders;
  uint32_t *misfits;  // where blocks stay: by each block that finds borders, whether they do not fit together
  uint32_t misfits_n;

  __device__ __forceinline__ uint64_t total() const { return a_n + b_n; }
  __device__ __forceinline__ Parts<U, uint64_t> whole() const { return {a, b, a_n, b_n}; }
};

// What a block of the grid finds at its end.
enum class End : uint32_t {
  kNotLast,
  kFits,      // the last block: all parts of all blocks fit together
  kUnsorted,  // the last block: some do not
};

// All threads of every block, after their own writes; `fits`: of the part that the thread has looked at. The last block
// may overwrite what all others have written. That it is the last one without misfits only its first thread is told.
__device__ __forceinline__ End end_of_block(bool fits, Counters *counters) {
  __threadfence();  // before the ticket, as in is_last_block()
  const bool unsorted = __syncthreads_or(!fits) != 0;
  if (gridDim.x == 1) return unsorted ? End::kUnsorted : End::kFits;
  End end = End::kNotLast;
  if (threadIdx.x == 0) {
    const unsigned long long own = 1 + (unsorted ? 1ull << 32 : 0), all = atomicAdd(&counters->ended, own) + own;
    if (static_cast<uint32_t>(all) == gridDim.x) {
      end = all >> 32 != 0 ? End::kUnsorted : End::kFits;
      counters->ended = 0;
    }
  }
  if (__syncthreads_or(end == End::kUnsorted) == 0) return end;
  __threadfence();
  return End::kUnsorted;
}

// Every key of both inputs, in no order, by threads that each copy the `first` and every `step`th behind it.
template <class U>
__device__ __forceinline__ void copy_inputs(const Arguments<U> &args, uint32_t first, uint32_t step) {
  for (uint64_t i = first; i < args.a_n; i += step) args.out[i] = args.a[i];
  for (uint64_t i = first; i < args.b_n; i += step) args.out[args.a_n + i] = args.b[i];
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_BORDERS_CUH_
