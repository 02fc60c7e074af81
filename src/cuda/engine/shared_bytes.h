// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef GSORT_CUDA_ENGINE_SHARED_BYTES_H_
#define GSORT_CUDA_ENGINE_SHARED_BYTES_H_

#include <cstdint>

namespace gsort_internal {

// Without a word, a kernel gets 48 KB of shared memory, of which some is its own.
constexpr uint32_t kSharedBytesUnasked = 32 * 1024;

void raise_shared_bytes(const void *kernel, uint32_t bytes);

// Lets `kernel` be launched with this much dynamic shared memory on the current device. A limit is never lowered, so
// that calls on several threads do not take it from each other, and CUDA is asked only where it must be raised.
template <class Kernel>
void allow_shared_bytes(Kernel *kernel, uint32_t bytes) {
  if (bytes > kSharedBytesUnasked) raise_shared_bytes(reinterpret_cast<const void *>(kernel), bytes);
}

// Forgets what kernels were allowed on a device: it may have been reset.
void forget_shared_bytes(int device);

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_SHARED_BYTES_H_
