// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/pinned_ring.h"

#include <atomic>
#include <cstring>
#include <exception>

#include "core/error.h"
#include "cuda/engine/check.h"
#include "host_memory/streaming_copy.h"

namespace gsort_internal {

namespace {

void copy_bytes(void *to, const void *from, uint64_t bytes) noexcept { std::memcpy(to, from, bytes); }

}  // namespace

// One direction, worked on by several threads: each takes the next copy, none of which is above a slot's size.
struct PinnedRing::Lane {
  cudaStream_t stream;
  const std::vector<PieceCopy> copies;
  std::atomic<uint64_t> next{0};

  // NULL: there is none left.
  const PieceCopy *take() {
    const uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
    return i < copies.size() ? &copies[i] : nullptr;
  }
  void stop() { next.store(UINT64_MAX / 2, std::memory_order_relaxed); }
};

struct PinnedRing::Exchange {
  PinnedRing &ring;
  Lane in, out;
  PieceProgress &progress;
  const std::function<void()> &meanwhile;
  const bool past_caches;  // results are longer than what caches should hold
  std::atomic<uint64_t> done{0};
  std::atomic<cudaError_t> error{cudaSuccess};  // the first
  std::exception_ptr cancelled{};               // what the caller's thread was told, if anything
  std::exception_ptr failed{};                  // in what it did meanwhile

  bool good(cudaError_t result) {
    if (result == cudaSuccess) return true;
    (void)cudaGetLastError();
    cudaError_t none = cudaSuccess;
    error.compare_exchange_strong(none, result);
    in.stop();
    out.stop();
    return false;
  }
  void do_meanwhile() {
    if (meanwhile == nullptr) return;
    try {
      meanwhile();
    } catch (...) {
      failed = std::current_exception();
      in.stop();
    }
  }
  void count(uint32_t worker, uint64_t bytes) {
    const uint64_t so_far = done.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (worker != 0 || cancelled != nullptr) return;
    try {
      progress.tell(so_far);
    } catch (...) {
      cancelled = std::current_exception();
      in.stop();
      if (progress.on_cancel == OnCancel::kStop) out.stop();
    }
  }
};

PinnedRing::PinnedRing(HostMemory &memory, int device, uint32_t threads, uint32_t processors)
    : host_memory_(memory), device_(device), pool_(threads > kThreadsMax ? 0 : threads, processors) {
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

// Pinned memory that was refused once is not asked for again: the driver copies then.
bool PinnedRing::make() {
  if (failed_) return false;
  if (made_) return true;
  failed_ = true;
  while (memory_.data() == nullptr) {
    try {
      memory_ = HostBuffer<char>(host_memory_, workers_ * kSlots * kSlotBytes);
    } catch (const Error &) {  // a limit may leave room for fewer threads' slots
      if (workers_ <= kThreadsShort) return false;
      workers_ = workers_ / 2;
    }
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

// Fills slots from host arrays and has them copied. A slot is filled anew when its copy before has ended, also one of
// an earlier call.
void PinnedRing::fill_slots(Exchange &exchange, uint32_t worker) {
  const cudaStream_t stream = exchange.in.stream;
  for (uint32_t turn = 0; const PieceCopy *const copy = exchange.in.take(); turn ^= 1) {
    char *const slot = exchange.ring.slot(worker, turn);
    cudaEvent_t copied = exchange.ring.copied_[worker * kSlots + turn];
    if (!exchange.good(cudaEventSynchronize(copied))) return;
    std::memcpy(slot, copy->host, copy->bytes);
    if (!exchange.good(cudaMemcpyAsync(copy->device, slot, copy->bytes, cudaMemcpyHostToDevice, stream)) ||
        !exchange.good(cudaEventRecord(copied, stream)))
      return;
    exchange.count(worker, copy->bytes);
  }
}

// Has slots filled by the device, one ahead, and empties them into host arrays.
void PinnedRing::empty_slots(Exchange &exchange, uint32_t worker) {
  const cudaStream_t stream = exchange.out.stream;
  const PieceCopy *in_slot[kSlots] = {};
  bool more = true;
  for (uint32_t turn = 0;; turn ^= 1) {
    char *const slot = exchange.ring.slot(worker, turn);
    cudaEvent_t copied = exchange.ring.copied_[worker * kSlots + turn];
    if (!exchange.good(cudaEventSynchronize(copied))) return;
    if (in_slot[turn] != nullptr) {
      (exchange.past_caches ? copy_past_caches : copy_bytes)(in_slot[turn]->host, slot, in_slot[turn]->bytes);
      exchange.count(worker, in_slot[turn]->bytes);
    }
    in_slot[turn] = more ? exchange.out.take() : nullptr;
    more = in_slot[turn] != nullptr;
    if (in_slot[turn] == nullptr) {
      if (in_slot[turn ^ 1] == nullptr) return;
      continue;
    }
    if (!exchange.good(
            cudaMemcpyAsync(slot, in_slot[turn]->device, in_slot[turn]->bytes, cudaMemcpyDeviceToHost, stream)) ||
        !exchange.good(cudaEventRecord(copied, stream)))
      return;
  }
}

uint64_t PinnedRing::bytes_of(const std::vector<PieceCopy> &copies) {
  uint64_t bytes = 0;
  for (const PieceCopy &copy : copies) bytes += copy.bytes;
  return bytes;
}

// Short copies go in smaller pieces, so that all threads have some and the first is soon on the bus. Each copy in equal
// ones: what is a little longer than a piece makes no second one, which would cost as many calls as the first.
std::vector<PieceCopy> PinnedRing::cut(const std::vector<PieceCopy> &copies, uint64_t wanted) {
  uint64_t piece_bytes = bytes_of(copies) / wanted / kPieceBytesMin * kPieceBytesMin;
  if (piece_bytes < kPieceBytesMin) piece_bytes = kPieceBytesMin;
  if (piece_bytes > kSlotBytes) piece_bytes = kSlotBytes;
  std::vector<PieceCopy> pieces;
  for (const PieceCopy &copy : copies) {
    const uint64_t least = (copy.bytes + kSlotBytes - 1) / kSlotBytes,
                   near = (copy.bytes + piece_bytes / 2) / piece_bytes, count = near > least ? near : least;
    if (count == 0) continue;
    static_assert(kSlotBytes % kCutAlignment == 0, "a part that is rounded up fits a slot");
    const uint64_t part = (copy.bytes + count - 1) / count,
                   each = (part + kCutAlignment - 1) / kCutAlignment * kCutAlignment;
    for (uint64_t offset = 0; offset < copy.bytes; offset += each) {
      const uint64_t rest = copy.bytes - offset;
      pieces.push_back({copy.device + offset, copy.host + offset, rest < each ? rest : each});
    }
  }
  return pieces;
}

// Half of the threads begin with either direction, and help the others then. All of a worker's is one step: slots are
// under way in it.
bool PinnedRing::work(void *user, uint32_t worker) {
  Exchange &exchange = *static_cast<Exchange *>(user);
  if (worker == 0) {
    exchange.do_meanwhile();
  } else {
    // The library's own threads: nothing has to be put back.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    if (!exchange.good(cudaSetDevice(exchange.ring.device_)) ||
        !exchange.good(cudaThreadExchangeStreamCaptureMode(&mode)))
      return false;
  }
  if (worker % 2 == 1) empty_slots(exchange, worker);
  fill_slots(exchange, worker);
  if (worker % 2 == 0) empty_slots(exchange, worker);
  return false;
}

bool PinnedRing::exchange(const Traffic &in, const Traffic &out, PieceProgress &progress,
                          const std::function<void()> &meanwhile, uint32_t threads_max) {
  if (!make()) return false;
  const uint64_t in_bytes = bytes_of(in.copies), out_bytes = bytes_of(out.copies);
  const bool is_long = in_bytes + out_bytes >= kLongBytesMin,
             both_ways = is_long && (in_bytes < out_bytes ? in_bytes : out_bytes) >= kLongBytesMin / 4;
  const uint32_t usual = !is_long    ? kThreadsShort
                         : both_ways ? kThreadsMax
                                     : kThreadsOneWay,
                 most = usual < threads_max ? usual : threads_max, workers = workers_ < most ? workers_ : most;
  const uint64_t wanted = both_ways ? kPiecesBothWays * ((workers + 1) / 2) : kPiecesMin * workers;
  Exchange exchange{*this,     {in.stream, cut(in.copies, wanted)}, {out.stream, cut(out.copies, wanted)}, progress,
                    meanwhile, out_bytes >= kLongBytesMin};
  const uint64_t pieces = exchange.in.copies.size() + exchange.out.copies.size();
  progress.writes = true;  // behind all that may want memory
  pool_.run(static_cast<uint32_t>(pieces < workers ? pieces : workers), work, &exchange);
  progress.done = progress.reached(exchange.done.load());
  if (exchange.failed != nullptr) std::rethrow_exception(exchange.failed);
  const cudaError_t error = exchange.error.load();
  cuda_check(error, exchange.in.copies.empty() ? "copying from the device" : "copying to the device");
  if (exchange.cancelled != nullptr) std::rethrow_exception(exchange.cancelled);
  return true;
}

}  // namespace gsort_internal
