// SPDX-License-Identifier: MIT OR Apache-2.0
// Plan of the MSD sort of keys alone: cut the key range into equal cells, move every key to its cell in one
// or two unstable partition passes, finish each cell on chip. 20 to 32 bytes of traffic a 4-byte key where an LSD sort
// needs 36. Read by host and device.
#ifndef GSORT_CUDA_SORT_MSD_PLAN_H_
#define GSORT_CUDA_SORT_MSD_PLAN_H_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal::sort::msd {

// Keys that one block sees at a time. Two blocks an SM and no spilled register were measured to matter more than larger
// tiles (H200, 2026-11-20: 512 x 24 keys in 64 registers beat 512 x 32 with 80 bytes of spill by 12%).
template <uint32_t KeyBytes>
struct BlockShape {
  static constexpr uint32_t kPartitionThreads = 512;
  static constexpr uint32_t kPartitionItems = KeyBytes == 8 ? 12 : 24;
  static constexpr uint32_t kPartitionTile = kPartitionThreads * kPartitionItems;
  static constexpr uint32_t kFinishThreads = 1024;
  static constexpr uint32_t kFinishItems = 9;
  static constexpr uint32_t kFinishKeysMax = kFinishThreads * kFinishItems;
  static_assert(kPartitionTile < 65536 && kFinishKeysMax < 65536, "places in a tile have 16 bits");
};

constexpr uint32_t kBinsMax = 512;    // of one partition pass
constexpr uint32_t kPassBitsMax = 9;  // kBinsMax
constexpr uint32_t kCellBitsMax = 2 * kPassBitsMax;
constexpr uint32_t kCountedBits = 15;  // 128 KB of counters in a block of the histogram
constexpr uint32_t kFinishBits = 13;   // digit that the finish ranks by counters: 32 KB of them
constexpr uint32_t kFinishDigits = 1u << kFinishBits;
constexpr uint32_t kSampleThreads = 1024;
constexpr uint32_t kHistogramThreads = 1024;
constexpr uint32_t kHistogramItems = 8;  // loads in flight a thread
// Of 4-byte keys, where there are enough to keep all blocks busy: one block has room on an SM then.
constexpr uint32_t kHistogramItemsMany = 16;
constexpr uint64_t kHistogramManyKeysMin = uint64_t{1} << 25;

constexpr uint32_t kCoarseBins = 256;

// kCoarseCountMax: so many sampled keys may fall into the fullest 256th of the range: 6 standard deviations above an
// even spread, so that evenly spread keys are practically never turned away.
// kMeetingsMax: sampled keys that meet an occupied slot of a table of 2^kMeetingBits slots. Distinct keys meet
// kKeys^2 / 2^(kMeetingBits + 1) by chance, 2^22 distinct values add kKeys^2 / 2^23. More than this and equal keys are
// too many for the finish.
// kCloserMax: of sampled keys that differ, those that meet another in one of 2^kMeetingBits equal parts of the range:
// beyond as many as equal ones and chance make meet. Keys that fill two fifths of the range, in whatever stripes, have
// no more than this; others crowd in few of a cell's digits. (H200, 2026-11-27, 2^26 u32: 10^5 clusters that fill a
// twentieth, 4,000 above chance, took 1.7 times as long by cells as by passes.)
struct LargeSample {
  static constexpr uint32_t kItems = 32;  // a thread
  static constexpr uint32_t kKeys = kSampleThreads * kItems;
  static constexpr uint32_t kMeetingBits = 20;
  static constexpr uint32_t kCoarseCountMax = 192;  // 128 + 6 * 10.7
  static constexpr uint32_t kMeetingsMax = 620;     // chance 512, deviation 22
  static constexpr uint32_t kCloserMax = 768;
};

// A quarter of the keys where the sort itself takes no longer than the large sample would.
struct SmallSample {
  static constexpr uint32_t kItems = 8;
  static constexpr uint32_t kKeys = kSampleThreads * kItems;
  static constexpr uint32_t kMeetingBits = 18;
  static constexpr uint32_t kCoarseCountMax = 68;  // 32 + 6 * 5.7
  static constexpr uint32_t kMeetingsMax = 200;    // chance 128, deviation 11
  static constexpr uint32_t kCloserMax = 192;
};
constexpr uint64_t kSmallSampleItemsMax = uint64_t{1} << 25;

// A mean of 8,640 keys a cell leaves 6 standard deviations to the 9,216 that a block holds.
constexpr uint32_t kCellKeysMean = 8640;
// Of 4-byte keys, of which there are as many cells as this takes: a cell costs the finish little less for having fewer
// keys. It leaves some room to keys that are not quite even.
constexpr uint32_t kNarrowCellKeysMean = 8192;
constexpr uint32_t kMappedCellKeysMean = 6554;  // where they spread unevenly

// Below, the launches cost more than the passes.
constexpr uint64_t kItemsMin = uint64_t{1} << 19;
constexpr uint64_t kItemsMax = uint64_t{kCellKeysMean} << kCellBitsMax;  // 2.26 billion
// Of fewer 4-byte keys the look for a map costs what a map can save, and of fewer floats, which are seldom even, any
// look does (H200, 2026-11-27: five million keys 1.04 and 1.0 of the LSD sort's time where they are normal, 1.2 to 1.7
// where they are turned away or crowd; ten million floats 0.9 to 1.0 and 1.1 to 1.9).
constexpr uint64_t kNarrowMapItemsMin = uint64_t{1} << 23;
constexpr uint64_t kFloatItemsMin = 10000000;

// Shared memory of the histogram's counters and of the sample's bit table. Chips with less sort otherwise.
constexpr uint32_t kSharedBytesMin = (4u << kCountedBits) / 32 * 33 + 2048;
static_assert((1u << LargeSample::kMeetingBits) / 8 + 2048 <= kSharedBytesMin, "the sample's table fits too");

// Cells of 4-byte keys with more keys than the finish takes (crowds.cuh): a block has room for so many.
constexpr uint32_t kCrowdThreads = 1024;
constexpr uint32_t kCrowdKeysMax = 1u << 15;
constexpr uint32_t kCrowdDigits = 1u << 14;

// Counting of values (values.cuh). Counters of a block.
constexpr uint32_t kValueWords = 1u << 15;
constexpr uint32_t kValuePlaces = 8;       // of a thread, written at a time
constexpr uint32_t kValueParts = 16;       // of a huge cell
constexpr uint32_t kValuePart = 1u << 13;  // values whose keys are added up
// Cells with so many keys, as many as values, and few enough values, are counted by many blocks.
constexpr uint32_t kHugeCellKeys = 36u << 10;
constexpr uint32_t kHugeValuesMax = kValueParts * kValuePart;
constexpr uint32_t kValueWriteThreads = 512;

// Shared memory of a block that sorts crowded cells.
constexpr uint32_t kCrowdSharedBytes = 4 * (kCrowdKeysMax + kCrowdDigits) + (25u << 10);

// So many chunks, if all keys were in one cell: some for every block, so that none has much more to do than others.
constexpr uint32_t kHugeChunks = 512, kHugeChunkLeast = 1u << 16, kHugeChunkMost = 1u << 20;
// A cell of more keys than so many chunks that is not counted by many blocks is too much for one: the data is turned
// away.
constexpr uint32_t kLoneBlockChunks = 4;
constexpr uint32_t kHugePieceLeast = 1u << 13, kHugePieceMost = 1u << 16;

struct Plan {
  // The cells are equal parts of the range that the keys' common prefix leaves: of 8-byte keys 2^cell_bits, of 4-byte
  // keys so many at most, whole bins of the first pass.
  uint32_t cell_bits;
  uint32_t narrow_cells;
  uint32_t second_bits;  // of a cell's number, by the second partition pass; 0: there is one pass
  // Cells that are too many to count at once are counted between the passes, and their bins before.
  bool counted_late;
  // For keys that spread unevenly: a table over the leading kMapBits gives every part of the range as many cells as
  // it has keys. 0: not offered. The second pass has bins for second_bits here, too.
  uint32_t mapped_cells;
  uint32_t map_shares;  // of them, by weight; of 4-byte keys, all that are used
  // Cells of 4-byte keys may have more keys than the finish takes: there are two passes.
  bool takes_crowds;
  bool takes_frequent;              // 4-byte keys of frequent values need no moving: with a map
  uint32_t huge_chunk, huge_piece;  // keys of a huge cell that a block counts, and writes
  // 4-byte keys that lie closely within cells, and runs of equal ones, are left to the LSD sort, which is quicker;
  // tests of the kernels that sort them take them.
  bool leaves_close = true;
};

constexpr uint32_t kMapBits = 13;
constexpr uint32_t kMapShift = 32 - kMapBits;
constexpr uint32_t kMapEntries = 1u << kMapBits;
constexpr uint32_t kMapWeightBits = kMapBits + 2;  // keys are sampled by quarters of an entry
constexpr uint32_t kMapWeights = 1u << kMapWeightBits;
constexpr uint32_t kMapThreads = 1024;
constexpr uint32_t kMapItems = 8;  // keys that a thread samples
// Maps of so many cells or fewer, of up to 35 million keys: there is too little else to do while a block sorts a lump.
constexpr uint32_t kFewShares = 5120;
// Up to 70 million keys, and of more than have a map, three radix passes are quicker than the partition of many equal
// keys; two always are (H200, 2026-11-22: 67 million integers below 10^6 1.04 ms in place of 1.28, 134 million 1.96 and
// 1.82).
constexpr uint32_t kFewPassShares = 10240;
constexpr uint32_t kMapBlocksMax = 128;
// Keys of each of the parts that the map's sample of so many blocks takes eight keys from, in 65,536ths: a rest of the
// array would be up to 262,143 keys that no sample has, which are the least or the greatest where keys are in order.
constexpr uint32_t kMapPartBits = 16;
constexpr uint64_t map_part(uint64_t n, uint32_t blocks) {
  return (n << kMapPartBits) / (uint64_t{blocks} * kMapThreads * kMapItems / 8);
}
static_assert(kItemsMax < uint64_t{1} << (64 - kMapPartBits), "in 64 bits");
// Of 4-byte keys a cell's share in the sample is what says how full it is: blocks that sample up to 2^26 keys, up to
// 2^27, and more.
constexpr uint32_t share_blocks(uint64_t n) { return n > uint64_t{1} << 27 ? 256 : n > uint64_t{1} << 26 ? 128 : 64; }

// Values that many keys have (frequent.cuh): those that a sample has kFrequentLeast times, if a kFrequentShare-th of it
// or more has such values. The sample is taken by a block beside those that make the map. Of 2^24 keys that takes twice
// as long as they do, and kinds of data lost by it as often as they gained (H200, 2026-11-22).
constexpr uint32_t kFrequentSample = 1u << 15;
constexpr uint64_t kFrequentItemsMin = (uint64_t{1} << 26) + 1;
constexpr uint32_t kFrequentLeast = 8;
constexpr uint32_t kFrequentCountSlots = 1u << 15;  // of the table that counts the sample
constexpr uint32_t kFrequentTries = 2;
constexpr uint32_t kFrequentShare = 8;
constexpr uint32_t kFrequentMax = 1024;        // values
constexpr uint32_t kFrequentSlots = 1u << 12;  // of the table that all keys are looked up in
constexpr uint32_t kFrequentSharedBytes = 6 * kFrequentCountSlots + (33u << 10);
static_assert(kFrequentMax <= kMapThreads, "a thread a value");
constexpr uint32_t kRunThreads = 512;
constexpr uint32_t kRunPiece = 1u << 14;   // keys of a run that a block writes at a time
constexpr uint32_t kMovePiece = 1u << 13;  // keys of a cell that a block moves at a time

// Every entry of the map that has keys begins a cell. Where that may be a large part of the cells, there are more.
constexpr uint32_t kMapSpareCellBitsMax = 13;

constexpr bool applies(uint64_t n, uint32_t key_bytes) {
  return (key_bytes == 4 || key_bytes == 8) && n >= kItemsMin && n <= kItemsMax;
}

// Cells of so many keys each, whole bins of 2^second_bits cells, `most` at most.
constexpr uint32_t whole_bins(uint64_t n, uint32_t keys_mean, uint32_t second_bits, uint32_t most) {
  const uint64_t bin = uint64_t{keys_mean} << second_bits, cells = (n + bin - 1) / bin << second_bits;
  return cells < most ? static_cast<uint32_t>(cells) : most;
}

// Cells of the map before they are made to fit the number of keys: what is better left to the LSD sort is told by
// these.
constexpr GSORT_HOST_DEVICE uint32_t usual_shares(uint32_t cell_bits) { return 5u << (cell_bits - 2); }

// n within the bounds above. cell_bits: at least so many. frequent_min: of so many keys or more frequent values are
// looked for.
constexpr Plan make_plan(uint64_t n, uint32_t cell_bits = 0, uint64_t frequent_min = kFrequentItemsMin) {
  Plan plan = {cell_bits, 0, 0, false, 0, 0, false, false, kHugeChunkLeast, kHugePieceLeast};
  const bool free = cell_bits == 0;
  // Smaller cells while one pass suffices: more blocks for the finish to spread over the chip.
  while (n > uint64_t{plan.cell_bits < 8 ? kCellKeysMean / 2 : kCellKeysMean} << plan.cell_bits) ++plan.cell_bits;
  plan.second_bits = plan.cell_bits <= kPassBitsMax ? 0 : plan.cell_bits / 2;
  plan.narrow_cells = 1u << plan.cell_bits;
  if (free && plan.second_bits != 0)
    plan.narrow_cells = whole_bins(n, kNarrowCellKeysMean, plan.second_bits, plan.narrow_cells);
  plan.counted_late = plan.cell_bits > kCountedBits;
  if (plan.second_bits != 0 && !plan.counted_late) {
    // A quarter more, so that cells of uneven density hold about 6,550 keys and have room for two fifths more.
    const uint32_t shares = usual_shares(plan.cell_bits);
    plan.mapped_cells = plan.cell_bits <= kMapSpareCellBitsMax ? 2u << plan.cell_bits : shares;
    plan.map_shares = free ? whole_bins(n, kMappedCellKeysMean, plan.second_bits, shares) : shares;
  }
  plan.takes_crowds = plan.second_bits != 0;
  plan.takes_frequent = plan.mapped_cells != 0 && n >= frequent_min;
  while (plan.huge_chunk < kHugeChunkMost && n / plan.huge_chunk > kHugeChunks) plan.huge_chunk *= 2;
  while (plan.huge_piece < kHugePieceMost && n / plan.huge_piece > 4 * kHugeChunks) plan.huge_piece *= 2;
  return plan;
}
// The same, for even keys alone.
constexpr Plan without_map(Plan plan) {
  plan.mapped_cells = plan.map_shares = 0;
  plan.takes_crowds = plan.takes_frequent = false;
  return plan;
}
// Tests may force the map down to here, below which there is one partition pass.
constexpr uint64_t kNarrowMapForcedMin = (uint64_t{kCellKeysMean} << kPassBitsMax) + 1;
static_assert(make_plan(kNarrowMapForcedMin).mapped_cells != 0 && make_plan(kNarrowMapForcedMin - 1).mapped_cells == 0,
              "");
static_assert(make_plan(kItemsMax).cell_bits == kCellBitsMax && make_plan(kItemsMax).second_bits == 9, "");
static_assert(make_plan(uint64_t{1} << 28).cell_bits == 15 && make_plan(uint64_t{1} << 20).second_bits == 0, "");

// One partition pass, for even keys alone: without a second one there is no map.
constexpr bool has_one_pass(uint64_t n) { return make_plan(n).second_bits == 0; }

// Equal cells.
constexpr GSORT_HOST_DEVICE uint32_t even_cells(const Plan &plan, uint32_t key_bytes) {
  return key_bytes == 4 ? plan.narrow_cells : 1u << plan.cell_bits;
}

constexpr uint32_t cells_max(const Plan &plan) {
  return plan.mapped_cells != 0 ? plan.mapped_cells : 1u << plan.cell_bits;
}

// Bins of the first pass.
constexpr uint32_t bins_max(const Plan &plan) {
  const uint32_t bins = 1u << (plan.cell_bits - plan.second_bits), mapped = plan.mapped_cells >> plan.second_bits;
  return bins > mapped ? bins : mapped;
}
static_assert(bins_max(make_plan(uint64_t{1} << 28)) <= kBinsMax, "the map has more bins than its plan");

// Cells whose counts the scan holds at once in the late count.
constexpr uint32_t kLateCells = 1u << 14;

// Dynamic shared memory of the histogram: a counter for every cell or bin, and behind them the map, or a 32nd more for
// the scan of its last block.
constexpr uint32_t histogram_bytes(const Plan &plan) {
  const uint32_t counts = plan.counted_late ? 4u << (plan.cell_bits - plan.second_bits) : 4 * cells_max(plan);
  const uint32_t more = plan.mapped_cells != 0 ? 4 * kMapEntries : 0;
  return counts + (more > counts / 32 ? more : counts / 32);
}
// The plan for a device whose blocks have so much shared memory: the map takes more than other chips than Hopper's
// have.
constexpr Plan make_plan_on(uint64_t n, uint32_t shared_bytes, uint32_t cell_bits = 0,
                            uint64_t frequent_min = kFrequentItemsMin) {
  Plan plan = make_plan(n, cell_bits, frequent_min);
  if (shared_bytes < histogram_bytes(plan) + 1024) plan.mapped_cells = 0;
  if (shared_bytes < kCrowdSharedBytes) plan.takes_crowds = false;
  if (plan.mapped_cells == 0 || shared_bytes < kFrequentSharedBytes + 1024) plan.takes_frequent = false;
  return plan;
}
static_assert(histogram_bytes(make_plan(uint64_t{kCellKeysMean} << kCountedBits)) <= 226u << 10,
              "a block of Hopper has 227 KB");

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_PLAN_H_
