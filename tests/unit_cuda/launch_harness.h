// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tests of the launch functions share: arrays on the device at any element-aligned address with red zones
// around them, a workspace full of garbage, the device's facts, a reference order, and inputs.
#ifndef GSORT_TESTS_UNIT_CUDA_LAUNCH_HARNESS_H_
#define GSORT_TESTS_UNIT_CUDA_LAUNCH_HARNESS_H_

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "core/control.h"
#include "core/dtype.h"
#include "core/request.h"
#include "cuda/engine/launch.h"

namespace gsort_test {

using Bytes = std::vector<uint8_t>;

// ---- the device ----

inline bool device_present() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  (void)cudaGetLastError();
  return false;
}

inline const gsort_internal::DeviceFacts &device_facts() {
  static const gsort_internal::DeviceFacts facts = [] {
    cudaDeviceProp properties{};
    EXPECT_EQ(cudaSuccess, cudaGetDeviceProperties(&properties, 0));
    return gsort_internal::DeviceFacts{static_cast<uint32_t>(properties.major * 10 + properties.minor),
                                       static_cast<uint32_t>(properties.multiProcessorCount),
                                       static_cast<uint32_t>(properties.sharedMemPerBlockOptin)};
  }();
  return facts;
}

// A Control that nobody listens to.
inline const gsort_internal::Control &quiet() {
  static const gsort_internal::Control control;
  return control;
}

// ---- arrays on the device ----

constexpr uint8_t kPoison = 0xa5;

// Whether all of it is as poison left it.
template <class T>
bool all_poison(const std::vector<T> &items) {
  T poison;
  std::memset(&poison, kPoison, sizeof poison);
  return std::all_of(items.begin(), items.end(), [&](const T &item) { return item == poison; });
}

// `bytes` bytes of poison on the device, `offset` bytes past an address aligned to 256, with a red zone on both sides.
class DeviceArray {
 public:
  DeviceArray(uint64_t bytes, uint64_t offset) : bytes_(bytes), offset_(offset) {
    const uint64_t all = bytes + offset + 2 * kZoneBytes;
    EXPECT_EQ(cudaSuccess, cudaMalloc(&memory_, all)) << all << " bytes";
    EXPECT_EQ(cudaSuccess, cudaMemset(memory_, kPoison, all));
    wait();
  }
  template <class T>
  DeviceArray(const std::vector<T> &content, uint64_t offset) : DeviceArray(content.size() * sizeof(T), offset) {
    put(content);
  }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(memory_); }

  void *data() const { return memory_ + kZoneBytes + offset_; }
  template <class T>
  T *as() const {
    return static_cast<T *>(data());
  }

  template <class T>
  void put(const std::vector<T> &content) {
    ASSERT_EQ(bytes_, content.size() * sizeof(T));
    EXPECT_EQ(cudaSuccess, cudaMemcpy(data(), content.data(), bytes_, cudaMemcpyHostToDevice));
    wait();
  }

  // The content; both red zones must be as they were.
  template <class T>
  std::vector<T> read_as() const {
    check_zones();
    return piece<T>(kZoneBytes + offset_, bytes_);
  }
  Bytes read() const { return read_as<uint8_t>(); }

  void check_zones() const {
    ASSERT_TRUE(all_poison(piece<uint8_t>(0, kZoneBytes + offset_))) << "written before the array";
    ASSERT_TRUE(all_poison(piece<uint8_t>(kZoneBytes + offset_ + bytes_, kZoneBytes))) << "written behind the array";
  }

 private:
  // Filling memory, or a copy from pageable memory, may still be under way when the call returns, and a non-blocking
  // stream does not wait for it.
  static void wait() { EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(nullptr)); }

  template <class T>
  std::vector<T> piece(uint64_t first, uint64_t bytes) const {
    std::vector<T> items(bytes / sizeof(T));
    EXPECT_EQ(cudaSuccess, cudaMemcpy(items.data(), memory_ + first, items.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return items;
  }

  static constexpr uint64_t kZoneBytes = 768;  // the array is aligned to 256 bytes and to no more
  uint64_t bytes_, offset_;
  uint8_t *memory_ = nullptr;
};

// ---- values ----

template <class T>
Bytes bytes_of(const std::vector<T> &values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> values_of(const Bytes &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// The element of `width` bytes at `i`, as an unsigned number.
inline uint64_t bits_at(const Bytes &bytes, uint32_t width, uint64_t i) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + i * width, width);
  return value;
}
inline void set_bits(Bytes *bytes, uint32_t width, uint64_t i, uint64_t value) {
  std::memcpy(bytes->data() + i * width, &value, width);
}

// The place of a key in its order, from the words of the public header: NaNs behind all others, then by value.
inline std::pair<int, uint64_t> place_of(uint64_t bits, const gsort_internal::KeyOrder &order) {
  using gsort_internal::Kind;
  const gsort_internal::DTypeFacts facts = gsort_internal::dtype_facts(order.dtype);
  const uint64_t top = uint64_t{1} << (facts.bytes * 8 - 1), all = top | (top - 1);
  if (facts.kind == Kind::kFloat && order.nan_last) {
    const uint64_t infinity = (top - 1) - ((uint64_t{1} << facts.mantissa_bits) - 1);
    if ((bits & (top - 1)) > infinity) return {1, bits};
  }
  uint64_t place = bits;
  if (facts.kind == Kind::kSigned) place = bits ^ top;
  if (facts.kind == Kind::kFloat) place = bits & top ? all - bits : bits + top;
  return {0, order.descending ? all - place : place};
}

// ---- random words ----

// splitmix64: its step, and what it makes of a state. No two states give the same word.
constexpr uint64_t kMixStep = 0x9e3779b97f4a7c15u;
__host__ __device__ inline uint64_t mixed_state(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The i-th word of one random sequence, in any order.
__host__ __device__ inline uint64_t mixed(uint64_t i) { return mixed_state((i + 1) * kMixStep); }

// The next word of the sequence that `state` began.
inline uint64_t next_random(uint64_t &state) { return mixed_state(state += kMixStep); }

// Uniform bits, of which `mask` are kept.
inline Bytes random_bytes(uint32_t width, uint64_t n, uint64_t mask, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(n * width);
  for (uint64_t i = 0; i < n; i++) set_bits(&bytes, width, i, random() & mask);
  return bytes;
}

// ---- fixtures ----

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_present()) GTEST_SKIP() << "no GPU";
    facts_ = device_facts();
  }

  gsort_internal::LaunchContext context(cudaStream_t stream = nullptr) const { return {stream, &facts_, &quiet()}; }

  gsort_internal::DeviceFacts facts_{};  // a test may change them
};

class LaunchTest : public DeviceTest {
 protected:
  // Runs `launch(context, request, workspace)` in a workspace of garbage and waits.
  template <class Launch>
  void run(uint64_t workspace_bytes, const gsort_internal::Request &request, Launch launch) {
    const DeviceArray workspace(workspace_bytes, 0);
    launch(context(), request, workspace.data());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    workspace.check_zones();
  }
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CUDA_LAUNCH_HARNESS_H_
