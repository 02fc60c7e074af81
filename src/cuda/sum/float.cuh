// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact accumulation of binary32 numbers at the speed of reading, whatever they are: every element goes to the thread's
// own bins in shared memory.
#ifndef GSORT_CUDA_SUM_FLOAT_CUH_
#define GSORT_CUDA_SUM_FLOAT_CUH_

#include <cstdint>

#include "cuda/sum/bins.cuh"
#include "cuda/sum/counters.cuh"
#include "cuda/sum/words.cuh"

namespace gsort_internal::sum {

class FloatSum : public CountersSum<Tuning::kThreads> {
 public:
  using Bits = uint32_t;
  using Bins = FloatBins<23>;
  static constexpr uint32_t kElements = kTileWords;
  struct Shared : CountersSum::Shared {
    Bins bins;
  };

  __device__ __forceinline__ explicit FloatSum(Shared &shared) : CountersSum(shared), bins_(shared.bins) {
    bins_.clear();
  }

  __device__ __forceinline__ void look_at_first(const uint32_t (&)[kTileWords]) {}

  // Elements of one tile; the whole warp together.
  __device__ __forceinline__ void add_tile(const uint32_t (&words)[kTileWords]) {
#pragma unroll
    for (const uint32_t word : words) bins_.add(word);
    pending_ += kElements;
    if (pending_ < Bins::kPendingMax) return;
    pending_ = 0;
    flags_ |= bins_.flush(counters_);
    counters_.normalise(lane_id());
  }

  // An element outside all tiles. At most a few a thread.
  __device__ __forceinline__ void add_single(Bits x) { bins_.add(x); }

  // Every thread calls it; a barrier stands between it and block_limb().
  __device__ __forceinline__ void finish() {
    __syncthreads();
    flags_ |= bins_.flush_block(counters_);
  }

 private:
  Bins &bins_;
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_FLOAT_CUH_
