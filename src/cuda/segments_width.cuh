// SPDX-License-Identifier: MIT OR Apache-2.0
// The host side of sorts of segments of one key width; launch_segments_<width>.cu instantiate it.
#ifndef GSORT_CUDA_SEGMENTS_WIDTH_CUH_
#define GSORT_CUDA_SEGMENTS_WIDTH_CUH_

#include <algorithm>
#include <cstdint>

#include "cuda/check.h"
#include "cuda/kernels/segmented.cuh"
#include "cuda/segments_job.h"
#include "cuda/shared_bytes.h"

namespace gsort_internal {

template <class U>
SegmentParams<U> segment_params(const SegmentsJob &job) {
  const Request &request = *job.request;
  const SegmentsLayout &layout = job.layout;
  SegmentParams<U> params{};
  params.keys_in = static_cast<const U *>(request.in);
  params.keys_out = static_cast<U *>(request.out);
  params.keys_y = job.slice<U>(layout.keys_y);
  params.n = request.n;
  params.offsets = request.offsets;
  params.segments = request.segments;
  params.codec = make_codec<U>(request.order);
  params.error = job.error;
  auto *counts = job.slice<unsigned long long>(layout.list_counts);
  params.small = {counts, job.slice<uint64_t>(layout.small_list), layout.small_max};
  params.medium = {counts + 1, job.slice<uint64_t>(layout.medium_list), layout.medium_max};
  params.large = {counts + 2, job.slice<uint64_t>(layout.large_list), layout.large_max};
  params.large_tile_begins = job.slice<uint64_t>(layout.large_tile_begins);
  params.large_counts = job.slice<unsigned long long>(layout.large_counts);
  params.look_back = job.slice<uint64_t>(layout.look_back);
  params.tickets = job.slice<uint32_t>(layout.tickets);
  return params;
}

inline uint32_t grid_for(uint64_t work, uint64_t per_block, uint64_t blocks_max) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, std::min((work + per_block - 1) / per_block, blocks_max)));
}

template <class U, uint32_t kThreads>
void launch_block_segments(const LaunchContext &context, const SegmentParams<U> &params, const SegmentList &list) {
  if (list.capacity == 0) return;
  using Shape = TileShape<kThreads, small_rows(sizeof(U))>;
  constexpr uint32_t kSharedBytes = sizeof(BlockSortStorage<U, Shape>);
  allow_shared_bytes(block_segments_kernel<U, Shape>, kSharedBytes);
  // Enough blocks to fill every SM and to even out segments of different size.
  const uint32_t grid = grid_for(list.capacity, 1, uint64_t{context.device->multiprocessors} * 16);
  block_segments_kernel<U, Shape><<<grid, kThreads, kSharedBytes, context.stream>>>(params, list);
  check_launch("block_segments_kernel");
}

template <class U>
void launch_large_segments(const LaunchContext &context, const SegmentsJob &job, const SegmentParams<U> &params) {
  using Shape = SegmentPassTile<sizeof(U)>;
  constexpr uint32_t kDigits = digits_of(sizeof(U));
  constexpr uint32_t kSharedBytes = sizeof(PassStorage<U, NoValue, Shape>);
  if (job.layout.large_max == 0) return;
  const auto tiles = static_cast<uint32_t>(job.layout.large_tiles_max);
  number_tiles_kernel<U, Shape::kItems><<<1, 1024, 0, context.stream>>>(params);
  check_launch("number_tiles_kernel");
  count_large_kernel<U, Shape::kItems><<<tiles, 512, 0, context.stream>>>(params);
  check_launch("count_large_kernel");
  const uint32_t place_grid =
      grid_for(job.layout.large_max * kDigits, kSegmentThreads / 32, uint64_t{context.device->multiprocessors} * 8);
  place_large_kernel<U><<<place_grid, kSegmentThreads, 0, context.stream>>>(params);
  check_launch("place_large_kernel");
  allow_shared_bytes(segment_pass_kernel<U, Shape>, kSharedBytes);
  for (uint32_t digit = 0; digit < kDigits; ++digit) {
    segment_pass_kernel<U, Shape><<<tiles, Shape::kThreads, kSharedBytes, context.stream>>>(params, digit);
    check_launch("segment_pass_kernel");
  }
  if (kDigits % 2 == 1) {
    copy_large_kernel<U, Shape::kItems><<<tiles, 512, 0, context.stream>>>(params);
    check_launch("copy_large_kernel");
  }
}

template <class U>
void launch_segments_width(const LaunchContext &context, const SegmentsJob &job) {
  const Request &request = *job.request;
  const SegmentParams<U> params = segment_params<U>(job);
  const uint64_t blocks_max = uint64_t{context.device->multiprocessors} * 16;
  cuda_check(cudaMemsetAsync(job.workspace, 0, job.layout.zero_bytes, context.stream), "cudaMemsetAsync(counters)");
  if (request.segments != 0) {
    list_segments_kernel<U>
        <<<grid_for(request.segments, kSegmentThreads, blocks_max), kSegmentThreads, 0, context.stream>>>(params);
    check_launch("list_segments_kernel");
  }
  if (request.in != request.out) {
    copy_outside_kernel<U>
        <<<grid_for(request.n, kSegmentThreads * 4, blocks_max), kSegmentThreads, 0, context.stream>>>(params);
    check_launch("copy_outside_kernel");
  }
  if (request.segments == 0) return;
  tiny_segments_kernel<U>
      <<<grid_for(request.segments, kSegmentThreads / 32, blocks_max * 4), kSegmentThreads, 0, context.stream>>>(
          params);
  check_launch("tiny_segments_kernel");
  launch_block_segments<U, kSmallThreads>(context, params, params.small);
  launch_block_segments<U, kMediumThreads>(context, params, params.medium);
  launch_large_segments<U>(context, job, params);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SEGMENTS_WIDTH_CUH_
