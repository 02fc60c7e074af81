// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/best.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

// Of rows whose parts meet in memory.
struct Counters {
  uint32_t of_row[kBestCountedRows];
};
static_assert(kBestCounters + sizeof(Counters) <= kBestBytes && sizeof(Extreme) == kBestExtremeBytes,
              "the plan leaves them room");

template <class U>
BestProblem<U> best_problem(const Problem<U> &problem, const BestPlan &plan) {
  return {problem.in, problem.rows, problem.columns, problem.row_stride, problem.codec, problem.output,
          plan,       nullptr,      nullptr};
}

}  // namespace

template <class U>
void launch_best(const LaunchContext &context, const Problem<U> &problem, const BestPlan &plan,
                 unsigned char *workspace) {
  BestProblem<U> best = best_problem(problem, plan);
  if (plan.warps) {
    const uint32_t blocks = blocks_of_rows(problem.rows, kBestWarpsThreads / 32);
    launch_kernel(context, "top-k of one by warps", {blocks, kBestWarpsThreads}, topk_best_warps_kernel<U>, best);
    return;
  }
  Grid grid = {static_cast<uint32_t>(problem.rows * plan.parts), kBestThreads};
  if (plan.cluster) {
    grid.together = Together::kClusters, grid.cluster_blocks = plan.parts;
  } else if (plan.parts > 1) {
    best.counters = zero_counters<Counters>(context, workspace + kBestCounters, true)->of_row;
    best.extremes = reinterpret_cast<Extreme *>(workspace + kBestExtremes);
  }
  launch_kernel(context, "top-k of one", grid, topk_best_kernel<U>, best);
}

template <class U>
void launch_best_listed(LaunchChain &chain, const Problem<U> &problem, uint64_t rows) {
  // As many blocks as there is room for at a time.
  const uint64_t blocks = min_of(rows, uint64_t{chain.context.device->multiprocessors} * kBestBlocks);
  chain(topk_best_listed_kernel<U>, "top-k of segments: the best", static_cast<uint32_t>(blocks), kBestThreads, 0,
        best_problem(problem, {}), problem.ragged);
}

template void launch_best(const LaunchContext &, const Problem<uint8_t> &, const BestPlan &, unsigned char *);
template void launch_best(const LaunchContext &, const Problem<uint16_t> &, const BestPlan &, unsigned char *);
template void launch_best(const LaunchContext &, const Problem<uint32_t> &, const BestPlan &, unsigned char *);
template void launch_best(const LaunchContext &, const Problem<uint64_t> &, const BestPlan &, unsigned char *);
template void launch_best_listed(LaunchChain &, const Problem<uint8_t> &, uint64_t);
template void launch_best_listed(LaunchChain &, const Problem<uint16_t> &, uint64_t);
template void launch_best_listed(LaunchChain &, const Problem<uint32_t> &, uint64_t);
template void launch_best_listed(LaunchChain &, const Problem<uint64_t> &, uint64_t);

}  // namespace gsort_internal::topk
