// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/problem.h"
#include "cuda/topk/stream.cuh"

namespace gsort_internal::topk {

template <class U>
void launch_stream(const LaunchContext &context, const Problem<U> &problem, const StreamPlan &plan) {
  const Grid grid = {static_cast<uint32_t>(problem.rows), plan.threads};
  switch (plan.threads) {
    case 32:
      return launch_kernel(context, "top-k by streams", grid, topk_stream_kernel<U, 32>, problem);
    case 64:
      return launch_kernel(context, "top-k by streams", grid, topk_stream_kernel<U, 64>, problem);
    case 128:
      return launch_kernel(context, "top-k by streams", grid, topk_stream_kernel<U, 128>, problem);
    case 256:
      return launch_kernel(context, "top-k by streams", grid, topk_stream_kernel<U, 256>, problem);
    case 512:
      return launch_kernel(context, "top-k by streams", grid, topk_stream_kernel<U, 512>, problem);
    default:
      return launch_kernel(context, "top-k by streams", grid, topk_stream_kernel<U, 1024>, problem);
  }
}

template <class U>
void launch_ragged_stream(LaunchChain &chain, const Problem<U> &problem, const StreamPlan &plan) {
  // Rows are taken by ticket: blocks enough to fill every SM.
  const uint64_t most = uint64_t{chain.context.device->multiprocessors} * (1024 / plan.threads);
  const uint32_t blocks = static_cast<uint32_t>(min_of(problem.ragged.capacity[0], most));
  constexpr const char *kName = "top-k of segments by streams";
  if (plan.threads == 128)
    chain(topk_stream_kernel<U, 128>, kName, blocks, 128, 0, problem);
  else if (plan.threads == 256)
    chain(topk_stream_kernel<U, 256>, kName, blocks, 256, 0, problem);
  else
    chain(topk_stream_kernel<U, 512>, kName, blocks, 512, 0, problem);
}

template void launch_stream(const LaunchContext &, const Problem<uint8_t> &, const StreamPlan &);
template void launch_stream(const LaunchContext &, const Problem<uint16_t> &, const StreamPlan &);
template void launch_stream(const LaunchContext &, const Problem<uint32_t> &, const StreamPlan &);
template void launch_stream(const LaunchContext &, const Problem<uint64_t> &, const StreamPlan &);
template void launch_ragged_stream(LaunchChain &, const Problem<uint8_t> &, const StreamPlan &);
template void launch_ragged_stream(LaunchChain &, const Problem<uint16_t> &, const StreamPlan &);
template void launch_ragged_stream(LaunchChain &, const Problem<uint32_t> &, const StreamPlan &);
template void launch_ragged_stream(LaunchChain &, const Problem<uint64_t> &, const StreamPlan &);

}  // namespace gsort_internal::topk
