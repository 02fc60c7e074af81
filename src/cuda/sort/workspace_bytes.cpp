// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/workspace_bytes.h"

#include "cuda/sort/force.h"
#include "cuda/sort/msd/msd_tables.h"
#include "cuda/sort/sort_layout.h"
#include "cuda/sort/sort_plan.h"

namespace gsort_internal {

SortPlan plan_whole_sort(const Request &request, uint32_t shared_bytes, bool teams) {
  SortPlan plan = plan_sort(request, shared_bytes, teams, forced_sort_algorithm(), forced_sort().portion_tiles);
  if (plan.algorithm == SortAlgorithm::kMsd) plan.msd_tables_bytes = msd_tables_bytes(request.n, plan.key_bytes);
  if (plan.algorithm == SortAlgorithm::kStable) plan.msd_tables_bytes = stable_tables(plan_stable(request.n)).bytes;
  return plan;
}

uint64_t sort_workspace_bytes(const Request &shape) {
  return sort_layout(shape, plan_whole_sort(shape, 0, false)).bytes;
}

}  // namespace gsort_internal
