// SPDX-License-Identifier: MIT OR Apache-2.0
// Captured calls, with every call of the CUDA runtime failing in turn.
#include "faults/cuda_faults_fixture.h"

namespace gsort_test {
namespace {

// Captured calls take memory that stays with the graph, and give it back when the graph is gone.
TEST_P(FaultTest, CapturedCall) {
  if (real() || GetParam().arrays == ArrayPlace::kHost) GTEST_SKIP() << "captures of the stand-in, on device arrays";
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 60000, 1));
  const auto reserve = [](gsort *g) { return gsort_reserve(g, GSORT_OP_SORT_PAIRS, GSORT_F32, 60000, 4); };
  const auto capture = [&](gsort *g) {
    begin_stand_in_capture();
    const gsort_status status = all_operations()[1].run(g, arrays);
    end_stand_in_capture();
    return status;
  };
  const auto twice = [&](gsort *g) {
    const gsort_status first = capture(g);
    return first == GSORT_OK ? capture(g) : first;
  };
  {
    const Handle handle(options());
    EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, capture(handle.get())) << "nothing is known of what it takes";
    ASSERT_TRUE(succeeded(handle.get(), all_operations()[1].run(handle.get(), arrays)));
    EXPECT_TRUE(succeeded(handle.get(), capture(handle.get()))) << "a direct call has shown what it takes";
  }
  for (const Kind &kind : kKinds) {
    fail_in_turn({"capture", reserve, capture, [&] { return arrays.inputs_intact(); }, nullptr}, kind);
    // What was reserved serves a direct call, so that the capture must allocate.
    fail_in_turn({"capture after a call",
                  [&](gsort *g) {
                    const gsort_status status = reserve(g);
                    return status == GSORT_OK ? all_operations()[1].run(g, arrays) : status;
                  },
                  twice, nullptr, nullptr},
                 kind);
  }
}

// In a graph calls on one stream follow each other, and one block does for all of them; on two they may run at once.
TEST_P(FaultTest, CapturedCallsShareTheBlockOfTheirStream) {
  if (real() || GetParam().arrays == ArrayPlace::kHost) GTEST_SKIP() << "captures of the stand-in, on device arrays";
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 60000, 1));
  const Handle handle(options());
  gsort *const g = handle.get();
  int other = 0;
  ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT_PAIRS, GSORT_F32, 60000, 4)));
  const auto call = [&] { return succeeded(g, all_operations()[1].run(g, arrays)); };
  begin_stand_in_capture();
  EXPECT_TRUE(call());
  const uint64_t of_one_call = live_device_bytes();
  EXPECT_TRUE(call());
  EXPECT_EQ(of_one_call, live_device_bytes());
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &other)));
  EXPECT_TRUE(call());
  const uint64_t of_two_streams = live_device_bytes();
  EXPECT_GT(of_two_streams, of_one_call);
  EXPECT_TRUE(call());
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, nullptr)));
  EXPECT_TRUE(call());
  EXPECT_EQ(of_two_streams, live_device_bytes());
  end_stand_in_capture();
  begin_stand_in_capture();  // what the graph held is the handle's again
  EXPECT_TRUE(call());
  end_stand_in_capture();
  EXPECT_EQ(of_two_streams, live_device_bytes());
}

}  // namespace
}  // namespace gsort_test
