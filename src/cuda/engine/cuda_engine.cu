// SPDX-License-Identifier: MIT OR Apache-2.0
// The engine on a GPU: its streams, the room it works in, and its launches.
#include "cuda/engine/cuda_engine.h"

#include <cstdio>
#include <cstring>

#include "core/dtype.h"
#include "core/error.h"
#include "cuda/merge/launch.h"
#include "cuda/scan/launch.h"
#include "cuda/segments/launch.h"
#include "cuda/sort/in_place/launch.h"
#include "cuda/sort/launch.h"
#include "cuda/sum/launch.h"
#include "cuda/topk/launch.h"

namespace gsort_internal {
namespace {

// The result of a sum or reduction of nothing, as its bits.
uint64_t empty_result(const Request &request) {
  if (request.operation == Operation::kSum) return 0;
  if (request.reduce_op == GSORT_MEAN) return 0x7ff8000000000000u;
  if (request.reduce_op == GSORT_ARGMIN || request.reduce_op == GSORT_ARGMAX) return UINT64_MAX;
  return with_width(dtype_bytes(request.order.dtype), [&](auto tag) -> uint64_t {
    using U = typename decltype(tag)::type;
    return make_codec<U>(request.order).decode(static_cast<U>(~U{0}));
  });
}

__global__ void write_result_kernel(unsigned char *out, uint64_t bits, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) out[i] = static_cast<unsigned char>(bits >> (8 * i));
}

// What CUDA says of a stream that was destroyed or never was; nothing is wrong with the device.
bool is_no_stream(cudaError_t result) {
  return result == cudaErrorInvalidResourceHandle || result == cudaErrorInvalidValue ||
         result == cudaErrorContextIsDestroyed;
}

// The legacy stream may not be asked while another one is captured.
uint64_t stream_id(cudaStream_t stream) {
  constexpr uint64_t kLegacy = UINT64_MAX;
  if (stream == nullptr || stream == cudaStreamLegacy) return kLegacy;
  unsigned long long id = kIdUnknown;
  cuda_check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
  return id;
}

// The stream, whose id is left to the caller, and what is captured on it.
WorkQueue queue_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long capture = 0;
  cudaGraph_t graph = nullptr;
  const cudaError_t result = cudaStreamGetCaptureInfo(stream, &status, &capture, &graph, nullptr, nullptr, nullptr);
  if (is_no_stream(result)) {
    (void)cudaGetLastError();
    throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                "the handle's stream is no longer open; set one that is with gsort_set_stream()");
  }
  if (result == cudaErrorStreamCaptureImplicit) {
    (void)cudaGetLastError();
    throw Error(
        GSORT_ERROR_NOT_SUPPORTED,
        "the handle works on the legacy default stream while another stream is being captured; give it a stream "
        "with gsort_set_stream()");
  }
  cuda_check(result, "cudaStreamGetCaptureInfo");
  if (status == cudaStreamCaptureStatusInvalidated)
    throw Error(GSORT_ERROR_NOT_SUPPORTED, "the capture of the handle's stream was invalidated earlier; end it first");
  if (status != cudaStreamCaptureStatusActive) return {stream, kIdUnknown, 0, nullptr};
  // Within one capture the handle tells its streams apart.
  return {stream, reinterpret_cast<uintptr_t>(stream), capture, graph};
}

}  // namespace

CudaEngine::CudaEngine(const EngineOptions &options)
    : options_(options),
      control_(*options.control),
      device_(open_device(options.options.device)),
      workspace_(options.options),
      pool_(options.options.threads, options.processors),
      ring_(new PinnedRing(*options.host_memory, device_.ordinal, options.options.threads, pool_.processors())),
      notice_board_(*options.host_memory) {
  const CallScope scope(device_);
  stream_id_ = stream_id(stream_);
}

CudaEngine::~CudaEngine() {
  if (abandoned_) return;
  // Errors have no one to be told to any more; at process exit the runtime may be gone already.
  try {
    const CallScope scope(device_);
    if (busy_ && !wait_for_default_stream()) (void)cudaDeviceSynchronize();
    workspace_.clear();
    ring_.reset();
    notice_board_.close();
    copy_streams_.close();
    (void)cudaGetLastError();
  } catch (const Error &) {
    workspace_.abandon();
    ring_->abandon();
    notice_board_.abandon();
  }
}

void CudaEngine::describe(gsort_info &info) const {
  const CallScope scope(device_);
  size_t free_bytes = 0, total_bytes = 0;
  cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  info.backend = GSORT_BACKEND_CUDA;
  info.device = device_.ordinal;
  info.threads = 1;
  info.compute_capability = device_.compute_capability;
  info.driver_version = static_cast<uint32_t>(device_.driver_version);
  info.device_memory_bytes = device_.memory_bytes;
  info.device_memory_free_bytes = free_bytes;
  info.device_held_bytes = workspace_.held_bytes();
  info.host_held_bytes = options_.host_memory->held_bytes();
  std::snprintf(info.device_name, sizeof info.device_name, "%s", device_.name);
}

void CudaEngine::check_array(const char *argument, const void *array, uint64_t) { (void)kind_of(argument, array); }

bool CudaEngine::host_readable(const void *array) { return kind_of("offsets", array) != MemoryKind::kDevice; }

void CudaEngine::set_stream(void *stream) {
  enter_call();
  const auto next = static_cast<cudaStream_t>(stream);
  // Asked first, and of a stream that is captured nothing else is asked: that would invalidate the capture.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t result = cudaStreamGetCaptureInfo(next, &status, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (is_no_stream(result)) {
    (void)cudaGetLastError();
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "cuda_stream = %p is not an open stream; pass one that exists, or NULL",
                stream);
  }
  // The legacy stream while another one is captured; calls will say so.
  if (result == cudaErrorStreamCaptureImplicit)
    (void)cudaGetLastError();
  else
    cuda_check(result, "cudaStreamGetCaptureInfo");
  if (result != cudaSuccess || status != cudaStreamCaptureStatusNone) {
    stream_id_ = next == nullptr ? stream_id(next) : kIdUnknown;
    stream_ = next;
    return;
  }
  int device = device_.ordinal;
  if (cudaStreamGetDevice(next, &device) != cudaSuccess) (void)cudaGetLastError();
  if (device != device_.ordinal)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "cuda_stream = %p is a stream of device %d, and the handle's is %d",
                stream, device, device_.ordinal);
  // The stream before is not touched, for it may have been destroyed. What still runs on it has memory of its own.
  stream_id_ = stream_id(next);
  stream_ = next;
}

WorkQueue CudaEngine::queue() {
  WorkQueue queue = queue_of(stream_);
  if (queue.capture_id != 0) return queue;
  // cudaStreamPerThread is another stream in each thread.
  if (stream_id_ == kIdUnknown || stream_ == cudaStreamPerThread) stream_id_ = stream_id(stream_);
  queue.stream_id = stream_id_;
  return queue;
}

// Room for a call, which is noted as enqueued.
WorkMemory CudaEngine::room(uint64_t bytes, const WorkQueue &queue) {
  const WorkMemory memory = workspace_.at_least(bytes, queue);
  if (queue.capture_id != 0) return memory;
  if (busy_ && busy_stream_id_ != queue.stream_id) busy_elsewhere_ = true;
  busy_ = true;
  busy_stream_id_ = queue.stream_id;
  return memory;
}

// Of sorts that can do with less than the usual workspace; if it applies.
sort::in_place::Plan CudaEngine::in_place_plan(const Request &request) const {
  const sort::in_place::Plan plan = sort::in_place::make_plan(request);
  return sort::in_place::fits(plan, device_.facts) ? plan : sort::in_place::Plan{};
}

// Room for a call on device arrays. in_place.applies where there is less than usual, and the sort in place can do with
// that.
WorkMemory CudaEngine::room_or_less(const Request &request, const WorkQueue &queue, sort::in_place::Plan &in_place) {
  const uint64_t bytes = cuda_workspace_bytes(request);
  in_place = {};
  if (!workspace_.forbids(bytes)) {
    try {
      return room(bytes, queue);
    } catch (const Error &error) {
      // In a capture there may be less reserved, because there was no more.
      const bool wants = error.status() == GSORT_ERROR_OUT_OF_MEMORY ||
                         (error.status() == GSORT_ERROR_NOT_SUPPORTED && queue.capture_id != 0);
      const sort::in_place::Plan plan = wants ? in_place_plan(request) : sort::in_place::Plan{};
      if (!plan.applies || !sort::in_place::takes_arrays(request)) throw;
      try {
        const WorkMemory less = room(plan.workspace_bytes, queue);
        in_place = plan;
        return less;
      } catch (const Error &) {  // the usual workspace is what to name
      }
      throw;
    }
  }
  const sort::in_place::Plan plan = in_place_plan(request);
  if (!plan.applies || !sort::in_place::takes_arrays(request) || workspace_.forbids(plan.workspace_bytes))
    return room(bytes, queue);  // says how much is missing
  in_place = plan;
  return room(plan.workspace_bytes, queue);
}

void CudaEngine::synchronize() {
  enter_call();
  const WorkQueue here = queue();
  if (here.capture_id != 0)
    throw Error(GSORT_ERROR_NOT_SUPPORTED,
                "the handle's stream is being captured and cannot be waited for; end the capture");
  cuda_check(cudaStreamSynchronize(stream_), "gsort_synchronize");
  // Streams of earlier calls may be destroyed, so that only the device can be waited for.
  if (busy_ && (busy_elsewhere_ || busy_stream_id_ != here.stream_id)) {
    const cudaError_t result = cudaDeviceSynchronize();
    if (result == cudaErrorStreamCaptureUnsupported) {
      (void)cudaGetLastError();
      throw Error(GSORT_ERROR_NOT_SUPPORTED,
                  "the handle has work on several streams, for which the device is waited for, and a stream is being "
                  "captured; end the capture, or wait before the handle goes to another stream");
    }
    cuda_check(result, "gsort_synchronize");
  }
  busy_ = busy_elsewhere_ = false;
}

// The default streams are always open; other ones programs may destroy before the handle, and those are not touched.
// Whether the handle's work was on one of them alone and has ended. The device is not waited for where that can be
// helped, as that makes the captures of other threads invalid.
bool CudaEngine::wait_for_default_stream() {
  const bool is_default = stream_ == nullptr || stream_ == cudaStreamLegacy || stream_ == cudaStreamPerThread;
  if (!is_default || busy_elsewhere_) return false;
  try {
    if (queue_of(stream_).capture_id != 0 || stream_id(stream_) != busy_stream_id_) return false;
    cuda_check(cudaStreamSynchronize(stream_), "gsort_destroy");
    return true;
  } catch (const Error &) {
    return false;
  }
}

void CudaEngine::reserve(const Request &shape) {
  enter_call();
  const uint64_t bytes = cuda_workspace_bytes(shape);
  const sort::in_place::Plan in_place = in_place_plan(shape);
  if (in_place.applies && workspace_.forbids(bytes)) return workspace_.reserve(in_place.workspace_bytes);
  try {
    workspace_.reserve(bytes);
  } catch (const Error &error) {
    if (error.status() != GSORT_ERROR_OUT_OF_MEMORY || !in_place.applies) throw;
    workspace_.reserve(in_place.workspace_bytes);
  }
}

void CudaEngine::set_workspace(void *memory, uint64_t bytes) {
  enter_call();
  if (memory != nullptr && kind_of("device_memory", memory) != MemoryKind::kDevice)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "device_memory = %p is host memory; pass memory of device %d", memory,
                device_.ordinal);
  workspace_.lend(memory, bytes);
}

void CudaEngine::execute(const Request &request) {
  enter_call();
  const WorkQueue here = queue();
  if (has_no_elements(request)) return write_empty_result(request);
  Staging staging;
  staging.collect(request, kinds_, device_.ordinal);
  if (staging.any()) return execute_staged(request, staging, here);
  sort::in_place::Plan in_place;
  const WorkMemory work = room_or_less(request, here, in_place);
  launch(request, work, here.capture_id != 0, in_place);
}

void CudaEngine::write_empty_result(const Request &request) {
  if (request.operation != Operation::kSum && request.operation != Operation::kReduce) return;
  const uint64_t bits = empty_result(request), bytes = request_bytes(request).out;
  if (kind_of("out", request.out) != MemoryKind::kDevice) {
    std::memcpy(request.out, &bits, bytes);  // little-endian, as every host of an NVIDIA GPU is
    return;
  }
  write_result_kernel<<<1, 1, 0, stream_>>>(static_cast<unsigned char *>(request.out), bits,
                                            static_cast<uint32_t>(bytes));
  check_launch("write_result_kernel");
}

// A device can have less room than its facts say: a stream of a green context has some of its multiprocessors, a
// service that shares it out keeps some back. Then kernels whose blocks must all be there at once do not fit, and the
// call is planned again for a device without clusters, and for ever smaller ones. What was launched before, if
// anything, can be done twice.
void CudaEngine::launch(const Request &request, const WorkMemory &work, bool capturing,
                        const sort::in_place::Plan &in_place) {
  DeviceFacts facts = device_.facts;
  while (true) {
    try {
      return launch_planned(request, work, capturing, facts, in_place);
    } catch (const LaunchDoesNotFit &error) {
      if (facts.clusters())
        facts.clusters_fit = false;
      else if (facts.multiprocessors > 1)
        facts.multiprocessors /= 2;
      else
        throw;
      control_.log("%s; planning for %u multiprocessors%s", error.text(), facts.multiprocessors,
                   facts.clusters() ? "" : " without clusters");
    }
  }
}

void CudaEngine::launch_planned(const Request &request, const WorkMemory &work, bool capturing,
                                const DeviceFacts &facts, const sort::in_place::Plan &in_place) {
  const LaunchContext context = {stream_, &facts, &control_, work.standing};
  void *const workspace = work.memory;
  if (in_place.applies) return sort::in_place::launch(context, request, in_place, workspace);
  switch (request.operation) {
    case Operation::kSort:
    case Operation::kSortPairs:
    case Operation::kArgsort:
    case Operation::kRank:
      return sort::launch(context, request, workspace);
    case Operation::kSortSegments:
      return launch_segments_checked(context, request, workspace, capturing);
    case Operation::kMerge:
      return merge::launch(context, request, workspace);
    case Operation::kTopk:
    case Operation::kTopkRows:
      return topk::launch(context, request, workspace);
    case Operation::kTopkSegments:
      return launch_segments_checked(context, request, workspace, capturing);
    case Operation::kSum:
    case Operation::kReduce:
      return sum::launch(context, request, workspace);
    case Operation::kScan:
      return scan::launch(context, request, workspace);
  }
}

// The first slice of the workspace holds the verdict on the offsets.
void CudaEngine::launch_segments_checked(const LaunchContext &context, const Request &request, void *workspace,
                                         bool capturing) {
  auto *const verdict = static_cast<uint32_t *>(workspace);
  void *const rest = static_cast<char *>(workspace) + kSliceAlignment;
  const Notice *const notice = capturing ? nullptr : notice_board_.next(device_.ordinal);
  bool told;
  if (request.operation == Operation::kSortSegments) {
    told = segments::launch(context, request, rest, verdict, notice);
    if (told) notice->wait(stream_);
  } else {
    // Read below, and never what lay there before, also where no kernel has run.
    if (notice == nullptr && !capturing)
      cuda_check(cudaMemsetAsync(verdict, 0, sizeof *verdict, stream_), "cudaMemsetAsync(verdict)");
    told = topk::launch_segments(context, request, rest, verdict, notice);
  }
  if (capturing) return;
  uint32_t wrong = told ? static_cast<uint32_t>(notice->word(1)) : 0;
  if (!told) {
    cuda_check(cudaMemcpyAsync(&wrong, verdict, sizeof wrong, cudaMemcpyDeviceToHost, stream_),
               "copying from the device");
    cuda_check(cudaStreamSynchronize(stream_), "waiting for the check of offsets");
  }
  if (wrong != 0)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                "offsets = %p do not ascend, or the last is above n = %llu; nothing was written",
                static_cast<const void *>(request.offsets), static_cast<unsigned long long>(request.n));
}

std::unique_ptr<Engine> make_cuda_engine(const EngineOptions &options) {
  try {
    return std::make_unique<CudaEngine>(options);
  } catch (const Error &error) {
    if (error.status() != GSORT_ERROR_INTERNAL && error.status() != GSORT_ERROR_DEVICE_LOST) throw;
    throw Error(GSORT_ERROR_NO_DEVICE, "the device cannot be used: %.400s", error.text());
  }
}

}  // namespace gsort_internal
