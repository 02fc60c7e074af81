// SPDX-License-Identifier: MIT OR Apache-2.0
// Which 4-byte keys the map leaves to the LSD sort, by what its sample says about entries.
#ifndef GSORT_CUDA_SORT_MSD_MAP_RULES_CUH_
#define GSORT_CUDA_SORT_MSD_MAP_RULES_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

// Beside the keys that an entry needs room for: it begins or ends with nothing; one of its parts has more than half of
// its keys; likewise, but a fiftieth and more lies in the others.
constexpr uint32_t kOpenEnd = 1u << 31, kLumpy = 1u << 30, kTailed = 1u << 29;

// Lumpy entries with some cells' worth of keys make cells that take a block long. The LSD sort is quicker where more
// than a kLumpShare-th of the keys is in those with kLumpLeast to kLumpMost cells' worth, and cells are kLumpCellsMax
// at most, the more numerous of these where no listed values are looked for (H100, 2026-11-26: ANDs of two words of 38
// to 65 million 0.7 to 0.83 of the time, zipf of hashed rank 0.9);
// or more than a kLargeLumpShare-th in those with up to kLargeLumpMost (H200, 2026-11-23: text, 2^24 0.440 ms; ANDs of
// two words, 2^28 5.85).
constexpr float kLumpLeast = 1.4f, kLumpMost = 9.0f, kLargeLumpMost = 36.0f;
constexpr uint32_t kLumpShare = 10, kLargeLumpShare = 5;
constexpr uint32_t kLumpCellsMax = 2 * kFewShares;

// Entries of floats are the wider the greater these are: lumps lie so close together in large ones that these look
// even, and small ones show them. Likewise, where cells are few, if more than a kHiddenShare-th of the keys is in even
// entries with more than kLargeLumpMost cells' worth, and more than a kShownShare-th in lumpy ones with less. (Of f32
// 2^24: clusters 0.59 and 0.106 of the keys, zipf of hashed rank 0.46 and 0.094, hashed words 0.40 and 0.094.)
constexpr uint32_t kHiddenShare = 4, kShownShare = 12;

// Likewise where values are few, and more than a kFewValuesShare-th of the keys is in entries with kFewValuesLeast to
// kLumpMost cells' worth: cells have a few values each (2^16 values, 2^28 keys 5.14 ms).
constexpr float kFewValuesLeast = 2.8f;
constexpr uint32_t kFewValuesShare = 2;

// One entry that is so uneven that cells of it, which are equally wide, are, too: likewise, where cells are even fewer,
// if more than half of the keys are in a lumpy entry with keys beside its lump (log sizes, 2^24 0.396 ms in place of
// 0.364).
constexpr uint32_t kTailedCellsMax = 2560;

// What the rules ask for: weights and sampled keys of all entries, and of some kinds of them.
struct EntryTotals {
  uint32_t weight;
  uint32_t lumpy, large_lumpy;  // with up to kLumpMost cells' worth, and up to kLargeLumpMost
  uint32_t few_valued;          // even, with kFewValuesLeast to kLumpMost
  uint32_t large_even;          // with more than kLargeLumpMost
  uint32_t tailed;              // with half of all keys and more
};
constexpr uint32_t kEntryTotals = sizeof(EntryTotals) / sizeof(uint32_t);

// Adds an entry with `keys` sampled ones. cell: a cell's worth of them; all: of all entries.
__device__ __forceinline__ void add_entry(EntryTotals &totals, uint32_t keys, uint32_t needs, float cell,
                                          uint32_t all) {
  const auto worth = static_cast<float>(keys);
  const auto between = [&](float least, float most) { return worth > least * cell && worth < most * cell; };
  if ((needs & kLumpy) != 0) {
    if (between(kLumpLeast, kLumpMost)) totals.lumpy += keys;
    if (between(kLumpMost, kLargeLumpMost)) totals.large_lumpy += keys;
    if ((needs & kTailed) != 0 && keys > all / 2) totals.tailed += keys;
  } else {
    if (between(kFewValuesLeast, kLumpMost)) totals.few_valued += keys;
    if (worth > kLargeLumpMost * cell && keys < all) totals.large_even += keys;
  }
}

// The sums over the block, for every thread. sums: kEntryTotals words of shared memory, 0 before.
__device__ __forceinline__ EntryTotals sum_totals(const EntryTotals &mine, uint32_t *sums) {
  const uint32_t own[kEntryTotals] = {mine.weight,     mine.lumpy,      mine.large_lumpy,
                                      mine.few_valued, mine.large_even, mine.tailed};
#pragma unroll
  for (uint32_t i = 0; i < kEntryTotals; ++i) {
    const uint32_t sum = warp_sum(own[i]);
    if (lane_id() == 0 && sum != 0) atomicAdd(&sums[i], sum);
  }
  __syncthreads();
  return {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]};
}

// Whether the sampled keys are of a kind that the LSD sort is quicker with. Among many keys, those of listed values
// (frequent.cuh) are not, for they are not moved.
__device__ __forceinline__ bool is_for_passes(const Arguments<uint32_t> &arguments, const EntryTotals &totals,
                                              uint32_t sampled) {
  const uint32_t cells = usual_shares(arguments.plan.cell_bits);
  const bool few = cells <= kFewShares;
  const bool many = arguments.plan.takes_frequent && __ldcg(&arguments.state->listed) == 0;
  if ((few || (cells <= kLumpCellsMax && !arguments.plan.takes_frequent)) && totals.lumpy > sampled / kLumpShare)
    return true;
  if (few && totals.lumpy + totals.large_lumpy > sampled / kShownShare && totals.large_even > sampled / kHiddenShare)
    return true;
  if (cells <= kTailedCellsMax && totals.tailed != 0) return true;
  if ((few || many) && totals.large_lumpy > sampled / kLargeLumpShare) return true;
  return many && arguments.state->few_values != 0 && totals.few_valued > sampled / kFewValuesShare;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_MAP_RULES_CUH_
