// SPDX-License-Identifier: MIT OR Apache-2.0
// What the finish of the stable MSD sort does in cells between splitters whose words crowd in some digits: words of one
// key are put in order by their places, and where others crowd, all get new digits, by splitters of the cell's own.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_CROWDS_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_CROWDS_CUH_

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/groups.cuh"
#include "cuda/sort/msd/stable_cuts.cuh"
#include "cuda/sort/msd/stable_order.cuh"
#include "cuda/sort/msd/window_sort.cuh"

namespace gsort_internal::sort::msd {

constexpr uint32_t kStableBitmapWords = kStableFinishItems / 32;  // a bit for each word of a cell

// Digits that have more than kStableNeighboursMax words, and where these lie.
struct StableCrowds {
  static constexpr uint32_t kMost = kStableFinishItems / (kStableNeighboursMax + 1);
  static constexpr uint32_t kOneKey = 1u << 15;  // beside the begin of a group
  uint32_t listed;                               // 0 where there are none
  uint32_t unequal;                              // words of listed groups of several keys
  bool respread;                                 // digits are those of the cell's own splitters
  uint32_t groups[kMost];                        // begin, kOneKey or not, and size in the upper half; 0: done
  uint32_t ordered[kStableBitmapWords];          // words that are where they belong
  uint32_t starts[kStableBitmapWords];           // first words of the digits, where these are the cell's own

  static __device__ __forceinline__ bool bit(const uint32_t *bitmap, uint32_t at) {
    return (bitmap[at / 32] >> at % 32 & 1) != 0;
  }
};

// The words of a cell, and what they are put in order with. By all threads of a block.
template <class U, uint32_t kThreads>
struct StableCrowdSorter {
  static constexpr uint32_t kItems = kStableFinishItems / kThreads;
  static constexpr uint32_t kSample = 2 * kStableBinsMax;  // words
  static constexpr uint32_t kSubDigitBits = kFinishBits - 8;

  U *words;
  uint32_t count, place_bits;
  StableCrowds &crowds;
  uint32_t *counters;  // of digits, places behind the scan; then bitmaps
  uint64_t *tree;      // room for kSample words
  uint32_t *warp_totals;

  // Every crowded digit is listed, and whether its words are of one key. Returns whether there are any.
  __device__ __forceinline__ bool list() const {
    for (uint32_t i = threadIdx.x; i < kStableBitmapWords; i += kThreads) crowds.ordered[i] = 0;
    if (threadIdx.x == 0) crowds.listed = 0, crowds.unequal = 0;
    __syncthreads();
    list_own_digits();
    __syncthreads();
    const uint32_t listed = crowds.listed;
    for (uint32_t i = threadIdx.x / 32; i < listed; i += kThreads / 32) {
      const uint32_t begin = crowds.groups[i] & 0xffffu, size = crowds.groups[i] >> 16;
      const U first = words[begin];
      bool differ = false;
      for (uint32_t at = begin + lane_id(); at < begin + size; at += 32)
        differ |= ((words[at] ^ first) >> place_bits) != 0;
      differ = __any_sync(kFullWarp, differ);
      if (lane_id() != 0) continue;
      if (differ)
        atomicAdd(&crowds.unequal, size);
      else
        crowds.groups[i] |= StableCrowds::kOneKey;
    }
    if (listed != 0) __syncthreads();
    return listed != 0;
  }

  // Of neighbouring digits, four at a time.
  __device__ __forceinline__ void list_own_digits() const {
    constexpr uint32_t kOwn = kFinishDigits / kThreads;
    static_assert(kOwn % 4 == 0, "whole vectors");
    const uint32_t first = threadIdx.x * kOwn;
    uint32_t begin = counters[first];
    const auto end_digit = [&](uint32_t end) {
      if (end - begin > kStableNeighboursMax)
        crowds.groups[atomicAdd(&crowds.listed, 1u)] = begin | (end - begin) << 16;
      begin = end;
    };
#pragma unroll
    for (uint32_t i = 0; i < kOwn; i += 4) {
      const uint4 places = reinterpret_cast<const uint4 *>(counters + first)[i / 4];
      if (i != 0) end_digit(places.x);
      end_digit(places.y);
      end_digit(places.z);
      end_digit(places.w);
    }
    end_digit(first + kOwn < kFinishDigits ? counters[first + kOwn] : count);
  }

  // Digits of some words by the tree: the part, and where the word lies in it.
  template <uint32_t kSome>
  __device__ __forceinline__ void find_digits(const U *some, uint32_t (&digits)[kSome]) const {
    find_parts(tree, some, digits);
#pragma unroll
    for (uint32_t i = 0; i < kSome; ++i) {
      const uint32_t part = digits[i];
      const U least = part == 0 ? 0 : tree[part_node(part)] + 1;
      const U last = part + 1 == kStableBinsMax ? static_cast<U>(~U{0}) : tree[part_node(part + 1)];
      const uint32_t bits = bit_width(static_cast<U>(last - least));
      const uint32_t shift = bits > kSubDigitBits ? bits - kSubDigitBits : 0;
      digits[i] = part << kSubDigitBits | static_cast<uint32_t>((some[i] - least) >> shift);
    }
  }

  // The cell's own splitters: every second word of a sample, which lies in the order of the old digits.
  __device__ __forceinline__ void make_tree() const {
    for (uint32_t i = threadIdx.x; i < kSample; i += kThreads) tree[i] = words[i * count / kSample];
    __syncthreads();
    network_sort<ByBlock>(tree, kSample);
    static_assert(kThreads >= kStableBinsMax, "a thread a part");
    const uint64_t start = threadIdx.x < kStableBinsMax ? tree[2 * threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x != 0 && threadIdx.x < kStableBinsMax) tree[part_node(threadIdx.x)] = start - 1;
    for (uint32_t i = threadIdx.x; i < kFinishDigits; i += kThreads) counters[i] = 0;
    for (uint32_t i = threadIdx.x; i < kStableBitmapWords; i += kThreads) crowds.starts[i] = 0;
    __syncthreads();
  }

  // Sorts the words by new digits.
  __device__ __forceinline__ void respread() const {
    make_tree();
    constexpr uint32_t kSome = 6;
    static_assert(kItems % kSome == 0, "whole rounds");
    U own[kItems];
    uint32_t places[kItems];  // digit, and number within it in the upper half
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i)
      own[i] = i * kThreads + threadIdx.x < count ? words[i * kThreads + threadIdx.x] : 0;
#pragma unroll
    for (uint32_t begin = 0; begin < kItems; begin += kSome) {
      if (begin * kThreads >= count) break;
      uint32_t digits[kSome];
      find_digits(own + begin, digits);
#pragma unroll
      for (uint32_t i = 0; i < kSome; ++i)
        if ((begin + i) * kThreads + threadIdx.x < count)
          places[begin + i] = digits[i] | atomicAdd(&counters[digits[i]], 1u) << 16;
    }
    __syncthreads();
    scan_finish_counters<kThreads>(counters, warp_totals);
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
      if (i * kThreads + threadIdx.x >= count) break;
      const uint32_t begin = counters[places[i] & 0xffffu], number = places[i] >> 16;
      words[begin + number] = own[i];
      if (number == 0) atomicOr(&crowds.starts[begin / 32], 1u << begin % 32);
    }
    if (threadIdx.x == 0) crowds.respread = true;
    __syncthreads();
  }

  __device__ __forceinline__ void mark_places(U *group, uint32_t size, uint32_t *bitmap, uint32_t rank,
                                              uint32_t threads) const {
    const U mask = static_cast<U>((U{1} << place_bits) - 1);
    for (uint32_t i = rank; i < size; i += threads) {
      const uint32_t place = static_cast<uint32_t>(group[i] & mask);
      atomicOr(&bitmap[place / 32], 1u << place % 32);
    }
  }
  // Writes the words of the places that one word of the bitmap has.
  __device__ __forceinline__ void write_places(U *group, U key, uint32_t number, uint32_t bits, uint32_t &at) const {
    for (; bits != 0; bits &= bits - 1)
      group[at++] = key | (number * 32 + static_cast<uint32_t>(__ffs(static_cast<int>(bits))) - 1);
  }
  __device__ __forceinline__ U key_of(U word) const { return static_cast<U>(word >> place_bits << place_bits); }

  // Words of one key differ in their places alone: these are marked in a bitmap and read from it. By one warp.
  __device__ __forceinline__ void order_by_places(U *group, uint32_t size, uint32_t *bitmap) const {
    constexpr uint32_t kOwn = kStableBitmapWords / 32;
    static_assert(kOwn * 32 == kStableBitmapWords, "lanes have equally many words of the bitmap");
    for (uint32_t i = lane_id(); i < kStableBitmapWords; i += 32) bitmap[i] = 0;
    const U key = key_of(group[0]);
    __syncwarp();
    mark_places(group, size, bitmap, lane_id(), 32);
    __syncwarp();
    uint32_t own = 0;
    for (uint32_t i = 0; i < kOwn; ++i) own += static_cast<uint32_t>(__popc(bitmap[lane_id() * kOwn + i]));
    uint32_t at = warp_inclusive_sum(own) - own;
    for (uint32_t i = 0; i < kOwn; ++i)
      write_places(group, key, lane_id() * kOwn + i, bitmap[lane_id() * kOwn + i], at);
    __syncwarp();
  }

  // The same by the block.
  __device__ __forceinline__ void order_by_places_together(U *group, uint32_t size) const {
    static_assert(kThreads >= kStableBitmapWords, "a thread a word");
    const U key = key_of(group[0]);
    if (threadIdx.x < kStableBitmapWords) counters[threadIdx.x] = 0;
    __syncthreads();
    mark_places(group, size, counters, threadIdx.x, kThreads);
    __syncthreads();
    const uint32_t bits = threadIdx.x < kStableBitmapWords ? counters[threadIdx.x] : 0;
    uint32_t total;
    uint32_t at = block_exclusive_sum<kThreads>(static_cast<uint32_t>(__popc(bits)), warp_totals, total);
    write_places(group, key, threadIdx.x, bits, at);
    __syncthreads();
  }

  // Puts the words of all listed digits where they belong: those of a few hundred words by a warp each.
  __device__ __forceinline__ void order_listed() const {
    constexpr uint32_t kWarpWords = 512;
    uint32_t *const bitmap = counters + threadIdx.x / 32 * kStableBitmapWords;
    static_assert(kThreads / 32 * kStableBitmapWords <= kFinishDigits, "bitmaps take the counters' room");
    for (uint32_t i = threadIdx.x / 32; i < crowds.listed; i += kThreads / 32) {
      const uint32_t begin = crowds.groups[i] & (StableCrowds::kOneKey - 1), size = crowds.groups[i] >> 16;
      for (uint32_t at = begin + lane_id(); at < begin + size; at += 32)
        atomicOr(&crowds.ordered[at / 32], 1u << at % 32);
      if (size > kWarpWords) continue;
      if ((crowds.groups[i] & StableCrowds::kOneKey) != 0)
        order_by_places(words + begin, size, bitmap);
      else if (size <= kRegisterGroup)
        sort_group_in_registers(words + begin, size);
      else
        network_sort<ByWarp>(words + begin, size);
      __syncwarp();
      if (lane_id() == 0) crowds.groups[i] = 0;
    }
    __syncthreads();
    for (uint32_t i = 0; i < crowds.listed; ++i) {
      const uint32_t group = crowds.groups[i], begin = group & (StableCrowds::kOneKey - 1);
      if (group == 0) continue;
      if ((group & StableCrowds::kOneKey) != 0)
        order_by_places_together(words + begin, group >> 16);
      else
        network_sort<ByBlock>(words + begin, group >> 16);
    }
    __syncthreads();
  }

  // Behind list(). Where a fourth of the words crowd though they are of several keys, new digits are quicker than
  // networks.
  __device__ __forceinline__ void order() const {
    if (crowds.unequal > count / 4) {
      respread();
      list();
    }
    order_listed();
  }
};

// Place of words[i] among its neighbours of the same digit of the cell's own.
template <class U>
__device__ __forceinline__ uint32_t place_between_starts(const U *words, uint32_t i, uint32_t count,
                                                         const uint32_t *starts) {
  const U word = words[i];
  uint32_t place = i;
  for (uint32_t at = i; !StableCrowds::bit(starts, at);) place -= words[--at] > word;
  for (uint32_t at = i + 1; at < count && !StableCrowds::bit(starts, at); ++at) place += words[at] < word;
  return place;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_CROWDS_CUH_
