// SPDX-License-Identifier: MIT OR Apache-2.0
// Thread block clusters (compute capability 9.0): one launch in which several blocks meet. Elsewhere the functions
// compile to nothing, and no plan asks for a cluster.
#ifndef GSORT_CUDA_BLOCK_CLUSTER_CUH_
#define GSORT_CUDA_BLOCK_CLUSTER_CUH_

#include <cstdint>

namespace gsort_internal {

// A barrier of all threads of the cluster, in two halves. Release and acquire: what any block wrote to shared memory
// before it arrived is seen by every block after its wait.
__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Reads a 64-bit word of block `rank`'s shared memory. `own` is the same word's address in this block.
__device__ __forceinline__ uint64_t cluster_load(const uint64_t *own, uint32_t rank) {
  uint64_t value = 0;
#if __CUDA_ARCH__ >= 900
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(own));
  uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(value) : "r"(remote) : "memory");
#else
  (void)own;
  (void)rank;
#endif
  return value;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_BLOCK_CLUSTER_CUH_
