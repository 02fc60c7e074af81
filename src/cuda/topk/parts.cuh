// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows longer than the registers of a block: each part of a row is a row of bound_rows.cuh, whose best k come
// into the workspace in order; a block merges those of a row. Two sorted runs become one of the best k by a comparison
// of each with the other's mirror image, and a bitonic merge of what is left.
//
// Work whatever the data, but for what bound_rows.cuh says.
#ifndef GSORT_CUDA_TOPK_PARTS_CUH_
#define GSORT_CUDA_TOPK_PARTS_CUH_

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/lane_sort.cuh"
#include "cuda/topk/taken_rows.cuh"
#include "cuda/topk/warp.cuh"
#include "cuda/topk/widened.cuh"

namespace gsort_internal::topk {

// The best of parts, and where results go.
template <class Key>
struct PartsProblem {
  WidenedProblem<Key> problem;  // of whole rows
  const unsigned char *values;  // of part s from place s * k on
  const uint32_t *indices;      // within the part
};

// A row and its parts, the first of which is number `first` of all.
struct RowParts {
  uint64_t row, items, first;
  uint32_t parts;
};

// Row number i of those that have parts. parts = 0: there is none.
template <class Key>
__device__ __forceinline__ RowParts row_parts(const PartsProblem<Key> &p, uint64_t i) {
  const Ragged &ragged = p.problem.ragged;
  if (ragged.offsets == nullptr) return {i, p.problem.columns, i * p.problem.parts_of_row, p.problem.parts_of_row};
  if (i >= rows_on_lists(ragged, kListSplit, kListSplit)) return {0, 0, 0, 0};
  const uint64_t entry = ragged.lists[kListSplit][i], row = split_entry_row(entry);
  const uint64_t items = ragged.offsets[row + 1] - ragged.offsets[row];
  return {row, items, split_entry_part(entry), parts_of_row(items)};
}

// Loads the best of a part in descending order, behind paddings, which are the greatest composite: all that there is
// where there is no such part.
template <uint32_t kEach, class Key, class S>
__device__ __forceinline__ void load_best(S (&best)[kEach], const PartsProblem<Key> &p, const RowParts &row,
                                          uint32_t part) {
  const uint32_t k = part < row.parts ? static_cast<uint32_t>(p.problem.k) : 0;
  const uint64_t begin = (row.first + part) * p.problem.k, index_begin = part_begin(row.items, row.parts, part);
  const WidenedRow<Key> values = {p.values + begin * p.problem.key_bytes, k, p.problem.key_bytes, p.problem.codec};
  with_loader(values, [&](const auto &loader) {
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i) {
      const uint32_t place = 32 * kEach - 1 - (lane_id() * kEach + i);
      best[i] = ~S{0};
      if (place >= k) continue;
      const Key key = loader.encode(values.codec, __ldcg(loader.data + place));
      best[i] = static_cast<S>(key) << WarpTypes<Key>::kIndexBits | (index_begin + __ldcg(p.indices + begin + place));
    }
  });
}

// other: descending. Leaves the best of both, ascending.
template <uint32_t kEach, class S>
__device__ __forceinline__ void merge_best(S (&best)[kEach], const S (&other)[kEach]) {
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) best[i] = other[i] < best[i] ? other[i] : best[i];
#pragma unroll 1
  for (uint32_t distance = 16; distance > 0; distance /= 2)
    exchange_lanes<false>(best, distance, (lane_id() & distance) == 0);
  order_in_lane<kEach / 2>(best);
}

// A block a row: each of its warps merges some of the parts, then half of the warps what the others have.
template <class Key, uint32_t kEach>
__global__ __launch_bounds__(kMergeWarpsMax *
                             32) void topk_merge_parts_kernel(const __grid_constant__ PartsProblem<Key> p) {
  if constexpr (!kClustersHere) return;  // see parts_fit()
  using S = typename WarpTypes<Key>::S;
  __shared__ S runs[kMergeWarpsMax / 2][32 * kEach];
  wait_for_kernel_before();
  const RowParts row = row_parts(p, blockIdx.x);
  if (row.parts == 0) return;
  const uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
  S best[kEach], other[kEach];
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) best[i] = other[i] = ~S{0};
#pragma unroll 1
  for (uint32_t part = warp;; part += warps) {
    S next[kEach];  // on its way meanwhile
    load_best(next, p, row, part);
    if (part != warp) merge_best(best, other);
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i) other[i] = next[i];
    if (part >= row.parts) break;
  }
#pragma unroll 1
  for (uint32_t half = warps / 2; half > 0; half /= 2) {
    if (warp >= half && warp < 2 * half) {
#pragma unroll
      for (uint32_t i = 0; i < kEach; ++i) runs[warp - half][lane_id() * kEach + i] = best[i];
    }
    __syncthreads();
    if (warp < half) {
#pragma unroll
      for (uint32_t i = 0; i < kEach; ++i) other[i] = runs[warp][32 * kEach - 1 - (lane_id() * kEach + i)];
      merge_best(best, other);
    }
    __syncthreads();
  }
  if (warp != 0) return;
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) runs[0][lane_id() * kEach + i] = best[i];
  __syncwarp();
  const uint32_t k = static_cast<uint32_t>(p.problem.k);
#pragma unroll 1
  for (uint32_t place = lane_id(); place < k; place += 32) {
    const S one = runs[0][place];
    widened_write(p.problem, row.row * k + place,
                  p.problem.codec.decode(static_cast<Key>(one >> WarpTypes<Key>::kIndexBits)),
                  static_cast<uint32_t>(one));
  }
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_PARTS_CUH_
