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

}  // namespace

template <class U>
void launch_best(const LaunchContext &context, const Problem<U> &problem, const BestPlan &plan,
                 unsigned char *workspace) {
  BestProblem<U> best = {problem.in, problem.rows, problem.columns, problem.row_stride, problem.codec, problem.output,
                         plan,       nullptr,      nullptr};
  if (plan.warps) {
    constexpr uint32_t kRows = kBestWarpsThreads / 32;
    const uint32_t blocks = static_cast<uint32_t>((problem.rows + kRows - 1) / kRows);
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

template void launch_best(const LaunchContext &, const Problem<uint8_t> &, const BestPlan &, unsigned char *);
template void launch_best(const LaunchContext &, const Problem<uint16_t> &, const BestPlan &, unsigned char *);
template void launch_best(const LaunchContext &, const Problem<uint32_t> &, const BestPlan &, unsigned char *);
template void launch_best(const LaunchContext &, const Problem<uint64_t> &, const BestPlan &, unsigned char *);

}  // namespace gsort_internal::topk
