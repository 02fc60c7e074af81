// SPDX-License-Identifier: MIT OR Apache-2.0
// Cells of 4-byte keys that spread unevenly: a sample's weights are shared out, so that every cell has as much of them
// as every other. The range of keys is 2^kMapBits entries of equal width. An entry's word says how many eighths of
// cells lie below it, and how many are its own; these go on evenly within it. So a cell may end in the middle of an
// entry, and another may span many. Read by host and device.
#ifndef GSORT_CUDA_SORT_MSD_SHARES_H_
#define GSORT_CUDA_SORT_MSD_SHARES_H_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/sort/msd/plan.h"

namespace gsort_internal::sort::msd {

constexpr uint32_t kShareBits = 3;  // eighths of a cell
constexpr uint32_t kShareUnit = 1u << kShareBits;

// A word's lowest bits: an entry's own eighths. One with more has as many: few values are left to each of its cells
// then.
constexpr uint32_t kShareOwnBits = 13;
static_assert((5u << (kCountedBits - 2)) * kShareUnit < 1u << (32 - kShareOwnBits), "words have room for all cells");

GSORT_HOST_DEVICE uint32_t share_word(uint32_t before, uint32_t own) {
  constexpr uint32_t kMost = (1u << kShareOwnBits) - 1;
  return before << kShareOwnBits | (own < kMost ? own : kMost);
}
GSORT_HOST_DEVICE uint32_t shares_before(uint32_t word) { return word >> kShareOwnBits; }
// At most as many as there are up to the next entry.
GSORT_HOST_DEVICE uint32_t own_shares(uint32_t word) { return word & ((1u << kShareOwnBits) - 1); }

// words: those of the entries that the key may be in, words[0] being that of entry 0. Monotone in the key.
GSORT_HOST_DEVICE uint32_t shared_cell(const uint32_t *words, uint32_t key) {
  const uint32_t word = words[key >> kMapShift];
  const uint32_t within = static_cast<uint32_t>((uint64_t{key << kMapBits} * own_shares(word)) >> 32);
  return (shares_before(word) + within) >> kShareBits;
}

// The least key of a cell, or of the next one that can have any; 2^32 if there is none. words: all of them.
GSORT_HOST_DEVICE uint64_t first_key_of_cell(const uint32_t *words, uint32_t cell) {
  const uint32_t wanted = cell << kShareBits;
  uint32_t low = 0, high = kMapEntries;  // the first entry with as many before it
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (shares_before(words[middle]) >= wanted)
      high = middle;
    else
      low = middle + 1;
  }
  const uint32_t word = low == 0 ? 0 : words[low - 1], own = own_shares(word), missing = wanted - shares_before(word);
  if (own <= missing) return uint64_t{low} << kMapShift;
  return (uint64_t{low - 1} << kMapShift) + ((uint64_t{missing} << kMapShift) + own - 1) / own;
}

// Values of keys from `begin` on.
struct KeyRange {
  uint32_t begin, last;  // last: less `begin`

  // For `digits` digits of equal width: that of a key is the upper half of its distance from `begin` times the factor.
  // 0: there are no more values than digits, and every distance is one.
  GSORT_HOST_DEVICE uint32_t factor(uint32_t digits = kFinishDigits) const {
    if (last < digits) return 0;
    return static_cast<uint32_t>((uint64_t{digits} << 32) / (uint64_t{last} + 1));
  }
};

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SHARES_H_
