// SPDX-License-Identifier: MIT OR Apache-2.0
// The first step of the partition: a block reads a stripe of the array from its front to its end, and writes full
// bricks of every bucket back to the front. A brick is written when so many keys have been read, so nothing is
// overtaken.
#ifndef GSORT_CUDA_SORT_IN_PLACE_CLASSIFY_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_CLASSIFY_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/in_place/job.cuh"
#include "cuda/sort/in_place/sample.cuh"

namespace gsort_internal::sort::in_place {

// Splitters in shared memory, padded to a power of two by ones that nothing reaches.
template <class U>
struct Splitters {
  U key[kBucketsMax];
  uint32_t tie[kBucketsMax];

  // The number of splitters that the key reaches.
  __device__ __forceinline__ uint32_t bucket_of(U ordered, uint32_t tie_bits) const {
    uint32_t bucket = 0;
#pragma unroll
    for (uint32_t step = kBucketsMax / 2; step != 0; step /= 2) {
      const uint32_t i = bucket + step - 1;
      const U other = key[i];
      const bool reaches = ordered > other || (ordered == other && tie_bits >= tie[i]);
      bucket += reaches ? step : 0;
    }
    return bucket;
  }
};

// What keys of a tile lie where in the array.
struct TilePlace {
  uint64_t at;     // of the first key
  uint32_t count;  // of keys
  // The last stripe's last tile has the keys that lie in no slot: those behind the last slot, then the head.
  bool outside;
  uint32_t tail;

  __device__ __forceinline__ uint64_t of(uint32_t i) const {
    if (!outside) return at + i;
    return i < tail ? at + i : i - tail;
  }
};

// The static part of a block's shared memory.
template <class U>
struct ClassifyStorage {
  using Shape = ClassifyShape<sizeof(U)>;
  static constexpr uint32_t kWarps = Shape::kThreads / 32;
  // Every bucket can end one brick in its buffer, beside those in the tile.
  static constexpr uint32_t kBricksMax = kBucketsMax + Shape::kTile / brick_keys(sizeof(U));
  Splitters<U> splitters;
  uint32_t warp_counts[kWarps][kBucketsMax / 2];  // two buckets a word
  // Bricks that a tile fills: where they lie, in vectors from `keys`; what refills a buffer, kNothing: no buffer.
  uint32_t brick_source[kBricksMax], brick_refill[kBricksMax];
  uint8_t brick_label[kBricksMax];
};
static_assert(sizeof(ClassifyStorage<uint32_t>) <= kClassifyStaticBytes &&
                  sizeof(ClassifyStorage<uint64_t>) <= kClassifyStaticBytes,
              "the plan counts with this size");
constexpr uint32_t kNothing = ~0u;

// A block's stripe.
template <class U>
class Classifier {
 public:
  using Shape = ClassifyShape<sizeof(U)>;
  using Storage = ClassifyStorage<U>;
  static constexpr uint32_t kThreads = Shape::kThreads, kItems = Shape::kItems, kTile = Shape::kTile;
  static constexpr uint32_t kWarps = Storage::kWarps, kWords = kBucketsMax / 2;
  static constexpr uint32_t kBrick = brick_keys(sizeof(U)), kVector = 16 / sizeof(U);

  __device__ __forceinline__ Classifier(const Job<U> &job, Storage &storage, U *keys, uint32_t *ranks)
      : job_(job), storage_(storage), keys_(keys), ranks_(ranks + threadIdx.x / 32 * ((job.buckets + 1) / 2) * 32) {}

  __device__ __forceinline__ void run() {
    if (threadIdx.x < kBucketsMax) {
      storage_.splitters.key[threadIdx.x] = static_cast<U>(job_.state->splitter[threadIdx.x]);
      storage_.splitters.tie[threadIdx.x] = job_.state->splitter_tie[threadIdx.x];
    }
    ties_ = job_.state->has_ties != 0;
    __syncthreads();
    const uint32_t first_slot = blockIdx.x * job_.stripe_slots;
    const uint32_t last_slot = min(first_slot + job_.stripe_slots, job_.grid.slots);
    const uint64_t begin = job_.grid.head + uint64_t{first_slot} * kBrick;
    const uint64_t end = job_.grid.head + uint64_t{last_slot} * kBrick;
    slot_ = first_slot;
    for (uint64_t at = begin; at < end; at += kTile) {
      const uint64_t rest = end - at;
      take_tile({at, rest < kTile ? static_cast<uint32_t>(rest) : kTile, false, 0});
    }
    if (blockIdx.x + 1 == gridDim.x) {
      const uint32_t tail = static_cast<uint32_t>(job_.grid.n - end);
      const uint32_t outside = tail + static_cast<uint32_t>(job_.grid.head);
      if (outside != 0) take_tile({end, outside, true, tail});
    }
    finish(last_slot);
  }

 private:
  __device__ __forceinline__ void take_tile(const TilePlace &place) {
    U keys[kItems];
    load(place, keys);
    uint32_t found[(kItems + 3) / 4];
    const unsigned long long counts = classify(place, keys, found);
    count_warp(counts);
    __syncthreads();
    const Turn turn = plan_turn();
    scatter(place, keys, found, turn);
    if (threadIdx.x < 32) list_bricks(turn);
    __syncthreads();
    write_bricks(turn);
  }

  // What a warp knows of a tile before its keys are exchanged; of bucket b in lane b.
  struct Turn {
    uint32_t base;    // place in the bucket of the warp's first key, those in the buffer counted
    uint32_t over;    // a key at place p >= kBrick of the bucket goes to keys_[over + p]
    uint32_t full;    // bricks
    uint32_t brick;   // the first of them among the tile's
    uint32_t sum;     // keys in the buffer and the tile
    uint32_t bricks;  // of all buckets
  };

  __device__ __forceinline__ void load(const TilePlace &place, U (&keys)[kItems]) const {
    if (place.count == kTile) {
      const U *const from = job_.keys_in + place.at + threadIdx.x;
#pragma unroll
      for (uint32_t i = 0; i < kItems; ++i) keys[i] = from[i * kThreads];
    } else {
#pragma unroll
      for (uint32_t i = 0; i < kItems; ++i) {
        const uint32_t item = i * kThreads + threadIdx.x;
        keys[i] = item < place.count ? job_.keys_in[place.of(item)] : U{0};
      }
    }
  }

  // Four bits of bucket and four of rank among the thread's own for every key in `found`; returns the thread's counts,
  // four bits a bucket.
  __device__ __forceinline__ unsigned long long classify(const TilePlace &place, const U (&keys)[kItems],
                                                         uint32_t (&found)[(kItems + 3) / 4]) const {
    unsigned long long counts = 0;
#pragma unroll
    for (uint32_t i = 0; i < (kItems + 3) / 4; ++i) found[i] = 0;
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
      const uint32_t item = i * kThreads + threadIdx.x;
      const uint32_t tie = ties_ ? tie_of(place.of(item)) : 0;
      const uint32_t bucket = storage_.splitters.bucket_of(job_.codec.encode(keys[i]), tie);
      if (item >= place.count) continue;
      const uint32_t rank = static_cast<uint32_t>(counts >> (4 * bucket)) & 15;
      counts += 1ull << (4 * bucket);
      found[i / 4] |= (bucket | rank << 4) << (i % 4 * 8);
    }
    return counts;
  }

  // Leaves how many keys of every bucket the lanes before have in ranks_, and the warp's counts for the block.
  __device__ __forceinline__ void count_warp(unsigned long long counts) {
    const uint32_t words = (job_.buckets + 1) / 2;
#pragma unroll
    for (uint32_t word = 0; word < kWords; ++word) {
      if (word >= words) continue;
      const uint32_t both = static_cast<uint32_t>(counts >> (8 * word)) & 0xff;
      const uint32_t own = (both & 15) | both >> 4 << 16;
      const uint32_t inclusive = warp_inclusive_sum(own);
      ranks_[word * 32 + lane_id()] = inclusive - own;
      if (lane_id() == 31) storage_.warp_counts[threadIdx.x / 32][word] = inclusive;
    }
    __syncwarp();
  }

  // Every warp comes to the same, but for its own base.
  __device__ __forceinline__ Turn plan_turn() const {
    const uint32_t lane = lane_id(), warp = threadIdx.x / 32, words = (job_.buckets + 1) / 2;
    uint32_t before = 0, all = 0;
    if (lane < words) {
#pragma unroll
      for (uint32_t i = 0; i < kWarps; ++i) {
        const uint32_t count = storage_.warp_counts[i][lane];
        if (i < warp) before += count;
        all += count;
      }
    }
    const uint32_t half = lane % 2 * 16;
    before = __shfl_sync(kFullWarp, before, lane / 2) >> half & 0xffff;
    all = __shfl_sync(kFullWarp, all, lane / 2) >> half & 0xffff;
    if (lane >= job_.buckets) all = 0, before = 0;
    Turn turn;
    turn.base = fill_ + before;
    turn.sum = fill_ + all;
    turn.full = turn.sum / kBrick;
    const uint32_t beyond = turn.sum > kBrick ? (turn.sum - kBrick + kVector - 1) / kVector * kVector : 0;
    const uint32_t both = warp_inclusive_sum(beyond | turn.full << 20);
    turn.over = job_.buckets * kBrick + (both & 0xfffff) - beyond - kBrick;
    turn.brick = (both >> 20) - turn.full;
    turn.bricks = __shfl_sync(kFullWarp, both, 31) >> 20;
    return turn;
  }

  // Every key to its buffer, or to its bucket's part of the tile.
  __device__ __forceinline__ void scatter(const TilePlace &place, const U (&keys)[kItems],
                                          const uint32_t (&found)[(kItems + 3) / 4], const Turn &turn) {
    const auto *const ranks = reinterpret_cast<const uint16_t *>(ranks_) + 2 * lane_id();
    const uint32_t both = turn.base | turn.over << 16;
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
      const uint32_t what = found[i / 4] >> (i % 4 * 8), bucket = what & 15;
      const uint32_t base_and_over = __shfl_sync(kFullWarp, both, static_cast<int>(bucket));
      const uint32_t p = ranks[bucket / 2 * 64 + bucket % 2] + (what >> 4 & 15) + (base_and_over & 0xffff);
      const uint32_t to = p < kBrick ? bucket * kBrick + p : (base_and_over >> 16) + p;
      if (i * kThreads + threadIdx.x < place.count) keys_[to] = keys[i];
    }
  }

  // By the first warp.
  __device__ __forceinline__ void list_bricks(const Turn &turn) {
    const uint32_t bucket = lane_id();
    for (uint32_t i = 0; i < turn.full; ++i) {
      const uint32_t brick = turn.brick + i;
      storage_.brick_source[brick] = (i == 0 ? bucket * kBrick : turn.over + i * kBrick) / kVector;
      storage_.brick_refill[brick] = i == 0 ? (turn.over + turn.full * kBrick) / kVector : kNothing;
      storage_.brick_label[brick] = static_cast<uint8_t>(bucket);
    }
    bricks_ += turn.full;
  }

  // Two bricks at a time. What is left of a bucket in the tile goes to the buffer that was written: a thread writes
  // there what it has read itself.
  __device__ __forceinline__ void write_bricks(const Turn &turn) {
    static_assert(kThreads == 2 * kBrickVectors, "every thread has one vector of a brick");
    auto *const vectors = reinterpret_cast<uint4 *>(keys_);
    auto *const out = reinterpret_cast<uint4 *>(job_.slot(slot_));
    const uint32_t vector = threadIdx.x % kBrickVectors;
    for (uint32_t brick = threadIdx.x / kBrickVectors; brick < turn.bricks; brick += 2) {
      const uint32_t source = storage_.brick_source[brick] + vector, refill = storage_.brick_refill[brick];
      out[uint64_t{brick} * kBrickVectors + vector] = vectors[source];
      // Vectors behind what is left hold anything, and are not past the tile's end.
      if (refill != kNothing && refill + vector < end_of_keys()) vectors[source] = vectors[refill + vector];
      if (vector == 0) job_.labels[slot_ + brick] = storage_.brick_label[brick];
    }
    slot_ += turn.bricks;
    fill_ = turn.sum - turn.full * kBrick;
  }
  __device__ __forceinline__ uint32_t end_of_keys() const {
    return (job_.buckets * (kBrick + kVector) + kTile) / kVector;
  }

  // What fills no brick goes to the lists.
  __device__ __forceinline__ void finish(uint32_t last_slot) {
    __syncthreads();
    for (uint32_t slot = slot_ + threadIdx.x; slot < last_slot; slot += kThreads) job_.labels[slot] = kHole;
    if (threadIdx.x < job_.buckets && bricks_ != 0) atomicAdd(&job_.state->bricks[threadIdx.x], bricks_);
    static_assert(kWarps >= kBucketsMax, "a warp has one bucket at most");
    const uint32_t bucket = threadIdx.x / 32;
    const uint32_t count = __shfl_sync(kFullWarp, fill_, static_cast<int>(bucket));
    if (bucket >= job_.buckets || count == 0) return;
    unsigned long long room = 0;
    if (lane_id() == 0) room = atomicAdd(&job_.state->left[bucket], count);
    room = __shfl_sync(kFullWarp, room, 0);
    U *const to = job_.left_of(bucket) + room;
    for (uint32_t i = lane_id(); i < count; i += 32) to[i] = keys_[bucket * kBrick + i];
  }

  const Job<U> &job_;
  Storage &storage_;
  U *const keys_;          // a brick of every bucket, then a tile
  uint32_t *const ranks_;  // of this warp: a word of every lane for two buckets
  bool ties_;
  uint32_t slot_;        // where the next brick goes
  uint32_t fill_ = 0;    // lane b: keys in the buffer of bucket b
  uint32_t bricks_ = 0;  // lane b of the first warp: bricks of bucket b
};

// Where in dynamic shared memory the ranks lie: behind the keys.
template <class U>
__device__ __forceinline__ uint32_t *ranks_behind(U *keys, uint32_t buckets) {
  using Classify = Classifier<U>;
  return reinterpret_cast<uint32_t *>(keys + buckets * (Classify::kBrick + Classify::kVector) + Classify::kTile);
}

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_CLASSIFY_CUH_
