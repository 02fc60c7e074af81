// SPDX-License-Identifier: MIT OR Apache-2.0
// The engine on a GPU: calls whose arrays lie in host memory. They are copied to the device at once, worked in pieces,
// or left to the CPU.
#include <chrono>
#include <thread>
#include <utility>

#include "core/control.h"
#include "core/error.h"
#include "core/slices.h"
#include "cuda/engine/cuda_engine.h"
#include "host_memory/pieces.h"

namespace gsort_internal {
namespace {

// Whether pieces are quicker though the device may hold all: what is read once is worked on while it arrives, and a
// scan, a merge and a sort of segments go both ways at once. None of them writes over its input.
bool streams_better(const Request &request, const Staging &staging) {
  constexpr uint64_t kBytesMin = uint64_t{128} << 20;
  constexpr uint64_t kFewMax = 4096;  // a selection of more is sorted
  // The host reads and writes each offset three times in all, some 5 ns, in the time that the bus needs for so many
  // keys.
  constexpr uint64_t kSegmentItemsMin = 256;
  if (staging.bytes_in() < kBytesMin) return false;
  switch (request.operation) {
    case Operation::kSum:
    case Operation::kReduce:
      return true;
    case Operation::kTopk:
      return request.k <= kFewMax;
    case Operation::kScan:
      return request.in != request.out;
    case Operation::kMerge:
      return true;
    case Operation::kSortSegments:
      return request.in != request.out && request.segments <= request.n / kSegmentItemsMin;
    default:
      return false;
  }
}

// Whether a sort is rather done as its arrays arrive. Not if more than an eighth of them is pageable: each piece begins
// with empty slots of the ring, which took 2^28 keys, and pairs and argsorts of as many bytes, 48.4, 49.0 and 52.2 ms
// in place of 47.8, 45.6 and 48.9 (H200's host, 2026-11-24).
bool arrives_better(const Request &request, const Staging &staging) {
  const uint64_t bytes = staging.bytes_in() + staging.bytes_out();
  return rather_sorted_as_it_arrives(request) &&
         bytes - staging.registered_in() - staging.registered_out() <= bytes / 8;
}

// Calls that bring so much to the device may be cancelled while kernels run.
constexpr uint64_t kLongBytesMin = uint64_t{1} << 30;

}  // namespace

// What a call whose arrays lie in host memory needs, and the ways in which it may be done.
struct CudaEngine::StagedCall {
  const Request &request;
  const Staging &staging;
  const WorkQueue &queue;
  uint64_t bytes;  // of the arrays and the workspace, all at once
  bool may_use_cpu = false, may_be_pieces = false, must_be_pieces = false;
  bool rather_pieces = false;  // they are quicker, or it is a sort that is done as its arrays arrive
  bool arrives = false;        // it is such a sort
  Placement placement{};
};

CudaEngine::StagedCall CudaEngine::look_at_staged(const Request &request, const Staging &staging,
                                                  const WorkQueue &queue) const {
  StagedCall call{request, staging, queue, staging.bytes() + cuda_workspace_bytes(request)};
  call.may_use_cpu = options_.may_use_cpu && staging.all();
  call.may_be_pieces = staging.all() && !workspace_.is_lent();
  call.must_be_pieces = call.may_be_pieces && call.bytes > piece_budget();
  const bool may_choose = call.may_be_pieces && !call.must_be_pieces;
  call.arrives = may_choose && arrives_better(request, staging);
  const bool streams = may_choose && !call.arrives && streams_better(request, staging);
  call.rather_pieces = call.arrives || streams;
  if (call.may_use_cpu) call.placement = choose_placement(request, staging, call.must_be_pieces || streams);
  return call;
}

void CudaEngine::execute_staged(const Request &request, const Staging &staging, const WorkQueue &queue) {
  if (queue.capture_id != 0)
    throw Error(GSORT_ERROR_NOT_SUPPORTED,
                "the handle's stream is being captured, and an array lies in host memory; pass device memory");
  const StagedCall call = look_at_staged(request, staging, queue);
  if (call.placement.shared_by == 0 && call.placement.on_cpu) return execute_on_cpu(request);
  if (!call.must_be_pieces && !call.rather_pieces) {
    WorkMemory work;
    if (room_for(call.bytes, queue, work)) return execute_at_once(request, staging, work);
    // Throws, and says how much is missing.
    if (!call.may_be_pieces) return execute_at_once(request, staging, room(call.bytes, queue));
  }
  execute_pieces_or_else(call);
}

// In pieces, or where memory gives out in another way that needs less of it.
void CudaEngine::execute_pieces_or_else(const StagedCall &call) {
  // The pieces of some calls need less memory where they need not be quicker than all at once.
  const bool may_need_less = call.arrives || call.request.operation == Operation::kSortSegments;
  for (bool else_at_once = call.rather_pieces;; else_at_once = false) {
    try {
      return execute_pieces(call.request, call.staging, call.queue, call.placement, else_at_once);
    } catch (const LostOrder &) {
      throw;
    } catch (const Error &error) {
      if (error.status() != GSORT_ERROR_OUT_OF_MEMORY) throw;
      WorkMemory work;
      // What is rather done in pieces has written over no input.
      if (else_at_once && room_for(call.bytes, call.queue, work)) {
        control_.log("%s; at once instead", error.text());
        return execute_at_once(call.request, call.staging, work);
      }
      if (!else_at_once || !may_need_less) {
        if (!call.may_use_cpu) throw;
        control_.log("%s; on the CPU instead", error.text());
        return execute_on_cpu(call.request);
      }
      control_.log("%s; in pieces that need less", error.text());
    }
  }
}

// Does what uses the caller's arrays. Where that fails, nothing uses them any more when this ends.
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
void CudaEngine::execute_pieces(const Request &request, const Staging &staging, const WorkQueue &queue,
                                const Placement &placement, bool else_at_once) {
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
  CudaPieceDevice device(std::move(services), staging, *ring_, copy_streams_, stream_,
                         placement.shared_by == 0 ? UINT32_MAX : kSharedRingThreads);
  const PieceContext context = {device, *options_.host_memory, control_, pool_, else_at_once};
  if (placement.shared_by == 0) return execute_in_pieces(context, request);
  Sharing sharing = {placement.shared_by};
  sharing.alone_above = placement.alone_above, sharing.workers_beside = placement.shared_beside;
  execute_on_both(context, sharing, request);
}

// Both engines give the same bits, so a call whose arrays all lie on the host may run where it ends first.
Placement CudaEngine::choose_placement(const Request &request, const Staging &staging, bool in_pieces) const {
  const Placement placement = plan_placement(request, {staging.bytes_in(), staging.bytes_out(), pool_.threads(),
                                                       in_pieces, staging.registered_in(), staging.registered_out()});
  if (!control_.has_log()) return placement;
  if (placement.shared_by != 0)
    control_.log(
        "host arrays: on both, about %.0f us, %.0f with the CPU's %u threads and %.0f with the device and the bus",
        placement.both_us, placement.cpu_us, pool_.threads(), placement.device_us);
  else
    control_.log("host arrays: on the %s, about %.0f us with the CPU's %u threads and %.0f with the device and the bus",
                 placement.on_cpu ? "CPU" : "device", placement.cpu_us, pool_.threads(), placement.device_us);
  return placement;
}

void CudaEngine::execute_on_cpu(const Request &request) {
  wait_for_earlier_work();  // which may write these arrays
  if (cpu_ == nullptr) {
    EngineOptions options = options_;
    options.processors = pool_.processors();
    cpu_ = make_cpu_engine(options);
  }
  cpu_->execute(request);
}

// False, and no error is left behind, where the usual way has something to say, too.
bool CudaEngine::are_idle_host_arrays(std::initializer_list<const void *> arrays) noexcept {
  try {
    enter_call();
    if (queue().capture_id != 0) return false;
    // Asking whether the stream is idle takes longer than all the rest.
    bool out_of_reach = stream_ == nullptr && !device_.reaches_host_pages;
    for (const void *const array : arrays) {
      const MemoryKind kind = kind_of("array", array);
      if (kind == MemoryKind::kDevice) return false;
      out_of_reach &= kind == MemoryKind::kHost;
    }
    return out_of_reach || is_idle();
  } catch (...) {
    return false;
  }
}

}  // namespace gsort_internal
