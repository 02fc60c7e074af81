// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/topk/problem.h"
#include "cuda/topk/rows.cuh"

namespace gsort_internal::topk {
namespace {

template <class U, class C>
void launch_rows_as(LaunchChain &chain, const Problem<U> &problem, const RowsPlan &plan) {
  const uint64_t composites = uint64_t{plan.buffer_items} + plan.sorted_items;
  const auto shared_bytes = static_cast<uint32_t>((uint64_t{4} << plan.bin_bits) + composites * sizeof(C));
  static_assert(kSharedBytesUnasked + kScratchBytes <= 48 * 1024, "fits unasked");
  // Ragged rows are taken by ticket: blocks enough for two on every SM.
  const bool ragged = problem.ragged.offsets != nullptr;
  const uint64_t most = ragged ? uint64_t{2} * chain.context.device->multiprocessors : 0x7fffffff;
  const uint32_t blocks = static_cast<uint32_t>(min_of(problem.rows, most));
  chain(topk_rows_kernel<U, C>, "top-k by rows", blocks, plan.threads, shared_bytes, problem, plan);
}

}  // namespace

template <class U>
void launch_rows(LaunchChain &chain, const Problem<U> &problem, const RowsPlan &plan, uint32_t composite_bytes) {
  if constexpr (sizeof(U) < 8) {
    if (composite_bytes == 8) return launch_rows_as<U, uint64_t>(chain, problem, plan);
  }
  // A block's row has less than 2^31 columns: keys of up to 4 bytes always fit 64 bits with their index.
  if constexpr (sizeof(U) == 8) launch_rows_as<U, Wide>(chain, problem, plan);
}

template void launch_rows(LaunchChain &, const Problem<uint8_t> &, const RowsPlan &, uint32_t);
template void launch_rows(LaunchChain &, const Problem<uint16_t> &, const RowsPlan &, uint32_t);
template void launch_rows(LaunchChain &, const Problem<uint32_t> &, const RowsPlan &, uint32_t);
template void launch_rows(LaunchChain &, const Problem<uint64_t> &, const RowsPlan &, uint32_t);

}  // namespace gsort_internal::topk
