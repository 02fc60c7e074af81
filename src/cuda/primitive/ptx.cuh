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

// The same of any warps of the block that come to barrier `number`, 1 to 15, always for as many threads: one barrier
// for different numbers of them in turn ends in an illegal instruction (H200, 2026-11-27).
__device__ __forceinline__ void sync_some(uint32_t number, uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Loads of what is read once: they leave what shared memory leaves of L1 to the few things that are read again. (The
// compiler's __ldcs() and __ldg() are other instructions; cuda::ptx has the same, see arrival_count.cuh.)
__device__ __forceinline__ uint4 load_once(const uint4 *p) {
  uint4 v;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(p));
  return v;
}
// The same into v, if `there`: a condition of the load itself, not a branch, so that several are under way at once. No
// library has such a call.
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

// A binary16 as a float and back. (The same instructions as __half2float(__ushort_as_half()), without its header, which
// takes 0.4 s of compile time a source.)
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

// (cuda::ptx has the same; see arrival_count.cuh.)
__device__ __forceinline__ uint64_t global_nanoseconds() {
  uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_PTX_CUH_
