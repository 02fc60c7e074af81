// SPDX-License-Identifier: MIT OR Apache-2.0
// What counts arrivals and bytes in shared memory (compute capability 9.0), by rounds: one thread opens it for so many
// arrivals a round; one that arrives says how many bytes come, too; who waits sees what came in round `round`, counted
// from 0. Elsewhere these do nothing, and no plan asks for them.
//
// By cuda::ptx where the kernels' machine code for sm_90 is the same as with the instructions written out. <cuda/ptx>
// takes 1 s of compile time a source, for five architectures 1.8 s: a header that most sources include goes without.
#ifndef GSORT_CUDA_PRIMITIVE_ARRIVAL_COUNT_CUH_
#define GSORT_CUDA_PRIMITIVE_ARRIVAL_COUNT_CUH_

#include <cstdint>
#include <cuda/ptx>

#include "cuda/primitive/ptx.cuh"

namespace gsort_internal {

__device__ __forceinline__ void open_count(uint64_t *count, uint32_t arrivals) {
#if __CUDA_ARCH__ >= 900
  cuda::ptx::mbarrier_init(count, arrivals);
  cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
#else
  (void)count, (void)arrivals;
#endif
}
__device__ __forceinline__ void arrive(uint64_t *count) {
#if __CUDA_ARCH__ >= 900
  cuda::ptx::mbarrier_arrive(count);
#else
  (void)count;
#endif
}
__device__ __forceinline__ void arrive_expecting(uint64_t *count, uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, count,
                                       bytes);
#else
  (void)count, (void)bytes;
#endif
}
// Written out: with cuda::ptx::mbarrier_try_wait_parity() merges take other registers, in as many instructions.
__device__ __forceinline__ void wait_for_count(uint64_t *count, uint32_t round) {
#if __CUDA_ARCH__ >= 900
  uint32_t ended;
  do {
    asm volatile(
        "{\n"
        "  .reg .pred ended;\n"
        "  mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
        "  selp.u32 %0, 1, 0, ended;\n"
        "}"
        : "=r"(ended)
        : "r"(shared_address(count)), "r"(round & 1)
        : "memory");
  } while (ended == 0);
#else
  (void)count, (void)round;
#endif
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_ARRIVAL_COUNT_CUH_
