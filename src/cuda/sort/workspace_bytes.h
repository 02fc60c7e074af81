// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of a sort with everything in it, and its workspace. No CUDA header: in every build.
#ifndef GSORT_CUDA_SORT_WORKSPACE_BYTES_H_
#define GSORT_CUDA_SORT_WORKSPACE_BYTES_H_

#include <cstdint>

#include "core/request.h"

namespace gsort_internal {

struct SortPlan;

// plan_sort() with the sizes of the tables. The parameters are those of plan_sort().
SortPlan plan_whole_sort(const Request &request, uint32_t shared_bytes, bool teams);

// Sort, sort_pairs, argsort and rank, whatever the device.
uint64_t sort_workspace_bytes(const Request &shape);

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_WORKSPACE_BYTES_H_
