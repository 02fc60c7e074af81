// SPDX-License-Identifier: MIT OR Apache-2.0
// Inputs that need no general sort, recognised on the device before one begins: ascending, descending, and keys that
// are combinations of few bits or of few values.
#ifndef GSORT_CUDA_SORT_FAST_PATH_PLAN_H_
#define GSORT_CUDA_SORT_FAST_PATH_PLAN_H_

#include <cstdint>

namespace gsort_internal::sort::fast_path {

constexpr uint32_t kThreads = 1024;
constexpr uint32_t kWarps = kThreads / 32;

// Every block looks at the same keys, so that all come to the same decision without meeting. Too few mislead, which
// costs a part of a read; more cost every sort.
constexpr uint32_t kSamples = 512;

// A key is counted by the bits in which keys differ, up to this many.
constexpr uint32_t kBitsMax = 16;
// Of shared memory: 2^15 counters of 32 bits, or twice as many of 16.
constexpr uint32_t kCounterBitsMax = 15;
// Up to 2^5 copies of a counter, so that lanes with equal keys do not wait for each other.
constexpr uint32_t kCopyBitsMax = 5;

// Of descending keys, whose values are to keep their order where keys are equal, up to so many may be equal. Rows
// of 32.
constexpr uint32_t kEqualMax = 1024;

// Of numbers by which a pass then moves values: one digit.
constexpr uint32_t kBitsMaxWithValues = 8;

// Keys of up to so many values, wherever they lie, are counted by value. They are named by a larger sample, which is
// drawn where the first one has so few different keys. Of 2^8 values as frequent as each other it meets one but once,
// and the attempt is given up, in one of 2,000 draws; it misses one in one of 30,000 (by calculation).
constexpr uint32_t kValuesMax = 512, kValueSamples = 4096;
// Of 2^8 values as frequent as each other the first sample has 221 +- 6, of 2^9 324 +- 9.
constexpr uint32_t kSamplesOf256Values = 248, kSamplesOf512Values = 352;
constexpr uint32_t kValuesSlotBits = 11, kValuesSlots = 1u << kValuesSlotBits;
// Of their counters, with all copies; the rest of the counters' memory holds a table of the values.
constexpr uint32_t kValueCounterBits = 14;
static_assert(kValuesMax << kCopyBitsMax <= 1u << kValueCounterBits);

// A warp takes rows of 32 keys, as many as make 2 KB.
template <uint32_t KeyBytes>
struct GroupShape {
  static constexpr uint32_t kRows = 64 / KeyBytes;
  static constexpr uint32_t kGroupItems = 32 * kRows;
};

// Below, the test of the sample costs more than it saves on the whole. Keys of 8 bytes, and pairs and argsorts, that
// are in order, or of few values, are sorted so in a seventh to a third of the time, others in 1.02 of it, those that
// look like few values and are not in 1.05 to 1.17; of 22 kinds of data all together take 0.8 to 0.9 (H100,
// 2026-11-27, 4.3 to 16.5 million). So do keys of 4 bytes alone, but of 4.3 million those that look so take 1.2, and
// others sort them sooner then.
constexpr uint64_t kItemsMin = uint64_t{1} << 22, kShortItemsMin = uint64_t{1} << 23;
constexpr uint64_t kLongItemsMin = 4500000;  // fewer are for the sample sort
constexpr uint64_t items_min(uint32_t key_bytes, bool alone) {
  return !alone ? kItemsMin : key_bytes == 4 ? kShortItemsMin : kLongItemsMin;
}

// Most groups of rows that a warp takes at a time.
constexpr uint32_t kGroupsMax = 16;
// Shared memory beside the counters.
constexpr uint32_t kStaticBytes = 12 * 1024;

constexpr uint32_t kStateBytes = 640;
constexpr uint32_t kBins = 1u << kBitsMax;
constexpr uint32_t kBinsWithValues = kWarps * 128;  // as many as are turned into places at once

struct Plan {
  uint32_t chunk_items;  // what a warp takes at a time
  uint32_t chunks;
  uint32_t counter_bits;  // of the number of 32-bit counters; 0: keys are not counted
  uint32_t number_bits;   // most that keys which are counted may have
};

// least: not 0: in place of items_min(), for tests.
constexpr bool applies(uint64_t n, uint32_t key_bytes, bool alone, uint64_t least) {
  return (key_bytes == 4 || key_bytes == 8) && n >= (least != 0 ? least : items_min(key_bytes, alone));
}

// `alone`: the keys are all that is sorted. Counts have 32 bits.
constexpr Plan make_plan(uint64_t n, uint32_t key_bytes, bool alone, uint32_t multiprocessors,
                         uint32_t shared_bytes_block_max) {
  const uint32_t group = key_bytes == 8 ? GroupShape<8>::kGroupItems : GroupShape<4>::kGroupItems;
  // Twice as many chunks as warps, so that the last to finish are not far behind.
  const uint64_t groups = n / (uint64_t{group} * multiprocessors * kWarps * 2);
  Plan plan = {0, 0, 0, 0};
  plan.chunk_items = group * static_cast<uint32_t>(groups < 1 ? 1 : groups > kGroupsMax ? kGroupsMax : groups);
  plan.chunks = static_cast<uint32_t>((n + plan.chunk_items - 1) / plan.chunk_items);
  if (n > UINT32_MAX) return plan;
  plan.counter_bits = kCounterBitsMax;
  while (plan.counter_bits != 0 && (4u << plan.counter_bits) + kStaticBytes > shared_bytes_block_max)
    --plan.counter_bits;
  plan.number_bits = plan.counter_bits == 0 ? 0 : plan.counter_bits + 1;  // two of 16 bits in a counter
  if (!alone && plan.number_bits > kBitsMaxWithValues) plan.number_bits = kBitsMaxWithValues;
  return plan;
}
static_assert(make_plan(uint64_t{1} << 28, 4, true, 132, 227 * 1024).counter_bits == 15, "keys of 16 bits");
static_assert(make_plan(uint64_t{1} << 28, 4, true, 40, 64 * 1024).number_bits == 14, "13 bits of counters");
static_assert(make_plan(uint64_t{1} << 28, 4, false, 132, 227 * 1024).number_bits == 8, "a digit");

// Counting all values of 2 bytes: a block counts half of them, in 128 KB.
constexpr uint32_t kCountFillBins = 65536;
constexpr uint32_t kCountFillSharedBytes = kCountFillBins / 2 * 4;
// Below this many 2-byte keys two passes are quicker than 65,536 counters.
constexpr uint64_t kCountFillItemsMin2 = 6'000'000;

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_PLAN_H_
