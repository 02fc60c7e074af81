// SPDX-License-Identifier: MIT OR Apache-2.0
// The first step of a sort of segments: checks the offsets, marks the bounds of segments in a bitmap of the keys, and
// lists the segments that are not short. Every kernel behind it does nothing if the offsets were wrong. Calls of few
// segments have no kernel for it: each block of the kernel behind looks at all offsets itself.
#ifndef GSORT_CUDA_SEGMENTS_CHECK_CUH_
#define GSORT_CUDA_SEGMENTS_CHECK_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/engine/notice.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/segments/plan.h"

namespace gsort_internal::segments {

struct List {
  unsigned long long *count;
  uint64_t *segments;
  uint64_t capacity;
};

// A listed segment: its number, or kBucket and the number of a bucket's entry; with kSecondRound the bucket was made of
// a bucket.
constexpr uint64_t kBucket = uint64_t{1} << 63, kSecondRound = uint64_t{1} << 62;

// A segment in a round of partitions: its buckets' entries are [base, base + buckets], the last of which has its end.
struct Part {
  uint64_t base;
  uint32_t buckets;
};
static_assert(sizeof(Part) == kPartBytes, "the plan has room for as many");

template <class U>
struct Params {
  const U *keys_in;
  U *keys_out;
  U *keys_y;  // between passes
  uint64_t n;
  const uint64_t *offsets;
  uint64_t segments;
  KeyCodec<U> codec;
  uint32_t *error;    // what kernels behind the check look at
  uint32_t *verdict;  // where the caller looks; `error` itself in whole calls
  bool whole;         // each block of the kernel of short segments looks at all offsets
  // Bit i: a segment that is not empty begins or ends at key i. Empty segments leave no trace.
  uint32_t *bounds;
  uint32_t *any_short;
  unsigned long long *list_counts;  // kListCountsBytes, of all lists
  List small, middle, medium, big, large;
  uint64_t big_items_max;  // of a big segment; 0: there are none
  // Of these those that are merged: all, or, where they are spread first, those whose keys crowd.
  List small_merges, middle_merges, medium_merges;
  List again;                         // buckets for the second round of partitions
  List radix;                         // what goes through the passes; `large` itself where nothing is partitioned
  Part *parts;                        // of the round's list
  unsigned long long *buckets_used;   // entries that are taken of those:
  uint64_t *bucket_begins;            // first keys
  unsigned long long *bucket_counts;  // numbers of keys
  unsigned long long *bucket_room;    // where the next key goes
  U *bucket_starts;                   // least keys
  uint32_t *any_fill;                 // [rounds]: a bucket has one value alone
  uint64_t *large_tile_begins;        // [parts + 1]: number of tiles in the segments before
  unsigned long long *large_counts;   // [radix][digits][256]: counts, then first places
  uint64_t *look_back;                // [tiles][256]
  uint32_t *tickets;                  // [digits]

  // The begin of a listed segment, behind which lies its end.
  __device__ __forceinline__ const uint64_t *bounds_of(uint64_t listed) const {
    return (listed & kBucket) != 0 ? bucket_begins + (listed & ~(kBucket | kSecondRound)) : offsets + listed;
  }
  // The array in which its keys lie.
  __device__ __forceinline__ const U *source_of(uint64_t listed) const {
    return (listed & kBucket) == 0 ? keys_in : (listed & kSecondRound) == 0 ? keys_y : keys_out;
  }
};

__device__ inline void list_segment(const List &list, uint64_t segment) {
  const uint64_t at = atomicAdd(list.count, 1ull);
  // Wrong offsets can name more large segments than there is room for; the error is found elsewhere.
  if (at < list.capacity) list.segments[at] = segment;
}

// Bounds that lie close together are gathered in shared memory: one addition to memory serves a word of them.
struct BoundWindow {
  static constexpr uint32_t kWords = 2048;
  uint32_t words[kWords];

  __device__ __forceinline__ void clear() {
    for (uint32_t i = threadIdx.x; i < kWords; i += kBlockThreads) words[i] = 0;
  }
  // `begin`: the first word of the window.
  __device__ __forceinline__ void mark(uint32_t *bounds, uint64_t begin, uint64_t at) {
    const uint64_t distance = at - begin * 32;
    // A key before the window wraps round to a large number.
    if (distance < kWords * 32) {
      atomicOr(&words[static_cast<uint32_t>(distance) / 32], 1u << (static_cast<uint32_t>(distance) % 32));
    } else {
      atomicOr(&bounds[at / 32], 1u << (at % 32));
    }
  }
  // Leaves the window clear up to the word of `last`. Neighbouring blocks may share a word.
  __device__ __forceinline__ void flush(uint32_t *bounds, uint64_t begin, uint64_t last, uint64_t n) {
    const uint64_t used = min(last, n) / 32 + 1 - begin;
    const uint32_t count = used < kWords ? static_cast<uint32_t>(used) : kWords;
    for (uint32_t i = threadIdx.x; i < count; i += kBlockThreads) {
      // Offsets that do not ascend can leave bits behind that would go past the bitmap from a later window.
      if (words[i] != 0 && begin + i <= n / 32) atomicOr(&bounds[begin + i], words[i]);
      words[i] = 0;
    }
  }
};

// Whether segment `s` is short.
template <class U>
__device__ __forceinline__ bool list_by_length(const Params<U> &params, uint64_t s, uint64_t items) {
  constexpr uint32_t kSmall = small_segment_items(sizeof(U)), kMiddle = middle_segment_items(sizeof(U)),
                     kMedium = medium_segment_items(sizeof(U));
  if (items <= kShortSegmentItemsMax) return true;
  if (items <= kSmall) {
    list_segment(params.small, s);
  } else if (items <= kMiddle) {
    list_segment(params.middle, s);
  } else if (items <= kMedium) {
    list_segment(params.medium, s);
  } else if (items <= params.big_items_max) {
    list_segment(params.big, s);
  } else {
    list_segment(params.large, s);
  }
  return false;
}

// One thread tells what the check has found.
__device__ __forceinline__ void tell_verdict(uint32_t *verdict, const Notice &notice, uint32_t wrong) {
  *verdict = wrong;
  if (notice.words == nullptr) return;
  volatile uint64_t *const words = notice.words;
  words[1] = wrong;
  __threadfence_system();  // pairs with the fence of Notice::wait(): who sees the turn sees the word
  words[0] = notice.turn;
}

// A thread's segments of the kCheckItems from `base` on; rows past the last segment look at empty ones.
template <class U>
__device__ __forceinline__ void load_bounds(const Params<U> &params, uint64_t base, uint64_t (&begins)[kCheckRows],
                                            uint64_t (&ends)[kCheckRows]) {
  const uint64_t *const from = params.offsets + base + threadIdx.x;
  if (base + kCheckItems <= params.segments) {
#pragma unroll
    for (uint32_t row = 0; row < kCheckRows; ++row) {
      begins[row] = from[row * kBlockThreads];
      ends[row] = from[row * kBlockThreads + 1];
    }
  } else {
#pragma unroll
    for (uint32_t row = 0; row < kCheckRows; ++row) {
      const bool is_segment = base + row * kBlockThreads + threadIdx.x < params.segments;
      begins[row] = is_segment ? from[row * kBlockThreads] : 0;
      ends[row] = is_segment ? from[row * kBlockThreads + 1] : 0;
    }
  }
}

template <class U>
__global__ void __launch_bounds__(kBlockThreads) check_segments_kernel(const __grid_constant__ Params<U> params) {
  __shared__ BoundWindow window;
  allow_next_kernel();
  window.clear();
  bool wrong = false, any_short = false;
  for (uint64_t base = uint64_t{blockIdx.x} * kCheckItems; base < params.segments;
       base += uint64_t{gridDim.x} * kCheckItems) {
    const uint64_t window_begin = min(params.offsets[base], params.n) / 32;
    const uint64_t last = params.offsets[min(base + kCheckItems, params.segments)];
    uint64_t begins[kCheckRows], ends[kCheckRows];
    load_bounds(params, base, begins, ends);
    __syncthreads();  // the window is clear
    // The bound before the first segment is the only one that ends no segment.
    if (base + threadIdx.x == 0 && begins[0] <= params.n) window.mark(params.bounds, window_begin, begins[0]);
#pragma unroll
    for (uint32_t row = 0; row < kCheckRows; ++row) {
      const uint64_t begin = begins[row], end = ends[row];
      if (begin == end && end <= params.n) continue;
      if (begin > end || end > params.n) {
        wrong = true;
        continue;
      }
      window.mark(params.bounds, window_begin, end);
      any_short |= list_by_length(params, base + row * kBlockThreads + threadIdx.x, end - begin);
    }
    __syncthreads();  // all have marked
    window.flush(params.bounds, window_begin, last, params.n);
  }
  // Any number of threads may write the same word.
  if (wrong) *params.error = 1;
  if (__syncthreads_or(any_short) && threadIdx.x == 0) *params.any_short = 1;
}

// The bounds of a block's tile in a whole call, and of the longest short segment behind it.
constexpr uint32_t kWholeBoundWords = (kWholeTileItems + kShortSegmentItemsMax) / 32;

// One block looks at all segments: marks the bounds near its tile, which begins at key `begin`, and lists those that
// are not short if it is to. Returns whether offsets are wrong. Ends with a barrier, and begins with one.
template <class U>
__device__ __forceinline__ bool check_whole(const Params<U> &params, uint64_t begin, bool lists, uint32_t *bounds) {
  if (threadIdx.x < kWholeBoundWords) bounds[threadIdx.x] = 0;
  __syncthreads();
  const auto mark = [&](uint64_t at) {
    const uint64_t distance = at - begin;  // a key before wraps round to a large number
    if (distance < kWholeBoundWords * 32)
      atomicOr(&bounds[static_cast<uint32_t>(distance) / 32], 1u << (static_cast<uint32_t>(distance) % 32));
  };
  bool wrong = false;
  for (uint64_t base = 0; base < params.segments; base += kCheckItems) {
    uint64_t begins[kCheckRows], ends[kCheckRows];
    load_bounds(params, base, begins, ends);
    if (base + threadIdx.x == 0 && begins[0] <= params.n) mark(begins[0]);
#pragma unroll
    for (uint32_t row = 0; row < kCheckRows; ++row) {
      if (begins[row] == ends[row] && ends[row] <= params.n) continue;
      if (begins[row] > ends[row] || ends[row] > params.n) {
        wrong = true;
        continue;
      }
      mark(ends[row]);
    }
  }
  if (lists) {
#pragma unroll 1
    for (uint64_t s = threadIdx.x; s < params.segments; s += kBlockThreads) {
      const uint64_t begin_of_s = params.offsets[s], end = params.offsets[s + 1];
      if (begin_of_s < end && end <= params.n) list_by_length(params, s, end - begin_of_s);
    }
  }
  return __syncthreads_or(wrong);
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_CHECK_CUH_
