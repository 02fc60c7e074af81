// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of many short rows and middling k: a row lies in the registers of a warp. The best keys of some groups a lane
// give a bound that at least k keys are at or under, as in lanes.cuh; those that are, are sorted as in
// sorted_lanes.cuh.
#ifndef GSORT_CUDA_TOPK_BOUND_LANES_CUH_
#define GSORT_CUDA_TOPK_BOUND_LANES_CUH_

#include "cuda/topk/lanes.cuh"
#include "cuda/topk/sorted_lanes.cuh"

namespace gsort_internal::topk {

// kRegisters keys in each lane, in kGroups groups; k of up to half of all groups.
template <class KeyType, uint32_t kRegisterCount, uint32_t kGroupCount>
struct BoundRow {
  using Key = KeyType;
  static constexpr uint32_t kRegisters = kRegisterCount, kGroups = kGroupCount;
  static constexpr uint32_t kKeyBytes = kRegisters * sizeof(Key);                      // of a lane
  static constexpr uint32_t kBlocks = kKeyBytes == 64 ? 8 : kKeyBytes == 128 ? 7 : 4;  // that leave enough registers
  using Lanes = LanesRow<Key, 32, kRegisters>;
  using Sorted = SortedRow<Key, 32, kGroups, 32 * kRegisters>;  // room for as many as there are groups
};

// What is taken of the lane's keys, a bit each, and the row's count of it.
template <bool kTies, class Row>
__device__ __forceinline__ LanesCount bound_count(const typename Row::Lanes &row,
                                                  const LanesBound<typename Row::Lanes::Key> &bound, uint32_t &marked) {
  marked = 0;
#pragma unroll
  for (uint32_t j = 0; j < Row::kRegisters; ++j)
    marked |= static_cast<uint32_t>(lanes_takes<kTies>(row, j, bound)) << j;
  const uint32_t mine = static_cast<uint32_t>(__popc(marked)), upto = warp_inclusive_sum(mine);
  return {__shfl_sync(kFullWarp, upto, 31), upto - mine};
}

// Number i of the rows taken, which is `source`.
template <class Row>
__device__ __forceinline__ void bound_row(typename Row::Sorted &shared,
                                          const WidenedProblem<typename Row::Key> &problem, uint32_t i,
                                          const WidenedRow<typename Row::Key> &source) {
  using Sorted = typename Row::Sorted;
  using Key = typename Row::Key;
  const uint32_t k = static_cast<uint32_t>(problem.k);
  typename Row::Lanes row;
  row.inner = lane_id();
  with_loader(source, [&](const auto &loader) { lanes_load(row, source.items, source.codec, loader); });
#pragma unroll
  for (uint32_t j = 0; j < Row::kRegisters; ++j) shared.keys[row.index(j)] = row.keys[j];
  typename Row::Lanes::Key best[Row::kGroups];
  lanes_groups(row, best);
  LanesBound<typename Row::Lanes::Key> bound{lanes_group<32>(best, k - 1), 0};
  const Key least = lanes_group<32>(best, 0);
  uint32_t marked;
  LanesCount found = bound_count<false, Row>(row, bound, marked);
  const uint32_t bits = bit_width(static_cast<Key>(bound.key - least)), down = sorted_down<Sorted>(bits);
  if (found.taken > Sorted::kPlaces) {
    bound = lanes_narrow(row, k, bound.key, found.taken, Sorted::kPlaces);
    found = bound_count<true, Row>(row, bound, marked);
  }
  // Words of what is taken, in any order, behind those of the lanes before.
  for (uint32_t at = found.before; marked != 0; marked &= marked - 1, ++at) {
    const uint32_t index = row.index(static_cast<uint32_t>(__ffs(static_cast<int>(marked))) - 1);
    shared.words[at] = sorted_word<Sorted>(shared.keys[index] - least, down, index);
  }
  __syncwarp();
  uint32_t words[Row::kGroups];
#pragma unroll
  for (uint32_t j = 0; j < Row::kGroups; ++j)
    words[j] = j * 32 + row.inner < found.taken ? shared.words[j * 32 + row.inner] : ~0u;
  __syncwarp();
  sorted_words(shared, words, row.inner, found.taken, least, bits, down);
  sorted_write(shared, row.inner, k, problem, row_taken(problem, i) * problem.k);
}

template <class Row>
__global__ __launch_bounds__(kLanesThreads, blocks_here(kLanesThreads, Row::kBlocks)) void topk_bound_lanes_kernel(
    const __grid_constant__ WidenedProblem<typename Row::Key> problem) {
  if constexpr (!kClustersHere) return;  // see sorted_lanes_run()
  constexpr uint32_t kRows = kLanesThreads / 32;
  __shared__ typename Row::Sorted rows[kRows];
  const uint32_t i = blockIdx.x * kRows + threadIdx.x / 32;
  const uint64_t r = begin_taken_row(problem, i);
  if (r == kNoRow) return;
  bound_row<Row>(rows[threadIdx.x / 32], problem, i, widened_row(problem, r));
  end_taken_row(problem);
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_BOUND_LANES_CUH_
