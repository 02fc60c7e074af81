// SPDX-License-Identifier: MIT OR Apache-2.0
// The host side of the sorts of short inputs of one key width: in one block, and by the blocks of a grid.
#ifndef GSORT_CUDA_SORT_SMALL_WIDTH_CUH_
#define GSORT_CUDA_SORT_SMALL_WIDTH_CUH_

#include <ctime>

#include <cstdint>

#include "cuda/engine/launcher.h"
#include "cuda/sort/job.h"
#include "cuda/sort/small/block_sort.cuh"
#include "cuda/sort/small/count_sort.cuh"
#include "cuda/sort/small/digit_sort.cuh"
#include "cuda/sort/small/grid_sample_sort.cuh"
#include "cuda/sort/small/rank_sort.cuh"
#include "cuda/sort/small/value_sort.cuh"

namespace gsort_internal::sort::small {

template <class U>
Params<U> params_of(const sort::Job &job) {
  Params<U> params{};
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
  launch_kernel(context, "rank_sort_kernel", {1, kRankSortThreads}, rank_sort_kernel<U>, params_of<U>(job));
}

template <class U, bool kSources, bool kLong>
void launch_block_shape(const LaunchContext &context, const Params<U> &params) {
  using Item = typename ItemCodecOf<U, kSources>::Item;
  constexpr uint32_t kRows = block_rows(sizeof(Item)) * (kLong ? 2 : 1);
  using Shape =
      TileSortShape<ItemCodecOf<U, kSources>, kBlockThreads, kRows, kLong ? kLongBlockBins : block_bins(sizeof(Item))>;
  constexpr uint32_t kSharedBytes = sizeof(TileSortStorage<Shape>);
  static_assert(sizeof(Item) == bytes_of_item(sizeof(U), kSources), "the plan counts with this size");
  static_assert(kSharedBytes <= (kLong ? kLongBlockSharedBytes : 64 * 1024), "a block must fit an SM of sm_75");
  launch_kernel(context, "block_sort_kernel", {1, kBlockThreads, kSharedBytes}, block_sort_kernel<U, Shape, kSources>,
                params);
}

template <class U, bool kSources>
void launch_block_sources(const LaunchContext &context, const Params<U> &params) {
  if (params.n <= block_items(bytes_of_item(sizeof(U), kSources)))
    launch_block_shape<U, kSources, false>(context, params);
  else
    launch_block_shape<U, kSources, true>(context, params);
}

// Of keys of 2 bytes alone ValueShape, of others Shape.
template <class U, class Shape, class ValueShape>
void launch_narrow_shape(const LaunchContext &context, const Params<U> &params, bool sources) {
  if constexpr (sizeof(U) == 2) {
    constexpr uint32_t kSharedBytes = sizeof(ValueSortStorage<ValueShape>);
    static_assert(kSharedBytes <= 64 * 1024, "a block must fit an SM of sm_75");
    if (!sources)
      return launch_kernel(context, "value_sort_kernel", {1, ValueShape::kThreads, kSharedBytes},
                           value_sort_kernel<U, ValueShape>, params);
  }
  constexpr uint32_t kSharedBytes = sizeof(DigitSortStorage<Shape>);
  static_assert(kSharedBytes <= 64 * 1024, "a block must fit an SM of sm_75");
  launch_kernel(context, "digit_sort_kernel", {1, Shape::kThreads, kSharedBytes}, digit_sort_kernel<U, Shape>, params);
}

// Of keys of 1 and 2 bytes.
template <class U>
void launch_narrow_block_sort(const LaunchContext &context, const Params<U> &params, bool sources) {
  if constexpr (sizeof(U) == 1) {
    if (!sources)
      return launch_kernel(context, "count_sort_kernel", {1, kCountSortThreads},
                           count_sort_kernel<U, kCountSortThreads>, params);
  }
  if (params.n <= kNarrowItemsFew)
    launch_narrow_shape<U, TileShape<256, 4>, ValueSortShape<256, 4>>(context, params, sources);
  else if (params.n <= kNarrowItemsMany)
    launch_narrow_shape<U, TileShape<1024, 4>, ValueSortShape<1024, 4>>(context, params, sources);
  else
    launch_narrow_shape<U, TileShape<1024, 8>, ValueSortShape<1024, 8>>(context, params, sources);
}

template <class U>
void launch_block_sort(const LaunchContext &context, const sort::Job &job) {
  const Params<U> params = params_of<U>(job);
  const bool sources = job.request->operation != Operation::kSort;
  if constexpr (sizeof(U) <= 2)
    launch_narrow_block_sort<U>(context, params, sources);
  else if (sources)
    launch_block_sources<U, true>(context, params);
  else
    launch_block_sources<U, false>(context, params);
}

// So that no input can be made against the sample. It decides how long a sort takes, never what it returns.
inline uint32_t sample_seed() {
  std::timespec now = {};
  (void)std::timespec_get(&now, TIME_UTC);
  return static_cast<uint32_t>(now.tv_nsec) * 0x9e3779b9u ^ static_cast<uint32_t>(now.tv_sec);
}

template <class U, bool kSources, bool kLong>
void launch_grid_shape(const LaunchContext &context, const sort::Job &job) {
  using Shape = GridShape<U, kSources, kLong>;
  constexpr uint32_t kSharedBytes = sizeof(GridStorage<Shape>);
  static_assert(kSharedBytes <= Shape::kSharedBytes, "the plan counts with this size");
  const GridPlan &plan = job.plan.grid;
  GridParams<U> params{};
  params.arrays = params_of<U>(job);
  params.staged = job.slice<void>(job.plan.slices.grid_staged);
  params.spare = kSources ? job.slice<void>(job.plan.slices.grid_spare) : job.keys_x;
  params.starts = job.slice<uint32_t>(job.plan.slices.grid_starts);
  params.share = plan.share;
  params.samples = plan.samples;
  params.sampled = job.plan.sampled_items != 0 ? job.plan.sampled_items : params.arrays.n;
  params.seed = sample_seed();
  Grid grid = {plan.blocks, kGridThreads, kSharedBytes};
  grid.together = Together::kGrid;
  launch_kernel(context, "grid_sample_sort_kernel", grid, grid_sample_sort_kernel<U, Shape>, params);
}

template <class U, bool kSources>
void launch_grid_sources(const LaunchContext &context, const sort::Job &job) {
  if constexpr (sizeof(U) == 8 && !kSources) {
    if (job.plan.grid.is_long) return launch_grid_shape<U, kSources, true>(context, job);
  }
  launch_grid_shape<U, kSources, false>(context, job);
}

template <class U>
void launch_grid_sample_sort(const LaunchContext &context, const sort::Job &job) {
  if constexpr (sizeof(U) >= 4) {
    if (job.request->operation != Operation::kSort)
      launch_grid_sources<U, true>(context, job);
    else
      launch_grid_sources<U, false>(context, job);
  }
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_WIDTH_CUH_
