// SPDX-License-Identifier: MIT OR Apache-2.0
// Plan of the MSD sort's way for keys that spread in no simple manner: bins between splitters of a sorted sample
// (W. D. Frazer and A. C. McKellar, "Samplesort", 1970), values that are many in a bin of their own (M. Axtmann et
// al., "In-place parallel super scalar samplesort", 2017), and cells by exact counts within every bin. Read by host and
// device.
#ifndef GSORT_CUDA_SORT_MSD_SPLIT_PLAN_H_
#define GSORT_CUDA_SORT_MSD_SPLIT_PLAN_H_

#include <cstdint>

namespace gsort_internal::sort::msd {

constexpr uint32_t kSplitRootBits = 12;  // leading bits of a key above the least one that find its bin, or nearly
constexpr uint32_t kSplitRoots = 1u << kSplitRootBits;
constexpr uint32_t kSplitSampleMax = 8192;
constexpr uint32_t kSplitBinsMax = 1000;  // 10 bits, and some codes that are no bin
constexpr uint32_t kSplitNoBin = 1023;
// Where many bins lie in one entry of the root, it has a table of its own, by the position of a key's leading bit above
// the least of its splitters and some bits behind it: keys are often dense at one end.
constexpr uint32_t kSplitSubsMax = 32;
constexpr uint32_t kSplitSubBinsMin = 10;
constexpr uint32_t kSplitSubBits = 4;
constexpr uint32_t kSplitSubWords = 1536;
constexpr uint32_t kSplitTableWords = kSplitRoots + kSplitSubWords;
// A bin whose sampled keys lie unevenly has as many equal shares of digits, between sampled keys.
constexpr uint32_t kSplitKnotBits = 4;
constexpr uint32_t kSplitKnots = 1u << kSplitKnotBits;

// Cells that a block finishes on chip: eight keys a thread. Digits are put together up to kSplitCellKeys, and one that
// has more than kSplitDigitKeys is a cell of its own, so that no cell but a single digit has more than a block holds.
constexpr uint32_t kSplitFinishThreads = 1024;
constexpr uint32_t kSplitFinishItems = 8;
constexpr uint32_t kSplitFinishKeysMax = kSplitFinishThreads * kSplitFinishItems;
constexpr uint32_t kSplitCellKeys = 6656;
constexpr uint32_t kSplitDigitKeys = kSplitFinishKeysMax - kSplitCellKeys;
constexpr uint32_t kSplitCellsMax = 1000;  // of one bin, as many as the second pass has counters for

constexpr uint32_t kSplitFillKeys = 1u << 15;  // that a block writes at a time where nothing but their number counts

// Keys in clusters of clusters, as bits ANDed or text, have many unequal ones in one digit however often digits are
// spread, and are left to the LSD sort. They are told by the distances of a sorted sample: where one and the next
// differ by more than 2^kSplitCrowdedBits at more than one key in kSplitCrowdedShare. Simulated, 40 samples of each: at
// most 0.04 of the keys of smooth densities and of few values; 0.096 to 0.12 of two words ANDed, more of three to five
// and of text.
constexpr uint32_t kSplitCrowdedBits = 6;
constexpr uint32_t kSplitCrowdedShare = 16;

struct SplitPlan {
  uint32_t sample;  // keys
  uint32_t share;   // sampled keys of a bin, on average
  uint32_t bins_max;
  uint32_t copy_bits;   // counters of a bin, by lanes, so that equal keys do not queue up
  uint32_t digit_bits;  // within a bin
  uint32_t cells_max;
  uint32_t fills_max;
};

// From so many 8-byte keys on, splitters are quicker than the LSD sort on nearly all data that equal cells and the map
// turn away (H100, 2026-11-27, 9 million, times of splitters over LSD passes: nine tenths zeros 0.45, zipf 0.75, bits
// of two words ANDed, which is left to passes, 1.03). 4-byte keys, of which those are counted by values that would
// gain, have no kernels (H200, 2026-11-22).
constexpr uint64_t kSplitItemsMin = uint64_t{1} << 23;
// Keys that differ in so few bytes are left to passes (11.2 million, numbers to 1,000 as doubles: 587 us by splitters,
// 340 by passes).
constexpr uint32_t kSplitFewBytes = 4;
constexpr bool uses_splitters(uint64_t n, uint32_t key_bytes) { return key_bytes == 8 && n >= kSplitItemsMin; }

// A bin of 16 thousand keys is two or three cells; more bins than 315 would have shorter runs in the first pass and, up
// to 2^29 keys, no shorter ones in the second.
constexpr SplitPlan plan_split(uint64_t n) {
  const bool many = n > uint64_t{1} << 29;
  SplitPlan plan = {many ? kSplitSampleMax : kSplitSampleMax / 2, 0, 0, many ? 3u : 4u, 0, 0, 0};
  uint64_t bins = n >> 14;
  const uint64_t most = plan.sample / 13;
  bins = bins < 64 ? 64 : bins > most ? most : bins;
  plan.share = static_cast<uint32_t>(plan.sample / bins);
  // Entries of two shares and more have bins of their own, and one more each behind them.
  plan.bins_max = plan.sample / plan.share + plan.sample / (2 * plan.share) + 4;
  plan.digit_bits = n < uint64_t{1} << 24 ? 10 : n < uint64_t{1} << 26 ? 11 : 12;
  plan.cells_max = static_cast<uint32_t>(n / kSplitCellKeys + 2 * (n / kSplitDigitKeys) + 2 * plan.bins_max);
  plan.fills_max = static_cast<uint32_t>(n / kSplitFillKeys + plan.bins_max);
  return plan;
}
static_assert(plan_split(uint64_t{1} << 28).bins_max <= 512 && plan_split(uint64_t{1} << 31).bins_max <= kSplitBinsMax,
              "a pass has counters for all bins");

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SPLIT_PLAN_H_
