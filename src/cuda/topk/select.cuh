// SPDX-License-Identifier: MIT OR Apache-2.0
// The best k of a team's candidates where those are too many to count: selection by radix histograms, then a sort of
// the k by runs and merges.
#ifndef GSORT_CUDA_TOPK_SELECT_CUH_
#define GSORT_CUDA_TOPK_SELECT_CUH_

#include "cuda/primitive/memory_order.cuh"
#include "cuda/topk/common.cuh"
#include "cuda/topk/exact.cuh"
#include "cuda/topk/sort.cuh"

namespace gsort_internal::topk {

// ---- selection among candidates ----

// Calls f(composite) for each of this block's candidates: its buffer and its share of the overflow.
template <class C, class F>
__device__ __forceinline__ void for_candidates(const TeamView<C> &team, const Found &found, F &&f) {
  for (uint32_t i = threadIdx.x; i < found.mine; i += blockDim.x) f(team.area[i]);
  const uint64_t stride = uint64_t{team.blocks} * blockDim.x;
  for (uint64_t i = uint64_t{team.rank} * blockDim.x + threadIdx.x; i < found.overflow; i += stride)
    f(load_uncached(team.list_a + i));
}

// Fills list_b from `from` on with what is greater than every composite that is looked for.
template <class C>
__device__ __forceinline__ void team_pad(const TeamView<C> &team, uint64_t from, uint64_t to) {
  const uint64_t stride = uint64_t{team.blocks} * blockDim.x;
  for (uint64_t i = from + uint64_t{team.rank} * blockDim.x + threadIdx.x; i < to; i += stride) team.list_b[i] = ~C{0};
}

// Copies all candidates to list_b in any order, and padding up to `items`. team.local tells whose lie where.
template <class C>
__device__ __noinline__ void team_list_all(const TeamView<C> &team, uint64_t items) {
  const Found &found = team.found;
  const uint32_t before = team.rank == 0 ? 0 : team.local[team.rank - 1];
  for (uint32_t i = threadIdx.x; i < found.mine; i += blockDim.x) team.list_b[before + i] = team.area[i];
  const uint64_t in_buffers = found.count - found.overflow, stride = uint64_t{team.blocks} * blockDim.x;
  for (uint64_t i = uint64_t{team.rank} * blockDim.x + threadIdx.x; i < found.overflow; i += stride)
    team.list_b[in_buffers + i] = load_uncached(team.list_a + i);
  team_pad(team, found.count, items);
}

// The least candidate of all blocks.
template <class C>
__device__ C team_least(TeamView<C> &team, const Found &found) {
  C least = ~C{0}, most = 0;
  for_candidates(team, found, [&](C item) { least = item < least ? item : least; });
  block_range(least, most, *team.scratch);
  if (threadIdx.x == 0) team.least[team.rank] = least;
  team.barrier();
  for (uint32_t b = threadIdx.x; b < team.blocks; b += blockDim.x) {
    const C other = load_uncached(team.least + b);
    least = other < least ? other : least;
  }
  block_range(least, most, *team.scratch);
  return least;
}

// Copies the candidates at or under `bound`, k in all, to list_b in any order.
template <class C>
__device__ void team_gather(TeamView<C> &team, const Found &found, C bound) {
  uint64_t under = 0, under_all, count, total;
  for_candidates(team, found, [&](C item) { under += item <= bound; });
  block_scan<uint64_t>(under, under_all, *team.scratch);
  if (threadIdx.x == 0) team.counts[2 * team.rank + 1] = under_all, team.scratch->count = 0;
  team.barrier();
  count = threadIdx.x < team.blocks ? load_uncached(team.counts + 2 * threadIdx.x + 1) : 0;
  const uint64_t before = block_scan<uint64_t>(count, total, *team.scratch);
  if (threadIdx.x == team.rank) team.scratch->base = before;
  __syncthreads();
  for_candidates(team, found, [&](C item) {
    if (item <= bound) team.list_b[team.scratch->base + shared_add(&team.scratch->count, 1)] = item;
  });
  team.barrier();
}

// A composite that the best k of the candidates, and no others, are at or under.
template <class C>
__device__ __noinline__ C team_kth(TeamView<C> &team, uint64_t k) {
  team.clear_histograms();
  const Found &candidates = team.found;
  const C most = team.bound;
  C least = team_least(team, candidates);
  const uint32_t range_bits = bit_width(static_cast<C>(most - least));
  uint32_t shift = range_bits > kBinBits ? range_bits - kBinBits : 0;
  uint64_t need = k;
  for (;;) {
    team.clear_local();
    for_candidates(team, candidates, [&](C item) {
      const C digit = static_cast<C>(item - least) >> shift;
      if (item >= least && digit < kBins) shared_count(&team.local[static_cast<uint32_t>(digit)]);
    });
    __syncthreads();
    const Bin found = team.find(need);
    least += static_cast<C>(found.bin) << shift;
    need -= found.before;
    if (found.count == need || shift == 0) break;
    shift = shift > kBinBits ? shift - kBinBits : 0;
  }
  // The last bin may reach past the greatest number there is.
  const C width = (C{1} << shift) - 1;
  return most - least < width ? most : static_cast<C>(least + width);
}

// Chooses the best k of the candidates and copies them to list_b in any order.
template <class C>
__device__ __forceinline__ void team_select(TeamView<C> &team, uint64_t k) {
  team_gather(team, team.found, team_kth(team, k));
}

// ---- selection in the order of the input ----

// Where the library's sort needs the best k in the order of the input, for keys of which that pays.
template <class U, class C>
constexpr bool kMaySplit = sizeof(U) == 8 || (sizeof(U) == 4 && sizeof(C) == 8);

// A bit for every element of the row, by its index, and for every word of bits how many are set before it.
struct SplitMap {
  unsigned long long *bits;
  uint32_t *before;
  uint64_t words;

  __device__ SplitMap(void *at, uint64_t items)
      : bits(static_cast<unsigned long long *>(at)), words((items + 63) / 64) {
    before = reinterpret_cast<uint32_t *>(bits + words);
  }
  __device__ __forceinline__ void set(uint64_t index) const { atomicOr(bits + index / 64, 1ull << index % 64); }
  __device__ __forceinline__ uint64_t place(uint64_t index) const {
    const unsigned long long lower = load_uncached(bits + index / 64) & ((1ull << index % 64) - 1);
    return load_uncached(before + index / 64) + static_cast<uint32_t>(__popcll(lower));
  }
};

// Counts the bits before every word of the block's share of the map.
template <class C>
__device__ void split_count(TeamView<C> &team, const SplitMap &map) {
  const uint64_t each = (map.words + team.blocks - 1) / team.blocks, begin = min_of(each * team.rank, map.words),
                 end = min_of(begin + each, map.words);
  uint64_t sum = 0, total;
  for (uint64_t i = begin + threadIdx.x; i < end; i += blockDim.x)
    sum += static_cast<uint32_t>(__popcll(load_uncached(map.bits + i)));
  block_scan(sum, total, *team.scratch);
  if (threadIdx.x == 0) team.counts[team.rank] = total;
  team.barrier();
  uint64_t before;
  sum = threadIdx.x < team.rank ? load_uncached(team.counts + threadIdx.x) : 0;
  block_scan(sum, before, *team.scratch);
  for (uint64_t first = begin; first < end; first += blockDim.x) {
    const uint64_t i = first + threadIdx.x;
    const uint64_t count = i < end ? static_cast<uint32_t>(__popcll(load_uncached(map.bits + i))) : 0;
    const uint64_t here = before + block_scan(count, total, *team.scratch);
    if (i < end) map.before[i] = static_cast<uint32_t>(here);
    before += total;
  }
}

// As team_exact(), from the candidates: a map of their indices tells each its place, so that the row is not read again.
template <class U, class C>
__device__ __noinline__ void team_split(TeamView<C> &team, const Row<U> &row, uint64_t k, const TeamArgs<U> &args) {
  const SplitMap map(team.list_b, row.items);
  const uint64_t stride = uint64_t{team.blocks} * blockDim.x, index_mask = (uint64_t{1} << row.index_bits) - 1;
  // The choice has barriers before anybody sets a bit.
  for (uint64_t i = uint64_t{team.rank} * blockDim.x + threadIdx.x; i < map.words; i += stride) map.bits[i] = 0;
  const C bound = team_kth(team, k);
  for_candidates(team, team.found, [&](C item) {
    if (item <= bound) map.set(static_cast<uint64_t>(item) & index_mask);
  });
  team.barrier();
  split_count(team, map);
  team.barrier();
  for_candidates(team, team.found, [&](C item) {
    const uint64_t index = static_cast<uint64_t>(item) & index_mask;
    if (item <= bound)
      ordered_store<U, C>(team, row, args, map.place(index), static_cast<U>(item >> row.index_bits), index);
  });
}

// ---- sort of the k ----

// Items of the sorted run [begin, end) before `item`, which is not among them.
template <class C>
__device__ uint64_t run_rank(const C *list, uint64_t begin, uint64_t end, C item) {
  const uint64_t start = begin;
  while (begin < end) {
    const uint64_t middle = (begin + end) / 2;
    if (load_uncached(list + middle) < item)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin - start;
}

// Sorts list_b's k composites (runs by one block each, then merges of two runs, each element finding its place by a
// binary search) and writes the result.
template <class U, class C>
__device__ __noinline__ void team_order(TeamView<C> &team, const Row<U> &row, uint64_t k, const Output<U> &output,
                                        uint64_t output_begin) {
  C *const run = team.area + team.buffer_items;
  const bool single = k <= team.run_items;
  for (uint64_t begin = uint64_t{team.rank} * team.run_items; begin < k;
       begin += uint64_t{team.blocks} * team.run_items) {
    const uint32_t items = static_cast<uint32_t>(k - begin < team.run_items ? k - begin : team.run_items);
    uint32_t size = 32;
    while (size < items) size *= 2;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < size; i += blockDim.x)
      run[i] = i < items ? load_uncached(team.list_b + begin + i) : ~C{0};
    block_sort(run, size);
    for (uint32_t i = threadIdx.x; i < items; i += blockDim.x) {
      if (single)
        write_composite<U, C>(output, row, output_begin + i, run[i]);
      else
        team.list_b[begin + i] = run[i];
    }
  }
  C *from = team.list_b, *to = team.list_a;
  for (uint64_t length = team.run_items; length < k; length *= 2) {
    team.barrier();
    const bool last = 2 * length >= k;
    const uint64_t stride = uint64_t{team.blocks} * blockDim.x;
    for (uint64_t i = uint64_t{team.rank} * blockDim.x + threadIdx.x; i < k; i += stride) {
      const uint64_t run_index = i / length, sibling = (run_index ^ 1) * length;
      const uint64_t begin = sibling < k ? sibling : k, end = begin + length < k ? begin + length : k;
      const C item = load_uncached(from + i);
      const uint64_t at = (run_index & ~uint64_t{1}) * length + i % length + run_rank(from, begin, end, item);
      if (last)
        write_composite<U, C>(output, row, output_begin + at, item);
      else
        to[at] = item;
    }
    C *const swap = from;
    from = to, to = swap;
  }
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_SELECT_CUH_
