// SPDX-License-Identifier: MIT OR Apache-2.0
// The sort in place, as the engine launches it where the usual workspace cannot be had.
#ifndef GSORT_CUDA_SORT_IN_PLACE_LAUNCH_H_
#define GSORT_CUDA_SORT_IN_PLACE_LAUNCH_H_

#include "core/request.h"
#include "cuda/engine/launch.h"
#include "cuda/sort/in_place/plan.h"

namespace gsort_internal::sort::in_place {

// What tests ask for.
struct Options {
  bool samples_front = false;  // the first keys are the sample, which misleads where they are not like the others
  uint32_t stripes = 0;        // 0: the plan's own
};

// `plan` is make_plan() of the request, and fits() the device; `workspace` has its workspace_bytes.
void launch(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
            const Options &options = {});

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_LAUNCH_H_
