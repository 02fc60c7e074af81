// SPDX-License-Identifier: MIT OR Apache-2.0
// Every operation and type while other kernels hold the GPU: most of a kernel's blocks then start when the others have
// ended, and what each of them takes for granted of the others shows. GSORT_OCCUPIED_ELEMENTS in the environment is the
// most elements of a call (default: all of kLengths), for compute-sanitizer.
#include <cstdlib>

#include "gpu/fixture.h"
#include "support/occupier.h"

namespace gsort_test {
namespace {

class cuda_Occupied : public GpuTest {};

// Runs the operation on arrays of the device and compares; `before_each` runs ahead of each call.
template <class BeforeEach>
void run_operations(gsort *g, const Array &input, BeforeEach before_each) {
  Arrays arrays(Place::kDevice, input), reference(Place::kHost, input);
  for (const NamedOperation &operation : all_operations()) {
    SCOPED_TRACE(std::string(operation.name) + ", type " + std::to_string(input.type()) +
                 ", n = " + std::to_string(input.size()));
    ASSERT_TRUE(succeeded(nullptr, operation.run(shared_handle(GSORT_BACKEND_CPU), reference)));
    for (Buffer *out : {&arrays.keys_out, &arrays.values_out, &arrays.indices_out}) out->poison();
    before_each();
    ASSERT_TRUE(succeeded(g, operation.run(g, arrays)));
    ASSERT_TRUE(succeeded(g, gsort_synchronize(g)));
    ASSERT_TRUE(operation.result(reference) == operation.result(arrays)) << "a wrong result";
    ASSERT_TRUE(arrays.inputs_intact() && arrays.keys_out.red_zones_intact() && arrays.indices_out.red_zones_intact());
  }
}

// Lengths for each way that sorts, scans and selections have; the last has more tiles than a scan has blocks.
constexpr uint64_t kLengths[] = {900, 20000, 70000, 600000, 3000000};

std::vector<uint64_t> lengths() {
  const char *const text = std::getenv("GSORT_OCCUPIED_ELEMENTS");
  const uint64_t most = text == nullptr ? UINT64_MAX : std::strtoull(text, nullptr, 10);
  std::vector<uint64_t> chosen;
  for (const uint64_t n : kLengths)
    if (n <= most) chosen.push_back(n);
  return chosen;
}

TEST_F(cuda_Occupied, FewMultiprocessorsAreFree) {
  Occupier occupier;
  DeviceStream stream;
  const Handle handle(GSORT_BACKEND_CUDA);
  ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), stream.get())));
  uint32_t free = 1;
  for (const uint64_t n : lengths())
    for (gsort_dtype t = GSORT_U8; t <= GSORT_F64; ++t) {
      if (n > 1000000 && t != GSORT_U8 && t != GSORT_U32 && t != GSORT_F32 && t != GSORT_U64) continue;
      const Array input = generate(t % 2 ? Distribution::kUniform : Distribution::kSmallRange, t, n, n + t);
      run_operations(handle.get(), input, [&] {
        occupier.hold(free, 1000000 + n);
        free = free % 7 + 1;
      });
      if (HasFailure()) return;
    }
}

TEST_F(cuda_Occupied, SteadyForeignWork) {
  const SteadyForeignWork foreign;
  DeviceStream stream;
  const Handle handle(GSORT_BACKEND_CUDA);
  ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), stream.get())));
  for (const uint64_t n : lengths())
    for (const gsort_dtype t : {GSORT_U8, GSORT_U32, GSORT_F64}) {
      run_operations(handle.get(), generate(Distribution::kUniform, t, n, n + t), [] {});
      if (HasFailure()) return;
    }
}

// Two handles at once on two streams, each beside the other's kernels.
TEST_F(cuda_Occupied, TwoHandles) {
  DeviceStream streams[2];
  const Handle handles[2] = {Handle(GSORT_BACKEND_CUDA), Handle(GSORT_BACKEND_CUDA)};
  const Array input = generate(Distribution::kUniform, GSORT_U32, 4000000, 1);
  const Arrays arrays[2] = {Arrays(Place::kDevice, input), Arrays(Place::kDevice, input)};
  for (int h = 0; h < 2; ++h)
    ASSERT_TRUE(succeeded(handles[h].get(), gsort_set_stream(handles[h].get(), streams[h].get())));
  for (const NamedOperation &operation : all_operations()) {
    SCOPED_TRACE(operation.name);
    const Bytes want = expected(operation, input);
    for (int round = 0; round < 30; ++round)
      for (int h = 0; h < 2; ++h) ASSERT_TRUE(succeeded(handles[h].get(), operation.run(handles[h].get(), arrays[h])));
    for (int h = 0; h < 2; ++h) {
      ASSERT_TRUE(succeeded(handles[h].get(), gsort_synchronize(handles[h].get())));
      EXPECT_TRUE(want == operation.result(arrays[h])) << "handle " << h;
    }
  }
}

}  // namespace
}  // namespace gsort_test
