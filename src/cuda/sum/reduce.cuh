// SPDX-License-Identifier: MIT OR Apache-2.0
// Minimum, maximum and their index: the first element of an order, the lowest index among equals.
#ifndef GSORT_CUDA_SUM_REDUCE_CUH_
#define GSORT_CUDA_SUM_REDUCE_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/cluster.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/primitive/vector_span.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sum/plan.h"

namespace gsort_internal::sum {

// An element's ordered bits and its index; the lesser pair comes first.
struct Extreme {
  uint64_t key;
  uint64_t index;
};

__device__ __forceinline__ Extreme earlier(const Extreme &a, const Extreme &b) {
  const bool b_first = b.key < a.key || (b.key == a.key && b.index < a.index);
  return b_first ? b : a;
}

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

// The least ordered bits of a thread's part of a tile. Words of several elements are compared as pairs of 16 bits.
template <class U>
class TileMinimum {
 public:
  __device__ __forceinline__ explicit TileMinimum(const KeyCodec<U> &codec) : codec_(codec) {
    constexpr uint32_t kOnes = sizeof(U) == 1 ? 0x01010101u : 0x00010001u;
    positive_ = static_cast<uint32_t>(codec.mask_positive) * kOnes;
    difference_ = static_cast<uint32_t>(codec.mask_positive ^ codec.mask_negative) * kOnes;
    nan_counts_ = static_cast<uint32_t>(codec.nan_count) * kOnes;
  }

  __device__ __forceinline__ U of(const uint4 (&v)[Tuning::kVectors]) const {
    if constexpr (sizeof(U) == 2) {
      if (nan_counts_ != 0)
        return has_nan(v) ? least_of<true>(v) : static_cast<U>(least_of<false>(v) - codec_.nan_count);
    }
    return least_of<false>(v);
  }

 private:
  template <bool WithNan>
  __device__ __forceinline__ U least_of(const uint4 (&v)[Tuning::kVectors]) const {
    uint32_t odd = 0xffffffffu, even = 0xffffffffu;
    U least = static_cast<U>(~U{0});
#pragma unroll
    for (uint32_t i = 0; i < Tuning::kVectors; ++i) {
      const uint32_t words[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
#pragma unroll
      for (uint32_t j = 0; j < 4; ++j) {
        if constexpr (sizeof(U) <= 2) {
          // The greater byte of a half decides its comparison, the lesser one rides along and is ignored.
          const uint32_t word = WithNan ? encode_nan_last(words[j]) : encode_word(words[j]);
          odd = __vminu2(odd, word);
          if constexpr (sizeof(U) == 1) even = __vminu2(even, word << 8);
        } else if constexpr (sizeof(U) == 4) {
          least = min(least, codec_.encode(words[j]));
        } else if (j % 2 == 1) {
          least = min(least, codec_.encode(words[j - 1] | static_cast<uint64_t>(words[j]) << 32));
        }
      }
    }
    if constexpr (sizeof(U) > 2) return least;
    if constexpr (sizeof(U) == 2) return static_cast<U>(min(odd >> 16, odd & 0xffff));
    return static_cast<U>(min(min(odd >> 24, (odd >> 8) & 0xff), min(even >> 24, (even >> 8) & 0xff)));
  }

  // Each half's top bit, spread over the half: what the mode of PRMT with bit 3 of a nibble set does, which
  // __byte_perm() does not reach. (cuda::ptx has the same; see arrival_count.cuh.)
  __device__ static __forceinline__ uint32_t spread_tops(uint32_t word) {
    uint32_t spread;
    asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(spread) : "r"(word));
    return spread;
  }

  // Without NaN shift a codec is an exclusive or by a mask that the sign chooses: done for all elements at once.
  __device__ __forceinline__ uint32_t encode_word(uint32_t word) const {
    if constexpr (sizeof(U) == 1) return word ^ positive_;  // bytes are never floats: one mask
    return word ^ (spread_tops(word) & difference_) ^ positive_;
  }

  // A half's top bit is set if its element is a NaN: its magnitude exceeds infinity's, 0x7fff - nan_count.
  __device__ __forceinline__ uint32_t nan_tops(uint32_t word) const { return (word & 0x7fff7fffu) + nan_counts_; }

  __device__ __forceinline__ bool has_nan(const uint4 (&v)[Tuning::kVectors]) const {
    uint32_t magnitudes = 0;
#pragma unroll
    for (uint32_t i = 0; i < Tuning::kVectors; ++i) {
      const uint32_t words[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
#pragma unroll
      for (uint32_t j = 0; j < 4; ++j) magnitudes = __vmaxu2(magnitudes, words[j] & 0x7fff7fffu);
    }
    return (nan_tops(magnitudes) & 0x80008000u) != 0;
  }

  // KeyCodec::encode() with NaN shift, of both halves. Nothing is borrowed from one half to the other: a number's plain
  // bits are nan_count at least, and a positive NaN with its top bit set is greater.
  __device__ __forceinline__ uint32_t encode_nan_last(uint32_t word) const {
    const uint32_t nan = spread_tops(nan_tops(word)), negative = spread_tops(word);
    const uint32_t base = (encode_word(word) & ~nan) | ((word | 0x80008000u) & nan);
    return base - (nan_counts_ & ~(nan & negative));
  }

  KeyCodec<U> codec_;
  uint32_t positive_, difference_, nan_counts_;
};

// What a thread has seen: the least key of its tiles and the first tile that has it.
struct TileBest {
  uint64_t key;
  uint64_t tile;
  bool any;
};

// Vector `i` of the thread's part of a tile. Past the end the last vector comes again, which changes no minimum.
template <class U>
__device__ __forceinline__ uint64_t tile_place(const VectorSpan<U> &span, uint64_t tile, uint32_t i) {
  const uint64_t vector = (tile * Tuning::kVectors + i) * Tuning::kThreads + threadIdx.x;
  return vector < span.vector_count ? vector : span.vector_count - 1;
}

template <class U>
__device__ __forceinline__ TileBest best_of_tiles(const VectorSpan<U> &span, const KeyCodec<U> &codec) {
  constexpr uint32_t kVectors = Tuning::kVectors, kThreads = Tuning::kThreads;
  constexpr uint64_t kTileVectors = kVectors * kThreads;
  const TileMinimum<U> minimum(codec);
  const uint64_t full_tiles = span.vector_count / kTileVectors;
  const uint64_t tiles = full_tiles + (span.vector_count % kTileVectors != 0 ? 1 : 0);
  U key = static_cast<U>(~U{0});
  uint64_t best_tile = blockIdx.x;
  uint4 v[kVectors];
  uint64_t tile = blockIdx.x;
  for (; tile < full_tiles; tile += gridDim.x) {
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) v[i] = span.vectors[tile * kTileVectors + i * kThreads + threadIdx.x];
    const U least = minimum.of(v);
    if (least < key) key = least, best_tile = tile;
  }
  if (tile < tiles) {
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) v[i] = span.vectors[tile_place(span, tile, i)];
    const U least = minimum.of(v);
    if (least < key) key = least, best_tile = tile;
  }
  return {key, best_tile, blockIdx.x < tiles};
}

// The place in a vector of the first element of these bits, or 16 / sizeof(U) if there is none.
template <class U>
__device__ __forceinline__ uint32_t first_equal(const uint4 &v, U bits) {
  constexpr uint32_t kElements = 16 / sizeof(U);
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  uint32_t found = kElements;
#pragma unroll
  for (uint32_t j = 4; j-- > 0;) {
    if constexpr (sizeof(U) == 8) {
      if (j % 2 == 0 && (words[j] | static_cast<uint64_t>(words[j + 1]) << 32) == bits) found = j / 2;
    } else if constexpr (sizeof(U) == 4) {
      if (words[j] == bits) found = j;
    } else {
      // The lowest top bit set is that of the lowest element equal to `bits`; above it a borrow may set others.
      constexpr uint32_t kOnes = sizeof(U) == 1 ? 0x01010101u : 0x00010001u, kTop = sizeof(U) * 8 - 1;
      const uint32_t difference = words[j] ^ bits * kOnes;
      const uint32_t equal = (difference - kOnes) & ~difference & (kOnes << kTop);
      if (equal != 0)
        found = j * (4 / sizeof(U)) + (static_cast<uint32_t>(__ffs(static_cast<int>(equal))) - 1) / (kTop + 1);
    }
  }
  return found;
}

// The lowest index in the thread's part of the tile at which `key` lies; it does lie there.
template <class U>
__device__ __forceinline__ uint64_t find_in_tile(const VectorSpan<U> &span, const KeyCodec<U> &codec,
                                                 const TileBest &best) {
  constexpr uint32_t kElements = 16 / sizeof(U), kVectors = Tuning::kVectors;
  const U bits = codec.decode(static_cast<U>(best.key));  // no other bits are encoded as this key
  uint4 v[kVectors];                                      // all loads before the first use
#pragma unroll
  for (uint32_t i = 0; i < kVectors; ++i) v[i] = span.vectors[tile_place(span, best.tile, i)];
  uint32_t found = kVectors * kElements;
#pragma unroll
  for (uint32_t i = kVectors; i-- > 0;) {
    const uint32_t place = first_equal<U>(v[i], bits);
    if (place < kElements) found = i * kElements + place;
  }
  return span.head_count + tile_place(span, best.tile, found / kElements) * kElements + found % kElements;
}

// The least of all threads' values, in every thread.
__device__ __forceinline__ uint64_t block_minimum(uint64_t value, uint64_t *warps) {
  for (uint32_t d = 16; d > 0; d /= 2) value = min(value, __shfl_xor_sync(kFullWarp, value, d));
  __syncthreads();  // the last call's readers are done
  if ((threadIdx.x & 31) == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  for (uint32_t w = 0; w < Tuning::kThreads / 32; ++w) value = min(value, warps[w]);
  return value;
}

// The block's share of the array.
template <class U>
__device__ __forceinline__ Extreme block_extreme(const ExtremeArguments<U> &args, uint64_t *warps) {
  const VectorSpan<U> span = vector_span<U>(args.in, args.n);
  const U *const elements = static_cast<const U *>(args.in);
  const TileBest best = best_of_tiles(span, args.codec);
  Extreme edge{UINT64_MAX, UINT64_MAX};
  if (blockIdx.x == 0 && threadIdx.x < span.head_count) edge = {args.codec.encode(elements[threadIdx.x]), threadIdx.x};
  if (blockIdx.x == 0 && threadIdx.x < span.tail_count) {
    const uint64_t index = args.n - 1 - threadIdx.x;
    edge = earlier(edge, {args.codec.encode(elements[index]), index});
  }
  const uint64_t own_key = min(best.any ? best.key : UINT64_MAX, edge.key);
  const uint64_t key = block_minimum(own_key, warps);
  uint64_t index = UINT64_MAX;
  if (args.want_index) {
    if (edge.key == key) index = edge.index;
    if (best.any && best.key == key) index = min(index, find_in_tile(span, args.codec, best));
    index = block_minimum(index, warps);
  }
  return {key, index};
}

// The least of `count` pairs, one or more a thread; in every thread.
__device__ __forceinline__ Extreme block_earliest(const Extreme *extremes, uint32_t count, uint64_t *warps) {
  constexpr uint32_t kLoads = 4;  // in flight
  Extreme own{UINT64_MAX, UINT64_MAX};
  for (uint32_t first = threadIdx.x; first < count; first += kLoads * Tuning::kThreads) {
    Extreme others[kLoads];
#pragma unroll
    for (uint32_t j = 0; j < kLoads; ++j) {
      const uint32_t i = min(first + j * Tuning::kThreads, count - 1);
      // Past L1: other blocks wrote them during this kernel.
      others[j] = {__ldcg(&extremes[i].key), __ldcg(&extremes[i].index)};
    }
#pragma unroll
    for (uint32_t j = 0; j < kLoads; ++j) own = earlier(own, others[j]);
  }
  const uint64_t key = block_minimum(own.key, warps);
  return {key, block_minimum(own.key == key ? own.index : UINT64_MAX, warps)};
}

template <class U>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocksPerMultiprocessor)
    reduce_kernel(const ExtremeArguments<U> args) {
  __shared__ uint64_t warps[Tuning::kThreads / 32];
  __shared__ Extreme own;
  Extreme result = block_extreme(args, warps);
  if (kClustersHere && args.scope == Scope::kCluster) {
    if (threadIdx.x == 0) own = result;
    cluster_arrive();
    cluster_wait();
    for (uint32_t rank = 0; blockIdx.x == 0 && rank < gridDim.x; ++rank)
      result = earlier(result, {cluster_load(&own.key, rank), cluster_load(&own.index, rank)});
    cluster_arrive();
    cluster_wait();  // no block leaves while its shared memory is read
    if (blockIdx.x != 0) return;
  } else if (args.scope == Scope::kGrid) {
    if (threadIdx.x == 0) args.extremes[blockIdx.x] = result;
    if (!is_last_block(args.tickets, gridDim.x)) return;
    if (threadIdx.x == 0) *args.tickets = 0;
    result = block_earliest(args.extremes, gridDim.x, warps);
  }
  if (threadIdx.x != 0) return;
  if (args.want_index)
    *static_cast<uint64_t *>(args.out) = result.index;
  else
    *static_cast<U *>(args.out) = args.codec.decode(static_cast<U>(result.key));
}

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_REDUCE_CUH_
