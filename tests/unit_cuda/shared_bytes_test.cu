// SPDX-License-Identifier: MIT OR Apache-2.0
// allow_shared_bytes(): one call's need does not take away what another was allowed.
#include "core/error.h"
#include "cuda/engine/shared_bytes.h"
#include "launch_harness.h"

namespace gsort_test {
namespace {

using gsort_internal::allow_shared_bytes;

__global__ void touch_kernel(uint32_t words, uint32_t *out) {
  extern __shared__ uint32_t shared[];
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) shared[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *out = shared[words - 1];
}

class SharedBytesTest : public DeviceTest {
 protected:
  // Launches with this much dynamic shared memory, allowed or not.
  void check_launch(uint32_t bytes) {
    const DeviceArray out(4, 0);
    touch_kernel<<<1, 128, bytes>>>(bytes / 4, out.as<uint32_t>());
    ASSERT_EQ(cudaSuccess, cudaGetLastError()) << bytes << " bytes";
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    ASSERT_EQ(bytes / 4 - 1, out.read_as<uint32_t>()[0]);
  }
};

TEST_F(SharedBytesTest, ALimitIsNeverLowered) {
  const uint32_t most = facts_.shared_bytes_block_max;
  allow_shared_bytes(touch_kernel, most);
  check_launch(most);
  // As another thread may, between this one's question and its launch.
  allow_shared_bytes(touch_kernel, 50 * 1024);
  check_launch(most);
  // Forgotten, it is asked for again.
  gsort_internal::forget_shared_bytes(0);
  allow_shared_bytes(touch_kernel, most);
  check_launch(most);
}

TEST_F(SharedBytesTest, MoreThanTheDeviceHasIsAnErrorThatLeavesTheLimit) {
  const uint32_t most = facts_.shared_bytes_block_max;
  allow_shared_bytes(touch_kernel, most);
  EXPECT_THROW(allow_shared_bytes(touch_kernel, most + 1024), gsort_internal::Error);
  EXPECT_EQ(cudaSuccess, cudaGetLastError()) << "no error state is left behind";
  allow_shared_bytes(touch_kernel, most);
  check_launch(most);
}

}  // namespace
}  // namespace gsort_test
