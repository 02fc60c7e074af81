// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts that end on chip have keys of one digit or bin side by side in shared memory; these put such a group in order:
// in the registers of threads, by a warp, or by a block.
#ifndef GSORT_CUDA_PRIMITIVE_GROUP_SORT_CUH_
#define GSORT_CUDA_PRIMITIVE_GROUP_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"

namespace gsort_internal {

// Puts words of equal digit in order, at most kHalo + 1 of each: every thread loads its run of kItems
// neighbouring words and as many on either side as a digit can have, and sorts the whole by odd-even transposition,
// which never moves a word past one of another digit. What happens near the window's ends is cut off as soon as it
// cannot reach the run. kHalo + 1 words before
// the first and as many behind the last are read; if any, they are of no digit of theirs. to: may be `words`.
template <int kItems, int kHalo, class U>
__device__ __forceinline__ void sort_in_windows(const U *words, U *to, uint32_t count) {
  constexpr int kWindow = kItems + 2 * kHalo;
  U window[kWindow];
  const U *const first = words + threadIdx.x * kItems - kHalo;
  const bool any = threadIdx.x * kItems < count;
  if (any) {
#pragma unroll
    for (int i = 0; i < kWindow; ++i) window[i] = first[i];
#pragma unroll
    for (int round = 0; round <= kHalo; ++round) {
#pragma unroll
      for (int i = round; i <= kWindow - 1 - round && i + 1 < kWindow; i += 2) {
        const U low = window[i] < window[i + 1] ? window[i] : window[i + 1];
        window[i + 1] = window[i] < window[i + 1] ? window[i + 1] : window[i];
        window[i] = low;
      }
    }
  }
  __syncthreads();
  if (any) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) to[threadIdx.x * kItems + i] = window[kHalo + i];
  }
  __syncthreads();
}

template <int kItems, int kHalo, class U>
__device__ __forceinline__ void sort_in_windows(U *words, uint32_t count) {
  sort_in_windows<kItems, kHalo>(words, words, count);
}

// The threads that sort a group together.
struct ByWarp {
  static __device__ __forceinline__ uint32_t rank() { return lane_id(); }
  static __device__ __forceinline__ uint32_t threads() { return 32; }
  static __device__ __forceinline__ void sync() { __syncwarp(); }
};

struct ByBlock {
  static __device__ __forceinline__ uint32_t rank() { return threadIdx.x; }
  static __device__ __forceinline__ uint32_t threads() { return blockDim.x; }
  static __device__ __forceinline__ void sync() { __syncthreads(); }
};

// The comparators of Batcher's bitonic network for `count` items, in the form in which all point one way, so that the
// missing items of a count that is no power of two need no padding: exchange(low, high) puts two items in order. 105
// steps for 9,216 items. Not the network of sort/small/tile_network.cuh, which keeps chunks in registers: for sm_90 and
// keys of 4 bytes this one takes 103 instructions and 19 registers, that one 561 and 31.
template <class By, class Exchange>
__device__ __forceinline__ void visit_network(uint32_t count, Exchange exchange) {
  for (uint32_t bits = 1; 1u << (bits - 1) < count; ++bits) {
    // Pairs of runs of 2^(bits - 1) items: the upper run is taken backwards.
    for (uint32_t i = By::rank();; i += By::threads()) {
      const uint32_t within = i & ((1u << (bits - 1)) - 1), low = (i - within) * 2 + within;
      if (low >= count) break;
      exchange(low, low ^ ((1u << bits) - 1));
    }
    By::sync();
    for (uint32_t half = 1u << (bits - 1) >> 1; half != 0; half >>= 1) {
      for (uint32_t i = By::rank();; i += By::threads()) {
        const uint32_t within = i & (half - 1), low = (i - within) * 2 + within;
        if (low >= count) break;
        exchange(low, low + half);
      }
      By::sync();
    }
  }
}

// Sorts keys[0 .. count) ascending.
template <class By, class U>
__device__ __forceinline__ void network_sort(U *keys, uint32_t count) {
  visit_network<By>(count, [&](uint32_t low, uint32_t high) {
    if (high >= count) return;
    const U a = keys[low], b = keys[high];
    if (a > b) keys[low] = b, keys[high] = a;
  });
}

// The same with what goes with each key, by which equal keys are put in order.
template <class By, class U, class With>
__device__ __forceinline__ void network_sort_with(U *keys, With *with, uint32_t count) {
  visit_network<By>(count, [&](uint32_t low, uint32_t high) {
    if (high >= count) return;
    const U a = keys[low], b = keys[high];
    const With c = with[low], d = with[high];
    if (a > b || (a == b && c > d)) keys[low] = b, keys[high] = a, with[low] = d, with[high] = c;
  });
}

// Sorts up to 32 keys by one warp: each lane counts the keys that come before its own.
template <class U>
__device__ __forceinline__ void sort_few(U *keys, uint32_t count) {
  const U key = keys[min(lane_id(), count - 1)];
  uint32_t place = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const U other = keys[i];
    place += other < key || (other == key && i < lane_id());
  }
  __syncwarp();
  if (lane_id() < count) keys[place] = key;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_GROUP_SORT_CUH_
