// SPDX-License-Identifier: MIT OR Apache-2.0
// The partition of a stripe: a block reads it from its front to its end, collects every bucket's items in the image of
// the slot where they belong, and writes full bricks back to the stripe's front. A brick is written when so many items
// have been read, so nothing is overtaken. Items keep their order within a bucket.
#ifndef GSORT_CUDA_SORT_IN_PLACE_PARTITION_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_PARTITION_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/in_place/job.cuh"
#include "cuda/sort/in_place/splitters.cuh"

namespace gsort_internal::sort::in_place {

// The static part of a block's shared memory.
template <class U, class V>
struct PartitionStorage {
  static constexpr uint32_t kItemBytes = Job<U, V>::kItemBytes, kWarps = kPartitionThreads / 32;
  // Every bucket can end one brick in its image, beside those in the tile.
  static constexpr uint32_t kBricksMax = kBucketsMax + tile_items(kItemBytes) / Job<U, V>::kBrick;
  Splitters<U> splitters;
  uint16_t warp_counts[kWarps][kBucketsMax];
  // Bricks that a tile fills:
  uint32_t from[kBricksMax];    // the first of their items in the block's memory
  uint32_t refill[kBricksMax];  // the first of what moves there then, or kNone
  uint32_t slot[kBricksMax];    // where they are written, or kNone: the piece of a slot that others begin
  uint32_t target[kBricksMax];  // where they belong; of a piece, the bucket
};
static_assert(sizeof(PartitionStorage<uint32_t, NoValue>) <= kPartitionStaticBytes &&
                  sizeof(PartitionStorage<uint64_t, uint4>) <= kPartitionStaticBytes &&
                  sizeof(PartitionStorage<uint32_t, uint32_t>) <= kPartitionStaticBytes,
              "the plan counts with this size");

// A thread's part of copying `kItems` items from shared memory, all in vectors; what refills their room follows, if
// anything does: a thread writes there what it has read itself.
template <uint32_t kThreads, uint32_t kItems, class T>
__device__ __forceinline__ void write_vectors(T *items, const T *refill, const T *end, T *to, uint32_t thread) {
  constexpr uint32_t kVector = 16 / sizeof(T), kVectors = kItems / kVector;
#pragma unroll
  for (uint32_t i = 0; i < (kVectors + kThreads - 1) / kThreads; ++i) {
    const uint32_t at = (i * kThreads + thread) * kVector;
    if (kVectors % kThreads != 0 && at >= kItems) break;
    auto *const here = reinterpret_cast<uint4 *>(items + at);
    *reinterpret_cast<uint4 *>(to + at) = *here;
    // Vectors behind what is left hold anything, and are not past the end.
    if (refill != nullptr && refill + at < end) *here = *reinterpret_cast<const uint4 *>(refill + at);
  }
}

// A block's stripe.
template <class U, class V>
class Partition {
 public:
  using Storage = PartitionStorage<U, V>;
  static constexpr uint32_t kItemBytes = Storage::kItemBytes, kWarps = Storage::kWarps;
  static constexpr uint32_t kRows = tile_rows(kItemBytes), kTile = tile_items(kItemBytes);
  static constexpr uint32_t kBrick = Job<U, V>::kBrick;
  static constexpr uint32_t kWriters = 128;  // threads that write a brick

  // `items`: block_items() of the block's dynamic shared memory; `stripe` has any number.
  __device__ __forceinline__ Partition(const Job<U, V> &job, Storage &storage, unsigned char *items)
      : job_(job),
        storage_(storage),
        keys_(reinterpret_cast<U *>(items)),
        values_(reinterpret_cast<V *>(items + block_items(kItemBytes, job.buckets) * sizeof(U))) {}

  __device__ __forceinline__ void run() {
    storage_.splitters.load(*job_.state);
    begin_images();
    slot_ = blockIdx.x * job_.stripe_slots;
    __syncthreads();
    const uint64_t end = job_.stripe_begin(blockIdx.x + 1);
    for (uint64_t at = job_.stripe_begin(blockIdx.x); at < end; at += kTile) {
      const uint64_t rest = end - at;
      take_tile(at, rest < kTile ? static_cast<uint32_t>(rest) : kTile);
    }
    finish();
  }

 private:
  // What a warp knows of a tile before its items are exchanged; of bucket b in lane b.
  struct Turn {
    uint32_t base;    // place in the image of the warp's first item
    uint32_t over;    // an item at place p >= kBrick goes to over + p
    uint32_t full;    // images
    uint32_t first;   // the first of them among the tile's
    uint32_t slot;    // where the first brick is written
    uint32_t sum;     // items in the image and the tile, and what the image lacks in front
    uint32_t images;  // of all buckets
    uint32_t bricks;  // of all buckets: images that no other stripe begins
  };

  // Lane b: the stripe's part of bucket b.
  __device__ __forceinline__ void begin_images() {
    const uint32_t bucket = lane_id();
    if (bucket >= job_.buckets) return;
    const uint64_t start = job_.starts[bucket * job_.stripes + blockIdx.x];
    target_ = static_cast<uint32_t>(start / kBrick);
    fill_ = lacks_ = static_cast<uint32_t>(start % kBrick);
  }

  __device__ __forceinline__ void take_tile(uint64_t at, uint32_t count) {
    const uint32_t first = threadIdx.x / 32 * (32 * kRows) + lane_id();
    U keys[kRows];
    V values[kHasValues<V> ? kRows : 1];
    load(job_.keys_in + at, first, count, keys);
    if constexpr (kHasValues<V>) load(job_.values_in + at, first, count, values);
    uint32_t found[(kRows + 1) / 2];
    classify(at + first, first, count, keys, found);
    __syncthreads();
    const Turn turn = plan_turn();
    const uint32_t base_and_over = turn.base | turn.over << 16;
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t what = found[row / 2] >> (row % 2 * 16), bucket = what & 15;
      const uint32_t both = __shfl_sync(kFullWarp, base_and_over, static_cast<int>(bucket));
      const uint32_t p = (what >> 4 & 0xfff) + (both & 0xffff),
                     to = p < kBrick ? bucket * kBrick + p : (both >> 16) + p;
      if (first + row * 32 < count) {
        keys_[to] = keys[row];
        if constexpr (kHasValues<V>) values_[to] = values[row];
      }
    }
    if (threadIdx.x < 32) list_images(turn);
    __syncthreads();
    write_images(turn);
    slot_ += turn.bricks;
    target_ += turn.full;
    if (turn.full != 0) lacks_ = 0;
    fill_ = turn.sum - turn.full * kBrick;
  }

  template <class T>
  __device__ __forceinline__ static void load(const T *from, uint32_t first, uint32_t count, T (&rows)[kRows]) {
    if (count == kTile) {
#pragma unroll
      for (uint32_t row = 0; row < kRows; ++row) rows[row] = from[first + row * 32];
    } else {
#pragma unroll
      for (uint32_t row = 0; row < kRows; ++row) rows[row] = first + row * 32 < count ? from[first + row * 32] : T{};
    }
    __syncwarp();
  }

  // Four bits of bucket and twelve of rank among the warp's for every item; leaves the warp's counts for the block.
  __device__ __forceinline__ void classify(uint64_t place, uint32_t first, uint32_t count, const U (&keys)[kRows],
                                           uint32_t (&found)[(kRows + 1) / 2]) {
    const uint32_t lane = lane_id();
    uint32_t counted = 0;  // of bucket `lane`
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t bucket = storage_.splitters.bucket_of(job_.codec.encode(keys[row]), place + row * 32);
      uint32_t own = __ballot_sync(kFullWarp, first + row * 32 < count), lanes = own;
#pragma unroll
      for (uint32_t bit = 0; bit < 4; ++bit) {
        const uint32_t set = __ballot_sync(kFullWarp, (bucket >> bit & 1) != 0);
        own &= (bucket >> bit & 1) != 0 ? set : ~set;
        lanes &= (lane >> bit & 1) != 0 ? set : ~set;
      }
      const uint32_t rank = __shfl_sync(kFullWarp, counted, static_cast<int>(bucket)) +
                            static_cast<uint32_t>(__popc(own & lanes_below()));
      counted += static_cast<uint32_t>(__popc(lanes));
      const uint32_t what = bucket | rank << 4;
      if (row % 2 == 0)
        found[row / 2] = what;
      else
        found[row / 2] |= what << 16;
    }
    if (lane < kBucketsMax) storage_.warp_counts[threadIdx.x / 32][lane] = static_cast<uint16_t>(counted);
  }

  // Every warp comes to the same, but for its own base.
  __device__ __forceinline__ Turn plan_turn() const {
    const uint32_t lane = lane_id(), warp = threadIdx.x / 32;
    uint32_t before = 0, all = 0;
    if (lane < job_.buckets) {
#pragma unroll
      for (uint32_t i = 0; i < kWarps; ++i) {
        const uint32_t count = storage_.warp_counts[i][lane];
        if (i < warp) before += count;
        all += count;
      }
    }
    Turn turn;
    turn.base = fill_ + before;
    turn.sum = fill_ + all;
    turn.full = turn.sum / kBrick;
    const uint32_t bricks = turn.full - (turn.full != 0 && lacks_ != 0 ? 1 : 0);
    const uint32_t beyond = turn.sum > kBrick ? (turn.sum - kBrick + kPartItems - 1) / kPartItems * kPartItems : 0;
    const uint32_t sums = warp_inclusive_sum(beyond | turn.full << 16 | bricks << 24);
    turn.over = job_.buckets * kBrick + (sums & 0xffff) - beyond - kBrick;
    turn.first = (sums >> 16 & 0xff) - turn.full;
    turn.slot = slot_ + (sums >> 24) - bricks;
    const uint32_t last = __shfl_sync(kFullWarp, sums, 31);
    turn.images = last >> 16 & 0xff;
    turn.bricks = last >> 24;
    return turn;
  }

  // By the first warp.
  __device__ __forceinline__ void list_images(const Turn &turn) {
    const uint32_t bucket = lane_id();
    uint32_t slot = turn.slot;
    for (uint32_t i = 0; i < turn.full; ++i) {
      const bool piece = i == 0 && lacks_ != 0;
      const uint32_t image = turn.first + i;
      storage_.from[image] = i == 0 ? bucket * kBrick : turn.over + i * kBrick;
      storage_.refill[image] = i == 0 ? turn.over + turn.full * kBrick : kNone;
      storage_.slot[image] = piece ? kNone : slot;
      storage_.target[image] = piece ? bucket : target_ + i;
      slot += piece ? 0 : 1;
    }
  }

  __device__ __forceinline__ void write_images(const Turn &turn) {
    const uint32_t thread = threadIdx.x % kWriters;
    for (uint32_t image = threadIdx.x / kWriters; image < turn.images; image += kPartitionThreads / kWriters) {
      const uint32_t from = storage_.from[image], refill = storage_.refill[image], slot = storage_.slot[image];
      const uint32_t target = storage_.target[image];
      if (slot == kNone) {
        const uint32_t part = target * job_.stripes + blockIdx.x;
        const auto lacks = static_cast<uint32_t>(job_.starts[part] % kBrick);
        write_image(from, lacks, refill, uint64_t{job_.piece_of[part]} * kBrick, job_.piece_keys, job_.piece_values,
                    thread);
        continue;
      }
      const uint64_t to = uint64_t{slot} * kBrick;
      if (job_.vectors) {
        write_brick(from, refill, to, thread);
      } else {
        write_image(from, 0, refill, to, job_.keys, job_.values, thread);
      }
      if (thread == 0) {
        job_.source[target] = slot;
        job_.target[slot] = target;
      }
    }
  }

  __device__ __forceinline__ void write_brick(uint32_t from, uint32_t refill, uint64_t to, uint32_t thread) {
    const uint32_t end = block_items(kItemBytes, job_.buckets);
    const bool refills = refill != kNone;
    write_vectors<kWriters, kBrick>(keys_ + from, refills ? keys_ + refill : nullptr, keys_ + end, job_.keys + to,
                                    thread);
    if constexpr (kHasValues<V>)
      write_vectors<kWriters, kBrick>(values_ + from, refills ? values_ + refill : nullptr, values_ + end,
                                      job_.values + to, thread);
  }

  // The image's items from number `first` on to their places, its own first being that of number 0, item by item; what
  // refills it follows. As in write_vectors() a thread writes there what it has read itself.
  __device__ __forceinline__ void write_image(uint32_t from, uint32_t first, uint32_t refill, uint64_t to, U *keys,
                                              V *values, uint32_t thread) {
    const uint32_t end = block_items(kItemBytes, job_.buckets);
    for (uint32_t i = thread; i < kBrick; i += kWriters) {
      if (i >= first) {
        keys[to + i] = keys_[from + i];
        if constexpr (kHasValues<V>) values[to + i] = values_[from + i];
      }
      if (refill == kNone || refill + i >= end) continue;
      keys_[from + i] = keys_[refill + i];
      if constexpr (kHasValues<V>) values_[from + i] = values_[refill + i];
    }
  }

  // `count` items of the block's memory to place `to` of the arrays.
  __device__ __forceinline__ void write_items(uint32_t from, uint32_t count, uint64_t to, U *keys, V *values,
                                              uint32_t thread, uint32_t threads) const {
    for (uint32_t i = thread; i < count; i += threads) {
      keys[to + i] = keys_[from + i];
      if constexpr (kHasValues<V>) values[to + i] = values_[from + i];
    }
  }

  // What fills no image whole. A warp a bucket.
  __device__ __forceinline__ void finish() {
    __syncthreads();
    static_assert(kWarps >= kBucketsMax, "a warp has one bucket at most");
    const uint32_t bucket = threadIdx.x / 32;
    const uint32_t fill = __shfl_sync(kFullWarp, fill_, static_cast<int>(bucket));
    const uint32_t lacks = __shfl_sync(kFullWarp, lacks_, static_cast<int>(bucket));
    if (bucket >= job_.buckets || fill <= lacks) return;
    const uint32_t piece = job_.piece_of[bucket * job_.stripes + blockIdx.x + 1];
    write_items(bucket * kBrick + lacks, fill - lacks, uint64_t{piece} * kBrick + lacks, job_.piece_keys,
                job_.piece_values, lane_id(), 32);
  }

  const Job<U, V> &job_;
  Storage &storage_;
  U *const keys_;  // a brick of every bucket, then a tile
  V *const values_;
  uint32_t slot_;  // where the next brick is written
  // Lane b, of bucket b:
  uint32_t target_ = 0;  // the slot whose image is being filled
  uint32_t fill_ = 0;    // place in the image of the bucket's next item
  uint32_t lacks_ = 0;   // items at the image's front that other stripes have
};

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_PARTITION_CUH_
