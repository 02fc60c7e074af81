// SPDX-License-Identifier: MIT OR Apache-2.0
// Instructions that C++ does not reach, or not where the compiler would have to know the kind of memory.
#ifndef GSORT_CUDA_PRIMITIVE_PTX_CUH_
#define GSORT_CUDA_PRIMITIVE_PTX_CUH_

#include <cstdint>

namespace gsort_internal {

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// Loads and stores by such an address, whose arithmetic takes half the registers of a pointer's.
__device__ __forceinline__ void load_shared(uint32_t address, uint32_t &value) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_shared(uint32_t address, unsigned long long &value) {
  asm volatile("ld.shared.u64 %0, [%1];" : "=l"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void store_shared(uint32_t address, uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ __forceinline__ void store_shared(uint32_t address, unsigned long long value) {
  asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}

// atomicAdd and atomicMax on shared memory. Through a pointer that has gone through a struct the compiler no longer
// knows that it is shared memory, and a generic atomic there is a slow loop of compare and swap.
__device__ __forceinline__ uint32_t shared_add(uint32_t *p, uint32_t value) {
  uint32_t old;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(shared_address(p)), "r"(value) : "memory");
  return old;
}
__device__ __forceinline__ void shared_count(uint32_t *p) {
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(shared_address(p)) : "memory");
}
__device__ __forceinline__ void shared_max(uint32_t *p, uint32_t value) {
  asm volatile("red.shared.max.u32 [%0], %1;" ::"r"(shared_address(p)), "r"(value) : "memory");
}

// A barrier of the first `threads` threads of a block, whole warps, beside __syncthreads(), which is number 0. (With
// __barrier_sync_count() the scans that pass tiles on took 36 to 47 KB of machine code instead of 20 to 35.)
template <uint32_t kNumber>
__device__ __forceinline__ void sync_threads(uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"n"(kNumber), "r"(threads) : "memory");
}
template <uint32_t kNumber, uint32_t kThreads>
__device__ __forceinline__ void sync_threads() {
  asm volatile("bar.sync %0, %1;" ::"n"(kNumber), "n"(kThreads) : "memory");
}

// What counts arrivals and bytes in shared memory (compute capability 9.0), by rounds: one thread opens it for so many
// arrivals a round; one that arrives says how many bytes come, too; who waits sees what came in round `round`, counted
// from 0. Elsewhere these do nothing, and no plan asks for them.
__device__ __forceinline__ void open_count(uint32_t address, uint32_t arrivals) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], %1;\n"
      "fence.mbarrier_init.release.cluster;" ::"r"(address),
      "r"(arrivals)
      : "memory");
#else
  (void)address, (void)arrivals;
#endif
}
__device__ __forceinline__ void arrive_expecting(uint32_t address, uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
#else
  (void)address, (void)bytes;
#endif
}
__device__ __forceinline__ void wait_for_count(uint32_t address, uint32_t round) {
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
        : "r"(address), "r"(round & 1)
        : "memory");
  } while (ended == 0);
#else
  (void)address, (void)round;
#endif
}

// Loads of what is read once: they leave what shared memory leaves of L1 to the few things that are read again.
__device__ __forceinline__ uint4 load_once(const uint4 *p) {
  uint4 v;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(p));
  return v;
}
// The same into v, if `there`: a condition of the load itself, not a branch, so that several are under way at once.
__device__ __forceinline__ void load_once_if(bool there, const uint4 *p, uint4 &v) {
  asm volatile(
      "{\n"
      "  .reg .pred there;\n"
      "  setp.ne.u32 there, %5, 0;\n"
      "  @there ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n"
      "}"
      : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)
      : "l"(p), "r"(static_cast<uint32_t>(there)));
}

// A binary16 as a float and back. (The same instructions as __half2float(__ushort_as_half()), without its header.)
__device__ __forceinline__ float float_of_half(uint16_t bits) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits));
  return f;
}
__device__ __forceinline__ uint16_t half_of_float(float f) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(f));
  return bits;
}

// (cuda::ptx has it too; see cluster.cuh.)
__device__ __forceinline__ uint64_t global_nanoseconds() {
  uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_PTX_CUH_
