// SPDX-License-Identifier: MIT OR Apache-2.0
// Graphs beside other work of the handle that captured them: replays, direct calls and other graphs share no memory.
// Also streams that are gone, and one stream a thread.
#include <thread>

#include "gpu/fixture.h"
#include "inputs/samples.h"

namespace gsort_test {
namespace {

class cuda_Graphs : public GpuTest {};

constexpr uint64_t kLength = 1 << 20;
constexpr uint64_t kReplays = 100;  // of each operation; GSORT_TESTS_ROUNDS=10 makes 1,000

constexpr Buffer Arrays::*kOutputs[] = {&Arrays::keys_out, &Arrays::values_out, &Arrays::indices_out};

void poison(DeviceStream &on, const Arrays &arrays) {
  for (const auto out : kOutputs) on.fill_async((arrays.*out).data(), 0xA5, (arrays.*out).bytes());
}

// What calls on a stream have written, each call's copied behind it, so that all are looked at and none waited for.
class Kept {
 public:
  explicit Kept(const Array &input) {
    for (size_t i = 0; i < kCalls; ++i) calls_.push_back(std::make_unique<Arrays>(Place::kDevice, input));
  }
  bool full() const { return count_ == kCalls; }
  void keep(DeviceStream &on, const Arrays &arrays) {
    for (const auto out : kOutputs)
      on.copy_async((calls_[count_].get()->*out).data(), (arrays.*out).data(), (arrays.*out).bytes());
    ++count_;
  }
  // Waits; the calls that did not write what they should have. Then there is room again.
  int wrong(DeviceStream &on, const NamedOperation &operation, const Bytes &want) {
    on.synchronize();
    int wrong = 0;
    for (size_t i = 0; i < count_; ++i) wrong += operation.result(*calls_[i]) != want;
    count_ = 0;
    return wrong;
  }

 private:
  static constexpr size_t kCalls = 5;
  std::vector<std::unique_ptr<Arrays>> calls_;
  size_t count_ = 0;
};

// The graph of one call, with arrays of its own.
struct Captured {
  Captured(gsort *g, size_t number, const Array &input, const DeviceStream &on)
      : operation(all_operations()[number]), arrays(Place::kDevice, input) {
    const ReservedShape shape = reserved_shapes(input.size())[number];
    EXPECT_TRUE(succeeded(g, gsort_reserve(g, shape.op, input.type(), input.size(), shape.last)));
    EXPECT_TRUE(succeeded(g, gsort_set_stream(g, on.get())));
    capture(g, on);
  }
  void capture(gsort *g, const DeviceStream &on) {
    const_cast<DeviceStream &>(on).begin_capture();
    const gsort_status status = operation.run(g, arrays);
    void *const made = const_cast<DeviceStream &>(on).end_capture();
    EXPECT_TRUE(succeeded(g, status));
    graph = std::make_unique<DeviceGraph>(made);
  }
  void replay(DeviceStream &on) {
    poison(on, arrays);
    graph->launch(on);
  }
  const NamedOperation &operation;
  Arrays arrays;
  std::unique_ptr<DeviceGraph> graph;
};

uint64_t held_bytes(gsort *g) {
  gsort_info info = {};
  info.struct_size = sizeof info;
  EXPECT_TRUE(succeeded(g, gsort_info_get(g, &info)));
  return info.device_held_bytes;
}

TEST_F(cuda_Graphs, ReplayBesideDirectCalls) {
  const Array input = generate(Distribution::kUniform, GSORT_I32, kLength, 1);
  const Array other = generate(Distribution::kUniform, GSORT_I32, kLength, 2);
  for (size_t i = 0; i < all_operations().size(); ++i) {
    SCOPED_TRACE(all_operations()[i].name);
    DeviceStream a, b;
    const Handle handle(GSORT_BACKEND_CUDA);
    gsort *const g = handle.get();
    Captured captured(g, i, input, a);
    const Arrays direct(Place::kDevice, other);
    ASSERT_TRUE(succeeded(g, gsort_set_stream(g, b.get())));
    const Bytes want = expected(captured.operation, input), want_direct = expected(captured.operation, other);
    Kept replays(input), calls(other);
    for (uint64_t round = 0; round < kReplays * rounds(); ++round) {
      captured.replay(a);
      replays.keep(a, captured.arrays);
      poison(b, direct);
      ASSERT_TRUE(succeeded(g, captured.operation.run(g, direct)));
      calls.keep(b, direct);
      if (!calls.full()) continue;
      ASSERT_EQ(0, replays.wrong(a, captured.operation, want)) << "replays up to " << round;
      ASSERT_EQ(0, calls.wrong(b, captured.operation, want_direct)) << "direct calls up to " << round;
    }
  }
}

TEST_F(cuda_Graphs, TwoReplaysAtOnce) {
  const Array inputs[2] = {generate(Distribution::kUniform, GSORT_F32, kLength, 1),
                           generate(Distribution::kSmallRange, GSORT_F32, kLength, 2)};
  for (size_t i = 0; i < all_operations().size(); ++i) {
    SCOPED_TRACE(all_operations()[i].name);
    DeviceStream streams[2];
    const Handle handle(GSORT_BACKEND_CUDA);
    Captured first(handle.get(), i, inputs[0], streams[0]), second(handle.get(), i, inputs[1], streams[1]);
    Captured *const both[2] = {&first, &second};
    const Bytes want[2] = {expected(first.operation, inputs[0]), expected(first.operation, inputs[1])};
    Kept kept[2] = {Kept(inputs[0]), Kept(inputs[1])};
    for (uint64_t round = 0; round < kReplays * rounds(); ++round) {
      for (int s = 0; s < 2; ++s) {
        both[s]->replay(streams[s]);
        kept[s].keep(streams[s], both[s]->arrays);
      }
      if (!kept[0].full()) continue;
      for (int s = 0; s < 2; ++s)
        ASSERT_EQ(0, kept[s].wrong(streams[s], first.operation, want[s])) << "round " << round << ", graph " << s;
    }
  }
}

// A program that captures again and again does not hold ever more.
TEST_F(cuda_Graphs, MemoryComesBackWithTheGraph) {
  const Array input = generate(Distribution::kUniform, GSORT_F32, kLength, 1);
  DeviceStream stream;
  const Handle handle(GSORT_BACKEND_CUDA);
  Captured captured(handle.get(), 0, input, stream);
  const uint64_t once = held_bytes(handle.get());
  EXPECT_GT(once, 0u);
  constexpr uint64_t kRounds = 100;
  for (uint64_t round = 0; round < kRounds; ++round) {
    captured.replay(stream);
    stream.synchronize();
    captured.graph.reset();
    captured.capture(handle.get(), stream);
  }
  // A thread of CUDA's tells of a graph's end when it comes to it, so that some blocks may still wait.
  EXPECT_LE(held_bytes(handle.get()), kRounds / 5 * once);
  captured.replay(stream);
  stream.synchronize();
  EXPECT_TRUE(expected(captured.operation, input) == captured.operation.result(captured.arrays));
}

// A handle leaves a stream with work on it, and one that is captured, for others; `blocking` streams are ordered with
// the legacy default stream, on which the handle begins.
TEST_F(cuda_Graphs, FromStreamToStreamWhileOneIsCaptured) {
  const Array input = generate(Distribution::kUniform, GSORT_I32, kLength, 1);
  const NamedOperation &sort = all_operations()[0];
  const Bytes want = expected(sort, input);
  for (const bool blocking : {false, true}) {
    DeviceStream a(blocking), b(blocking), other(false);
    const Handle handle(GSORT_BACKEND_CUDA);
    gsort *const g = handle.get();
    const Arrays direct(Place::kDevice, input), captured(Place::kDevice, input), last(Place::kDevice, input);
    ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_I32, kLength, 0)));
    if (!blocking) {
      ASSERT_TRUE(succeeded(g, gsort_set_stream(g, a.get())));
    }
    ASSERT_TRUE(succeeded(g, sort.run(g, direct)));
    a.begin_capture();
    ASSERT_TRUE(succeeded(g, gsort_set_stream(g, a.get())));
    ASSERT_TRUE(succeeded(g, sort.run(g, captured)));
    // Away from the stream whose capture is under way, and back.
    ASSERT_TRUE(succeeded(g, gsort_set_stream(g, other.get())));
    ASSERT_TRUE(succeeded(g, sort.run(g, last)));
    ASSERT_TRUE(succeeded(g, gsort_set_stream(g, a.get())));
    ASSERT_TRUE(succeeded(g, sort.run(g, captured)));
    void *const graph = a.end_capture();
    ASSERT_NE(nullptr, graph);
    DeviceGraph(graph).launch(b);
    b.synchronize();
    ASSERT_TRUE(succeeded(g, gsort_synchronize(g)));
    EXPECT_TRUE(want == sort.result(direct) && want == sort.result(captured) && want == sort.result(last));
  }
}

// The stream before may be destroyed at any time: it is not touched, and its work is waited for all the same.
TEST_F(cuda_Graphs, StreamsThatAreDestroyedFirst) {
  const Array input = generate(Distribution::kUniform, GSORT_U64, kLength, 1);
  const NamedOperation &sort = all_operations()[0];
  const Bytes want = expected(sort, input);
  const Handle handle(GSORT_BACKEND_CUDA);
  for (int round = 0; round < 50; ++round) {
    const Arrays first(Place::kDevice, input), second(Place::kDevice, input);
    auto stream = std::make_unique<DeviceStream>(), next = std::make_unique<DeviceStream>();
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), stream->get())));
    ASSERT_TRUE(succeeded(handle.get(), sort.run(handle.get(), first)));
    stream.reset();
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), next->get())));
    ASSERT_TRUE(succeeded(handle.get(), sort.run(handle.get(), second)));
    ASSERT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
    ASSERT_TRUE(want == sort.result(first) && want == sort.result(second)) << "round " << round;
    if (round % 2 == 0) next.reset();
  }
  EXPECT_LT(held_bytes(handle.get()), kLength * 8 * 12) << "streams that are gone hold memory without bound";
}

// cudaStreamPerThread is a stream of its own in each thread.
TEST_F(cuda_Graphs, OneStreamAThread) {
  void *const per_thread = reinterpret_cast<void *>(uintptr_t{2});
  const Handle handle(GSORT_BACKEND_CUDA);
  ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), per_thread)));
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      use_device(0);
      const Array input = generate(Distribution::kUniform, GSORT_I32, kLength, t);
      for (const NamedOperation &operation : all_operations()) {
        const Arrays arrays(Place::kDevice, input);
        const Bytes want = expected(operation, input);
        for (int round = 0; round < 20; ++round)
          ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays))) << operation.name;
        ASSERT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
        EXPECT_TRUE(want == operation.result(arrays)) << operation.name << ", thread " << t;
      }
    });
  for (std::thread &thread : threads) thread.join();
}

// While another stream is captured a handle is made, used, waited for and destroyed, and the capture goes on.
TEST_F(cuda_Graphs, HandlesComeAndGoBesideACapture) {
  const Array input = generate(Distribution::kUniform, GSORT_F32, 60000, 1);
  DeviceStream captured, used;
  captured.begin_capture();
  {
    const Handle handle(GSORT_BACKEND_CUDA);
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), used.get())));
    EXPECT_TRUE(same_elements(reference_sort(input, 0), run_sort({handle.get(), Place::kHost}, input, 0)));
  }
  void *graph = captured.end_capture();
  EXPECT_NE(nullptr, graph) << "the capture was invalidated";
  if (graph != nullptr) DeviceGraph discarded(graph);
}

}  // namespace
}  // namespace gsort_test
