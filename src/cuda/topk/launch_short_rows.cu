// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/topk/problem.h"
#include "cuda/topk/short_rows.cuh"

namespace gsort_internal::topk {

template <class U>
void launch_short_rows(LaunchChain &chain, const Problem<U> &problem) {
  using Key = WidenedKey<U>;
  const WidenedProblem<Key> widened = widened_problem(problem);
  if (problem.k <= kSomeLanesMax)
    chain(topk_short_rows_kernel<Key>, "top-k of segments: short rows", blocks_by_warps(widened, kLanesThreads / 32),
          kLanesThreads, 0, widened);
  else
    chain(topk_short_sorted_rows_kernel<Key>, "top-k of segments: short rows, sorted",
          blocks_by_warps(widened, kSortedThreads / 32), kSortedThreads, 0, widened);
}

template void launch_short_rows(LaunchChain &, const Problem<uint8_t> &);
template void launch_short_rows(LaunchChain &, const Problem<uint16_t> &);
template void launch_short_rows(LaunchChain &, const Problem<uint32_t> &);
template void launch_short_rows(LaunchChain &, const Problem<uint64_t> &);

}  // namespace gsort_internal::topk
