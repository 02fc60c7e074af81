// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge of many tiles. One kernel finds where each group of tiles begins in both inputs; then each block loads
// the two parts of a group into shared memory, and its warps merge a tile each.
#ifndef GSORT_CUDA_MERGE_GROUPS_CUH_
#define GSORT_CUDA_MERGE_GROUPS_CUH_

#include <cstdint>

#include "cuda/merge/borders.cuh"
#include "cuda/merge/plan.h"
#include "cuda/merge/split.cuh"
#include "cuda/merge/tile.cuh"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/copy_async.cuh"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/ptx.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::merge {

// What the borders from `begin` to `end` of the merged order lie in: if there are many, that stretch, whose ends two
// warps find, so that the others look at few places each, and near to each other. All threads of the block.
template <class U>
__device__ __forceinline__ Stretch block_stretch(const Arguments<U> &args, uint64_t begin, uint64_t end) {
  __shared__ uint64_t ends[2];
  const Stretch whole = {0, args.total(), 0, args.a_n};
  if (args.groups <= Tuning::kNearGroups) return whole;
  const uint32_t warp = threadIdx.x / 32;
  if (warp < 2) ends[warp] = split_by_lanes<32>(args.whole(), warp == 0 ? begin : end, whole, args.codec);
  __syncthreads();
  return {begin, end, ends[0], ends[1]};
}

// Blocks overlap by one border, so that each can check its own against the next.
template <class U, uint32_t kGroup, uint32_t kLanes>
__global__ void __launch_bounds__(Tuning::kPartitionThreads) merge_partition_kernel(const Arguments<U> args) {
  constexpr bool kForRing = kGroup == Tile<sizeof(U)>::kRingKeys;
  if constexpr (kForRing && !kFitsHere<Tile<sizeof(U)>::kRingBytes>) return;
  constexpr uint32_t kBorders = Tuning::kPartitionThreads / kLanes;
  __shared__ uint64_t borders[kBorders];
  allow_next_kernel();
  const uint64_t first = blockIdx.x * uint64_t{kBorders - 1}, border = first + threadIdx.x / kLanes;
  const auto diagonal_of = [&](uint64_t of_border) { return min(of_border * kGroup, args.total()); };
  const Stretch stretch = block_stretch(args, diagonal_of(first), diagonal_of(first + kBorders - 1));
  if (border <= args.groups && stretch.fits()) {
    const uint64_t split = split_by_lanes<kLanes>(args.whole(), diagonal_of(border), stretch, args.codec);
    borders[threadIdx.x / kLanes] = split;
    args.borders[border] = split;
  }
  __syncthreads();
  bool fits = stretch.fits();
  const uint64_t group = first + threadIdx.x;
  if (fits && threadIdx.x < kBorders - 1 && group < args.groups) {
    const uint64_t own = borders[threadIdx.x], next = borders[threadIdx.x + 1];
    fits = next >= own && next - own <= diagonal_of(group + 1) - diagonal_of(group);
  }
  if constexpr (kForRing) {
    // The few blocks behind all look at what each of these has found: that takes less time than to be the last one.
    const bool misfit = __syncthreads_or(!fits) != 0;
    if (threadIdx.x == 0) args.misfits[blockIdx.x] = misfit ? 1 : 0;
    if (group == 0) args.between->taken = 0;
  } else {
    const End found = end_of_block(fits, args.counters);
    if (found != End::kNotLast && threadIdx.x == 0) args.between->unsorted = found == End::kUnsorted ? 1 : 0;
  }
}

// The parts of both inputs that a group is made of; if they were not sorted those of a copy.
template <class U>
__device__ __forceinline__ Parts<U, uint32_t> group_parts(const Arguments<U> &args, uint64_t begin, uint32_t count) {
  uint64_t a_begin = args.borders[blockIdx.x], a_end = args.borders[blockIdx.x + 1];
  if (args.between->unsorted != 0) {
    a_begin = min(begin, args.a_n);
    a_end = min(begin + count, args.a_n);
  }
  const uint32_t from_a = static_cast<uint32_t>(a_end - a_begin);
  return {args.a + a_begin, args.b + (begin - a_begin), from_a, count - from_a};
}

// A part on its way to shared memory so that its offset within 16 bytes stays: whole vectors, and a few keys at either
// end that share a vector with what is not of the part, and must not be read.
template <class U>
struct Fetch {
  static constexpr uint32_t kVector = 16 / sizeof(U);
  const U *source;  // aligned: the vector that the first key lies in
  U *target;
  uint32_t begin, end;  // of the part, from there

  __device__ __forceinline__ Fetch(const U *keys, uint32_t count, uint4 *room) : target(reinterpret_cast<U *>(room)) {
    begin = static_cast<uint32_t>(reinterpret_cast<uint64_t>(keys) & 15) / sizeof(U);
    end = begin + count;
    source = keys - begin;
  }
  __device__ __forceinline__ const U *first() const { return target + begin; }
  __device__ __forceinline__ uint32_t vectors() const { return (end + kVector - 1) / kVector; }

  __device__ __forceinline__ void whole_vectors() const {
    for (uint32_t v = (begin != 0 ? 1 : 0) + threadIdx.x; v < end / kVector; v += Tuning::kThreads)
      copy_async(reinterpret_cast<uint4 *>(target) + v, reinterpret_cast<const uint4 *>(source) + v);
  }
  // Key `i` of the first vector or of the last, where that is not whole.
  __device__ __forceinline__ void edge(bool of_last, uint32_t i) const {
    const uint32_t last = end / kVector, key = (of_last ? last * kVector : 0) + i;
    const bool partial = of_last ? last != 0 : begin != 0 || last == 0;
    if (!partial || key < begin || key >= end) return;
    if constexpr (sizeof(U) >= 4)
      copy_async(shared_address(target + key), source + key);
    else
      target[key] = source[key];
  }
};

// Begins to copy both parts to shared memory; nothing is waited for but narrow keys at the edges, at the end. Returns
// where they will lie.
template <class U>
__device__ __forceinline__ Parts<U, uint32_t> fetch_parts(const Parts<U, uint32_t> &away, uint4 *room) {
  constexpr uint32_t kVector = Fetch<U>::kVector;
  const Fetch<U> a(away.a, away.a_n, room), b(away.b, away.b_n, room + a.vectors());
  a.whole_vectors();
  b.whole_vectors();
  const uint32_t which = threadIdx.x / kVector, key = threadIdx.x % kVector;
  if (which < 2) a.edge(which != 0, key);
  if (which == 2 || which == 3) b.edge(which == 3, key);
  return {a.first(), b.first(), away.a_n, away.b_n};
}

// What a warp merges of its group's parts.
struct Share {
  uint32_t begin, count;    // keys of the group before it, and its own
  uint32_t a_begin, a_end;  // of them, from a
};

// False, in all threads, if the warps' shares do not fit together.
template <class U>
__device__ __forceinline__ bool find_share(const Parts<U, uint32_t> &parts, const KeyCodec<U> &codec, Share &share) {
  constexpr uint32_t kTile = Tile<sizeof(U)>::kKeys;
  __shared__ uint32_t ends[Tuning::kWarps];
  const uint32_t warp = threadIdx.x / 32, all = parts.a_n + parts.b_n;
  share.begin = min(warp * kTile, all);
  share.count = min(kTile, all - share.begin);
  share.a_end = split_by_warp(parts, share.begin + share.count, codec);
  ends[warp] = share.a_end;
  __syncthreads();
  share.a_begin = warp == 0 ? 0 : ends[warp - 1];
  // Every warp looks at all shares, so that all come to the same result.
  bool fits = true;
  if (lane_id() < Tuning::kWarps) {
    const uint32_t from = lane_id() == 0 ? 0 : ends[lane_id() - 1], to = ends[lane_id()];
    fits = from <= to && to - from <= min(kTile, all - min(lane_id() * kTile, all));
  }
  return __all_sync(kFullWarp, fits);
}

template <class U>
__device__ __forceinline__ void copy_parts(const Parts<U, uint32_t> &parts, U *out) {
  for (uint32_t i = threadIdx.x; i < parts.a_n + parts.b_n; i += Tuning::kThreads)
    out[i] = i < parts.a_n ? parts.a[i] : parts.b[i - parts.a_n];
}

template <class U>
__global__ void __launch_bounds__(Tuning::kThreads, blocks_here(Tuning::kThreads, Tuning::kBlocksPerMultiprocessor))
    merge_kernel(const Arguments<U> args) {
  extern __shared__ uint4 shared[];
  constexpr uint64_t kGroup = Tile<sizeof(U)>::kGroupKeys;
  wait_for_kernel_before();
  const uint64_t begin = blockIdx.x * kGroup;
  const Parts<U, uint32_t> away = group_parts(args, begin, static_cast<uint32_t>(min(kGroup, args.total() - begin)));
  const Parts<U, uint32_t> parts = fetch_parts(away, shared);
  copy_async_wait_all();
  __syncthreads();
  U *const out = args.out + begin;
  Share share;
  if (!find_share(parts, args.codec, share)) return copy_parts(parts, out);
  const uint32_t from_a = share.a_end - share.a_begin, from_b = share.count - from_a;
  const Parts<U, uint32_t> own = {parts.a + share.a_begin, parts.b + (share.begin - share.a_begin), from_a, from_b};
  const bool one_run = from_a == 0 || from_b == 0;
  TileKeys<U> keys;
  if (one_run)
    copy_tile(from_b == 0 ? own.a : own.b, out + share.begin, share.count);
  else
    load_tile(keys, own, from_a, from_b, args.codec);
  __syncthreads();  // the warps' rooms lie where the parts did
  if (one_run) return;
  const Room<U> room = {reinterpret_cast<char *>(shared) + threadIdx.x / 32 * Tile<sizeof(U)>::kRoomBytes};
  merge_tile(keys, room, args.codec, out + share.begin, share.count);
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_GROUPS_CUH_
