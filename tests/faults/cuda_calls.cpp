// SPDX-License-Identifier: MIT OR Apache-2.0
#include "faults/cuda_calls.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace gsort_test {
namespace {

struct UserObject {
  void *what;
  cudaHostFn_t destroy;
};

struct State {
  bool stand_in = false;
  ArrayPlace arrays = ArrayPlace::kDevice;
  bool armed = false;
  Fault fault = {};
  CallReport report;
  std::map<std::string, uint64_t> calls;  // of each function since arm()
  std::set<std::string> failed;
  uint64_t failures = 0;
  cudaError_t last_error = cudaSuccess;  // of failures that were made up
  std::map<void *, size_t> memory;
  uint64_t bytes = 0;
  int streams = 0;  // and events, and pieces of memory that are registered
  int device = 0;   // the stand-in's, like the next
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  uint64_t captures = 0;  // the stand-in's, of which the last may be under way
  bool capturing = false;
  std::vector<UserObject *> retained;  // by the graph of that capture
};

// Never destroyed: the library may be used while the program ends.
State &state() {
  static State &the_state = *new State;
  return the_state;
}

// The call fails, or is done by real() or, without a GPU, by stand_in().
template <class Real, class StandIn>
cudaError_t intercept(const char *name, Real real, StandIn stand_in, bool together = false) {
  State &s = state();
  if (s.armed) {
    const uint64_t number = s.report.calls++, number_of_name = ++s.calls[name];
    if (number == s.fault.at || (s.fault.for_good && number > s.fault.at)) {
      if (s.report.failed.empty())
        s.report.failed = name, s.report.failed_number = number_of_name, s.report.together = together;
      s.failed.insert(name);
      s.failures++;
      s.last_error = s.fault.error;
      return s.last_error;
    }
  }
  return s.stand_in ? stand_in() : real();
}

cudaError_t nothing() { return cudaSuccess; }

template <class T>
cudaError_t give(T *out, T value) {
  *out = value;
  return cudaSuccess;
}

cudaError_t attribute(int *value, cudaDeviceAttr which) {
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor:
      return give(value, 9);
    case cudaDevAttrMultiProcessorCount:
      return give(value, 132);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return give(value, 232448);
    default:
      return give(value, 0);
  }
}

cudaError_t properties(cudaDeviceProp *out) {
  std::memset(out, 0, sizeof *out);
  std::snprintf(out->name, sizeof out->name, "stand-in");
  return cudaSuccess;
}

cudaError_t pointer(cudaPointerAttributes *out) {
  *out = {};
  const bool device = state().arrays == ArrayPlace::kDevice;
  const bool registered = state().arrays == ArrayPlace::kRegistered;
  out->type = device ? cudaMemoryTypeDevice : registered ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
  out->device = device ? state().device : -1;
  return cudaSuccess;
}

cudaError_t exchange_mode(cudaStreamCaptureMode *mode) {
  const cudaStreamCaptureMode before = state().capture_mode;
  state().capture_mode = *mode;
  return give(mode, before);
}

cudaError_t allocate(void **memory, size_t bytes) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xEE, bytes);
  return cudaSuccess;
}

cudaError_t give_back(void *memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t make_stream(cudaStream_t *stream) {
  static int something = 0;
  return give(stream, reinterpret_cast<cudaStream_t>(&something));
}

cudaError_t make_event(cudaEvent_t *event) {
  static int something = 0;
  return give(event, reinterpret_cast<cudaEvent_t>(&something));
}

// One capture at a time; every stream is in it.
cudaError_t capture_info(cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph) {
  const State &s = state();
  if (id != nullptr) *id = s.captures;
  if (graph != nullptr) *graph = s.capturing ? reinterpret_cast<cudaGraph_t>(&state().retained) : nullptr;
  return give(status, s.capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone);
}

cudaError_t make_user_object(cudaUserObject_t *object, void *what, cudaHostFn_t destroy) {
  return give(object, reinterpret_cast<cudaUserObject_t>(new UserObject{what, destroy}));
}

cudaError_t retain(cudaUserObject_t object) {
  state().retained.push_back(reinterpret_cast<UserObject *>(object));
  return cudaSuccess;
}

cudaError_t release(cudaUserObject_t object) {
  auto *const released = reinterpret_cast<UserObject *>(object);
  released->destroy(released->what);
  delete released;
  return cudaSuccess;
}

cudaError_t count_allocation(cudaError_t result, void *memory, size_t bytes) {
  if (result != cudaSuccess) return result;
  state().memory[memory] = bytes;
  state().bytes += bytes;
  return result;
}

// Taken from the books before the memory goes back, for then its address is no one's.
size_t strike(void *memory) {
  const auto found = state().memory.find(memory);
  if (found == state().memory.end()) return 0;
  const size_t bytes = found->second;
  state().bytes -= bytes;
  state().memory.erase(found);
  return bytes;
}

cudaError_t copy_batch(void *const *to, const void *const *from, const size_t *bytes, size_t count) {
  for (size_t i = count; i-- > 0;) std::memmove(to[i], from[i], bytes[i]);  // in any order
  return cudaSuccess;
}

bool is_together(const cudaLaunchConfig_t &config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute &attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0) return true;
    if (attribute.id == cudaLaunchAttributeClusterDimension) return true;
  }
  return false;
}

cudaError_t count_stream(cudaError_t result, int change) {
  if (result == cudaSuccess) state().streams += change;
  return result;
}

}  // namespace
}  // namespace gsort_test

using namespace gsort_test;

// The linker sends the library's calls of a function F to __wrap_F; __real_F is the runtime's own.
#define GSORT_DECLARE_CALL(function, parameters)       \
  extern "C" cudaError_t __real_##function parameters; \
  extern "C" cudaError_t __wrap_##function parameters;
#define GSORT_CALL(function, parameters, arguments, stand_in)                                           \
  GSORT_DECLARE_CALL(function, parameters)                                                              \
  extern "C" cudaError_t __wrap_##function parameters {                                                 \
    return intercept(#function, [&] { return __real_##function arguments; }, [&] { return stand_in; }); \
  }

GSORT_CALL(__cudaLaunchKernel, (void *kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
           (kernel, grid, block, args, shared, stream), nothing())
GSORT_DECLARE_CALL(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *kernel, void **args))
extern "C" cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args) {
  return intercept(
      "cudaLaunchKernelExC", [&] { return __real_cudaLaunchKernelExC(config, kernel, args); }, [] { return nothing(); },
      is_together(*config));
}
GSORT_CALL(cudaFuncSetAttribute, (const void *kernel, cudaFuncAttribute which, int value), (kernel, which, value),
           nothing())
GSORT_CALL(cudaFuncGetAttributes, (cudaFuncAttributes * out, const void *kernel), (out, kernel),
           give(out, cudaFuncAttributes{}))
GSORT_CALL(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
           (to, from, bytes, kind, stream), (std::memmove(to, from, bytes), cudaSuccess))
GSORT_CALL(cudaMemcpyBatchAsync,
           (void *const *to, const void *const *from, const size_t *bytes, size_t count,
            cudaMemcpyAttributes *attributes, size_t *first, size_t attributes_count, cudaStream_t stream),
           (to, from, bytes, count, attributes, first, attributes_count, stream), copy_batch(to, from, bytes, count))
GSORT_CALL(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream), (to, value, bytes, stream),
           (std::memset(to, value, bytes), cudaSuccess))
GSORT_CALL(cudaMemGetInfo, (size_t * free_bytes, size_t *total_bytes), (free_bytes, total_bytes),
           (give(free_bytes, size_t{1} << 36), give(total_bytes, size_t{1} << 37)))
GSORT_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
           (int *blocks, const void *kernel, int threads, size_t shared_bytes, unsigned flags),
           (blocks, kernel, threads, shared_bytes, flags), give(blocks, 1))
GSORT_CALL(cudaPointerGetAttributes, (cudaPointerAttributes * out, const void *memory), (out, memory), pointer(out))
GSORT_CALL(cudaDriverGetVersion, (int *version), (version), give(version, 13000))
GSORT_CALL(cudaGetDeviceCount, (int *count), (count), give(count, 2))
GSORT_CALL(cudaGetDevice, (int *device), (device), give(device, state().device))
GSORT_CALL(cudaSetDevice, (int device), (device), give(&state().device, device))
GSORT_CALL(cudaDeviceGetAttribute, (int *value, cudaDeviceAttr which, int device), (value, which, device),
           attribute(value, which))
GSORT_CALL(cudaGetDeviceProperties, (cudaDeviceProp * out, int device), (out, device), properties(out))
GSORT_CALL(cudaStreamGetDevice, (cudaStream_t stream, int *device), (stream, device), give(device, state().device))
GSORT_CALL(cudaStreamGetId, (cudaStream_t stream, unsigned long long *id), (stream, id),
           give(id, static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream))))
GSORT_CALL(cudaStreamGetCaptureInfo,
           (cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
            const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges, size_t *count),
           (stream, status, id, graph, dependencies, edges, count), capture_info(status, id, graph))
GSORT_CALL(cudaStreamQuery, (cudaStream_t stream), (stream), nothing())
GSORT_CALL(cudaStreamSynchronize, (cudaStream_t stream), (stream), nothing())
GSORT_CALL(cudaDeviceSynchronize, (), (), nothing())
GSORT_CALL(cudaUserObjectCreate,
           (cudaUserObject_t * object, void *what, cudaHostFn_t destroy, unsigned references, unsigned flags),
           (object, what, destroy, references, flags), make_user_object(object, what, destroy))
GSORT_CALL(cudaGraphRetainUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned references, unsigned flags),
           (graph, object, references, flags), retain(object))
GSORT_CALL(cudaUserObjectRelease, (cudaUserObject_t object, unsigned references), (object, references), release(object))
GSORT_CALL(cudaThreadExchangeStreamCaptureMode, (cudaStreamCaptureMode * mode), (mode), exchange_mode(mode))

GSORT_DECLARE_CALL(cudaMalloc, (void **memory, size_t bytes))
extern "C" cudaError_t __wrap_cudaMalloc(void **memory, size_t bytes) {
  const cudaError_t result = intercept(
      "cudaMalloc", [&] { return __real_cudaMalloc(memory, bytes); }, [&] { return allocate(memory, bytes); });
  return count_allocation(result, *memory, bytes);
}

GSORT_DECLARE_CALL(cudaFree, (void *memory))
extern "C" cudaError_t __wrap_cudaFree(void *memory) {
  const size_t bytes = strike(memory);
  const cudaError_t result =
      intercept("cudaFree", [&] { return __real_cudaFree(memory); }, [&] { return give_back(memory); });
  if (result != cudaSuccess && bytes != 0) count_allocation(cudaSuccess, memory, bytes);
  return result;
}

GSORT_DECLARE_CALL(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags))
extern "C" cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  const cudaError_t result = intercept(
      "cudaStreamCreateWithFlags", [&] { return __real_cudaStreamCreateWithFlags(stream, flags); },
      [&] { return make_stream(stream); });
  return count_stream(result, 1);
}

GSORT_DECLARE_CALL(cudaStreamDestroy, (cudaStream_t stream))
extern "C" cudaError_t __wrap_cudaStreamDestroy(cudaStream_t stream) {
  const cudaError_t result =
      intercept("cudaStreamDestroy", [&] { return __real_cudaStreamDestroy(stream); }, [] { return nothing(); });
  return count_stream(result, -1);
}

GSORT_CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream), nothing())
GSORT_CALL(cudaEventSynchronize, (cudaEvent_t event), (event), nothing())

GSORT_DECLARE_CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags))
extern "C" cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  const cudaError_t result = intercept(
      "cudaEventCreateWithFlags", [&] { return __real_cudaEventCreateWithFlags(event, flags); },
      [&] { return make_event(event); });
  return count_stream(result, 1);
}

GSORT_DECLARE_CALL(cudaEventDestroy, (cudaEvent_t event))
extern "C" cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event) {
  const cudaError_t result =
      intercept("cudaEventDestroy", [&] { return __real_cudaEventDestroy(event); }, [] { return nothing(); });
  return count_stream(result, -1);
}

GSORT_DECLARE_CALL(cudaHostRegister, (void *memory, size_t bytes, unsigned flags))
extern "C" cudaError_t __wrap_cudaHostRegister(void *memory, size_t bytes, unsigned flags) {
  const cudaError_t result = intercept(
      "cudaHostRegister", [&] { return __real_cudaHostRegister(memory, bytes, flags); }, [] { return nothing(); });
  return count_stream(result, 1);
}

GSORT_DECLARE_CALL(cudaHostUnregister, (void *memory))
extern "C" cudaError_t __wrap_cudaHostUnregister(void *memory) {
  const cudaError_t result =
      intercept("cudaHostUnregister", [&] { return __real_cudaHostUnregister(memory); }, [] { return nothing(); });
  return count_stream(result, -1);
}

// Never made to fail. The first is the runtime's own error unless a failure was made up.
GSORT_DECLARE_CALL(cudaGetLastError, ())
extern "C" cudaError_t __wrap_cudaGetLastError() {
  const cudaError_t made_up = state().last_error;
  state().last_error = cudaSuccess;
  if (state().stand_in) return made_up;
  const cudaError_t real = __real_cudaGetLastError();
  return made_up != cudaSuccess ? made_up : real;
}

// The stand-in's driver has none of the calls that are asked for.
GSORT_DECLARE_CALL(cudaGetDriverEntryPointByVersion, (const char *name, void **call, unsigned version,
                                                      unsigned long long flags, cudaDriverEntryPointQueryResult *found))
extern "C" cudaError_t __wrap_cudaGetDriverEntryPointByVersion(const char *name, void **call, unsigned version,
                                                               unsigned long long flags,
                                                               cudaDriverEntryPointQueryResult *found) {
  if (!state().stand_in) return __real_cudaGetDriverEntryPointByVersion(name, call, version, flags, found);
  *found = cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

// How <<< >>> hands its numbers to the function that the compiler made.
extern "C" unsigned __real___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
extern "C" unsigned __wrap___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
extern "C" unsigned __wrap___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
  return state().stand_in ? 0 : __real___cudaPushCallConfiguration(grid, block, shared, stream);
}
GSORT_DECLARE_CALL(__cudaPopCallConfiguration, (dim3 * grid, dim3 *block, size_t *shared, void *stream))
extern "C" cudaError_t __wrap___cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  return state().stand_in ? cudaSuccess : __real___cudaPopCallConfiguration(grid, block, shared, stream);
}

namespace gsort_test {

void arm(const Fault &fault) {
  state().fault = fault;
  state().report = {};
  state().calls.clear();
  state().armed = true;
}

CallReport disarm() {
  state().armed = false;
  return state().report;
}

cudaError_t take_last_error() { return __wrap_cudaGetLastError(); }

int current_device() {
  int device = -1;
  if (state().stand_in) return state().device;
  return __real_cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

cudaStreamCaptureMode current_capture_mode() {
  if (state().stand_in) return state().capture_mode;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  __real_cudaThreadExchangeStreamCaptureMode(&mode);
  cudaStreamCaptureMode put_back = mode;
  __real_cudaThreadExchangeStreamCaptureMode(&put_back);
  return mode;
}

void restore_thread(int device) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  if (state().stand_in) {
    state().device = device;
    state().capture_mode = mode;
  } else {
    __real_cudaSetDevice(device);
    __real_cudaThreadExchangeStreamCaptureMode(&mode);
  }
}

uint64_t live_device_bytes() { return state().bytes; }
int live_streams() { return state().streams; }
uint64_t failures_made() { return state().failures; }
const std::set<std::string> &failed_functions() { return state().failed; }

void use_stand_in(ArrayPlace arrays) {
  state().stand_in = true;
  state().arrays = arrays;
}
void use_real_device() { state().stand_in = false; }

void begin_stand_in_capture() {
  state().captures++;
  state().capturing = true;
}
void end_stand_in_capture() {
  state().capturing = false;
  for (UserObject *object : state().retained) release(reinterpret_cast<cudaUserObject_t>(object));
  state().retained.clear();
}

}  // namespace gsort_test
