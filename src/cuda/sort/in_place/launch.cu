// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/in_place/launch.h"

#include <algorithm>

#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launcher.h"
#include "cuda/primitive/architecture.h"
#include "cuda/sort/in_place/cells.h"
#include "cuda/sort/in_place/count.cuh"
#include "cuda/sort/in_place/moves.cuh"
#include "cuda/sort/in_place/partition.cuh"
#include "cuda/sort/in_place/splitters.cuh"
#include "cuda/sort/launch.h"

namespace gsort_internal::sort::in_place {

// A stripe a block. Dynamic shared memory: block_items().
template <class U, class V>
__global__ void __launch_bounds__(kPartitionThreads, blocks_here(kPartitionThreads, kPartitionBlocksPerMultiprocessor))
    partition_kernel(const __grid_constant__ Job<U, V> job) {
  if constexpr (!Job<U, V>::kHasCode) return;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ PartitionStorage<U, V> storage;
  if (job.is_done()) return;
  Partition<U, V>(job, storage, shared).run();
}

namespace {

static_assert(kStandingBytes <= kEngineBytes, "the plan counts with this size");

template <class U, class V>
Job<U, V> job_of(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
                 const Options &options) {
  constexpr uint32_t kBrick = Job<U, V>::kBrick;
  const auto at = [&](uint64_t offset) { return static_cast<char *>(workspace) + offset; };
  Job<U, V> job{};
  job.keys_in = static_cast<const U *>(request.in);
  job.keys = static_cast<U *>(request.out);
  if (kHasValues<V>) {
    job.values_in = static_cast<const V *>(request.values_in);
    job.values = static_cast<V *>(request.values_out);
  }
  job.vectors = (reinterpret_cast<uintptr_t>(job.keys) | reinterpret_cast<uintptr_t>(job.values)) % 16 == 0;
  job.codec = make_codec<U>(request.order);
  job.n = request.n;
  job.brick = kBrick;
  job.slots = blocks_for(request.n, kBrick);
  job.buckets = plan.buckets;
  const uint32_t wanted = context.device->multiprocessors * kPartitionBlocksPerMultiprocessor;
  const uint32_t stripes = options.stripes != 0 ? options.stripes : wanted;
  job.stripe_slots = blocks_for(job.slots, std::min(stripes, plan.stripes_max));
  job.stripes = blocks_for(job.slots, job.stripe_slots);
  job.samples = plan.samples;
  job.sample_part = options.samples_front ? 1 : request.n / plan.samples;
  job.slack = plan.slack;
  job.state = reinterpret_cast<State *>(at(plan.slices.state));
  job.sample = reinterpret_cast<U *>(at(plan.slices.sample));
  job.sample_sorted = reinterpret_cast<U *>(at(plan.slices.sample_sorted));
  job.counts = reinterpret_cast<uint32_t *>(at(plan.slices.counts));
  job.starts = reinterpret_cast<uint64_t *>(at(plan.slices.starts));
  job.piece_of = reinterpret_cast<uint32_t *>(at(plan.slices.piece_of));
  job.piece_keys = reinterpret_cast<U *>(at(plan.slices.piece_keys));
  job.piece_values = reinterpret_cast<V *>(at(plan.slices.piece_values));
  job.source = reinterpret_cast<uint32_t *>(at(plan.slices.source));
  job.target = reinterpret_cast<uint32_t *>(at(plan.slices.target));
  job.moves = reinterpret_cast<uint32_t *>(at(plan.slices.moves));
  job.cut_keys = reinterpret_cast<U *>(at(plan.slices.cut_keys));
  job.cut_values = reinterpret_cast<V *>(at(plan.slices.cut_values));
  return job;
}

// The usual sort as a part of this one, of which the log hears nothing.
void launch_quietly(const LaunchContext &context, const Request &request, void *workspace,
                    const sort::Options &options = {}, const uint32_t *done = nullptr) {
  const Control nobody_listens;
  LaunchContext quiet = context;
  quiet.control = &nobody_listens;
  sort::launch(quiet, request, workspace, options, done);
}

// A part of it that has nothing to do where `done` says so: sorts of keys alone that can be told, and of 4-byte keys
// those of few launches, for most keys have been sorted before.
void launch_unless(const LaunchContext &context, const Request &request, void *workspace, const uint32_t *done) {
  sort::Options options{};
  if (done != nullptr) {
    const Algorithm usual = sort::make_plan(request, *context.device).algorithm;
    const bool many_launches = usual == Algorithm::kMsd && dtype_bytes(request.order.dtype) == 4;
    if (many_launches || !can_be_done(usual)) options = passes_alone();
  }
  launch_quietly(context, request, workspace, options, done);
}

template <class U>
void launch_splitters(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
                      const KeyJob<U> &keys) {
  launch_kernel(context, "sample_kernel", {blocks_for(keys.samples, kSampleThreads), kSampleThreads}, sample_kernel<U>,
                keys);
  Request sample{};
  sample.operation = Operation::kSort;
  sample.order = request.order;
  sample.n = keys.samples;
  sample.in = keys.sample;
  sample.out = keys.sample_sorted;
  launch_unless(context, sample, static_cast<char *>(workspace) + plan.slices.sample_workspace, keys.done);
  launch_kernel(context, "splitters_kernel", {kBucketsMax, kSplitterThreads}, splitters_kernel<U>, keys);
}

template <class U>
void launch_counts(const LaunchContext &context, const KeyJob<U> &keys) {
  const uint32_t parts = keys.buckets * keys.stripes;
  cuda_check(cudaMemsetAsync(keys.counts, 0, 4 * uint64_t{parts}, context.stream), "cudaMemsetAsync(counts)");
  launch_kernel(context, "count_kernel", {keys.stripes * kCountParts, kCountThreads}, count_kernel<U>, keys);
  launch_kernel(context, "exact_kernel", {context.device->multiprocessors, kExactThreads, 0, Together::kGrid},
                exact_kernel<U>, keys);
  launch_kernel(context, "starts_kernel", {1, kStartThreads}, starts_kernel<U>, keys);
}

template <class U, class V>
void launch_partition(const LaunchContext &context, const Plan &plan, const Job<U, V> &job) {
  cuda_check(cudaMemsetAsync(job.source, 0xff, 4 * uint64_t{job.slots}, context.stream), "cudaMemsetAsync(source)");
  cuda_check(cudaMemsetAsync(job.target, 0xff, 4 * uint64_t{job.slots}, context.stream), "cudaMemsetAsync(target)");
  launch_kernel(context, "partition_kernel",
                {job.stripes, kPartitionThreads, block_items(plan.item_bytes(), plan.buckets) * plan.item_bytes()},
                partition_kernel<U, V>, job);
  launch_kernel(context, "list_kernel", {blocks_for(job.slots, kMoveThreads), kMoveThreads}, list_kernel<Job<U, V>>,
                job);
  launch_kernel(context, "move_kernel", {kMoveBlocks * context.device->multiprocessors, kMoveThreads},
                move_kernel<Job<U, V>>, job);
  launch_kernel(context, "pieces_kernel", {job.buckets * job.stripes + 1, kPieceThreads}, pieces_kernel<U, V>, job);
}

// Sorts a window where it lies. Items of the next bucket that are in it are sorted again with their own, in whose order
// they are still the first among equal keys.
template <class U, class V>
void sort_window(const LaunchContext &context, const Request &request, const Job<U, V> &job, const Window &window,
                 void *workspace) {
  Request part{};
  part.operation = request.operation;
  part.order = request.order;
  part.n = window.end - window.begin;
  part.in = part.out = job.keys + window.begin;
  if (kHasValues<V>) {
    part.values_in = part.values_out = job.values + window.begin;
    part.value_bytes = request.value_bytes;
  }
  launch_unless(context, part, workspace, job.done);
}

template <class U, class V>
void launch_types(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
                  const Options &options) {
  Job<U, V> job = job_of<U, V>(context, request, plan, workspace, options);
  if constexpr (!kHasValues<V>) {
    if (plan.cells.applies) job.done = launch_cells<U>(context, request, plan, workspace, options);
  }
  cuda_check(cudaMemsetAsync(job.state, 0, sizeof(State), context.stream), "cudaMemsetAsync(state)");
  launch_splitters<U>(context, request, plan, workspace, job);
  launch_counts<U>(context, job);
  launch_partition(context, plan, job);
  for (uint32_t bucket = 0; bucket < plan.buckets; ++bucket)
    sort_window(context, request, job, window_of(plan, bucket),
                static_cast<char *>(workspace) + plan.slices.window_workspace);
}

template <class U>
void launch_width(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
                  const Options &options) {
  if (plan.value_bytes == 0) launch_types<U, NoValue>(context, request, plan, workspace, options);
  if (plan.value_bytes == 4) launch_types<U, uint32_t>(context, request, plan, workspace, options);
  if (plan.value_bytes == 8) launch_types<U, uint64_t>(context, request, plan, workspace, options);
  if (plan.value_bytes == 16) launch_types<U, uint4>(context, request, plan, workspace, options);
}

}  // namespace

void launch(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
            const Options &options) {
  Plan here = plan;
  here.cells.applies = cells_fit(plan, *context.device);
  log_plan(context, request, here);
  if (here.counts) {
    sort::Options counting;
    counting.algorithm = Algorithm::kCountFill;
    return launch_quietly(context, request, workspace, counting);
  }
  if (here.key_bytes == 4) launch_width<uint32_t>(context, request, here, workspace, options);
  if (here.key_bytes == 8) launch_width<uint64_t>(context, request, here, workspace, options);
}

}  // namespace gsort_internal::sort::in_place
