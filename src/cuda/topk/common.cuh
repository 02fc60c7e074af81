// SPDX-License-Identifier: MIT OR Apache-2.0
// What the top-k kernels share: composites of key and index, reading a row, counting and choosing within a block.
//
// A composite is (encoded key << index_bits) | index. Composites are unique, and their ascending order is "best first,
// ties by the lowest index", so nothing after the encoding knows of ties.
#ifndef GSORT_CUDA_TOPK_COMMON_CUH_
#define GSORT_CUDA_TOPK_COMMON_CUH_

#include <cuda_runtime.h>

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/ptx.cuh"
#include "cuda/primitive/staged_vector.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/topk/plan.h"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {

__extension__ typedef unsigned __int128 Wide;  // composite of keys whose bits and index do not fit 64

// A load that goes past L1, for what other blocks of the launch wrote.
template <class C>
__device__ __forceinline__ C load_uncached(const C *p) {
  if constexpr (sizeof(C) == 16) {
    const ulonglong2 halves = __ldcg(reinterpret_cast<const ulonglong2 *>(p));
    return (static_cast<C>(halves.y) << 64) | halves.x;
  } else {
    return __ldcg(p);
  }
}

// Calls f(codec). A codec without NaN rules comes with a constant zero, so that the compiler leaves the rules out.
template <class U, class F>
__device__ __forceinline__ void with_codec(const KeyCodec<U> &codec, F &&f) {
  if (!KeyCodec<U>::kMayBeFloat || codec.nan_count == 0)
    f(KeyCodec<U>{codec.mask_positive, codec.mask_negative, 0});
  else
    f(codec);
}

// One row and how to read it: `head` elements up to the first 16-byte boundary, then whole vectors, then the tail.
template <class U>
struct Row {
  static constexpr uint32_t kVectorItems = 16 / sizeof(U);

  const U *data;
  uint64_t items;
  uint32_t head;
  uint64_t vectors;
  uint32_t index_bits;
  KeyCodec<U> codec;

  Row() = default;  // for shared memory
  __device__ Row(const U *row, uint64_t n, uint32_t bits, const KeyCodec<U> &c)
      : data(row), items(n), index_bits(bits), codec(c) {
    const uint64_t to_boundary = ((16 - (reinterpret_cast<uintptr_t>(row) & 15)) & 15) / sizeof(U);
    head = static_cast<uint32_t>(to_boundary < n ? to_boundary : n);
    vectors = (n - head) / kVectorItems;
  }
  __device__ uint64_t tail_begin() const { return head + vectors * kVectorItems; }
  __device__ uint4 vector(uint64_t v) const { return load_once(reinterpret_cast<const uint4 *>(data + head) + v); }
  __device__ uint64_t vector_begin(uint64_t v) const { return head + v * kVectorItems; }
  __device__ U encoded(uint64_t i) const { return codec.encode(__ldg(data + i)); }
  template <class C>
  __device__ C composite(uint64_t i) const {
    return (static_cast<C>(encoded(i)) << index_bits) | i;
  }
};

// Row r of a problem.
template <class U>
__device__ __forceinline__ Row<U> problem_row(const Problem<U> &problem, uint64_t r) {
  if (problem.ragged.offsets == nullptr)
    return Row<U>(problem.in + r * problem.row_stride, problem.columns, problem.index_bits, problem.codec);
  const uint64_t begin = problem.ragged.offsets[r], end = problem.ragged.offsets[r + 1];
  return Row<U>(problem.in + begin, end - begin, problem.index_bits, problem.codec);
}

// The next of the ragged rows that blocks do: long ones first. False: there is none. By one thread.
__device__ inline bool rows_ticket(const Ragged &ragged, uint64_t &r) {
  if (*ragged.error != 0) return false;
  const uint64_t shorter = ragged.counters[kListBlocks], at = atomicAdd(ragged.counters + kTicket, 1ull);
  const uint64_t all_long = ragged.counters[kListLong],
                 longer = long_rows_by_blocks(all_long, ragged.counters[kLongest]) ? all_long : 0;
  if (at >= longer + shorter) return false;
  r = at < longer ? ragged.lists[kListLong][at] : ragged.lists[kListBlocks][at - longer];
  return true;
}

struct Bin {
  uint32_t bin;
  uint64_t before;  // items in lower bins
  uint64_t count;   // items in the bin
};

// Small shared state of a block, beside the dynamic arrays.
template <class C>
struct Scratch {
  uint64_t warp_totals[32];
  C warp_least[32];
  C warp_most[32];
  Bin found;
  uint32_t count;
  uint64_t base;
};

// Exclusive prefix sum over the block; every thread calls it. The caller puts a barrier before scratch.warp_totals is
// used again.
template <class T, class C>
__device__ T block_scan_open(T value, T &total, Scratch<C> &scratch) {
  return block_inclusive_sum(warp_inclusive_sum(value), blockDim.x / 32, scratch.warp_totals, total) - value;
}

template <class T, class C>
__device__ T block_scan(T value, T &total, Scratch<C> &scratch) {
  const T before = block_scan_open(value, total, scratch);
  __syncthreads();
  return before;
}

// The least and the greatest of all threads' values, told to every thread. Ends with a barrier.
template <class C>
__device__ void block_range(C &least, C &most, Scratch<C> &scratch) {
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  for (uint32_t d = 16; d > 0; d /= 2) {
    const C low = shuffle_xor(least, d), high = shuffle_xor(most, d);
    least = low < least ? low : least;
    most = high > most ? high : most;
  }
  if (lane == 0) scratch.warp_least[warp] = least, scratch.warp_most[warp] = most;
  __syncthreads();
  least = scratch.warp_least[lane < warps ? lane : 0], most = scratch.warp_most[lane < warps ? lane : 0];
  for (uint32_t d = 16; d > 0; d /= 2) {
    const C low = shuffle_xor(least, d), high = shuffle_xor(most, d);
    least = low < least ? low : least;
    most = high > most ? high : most;
  }
  __syncthreads();
}

// The bin in which the running count reaches `need` (1 <= need <= sum of counts). T holds the sum. Between two calls'
// uses of scratch.found lies the scan's barrier.
template <class T, class C, class Count>
__device__ __noinline__ Bin find_bin(const Count *counts, uint32_t bins, T need, Scratch<C> &scratch) {
  const uint32_t each = (bins + blockDim.x - 1) / blockDim.x;
  const uint32_t first = threadIdx.x * each;
  T sum = 0, total;
  for (uint32_t i = first; i < first + each && i < bins; ++i) sum += static_cast<T>(counts[i]);
  T before = block_scan_open(sum, total, scratch);
  if (before < need && need <= before + sum) {
    for (uint32_t i = first;; ++i) {
      const T count = static_cast<T>(counts[i]);
      if (need <= before + count) {
        scratch.found = {i, before, count};
        break;
      }
      before += count;
    }
  }
  __syncthreads();
  return scratch.found;
}

// Source of composites for block_select.
template <class C>
struct ArraySource {
  const C *items;
  __device__ C operator()(uint64_t i) const { return items[i]; }
};

// A bound such that at least k and at most k + slack of the `count` composites are at or under it. 1 <= k <= count.
// Reads the source at most 1 + bits / bin_bits + 1 times. Every thread calls it and gets the bound; ends with a
// barrier. histogram: 1 << bin_bits counters. count < 2^32.
template <class C, class Source>
__device__ __noinline__ C block_select(Source source, uint64_t count, uint64_t k, uint64_t slack, uint32_t *histogram,
                                       uint32_t bin_bits, Scratch<C> &scratch) {
  C least = ~C{0}, most = 0;
  for (uint64_t i = threadIdx.x; i < count; i += blockDim.x) {
    const C item = source(i);
    least = item < least ? item : least;
    most = item > most ? item : most;
  }
  block_range(least, most, scratch);
  if (count <= k + slack) return most;
  if (k == 1) return least;
  const uint32_t range_bits = bit_width(static_cast<C>(most - least));
  uint32_t shift = range_bits > bin_bits ? range_bits - bin_bits : 0;
  const uint32_t bins = 1u << bin_bits;
  uint64_t need = k;
  for (;;) {
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x) histogram[i] = 0;
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < count; i += blockDim.x) {
      const C item = source(i);
      const C digit = static_cast<C>(item - least) >> shift;
      if (item >= least && digit < bins) shared_count(&histogram[static_cast<uint32_t>(digit)]);
    }
    __syncthreads();
    const Bin found = find_bin(histogram, bins, static_cast<uint32_t>(need), scratch);
    least += static_cast<C>(found.bin) << shift;
    need -= found.before;
    // The last bin may reach past the greatest number there is.
    const C width = (C{1} << shift) - 1;
    if (found.count - need <= slack || shift == 0) return most - least < width ? most : least + width;
    shift = shift > bin_bits ? shift - bin_bits : 0;
  }
}

// Writes to place `at` of the results. indices: may be NULL.
__device__ __forceinline__ void write_index(void *indices, uint32_t index_bytes, uint64_t at, uint64_t index) {
  if (indices == nullptr) return;
  if (index_bytes == 4)
    static_cast<uint32_t *>(indices)[at] = static_cast<uint32_t>(index);
  else
    static_cast<uint64_t *>(indices)[at] = index;
}

template <class U>
__device__ __forceinline__ void write_element(const Output<U> &output, uint64_t at, U value, uint64_t index) {
  if (output.values != nullptr) output.values[at] = value;
  write_index(output.indices, output.index_bytes, at, index);
}

template <class U, class C>
__device__ __forceinline__ void write_composite(const Output<U> &output, const Row<U> &row, uint64_t at, C item) {
  write_element(output, at, row.codec.decode(static_cast<U>(item >> row.index_bits)),
                static_cast<uint64_t>(item & ((C{1} << row.index_bits) - 1)));
}

// Fills the places [from, to), those of a row with fewer elements than places: thread `first` of `threads`.
template <class U>
__device__ __forceinline__ void write_missing(const Output<U> &output, uint64_t from, uint64_t to, uint64_t first,
                                              uint64_t threads) {
  for (uint64_t at = from + first; at < to; at += threads) write_element<U>(output, at, 0, ~uint64_t{0});
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_COMMON_CUH_
