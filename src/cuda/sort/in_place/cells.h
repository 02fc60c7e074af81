// SPDX-License-Identifier: MIT OR Apache-2.0
// The sort in place of keys alone by the cells of the MSD sort, which is tried before that by windows.
#ifndef GSORT_CUDA_SORT_IN_PLACE_CELLS_H_
#define GSORT_CUDA_SORT_IN_PLACE_CELLS_H_

#include <cstdint>

#include "cuda/engine/launch.h"
#include "cuda/sort/in_place/launch.h"
#include "cuda/sort/in_place/plan.h"

namespace gsort_internal::sort::in_place {

// Enqueues the sort, of a plan for which cells_fit(). Returns the device word that says, once the work has run, whether
// the keys are sorted (not 0) or are not for this method and nothing was written but workspace (0).
template <class U>
const uint32_t *launch_cells(const LaunchContext &context, const Request &request, const Plan &plan, void *workspace,
                             const Options &options);

extern template const uint32_t *launch_cells<uint32_t>(const LaunchContext &, const Request &, const Plan &, void *,
                                                       const Options &);
extern template const uint32_t *launch_cells<uint64_t>(const LaunchContext &, const Request &, const Plan &, void *,
                                                       const Options &);

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_CELLS_H_
