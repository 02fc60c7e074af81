// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/engine/check.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/sort/msd/count.cuh"
#include "cuda/sort/msd/crowds.cuh"
#include "cuda/sort/msd/finish.cuh"
#include "cuda/sort/msd/frequent.cuh"
#include "cuda/sort/msd/msd.h"
#include "cuda/sort/msd/partition.cuh"
#include "cuda/sort/msd/split_count.cuh"
#include "cuda/sort/msd/split_finish.cuh"
#include "cuda/sort/msd/split_partition.cuh"
#include "cuda/sort/msd/split_sample.cuh"

namespace gsort_internal::sort::msd {
namespace {

static_assert(sizeof(SplitStorage<uint64_t>) <= kSharedBytesMin &&
                  sizeof(SplitFirstStorage<uint64_t>) <= kSharedBytesMin &&
                  sizeof(SplitTileStorage<uint64_t>) <= kSharedBytesMin &&
                  sizeof(SplitFinishStorage<uint64_t>) <= kSharedBytesMin &&
                  split_count_bytes<uint64_t>(plan_split(kItemsMax)) <= kSharedBytesMin,
              "a device that takes the sort takes all its kernels");

template <class U, class Sample>
void launch_sample(LaunchChain &launcher, const Sort<U> &sort, const Arguments<U> &arguments,
                   const SplitArguments<U> &split) {
  const uint64_t rows = std::max<uint64_t>(cells_max(arguments.plan), sort.cleared.vectors) / kSampleThreads + 1;
  const auto clearing = static_cast<uint32_t>(std::min<uint64_t>(rows, 16));
  launcher(msd_sample_kernel<U, Sample>, "msd_sample_kernel", 1 + clearing, kSampleThreads,
           (1u << Sample::kMeetingBits) / 8, sort.keys_in, sort.n, sort.codec, sort.done, sort.splitters_only,
           split.plan.sample != 0 ? &split.state->tickets : nullptr, sort.cleared, arguments);
}

template <class U>
void launch_look(LaunchChain &launcher, const Sort<U> &sort, const Arguments<U> &arguments,
                 const SplitArguments<U> &split) {
  if (sort.n <= kSmallSampleItemsMax)
    launch_sample<U, SmallSample>(launcher, sort, arguments, split);
  else
    launch_sample<U, LargeSample>(launcher, sort, arguments, split);
}

template <class U>
void launch_count(LaunchChain &launcher, const Sort<U> &sort, const Arguments<U> &arguments) {
  if (arguments.plan.mapped_cells != 0) {
    constexpr uint32_t kKeys = kMapThreads * kMapItems;
    const uint64_t by_keys = sort.n / (uint64_t{kKeys} * 8);
    const uint32_t most = sizeof(U) == 4 ? share_blocks(sort.n) : kMapBlocksMax;
    const uint32_t blocks = by_keys < most ? static_cast<uint32_t>(by_keys) : most;
    const bool frequent = sizeof(U) == 4 && arguments.plan.takes_frequent;
    launcher(msd_map_kernel<U>, "msd_map_kernel", blocks + (frequent ? 1 : 0), kMapThreads,
             frequent ? static_cast<uint32_t>(sizeof(FrequentStorage)) : map_bytes<U>(), sort.keys_in, sort.n,
             map_part(sort.n, blocks), sort.codec, arguments);
  }
  const uint32_t counts_bytes = histogram_bytes(arguments.plan);
  const uint32_t blocks_each = counts_bytes <= 96u << 10 ? 2 : 1;
  const uint64_t blocks = uint64_t{launcher.context.device->multiprocessors} * blocks_each;
  const auto launch_histogram = [&](auto *kernel, uint32_t items) {
    const uint64_t tiles = sort.n / (kHistogramThreads * items) + 1;
    launcher(kernel, "msd_histogram_kernel", static_cast<uint32_t>(std::min(tiles, blocks)), kHistogramThreads,
             counts_bytes, sort.keys_in, sort.n, sort.codec, arguments);
  };
  if constexpr (sizeof(U) == 4) {
    if (sort.n >= kHistogramManyKeysMin)
      return launch_histogram(msd_histogram_kernel<U, kHistogramItemsMany>, kHistogramItemsMany);
  }
  launch_histogram(msd_histogram_kernel<U, kHistogramItems>, kHistogramItems);
}

constexpr const Batch *kNoBatch = nullptr;

template <class U, bool kFirst>
void launch_partition(LaunchChain &launcher, const Sort<U> &sort, const Arguments<U> &arguments, const U *from, U *to) {
  constexpr uint32_t kTile = BlockShape<sizeof(U)>::kPartitionTile;
  // In the second pass every bin of the first may end in a part of a tile.
  const uint32_t tiles = static_cast<uint32_t>((sort.n + kTile - 1) / kTile) + (kFirst ? 0 : bins_max(arguments.plan));
  launcher(msd_partition_kernel<U, kFirst>, "msd_partition_kernel", tiles, BlockShape<sizeof(U)>::kPartitionThreads,
           static_cast<uint32_t>(sizeof(TileStorage<U>)), from, to, static_cast<uint32_t>(sort.n), sort.codec, kNoBatch,
           arguments);
}

template <class U>
void launch_moves(LaunchChain &launcher, const Sort<U> &sort, const Arguments<U> &arguments) {
  // The last partition pass ends in keys_out, where the cells are finished in place.
  const bool in_scratch = arguments.plan.second_bits == 0 && sort.keys_in == sort.keys_out;
  if (arguments.plan.second_bits == 0) {
    launch_partition<U, true>(launcher, sort, arguments, sort.keys_in, in_scratch ? sort.scratch : sort.keys_out);
  } else {
    launch_partition<U, true>(launcher, sort, arguments, sort.keys_in, sort.scratch);
    if (arguments.plan.counted_late)
      launcher(msd_late_count_kernel<U>, "msd_late_count_kernel", 2 * launcher.context.device->multiprocessors,
               kHistogramThreads, 4 * kLateCells / 32 * 33, sort.scratch, static_cast<uint32_t>(sort.n), arguments);
    launch_partition<U, false>(launcher, sort, arguments, sort.scratch, sort.keys_out);
  }
  const uint32_t cells = arguments.plan.mapped_cells == 0 ? cells_max(arguments.plan) : mapped_cells<U>(arguments.plan);
  launcher(msd_finish_kernel<U>, "msd_finish_kernel", cells, BlockShape<sizeof(U)>::kFinishThreads,
           static_cast<uint32_t>(sizeof(FinishStorage<U>)), in_scratch ? sort.scratch : sort.keys_out, sort.keys_out,
           sort.scratch, sort.codec, kNoBatch, arguments);
  if constexpr (sizeof(U) == 4) {
    if (!arguments.plan.takes_crowds) return;
    const uint32_t blocks = launcher.context.device->multiprocessors;
    launcher(msd_crowds_kernel<U>, "msd_crowds_kernel", blocks, kCrowdThreads,
             static_cast<uint32_t>(sizeof(CrowdStorage)), sort.keys_out, sort.scratch, sort.codec, arguments);
    launcher(msd_write_values_kernel<U>, "msd_write_values_kernel", 3 * blocks, kValueWriteThreads,
             static_cast<uint32_t>(sizeof(WriteStorage)), sort.keys_out, sort.scratch, sort.codec, arguments);
    if (arguments.plan.takes_frequent)
      launcher(msd_runs_kernel<U>, "msd_runs_kernel", 4 * blocks, kRunThreads, 0u, sort.keys_out, sort.scratch,
               sort.codec, arguments);
  }
}

// Blocks of the passes for each multiprocessor, of which two run at a time.
constexpr uint32_t kSplitStaying = 2;

// The kernels of the sort by splitters, of 8-byte keys alone. With blocks that stay they cost little where the others
// have sorted the keys.
template <class U>
void launch_split(LaunchChain &launcher, const Sort<U> &sort, const SplitArguments<U> &split) {
  constexpr uint32_t kTile = BlockShape<sizeof(U)>::kPartitionTile, kThreads = BlockShape<sizeof(U)>::kPartitionThreads;
  const uint32_t n = static_cast<uint32_t>(sort.n), twice = 2 * launcher.context.device->multiprocessors;
  const uint32_t staying = kSplitStaying * launcher.context.device->multiprocessors;
  const uint32_t counts_bytes = split_count_bytes<U>(split.plan);
  const uint32_t counted = n / (kSplitCountThreads * kSplitCountItems) + 1, tiles = n / kTile + 1;
  launcher(split_sample_kernel<U>, "split_sample_kernel", split.plan.sample / (kSplitThreads / 32), kSplitThreads,
           static_cast<uint32_t>(sizeof(SplitStorage<U>)), sort.keys_in, sort.n, sort.codec, split);
  launcher(split_histogram_kernel<U>, "split_histogram_kernel",
           std::min(counted, counts_bytes <= 112u << 10 ? twice : twice / 2), kSplitCountThreads, counts_bytes,
           sort.keys_in, sort.n, sort.codec, split);
  launcher(split_first_kernel<U>, "split_first_kernel", std::min(tiles, staying), kThreads,
           static_cast<uint32_t>(sizeof(SplitFirstStorage<U>)), sort.keys_in, sort.scratch, n, sort.codec, split);
  launcher(split_digits_kernel<U>, "split_digits_kernel", std::min(counted, twice), kSplitCountThreads, 0u,
           sort.scratch, split);
  launcher(split_second_kernel<U>, "split_second_kernel", std::min(tiles + split.plan.bins_max, staying), kThreads,
           static_cast<uint32_t>(sizeof(SplitTileStorage<U>)), sort.scratch, sort.keys_out, sort.codec, split);
  launcher(split_finish_kernel<U>, "split_finish_kernel", std::min(split.plan.cells_max, twice), kSplitFinishThreads,
           static_cast<uint32_t>(sizeof(SplitFinishStorage<U>)), sort.keys_out, sort.scratch, sort.codec, split);
}

}  // namespace

template <class U>
const uint32_t *launch(const LaunchContext &context, const Sort<U> &sort) {
  const Plan &plan = sort.plan;
  const bool splits = sort.split.sample != 0;
  if (context.control->has_log())
    context.control->log(
        "MSD sort of %llu keys of %u bytes if they are different enough: %u cells%s, %u for uneven keys by a map, "
        "partition by %u + %u bits, cells finished on chip%s",
        static_cast<unsigned long long>(sort.n), static_cast<uint32_t>(sizeof(U)), even_cells(plan, sizeof(U)),
        plan.counted_late ? " counted between the passes" : "", plan.mapped_cells, plan.cell_bits - plan.second_bits,
        plan.second_bits, splits ? "; by splitters otherwise, if they are not crowded" : "");
  TableSlices slices(sort.tables);
  const Arguments<U> arguments = make_arguments<U>(plan, context.device->multiprocessors, slices);
  SplitArguments<U> split{};
  if (splits) split = make_split_arguments<U>(sort.split, &arguments.state->sorted, sort.splitters_only, slices);
  LaunchChain launcher = {context, !sort.chained};
  launch_look(launcher, sort, arguments, split);
  launch_count(launcher, sort, arguments);
  launch_moves(launcher, sort, arguments);
  if constexpr (sizeof(U) == 8) {
    if (splits) {
      launch_split(launcher, sort, split);
      return &split.state->sorted;
    }
  }
  return &arguments.state->sorted;
}

template <class U>
void launch_behind_look(const LaunchContext &context, const Sort<U> &sort) {
  const Arguments<U> arguments = arguments_of(context, sort);
  LaunchChain launcher = {context, false};
  launch_count(launcher, sort, arguments);
  launch_moves(launcher, sort, arguments);
}

template <class U>
void launch_counts(const LaunchContext &context, const Sort<U> &sort) {
  const Arguments<U> arguments = arguments_of(context, sort);
  LaunchChain launcher = {context, !sort.chained};
  launch_look(launcher, sort, arguments, SplitArguments<U>{});
  launch_count(launcher, sort, arguments);
}

template <class U>
void launch_batches(const LaunchContext &context, const Sort<U> &sort, const Batch *batches, uint32_t count,
                    uint32_t most_cells, uint32_t most_tiles) {
  const Arguments<U> arguments = arguments_of(context, sort);
  LaunchChain launcher = {context, true};
  for (uint32_t batch = 0; batch < count; ++batch) {
    launcher(msd_partition_kernel<U, false>, "msd_partition_kernel", most_tiles,
             BlockShape<sizeof(U)>::kPartitionThreads, static_cast<uint32_t>(sizeof(TileStorage<U>)), sort.keys_out,
             sort.scratch, static_cast<uint32_t>(sort.n), sort.codec, batches + batch, arguments);
    launcher(msd_finish_kernel<U>, "msd_finish_kernel", most_cells, BlockShape<sizeof(U)>::kFinishThreads,
             static_cast<uint32_t>(sizeof(FinishStorage<U>)), sort.scratch, sort.keys_out, sort.keys_out, sort.codec,
             batches + batch, arguments);
  }
}

template <class U>
void launch_finish(const LaunchContext &context, const FoundCells<U> &cells, U *keys, const KeyCodec<U> &codec) {
  Arguments<U> arguments{};
  arguments.state = cells.state;
  arguments.cells = cells.places;
  arguments.plan.cell_bits = kFoundCellBits;
  arguments.plan.narrow_cells = 1u << kFoundCellBits;
  arguments.ahead = context.device->multiprocessors;
  LaunchChain launcher = {context, false};
  launcher(msd_finish_kernel<U>, "msd_finish_kernel", 1u << kFoundCellBits, BlockShape<sizeof(U)>::kFinishThreads,
           static_cast<uint32_t>(sizeof(FinishStorage<U>)), keys, keys, keys, codec, kNoBatch, arguments);
}

template void launch_finish<uint32_t>(const LaunchContext &, const FoundCells<uint32_t> &, uint32_t *,
                                      const KeyCodec<uint32_t> &);
template void launch_finish<uint64_t>(const LaunchContext &, const FoundCells<uint64_t> &, uint64_t *,
                                      const KeyCodec<uint64_t> &);
template void launch_behind_look<uint32_t>(const LaunchContext &, const Sort<uint32_t> &);
template void launch_behind_look<uint64_t>(const LaunchContext &, const Sort<uint64_t> &);
template void launch_counts<uint32_t>(const LaunchContext &, const Sort<uint32_t> &);
template void launch_counts<uint64_t>(const LaunchContext &, const Sort<uint64_t> &);
template void launch_batches<uint32_t>(const LaunchContext &, const Sort<uint32_t> &, const Batch *, uint32_t, uint32_t,
                                       uint32_t);
template void launch_batches<uint64_t>(const LaunchContext &, const Sort<uint64_t> &, const Batch *, uint32_t, uint32_t,
                                       uint32_t);
template const uint32_t *launch<uint32_t>(const LaunchContext &, const Sort<uint32_t> &);
template const uint32_t *launch<uint64_t>(const LaunchContext &, const Sort<uint64_t> &);

}  // namespace gsort_internal::sort::msd
