// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/topk/problem.h"
#include "cuda/topk/warp_rows.cuh"

namespace gsort_internal::topk {

template <class U>
void launch_warp(LaunchChain &chain, const Problem<U> &problem, uint32_t items_max) {
  constexpr uint32_t kWarps = kWarpThreads / 32;
  const uint32_t shared_bytes = kWarps * warp_bytes<U>(items_max);
  const uint32_t blocks = blocks_of_rows(problem.rows, kWarps);
  chain(topk_warp_kernel<U>, "top-k by warps", blocks, kWarpThreads, shared_bytes, problem, items_max);
}

template void launch_warp(LaunchChain &, const Problem<uint8_t> &, uint32_t);
template void launch_warp(LaunchChain &, const Problem<uint16_t> &, uint32_t);
template void launch_warp(LaunchChain &, const Problem<uint32_t> &, uint32_t);
template void launch_warp(LaunchChain &, const Problem<uint64_t> &, uint32_t);

}  // namespace gsort_internal::topk
