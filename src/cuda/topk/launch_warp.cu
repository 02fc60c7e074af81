// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/check.h"
#include "cuda/engine/shared_bytes.h"
#include "cuda/topk/problem.h"
#include "cuda/topk/warp.cuh"

namespace gsort_internal::topk {

template <class U>
void launch_warp(const LaunchContext &context, const Problem<U> &problem, uint32_t items_max) {
  constexpr uint32_t kWarps = kWarpThreads / 32;
  const uint32_t shared_bytes = kWarps * warp_bytes<U>(items_max);
  allow_shared_bytes(topk_warp_kernel<U>, shared_bytes);
  const uint32_t blocks = static_cast<uint32_t>(min_of((problem.rows + kWarps - 1) / kWarps, 0x7fffffff));
  topk_warp_kernel<U><<<blocks, kWarpThreads, shared_bytes, context.stream>>>(problem, items_max);
  check_launch("top-k by warps");
}

template void launch_warp(const LaunchContext &, const Problem<uint8_t> &, uint32_t);
template void launch_warp(const LaunchContext &, const Problem<uint16_t> &, uint32_t);
template void launch_warp(const LaunchContext &, const Problem<uint32_t> &, uint32_t);
template void launch_warp(const LaunchContext &, const Problem<uint64_t> &, uint32_t);

}  // namespace gsort_internal::topk
