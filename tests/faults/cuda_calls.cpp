// SPDX-License-Identifier: MIT OR Apache-2.0
#include "faults/cuda_calls.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace gsort_test {
namespace {

struct UserObject {
  void *what;
  cudaHostFn_t destroy;
};

struct PlacedArray {
  const char *begin, *end;
  ArrayPlace place;
  int device;
};

struct State {
  bool stand_in = false;
  ArrayPlace arrays = ArrayPlace::kDevice;
  StandInDevice like;
  std::vector<PlacedArray> placed;
  std::function<void(const std::string &kernel)> kernels_act;
  bool recording = false;
  std::vector<Work> work;
  std::mutex work_mutex;  // the ring's threads copy
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
  bool invalidated = false;
  uint64_t unsafe_allocations = 0;
  int device_of_streams = -1;
  bool tells_contexts = false;
  void *own_context = nullptr;
  int device_of_own = 0;
  unsigned long long resets = 0;
  std::set<std::string> not_in_driver;
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
    const uint64_t of_all = s.report.calls++, number_of_name = ++s.calls[name];
    const bool counts = s.fault.function == nullptr || std::strcmp(s.fault.function, name) == 0;
    const uint64_t number = s.fault.function == nullptr ? of_all : number_of_name - 1;
    if (counts && (number == s.fault.at || (s.fault.for_good && number > s.fault.at))) {
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
      return give(value, state().like.major);
    case cudaDevAttrComputeCapabilityMinor:
      return give(value, state().like.minor);
    case cudaDevAttrMultiProcessorCount:
      return give(value, state().like.multiprocessors);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return give(value, state().like.shared_bytes);
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
      return give(value, 1);
    default:
      return give(value, 0);
  }
}

cudaError_t attributes(cudaFuncAttributes *out) {
  *out = {};
  out->ptxVersion = state().like.compiled_for;
  return cudaSuccess;
}

cudaError_t properties(cudaDeviceProp *out) {
  std::memset(out, 0, sizeof *out);
  std::snprintf(out->name, sizeof out->name, "stand-in");
  return cudaSuccess;
}

// How many bytes of [memory, memory + bytes) are in that one of the registered arrays of which there are the most.
size_t registered_bytes(const void *memory, size_t bytes) {
  const char *const first = static_cast<const char *>(memory);
  size_t most = 0;
  for (const PlacedArray &each : state().placed) {
    if (each.place != ArrayPlace::kRegistered) continue;
    const char *const from = std::max(first, each.begin), *const to = std::min(first + bytes, each.end);
    if (from < to) most = std::max(most, static_cast<size_t>(to - from));
  }
  return most;
}

bool is_mixed(const void *memory, size_t bytes) {
  const size_t registered = registered_bytes(memory, bytes);
  return registered != 0 && registered != bytes;
}

cudaError_t pointer(cudaPointerAttributes *out, const void *memory) {
  *out = {};
  PlacedArray array = {nullptr, nullptr, memory == nullptr ? ArrayPlace::kHost : state().arrays, -1};
  for (const PlacedArray &each : state().placed)
    if (memory >= each.begin && memory < each.end) array = each;
  constexpr cudaMemoryType kTypes[] = {cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice,
                                       cudaMemoryTypeManaged};
  out->type = kTypes[static_cast<int>(array.place)];
  const bool on_host = array.place == ArrayPlace::kHost || array.place == ArrayPlace::kRegistered;
  out->device = on_host ? -1 : array.device < 0 ? state().device : array.device;
  return cudaSuccess;
}

cudaError_t exchange_mode(cudaStreamCaptureMode *mode) {
  const cudaStreamCaptureMode before = state().capture_mode;
  state().capture_mode = *mode;
  return give(mode, before);
}

constexpr size_t kPoisonedBytesMax = size_t{64} << 20;

cudaError_t allocate(void **memory, size_t bytes) {
  if (state().capturing && state().capture_mode != cudaStreamCaptureModeRelaxed) state().unsafe_allocations++;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xEE, bytes < kPoisonedBytesMax ? bytes : kPoisonedBytesMax);
  return cudaSuccess;
}

cudaError_t give_back(void *memory) {
  std::free(memory);
  return cudaSuccess;
}

// Each another one.
cudaError_t make_stream(cudaStream_t *stream) {
  static uintptr_t last = 4096;
  return give(stream, reinterpret_cast<cudaStream_t>(last += 16));
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
  const auto active = s.invalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  return give(status, s.capturing ? active : cudaStreamCaptureStatusNone);
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

// The primary context of the thread's device, or the application's own.
char primary_contexts[2];
void *current_stand_in_context() {
  if (!state().tells_contexts) return nullptr;
  return state().own_context != nullptr ? state().own_context : &primary_contexts[state().device];
}
// As the runtime makes a device current, which ends the application's own context.
cudaError_t set_stand_in_device(int device) {
  state().own_context = nullptr;
  return give(&state().device, device);
}
void set_stand_in_context(void *context) {
  const bool primary = context == &primary_contexts[0] || context == &primary_contexts[1];
  state().device = primary ? context == &primary_contexts[1] : state().device_of_own;
  state().own_context = primary ? nullptr : context;
}
unsigned long long stand_in_context_id(const void *context) {
  for (int device : {0, 1})
    if (context == &primary_contexts[device]) return 2 * state().resets + static_cast<unsigned>(device) + 1;
  return 1000;
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

void note(const Work &work) {
  const std::lock_guard<std::mutex> lock(state().work_mutex);
  if (state().recording) state().work.push_back(work);
}

Work work_of(const char *function, const void *to, const void *from, uint64_t bytes, int value, cudaStream_t stream) {
  return {function, "", 0, 0, 0, 0, false, false, from, to, bytes, value, stream, state().device};
}

cudaError_t copy(void *to, const void *from, size_t bytes, cudaStream_t stream) {
  if (is_mixed(to, bytes) || is_mixed(from, bytes)) return state().last_error = cudaErrorInvalidValue;
  note(work_of("cudaMemcpyAsync", to, from, bytes, 0, stream));
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

// Of the copies from number `first` on; the library has one kind for all. Another error than that of memory which is
// registered in part.
cudaError_t look_at(const cudaMemcpyAttributes *attributes, const size_t *first, size_t count) {
  const bool right = count == 1 && first[0] == 0 && attributes[0].srcAccessOrder == cudaMemcpySrcAccessOrderStream;
  return right ? cudaSuccess : state().last_error = cudaErrorInvalidMemcpyDirection;
}

cudaError_t copy_batch(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                       cudaStream_t stream) {
  for (size_t i = 0; i < count; ++i)
    if (is_mixed(to[i], bytes[i]) || is_mixed(from[i], bytes[i])) return state().last_error = cudaErrorInvalidValue;
  for (size_t i = count; i-- > 0;) std::memmove(to[i], from[i], bytes[i]);  // in any order
  for (size_t i = 0; i < count; ++i) note(work_of("cudaMemcpyBatchAsync", to[i], from[i], bytes[i], 0, stream));
  return cudaSuccess;
}

cudaError_t clear(void *to, int value, size_t bytes, cudaStream_t stream) {
  note(work_of("cudaMemsetAsync", to, nullptr, bytes, value, stream));
  std::memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t wait_for(const char *function, cudaStream_t stream) {
  note(work_of(function, nullptr, nullptr, 0, 0, stream));
  return cudaSuccess;
}

// Names of kernels by what launches them: the function on the host, or the runtime's handle.
std::map<const void *, std::string> &kernel_names() {
  static auto &names = *new std::map<const void *, std::string>;
  return names;
}

// A kernel without blocks, or one whose blocks are too large, is refused.
cudaError_t launch(const Work &work) {
  if (work.blocks == 0 || work.threads == 0 || work.threads > 1024)
    return state().last_error = cudaErrorInvalidConfiguration;
  if (work.shared_bytes > static_cast<uint32_t>(state().like.shared_bytes))
    return state().last_error = cudaErrorInvalidValue;
  note(work);
  if (state().kernels_act) state().kernels_act(work.kernel);
  return cudaSuccess;
}

cudaError_t note_launch(const char *function, const void *kernel, dim3 grid, dim3 block, size_t shared,
                        cudaStream_t stream) {
  Work work = work_of(function, nullptr, nullptr, 0, 0, stream);
  work.kernel = kernel_names()[kernel];
  work.blocks = grid.x * grid.y * grid.z, work.threads = block.x * block.y * block.z;
  work.shared_bytes = static_cast<uint32_t>(shared);
  return launch(work);
}

cudaError_t note_launch(const cudaLaunchConfig_t &config, const void *kernel) {
  Work work = work_of("cudaLaunchKernelExC", nullptr, nullptr, 0, 0, config.stream);
  work.kernel = kernel_names()[kernel];
  work.blocks = config.gridDim.x * config.gridDim.y * config.gridDim.z, work.threads = config.blockDim.x;
  work.shared_bytes = static_cast<uint32_t>(config.dynamicSmemBytes);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute &attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) work.together_grid = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension) work.cluster_blocks = attribute.val.clusterDim.x;
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      work.dependent = attribute.val.programmaticStreamSerializationAllowed != 0;
  }
  return launch(work);
}

cudaError_t raise_attribute(cudaFuncAttribute which, int value) {
  if (which == cudaFuncAttributeMaxDynamicSharedMemorySize && value > state().like.shared_bytes)
    return state().last_error = cudaErrorInvalidValue;
  return cudaSuccess;
}

// The numbers of a launch by <<< >>>, until the function that the compiler made takes them.
struct Pushed {
  dim3 grid, block;
  size_t shared;
  void *stream;
};
thread_local Pushed pushed;

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
           (kernel, grid, block, args, shared, stream),
           note_launch("__cudaLaunchKernel", kernel, grid, block, shared, stream))
GSORT_DECLARE_CALL(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *kernel, void **args))
extern "C" cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args) {
  return intercept(
      "cudaLaunchKernelExC", [&] { return __real_cudaLaunchKernelExC(config, kernel, args); },
      [&] { return note_launch(*config, kernel); }, is_together(*config));
}
GSORT_CALL(cudaFuncSetAttribute, (const void *kernel, cudaFuncAttribute which, int value), (kernel, which, value),
           raise_attribute(which, value))
GSORT_CALL(cudaFuncGetAttributes, (cudaFuncAttributes * out, const void *kernel), (out, kernel), attributes(out))
GSORT_CALL(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
           (to, from, bytes, kind, stream), copy(to, from, bytes, stream))
GSORT_CALL(cudaMemcpyBatchAsync,
           (void *const *to, const void *const *from, const size_t *bytes, size_t count,
            cudaMemcpyAttributes *attributes, size_t *first, size_t attributes_count, cudaStream_t stream),
           (to, from, bytes, count, attributes, first, attributes_count, stream),
           look_at(attributes, first, attributes_count) == cudaSuccess ? copy_batch(to, from, bytes, count, stream)
                                                                       : state().last_error)
GSORT_CALL(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream), (to, value, bytes, stream),
           clear(to, value, bytes, stream))
GSORT_CALL(cudaMemGetInfo, (size_t * free_bytes, size_t *total_bytes), (free_bytes, total_bytes),
           (give(free_bytes, size_t{1} << 36), give(total_bytes, size_t{1} << 37)))
GSORT_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
           (int *blocks, const void *kernel, int threads, size_t shared_bytes, unsigned flags),
           (blocks, kernel, threads, shared_bytes, flags), give(blocks, 1))
GSORT_CALL(cudaPointerGetAttributes, (cudaPointerAttributes * out, const void *memory), (out, memory),
           pointer(out, memory))
GSORT_CALL(cudaDriverGetVersion, (int *version), (version), give(version, state().like.driver_version))
GSORT_CALL(cudaGetDeviceCount, (int *count), (count), give(count, state().like.devices))
GSORT_CALL(cudaGetDevice, (int *device), (device), give(device, state().device))
GSORT_CALL(cudaSetDevice, (int device), (device), set_stand_in_device(device))
GSORT_CALL(cudaDeviceGetAttribute, (int *value, cudaDeviceAttr which, int device), (value, which, device),
           attribute(value, which))
GSORT_CALL(cudaGetDeviceProperties, (cudaDeviceProp * out, int device), (out, device), properties(out))
GSORT_CALL(cudaStreamGetDevice, (cudaStream_t stream, int *device), (stream, device),
           give(device, state().device_of_streams < 0 ? state().device : state().device_of_streams))
GSORT_CALL(cudaStreamGetId, (cudaStream_t stream, unsigned long long *id), (stream, id),
           give(id, static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream))))
GSORT_CALL(cudaStreamGetCaptureInfo,
           (cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
            const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges, size_t *count),
           (stream, status, id, graph, dependencies, edges, count), capture_info(status, id, graph))
GSORT_CALL(cudaStreamQuery, (cudaStream_t stream), (stream), nothing())
GSORT_CALL(cudaStreamSynchronize, (cudaStream_t stream), (stream), wait_for("cudaStreamSynchronize", stream))
GSORT_CALL(cudaDeviceSynchronize, (), (), wait_for("cudaDeviceSynchronize", nullptr))
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

// What the driver is asked for goes through here, too, so that both the stand-in's and a real one can answer.
GSORT_DECLARE_CALL(cudaGetDriverEntryPointByVersion, (const char *name, void **call, unsigned version,
                                                      unsigned long long flags, cudaDriverEntryPointQueryResult *found))
namespace {

template <class Function>
Function real_driver_call(const char *name) {
  void *call = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t result = __real_cudaGetDriverEntryPointByVersion(name, &call, 12000, cudaEnableDefault, &found);
  if (result != cudaSuccess) (void)__real_cudaGetLastError();
  return reinterpret_cast<Function>(result == cudaSuccess && found == cudaDriverEntryPointSuccess ? call : nullptr);
}

constexpr int kNoSuchCall = 500;  // as the driver says where it does not find something

int context_get_current(void **context) {
  if (state().stand_in) return *context = current_stand_in_context(), 0;
  static const auto real = real_driver_call<int (*)(void **)>("cuCtxGetCurrent");
  return real == nullptr ? kNoSuchCall : real(context);
}

int context_set_current(void *context) {
  if (state().stand_in) return set_stand_in_context(context), 0;
  static const auto real = real_driver_call<int (*)(void *)>("cuCtxSetCurrent");
  return real == nullptr ? kNoSuchCall : real(context);
}

int context_get_id(void *context, unsigned long long *id) {
  if (state().stand_in && !state().tells_contexts) return kNoSuchCall;
  if (state().stand_in) return *id = stand_in_context_id(context), 0;
  static const auto real = real_driver_call<int (*)(void *, unsigned long long *)>("cuCtxGetId");
  return real == nullptr ? kNoSuchCall : real(context, id);
}

}  // namespace

extern "C" cudaError_t __wrap_cudaGetDriverEntryPointByVersion(const char *name, void **call, unsigned,
                                                               unsigned long long,
                                                               cudaDriverEntryPointQueryResult *found) {
  const std::map<std::string, void *> calls = {{"cuCtxGetCurrent", reinterpret_cast<void *>(context_get_current)},
                                               {"cuCtxSetCurrent", reinterpret_cast<void *>(context_set_current)},
                                               {"cuCtxGetId", reinterpret_cast<void *>(context_get_id)}};
  const auto known = calls.find(name);
  const bool has = known != calls.end() && state().not_in_driver.count(name) == 0;
  *found = has ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  *call = has ? known->second : nullptr;
  return cudaSuccess;
}

// How <<< >>> hands its numbers to the function that the compiler made.
extern "C" unsigned __real___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
extern "C" unsigned __wrap___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
extern "C" unsigned __wrap___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
  if (!state().stand_in) return __real___cudaPushCallConfiguration(grid, block, shared, stream);
  pushed = {grid, block, shared, stream};
  return 0;
}
GSORT_DECLARE_CALL(__cudaPopCallConfiguration, (dim3 * grid, dim3 *block, size_t *shared, void *stream))
extern "C" cudaError_t __wrap___cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  if (!state().stand_in) return __real___cudaPopCallConfiguration(grid, block, shared, stream);
  *grid = pushed.grid, *block = pushed.block, *shared = pushed.shared;
  std::memcpy(stream, &pushed.stream, sizeof pushed.stream);
  return cudaSuccess;
}

// The compiler's registration of kernels, before the program begins.
extern "C" void __real___cudaRegisterFunction(void **binary, const char *host, char *device, const char *name,
                                              int limit, void *thread, void *block, void *threads, void *blocks,
                                              int *size);
extern "C" void __wrap___cudaRegisterFunction(void **binary, const char *host, char *device, const char *name,
                                              int limit, void *thread, void *block, void *threads, void *blocks,
                                              int *size);
extern "C" void __wrap___cudaRegisterFunction(void **binary, const char *host, char *device, const char *name,
                                              int limit, void *thread, void *block, void *threads, void *blocks,
                                              int *size) {
  kernel_names()[host] = name;
  __real___cudaRegisterFunction(binary, host, device, name, limit, thread, block, threads, blocks, size);
}
GSORT_DECLARE_CALL(__cudaGetKernel, (void **kernel, const void *host))
extern "C" cudaError_t __wrap___cudaGetKernel(void **kernel, const void *host) {
  const cudaError_t result = __real___cudaGetKernel(kernel, host);
  if (result == cudaSuccess) kernel_names()[*kernel] = kernel_names()[host];
  return result;
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
uint64_t calls_of(const char *function) { return state().calls[function]; }

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

void use_stand_in(ArrayPlace arrays, const StandInDevice &device) {
  state().stand_in = true;
  state().arrays = arrays;
  state().like = device;
  state().placed.clear();
  state().kernels_act = nullptr;
  state().tells_contexts = false;
  state().own_context = nullptr;
}
void use_real_device() { state().stand_in = false; }
void place_array(const void *begin, uint64_t bytes, ArrayPlace place, int device) {
  const char *const first = static_cast<const char *>(begin);
  state().placed.push_back({first, first + bytes, place, device});
}

void play_kernels(std::function<void(const std::string &kernel)> act) { state().kernels_act = std::move(act); }

void set_own_context(void *context) {
  state().tells_contexts = true;
  state().own_context = context;
  state().device_of_own = state().device;
}
void *own_context() { return state().own_context; }
void reset_stand_in_devices() { state().resets++; }
void remove_from_driver(const char *name) { state().not_in_driver.insert(name); }

void record_work() {
  state().work.clear();
  state().recording = true;
}
std::vector<Work> recorded_work() {
  state().recording = false;
  return std::move(state().work);
}

void begin_stand_in_capture() {
  state().captures++;
  state().capturing = true;
}
uint64_t unsafe_allocations() { return state().unsafe_allocations; }
void invalidate_stand_in_capture() { state().invalidated = true; }
void set_device_of_streams(int device) { state().device_of_streams = device; }
void end_stand_in_capture() {
  state().capturing = state().invalidated = false;
  for (UserObject *object : state().retained) release(reinterpret_cast<cudaUserObject_t>(object));
  state().retained.clear();
}

}  // namespace gsort_test
