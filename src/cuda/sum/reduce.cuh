// SPDX-License-Identifier: MIT OR Apache-2.0
// Minimum, maximum and their index: the first element of an order, the lowest index among equals.
#ifndef GSORT_CUDA_SUM_REDUCE_CUH_
#define GSORT_CUDA_SUM_REDUCE_CUH_

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/extreme.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/sum/plan.h"

namespace gsort_internal::sum {

static_assert(Tuning::kVectors == kTileVectors, "the plan counts with tiles of so many");

template <class U>
struct ExtremeArguments {
  const void *in;
  uint64_t n;
  void *out;  // an element, or a uint64_t
  // For Scope::kGrid: a counter that is zero before the launch and after it, and room for kBlocksMax results.
  uint32_t *tickets;
  Extreme *extremes;
  KeyCodec<U> codec;
  Scope scope;
  bool want_index;
};

template <class U>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocksPerMultiprocessor)
    reduce_kernel(const ExtremeArguments<U> args) {
  __shared__ uint64_t warps[Tuning::kThreads / 32];
  __shared__ Extreme own;
  const Share share = {blockIdx.x, gridDim.x};
  Extreme result = block_extreme<Tuning::kThreads>(static_cast<const U *>(args.in), args.n, args.codec, share,
                                                   args.want_index, warps);
  if (kClustersHere && args.scope == Scope::kCluster) {
    result = cluster_earliest(own, result, share);
    if (share.number != 0) return;
  } else if (args.scope == Scope::kGrid) {
    if (threadIdx.x == 0) args.extremes[blockIdx.x] = result;
    if (!is_last_block(args.tickets, gridDim.x)) return;
    if (threadIdx.x == 0) *args.tickets = 0;
    result = block_earliest<Tuning::kThreads>(args.extremes, gridDim.x, warps);
  }
  if (threadIdx.x != 0) return;
  if (args.want_index)
    *static_cast<uint64_t *>(args.out) = result.index;
  else
    *static_cast<U *>(args.out) = args.codec.decode(static_cast<U>(result.key));
}

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_REDUCE_CUH_
