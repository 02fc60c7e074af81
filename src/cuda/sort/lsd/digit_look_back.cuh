// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoupled look-back of 256 digit counts from tile to tile.
#ifndef GSORT_CUDA_SORT_LSD_DIGIT_LOOK_BACK_CUH_
#define GSORT_CUDA_SORT_LSD_DIGIT_LOOK_BACK_CUH_

#include <cstdint>

#include "cuda/primitive/memory_order.cuh"
#include "cuda/primitive/tile_shape.h"
#include "cuda/sort/lsd/plan.h"

namespace gsort_internal::sort::lsd {

// A word holds a status in its two top bits and a count below, so one relaxed access carries both and nothing else has
// to be ordered with it.
//
// Status 1: the tile's own count. 2 or 3: the count of this and all tiles before it. Passes use 2 and 3 in turn: the
// words that a pass leaves behind mean "not yet" to the next one, and only the first pass needs them cleared.
template <class Word>
struct LookBackWord {
  static constexpr uint32_t kCountBits = sizeof(Word) * 8 - 2;
  static constexpr Word kCountMask = (Word{1} << kCountBits) - 1;
  static constexpr Word kOwn = Word{1} << kCountBits;

  static __device__ __forceinline__ Word total_status(uint32_t pass_parity) {
    return static_cast<Word>(2 + pass_parity) << kCountBits;
  }
};

constexpr uint32_t kLookBackWindow = 4;

// The count of one digit in all tiles before `tile`. `words` points at the digit's word of tile 0; words of successive
// tiles are kDigitBins apart. Several predecessors are read at once, which hides the latency of the L2; more than four
// slow what the other blocks read and write (H200, 2026-11-26: 2^28 keys of 4 bytes 4.15 ms by eight, 4.08 by four).
//
// Forward progress: tiles are handed out by an atomic counter, so every tile before this one belongs to a block that
// runs already and that publishes its own count before it waits for anything.
template <class Word>
__device__ __forceinline__ Word look_back(const Word *words, uint32_t tile, uint32_t pass_parity) {
  using Status = LookBackWord<Word>;
  const Word total_status = Status::total_status(pass_parity);
  Word sum = 0;
  uint32_t next = tile;  // tiles next - 1, next - 2, ... are still to be added
  while (next > 0) {
    Word window[kLookBackWindow];
#pragma unroll
    for (uint32_t i = 0; i < kLookBackWindow; ++i) {
      const uint32_t back = i < next ? next - 1 - i : 0;
      window[i] = load_relaxed(words + uint64_t{back} * kDigitBins);
    }
    bool waiting = false;
#pragma unroll
    for (uint32_t i = 0; i < kLookBackWindow; ++i) {
      if (waiting || next == 0) continue;
      const Word status = window[i] & ~Status::kCountMask;
      if (status == total_status) {
        sum += window[i] & Status::kCountMask;
        next = 0;
      } else if (status == Status::kOwn) {
        sum += window[i] & Status::kCountMask;
        --next;
      } else {
        waiting = true;
      }
    }
  }
  return sum;
}

// A word of a group has the count of its tiles that have added theirs, and above it how many have.
constexpr uint32_t kGroupCountBits = 27;
static_assert(kGroupedItemsMax < 1u << kGroupCountBits && kGroupTiles < 1u << (32 - kGroupCountBits), "both fit");

// Adds a tile's count of one digit to its group's. `groups`: as below.
__device__ __forceinline__ void add_to_group(uint32_t *groups, uint32_t tile, uint32_t count) {
  atomicAdd(groups + tile / kGroupTiles * kDigitBins, count + (1u << kGroupCountBits));
}

// Adds what the tiles from `first` on have counted before `next`, which stops at the first whose total is known.
// Returns whether one was: then `sum` is complete.
__device__ __forceinline__ bool look_back_in_group(const uint32_t *words, uint32_t first, uint32_t next,
                                                   uint32_t total_status, uint32_t &sum) {
  using Status = LookBackWord<uint32_t>;
  while (next > first) {
    uint32_t window[kLookBackWindow];
#pragma unroll
    for (uint32_t i = 0; i < kLookBackWindow; ++i)
      window[i] = load_relaxed(words + uint64_t{i < next ? next - 1 - i : 0} * kDigitBins);
    bool waiting = false;
#pragma unroll
    for (uint32_t i = 0; i < kLookBackWindow; ++i) {
      if (waiting || next <= first) continue;
      const uint32_t status = window[i] & ~Status::kCountMask;
      waiting = status != total_status && status != Status::kOwn;
      if (waiting) continue;
      sum += window[i] & Status::kCountMask;
      if (status == total_status) return true;
      --next;
    }
  }
  return false;
}

// As look_back(), by way of groups: first the tiles of its own group, then the groups before it, of which the nearest
// whose last tile knows its total ends the sum. `groups` points at the digit's word of group 0.
//
// Forward progress: as above; a group is complete once its tiles have published their counts.
__device__ __forceinline__ uint32_t look_back_by_groups(const uint32_t *words, const uint32_t *groups, uint32_t tile,
                                                        uint32_t pass_parity) {
  using Status = LookBackWord<uint32_t>;
  const uint32_t total_status = Status::total_status(pass_parity);
  uint32_t sum = 0, group = tile / kGroupTiles;  // groups group - 1, group - 2, ... are still to be added
  if (look_back_in_group(words, group * kGroupTiles, tile, total_status, sum)) return sum;
  while (group > 0) {
    uint32_t counts[kLookBackWindow], last[kLookBackWindow];
#pragma unroll
    for (uint32_t i = 0; i < kLookBackWindow; ++i) {
      const uint32_t back = i < group ? group - 1 - i : 0;
      counts[i] = load_relaxed(groups + back * kDigitBins);
      last[i] = load_relaxed(words + uint64_t{back * kGroupTiles + kGroupTiles - 1} * kDigitBins);
    }
    bool waiting = false;
#pragma unroll
    for (uint32_t i = 0; i < kLookBackWindow; ++i) {
      if (waiting || group == 0) continue;
      if ((last[i] & ~Status::kCountMask) == total_status) return sum + (last[i] & Status::kCountMask);
      waiting = counts[i] >> kGroupCountBits != kGroupTiles;
      if (waiting) continue;
      sum += counts[i] & ((1u << kGroupCountBits) - 1);
      --group;
    }
  }
  return sum;
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_DIGIT_LOOK_BACK_CUH_
