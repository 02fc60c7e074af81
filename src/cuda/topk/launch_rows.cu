// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/check.h"
#include "cuda/engine/shared_bytes.h"
#include "cuda/topk/launch.h"
#include "cuda/topk/rows.cuh"

namespace gsort_internal {
namespace {

template <class U, class C>
void launch_rows_as(const LaunchContext &context, const TopkProblem<U> &problem, const TopkRowsPlan &plan) {
  const uint64_t composites = uint64_t{plan.buffer_items} + plan.sorted_items;
  const auto shared_bytes = static_cast<uint32_t>((uint64_t{4} << plan.bin_bits) + composites * sizeof(C));
  static_assert(kSharedBytesUnasked + kTopkScratchBytes <= 48 * 1024, "fits unasked");
  allow_shared_bytes(topk_rows_kernel<U, C>, shared_bytes);
  // Ragged rows are taken by ticket: blocks enough for two on every SM.
  const bool ragged = problem.ragged.offsets != nullptr;
  const uint64_t most = ragged ? uint64_t{2} * context.device->multiprocessors : 0x7fffffff;
  const uint32_t blocks = static_cast<uint32_t>(topk_min(problem.rows, most));
  topk_rows_kernel<U, C><<<blocks, plan.threads, shared_bytes, context.stream>>>(problem, plan);
  check_launch("top-k by rows");
}

}  // namespace

template <class U>
void launch_topk_rows(const LaunchContext &context, const TopkProblem<U> &problem, const TopkPlan &plan) {
  if constexpr (sizeof(U) < 8) {
    if (plan.composite_bytes == 8) return launch_rows_as<U, uint64_t>(context, problem, plan.rows);
  }
  // A block's row has less than 2^31 columns: keys of up to 4 bytes always fit 64 bits with their index.
  if constexpr (sizeof(U) == 8) launch_rows_as<U, TopkWide>(context, problem, plan.rows);
}

template void launch_topk_rows(const LaunchContext &, const TopkProblem<uint8_t> &, const TopkPlan &);
template void launch_topk_rows(const LaunchContext &, const TopkProblem<uint16_t> &, const TopkPlan &);
template void launch_topk_rows(const LaunchContext &, const TopkProblem<uint32_t> &, const TopkPlan &);
template void launch_topk_rows(const LaunchContext &, const TopkProblem<uint64_t> &, const TopkPlan &);

}  // namespace gsort_internal
