// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sum and the mean: one pass over the elements, exact, so that neither the order nor the number of blocks shows
// in the result.
#ifndef GSORT_CUDA_SUM_SUM_CUH_
#define GSORT_CUDA_SUM_SUM_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/vector_span.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sum/bfloat.cuh"
#include "cuda/sum/combine.cuh"
#include "cuda/sum/double.cuh"
#include "cuda/sum/finish.cuh"
#include "cuda/sum/float.cuh"
#include "cuda/sum/half.cuh"
#include "cuda/sum/integer.cuh"
#include "cuda/sum/plan.h"
#include "cuda/sum/words.cuh"

namespace gsort_internal::sum {

struct SumArguments {
  const void *in;
  uint64_t n;
  uint64_t *out;  // bits of a double, or an integer
  State *state;   // for Scope::kGrid
  Scope scope;
  bool mean;
  bool flip_sign;       // signed integers
  PartialSum *partial;  // of a piece of a longer array: receives the sum instead of `out`; or NULL
};

template <class Sum>
struct IsFloatSum : std::integral_constant<bool, Sum::kLimbs == kSumLimbs> {};

// Whether the next tile is asked for before this one is added, which takes as many registers again. (Not for integers
// and binary16, which are added in less time than the other warps of a multiprocessor wait for theirs.)
template <class Sum>
struct LoadsAhead : std::integral_constant<bool, IsFloatSum<Sum>::value && !std::is_same<Sum, HalfSum>::value> {};

// The thread's vectors of a tile. Those past the end come as elements that never change a sum: -0 or, before the flip
// of signs, what it makes 0.
template <class Sum>
__device__ __forceinline__ void load_vectors(const VectorSpan<typename Sum::Bits> &span, uint64_t tile, bool flip_sign,
                                             uint4 (&v)[Tuning::kVectors]) {
  constexpr uint32_t kVectors = Tuning::kVectors, kThreads = Sum::kThreads;
  const uint64_t begin = tile * (kVectors * kThreads);
  const uint4 *const source = span.vectors + begin + threadIdx.x;
  if (begin + kVectors * kThreads <= span.vector_count) {
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) v[i] = source[i * kThreads];
    return;
  }
  constexpr uint32_t kBytes = sizeof(typename Sum::Bits);
  constexpr uint32_t kTop = kBytes == 1 ? 0x80808080u : kBytes == 2 ? 0x80008000u : 0x80000000u;
  const uint32_t high = IsFloatSum<Sum>::value || flip_sign ? kTop : 0, low = kBytes == 8 ? 0 : high;
#pragma unroll
  for (uint32_t i = 0; i < kVectors; ++i) {
    const bool there = begin + i * kThreads + threadIdx.x < span.vector_count;
    v[i] = there ? source[i * kThreads] : make_uint4(low, high, low, high);
  }
}

// The block's share of the array: every gridDim.x-th tile. The first one is on its way from the beginning.
template <class Sum>
struct Share {
  using U = typename Sum::Bits;
  VectorSpan<U> span;
  uint64_t tiles;
  uint4 v[Tuning::kVectors];

  __device__ __forceinline__ explicit Share(const SumArguments &args) : span(vector_span<U>(args.in, args.n)) {
    constexpr uint32_t kTileVectors = Tuning::kVectors * Sum::kThreads;
    tiles = (span.vector_count + kTileVectors - 1) / kTileVectors;
    if (blockIdx.x < tiles) load_vectors<Sum>(span, blockIdx.x, args.flip_sign, v);
  }

  __device__ __forceinline__ void add_to(Sum &sum, const SumArguments &args) {
    for (uint64_t tile = blockIdx.x; tile < tiles;) {
      const bool first = tile == blockIdx.x;
      tile += gridDim.x;
      uint32_t words[kTileWords];
#pragma unroll
      for (uint32_t i = 0; i < Tuning::kVectors; ++i) {
        words[4 * i + 0] = v[i].x;
        words[4 * i + 1] = v[i].y;
        words[4 * i + 2] = v[i].z;
        words[4 * i + 3] = v[i].w;
      }
      if (LoadsAhead<Sum>::value && tile < tiles) load_vectors<Sum>(span, tile, args.flip_sign, v);
      if (first) sum.look_at_first(words);
      sum.add_tile(words);
      if (!LoadsAhead<Sum>::value && tile < tiles) load_vectors<Sum>(span, tile, args.flip_sign, v);
    }
    if (blockIdx.x != 0 || threadIdx.x >= span.head_count + span.tail_count) return;
    const uint64_t edge = threadIdx.x < span.head_count ? threadIdx.x : args.n - 1 - (threadIdx.x - span.head_count);
    sum.add_single(static_cast<const U *>(args.in)[edge]);
  }
};

// Brings the warps' sums together in block.limbs and block.flags. A barrier follows before another thread reads them.
template <class Sum>
__device__ __forceinline__ void sum_warps(Sum &sum, const typename Sum::Shared &shared, BlockSums &block) {
  sum.finish();
  uint32_t flags = 0;
#pragma unroll
  for (uint32_t bit = 1; bit <= kSumNotMinus0; bit *= 2)
    if (__any_sync(kFullWarp, sum.flags() & bit)) flags |= bit;
  if ((threadIdx.x & 31) == 0) block.warp_flags[threadIdx.x / 32] = flags;
  __syncthreads();
  if (threadIdx.x < Sum::kLimbs) block.limbs[threadIdx.x] = Sum::block_limb(shared, threadIdx.x);
  if (threadIdx.x == kFlagsThread) {
    flags = 0;
    for (uint32_t w = 0; w < Sum::kThreads / 32; ++w) flags |= block.warp_flags[w];
    block.flags = flags;
  }
}

// Warp 0: leaves the sum as it is.
template <class Sum>
__device__ __forceinline__ void write_partial_sum(const int64_t *limbs, uint32_t flags, const SumArguments &args) {
  if constexpr (IsFloatSum<Sum>::value) {
    for (uint32_t i = threadIdx.x; i < kSumLimbs; i += 32) args.partial->limbs[i] = limbs[i];
  } else if (threadIdx.x == 0) {
    constexpr int32_t kExcessShift = sizeof(typename Sum::Bits) * 8 - 1;
    const unsigned __int128 total = total_of_integers(limbs, args.n, args.flip_sign ? kExcessShift : -1);
    args.partial->limbs[0] = static_cast<int64_t>(static_cast<uint64_t>(total));
    args.partial->limbs[1] = static_cast<int64_t>(static_cast<uint64_t>(total >> 64));
  }
  if (threadIdx.x == 0) args.partial->flags = flags;
}

// Warp 0: finds the limbs in use; its first lane rounds.
template <class Sum>
__device__ __forceinline__ void write_sum(int64_t *limbs, uint32_t flags, const SumArguments &args) {
  if (args.partial != nullptr) return write_partial_sum<Sum>(limbs, flags, args);
  if constexpr (!IsFloatSum<Sum>::value) {
    constexpr int32_t kExcessShift = sizeof(typename Sum::Bits) * 8 - 1;
    if (threadIdx.x == 0) *args.out = finish_integers(limbs, args.n, args.flip_sign ? kExcessShift : -1, args.mean);
  } else {
    int32_t begin = kSumLimbs, end = 0;
    for (uint32_t base = 0; base < kSumLimbs; base += 32) {
      const uint32_t i = base + threadIdx.x;
      const uint32_t used = __ballot_sync(kFullWarp, i < kSumLimbs && limbs[i] != 0);
      if (used == 0) continue;
      begin = min(begin, static_cast<int32_t>(base) + __ffs(static_cast<int>(used)) - 1);
      end = static_cast<int32_t>(base) + 32 - __clz(static_cast<int>(used));
    }
    const Total total{limbs, min(begin, end), end, flags};
    if (threadIdx.x == 0) *args.out = round_total(total, args.mean ? args.n : 1);
  }
}

template <class Sum>
__device__ __forceinline__ Sum make_sum(typename Sum::Shared &shared, const SumArguments &args) {
  if constexpr (IsFloatSum<Sum>::value) {
    return Sum(shared);
  } else {
    using U = typename Sum::Bits;
    return Sum(shared, args.flip_sign ? static_cast<U>(U{1} << (sizeof(U) * 8 - 1)) : U{0});
  }
}

template <class Sum>
__global__ void __launch_bounds__(Sum::kThreads, blocks_here(Sum::kThreads, Tuning::kBlocksPerMultiprocessor))
    sum_kernel(const SumArguments args) {
  __shared__ typename Sum::Shared shared;
  __shared__ BlockSums block;
  Share<Sum> share(args);
  Sum sum = make_sum<Sum>(shared, args);
  share.add_to(sum, args);
  sum_warps(sum, shared, block);
  int64_t *limbs = block.limbs;
  if (kClustersHere && args.scope == Scope::kCluster) {
    if (!combine_in_cluster<Sum>(block)) return;
  } else if (args.scope == Scope::kGrid) {
    if (!combine_in_grid<Sum::kLimbs>(block, *args.state)) return;
    limbs = block.total;
  } else {
    __syncthreads();
  }
  if (threadIdx.x < 32) write_sum<Sum>(limbs, static_cast<uint32_t>(block.flags), args);
  if (kClustersHere && args.scope == Scope::kCluster) {
    __syncwarp();
    cluster_wait();
  }
}

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_SUM_CUH_
