// SPDX-License-Identifier: MIT OR Apache-2.0
// Finding a device, being on it for the length of a call, and asking what memory a pointer is.
#ifndef GSORT_CUDA_ENGINE_DEVICE_H_
#define GSORT_CUDA_ENGINE_DEVICE_H_

#include <cstdint>

#include "cuda/engine/launch.h"

namespace gsort_internal {

struct OpenedDevice {
  int ordinal;
  int driver_version;
  uint64_t memory_bytes;
  char name[128];
  DeviceFacts facts;
};

// Opens the device (its primary context) and makes sure that this build has kernels for it. -1: the calling thread's
// current device. Throws Error(NO_DEVICE) with the reason, or Error(INVALID_ARGUMENT) for an ordinal out of range. The
// calling thread's current device is left as it was.
OpenedDevice open_device(int ordinal);

// Makes a device current for a scope and puts the thread's own back.
class DeviceScope {
 public:
  explicit DeviceScope(int ordinal);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

 private:
  int previous_ = -1;
};

enum class MemoryPlace { kHost, kDevice };  // kDevice: kernels may use it, managed memory included

// Throws Error(INVALID_ARGUMENT) naming `argument` for memory of another device than `ordinal`.
MemoryPlace place_of(const char *argument, const void *array, int ordinal);

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_DEVICE_H_
