// SPDX-License-Identifier: MIT OR Apache-2.0
// Two GPUs: handles of either, and what belongs to the other one. Skipped where there is one.
#include <cstring>

#include "gpu/fixture.h"

namespace gsort_test {
namespace {

class cuda_TwoDevices : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && device_count() < 2) GTEST_SKIP() << "a second GPU is needed";
  }
  void TearDown() override {
    if (device_available()) use_device(0);
  }
  static gsort_options on_device(int ordinal) {
    gsort_options options = default_options(GSORT_BACKEND_CUDA);
    options.device = ordinal;
    return options;
  }
};

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

TEST_F(cuda_TwoDevices, EveryOperationRefusesArraysOfTheOther) {
  const Array input = generate(Distribution::kUniform, GSORT_U32, 50000, 1);
  for (int own = 0; own < 2; ++own) {
    const Handle handle(on_device(own));
    ASSERT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
    use_device(1 - own);
    const Arrays arrays(Place::kDevice, input);
    for (const bool own_is_current : {false, true}) {
      use_device(own_is_current ? own : 1 - own);
      for (const NamedOperation &operation : all_operations()) {
        SCOPED_TRACE(std::string(operation.name) + " of device " + std::to_string(own));
        EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, operation.run(handle.get(), arrays));
        EXPECT_TRUE(has(gsort_error_message(handle.get()), "device")) << gsort_error_message(handle.get());
        EXPECT_EQ(GSORT_OK, gsort_synchronize(handle.get()));
        EXPECT_TRUE(arrays.inputs_intact());
        for (const Buffer *out : {&arrays.keys_out, &arrays.values_out, &arrays.indices_out})
          EXPECT_TRUE(out->untouched());
      }
    }
  }
}

// A single array of the other device among good ones is named.
TEST_F(cuda_TwoDevices, TheArgumentIsNamed) {
  const Handle handle(on_device(0));
  use_device(1);
  const Buffer other(Place::kDevice, 4000);
  use_device(0);
  const Buffer own(Place::kDevice, 4000);
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort(handle.get(), GSORT_U32, other.data(), own.data(), 1000, 0));
  EXPECT_TRUE(has(gsort_error_message(handle.get()), "keys_in")) << gsort_error_message(handle.get());
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort(handle.get(), GSORT_U32, own.data(), other.data(), 1000, 0));
  EXPECT_TRUE(has(gsort_error_message(handle.get()), "keys_out")) << gsort_error_message(handle.get());
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_set_workspace(handle.get(), other.data(), 4000));
  EXPECT_TRUE(own.untouched() && other.untouched());
}

TEST_F(cuda_TwoDevices, AStreamOfTheOtherIsRefused) {
  const Handle handle(on_device(0));
  use_device(1);
  DeviceStream stream;
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_set_stream(handle.get(), stream.get()));
  EXPECT_TRUE(has(gsort_error_message(handle.get()), "stream")) << gsort_error_message(handle.get());
}

// Handles of both work in turn in one thread, whichever device is current.
TEST_F(cuda_TwoDevices, BothAtOnce) {
  const Handle first(on_device(0)), second(on_device(1));
  ASSERT_EQ(GSORT_OK, first.status());
  ASSERT_EQ(GSORT_OK, second.status());
  for (const gsort_dtype t : {GSORT_U8, GSORT_U32, GSORT_F32, GSORT_U64}) {
    const Array input = generate(Distribution::kUniform, t, 300000, t);
    const Arrays reference(Place::kHost, input);
    use_device(0);
    const Arrays on_first(Place::kDevice, input);
    use_device(1);
    const Arrays on_second(Place::kDevice, input);
    for (const NamedOperation &operation : all_operations()) {
      SCOPED_TRACE(std::string(operation.name) + ", type " + std::to_string(t));
      ASSERT_TRUE(succeeded(nullptr, operation.run(shared_handle(GSORT_BACKEND_CPU), reference)));
      ASSERT_TRUE(succeeded(first.get(), operation.run(first.get(), on_first)));
      ASSERT_TRUE(succeeded(second.get(), operation.run(second.get(), on_second)));
      ASSERT_TRUE(succeeded(first.get(), gsort_synchronize(first.get())));
      ASSERT_TRUE(succeeded(second.get(), gsort_synchronize(second.get())));
      EXPECT_TRUE(operation.result(reference) == operation.result(on_first)) << "on device 0";
      EXPECT_TRUE(operation.result(reference) == operation.result(on_second)) << "on device 1";
    }
  }
}

}  // namespace
}  // namespace gsort_test
