// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact selection of the best k of a row by a team of blocks: histograms of 11 bits of the keys at a time, then one
// ordered write. Whatever the data it reads the row (key bits / 11, rounded up, + 1) times.
#ifndef GSORT_CUDA_TOPK_EXACT_CUH_
#define GSORT_CUDA_TOPK_EXACT_CUH_

#include <cooperative_groups.h>

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/cluster.cuh"
#include "cuda/primitive/memory_order.cuh"
#include "cuda/topk/common.cuh"
#include "cuda/topk/filter.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {

// What the filter found, the same in every block but for `mine`.
struct Found {
  uint64_t count;     // candidates of the team
  uint64_t overflow;  // of them in list_a; the others lie in the blocks' buffers
  uint32_t mine;      // in this block's buffer
  bool fetchable;     // no block has more than a region has room for

  __device__ bool countable(uint32_t count_items) const { return fetchable && count <= count_items; }
};

// A block's view of its team: who it is, and where everything is. It lies in shared memory, as does every struct that
// these kernels pass on: on the threads' stacks it would be a thousand copies, more than the candidates leave of L1,
// and each access a trip to L2. One thread writes to it, between barriers of the block.
template <class C>
struct TeamView {
  TeamPlan plan;
  Found found;  // by the filter
  Found few;    // what is left of it after thinning out
  Sink<C> sink;
  C bound;
  uint32_t rank, blocks;
  uint32_t barriers;    // passed so far
  uint32_t histograms;  // published so far
  bool begun;           // first_barrier() is behind
  bool cleared;         // the histograms are
  TeamControl *control;
  unsigned long long *histogram;  // three, used in turn
  C *samples, *least, *regions, *list_a, *list_b;
  uint32_t *candidate_counts;  // of each block
  unsigned long long *counts;  // two a block
  uint64_t list_a_items;

  uint32_t *local;  // shared: kBins counters
  C *area;          // shared: buffer_items + run_items composites
  uint32_t buffer_items, run_items;
  Scratch<C> *scratch;

  // Where block b puts candidates for the others.
  __device__ C *region(uint32_t b) const { return regions + uint64_t{b} * kRegionItems; }

  // Every block of the team waits for all. Launched cooperatively or as clusters all blocks are resident, so the wait
  // ends.
  __device__ void barrier() {
    if (kClustersHere && plan.cluster) return cluster_barrier();
    __syncthreads();
    if (threadIdx.x == 0) {
      // Release: the block's writes, ordered before this thread by the barrier above, become visible to whoever sees
      // the count. Acquire: what the other blocks wrote before they arrived is read after the loop only; the barrier
      // below hands that on to the block.
      const uint32_t goal = ++barriers * blocks;
      uint32_t arrived;
      increment_release(&control->barrier);
      do {
        arrived = load_acquire(&control->barrier);
      } while (static_cast<int32_t>(arrived - goal) < 0);
    }
    __syncthreads();
  }

  // Clears what every team needs. first_barrier() must follow before any use.
  __device__ void clear_control() const {
    if (rank == 0 && threadIdx.x == 0) *control = TeamControl{};
  }
  // Clears what find() counts with, once, before its first use.
  __device__ void clear_histograms() {
    if (cleared) return;
    if (rank == 0)
      for (uint32_t i = threadIdx.x; i < 3 * kBins; i += blockDim.x) histogram[i] = 0;
    barrier();
    if (threadIdx.x == 0) cleared = true;
    __syncthreads();
  }
  // The runtime's own grid barrier: it needs no memory of ours, which is garbage before.
  __device__ void first_barrier() {
    if (kClustersHere && plan.cluster)
      cluster_barrier();
    else
      cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) begun = true;
    __syncthreads();
  }

  // Adds the block's counters to the team's and finds the bin that holds item `need`. The histogram after the next is
  // cleared meanwhile: its last readers passed the barrier before this one.
  __device__ Bin find(uint64_t need) {
    const uint32_t turn = histograms;
    unsigned long long *const all = histogram + uint64_t{turn % 3} * kBins;
    unsigned long long *const next = histogram + uint64_t{(turn + 1) % 3} * kBins;
    for (uint32_t i = threadIdx.x; i < kBins; i += blockDim.x) {
      if (local[i] != 0) atomicAdd(&all[i], static_cast<unsigned long long>(local[i]));
      if (rank == 0) next[i] = 0;
    }
    barrier();
    if (threadIdx.x == 0) histograms = turn + 1;
    return find_bin(static_cast<const volatile unsigned long long *>(all), kBins, static_cast<unsigned long long>(need),
                    *scratch);
  }
  __device__ void clear_local() {
    for (uint32_t i = threadIdx.x; i < kBins; i += blockDim.x) local[i] = 0;
    __syncthreads();
  }
};

// What a block's part of the row is: vectors [begin, end), the head with the first block, the tail with the last.
struct Part {
  uint64_t begin, end;
  bool head, tail;
};

template <class U, class C>
__device__ Part team_part(const TeamView<C> &team, const Row<U> &row) {
  const uint64_t tile = static_cast<uint64_t>(blockDim.x) * kVectorsThread;
  const uint64_t tiles = (row.vectors + tile - 1) / tile;
  const uint64_t each = (tiles + team.blocks - 1) / team.blocks * tile;
  const uint64_t begin = each * team.rank < row.vectors ? each * team.rank : row.vectors;
  const uint64_t end = begin + each < row.vectors ? begin + each : row.vectors;
  return {begin, end, team.rank == 0, team.rank == team.blocks - 1};
}

// Counters of one bin lie side by side, one for every few lanes: equal keys in a warp then do not queue for one word.
struct Counters {
  uint32_t *first;  // this thread's counter of bin 0
  uint32_t copies;  // a power of two
};

template <class U>
__device__ __forceinline__ void count_key(U key, U low, uint32_t shift, const Counters &counters) {
  const U digit = static_cast<U>(static_cast<U>(key - low) >> shift);
  if (key >= low && digit < kBins) shared_count(counters.first + digit * counters.copies);
}

// Counts the block's keys by (key - low) >> shift into team.local. A part holds less than 2^32 keys: device memory
// over the blocks of a launch is far less.
template <class U, class C>
__device__ __noinline__ void team_count(const TeamView<C> &team, const Row<U> &row_in, const Part &part_in, U low,
                                        uint32_t shift) {
  const Row<U> row = row_in;
  const Part part = part_in;
  uint32_t *const all = reinterpret_cast<uint32_t *>(team.area);
  Counters counters{all, 1};
  while (counters.copies < 16 && 2 * counters.copies * kBins * 4 <= team.buffer_items * sizeof(C)) counters.copies *= 2;
  counters.first += threadIdx.x % counters.copies;
  for (uint32_t i = threadIdx.x; i < kBins * counters.copies; i += blockDim.x) all[i] = 0;
  __syncthreads();
  for (uint64_t first = part.begin; first < part.end; first += uint64_t{blockDim.x} * kVectorsThread) {
    uint4 v[kVectorsThread];
    load_tile(row, first + threadIdx.x, part.end, v);
#pragma unroll
    for (uint32_t j = 0; j < kVectorsThread; ++j) {
      if (first + j * blockDim.x + threadIdx.x >= part.end) continue;
#pragma unroll 4
      for (uint32_t e = 0; e < Row<U>::kVectorItems; ++e)
        count_key(row.codec.encode(vector_item_any<U>(v[j], e)), low, shift, counters);
    }
  }
  if (part.head && threadIdx.x < row.head) count_key(row.encoded(threadIdx.x), low, shift, counters);
  const uint64_t after = row.tail_begin() + threadIdx.x;
  if (part.tail && after < row.items) count_key(row.encoded(after), low, shift, counters);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kBins; i += blockDim.x) {
    uint32_t sum = 0;
    for (uint32_t c = 0; c < counters.copies; ++c) sum += all[i * counters.copies + c];
    team.local[i] = sum;
  }
  __syncthreads();
}

// What the ordered write takes: keys under `low`, and the first `need` (by index) of the keys in [low, high].
template <class U>
struct Exact {
  U low, high;
  uint64_t need;
};

// Elements of a vector that are taken for sure, and ties.
struct Marks {
  uint32_t less, ties;
};

// Where the ordered write stands: keys taken for sure and ties before here.
struct Cursor {
  uint64_t less, ties;
};

// Writes one selected element to its place.
template <class U, class C>
__device__ __forceinline__ void ordered_store(const TeamView<C> &team, const Row<U> &row, const TeamArgs<U> &args,
                                              uint64_t at, U key, uint64_t index) {
  if (args.split_keys == nullptr) {
    team.list_b[at] = (static_cast<C>(key) << row.index_bits) | index;
    return;
  }
  args.split_keys[at] = row.codec.decode(key);
  if (args.split_indices == nullptr) return;
  if (args.split_index_bytes == 8)
    static_cast<uint64_t *>(args.split_indices)[at] = index;
  else
    static_cast<uint32_t *>(args.split_indices)[at] = static_cast<uint32_t>(index);
}

// Takes what is to be taken of the marked elements of a thread's vector (threads in the order of the indices); bit e of
// a mask stands for element e.
template <class U, class C>
__device__ __noinline__ Cursor ordered_step(const TeamView<C> &team, const Row<U> &row, const Exact<U> &exact,
                                            const TeamArgs<U> &args, const Marks &marks, uint4 v, uint64_t index,
                                            Cursor cursor) {
  const bool ties_wanted = cursor.ties < exact.need;
  const uint32_t less = __popc(marks.less), ties = ties_wanted ? __popc(marks.ties) : 0;
  if (!__syncthreads_or(less + ties != 0)) return cursor;
  uint64_t total;
  const uint64_t before = block_scan((static_cast<uint64_t>(less) << 32) | ties, total, *team.scratch);
  uint64_t less_at = cursor.less + (before >> 32), ties_at = cursor.ties + (before & 0xffffffffu);
  uint32_t marked = marks.less | (ties_wanted ? marks.ties : 0);
  while (marked != 0) {
    const uint32_t e = static_cast<uint32_t>(__ffs(static_cast<int>(marked))) - 1;
    marked &= marked - 1;
    const bool is_less = (marks.less >> e) & 1;
    if (is_less || ties_at < exact.need)
      ordered_store<U, C>(team, row, args, less_at + (ties_at < exact.need ? ties_at : exact.need),
                          row.codec.encode(vector_item_any<U>(v, e)), index + e);
    less_at += is_less, ties_at += !is_less;
  }
  return {cursor.less + (total >> 32), cursor.ties + (total & 0xffffffffu)};
}

template <class U>
__device__ __forceinline__ Marks ordered_marks(const Row<U> &row, const Exact<U> &exact, const uint4 &v) {
  Marks marks{0, 0};
#pragma unroll
  for (uint32_t e = 0; e < Row<U>::kVectorItems; ++e) {
    const U key = row.codec.encode(vector_element<U>(v, e));
    marks.less |= static_cast<uint32_t>(key < exact.low) << e;
    marks.ties |= static_cast<uint32_t>(key >= exact.low && key <= exact.high) << e;
  }
  return marks;
}

// One element a thread: the row's head or tail.
template <class U, class C>
__device__ Cursor ordered_edge(const TeamView<C> &team, const Row<U> &row, const Exact<U> &exact,
                               const TeamArgs<U> &args, uint64_t index, bool valid, Cursor cursor) {
  uint4 v{};
  Marks marks{0, 0};
  if (valid) {
    const U raw = row.data[index];
    if constexpr (sizeof(U) == 8)
      v.x = static_cast<uint32_t>(raw), v.y = static_cast<uint32_t>(raw >> 32);
    else
      v.x = raw;
    const U key = row.codec.encode(raw);
    marks = {key < exact.low, key >= exact.low && key <= exact.high};
  }
  return ordered_step<U, C>(team, row, exact, args, marks, v, index, cursor);
}

template <class U, class C>
__device__ __noinline__ void team_write_ordered(const TeamView<C> &team, const Row<U> &row_in, const Part &part_in,
                                                const Exact<U> &exact, const TeamArgs<U> &args, Cursor cursor) {
  const Row<U> row = row_in;
  const Part part = part_in;
  if (part.head) cursor = ordered_edge<U, C>(team, row, exact, args, threadIdx.x, threadIdx.x < row.head, cursor);
  // Three vectors are on their way while one is ranked: each step has block barriers.
  const auto load = [&](uint64_t at) { return row.vector(at < part.end ? at : part.end - 1); };
  const uint64_t stride = blockDim.x, begin = part.begin + threadIdx.x;
  uint4 v{}, next{}, later{};
  if (part.begin < part.end) v = load(begin), next = load(begin + stride), later = load(begin + 2 * stride);
#pragma unroll 1
  for (uint64_t first = part.begin; first < part.end; first += stride) {
    const uint64_t at = first + threadIdx.x;
    const uint4 latest = load(at + 3 * stride);
    const Marks marks = at < part.end ? ordered_marks(row, exact, v) : Marks{0, 0};
    cursor = ordered_step<U, C>(team, row, exact, args, marks, v, row.vector_begin(at), cursor);
    v = next, next = later, later = latest;
  }
  const uint64_t after = row.tail_begin() + threadIdx.x;
  if (part.tail) ordered_edge<U, C>(team, row, exact, args, after, after < row.items, cursor);
}

// Selects the best k of the row exactly and writes them in the order of the input to list_b or the split arrays.
template <class U, class C>
__device__ __noinline__ void team_exact(TeamView<C> &team, const Row<U> &row, uint64_t k, const TeamArgs<U> &args) {
  constexpr uint32_t bits = sizeof(U) * 8;
  team.clear_histograms();
  const Part part = team_part<U, C>(team, row);
  uint32_t shift = bits > kBinBits ? bits - kBinBits : 0;
  U low = 0;
  uint64_t need = k, less_here = 0, ties_here = 0;
  for (;;) {
    team_count<U, C>(team, row, part, low, shift);
    const Bin found = team.find(need);
    uint64_t under = 0, under_all;
    for (uint32_t i = threadIdx.x; i < found.bin; i += blockDim.x) under += team.local[i];
    block_scan(under, under_all, *team.scratch);
    less_here += under_all;
    ties_here = team.local[found.bin];
    __syncthreads();
    low = static_cast<U>(low + (static_cast<U>(found.bin) << shift));
    need -= found.before;
    if (found.count == need || shift == 0) break;
    shift = shift > kBinBits ? shift - kBinBits : 0;
  }
  if (threadIdx.x == 0) team.counts[2 * team.rank] = less_here, team.counts[2 * team.rank + 1] = ties_here;
  team.barrier();
  uint64_t less = 0, ties = 0;
  Cursor cursor{0, 0};
  for (uint32_t b = threadIdx.x; b < team.rank; b += blockDim.x)
    less += load_uncached(team.counts + 2 * b), ties += load_uncached(team.counts + 2 * b + 1);
  block_scan(less, cursor.less, *team.scratch);
  block_scan(ties, cursor.ties, *team.scratch);
  const Exact<U> exact{low, static_cast<U>(low + static_cast<U>((U{1} << shift) - 1)), need};
  team_write_ordered<U, C>(team, row, part, exact, args, cursor);
  team.barrier();
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_EXACT_CUH_
