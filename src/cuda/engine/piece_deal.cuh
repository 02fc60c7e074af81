// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels for sorts of host arrays in pieces, in which what travels with a key is its own index: which bucket every key
// belongs to, a byte a key, stays on the device, and a bucket's indices are read off these bytes. So none of them goes
// over the bus.
#ifndef GSORT_CUDA_ENGINE_PIECE_DEAL_CUH_
#define GSORT_CUDA_ENGINE_PIECE_DEAL_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "host_memory/piece_deal.h"

namespace gsort_internal {

constexpr uint32_t kDealThreads = 256, kDealItems = 16;
constexpr uint32_t kPlaceThreads = 512, kPlaceSumThreads = 1024, kPlaceVector = 16;
static_assert(kPlaceThreads * kPlaceVector == kPlaceChunk, "each thread looks at a vector");

// The stripe of what is read after so many others: the last that begins there or before, which has elements.
__device__ __forceinline__ uint32_t stripe_of(const PieceStripes &stripes, uint64_t read_before) {
  uint32_t begin = 1, end = stripes.count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (stripes.starts[middle] <= read_before)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin - 1;
}

template <class U>
struct DealParams {
  const U *keys;
  uint64_t items, first_place;
  PieceStripes stripes;
  KeyCodec<U> codec;
  const U *bounds;
  const uint64_t *places;
  uint32_t count;
  uint8_t *buckets;
};

template <class U>
__global__ void __launch_bounds__(kDealThreads) deal_kernel(DealParams<U> p) {
  __shared__ U bounds[kDealBoundsMax];
  __shared__ uint64_t places[kDealBoundsMax];
  for (uint32_t i = threadIdx.x; i < p.count; i += kDealThreads) {
    bounds[i] = p.codec.encode(p.bounds[i]);
    places[i] = p.places[i];
  }
  __syncthreads();
  const uint64_t step = uint64_t{gridDim.x} * kDealThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kDealThreads + threadIdx.x; i < p.items; i += step) {
    const U key = p.codec.encode(p.keys[i]);
    uint64_t place = p.first_place + i;
    if (p.stripes.count != 0) {
      const uint32_t stripe = stripe_of(p.stripes, place);
      place = p.stripes.begins[stripe] + (place - p.stripes.starts[stripe]);
    }
    uint32_t begin = 0, end = p.count;
    while (begin < end) {
      const uint32_t middle = begin + (end - begin) / 2;
      if (bounds[middle] < key || (bounds[middle] == key && places[middle] <= place))
        begin = middle + 1;
      else
        end = middle;
    }
    p.buckets[i] = static_cast<uint8_t>(begin);
  }
}

struct PlaceParams {
  const uint8_t *buckets;  // aligned, and with room, for whole vectors
  uint64_t n;
  uint32_t bucket;
  uint32_t *chunks;  // of every chunk how many are of the bucket, then how many are in the chunks before
  uint64_t items;    // at most so many are written
};

// A bit for each byte of the word that is the bucket's.
__device__ __forceinline__ uint32_t equal_bytes(uint32_t word, uint32_t bucket) {
  const uint32_t differs = word ^ bucket * 0x01010101u;
  // The top bit of a byte that is zero, and nothing of the others.
  const uint32_t zeros = ~(((differs & 0x7f7f7f7fu) + 0x7f7f7f7fu) | differs | 0x7f7f7f7fu);
  return (zeros >> 7) * 0x10204080u >> 28;  // the four bits side by side: no two of the products' bits meet
}

// Of the vector that the thread looks at, whose first byte is at `first`.
__device__ __forceinline__ uint32_t places_in_vector(const PlaceParams &p, uint64_t first) {
  if (first >= p.n) return 0;
  const uint4 bytes = *reinterpret_cast<const uint4 *>(p.buckets + first);
  const uint32_t equal = equal_bytes(bytes.x, p.bucket) | equal_bytes(bytes.y, p.bucket) << 4 |
                         equal_bytes(bytes.z, p.bucket) << 8 | equal_bytes(bytes.w, p.bucket) << 12;
  const uint64_t left = p.n - first;
  return left < kPlaceVector ? equal & ((1u << left) - 1) : equal;
}

__device__ __forceinline__ uint64_t first_of_vector() {
  return uint64_t{blockIdx.x} * kPlaceChunk + threadIdx.x * kPlaceVector;
}

__global__ void __launch_bounds__(kPlaceThreads) count_places_kernel(PlaceParams p) {
  __shared__ uint32_t warp_totals[kPlaceThreads / 32];
  uint32_t total = 0;
  block_exclusive_sum<kPlaceThreads>(__popc(places_in_vector(p, first_of_vector())), warp_totals, total);
  if (threadIdx.x == 0) p.chunks[blockIdx.x] = total;
}

// One block.
__global__ void __launch_bounds__(kPlaceSumThreads) sum_places_kernel(uint32_t *chunks, uint64_t count) {
  __shared__ uint32_t warp_totals[kPlaceSumThreads / 32];
  const uint64_t each = (count + kPlaceSumThreads - 1) / kPlaceSumThreads, begin = min(threadIdx.x * each, count),
                 end = min(begin + each, count);
  uint32_t sum = 0, total = 0;
  for (uint64_t i = begin; i < end; ++i) sum += chunks[i];
  uint32_t before = block_exclusive_sum<kPlaceSumThreads>(sum, warp_totals, total);
  for (uint64_t i = begin; i < end; ++i) {
    const uint32_t of_chunk = chunks[i];
    chunks[i] = before;
    before += of_chunk;
  }
}

// Calls list(at, place) for each that the thread has.
template <class F>
__device__ __forceinline__ void for_places(const PlaceParams &p, uint32_t *warp_totals, F list) {
  const uint64_t first = first_of_vector();
  uint32_t equal = places_in_vector(p, first), total = 0;
  uint64_t at = block_exclusive_sum<kPlaceThreads>(__popc(equal), warp_totals, total);
  at += p.chunks[blockIdx.x];
  for (; equal != 0 && at < p.items; equal &= equal - 1, ++at)
    list(at, first + static_cast<uint32_t>(__ffs(static_cast<int>(equal)) - 1));
}

template <class Index>
__global__ void __launch_bounds__(kPlaceThreads) list_places_kernel(PlaceParams p, Index *places) {
  __shared__ uint32_t warp_totals[kPlaceThreads / 32];
  for_places(p, warp_totals, [&](uint64_t at, uint64_t place) { places[at] = static_cast<Index>(place); });
}

__global__ void __launch_bounds__(kPlaceThreads)
    list_turns_kernel(PlaceParams p, PieceStripes stripes, uint8_t *turns) {
  __shared__ uint32_t warp_totals[kPlaceThreads / 32];
  for_places(p, warp_totals,
             [&](uint64_t at, uint64_t place) { turns[at] = stripes.turns[stripe_of(stripes, place)]; });
}

template <class Item>
__global__ void __launch_bounds__(kDealThreads)
    scatter_kernel(const uint32_t *places, const Item *from, Item first, Item *to, uint64_t items) {
  const uint64_t step = uint64_t{gridDim.x} * kDealThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kDealThreads + threadIdx.x; i < items; i += step) {
    const uint32_t place = places[i];
    if (place < items) to[place] = from != nullptr ? from[i] : first + static_cast<Item>(i);
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_PIECE_DEAL_CUH_
