// SPDX-License-Identifier: MIT OR Apache-2.0
// What the first kernel of a call tells the host, which waits for that alone while other kernels run already.
#ifndef GSORT_CUDA_ENGINE_NOTICE_H_
#define GSORT_CUDA_ENGINE_NOTICE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "core/host_memory.h"

namespace gsort_internal {

// Words of the host, for which kernels have the same address. A kernel writes words[1] and so on, and behind them, for
// the whole system to see in that order, the turn into words[0].
struct Notice {
  uint64_t *words;
  uint64_t turn;

  // Until it is written, or the stream's work has ended.
  void wait(cudaStream_t stream) const;
  uint64_t word(uint32_t i) const { return static_cast<const volatile uint64_t *>(words)[i]; }
};

// Keeps the words in registered memory. Made when first needed; where that is refused there is no notice, and calls
// wait for their end.
class NoticeBoard {
 public:
  explicit NoticeBoard(HostMemory &memory) : host_memory_(memory) {}
  NoticeBoard(const NoticeBoard &) = delete;
  NoticeBoard &operator=(const NoticeBoard &) = delete;

  // For the next call; nobody may wait for the one before any more. NULL: none could be had.
  const Notice *next(int device);
  // The device must be current, and no kernel may be about to write.
  void close() noexcept;
  void abandon() noexcept;  // in a child of fork()

 private:
  static constexpr uint64_t kPageBytes = 4096;  // a whole page, which nobody else registers

  void make(int device);

  HostMemory &host_memory_;
  HostBuffer<char> memory_;
  Notice notice_ = {};
  bool made_ = false;
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_NOTICE_H_
