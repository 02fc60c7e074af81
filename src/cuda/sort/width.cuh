// SPDX-License-Identifier: MIT OR Apache-2.0
// The host side of all sorts of one key width; launch_<width>.cu instantiate it, so that they compile side by
// side.
#ifndef GSORT_CUDA_SORT_WIDTH_CUH_
#define GSORT_CUDA_SORT_WIDTH_CUH_

#include <algorithm>
#include <cstdint>

#include "cuda/engine/check.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/engine/launcher.h"
#include "cuda/sort/fast_path/count_fill.cuh"
#include "cuda/sort/fast_path/fast_path.h"
#include "cuda/sort/job.h"
#include "cuda/sort/lsd/dense_keys.cuh"
#include "cuda/sort/lsd/grid_radix_sort.cuh"
#include "cuda/sort/lsd/histogram.cuh"
#include "cuda/sort/lsd/radix_pass.cuh"
#include "cuda/sort/msd/msd.h"
#include "cuda/sort/msd/stable.h"
#include "cuda/sort/sample_sort/sample_sort.h"
#include "cuda/sort/sample_sort/stable_sample_sort.h"
#include "cuda/sort/small/width.cuh"

namespace gsort_internal::sort {

static_assert(sizeof(lsd::PassAction) == lsd::kPassActionBytes, "the layout counts with this size");

// What a radix sort by passes works on; companions of the keys are in the job.
template <class U>
lsd::HistogramParams<U> histogram_params(const Job &job) {
  lsd::HistogramParams<U> params{};
  params.keys = static_cast<const U *>(job.keys_in);
  params.n = job.request->n;
  params.codec = make_codec<U>(job.request->order);
  params.counts = job.slice<unsigned long long>(job.plan.slices.counts);
  params.blocks_done = job.slice<uint32_t>(job.plan.slices.blocks_done);
  params.bases = job.slice<uint64_t>(job.plan.slices.bases);
  params.actions = job.slice<lsd::PassAction>(job.plan.slices.actions);
  params.slots = job.slots();
  params.aliased = job.aliased();
  params.keys_wanted = job.keys_wanted;
  params.values_as_sorted = job.plan.inverts_order;
  if (job.plan.dense_passes_min != 0)
    params.dense = {job.slice<lsd::DenseCodes>(job.plan.slices.dense_codes), job.plan.dense_passes_min,
                    job.request->operation == Operation::kSortPairs && job.values_in == job.values_x};
  return params;
}

// Blocks that count n items, so many at once; a block's share must fit its 32-bit counters.
inline uint32_t counting_blocks(const LaunchChain &chain, uint64_t n, uint64_t items_at_once, uint32_t shared_bytes) {
  const uint64_t blocks_per_sm = shared_bytes > 64 * 1024 ? 1 : 2;
  const uint64_t wanted = std::min<uint64_t>((n + items_at_once - 1) / items_at_once,
                                             blocks_per_sm * chain.context.device->multiprocessors);
  return static_cast<uint32_t>(std::max<uint64_t>(wanted, n >> 30));
}

template <class U, uint32_t kCopies>
void launch_histogram_copies(LaunchChain &chain, const lsd::HistogramParams<U> &params) {
  constexpr uint32_t kSharedBytes = lsd::HistogramShape<U, kCopies>::kSharedBytes;
  constexpr uint64_t kItemsAtOnce = uint64_t{lsd::kHistogramThreads} * lsd::kHistogramVectors * 16 / sizeof(U);
  const uint32_t grid = counting_blocks(chain, params.n, kItemsAtOnce, kSharedBytes);
  chain(lsd::histogram_kernel<U, kCopies>, "histogram_kernel", grid, lsd::kHistogramThreads, kSharedBytes, params);
}

template <class U, uint32_t kCopies>
void launch_dense_keys_copies(LaunchChain &chain, const lsd::DenseParams<U> &params) {
  constexpr uint32_t kSharedBytes = sizeof(lsd::DenseStorage<kCopies>);
  constexpr uint64_t kItemsAtOnce = uint64_t{lsd::kDenseThreads} * lsd::kDenseKeysEach;
  const uint32_t grid = counting_blocks(chain, params.histogram.n, kItemsAtOnce, kSharedBytes);
  chain(lsd::dense_keys_kernel<U, kCopies>, "dense_keys_kernel", grid, lsd::kDenseThreads, kSharedBytes, params);
}

template <class U>
void launch_histogram(LaunchChain &chain, const Job &job, const lsd::HistogramParams<U> &params) {
  constexpr uint32_t kMany = lsd::histogram_copies_many(sizeof(U)), kFew = lsd::histogram_copies_few(sizeof(U));
  if (job.plan.lsd.histogram_copies == kMany) {
    launch_histogram_copies<U, kMany>(chain, params);
  } else {
    launch_histogram_copies<U, kFew>(chain, params);
  }
}

template <class U>
void put_arrays(const Job &job, lsd::Arrays<U> &arrays) {
  arrays.keys[0] = static_cast<U *>(const_cast<void *>(job.keys_in));  // read only
  arrays.keys[1] = static_cast<U *>(job.keys_x);
  arrays.keys[2] = static_cast<U *>(job.keys_y);
  arrays.values[0] = const_cast<void *>(job.values_in);  // read only
  arrays.values[1] = job.values_x;
  arrays.values[2] = job.values_y;
  arrays.keys[lsd::kDirectArray] = arrays.keys[1];
  arrays.values[lsd::kDirectArray] = job.direct_out;
}

// Behind the histogram, which chooses whether dense keys are made.
template <class U>
void launch_dense_keys(LaunchChain &chain, const Job &job, const lsd::HistogramParams<U> &histogram) {
  lsd::DenseParams<U> params{};
  put_arrays<U>(job, params);
  params.histogram = histogram;
  if (chain.context.device->shared_bytes_block_max >= lsd::kDenseManyBytes)
    return launch_dense_keys_copies<U, lsd::kDenseCopiesMany>(chain, params);
  launch_dense_keys_copies<U, lsd::kDenseCopiesFew>(chain, params);
}

// Behind the passes.
template <class U>
void launch_restore_keys(LaunchChain &chain, const Job &job, const lsd::HistogramParams<U> &histogram) {
  const lsd::RestoreParams<U> params{static_cast<U *>(job.keys_x), histogram.n, histogram.codec, histogram.dense.codes,
                                     histogram.sorted};
  constexpr uint64_t kItemsAtOnce = uint64_t{lsd::kRestoreThreads} * lsd::kRestoreKeysEach;
  const uint64_t blocks = std::min<uint64_t>((params.n + kItemsAtOnce - 1) / kItemsAtOnce,
                                             uint64_t{8} * chain.context.device->multiprocessors);
  chain(lsd::restore_keys_kernel<U>, "restore_keys_kernel", static_cast<uint32_t>(blocks), lsd::kRestoreThreads, 0,
        params);
}

template <class U>
lsd::PassParams<U> pass_params(const Job &job) {
  lsd::PassParams<U> params{};
  put_arrays<U>(job, params);
  params.codec = make_codec<U>(job.request->order);
  params.values_are_indices = job.values_are_indices;
  params.final_values = job.direct_values;
  return params;
}

template <class U, class V, class Shape>
void launch_passes_shape(LaunchChain &chain, const Job &job) {
  constexpr uint32_t kSharedBytes = sizeof(lsd::PassStorage<U, V, Shape>);
  const lsd::Plan &plan = job.plan.lsd;
  const uint32_t multiprocessors = chain.context.device->multiprocessors;
  lsd::PassParams<U> params = pass_params<U>(job);
  params.ahead = multiprocessors;
  params.stays = lsd::kPassMayStay<V> && job.plan.algorithm == Algorithm::kMsd;
  for (uint32_t slot = 0; slot < job.slots(); ++slot) {
    params.action = job.slice<lsd::PassAction>(job.plan.slices.actions) + slot;
    params.bases = job.slice<uint64_t>(job.plan.slices.bases) + uint64_t{slot} * 2 * kDigitBins;
    params.shift = slot * kDigitBits;
    for (uint64_t portion = 0; portion < plan.portions; ++portion) {
      params.begin = portion * plan.portion_items;
      params.items = std::min(plan.portion_items, job.request->n - params.begin);
      params.base_parity = static_cast<uint32_t>(portion % 2);
      params.look_back = job.slice<uint32_t>(job.plan.slices.look_back) + params.begin / Shape::kItems * kDigitBins;
      params.group_counts = nullptr;
      if (plan.groups != 0)
        params.group_counts =
            job.slice<uint32_t>(job.plan.slices.look_back_groups) + uint64_t{slot} * plan.groups * kDigitBins;
      params.next_tile = job.slice<uint32_t>(job.plan.slices.tickets) + slot * plan.portions + portion;
      params.tiles = static_cast<uint32_t>((params.items + Shape::kItems - 1) / Shape::kItems);
      const uint32_t blocks = params.stays ? std::min(params.tiles, 2 * multiprocessors) : params.tiles;
      chain(lsd::radix_pass_kernel<U, V, Shape>, "radix_pass_kernel", blocks, Shape::kThreads, kSharedBytes, params);
    }
  }
}

template <class U, class V>
void launch_passes(LaunchChain &chain, const Job &job) {
  constexpr uint32_t kWideBytes = lsd::wide_bytes(sizeof(U), std::is_same<V, lsd::NoValue>::value ? 0 : sizeof(V));
  if (job.plan.lsd.small_tiles) {
    launch_passes_shape<U, V, lsd::SmallTile<kWideBytes>>(chain, job);
  } else {
    if constexpr (sizeof(U) == 4 && std::is_same<V, lsd::NoValue>::value)
      if (job.plan.lsd.tile_items == lsd::MiddleTile::kItems)
        return launch_passes_shape<U, V, lsd::MiddleTile>(chain, job);
    launch_passes_shape<U, V, lsd::LargeTile<kWideBytes>>(chain, job);
  }
}

// Of a sort by passes of a grid that looks for cells first; no places: it does not.
template <class U>
msd::FoundCells<U> found_cells(const Job &job) {
  if (!job.plan.grid_finds_cells) return {};
  msd::TableSlices slices(job.slice<void>(job.plan.slices.grid_cells));
  return msd::make_found_cells<U>(slices);
}

template <class U, class V, uint32_t kRows>
void launch_grid_radix_rows(const LaunchContext &context, const Job &job) {
  constexpr uint32_t kSharedBytes = sizeof(lsd::GridStorage<U, V, kRows>);
  static_assert(kSharedBytes <= lsd::kGridSharedBytes, "the plan counts with this size");
  lsd::GridParams<U> params{};
  put_arrays<U>(job, params);
  params.codec = make_codec<U>(job.request->order);
  params.n = static_cast<uint32_t>(job.request->n);
  params.rows = job.plan.grid_radix.rows;
  params.counts = job.slice<uint32_t>(job.plan.slices.grid_counts);
  params.group_counts = job.slice<uint32_t>(job.plan.slices.grid_group_counts);
  params.varying = job.slice<uint64_t>(job.plan.slices.grid_varying);
  params.cells = found_cells<U>(job);
  params.leaves_uneven = job.plan.algorithm == Algorithm::kSampleSort;
  params.values_are_indices = job.values_are_indices;
  params.keys_wanted = job.keys_wanted;
  params.final_values = job.final_values;
  Grid grid = {job.plan.grid_radix.blocks, lsd::kGridThreads, kSharedBytes};
  grid.together = Together::kGrid;
  launch_kernel(context, "grid_radix_sort_kernel", grid, lsd::grid_radix_sort_kernel<U, V, kRows>, params);
}

template <class U, class V>
void launch_grid_radix_carry(const LaunchContext &context, const Job &job) {
  if constexpr (lsd::grid_rows_max(sizeof(U), std::is_same<V, lsd::NoValue>::value) > lsd::kGridRows) {
    if (job.plan.grid_radix.rows > lsd::kGridRows)
      return launch_grid_radix_rows<U, V, lsd::kLongGridRows>(context, job);
  }
  launch_grid_radix_rows<U, V, lsd::kGridRows>(context, job);
}

template <class U>
void launch_grid_radix_sort(const LaunchContext &context, const Job &job) {
  switch (carry_bytes(job.plan.carry)) {
    case 0:
      return launch_grid_radix_carry<U, lsd::NoValue>(context, job);
    case 4:
      return launch_grid_radix_carry<U, uint32_t>(context, job);
    default:
      return launch_grid_radix_carry<U, uint64_t>(context, job);
  }
}

template <class U>
void launch_passes_carrying(LaunchChain &chain, const Job &job) {
  switch (carry_bytes(job.plan.carry)) {
    case 0:
      if constexpr (passes_apply(sizeof(U), true)) launch_passes<U, lsd::NoValue>(chain, job);
      return;
    case 4:
      return launch_passes<U, uint32_t>(chain, job);
    default:
      return launch_passes<U, uint64_t>(chain, job);
  }
}

// Behind fast_path::launch_clear() of the job's counters, or a kernel chained to it. sorted: NULL, or a device word
// that one of them has written: not 0 = nothing is left to do.
template <class U>
void launch_lsd(const LaunchContext &context, const Job &job, const uint32_t *sorted) {
  LaunchChain chain = {context, false};
  lsd::HistogramParams<U> histogram = histogram_params<U>(job);
  histogram.sorted = sorted;
  launch_histogram(chain, job, histogram);
  if constexpr (sizeof(U) == lsd::kDenseBytes)
    if (job.plan.dense_passes_min != 0) launch_dense_keys(chain, job, histogram);
  launch_passes_carrying<U>(chain, job);
  if constexpr (sizeof(U) == lsd::kDenseBytes)
    if (job.plan.dense_passes_min != 0 && job.keys_wanted) launch_restore_keys(chain, job, histogram);
}

template <class U>
void launch_fill(const LaunchContext &context, const Job &job, const uint64_t *bases, uint32_t bins) {
  constexpr uint64_t kPerBlock = uint64_t{fast_path::kFillThreads} * fast_path::kFillVectors * 16 / sizeof(U);
  const fast_path::FillParams<U> params{static_cast<U *>(job.keys_x), job.request->n, make_codec<U>(job.request->order),
                                        bases, bins};
  const uint64_t most = params.n + 16 / sizeof(U);  // with what lies before the array in its first 16 bytes
  const auto blocks = static_cast<uint32_t>((most + kPerBlock - 1) / kPerBlock);
  launch_kernel(context, "fill_kernel", {blocks, fast_path::kFillThreads}, fast_path::fill_kernel<U>, params);
}

template <class U>
void launch_count_values(const LaunchContext &context, const Job &job, uint64_t *bases) {
  fast_path::CountParams params{};
  params.keys = static_cast<const uint16_t *>(job.keys_in);
  params.n = job.request->n;
  params.codec = make_codec<U>(job.request->order);
  params.counts = job.slice<unsigned long long>(job.plan.slices.fill_counts);
  params.bases = bases;
  params.blocks_done = job.slice<uint32_t>(job.plan.slices.fill_blocks_done);
  cuda_check(
      cudaMemsetAsync(params.counts, 0, job.plan.slices.fill_bases - job.plan.slices.fill_counts, context.stream),
      "cudaMemsetAsync(counters)");
  // A block's share, that of half the grid, must fit its 32-bit counters.
  const uint64_t blocks = std::max<uint64_t>(context.device->multiprocessors, params.n >> 29) / 2 * 2;
  const Grid grid = {static_cast<uint32_t>(std::max<uint64_t>(blocks, 2)), fast_path::kCountThreads,
                     fast_path::kCountFillSharedBytes};
  launch_kernel(context, "count_values_kernel", grid, fast_path::count_values_kernel<U>, params);
}

template <class U>
void launch_count_fill(const LaunchContext &context, const Job &job) {
  if constexpr (sizeof(U) == 1) {
    cuda_check(cudaMemsetAsync(job.workspace, 0, job.plan.slices.look_back, context.stream),
               "cudaMemsetAsync(counters)");
    const lsd::HistogramParams<U> params = histogram_params<U>(job);
    LaunchChain chain = {context, true};
    launch_histogram(chain, job, params);
    launch_fill<U>(context, job, params.bases, kDigitBins);
  } else if constexpr (sizeof(U) == 2) {
    auto *bases = job.slice<uint64_t>(job.plan.slices.fill_bases);
    launch_count_values<U>(context, job, bases);
    launch_fill<U>(context, job, bases, fast_path::kCountFillBins);
  }
}

// Enqueues the fast path. Returns the device word that says whether everything is sorted, by it or before; NULL: the
// plan does not try it, and nothing is.
template <class U>
const uint32_t *launch_fast_path_first(const LaunchContext &context, const Job &job) {
  if constexpr (sizeof(U) >= 4) {
    if (!job.plan.tries_fast_path) return job.done;
    const Operation operation = job.request->operation;
    fast_path::Arrays<U> arrays{};
    arrays.keys_in = static_cast<const U *>(job.keys_in);
    arrays.keys_out = static_cast<U *>(job.keys_wanted ? job.keys_x : nullptr);
    arrays.n = job.request->n;
    arrays.codec = make_codec<U>(job.request->order);
    if (operation != Operation::kSort) {
      const bool indices = operation != Operation::kSortPairs;
      arrays.values_in = job.values_are_indices ? nullptr : job.values_in;
      arrays.values_out = job.direct_out;
      arrays.ranks = operation == Operation::kRank;
      arrays.value_bytes = indices ? dtype_bytes(job.request->index_t) : carry_bytes(job.plan.carry);
      arrays.numbers = static_cast<U *>(job.keys_y);
      arrays.digit_bases = job.slice<uint64_t>(job.plan.slices.bases);
      arrays.actions = job.slice<lsd::PassAction>(job.plan.slices.actions);
    }
    arrays.state = job.slice<void>(job.plan.slices.fast_path_state);
    arrays.counts = job.slice<uint32_t>(job.plan.slices.fast_path_counts);
    arrays.bases = job.slice<uint32_t>(job.plan.slices.fast_path_bases);
    arrays.sorted = job.done;
    arrays.after_clearing = true;
    return fast_path::launch<U>(context, job.plan.fast_path, arrays);
  } else {
    return nullptr;
  }
}

// Enqueues the MSD sort. `done`: device word, not 0 where the keys are sorted already, or NULL. Returns the device word
// that says whether they are sorted then.
template <class U>
const uint32_t *launch_msd_first(const LaunchContext &context, const Job &job, const uint32_t *done) {
  if constexpr (sizeof(U) >= 4) {
    msd::Sort<U> sort{};
    sort.keys_in = static_cast<const U *>(job.keys_in);
    sort.keys_out = static_cast<U *>(job.keys_x);
    sort.scratch = job.slice<U>(job.plan.slices.keys_y);
    sort.n = job.request->n;
    sort.codec = make_codec<U>(job.request->order);
    sort.tables = job.slice<void>(job.plan.slices.msd_tables);
    sort.done = done;
    sort.plan = job.plan.msd;
    sort.split = job.plan.split;
    sort.cleared = counters_to_clear(job);
    sort.chained = sort.cleared.vectors == 0;
    return msd::launch<U>(context, sort);
  } else {
    return nullptr;
  }
}

// The same for the stable MSD sort.
template <class U>
const uint32_t *launch_stable_first(const LaunchContext &context, const Job &job, const uint32_t *done) {
  if constexpr (sizeof(U) >= 4) {
    return msd::launch_stable<U>(context, job, done);
  } else {
    return nullptr;
  }
}

// Enqueues a radix sort by a grid of keys that spread evenly, if they do. Returns the device word that says whether
// they are sorted then.
template <class U>
const uint32_t *launch_even_by_grid(const LaunchContext &context, const Job &job) {
  if constexpr (sizeof(U) >= 4) {
    launch_grid_radix_sort<U>(context, job);
    const msd::FoundCells<U> cells = found_cells<U>(job);
    msd::launch_finish<U>(context, cells, static_cast<U *>(job.keys_x), make_codec<U>(job.request->order));
    return &cells.state->sorted;
  } else {
    return nullptr;
  }
}

template <class U>
void launch_sample_sort(const LaunchContext &context, const Job &job) {
  if constexpr (sizeof(U) >= 4) {
    sample_sort::Sort<U> sort{};
    sort.keys_in = static_cast<const U *>(job.keys_in);
    sort.keys_out = static_cast<U *>(job.keys_x);
    sort.scratch = job.slice<U>(job.plan.slices.keys_y);
    sort.n = job.request->n;
    sort.codec = make_codec<U>(job.request->order);
    sort.tables = job.slice<void>(job.plan.slices.sample_sort_tables);
    sort.plan = job.plan.sample_sort;
    sort.sorted = job.done;
    if (job.done != nullptr) return sample_sort::launch<U>(context, sort);
    if (job.plan.even_first == EvenFirst::kGrid) sort.sorted = launch_even_by_grid<U>(context, job);
    if (job.plan.even_first == EvenFirst::kMsd) {
      sort.even = job.plan.msd;
      sort.even_tables = job.slice<void>(job.plan.slices.msd_tables);
    }
    sample_sort::launch<U>(context, sort);
  }
}

// Clears what the methods of the job count in, by a kernel, with which the next one may overlap.
inline void launch_clear_counters(const LaunchContext &context, const Job &job) {
  fast_path::launch_clear(context, job.workspace,
                          job.plan.tries_fast_path ? job.plan.slices.fast_path_zero_bytes : job.plan.slices.zero_bytes);
}

// Enqueues the stable sample sort. Returns the device word that says whether all is sorted then.
template <class U>
const uint32_t *launch_stable_sample_first(const LaunchContext &context, const Job &job) {
  if constexpr (sizeof(U) == 8) {
    return sample_sort::launch_stable(context, job);
  } else {
    return nullptr;
  }
}

template <class U>
const uint32_t *launch_width(const LaunchContext &context, const Job &job) {
  switch (job.plan.algorithm) {
    case Algorithm::kRankSort:
      small::launch_rank_sort<U>(context, job);
      return nullptr;
    case Algorithm::kSmallBlock:
      small::launch_block_sort<U>(context, job);
      return nullptr;
    case Algorithm::kGridSampleSort:
      small::launch_grid_sample_sort<U>(context, job);
      return nullptr;
    case Algorithm::kGridRadixSort:
      if (job.plan.grid_finds_cells) {
        launch_even_by_grid<U>(context, job);
      } else {
        launch_grid_radix_sort<U>(context, job);
      }
      return nullptr;
    case Algorithm::kSampleSort:
      launch_sample_sort<U>(context, job);
      return nullptr;
    case Algorithm::kCountFill:
      launch_count_fill<U>(context, job);
      return nullptr;
    case Algorithm::kMsd: {
      if (job.plan.tries_fast_path) launch_clear_counters(context, job);
      const uint32_t *const done = launch_fast_path_first<U>(context, job);
      launch_lsd<U>(context, job, launch_msd_first<U>(context, job, done));
      return done;
    }
    case Algorithm::kStable: {
      if (job.plan.tries_fast_path) launch_clear_counters(context, job);
      const uint32_t *const done = launch_fast_path_first<U>(context, job);
      launch_lsd<U>(context, job, launch_stable_first<U>(context, job, done));
      return done;
    }
    case Algorithm::kStableSampleSort:
      launch_lsd<U>(context, job, launch_stable_sample_first<U>(context, job));
      return nullptr;
    default: {
      launch_clear_counters(context, job);
      const uint32_t *const done = launch_fast_path_first<U>(context, job);
      launch_lsd<U>(context, job, done);
      return done;
    }
  }
}

}  // namespace gsort_internal::sort

#endif  // GSORT_CUDA_SORT_WIDTH_CUH_
