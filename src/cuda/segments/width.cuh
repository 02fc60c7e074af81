// SPDX-License-Identifier: MIT OR Apache-2.0
// The host side of sorts of segments of one key width; launch_segments_<width>.cu instantiate it.
#ifndef GSORT_CUDA_SEGMENTS_WIDTH_CUH_
#define GSORT_CUDA_SEGMENTS_WIDTH_CUH_

#include <algorithm>
#include <cstdint>

#include "cuda/engine/check.h"
#include "cuda/engine/launcher.h"
#include "cuda/segments/job.h"
#include "cuda/segments/segmented.cuh"
#include "cuda/segments/short.cuh"
#include "cuda/segments/spread_sort.cuh"

namespace gsort_internal::segments {

template <class U>
Params<U> make_params(const Job &job) {
  const Request &request = *job.request;
  const Plan &plan = job.plan;
  Params<U> params{};
  params.keys_in = static_cast<const U *>(request.in);
  params.keys_out = static_cast<U *>(request.out);
  params.keys_y = job.slice<U>(plan.keys_y);
  params.n = request.n;
  params.offsets = request.offsets;
  params.segments = request.segments;
  params.codec = make_codec<U>(request.order);
  params.error = job.error;
  params.bounds = job.slice<uint32_t>(plan.bounds);
  auto *counts = job.slice<unsigned long long>(plan.list_counts);
  params.any_short = reinterpret_cast<uint32_t *>(counts + 3);
  params.small = {counts, job.slice<uint64_t>(plan.small_list), plan.small_max};
  params.middle = {counts + 5, job.slice<uint64_t>(plan.middle_list), plan.spread ? plan.middle_max : 0};
  params.medium = {counts + 1, job.slice<uint64_t>(plan.medium_list), plan.medium_max};
  params.crowded = {counts + 4, job.slice<uint64_t>(plan.crowded_list), plan.crowded_max};
  params.large = {counts + 2, job.slice<uint64_t>(plan.large_list), plan.large_max};
  params.large_tile_begins = job.slice<uint64_t>(plan.large_tile_begins);
  params.large_counts = job.slice<unsigned long long>(plan.large_counts);
  params.look_back = job.slice<uint64_t>(plan.look_back);
  params.tickets = job.slice<uint32_t>(plan.tickets);
  return params;
}

// The blocks of one cooperative launch: all of them are resident.
template <class Kernel>
uint32_t resident_blocks(const LaunchContext &context, Kernel *kernel, uint32_t threads, uint32_t shared_bytes) {
  int blocks = 0;
  cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), shared_bytes),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<uint32_t>(blocks) * context.device->multiprocessors;
}

template <class U>
void launch_short_segments(const LaunchContext &context, const Job &job, const Params<U> &params) {
  launch_kernel(context, "short_segments_kernel", {job.plan.short_blocks, kBlockThreads}, short_segments_kernel<U>,
                params, static_cast<uint32_t>(job.plan.short_tiles));
}

template <class U, class Shape>
void launch_block_segments(const LaunchContext &context, const Params<U> &params, const List &list, uint32_t blocks) {
  if (list.capacity == 0) return;
  constexpr uint32_t kSharedBytes = sizeof(BlockSortStorage<U, Shape>);
  static_assert(kSharedBytes <= 65536, "a block must fit an SM of sm_75");
  launch_kernel(context, "block_segments_kernel", {blocks, Shape::kThreads, kSharedBytes},
                block_segments_kernel<U, Shape>, params, list);
}

template <class U, class Shape, uint32_t kBlocks>
void launch_spread_segments(const LaunchContext &context, const Params<U> &params, const List &list, uint32_t blocks) {
  if (list.capacity == 0) return;
  constexpr uint32_t kSharedBytes = sizeof(SpreadStorage<U, Shape>);
  static_assert(kSharedBytes <= kSpreadSharedBytes, "a plan spreads where so much fits");
  launch_kernel(context, "spread_segments_kernel", {blocks, Shape::kThreads, kSharedBytes},
                spread_segments_kernel<U, Shape, kBlocks>, params, list);
}

// Small, middle and medium ones, each by a block.
template <class U>
void launch_middle_segments(const LaunchContext &context, const Job &job, const Params<U> &params) {
  const Plan &plan = job.plan;
  using Small = SmallSegmentTile<sizeof(U)>;
  using Medium = MediumSegmentTile<sizeof(U)>;
  if constexpr (spreads(sizeof(U))) {
    if (plan.spread) {
      launch_spread_segments<U, SpreadSmall<sizeof(U)>, 8>(context, params, params.small, plan.small_blocks);
      launch_spread_segments<U, SpreadMiddle<sizeof(U)>, 4>(context, params, params.middle, plan.middle_blocks);
      launch_spread_segments<U, SpreadMedium<sizeof(U)>, 2>(context, params, params.medium, plan.medium_blocks);
      return launch_block_segments<U, Medium>(context, params, params.crowded, plan.medium_blocks);
    }
  }
  launch_block_segments<U, Small>(context, params, params.small, plan.small_blocks);
  launch_block_segments<U, Medium>(context, params, params.medium, plan.medium_blocks);
}

template <class U>
void launch_large_segments(const LaunchContext &context, const Job &job, const Params<U> &params) {
  using Shape = SegmentPassTile<sizeof(U)>;
  constexpr uint32_t kSharedBytes = sizeof(PassStorage<U, NoValue, Shape>);
  static_assert(kSharedBytes >= digits_of(sizeof(U)) * kDigitBins * 4, "the counters of all digits lie there, too");
  if (job.plan.large_max == 0) return;
  const auto kernel = large_segments_kernel<U, Shape>;
  allow_shared_bytes(kernel, kSharedBytes);  // before the question how many are resident
  const uint64_t resident = std::max(1u, resident_blocks(context, kernel, Shape::kThreads, kSharedBytes));
  const auto grid = static_cast<uint32_t>(std::min(job.plan.large_tiles_max, resident));
  launch_kernel(context, "large_segments_kernel", {grid, Shape::kThreads, kSharedBytes, Together::kGrid}, kernel,
                params);
}

template <class U>
void launch_width(const LaunchContext &context, const Job &job) {
  const Request &request = *job.request;
  if (request.segments == 0) {
    if (request.in != request.out)
      cuda_check(
          cudaMemcpyAsync(request.out, request.in, request.n * sizeof(U), cudaMemcpyDeviceToDevice, context.stream),
          "cudaMemcpyAsync(keys)");
    return;
  }
  const Params<U> params = make_params<U>(job);
  cuda_check(cudaMemsetAsync(job.workspace, 0, job.plan.zero_bytes, context.stream), "cudaMemsetAsync(counters)");
  launch_kernel(context, "check_segments_kernel", {job.plan.check_blocks, kBlockThreads}, check_segments_kernel<U>,
                params);
  launch_short_segments<U>(context, job, params);
  launch_middle_segments(context, job, params);
  launch_large_segments<U>(context, job, params);
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_WIDTH_CUH_
