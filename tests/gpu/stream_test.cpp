// SPDX-License-Identifier: MIT OR Apache-2.0
// Work in stream order, graph capture and replay, and the caller's own workspace.
#include "gpu/fixture.h"

namespace gsort_test {
namespace {

class cuda_Streams : public GpuTest {};

// Input copied in, sorted and copied out on one non-blocking stream, without a wait between.
TEST_F(cuda_Streams, WorkFollowsTheStream) {
  const uint64_t n = 1 << 20;
  DeviceStream stream;
  const Handle handle(GSORT_BACKEND_CUDA);
  ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), stream.get())));
  Buffer pinned_in(Place::kPinned, n * 4);
  const Buffer pinned_out(Place::kPinned, n * 4);
  const Buffer device(Place::kDevice, n * 4);
  for (uint64_t round = 0; round < 5; round++) {
    const Array keys = generate(Distribution::kUniform, GSORT_U32, n, round);
    pinned_in.write(keys.bytes());
    stream.copy_async(device.data(), pinned_in.data(), n * 4);
    ASSERT_TRUE(succeeded(handle.get(), gsort_sort(handle.get(), GSORT_U32, device.data(), device.data(), n, 0)));
    stream.copy_async(pinned_out.data(), device.data(), n * 4);
    stream.synchronize();
    ASSERT_TRUE(same_elements(reference_sort(keys, 0), Array(GSORT_U32, pinned_out.read()))) << "round " << round;
  }
  EXPECT_TRUE(device.red_zones_intact());
}

TEST_F(cuda_Streams, ManyStreamsAtOnce) {
  constexpr int kStreams = 4;
  const Array input = generate(Distribution::kSmallRange, GSORT_F32, 100000, 1);
  std::vector<std::unique_ptr<DeviceStream>> streams;
  std::vector<std::unique_ptr<Handle>> handles;
  std::vector<std::unique_ptr<Arrays>> arrays;
  for (int s = 0; s < kStreams; s++) {
    streams.push_back(std::make_unique<DeviceStream>());
    handles.push_back(std::make_unique<Handle>(GSORT_BACKEND_CUDA));
    arrays.push_back(std::make_unique<Arrays>(Place::kDevice, input));
    ASSERT_TRUE(succeeded(handles[s]->get(), gsort_set_stream(handles[s]->get(), streams[s]->get())));
  }
  for (const NamedOperation &operation : all_operations()) {
    const Bytes want = expected(operation, input);
    for (int round = 0; round < 10; round++) {
      for (int s = 0; s < kStreams; s++) {
        ASSERT_TRUE(succeeded(handles[s]->get(), operation.run(handles[s]->get(), *arrays[s]))) << operation.name;
      }
    }
    for (int s = 0; s < kStreams; s++) {
      streams[s]->synchronize();
      EXPECT_EQ(want, operation.result(*arrays[s])) << operation.name << ", stream " << s;
    }
  }
  handles.clear();
}

TEST_F(cuda_Streams, CaptureAndReplay) {
  const uint64_t n = 60000;
  const Array input = generate(Distribution::kSmallRange, GSORT_F32, n, 1);
  const std::vector<ReservedShape> shapes = reserved_shapes(n);
  for (size_t i = 0; i < shapes.size(); i++) {
    const NamedOperation &operation = all_operations()[i];
    SCOPED_TRACE(operation.name);
    DeviceStream stream;
    const Handle handle(GSORT_BACKEND_CUDA);
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), stream.get())));
    ASSERT_TRUE(succeeded(handle.get(), gsort_reserve(handle.get(), shapes[i].op, GSORT_F32, n, shapes[i].last)));
    Arrays arrays(Place::kDevice, input);
    stream.begin_capture();
    const gsort_status status = operation.run(handle.get(), arrays);
    void *graph = stream.end_capture();
    ASSERT_TRUE(succeeded(handle.get(), status));
    ASSERT_NE(nullptr, graph) << "the capture was invalidated";
    EXPECT_TRUE(arrays.keys_out.untouched()) << "a captured call must not run";
    DeviceGraph captured(graph);
    const Bytes want = expected(operation, input);
    for (int replay = 0; replay < 1000; replay++) {
      // A replay that writes nothing, or not everything, must not pass by what the one before left.
      for (const Buffer *output : {&arrays.keys_out, &arrays.values_out, &arrays.indices_out})
        stream.fill_async(output->data(), static_cast<uint8_t>(0xA5 + replay), output->bytes());
      captured.launch(stream);
      stream.synchronize();
      ASSERT_EQ(want, operation.result(arrays)) << "replay " << replay;
    }
    // Other input in the same place: the graph reads it anew.
    const Array other = generate(Distribution::kSmallRange, GSORT_F32, n, 2);
    stream.synchronize();
    arrays.keys.write(other.bytes());
    arrays.sorted_halves.write(reference_sort_segments(other, {0, n / 2, n}, 0).bytes());
    captured.launch(stream);
    stream.synchronize();
    EXPECT_EQ(expected(operation, other), operation.result(arrays));
  }
}

TEST_F(cuda_Streams, CaptureWithoutReserveIsRefusedAndStaysIntact) {
  const uint64_t n = 3000000;
  const Array input = generate(Distribution::kUniform, GSORT_U64, n, 1);
  const Arrays arrays(Place::kDevice, input);
  DeviceStream stream;
  const Handle handle(GSORT_BACKEND_CUDA);
  ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), stream.get())));
  stream.begin_capture();
  const gsort_status status = gsort_sort_pairs(handle.get(), GSORT_U64, arrays.keys.data(), arrays.keys_out.data(), 4,
                                               arrays.values.data(), arrays.values_out.data(), n, 0);
  void *graph = stream.end_capture();
  EXPECT_NE(GSORT_OK, status);
  EXPECT_STRNE("", gsort_error_message(handle.get()));
  EXPECT_NE(nullptr, graph) << "the refused call must leave the capture intact";
  if (graph != nullptr) DeviceGraph discarded(graph);
  const Array small = generate(Distribution::kUniform, GSORT_U32, 5000, 1);
  EXPECT_TRUE(same_elements(reference_sort(small, 0), run_sort({handle.get(), Place::kDevice}, small, 0)));
}

// The sizes that gsort_workspace_bytes() names suffice, and one step less fails with a message instead of a fault.
TEST_F(cuda_Streams, OwnWorkspace) {
  const uint64_t n = 200000;
  const Array input = generate(Distribution::kSmallRange, GSORT_F32, n, 1);
  const std::vector<ReservedShape> shapes = reserved_shapes(n);
  for (size_t i = 0; i < shapes.size(); i++) {
    const NamedOperation &operation = all_operations()[i];
    SCOPED_TRACE(operation.name);
    uint64_t needed = 0;
    ASSERT_EQ(GSORT_OK, gsort_workspace_bytes(shapes[i].op, GSORT_F32, n, shapes[i].last, &needed));
    const Handle handle(GSORT_BACKEND_CUDA);
    const Arrays arrays(Place::kDevice, input);
    if (needed == 0) continue;
    const Buffer workspace(Place::kDevice, needed);
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_workspace(handle.get(), workspace.data(), needed)));
    ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays)));
    ASSERT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
    EXPECT_EQ(expected(operation, input), operation.result(arrays));
    EXPECT_TRUE(workspace.red_zones_intact());
    if (needed <= 256) continue;
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_workspace(handle.get(), workspace.data(), 256)));
    EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, operation.run(handle.get(), arrays));
    EXPECT_STRNE("", gsort_error_message(handle.get()));
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_workspace(handle.get(), nullptr, 0)));
    ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays)));
    ASSERT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
  }
}

}  // namespace
}  // namespace gsort_test
