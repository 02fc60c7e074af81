// SPDX-License-Identifier: MIT OR Apache-2.0
// What the top-k kernels share: composites of key and index, reading a row, counting and choosing within a block.
//
// A composite is (encoded key << index_bits) | index. Composites are unique, and their ascending order is "best first,
// ties by the lowest index", so nothing after the encoding knows of ties.
#ifndef GSORT_CUDA_KERNELS_TOPK_COMMON_CUH_
#define GSORT_CUDA_KERNELS_TOPK_COMMON_CUH_

#include <cuda_runtime.h>

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/launch_topk.h"
#include "plan/topk_plan.h"

namespace gsort_internal {

__extension__ typedef unsigned __int128 TopkWide;  // composite of keys whose bits and index do not fit 64

constexpr uint32_t kFullWarp = 0xffffffffu;

template <class C>
__device__ __forceinline__ C topk_shuffle_xor(C v, uint32_t mask) {
  if constexpr (sizeof(C) == 16) {
    const uint64_t low = __shfl_xor_sync(kFullWarp, static_cast<uint64_t>(v), mask);
    const uint64_t high = __shfl_xor_sync(kFullWarp, static_cast<uint64_t>(v >> 64), mask);
    return (static_cast<C>(high) << 64) | low;
  } else {
    return __shfl_xor_sync(kFullWarp, v, mask);
  }
}

// atomicAdd on shared memory. Said in PTX: through a pointer that has gone through a struct the compiler no longer
// knows that it is shared memory, and a generic atomic there is a slow loop of compare and swap.
__device__ __forceinline__ uint32_t topk_shared_add(uint32_t *p, uint32_t value) {
  uint32_t old;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(p))), "r"(value)
               : "memory");
  return old;
}

__device__ __forceinline__ void topk_shared_count(uint32_t *p) {
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(p))) : "memory");
}

// A load that goes past L1, for what other blocks of the launch wrote.
template <class C>
__device__ __forceinline__ C topk_load(const C *p) {
  if constexpr (sizeof(C) == 16) {
    const ulonglong2 halves = __ldcg(reinterpret_cast<const ulonglong2 *>(p));
    return (static_cast<C>(halves.y) << 64) | halves.x;
  } else {
    return __ldcg(p);
  }
}

template <class C>
__device__ __forceinline__ uint32_t topk_bit_length(C v) {
  if constexpr (sizeof(C) == 16) {
    const uint64_t high = static_cast<uint64_t>(v >> 64);
    return high != 0 ? 128u - static_cast<uint32_t>(__clzll(static_cast<long long>(high)))
                     : 64u - static_cast<uint32_t>(__clzll(static_cast<long long>(static_cast<uint64_t>(v))));
  } else {
    return 64u - static_cast<uint32_t>(__clzll(static_cast<long long>(v)));
  }
}

// One row and how to read it: `head` elements up to the first 16-byte boundary, then whole vectors, then the tail.
template <class U>
struct TopkRow {
  static constexpr uint32_t kVectorItems = 16 / sizeof(U);

  const U *data;
  uint64_t items;
  uint32_t head;
  uint64_t vectors;
  uint32_t index_bits;
  KeyCodec<U> codec;

  __device__ TopkRow(const U *row, uint64_t n, uint32_t bits, const KeyCodec<U> &c)
      : data(row), items(n), index_bits(bits), codec(c) {
    const uint64_t to_boundary = ((16 - (reinterpret_cast<uintptr_t>(row) & 15)) & 15) / sizeof(U);
    head = static_cast<uint32_t>(to_boundary < n ? to_boundary : n);
    vectors = (n - head) / kVectorItems;
  }
  __device__ uint64_t tail_begin() const { return head + vectors * kVectorItems; }
  __device__ uint4 vector(uint64_t v) const {
    // Read once: what shared memory leaves of L1 is kept for the few things that are read again.
    uint4 r;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
        : "l"(reinterpret_cast<const uint4 *>(data + head) + v));
    return r;
  }
  __device__ uint64_t vector_begin(uint64_t v) const { return head + v * kVectorItems; }
  __device__ U encoded(uint64_t i) const { return codec.encode(__ldg(data + i)); }
  template <class C>
  __device__ C composite(uint64_t i) const {
    return (static_cast<C>(encoded(i)) << index_bits) | i;
  }
};

// Element `e` (a constant after unrolling) of a vector.
template <class U>
__device__ __forceinline__ U topk_vector_item(const uint4 &v, uint32_t e) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  if constexpr (sizeof(U) == 8) {
    return (static_cast<uint64_t>(words[2 * e + 1]) << 32) | words[2 * e];
  } else {
    constexpr uint32_t per_word = 4 / sizeof(U);
    return static_cast<U>(words[e / per_word] >> (e % per_word * 8 * sizeof(U)));
  }
}

struct TopkBin {
  uint32_t bin;
  uint64_t before;  // items in lower bins
  uint64_t count;   // items in the bin
};

// Small shared state of a block, beside the dynamic arrays.
template <class C>
struct TopkScratch {
  uint64_t warp_totals[32];
  C warp_least[32];
  C warp_most[32];
  TopkBin found;
  uint32_t count;
  uint64_t base;
};

// Exclusive prefix sum over the block; every thread calls it. The caller puts a barrier before scratch.warp_totals is
// used again.
template <class T, class C>
__device__ T topk_block_scan_open(T value, T &total, TopkScratch<C> &scratch) {
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  T inclusive = value;
  for (uint32_t d = 1; d < 32; d *= 2) {
    const T other = __shfl_up_sync(kFullWarp, inclusive, d);
    if (lane >= d) inclusive += other;
  }
  if (lane == 31) scratch.warp_totals[warp] = inclusive;
  __syncthreads();
  T warp_total = lane < warps ? static_cast<T>(scratch.warp_totals[lane]) : T{0};
  for (uint32_t d = 1; d < 32; d *= 2) {
    const T other = __shfl_up_sync(kFullWarp, warp_total, d);
    if (lane >= d) warp_total += other;
  }
  total = __shfl_sync(kFullWarp, warp_total, 31);
  const T before_warp = __shfl_sync(kFullWarp, warp_total, warp == 0 ? 0 : warp - 1);
  return (warp == 0 ? T{0} : before_warp) + inclusive - value;
}

template <class T, class C>
__device__ T topk_block_scan(T value, T &total, TopkScratch<C> &scratch) {
  const T before = topk_block_scan_open(value, total, scratch);
  __syncthreads();
  return before;
}

// The least and the greatest of all threads' values, told to every thread. Ends with a barrier.
template <class C>
__device__ void topk_block_range(C &least, C &most, TopkScratch<C> &scratch) {
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  for (uint32_t d = 16; d > 0; d /= 2) {
    const C low = topk_shuffle_xor(least, d), high = topk_shuffle_xor(most, d);
    least = low < least ? low : least;
    most = high > most ? high : most;
  }
  if (lane == 0) scratch.warp_least[warp] = least, scratch.warp_most[warp] = most;
  __syncthreads();
  least = scratch.warp_least[lane < warps ? lane : 0], most = scratch.warp_most[lane < warps ? lane : 0];
  for (uint32_t d = 16; d > 0; d /= 2) {
    const C low = topk_shuffle_xor(least, d), high = topk_shuffle_xor(most, d);
    least = low < least ? low : least;
    most = high > most ? high : most;
  }
  __syncthreads();
}

// The bin in which the running count reaches `need` (1 <= need <= sum of counts). T holds the sum. Between two calls'
// uses of scratch.found lies the scan's barrier.
template <class T, class C, class Count>
__device__ __noinline__ TopkBin topk_find_bin(const Count *counts, uint32_t bins, T need, TopkScratch<C> &scratch) {
  const uint32_t each = (bins + blockDim.x - 1) / blockDim.x;
  const uint32_t first = threadIdx.x * each;
  T sum = 0, total;
  for (uint32_t i = first; i < first + each && i < bins; ++i) sum += static_cast<T>(counts[i]);
  T before = topk_block_scan_open(sum, total, scratch);
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

// Sources of composites for topk_block_select.
template <class C>
struct TopkArraySource {
  const C *items;
  __device__ C operator()(uint64_t i) const { return items[i]; }
};

template <class U, class C>
struct TopkRowSource {
  const TopkRow<U> &row;
  __device__ C operator()(uint64_t i) const { return row.template composite<C>(i); }
};

// A bound such that at least k and at most k + slack of the `count` composites are at or under it. 1 <= k <= count.
// Reads the source at most 1 + bits / bin_bits + 1 times. Every thread calls it and gets the bound; ends with a
// barrier. histogram: 1 << bin_bits counters. count < 2^32.
template <class C, class Source>
__device__ __noinline__ C topk_block_select(const Source &source, uint64_t count, uint64_t k, uint64_t slack,
                                            uint32_t *histogram, uint32_t bin_bits, TopkScratch<C> &scratch) {
  C least = ~C{0}, most = 0;
  for (uint64_t i = threadIdx.x; i < count; i += blockDim.x) {
    const C item = source(i);
    least = item < least ? item : least;
    most = item > most ? item : most;
  }
  topk_block_range(least, most, scratch);
  if (count <= k + slack) return most;
  if (k == 1) return least;
  const uint32_t range_bits = topk_bit_length(static_cast<C>(most - least));
  uint32_t shift = range_bits > bin_bits ? range_bits - bin_bits : 0;
  const uint32_t bins = 1u << bin_bits;
  uint64_t need = k;
  for (;;) {
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x) histogram[i] = 0;
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < count; i += blockDim.x) {
      const C item = source(i);
      const C digit = static_cast<C>(item - least) >> shift;
      if (item >= least && digit < bins) topk_shared_count(&histogram[static_cast<uint32_t>(digit)]);
    }
    __syncthreads();
    const TopkBin found = topk_find_bin(histogram, bins, static_cast<uint32_t>(need), scratch);
    least += static_cast<C>(found.bin) << shift;
    need -= found.before;
    if (found.count - need <= slack || shift == 0) return least + ((C{1} << shift) - 1);
    shift = shift > bin_bits ? shift - bin_bits : 0;
  }
}

// Where the filter puts what passes: the block's buffer, then (if there is one) the overflow list in global memory.
template <class C>
struct TopkSink {
  C *buffer;
  uint32_t buffer_items;
  uint32_t *count;  // shared; goes on counting when the buffer is full
  C most;           // nothing above it is taken
  C *overflow = nullptr;
  uint64_t overflow_items = 0;
  unsigned long long *overflow_count = nullptr;

  // Any threads call it. False: there is no more room and the filter may as well stop; the counts then tell of it.
  __device__ __forceinline__ bool append_one(C item) const {
    if (item > most) return true;
    const uint32_t at = topk_shared_add(count, 1);
    if (at < buffer_items) {
      buffer[at] = item;
      return true;
    }
    if (overflow == nullptr) return false;
    // One atomic for whichever lanes are here: many to one address queue up at 50 ns each.
    const uint32_t here = __activemask(), lane = threadIdx.x & 31, leader = __ffs(static_cast<int>(here)) - 1;
    unsigned long long over = 0;
    if (lane == leader)
      asm volatile("atom.global.add.u64 %0, [%1], %2;"
                   : "=l"(over)
                   : "l"(overflow_count), "l"(static_cast<unsigned long long>(__popc(here)))
                   : "memory");
    over = __shfl_sync(here, over, leader) + __popc(here & ((1u << lane) - 1));
    if (over < overflow_items) overflow[over] = item;
    return over < overflow_items;
  }

  // Whole warps call it, and the buffer has room.
  __device__ void append(bool has, C item) const {
    has = has && item <= most;
    const uint32_t ballot = __ballot_sync(kFullWarp, has);
    if (ballot == 0) return;
    const uint32_t lane = threadIdx.x & 31;
    uint32_t base = 0;
    if (lane == 0) base = topk_shared_add(count, static_cast<uint32_t>(__popc(ballot)));
    base = __shfl_sync(kFullWarp, base, 0) + __popc(ballot & ((1u << lane) - 1));
    if (has && base < buffer_items) buffer[base] = item;
  }
};

// Bit e set: element e of the vector is at or under `limit`.
template <class U>
__device__ __forceinline__ uint32_t topk_vector_mask(const uint4 &v, const KeyCodec<U> &codec, U limit) {
  uint32_t mask = 0;
#pragma unroll
  for (uint32_t e = 0; e < TopkRow<U>::kVectorItems; ++e)
    mask |= static_cast<uint32_t>(codec.encode(topk_vector_item<U>(v, e)) <= limit) << e;
  return mask;
}

template <class U>
__device__ __forceinline__ uint64_t topk_vectors_mask(const uint4 (&v)[kTopkVectorsThread], const KeyCodec<U> &codec,
                                                      U limit) {
  // The codec without NaN rules is a copy with a constant zero, so that the compiler leaves the rules out.
  const KeyCodec<U> plain{codec.mask_positive, codec.mask_negative, 0};
  uint64_t mask = 0;
  if (codec.nan_count == 0) {
#pragma unroll
    for (uint32_t j = 0; j < kTopkVectorsThread; ++j)
      mask |= static_cast<uint64_t>(topk_vector_mask(v[j], plain, limit)) << (j * TopkRow<U>::kVectorItems);
  } else {
#pragma unroll
    for (uint32_t j = 0; j < kTopkVectorsThread; ++j)
      mask |= static_cast<uint64_t>(topk_vector_mask(v[j], codec, limit)) << (j * TopkRow<U>::kVectorItems);
  }
  return mask;
}

// As topk_vector_item, for an element that is not known before.
template <class U>
__device__ __forceinline__ U topk_vector_item_any(const uint4 &v, uint32_t e) {
  constexpr uint32_t per_word = sizeof(U) < 4 ? 4 / sizeof(U) : 1;
  if constexpr (sizeof(U) == 8) {
    return e == 0 ? (static_cast<uint64_t>(v.y) << 32) | v.x : (static_cast<uint64_t>(v.w) << 32) | v.z;
  } else {
    const uint32_t word = e / per_word;
    const uint32_t low = word & 1 ? v.y : v.x, high = word & 1 ? v.w : v.z;
    return static_cast<U>((word & 2 ? high : low) >> (e % per_word * 8 * sizeof(U)));
  }
}

// Appends a thread's marked elements; bit j * kVectorItems + e stands for element e of vector first + j * blockDim.x.
template <class U, class C>
__device__ __forceinline__ bool topk_append_marked(const TopkRow<U> &row, uint64_t first,
                                                   const uint4 (&v)[kTopkVectorsThread], uint64_t mask,
                                                   const TopkSink<C> &sink) {
  constexpr uint32_t E = TopkRow<U>::kVectorItems;
#pragma unroll
  for (uint32_t j = 0; j < kTopkVectorsThread; ++j) {
    uint32_t marked = static_cast<uint32_t>(mask >> (j * E)) & ((1u << E) - 1);
    while (marked != 0) {
      const uint32_t e = static_cast<uint32_t>(__ffs(static_cast<int>(marked))) - 1;
      marked &= marked - 1;
      const C key = row.codec.encode(topk_vector_item_any<U>(v[j], e));
      if (!sink.append_one((key << row.index_bits) | (row.vector_begin(first + j * blockDim.x) + e))) return false;
    }
  }
  return true;
}

// Loads are never conditional: the compiler waits for each load under a condition before it issues the next. Beyond the
// end (`end` > 0) the last vector is loaded again.
template <class U>
__device__ __forceinline__ void topk_load_tile(const TopkRow<U> &row, uint64_t first, uint64_t end,
                                               uint4 (&v)[kTopkVectorsThread]) {
#pragma unroll
  for (uint32_t j = 0; j < kTopkVectorsThread; ++j) {
    const uint64_t at = first + j * blockDim.x;
    v[j] = row.vector(at < end ? at : end - 1);
  }
}

// Which bits of a mask stand for vectors that exist.
template <class U>
__device__ __forceinline__ uint64_t topk_tile_valid(const TopkRow<U> &row, uint64_t first) {
  constexpr uint32_t E = TopkRow<U>::kVectorItems;
  uint64_t valid = 0;
#pragma unroll
  for (uint32_t j = 0; j < kTopkVectorsThread; ++j)
    if (first + j * blockDim.x < row.vectors) valid |= ((uint64_t{1} << E) - 1) << (j * E);
  return valid;
}

// Reads the tiles `rank`, `rank` + blocks, ... of a row and appends every element whose composite is at or under
// sink.most. Keys decide at the speed of reading: a whole tile takes ties with the bound's key or takes none, and only
// of what then passes the composites are compared. No barriers inside. (Loading a tile ahead halved the speed: twice
// the bytes under way are more than shared memory leaves of L1.)
template <class U, class C>
__device__ __noinline__ void topk_filter_row(const TopkRow<U> &row_in, uint32_t rank, uint32_t blocks,
                                             const TopkSink<C> &sink_in) {
  // Copies that live in registers: stack memory would be fetched anew for every candidate.
  const TopkRow<U> row = row_in;
  const TopkSink<C> sink = sink_in;
  const U bound_key = static_cast<U>(sink.most >> row.index_bits);
  const uint64_t bound_index = static_cast<uint64_t>(sink.most & ((C{1} << row.index_bits) - 1));
  const uint64_t tile_vectors = static_cast<uint64_t>(blockDim.x) * kTopkVectorsThread, step = tile_vectors * blocks;
  for (uint64_t begin = rank * tile_vectors; begin < row.vectors; begin += step) {
    const uint64_t first = begin + threadIdx.x;
    uint4 v[kTopkVectorsThread];
    topk_load_tile(row, first, row.vectors, v);
    const bool ties = row.vector_begin(begin) <= bound_index;
    if (!ties && bound_key == 0) continue;
    const U limit = ties ? bound_key : static_cast<U>(bound_key - 1);
    uint64_t mask = topk_vectors_mask(v, row.codec, limit);
    if (begin + tile_vectors > row.vectors) mask &= topk_tile_valid(row, first);
    // The votes bring the warp together again: lanes that go on apart would read apart.
    if (__any_sync(kFullWarp, mask != 0)) {
      const bool room = mask == 0 || topk_append_marked<U, C>(row, first, v, mask, sink);
      if (__any_sync(kFullWarp, !room)) break;
    }
  }
  if (rank != 0) return;
  if (threadIdx.x < row.head) sink.append_one(row.template composite<C>(threadIdx.x));
  const uint64_t after = row.tail_begin() + threadIdx.x;
  if (after < row.items) sink.append_one(row.template composite<C>(after));
}

template <class C>
__device__ __forceinline__ void topk_keep(C &mine, C other, bool keep_less) {
  if ((other < mine) == keep_less) mine = other;
}

// Bitonic sort of N composites a thread for the block's first size / N threads, which are whole warps: item
// i * threads + thread is the thread's item i. Near partners are reached by shuffles, far ones through shared memory,
// the farthest lie in the thread itself.
template <uint32_t N, class C>
__device__ void topk_sort_threads(C *items, uint32_t size) {
  const uint32_t threads = size / N, t = threadIdx.x;
  if (t >= threads) return;
  C mine[N];
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) mine[i] = items[i * threads + t];
  for (uint32_t span = 2; span <= size; span *= 2) {
    for (uint32_t stride = span / 2; stride > 0; stride /= 2) {
      if (stride >= threads) {
#pragma unroll
        for (uint32_t step = 1; step < N; step *= 2) {
          if (stride != step * threads) continue;
#pragma unroll
          for (uint32_t i = 0; i < N; ++i) {
            if (i & step) continue;
            const C a = mine[i], b = mine[i | step];
            if ((b < a) == (((i * threads) & span) == 0)) mine[i] = b, mine[i | step] = a;
          }
        }
      } else if (stride >= 32) {
        // Only the sorting warps meet at this barrier; the first wait is for the stores, the second for the loads.
#pragma unroll
        for (uint32_t i = 0; i < N; ++i) items[i * threads + t] = mine[i];
        asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
#pragma unroll
        for (uint32_t i = 0; i < N; ++i) {
          const uint32_t at = i * threads + t;
          topk_keep(mine[i], items[at ^ stride], ((at & stride) == 0) == ((at & span) == 0));
        }
        asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
      } else {
#pragma unroll
        for (uint32_t i = 0; i < N; ++i) {
          const uint32_t at = i * threads + t;
          topk_keep(mine[i], topk_shuffle_xor(mine[i], stride), ((at & stride) == 0) == ((at & span) == 0));
        }
      }
    }
  }
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) items[i * threads + t] = mine[i];
}

// Sorts `size` composites in shared memory: a power of two, at least 32, at most four a thread. Starts and ends with a
// barrier.
template <class C>
__device__ __noinline__ void topk_block_sort(C *items, uint32_t size) {
  __syncthreads();
  if (size <= blockDim.x)
    topk_sort_threads<1>(items, size);
  else if (size == 2 * blockDim.x)
    topk_sort_threads<2>(items, size);
  else
    topk_sort_threads<4>(items, size);
  __syncthreads();
}

// A random position below n. The seed is the device's clock: no data can be laid out against positions that nobody
// knows. They decide how long a call takes, never what it returns.
__device__ __forceinline__ uint64_t topk_clock_seed() {
  uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(clock64());
}

__device__ __forceinline__ uint64_t topk_random_position(uint64_t seed, uint64_t i, uint64_t n) {
  uint64_t x = seed + i * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return __umul64hi(x ^ (x >> 31), n);
}

// The composites of random positions draws[i], i = first, first + stride, ... below `items`, told to f(i, composite);
// at most four, all under way at once.
template <class C, class U, class F>
__device__ __forceinline__ void topk_draw_four(const TopkRow<U> &row, uint64_t seed, uint64_t base, uint32_t first,
                                               uint32_t stride, uint32_t items, F &&f) {
  uint64_t at[4];
  U raw[4];
#pragma unroll
  for (uint32_t j = 0; j < 4; ++j) {
    const uint32_t i = first + j * stride;
    at[j] = topk_random_position(seed, base + (i < items ? i : first), row.items);
    raw[j] = __ldg(row.data + at[j]);
  }
#pragma unroll
  for (uint32_t j = 0; j < 4; ++j)
    if (first + j * stride < items)
      f(first + j * stride, (static_cast<C>(row.codec.encode(raw[j])) << row.index_bits) | at[j]);
}

// Writes a result: place `at` of the row's k.
template <class U, class C>
__device__ __forceinline__ void topk_write(const TopkOutput<U> &output, const TopkRow<U> &row, uint64_t at, C item) {
  if (output.values != nullptr) output.values[at] = row.codec.decode(static_cast<U>(item >> row.index_bits));
  if (output.indices == nullptr) return;
  const uint64_t index = static_cast<uint64_t>(item & ((C{1} << row.index_bits) - 1));
  if (output.index_bytes == 4)
    static_cast<uint32_t *>(output.indices)[at] = static_cast<uint32_t>(index);
  else
    static_cast<uint64_t *>(output.indices)[at] = index;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_TOPK_COMMON_CUH_
