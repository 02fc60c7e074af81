// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies between pageable memory and the device by several threads, each through two slots of registered memory: while
// the bus empties one slot, its thread fills the other.
#ifndef GSORT_HOST_MEMORY_PINNED_RING_H_
#define GSORT_HOST_MEMORY_PINNED_RING_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "core/control.h"
#include "core/host_memory.h"
#include "cpu/pool.h"

namespace gsort_internal {

class PinnedRing {
 public:
  // threads: as in gsort_options. The ring itself is made when it is first needed, and stays.
  PinnedRing(HostMemory &memory, int device, uint32_t threads);
  // No copy may be under way, and the device must be current.
  ~PinnedRing();
  PinnedRing(const PinnedRing &) = delete;
  PinnedRing &operator=(const PinnedRing &) = delete;

  // Shorter copies are left to the driver: waking threads would take as long.
  static constexpr uint64_t kBytesMin = uint64_t{1} << 20;

  struct Progress {
    Control &control;
    uint64_t done, total;  // bytes of the call; the copy adds to `done`
  };

  // Enqueues the copy on `stream`; the host array has been read when it returns. Between slots it calls
  // progress.control.checkpoint(). False: no ring could be had, and nothing was done.
  bool to_device(cudaStream_t stream, void *to, const void *from, uint64_t bytes, Progress &progress);
  // Copies what is there when the work enqueued on `stream` has ended, and waits for it. It is not cancelled.
  bool from_device(cudaStream_t stream, void *to, const void *from, uint64_t bytes);

  void abandon() noexcept;  // in a child of fork()

 private:
  struct Copy;
  // 4 threads bring 44 GB/s and 8 no more (H200's host, 2026-11-20); a slot of 2 MB takes the bus 40 us, which hides
  // what enqueueing costs, and a cancel is heard in time.
  static constexpr uint32_t kThreadsMax = 4, kSlots = 2;
  static constexpr uint64_t kSlotBytes = uint64_t{2} << 20;
  // What a piece has at least: a copy of it hides its own launch. And into how many each thread's part is cut.
  static constexpr uint64_t kPieceBytesMin = uint64_t{128} << 10, kPiecesMin = 4;

  bool make();
  void run(Copy &copy);
  char *slot(uint32_t worker, uint32_t turn) const { return memory_.data() + (worker * kSlots + turn) * kSlotBytes; }
  static void fill_slots(Copy &copy, uint32_t worker);
  static void empty_slots(Copy &copy, uint32_t worker);

  HostMemory &host_memory_;
  const int device_;
  Pool pool_;
  uint32_t workers_;
  bool made_ = false, failed_ = false;
  HostBuffer<char> memory_;
  cudaEvent_t copied_[kThreadsMax * kSlots] = {};  // the last copy of each slot
};

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PINNED_RING_H_
