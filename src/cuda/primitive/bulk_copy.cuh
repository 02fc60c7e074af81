// SPDX-License-Identifier: MIT OR Apache-2.0
// Bulk copies from global to shared memory (compute capability 9.0): one thread asks for any number of bytes, which
// come by themselves. Elsewhere the functions compile to nothing, and no plan asks for them.
#ifndef GSORT_CUDA_PRIMITIVE_BULK_COPY_CUH_
#define GSORT_CUDA_PRIMITIVE_BULK_COPY_CUH_

#include <cstdint>
#include <cuda/ptx>

#include "cuda/primitive/arrival_count.cuh"

namespace gsort_internal {

// What the thread has written to shared memory comes before what its bulk copies write there later.
__device__ __forceinline__ void order_bulk_copies() {
#if __CUDA_ARCH__ >= 900
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
#endif
}

// A count in shared memory of threads that arrive and of bytes that come. It goes through rounds, counted from 0: one
// ends when as many have arrived as it was opened for, and all bytes have come. Who waits sees what those that arrived
// had written, and those bytes.
//
// Only a round's parity is known, so nobody may wait for a round while that before it is still open, or while that
// behind it may have ended.
class BulkCount {
 public:
  // One thread; a barrier of the block follows.
  __device__ __forceinline__ void open(uint32_t arrivals) { open_count(&count_, arrivals); }
  __device__ __forceinline__ void arrive() { gsort_internal::arrive(&count_); }
  // Arrives, and says how many bytes come in this round; some may have come.
  __device__ __forceinline__ void arrive_expecting(uint32_t bytes) { gsort_internal::arrive_expecting(&count_, bytes); }
  __device__ __forceinline__ void wait(uint32_t round) { wait_for_count(&count_, round); }
  // Asks for bytes to be copied, which this round counts. Both addresses and the number are multiples of 16.
  __device__ __forceinline__ void copy(uint32_t shared, uint64_t global, uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
    cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, __cvta_shared_to_generic(shared),
                             __cvta_global_to_generic(global), bytes, &count_);
#else
    (void)shared, (void)global, (void)bytes;
#endif
  }

 private:
  uint64_t count_;
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_BULK_COPY_CUH_
