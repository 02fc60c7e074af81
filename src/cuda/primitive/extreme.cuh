// SPDX-License-Identifier: MIT OR Apache-2.0
// The first element of an order, the lowest index among equals, of an array that threads read in tiles of 16-byte
// vectors: a thread keeps the least key and its tile, and looks for the place in that tile at the end.
#ifndef GSORT_CUDA_PRIMITIVE_EXTREME_CUH_
#define GSORT_CUDA_PRIMITIVE_EXTREME_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/cluster.cuh"
#include "cuda/primitive/vector_span.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal {

// 16-byte loads that a thread has in flight. 4 reach the read ceiling of an H200 at 1024 threads a multiprocessor.
constexpr uint32_t kTileVectors = 4;

// An element's ordered bits and its index; the lesser pair comes first.
struct Extreme {
  uint64_t key;
  uint64_t index;
};

__device__ __forceinline__ Extreme earlier(const Extreme &a, const Extreme &b) {
  const bool b_first = b.key < a.key || (b.key == a.key && b.index < a.index);
  return b_first ? b : a;
}

// ---- a thread ----

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

  __device__ __forceinline__ U of(const uint4 (&v)[kTileVectors]) const {
    if constexpr (sizeof(U) == 2) {
      if (nan_counts_ != 0)
        return has_nan(v) ? least_of<true>(v) : static_cast<U>(least_of<false>(v) - codec_.nan_count);
    }
    return least_of<false>(v);
  }

 private:
  template <bool WithNan>
  __device__ __forceinline__ U least_of(const uint4 (&v)[kTileVectors]) const {
    uint32_t odd = 0xffffffffu, even = 0xffffffffu;
    U least = static_cast<U>(~U{0});
#pragma unroll
    for (uint32_t i = 0; i < kTileVectors; ++i) {
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
#ifdef __CUDA_ARCH__
    uint32_t spread;
    asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(spread) : "r"(word));
    return spread;
#else
    return (word >> 15 & 0x00010001u) * 0xffffu;  // where tests run kernels on the CPU
#endif
  }

  // Without NaN shift a codec is an exclusive or by a mask that the sign chooses: done for all elements at once.
  __device__ __forceinline__ uint32_t encode_word(uint32_t word) const {
    if constexpr (sizeof(U) == 1) return word ^ positive_;  // bytes are never floats: one mask
    return word ^ (spread_tops(word) & difference_) ^ positive_;
  }

  // A half's top bit is set if its element is a NaN: its magnitude exceeds infinity's, 0x7fff - nan_count.
  __device__ __forceinline__ uint32_t nan_tops(uint32_t word) const { return (word & 0x7fff7fffu) + nan_counts_; }

  __device__ __forceinline__ bool has_nan(const uint4 (&v)[kTileVectors]) const {
    uint32_t magnitudes = 0;
#pragma unroll
    for (uint32_t i = 0; i < kTileVectors; ++i) {
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

// Tiles of kThreads threads, of which this one is number `thread`: a thread of a block, or a lane of a warp.
template <class U, uint32_t kThreads>
struct Tiles {
  static constexpr uint64_t kVectors = uint64_t{kTileVectors} * kThreads;

  VectorSpan<U> span;
  uint32_t thread;

  __device__ __forceinline__ uint64_t full() const { return span.vector_count / kVectors; }
  __device__ __forceinline__ uint64_t all() const { return full() + (span.vector_count % kVectors != 0 ? 1 : 0); }
  // Vector `i` of the thread's part of a tile. Past the end the last vector comes again, which changes no minimum.
  __device__ __forceinline__ uint64_t place(uint64_t tile, uint32_t i) const {
    const uint64_t vector = (tile * kTileVectors + i) * kThreads + thread;
    return vector < span.vector_count ? vector : span.vector_count - 1;
  }
};

// What a thread has seen: the least key of its tiles and the first tile that has it.
struct TileBest {
  uint64_t key;
  uint64_t tile;
  bool any;
};

// Of tile `first` and every so many behind it.
template <class U, uint32_t kThreads>
__device__ __forceinline__ TileBest best_of_tiles(const Tiles<U, kThreads> &tiles, const KeyCodec<U> &codec,
                                                  uint32_t first, uint32_t step) {
  constexpr uint64_t kVectors = Tiles<U, kThreads>::kVectors;
  const TileMinimum<U> minimum(codec);
  const uint64_t full = tiles.full(), all = tiles.all();
  U key = static_cast<U>(~U{0});
  uint64_t best_tile = first;
  uint4 v[kTileVectors];
  uint64_t tile = first;
  for (; tile < full; tile += step) {
#pragma unroll
    for (uint32_t i = 0; i < kTileVectors; ++i)
      v[i] = tiles.span.vectors[tile * kVectors + i * kThreads + tiles.thread];
    const U least = minimum.of(v);
    if (least < key) key = least, best_tile = tile;
  }
  if (tile < all) {
#pragma unroll
    for (uint32_t i = 0; i < kTileVectors; ++i) v[i] = tiles.span.vectors[tiles.place(tile, i)];
    const U least = minimum.of(v);
    if (least < key) key = least, best_tile = tile;
  }
  return {key, best_tile, first < all};
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
template <class U, uint32_t kThreads>
__device__ __forceinline__ uint64_t find_in_tile(const Tiles<U, kThreads> &tiles, const KeyCodec<U> &codec,
                                                 const TileBest &best) {
  constexpr uint32_t kElements = 16 / sizeof(U);
  const U bits = codec.decode(static_cast<U>(best.key));  // no other bits are encoded as this key
  uint4 v[kTileVectors];                                  // all loads before the first use
#pragma unroll
  for (uint32_t i = 0; i < kTileVectors; ++i) v[i] = tiles.span.vectors[tiles.place(best.tile, i)];
  uint32_t found = kTileVectors * kElements;
#pragma unroll
  for (uint32_t i = kTileVectors; i-- > 0;) {
    const uint32_t place = first_equal<U>(v[i], bits);
    if (place < kElements) found = i * kElements + place;
  }
  return tiles.span.head_count + tiles.place(best.tile, found / kElements) * kElements + found % kElements;
}

// ---- blocks ----

// Which part of an array a block has: tile `number` and every `of` tiles from there on, and the first one the edges.
struct Share {
  uint32_t number, of;
};

// The least of all threads' values, in every thread.
template <uint32_t kThreads>
__device__ __forceinline__ uint64_t block_minimum(uint64_t value, uint64_t *warps) {
  for (uint32_t d = 16; d > 0; d /= 2) value = min(value, __shfl_xor_sync(kFullWarp, value, d));
  __syncthreads();  // the last call's readers are done
  if ((threadIdx.x & 31) == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  for (uint32_t w = 0; w < kThreads / 32; ++w) value = min(value, warps[w]);
  return value;
}

// Of the block's share; in every thread. warps: of kThreads / 32 words, shared. The index only if it is wanted.
template <uint32_t kThreads, class U>
__device__ __forceinline__ Extreme block_extreme(const U *in, uint64_t n, const KeyCodec<U> &codec, const Share &share,
                                                 bool want_index, uint64_t *warps) {
  const Tiles<U, kThreads> tiles{vector_span<U>(in, n), threadIdx.x};
  const TileBest best = best_of_tiles(tiles, codec, share.number, share.of);
  Extreme edge{UINT64_MAX, UINT64_MAX};
  if (share.number == 0 && threadIdx.x < tiles.span.head_count) edge = {codec.encode(in[threadIdx.x]), threadIdx.x};
  if (share.number == 0 && threadIdx.x < tiles.span.tail_count) {
    const uint64_t index = n - 1 - threadIdx.x;
    edge = earlier(edge, {codec.encode(in[index]), index});
  }
  const uint64_t own_key = min(best.any ? best.key : UINT64_MAX, edge.key);
  const uint64_t key = block_minimum<kThreads>(own_key, warps);
  uint64_t index = UINT64_MAX;
  if (want_index) {
    if (edge.key == key) index = edge.index;
    if (best.any && best.key == key) index = min(index, find_in_tile(tiles, codec, best));
    index = block_minimum<kThreads>(index, warps);
  }
  return {key, index};
}

// The least of `count` pairs, one or more a thread; in every thread.
template <uint32_t kThreads>
__device__ __forceinline__ Extreme block_earliest(const Extreme *extremes, uint32_t count, uint64_t *warps) {
  constexpr uint32_t kLoads = 4;  // in flight
  Extreme own{UINT64_MAX, UINT64_MAX};
  for (uint32_t first = threadIdx.x; first < count; first += kLoads * kThreads) {
    Extreme others[kLoads];
#pragma unroll
    for (uint32_t j = 0; j < kLoads; ++j) {
      const uint32_t i = min(first + j * kThreads, count - 1);
      // Past L1: other blocks wrote them during this kernel.
      others[j] = {__ldcg(&extremes[i].key), __ldcg(&extremes[i].index)};
    }
#pragma unroll
    for (uint32_t j = 0; j < kLoads; ++j) own = earlier(own, others[j]);
  }
  const uint64_t key = block_minimum<kThreads>(own.key, warps);
  return {key, block_minimum<kThreads>(own.key == key ? own.index : UINT64_MAX, warps)};
}

// The least of the results of a cluster's blocks, which have a share each; in the first block. own: shared.
__device__ __forceinline__ Extreme cluster_earliest(Extreme &own, Extreme result, const Share &share) {
  if (threadIdx.x == 0) own = result;
  cluster_arrive();
  cluster_wait();
  for (uint32_t rank = 0; share.number == 0 && rank < share.of; ++rank)
    result = earlier(result, {cluster_load(&own.key, rank), cluster_load(&own.index, rank)});
  cluster_arrive();
  cluster_wait();  // no block leaves while its shared memory is read
  return result;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_EXTREME_CUH_
