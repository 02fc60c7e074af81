// SPDX-License-Identifier: MIT OR Apache-2.0
// Crowded cells of 4-byte keys: those with more keys than the finish takes. A block ranks the keys of one by the digits
// of the finish, as many digits at a time as its shared memory has room for; the most frequent value is not moved, only
// counted. Of cells with more keys and few values those are counted (values.cuh).
#ifndef GSORT_CUDA_SORT_MSD_CROWDS_CUH_
#define GSORT_CUDA_SORT_MSD_CROWDS_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/counter_scan.cuh"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/group_sort.cuh"
#include "cuda/sort/msd/groups.cuh"
#include "cuda/sort/msd/state.cuh"
#include "cuda/sort/msd/values.cuh"

namespace gsort_internal::sort::msd {

constexpr uint32_t kCrowdWindowItems = 6;
constexpr uint32_t kCrowdPart = kCrowdThreads * kCrowdWindowItems;

struct RankedStorage {
  // Keys of no cell lie around the cell's, where windows end.
  uint32_t padded_keys[kWindowGroup + kCrowdKeysMax + kCrowdWindowItems + kWindowHalo];
  alignas(16) uint32_t counters[kCrowdDigits];  // counts, then places of digits
  union {
    struct {
      alignas(16) uint32_t group_counters[kCrowdThreads / 32 * kNarrowGroup];
      Groups<kCrowdKeysMax> groups;
    };
    uint32_t staged[kCrowdPart];  // once all digits are in order
  };
  uint32_t warp_totals[kCrowdThreads / 32];
};
union CrowdStorage {
  RankedStorage ranked;
  CountStorage counted;
};
static_assert(sizeof(CrowdStorage) <= kCrowdSharedBytes, "the plan counts with this size");

// The most frequent of 32 of the keys.
__device__ __forceinline__ uint32_t frequent_key(const uint32_t *keys, uint32_t count) {
  const uint32_t key = keys[__umulhi(lane_id() << 27, count)];
  uint32_t alike = 0;
#pragma unroll
  for (uint32_t i = 0; i < 32; ++i) alike += __shfl_sync(kFullWarp, key, i) == key;
  const uint32_t most = warp_greatest(alike);
  return __shfl_sync(kFullWarp, key, __ffs(static_cast<int>(__ballot_sync(kFullWarp, alike == most))) - 1);
}

// From the least to the most of the keys.
__device__ __forceinline__ KeyRange range_of_keys(const uint32_t *keys, uint32_t count, RankedStorage &storage) {
  uint32_t least = ~0u, most = 0;
  visit_keys(keys, count, [&](uint32_t key) { least = min(least, key), most = max(most, key); });
  least = warp_least(least), most = warp_greatest(most);
  if (lane_id() == 0) storage.warp_totals[threadIdx.x / 32] = least, storage.groups.huge[threadIdx.x / 32] = most;
  __syncthreads();
  least = warp_least(storage.warp_totals[lane_id()]), most = warp_greatest(storage.groups.huge[lane_id()]);
  __syncthreads();
  return {least, most - least};
}

// Digits of a range: see KeyRange::factor.
struct RangeDigits {
  uint32_t begin, factor;

  __device__ __forceinline__ uint32_t operator()(uint32_t key) const {
    return factor == 0 ? key - begin : __umulhi(key - begin, factor);
  }
};

// Keys of a cell that are the frequent one, and others that are less.
struct FrequentCounts {
  uint32_t equal, less;
};

// Counts the digits of all keys but the frequent one.
__device__ __forceinline__ FrequentCounts count_digits(const uint32_t *keys, uint32_t count, uint32_t frequent,
                                                       const RangeDigits &digits, RankedStorage &storage) {
  for (uint32_t i = threadIdx.x; i < kCrowdDigits; i += kCrowdThreads) storage.counters[i] = 0;
  __syncthreads();
  uint32_t equal = 0, less = 0;
  visit_keys(keys, count, [&](uint32_t key) {
    if (key != frequent) atomicAdd(&storage.counters[digits(key)], 1u);
    equal += key == frequent;
    less += key < frequent;
  });
  FrequentCounts all;
  block_exclusive_sum<kCrowdThreads>(equal, storage.warp_totals, all.equal);
  block_exclusive_sum<kCrowdThreads>(less, storage.warp_totals, all.less);
  return all;
}

// Replaces counts of digits by places. Ends with a barrier.
__device__ __forceinline__ void place_digits(RankedStorage &storage) {
  constexpr uint32_t kOwn = kCrowdDigits / 4 / kCrowdThreads;
  uint4 *const own = reinterpret_cast<uint4 *>(storage.counters) + kOwn * threadIdx.x;
  uint32_t sums[kOwn], sum = 0, all;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) sums[i] = own[i].x + own[i].y + own[i].z + own[i].w, sum += sums[i];
  uint32_t first = block_exclusive_sum<kCrowdThreads>(sum, storage.warp_totals, all);
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) counts_to_places(own + i, first), first += sums[i];
  __syncthreads();
}

// What a block does with a cell.
struct CrowdedCell {
  const uint32_t *keys;
  uint32_t count, frequent, others;  // others: keys that are not the frequent one
  FrequentCounts counts;
  KeyRange range;
  RangeDigits digits;
};

// Digits whose keys are ranked at a time, and the places of their first key and behind their last, among the others.
struct DigitSpan {
  uint32_t first, end, begin_place, end_place;
};

// As many digits from `first` on as there is room for; where the first has more keys, it and those that are counted by
// value with it. counters: places. Behind a barrier.
__device__ __forceinline__ DigitSpan next_digits(const CrowdedCell &cell, uint32_t first,
                                                 const RankedStorage &storage) {
  const auto place_of = [&](uint32_t digit) { return digit < kCrowdDigits ? storage.counters[digit] : cell.others; };
  const uint32_t begin = place_of(first);
  uint32_t low = first, high = kCrowdDigits + 1;  // the last that fits
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (place_of(middle) - begin <= kCrowdKeysMax ? low : high) = middle;
  }
  uint32_t end = low;
  if (low == first) {  // as many as are counted by value at a time, since that takes several looks at all keys
    const uint32_t counted = cell.digits.factor == 0 ? kValueWords : __umulhi(kValueWords, cell.digits.factor);
    end = min(first + max(counted, 1u), kCrowdDigits);
  }
  return {first, end, begin, place_of(end)};
}

// Brings the keys of the span's digits into storage, by digit, and those of a digit in order where they are many.
__device__ __forceinline__ void rank_digits(const CrowdedCell &cell, const DigitSpan &span, RankedStorage &storage) {
  uint32_t *const sorted = storage.padded_keys + kWindowGroup;
  const uint32_t ranked = span.end_place - span.begin_place;
  __syncthreads();
  if (threadIdx.x < kWindowGroup) storage.padded_keys[threadIdx.x] = 0;
  if (threadIdx.x < kCrowdWindowItems + kWindowHalo) sorted[ranked + threadIdx.x] = ~0u;
  if (threadIdx.x == 0) storage.groups.listed = storage.groups.huge_listed = 0;
  visit_keys(cell.keys, cell.count, [&](uint32_t key) {
    const uint32_t digit = cell.digits(key);
    if (key != cell.frequent && digit - span.first < span.end - span.first)
      sorted[atomicAdd(&storage.counters[digit], 1u) - span.begin_place] = key;
  });
  __syncthreads();
  if (cell.digits.factor == 0) return;
  // The counter of every digit of the span has come to the place of the next one's first key.
  for (uint32_t digit = span.first + threadIdx.x; digit < span.end; digit += kCrowdThreads) {
    const uint32_t begin = digit == span.first ? 0 : storage.counters[digit - 1] - span.begin_place;
    const uint32_t size = storage.counters[digit] - span.begin_place - begin;
    if (size > kWindowGroup) storage.groups.list(begin, size);
  }
  __syncthreads();
  sort_listed_groups<kNarrowGroup>(sorted, storage.groups, storage.group_counters);
}

// Keys of one digit that are more than there is room for: their values are counted. Leaves nothing in storage.
template <class Write>
__device__ __forceinline__ void count_digit(const CrowdedCell &cell, const DigitSpan &span, const Write &write,
                                            CountStorage &storage) {
  // The least distance from the range's begin with a digit.
  const auto first_of = [&](uint32_t digit) {
    if (cell.digits.factor == 0) return digit;
    return static_cast<uint32_t>(((uint64_t{digit} << 32) + cell.digits.factor - 1) / cell.digits.factor);
  };
  const uint32_t begin = first_of(span.first);
  const uint32_t last = span.end < kCrowdDigits ? first_of(span.end) - 1 : cell.range.last;
  __syncthreads();
  sort_values(
      cell.keys, cell.count, span.end_place - span.begin_place, {cell.range.begin + begin, last - begin},
      [&](uint32_t key) { return key != cell.frequent; },
      [&](uint32_t place, uint32_t key) { write(span.begin_place + place, key); }, storage);
}

// Writes what is ranked. write(place, key): the place among the others.
template <class Write>
__device__ __forceinline__ void write_ranked(const CrowdedCell &cell, const DigitSpan &span, const Write &write,
                                             RankedStorage &storage) {
  const uint32_t *const sorted = storage.padded_keys + kWindowGroup;
  const uint32_t ranked = span.end_place - span.begin_place;
  const bool exact = cell.digits.factor == 0;
  for (uint32_t base = 0; base < ranked; base += kCrowdPart) {
    const uint32_t part = min(kCrowdPart, ranked - base);
    if (!exact) sort_in_windows<kCrowdWindowItems, kWindowHalo>(sorted + base, storage.staged, part);
    const uint32_t *const from = exact ? sorted + base : storage.staged;
    for (uint32_t i = threadIdx.x; i < part; i += kCrowdThreads) write(span.begin_place + base + i, from[i]);
    __syncthreads();
  }
}

// A cell that one block sorts, by way of `spare` where it takes its keys more than once.
__device__ __forceinline__ void sort_crowded_cell(uint32_t *keys, uint32_t *spare, uint32_t count,
                                                  const KeyCodec<uint32_t> &codec, CrowdStorage &storage) {
  const KeyRange range = range_of_keys(keys, count, storage.ranked);
  CrowdedCell cell{keys, count, frequent_key(keys, count), 0, {}, range, {range.begin, range.factor(kCrowdDigits)}};
  cell.counts = count_digits(cell.keys, count, cell.frequent, cell.digits, storage.ranked);
  cell.others = count - cell.counts.equal;
  uint32_t *const to = cell.others > kCrowdKeysMax ? spare : keys;
  const auto write = [&](uint32_t place, uint32_t key) {
    to[place + (key > cell.frequent ? cell.counts.equal : 0)] = codec.decode(key);
  };
  bool counted = true;
  for (uint32_t digit = 0; cell.others != 0 && digit < kCrowdDigits;) {
    if (!counted) count_digits(cell.keys, count, cell.frequent, cell.digits, storage.ranked);
    __syncthreads();
    if (digit == 0 || !counted) place_digits(storage.ranked);
    const DigitSpan span = next_digits(cell, digit, storage.ranked);
    counted = span.end_place - span.begin_place <= kCrowdKeysMax;
    if (counted) {
      rank_digits(cell, span, storage.ranked);
      write_ranked(cell, span, write, storage.ranked);
    } else {
      count_digit(cell, span, write, storage.counted);
    }
    digit = span.end;
  }
  const uint32_t run = codec.decode(cell.frequent);
  for (uint32_t i = threadIdx.x; i < cell.counts.equal; i += kCrowdThreads) to[cell.counts.less + i] = run;
  if (to == keys) return;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += kCrowdThreads) keys[i] = spare[i];
}

// Sorts the listed cells, and counts the huge ones. keys: in their cells; spare: tables of huge cells, each where its
// keys lie in `keys`, and room besides. Dynamic shared memory: CrowdStorage.
template <class U>
__global__ void __launch_bounds__(kCrowdThreads, 1)
    msd_crowds_kernel(U *keys, U *spare, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kFitsHere<kCrowdSharedBytes>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  CrowdStorage &storage = *reinterpret_cast<CrowdStorage *>(shared);
  wait_for_kernel_before();
  const State<U> &state = *arguments.state;
  if (state.go == 0) return;
  const HugeCounts huge(state.huge);
  for (uint32_t item = blockIdx.x; item < state.crowded + huge.counts; item += gridDim.x) {
    if (item < state.crowded) {
      const uint32_t cell = arguments.crowded[item], place = arguments.cells[cell], count = moved_keys(arguments, cell);
      if (count > BlockShape<4>::kFinishKeysMax) sort_crowded_cell(keys + place, spare + place, count, codec, storage);
    } else {
      const uint32_t number = item - state.crowded;
      HugeCell &cell =
          arguments.huge[last_not_above(huge.cells, number, [&](uint32_t i) { return arguments.huge[i].first_count; })];
      count_huge_chunk(keys, spare, cell, number - cell.first_count, arguments, storage.counted);
    }
    __syncthreads();
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_CROWDS_CUH_
