// SPDX-License-Identifier: MIT OR Apache-2.0
// Plan of the sort in place: keys, or keys and values, with scratch memory of an eighth of their bytes. It is taken
// where the usual sort's workspace, which holds for every device, cannot be had. Read by host and device; no CUDA
// header.
#ifndef GSORT_CUDA_SORT_IN_PLACE_PLAN_H_
#define GSORT_CUDA_SORT_IN_PLACE_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "core/request.h"
#include "cuda/engine/device_facts.h"
#include "cuda/primitive/architecture.h"
#include "cuda/sort/msd/plan.h"

namespace gsort_internal::sort::in_place {

// An item is a key and its value. A brick is so many items of one bucket, moved as a whole; the array is cut into slots
// of as many, the last of which may be short. The greatest power of two of at most 5 KB, so that every warp has whole
// vectors of it.
constexpr GSORT_HOST_DEVICE uint32_t brick_items(uint32_t item_bytes) {
  uint32_t items = 128;
  while (2 * items * item_bytes <= 5120) items *= 2;
  return items;
}

constexpr uint32_t kBucketsMax = 16;
// Each is sorted in an eighth of the array's bytes, so that there must be more than 8.
constexpr uint32_t kBucketsMin = 9;

// How a block partitions a stripe: in tiles of so many rows of its threads.
constexpr uint32_t kPartitionThreads = 512;
constexpr GSORT_HOST_DEVICE uint32_t tile_rows(uint32_t item_bytes) {
  return item_bytes <= 8 ? 12 : item_bytes <= 12 ? 8 : item_bytes <= 16 ? 6 : 4;
}
constexpr GSORT_HOST_DEVICE uint32_t tile_items(uint32_t item_bytes) {
  return kPartitionThreads * tile_rows(item_bytes);
}
constexpr uint32_t kPartitionBlocksPerMultiprocessor = 2;

// Dynamic shared memory of such a block, in items: a brick of every bucket, and a tile, in which each bucket's part
// begins at a multiple of kPartItems.
constexpr uint32_t kPartItems = 4;
constexpr GSORT_HOST_DEVICE uint32_t block_items(uint32_t item_bytes, uint32_t buckets) {
  return buckets * (brick_items(item_bytes) + kPartItems) + tile_items(item_bytes);
}
constexpr uint32_t kPartitionStaticBytes = 3072;  // at most, beside it
// Where a block has less, no device takes the sort of such items, and its kernels have no code (fits()).
template <uint32_t kItemBytes>
constexpr bool kHasCodeHere =
    kFitsHere<block_items(kItemBytes, kBucketsMin) * kItemBytes + kPartitionStaticBytes + 1024>;

// Of fewer bytes a block has but a few tiles, and other sorts' workspace is not worth saving. Of pairs, sorts of
// up to 2^18 take more memory for each than longer ones, so that some arrays below 2^27 bytes cannot be had.
constexpr uint64_t kBytesMin = uint64_t{1} << 24;

// What the engine adds to every workspace; the scratch memory is an eighth with it.
constexpr uint64_t kEngineBytes = 1024;

constexpr uint64_t kSamplesMax = uint64_t{1} << 20;
// A bucket's border lies within so many standard deviations of where it should, or the splitters are searched for.
constexpr uint32_t kDeviations = 6;

// Slots are numbered in 32 bits, of which one tells what moves them.
constexpr uint64_t kSlotsMax = uint64_t{1} << 31;
// Of so many slots in a row one is emptied before bricks move (moves.cuh).
constexpr uint32_t kSlotsPerCut = 32;

constexpr uint64_t kStateBytes = 1024;

// Keys alone that the MSD sort has cells for are sorted by these (bin_partition.cuh): its first pass in place, the
// second a batch of bins at a time, whose keys fit the scratch memory. Bricks of 512 bytes; a block partitions a stripe
// by tiles of so many rows of its threads.
constexpr GSORT_HOST_DEVICE uint32_t bin_brick_keys(uint32_t key_bytes) { return 512 / key_bytes; }
constexpr uint32_t kBinThreads = 1024;
constexpr GSORT_HOST_DEVICE uint32_t bin_tile_rows(uint32_t key_bytes) { return 48 / key_bytes; }
constexpr GSORT_HOST_DEVICE uint32_t bin_tile_keys(uint32_t key_bytes) {
  return kBinThreads * bin_tile_rows(key_bytes);
}
constexpr uint32_t kBinsMax = 320;
// A block's memory beside the bricks: a tile, in which each bin's part begins at a multiple of 16 bytes, and a brick
// that is read behind the last; before, the map.
constexpr GSORT_HOST_DEVICE uint32_t bin_area_keys(uint32_t key_bytes, uint32_t bins) {
  return bin_tile_keys(key_bytes) + bins * (16 / key_bytes) + bin_brick_keys(key_bytes);
}
constexpr uint32_t bin_block_bytes(uint32_t key_bytes, uint32_t bins) {
  return (bins * bin_brick_keys(key_bytes) + bin_area_keys(key_bytes, bins)) * key_bytes;
}
static_assert(bin_tile_keys(4) * 4 >= msd::kMapEntries * 4 && bin_tile_keys(8) * 8 >= msd::kMapEntries * 4,
              "the map fits the tile's place");
constexpr uint32_t kBinStaticBytes = 9 << 10;  // at most, beside it
constexpr uint32_t kBinSharedBytesMin = bin_block_bytes(4, kBinsMax) + kBinStaticBytes;
static_assert(kBinSharedBytesMin + 1024 <= 227u << 10, "a block of Hopper has 227 KB");
// Of a batch the finish has a block for each cell that there can be: so many, or a seventh of all.
constexpr uint32_t kBatchesMax = 11, kBatchCellsLeast = 4096;
// Of fewer bytes there is not room for enough of them.
constexpr uint64_t kCellsBytesMin = uint64_t{1} << 26;

constexpr uint32_t blocks_for(uint64_t items, uint32_t of_a_block) {
  return static_cast<uint32_t>((items + of_a_block - 1) / of_a_block);
}

struct Slices {
  uint64_t state;
  uint64_t done;  // a word: see KeyJob
  // The rest of the memory serves three steps in turn. First the sample as it was drawn, and in order:
  uint64_t sample, sample_sorted, sample_workspace;
  // then the partition: counts and first places of every bucket in every stripe, pieces of bricks at their borders,
  uint64_t counts, starts, piece_of, piece_keys, piece_values;
  // where bricks come from and go to, what is to be moved, and the bricks of emptied slots;
  uint64_t source, target, moves, cut_keys, cut_values;
  // and then the sorts of the windows.
  uint64_t window_workspace;
};

struct CellsSlices {
  uint64_t tables, batches;
  uint64_t bricks;                                              // of every bin, and behind them the keys it has left
  uint64_t fast_path_state, fast_path_counts, fast_path_bases;  // tried first
  uint64_t left, source, moves, cut_keys;  // of the first pass, in their place; behind the sources the targets
  uint64_t scratch;                        // of the second, likewise
};

struct CellsPlan {
  bool applies;
  msd::Plan msd;
  uint32_t bins;                    // at most
  uint32_t stripes_max;             // as in Plan
  uint32_t left_each;               // keys of a bin that fill no brick, at most
  uint32_t batch_keys, batch_bins;  // at most, in a batch
  CellsSlices slices;
};

struct Plan {
  bool applies;  // false: the request is not for this sort
  bool counts;   // keys of 2 bytes are counted and written, as usual, and nothing else is planned
  uint32_t buckets;
  uint32_t key_bytes, value_bytes;
  uint64_t n;
  uint64_t samples;
  uint64_t slack;        // a bucket's first item lies so far from bucket * n / buckets at most
  uint32_t stripes_max;  // parts of the array, each read and partitioned by one block
  CellsPlan cells;       // tried first, where it applies
  Slices slices;
  uint64_t workspace_bytes;

  constexpr uint32_t item_bytes() const { return key_bytes + value_bytes; }
};

// Window of items that is sorted as one: a bucket, and what of its neighbours may lie within.
struct Window {
  uint64_t begin, end;
};
// Where a bucket should begin.
constexpr GSORT_HOST_DEVICE uint64_t bucket_target(uint64_t n, uint32_t buckets, uint32_t bucket) {
  return n / buckets * bucket + n % buckets * bucket / buckets;
}
constexpr Window window_of(const Plan &plan, uint32_t bucket) {
  const uint64_t begin = bucket_target(plan.n, plan.buckets, bucket),
                 end = bucket_target(plan.n, plan.buckets, bucket + 1);
  return {bucket == 0 ? 0 : begin - plan.slack, bucket + 1 == plan.buckets ? plan.n : end + plan.slack};
}

// Depends on the shape alone; does not apply where this sort cannot do the request in an eighth of its bytes. (Keys of
// 1 byte are counted on every device, so that their usual workspace is small.)
// cells_bytes_min: of keys of fewer bytes no cells are tried.
Plan make_plan(const Request &shape, uint64_t cells_bytes_min = kCellsBytesMin);

// Whether the kernels fit the device.
bool fits(const Plan &plan, const DeviceFacts &device);
bool cells_fit(const Plan &plan, const DeviceFacts &device);

// Whether the request's arrays lie where the kernels can have them: values at multiples of their size.
bool takes_arrays(const Request &request);

void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_PLAN_H_
