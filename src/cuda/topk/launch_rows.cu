// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/topk/problem.h"
#include "cuda/topk/rows.cuh"

namespace gsort_internal::topk {
namespace {

template <uint32_t kThreads, class Key>
void launch_rows_as(LaunchChain &chain, const RowsProblem<Key> &problem, const RowsPlan &plan) {
  constexpr uint32_t kSharedBytes = sizeof(RowsBlock<Key, kThreads>);
  static_assert(kSharedBytes <= rows_bytes(kThreads, sizeof(Key)), "the plan counts with this size");
  if (plan.threads != kThreads) return;
  // Ragged rows are taken by ticket: as many blocks as all SMs have room for.
  const bool ragged = problem.rows.ragged.offsets != nullptr;
  const uint64_t most = ragged ? uint64_t{1024 / kThreads} * chain.context.device->multiprocessors : 0x7fffffff;
  const uint32_t blocks = static_cast<uint32_t>(min_of(problem.rows.rows, most));
  chain(topk_rows_kernel<Key, kThreads>, "top-k by rows", blocks, kThreads, kSharedBytes, problem);
}

}  // namespace

template <class U>
void launch_rows(LaunchChain &chain, const Problem<U> &problem, const RowsPlan &plan) {
  const RowsProblem<WidenedKey<U>> widened = {widened_problem(problem), plan.bounds};
  launch_rows_as<kRowsThreads[0]>(chain, widened, plan);
  launch_rows_as<kRowsThreads[1]>(chain, widened, plan);
  launch_rows_as<kRowsThreads[2]>(chain, widened, plan);
}

template void launch_rows(LaunchChain &, const Problem<uint8_t> &, const RowsPlan &);
template void launch_rows(LaunchChain &, const Problem<uint16_t> &, const RowsPlan &);
template void launch_rows(LaunchChain &, const Problem<uint32_t> &, const RowsPlan &);
template void launch_rows(LaunchChain &, const Problem<uint64_t> &, const RowsPlan &);

}  // namespace gsort_internal::topk
