// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/device.h"

#include <algorithm>
#include <cstdio>

#include "core/error.h"
#include "cuda/engine/check.h"
#include "cuda/engine/shared_bytes.h"

namespace gsort_internal {
namespace {

// What the runtime has no calls for, found in the driver; NULL where it has them not.
struct ContextCalls {
  int (*get_current)(void **context);
  int (*set_current)(void *context);
  int (*get_id)(void *context, unsigned long long *id);
};

void *driver_call(const char *name) {
  constexpr unsigned int since = 12000;
  void *call = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion(name, &call, since, cudaEnableDefault, &found) == cudaSuccess &&
      found == cudaDriverEntryPointSuccess)
    return call;
  (void)cudaGetLastError();
  return nullptr;
}

const ContextCalls &context_calls() {
  static const ContextCalls calls = [] {
    ContextCalls c;
    c.get_current = reinterpret_cast<decltype(c.get_current)>(driver_call("cuCtxGetCurrent"));
    c.set_current = reinterpret_cast<decltype(c.set_current)>(driver_call("cuCtxSetCurrent"));
    c.get_id = reinterpret_cast<decltype(c.get_id)>(driver_call("cuCtxGetId"));
    return c.get_current != nullptr && c.set_current != nullptr && c.get_id != nullptr ? c : ContextCalls{};
  }();
  return calls;
}

// NULL: the thread has none yet, or the driver does not tell.
void *current_context() {
  void *context = nullptr;
  if (context_calls().get_current == nullptr || context_calls().get_current(&context) != 0) return nullptr;
  return context;
}

// 0: there is no such context any more, or the driver does not tell.
uint64_t context_id(void *context) {
  unsigned long long id = 0;
  if (context_calls().get_id == nullptr || context_calls().get_id(context, &id) != 0) return 0;
  return id;
}

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

// Returns the capability that the kernels were compiled for: code for an older architecture, which the driver can bring
// to a newer device, has none of the newer one's ways, and must be launched as on the older one.
uint32_t require_kernels(int ordinal, uint32_t compute_capability) {
  cudaFuncAttributes attributes;
  const cudaError_t result = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (result == cudaSuccess) {
    const auto compiled_for = static_cast<uint32_t>(attributes.ptxVersion);
    return compiled_for != 0 && compiled_for < compute_capability ? compiled_for : compute_capability;
  }
  (void)cudaGetLastError();
  throw Error(GSORT_ERROR_NO_DEVICE, "this build has no kernels for device %d (compute capability %u.%u): %s", ordinal,
              compute_capability / 10, compute_capability % 10, cudaGetErrorString(result));
}

}  // namespace

OpenedDevice open_device(int ordinal) {
  const CaptureModeScope relaxed;
  OpenedDevice device = {};
  if (cudaDriverGetVersion(&device.driver_version) != cudaSuccess) (void)cudaGetLastError();
  const int count = device_count(device.driver_version);
  if (ordinal < 0) require_device(cudaGetDevice(&ordinal), 0, "cudaGetDevice");
  if (ordinal >= count)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "options->device is %d, but there are %d devices; use 0 to %d", ordinal,
                count, count - 1);
  device.ordinal = ordinal;
  const DeviceScope scope(ordinal, nullptr);
  forget_shared_bytes(ordinal);
  require_device(cudaFree(nullptr), ordinal, "its context could not be made");
  device.primary.context = current_context();
  device.primary.id = context_id(device.primary.context);
  device.compute_capability = attribute(cudaDevAttrComputeCapabilityMajor, ordinal) * 10 +
                              attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
  device.facts.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  device.facts.compute_capability = require_kernels(ordinal, device.compute_capability);
  device.facts.shared_bytes_block_max =
      std::min(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal),
               architecture_of(device.facts.compute_capability).shared_bytes_block_max);
  device.reaches_host_pages = attribute(cudaDevAttrPageableMemoryAccess, ordinal) != 0;
  size_t free_bytes = 0, total_bytes = 0;
  require_device(cudaMemGetInfo(&free_bytes, &total_bytes), ordinal, "cudaMemGetInfo");
  device.memory_bytes = total_bytes;
  cudaDeviceProp properties;
  require_device(cudaGetDeviceProperties(&properties, ordinal), ordinal, "cudaGetDeviceProperties");
  std::snprintf(device.name, sizeof device.name, "%.127s", properties.name);
  return device;
}

bool CaptureModeScope::exchange() {
  if (cudaThreadExchangeStreamCaptureMode(&mode_) == cudaSuccess) return true;
  (void)cudaGetLastError();
  return false;
}

DeviceScope::DeviceScope(int ordinal, void *primary) {
  int current = -1;
  cuda_check(cudaGetDevice(&current), "cudaGetDevice");  // without it the thread's own could not be put back
  void *const context = current_context();
  // A context of the application's own on the same device is not the one that the library's memory lies in.
  const bool own = context != nullptr && context != primary;
  if (current == ordinal && !own) return;
  cuda_check(cudaSetDevice(ordinal), "cudaSetDevice");
  previous_ = current;
  if (own) previous_context_ = context;
}

DeviceScope::~DeviceScope() {
  if (previous_context_ != nullptr)
    (void)context_calls().set_current(previous_context_);
  else if (previous_ >= 0 && cudaSetDevice(previous_) != cudaSuccess)
    (void)cudaGetLastError();
}

void require_same_context(const OpenedDevice &device) {
  if (device.primary.id == 0 || context_id(device.primary.context) == device.primary.id) return;
  throw Error(GSORT_ERROR_DEVICE_LOST,
              "device %d was reset (cudaDeviceReset) since this handle was made, which took the handle's memory; "
              "destroy the handle and make another",
              device.ordinal);
}

namespace {

MemoryKind ask_kind(const char *argument, const void *array, int ordinal) {
  cudaPointerAttributes attributes;
  const cudaError_t result = cudaPointerGetAttributes(&attributes, array);
  if (result == cudaErrorInvalidValue) {
    // Memory that CUDA does not know at all.
    (void)cudaGetLastError();
    return MemoryKind::kHost;
  }
  cuda_check(result, "cudaPointerGetAttributes");
  switch (attributes.type) {
    case cudaMemoryTypeManaged:
      return MemoryKind::kDevice;
    case cudaMemoryTypeDevice:
      if (attributes.device != ordinal)
        throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                    "%s = %p lies on device %d, and the handle is bound to device %d; make a handle for that device",
                    argument, array, attributes.device, ordinal);
      return MemoryKind::kDevice;
    case cudaMemoryTypeHost:
      return MemoryKind::kPinned;
    default:
      return MemoryKind::kHost;
  }
}

}  // namespace

MemoryKind MemoryKinds::of(const char *argument, const void *array, int ordinal) {
  for (int i = 0; i < count_; ++i)
    if (known_[i].array == array) return known_[i].kind;
  const MemoryKind kind = ask_kind(argument, array, ordinal);
  if (count_ < kMost) known_[count_++] = {array, kind};
  return kind;
}

ByteRange MemoryKinds::registered_part(const char *argument, const void *array, uint64_t bytes, int ordinal) {
  constexpr uint64_t kBytesMin = uint64_t{1} << 20;  // the ring's copies: shorter ones are the driver's in any case
  const auto is_registered = [&](uint64_t at) {
    return ask_kind(argument, static_cast<const char *>(array) + at, ordinal) == MemoryKind::kPinned;
  };
  const bool first = of(argument, array, ordinal) == MemoryKind::kPinned;
  if (bytes < kBytesMin || is_registered(bytes - 1) == first) return {0, first ? bytes : 0};
  uint64_t like_first = 0, like_last = bytes - 1;
  while (like_last - like_first > 1) {
    const uint64_t middle = like_first + (like_last - like_first) / 2;
    (is_registered(middle) == first ? like_first : like_last) = middle;
  }
  return first ? ByteRange{0, like_last} : ByteRange{like_last, bytes};
}

}  // namespace gsort_internal
