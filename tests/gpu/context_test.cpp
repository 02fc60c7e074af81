// SPDX-License-Identifier: MIT OR Apache-2.0
// Programs that use contexts of their own: one beside the primary context, a green context with a part of the
// multiprocessors, and a reset of the device.
#include <dlfcn.h>

#include <cstring>

#include "gpu/fixture.h"

namespace gsort_test {
namespace {

class cuda_Contexts : public GpuTest {};

// A function of the driver, or a skipped test where it is too old for it.
template <class Function>
bool find(const char *name, Function *function) {
  void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void *const symbol = library == nullptr ? nullptr : dlsym(library, name);
  std::memcpy(function, &symbol, sizeof symbol);
  return symbol != nullptr;
}

void *current_context() {
  int (*get)(void **) = nullptr;
  void *context = nullptr;
  EXPECT_TRUE(find("cuCtxGetCurrent", &get) && get(&context) == 0);
  return context;
}

void expect_every_operation(gsort *g, Place place, const Array &input) {
  const Arrays reference(Place::kHost, input);
  for (const NamedOperation &operation : all_operations()) {
    SCOPED_TRACE(operation.name);
    const Arrays arrays(place, input);
    ASSERT_TRUE(succeeded(nullptr, operation.run(shared_handle(GSORT_BACKEND_CPU), reference)));
    ASSERT_TRUE(succeeded(g, operation.run(g, arrays)));
    ASSERT_TRUE(succeeded(g, gsort_synchronize(g)));
    EXPECT_TRUE(operation.result(reference) == operation.result(arrays));
  }
}

TEST_F(cuda_Contexts, OneBesideThePrimary) {
  int (*create)(void **, void *, unsigned, int) = nullptr;
  int (*create_before)(void **, unsigned, int) = nullptr;
  int (*destroy)(void *) = nullptr, (*set)(void *) = nullptr;
  ASSERT_TRUE(find("cuCtxDestroy_v2", &destroy) && find("cuCtxSetCurrent", &set));
  void *const before = current_context();
  void *own = nullptr;
  if (find("cuCtxCreate_v4", &create)) {
    ASSERT_EQ(0, create(&own, nullptr, 0, 0));
  } else {
    ASSERT_TRUE(find("cuCtxCreate_v2", &create_before));
    ASSERT_EQ(0, create_before(&own, 0, 0));
  }
  ASSERT_EQ(own, current_context());
  {
    const Handle handle(GSORT_BACKEND_CUDA);  // made, used and destroyed in the other context
    expect_every_operation(handle.get(), Place::kHost, generate(Distribution::kUniform, GSORT_F32, 100000, 1));
    EXPECT_EQ(own, current_context()) << "the thread's context was changed";
  }
  EXPECT_EQ(own, current_context()) << "the thread's context was changed";
  const Handle handle(GSORT_BACKEND_CUDA);
  ASSERT_EQ(0, set(before));
  expect_every_operation(handle.get(), Place::kDevice, generate(Distribution::kUniform, GSORT_U32, 300000, 1));
  ASSERT_EQ(0, set(own));
  expect_every_operation(handle.get(), Place::kHost, generate(Distribution::kUniform, GSORT_U32, 1000, 1));
  EXPECT_EQ(0, destroy(own));
  ASSERT_EQ(0, set(before));
}

// As in the driver's documentation: a resource of the device, and a description of a part of it.
struct DeviceResource {
  uint64_t words[32];  // 144 bytes and more in later drivers
};

TEST_F(cuda_Contexts, StreamOfAGreenContext) {
  int (*get_resource)(int, DeviceResource *, int) = nullptr;
  int (*split)(DeviceResource *, unsigned *, const DeviceResource *, DeviceResource *, unsigned, unsigned) = nullptr;
  int (*describe)(void **, DeviceResource *, unsigned) = nullptr;
  int (*create)(void **, void *, int, unsigned) = nullptr;
  int (*destroy)(void *) = nullptr;
  int (*make_stream)(void **, void *, unsigned, int) = nullptr;
  int (*destroy_stream)(void *) = nullptr;
  if (!find("cuDeviceGetDevResource", &get_resource) || !find("cuDevSmResourceSplitByCount", &split) ||
      !find("cuDevResourceGenerateDesc", &describe) || !find("cuGreenCtxCreate", &create) ||
      !find("cuGreenCtxDestroy", &destroy) || !find("cuGreenCtxStreamCreate", &make_stream) ||
      !find("cuStreamDestroy_v2", &destroy_stream))
    GTEST_SKIP() << "the driver has no green contexts";
  DeviceResource all{}, rest{}, part[1] = {};
  unsigned groups = 1;
  void *description = nullptr, *green = nullptr, *stream = nullptr;
  if (get_resource(0, &all, 1 /* multiprocessors */) != 0 || split(part, &groups, &all, &rest, 0, 16) != 0 ||
      describe(&description, part, 1) != 0 || create(&green, description, 0, 1 /* default stream */) != 0 ||
      make_stream(&stream, green, 1 /* non-blocking */, 0) != 0)
    GTEST_SKIP() << "the device cannot be split here";
  {
    const Handle handle(GSORT_BACKEND_CUDA);
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), stream)));
    for (const uint64_t n : {1000, 70000, 200000, 3000000})
      for (const gsort_dtype t : {GSORT_U32, GSORT_F64, GSORT_U8}) {
        if (n > 1000000 && t != GSORT_U32) continue;
        expect_every_operation(handle.get(), Place::kDevice, generate(Distribution::kUniform, t, n, 1));
      }
  }
  EXPECT_EQ(0, destroy_stream(stream));
  EXPECT_EQ(0, destroy(green));
}

// Last, for nothing that lay on the device is there afterwards.
TEST_F(cuda_Contexts, ZZ_DeviceReset) {
  int (*reset)(int) = nullptr;
  ASSERT_TRUE(find("cuDevicePrimaryCtxReset_v2", &reset));
  const Array input = generate(Distribution::kUniform, GSORT_U32, 100000, 1);
  const Handle handle(GSORT_BACKEND_CUDA);
  expect_every_operation(handle.get(), Place::kHost, input);
  ASSERT_EQ(0, reset(0));
  const Arrays arrays(Place::kHost, input);
  EXPECT_EQ(GSORT_ERROR_DEVICE_LOST, all_operations()[0].run(handle.get(), arrays));
  EXPECT_NE(nullptr, std::strstr(gsort_error_message(handle.get()), "reset")) << gsort_error_message(handle.get());
  EXPECT_TRUE(arrays.inputs_intact());
  use_device(0);
  const Handle next(GSORT_BACKEND_CUDA);
  ASSERT_EQ(GSORT_OK, next.status()) << gsort_error_message(nullptr);
  expect_every_operation(next.get(), Place::kHost, input);
}

}  // namespace
}  // namespace gsort_test
