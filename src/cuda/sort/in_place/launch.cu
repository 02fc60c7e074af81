// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/in_place/launch.h"

#include <algorithm>

#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launcher.h"
#include "cuda/primitive/architecture.h"
#include "cuda/sort/in_place/classify.cuh"
#include "cuda/sort/in_place/last_resort.cuh"
#include "cuda/sort/in_place/move.cuh"
#include "cuda/sort/in_place/sample.cuh"
#include "cuda/sort/launch.h"

namespace gsort_internal::sort::in_place {

// A stripe a block. Dynamic shared memory: classify_shared_bytes().
template <class U>
__global__ void __launch_bounds__(ClassifyShape<sizeof(U)>::kThreads,
                                  blocks_here(ClassifyShape<sizeof(U)>::kThreads, kClassifyBlocksPerMultiprocessor))
    classify_kernel(const __grid_constant__ Job<U> job) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ ClassifyStorage<U> storage;
  U *const keys = reinterpret_cast<U *>(shared);
  Classifier<U>(job, storage, keys, ranks_behind<U>(keys, job.buckets)).run();
}

namespace {

static_assert(kStandingBytes <= kEngineBytes, "the plan counts with this size");

constexpr uint32_t blocks_for(uint64_t items, uint32_t threads) {
  return static_cast<uint32_t>((items + threads - 1) / threads);
}

// The first slot begins at a line of memory.
SlotGrid grid_of(const Request &request, uint32_t key_bytes) {
  constexpr uint64_t kLineBytes = 128;
  SlotGrid grid{};
  grid.n = request.n;
  grid.head = (kLineBytes - reinterpret_cast<uintptr_t>(request.out) % kLineBytes) % kLineBytes / key_bytes;
  grid.brick = brick_keys(key_bytes);
  grid.slots = static_cast<uint32_t>((grid.n - grid.head) / grid.brick);
  return grid;
}

template <class U>
Job<U> job_of(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
              const Options &options) {
  const auto at = [&](uint64_t offset) { return static_cast<char *>(workspace) + offset; };
  Job<U> job{};
  job.keys_in = static_cast<const U *>(request.in);
  job.keys = static_cast<U *>(request.out);
  job.codec = make_codec<U>(request.order);
  job.grid = grid_of(request, plan.key_bytes);
  job.buckets = plan.buckets;
  const uint32_t wanted = context.device->multiprocessors * kClassifyBlocksPerMultiprocessor;
  const uint32_t stripes = options.stripes != 0 ? options.stripes : wanted;
  job.stripe_slots = blocks_for(job.grid.slots, std::min(stripes, plan.stripes_max));
  job.stripes = blocks_for(job.grid.slots, job.stripe_slots);
  job.samples = plan.samples;
  job.sample_part = options.samples_front ? 1 : request.n / plan.samples;
  job.slack = plan.slack;
  job.state = reinterpret_cast<State *>(at(plan.slices.state));
  job.sample = reinterpret_cast<U *>(at(plan.slices.sample));
  job.labels = reinterpret_cast<uint8_t *>(at(plan.slices.labels));
  job.holes = reinterpret_cast<uint32_t *>(at(plan.slices.holes));
  job.list = reinterpret_cast<uint32_t *>(at(plan.slices.list));
  job.cycles = reinterpret_cast<Cycle *>(at(plan.slices.cycles));
  job.left = reinterpret_cast<U *>(at(plan.slices.left));
  job.left_keys = plan.left_keys;
  return job;
}

// The usual sort as a part of this one, of which the log hears nothing.
void launch_quietly(const LaunchContext &context, const Request &request, void *workspace,
                    const sort::Options &options = {}) {
  const Control nobody_listens;
  LaunchContext quiet = context;
  quiet.control = &nobody_listens;
  sort::launch(quiet, request, workspace, options);
}

// Sorts keys where they lie.
void sort_part(const LaunchContext &context, const Request &request, void *keys, uint64_t n, void *workspace) {
  Request part{};
  part.operation = Operation::kSort;
  part.order = request.order;
  part.n = n;
  part.in = part.out = keys;
  launch_quietly(context, part, workspace);
}

template <class U>
void launch_partition(const LaunchContext &context, const Job<U> &job) {
  const uint32_t by_slots = blocks_for(job.grid.slots, kSlotThreads), blocks = 8 * context.device->multiprocessors;
  launch_kernel(context, "classify_kernel",
                {job.stripes, ClassifyShape<sizeof(U)>::kThreads, classify_shared_bytes(sizeof(U), job.buckets)},
                classify_kernel<U>, job);
  launch_kernel(context, "borders_kernel", {1, kBordersThreads}, borders_kernel<U>, job);
  launch_kernel(context, "holes_kernel", {by_slots, kSlotThreads}, holes_kernel<U>, job);
  launch_kernel(context, "fill_kernel", {blocks, kBrickVectors}, fill_kernel<U>, job);
  launch_kernel(context, "edges_kernel", {by_slots, kSlotThreads}, edges_kernel<U>, job);
  launch_kernel(context, "list_kernel", {by_slots, kSlotThreads}, list_kernel<U>, job);
  launch_kernel(context, "cycles_kernel", {blocks, kBrickVectors}, cycles_kernel<U>, job);
  launch_kernel(context, "ends_kernel", {job.buckets, kBordersThreads}, ends_kernel<U>, job);
}

template <class U>
void launch_width(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
                  const Options &options) {
  const auto at = [&](uint64_t offset) { return static_cast<char *>(workspace) + offset; };
  const Job<U> job = job_of<U>(context, request, plan, workspace, options);
  cuda_check(cudaMemsetAsync(job.state, 0, sizeof(State), context.stream), "cudaMemsetAsync(state)");
  launch_kernel(context, "sample_kernel", {blocks_for(job.samples, kSampleThreads), kSampleThreads}, sample_kernel<U>,
                job);
  sort_part(context, request, job.sample, job.samples, at(plan.slices.sample_workspace));
  launch_kernel(context, "splitters_kernel", {1, kSplitterThreads}, splitters_kernel<U>, job);
  launch_partition(context, job);
  for (uint32_t bucket = 0; bucket < plan.buckets; ++bucket) {
    const Window window = window_of(plan, bucket);
    sort_part(context, request, job.keys + window.begin, window.end - window.begin, at(plan.slices.window_workspace));
  }
  launch_kernel(context, "last_resort_kernel",
                {context.device->multiprocessors, kLastResortThreads, 0, Together::kGrid}, last_resort_kernel<U>, job);
}

}  // namespace

void launch(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
            const Options &options) {
  log_plan(context, request, plan);
  if (plan.counts) {
    sort::Options counting;
    counting.algorithm = Algorithm::kCountFill;
    return launch_quietly(context, request, workspace, counting);
  }
  if (plan.key_bytes == 4) launch_width<uint32_t>(context, request, plan, workspace, options);
  if (plan.key_bytes == 8) launch_width<uint64_t>(context, request, plan, workspace, options);
}

}  // namespace gsort_internal::sort::in_place
