// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts the keys that some warps hold in registers in a time that does not depend on the keys: every warp sorts a run
// of its own in registers, then runs are merged two at a time. Each warp finds by search which parts of the two runs
// its own share of the result comes from (merge path: Odeh, Green, Mwassi, Shmueli, Birk, "Merge Path - Parallel
// Merging Made Simple", 2012) and merges them by a bitonic network (Batcher, "Sorting networks and their applications",
// 1968), most of whose steps are within a lane. Keys alone: stability does not matter.
#ifndef GSORT_CUDA_PRIMITIVE_MERGE_SORT_CUH_
#define GSORT_CUDA_PRIMITIVE_MERGE_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/lane_sort.cuh"
#include "cuda/primitive/ptx.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal {

// Runs are of kRows keys a lane, a power of two of at most 32.
template <uint32_t kRows>
constexpr uint32_t kRunKeys = 32 * kRows;

// Where key `i` of a team lies in shared memory: neither lanes that take neighbours nor lanes that take every
// kRows-th key meet at a bank. The place of a sum is the sum of the places of its parts: of the begin of a run, of a
// row's 32 keys, and of what is less.
template <class U>
__device__ __forceinline__ constexpr uint32_t run_place(uint32_t i) {
  return i + (i >> (sizeof(U) == 8 ? 4 : 5));
}
// The room for so many keys, a multiple of a run's.
template <class U>
__host__ __device__ constexpr uint32_t merge_room(uint32_t keys) {
  return keys + keys / (sizeof(U) == 8 ? 16 : 32);
}

// Two sorted runs side by side in shared memory.
struct TwoRuns {
  uint32_t first, second, end;  // where each begins, and where the second ends
};

// How many of the first `diagonal` keys of the merged runs come from the first one, equal keys of which come first. The
// warp's halves search for a diagonal each.
template <class U>
__device__ __forceinline__ uint32_t search_diagonal(const U *shared, const TwoRuns &runs, uint32_t diagonal) {
  constexpr uint32_t kProbes = 16;
  const uint32_t first_keys = runs.second - runs.first, second_keys = runs.end - runs.second;
  uint32_t low = diagonal > second_keys ? diagonal - second_keys : 0, high = min(diagonal, first_keys);
  const uint32_t half = lane_id() & ~(kProbes - 1), probe = lane_id() & (kProbes - 1);
  while (__any_sync(kFullWarp, low < high)) {
    const uint32_t step = max((high - low + kProbes - 1) / kProbes, 1u), at = low + (probe + 1) * step - 1;
    const bool is_before =
        at < high && !(shared[run_place<U>(runs.second + diagonal - 1 - at)] < shared[run_place<U>(runs.first + at)]);
    const uint32_t before = __popc(__ballot_sync(kFullWarp, is_before) >> half & 0xffffu);
    high = min(high, low + (before + 1) * step - 1);
    low += before * step;
  }
  return low;
}

// A value that the compiler takes for another one each time, so that what follows from it is worked out again rather
// than kept, for all rows, in registers that would spill.
__device__ __forceinline__ uint32_t work_out_again(uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

// A warp's lanes have a run row by row (key row * 32 + lane), or kRows neighbours each (key lane * kRows + row). begin:
// that of the run, a multiple of its length.
template <uint32_t kRows, class U>
__device__ __forceinline__ void store_neighbours(U *shared, uint32_t begin, const U (&keys)[kRows]) {
  U *const to = shared + work_out_again(run_place<U>(begin + lane_id() * kRows));
#pragma unroll
  for (uint32_t i = 0; i < kRows; ++i) to[i] = keys[i];
}
template <uint32_t kRows, class U>
__device__ __forceinline__ void load_neighbours(const U *shared, uint32_t begin, U (&keys)[kRows]) {
  const U *const from = shared + work_out_again(run_place<U>(begin + lane_id() * kRows));
#pragma unroll
  for (uint32_t i = 0; i < kRows; ++i) keys[i] = from[i];
}
template <uint32_t kRows, class U>
__device__ __forceinline__ void store_rows(U *shared, uint32_t begin, const U (&keys)[kRows]) {
  U *const to = shared + work_out_again(run_place<U>(begin + lane_id()));
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) to[run_place<U>(row * 32)] = keys[row];
}
template <uint32_t kRows, class U>
__device__ __forceinline__ void load_rows_of_run(const U *shared, uint32_t begin, U (&keys)[kRows]) {
  const U *const from = shared + work_out_again(run_place<U>(begin + lane_id()));
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) keys[row] = from[run_place<U>(row * 32)];
}

// Puts bitonic sequences of kGroup rows each, which the lanes have row by row, in order; afterwards they have them as
// neighbours. Steps between keys that lie in one lane take half as long as others, so the run goes through its room in
// shared memory for them.
template <uint32_t kGroup, uint32_t kRows, class U>
__device__ __forceinline__ void order_bitonic(U *shared, uint32_t begin, U (&keys)[kRows]) {
  order_in_lane<kGroup / 2>(keys);
#pragma unroll
  for (uint32_t distance = 16; distance >= kRows; distance /= 2)
    exchange_lanes<false>(keys, distance, (lane_id() & distance) == 0);
  store_rows<kRows>(shared, begin, keys);
  __syncwarp();
  load_neighbours<kRows>(shared, begin, keys);
  order_in_lane<kRows / 2>(keys);
  __syncwarp();
}

// Merges the sorted halves of every kGroup rows of a run, which the lanes have as neighbours.
template <uint32_t kGroup, uint32_t kRows, class U>
__device__ __forceinline__ void merge_halves(U *shared, uint32_t begin, U (&keys)[kRows]) {
  store_neighbours<kRows>(shared, begin, keys);
  __syncwarp();
  // The second half backwards.
  const U *const forth = shared + work_out_again(run_place<U>(begin + lane_id()));
  const U *const back = shared + work_out_again(run_place<U>(begin + 31 - lane_id()));
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    const uint32_t of_group = row % kGroup;
    keys[row] = of_group < kGroup / 2 ? forth[run_place<U>(row * 32)]
                                      : back[run_place<U>((row - of_group + kGroup * 3 / 2 - 1 - of_group) * 32)];
  }
  __syncwarp();
  order_bitonic<kGroup>(shared, begin, keys);
}

// Sorts a warp's run, of which its lanes have kRows keys each, in any way; it lies in shared memory afterwards.
template <uint32_t kRows, class U>
__device__ __forceinline__ void sort_run(U *shared, uint32_t begin, U (&keys)[kRows]) {
  sort_in_lane(keys);
  merge_lanes<false>(keys, 8);
  __syncwarp();  // all lanes have read what lay there before
  merge_halves<kRows / 2>(shared, begin, keys);
  merge_halves<kRows>(shared, begin, keys);
  store_neighbours<kRows>(shared, begin, keys);
}

// Warps that sort together, by themselves or beside others of their block.
struct WarpTeam {
  uint32_t warp;     // the calling one's number among them
  uint32_t barrier;  // of the block's, 1 to 15, that no others use at the time, and no other number of warps ever
  uint32_t warps;

  __device__ __forceinline__ void sync() const { sync_some(barrier, warps * 32); }
};

// Merges groups of `width` runs, two at a time, which lie in shared memory: the calling warp's part of it. All warps of
// the team call it; begins and ends with a barrier.
template <uint32_t kRows, class U>
__device__ __forceinline__ void merge_runs(const WarpTeam &team, U *shared, uint32_t runs, uint32_t width,
                                           U (&keys)[kRows]) {
  constexpr uint32_t kRun = kRunKeys<kRows>;
  const uint32_t group = team.warp & ~(2 * width - 1);
  const TwoRuns two = {group * kRun, min(group + width, runs) * kRun, min(group + 2 * width, runs) * kRun};
  const bool merges = team.warp < runs && two.second < two.end;
  if (merges) {
    const uint32_t diagonal = (team.warp - group) * kRun;
    const uint32_t cut = search_diagonal(shared, two, diagonal + (lane_id() < 16 ? 0 : kRun));
    const uint32_t first = __shfl_sync(kFullWarp, cut, 0), first_keys = __shfl_sync(kFullWarp, cut, 16) - first;
    // The second part backwards, behind the first: a bitonic sequence.
    const uint32_t from = two.first + first, last = two.second + diagonal + kRun - 1 - first;
    const uint32_t lane = work_out_again(lane_id());
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t i = row * 32 + lane;
      keys[row] = shared[run_place<U>(i < first_keys ? from + i : last - i)];
    }
  }
  team.sync();
  if (merges) {
    order_bitonic<kRows>(shared, team.warp * kRun, keys);
    store_neighbours<kRows>(shared, team.warp * kRun, keys);
  }
  team.sync();
}

// Sorts the keys of a team whose first `runs` warps have kRows a lane, in any way; rows that have none hold the
// greatest key, and are last. Afterwards lane l of the team's warp w has the keys (w * kRows + row) * 32 + l, and,
// behind a barrier, key i of all lies at run_place(i). shared: of merge_room() keys. All warps of the team call it.
template <uint32_t kRows, class U>
__device__ __forceinline__ void merge_sort(const WarpTeam &team, U *shared, uint32_t runs, U (&keys)[kRows]) {
  const uint32_t begin = team.warp * kRunKeys<kRows>;
  if (team.warp < runs) sort_run<kRows>(shared, begin, keys);
  if (runs > 1) team.sync();
#pragma unroll 1
  for (uint32_t width = 1; width < runs; width *= 2) merge_runs<kRows>(team, shared, runs, width, keys);
  __syncwarp();
  if (team.warp < runs) load_rows_of_run<kRows>(shared, begin, keys);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_MERGE_SORT_CUH_
