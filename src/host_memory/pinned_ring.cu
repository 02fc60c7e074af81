// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/pinned_ring.h"

#include <atomic>
#include <cstring>

#include "core/error.h"
#include "cuda/engine/check.h"

namespace gsort_internal {

// One copy, worked on by all threads: each takes the next piece of a slot's size.
struct PinnedRing::Copy {
  PinnedRing &ring;
  cudaStream_t stream;
  char *to;
  const char *from;
  uint64_t bytes;
  Progress *progress;  // NULL: from the device
  uint64_t piece_bytes;
  std::atomic<uint64_t> next{0}, done{0};
  std::atomic<cudaError_t> error{cudaSuccess};  // the first
  std::atomic<bool> stop{false};

  // The bytes of a new piece and their place; 0: there is none.
  uint64_t take(uint64_t &offset) {
    if (stop.load(std::memory_order_relaxed)) return 0;
    offset = next.fetch_add(piece_bytes, std::memory_order_relaxed);
    if (offset >= bytes) return 0;
    return bytes - offset < piece_bytes ? bytes - offset : piece_bytes;
  }
  bool good(cudaError_t result) {
    if (result == cudaSuccess) return true;
    (void)cudaGetLastError();
    cudaError_t none = cudaSuccess;
    error.compare_exchange_strong(none, result);
    stop.store(true, std::memory_order_relaxed);
    return false;
  }
};

PinnedRing::PinnedRing(HostMemory &memory, int device, uint32_t threads)
    : host_memory_(memory), device_(device), pool_(threads == 0 || threads > kThreadsMax ? 0 : threads) {
  workers_ = pool_.threads() < kThreadsMax ? pool_.threads() : kThreadsMax;
}

PinnedRing::~PinnedRing() {
  for (cudaEvent_t event : copied_)
    if (event != nullptr && cudaEventDestroy(event) != cudaSuccess) (void)cudaGetLastError();
  if (made_ && cudaHostUnregister(memory_.data()) != cudaSuccess) (void)cudaGetLastError();
}

void PinnedRing::abandon() noexcept {
  pool_.abandon();
  for (cudaEvent_t &event : copied_) event = nullptr;
  made_ = false;
}

// What cannot be had once is not asked for again: the driver's copies serve.
bool PinnedRing::make() {
  if (failed_) return false;
  if (made_) return true;
  failed_ = true;
  try {
    memory_ = HostBuffer<char>(host_memory_, workers_ * kSlots * kSlotBytes);
  } catch (const Error &) {
    return false;
  }
  if (cudaHostRegister(memory_.data(), memory_.count(), cudaHostRegisterPortable) != cudaSuccess) {
    (void)cudaGetLastError();
    memory_ = HostBuffer<char>();
    return false;
  }
  made_ = true;
  for (uint32_t i = 0; i < workers_ * kSlots; ++i)
    if (cudaEventCreateWithFlags(&copied_[i], cudaEventDisableTiming) != cudaSuccess) {
      (void)cudaGetLastError();
      copied_[i] = nullptr;
      return false;
    }
  failed_ = false;
  return true;
}

// Fills slots from the host array and has them copied. A slot is filled anew when its copy before has ended, also one
// of an earlier call.
void PinnedRing::fill_slots(Copy &copy, uint32_t worker) {
  uint64_t offset = 0;
  for (uint32_t turn = 0; const uint64_t bytes = copy.take(offset); turn ^= 1) {
    char *const slot = copy.ring.slot(worker, turn);
    cudaEvent_t copied = copy.ring.copied_[worker * kSlots + turn];
    if (!copy.good(cudaEventSynchronize(copied))) return;
    std::memcpy(slot, copy.from + offset, bytes);
    if (!copy.good(cudaMemcpyAsync(copy.to + offset, slot, bytes, cudaMemcpyHostToDevice, copy.stream)) ||
        !copy.good(cudaEventRecord(copied, copy.stream)))
      return;
    const uint64_t done = copy.done.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (worker == 0) copy.progress->control.checkpoint(copy.progress->done + done, copy.progress->total);
  }
}

// Has slots filled by the device, one ahead, and empties them into the host array.
void PinnedRing::empty_slots(Copy &copy, uint32_t worker) {
  uint64_t offsets[kSlots] = {}, pieces[kSlots] = {};
  bool more = true;
  for (uint32_t turn = 0;; turn ^= 1) {
    char *const slot = copy.ring.slot(worker, turn);
    cudaEvent_t copied = copy.ring.copied_[worker * kSlots + turn];
    if (pieces[turn] != 0) {
      if (!copy.good(cudaEventSynchronize(copied))) return;
      std::memcpy(copy.to + offsets[turn], slot, pieces[turn]);
      pieces[turn] = 0;
    }
    if (more) {
      pieces[turn] = copy.take(offsets[turn]);
      more = pieces[turn] != 0;
    }
    if (pieces[turn] == 0) {
      if (!more && pieces[turn ^ 1] == 0) return;
      continue;
    }
    if (!copy.good(
            cudaMemcpyAsync(slot, copy.from + offsets[turn], pieces[turn], cudaMemcpyDeviceToHost, copy.stream)) ||
        !copy.good(cudaEventRecord(copied, copy.stream)))
      return;
  }
}

void PinnedRing::run(Copy &copy) {
  // Short copies go in smaller pieces, so that all threads have some and the first is soon on the bus.
  copy.piece_bytes = copy.bytes / (kPiecesMin * workers_) / kPieceBytesMin * kPieceBytesMin;
  if (copy.piece_bytes < kPieceBytesMin) copy.piece_bytes = kPieceBytesMin;
  if (copy.piece_bytes > kSlotBytes) copy.piece_bytes = kSlotBytes;
  const uint64_t pieces = (copy.bytes + copy.piece_bytes - 1) / copy.piece_bytes;
  const auto work = [](void *user, uint32_t worker) {
    Copy &shared = *static_cast<Copy *>(user);
    if (worker != 0) {
      // The pool's own threads: nothing has to be put back.
      cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
      if (!shared.good(cudaSetDevice(shared.ring.device_)) || !shared.good(cudaThreadExchangeStreamCaptureMode(&mode)))
        return;
    }
    try {
      shared.progress != nullptr ? fill_slots(shared, worker) : empty_slots(shared, worker);
    } catch (...) {  // the caller's progress function has cancelled
      shared.stop.store(true, std::memory_order_relaxed);
      throw;
    }
  };
  pool_.run(static_cast<uint32_t>(pieces < workers_ ? pieces : workers_), work, &copy);
  cuda_check(copy.error.load(), copy.progress != nullptr ? "copying to the device" : "copying from the device");
}

bool PinnedRing::to_device(cudaStream_t stream, void *to, const void *from, uint64_t bytes, Progress &progress) {
  if (!make()) return false;
  Copy copy{*this, stream, static_cast<char *>(to), static_cast<const char *>(from), bytes, &progress, 0};
  run(copy);
  progress.done += bytes;
  return true;
}

bool PinnedRing::from_device(cudaStream_t stream, void *to, const void *from, uint64_t bytes) {
  if (!make()) return false;
  // One thread waits for the work before, not all.
  cuda_check(cudaStreamSynchronize(stream), "waiting for the result");
  Copy copy{*this, stream, static_cast<char *>(to), static_cast<const char *>(from), bytes, nullptr, 0};
  run(copy);
  return true;
}

}  // namespace gsort_internal
