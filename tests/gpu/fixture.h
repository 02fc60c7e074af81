// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that are about the GPU alone; they skip where there is none.
#ifndef GSORT_TESTS_GPU_FIXTURE_H_
#define GSORT_TESTS_GPU_FIXTURE_H_

#include <vector>

#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override { GSORT_SKIP_WITHOUT(GSORT_BACKEND_CUDA); }

  // What the reference gives for the operation on this input.
  static Bytes expected(const NamedOperation &operation, const Array &input) {
    return operation.expected(Arrays(Place::kHost, input));
  }
};

struct ReservedShape {
  uint32_t op;
  uint64_t last;
};

// What gsort_reserve() must be told for an operation of all_operations(), in its order.
inline std::vector<ReservedShape> reserved_shapes(uint64_t n) {
  return {{GSORT_OP_SORT, 0},     {GSORT_OP_SORT_PAIRS, 4},    {GSORT_OP_ARGSORT, 4},
          {GSORT_OP_RANK, 4},     {GSORT_OP_MERGE, 0},         {GSORT_OP_SORT_SEGMENTS, Arrays::kSegments},
          {GSORT_OP_TOPK, n / 3}, {GSORT_OP_TOPK_ROWS, n / 9}, {GSORT_OP_TOPK_SEGMENTS, 10},
          {GSORT_OP_SUM, 0},      {GSORT_OP_REDUCE, 0},        {GSORT_OP_SCAN, 0}};
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_GPU_FIXTURE_H_
