// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge of few tiles in one kernel: every warp finds its tile's part of both inputs on the merge path and merges
// it. Should some warp's part not fit its neighbour's, the last block copies both inputs without merging.
#ifndef GSORT_CUDA_MERGE_FEW_CUH_
#define GSORT_CUDA_MERGE_FEW_CUH_

#include <cstdint>

#include "cuda/merge/borders.cuh"
#include "cuda/merge/plan.h"
#include "cuda/merge/split.cuh"
#include "cuda/merge/tile.cuh"
#include "cuda/primitive/architecture.h"

namespace gsort_internal::merge {

// A warp's tile; false if its borders do not fit together. All warps of the block call it.
template <class U>
__device__ __forceinline__ bool find_tile(const Arguments<U> &args, uint64_t begin, uint32_t count,
                                          Parts<U, uint32_t> &parts) {
  __shared__ uint64_t borders[Tuning::kFewWarps + 1];
  const uint32_t warps = blockDim.x / 32, own = threadIdx.x / 32;
  const Parts<U, uint64_t> whole = args.whole();
  // The last warp finds both of its ends, on the same trips to memory.
  WarpSearch<uint64_t> first(whole, begin), last(whole, begin + count);
  if (own != warps - 1) last.give_up();
  while (first.open() || last.open()) {
    const bool first_past = first.look(whole, args.codec), last_past = last.look(whole, args.codec);
    first.narrow(first_past);
    last.narrow(last_past);
  }
  borders[own] = first.answers.low;
  if (own == warps - 1) borders[warps] = last.answers.low;
  __syncthreads();
  const uint64_t a_begin = borders[own], a_end = borders[own + 1];
  const uint32_t from_a = static_cast<uint32_t>(a_end - a_begin);
  parts = {args.a + a_begin, args.b + (begin - a_begin), from_a, count - from_a};
  return a_end >= a_begin && a_end - a_begin <= count;
}

template <class U>
__global__ void __launch_bounds__(Tuning::kFewWarps * 32,
                                  blocks_here(Tuning::kFewWarps * 32, Tuning::kFewBlocksPerMultiprocessor))
    merge_few_kernel(const Arguments<U> args) {
  extern __shared__ uint4 shared[];
  constexpr uint64_t kTile = Tile<sizeof(U)>::kKeys;
  const uint64_t tile = uint64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  const uint64_t begin = min(tile * kTile, args.total());
  const uint32_t count = static_cast<uint32_t>(min(kTile, args.total() - begin));
  Parts<U, uint32_t> parts;
  const bool fits = find_tile(args, begin, count, parts);
  if (fits && count != 0) {
    const Room<U> room = {reinterpret_cast<char *>(shared) + threadIdx.x / 32 * Tile<sizeof(U)>::kRoomBytes};
    TileKeys<U> keys;
    load_tile(keys, parts, parts.a_n, parts.b_n, args.codec);
    merge_tile(keys, room, args.codec, args.out + begin, count);
  }
  if (end_of_block(fits, args.counters) == End::kUnsorted) copy_inputs(args, threadIdx.x, blockDim.x);
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_FEW_CUH_
