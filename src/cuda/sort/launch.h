// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sort, gsort_sort_pairs, gsort_argsort and gsort_rank on device memory.
#ifndef GSORT_CUDA_SORT_LAUNCH_H_
#define GSORT_CUDA_SORT_LAUNCH_H_

#include "core/request.h"
#include "cuda/engine/launch.h"
#include "cuda/sort/plan.h"

namespace gsort_internal::sort {

// `workspace` has the bytes that workspace_bytes() says for the same options, which are tests' alone. done: NULL, or a
// device word that earlier work of the stream has written: not 0 = nothing is to be done. Only where can_be_done() the
// plan's algorithm.
void launch(const LaunchContext &context, const Request &request, void *workspace, const Options &options = {},
            const uint32_t *done = nullptr);

}  // namespace gsort_internal::sort

#endif  // GSORT_CUDA_SORT_LAUNCH_H_
