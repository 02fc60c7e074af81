// SPDX-License-Identifier: MIT OR Apache-2.0
// The host side of the sorts of short inputs of one key width: in one block, and by a team of blocks.
#ifndef GSORT_CUDA_SORT_SMALL_SMALL_WIDTH_CUH_
#define GSORT_CUDA_SORT_SMALL_SMALL_WIDTH_CUH_

#include <ctime>

#include <cstdint>

#include "cuda/engine/check.h"
#include "cuda/engine/shared_bytes.h"
#include "cuda/sort/job.h"
#include "cuda/sort/small/rank_sort.cuh"
#include "cuda/sort/small/small_sort.cuh"
#include "cuda/sort/small/team_sort.cuh"

namespace gsort_internal {

template <class U>
SmallParams<U> small_params(const sort::Job &job) {
  SmallParams<U> params{};
  params.keys_in = static_cast<const U *>(job.keys_in);
  params.n = static_cast<uint32_t>(job.request->n);
  params.codec = make_codec<U>(job.request->order);
  params.keys_out = static_cast<U *>(job.keys_wanted ? job.keys_x : nullptr);
  params.indices = job.small_indices;
  params.ranks = job.small_ranks;
  params.wide = job.small_wide;
  params.values_in = job.small_values_in;
  params.values_out = job.small_values_out;
  params.value_bytes = job.request->value_bytes;
  params.value_unit_bytes = job.value_unit_bytes;
  return params;
}

template <class U>
void launch_rank_sort(const LaunchContext &context, const sort::Job &job) {
  rank_sort_kernel<U><<<1, kRankSortThreads, 0, context.stream>>>(small_params<U>(job));
  check_launch("rank_sort_kernel");
}

template <class U, bool kSources, bool kLong>
void launch_small_shape(const LaunchContext &context, const SmallParams<U> &params) {
  using Item = typename SmallItem<U, kSources>::Item;
  constexpr uint32_t kRows = small_sort_rows(sizeof(Item)) * (kLong ? 2 : 1);
  using Shape = TileSortShape<SmallItem<U, kSources>, kSmallSortThreads, kRows,
                              kLong ? kLongBlockBins : small_sort_bins(sizeof(Item))>;
  constexpr uint32_t kSharedBytes = sizeof(TileSortStorage<Shape>);
  static_assert(sizeof(Item) == small_item_bytes(sizeof(U), kSources), "the plan counts with this size");
  static_assert(kSharedBytes <= (kLong ? kLongBlockSharedBytes : 64 * 1024), "a block must fit an SM of sm_75");
  allow_shared_bytes(small_sort_kernel<U, Shape, kSources>, kSharedBytes);
  small_sort_kernel<U, Shape, kSources><<<1, kSmallSortThreads, kSharedBytes, context.stream>>>(params);
  check_launch("small_sort_kernel");
}

template <class U, bool kSources>
void launch_small_sources(const LaunchContext &context, const SmallParams<U> &params) {
  if (params.n <= small_sort_items(small_item_bytes(sizeof(U), kSources)))
    launch_small_shape<U, kSources, false>(context, params);
  else
    launch_small_shape<U, kSources, true>(context, params);
}

template <class U>
void launch_small(const LaunchContext &context, const sort::Job &job) {
  const SmallParams<U> params = small_params<U>(job);
  if (job.request->operation != Operation::kSort)
    launch_small_sources<U, true>(context, params);
  else
    launch_small_sources<U, false>(context, params);
}

// So that no input can be made against the sample. It decides how long a sort takes, never what it returns.
inline uint32_t team_seed() {
  std::timespec now = {};
  (void)std::timespec_get(&now, TIME_UTC);
  return static_cast<uint32_t>(now.tv_nsec) * 0x9e3779b9u ^ static_cast<uint32_t>(now.tv_sec);
}

template <class U, bool kSources>
void launch_team_shape(const LaunchContext &context, const sort::Job &job) {
  using Shape = TeamShape<U, kSources>;
  constexpr uint32_t kSharedBytes = sizeof(TeamStorage<Shape>);
  static_assert(kSharedBytes <= kTeamSharedBytesMin, "the plan counts with this size");
  const TeamPlan &plan = job.plan.grid;
  TeamParams<U> params{};
  params.small = small_params<U>(job);
  params.staged = job.slice<void>(job.plan.slices.grid_staged);
  params.spare = job.slice<void>(job.plan.slices.grid_spare);
  params.starts = job.slice<uint32_t>(job.plan.slices.grid_starts);
  params.share = plan.share;
  params.samples = plan.samples;
  params.sampled = job.plan.sampled_items != 0 ? job.plan.sampled_items : params.small.n;
  params.seed = team_seed();
  allow_shared_bytes(team_sort_kernel<U, Shape>, kSharedBytes);
  void *arguments[] = {&params};
  cuda_check(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(&team_sort_kernel<U, Shape>), dim3(plan.blocks),
                                         dim3(kTeamThreads), arguments, kSharedBytes, context.stream),
             "team_sort_kernel");
}

template <class U>
void launch_team(const LaunchContext &context, const sort::Job &job) {
  if constexpr (sizeof(U) >= 4) {
    if (job.request->operation != Operation::kSort)
      launch_team_shape<U, true>(context, job);
    else
      launch_team_shape<U, false>(context, job);
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_SMALL_SMALL_WIDTH_CUH_
