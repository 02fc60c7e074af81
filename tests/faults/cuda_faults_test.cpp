// SPDX-License-Identifier: MIT OR Apache-2.0
// Every operation with every call of the CUDA runtime failing in turn.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <vector>

#include "faults/cuda_faults_fixture.h"

namespace gsort_test {
namespace {

TEST_P(FaultTest, EveryOperation) {
  for (const uint64_t n : {uint64_t{3000}, uint64_t{60000}, uint64_t{600000}}) {
    const Array input = generate(Distribution::kSmallRange, GSORT_F32, n, 1);
    const Arrays arrays(place(), input);
    const Arrays small(place(), generate(Distribution::kSmallRange, GSORT_F32, 100, 1));
    const Arrays reference(Place::kHost, input);
    for (const NamedOperation &operation : all_operations()) {
      ASSERT_TRUE(succeeded(nullptr, operation.run(shared_handle(GSORT_BACKEND_CPU), reference)));
      const Bytes want = operation.result(reference);
      const NamedOperation &first = all_operations()[1];  // takes some workspace, which must then grow
      const Scenario scenario = {
          std::string(operation.name) + " of " + std::to_string(n), [&](gsort *g) { return first.run(g, small); },
          [&](gsort *g) { return operation.run(g, arrays); }, [&] { return arrays.inputs_intact(); },
          [&] { return operation.result(arrays) == want; }};
      for (const Kind &kind : kKinds) {
        if (n > 100000 && &kind != &kKinds[0]) continue;
        fail_in_turn(scenario, kind);
        if (HasFailure()) return;
      }
    }
  }
}

// Host arrays that the device may not hold at once.
TEST_P(FaultTest, EveryOperationInPieces) {
  if (GetParam().arrays == ArrayPlace::kDevice) GTEST_SKIP() << "device arrays are never worked in pieces";
  const Array input = generate(Distribution::kSmallRange, GSORT_U32, 120000, 1);
  const Arrays arrays(place(), input);
  const Arrays reference(Place::kHost, input);
  for (const NamedOperation &operation : all_operations()) {
    ASSERT_TRUE(succeeded(nullptr, operation.run(shared_handle(GSORT_BACKEND_CPU), reference)));
    const Bytes want = operation.result(reference);
    const Scenario scenario = {
        std::string(operation.name) + " in pieces",         nullptr,
        [&](gsort *g) { return operation.run(g, arrays); }, [&] { return arrays.inputs_intact(); },
        [&] { return operation.result(arrays) == want; },   uint64_t{3} << 19};
    for (const Kind &kind : kKinds) {
      if (&kind != &kKinds[0] && kind.error != kSticky) continue;  // every call is a long one
      fail_in_turn(scenario, kind);
      if (HasFailure()) return;
    }
    if (real()) continue;
    use_stand_in(ArrayPlace::kRegistered);  // which are copied many at a time
    fail_in_turn(scenario, kKinds[0]);
    use_stand_in(GetParam().arrays);
    if (HasFailure()) return;
  }
}

// A driver that cannot copy many arrays at a time is asked to copy one after the other.
TEST(Pieces, DriversThatCopyOneAtATime) {
  constexpr uint64_t n = 300000;
  use_stand_in(ArrayPlace::kRegistered);
  std::vector<uint32_t> keys(n, 5);
  const int device = current_device();
  uint32_t refused = 0;
  CallReport report;
  for (uint64_t at = 0; at == 0 || !report.failed.empty(); ++at) {
    gsort_options options = default_options(GSORT_BACKEND_CUDA);
    options.device_memory_limit_bytes = uint64_t{1} << 20;
    options.threads = 1;
    const Handle handle(options);
    ASSERT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
    arm({at, false, cudaErrorNotSupported});
    const gsort_status status = gsort_sort(handle.get(), GSORT_U32, keys.data(), keys.data(), n, 0);
    report = disarm();
    EXPECT_EQ(cudaSuccess, take_last_error());
    restore_thread(device);  // as EveryOperation says, a call that puts it back may be the one that failed
    if (report.failed != "cudaMemcpyBatchAsync") continue;
    ++refused;
    EXPECT_TRUE(succeeded(handle.get(), status));
    EXPECT_EQ(n, static_cast<uint64_t>(std::count(keys.begin(), keys.end(), 5u)));
  }
  EXPECT_GT(refused, 3u);
  use_real_device();
}

// Exceptions that leave the caller's functions for device memory end inside the library.
TEST_P(FaultTest, DeviceAllocatorThatThrows) {
  static bool armed;
  gsort_options o = options();
  o.device_allocate = [](void *, uint64_t bytes, uint64_t) -> void * {
    void *memory = nullptr;
    if (armed) throw 1;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
  };
  o.device_deallocate = [](void *, void *memory, uint64_t) {
    (void)cudaFree(memory);
    if (armed) throw 2;
  };
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 60000, 1));
  armed = false;
  {
    const Handle handle(o);
    armed = true;
    EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, all_operations()[1].run(handle.get(), arrays));
    EXPECT_STRNE("", gsort_error_message(handle.get()));
    EXPECT_TRUE(arrays.inputs_intact());
    armed = false;
    EXPECT_TRUE(succeeded(handle.get(), all_operations()[1].run(handle.get(), arrays)));
    EXPECT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
    armed = true;  // gives back at its end
  }
  armed = false;
}

// Nothing to sort, select or sum: the result of a sum of nothing is written by a path of its own.
TEST_P(FaultTest, EmptySum) {
  const Buffer out(place(), 8);
  for (const Kind &kind : kKinds) {
    fail_in_turn(
        {"sum of nothing", nullptr, [&](gsort *g) { return gsort_sum(g, GSORT_F32, nullptr, 0, out.data(), 0); },
         nullptr, [&] { return out.read() == Bytes(8, 0); }},
        kind);
  }
}

// After all tests: every function on the list was made to fail at least once.
class EveryFunctionFailed : public ::testing::Environment {
 public:
  void TearDown() override {
    const std::string filter = ::testing::GTEST_FLAG(filter);
    if (filter != "*" && filter != "-*cuda_*") return;
    std::ifstream list(GSORT_CUDA_CALLS);
    std::string mark, function;
    int count = 0;
    while (list >> mark) {
      if (mark == "fails" && list >> function) {
        count++;
        EXPECT_EQ(1u, failed_functions().count(function)) << function << " was never made to fail";
      } else {
        std::getline(list, function);
      }
    }
    EXPECT_GT(count, 20);
    std::printf("%llu calls of %d functions of the CUDA runtime were made to fail\n",
                static_cast<unsigned long long>(failures_made()), count);
  }
};
const ::testing::Environment *const kEveryFunctionFailed = ::testing::AddGlobalTestEnvironment(new EveryFunctionFailed);

}  // namespace
}  // namespace gsort_test
