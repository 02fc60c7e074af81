// SPDX-License-Identifier: MIT OR Apache-2.0
// The host side of the stable MSD sort of one key width; launch_stable_<width>.cu instantiate it.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_WIDTH_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_WIDTH_CUH_

#include <algorithm>
#include <cstdint>

#include "cuda/engine/check.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/sort/msd/names.h"
#include "cuda/sort/msd/stable.h"
#include "cuda/sort/msd/stable_count.cuh"
#include "cuda/sort/msd/stable_finish.cuh"
#include "cuda/sort/msd/stable_pass.cuh"
#include "cuda/sort/msd/stable_rest.cuh"
#include "cuda/sort/msd/stable_split.cuh"

namespace gsort_internal::sort::msd {

static_assert(sizeof(StableState) <= kStableStateBytes, "the tables count with this size");

inline StableArguments stable_arguments(const Job &job, uint32_t tile_items) {
  const StablePlan &plan = job.plan.stable;
  const StableTables tables = stable_tables(plan, job.request->n);
  const uint64_t begin = job.plan.slices.msd_tables;
  return {job.slice<StableState>(begin + tables.state),
          job.slice<uint32_t>(begin + tables.cells),
          job.slice<uint32_t>(begin + tables.first_tile),
          job.slice<uint32_t>(begin + tables.map),
          job.slice<uint32_t>(begin + tables.weights),
          job.slice<TwoWords>(begin + tables.ranges),
          job.slice<uint64_t>(begin + tables.starts),
          job.slice<uint32_t>(begin + tables.bin_counts),
          job.slice<uint32_t>(begin + tables.cell_counts),
          job.slice<uint32_t>(begin + tables.first_chunk),
          job.slice<uint32_t>(begin + tables.counted_chunks),
          job.slice<uint32_t>(begin + tables.finished),
          job.slice<uint32_t>(begin + tables.large),
          job.slice<TwoWords>(begin + tables.pieces),
          job.slice<uint32_t>(job.plan.slices.look_back),
          plan,
          tile_items};
}

// Two blocks an SM, each with a chunk at least.
inline uint32_t count_blocks(const LaunchChain &launch, uint64_t n) {
  const uint64_t chunks = (n + kStableChunkItems - 1) / kStableChunkItems;
  return static_cast<uint32_t>(std::min(chunks, uint64_t{launch.context.device->multiprocessors} * 2));
}

template <class U>
void launch_stable_map(LaunchChain &launch, const Job &job, const StableArguments &arguments) {
  if (arguments.plan.mapped_cells == 0) return;
  constexpr uint64_t kKeys = uint64_t{kMapThreads} * kMapItems;
  const uint64_t n = job.request->n;
  const auto blocks = static_cast<uint32_t>(std::min(n / (kKeys * 8), uint64_t{share_blocks(n)}));
  launch(stable_map_kernel<U>, "stable_map_kernel", blocks, kMapThreads, kMapWeights / 2 * 4,
         static_cast<const U *>(job.keys_in), n, map_part(n, blocks), make_codec<U>(job.request->order), arguments);
}

template <class U>
void launch_stable_count(LaunchChain &launch, const Job &job, const uint32_t *done, const StableArguments &arguments) {
  const U *const keys = static_cast<const U *>(job.keys_in);
  const uint64_t n = job.request->n;
  const KeyCodec<U> codec = make_codec<U>(job.request->order);
  // Values that many pairs share crowd the finish's digits: the more pairs, the more values may.
  const Cleared cleared = sort::counters_to_clear(job);
  const uint64_t rows = (cleared.vectors + kStableCountThreads - 1) / kStableCountThreads;
  const uint32_t blocks_of_sample = 1 + static_cast<uint32_t>(std::min<uint64_t>(rows, 16));
  const auto launch_sample = [&](auto *kernel, uint32_t meeting_bits) {
    launch(kernel, "stable_sample_kernel", blocks_of_sample, kStableCountThreads, (1u << meeting_bits) / 8, keys, n,
           codec, done, cleared, arguments);
  };
  if (n <= kSmallSampleItemsMax)
    launch_sample(stable_sample_kernel<U, SmallSample>, SmallSample::kMeetingBits);
  else
    launch_sample(stable_sample_kernel<U, LargeSample>, LargeSample::kMeetingBits);
  if constexpr (stable_offers_map(sizeof(U))) launch_stable_map<U>(launch, job, arguments);
  const uint32_t counts_bytes = stable_counts_bytes(arguments.plan);
  const uint64_t blocks = uint64_t{launch.context.device->multiprocessors} * (counts_bytes <= 96u << 10 ? 2 : 1);
  const uint64_t tiles = n / (kStableCountThreads * kStableCountItems) + 1;
  launch(stable_histogram_kernel<U>, "stable_histogram_kernel", static_cast<uint32_t>(std::min(tiles, blocks)),
         kStableCountThreads, counts_bytes, keys, n, codec, arguments);
}

// Splitters of the bins of the first pass, and how many keys these have.
template <class U>
void launch_stable_split(LaunchChain &launch, const Job &job, const StableArguments &arguments) {
  const U *const keys = static_cast<const U *>(job.keys_in);
  const uint64_t n = job.request->n;
  const KeyCodec<U> codec = make_codec<U>(job.request->order);
  launch(stable_split_kernel<U>, "stable_split_kernel", 1, kStableCutThreads, arguments.plan.split_sample * 8, keys, n,
         codec, arguments);
  launch(stable_bins_kernel<U>, "stable_bins_kernel", count_blocks(launch, n), kStableCountThreads,
         static_cast<uint32_t>(sizeof(PartCountStorage)), keys, static_cast<uint32_t>(n), codec, arguments);
}

// Splitters of the cells in these bins, and how many keys these have. keys: behind the first pass.
template <class U>
void launch_stable_cuts(LaunchChain &launch, const U *keys, uint64_t n, const StableArguments &arguments) {
  launch(stable_cuts_kernel<U>, "stable_cuts_kernel", arguments.plan.split_bins, kStableCutThreads,
         kStableSplitSampleMax * 8, keys, arguments);
  launch(stable_cells_kernel<U>, "stable_cells_kernel", count_blocks(launch, n), kStableCountThreads,
         static_cast<uint32_t>(sizeof(PartCountStorage)), keys, arguments);
}

// Pairs go from the input to y and from there to x, their outputs, where cells are finished in place: an output that is
// its input is not written before everything has been read from it. Indices go to x, y, and come back to x from the
// finish, which may widen them or store ranks. kWay: of the keys that are
// served.
template <class U, class V, class Shape, StableWay kWay>
void launch_stable_moves(LaunchChain &launch, const Job &job, const StableArguments &arguments) {
  const bool pairs = job.keys_wanted;
  U *const keys_x = static_cast<U *>(job.keys_x), *const keys_y = static_cast<U *>(job.keys_y);
  StablePassParams<U> pass{};
  pass.keys_in = static_cast<const U *>(job.keys_in);
  pass.keys_out = pairs ? keys_y : keys_x;
  pass.values_in = job.values_in;
  pass.values_out = pairs ? job.values_y : job.values_x;
  pass.codec = make_codec<U>(job.request->order);
  pass.arguments = arguments;
  pass.n = static_cast<uint32_t>(job.request->n);
  pass.values_are_indices = job.values_are_indices;
  constexpr uint32_t kPassBytes = sizeof(StableStorage<U, V, Shape, kWay>);
  const uint32_t tiles = (pass.n + Shape::kItems - 1) / Shape::kItems;
  launch(stable_pass_kernel<U, V, Shape, kWay>, "stable_pass_kernel", tiles, Shape::kThreads, kPassBytes, pass);
  if constexpr (kWay == StableWay::kSplitters) launch_stable_cuts(launch, pass.keys_out, pass.n, arguments);
  pass.second = true;
  pass.keys_in = pass.keys_out;
  pass.keys_out = pairs ? keys_x : keys_y;
  pass.values_in = pass.values_out;
  pass.values_out = pairs ? job.values_x : job.values_y;
  // Every bin of the first pass may end in a part of a tile.
  launch(stable_pass_kernel<U, V, Shape, kWay>, "stable_pass_kernel", tiles + kStableBinsMax, Shape::kThreads,
         kPassBytes, pass);
}

// Cells of the pairs in keys_in and values_in are finished, so many at most. rest: they are between splitters.
template <class U, class V>
void launch_finish_kernels(LaunchChain &launch, const Job &job, const StableArguments &arguments, const void *keys_in,
                           const void *values_in, uint32_t cells, bool rest) {
  StableFinishParams<U> finish{};
  finish.keys_in = static_cast<const U *>(keys_in);
  finish.values_in = values_in;
  finish.keys_out = static_cast<U *>(job.keys_wanted ? job.keys_x : nullptr);
  finish.values_out = job.values_x;
  finish.codec = make_codec<U>(job.request->order);
  finish.final_values = job.final_values;
  finish.arguments = arguments;
  finish.ahead = launch.context.device->multiprocessors;
  const auto launch_cells = [&](auto shape) {
    using Shape = decltype(shape);
    launch(stable_finish_kernel<U, V, Shape>, "stable_finish_kernel", cells, Shape::kThreads,
           static_cast<uint32_t>(sizeof(StableFinishStorage<U, V, Shape>)), finish);
  };
  if constexpr (sizeof(U) == 4) {
    if (has_small_cells(arguments.plan)) return launch_cells(StableSmallShape{});
  }
  launch_cells(StableFinishShape<sizeof(U)>{});
  if constexpr (stable_offers_map(sizeof(U)))
    if (rest)
      launch(stable_rest_kernel<U, V>, "stable_rest_kernel", launch.context.device->multiprocessors,
             kStableLargeThreads, static_cast<uint32_t>(sizeof(StableLargeStorage<U, V>)), finish);
}

// Cells are finished where the passes have left them.
template <class U, class V>
void launch_stable_finish(LaunchChain &launch, const Job &job, const StableArguments &arguments) {
  const bool pairs = job.keys_wanted;
  const StablePlan &plan = arguments.plan;
  const uint32_t cells = std::max({1u << plan.cell_bits, plan.mapped_cells, plan.split_cells});
  launch_finish_kernels<U, V>(launch, job, arguments, pairs ? job.keys_x : job.keys_y,
                              pairs ? job.values_x : job.values_y, cells, plan.split_bins != 0);
}

template <class U, class V>
void launch_stable_values(LaunchChain &launch, const Job &job, const StableArguments &arguments) {
  constexpr uint32_t kWideBytes = wide_bytes(sizeof(U), sizeof(V));
  static_assert(sizeof(StableFinishStorage<U, V>) + 1024 <= kStableSharedBytesMin, "fits where the histogram fits");
  using Shape = LargeTile<kWideBytes>;
  // All but one of them find nothing to do.
  launch_stable_moves<U, V, Shape, StableWay::kEven>(launch, job, arguments);
  if constexpr (stable_offers_map(sizeof(U))) {
    if (arguments.plan.mapped_cells != 0) launch_stable_moves<U, V, Shape, StableWay::kMapped>(launch, job, arguments);
    if (arguments.plan.split_bins != 0) {
      launch_stable_split<U>(launch, job, arguments);
      launch_stable_moves<U, V, Shape, StableWay::kSplitters>(launch, job, arguments);
    }
  }
  launch_stable_finish<U, V>(launch, job, arguments);
}

template <class U>
const uint32_t *launch_stable(const LaunchContext &context, const Job &job, const uint32_t *done) {
  const uint32_t wide = wide_bytes(sizeof(U), sort::carry_bytes(job.plan.carry));
  const StableArguments arguments = stable_arguments(job, large_tile_items(wide));
  if (context.control->has_log())
    context.control->log(
        "stable MSD sort of %llu pairs: %u cells if their keys spread evenly, by %u + %u bits; %u if they spread "
        "smoothly, by a map; up to %u otherwise, by splitters (0: the LSD sort); cells finished on chip",
        static_cast<unsigned long long>(job.request->n), 1u << arguments.plan.cell_bits, arguments.plan.first_bits,
        arguments.plan.second_bits, arguments.plan.mapped_cells, arguments.plan.split_bins * kStableBinsMax);
  LaunchChain launch = {context, !job.plan.tries_fast_path};
  launch_stable_count<U>(launch, job, done, arguments);
  if (sort::carry_bytes(job.plan.carry) == 4) {
    launch_stable_values<U, uint32_t>(launch, job, arguments);
  } else {
    launch_stable_values<U, uint64_t>(launch, job, arguments);
  }
  return &arguments.state->sorted;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_WIDTH_CUH_
