// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of many short rows: a warp a row, without a block barrier. The row's keys lie in shared memory; histograms of 8
// bits of their range choose, ballots gather in the order of the indices, a bitonic network in registers sorts.
//
// Work whatever the data: the histograms look at (key bits / 8) times the row at most.
#ifndef GSORT_CUDA_TOPK_WARP_CUH_
#define GSORT_CUDA_TOPK_WARP_CUH_

#include "cuda/primitive/lane_sort.cuh"
#include "cuda/topk/common.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {

constexpr uint32_t kWarpBins = 256;

// How a warp holds keys of U: K in shared memory, and composites S of key and index to be sorted.
template <class U>
struct WarpTypes {
  using K = uint32_t;
  using S = uint64_t;
  static constexpr uint32_t kIndexBits = 32;
};
template <>
struct WarpTypes<uint64_t> {
  using K = uint64_t;
  using S = Wide;
  static constexpr uint32_t kIndexBits = 64;
};

// One warp's row and its part of shared memory.
template <class U>
struct WarpRow {
  using K = typename WarpTypes<U>::K;
  using S = typename WarpTypes<U>::S;

  const U *in;
  uint32_t items, padded;  // padded: up to a multiple of 32; places from `items` on hold the greatest key
  uint32_t lane;
  K *keys;              // shared: `padded`, or more for the places of a sort
  uint32_t *histogram;  // shared: kWarpBins; the same bytes as `chosen`
  S *chosen;            // shared: kWarpSortMax and one more for every lane
};

// Loads and encodes the row and tells the least and the greatest of its keys.
template <class U>
__device__ __forceinline__ void warp_load(const WarpRow<U> &row, const KeyCodec<U> &codec,
                                          typename WarpTypes<U>::K &least, typename WarpTypes<U>::K &most) {
  using K = typename WarpTypes<U>::K;
  constexpr uint32_t kAhead = 8;
  least = ~K{0}, most = 0;
  for (uint32_t first = row.lane; first < row.padded; first += 32 * kAhead) {
    U raw[kAhead];
#pragma unroll
    for (uint32_t j = 0; j < kAhead; ++j) {
      const uint32_t at = first + 32 * j;
      raw[j] = __ldg(row.in + (at < row.items ? at : row.items - 1));
    }
#pragma unroll
    for (uint32_t j = 0; j < kAhead; ++j) {
      const uint32_t at = first + 32 * j;
      const K key = codec.encode(raw[j]);
      least = key < least ? key : least, most = key > most ? key : most;
      if (at < row.padded) row.keys[at] = at < row.items ? key : ~K{0};
    }
  }
  least = warp_least(least), most = warp_greatest(most);
  __syncwarp();
}

// What is taken: keys under `low`, and of the keys in [low, high] the first `ties` by index. With `sift` not 0, of
// these the best `sift`, and there are 32 at most.
template <class K>
struct WarpBound {
  K low, high;
  uint32_t ties, sift;
};

// The bin in which the running count reaches `need`, told to all lanes: 8 neighbouring bins a lane.
__device__ __forceinline__ Bin warp_find_bin(const uint32_t *histogram, uint32_t lane, uint32_t need) {
  const uint4 a = reinterpret_cast<const uint4 *>(histogram)[2 * lane];
  const uint4 b = reinterpret_cast<const uint4 *>(histogram)[2 * lane + 1];
  const uint32_t counts[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  uint32_t sum = 0;
#pragma unroll
  for (uint32_t j = 0; j < 8; ++j) sum += counts[j];
  const uint32_t upto = warp_inclusive_sum(sum);
  const int owner = __ffs(static_cast<int>(__ballot_sync(kFullWarp, upto >= need))) - 1;
  uint32_t before = upto - sum, bin = 0, count = 0;
#pragma unroll
  for (uint32_t j = 0; j < 8; ++j) {
    if (count != 0 && before + count >= need) continue;
    before += count, bin = 8 * lane + j, count = counts[j];
  }
  return {__shfl_sync(kFullWarp, bin, owner), __shfl_sync(kFullWarp, before, owner),
          __shfl_sync(kFullWarp, count, owner)};
}

// Takes at least k and at most `room` keys. 1 <= k <= room, k <= items.
template <class U>
__device__ __forceinline__ WarpBound<typename WarpTypes<U>::K> warp_choose(const WarpRow<U> &row, uint32_t k,
                                                                           uint32_t room,
                                                                           typename WarpTypes<U>::K least,
                                                                           typename WarpTypes<U>::K most) {
  using K = typename WarpTypes<U>::K;
  const uint32_t range_bits = bit_width(static_cast<uint64_t>(most - least));
  uint32_t shift = range_bits > 8 ? range_bits - 8 : 0, need = k;
  K low = least;
  for (;;) {
    uint4 *const clear = reinterpret_cast<uint4 *>(row.histogram) + 2 * row.lane;
    clear[0] = uint4{}, clear[1] = uint4{};
    __syncwarp();
#pragma unroll 4
    for (uint32_t at = row.lane; at < row.items; at += 32) {
      const K key = row.keys[at], digit = static_cast<K>(key - low) >> shift;
      if (key >= low && digit < kWarpBins) shared_count(row.histogram + static_cast<uint32_t>(digit));
    }
    __syncwarp();
    const Bin found = warp_find_bin(row.histogram, row.lane, need);
    __syncwarp();  // before the counters are cleared again
    const uint32_t before = static_cast<uint32_t>(found.before), count = static_cast<uint32_t>(found.count);
    low = static_cast<K>(low + (static_cast<K>(found.bin) << shift)), need -= before;
    // The last bin may reach past the greatest number there is.
    const K width = (K{1} << shift) - 1, high = most - low < width ? most : static_cast<K>(low + width);
    if (k - need + count <= room) return {low, high, count, 0};
    if (shift == 0) return {low, high, need, 0};
    if (count <= 32) return {low, high, count, need};  // to sort these few is less than to look at the row again
    shift = shift > 8 ? shift - 8 : 0;
  }
}

// Sorts 32 N composites, number lane * N + i in mine[i] afterwards.
template <uint32_t N, class S>
__device__ __forceinline__ void warp_sort_items(S (&mine)[N]) {
  sort_in_lane(mine);
  merge_lanes<false>(mine, 32);
}

// Gathers what is taken, in the order of the indices, and returns how many.
template <class U>
__device__ __forceinline__ uint32_t warp_gather(const WarpRow<U> &row,
                                                const WarpBound<typename WarpTypes<U>::K> &bound) {
  using K = typename WarpTypes<U>::K;
  using S = typename WarpTypes<U>::S;
  const uint32_t before_lane = (1u << row.lane) - 1;
  uint32_t taken = 0, ties = 0;
#pragma unroll 4
  for (uint32_t at = row.lane; at < row.padded; at += 32) {
    const K key = row.keys[at];
    const bool tie = key >= bound.low && key <= bound.high && at < row.items;
    const uint32_t tied = __ballot_sync(kFullWarp, tie);
    const bool take = key < bound.low || (tie && ties + __popc(tied & before_lane) < bound.ties);
    const bool later = tie && bound.sift != 0;
    const uint32_t all = __ballot_sync(kFullWarp, take && !later);
    const uint32_t place = later ? kWarpSortMax + ties + __popc(tied & before_lane) : taken + __popc(all & before_lane);
    if (take) row.chosen[place] = (static_cast<S>(key) << WarpTypes<U>::kIndexBits) | at;
    taken += __popc(all), ties += __popc(tied);
  }
  __syncwarp();
  if (bound.sift == 0) return taken;
  S few[1] = {row.lane < ties ? row.chosen[kWarpSortMax + row.lane] : ~S{0}};
  warp_sort_items(few);
  if (row.lane < bound.sift) row.chosen[taken + row.lane] = few[0];
  __syncwarp();
  return taken + bound.sift;
}

// Sorts the `count` composites chosen, count <= 32 N; afterwards number r lies at r + r / N (no two lanes then store to
// one bank).
template <uint32_t N, class S>
__device__ __forceinline__ void warp_sort(S *chosen, uint32_t count, uint32_t lane) {
  S mine[N];
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) mine[i] = i * 32 + lane < count ? chosen[i * 32 + lane] : ~S{0};
  __syncwarp();
  warp_sort_items(mine);
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) chosen[lane * (N + 1) + i] = mine[i];
  __syncwarp();
}

// The same order in 32 bits, a third of the work: 24 bits of every key's distance from the least (`shift` less bits
// than there are), then its place among the chosen, which are in the order of the indices where their keys are equal.
// Afterwards number r's place is in the lower 8 bits of places[r + r / N]. False: bits that were left out would have
// mattered. The keys are overwritten.
template <uint32_t N, class U>
__device__ __forceinline__ bool warp_sort_places(const WarpRow<U> &row, uint32_t count, typename WarpTypes<U>::K least,
                                                 uint32_t shift, uint32_t *places) {
  using K = typename WarpTypes<U>::K;
  uint32_t mine[N];
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) {
    const uint32_t place = i * 32 + row.lane;
    mine[i] = ~0u;  // only place 255 can reach it, and then there is no padding
    if (place >= count) continue;
    const K key = static_cast<K>(row.chosen[place] >> WarpTypes<U>::kIndexBits);
    mine[i] = (static_cast<uint32_t>(static_cast<K>(key - least) >> shift) << 8) | place;
  }
  __syncwarp();
  warp_sort_items(mine);
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) places[row.lane * (N + 1) + i] = mine[i];
  __syncwarp();
  if (shift == 0) return true;
  bool wrong = false;
  for (uint32_t r = row.lane; r + 1 < count; r += 32)
    wrong |= row.chosen[places[r + 1 + (r + 1) / N] & 255] < row.chosen[places[r + r / N] & 255];
  return !__any_sync(kFullWarp, wrong);
}

template <class U>
__device__ __forceinline__ void warp_put(const Problem<U> &problem, uint64_t at, typename WarpTypes<U>::S item) {
  write_element(problem.output, at, problem.codec.decode(static_cast<U>(item >> WarpTypes<U>::kIndexBits)),
                static_cast<uint32_t>(item));
}

// Sorts the `count` chosen, the greatest of them not above `high`, and writes the best k.
template <uint32_t N, class U>
__device__ __forceinline__ void warp_finish(const WarpRow<U> &row, uint32_t count, uint32_t k,
                                            typename WarpTypes<U>::K least, typename WarpTypes<U>::K high,
                                            const Problem<U> &problem, uint64_t begin) {
  if constexpr (N > 1) {
    uint32_t *const places = reinterpret_cast<uint32_t *>(row.keys);
    const uint32_t bits = bit_width(static_cast<uint64_t>(high - least));
    if (warp_sort_places<N>(row, count, least, bits > 24 ? bits - 24 : 0, places)) {
      for (uint32_t r = row.lane; r < k; r += 32) warp_put(problem, begin + r, row.chosen[places[r + r / N] & 255]);
      return;
    }
  }
  warp_sort<N>(row.chosen, count, row.lane);
  for (uint32_t r = row.lane; r < k; r += 32) warp_put(problem, begin + r, row.chosen[r + r / N]);
}

// The best element alone.
template <class U>
__device__ __forceinline__ void warp_best(const WarpRow<U> &row, typename WarpTypes<U>::K least,
                                          const Problem<U> &problem, uint64_t begin) {
  uint32_t at = row.lane;
  while (at < row.items && row.keys[at] != least) at += 32;
  at = warp_least(at);
  if (row.lane == 0) write_element(problem.output, begin, problem.codec.decode(static_cast<U>(least)), at);
}

// The best k of a row; 1 <= k <= items, k <= kWarpSortMax. Results go to places from `begin` on.
template <class U>
__device__ __forceinline__ void warp_row(const WarpRow<U> &row, uint32_t k, const Problem<U> &problem, uint64_t begin) {
  typename WarpTypes<U>::K least, most;
  warp_load(row, problem.codec, least, most);
  if (k == 1) return warp_best(row, least, problem, begin);
  const uint32_t room = k <= 32 ? 32 : k <= 128 ? 128 : 256;
  WarpBound<typename WarpTypes<U>::K> bound{least, most, row.items, 0};
  if (row.items > room) bound = warp_choose(row, k, room, least, most);
  const uint32_t count = warp_gather(row, bound);
  if (room == 32)
    warp_finish<1>(row, count, k, least, bound.high, problem, begin);
  else if (room == 128)
    warp_finish<4>(row, count, k, least, bound.high, problem, begin);
  else
    warp_finish<8>(row, count, k, least, bound.high, problem, begin);
}

// Room for the longest row in the shared memory of one warp, in bytes.
template <class U>
__host__ __device__ constexpr uint32_t warp_bytes(uint32_t items) {
  // The places of a sort lie where the keys were.
  const uint32_t keys = items < kWarpSortMax + 32 ? kWarpSortMax + 32 : (items + 31) / 32 * 32;
  return keys * static_cast<uint32_t>(sizeof(typename WarpTypes<U>::K)) +
         (kWarpSortMax + 32) * static_cast<uint32_t>(sizeof(typename WarpTypes<U>::S));
}

template <class U>
__device__ __forceinline__ WarpRow<U> warp_place(unsigned char *shared, uint32_t items_max, const Row<U> &source) {
  static_assert((kWarpSortMax + 32) * sizeof(typename WarpTypes<U>::S) >= kWarpBins * 4,
                "the counters fit where the chosen lie later");
  WarpRow<U> row;
  unsigned char *const mine = shared + (threadIdx.x >> 5) * warp_bytes<U>(items_max);
  row.in = source.data, row.items = static_cast<uint32_t>(source.items);
  row.padded = (row.items + 31) / 32 * 32, row.lane = threadIdx.x & 31;
  row.chosen = reinterpret_cast<typename WarpTypes<U>::S *>(mine);
  row.histogram = reinterpret_cast<uint32_t *>(mine);
  row.keys = reinterpret_cast<typename WarpTypes<U>::K *>(row.chosen + kWarpSortMax + 32);
  return row;
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_WARP_CUH_
