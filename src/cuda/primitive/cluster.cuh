// SPDX-License-Identifier: MIT OR Apache-2.0
// Thread block clusters (compute capability 9.0): one launch in which several blocks meet. Elsewhere the functions
// compile to nothing, and no plan asks for a cluster.
#ifndef GSORT_CUDA_PRIMITIVE_CLUSTER_CUH_
#define GSORT_CUDA_PRIMITIVE_CLUSTER_CUH_

#include <cstdint>
#include <cuda/ptx>

#include "cuda/primitive/arrival_count.cuh"

namespace gsort_internal {

// A barrier of all threads of the cluster, in two halves. Release and acquire: what any block wrote to shared memory
// before it arrived is seen by every block after its wait.
__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  __cluster_barrier_arrive();
#endif
}
// The first half where nothing but arrival counts: it need not wait for this thread's own writes, which release does.
__device__ __forceinline__ void cluster_arrive_only() {
#if __CUDA_ARCH__ >= 900
  __cluster_barrier_arrive_relaxed();
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  __cluster_barrier_wait();
#endif
}

// Both halves, for warps whose threads may come one by one, as those of the compiler's own functions may not.
__device__ __forceinline__ void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
  cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
  cuda::ptx::barrier_cluster_wait(cuda::ptx::sem_acquire);
#endif
}

// Words that blocks of a cluster send into each other's shared memory, counted there by the bytes of a round. Who waits
// sees all of them, without a barrier of the cluster, whose release alone takes hundreds of cycles.
//
// One thread opens a count, and no block sends before a barrier of the cluster behind that; each round one thread says
// how many bytes come, and whoever reads them waits. No block may leave, or use the words' room anew, before it has
// waited.
class ClusterCount {
 public:
  // One thread. A barrier of the cluster follows.
  __device__ __forceinline__ void open() { open_count(&barrier_, 1); }
  // One thread, once a round, before or after the first bytes have come.
  __device__ __forceinline__ void expect(uint32_t bytes) { arrive_expecting(&barrier_, bytes); }
  // Sends a word to block `rank`: `own` and this count are its and its count's counterparts in this block. Written out:
  // with cuda::ptx::st_async() running sums by clusters take 22 to 24 instructions more on sm_90, and teams of a top-k
  // 8 to 16 bytes more of spills.
  __device__ __forceinline__ void send(uint64_t *own, uint32_t rank, uint64_t word) {
#if __CUDA_ARCH__ >= 900
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(remote(own, rank)),
                 "l"(word), "r"(remote(&barrier_, rank))
                 : "memory");
#else
    (void)own, (void)rank, (void)word;
#endif
  }
  // Until all bytes of round `round`, counted from 0, have come.
  __device__ __forceinline__ void wait(uint32_t round) { wait_for_count(&barrier_, round); }

 private:
#if __CUDA_ARCH__ >= 900
  __device__ static __forceinline__ uint32_t remote(const void *own, uint32_t rank) {
    uint32_t result;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(shared_address(own)), "r"(rank));
    return result;
  }
#endif

  uint64_t barrier_;
};

// Reads a 64-bit word of block `rank`'s shared memory. `own` is the same word's address in this block. Written out:
// with a load through the compiler's pointer to that memory the minimum of bytes takes 1,236 instructions on sm_90 in
// place of 985 (other reductions and sums some 20 to 60 less, which nobody has timed).
__device__ __forceinline__ uint64_t cluster_load(const uint64_t *own, uint32_t rank) {
  uint64_t value = 0;
#if __CUDA_ARCH__ >= 900
  uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared_address(own)), "r"(rank));
  asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(value) : "r"(remote) : "memory");
#else
  (void)own;
  (void)rank;
#endif
  return value;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_CLUSTER_CUH_
