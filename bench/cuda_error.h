// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef GSORT_BENCH_CUDA_ERROR_H_
#define GSORT_BENCH_CUDA_ERROR_H_

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace gsort_bench {

inline void require_cuda(cudaError_t e, const char *what) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}

// The device is too small for a row.
class OutOfDeviceMemory : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Device memory that grows and never shrinks, so that rows of a suite share it.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer() { cudaFree(memory_); }
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &operator=(const DeviceBuffer &) = delete;

  void *reserve(size_t bytes) {
    if (bytes <= bytes_) return memory_;
    release();
    const cudaError_t e = cudaMalloc(&memory_, bytes);
    if (e == cudaErrorMemoryAllocation) {
      memory_ = nullptr;
      throw OutOfDeviceMemory("the device has no " + std::to_string(bytes) + " bytes left");
    }
    require_cuda(e, "cudaMalloc");
    bytes_ = bytes;
    return memory_;
  }

  void release() {
    cudaFree(memory_);
    memory_ = nullptr;
    bytes_ = 0;
  }

  void *get() const { return memory_; }
  template <typename T>
  T *as() const {
    return static_cast<T *>(memory_);
  }

 private:
  void *memory_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CUDA_ERROR_H_
