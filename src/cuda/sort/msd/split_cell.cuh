// SPDX-License-Identifier: MIT OR Apache-2.0
// How a block sorts a cell of any keys on chip. A digit is where a key lies between the least and the greatest of its
// cell; where many keys share digits, each such digit is spread over as many more as it has keys.
#ifndef GSORT_CUDA_SORT_MSD_SPLIT_CELL_CUH_
#define GSORT_CUDA_SORT_MSD_SPLIT_CELL_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/big_cell.cuh"
#include "cuda/sort/msd/groups.cuh"
#include "cuda/sort/msd/pass_sort.cuh"
#include "cuda/sort/msd/split_plan.h"
#include "cuda/sort/msd/window_sort.cuh"

namespace gsort_internal::sort::msd {

// Keys that a thread has of its own in a window: an odd number, so that neighbours meet no bank conflict.
constexpr int kSplitWindowItems = 9;

template <class U>
struct SplitFinishStorage {
  union {
    uint32_t counters[kFinishDigits + 4];  // one more, that has the number of keys
    PassSortStorage<kSplitFinishThreads> passes;
  };
  U padded_keys[kWindowGroup + kSplitFinishKeysMax + kSplitWindowItems + kWindowHalo];
  uint32_t warp_totals[kSplitFinishThreads / 32];
  U warp_least[kSplitFinishThreads / 32], warp_most[kSplitFinishThreads / 32];
  uint32_t next_item;
  U scale_least;
  uint32_t count, scale_shift, scale_factor, scale_copies;
  BigCell<U> big;
  Groups<BlockShape<8>::kFinishKeysMax> groups;
};

// Maps keys from `least` on to digits of 13 bits and a fraction of 32. Where values are so few that they have digits of
// their own and others between them, lanes count in different ones of these.
template <class U>
struct SplitScale {
  U least;
  uint32_t shift, factor;
  uint32_t copies;  // of a value's counter, less 1: a power of two of them

  SplitScale() = default;
  __device__ __forceinline__ SplitScale(U least_key, U most_key) : least(least_key) {
    const U width = static_cast<U>(most_key - least_key);
    shift = sizeof(U) * 8 - bit_width(width);
    const uint32_t lead = leading(width);
    // 2^45 / (lead + 1), or a little less: at most 13 bits of digit. Never below 2^13, with which each of 2^13 values
    // or fewer has a digit of its own.
    const float parts = 35184372088832.0f / (static_cast<float>(lead) + 1.0f) * (1.0f - 0x1p-21f);
    factor = max(static_cast<uint32_t>(parts), kFinishDigits);
    const uint32_t apart = width < kFinishDigits ? kFinishDigits / (static_cast<uint32_t>(width) + 1) : 1;
    copies = apart > 32 ? 31 : apart > 2 ? (1u << (bit_width(apart - 1) - 1)) - 1 : 0;
  }
  __device__ __forceinline__ uint32_t leading(U above) const {
    return static_cast<uint32_t>(static_cast<U>(above << shift) >> (sizeof(U) * 8 - 32));
  }
  __device__ __forceinline__ uint32_t position(U key) const { return leading(static_cast<U>(key - least)); }
  __device__ __forceinline__ uint32_t digit(U key) const { return __umulhi(position(key), factor); }
  __device__ __forceinline__ uint32_t fraction(U key) const { return position(key) * factor; }
  // Of the lane's own, in the order of digits.
  __device__ __forceinline__ uint32_t counter(U key) const { return (digit(key) & ~copies) | (lane_id() & copies); }
};

// Counts a digit; lanes that share it queue up, where they are few, or count with one atomic, where a warp was seen to
// have many. Lanes without a key have no digit.
__device__ __forceinline__ uint32_t count_split_digit(uint32_t *counters, uint32_t digit, bool there, bool alike) {
  if (!alike) return there ? atomicAdd(&counters[digit], 1u) : 0;
  uint32_t place = 0;
  for (uint32_t left = __ballot_sync(kFullWarp, there), round = 0; left != 0; ++round) {
    const uint32_t leader = __ffs(static_cast<int>(left)) - 1, leading = __shfl_sync(kFullWarp, digit, leader);
    const uint32_t same = __ballot_sync(kFullWarp, there && digit == leading);
    uint32_t taken = 0;
    if (lane_id() == leader) taken = atomicAdd(&counters[leading], __popc(same));
    taken = __shfl_sync(kFullWarp, taken, leader);
    if (same >> lane_id() & 1) place = taken + __popc(same & lanes_below());
    left &= ~same;
    if (round == 3) {
      if (left >> lane_id() & 1) place = atomicAdd(&counters[digit], 1u);
      break;
    }
  }
  return place;
}

// Whether many lanes have the digit of lane 0 or of another.
__device__ __forceinline__ bool split_digits_are_alike(uint32_t digit, bool there) {
  const uint32_t first = __shfl_sync(kFullWarp, digit, 0), other = __shfl_sync(kFullWarp, digit, 13);
  return __popc(__ballot_sync(kFullWarp, there && digit == first)) >= 7 ||
         __popc(__ballot_sync(kFullWarp, there && digit == other)) >= 7;
}

template <class U>
__device__ __forceinline__ void clear_split_counters(SplitFinishStorage<U> &storage) {
#pragma unroll
  for (uint32_t i = 0; i < kFinishDigits / 4 / kSplitFinishThreads; ++i)
    reinterpret_cast<uint4 *>(storage.counters)[i * kSplitFinishThreads + threadIdx.x] = make_uint4(0, 0, 0, 0);
}

// The least and the greatest key of the cell, in every thread. Ends with a barrier before its last reads.
template <class U>
__device__ __forceinline__ void find_range(const U (&keys)[kSplitFinishItems], uint32_t count, U &least, U &most,
                                           SplitFinishStorage<U> &storage) {
  least = static_cast<U>(~U{0}), most = 0;
#pragma unroll
  for (uint32_t i = 0; i < kSplitFinishItems; ++i) {
    if (i * kSplitFinishThreads + threadIdx.x >= count) continue;
    least = min(least, keys[i]);
    most = max(most, keys[i]);
  }
  least = warp_least(least), most = warp_greatest(most);
  if (lane_id() == 0) storage.warp_least[threadIdx.x / 32] = least, storage.warp_most[threadIdx.x / 32] = most;
  __syncthreads();
  least = warp_least(storage.warp_least[lane_id()]);
  most = warp_greatest(storage.warp_most[lane_id()]);
}

// Numbers of the keys among those of their digits, packed in halves; digits likewise, of the second round.
struct SplitPlaces {
  uint32_t words[kSplitFinishItems / 2];
  __device__ __forceinline__ void put(uint32_t i, uint32_t value) {
    words[i / 2] = i % 2 == 0 ? value : __byte_perm(words[i / 2], value, 0x5410);
  }
  __device__ __forceinline__ uint32_t get(uint32_t i) const {
    return i % 2 == 0 ? words[i / 2] & 0xffffu : words[i / 2] >> 16;
  }
  // Whether a number is `keys` or more: a digit has more keys than that.
  __device__ __forceinline__ bool any_above(uint32_t keys) const {
    constexpr uint32_t kAboveThree = 0xfff8fff8u;
    uint32_t all = 0;
#pragma unroll
    for (uint32_t i = 0; i < kSplitFinishItems / 2; ++i) all |= words[i] + (kWindowGroup - keys) * 0x10001u;
    return (all & kAboveThree) != 0;
  }
};

constexpr int kSplitCrowdedThreads = 48;   // with a key that has eight before it: by chance a few
constexpr int kSplitDisorderThreads = 16;  // with neighbours out of order, of 900

// The scale as it was put into shared memory, read anew rather than kept in registers that would spill.
template <class U>
__device__ __forceinline__ SplitScale<U> scale_again(const SplitFinishStorage<U> &storage) {
  SplitScale<U> scale;
  scale.least = *const_cast<const volatile U *>(&storage.scale_least);
  scale.shift = *const_cast<const volatile uint32_t *>(&storage.scale_shift);
  scale.factor = *const_cast<const volatile uint32_t *>(&storage.scale_factor);
  scale.copies = *const_cast<const volatile uint32_t *>(&storage.scale_copies);
  return scale;
}
template <class U>
__device__ __forceinline__ uint32_t count_again(const SplitFinishStorage<U> &storage) {
  return *const_cast<const volatile uint32_t *>(&storage.count);
}

// Spreads every digit over as many digits as it has keys, and counts anew. counters: first places of digits. The cell
// is in order of the first digits already.
template <class U>
__device__ __forceinline__ void spread_digits(SplitFinishStorage<U> &storage) {
  U *const sorted = storage.padded_keys + kWindowGroup;
  const uint32_t count = count_again(storage);
  U keys[kSplitFinishItems];
  // Neighbours are alike: the lanes of a warp take keys that lie far apart, in other banks.
  static_assert((kSplitFinishKeysMax & (kSplitFinishKeysMax - 1)) == 0, "an odd factor leaves no place out");
  const auto place_of = [](uint32_t i) {
    return (i * kSplitFinishThreads + threadIdx.x) * 257 & (kSplitFinishKeysMax - 1);
  };
#pragma unroll
  for (uint32_t i = 0; i < kSplitFinishItems; ++i)
    if (place_of(i) < count) keys[i] = sorted[place_of(i)];
  SplitPlaces places, digits;
  {
    const SplitScale<U> scale = scale_again(storage);
#pragma unroll
    for (uint32_t i = 0; i < kSplitFinishItems; ++i) {
      uint32_t digit = 0;
      if (place_of(i) < count) {
        digit = scale.digit(keys[i]);
        const uint32_t begin = storage.counters[digit], size = storage.counters[digit + 1] - begin;
        digit = begin + __umulhi(scale.fraction(keys[i]), size);
      }
      digits.put(i, digit);
    }
  }
  __syncthreads();
  clear_split_counters(storage);
  __syncthreads();
  const bool alike = split_digits_are_alike(digits.get(0), place_of(0) < count);
#pragma unroll
  for (uint32_t i = 0; i < kSplitFinishItems; ++i)
    places.put(i, count_split_digit(storage.counters, digits.get(i), place_of(i) < count, alike));
  __syncthreads();
  scan_finish_counters<kSplitFinishThreads>(storage.counters, storage.warp_totals);
#pragma unroll
  for (uint32_t i = 0; i < kSplitFinishItems; ++i)
    if (place_of(i) < count) sorted[storage.counters[digits.get(i)] + places.get(i)] = keys[i];
}

// Threads that see two neighbours out of order.
template <class U>
__device__ __forceinline__ int disordered_threads(const U *sorted, uint32_t count) {
  const uint32_t first = threadIdx.x * kSplitWindowItems, end = min(first + kSplitWindowItems + 1, count);
  bool disorder = false;
  if (first < end) {
    U before = sorted[first];
    for (uint32_t i = first + 1; i < end; ++i) {
      const U key = sorted[i];
      disorder |= key < before;
      before = key;
    }
  }
  return __syncthreads_count(disorder);
}

// Sorts the digits that have neighbours out of order and more keys than the windows order, if all have few enough keys
// for a warp's registers. Returns whether they have; nothing is changed otherwise.
template <class U>
__device__ __forceinline__ bool sort_disordered_digits(U *sorted, uint32_t count, const uint32_t *counters,
                                                       Groups<BlockShape<8>::kFinishKeysMax> &groups) {
  // Several threads may find one group: it has a slot of its own, for the groups begin more than kWindowGroup apart.
  constexpr uint32_t kSlots = sizeof(groups.large) / 4;
  static_assert(kSlots <= 2 * kSplitFinishThreads, "a thread has two slots");
  for (uint32_t i = threadIdx.x; i < kSlots; i += kSplitFinishThreads) groups.large[i] = 0;
  if (threadIdx.x == 0) groups.listed = groups.huge_listed = 0;
  __syncthreads();
  const uint32_t first = threadIdx.x * kSplitWindowItems, end = min(first + kSplitWindowItems + 1, count);
  for (uint32_t i = first + 1; i < end; ++i) {
    if (!(sorted[i] < sorted[i - 1])) continue;
    uint32_t digit = 0;  // the last that begins at i - 1 or before
    for (uint32_t step = kFinishDigits / 2; step != 0; step /= 2)
      if (counters[digit + step] < i) digit += step;
    const uint32_t begin = counters[digit], size = counters[digit + 1] - begin;
    if (size > kWindowGroup) groups.large[begin / (kWindowGroup + 1)] = begin | size << 16;
    i = max(i, begin + size - 1);
  }
  __syncthreads();
  const uint32_t behind = threadIdx.x + kSplitFinishThreads;
  const uint32_t group = threadIdx.x < kSlots ? groups.large[threadIdx.x] : 0;
  const uint32_t other = behind < kSlots ? groups.large[behind] : 0;
  if (__syncthreads_or(max(group >> 16, other >> 16) > kRegisterGroup)) return false;
  if (group != 0) groups.list(group & 0xffffu, group >> 16);
  if (other != 0) groups.list(other & 0xffffu, other >> 16);
  __syncthreads();
  for (uint32_t i = threadIdx.x / 32; i < groups.listed; i += kSplitFinishThreads / 32)
    sort_group_in_registers(sorted + (groups.large[i] & 0xffffu), groups.large[i] >> 16);
  __syncthreads();
  return true;
}

// Puts all keys of a cell, behind a barrier, in order by radix passes, in place of the counters. Ends with a barrier.
template <class U>
__device__ __forceinline__ void sort_cell_by_passes(SplitFinishStorage<U> &storage) {
  sort_by_passes<kSplitFinishThreads, kSplitFinishItems>(storage.padded_keys + kWindowGroup, count_again(storage), 0,
                                                         storage.passes);
}

// Puts keys that lie in order of digits, behind a barrier, in order where a digit has many of them. Returns whether
// all is in order.
template <class U>
__device__ __noinline__ bool order_crowded_digits(bool crowded, SplitFinishStorage<U> &storage) {
  U *const sorted = storage.padded_keys + kWindowGroup;
  int disorder = disordered_threads(sorted, count_again(storage));
  if (crowded && disorder > kSplitDisorderThreads) {
    spread_digits(storage);
    __syncthreads();
    disorder = disordered_threads(sorted, count_again(storage));
  }
  if (disorder == 0) return true;
  if (sort_disordered_digits(sorted, count_again(storage), storage.counters, storage.groups)) return false;
  sort_cell_by_passes(storage);
  return true;
}

// Ranks a cell's keys by digits and moves them to their places in shared memory.
template <class U>
__device__ __forceinline__ void rank_split_cell(const U (&keys)[kSplitFinishItems], uint32_t count, SplitPlaces &places,
                                                SplitFinishStorage<U> &storage) {
  const SplitScale<U> scale = scale_again(storage);
  if (scale.copies == 0 && split_digits_are_alike(scale.digit(keys[0]), threadIdx.x < count)) {
#pragma unroll
    for (uint32_t i = 0; i < kSplitFinishItems; ++i)
      places.put(i, count_split_digit(storage.counters, scale.digit(keys[i]),
                                      i * kSplitFinishThreads + threadIdx.x < count, true));
  } else {
#pragma unroll
    for (uint32_t i = 0; i < kSplitFinishItems; ++i) {
      uint32_t place = 0;
      if (i * kSplitFinishThreads + threadIdx.x < count)
        place = atomicAdd(&storage.counters[scale.counter(keys[i])], 1u);
      places.put(i, place);
    }
  }
}

// Clears what counts the digits of a cell's keys, and puts what bounds them in order beside where they will lie.
template <class U>
__device__ __forceinline__ void open_split_cell(uint32_t count, SplitFinishStorage<U> &storage) {
  clear_split_counters(storage);
  if (threadIdx.x == 0) storage.counters[kFinishDigits] = count, storage.count = count;
  if (threadIdx.x < kWindowGroup) storage.padded_keys[threadIdx.x] = 0;
  if (threadIdx.x < kSplitWindowItems + kWindowHalo)
    storage.padded_keys[kWindowGroup + count + threadIdx.x] = static_cast<U>(~U{0});
}

// Puts the keys where their digits' places begin.
template <class U>
__device__ __forceinline__ void place_split_keys(const U (&keys)[kSplitFinishItems], uint32_t count,
                                                 const SplitPlaces &places, U *sorted, SplitFinishStorage<U> &storage) {
  const SplitScale<U> scale = scale_again(storage);
#pragma unroll
  for (uint32_t i = 0; i < kSplitFinishItems; ++i)
    if (i * kSplitFinishThreads + threadIdx.x < count)
      sorted[storage.counters[scale.counter(keys[i])] + places.get(i)] = keys[i];
}

// Orders keys of one digit, of which no digit has many where they are `few`, and `above` threads have one of a digit
// with more than a window holds.
template <class U>
__device__ __forceinline__ void order_split_digits(U *sorted, uint32_t count, bool few, int above,
                                                   SplitFinishStorage<U> &storage) {
  if (few) {
    sort_in_windows<kSplitWindowItems, kFewGroup - 1>(sorted, count);
  } else {
    if (above == 0 || !order_crowded_digits(above > kSplitCrowdedThreads, storage))
      sort_in_windows<kSplitWindowItems, kWindowHalo>(sorted, count);
  }
}

template <class U>
__device__ __forceinline__ void load_split_cell(const U *from, uint32_t count, U (&keys)[kSplitFinishItems]) {
#pragma unroll
  for (uint32_t i = 0; i < kSplitFinishItems; ++i)
    keys[i] = i * kSplitFinishThreads + threadIdx.x < count ? __ldcs(from + i * kSplitFinishThreads + threadIdx.x) : 0;
}

// Writes the cell's keys as they lie in shared memory.
template <class U>
__device__ __forceinline__ void store_split_cell(const U *sorted, U *to, const KeyCodec<U> &codec,
                                                 const SplitFinishStorage<U> &storage) {
  const uint32_t count = count_again(storage);
#pragma unroll
  for (uint32_t i = 0; i < kSplitFinishItems; ++i) {
    const uint32_t at = i * kSplitFinishThreads + threadIdx.x;
    if (at < count) to[at] = codec.decode(sorted[at]);
  }
}

// Puts the keys of a cell in order by radix passes, which takes as long however they crowd, and writes them. Keys of 4
// bytes by how far they lie above the least: as a rule a pass less. Those of 8 bytes may have bytes in which none
// differ.
template <class U>
__device__ __forceinline__ void store_by_passes(const U (&keys)[kSplitFinishItems], U *to, U width,
                                                const KeyCodec<U> &codec, SplitFinishStorage<U> &storage) {
  U *const sorted = storage.padded_keys + kWindowGroup;
  const uint32_t count = count_again(storage);
  const U base = sizeof(U) == 4 ? storage.scale_least : U{0};
#pragma unroll
  for (uint32_t i = 0; i < kSplitFinishItems; ++i) {
    const uint32_t at = i * kSplitFinishThreads + threadIdx.x;
    if (at < count) sorted[at] = static_cast<U>(keys[i] - base);
  }
  __syncthreads();
  if constexpr (sizeof(U) == 4)
    sort_by_bits<kSplitFinishThreads, kSplitFinishItems>(sorted, count, ~uint64_t{0} >> (64 - bit_width(width)),
                                                         storage.passes);
  else
    sort_cell_by_passes(storage);
#pragma unroll
  for (uint32_t i = 0; i < kSplitFinishItems; ++i) {
    const uint32_t at = i * kSplitFinishThreads + threadIdx.x;
    if (at < count_again(storage)) to[at] = codec.decode(static_cast<U>(sorted[at] + base));
  }
}

// Sorts a cell of at most kSplitFinishKeysMax keys. `to` may be `from`. by_passes: the keys crowd however they are cut,
// if they do not lie so closely that every value has a digit. Begins with a barrier.
template <class U>
__device__ __noinline__ void finish_split_cell(const U *from, U *to, uint32_t count, bool by_passes,
                                               const KeyCodec<U> &codec, SplitFinishStorage<U> &storage) {
  U *const sorted = storage.padded_keys + kWindowGroup;
  __syncthreads();
  U keys[kSplitFinishItems];
  load_split_cell(from, count, keys);
  open_split_cell(count, storage);
  bool exact;
  {
    U least, most;
    find_range(keys, count, least, most, storage);
    if (least == most) {
      if (from == to && codec.is_identity()) return;
      for (uint32_t i = threadIdx.x; i < count; i += kSplitFinishThreads) to[i] = codec.decode(least);
      return;
    }
    exact = static_cast<U>(most - least) < kFinishDigits;
    if (threadIdx.x == 0) {
      const SplitScale<U> scale(least, most);
      storage.scale_least = scale.least, storage.scale_shift = scale.shift, storage.scale_factor = scale.factor;
      storage.scale_copies = scale.copies;
    }
    __syncthreads();
    if (by_passes && !exact) return store_by_passes(keys, to, static_cast<U>(most - least), codec, storage);
  }
  SplitPlaces places;
  rank_split_cell(keys, count, places, storage);
  const bool few = !__syncthreads_or(places.any_above(kFewGroup));
  const int above = few || exact ? 0 : __syncthreads_count(places.any_above(kWindowGroup));
  scan_finish_counters<kSplitFinishThreads>(storage.counters, storage.warp_totals);
  place_split_keys(keys, count, places, sorted, storage);
  __syncthreads();
  if (!exact) order_split_digits(sorted, count, few, above, storage);
  store_split_cell(sorted, to, codec, storage);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SPLIT_CELL_CUH_
