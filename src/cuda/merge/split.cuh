// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the merge path crosses a diagonal: how many of the first `diagonal` keys of the merged order come from `a`; of
// equal keys those of `a` come first. Between 0 and a_n, and no more than b_n from the diagonal, whatever the arrays
// hold. They may lie in global or in shared memory.
#ifndef GSORT_CUDA_MERGE_SPLIT_CUH_
#define GSORT_CUDA_MERGE_SPLIT_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::merge {

// Two parts that are merged.
template <class U, class Index>
struct Parts {
  const U *a;
  const U *b;
  Index a_n, b_n;
};

// The answers that are left, from `low` up to and including `high`.
template <class Index>
struct Answers {
  Index low, high;

  template <class U>
  __device__ __forceinline__ Answers(const Parts<U, Index> &parts, Index diagonal)
      : low(diagonal > parts.b_n ? diagonal - parts.b_n : 0), high(min(diagonal, parts.a_n)) {}

  __device__ __forceinline__ bool open() const { return low < high; }
  // The answer is past `steps` steps of so many, and not past one more.
  __device__ __forceinline__ void narrow(Index steps, Index step) {
    low = min(low + steps * step, high);
    high = min(low + step - 1, high);
  }
};

// By a warp, in all lanes: 32 places are looked at at once, so that the answers shrink to a 33rd with each trip to
// memory.
template <class U, class Index>
__device__ __forceinline__ Index split_by_warp(const Parts<U, Index> &parts, Index diagonal, const KeyCodec<U> &codec) {
  constexpr uint32_t kProbes = 32;
  Answers<Index> answers(parts, diagonal);
  while (answers.open()) {
    const Index step = (answers.high - answers.low) / (kProbes + 1) + 1;
    const Index probe = answers.low + (lane_id() + 1) * step - 1;
    bool past = false;
    if (probe < answers.high) past = codec.encode(parts.a[probe]) <= codec.encode(parts.b[diagonal - 1 - probe]);
    const uint32_t not_past = ~__ballot_sync(kFullWarp, past);
    answers.narrow(not_past == 0 ? kProbes : static_cast<uint32_t>(__ffs(static_cast<int>(not_past))) - 1, step);
  }
  return answers.low;
}

// By a thread, which looks at three places at once: first around the answer there would be if the keys of both were
// spread alike, then at the quarters of what is left.
template <class U>
__device__ __forceinline__ uint64_t split_by_thread(const Parts<U, uint64_t> &parts, uint64_t diagonal,
                                                    const KeyCodec<U> &codec) {
  constexpr uint32_t kProbes = 3;
  Answers<uint64_t> answers(parts, diagonal);
  const double share = static_cast<double>(parts.a_n) / static_cast<double>(parts.a_n + parts.b_n);
  const uint64_t guess = static_cast<uint64_t>(share * static_cast<double>(diagonal));
  // Of random keys nearly all answers lie so near.
  uint64_t step = static_cast<uint64_t>(2 * sqrt(static_cast<double>(diagonal))) + 1;
  uint64_t first = guess > answers.low + step ? guess - step : answers.low;
  while (answers.open()) {
    U a[kProbes], b[kProbes];  // all loads before the first is looked at
#pragma unroll
    for (uint32_t i = 0; i < kProbes; ++i) {
      const uint64_t probe = min(first + i * step, answers.high - 1);
      a[i] = parts.a[probe];
      b[i] = parts.b[diagonal - 1 - probe];
    }
    uint32_t past = 0;
#pragma unroll
    for (uint32_t i = 0; i < kProbes; ++i) {
      const bool there = first + i * step < answers.high;
      if (past == i && there && codec.encode(a[i]) <= codec.encode(b[i])) ++past;
    }
    if (past < kProbes) answers.high = min(first + past * step, answers.high);
    if (past > 0) answers.low = min(first + (past - 1) * step + 1, answers.high);
    step = (answers.high - answers.low) / (kProbes + 1) + 1;
    first = answers.low + step - 1;
  }
  return answers.low;
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_SPLIT_CUH_
