// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies between pageable memory and the device by several threads, each through two slots of registered memory: while
// the bus empties one slot, its thread fills the other.
#ifndef GSORT_HOST_MEMORY_PINNED_RING_H_
#define GSORT_HOST_MEMORY_PINNED_RING_H_

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "core/host_memory.h"
#include "cpu/engine/pool.h"
#include "host_memory/piece_device.h"

namespace gsort_internal {

class PinnedRing {
 public:
  // threads: as in gsort_options; processors: as a Pool takes them. The ring itself is made when it is first needed,
  // and stays.
  PinnedRing(HostMemory &memory, int device, uint32_t threads, uint32_t processors = 0);
  // No copy may be under way, and the device must be current.
  ~PinnedRing();
  PinnedRing(const PinnedRing &) = delete;
  PinnedRing &operator=(const PinnedRing &) = delete;

  // Shorter copies are left to the driver: waking threads would take as long.
  static constexpr uint64_t kBytesMin = uint64_t{1} << 20;

  // Copies of one direction, and the stream that they are enqueued on.
  struct Traffic {
    cudaStream_t stream;
    const std::vector<PieceCopy> &copies;
  };
  // Both directions at once; either may have nothing to copy. Host arrays have been read, and those that are written
  // are complete, when it returns. Between slots it calls progress.tell() and adds to progress.done. The calling thread
  // does `meanwhile`, if it is given, before it helps the others; if that throws, what leaves is written whole, and the
  // exception goes on. No more than threads_max threads copy. False: no ring could be had, and nothing was done.
  bool exchange(const Traffic &in, const Traffic &out, PieceProgress &progress,
                const std::function<void()> &meanwhile = nullptr, uint32_t threads_max = UINT32_MAX);

  void abandon() noexcept;  // in a child of fork()

 private:
  struct Lane;
  struct Exchange;
  // 8 threads bring 49 GB/s one way, and both ways 25 each, 16 bring 39 each, and 44 with stores past the caches
  // (an H200's host, 2026-11-24). A slot of 2 MB takes the bus 40 us, which hides what enqueueing costs (of 512 KB the
  // same threads bring half as much), and a cancel is heard in time.
  static constexpr uint32_t kThreadsShort = 4, kThreadsOneWay = 8, kThreadsMax = 16, kSlots = 2;
  static constexpr uint64_t kLongBytesMin = uint64_t{16} << 20;
  static constexpr uint64_t kSlotBytes = uint64_t{2} << 20;
  // What a piece has at least: a copy of it hides its own launch. And into how many each thread's part is cut: both
  // ways at once pieces of 2 MB go best.
  static constexpr uint64_t kPieceBytesMin = uint64_t{128} << 10, kPiecesMin = 4, kPiecesBothWays = 2;
  // Pieces begin and end where pages and lines of caches do, if the copy does.
  static constexpr uint64_t kCutAlignment = 4096;

  bool make();
  static uint64_t bytes_of(const std::vector<PieceCopy> &copies);
  static std::vector<PieceCopy> cut(const std::vector<PieceCopy> &copies, uint64_t wanted);
  static bool work(void *exchange, uint32_t worker);
  char *slot(uint32_t worker, uint32_t turn) const { return memory_.data() + (worker * kSlots + turn) * kSlotBytes; }
  static void fill_slots(Exchange &exchange, uint32_t worker);
  static void empty_slots(Exchange &exchange, uint32_t worker);

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
