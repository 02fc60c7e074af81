// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts of the sample sort: how many keys each bin has, and which bin each key has.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_COUNT_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_COUNT_CUH_

#include <cstdint>

#include "cuda/sort/sample_sort/crowding.cuh"
#include "cuda/sort/sample_sort/sample.cuh"

namespace gsort_internal::sort::sample_sort {

constexpr uint32_t kCountThreads = 512;
constexpr uint32_t kCountItems = 8;  // of a thread at a time

template <class U>
struct CountStorage {
  U tree[kBins];
  U splitters[kBins];
  uint32_t counts[kBins];
};

// The search tree of all bins, and no counts, by kThreads threads. Ends with a barrier.
template <uint32_t kThreads, class U, class Storage>
__device__ __forceinline__ void load_tree(const U *splitters, Storage &storage) {
  // All blocks ask for the same at once: in rows, rather than in the order of nodes.
  for (uint32_t i = threadIdx.x; i < kBins; i += kThreads) {
    storage.splitters[i] = __ldcg(splitters + i);
    storage.counts[i] = 0;
  }
  __syncthreads();
  const auto get = [&](uint32_t i) { return storage.splitters[i]; };
  for (uint32_t node = threadIdx.x; node < kBins; node += kThreads)
    if (node != 0) storage.tree[node] = part_start<kBins, U>(part_of_node<kBinBits>(node), get);
  __syncthreads();
}

template <class U>
__global__ void __launch_bounds__(kCountThreads, blocks_here(kCountThreads, 3))
    count_kernel(const U *keys_in, uint32_t n, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kFitsHere<msd::kSharedBytesMin>) return;
  __shared__ CountStorage<U> storage;
  wait_for_kernel_before();
  if (are_sorted(arguments)) return;
  load_tree<kCountThreads>(arguments.splitters, storage);
  if (threadIdx.x < 32) note_crowding(arguments);
  constexpr uint32_t kTile = kCountThreads * kCountItems;
  for (uint32_t base = blockIdx.x * kTile; base < n; base += gridDim.x * kTile) {
    const uint32_t first = base + threadIdx.x;
    U keys[kCountItems];
#pragma unroll
    for (uint32_t i = 0; i < kCountItems; ++i) {
      const uint32_t place = first + i * kCountThreads;
      keys[i] = place < n ? keys_in[place] : U{0};
    }
#pragma unroll
    for (uint32_t i = 0; i < kCountItems; ++i) keys[i] = codec.encode(keys[i]);
    uint32_t bins[kCountItems];
    find_parts<kBinBits>(storage.tree, keys, bins);
#pragma unroll
    for (uint32_t i = 0; i < kCountItems; ++i) {
      const uint32_t place = first + i * kCountThreads;
      if (place >= n) continue;
      atomicAdd(&storage.counts[bins[i]], 1u);  // of lanes with the same bin one instruction
      arguments.bins[place] = static_cast<uint16_t>(bins[i]);
    }
  }
  __syncthreads();
  for (uint32_t bin = threadIdx.x; bin < kBins; bin += kCountThreads)
    if (storage.counts[bin] != 0) atomicAdd(&arguments.bin_counts[bin], storage.counts[bin]);
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_COUNT_CUH_
