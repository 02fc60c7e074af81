// SPDX-License-Identifier: MIT OR Apache-2.0
// The engine on a GPU: brings a request's arrays to the device, finds room to work in, launches, brings results back.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "core/dtype.h"
#include "core/error.h"
#include "cuda/engine/check.h"
#include "cuda/engine/device.h"
#include "cuda/engine/launch.h"
#include "cuda/engine/piece_device.h"
#include "cuda/engine/staging.h"
#include "cuda/engine/workspace.h"
#include "cuda/merge/launch.h"
#include "cuda/scan/launch.h"
#include "cuda/segments/launch.h"
#include "cuda/sort/launch.h"
#include "cuda/sum/launch.h"
#include "cuda/topk/launch.h"
#include "engine.h"
#include "host_memory/pieces.h"
#include "host_memory/pinned_ring.h"
#include "host_memory/placement.h"

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

// For the length of a call: on the handle's device, and free to ask CUDA about memory while the application captures
// another stream.
class CallScope {
 public:
  explicit CallScope(const OpenedDevice &device) : device_(device.ordinal, device.primary.context) {
    require_same_context(device);
  }

 private:
  DeviceScope device_;
  CaptureModeScope capture_mode_;
};

// What CUDA says of a stream that was destroyed or never was; nothing is wrong with the device.
bool is_no_stream(cudaError_t result) {
  return result == cudaErrorInvalidResourceHandle || result == cudaErrorInvalidValue ||
         result == cudaErrorContextIsDestroyed;
}

// A stream that is captured may not be asked for its id; that is done when it is needed, which is afterwards.
constexpr uint64_t kIdUnknown = 0;

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

// Whether pieces are quicker though the device may hold all: what is read once is worked on while it arrives, and a
// scan goes both ways at once.
bool streams_better(const Request &request, const Staging &staging) {
  constexpr uint64_t kBytesMin = uint64_t{128} << 20;
  constexpr uint64_t kFewMax = 4096;  // a selection of more is sorted
  if (staging.bytes_in() < kBytesMin) return false;
  switch (request.operation) {
    case Operation::kSum:
    case Operation::kReduce:
      return true;
    case Operation::kTopk:
      return request.k <= kFewMax;
    case Operation::kScan:
      return request.in != request.out;
    default:
      return false;
  }
}

// Calls that bring so much to the device may be cancelled while kernels run.
constexpr uint64_t kLongBytesMin = uint64_t{1} << 30;

class CudaEngine final : public Engine {
 public:
  explicit CudaEngine(const EngineOptions &options)
      : options_(options),
        control_(*options.control),
        device_(open_device(options.options.device)),
        workspace_(options.options),
        ring_(new PinnedRing(*options.host_memory, device_.ordinal, options.options.threads)),
        pool_(options.options.threads) {
    const CallScope scope(device_);
    stream_id_ = stream_id(stream_);
  }
  ~CudaEngine() override;

  void describe(gsort_info &info) const override;
  void check_array(const char *argument, const void *array, uint64_t bytes) override;
  bool host_readable(const void *array) override;
  void execute(const Request &request) override;
  void set_stream(void *stream) override;
  void synchronize() override;
  void reserve(const Request &shape) override;
  void set_workspace(void *memory, uint64_t bytes) override;
  void end_call() noexcept override {
    places_.forget();
    scope_.reset();
  }
  void abandon() noexcept override {
    abandoned_ = true;
    workspace_.abandon();
    ring_->abandon();
    copy_streams_.abandon();
    pool_.abandon();
    if (cpu_ != nullptr) cpu_->abandon();
  }

 private:
  // Until the call's end.
  void enter_call() {
    if (!scope_.has_value()) scope_.emplace(device_);
  }
  MemoryPlace place_of(const char *argument, const void *array) {
    enter_call();
    return places_.of(argument, array, device_.ordinal);
  }
  WorkQueue queue();
  WorkMemory room(uint64_t bytes, const WorkQueue &queue);
  void execute_staged(const Request &request, const Staging &staging, const WorkQueue &queue);
  void execute_at_once(const Request &request, const Staging &staging, const WorkMemory &work);
  void execute_pieces(const Request &request, const Staging &staging, const WorkQueue &queue);
  template <class F>
  void with_copies(F &&copies);
  void wait_and_tell(const PieceProgress &progress);
  void wait_for_earlier_work();
  bool is_idle();
  bool room_for(uint64_t bytes, const WorkQueue &queue, WorkMemory &work);
  uint64_t piece_budget() const;
  void write_empty_result(const Request &request);
  void launch(const Request &request, const WorkMemory &work, bool capturing);
  void launch_planned(const Request &request, const WorkMemory &work, bool capturing, const DeviceFacts &facts);
  void launch_segments_checked(const LaunchContext &context, const Request &request, void *workspace, bool capturing);

  bool belongs_on_cpu(const Request &request, const Staging &staging, bool in_pieces) const;
  void execute_on_cpu(const Request &request);

  const EngineOptions options_;
  Control &control_;
  OpenedDevice device_;
  std::optional<CallScope> scope_;
  MemoryPlaces places_;
  Workspace workspace_;
  std::unique_ptr<PinnedRing> ring_;
  CopyStreams copy_streams_;     // of calls that are worked in pieces
  Pool pool_;                    // likewise, for what the host does in them
  std::unique_ptr<Engine> cpu_;  // where calls on host arrays may run, made when the first does
  cudaStream_t stream_ = nullptr;
  uint64_t stream_id_ = kIdUnknown;
  // Work that synchronize() has not waited for: on which stream the last of it is, and whether some is on others.
  bool busy_ = false, busy_elsewhere_ = false;
  uint64_t busy_stream_id_ = 0;
  bool abandoned_ = false;
};

CudaEngine::~CudaEngine() {
  if (abandoned_) return;
  // Errors have no one to be told to any more; at process exit the runtime may be gone already. The stream is not
  // touched: programs destroy it before the handle.
  try {
    const CallScope scope(device_);
    if (busy_) (void)cudaDeviceSynchronize();
    workspace_.clear();
    ring_.reset();
    copy_streams_.close();
    (void)cudaGetLastError();
  } catch (const Error &) {
    workspace_.abandon();
    ring_->abandon();
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

void CudaEngine::check_array(const char *argument, const void *array, uint64_t) { (void)place_of(argument, array); }

bool CudaEngine::host_readable(const void *array) { return place_of("offsets", array) != MemoryPlace::kDevice; }

void CudaEngine::set_stream(void *stream) {
  enter_call();
  const auto next = static_cast<cudaStream_t>(stream);
  // Asked first, and of a stream that is captured nothing else is asked: that would invalidate the capture.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t result = cudaStreamGetCaptureInfo(next, &status, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (is_no_stream(result)) {
    (void)cudaGetLastError();
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "cuda_stream = %p is no open stream; pass one that exists, or NULL",
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

void CudaEngine::synchronize() {
  enter_call();
  const WorkQueue here = queue();
  if (here.capture_id != 0)
    throw Error(GSORT_ERROR_NOT_SUPPORTED,
                "the handle's stream is being captured and cannot be waited for; end the capture");
  cuda_check(cudaStreamSynchronize(stream_), "gsort_synchronize");
  // Streams of earlier calls may be destroyed, so that only the device can be waited for.
  if (busy_ && (busy_elsewhere_ || busy_stream_id_ != here.stream_id))
    cuda_check(cudaDeviceSynchronize(), "gsort_synchronize");
  busy_ = busy_elsewhere_ = false;
}

void CudaEngine::reserve(const Request &shape) {
  enter_call();
  workspace_.reserve(cuda_workspace_bytes(shape));
}

void CudaEngine::set_workspace(void *memory, uint64_t bytes) {
  enter_call();
  if (memory != nullptr && place_of("device_memory", memory) != MemoryPlace::kDevice)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "device_memory = %p is host memory; pass memory of device %d", memory,
                device_.ordinal);
  workspace_.lend(memory, bytes);
}

void CudaEngine::execute(const Request &request) {
  enter_call();
  const WorkQueue here = queue();
  if (has_no_elements(request)) return write_empty_result(request);
  Staging staging;
  staging.collect(request, places_, device_.ordinal);
  if (staging.any()) return execute_staged(request, staging, here);
  launch(request, room(cuda_workspace_bytes(request), here), here.capture_id != 0);
}

void CudaEngine::execute_staged(const Request &request, const Staging &staging, const WorkQueue &queue) {
  if (queue.capture_id != 0)
    throw Error(GSORT_ERROR_NOT_SUPPORTED,
                "the handle's stream is being captured, and an array lies in host memory; pass device memory");
  const uint64_t bytes = staging.bytes() + cuda_workspace_bytes(request);
  const bool may_use_cpu = options_.may_use_cpu && staging.all();
  const bool may_be_pieces = staging.all() && !workspace_.is_lent();
  const bool surely_in_pieces = may_be_pieces && (bytes > piece_budget() || streams_better(request, staging));
  if (may_use_cpu && belongs_on_cpu(request, staging, surely_in_pieces)) return execute_on_cpu(request);
  WorkMemory work;
  if (!surely_in_pieces) {
    if (room_for(bytes, queue, work)) return execute_at_once(request, staging, work);
    // Says what is wanting.
    if (!may_be_pieces) return execute_at_once(request, staging, room(bytes, queue));
  }
  try {
    execute_pieces(request, staging, queue);
  } catch (const Error &error) {
    if (error.status() != GSORT_ERROR_OUT_OF_MEMORY || !may_use_cpu) throw;
    control_.log("%s; on the CPU instead", error.text());
    execute_on_cpu(request);
  }
}

// Does what uses the caller's arrays, until it ends also where it fails.
template <class F>
void CudaEngine::with_copies(F &&copies) {
  try {
    copies();
  } catch (...) {
    if (cudaStreamSynchronize(stream_) != cudaSuccess) (void)cudaGetLastError();
    throw;
  }
}

// Kernels that may take a second: the caller's arrays are not in use while they run, so that a cancel need not wait.
void CudaEngine::wait_and_tell(const PieceProgress &progress) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point told = Clock::now();
  while (!is_idle()) {
    if (Clock::now() - told > std::chrono::milliseconds(20)) {
      progress.tell();
      told = Clock::now();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// Whether nothing that was enqueued on the stream is left to be done. Quicker than waiting, if so.
bool CudaEngine::is_idle() {
  const cudaError_t result = cudaStreamQuery(stream_);
  if (result == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  cuda_check(result, "asking whether the stream's work has ended");
  return true;
}

void CudaEngine::wait_for_earlier_work() {
  if (!is_idle()) cuda_check(cudaStreamSynchronize(stream_), "waiting for earlier work");
}

void CudaEngine::execute_at_once(const Request &request, const Staging &staging, const WorkMemory &work) {
  char *const memory = static_cast<char *>(work.memory);
  PieceProgress progress{control_, 0, staging.bytes_in() + staging.bytes_out()};
  const bool is_long = staging.bytes() >= kLongBytesMin;
  with_copies([&] {
    staging.copy_in(stream_, progress, *ring_, memory);
    if (is_long) cuda_check(cudaStreamSynchronize(stream_), "waiting for copies");
    launch(staging.bind(request, memory), {memory + staging.bytes(), work.standing}, false);
  });
  if (is_long) wait_and_tell(progress);
  with_copies([&] { staging.copy_out(stream_, progress, *ring_, memory); });
  cuda_check(cudaStreamSynchronize(stream_), "waiting for the result");
  control_.report(progress.total, progress.total);
}

// False: there is not so much memory. The room is the stream's own until the next call.
bool CudaEngine::room_for(uint64_t bytes, const WorkQueue &queue, WorkMemory &work) {
  try {
    work = room(bytes, queue);
    return true;
  } catch (const Error &error) {
    if (error.status() != GSORT_ERROR_OUT_OF_MEMORY) throw;
    return false;
  }
}

// What pieces may take: a limit's worth, less what a block has before its begin; without a limit what the device has,
// of which room_for() tells how much is free.
uint64_t CudaEngine::piece_budget() const {
  constexpr uint64_t kOfBlock = kStandingBytes + kSliceAlignment;
  const uint64_t limit = options_.options.device_memory_limit_bytes;
  const uint64_t most = limit != 0 && limit < device_.memory_bytes ? limit : device_.memory_bytes;
  return most > kOfBlock ? (most - kOfBlock) / kSliceAlignment * kSliceAlignment : 0;
}

// Arrays that the device cannot hold at once.
void CudaEngine::execute_pieces(const Request &request, const Staging &staging, const WorkQueue &queue) {
  control_.log("host arrays: in pieces, within %llu bytes of device memory",
               static_cast<unsigned long long>(piece_budget()));
  wait_for_earlier_work();  // which may write these arrays
  copy_streams_.open();
  WorkMemory work;
  PieceServices services;
  services.budget_bytes = [&] { return piece_budget(); };
  services.take = [&](uint64_t bytes) {
    return room_for(bytes, queue, work) ? static_cast<char *>(work.memory) : nullptr;
  };
  services.launch = [&](const Request &piece, void *workspace) {
    // Offsets have been checked, so that nothing is waited for.
    launch(piece, {workspace, work.standing}, true);
  };
  CudaPieceDevice device(std::move(services), staging, *ring_, copy_streams_, stream_);
  execute_in_pieces({device, *options_.host_memory, control_, pool_}, request);
}

// Both engines give the same bits, so a call whose arrays all lie on the host may run where it ends first.
bool CudaEngine::belongs_on_cpu(const Request &request, const Staging &staging, bool in_pieces) const {
  const Placement placement =
      plan_placement(request, {staging.bytes_in(), staging.bytes_out(), pool_.threads(), in_pieces});
  if (control_.has_log())
    control_.log("host arrays: on the %s, about %.0f us with the CPU's %u threads and %.0f with the device and the bus",
                 placement.on_cpu ? "CPU" : "device", placement.cpu_us, pool_.threads(), placement.device_us);
  return placement.on_cpu;
}

void CudaEngine::execute_on_cpu(const Request &request) {
  wait_for_earlier_work();  // which may write these arrays
  if (cpu_ == nullptr) cpu_ = make_cpu_engine(options_);
  cpu_->execute(request);
}

void CudaEngine::write_empty_result(const Request &request) {
  if (request.operation != Operation::kSum && request.operation != Operation::kReduce) return;
  const uint64_t bits = empty_result(request), bytes = request_bytes(request).out;
  if (place_of("out", request.out) != MemoryPlace::kDevice) {
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
void CudaEngine::launch(const Request &request, const WorkMemory &work, bool capturing) {
  DeviceFacts facts = device_.facts;
  while (true) {
    try {
      return launch_planned(request, work, capturing, facts);
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
                                const DeviceFacts &facts) {
  const LaunchContext context = {stream_, &facts, &control_, work.standing};
  void *const workspace = work.memory;
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
  if (request.operation == Operation::kSortSegments) {
    segments::launch(context, request, rest, verdict);
  } else {
    topk::launch_segments(context, request, rest, verdict);
  }
  if (capturing) return;
  uint32_t wrong = 0;
  cuda_check(cudaMemcpyAsync(&wrong, verdict, sizeof wrong, cudaMemcpyDeviceToHost, stream_),
             "copying from the device");
  cuda_check(cudaStreamSynchronize(stream_), "waiting for the check of offsets");
  if (wrong != 0)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                "offsets = %p do not ascend, or the last is above n = %llu; nothing was written",
                static_cast<const void *>(request.offsets), static_cast<unsigned long long>(request.n));
}

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(const EngineOptions &options) {
  try {
    return std::make_unique<CudaEngine>(options);
  } catch (const Error &error) {
    if (error.status() != GSORT_ERROR_INTERNAL && error.status() != GSORT_ERROR_DEVICE_LOST) throw;
    throw Error(GSORT_ERROR_NO_DEVICE, "the device cannot be used: %.400s", error.text());
  }
}

}  // namespace gsort_internal
