// SPDX-License-Identifier: MIT OR Apache-2.0
// Finding a device, being on it for the length of a call, and asking what memory a pointer is.
#ifndef GSORT_CUDA_ENGINE_DEVICE_H_
#define GSORT_CUDA_ENGINE_DEVICE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/engine/launch.h"

namespace gsort_internal {

// A device's primary context, which the CUDA runtime and with it the library work in. Zeros where the driver tells no
// ids of contexts.
struct PrimaryContext {
  void *context;  // CUcontext
  uint64_t id;    // another one after the application has reset the device
};

struct OpenedDevice {
  int ordinal;
  int driver_version;
  uint32_t compute_capability;
  uint64_t memory_bytes;
  bool reaches_host_pages;  // kernels may use memory that CUDA was never told of
  char name[128];
  DeviceFacts facts;  // whose capability is that of the code, if that was compiled for an older device
  PrimaryContext primary;
};

// Opens the device (its primary context) and makes sure that this build has kernels for it. -1: the calling thread's
// current device. Throws Error(NO_DEVICE) with the reason, or Error(INVALID_ARGUMENT) for an ordinal out of range. The
// calling thread's current device is left as it was.
OpenedDevice open_device(int ordinal);

// For its scope the thread may ask CUDA for memory and contexts while it, or another thread, captures a stream.
class CaptureModeScope {
 public:
  CaptureModeScope() : exchanged_(exchange()) {}
  ~CaptureModeScope() {
    if (exchanged_) (void)exchange();
  }
  CaptureModeScope(const CaptureModeScope &) = delete;
  CaptureModeScope &operator=(const CaptureModeScope &) = delete;

 private:
  bool exchange();
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
  const bool exchanged_;
};

// Makes a device's primary context current for a scope and puts the thread's own context back, whichever it was.
class DeviceScope {
 public:
  // primary: the device's, or NULL if it is not known yet.
  explicit DeviceScope(int ordinal, void *primary);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

 private:
  int previous_ = -1;
  void *previous_context_ = nullptr;
};

// Throws Error(DEVICE_LOST) if the application has reset the device since it was opened: the handle's memory and
// kernels went with the context.
void require_same_context(const OpenedDevice &device);

// kHost is pageable, kPinned registered with CUDA; kDevice: kernels may use it, managed memory included.
enum class MemoryKind { kHost, kPinned, kDevice };

// Bytes of an array.
struct ByteRange {
  uint64_t begin, end;
  uint64_t bytes() const { return end - begin; }
};

// In what memory the arrays of one call lie. Whoever asks first asks CUDA.
class MemoryKinds {
 public:
  // Throws Error(INVALID_ARGUMENT) naming `argument` for memory of another device than `ordinal`.
  MemoryKind of(const char *argument, const void *array, int ordinal);
  // Of an array that begins in host memory, the part that is registered with CUDA, if that is one that reaches from one
  // of its ends, or all of it. Short ones are taken for what they begin as.
  ByteRange registered_part(const char *argument, const void *array, uint64_t bytes, int ordinal);
  void forget() { count_ = 0; }

 private:
  struct Known {
    const void *array;
    MemoryKind kind;
  };
  static constexpr int kMost = 8;  // no call has more arrays
  Known known_[kMost];
  int count_ = 0;
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_DEVICE_H_
