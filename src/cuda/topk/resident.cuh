// SPDX-License-Identifier: MIT OR Apache-2.0
// A row in the registers of the blocks that do it together: it is read once, each block offers a bound for the best k,
// and what is at or under the bound agreed upon is found without a second read.
#ifndef GSORT_CUDA_TOPK_RESIDENT_CUH_
#define GSORT_CUDA_TOPK_RESIDENT_CUH_

#include "cuda/primitive/ptx.cuh"
#include "cuda/topk/common.cuh"
#include "cuda/topk/filter.cuh"

namespace gsort_internal::topk {

__device__ __forceinline__ uint64_t composite_warp_least(uint64_t item) { return warp_least(item); }
__device__ __forceinline__ Wide composite_warp_least(Wide item) {
  const uint64_t high = warp_least(static_cast<uint64_t>(item >> 64));
  const uint64_t low =
      warp_least(static_cast<uint64_t>(item >> 64) == high ? static_cast<uint64_t>(item) : ~uint64_t{0});
  return static_cast<Wide>(high) << 64 | low;
}

// A block's part of a row, or of the first of the tiles that take its groups in turns. Of every group of `blocks` pairs
// of vectors, 32 bytes each, a block has one, and its warps take turns with the groups, so that the best of an ordered
// row are spread over all. Which pair it is differs from group to group by a hash (multiples of the golden ratio,
// Knuth 6.4), and the first of the warps from turn to turn, so that those in a column of a matrix are, too.
template <class U>
struct ResidentPart {
  uint4 v[kVectorsThread];
  uint32_t at[kVectorsThread];  // v[j] is vector at[j] of the row, if there is one; ascending

  // Begins to load.
  __device__ __forceinline__ void load(const Row<U> &row, uint32_t rank, uint32_t blocks, uint32_t tiles = 1) {
    constexpr uint32_t kPairs = kTeamThreads / 2, kWarps = kTeamThreads / 32;
    const uint32_t lane = threadIdx.x & 31;
    // Conditions of the loads themselves, not branches: all are under way at once.
#pragma unroll
    for (uint32_t j = 0; j < kVectorsThread; ++j) {
      const uint32_t turn = j * (kPairs / kWarps) + lane / 2;
      const uint32_t group = (turn * kWarps + ((threadIdx.x >> 5) + 5 * turn) % kWarps) * tiles;
      const uint32_t place = rank + __umulhi(group * 0x9e3779b1u, blocks);
      at[j] = 2 * (group * blocks + (place < blocks ? place : place - blocks)) + lane % 2;
      v[j] = make_uint4(0, 0, 0, 0);
      load_once_if(has(row, j), reinterpret_cast<const uint4 *>(row.data + row.head) + at[j], v[j]);
    }
  }
  __device__ __forceinline__ bool has(const Row<U> &row, uint32_t j) const { return at[j] < row.vectors; }
};

// The least composite of a thread's part.
template <class U, class C>
__device__ __forceinline__ C resident_least(const Row<U> &row, const ResidentPart<U> &part) {
  U best = static_cast<U>(~U{0});
  uint32_t best_at = part.at[0] * Row<U>::kVectorItems;
  with_codec(row.codec, [&](const KeyCodec<U> &codec) {
#pragma unroll
    for (uint32_t j = 0; j < kVectorsThread; ++j) {
      if (!part.has(row, j)) break;
#pragma unroll
      for (uint32_t e = 0; e < Row<U>::kVectorItems; ++e) {
        const U key = codec.encode(vector_element<U>(part.v[j], e));
        // Indices only grow, so that of equal keys the first stays.
        if (key < best) best = key, best_at = part.at[j] * Row<U>::kVectorItems + e;
      }
    }
  });
  return (static_cast<C>(best) << row.index_bits) | (row.head + best_at);
}

// The best of each warp, in order; shared memory.
template <class C>
struct ResidentOffers {
  C items[kResidentOffersMax][kTeamThreads / 32];
};

// Leaves the `each` best of a warp's items, one an item of a lane, in `offers`.
template <class C>
__device__ __forceinline__ void resident_offer(ResidentOffers<C> &offers, C mine, uint32_t each) {
  for (uint32_t i = 0; i < each; ++i) {
    const C least = composite_warp_least(mine);
    if (mine == least) mine = ~C{0};
    if ((threadIdx.x & 31) == 0) offers.items[i][threadIdx.x >> 5] = least;
  }
}

// Calls tell(bound) with number `need` of what the block's warps offer, in the warp that offered it: each finds out
// whether it is one of its own.
template <class C, class Tell>
__device__ __forceinline__ void resident_bound(const ResidentOffers<C> &offers, uint32_t need, uint32_t each,
                                               Tell &&tell) {
  const uint32_t lane = threadIdx.x & 31;
  for (uint32_t i = 0; i < each; ++i) {
    const C item = offers.items[i][threadIdx.x >> 5];
    uint32_t before = 0;
    for (uint32_t other = 0; other < each; ++other)
      before += __popc(__ballot_sync(kFullWarp, offers.items[other][lane] < item));
    if (before == need - 1) tell(item);
  }
}

// Calls append(composite) for the thread's elements at or under `bound` but `least`, until that is false.
template <class U, class C, class Append>
__device__ __forceinline__ void resident_filter_part(const Row<U> &row, const ResidentPart<U> &part, C least, C bound,
                                                     Append &&append) {
  const U key = static_cast<U>(bound >> row.index_bits);
  const uint64_t index = static_cast<uint64_t>(bound & ((C{1} << row.index_bits) - 1));
  bool room = true;
  with_codec(row.codec, [&](const KeyCodec<U> &codec) {
#pragma unroll
    for (uint32_t j = 0; j < kVectorsThread; ++j) {
      if (!room || !part.has(row, j)) break;
      // Vectors behind the bound's index take no ties.
      const bool ties = row.vector_begin(part.at[j]) <= index;
      if (!ties && key == 0) break;
      uint32_t marked = vector_mask(part.v[j], codec, ties ? key : static_cast<U>(key - 1));
      while (room && marked != 0) {
        const uint32_t e = static_cast<uint32_t>(__ffs(static_cast<int>(marked))) - 1;
        marked &= marked - 1;
        const C item = (static_cast<C>(codec.encode(vector_item_any<U>(part.v[j], e))) << row.index_bits) |
                       (row.vector_begin(part.at[j]) + e);
        if (item <= bound && item != least) room = append(item);
      }
    }
  });
}

// The same for the few elements before and behind all vectors, by the row's first block.
template <class U, class C, class Append>
__device__ __forceinline__ void resident_filter_edges(const Row<U> &row, C bound, uint32_t rank, Append &&append) {
  const uint32_t tail = static_cast<uint32_t>(row.items - row.tail_begin());
  if (rank != 0 || threadIdx.x >= row.head + tail) return;
  const C item =
      row.template composite<C>(threadIdx.x < row.head ? threadIdx.x : row.items - 1 - (threadIdx.x - row.head));
  if (item <= bound) append(item);
}

// The same for the block's elements. Few threads have one, and most of those only `least`, their best.
template <class U, class C, class Append>
__device__ __forceinline__ void resident_filter(const Row<U> &row, const ResidentPart<U> &part, C least, C bound,
                                                uint32_t rank, Append &&append) {
  if (least <= bound && append(least)) resident_filter_part(row, part, least, bound, append);
  resident_filter_edges(row, bound, rank, append);
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_RESIDENT_CUH_
