// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "cuda/engine/check.h"
#include "cuda/engine/launcher.h"
#include "cuda/sort/fast_path/fast_path.h"
#include "cuda/sort/in_place/bin_partition.cuh"
#include "cuda/sort/in_place/cells.h"
#include "cuda/sort/in_place/moves.cuh"
#include "cuda/sort/msd/msd.h"

namespace gsort_internal::sort::in_place {
namespace {

template <class U>
msd::Sort<U> msd_sort_of(const Request &request, const Plan &plan, void *workspace) {
  msd::Sort<U> sort{};
  sort.keys_in = static_cast<const U *>(request.in);
  sort.keys_out = static_cast<U *>(request.out);
  sort.scratch = reinterpret_cast<U *>(static_cast<char *>(workspace) + plan.cells.slices.scratch);
  sort.n = request.n;
  sort.codec = make_codec<U>(request.order);
  sort.tables = static_cast<char *>(workspace) + plan.cells.slices.tables;
  sort.plan = plan.cells.msd;
  return sort;
}

// As before every long sort: keys in order, and those of few values. Returns its verdict, for the look at the keys.
template <class U>
const uint32_t *launch_fast_path(const LaunchContext &context, const Request &request, const Plan &plan,
                                 void *workspace) {
  const CellsSlices &slices = plan.cells.slices;
  const auto at = [&](uint64_t offset) { return static_cast<char *>(workspace) + offset; };
  fast_path::Arrays<U> arrays{};
  arrays.keys_in = static_cast<const U *>(request.in);
  arrays.keys_out = static_cast<U *>(request.out);
  arrays.n = request.n;
  arrays.codec = make_codec<U>(request.order);
  arrays.state = at(slices.fast_path_state);
  arrays.counts = reinterpret_cast<uint32_t *>(at(slices.fast_path_counts));
  arrays.bases = reinterpret_cast<uint32_t *>(at(slices.fast_path_bases));
  arrays.after_clearing = true;
  fast_path::launch_clear(context, arrays.state, slices.fast_path_bases - slices.fast_path_state);
  const fast_path::Plan fast = fast_path::make_plan(request.n, sizeof(U), true, context.device->multiprocessors,
                                                    context.device->shared_bytes_block_max);
  return fast_path::launch<U>(context, fast, arrays);
}

template <class U>
CellsJob<U> job_of(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
                   const msd::Sort<U> &sort, const Options &options) {
  const CellsPlan &cells = plan.cells;
  const auto at = [&](uint64_t offset) { return static_cast<char *>(workspace) + offset; };
  CellsJob<U> job{};
  job.keys_in = static_cast<const U *>(request.in);
  job.keys = static_cast<U *>(request.out);
  job.vectors = reinterpret_cast<uintptr_t>(job.keys) % 16 == 0;
  job.codec = make_codec<U>(request.order);
  job.n = request.n;
  job.slots = blocks_for(request.n, CellsJob<U>::kBrick);
  const uint32_t stripes = options.stripes != 0 ? options.stripes : context.device->multiprocessors;
  job.stripe_slots = blocks_for(job.slots, std::min(stripes, cells.stripes_max));
  job.state = reinterpret_cast<State *>(at(plan.slices.state));
  job.source = reinterpret_cast<uint32_t *>(at(cells.slices.source));
  job.target = job.source + job.slots;
  job.moves = reinterpret_cast<uint32_t *>(at(cells.slices.moves));
  job.cut_keys = reinterpret_cast<U *>(at(cells.slices.cut_keys));
  job.bricks = reinterpret_cast<uint32_t *>(at(cells.slices.bricks));
  job.left_count = job.bricks + cells.bins;
  job.left = reinterpret_cast<U *>(at(cells.slices.left));
  job.left_each = cells.left_each;
  job.arguments = msd::arguments_of(context, sort);
  job.batches = reinterpret_cast<msd::Batch *>(at(cells.slices.batches));
  job.batch_keys = cells.batch_keys;
  job.batch_bins = cells.batch_bins;
  job.done = reinterpret_cast<uint32_t *>(at(plan.slices.done));
  return job;
}

// The keys come to their bins, in the output.
template <class U>
void launch_bins(const LaunchContext &context, const Plan &plan, const CellsJob<U> &job) {
  cuda_check(cudaMemsetAsync(job.state, 0, sizeof(State), context.stream), "cudaMemsetAsync(state)");
  cuda_check(cudaMemsetAsync(job.bricks, 0, 2 * 4 * uint64_t{plan.cells.bins}, context.stream),
             "cudaMemsetAsync(bricks)");
  cuda_check(cudaMemsetAsync(job.source, 0xff, 2 * 4 * uint64_t{job.slots}, context.stream), "cudaMemsetAsync(source)");
  launch_kernel(context, "bin_partition_kernel",
                {blocks_for(job.slots, job.stripe_slots), kBinThreads, bin_block_bytes(sizeof(U), plan.cells.bins)},
                bin_partition_kernel<U>, job);
  launch_kernel(context, "list_kernel", {blocks_for(job.slots, kMoveThreads), kMoveThreads}, list_kernel<CellsJob<U>>,
                job);
  launch_kernel(context, "move_kernel", {2 * kMoveBlocks * context.device->multiprocessors, kMoveThreads},
                move_kernel<CellsJob<U>>, job);
  launch_kernel(context, "bin_left_kernel", {plan.cells.bins, kLeftThreads}, bin_left_kernel<U>, job);
}

}  // namespace

template <class U>
const uint32_t *launch_cells(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
                             const Options &options) {
  msd::Sort<U> sort = msd_sort_of<U>(request, plan, workspace);
  sort.done = launch_fast_path<U>(context, request, plan, workspace);
  sort.chained = true;
  const CellsJob<U> job = job_of<U>(context, request, plan, workspace, sort, options);
  msd::launch_counts<U>(context, sort);
  launch_kernel(context, "batches_kernel", {1, kBatchThreads}, batches_kernel<U>, job);
  launch_bins(context, plan, job);
  constexpr uint32_t kTile = msd::BlockShape<sizeof(U)>::kPartitionTile;
  const uint32_t most_bins = std::min(plan.cells.batch_bins, plan.cells.bins);
  msd::launch_batches<U>(context, sort, job.batches, kBatchesMax, most_bins << plan.cells.msd.second_bits,
                         plan.cells.batch_keys / kTile + most_bins);
  return job.done;
}

template const uint32_t *launch_cells<uint32_t>(const LaunchContext &, const Request &, const Plan &, void *,
                                                const Options &);
template const uint32_t *launch_cells<uint64_t>(const LaunchContext &, const Request &, const Plan &, void *,
                                                const Options &);

}  // namespace gsort_internal::sort::in_place
