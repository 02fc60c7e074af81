// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory that a kernel clears for those behind it, beside what it does itself: a kernel that does nothing else would
// hold up all others.
#ifndef GSORT_CUDA_PRIMITIVE_CLEAR_MEMORY_CUH_
#define GSORT_CUDA_PRIMITIVE_CLEAR_MEMORY_CUH_

#include <cstdint>

namespace gsort_internal {

// No vectors: there is nothing to clear.
struct Cleared {
  void *memory;
  uint64_t vectors;  // of 16 bytes
};

// By `threads` threads together, of which this is number `thread`.
__device__ __forceinline__ void clear_memory(const Cleared &cleared, uint32_t thread, uint32_t threads) {
  for (uint64_t i = thread; i < cleared.vectors; i += threads)
    static_cast<uint4 *>(cleared.memory)[i] = make_uint4(0, 0, 0, 0);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_CLEAR_MEMORY_CUH_
