// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/device.h"

#include <cstdio>

#include "core/error.h"
#include "cuda/engine/check.h"
#include "cuda/engine/shared_bytes.h"

namespace gsort_internal {
namespace {

// Any kernel will do: the question is whether this build holds code for the device.
__global__ void probe_kernel() {}

int device_count(int driver_version) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return count;
  (void)cudaGetLastError();
  if (driver_version == 0)
    throw Error(GSORT_ERROR_NO_DEVICE, "no NVIDIA driver is installed (libcuda.so.1 was not found)");
  if (result == cudaErrorInsufficientDriver)
    throw Error(GSORT_ERROR_NO_DEVICE,
                "the NVIDIA driver is for CUDA %d.%d and this build needs %d.%d; update the driver",
                driver_version / 1000, driver_version % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  if (result == cudaSuccess || result == cudaErrorNoDevice)
    throw Error(GSORT_ERROR_NO_DEVICE, "the NVIDIA driver shows no device");
  throw Error(GSORT_ERROR_NO_DEVICE, "the NVIDIA driver cannot be used: %s", cudaGetErrorString(result));
}

// A failure here means that the device cannot be used, whatever its cause.
void require_device(cudaError_t result, int ordinal, const char *what) {
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();
  throw Error(GSORT_ERROR_NO_DEVICE, "device %d cannot be used: %s: %s", ordinal, what, cudaGetErrorString(result));
}

uint32_t attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  require_device(cudaDeviceGetAttribute(&value, which, ordinal), ordinal, "cudaDeviceGetAttribute");
  return static_cast<uint32_t>(value);
}

void require_kernels(int ordinal, uint32_t compute_capability) {
  cudaFuncAttributes attributes;
  const cudaError_t result = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();
  throw Error(GSORT_ERROR_NO_DEVICE, "this build has no kernels for device %d (compute capability %u.%u): %s", ordinal,
              compute_capability / 10, compute_capability % 10, cudaGetErrorString(result));
}

}  // namespace

OpenedDevice open_device(int ordinal) {
  OpenedDevice device = {};
  if (cudaDriverGetVersion(&device.driver_version) != cudaSuccess) (void)cudaGetLastError();
  const int count = device_count(device.driver_version);
  if (ordinal < 0) require_device(cudaGetDevice(&ordinal), 0, "cudaGetDevice");
  if (ordinal >= count)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "options->device is %d, but there are %d devices; use 0 to %d", ordinal,
                count, count - 1);
  device.ordinal = ordinal;
  const DeviceScope scope(ordinal);
  forget_shared_bytes(ordinal);
  require_device(cudaFree(nullptr), ordinal, "its context could not be made");
  device.facts.compute_capability = attribute(cudaDevAttrComputeCapabilityMajor, ordinal) * 10 +
                                    attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
  device.facts.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  device.facts.shared_bytes_block_max = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  require_kernels(ordinal, device.facts.compute_capability);
  size_t free_bytes = 0, total_bytes = 0;
  require_device(cudaMemGetInfo(&free_bytes, &total_bytes), ordinal, "cudaMemGetInfo");
  device.memory_bytes = total_bytes;
  cudaDeviceProp properties;
  require_device(cudaGetDeviceProperties(&properties, ordinal), ordinal, "cudaGetDeviceProperties");
  std::snprintf(device.name, sizeof device.name, "%.127s", properties.name);
  return device;
}

DeviceScope::DeviceScope(int ordinal) {
  int current = -1;
  cuda_check(cudaGetDevice(&current), "cudaGetDevice");  // without it the thread's own could not be put back
  if (current == ordinal) return;
  cuda_check(cudaSetDevice(ordinal), "cudaSetDevice");
  previous_ = current;
}

DeviceScope::~DeviceScope() {
  if (previous_ >= 0 && cudaSetDevice(previous_) != cudaSuccess) (void)cudaGetLastError();
}

MemoryPlace place_of(const char *argument, const void *array, int ordinal) {
  cudaPointerAttributes attributes;
  const cudaError_t result = cudaPointerGetAttributes(&attributes, array);
  if (result == cudaErrorInvalidValue) {
    // Memory that CUDA does not know at all.
    (void)cudaGetLastError();
    return MemoryPlace::kHost;
  }
  cuda_check(result, "cudaPointerGetAttributes");
  switch (attributes.type) {
    case cudaMemoryTypeManaged:
      return MemoryPlace::kDevice;
    case cudaMemoryTypeDevice:
      if (attributes.device != ordinal)
        throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                    "%s = %p lies on device %d, and the handle is bound to device %d; make a handle for that device",
                    argument, array, attributes.device, ordinal);
      return MemoryPlace::kDevice;
    default:
      return MemoryPlace::kHost;
  }
}

}  // namespace gsort_internal
