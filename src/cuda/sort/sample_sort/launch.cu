// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/engine/launch_chain.h"
#include "cuda/sort/msd/msd.h"
#include "cuda/sort/sample_sort/count.cuh"
#include "cuda/sort/sample_sort/finish.cuh"
#include "cuda/sort/sample_sort/move.cuh"
#include "cuda/sort/sample_sort/sample_sort.h"
#include "cuda/sort/sample_sort/share.cuh"

namespace gsort_internal::sort::sample_sort {

static_assert(sizeof(MoveStorage<uint64_t>) <= msd::kSharedBytesMin &&
                  sizeof(msd::SplitFinishStorage<uint64_t>) <= msd::kSharedBytesMin,
              "a device that takes the partition sort takes all kernels of this one");
static_assert(sizeof(ShareStorage<uint32_t>) <= kShareSharedBytes &&
                  sizeof(ShareStorage<uint64_t>) <= kShareSharedBytes,
              "the plan counts with this size");

template <class U>
void launch(const LaunchContext &context, const Sort<U> &sort) {
  const uint32_t n = static_cast<uint32_t>(sort.n), multiprocessors = context.device->multiprocessors;
  if (context.control->has_log())
    context.control->log("sample sort of %u keys of %u bytes, if they are not sorted: %u bins, cells of about %u keys",
                         n, static_cast<uint32_t>(sizeof(U)), kBins, kCellKeysMean);
  msd::TableSlices slices(sort.tables);
  Arguments<U> arguments = make_arguments<U>(sort.sorted, sort.n, slices);
  // So that all multiprocessors have as many cells to sort.
  const uint32_t rounds = n / (multiprocessors * kCellKeysMean) + 1;
  arguments.part_keys = std::max(n / (multiprocessors * rounds), n / kPartsMax) + 1;
  msd::Sort<U> even{};
  even.keys_in = sort.keys_in, even.keys_out = sort.keys_out, even.scratch = sort.scratch;
  even.n = sort.n, even.codec = sort.codec;
  even.tables = sort.even_tables, even.plan = sort.even;
  msd::Arguments<U> even_arguments{};
  arguments.looks = sort.even.cell_bits != 0;
  if (arguments.looks) {
    even_arguments = msd::arguments_of(context, even);
    arguments.sorted = &even_arguments.state->sorted;
  }
  LaunchChain chain = {context, sort.sorted == nullptr};
  chain(sample_kernel<U>, "sample_kernel", kSampleBlocks + (arguments.looks ? 1 : 0), kSampleThreads, 0u, sort.keys_in,
        n, sort.codec, arguments, even_arguments);
  if (arguments.looks) msd::launch_behind_look(context, even);
  if (sort.plan.share_items != 0) {
    const uint32_t blocks = (n - 1) / sort.plan.share_items + 1;
    Grid grid = {blocks, kShareThreads, static_cast<uint32_t>(sizeof(ShareStorage<U>))};
    grid.together = Together::kGrid;
    launch_kernel(context, "share_kernel", grid, share_kernel<U>, sort.keys_in, sort.scratch, n, sort.plan.share_items,
                  sort.codec, arguments);
  } else if constexpr (sizeof(U) == 8) {
    const uint32_t count_tiles = (n - 1) / (kCountThreads * kCountItems) + 1;
    chain(count_kernel<U>, "count_kernel", std::min(count_tiles, 3 * multiprocessors), kCountThreads, 0u, sort.keys_in,
          n, sort.codec, arguments);
    chain(move_kernel<U>, "move_kernel", (n - 1) / msd::BlockShape<sizeof(U)>::kPartitionTile + 1, kMoveThreads,
          static_cast<uint32_t>(sizeof(MoveStorage<U>)), sort.keys_in, sort.scratch, n, sort.codec, arguments);
  }
  chain(cells_kernel<U>, "cells_kernel", multiprocessors, kCellThreads,
        static_cast<uint32_t>(sizeof(msd::SplitFinishStorage<U>)), sort.keys_out, sort.scratch, sort.codec, arguments);
}

template void launch<uint32_t>(const LaunchContext &, const Sort<uint32_t> &);
template void launch<uint64_t>(const LaunchContext &, const Sort<uint64_t> &);

}  // namespace gsort_internal::sort::sample_sort
