// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels on the CPU: the blocks of a grid one after the other, the threads of a block as fibers that change at its
// barriers and at the exchanges of a warp. What a kernel computes can be tried so without a GPU, with every thread of
// every block; what several blocks do at once cannot. Shared memory holds what the block before has left in it. Only
// what the kernels under test use is here.
#ifndef GSORT_TESTS_UNIT_EMULATED_EMULATION_H_
#define GSORT_TESTS_UNIT_EMULATED_EMULATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__ thread_local  // there is one thread; and `extern` may stand before it
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))

struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
struct uint2 {
  uint32_t x, y;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
struct Index {
  uint32_t x;
};

namespace emulation {

enum class Waits { kNot, kForWarp, kForSome, kForBlock };

struct Fiber {
  void *stack_pointer = nullptr;
  std::vector<void *> stack;
  bool ended = true;
  Waits waits = Waits::kNot;
  uint32_t barrier = 0, expected = 0;  // which of the block's, and for how many threads, where it waits for some
};

inline std::vector<Fiber> fibers;
inline void *scheduler = nullptr;  // its stack pointer
inline uint32_t current = 0;       // thread of the block
inline std::function<void()> body;
inline std::vector<uint4> dynamic_shared;
inline uint64_t exchanged[1024];
inline bool any = false, any_before = false;  // of the block's threads, at a barrier

// Saves the registers that a function must keep, and takes up those of `to`.
extern "C" void gsort_emulation_switch(void **from, void *to);
asm(".text\n"
    ".weak gsort_emulation_switch\n"
    "gsort_emulation_switch:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
    "  ret\n");

inline void wait(Waits what) {
  fibers[current].waits = what;
  gsort_emulation_switch(&fibers[current].stack_pointer, scheduler);
}

inline void run_thread() {
  body();
  fibers[current].ended = true;
  wait(Waits::kNot);
}

inline void make_ready(Fiber &fiber) {
  constexpr size_t kStackWords = 8192;
  fiber.stack.resize(kStackWords);
  void **top = fiber.stack.data() + kStackWords;
  top -= reinterpret_cast<uintptr_t>(top) % 16 / sizeof(void *);
  *--top = nullptr;  // so that the stack is aligned as behind a call
  *--top = reinterpret_cast<void *>(run_thread);
  for (int registers = 0; registers < 6; ++registers) *--top = nullptr;
  fiber.stack_pointer = top;
  fiber.ended = false;
  fiber.waits = Waits::kNot;
}

// Runs the warp's threads as far as they come. Whether any came further.
inline bool run_warp(uint32_t first, uint32_t end) {
  bool ran = false, all_wait = true, all_ended = true;
  for (uint32_t thread = first; thread < end; ++thread) {
    if (fibers[thread].ended || fibers[thread].waits != Waits::kNot) continue;
    current = thread;
    gsort_emulation_switch(&scheduler, fibers[thread].stack_pointer);
    ran = true;
  }
  for (uint32_t thread = first; thread < end; ++thread) {
    all_ended = all_ended && fibers[thread].ended;
    all_wait = all_wait && (fibers[thread].ended || fibers[thread].waits == Waits::kForWarp);
  }
  if (!all_wait || all_ended) return ran;
  for (uint32_t thread = first; thread < end; ++thread) fibers[thread].waits = Waits::kNot;
  return true;
}

// Lets those go on that wait at a barrier for some of the block's threads, if all of these have come.
inline bool open_barriers(uint32_t threads) {
  constexpr uint32_t kBarriers = 16;
  bool opened = false;
  for (uint32_t barrier = 0; barrier < kBarriers; ++barrier) {
    uint32_t came = 0, expected = 0;
    const auto is_here = [&](const Fiber &fiber) {
      return !fiber.ended && fiber.waits == Waits::kForSome && fiber.barrier == barrier;
    };
    for (uint32_t thread = 0; thread < threads; ++thread)
      if (is_here(fibers[thread])) ++came, expected = fibers[thread].expected;
    if (came == 0 || came != expected) continue;
    opened = true;
    for (uint32_t thread = 0; thread < threads; ++thread)
      if (is_here(fibers[thread])) fibers[thread].waits = Waits::kNot;
  }
  return opened;
}

// Warps come to run in another order each time, so that one may be first to a barrier and behind it, and last the next
// time.
inline void run_block(uint32_t threads) {
  static std::minstd_rand random(1);
  std::vector<uint32_t> warps;
  for (uint32_t thread = 0; thread < threads; ++thread) make_ready(fibers[thread]);
  for (uint32_t first = 0; first < threads; first += 32) warps.push_back(first);
  while (true) {
    bool ran = false, all_ended = true;
    std::shuffle(warps.begin(), warps.end(), random);
    for (const uint32_t first : warps) ran = run_warp(first, first + 32) || ran;
    for (uint32_t thread = 0; thread < threads; ++thread) all_ended = all_ended && fibers[thread].ended;
    if (all_ended) return;
    if (ran || open_barriers(threads)) continue;
    for (uint32_t thread = 0; thread < threads; ++thread) {
      if (!fibers[thread].ended && fibers[thread].waits != Waits::kForBlock)
        throw std::logic_error("threads of a warp wait for each other at different places");
      fibers[thread].waits = Waits::kNot;
    }
    any_before = any;
    any = false;
  }
}

}  // namespace emulation

inline Index blockIdx, gridDim, blockDim;
#define threadIdx (Index{emulation::current})

template <class T>
T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T max(T a, T b) {
  return a < b ? b : a;
}
inline void __syncthreads() { emulation::wait(emulation::Waits::kForBlock); }
inline void __barrier_sync_count(uint32_t barrier, uint32_t threads) {
  emulation::fibers[emulation::current].barrier = barrier;
  emulation::fibers[emulation::current].expected = threads;
  emulation::wait(emulation::Waits::kForSome);
}
inline int __syncthreads_or(int value) {
  emulation::any = emulation::any || value != 0;
  __syncthreads();
  return emulation::any_before;
}
inline int __syncthreads_and(int value) { return !__syncthreads_or(!value); }
inline int __syncthreads_count(int value) {
  emulation::exchanged[emulation::current] = value != 0 ? 1 : 0;
  __syncthreads();
  int count = 0;
  for (uint32_t thread = 0; thread < blockDim.x; ++thread) count += static_cast<int>(emulation::exchanged[thread]);
  __syncthreads();
  return count;
}
inline void __syncwarp(uint32_t = ~0u) { emulation::wait(emulation::Waits::kForWarp); }
// width: of the parts of a warp that exchange among themselves.
template <class T>
T __shfl_sync(uint32_t, T value, int lane, uint32_t width = 32) {
  std::memcpy(&emulation::exchanged[emulation::current], &value, sizeof value);
  __syncwarp();
  const uint32_t part = emulation::current / width * width;
  std::memcpy(&value, &emulation::exchanged[part + static_cast<uint32_t>(lane) % width], sizeof value);
  __syncwarp();
  return value;
}
template <class T>
T __shfl_up_sync(uint32_t warp, T value, uint32_t distance, uint32_t width = 32) {
  const uint32_t lane = emulation::current % width;
  return __shfl_sync(warp, value, static_cast<int>(lane >= distance ? lane - distance : lane), width);
}
template <class T>
T __shfl_down_sync(uint32_t warp, T value, uint32_t distance, uint32_t width = 32) {
  const uint32_t lane = emulation::current % width;
  return __shfl_sync(warp, value, static_cast<int>(lane + distance < width ? lane + distance : lane), width);
}
template <class T>
T __shfl_xor_sync(uint32_t warp, T value, uint32_t mask) {
  return __shfl_sync(warp, value, static_cast<int>(emulation::current % 32 ^ mask));
}
inline uint32_t __ballot_sync(uint32_t, int value) {
  emulation::exchanged[emulation::current] = value != 0 ? 1 : 0;
  __syncwarp();
  const uint64_t *const warp = emulation::exchanged + emulation::current / 32 * 32;
  uint32_t lanes = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) lanes |= static_cast<uint32_t>(warp[lane]) << lane;
  __syncwarp();
  return lanes;
}
inline int __any_sync(uint32_t warp, int value) { return __ballot_sync(warp, value) != 0; }
inline uint32_t __activemask() { return ~0u; }
inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz(static_cast<uint32_t>(value)); }
inline int __clzll(long long value) {
  return value == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(value));
}
inline int __popc(uint32_t value) { return __builtin_popcount(value); }
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }
inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<uint64_t>(static_cast<Wide>(a) * b >> 64);
}
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float value) { return 1 / std::sqrt(value); }
inline uint32_t __float2uint_rz(float value) { return static_cast<uint32_t>(value); }
inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) result |= static_cast<uint32_t>(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return result;
}
inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }
inline bool __isShared(const void *) { return true; }
inline void __builtin_assume(bool) {}
inline uint32_t __vminu2(uint32_t a, uint32_t b) {
  return std::min(a & 0xffff0000u, b & 0xffff0000u) | std::min(a & 0xffffu, b & 0xffffu);
}
inline uint32_t __vmaxu2(uint32_t a, uint32_t b) { return ~__vminu2(~a, ~b); }
inline void __threadfence() {}
inline void __threadfence_system() {}
inline void __nanosleep(uint32_t) {}
inline long long clock64() { return 0; }
template <class T>
T __ldg(const T *word) {
  return *word;
}
template <class T>
T __ldcg(const T *word) {
  return *word;
}
template <class T>
T __ldcs(const T *word) {
  return *word;
}
template <class T>
void __stcg(T *word, T value) {
  *word = value;
}
template <class T, class V>
T atomicAdd(T *word, V value) {
  const T before = *word;
  *word = static_cast<T>(before + static_cast<T>(value));
  return before;
}
template <class T>
T atomicOr(T *word, T value) {
  const T before = *word;
  *word = before | value;
  return before;
}
template <class T>
T atomicAnd(T *word, T value) {
  const T before = *word;
  *word = before & value;
  return before;
}
template <class T>
T atomicCAS(T *word, T compared, T value) {
  const T before = *word;
  if (before == compared) *word = value;
  return before;
}
template <class T>
T atomicMax(T *word, T value) {
  const T before = *word;
  *word = std::max(before, value);
  return before;
}
template <class T>
T atomicMin(T *word, T value) {
  const T before = *word;
  *word = std::min(before, value);
  return before;
}

namespace emulation {

// `threads`: a multiple of 32.
inline void launch(uint32_t blocks, uint32_t threads, uint32_t shared_bytes, const std::function<void()> &kernel) {
  gridDim.x = blocks;
  blockDim.x = threads;
  const uint32_t garbage = 0xa5a5a5a5;
  constexpr uint32_t kRedZone = 4096;  // vectors behind what was asked for
  dynamic_shared.assign(shared_bytes / sizeof(uint4) + kRedZone, {garbage, garbage, garbage, garbage});
  if (fibers.size() < threads) fibers.resize(threads);
  body = kernel;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) run_block(threads);
  const auto *const bytes = reinterpret_cast<const unsigned char *>(dynamic_shared.data());
  for (uint64_t i = shared_bytes; i < dynamic_shared.size() * sizeof(uint4); ++i)
    if (bytes[i] != 0xa5) throw std::out_of_range("a kernel wrote behind its dynamic shared memory");
}

}  // namespace emulation

#endif  // GSORT_TESTS_UNIT_EMULATED_EMULATION_H_
