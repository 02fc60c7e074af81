// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cuda_runtime.h>

#include "cuda/engine/launch_chain.h"
#include "cuda/sort/msd/stable_cells.h"
#include "cuda/sort/sample_sort/stable_sample_sort.h"
#include "cuda/sort/sample_sort/stable_share.cuh"

namespace gsort_internal::sort::sample_sort {
namespace {

static_assert(sizeof(msd::StableState) <= msd::kStableStateBytes, "the tables count with this size");
static_assert(sizeof(StableShareStorage<kStableBinBits>) <= msd::kStableMapSharedBytesMin &&
                  kStableSampleBytes <= msd::kStableMapSharedBytesMin,
              "a device that takes the finish takes this");
static_assert(2 * kStableCellItemsMean <= msd::kStableFinishItems, "a cell of several bins fits a block");

// Of the output, that cells are made by: as many parts as fill the multiprocessors some times, two cells at a time.
uint32_t cell_items(const LaunchContext &context, uint32_t n) {
  const uint32_t at_once = 2 * context.device->multiprocessors;
  const uint32_t rounds = n / (at_once * kStableCellItemsMean) + 1;
  return n / (at_once * rounds) + 1;
}

// What the finish reads.
msd::StableArguments finish_arguments(const StableTables &tables) {
  msd::StableArguments arguments{};
  arguments.state = state_of(tables);
  arguments.cells = tables.cells;
  arguments.starts = tables.starts;
  arguments.finished = tables.finished;
  arguments.large = tables.large;
  arguments.pieces = tables.pieces;
  return arguments;
}

StableShareParams share_params(const LaunchContext &context, const Job &job, const StableTables &tables) {
  StableShareParams params{};
  params.keys_in = static_cast<const uint64_t *>(job.keys_in);
  params.keys_out = static_cast<uint64_t *>(job.keys_y);
  params.values_in = job.values_are_indices ? nullptr : job.values_in;
  params.values_out = job.values_y;
  params.codec = make_codec<uint64_t>(job.request->order);
  params.tables = tables;
  params.n = static_cast<uint32_t>(job.request->n);
  params.share_items = job.plan.stable_sample.share_items;
  params.cell_items = cell_items(context, params.n);
  return params;
}

template <uint32_t kBits>
void launch_share(const LaunchContext &context, const Job &job, const StableShareParams &params) {
  Grid grid = {job.plan.stable_sample.blocks, kStableThreads, static_cast<uint32_t>(sizeof(StableShareStorage<kBits>))};
  grid.together = Together::kGrid;
  if (carry_bytes(job.plan.carry) == 4)
    launch_kernel(context, "stable_share_kernel", grid, stable_share_kernel<uint32_t, kBits>, params);
  else
    launch_kernel(context, "stable_share_kernel", grid, stable_share_kernel<uint64_t, kBits>, params);
}

}  // namespace

const uint32_t *launch_stable(const LaunchContext &context, const Job &job) {
  msd::TableSlices slices(job.slice<void>(job.plan.slices.sample_sort_tables));
  const StableTables tables = make_stable_tables(job.request->n, slices);
  const StableShareParams params = share_params(context, job, tables);
  LaunchChain chain = {context, true};
  chain(stable_draw_kernel, "stable_draw_kernel", kStableDrawBlocks, kStableDrawThreads, 0u, params.keys_in, params.n,
        params.codec, sort::counters_to_clear(job), tables);
  chain(stable_rank_kernel, "stable_rank_kernel", kStableRankBlocks, kStableRankThreads, kStableSampleBytes, tables);
  const uint32_t bits = stable_bin_bits(job.request->n);
  if (bits == kStableBinBits)
    launch_share<kStableBinBits>(context, job, params);
  else
    launch_share<kStableBinBits - 1>(context, job, params);
  msd::launch_stable_cells(chain, job, finish_arguments(tables), 1u << bits);
  return &state_of(tables)->sorted;
}

}  // namespace gsort_internal::sort::sample_sort
