// SPDX-License-Identifier: MIT OR Apache-2.0
// Crowded cells of 4-byte keys whose values are counted: by one block, some values at a time, or, where a cell has as
// many keys as values, by many blocks into a table in place of its keys of the pass before. What was counted is written
// out. No order and no distribution of the keys matters to it.
#ifndef GSORT_CUDA_SORT_MSD_VALUES_CUH_
#define GSORT_CUDA_SORT_MSD_VALUES_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/search.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

// Of a block of kThreads with kWords counters.
template <uint32_t kBlockThreads, uint32_t kWords>
struct ValueStorage {
  static constexpr uint32_t kThreads = kBlockThreads;
  static constexpr uint32_t kOwnWords = kWords / kThreads;  // of a thread
  static constexpr uint32_t kPiece = kValuePlaces * kThreads;
  static_assert(32 % kOwnWords == 0, "padding lies between threads");
  alignas(16) uint32_t counters[kWords / 32 * 33];  // see padded_word
  alignas(16) uint32_t piece[kPiece];
  uint32_t warp_totals[kThreads / 32];
  uint32_t warp_latest[kThreads / 32];
};
using CountStorage = ValueStorage<kCrowdThreads, kValueWords>;
using WriteStorage = ValueStorage<kValueWriteThreads, kValuePart>;

// A word more after every 32, so that threads that own some neighbours each meet few bank conflicts.
__device__ __forceinline__ uint32_t padded_word(uint32_t word) { return word + word / 32; }

// The values that a thread owns, of neighbouring counters, one after the other.
template <class Storage>
struct OwnValues {
  const uint32_t *counters;
  uint32_t left = 0;  // words that are not 0 and come later
  uint32_t sum = 0;

  explicit __device__ __forceinline__ OwnValues(const Storage &storage)
      : counters(storage.counters + padded_word(threadIdx.x * Storage::kOwnWords)) {
#pragma unroll 8
    for (uint32_t i = 0; i < Storage::kOwnWords; ++i) {
      const uint32_t word = counters[i];
      sum += word;
      if (word != 0) left |= 1u << i;
    }
  }
  // Its number in the block and how often it occurs. Returns whether there is one.
  __device__ __forceinline__ bool next(uint32_t &value, uint32_t &count) {
    if (left == 0) return false;
    const uint32_t word = __ffs(static_cast<int>(left)) - 1;
    left &= left - 1;
    value = threadIdx.x * Storage::kOwnWords + word;
    count = counters[word];
    return true;
  }
};

// Every place has the number of the last one before it that is not 0, which is the greatest. By the whole block.
template <class Storage>
__device__ __forceinline__ void spread_numbers(Storage &storage) {
  static_assert(kValuePlaces == 8, "two vectors");
  uint4 *const own_places = reinterpret_cast<uint4 *>(storage.piece) + 2 * threadIdx.x;
  uint4 low = own_places[0], high = own_places[1];
  low.y = max(low.x, low.y), low.z = max(low.y, low.z), low.w = max(low.z, low.w);
  high.x = max(low.w, high.x), high.y = max(high.x, high.y), high.z = max(high.y, high.z), high.w = max(high.z, high.w);
  const uint32_t latest = warp_inclusive_max(high.w);
  const uint32_t below = __shfl_up_sync(kFullWarp, latest, 1);
  if (lane_id() == 31) storage.warp_latest[threadIdx.x / 32] = latest;
  __syncthreads();
  uint32_t before = warp_greatest(lane_id() < threadIdx.x / 32 ? storage.warp_latest[lane_id()] : 0u);
  if (lane_id() != 0) before = max(before, below);
  own_places[0] = make_uint4(max(low.x, before), max(low.y, before), max(low.z, before), max(low.w, before));
  own_places[1] = make_uint4(max(high.x, before), max(high.y, before), max(high.z, before), max(high.w, before));
}

// Writes the values of the places [low, high), of which this thread's first is `first`. write(place, value) is called
// for neighbouring places by neighbouring threads. Begins behind a barrier and ends with one.
template <class Storage, class Values, class Write>
__device__ __forceinline__ void write_values(Values values, uint32_t first, uint32_t low, uint32_t high,
                                             const Write &write, Storage &storage) {
  uint32_t at = first, value = 0, count = 0;
  for (uint32_t begin = low; begin < high; begin += Storage::kPiece) {
    const uint32_t end = min(begin + Storage::kPiece, high);
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i)
      reinterpret_cast<uint4 *>(storage.piece)[i * Storage::kThreads + threadIdx.x] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    // The first place of every value gets its number and one. A value that goes on behind the piece is taken again.
    while (at < end && (count != 0 || values.next(value, count))) {
      if (at + count > begin) storage.piece[max(at, begin) - begin] = value + 1;
      if (at + count > end) break;
      at += count;
      count = 0;
    }
    __syncthreads();
    spread_numbers(storage);
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < kValuePlaces; ++i) {
      const uint32_t place = i * Storage::kThreads + threadIdx.x;
      if (begin + place < end) write(begin + place, storage.piece[place] - 1);
    }
    __syncthreads();
  }
}

__device__ __forceinline__ void clear_values(CountStorage &storage) {
  constexpr uint32_t kVectors = sizeof(storage.counters) / 16;
#pragma unroll 3
  for (uint32_t i = threadIdx.x; i < kVectors; i += kCrowdThreads)
    reinterpret_cast<uint4 *>(storage.counters)[i] = make_uint4(0, 0, 0, 0);
}

__device__ __forceinline__ void count_value(uint32_t *counters, uint32_t value) {
  atomicAdd(&counters[padded_word(value)], 1u);
}

// Calls visit(key) for this thread's share of the keys.
template <class Visit>
__device__ __forceinline__ void visit_keys(const uint32_t *keys, uint32_t count, const Visit &visit) {
  constexpr uint32_t kAtOnce = 8;
  for (uint32_t base = threadIdx.x; base < count; base += kAtOnce * kCrowdThreads) {
    uint32_t loaded[kAtOnce];
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i)
      if (base + i * kCrowdThreads < count) loaded[i] = keys[base + i * kCrowdThreads];
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i)
      if (base + i * kCrowdThreads < count) visit(loaded[i]);
  }
}

// Sorts by one block, of the `count` keys at `keys`, the `wanted` ones whose values are in `range` and for which
// takes(key) holds, some values at a time. write: see write_values; the first place is 0.
template <class Takes, class Write>
__device__ __forceinline__ void sort_values(const uint32_t *keys, uint32_t count, uint32_t wanted,
                                            const KeyRange &range, const Takes &takes, const Write &write,
                                            CountStorage &storage) {
  uint32_t before = 0;
  for (uint32_t base = 0; before < wanted; base += kValueWords) {
    const uint32_t last = min(range.last - base, kValueWords - 1);
    clear_values(storage);
    __syncthreads();
    visit_keys(keys, count, [&](uint32_t key) {
      const uint32_t value = key - range.begin - base;
      if (value <= last && takes(key)) count_value(storage.counters, value);
    });
    __syncthreads();
    const OwnValues<CountStorage> own(storage);
    uint32_t total;
    const uint32_t first = block_exclusive_sum<kCrowdThreads>(own.sum, storage.warp_totals, total);
    write_values(
        own, first, 0, total,
        [&](uint32_t place, uint32_t value) { write(before + place, range.begin + base + value); }, storage);
    before += total;
  }
}

// Counts some values of a chunk of a huge cell into the cell's table, which is cleared if there are several chunks.
// number: of the count, among the cell's.
__device__ __forceinline__ void count_huge_chunk(const uint32_t *keys, uint32_t *tables, HugeCell &huge,
                                                 uint32_t number, const Arguments<uint32_t> &arguments,
                                                 CountStorage &storage) {
  const uint32_t windows = windows_of(huge.last), base = number % windows * kValueWords;
  const uint32_t chunk = arguments.plan.huge_chunk, begin = number / windows * chunk;
  const uint32_t place = arguments.cells[huge.cell], count = moved_keys(arguments, huge.cell);
  if (count <= BlockShape<4>::kFinishKeysMax || begin >= count) return;
  const uint32_t values = min(huge.last - base + 1, kValueWords), first_value = huge.begin + base;
  clear_values(storage);
  __syncthreads();
  visit_keys(keys + place + begin, min(chunk, count - begin), [&](uint32_t key) {
    const uint32_t value = key - first_value;
    if (value < kValueWords) count_value(storage.counters, value);
  });
  __syncthreads();
  uint32_t *const table = tables + place + base;
  for (uint32_t part = 0; part < values; part += kValuePart) {
    uint32_t sum = 0;
    for (uint32_t i = threadIdx.x; i < min(kValuePart, values - part); i += kCrowdThreads) {
      const uint32_t keys_there = storage.counters[padded_word(part + i)];
      if (count <= chunk)
        table[part + i] = keys_there;
      else if (keys_there != 0)
        atomicAdd(&table[part + i], keys_there);
      sum += keys_there;
    }
    sum = warp_sum(sum);
    if (lane_id() == 0 && sum != 0) atomicAdd(&huge.totals[(base + part) / kValuePart], sum);
  }
}

// Writes the places [begin, end) of a huge cell out of its table.
__device__ __forceinline__ void write_huge_piece(uint32_t *keys, const uint32_t *tables, const HugeCell &huge,
                                                 uint32_t begin, uint32_t end, const KeyCodec<uint32_t> &codec,
                                                 const Arguments<uint32_t> &arguments, WriteStorage &storage) {
  const uint32_t place = arguments.cells[huge.cell];
  uint32_t before = 0;
  for (uint32_t part = 0; part * kValuePart <= huge.last && before < end; ++part) {
    const uint32_t first = before, base = part * kValuePart;
    before += huge.totals[part];
    if (before <= begin) continue;
    for (uint32_t i = threadIdx.x; i < kValuePart; i += kValueWriteThreads)
      storage.counters[padded_word(i)] = base + i <= huge.last ? tables[place + base + i] : 0;
    __syncthreads();
    const OwnValues<WriteStorage> own(storage);
    uint32_t total;
    const uint32_t own_first = first + block_exclusive_sum<kValueWriteThreads>(own.sum, storage.warp_totals, total);
    write_values(
        own, own_first, max(first, begin), min(before, end),
        [&](uint32_t at, uint32_t value) { keys[place + at] = codec.decode(huge.begin + base + value); }, storage);
  }
}

// Writes what was counted of huge cells. Dynamic shared memory: WriteStorage.
template <class U>
__global__ void __launch_bounds__(kValueWriteThreads, blocks_here(kValueWriteThreads, 3))
    msd_write_values_kernel(U *keys, const U *tables, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kFitsHere<kCrowdSharedBytes>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  WriteStorage &storage = *reinterpret_cast<WriteStorage *>(shared);
  wait_for_kernel_before();
  const State<U> &state = *arguments.state;
  if (state.go == 0) return;
  const HugeCounts huge(state.huge);
  for (uint32_t piece = blockIdx.x; piece < huge.pieces; piece += gridDim.x) {
    const HugeCell &cell =
        arguments.huge[last_not_above(huge.cells, piece, [&](uint32_t i) { return arguments.huge[i].first_piece; })];
    const uint32_t count = moved_keys(arguments, cell.cell);
    const uint32_t keys_each = arguments.plan.huge_piece, begin = (piece - cell.first_piece) * keys_each;
    if (count <= BlockShape<4>::kFinishKeysMax || begin >= count) continue;
    write_huge_piece(keys, tables, cell, begin, min(begin + keys_each, count), codec, arguments, storage);
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_VALUES_CUH_
