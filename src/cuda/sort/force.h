// SPDX-License-Identifier: MIT OR Apache-2.0
// What tests may force: they reach every path at sizes that are quick to check. Nothing but tests writes here.
#ifndef GSORT_CUDA_SORT_FORCE_H_
#define GSORT_CUDA_SORT_FORCE_H_

#include <cstdint>

#include "cuda/sort/sort_plan.h"

namespace gsort_internal {

struct ForcedSort {
  SortAlgorithm algorithm = SortAlgorithm::kAuto;
  uint32_t portion_tiles = 0;  // 0: the plan's own
  uint32_t team_sampled = 0;   // a team's sample is drawn from so many leading items; 0: from all
};

inline ForcedSort &forced_sort() {
  static ForcedSort forced;
  return forced;
}

// A forced algorithm that cannot do a request (too many keys for a block) is not taken.
inline SortAlgorithm forced_sort_algorithm() { return forced_sort().algorithm; }

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_FORCE_H_
