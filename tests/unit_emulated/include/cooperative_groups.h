// SPDX-License-Identifier: MIT OR Apache-2.0
// A grid of one block.
#ifndef GSORT_TESTS_UNIT_EMULATED_COOPERATIVE_GROUPS_H_
#define GSORT_TESTS_UNIT_EMULATED_COOPERATIVE_GROUPS_H_

#include "emulation.h"

namespace cooperative_groups {

struct ThisGrid {
  void sync() const { __syncthreads(); }
};
inline ThisGrid this_grid() { return {}; }

}  // namespace cooperative_groups

#endif  // GSORT_TESTS_UNIT_EMULATED_COOPERATIVE_GROUPS_H_
