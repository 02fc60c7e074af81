// SPDX-License-Identifier: MIT OR Apache-2.0
// Every operation and type while other kernels hold the GPU: most of a kernel's blocks then start when the others have
// ended, and what each of them takes for granted of the others shows. GSORT_OCCUPIED_ELEMENTS in the environment is the
// most elements of a call (default: all of kLengths), for compute-sanitizer.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "gpu/fixture.h"
#include "gpu/ways.h"
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

uint64_t elements_most() {
  const char *const text = std::getenv("GSORT_OCCUPIED_ELEMENTS");
  return text == nullptr ? UINT64_MAX : std::strtoull(text, nullptr, 10);
}

std::vector<uint64_t> lengths() {
  std::vector<uint64_t> chosen;
  for (const uint64_t n : kLengths)
    if (n <= elements_most()) chosen.push_back(n);
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

// What a call of ways.h reads.
struct WayInput {
  explicit WayInput(const WayCall &call)
      : keys(generate(call.keys, call.type, call.n, 1).bytes()),
        values(generate_values(array_sizes(call).values == 0 ? 0 : call.n, static_cast<uint32_t>(call.argument), 7)) {
    if (array_sizes(call).offsets != 0) offsets = make_array(GSORT_U64, offsets_of(call)).bytes();
    if (call.called != Called::kMerge) return;
    // It reads what is in order.
    gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
    uint8_t *const b = keys.data() + call.n / 3 * element_type(call.type).bytes;
    EXPECT_TRUE(succeeded(cpu, gsort_sort(cpu, call.type, keys.data(), keys.data(), call.n / 3, call.flags)));
    EXPECT_TRUE(succeeded(cpu, gsort_sort(cpu, call.type, b, b, call.n - call.n / 3, call.flags)));
  }
  Bytes keys, values, offsets;
};

// Its arrays in one place, and a run on them.
class WayRun {
 public:
  WayRun(Place place, const WayCall &call, const WayInput &input)
      : call_(call), input_(input), sizes_(array_sizes(call)), a_(buffers(place, sizes_)) {
    a_.keys->write(input.keys);
    a_.values->write(input.values);
    a_.offsets->write(input.offsets);
    if (!call.in_place) return;
    a_.keys_out->write(input.keys);
    a_.values_out->write(input.values);
  }
  gsort_status run(gsort *g) const {
    return gsort_test::run(g, call_,
                           {a_.keys->data(), a_.values->data(), a_.offsets->data(), a_.keys_out->data(),
                            a_.values_out->data(), a_.indices_out->data()});
  }
  // Also what neither has written.
  ::testing::AssertionResult same_outputs(const WayRun &other) const {
    for (const auto array : {&Buffers::keys_out, &Buffers::values_out, &Buffers::indices_out}) {
      const ::testing::AssertionResult same = same_bytes((other.a_.*array)->read(), (a_.*array)->read());
      if (!same) return same;
      const ::testing::AssertionResult intact = (a_.*array)->red_zones_intact();
      if (!intact) return intact;
    }
    return ::testing::AssertionSuccess();
  }
  bool inputs_intact() const {
    return a_.keys->read() == input_.keys && a_.values->read() == input_.values && a_.offsets->read() == input_.offsets;
  }

 private:
  using Buffers = WayArrays<std::unique_ptr<Buffer>>;
  static Buffers buffers(Place place, const WayArrays<uint64_t> &sizes) {
    const auto make = [&](uint64_t bytes) { return std::make_unique<Buffer>(place, bytes); };
    return {make(sizes.keys),     make(sizes.values),     make(sizes.offsets),
            make(sizes.keys_out), make(sizes.values_out), make(sizes.indices_out)};
  }
  const WayCall &call_;
  const WayInput &input_;
  WayArrays<uint64_t> sizes_;
  Buffers a_;
};

// A handle whose kernels find few multiprocessors free: they are taken when the log names the way of a call, which it
// does when all memory is there and nothing is launched.
class HeldHandle {
 public:
  HeldHandle(Occupier &occupier, uint64_t limit_bytes) : occupier_(occupier), handle_(options(limit_bytes)) {
    EXPECT_TRUE(succeeded(get(), handle_.status()));
    EXPECT_TRUE(succeeded(get(), gsort_set_stream(get(), stream_.get())));
  }
  gsort *get() const { return handle_.get(); }
  // Of the next call.
  void hold(uint32_t free, uint64_t nanoseconds) { free_ = free, nanoseconds_ = nanoseconds, log_.clear(); }
  const std::string &log() const { return log_; }

 private:
  gsort_options options(uint64_t limit_bytes) {
    gsort_options o = default_options(GSORT_BACKEND_CUDA);
    o.device_memory_limit_bytes = limit_bytes;
    o.log_user = this;
    o.log = [](void *user, const char *line) {
      auto *const self = static_cast<HeldHandle *>(user);
      self->log_ += std::string(line) + "\n";
      if (self->nanoseconds_ != 0) self->occupier_.hold(self->free_, self->nanoseconds_);
      self->nanoseconds_ = 0;
    };
    return o;
  }
  Occupier &occupier_;
  uint32_t free_ = 0;
  uint64_t nanoseconds_ = 0;
  std::string log_;
  DeviceStream stream_;
  Handle handle_;
};

bool is_device_of_ways(const Occupier &occupier, gsort *g) {
  gsort_info info = {};
  info.struct_size = sizeof info;
  EXPECT_TRUE(succeeded(g, gsort_info_get(g, &info)));
  return info.compute_capability == kWaysCapability && occupier.multiprocessors() >= kWaysMultiprocessors;
}

TEST_F(cuda_Occupied, EachWayOfEachPlan) {
  Occupier occupier;
  HeldHandle shared(occupier, 0);
  const bool ways_are_known = is_device_of_ways(occupier, shared.get());
  std::unique_ptr<WayInput> input;
  const WayCall *before = nullptr;
  uint32_t free = 1;
  const std::vector<WayCall> calls = calls_of_all_ways();
  for (const WayCall &call : calls) {
    if (call.n > elements_most()) continue;
    SCOPED_TRACE(call.name());
    // Much of the time goes into making it.
    if (before == nullptr || !reads_the_same(call, *before)) input = std::make_unique<WayInput>(call);
    before = &call;
    WayRun wanted(Place::kHost, call, *input), here(Place::kDevice, call, *input);
    ASSERT_TRUE(succeeded(nullptr, wanted.run(shared_handle(GSORT_BACKEND_CPU))));
    std::unique_ptr<HeldHandle> own;
    if (call.little_memory) own = std::make_unique<HeldHandle>(occupier, call.input_bytes() / 8);
    HeldHandle &handle = own ? *own : shared;
    handle.hold(free, 1000000 + call.n);
    free = free % 7 + 1;
    ASSERT_TRUE(succeeded(handle.get(), here.run(handle.get())));
    ASSERT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
    ASSERT_TRUE(here.same_outputs(wanted) && here.inputs_intact());
    ASSERT_TRUE(!ways_are_known || handle.log().find(call.says) != std::string::npos) << handle.log();
  }
}

// Two handles at once on two streams, each beside the other's kernels.
TEST_F(cuda_Occupied, TwoHandles) {
  DeviceStream streams[2];
  const Handle handles[2] = {Handle(GSORT_BACKEND_CUDA), Handle(GSORT_BACKEND_CUDA)};
  const uint64_t n = std::min<uint64_t>(4000000, elements_most());
  const Array input = generate(Distribution::kUniform, GSORT_U32, n, 1);
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
