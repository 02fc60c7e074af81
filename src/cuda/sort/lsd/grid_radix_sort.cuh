// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable radix sort of an input of which every block of a grid holds its share: all passes in one cooperative
// launch. In a pass a block ranks its share by the digit and tells its counts to all; behind one barrier of the grid
// every block adds up what lies before its own, and writes its share, digit by digit, to where it belongs; behind
// another it reads its next share.
//
// How long that takes does not depend on the keys, but that bits in which no two of them differ have no pass, and that
// keys alone that spread evenly need but one pass, by their leading bits: what has the same is a cell then, which a
// block of another kernel finishes on chip (msd/finish.cuh).
#ifndef GSORT_CUDA_SORT_LSD_GRID_RADIX_SORT_CUH_
#define GSORT_CUDA_SORT_LSD_GRID_RADIX_SORT_CUH_

#include <cooperative_groups.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/digit_rank.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/lsd/grid_cells.cuh"
#include "cuda/sort/lsd/grid_share.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::lsd {

// This thread's part of the words that all blocks add to in a pass, cleared.
template <class U>
__device__ __forceinline__ void clear_group_counts(const GridParams<U> &params, uint32_t begin, uint32_t words) {
  const uint32_t thread = blockIdx.x * kGridThreads + threadIdx.x;
  for (uint32_t i = thread; i < words; i += gridDim.x * kGridThreads) params.group_counts[begin + i] = 0;
}

// How many keys of each digit lie in all blocks, and in those before this one: from the groups' counts and those of the
// blocks of its own group.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ void add_up_counts(const GridParams<U> &params, GridStorage<U, V, kRows> &storage,
                                              const uint32_t *group_counts) {
  const uint32_t word = threadIdx.x % (kDigitBins / 2), group = threadIdx.x / (kDigitBins / 2);
  const uint32_t own_group = blockIdx.x / kGridGroupBlocks;
  const uint2 totals = __ldcg(reinterpret_cast<const uint2 *>(group_counts) + group * (kDigitBins / 2) + word);
  uint32_t counts[kGridGroupBlocks / kGridGroups];
#pragma unroll
  for (uint32_t i = 0; i < kGridGroupBlocks / kGridGroups; ++i) {
    const uint32_t block = own_group * kGridGroupBlocks + i * kGridGroups + group;
    counts[i] = block < blockIdx.x ? __ldcg(params.counts + block * (kDigitBins / 2) + word) : 0;
  }
  uint2 before = group < own_group ? totals : make_uint2(0, 0);
#pragma unroll
  for (uint32_t i = 0; i < kGridGroupBlocks / kGridGroups; ++i) {
    before.x += counts[i] & 0xffffu;
    before.y += counts[i] >> 16;
  }
  reinterpret_cast<uint2 *>(storage.totals[group])[word] = totals;
  reinterpret_cast<uint2 *>(storage.before[group])[word] = before;
  __syncthreads();
}

// Returns the place in the output of the first key of all of the thread's digit.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ uint32_t find_first_places(GridStorage<U, V, kRows> &storage) {
  const uint32_t digit = threadIdx.x;
  uint32_t total = 0, before = 0, inclusive = 0, place = 0;
  if (digit < kDigitBins) {
#pragma unroll
    for (uint32_t group = 0; group < kGridGroups; ++group) {
      total += storage.totals[group][digit];
      before += storage.before[group][digit];
    }
    inclusive = warp_inclusive_sum(total);
    if (lane_id() == 31) storage.digit_sums[digit / 32] = inclusive;
  }
  __syncthreads();
  if (digit < kDigitBins) {
    place = inclusive - total;
#pragma unroll
    for (uint32_t warp = 0; warp < kDigitBins / 32; ++warp)
      if (warp < digit / 32) place += storage.digit_sums[warp];
    storage.first_place[digit] = place + before - storage.rank.run_begin[digit];
  }
  __syncthreads();
  return place;
}

// Bits in which the share's keys differ from the first key of all, for all blocks to read.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ void note_varying(GridStorage<U, V, kRows> &storage, const Share &share,
                                             const U (&keys)[kRows], U first_key) {
  uint64_t varying = 0;
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row)
    if (share.first_item() + row * 32 < share.items && row < share.rows) varying |= keys[row] ^ first_key;
  varying = warp_or(varying);
  if (lane_id() == 0) storage.varying[threadIdx.x / 32] = varying;
}

template <class U, class V, uint32_t kRows>
__device__ __forceinline__ void publish_varying(const GridParams<U> &params, const GridStorage<U, V, kRows> &storage) {
  if (threadIdx.x >= 32) return;
  const uint64_t varying = warp_or(storage.varying[threadIdx.x]);
  if (threadIdx.x == 0) params.varying[blockIdx.x] = varying;
}

// Behind a barrier of the grid. Ends with one of the block.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ uint64_t gather_varying(const GridParams<U> &params, GridStorage<U, V, kRows> &storage) {
  static_assert(kGridBlocksMax == 128, "four warps read them");
  if (threadIdx.x < kGridBlocksMax) {
    const uint64_t varying = warp_or(threadIdx.x < gridDim.x ? __ldcg(params.varying + threadIdx.x) : 0);
    if (lane_id() == 0) storage.varying[threadIdx.x / 32] = varying;
  }
  __syncthreads();
  return storage.varying[0] | storage.varying[1] | storage.varying[2] | storage.varying[3];
}

template <class U, class V, uint32_t kRows>
__device__ __forceinline__ void place_values(const GridParams<U> &params, GridStorage<U, V, kRows> &storage,
                                             const Share &share, const void *source, bool made_up,
                                             const PackedPlaces<kRows> &places) {
  if constexpr (GridStorage<U, V, kRows>::kHasValues) {
    V values[kRows];
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t i = share.first_item() + row * 32;
      if (row < share.rows && i < share.items)
        values[row] =
            made_up ? static_cast<V>(share.begin + i) : __ldcg(static_cast<const V *>(source) + share.begin + i);
    }
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row)
      if (row < share.rows && share.first_item() + row * 32 < share.items)
        storage.values[places.get(row)] = values[row];
  }
}

// The share in the order of digits, to where it belongs.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ void store_share(const GridParams<U> &params, const GridStorage<U, V, kRows> &storage,
                                            const Share &share, uint32_t shift, uint32_t target, bool last) {
  U *const keys = params.keys[1 + target];
  const bool store_keys = !last || params.keys_wanted, plain = !last || params.codec.is_identity();
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    const uint32_t place = row * kGridThreads + threadIdx.x;
    if (place < share.items) {
      const U key = storage.keys[place];
      const uint32_t to = storage.first_place[digit_of(key, shift)] + place;
      if (store_keys) keys[to] = plain ? key : params.codec.decode(key);
      if constexpr (GridStorage<U, V, kRows>::kHasValues)
        store_final(last ? params.final_values : FinalValues::kStore, params.values[1 + target], to,
                    storage.values[place]);
    }
  }
}

template <uint32_t kRows, class U>
__device__ __forceinline__ void load_share(const GridParams<U> &params, const Share &share, const U *source, bool first,
                                           U (&keys)[kRows]) {
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    const uint32_t i = share.first_item() + row * 32;
    keys[row] = static_cast<U>(~U{0});  // behind all others, and the last of the last share
    if (row < share.rows && i < share.items) {
      keys[row] = __ldcg(source + share.begin + i);
      if (first) keys[row] = params.codec.encode(keys[row]);
    }
  }
}

// The keys go to shared memory in the order of their digits, the digits' counts to all blocks. Behind a barrier of the
// block, which before_adding() may make one of the grid.
template <class U, class V, uint32_t kRows, class BeforeAdding>
__device__ __forceinline__ void sort_share(const GridParams<U> &params, GridStorage<U, V, kRows> &storage,
                                           const Share &share, const U (&keys)[kRows], uint32_t shift,
                                           uint32_t *group_counts, PackedPlaces<kRows> &places,
                                           BeforeAdding before_adding) {
  uint16_t *const counters = storage.rank.counters[threadIdx.x / 32];
  rank_rows<kRows>(keys, share.rows, shift, counters, places);
  __syncthreads();
  before_adding();
  scan_counters<true>(storage.rank, [&](uint32_t pair, uint32_t low, uint32_t high) {
    params.counts[blockIdx.x * (kDigitBins / 2) + pair] = low | high << 16;
    uint32_t *const group = group_counts + blockIdx.x / kGridGroupBlocks * kDigitBins + 2 * pair;
    atomicAdd(group, low);
    atomicAdd(group + 1, high);
  });
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    if (row < share.rows) {
      const uint32_t place = counters[digit_of(keys[row], shift)] + places.get(row);
      storage.keys[place] = keys[row];
      places.reset(row, place);
    }
  }
}

// Chooses the first pass by a look at a sample. False: the keys are left to another sort.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ bool choose_first_pass(const GridParams<U> &params, GridStorage<U, V, kRows> &storage,
                                                  GridPass<U> &pass) {
  const GridView view = look_at_sample(params, storage);
  if (view.even && view.passes > kGridFewPasses) {
    pass.range_bits = view.range_bits;
    pass.shift = pass.range_bits - msd::kFoundCellBits;
    return true;
  }
  if (!params.leaves_uneven) return true;
  if (view.passes > kGridSomePasses) return false;
  if (blockIdx.x == 0 && threadIdx.x == 0) params.cells.state->sorted = 1;
  return true;
}

// Sorts the block's share by the pass's digit. Before the bits that vary are known the blocks tell each other theirs,
// once the counts that `cleared` stands for are cleared. False: the keys are left to another sort.
template <class U, class V, uint32_t kRows, class Grid, class Cleared>
__device__ __forceinline__ bool sort_by_digit(const GridParams<U> &params, GridStorage<U, V, kRows> &storage,
                                              const Share &share, GridPass<U> &pass, uint32_t *group_counts,
                                              PackedPlaces<kRows> &places, const Grid &grid, Cleared &cleared) {
  U keys[kRows];
  load_share(params, share, pass.source, pass.first, keys);
  if constexpr (kGridFindsCells<U, V>) {
    if (!pass.known && params.cells.places != nullptr && !choose_first_pass(params, storage, pass)) return false;
  }
  if (!pass.known) note_varying(storage, share, keys, params.codec.encode(__ldcg(params.keys[0])));
  sort_share(params, storage, share, keys, pass.shift, group_counts, places, [&] {
    if (pass.known) return;
    publish_varying(params, storage);
    grid.barrier_wait(std::move(cleared));
  });
  return true;
}

// Learns the bits that vary. True: the lowest digit has none, and the first pass was for nothing.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ bool skips_digits(const GridParams<U> &params, GridStorage<U, V, kRows> &storage,
                                             GridPass<U> &pass) {
  pass.left = gather_varying(params, storage);
  pass.known = true;
  if (pass.range_bits != 0 || pass.left == 0 || (pass.left & (kDigitBins - 1)) != 0) return false;
  pass.shift = lowest_bit(pass.left);
  return true;
}

// Behind the barrier at which all blocks have told their counts of cells: writes the share to where it belongs. False:
// passes are to begin, and `pass` is the first of them.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ bool fill_cells(const GridParams<U> &params, GridStorage<U, V, kRows> &storage,
                                           const Share &share, GridPass<U> &pass, const uint32_t *group_counts) {
  add_up_counts(params, storage, group_counts);
  if (!cells_are_good(params, storage, share, pass)) {
    pass.range_bits = 0;
    pass.shift = lowest_bit(pass.left);
    return false;
  }
  const uint32_t place = find_first_places(storage);
  store_share(params, storage, share, pass.shift, 0, false);
  if (blockIdx.x == 0) msd::tell_found_cells(params.cells, place, params.n, pass.range_bits);
  return true;
}

// Behind the barrier at which all blocks have told their counts: writes the share to where it belongs. True: another
// pass comes after this one, and `pass` is that.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ bool move_share(const GridParams<U> &params, GridStorage<U, V, kRows> &storage,
                                           const Share &share, GridPass<U> &pass, const uint32_t *group_counts,
                                           uint32_t round) {
  pass.left &= ~(uint64_t{kDigitBins - 1} << pass.shift);
  add_up_counts(params, storage, group_counts);
  find_first_places(storage);
  // Those of the round after the next: all blocks have read them, in the round before.
  clear_group_counts(params, (round == 0 ? kGridRounds : round) * kGridGroupWords - kGridGroupWords, kGridGroupWords);
  const uint32_t target = digits_of_bits(pass.left) % 2;
  store_share(params, storage, share, pass.shift, target, pass.left == 0);
  if (pass.left == 0) return false;
  pass.first = false;
  pass.shift = lowest_bit(pass.left);
  pass.source = params.keys[1 + target];
  pass.values = params.values[1 + target];
  return true;
}

// A cooperative launch: the barriers need all blocks at once. The input may be an output: it is read by all before the
// first barrier, and written behind it.
template <class U, class V, uint32_t kRows>
__global__ void __launch_bounds__(kGridThreads, 1)
    grid_radix_sort_kernel(const __grid_constant__ GridParams<U> params) {
  if constexpr (!kFitsHere<sizeof(GridStorage<U, V, kRows>)> || !kClustersHere) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<GridStorage<U, V, kRows> *>(shared);
  if (kGridFindsCells<U, V> && params.cells.places != nullptr && blockIdx.x == 0 && threadIdx.x == 0)
    msd::tell_no_cells(params.cells);
  const auto grid = cooperative_groups::this_grid();
  const Share share = share_of(params);
  clear_group_counts(params, 0, kGridRounds * kGridGroupWords);
  auto cleared = grid.barrier_arrive();

  GridPass<U> pass = {params.keys[0], params.values[0], true, false, 0, 0, 0};
#pragma unroll 1
  for (uint32_t round = 0;; round = round + 1 == kGridRounds ? 0 : round + 1) {
    uint32_t *const group_counts = params.group_counts + round * kGridGroupWords;
    PackedPlaces<kRows> places;
    if (!sort_by_digit(params, storage, share, pass, group_counts, places, grid, cleared)) return;
    // What the first pass reads others may write behind the barrier.
    if (pass.first) place_values(params, storage, share, pass.values, params.values_are_indices, places);
    auto arrived = grid.barrier_arrive();
    if (!pass.first) place_values(params, storage, share, pass.values, false, places);
    grid.barrier_wait(std::move(arrived));

    if (!pass.known) {
      if (skips_digits(params, storage, pass)) continue;
    }
    if constexpr (kGridFindsCells<U, V>) {
      if (pass.range_bits != 0) {
        if (fill_cells(params, storage, share, pass, group_counts) || params.leaves_uneven) return;
        continue;
      }
    }
    if (!move_share(params, storage, share, pass, group_counts, round)) return;
    grid.sync();
  }
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_GRID_RADIX_SORT_CUH_
