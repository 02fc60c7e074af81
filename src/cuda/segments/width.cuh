// SPDX-License-Identifier: MIT OR Apache-2.0
// The host side of sorts of segments of one key width; launch_segments_<width>.cu instantiate it.
#ifndef GSORT_CUDA_SEGMENTS_WIDTH_CUH_
#define GSORT_CUDA_SEGMENTS_WIDTH_CUH_

#include <algorithm>
#include <cstdint>

#include "cuda/engine/check.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/engine/launcher.h"
#include "cuda/segments/job.h"
#include "cuda/segments/kernels.cuh"
#include "cuda/segments/segmented.cuh"
#include "cuda/segments/short.cuh"

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
  params.verdict = job.error;
  params.whole = plan.whole;
  params.bounds = job.slice<uint32_t>(plan.bounds);
  auto *counts = job.slice<unsigned long long>(plan.list_counts);
  params.list_counts = counts;
  params.any_short = reinterpret_cast<uint32_t *>(counts + 3);
  params.error = plan.whole ? job.error : reinterpret_cast<uint32_t *>(counts + 9);
  const uint64_t buckets = plan.buckets_max;
  params.small = {counts, job.slice<uint64_t>(plan.small_list), plan.small_max + buckets};
  params.middle = {counts + 4, job.slice<uint64_t>(plan.middle_list), plan.middle_max + buckets};
  params.medium = {counts + 1, job.slice<uint64_t>(plan.medium_list), plan.medium_max + buckets};
  if (plan.big) {
    params.big = {counts + 13, job.slice<uint64_t>(plan.big_list), plan.big_max + buckets};
    params.big_items_max = big_segment_items(sizeof(U));
  }
  if (!plan.merge) params.middle = params.medium;  // passes know no middle ones
  params.small_merges = params.small;
  params.middle_merges = params.middle;
  params.medium_merges = params.medium;
  if (plan.spread) {
    params.small_merges = {counts + 12, job.slice<uint64_t>(plan.small_merges_list), plan.small_max + buckets};
    params.middle_merges = {counts + 10, job.slice<uint64_t>(plan.middle_merges_list), plan.middle_max + buckets};
    params.medium_merges = {counts + 11, job.slice<uint64_t>(plan.medium_merges_list), plan.medium_max + buckets};
  }
  params.large = {counts + 2, job.slice<uint64_t>(plan.large_list), plan.large_max};
  params.radix = params.large;
  if (partitions(sizeof(U)) && plan.partition) {
    params.again = {counts + 5, job.slice<uint64_t>(plan.again_list), plan.parts_max};
    params.radix = {counts + 6, job.slice<uint64_t>(plan.radix_list), plan.parts_max};
    params.parts = job.slice<Part>(plan.parts);
    params.buckets_used = counts + 7;
    params.any_fill = reinterpret_cast<uint32_t *>(counts + 8);
    params.bucket_begins = job.slice<uint64_t>(plan.bucket_begins);
    params.bucket_counts = job.slice<unsigned long long>(plan.bucket_counts);
    params.bucket_room = job.slice<unsigned long long>(plan.bucket_room);
    params.bucket_starts = job.slice<U>(plan.bucket_starts);
  }
  params.large_tile_begins = job.slice<uint64_t>(plan.large_tile_begins);
  params.large_counts = job.slice<unsigned long long>(plan.large_counts);
  params.look_back = job.slice<uint64_t>(plan.look_back);
  params.tickets = job.slice<uint32_t>(plan.tickets);
  return params;
}

// The blocks of one cooperative launch: all of them are resident.
// Of a multiprocessor.
template <class Kernel>
uint32_t resident_blocks(Kernel *kernel, uint32_t threads, uint32_t shared_bytes) {
  int blocks = 0;
  cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), shared_bytes),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<uint32_t>(std::max(1, blocks));
}

template <class U>
void launch_short_segments(LaunchChain &chain, const Job &job, const Params<U> &params) {
  chain(short_segments_kernel<U>, "short_segments_kernel", job.plan.short_blocks, kBlockThreads, 0, params,
        job.plan.whole ? job.plan.short_blocks : static_cast<uint32_t>(job.plan.short_tiles), job.notice);
}

template <class U, class Shape>
void launch_block_segments(LaunchChain &chain, const Params<U> &params, const List &list, uint32_t blocks) {
  if (list.capacity == 0) return;
  constexpr uint32_t kSharedBytes = sizeof(BlockSortStorage<U, Shape>);
  static_assert(kSharedBytes <= 65536, "a block must fit an SM of sm_75");
  chain(block_segments_kernel<U, Shape>, "block_segments_kernel", blocks, Shape::kThreads, kSharedBytes, params, list);
}

template <class U, class Shape, uint32_t kBlocks>
void launch_spread_segments(LaunchChain &chain, const Params<U> &params, const List &list, const List &crowded,
                            uint32_t blocks) {
  if (list.capacity == 0) return;
  constexpr uint32_t kSharedBytes = sizeof(SpreadStorage<U, Shape>);
  static_assert(kSharedBytes <= kLargeSharedBytes, "a plan spreads where so much fits");
  chain(spread_segments_kernel<U, Shape, kBlocks>, "spread_segments_kernel", blocks, Shape::kThreads, kSharedBytes,
        params, list, crowded);
}

template <class U>
struct TilesKernel {
  const char *name;
  void (*kernel)(Params<U>);
  uint64_t tiles_max;
};

// A kernel whose blocks take the tiles of large segments and wait for each other: as many as are resident on so many
// multiprocessors, or as many as fit: any number does the work. The call must not be planned anew where fewer fit: in
// place the partition's keys lie nowhere but in scratch memory until the second such kernel has ended. Returns how many
// multiprocessors it takes.
template <class U>
uint32_t launch_tiles(const LaunchContext &context, const Params<U> &params, Grid grid, const TilesKernel<U> &tiles,
                      uint32_t multiprocessors) {
  allow_shared_bytes(tiles.kernel, grid.shared_bytes);  // before the question how many are resident
  const uint32_t each = resident_blocks(tiles.kernel, grid.threads, grid.shared_bytes);
  grid.blocks = static_cast<uint32_t>(std::min(tiles.tiles_max, uint64_t{each} * multiprocessors));
  grid.together = Together::kGrid;
  for (;; grid.blocks /= 2) {
    try {
      launch_kernel(context, tiles.name, grid, tiles.kernel, params);
      return (grid.blocks + each - 1) / each;
    } catch (const LaunchDoesNotFit &error) {
      if (grid.blocks == 1) throw Error(error.status(), "%s", error.text());
      context.control->log("%s; %u blocks instead of %u", error.text(), grid.blocks / 2, grid.blocks);
    }
  }
}

// Returns how many multiprocessors the next such kernel may take: as many as the first was seen to have.
template <class U>
uint32_t launch_partition(const LaunchContext &context, const Job &job, const Params<U> &params) {
  if constexpr (partitions(sizeof(U))) {
    using Shape = PartitionShape;
    constexpr uint32_t kSharedBytes = sizeof(PartitionStorage<U, Shape>);
    static_assert(kSharedBytes <= kLargeSharedBytes, "a plan partitions where so much fits");
    if (job.plan.partition)
      return launch_tiles(
          context, params, {0, Shape::kThreads, kSharedBytes},
          {"partition_segments_kernel", partition_segments_kernel<U, Shape>, job.plan.partition_tiles_max},
          context.device->multiprocessors);
  }
  return context.device->multiprocessors;
}

// Small, middle and medium ones, each by warps of a block.
template <class U>
void launch_middle_segments(LaunchChain &chain, const Job &job, const Params<U> &params) {
  const Plan &plan = job.plan;
  if (plan.small_max == 0) return;
  if constexpr (spreads(sizeof(U))) {
    if (plan.spread) {
      launch_spread_segments<U, SpreadSmall, 8>(chain, params, params.small, params.small_merges, plan.small_blocks);
      launch_spread_segments<U, SpreadMiddle, 4>(chain, params, params.middle, params.middle_merges,
                                                 plan.middle_blocks);
      launch_spread_segments<U, SpreadMedium, 2>(chain, params, params.medium, params.medium_merges,
                                                 plan.medium_blocks);
    }
  }
  if constexpr (merges(sizeof(U))) {
    if (plan.big)
      chain(merge_big_segments_kernel<U>, "merge_big_segments_kernel", plan.big_blocks, kBigWarps * 32,
            kBigSharedBytes<U>, params);
    if (plan.merge)
      return chain(merge_segments_kernel<U>, "merge_segments_kernel", plan.merge_blocks, kMergeWarps * 32,
                   kMergeSharedBytes<U>, params);
  }
  if constexpr (sizeof(U) == 1) {
    chain(count_segments_kernel, "count_segments_kernel", plan.count_blocks, kCountWarps * 32, 0, params);
  }
  if constexpr (sizeof(U) == 2) {
    launch_block_segments<U, SmallSegmentTile>(chain, params, params.small, plan.small_blocks);
    launch_block_segments<U, MediumSegmentTile>(chain, params, params.medium, plan.medium_blocks);
  }
}

template <class U>
void launch_large_segments(const LaunchContext &context, const Job &job, const Params<U> &params,
                           uint32_t multiprocessors) {
  using Shape = SegmentPassTile<sizeof(U)>;
  constexpr uint32_t kSharedBytes = sizeof(PassStorage<U, NoValue, Shape>);
  static_assert(kSharedBytes >= digits_of(sizeof(U)) * kDigitBins * 4, "the counters of all digits lie there, too");
  if (job.plan.large_max == 0) return;
  launch_tiles(context, params, {0, Shape::kThreads, kSharedBytes},
               {"large_segments_kernel", large_segments_kernel<U, Shape>, job.plan.large_tiles_max}, multiprocessors);
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
  LaunchChain chain = {context, true};
  if (!job.plan.whole) {
    cuda_check(cudaMemsetAsync(job.workspace, 0, job.plan.zero_bytes, context.stream), "cudaMemsetAsync(counters)");
    chain(check_segments_kernel<U>, "check_segments_kernel", job.plan.check_blocks, kBlockThreads, 0, params);
  }
  launch_short_segments<U>(chain, job, params);
  const uint32_t multiprocessors = launch_partition<U>(context, job, params);
  launch_middle_segments(chain, job, params);
  launch_large_segments<U>(context, job, params, multiprocessors);
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_WIDTH_CUH_
