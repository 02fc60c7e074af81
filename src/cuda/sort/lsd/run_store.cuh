// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the digit runs of a sorted tile to their places in memory.
#ifndef GSORT_CUDA_SORT_LSD_RUN_STORE_CUH_
#define GSORT_CUDA_SORT_LSD_RUN_STORE_CUH_

#include <cstdint>

#include "cuda/primitive/tile_shape.h"

namespace gsort_internal::sort::lsd {

// What sets the time of a store is the number of 128-byte lines that a warp's store touches, so half a warp writes one
// run in pieces that begin at multiples of 16 elements. A run that is much longer than the others would keep its half
// warp busy while the rest of the block waits: those are written by the whole block.
template <class Shape>
struct RunStorage {
  static constexpr uint32_t kLanes = 16;
  static constexpr uint32_t kGroups = Shape::kThreads / kLanes;
  static constexpr uint32_t kLongRunItems = 2 * Shape::kItems / kGroups;
  static constexpr uint32_t kLongRunsMax = kGroups / 2;

  uint64_t destination[kDigitBins];  // index in memory of place 0 of the tile, if all its keys had this digit
  uint32_t long_runs;
  uint8_t long_digits[kLongRunsMax];
};

// One thread a digit, before the barrier that precedes store_runs. long_runs is 0 before.
template <class Shape>
__device__ __forceinline__ void announce_run(RunStorage<Shape> &storage, uint32_t digit, uint32_t run_items,
                                             uint64_t destination) {
  storage.destination[digit] = destination;
  if (run_items > RunStorage<Shape>::kLongRunItems)
    storage.long_digits[atomicAdd(&storage.long_runs, 1u)] = static_cast<uint8_t>(digit);
}

// One run by `kStride` neighbouring threads, of which this is number `lane`. put(place) writes the item at a place of
// the tile; kUnroll places are in flight.
template <uint32_t kStride, uint32_t kUnroll, class Put>
__device__ __forceinline__ void store_run(uint32_t begin, uint32_t end, uint32_t lead, uint32_t lane, Put put) {
  // Lanes before the run's first element begin one piece later.
  uint32_t place = begin - lead + lane + (lane < lead ? kStride : 0);
#pragma unroll 1
  for (; place < end; place += kUnroll * kStride) {
#pragma unroll
    for (uint32_t i = 0; i < kUnroll; ++i)
      if (place + i * kStride < end) put(place + i * kStride);
  }
}

// Writes every place below `valid` of the tile. `phase`: elements that the destination array begins after a multiple of
// 16. make_put(destination) returns put(place), which writes the item of a place to index destination + place.
template <uint32_t kUnroll, class Shape, class MakePut>
__device__ __forceinline__ void store_runs(const RunStorage<Shape> &storage, const uint32_t *run_begin, uint32_t valid,
                                           uint32_t phase, MakePut make_put) {
  using Runs = RunStorage<Shape>;
  const uint32_t lane = threadIdx.x % Runs::kLanes;
#pragma unroll 1
  for (uint32_t digit = threadIdx.x / Runs::kLanes; digit < kDigitBins; digit += Runs::kGroups) {
    const uint32_t begin = run_begin[digit], end = run_begin[digit + 1];
    if (end - begin > Runs::kLongRunItems) continue;
    const uint64_t destination = storage.destination[digit];
    const uint32_t lead = (static_cast<uint32_t>(destination) + begin + phase) % Runs::kLanes;
    store_run<Runs::kLanes, kUnroll>(begin, min(end, valid), lead, lane, make_put(destination));
  }
#pragma unroll 1
  for (uint32_t run = 0; run < storage.long_runs; ++run) {
    const uint32_t digit = storage.long_digits[run];
    const uint32_t begin = run_begin[digit], end = run_begin[digit + 1];
    const uint64_t destination = storage.destination[digit];
    const uint32_t lead = (static_cast<uint32_t>(destination) + begin + phase) % Runs::kLanes;
    store_run<Shape::kThreads, (kUnroll + 1) / 2>(begin, min(end, valid), lead, threadIdx.x, make_put(destination));
  }
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_RUN_STORE_CUH_
