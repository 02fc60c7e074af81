// SPDX-License-Identifier: MIT OR Apache-2.0
// The same work again and again: a block that publishes too early shows itself only now and then.
#include "gpu/fixture.h"

namespace gsort_test {
namespace {

class cuda_Repeats : public GpuTest {};

TEST_F(cuda_Repeats, SameBitsEveryTime) {
  const Array input = generate(Distribution::kSmallRange, GSORT_F32, 700001, 1);
  const Arrays arrays(Place::kDevice, input);
  gsort *g = shared_handle(GSORT_BACKEND_CUDA);
  for (const NamedOperation &operation : all_operations()) {
    const Bytes want = expected(operation, input);
    for (int round = 0; round < 60; round++) {
      ASSERT_TRUE(succeeded(g, operation.run(g, arrays))) << operation.name;
      ASSERT_TRUE(succeeded(g, gsort_synchronize(g)));
      ASSERT_EQ(want, operation.result(arrays)) << operation.name << ", round " << round;
    }
  }
}

}  // namespace
}  // namespace gsort_test
