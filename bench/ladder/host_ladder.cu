// SPDX-License-Identifier: MIT OR Apache-2.0
// From host array to host array: what is bought by pinned memory, by several streams, and by both directions of the
// bus at once. The sorts themselves are the library's on device arrays, so that the steps differ in their copies alone.
#include <algorithm>

#include "cuda_error.h"
#include "ladder.h"

namespace gsort_bench {
namespace {

constexpr uint64_t kKeys = uint64_t{1} << 26;
constexpr uint64_t kBytes = 4 * kKeys;
constexpr uint32_t kStreams = 4;

// A stream with a handle of its own on it.
struct Lane {
  cudaStream_t stream = nullptr;
  gsort *g = nullptr;

  Lane() {
    require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    gsort_options options = GSORT_OPTIONS_INIT;
    options.backend = GSORT_BACKEND_CUDA;
    require_gsort_call(gsort_create(&options, &g), nullptr);
    require_gsort_call(gsort_set_stream(g, stream), g);
  }
  ~Lane() {
    gsort_destroy(g);
    cudaStreamDestroy(stream);
  }
  Lane(const Lane &) = delete;
  Lane &operator=(const Lane &) = delete;

  void copy_in(uint32_t *to, const uint32_t *from, uint64_t keys) const {
    require_cuda(cudaMemcpyAsync(to, from, 4 * keys, cudaMemcpyHostToDevice, stream), "copy in");
  }
  void copy_out(uint32_t *to, const uint32_t *from, uint64_t keys) const {
    require_cuda(cudaMemcpyAsync(to, from, 4 * keys, cudaMemcpyDeviceToHost, stream), "copy out");
  }
  void sort(uint32_t *keys, uint64_t n) const { require_gsort_call(gsort_sort(g, GSORT_U32, keys, keys, n, 0), g); }
  void wait() const { require_cuda(cudaStreamSynchronize(stream), "host step"); }
};

struct HostArrays {
  std::vector<uint32_t> in, out, second_out;
};

struct Device {
  DeviceBuffer keys, merged;
  Lane lanes[kStreams];
};

void in_one_stream(const Device &d, const uint32_t *in, uint32_t *out) {
  const Lane &lane = d.lanes[0];
  uint32_t *const keys = d.keys.as<uint32_t>();
  lane.copy_in(keys, in, kKeys);
  lane.sort(keys, kKeys);
  lane.copy_out(out, keys, kKeys);
  lane.wait();
}

// While a part is sorted the next ones arrive; then the sorted parts are merged, two by two.
void in_several_streams(const Device &d, const uint32_t *in, uint32_t *out) {
  constexpr uint64_t kPart = kKeys / kStreams;
  uint32_t *from = d.keys.as<uint32_t>(), *to = d.merged.as<uint32_t>();
  for (uint32_t part = 0; part < kStreams; ++part) {
    d.lanes[part].copy_in(from + part * kPart, in + part * kPart, kPart);
    d.lanes[part].sort(from + part * kPart, kPart);
  }
  for (const Lane &lane : d.lanes) lane.wait();
  const Lane &lane = d.lanes[0];
  for (uint64_t run = kPart; run < kKeys; run *= 2) {
    for (uint64_t at = 0; at < kKeys; at += 2 * run)
      require_gsort_call(gsort_merge(lane.g, GSORT_U32, from + at, run, from + at + run, run, to + at, 0), lane.g);
    std::swap(from, to);
  }
  lane.copy_out(out, from, kKeys);
  lane.wait();
}

// Two arrays: the second arrives while the first leaves.
void two_arrays(const Device &d, const uint32_t *in, uint32_t *out, uint32_t *second_out) {
  uint32_t *const keys[2] = {d.keys.as<uint32_t>(), d.merged.as<uint32_t>()};
  uint32_t *const outs[2] = {out, second_out};
  for (uint32_t i = 0; i < 2; ++i) {
    d.lanes[i].copy_in(keys[i], in, kKeys);
    d.lanes[i].sort(keys[i], kKeys);
    d.lanes[i].copy_out(outs[i], keys[i], kKeys);
  }
  for (uint32_t i = 0; i < 2; ++i) d.lanes[i].wait();
}

void by_library(const Device &d, const uint32_t *in, uint32_t *out) {
  const Lane &lane = d.lanes[0];
  require_gsort_call(gsort_sort(lane.g, GSORT_U32, in, out, kKeys, 0), lane.g);
}

struct Registered {
  explicit Registered(std::vector<uint32_t> &array) : memory(array.data()) {
    require_cuda(cudaHostRegister(memory, kBytes, cudaHostRegisterDefault), "cudaHostRegister");
  }
  ~Registered() { cudaHostUnregister(memory); }
  Registered(const Registered &) = delete;
  Registered &operator=(const Registered &) = delete;
  void *memory;
};

}  // namespace

std::vector<Step> run_host_ladder(const LadderSettings &) {
  constexpr uint32_t kRuns = 5;
  HostArrays a;
  a.in.resize(kKeys), a.out.resize(kKeys), a.second_out.resize(kKeys);
  uint64_t state = 1;
  for (uint32_t &key : a.in) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    key = static_cast<uint32_t>(state >> 32);
  }
  std::vector<uint32_t> expected = a.in;
  std::sort(expected.begin(), expected.end());
  Device d;
  d.keys.reserve(kBytes), d.merged.reserve(kBytes);
  const uint32_t *const in = a.in.data();
  uint32_t *const out = a.out.data(), *const second_out = a.second_out.data();

  std::vector<Step> steps;
  const auto take = [&](const char *name, uint32_t arrays, const std::function<void()> &work) {
    std::fill(a.out.begin(), a.out.end(), 0);
    std::fill(a.second_out.begin(), a.second_out.end(), 0);
    work();
    Step step;
    step.ladder = "sort of u32 from host to host";
    step.n = kKeys;
    step.name = name;
    step.host_ms = host_median_ms(kRuns, work) / arrays;
    step.right = a.out == expected && (arrays == 1 || a.second_out == expected);
    steps.push_back(step);
  };
  take("1 pageable arrays, one stream", 1, [&] { in_one_stream(d, in, out); });
  take("gsort_sort, pageable arrays", 1, [&] { by_library(d, in, out); });
  const Registered pinned_in(a.in), pinned_out(a.out), pinned_second(a.second_out);
  take("2 pinned arrays, one stream", 1, [&] { in_one_stream(d, in, out); });
  take("3 four streams, a part each, then merges", 1, [&] { in_several_streams(d, in, out); });
  take("4 two arrays, both directions at once; for one", 2, [&] { two_arrays(d, in, out, second_out); });
  take("gsort_sort, pinned arrays", 1, [&] { by_library(d, in, out); });
  return steps;
}

}  // namespace gsort_bench
