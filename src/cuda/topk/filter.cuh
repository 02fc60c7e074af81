// SPDX-License-Identifier: MIT OR Apache-2.0
// Drawing a sample of a row, and the one read of the row that keeps what is at or under a bound.
#ifndef GSORT_CUDA_TOPK_FILTER_CUH_
#define GSORT_CUDA_TOPK_FILTER_CUH_

#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/memory_order.cuh"
#include "cuda/primitive/ptx.cuh"
#include "cuda/topk/common.cuh"

namespace gsort_internal::topk {

// A random position below n. The seed is the device's clock: no data can be laid out against positions that nobody
// knows. They decide how long a call takes, never what it returns.
__device__ __forceinline__ uint64_t clock_seed() {
  return global_nanoseconds() * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(clock64());
}

__device__ __forceinline__ uint64_t random_position(uint64_t seed, uint64_t i, uint64_t n) {
  return __umul64hi(mix_bits(seed + i * uint64_t{0x9e3779b97f4a7c15u}), n);
}

// The composites of random positions draws[i], i = first, first + stride, ... below `items`, told to f(i, composite);
// at most four, all under way at once.
template <class C, class U, class F>
__device__ __forceinline__ void draw_four(const Row<U> &row, uint64_t seed, uint64_t base, uint32_t first,
                                          uint32_t stride, uint32_t items, F &&f) {
  uint64_t at[4];
  U raw[4];
#pragma unroll
  for (uint32_t j = 0; j < 4; ++j) {
    const uint32_t i = first + j * stride;
    at[j] = random_position(seed, base + (i < items ? i : first), row.items);
    raw[j] = __ldg(row.data + at[j]);
  }
#pragma unroll
  for (uint32_t j = 0; j < 4; ++j)
    if (first + j * stride < items)
      f(first + j * stride, (static_cast<C>(row.codec.encode(raw[j])) << row.index_bits) | at[j]);
}

// Where the filter puts what passes: the block's buffer, then (if there is one) the overflow list in global memory.
template <class C>
struct Sink {
  C *buffer;
  uint32_t buffer_items;
  uint32_t *count;  // shared; goes on counting when the buffer is full
  C most;           // nothing above it is taken
  C *overflow;      // or NULL
  uint64_t overflow_items;
  unsigned long long *overflow_count;

  // Any threads call it. False: there is no more room and the filter may as well stop; the counts then tell of it.
  __device__ __forceinline__ bool append_one(C item) const {
    if (item > most) return true;
    const uint32_t at = shared_add(count, 1);
    if (at < buffer_items) {
      buffer[at] = item;
      return true;
    }
    if (overflow == nullptr) return false;
    return append_overflow(item);
  }

  // Whole warps call it, and the buffer has room.
  __device__ void append(bool has, C item) const {
    has = has && item <= most;
    const uint32_t ballot = __ballot_sync(kFullWarp, has);
    if (ballot == 0) return;
    const uint32_t lane = threadIdx.x & 31;
    uint32_t base = 0;
    if (lane == 0) base = shared_add(count, static_cast<uint32_t>(__popc(ballot)));
    base = __shfl_sync(kFullWarp, base, 0) + __popc(ballot & ((1u << lane) - 1));
    if (has && base < buffer_items) buffer[base] = item;
  }

 private:
  // Inline: a call would put the whole sink on the stack.
  __device__ __forceinline__ bool append_overflow(C item) const {
    // One atomic for whichever lanes are here: many to one address queue up at 50 ns each.
    const uint32_t here = __activemask(), lane = threadIdx.x & 31, leader = __ffs(static_cast<int>(here)) - 1;
    unsigned long long over = 0;
    if (lane == leader) over = fetch_add_relaxed(overflow_count, static_cast<unsigned long long>(__popc(here)));
    over = __shfl_sync(here, over, leader) + __popc(here & ((1u << lane) - 1));
    if (over < overflow_items) overflow[over] = item;
    return over < overflow_items;
  }
};

// Bit e set: element e of the vector is at or under `limit`.
template <class U>
__device__ __forceinline__ uint32_t vector_mask(const uint4 &v, const KeyCodec<U> &codec, U limit) {
  uint32_t mask = 0;
#pragma unroll
  for (uint32_t e = 0; e < Row<U>::kVectorItems; ++e)
    mask |= static_cast<uint32_t>(codec.encode(vector_element<U>(v, e)) <= limit) << e;
  return mask;
}

template <class U>
__device__ __forceinline__ uint64_t vectors_mask(const uint4 (&v)[kVectorsThread], const KeyCodec<U> &codec, U limit) {
  uint64_t mask = 0;
  with_codec(codec, [&](const KeyCodec<U> &c) {
#pragma unroll
    for (uint32_t j = 0; j < kVectorsThread; ++j)
      mask |= static_cast<uint64_t>(vector_mask(v[j], c, limit)) << (j * Row<U>::kVectorItems);
  });
  return mask;
}

// As vector_element, for an element that is not known before.
template <class U>
__device__ __forceinline__ U vector_item_any(const uint4 &v, uint32_t e) {
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
__device__ __forceinline__ bool append_marked(const Row<U> &row, uint64_t first, const uint4 (&v)[kVectorsThread],
                                              uint64_t mask, const Sink<C> &sink) {
  constexpr uint32_t E = Row<U>::kVectorItems;
#pragma unroll
  for (uint32_t j = 0; j < kVectorsThread; ++j) {
    uint32_t marked = static_cast<uint32_t>(mask >> (j * E)) & ((1u << E) - 1);
    while (marked != 0) {
      const uint32_t e = static_cast<uint32_t>(__ffs(static_cast<int>(marked))) - 1;
      marked &= marked - 1;
      const C key = row.codec.encode(vector_item_any<U>(v[j], e));
      if (!sink.append_one((key << row.index_bits) | (row.vector_begin(first + j * blockDim.x) + e))) return false;
    }
  }
  return true;
}

// Loads are never conditional: the compiler waits for each load under a condition before it issues the next. Beyond the
// end (`end` > 0) the last vector is loaded again.
template <class U>
__device__ __forceinline__ void load_tile(const Row<U> &row, uint64_t first, uint64_t end, uint4 (&v)[kVectorsThread]) {
#pragma unroll
  for (uint32_t j = 0; j < kVectorsThread; ++j) {
    const uint64_t at = first + j * blockDim.x;
    v[j] = row.vector(at < end ? at : end - 1);
  }
}

// Which bits of a mask stand for vectors before `end`.
template <class U>
__device__ __forceinline__ uint64_t tile_valid(uint64_t first, uint64_t end) {
  constexpr uint32_t E = Row<U>::kVectorItems;
  uint64_t valid = 0;
#pragma unroll
  for (uint32_t j = 0; j < kVectorsThread; ++j)
    if (first + j * blockDim.x < end) valid |= ((uint64_t{1} << E) - 1) << (j * E);
  return valid;
}

// Which tiles of a row a block reads: `rank`, `rank` + blocks, ..., each of `vectors` vectors a thread.
struct Tiles {
  uint32_t rank, blocks, vectors;
};

// Reads its tiles of a row and appends every element whose composite is at or under sink.most. Keys decide at the speed
// of reading: a whole tile takes ties with the bound's key or takes none, and only of what then passes the composites
// are compared. No barriers inside. (Loading a tile ahead halved the speed: twice the bytes under way are more than
// shared memory leaves of L1.)
template <class U, class C>
__device__ __noinline__ void filter_row(const Row<U> &row_in, Tiles tiles, const Sink<C> &sink_in) {
  // Copies that live in registers: what they were passed in would be fetched anew for every candidate.
  const Row<U> row = row_in;
  const Sink<C> sink = sink_in;
  const U bound_key = static_cast<U>(sink.most >> row.index_bits);
  const uint64_t bound_index = static_cast<uint64_t>(sink.most & ((C{1} << row.index_bits) - 1));
  const uint64_t tile_vectors = static_cast<uint64_t>(blockDim.x) * tiles.vectors, step = tile_vectors * tiles.blocks;
  for (uint64_t begin = tiles.rank * tile_vectors; begin < row.vectors; begin += step) {
    const uint64_t first = begin + threadIdx.x;
    const uint64_t end = begin + tile_vectors < row.vectors ? begin + tile_vectors : row.vectors;
    uint4 v[kVectorsThread];
    load_tile(row, first, end, v);
    const bool ties = row.vector_begin(begin) <= bound_index;
    if (!ties && bound_key == 0) continue;
    const U limit = ties ? bound_key : static_cast<U>(bound_key - 1);
    uint64_t mask = vectors_mask(v, row.codec, limit);
    if (begin + uint64_t{blockDim.x} * kVectorsThread > end) mask &= tile_valid<U>(first, end);
    // The votes bring the warp together again: lanes that go on apart would read apart.
    if (__any_sync(kFullWarp, mask != 0)) {
      const bool room = mask == 0 || append_marked<U, C>(row, first, v, mask, sink);
      if (__any_sync(kFullWarp, !room)) break;
    }
  }
  if (tiles.rank != 0) return;
  if (threadIdx.x < row.head) sink.append_one(row.template composite<C>(threadIdx.x));
  const uint64_t after = row.tail_begin() + threadIdx.x;
  if (after < row.items) sink.append_one(row.template composite<C>(after));
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_FILTER_CUH_
