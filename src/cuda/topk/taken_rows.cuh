// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows that a kernel takes: all, where they have one length; of rows with offsets those on some of the lists that
// ragged.cuh makes.
//
// Kernels that take rows from lists, and those of the rows on none, run beside each other. The blocks of the first wait
// for the list's kernel before they let the next one begin; the others let it begin at once, and wait for the one they
// follow at their end: so none ends before it.
#ifndef GSORT_CUDA_TOPK_TAKEN_ROWS_CUH_
#define GSORT_CUDA_TOPK_TAKEN_ROWS_CUH_

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/topk/ragged_plan.h"

namespace gsort_internal::topk {

// How many there are on lists [first, last], fewer than 2^32 as each has more than 128 elements; none where offsets
// were wrong.
__device__ __forceinline__ uint32_t rows_on_lists(const Ragged &ragged, uint32_t first, uint32_t last) {
  const bool right = *ragged.error == 0;  // all loads under way at once
  uint64_t rows = 0;
  for (uint32_t list = first; list <= last; ++list) rows += ragged.counters[list];
  return right ? static_cast<uint32_t>(rows) : 0;
}

// Number i of them, those of the last list first.
__device__ __forceinline__ uint64_t row_on_lists(const Ragged &ragged, uint32_t first, uint32_t last, uint64_t i) {
  for (uint32_t list = last; list > first; --list) {
    const uint64_t rows = ragged.counters[list];
    if (i < rows) return ragged.lists[list][i];
    i -= rows;
  }
  return ragged.lists[first][i];
}

__device__ __forceinline__ void begin_beside(const Ragged &ragged) {
  if (ragged.waits) wait_for_kernel_before();
  allow_next_kernel();
}
__device__ __forceinline__ void end_beside(const Ragged &ragged) {
  if (!ragged.waits) wait_for_kernel_before();
}

// Number i of the rows on the lists that the kernel takes. Called, so that rows of one length do not wait for code that
// they do not run.
static __device__ __noinline__ uint64_t listed_row(const Ragged &ragged, uint32_t i) {
  return row_on_lists(ragged, ragged.taken.first, ragged.taken.last, i);
}

constexpr uint64_t kNoRow = ~uint64_t{0};

// Begins with it; kNoRow: there is none.
static __device__ __noinline__ uint64_t begin_listed_row(const Ragged &ragged, uint32_t i) {
  begin_beside(ragged);
  if (i < rows_on_lists(ragged, ragged.taken.first, ragged.taken.last)) return listed_row(ragged, i);
  end_beside(ragged);
  return kNoRow;
}

// Begins with number i of the rows taken: of all, where they have one length. If there is none the caller returns at
// once: rows are not done in a loop, nor under a condition, for there the compiler does not know that a warp's lanes
// are together, and asks before every shuffle.
template <class Problem>
__device__ __forceinline__ uint64_t begin_taken_row(const Problem &problem, uint32_t i) {
  if (problem.ragged.offsets != nullptr) return begin_listed_row(problem.ragged, i);
  return i < problem.rows ? i : kNoRow;
}
template <class Problem>
__device__ __forceinline__ void end_taken_row(const Problem &problem) {
  if (problem.ragged.offsets != nullptr) end_beside(problem.ragged);
}
// Its number in the call once more, which so takes no registers meanwhile.
template <class Problem>
__device__ __forceinline__ uint64_t row_taken(const Problem &problem, uint64_t i) {
  return problem.ragged.offsets == nullptr ? i : listed_row(problem.ragged, static_cast<uint32_t>(i));
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_TAKEN_ROWS_CUH_
