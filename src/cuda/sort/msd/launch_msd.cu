// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/engine/check.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/sort/msd/count.cuh"
#include "cuda/sort/msd/finish.cuh"
#include "cuda/sort/msd/msd.h"
#include "cuda/sort/msd/partition.cuh"
#include "cuda/sort/msd/split_bins.cuh"
#include "cuda/sort/msd/split_count.cuh"
#include "cuda/sort/msd/split_finish.cuh"
#include "cuda/sort/msd/split_partition.cuh"

namespace gsort_internal {
namespace {

static_assert(sizeof(MsdState<uint64_t>) <= kMsdStateBytes && sizeof(uint2) == kMsdRangeBytes, "the tables hold them");
static_assert(sizeof(SplitState<uint64_t>) <= kSplitStateBytes && sizeof(SplitFill) == kSplitFillBytes &&
                  sizeof(SplitKind) == 4,
              "the tables hold them");
static_assert(sizeof(SplitStorage<uint64_t>) <= kMsdSharedBytesMin &&
                  sizeof(SplitFirstStorage<uint64_t>) <= kMsdSharedBytesMin &&
                  sizeof(SplitTileStorage<uint64_t>) <= kMsdSharedBytesMin &&
                  sizeof(SplitFinishStorage<uint64_t>) <= kMsdSharedBytesMin &&
                  split_count_bytes<uint64_t>(plan_split(kMsdItemsMax)) <= kMsdSharedBytesMin,
              "a device that takes the sort takes all its kernels");

template <class U>
MsdArguments<U> make_arguments(const MsdPlan &plan, uint32_t ahead, void *memory) {
  const MsdTables tables = msd_tables(plan);
  const auto words = [&](uint64_t offset) {
    return reinterpret_cast<uint32_t *>(static_cast<char *>(memory) + offset);
  };
  return {reinterpret_cast<MsdState<U> *>(words(tables.state)),
          words(tables.cells),
          words(tables.bin_first),
          words(tables.first_room),
          words(tables.room),
          words(tables.first_tile),
          words(tables.weights),
          words(tables.map),
          words(tables.bin_entries),
          reinterpret_cast<uint2 *>(words(tables.ranges)),
          plan,
          ahead};
}

template <class U>
SplitArguments<U> make_split_arguments(const MsdSort<U> &sort, const MsdArguments<U> &msd) {
  const SplitPlan plan = plan_split(sort.n);
  const SplitSlices tables = split_tables(plan);
  // They lie behind the others.
  char *const memory = static_cast<char *>(sort.tables) + msd_tables_bytes(sort.n, sizeof(U), sort.cell_bits, false);
  const auto at = [&](uint64_t offset, auto *type) { return reinterpret_cast<decltype(type)>(memory + offset); };
  uint32_t *const words = nullptr;
  U *const keys = nullptr;
  uint2 *const pairs = nullptr;
  return {&msd.state->sorted,
          at(tables.state, static_cast<SplitState<U> *>(nullptr)),
          at(tables.sample, keys),
          at(tables.root, words),
          at(tables.sub_least, keys),
          at(tables.sub_place, words),
          at(tables.starts, keys),
          at(tables.digit_least, keys),
          at(tables.digit_shift, words),
          at(tables.knots, keys),
          at(tables.knot_shift, words),
          at(tables.kinds, static_cast<SplitKind *>(nullptr)),
          at(tables.bin_counts, words),
          at(tables.bin_done, words),
          at(tables.scratch_first, words),
          at(tables.out_first, words),
          at(tables.first_room, words),
          at(tables.first_tile, words),
          at(tables.bin_cells, pairs),
          at(tables.digits, words),
          at(tables.digit_cell, static_cast<uint16_t *>(nullptr)),
          at(tables.cells, pairs),
          at(tables.room, words),
          at(tables.big, words),
          at(tables.fills, static_cast<SplitFill *>(nullptr)),
          sort.splitters_only,
          plan};
}

template <class U, class Sample>
void launch_sample(LaunchChain &launcher, const MsdSort<U> &sort, const MsdArguments<U> &arguments,
                   const SplitArguments<U> &split) {
  const uint32_t clearing = std::min(msd_cells_max(arguments.plan) / kMsdSampleThreads + 1, 16u);
  launcher(msd_sample_kernel<U, Sample>, "msd_sample_kernel", 1 + clearing, kMsdSampleThreads,
           (1u << Sample::kMeetingBits) / 8, sort.keys_in, sort.n, sort.codec, sort.done, sort.splitters_only,
           sort.splits ? &split.state->tickets : nullptr, arguments);
}

template <class U>
void launch_count(LaunchChain &launcher, const MsdSort<U> &sort, const MsdArguments<U> &arguments,
                  const SplitArguments<U> &split) {
  if (sort.n <= kMsdSmallSampleItemsMax)
    launch_sample<U, MsdSmallSample>(launcher, sort, arguments, split);
  else
    launch_sample<U, MsdLargeSample>(launcher, sort, arguments, split);

  if (arguments.plan.mapped_cells != 0) {
    constexpr uint32_t kKeys = kMsdMapThreads * kMsdMapItems;
    const uint64_t by_keys = sort.n / (uint64_t{kKeys} * 8);
    const uint32_t blocks = by_keys < kMsdMapBlocksMax ? static_cast<uint32_t>(by_keys) : kMsdMapBlocksMax;
    const uint32_t part = static_cast<uint32_t>(sort.n / (uint64_t{blocks} * kKeys / 8));
    launcher(msd_map_kernel<U>, "msd_map_kernel", blocks, kMsdMapThreads, static_cast<uint32_t>(sizeof(MsdMapStorage)),
             sort.keys_in, part, sort.codec, arguments);
  }

  const uint32_t counts_bytes = msd_counts_bytes(arguments.plan);
  const uint32_t blocks_each = counts_bytes <= 96u << 10 ? 2 : 1;
  const uint64_t blocks = uint64_t{launcher.context.device->multiprocessors} * blocks_each;
  const auto launch_histogram = [&](auto *kernel, uint32_t items) {
    const uint64_t tiles = sort.n / (kMsdHistogramThreads * items) + 1;
    launcher(kernel, "msd_histogram_kernel", static_cast<uint32_t>(std::min(tiles, blocks)), kMsdHistogramThreads,
             counts_bytes, sort.keys_in, sort.n, sort.codec, arguments);
  };
  if constexpr (sizeof(U) == 4) {
    if (sort.n >= kMsdHistogramManyKeysMin)
      return launch_histogram(msd_histogram_kernel<U, kMsdHistogramItemsMany>, kMsdHistogramItemsMany);
  }
  launch_histogram(msd_histogram_kernel<U, kMsdHistogramItems>, kMsdHistogramItems);
}

template <class U, bool kFirst>
void launch_partition(LaunchChain &launcher, const MsdSort<U> &sort, const MsdArguments<U> &arguments, const U *from,
                      U *to) {
  constexpr uint32_t kTile = MsdShape<sizeof(U)>::kPartitionTile;
  // In the second pass every bin of the first may end in a part of a tile.
  const uint32_t tiles =
      static_cast<uint32_t>((sort.n + kTile - 1) / kTile) + (kFirst ? 0 : msd_bins_max(arguments.plan));
  launcher(msd_partition_kernel<U, kFirst>, "msd_partition_kernel", tiles, MsdShape<sizeof(U)>::kPartitionThreads,
           static_cast<uint32_t>(sizeof(MsdTileStorage<U>)), from, to, static_cast<uint32_t>(sort.n), sort.codec,
           arguments);
}

template <class U>
void launch_moves(LaunchChain &launcher, const MsdSort<U> &sort, const MsdArguments<U> &arguments) {
  // The last partition pass ends in keys_out, where the cells are finished in place.
  const bool in_scratch = arguments.plan.second_bits == 0 && sort.keys_in == sort.keys_out;
  if (arguments.plan.second_bits == 0) {
    launch_partition<U, true>(launcher, sort, arguments, sort.keys_in, in_scratch ? sort.scratch : sort.keys_out);
  } else {
    launch_partition<U, true>(launcher, sort, arguments, sort.keys_in, sort.scratch);
    if (arguments.plan.counted_late)
      launcher(msd_late_count_kernel<U>, "msd_late_count_kernel", 2 * launcher.context.device->multiprocessors,
               kMsdHistogramThreads, 4 * kMsdLateCells / 32 * 33, sort.scratch, static_cast<uint32_t>(sort.n),
               arguments);
    launch_partition<U, false>(launcher, sort, arguments, sort.scratch, sort.keys_out);
  }
  launcher(msd_finish_kernel<U>, "msd_finish_kernel", msd_cells_max(arguments.plan),
           MsdShape<sizeof(U)>::kFinishThreads, static_cast<uint32_t>(sizeof(MsdFinishStorage<U>)),
           in_scratch ? sort.scratch : sort.keys_out, sort.keys_out, sort.codec, arguments);
}

// Blocks of the passes for each multiprocessor, of which two run at a time.
constexpr uint32_t kSplitStaying = 2;

// The kernels of the sort by splitters. With blocks that stay they cost little where the others have sorted the keys.
template <class U>
void launch_split(LaunchChain &launcher, const MsdSort<U> &sort, const SplitArguments<U> &split) {
  constexpr uint32_t kTile = MsdShape<sizeof(U)>::kPartitionTile, kThreads = MsdShape<sizeof(U)>::kPartitionThreads;
  const uint32_t n = static_cast<uint32_t>(sort.n), twice = 2 * launcher.context.device->multiprocessors;
  const uint32_t staying = kSplitStaying * launcher.context.device->multiprocessors;
  const uint32_t counts_bytes = split_count_bytes<U>(split.plan);
  const uint32_t counted = n / (kSplitCountThreads * kSplitCountItems<U>)+1, tiles = n / kTile + 1;
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
const uint32_t *launch_msd(const LaunchContext &context, const MsdSort<U> &sort) {
  const MsdPlan plan = plan_msd_on(sort.n, context.device->shared_bytes_block_max, sort.cell_bits);
  const MsdArguments<U> arguments = make_arguments<U>(plan, context.device->multiprocessors, sort.tables);
  if (context.control->has_log())
    context.control->log(
        "MSD sort of %llu keys of %u bytes if they are different enough: %u cells%s, %u for uneven keys by a map, "
        "partition by %u + %u bits, cells finished on chip%s",
        static_cast<unsigned long long>(sort.n), static_cast<uint32_t>(sizeof(U)), 1u << plan.cell_bits,
        plan.counted_late ? " counted between the passes" : "", plan.mapped_cells, plan.first_bits, plan.second_bits,
        sort.splits ? "; by splitters otherwise, if they are not crowded" : "");
  const SplitArguments<U> split = make_split_arguments<U>(sort, arguments);
  LaunchChain launcher = {context, !sort.chained};
  launch_count(launcher, sort, arguments, split);
  launch_moves(launcher, sort, arguments);
  if (!sort.splits) return &arguments.state->sorted;
  launch_split(launcher, sort, split);
  return &split.state->sorted;
}

template const uint32_t *launch_msd<uint32_t>(const LaunchContext &, const MsdSort<uint32_t> &);
template const uint32_t *launch_msd<uint64_t>(const LaunchContext &, const MsdSort<uint64_t> &);

}  // namespace gsort_internal
