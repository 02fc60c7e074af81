// SPDX-License-Identifier: MIT OR Apache-2.0
// Plan of the sort in place: keys alone, with scratch memory of an eighth of their bytes. It is taken where the usual
// sort's workspace, which holds for every device, cannot be had. Read by host and device; no CUDA header.
#ifndef GSORT_CUDA_SORT_IN_PLACE_PLAN_H_
#define GSORT_CUDA_SORT_IN_PLACE_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "core/request.h"
#include "cuda/engine/device_facts.h"

namespace gsort_internal::sort::in_place {

// A brick is so many keys of one bucket, moved as a whole; a slot is a place of the array that holds one. With 9
// buckets a block's buffers take 36 KB, and a brick is 32 lines of memory.
constexpr uint32_t kBrickBytes = 4096;
constexpr uint32_t kBrickVectors = kBrickBytes / 16;
constexpr uint32_t brick_keys(uint32_t key_bytes) { return kBrickBytes / key_bytes; }

// A thread counts its keys of each bucket in four bits of a word of 64.
constexpr uint32_t kBucketsMax = 16;
// Each is sorted in an eighth of the array's bytes, so that there must be more than 8.
constexpr uint32_t kBucketsMin = 9;

template <uint32_t KeyBytes>
struct ClassifyShape {
  static constexpr uint32_t kThreads = 512;
  static constexpr uint32_t kItems = KeyBytes == 8 ? 6 : 12;
  static constexpr uint32_t kTile = kThreads * kItems;
  static_assert(kItems < 16, "counted in four bits");
  static_assert(kTile * KeyBytes % kBrickBytes == 0, "bricks written never overtake the tiles read");
};
// Blocks of 512 threads that classify on one multiprocessor.
constexpr uint32_t kClassifyBlocksPerMultiprocessor = 3;

// Dynamic shared memory of a block that classifies: a buffer of a brick for each bucket, and a tile, in which each
// bucket's part begins at a vector; the ranks of every thread by bucket.
constexpr uint32_t classify_shared_bytes(uint32_t key_bytes, uint32_t buckets) {
  const uint32_t tile = (key_bytes == 8 ? ClassifyShape<8>::kTile : ClassifyShape<4>::kTile) * key_bytes;
  return buckets * (kBrickBytes + 16) + tile + (buckets + 1) / 2 * ClassifyShape<4>::kThreads * 4;
}
constexpr uint32_t kClassifyStaticBytes = 2048;  // at most, beside it

// Where the array cannot be held by a few tiles a block, below, other sorts' workspace is nothing to save.
constexpr uint64_t kBytesMin = uint64_t{1} << 24;

// What the engine adds to every workspace; the scratch memory is an eighth with it.
constexpr uint64_t kEngineBytes = 1024;

constexpr uint64_t kSamplesMax = uint64_t{1} << 20;
// A bucket's border lies within so many standard deviations of where it should, or the sort of last resort begins.
constexpr uint32_t kDeviations = 6;

// Cycles of bricks that find_cycles() can make of 16 buckets: one for every two buckets by pairs, and one for every
// edge that these leave.
constexpr uint32_t kCyclesMax = kBucketsMax * (kBucketsMax - 1);

struct Slices {
  uint64_t state;
  // The rest of the memory serves three steps in turn. First the sample:
  uint64_t sample, sample_workspace;
  // then the partition:
  uint64_t labels, holes, list, cycles, left;
  // and then the sorts of the windows.
  uint64_t window_workspace;
};

struct Plan {
  bool applies;  // false: the request is not for this sort
  bool counts;   // keys of 2 bytes are counted and written, as usual, and nothing else is planned
  uint32_t buckets;
  uint32_t key_bytes;
  uint64_t n;
  uint64_t samples;
  uint64_t slack;        // a bucket's first key lies so far from bucket * n / buckets at most
  uint32_t stripes_max;  // parts of the array, each read and classified by one block
  uint64_t left_keys;    // room for the keys of a bucket that fill no brick of a stripe
  Slices slices;
  uint64_t workspace_bytes;
};

// Window of keys that is sorted as one: a bucket, and what of its neighbours may lie within.
struct Window {
  uint64_t begin, end;
};
constexpr uint64_t bucket_target(const Plan &plan, uint32_t bucket) {
  return plan.n / plan.buckets * bucket + plan.n % plan.buckets * bucket / plan.buckets;
}
constexpr Window window_of(const Plan &plan, uint32_t bucket) {
  const uint64_t begin = bucket_target(plan, bucket), end = bucket_target(plan, bucket + 1);
  return {bucket == 0 ? 0 : begin - plan.slack, bucket + 1 == plan.buckets ? plan.n : end + plan.slack};
}

// Depends on the shape alone; does not apply where this sort cannot do the request in an eighth of its bytes. (Keys of
// 1 byte are counted on every device, so that their usual workspace is small.)
Plan make_plan(const Request &shape);

// Whether the kernels fit the device.
bool fits(const Plan &plan, const DeviceFacts &device);

void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_PLAN_H_
