// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of many rows: one block a row, candidates in shared memory.
//
// Work for a row of n elements, whatever the data: two samples and reads that filter; if both samples misled, exact
// selection by at most (key bits + index bits) / 11 + 2 more reads, and a last read that filters with an exact bound.
#ifndef GSORT_CUDA_KERNELS_TOPK_ROWS_CUH_
#define GSORT_CUDA_KERNELS_TOPK_ROWS_CUH_

#include "cuda/kernels/topk_filter.cuh"
#include "cuda/kernels/topk_sort.cuh"
#include "cuda/launch_topk.h"

namespace gsort_internal {

template <class C>
struct TopkRowsShared {
  uint32_t *histogram;
  C *buffer;
  C *sorted;
};

// Filters the row into the buffer; returns how many passed (perhaps more than the buffer holds).
template <class U, class C>
__device__ uint32_t topk_rows_filter(const TopkRow<U> &row, const TopkRowsShared<C> &shared, uint32_t buffer_items,
                                     C bound, TopkScratch<C> &scratch) {
  if (threadIdx.x == 0) scratch.count = 0;
  __syncthreads();
  const TopkSink<C> sink{shared.buffer, buffer_items, &scratch.count, bound, nullptr, 0, nullptr};
  topk_filter_row<U, C>(row, {0, 1, kTopkVectorsThread}, sink);
  __syncthreads();
  const uint32_t count = scratch.count;
  __syncthreads();
  return count;
}

// The whole row, four elements a thread under way at once.
template <class U, class C>
__device__ __forceinline__ void topk_rows_load(const TopkRow<U> &row, C *buffer) {
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
__device__ uint32_t topk_rows_collect(const TopkRow<U> &row, uint64_t k, const TopkRowsPlan &plan,
                                      const TopkRowsShared<C> &shared, TopkScratch<C> &scratch) {
  if (row.items <= plan.direct_items) {
    topk_rows_load(row, shared.buffer);
    __syncthreads();
    return static_cast<uint32_t>(row.items);
  }
  // A second sample is far cheaper than exact selection, and two samples that mislead far rarer than one.
  const uint32_t sample_items = static_cast<uint32_t>(plan.sample.items);
  for (uint32_t attempt = 0; attempt < 2 && sample_items != 0; ++attempt) {
    const uint64_t seed = topk_clock_seed();
    for (uint32_t i = threadIdx.x; i < sample_items; i += 4 * blockDim.x)
      topk_draw_four<C>(row, seed, 0, i, blockDim.x, sample_items,
                        [&](uint32_t at, C item) { shared.buffer[at] = item; });
    __syncthreads();
    const C bound = topk_block_select<C>(TopkArraySource<C>{shared.buffer}, sample_items, plan.sample.rank,
                                         plan.sample.rank / 8 + 1, shared.histogram, plan.bin_bits, scratch);
    const uint32_t count = topk_rows_filter<U, C>(row, shared, plan.buffer_items, bound, scratch);
    if (count >= k && count <= plan.buffer_items) return count;
  }
  const C bound =
      topk_block_select<C>(TopkRowSource<U, C>{row}, row.items, k, 0, shared.histogram, plan.bin_bits, scratch);
  return topk_rows_filter<U, C>(row, shared, plan.buffer_items, bound, scratch);
}

// Sorts the best k of the buffer's `count` composites to the front of shared.sorted.
template <class C>
__device__ void topk_rows_order(const TopkRowsShared<C> &shared, uint32_t count, uint64_t k, uint32_t sorted_items,
                                uint32_t bin_bits, TopkScratch<C> &scratch) {
  C bound = ~C{0};
  if (count > sorted_items)
    bound = topk_block_select<C>(TopkArraySource<C>{shared.buffer}, count, k, sorted_items - k, shared.histogram,
                                 bin_bits, scratch);
  if (threadIdx.x == 0) scratch.count = 0;
  // No composite is greater than the padding, so that padding never pushes an element out of the first k.
  for (uint32_t i = threadIdx.x; i < sorted_items; i += blockDim.x) shared.sorted[i] = ~C{0};
  __syncthreads();
  const TopkSink<C> sink{shared.sorted, sorted_items, &scratch.count, bound, nullptr, 0, nullptr};
  for (uint32_t i = threadIdx.x; i - threadIdx.x < count; i += blockDim.x)
    sink.append(i < count, i < count ? shared.buffer[i] : C{0});
  topk_block_sort(shared.sorted, sorted_items);
}

template <class C>
__device__ __forceinline__ TopkRowsShared<C> topk_rows_shared(unsigned char *dynamic, const TopkRowsPlan &plan) {
  TopkRowsShared<C> shared;
  shared.histogram = reinterpret_cast<uint32_t *>(dynamic);
  shared.buffer = reinterpret_cast<C *>(dynamic + (uint64_t{4} << plan.bin_bits));
  shared.sorted = shared.buffer + plan.buffer_items;
  return shared;
}

// The best k of one row, 1 <= k <= the row's elements.
template <class U, class C>
__device__ __noinline__ void topk_rows_row(const TopkRow<U> &row, uint64_t k, const TopkRowsPlan &plan,
                                           const TopkRowsShared<C> &shared, TopkScratch<C> &scratch,
                                           const TopkOutput<U> &output, uint64_t output_begin) {
  const uint32_t count = topk_rows_collect<U, C>(row, k, plan, shared, scratch);
  topk_rows_order(shared, count, k, plan.sorted_items, plan.bin_bits, scratch);
  for (uint64_t i = threadIdx.x; i < k; i += blockDim.x)
    topk_write<U, C>(output, row, output_begin + i, shared.sorted[i]);
  __syncthreads();
}

// The next row of the ragged rows that blocks do, the same for all threads: long ones first. False: there is none.
__device__ inline bool topk_rows_next(const TopkRagged &ragged, uint64_t &row) {
  __shared__ uint64_t ticket;
  __syncthreads();  // all have read the last one
  if (threadIdx.x == 0) ticket = atomicAdd(ragged.counters + 3, 1ull);
  __syncthreads();
  const uint64_t shorter = ragged.counters[0], at = ticket;
  const uint64_t longer = ragged.counters[1] < kTopkRaggedLongMany ? 0 : ragged.counters[1];
  if (at >= longer + shorter) return false;
  row = at < longer ? ragged.lists[1][at] : ragged.lists[0][at - longer];
  return true;
}

template <class U, class C>
__device__ __forceinline__ void topk_rows_ragged(const TopkProblem<U> &problem, const TopkRowsPlan &plan,
                                                 const TopkRowsShared<C> &shared, TopkScratch<C> &scratch) {
  uint64_t r;
  while (topk_rows_next(problem.ragged, r)) {
    const TopkRow<U> row = topk_problem_row(problem, r);
    const uint64_t k = topk_min(problem.k, row.items), begin = r * problem.k;
    TopkRowsPlan mine = plan;
    mine.sorted_items = topk_rows_sorted_items(k);
    if (row.items > plan.direct_items) mine.sample = topk_rows_sample(row.items, k, plan.buffer_items);
    topk_rows_row<U, C>(row, k, mine, shared, scratch, problem.output, begin);
    topk_fill(problem.output, begin + k, begin + problem.k, threadIdx.x, blockDim.x);
  }
}

template <class U, class C>
__global__ __launch_bounds__(1024, 1) void topk_rows_kernel(const __grid_constant__ TopkProblem<U> problem,
                                                            const __grid_constant__ TopkRowsPlan plan) {
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ TopkScratch<C> scratch;
  const TopkRowsShared<C> shared = topk_rows_shared<C>(dynamic, plan);
  if (problem.ragged.offsets != nullptr) {
    if (*problem.ragged.error == 0) topk_rows_ragged<U, C>(problem, plan, shared, scratch);
    return;
  }
  for (uint64_t r = blockIdx.x; r < problem.rows; r += gridDim.x)
    topk_rows_row<U, C>(topk_problem_row(problem, r), problem.k, plan, shared, scratch, problem.output, r * problem.k);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_TOPK_ROWS_CUH_
