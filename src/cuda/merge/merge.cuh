// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge: the merge path cuts the output into tiles, then each block merges one tile in shared memory.
//
// Inputs that are not sorted must not harm: searches stay inside both arrays whatever they hold, and every split is
// checked against its neighbour's. Where two do not fit together, keys would be lost or doubled, so the keys are copied
// without merging instead: all tiles if the tiles' splits do not fit, one tile if its threads' do not.
#ifndef GSORT_CUDA_MERGE_MERGE_CUH_
#define GSORT_CUDA_MERGE_MERGE_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/merge/plan.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/staged_vector.cuh"

namespace gsort_internal::merge {

template <class U>
struct Arguments {
  const U *a;
  const U *b;
  U *out;
  uint64_t a_n, b_n;
  uint64_t tiles;
  KeyCodec<U> codec;
  // Not looked at if there is one tile.
  uint64_t *splits;    // tiles + 1: how many keys of `a` come before each tile
  uint32_t *unsorted;  // zero before the launch; set if the splits do not fit together
};

// How many of the first `diagonal` keys of the merged order come from `a`; of equal keys those of `a` come first.
template <class U, class Index>
__device__ __forceinline__ Index merge_split(const U *a, Index a_n, const U *b, Index b_n, Index diagonal,
                                             const KeyCodec<U> &codec) {
  Index low = diagonal > b_n ? diagonal - b_n : 0, high = diagonal < a_n ? diagonal : a_n;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (codec.encode(a[middle]) <= codec.encode(b[diagonal - 1 - middle]))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Blocks overlap by one tile border, so that each can check its own against the next.
template <class U>
__global__ void __launch_bounds__(Tuning::kPartitionThreads) merge_partition_kernel(const Arguments<U> args) {
  __shared__ uint64_t splits[Tuning::kPartitionThreads];
  constexpr uint64_t kTile = Tile<sizeof(U)>::kKeys;
  const uint64_t border = blockIdx.x * uint64_t{Tuning::kPartitionThreads - 1} + threadIdx.x;
  const uint64_t total = args.a_n + args.b_n;
  const uint64_t diagonal = border * kTile < total ? border * kTile : total;
  if (border <= args.tiles) {
    splits[threadIdx.x] = merge_split(args.a, args.a_n, args.b, args.b_n, diagonal, args.codec);
    args.splits[border] = splits[threadIdx.x];
  }
  __syncthreads();
  if (border >= args.tiles || threadIdx.x == Tuning::kPartitionThreads - 1) return;
  const uint64_t own = splits[threadIdx.x], next = splits[threadIdx.x + 1];
  const uint64_t items = total - diagonal < kTile ? total - diagonal : kTile;
  if (next < own || next - own > items) *args.unsorted = 1;
}

// Part of an input that a tile merges.
template <class U>
struct Part {
  const U *keys;
  uint32_t count;
};

template <class U>
__device__ __forceinline__ void tile_parts(const Arguments<U> &args, Part<U> &a, Part<U> &b) {
  constexpr uint64_t kTile = Tile<sizeof(U)>::kKeys;
  const uint64_t total = args.a_n + args.b_n, begin = blockIdx.x * kTile;
  const uint64_t end = total - begin < kTile ? total : begin + kTile;
  uint64_t a_begin = 0, a_end = args.a_n;
  if (args.tiles > 1) {
    const bool plain = *args.unsorted != 0;
    a_begin = plain ? (begin < args.a_n ? begin : args.a_n) : args.splits[blockIdx.x];
    a_end = plain ? (end < args.a_n ? end : args.a_n) : args.splits[blockIdx.x + 1];
  }
  a = {args.a + a_begin, static_cast<uint32_t>(a_end - a_begin)};
  b = {args.b + (begin - a_begin), static_cast<uint32_t>(end - begin - (a_end - a_begin))};
}

// Copies a part to shared memory so that its place within 16 bytes stays, in whole vectors but for the edges. Returns
// where its first key lies; `room` is moved behind it.
template <class U>
__device__ __forceinline__ const U *load_part(const Part<U> &part, uint4 *&room) {
  constexpr uint32_t kVector = 16 / sizeof(U);
  const uint32_t skip = static_cast<uint32_t>(reinterpret_cast<uint64_t>(part.keys) & 15) / sizeof(U);
  const uint32_t end = skip + part.count;
  const U *const source = part.keys - skip;  // aligned; what lies before `keys` is not read
  uint4 *const target = room;
  const uint32_t vectors = (end + kVector - 1) / kVector;
  for (uint32_t v = threadIdx.x; v < vectors; v += Tuning::kThreads) {
    if (v * kVector >= skip && (v + 1) * kVector <= end) {
      target[v] = __ldcs(reinterpret_cast<const uint4 *>(source) + v);
    } else {
      for (uint32_t i = max(v * kVector, skip); i < min((v + 1) * kVector, end); ++i)
        reinterpret_cast<U *>(target)[i] = source[i];
    }
  }
  room = target + vectors;
  return reinterpret_cast<const U *>(target) + skip;
}

// Merges `count` keys one by one from a[a_next] and b[b_next] on, into `merged`. Returns how far it got in a.
template <class U>
__device__ __forceinline__ uint32_t merge_serially(const U *a, uint32_t a_next, uint32_t a_end, const U *b,
                                                   uint32_t b_next, uint32_t b_end, const KeyCodec<U> &codec,
                                                   uint32_t count, U (&merged)[Tile<sizeof(U)>::kItems]) {
  U a_key = a_next < a_end ? a[a_next] : U{0}, b_key = b_next < b_end ? b[b_next] : U{0};
  U a_order = codec.encode(a_key), b_order = codec.encode(b_key);
#pragma unroll
  for (uint32_t i = 0; i < Tile<sizeof(U)>::kItems; ++i) {
    const bool from_a = b_next >= b_end || (a_next < a_end && a_order <= b_order);
    merged[i] = from_a ? a_key : b_key;
    if (i >= count) continue;
    if (from_a)
      ++a_next;
    else
      ++b_next;
    // One load for both sides: the winner's next key, or its last again, which is then not used.
    const U *const next = from_a ? a + min(a_next, a_end - 1) : b + min(b_next, b_end - 1);
    const U key = *next, order = codec.encode(key);
    if (from_a)
      a_key = key, a_order = order;
    else
      b_key = key, b_order = order;
  }
  return a_next;
}

// Writes every thread's run of the tile in full lines.
template <class U>
__device__ __forceinline__ void store_merged(const U (&merged)[Tile<sizeof(U)>::kItems], uint4 *staging, U *out,
                                             uint32_t count) {
  constexpr uint32_t kVector = 16 / sizeof(U), kOwn = Tile<sizeof(U)>::kItems / kVector;
#pragma unroll
  for (uint32_t k = 0; k < kOwn; ++k) {
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t e = 0; e < kVector; ++e) put_element(words, e, merged[k * kVector + e]);
    staging[staged_vector(threadIdx.x * kOwn + k)] = make_uint4(words[0], words[1], words[2], words[3]);
  }
  __syncthreads();
  if (count == Tile<sizeof(U)>::kKeys && (reinterpret_cast<uint64_t>(out) & 15) == 0) {
#pragma unroll
    for (uint32_t k = 0; k < kOwn; ++k) {
      const uint32_t v = k * Tuning::kThreads + threadIdx.x;
      __stcs(reinterpret_cast<uint4 *>(out) + v, staging[staged_vector(v)]);
    }
    return;
  }
  for (uint32_t i = threadIdx.x; i < count; i += Tuning::kThreads)
    out[i] = reinterpret_cast<const U *>(staging + staged_vector(i / kVector))[i % kVector];
}

template <class U>
__global__ void __launch_bounds__(Tuning::kThreads, blocks_here(Tuning::kThreads, Tuning::kBlocksPerMultiprocessor))
    merge_kernel(const Arguments<U> args) {
  constexpr uint32_t kItems = Tile<sizeof(U)>::kItems, kTile = Tile<sizeof(U)>::kKeys;
  __shared__ uint4 keys[Tile<sizeof(U)>::kSharedBytes / 16];
  __shared__ uint32_t splits[Tuning::kThreads + 1];
  Part<U> a_part, b_part;
  tile_parts(args, a_part, b_part);
  uint4 *room = keys;
  const U *const a = load_part(a_part, room);
  const U *const b = load_part(b_part, room);
  __syncthreads();

  const uint32_t total = a_part.count + b_part.count;
  const uint32_t diagonal = min(threadIdx.x * kItems, total);
  const uint32_t split = merge_split(a, a_part.count, b, b_part.count, diagonal, args.codec);
  splits[threadIdx.x] = split;
  if (threadIdx.x == 0) splits[Tuning::kThreads] = a_part.count;
  __syncthreads();
  U merged[kItems];
  const uint32_t count = min(kItems, total - diagonal);
  const uint32_t reached =
      merge_serially(a, split, a_part.count, b, diagonal - split, b_part.count, args.codec, count, merged);

  U *const out = args.out + blockIdx.x * uint64_t{kTile};
  if (__syncthreads_or(reached != splits[threadIdx.x + 1])) {
    for (uint32_t i = threadIdx.x; i < total; i += Tuning::kThreads)
      out[i] = i < a_part.count ? a[i] : b[i - a_part.count];
    return;
  }
  store_merged(merged, keys, out, total);
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_MERGE_CUH_
