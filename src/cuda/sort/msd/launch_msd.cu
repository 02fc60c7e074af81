// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/engine/check.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/sort/msd/count.cuh"
#include "cuda/sort/msd/finish.cuh"
#include "cuda/sort/msd/msd.h"
#include "cuda/sort/msd/partition.cuh"

namespace gsort_internal {
namespace {

static_assert(sizeof(MsdState<uint64_t>) <= kMsdStateBytes && sizeof(uint2) == kMsdRangeBytes, "the tables hold them");

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

template <class U, class Sample>
void launch_sample(LaunchChain &launcher, const MsdSort<U> &sort, const MsdArguments<U> &arguments) {
  const uint32_t clearing = std::min(msd_cells_max(arguments.plan) / kMsdSampleThreads + 1, 16u);
  launcher(msd_sample_kernel<U, Sample>, "msd_sample_kernel", 1 + clearing, kMsdSampleThreads,
           (1u << Sample::kMeetingBits) / 8, sort.keys_in, sort.n, sort.codec, sort.done, arguments);
}

template <class U>
void launch_count(LaunchChain &launcher, const MsdSort<U> &sort, const MsdArguments<U> &arguments) {
  if (sort.n <= kMsdSmallSampleItemsMax)
    launch_sample<U, MsdSmallSample>(launcher, sort, arguments);
  else
    launch_sample<U, MsdLargeSample>(launcher, sort, arguments);

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

}  // namespace

template <class U>
const uint32_t *launch_msd(const LaunchContext &context, const MsdSort<U> &sort) {
  const MsdPlan plan = plan_msd_on(sort.n, context.device->shared_bytes_block_max, sort.cell_bits);
  const MsdArguments<U> arguments = make_arguments<U>(plan, context.device->multiprocessors, sort.tables);
  if (context.control->has_log())
    context.control->log(
        "MSD sort of %llu keys of %u bytes if they are different enough: %u cells%s, %u for uneven keys by a map, "
        "partition by %u + %u bits, cells finished on chip",
        static_cast<unsigned long long>(sort.n), static_cast<uint32_t>(sizeof(U)), 1u << plan.cell_bits,
        plan.counted_late ? " counted between the passes" : "", plan.mapped_cells, plan.first_bits, plan.second_bits);
  LaunchChain launcher = {context, !sort.chained};
  launch_count(launcher, sort, arguments);
  launch_moves(launcher, sort, arguments);
  return &arguments.state->sorted;
}

template const uint32_t *launch_msd<uint32_t>(const LaunchContext &, const MsdSort<uint32_t> &);
template const uint32_t *launch_msd<uint64_t>(const LaunchContext &, const MsdSort<uint64_t> &);

}  // namespace gsort_internal
