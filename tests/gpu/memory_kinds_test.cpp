// SPDX-License-Identifier: MIT OR Apache-2.0
// Every operation with inputs and outputs in every kind of memory, and the device pointers that must be refused.
#include <algorithm>

#include "gpu/fixture.h"

namespace gsort_test {
namespace {

constexpr Place kPlaces[] = {Place::kHost, Place::kPinned, Place::kManaged, Place::kDevice};

class cuda_MemoryKinds : public GpuTest {};

TEST_F(cuda_MemoryKinds, EveryOperationInEveryMemory) {
  const Array input = generate(Distribution::kSmallRange, GSORT_F32, 50000, 1);
  for (const NamedOperation &operation : all_operations()) {
    const Bytes want = expected(operation, input);
    for (const Place place : kPlaces) {
      SCOPED_TRACE(testing::Message() << operation.name << ", " << place_name(place));
      const Handle handle(GSORT_BACKEND_CUDA);
      const Arrays arrays(place, input);
      ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays)));
      ASSERT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
      EXPECT_EQ(want, operation.result(arrays));
      EXPECT_TRUE(arrays.inputs_intact());
    }
  }
}

TEST_F(cuda_MemoryKinds, InputAndOutputInDifferentMemory) {
  const Array keys = generate(Distribution::kUniform, GSORT_U64, 30000, 1);
  const Array sorted = reference_sort(keys, 0);
  for (const Place from : kPlaces) {
    for (const Place to : kPlaces) {
      SCOPED_TRACE(testing::Message() << place_name(from) << " to " << place_name(to));
      const Where where = {shared_handle(GSORT_BACKEND_CUDA), from, to, 3};
      EXPECT_TRUE(same_elements(sorted, run_sort(where, keys, 0)));
      EXPECT_TRUE(
          same_elements(make_indices(GSORT_U32, reference_argsort(keys, 0)), run_argsort(where, keys, GSORT_U32, 0)));
      EXPECT_TRUE(same_elements(run_scan({shared_handle(GSORT_BACKEND_CPU)}, keys, 0), run_scan(where, keys, 0)));
    }
  }
}

// A call with any host argument has its result when it returns.
TEST_F(cuda_MemoryKinds, HostOutputsNeedNoSynchronize) {
  const Array keys = generate(Distribution::kUniform, GSORT_U32, 1 << 20, 1);
  Buffer in(Place::kDevice, keys.bytes().size());
  in.write(keys.bytes());
  for (const Place place : {Place::kHost, Place::kPinned}) {
    const Buffer out(place, keys.bytes().size());
    gsort *g = shared_handle(GSORT_BACKEND_CUDA);
    ASSERT_TRUE(succeeded(g, gsort_sort(g, GSORT_U32, in.data(), out.data(), keys.size(), 0)));
    const auto *sorted = static_cast<const uint32_t *>(out.data());
    EXPECT_TRUE(std::is_sorted(sorted, sorted + keys.size())) << place_name(place);
  }
}

TEST_F(cuda_MemoryKinds, CpuHandleRefusesDeviceMemory) {
  Buffer device(Place::kDevice, 400);
  const Buffer host(Place::kHost, 400);
  gsort *g = shared_handle(GSORT_BACKEND_CPU);
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort(g, GSORT_U32, device.data(), host.data(), 100, 0));
  EXPECT_NE(std::string::npos, std::string(gsort_error_message(g)).find("keys_in")) << gsort_error_message(g);
  EXPECT_TRUE(host.untouched());
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort(g, GSORT_U32, host.data(), device.data(), 100, 0));
  EXPECT_NE(std::string::npos, std::string(gsort_error_message(g)).find("keys_out")) << gsort_error_message(g);
  EXPECT_TRUE(device.untouched());
}

TEST_F(cuda_MemoryKinds, CpuHandleTakesManagedAndPinnedMemory) {
  const Array keys = generate(Distribution::kUniform, GSORT_U32, 5000, 1);
  for (const Place place : {Place::kManaged, Place::kPinned}) {
    const Where where = {shared_handle(GSORT_BACKEND_CPU), place};
    EXPECT_TRUE(same_elements(reference_sort(keys, 0), run_sort(where, keys, 0))) << place_name(place);
  }
}

TEST_F(cuda_MemoryKinds, MemoryOfAnotherDeviceIsRefused) {
  if (device_count() < 2) GTEST_SKIP() << "needs two devices";
  use_device(1);
  {
    Buffer foreign(Place::kDevice, 400);
    use_device(0);
    gsort *g = shared_handle(GSORT_BACKEND_CUDA);
    EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort(g, GSORT_U32, foreign.data(), foreign.data(), 100, 0));
    EXPECT_NE(std::string::npos, std::string(gsort_error_message(g)).find("keys_in")) << gsort_error_message(g);
    use_device(1);
    EXPECT_TRUE(foreign.untouched());
  }
  use_device(0);
}

TEST_F(cuda_MemoryKinds, DeviceMemoryLimit) {
  const Array keys = generate(Distribution::kUniform, GSORT_U64, 1 << 20, 1);
  gsort_options options = default_options(GSORT_BACKEND_CUDA);
  options.device_memory_limit_bytes = 1 << 16;
  const Handle handle(options);
  ASSERT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
  const Arrays arrays(Place::kDevice, keys);
  for (const NamedOperation &operation : all_operations()) {
    const gsort_status status = operation.run(handle.get(), arrays);
    EXPECT_TRUE(status == GSORT_OK || status == GSORT_ERROR_OUT_OF_MEMORY) << operation.name << ": " << status;
    gsort_synchronize(handle.get());
    EXPECT_TRUE(arrays.inputs_intact());
    gsort_info info = {};
    info.struct_size = sizeof info;
    ASSERT_TRUE(succeeded(handle.get(), gsort_info_get(handle.get(), &info)));
    EXPECT_LE(info.device_held_bytes, options.device_memory_limit_bytes) << operation.name;
  }
}

}  // namespace
}  // namespace gsort_test
