// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels of segments that are not short, around steps that are also tried without a GPU.
#ifndef GSORT_CUDA_SEGMENTS_KERNELS_CUH_
#define GSORT_CUDA_SEGMENTS_KERNELS_CUH_

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/segments/count_segments.cuh"
#include "cuda/segments/merge_segments.cuh"
#include "cuda/segments/partition.cuh"
#include "cuda/segments/spread_sort.cuh"

namespace gsort_internal::segments {

// Dynamic shared memory: SpreadStorage.
template <class U, class Shape, uint32_t kBlocks>
__global__ void __launch_bounds__(Shape::kThreads, blocks_here(Shape::kThreads, kBlocks))
    spread_segments_kernel(const __grid_constant__ Params<U> params, const List list, const List crowded) {
  if constexpr (!kFitsHere<kLargeSharedBytes>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  wait_for_kernel_before();
  allow_next_kernel();
  spread_listed<U, Shape>(params, list, crowded, *reinterpret_cast<SpreadStorage<U, Shape> *>(shared));
}

// Small, middle and medium segments, where they are merged. Dynamic shared memory: kMergeSharedBytes.
template <class U>
__global__ void __launch_bounds__(kMergeWarps * 32, blocks_here(kMergeWarps * 32, kMergeBlocksPerMultiprocessor))
    merge_segments_kernel(const __grid_constant__ Params<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  wait_for_kernel_before();
  allow_next_kernel();
  merge_all_listed(params, reinterpret_cast<MergeKey<U> *>(shared));
}

// Dynamic shared memory: kBigSharedBytes.
template <class U>
__global__ void __launch_bounds__(kBigWarps * 32, 1)
    merge_big_segments_kernel(const __grid_constant__ Params<U> params) {
  if constexpr (!kClustersHere) return;  // see has_big_segments()
  extern __shared__ __align__(16) unsigned char shared[];
  wait_for_kernel_before();
  merge_big_listed(params, reinterpret_cast<MergeKey<U> *>(shared));
}

// Of 1-byte keys.
static __global__ void __launch_bounds__(kCountWarps * 32)
    count_segments_kernel(const __grid_constant__ Params<uint8_t> params) {
  __shared__ CountStorage storage;
  wait_for_kernel_before();
  count_all_listed(params, storage);
}

// A cooperative launch. Dynamic shared memory: PartitionStorage.
template <class U, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, blocks_here(Shape::kThreads, partition_blocks(sizeof(U))))
    partition_segments_kernel(const __grid_constant__ Params<U> params) {
  if constexpr (!kFitsHere<kLargeSharedBytes>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  partition_segments<U, Shape>(params, *reinterpret_cast<PartitionStorage<U, Shape> *>(shared));
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_KERNELS_CUH_
