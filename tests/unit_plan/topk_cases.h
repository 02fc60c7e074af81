// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls of top-k, and devices, that the tests of its plan share.
#ifndef GSORT_TESTS_UNIT_PLAN_TOPK_CASES_H_
#define GSORT_TESTS_UNIT_PLAN_TOPK_CASES_H_

#include <vector>

#include "cuda/topk/plan.h"
#include "plan_support.h"

namespace gsort_test {

using namespace gsort_internal;
using namespace gsort_internal::topk;

struct Case {
  Shape shape;
  DeviceFacts device;
};

inline std::vector<Case> cases() {
  std::vector<Case> all;
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t columns : plan_sizes())
      for (const uint64_t rows : {uint64_t{1}, uint64_t{7}, uint64_t{66}, uint64_t{100000}})
        for (const uint64_t k :
             {uint64_t{1}, uint64_t{33}, uint64_t{256}, uint64_t{257}, uint64_t{500}, uint64_t{2048}, uint64_t{2049},
              uint64_t{70000}, kTeamItemsMax, kTeamItemsMax + 1, columns / 8, columns})
          for (const DeviceFacts device :
               {DeviceFacts{90, 132, 232448}, DeviceFacts{80, 132, 166912}, DeviceFacts{75, 20, 49152}})
            if (k >= 1 && k <= columns && rows * columns < uint64_t{1} << 40)
              all.push_back({{rows, columns, k, key_bytes}, device});
  return all;
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_PLAN_TOPK_CASES_H_
