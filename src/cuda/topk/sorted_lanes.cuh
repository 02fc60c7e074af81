// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of many short rows of which much is wanted: some lanes of a warp sort a row whole, in their registers.
//
// What is sorted are words of 32 bits: the leading bits of a key's distance from the row's least key, and its index
// below them. Where keys differ that have all of these bits in common, and come in the wrong order, neighbours change
// places; where that does not do, the row is sorted again by the bits that were left out, and then by those above them:
// as often as keys have such parts.
#ifndef GSORT_CUDA_TOPK_SORTED_LANES_CUH_
#define GSORT_CUDA_TOPK_SORTED_LANES_CUH_

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/lane_sort.cuh"
#include "cuda/topk/widened.cuh"

namespace gsort_internal::topk {

// A row of up to kItems keys, of which kKeys a lane are sorted; shared memory. kUnrolled: by steps written one after
// another.
template <class KeyType, uint32_t kLaneCount, uint32_t kKeyCount, uint32_t kItemCount = kLaneCount * kKeyCount,
          bool kIsUnrolled = true>
struct SortedRow {
  using Key = KeyType;
  static constexpr bool kUnrolled = kIsUnrolled;
  static constexpr uint32_t kLanes = kLaneCount, kKeys = kKeyCount, kPlaces = kLanes * kKeys, kItems = kItemCount;
  static constexpr uint32_t kIndexBits = bit_count(kItems - 1), kDigitBits = 32 - kIndexBits;
  static_assert((kItems & (kItems - 1)) == 0 && kPlaces <= kItems, "a word holds a digit and an index, or a place");

  // A little longer than they need be, so that the lanes of a warp's rows meet in no bank.
  Key keys[kItems + kLanes];         // by index
  uint32_t words[kPlaces + kLanes];  // by place, see word(); a list before they are sorted

  __device__ __forceinline__ uint32_t &word(uint32_t place) { return words[place + place / kKeys]; }
  __device__ __forceinline__ uint32_t index(uint32_t place) { return word(place) & (kItems - 1); }
};

// Whether neighbours with one digit lie in the wrong order.
template <class Row>
__device__ __noinline__ bool sorted_wrongly(Row &row, uint32_t inner, uint32_t items) {
  constexpr uint32_t kAtOnce = Row::kLanes < 32 ? 4 : 1;
  bool wrong = false;
#pragma unroll kAtOnce
  for (uint32_t place = inner; place + 1 < items; place += Row::kLanes) {
    const uint32_t word = row.word(place), next = row.word(place + 1);
    wrong |= (word ^ next) < Row::kItems && row.keys[word & (Row::kItems - 1)] > row.keys[next & (Row::kItems - 1)];
  }
  return wrong;
}

// Puts such neighbours in order, some rounds of which do where few have a digit in common. All lanes of the warp call
// it, which have met.
template <class Row>
__device__ __noinline__ void sorted_by_neighbours(Row &row, uint32_t inner, uint32_t items) {
  constexpr uint32_t kRounds = 6;
  __syncwarp();  // all have looked
#pragma unroll 1
  for (uint32_t round = 0; round < kRounds; ++round) {
#pragma unroll 1
    for (uint32_t place = 2 * inner + round % 2; place + 1 < items; place += 2 * Row::kLanes) {
      const uint32_t word = row.word(place), next = row.word(place + 1);
      if ((word ^ next) >= Row::kItems || row.keys[word & (Row::kItems - 1)] <= row.keys[next & (Row::kItems - 1)])
        continue;
      row.word(place) = next, row.word(place + 1) = word;
    }
    __syncwarp();
  }
}

// How many lanes of the warp have such neighbours, by the words of all lanes, which tell whether there are any
// neighbours with one digit at all. All lanes of the warp call it.
template <class Row>
__device__ __forceinline__ uint32_t sorted_wrong_lanes(Row &row, uint32_t inner, uint32_t items, bool all_bits,
                                                       const uint32_t (&words)[Row::kKeys]) {
  // Those of two lanes are looked at by the first.
  const uint32_t behind = __shfl_down_sync(kFullWarp, words[0], 1, Row::kLanes), begin = inner * Row::kKeys;
  bool close = begin + Row::kKeys < items && inner + 1 < Row::kLanes && (words[Row::kKeys - 1] ^ behind) < Row::kItems;
#pragma unroll
  for (uint32_t j = 0; j + 1 < Row::kKeys; ++j)
    close |= begin + j + 1 < items && (words[j] ^ words[j + 1]) < Row::kItems;
  if (!__any_sync(kFullWarp, close && !all_bits)) return 0;
  const bool wrong = !all_bits && sorted_wrongly(row, inner, items);
  return static_cast<uint32_t>(__popc(__ballot_sync(kFullWarp, wrong)));
}

// Sorts by all bits of the keys' distances, the lowest digit first. bits: that those of any of the warp's rows have.
// All lanes of the warp call it, which have met. Called, for hardly any row needs it.
template <class Row>
__device__ __noinline__ void sorted_by_digits(Row &row, uint32_t inner, uint32_t items, typename Row::Key least,
                                              uint32_t bits) {
  for (uint32_t down = 0; down < bits; down += Row::kDigitBits) {
    uint32_t words[Row::kKeys];
#pragma unroll
    for (uint32_t j = 0; j < Row::kKeys; ++j) {
      const uint32_t place = j * Row::kLanes + inner;
      const auto distance = static_cast<typename Row::Key>(row.keys[row.index(place)] - least);
      words[j] = place < items ? static_cast<uint32_t>(distance >> down) << Row::kIndexBits | place : ~0u;
    }
    sort_in_lane(words);
    merge_lanes<false>(words, Row::kLanes);
#pragma unroll
    for (uint32_t j = 0; j < Row::kKeys; ++j) words[j] = row.index(words[j] & (Row::kPlaces - 1));
    __syncwarp();
#pragma unroll
    for (uint32_t j = 0; j < Row::kKeys; ++j) row.word(inner * Row::kKeys + j) = words[j];
    __syncwarp();
  }
}

// Sorts the lane's words, which are of `items` keys with all others', and leaves them in shared memory. down: so many
// bits of the keys' distances from the least, of `bits`, are left out. All lanes of the warp call it.
template <class Row>
__device__ __forceinline__ void sorted_words(Row &row, uint32_t (&words)[Row::kKeys], uint32_t inner, uint32_t items,
                                             typename Row::Key least, uint32_t bits, uint32_t down) {
  sort_in_lane(words);
  merge_lanes<Row::kUnrolled>(words, Row::kLanes);
#pragma unroll
  for (uint32_t j = 0; j < Row::kKeys; ++j) row.word(inner * Row::kKeys + j) = words[j];
  __syncwarp();
  // Where many are, as of values that come often, changing places would not end soon.
  constexpr uint32_t kFewWrong = 4;
  const uint32_t wrong = sorted_wrong_lanes(row, inner, items, down == 0, words);
  if (wrong == 0) return;
  if (wrong <= kFewWrong) sorted_by_neighbours(row, inner, items);
  if (wrong > kFewWrong || __any_sync(kFullWarp, sorted_wrongly(row, inner, items)))
    sorted_by_digits(row, inner, items, least, warp_greatest(bits));
}

// Bits of distances that a word has no room for.
template <class Row>
__device__ __forceinline__ uint32_t sorted_down(uint32_t bits) {
  return bits > Row::kDigitBits ? bits - Row::kDigitBits : 0;
}
template <class Row>
__device__ __forceinline__ uint32_t sorted_word(typename Row::Key distance, uint32_t down, uint32_t index) {
  return static_cast<uint32_t>(distance >> down) << Row::kIndexBits | index;
}

// Writes the best k of a row that is sorted.
template <class Row>
__device__ __forceinline__ void sorted_write(Row &row, uint32_t inner, uint32_t k,
                                             const WidenedProblem<typename Row::Key> &problem, uint64_t begin) {
#pragma unroll 4
  for (uint32_t place = inner; place < k; place += Row::kLanes) {
    const uint32_t index = row.index(place);
    widened_write(problem, begin + place, problem.codec.decode(row.keys[index]), index);
  }
}

// ---- rows that are sorted whole ----

// Loads a row's keys to shared memory, and leaves their order there. All lanes of the warp call it.
template <class Row>
__device__ __forceinline__ void sorted_row(Row &shared, const WidenedRow<typename Row::Key> &row, uint32_t inner) {
  using Key = typename Row::Key;
  Key keys[Row::kKeys];
  with_loader(row, [&](const auto &loader) {
#pragma unroll
    for (uint32_t j = 0; j < Row::kKeys; ++j)
      keys[j] = loader.widen(loader.load(min(j * Row::kLanes + inner, row.items - 1)));
  });
  with_codec(row.codec, [&](const KeyCodec<Key> &codec) {
#pragma unroll
    for (uint32_t j = 0; j < Row::kKeys; ++j) keys[j] = codec.encode(keys[j]);
  });
  // What is behind the end is the last key once more.
  Key least = keys[0], most = keys[0];
#pragma unroll
  for (uint32_t j = 1; j < Row::kKeys; ++j) least = min(least, keys[j]), most = max(most, keys[j]);
#pragma unroll
  for (uint32_t d = Row::kLanes / 2; d > 0; d /= 2)
    least = min(least, shuffle_xor(least, d)), most = max(most, shuffle_xor(most, d));
  const uint32_t bits = bit_width(static_cast<Key>(most - least));
  const uint32_t down = sorted_down<Row>(bits);
  uint32_t words[Row::kKeys];
#pragma unroll
  for (uint32_t j = 0; j < Row::kKeys; ++j) {
    const uint32_t at = j * Row::kLanes + inner;
    shared.keys[at] = keys[j];
    words[j] = at < row.items ? sorted_word<Row>(static_cast<Key>(keys[j] - least), down, at) : ~0u;
  }
  sorted_words(shared, words, inner, row.items, least, bits, down);
}

constexpr uint32_t kSortedThreads = 128;

template <class Row>
__global__ __launch_bounds__(kSortedThreads, blocks_here(kSortedThreads, 8)) void topk_sorted_lanes_kernel(
    const __grid_constant__ WidenedProblem<typename Row::Key> problem) {
  if constexpr (!kClustersHere) return;  // see sorted_lanes_run()
  __shared__ Row rows[kSortedThreads / Row::kLanes];
  const uint32_t inner = threadIdx.x % Row::kLanes;
  const uint64_t r = (uint64_t{blockIdx.x} * kSortedThreads + threadIdx.x) / Row::kLanes;
  const bool real = r < problem.rows;
  Row &shared = rows[threadIdx.x / Row::kLanes];
  sorted_row(shared, widened_row(problem, real ? r : 0), inner);
  sorted_write(shared, inner, real ? static_cast<uint32_t>(problem.k) : 0, problem, r * problem.k);
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_SORTED_LANES_CUH_
