// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge of few tiles in one kernel: every warp finds its part of the output on the merge path and merges it tile
// by tile. Should some warp's part not fit its neighbour's, the last block copies both inputs without merging.
#ifndef GSORT_CUDA_MERGE_FEW_CUH_
#define GSORT_CUDA_MERGE_FEW_CUH_

#include <cstdint>

#include "cuda/merge/borders.cuh"
#include "cuda/merge/plan.h"
#include "cuda/merge/split.cuh"
#include "cuda/merge/tile.cuh"
#include "cuda/primitive/architecture.h"

namespace gsort_internal::merge {

// What a warp has left to merge.
template <class U>
struct WarpPart {
  Parts<U, uint64_t> in;
  U *out;

  __device__ __forceinline__ uint32_t next_count() const {
    constexpr uint64_t kTile = Tile<sizeof(U)>::kKeys;
    return static_cast<uint32_t>(min(in.a_n + in.b_n, kTile));
  }
  // What the next `count` keys come from.
  __device__ __forceinline__ Parts<U, uint32_t> next(uint32_t count) const {
    return {in.a, in.b, static_cast<uint32_t>(min(in.a_n, uint64_t{count})),
            static_cast<uint32_t>(min(in.b_n, uint64_t{count}))};
  }
  __device__ __forceinline__ void leave_behind(uint32_t from_a, uint32_t from_b) {
    in.a += from_a, in.a_n -= from_a;
    in.b += from_b, in.b_n -= from_b;
    out += from_a + from_b;
  }
};

// Where the part of warp `warp` of the grid begins in merged order: every warp has as many tiles as any other, or one
// more.
template <class U>
__device__ __forceinline__ uint64_t first_key(const Arguments<U> &args, uint64_t warp, uint64_t warps) {
  const uint64_t tile = args.tiles / warps * warp + min(warp, args.tiles % warps);
  return min(tile * Tile<sizeof(U)>::kKeys, args.total());
}

// The warp's part; false if its borders do not fit together. All warps of the block call it.
template <class U>
__device__ __forceinline__ bool find_part(const Arguments<U> &args, WarpPart<U> &part) {
  __shared__ uint64_t borders[Tuning::kFewWarps + 1];
  const uint32_t warps = blockDim.x / 32, own = threadIdx.x / 32;
  const uint64_t warp = uint64_t{blockIdx.x} * warps + own, all = uint64_t{gridDim.x} * warps;
  const uint64_t begin = first_key(args, warp, all), end = first_key(args, warp + 1, all);
  const Parts<U, uint64_t> whole = args.whole();
  borders[own] = split_by_warp(whole, begin, args.codec);
  if (own == warps - 1) borders[warps] = split_by_warp(whole, end, args.codec);
  __syncthreads();
  const uint64_t a_begin = borders[own], a_end = borders[own + 1];
  if (a_end < a_begin || a_end - a_begin > end - begin) return false;
  const uint64_t from_a = a_end - a_begin;
  part = {{args.a + a_begin, args.b + (begin - a_begin), from_a, end - begin - from_a}, args.out + begin};
  return true;
}

template <class U>
__device__ __forceinline__ void merge_part(WarpPart<U> part, const Room<U> &room, const KeyCodec<U> &codec) {
  for (uint32_t count = part.next_count(); count != 0; count = part.next_count()) {
    const Parts<U, uint32_t> in = part.next(count);
    const uint32_t from_a = split_by_warp(in, count, codec);
    TileKeys<U> keys;
    load_tile(keys, in, from_a, count - from_a, codec);
    merge_tile(keys, room, codec, part.out, count);
    part.leave_behind(from_a, count - from_a);
  }
}

template <class U>
__global__ void __launch_bounds__(Tuning::kFewWarps * 32, Tuning::kFewBlocksPerMultiprocessor)
    merge_few_kernel(const Arguments<U> args) {
  extern __shared__ uint4 shared[];
  char *const own = reinterpret_cast<char *>(shared) + threadIdx.x / 32 * Tile<sizeof(U)>::kRoomBytes;
  WarpPart<U> part;
  const bool fits = find_part(args, part);
  if (fits) merge_part(part, Room<U>{own}, args.codec);
  if (end_of_block(fits, args.counters) == End::kUnsorted) copy_inputs(args, threadIdx.x, blockDim.x);
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_FEW_CUH_
