// SPDX-License-Identifier: MIT OR Apache-2.0
// What tests of the launch functions share: device arrays at any element-aligned address with red zones around them, a
// workspace full of garbage, and inputs.
#ifndef GSORT_TESTS_UNIT_CUDA_LAUNCH_HARNESS_H_
#define GSORT_TESTS_UNIT_CUDA_LAUNCH_HARNESS_H_

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "core/dtype.h"
#include "cuda/launch.h"

namespace gsort_test {

using Bytes = std::vector<uint8_t>;

inline bool device_present() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  (void)cudaGetLastError();
  return false;
}

inline gsort_internal::DeviceFacts device_facts_now() {
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaSuccess, cudaGetDeviceProperties(&properties, 0));
  return {static_cast<uint32_t>(properties.major * 10 + properties.minor),
          static_cast<uint32_t>(properties.multiProcessorCount),
          static_cast<uint32_t>(properties.sharedMemPerBlockOptin)};
}

// `bytes` bytes of device memory, `offset` bytes past an address aligned to 256, with a red zone on both sides.
class DeviceArray {
 public:
  DeviceArray(uint64_t bytes, uint64_t offset) : bytes_(bytes), offset_(offset) {
    EXPECT_EQ(cudaSuccess, cudaMalloc(&memory_, bytes + offset + 2 * kZone));
    EXPECT_EQ(cudaSuccess, cudaMemset(memory_, kPoison, bytes + offset + 2 * kZone));
  }
  DeviceArray(const Bytes &content, uint64_t offset) : DeviceArray(content.size(), offset) {
    EXPECT_EQ(cudaSuccess, cudaMemcpy(data(), content.data(), content.size(), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(memory_); }

  void *data() const { return memory_ + kZone + offset_; }

  // The content; both red zones must be as they were.
  Bytes read() const {
    Bytes all(bytes_ + offset_ + 2 * kZone);
    EXPECT_EQ(cudaSuccess, cudaMemcpy(all.data(), memory_, all.size(), cudaMemcpyDeviceToHost));
    uint64_t touched = 0;
    for (uint64_t i = 0; i < kZone + offset_; i++) touched += all[i] != kPoison;
    for (uint64_t i = kZone + offset_ + bytes_; i < all.size(); i++) touched += all[i] != kPoison;
    EXPECT_EQ(0u, touched) << "bytes beside the array were written";
    const auto begin = all.begin() + static_cast<int64_t>(kZone + offset_);
    return Bytes(begin, begin + static_cast<int64_t>(bytes_));
  }

 private:
  static constexpr uint64_t kZone = 256;
  static constexpr uint8_t kPoison = 0xa5;
  uint64_t bytes_, offset_;
  uint8_t *memory_ = nullptr;
};

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

// Uniform bits, of which `mask` are kept.
inline Bytes random_bytes(uint32_t width, uint64_t n, uint64_t mask, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(n * width);
  for (uint64_t i = 0; i < n; i++) set_bits(&bytes, width, i, random() & mask);
  return bytes;
}

class LaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_present()) GTEST_SKIP() << "no GPU";
    facts_ = device_facts_now();
  }

  gsort_internal::LaunchContext context() const { return {nullptr, &facts_, &control_}; }

  // Runs `launch(context, request, workspace)` in a workspace of garbage and waits.
  template <class Launch>
  void run(uint64_t workspace_bytes, const gsort_internal::Request &request, Launch launch) {
    DeviceArray workspace(workspace_bytes, 0);
    launch(context(), request, workspace.data());
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    workspace.read();  // its red zones
  }

  gsort_internal::DeviceFacts facts_{};
  gsort_internal::Control control_;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CUDA_LAUNCH_HARNESS_H_
