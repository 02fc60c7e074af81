// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of many rows: one block a row, candidates in shared memory.
//
// Work for a row of n elements, whatever the data: two samples and reads that filter; if both samples misled, exact
// selection by at most (key bits + index bits) / 11 + 2 more reads, and a last read that filters with an exact bound.
#ifndef GSORT_CUDA_TOPK_ROWS_CUH_
#define GSORT_CUDA_TOPK_ROWS_CUH_

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/topk/filter.cuh"
#include "cuda/topk/problem.h"
#include "cuda/topk/sort.cuh"

namespace gsort_internal::topk {

// What a block knows of its row. In shared memory: on the threads' stacks it would be hundreds of copies, and each
// access a trip to L2. One thread writes to it, between barriers.
template <class U, class C>
struct RowsBlock {
  Row<U> row;
  RowsPlan plan;
  uint64_t k;      // of this row
  uint64_t begin;  // of its results
  Sink<C> sink;
  uint32_t *histogram;
  C *buffer;
  C *sorted;
  Scratch<C> scratch;

  // Every thread calls it.
  __device__ __forceinline__ void open_sink(C *items, uint32_t room, C most) {
    __syncthreads();
    if (threadIdx.x == 0) {
      scratch.count = 0;
      sink = {items, room, &scratch.count, most, nullptr, 0, nullptr};
    }
    __syncthreads();
  }
};

// Filters the row into the buffer; returns how many passed (perhaps more than the buffer holds).
template <class U, class C>
__device__ __noinline__ uint32_t rows_filter(RowsBlock<U, C> &block, C bound) {
  block.open_sink(block.buffer, block.plan.buffer_items, bound);
  filter_row<U, C>(block.row, {0, 1, kVectorsThread}, block.sink);
  __syncthreads();
  return block.scratch.count;
}

// The whole row, four elements a thread under way at once.
template <class U, class C>
__device__ __forceinline__ void rows_load(const Row<U> &row_in, C *buffer) {
  const Row<U> row = row_in;
  const uint32_t items = static_cast<uint32_t>(row.items);
  for (uint32_t first = threadIdx.x; first < items; first += 4 * blockDim.x) {
    U raw[4];
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t at = first + j * blockDim.x;
      raw[j] = __ldg(row.data + (at < items ? at : first));
    }
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t at = first + j * blockDim.x;
      if (at < items) buffer[at] = (static_cast<C>(row.codec.encode(raw[j])) << row.index_bits) | at;
    }
  }
}

// Brings at least k, at most buffer_items composites into the buffer, all of the row's best k among them.
template <class U, class C>
__device__ uint32_t rows_collect(RowsBlock<U, C> &block) {
  const RowsPlan &plan = block.plan;
  if (block.row.items <= plan.direct_items) {
    rows_load(block.row, block.buffer);
    __syncthreads();
    return static_cast<uint32_t>(block.row.items);
  }
  // A second sample is far cheaper than exact selection, and two samples that mislead far rarer than one.
  const uint32_t sample_items = static_cast<uint32_t>(plan.sample.items);
  for (uint32_t attempt = 0; attempt < 2 && sample_items != 0; ++attempt) {
    const uint64_t seed = clock_seed();
    C *const buffer = block.buffer;
    for (uint32_t i = threadIdx.x; i < sample_items; i += 4 * blockDim.x)
      draw_four<C>(block.row, seed, 0, i, blockDim.x, sample_items, [&](uint32_t at, C item) { buffer[at] = item; });
    __syncthreads();
    const uint64_t rank = plan.sample.rank;
    const C bound = block_select<C>(ArraySource<C>{buffer}, sample_items, rank, rank / 8 + 1, block.histogram,
                                    plan.bin_bits, block.scratch);
    const uint32_t count = rows_filter(block, bound);
    if (count >= block.k && count <= plan.buffer_items) return count;
  }
  const C bound = block_select<C>(RowSource<U, C>{block.row}, block.row.items, block.k, 0, block.histogram,
                                  plan.bin_bits, block.scratch);
  return rows_filter(block, bound);
}

// Sorts the best k of the buffer's `count` composites to the front of block.sorted.
template <class U, class C>
__device__ void rows_order(RowsBlock<U, C> &block, uint32_t count) {
  const uint32_t sorted_items = block.plan.sorted_items;
  C bound = ~C{0};
  if (count > sorted_items)
    bound = block_select<C>(ArraySource<C>{block.buffer}, count, block.k, sorted_items - block.k, block.histogram,
                            block.plan.bin_bits, block.scratch);
  // No composite is greater than the padding, so that padding never pushes an element out of the first k.
  for (uint32_t i = threadIdx.x; i < sorted_items; i += blockDim.x) block.sorted[i] = ~C{0};
  block.open_sink(block.sorted, sorted_items, bound);
  const Sink<C> sink = block.sink;
  for (uint32_t i = threadIdx.x; i - threadIdx.x < count; i += blockDim.x)
    sink.append(i < count, i < count ? block.buffer[i] : C{0});
  block_sort(block.sorted, sorted_items);
}

// Sets up the block's next row, the `turn`-th. False: there is none. By one thread.
template <class U, class C>
__device__ __forceinline__ bool rows_next(const Problem<U> &problem, uint64_t turn, RowsBlock<U, C> &block) {
  const bool ragged = problem.ragged.offsets != nullptr;
  uint64_t r = blockIdx.x + turn * gridDim.x;
  const bool any = ragged ? rows_ticket(problem.ragged, r) : r < problem.rows;
  if (!any) return false;
  block.row = problem_row(problem, r);
  block.k = min_of(problem.k, block.row.items), block.begin = r * problem.k;
  if (!ragged) return true;
  block.plan.sorted_items = rows_sorted_items(block.k);
  if (block.row.items > block.plan.direct_items)
    block.plan.sample = rows_sample(block.row.items, block.k, block.plan.buffer_items);
  return true;
}

template <class U, class C>
__global__ __launch_bounds__(1024, 1) void topk_rows_kernel(const __grid_constant__ Problem<U> problem,
                                                            const __grid_constant__ RowsPlan plan) {
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ RowsBlock<U, C> block;
  static_assert(sizeof block <= kScratchBytes, "the plan leaves room for it");
  if (threadIdx.x == 0) {
    block.plan = plan;
    block.histogram = reinterpret_cast<uint32_t *>(dynamic);
    block.buffer = reinterpret_cast<C *>(dynamic + (uint64_t{4} << plan.bin_bits));
    block.sorted = block.buffer + plan.buffer_items;
  }
  wait_for_kernel_before();
  for (uint64_t turn = 0;; ++turn) {
    const bool any = threadIdx.x == 0 && rows_next(problem, turn, block);
    if (__syncthreads_or(any) == 0) return;
    rows_order(block, rows_collect(block));
    for (uint64_t i = threadIdx.x; i < block.k; i += blockDim.x)
      write_composite<U, C>(problem.output, block.row, block.begin + i, block.sorted[i]);
    write_missing(problem.output, block.begin + block.k, block.begin + problem.k, threadIdx.x, blockDim.x);
    __syncthreads();
  }
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_ROWS_CUH_
