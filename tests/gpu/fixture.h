// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that are about the GPU alone; they skip where there is none.
#ifndef GSORT_TESTS_GPU_FIXTURE_H_
#define GSORT_TESTS_GPU_FIXTURE_H_

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

}  // namespace gsort_test

#endif  // GSORT_TESTS_GPU_FIXTURE_H_
