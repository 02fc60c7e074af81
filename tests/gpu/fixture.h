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

  // What the CPU backend gives for the operation on the same input.
  static Bytes expected(const NamedOperation &operation, const Array &input) {
    const Arrays arrays(Place::kHost, input);
    EXPECT_TRUE(succeeded(nullptr, operation.run(shared_handle(GSORT_BACKEND_CPU), arrays)));
    return operation.result(arrays);
  }
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_GPU_FIXTURE_H_
