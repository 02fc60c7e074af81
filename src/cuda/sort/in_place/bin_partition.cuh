// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys alone come to the bins of an MSD sort, in place. A block reads a stripe of the array from its front to its end,
// collects each bin's keys in a brick of 512 bytes, and writes full bricks back to the stripe's front: as much has been
// read by then. A brick is for the next slot of its bin that is left; the moves (moves.cuh) bring it there. What fills
// no brick goes to the workspace, and from there to both ends of the bin. Unstable. Keys are in ordered bits then.
// (Axtmann, Witt, Ferizovic and Sanders, "In-place parallel super scalar samplesort", 2017.)
#ifndef GSORT_CUDA_SORT_IN_PLACE_BIN_PARTITION_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_BIN_PARTITION_CUH_

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/primitive/search.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/in_place/cells_job.cuh"
#include "cuda/sort/msd/partition.cuh"

namespace gsort_internal::sort::in_place {

// The static part of a block's shared memory.
template <class U>
struct BinStorage {
  static constexpr uint32_t kImagesMax = kBinsMax + bin_tile_keys(sizeof(U)) / CellsJob<U>::kBrick;
  uint32_t counts[kBinsMax];  // of the tile's keys
  uint32_t fill[kBinsMax];    // keys in the brick before the tile
  uint32_t over[kBinsMax];    // a key of number p >= kBrick goes to over + p
  uint32_t warp_totals[kBinThreads / 32];
  // Bricks that a tile fills:
  uint16_t from[kImagesMax];    // the first of their keys, in the block's memory
  uint16_t refill[kImagesMax];  // the first of what moves there then, or kNoRefill
  uint16_t bin[kImagesMax];
  uint32_t target[kImagesMax];  // the slot, or kNone: there is no slot left for it
};
static_assert(sizeof(BinStorage<uint32_t>) <= kBinStaticBytes && sizeof(BinStorage<uint64_t>) <= kBinStaticBytes,
              "the plan counts with this size");
constexpr uint32_t kNoRefill = 0xffff;
static_assert(kBinsMax * CellsJob<uint32_t>::kBrick + bin_area_keys(4, kBinsMax) <= kNoRefill, "places have 16 bits");
static_assert(kBinsMax <= msd::kNoBin, "bins are told from no bin");

// A block's stripe.
template <class U, bool kMapped>
class BinPartition {
 public:
  using Storage = BinStorage<U>;
  static constexpr uint32_t kBrick = CellsJob<U>::kBrick, kRows = bin_tile_rows(sizeof(U)),
                            kTile = bin_tile_keys(sizeof(U)), kVector = 16 / sizeof(U);

  // `memory`: bin_block_bytes() of dynamic shared memory: a brick of each bin, then the tile, or the map.
  __device__ __forceinline__ BinPartition(const CellsJob<U> &job, Storage &storage, unsigned char *memory)
      : job_(job), storage_(storage), keys_(reinterpret_cast<U *>(memory)) {
    const msd::Cut cut = msd::cut_of(job.arguments);
    bins_ = cut.bins();
    bin_of_.shift = cut.second_bits;
    bin_of_.mask = ~0u;
    bin_of_.align = msd::map_align(job.arguments);
    bin_of_.cells = bins_;
    bin_of_.map = reinterpret_cast<const uint32_t *>(keys_ + bins_ * kBrick);
    bin_of_.frequent = nullptr;
    if constexpr (!kMapped && sizeof(U) == 8) {
      bin_of_.shift += msd::bits_below_cell(job.arguments);
      bin_of_.mask = bins_ - 1;
    }
    if constexpr (!kMapped && sizeof(U) == 4) bin_of_.align = msd::even_align(job.arguments);
  }

  __device__ __forceinline__ void run() {
    const uint32_t first = blockIdx.x * job_.stripe_slots, own = threadIdx.x;
    const uint64_t begin = min(uint64_t{first} * kBrick, job_.n),
                   end = min(begin + uint64_t{job_.stripe_slots} * kBrick, job_.n);
    slot_ = first;
    if (own < bins_) {
      storage_.counts[own] = 0;
      const BinSlots slots = slots_of_bin(job_, own);
      first_slot_ = slots.first, slots_ = slots.count;
    }
    for (uint64_t at = begin; at < end; at += kTile)
      take_tile(at, static_cast<uint32_t>(min(end - at, uint64_t{kTile})), end);
    leave_rest();
  }

 private:
  __device__ __forceinline__ void take_tile(uint64_t at, uint32_t count, uint64_t end) {
    U keys[kRows];
    load(at, count, keys);
    if (threadIdx.x == 0) prefetch_to_l2(job_.keys_in, at + kTile, kTile, end);
    if constexpr (kMapped) {
      auto *const map = reinterpret_cast<uint4 *>(keys_ + bins_ * kBrick);
      for (uint32_t i = threadIdx.x; i < msd::kMapEntries / 4; i += kBinThreads)
        map[i] = reinterpret_cast<const uint4 *>(job_.arguments.map)[i];
    }
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) keys[row] = job_.codec.encode(keys[row]);
    __syncthreads();
    msd::Ranks<kRows> ranks;
    if (count != kTile)
      msd::rank_tile<U, kRows, false, kBinThreads>(keys, count, bin_of_, storage_.counts, ranks);
    else if (msd::neighbours_are_alike(keys[0], bin_of_))
      msd::rank_alike_tile(keys, bin_of_, storage_.counts, ranks);
    else
      msd::rank_tile<U, kRows, true, kBinThreads>(keys, count, bin_of_, storage_.counts, ranks);
    __syncthreads();
    const Turn turn = plan_turn();
    __syncthreads();
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      if (count != kTile && row * kBinThreads + threadIdx.x >= count) continue;
      const uint32_t bin = kMapped ? ranks.bin(row) : bin_of_(keys[row]);
      const uint32_t p = storage_.fill[bin] + ranks.place(row);
      keys_[p < kBrick ? bin * kBrick + p : storage_.over[bin] + p] = keys[row];
    }
    list_images(turn);
    __syncthreads();
    write_images(turn.images);
    slot_ += turn.images;
    __syncthreads();
  }

  __device__ __forceinline__ void load(uint64_t at, uint32_t count, U (&keys)[kRows]) const {
    const U *const from = job_.keys_in + at + threadIdx.x;
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row)
      keys[row] = count == kTile || row * kBinThreads + threadIdx.x < count ? __ldcs(from + row * kBinThreads) : U{0};
  }

  // Of the thread's bin, if it has one.
  struct Turn {
    uint32_t full;    // bricks
    uint32_t first;   // number of the first of them
    uint32_t over;    // see BinStorage
    uint32_t brick;   // of the bin, that the first one is
    uint32_t images;  // of all bins
  };

  __device__ __forceinline__ Turn plan_turn() {
    const uint32_t own = threadIdx.x, count = own < bins_ ? storage_.counts[own] : 0, all = fill_ + count;
    Turn turn;
    turn.full = all / kBrick;
    turn.brick = turn.full != 0 ? atomicAdd(&job_.bricks[own], turn.full) : 0;
    const uint32_t beyond = all > kBrick ? (all - kBrick + kVector - 1) / kVector * kVector : 0;
    uint32_t total;
    const uint32_t sums = block_exclusive_sum<kBinThreads>(beyond | turn.full << 16, storage_.warp_totals, total);
    turn.first = sums >> 16;
    turn.over = (bins_ - 1) * kBrick + (sums & 0xffff);
    turn.images = total >> 16;
    if (own < bins_) {
      storage_.fill[own] = fill_;
      storage_.over[own] = turn.over;
      storage_.counts[own] = 0;
    }
    fill_ = all - turn.full * kBrick;
    return turn;
  }

  __device__ __forceinline__ void list_images(const Turn &turn) {
    const uint32_t own = threadIdx.x;
    for (uint32_t i = 0; i < turn.full; ++i) {
      const uint32_t image = turn.first + i, brick = turn.brick + i;
      storage_.from[image] = static_cast<uint16_t>(i == 0 ? own * kBrick : turn.over + i * kBrick);
      storage_.refill[image] = static_cast<uint16_t>(i == 0 && fill_ != 0 ? turn.over + turn.full * kBrick : kNoRefill);
      storage_.bin[image] = static_cast<uint16_t>(own);
      storage_.target[image] = brick < slots_ ? first_slot_ + brick : kNone;
    }
  }

  // A warp a brick.
  __device__ __forceinline__ void write_images(uint32_t images) {
    static_assert(kBrick == 32 * kVector, "a vector a lane");
    for (uint32_t image = threadIdx.x / 32; image < images; image += kBinThreads / 32) {
      U *const from = keys_ + storage_.from[image];
      const uint32_t refill = storage_.refill[image], target = storage_.target[image], slot = slot_ + image;
      if (target == kNone) {
        U *const to = take_room(storage_.bin[image], kBrick);
        for (uint32_t i = lane_id(); i < kBrick; i += 32) to[i] = from[i];
      } else {
        U *const to = job_.keys + uint64_t{slot} * kBrick;
        if (job_.vectors)
          reinterpret_cast<uint4 *>(to)[lane_id()] = reinterpret_cast<const uint4 *>(from)[lane_id()];
        else
          for (uint32_t i = lane_id(); i < kBrick; i += 32) to[i] = from[i];
        if (lane_id() == 0) {
          job_.source[target] = slot;
          job_.target[slot] = target;
        }
      }
      if (refill == kNoRefill) continue;
      __syncwarp();
      // Vectors behind what is left hold anything, and are not past the end: see bin_area_keys().
      reinterpret_cast<uint4 *>(from)[lane_id()] = reinterpret_cast<const uint4 *>(keys_ + refill)[lane_id()];
    }
  }

  // Room in the workspace for `count` keys of a bin. By a warp.
  __device__ __forceinline__ U *take_room(uint32_t bin, uint32_t count) const {
    uint32_t first = 0;
    if (lane_id() == 0) first = atomicAdd(&job_.left_count[bin], count);
    return job_.left + uint64_t{bin} * job_.left_each + __shfl_sync(kFullWarp, first, 0);
  }

  __device__ __forceinline__ void leave_rest() {
    if (threadIdx.x < bins_) storage_.fill[threadIdx.x] = fill_;
    __syncthreads();
    for (uint32_t bin = threadIdx.x / 32; bin < bins_; bin += kBinThreads / 32) {
      const uint32_t count = storage_.fill[bin];
      if (count == 0) continue;
      U *const to = take_room(bin, count);
      for (uint32_t i = lane_id(); i < count; i += 32) to[i] = keys_[bin * kBrick + i];
    }
  }

  const CellsJob<U> &job_;
  Storage &storage_;
  U *const keys_;
  msd::Bins<U, kMapped, false> bin_of_;
  uint32_t bins_;
  uint32_t slot_;  // where the next brick is written
  // Of the thread's bin:
  uint32_t first_slot_ = 0, slots_ = 0;  // see BinSlots
  uint32_t fill_ = 0;                    // keys in its brick
};

// A stripe a block. Dynamic shared memory: bin_block_bytes().
template <class U>
__global__ void __launch_bounds__(kBinThreads, 1) bin_partition_kernel(const __grid_constant__ CellsJob<U> job) {
  if constexpr (!CellsJob<U>::kHasCode) return;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ BinStorage<U> storage;
  if (job.arguments.state->go == 0) return;
  if (job.arguments.state->mapped != 0)
    BinPartition<U, true>(job, storage, shared).run();
  else
    BinPartition<U, false>(job, storage, shared).run();
}

constexpr uint32_t kLeftThreads = 256;

// What filled no brick comes to the two ends of its bin, and the cursors of the bin's cells become places in the
// scratch memory of its batch. A block a bin, once bricks lie in their slots.
template <class U>
__global__ void __launch_bounds__(kLeftThreads) bin_left_kernel(const __grid_constant__ CellsJob<U> job) {
  if constexpr (!CellsJob<U>::kHasCode) return;
  constexpr uint32_t kBrick = CellsJob<U>::kBrick;
  const msd::Arguments<U> &arguments = job.arguments;
  if (arguments.state->go == 0) return;
  const msd::Cut cut = msd::cut_of(arguments);
  if (blockIdx.x >= cut.bins()) return;
  const BinSlots slots = slots_of_bin(job, blockIdx.x);
  const uint32_t front = min(slots.first * kBrick, slots.end) - slots.begin;
  const uint32_t bricks = min(job.bricks[blockIdx.x], slots.count);
  const U *const left = job.left + uint64_t{blockIdx.x} * job.left_each;
  for (uint32_t i = threadIdx.x; i < slots.end - slots.begin - bricks * kBrick; i += kLeftThreads)
    job.keys[slots.begin + (i < front ? i : i + bricks * kBrick)] = left[i];
  const uint32_t first = blockIdx.x << cut.second_bits;
  uint32_t batch = 0;
  while (job.batches[batch].end_cell <= first) ++batch;
  const uint32_t place = job.batches[batch].place;
  for (uint32_t cell = threadIdx.x; cell < 1u << cut.second_bits; cell += kLeftThreads)
    arguments.room[first + cell] -= place;
}

constexpr uint32_t kBatchThreads = 512;
static_assert(kBatchThreads >= kBinsMax + 1, "a thread a bin, and one for the end");

// Shares the bins out to batches, one behind the other, each with no more keys than there is room for. Where these are
// too many, or a bin has too many keys, the keys are turned away. One block, behind the counts.
template <class U>
__global__ void __launch_bounds__(kBatchThreads) batches_kernel(const __grid_constant__ CellsJob<U> job) {
  if constexpr (!CellsJob<U>::kHasCode) return;
  __shared__ uint32_t first[kBinsMax + 1], begins[kBatchesMax + 1];
  const msd::Arguments<U> &arguments = job.arguments;
  if (arguments.state->go == 0) {
    if (threadIdx.x == 0) *job.done = arguments.state->sorted;
    return;
  }
  const msd::Cut cut = msd::cut_of(arguments);
  const uint32_t bins = cut.bins();
  if (threadIdx.x <= bins) first[threadIdx.x] = arguments.bin_first[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t bin = 0;
    for (uint32_t batch = 0; batch <= kBatchesMax; ++batch) {
      begins[batch] = bin;
      const uint32_t most = min(job.batch_bins, bins - bin);
      bin += first_that(most, [&](uint32_t i) { return first[bin + i + 1] - first[bin] > job.batch_keys; });
    }
    *job.done = begins[kBatchesMax] == bins;
  }
  __syncthreads();
  if (begins[kBatchesMax] != bins) {
    if (threadIdx.x == 0) msd::turn_away(arguments.state);
    return;
  }
  if (threadIdx.x >= kBatchesMax) return;
  const uint32_t begin = begins[threadIdx.x], end = begins[threadIdx.x + 1];
  job.batches[threadIdx.x] = {begin << cut.second_bits, end << cut.second_bits, arguments.first_tile[begin],
                              arguments.first_tile[end], first[begin]};
}

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_BIN_PARTITION_CUH_
