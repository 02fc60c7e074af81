// SPDX-License-Identifier: MIT OR Apache-2.0
// Values that many 4-byte keys have. A sample names them, no more than one of a cell, and no pass moves their keys: a
// cell keeps room for them behind its others. When these are sorted, those that are greater move to the cell's end, and
// the room between is filled. So the more keys are alike, the fewer are left to sort.
#ifndef GSORT_CUDA_SORT_MSD_FREQUENT_CUH_
#define GSORT_CUDA_SORT_MSD_FREQUENT_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/group_sort.cuh"
#include "cuda/primitive/memory_order.cuh"
#include "cuda/primitive/search.cuh"
#include "cuda/sort/msd/sample.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

// The table of frequent values: buckets of two.
__device__ __forceinline__ uint32_t frequent_bucket(uint32_t key) {
  static_assert(kFrequentSlots == 1u << 12, "11 bits name a bucket of two");
  return (key * 0x9e3779b1u) >> 21;
}
// What an empty slot of a bucket holds: a value of another bucket.
__device__ __forceinline__ uint32_t no_frequent_value(uint32_t bucket) { return bucket == 0 ? 1 : 0; }

__device__ __forceinline__ bool is_frequent(const uint32_t *table, uint32_t key) {
  const TwoWords values = reinterpret_cast<const TwoWords *>(table)[frequent_bucket(key)];
  return key == values.x || key == values.y;
}

// Into shared memory, by all threads of a block, without a barrier.
__device__ __forceinline__ void load_frequent_table(const Arguments<uint32_t> &arguments, uint32_t *table) {
  for (uint32_t i = threadIdx.x; i < kFrequentSlots / 4; i += blockDim.x)
    reinterpret_cast<uint4 *>(table)[i] = reinterpret_cast<const uint4 *>(arguments.frequent_table)[i];
}

// Counts of sampled keys by value. kNoKey: an empty slot; keys that are it are not frequent.
constexpr uint32_t kNoKey = ~0u;
struct FrequentStorage {
  alignas(16) uint32_t keys[kFrequentCountSlots];
  alignas(16) uint32_t counts[kFrequentCountSlots / 2];  // two of 16 bits each
  alignas(16) uint32_t table[kFrequentSlots];
  uint32_t taken[kFrequentSlots / 2];  // slots of a bucket
  uint64_t listed[kFrequentMax];       // values, and how many of the sample have them in the lower half
  uint32_t number;
};
static_assert(kFrequentSample < 65536 && kFrequentSample % (8 * kMapThreads) == 0,
              "counts of 16 bits, and every thread has eight keys at a time");
static_assert(sizeof(FrequentStorage) <= kFrequentSharedBytes, "the plan counts with this size");

// Counts a key of each lane. Lanes that agree with the first are counted at once: a warp may have many of one value.
__device__ __forceinline__ void count_sampled(uint32_t key, FrequentStorage &storage) {
  const uint32_t alike = __ballot_sync(kFullWarp, key == __shfl_sync(kFullWarp, key, 0));
  if (key == kNoKey || (lane_id() != 0 && (alike >> lane_id() & 1) != 0)) return;
  const uint32_t more = lane_id() == 0 ? __popc(alike) : 1;
  uint32_t slot = mix_bits(key) / (0xffffffffu / kFrequentCountSlots + 1);
  // Of rare values some find no slot. A frequent one comes early.
  for (uint32_t tries = 0; tries < kFrequentTries; ++tries, slot = (slot + 1) % kFrequentCountSlots) {
    uint32_t there = static_cast<volatile uint32_t &>(storage.keys[slot]);
    if (there == kNoKey) there = atomicCAS(&storage.keys[slot], kNoKey, key);
    if (there != kNoKey && there != key) continue;
    atomicAdd(&storage.counts[slot / 2], slot % 2 != 0 ? more << 16 : more);
    return;
  }
}

// Lists the values that the sample has often and that find a slot in the table. Behind a barrier, and ends with one.
__device__ __forceinline__ void list_frequent(FrequentStorage &storage) {
  for (uint32_t pair = threadIdx.x; pair < kFrequentCountSlots / 2; pair += kMapThreads) {
    const uint32_t counts = storage.counts[pair];
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t count = counts >> (16 * i) & 0xffffu;
      if (count < kFrequentLeast) continue;
      const uint32_t key = storage.keys[2 * pair + i], bucket = frequent_bucket(key);
      const uint32_t slot = atomicAdd(&storage.taken[bucket], 1u);
      if (slot >= 2) continue;
      const uint32_t number = atomicAdd(&storage.number, 1u);
      if (number >= kFrequentMax) continue;
      storage.table[2 * bucket + slot] = key;
      storage.listed[number] = uint64_t{key} << 32 | count;
    }
  }
  __syncthreads();
}

// Lists values that many keys have, and makes their table, by one block.
__device__ __forceinline__ void sample_frequent(const uint32_t *keys_in, uint64_t n, const KeyCodec<uint32_t> &codec,
                                                const Arguments<uint32_t> &arguments, FrequentStorage &storage) {
  constexpr uint4 kNoKeys = {kNoKey, kNoKey, kNoKey, kNoKey}, kZeros = {0, 0, 0, 0};
  for (uint32_t i = threadIdx.x; i < kFrequentCountSlots / 4; i += kMapThreads)
    reinterpret_cast<uint4 *>(storage.keys)[i] = kNoKeys;
  for (uint32_t i = threadIdx.x; i < kFrequentCountSlots / 8; i += kMapThreads)
    reinterpret_cast<uint4 *>(storage.counts)[i] = kZeros;
  for (uint32_t i = threadIdx.x; i < kFrequentSlots; i += kMapThreads) {
    storage.table[i] = no_frequent_value(i / 2);
    storage.taken[i / 2] = 0;
  }
  if (threadIdx.x == 0) storage.number = 0;
  __syncthreads();
  constexpr uint32_t kAtOnce = 8;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < kFrequentSample; i += kAtOnce * kMapThreads) {
    uint32_t keys[kAtOnce];
#pragma unroll
    for (uint32_t j = 0; j < kAtOnce; ++j)
      keys[j] = codec.encode(keys_in[sample_place<kFrequentSample / 4>(i + j * kMapThreads, n)]);
#pragma unroll
    for (uint32_t j = 0; j < kAtOnce; ++j) count_sampled(keys[j], storage);
  }
  __syncthreads();
  list_frequent(storage);
  const uint32_t number = min(storage.number, kFrequentMax);
  network_sort<ByBlock>(storage.listed, number);
  if (threadIdx.x < number) arguments.listed[threadIdx.x] = storage.listed[threadIdx.x];
  for (uint32_t slot = threadIdx.x; slot < kFrequentSlots; slot += kMapThreads)
    arguments.frequent_table[slot] = storage.table[slot];
  if (threadIdx.x == 0) arguments.state->listed = number;
}

// What the block that made the map must know of the listed values. most: at the first value of a cell, how often the
// sample has the cell's most frequent one, and in the lower half which that is.
struct ChoiceStorage {
  uint32_t cells[kFrequentMax], most[kFrequentMax];
};

// Chooses the most frequent value of each cell and tells all blocks, if those are enough to be worth a look at every
// key. By the block that made the map, behind a barrier.
__device__ __forceinline__ void choose_frequent(const Arguments<uint32_t> &arguments, ChoiceStorage &storage,
                                                uint32_t *warp_totals) {
  const uint32_t number = __ldcg(&arguments.state->listed), i = threadIdx.x;
  if (number == 0) return;
  uint32_t key = 0, own = 0, all, covered;
  if (i < number) {
    const uint64_t listed = __ldcg(reinterpret_cast<const unsigned long long *>(arguments.listed + i));
    key = static_cast<uint32_t>(listed >> 32);
    own = static_cast<uint32_t>(listed) << 16 | i;
    storage.cells[i] = shared_cell(arguments.map, key);
    storage.most[i] = 0;
  }
  __syncthreads();
  const auto first_of_cell = [&] {
    return first_that(i, [&](uint32_t j) { return storage.cells[j] >= storage.cells[i]; });
  };
  if (i < number) atomicMax(&storage.most[first_of_cell()], own);
  __syncthreads();
  const bool chosen = i < number && storage.most[first_of_cell()] == own;
  if (i < number && !chosen) {
    const uint32_t bucket = frequent_bucket(key);
    uint32_t *const slots = arguments.frequent_table + 2 * bucket;
    slots[__ldcg(slots) == key ? 0 : 1] = no_frequent_value(bucket);
  }
  block_exclusive_sum<kMapThreads>(chosen ? own >> 16 : 0, warp_totals, covered);
  const uint32_t before = block_exclusive_sum<kMapThreads>(chosen ? 1 : 0, warp_totals, all);
  if (covered < kFrequentSample / kFrequentShare) return;
  if (chosen) arguments.frequent[before] = {key, storage.cells[i], 0};
  if (i == 0) arguments.state->frequent = all;
}

// What a block of the last kernel knows of all frequent values: pieces of the other keys of their cells, and of runs,
// of all values before each.
struct RunStorage {
  uint32_t first_move[kFrequentMax + 1], first_piece[kFrequentMax + 1];
  uint32_t warp_totals[kRunThreads / 32];
  uint32_t item, split;
};

__device__ __forceinline__ void number_pieces(const Arguments<uint32_t> &arguments, RunStorage &storage) {
  const uint32_t number = arguments.state->frequent;
  uint32_t moves = 0, pieces = 0;
  for (uint32_t base = 0; base < number; base += kRunThreads) {
    const uint32_t i = base + threadIdx.x;
    uint32_t moved = 0, alike = 0, more_moves, more_pieces;
    if (i < number) {
      const uint32_t cell = arguments.frequent[i].cell;
      moved = moved_keys(arguments, cell);
      alike = arguments.cells[cell + 1] - arguments.cells[cell] - moved;
    }
    const uint32_t own_moves = (moved + kMovePiece - 1) / kMovePiece, own_pieces = (alike + kRunPiece - 1) / kRunPiece;
    const uint32_t moves_before = block_exclusive_sum<kRunThreads>(own_moves, storage.warp_totals, more_moves);
    const uint32_t pieces_before = block_exclusive_sum<kRunThreads>(own_pieces, storage.warp_totals, more_pieces);
    if (i < number) {
      storage.first_move[i + 1] = moves + moves_before + own_moves;
      storage.first_piece[i + 1] = pieces + pieces_before + own_pieces;
    }
    moves += more_moves, pieces += more_pieces;
  }
  if (threadIdx.x == 0) storage.first_move[0] = storage.first_piece[0] = 0;
  __syncthreads();
}

// A frequent value, and its cell: so many keys have the value, and others are in order before them.
struct FrequentCell {
  uint32_t key, place, others, alike;
};

__device__ __forceinline__ FrequentCell frequent_cell(const Arguments<uint32_t> &arguments, uint32_t i) {
  const FrequentValue &value = arguments.frequent[i];
  const uint32_t place = arguments.cells[value.cell], others = moved_keys(arguments, value.cell);
  return {value.key, place, others, arguments.cells[value.cell + 1] - place - others};
}

// How many of the cell's other keys are less than the frequent value. By the whole block; ends with a barrier.
__device__ __forceinline__ uint32_t count_lesser(const uint32_t *keys, const FrequentCell &cell,
                                                 const KeyCodec<uint32_t> &codec, RunStorage &storage) {
  if (threadIdx.x < 32) {
    uint32_t low = 0, size = cell.others;  // the answer is from `low` to low + size
    while (size != 0) {
      const uint32_t step = size / 33 + 1, at = low + (lane_id() + 1) * step - 1;
      const bool less = at < low + size && codec.encode(keys[cell.place + at]) < cell.key;
      const uint32_t steps = __popc(__ballot_sync(kFullWarp, less)), end = low + size;
      low += steps * step;
      size = min(step - 1, end - low);
    }
    if (lane_id() == 0) storage.split = low;
  }
  __syncthreads();
  return storage.split;
}

// Copies the greater keys of a piece of a cell to where they are safe.
__device__ __forceinline__ void save_piece(const uint32_t *keys, uint32_t *saved, const FrequentCell &cell,
                                           uint32_t begin, const KeyCodec<uint32_t> &codec, FrequentValue &value,
                                           RunStorage &storage) {
  const uint32_t split = count_lesser(keys, cell, codec, storage), end = min(begin + kMovePiece, cell.others);
  if (begin == 0 && threadIdx.x == 0) value.split = split;
#pragma unroll 8
  for (uint32_t i = max(begin, split) + threadIdx.x; i < end; i += kRunThreads)
    saved[cell.place + i] = keys[cell.place + i];
}

// Moves them behind the run.
__device__ __forceinline__ void move_piece(uint32_t *keys, const uint32_t *saved, const FrequentCell &cell,
                                           uint32_t begin, uint32_t split) {
  const uint32_t end = min(begin + kMovePiece, cell.others);
#pragma unroll 8
  for (uint32_t i = max(begin, split) + threadIdx.x; i < end; i += kRunThreads)
    keys[cell.place + cell.alike + i] = __ldcg(saved + cell.place + i);
}

// Writes a piece of a run.
__device__ __forceinline__ void write_run(uint32_t *keys, const FrequentCell &cell, uint32_t first, uint32_t split,
                                          const KeyCodec<uint32_t> &codec) {
  const uint32_t run = cell.place + split, begin = run + first;
  const uint32_t end = min(begin + kRunPiece, run + cell.alike), key = codec.decode(cell.key);
  const uint32_t to_vector = static_cast<uint32_t>(-(reinterpret_cast<uintptr_t>(keys + begin) / 4)) % 4;
  const uint32_t lead = min(to_vector, end - begin), vectors = (end - begin - lead) / 4;
  const uint32_t tail = begin + lead + 4 * vectors;
  if (threadIdx.x < lead) keys[begin + threadIdx.x] = key;
  for (uint32_t i = threadIdx.x; i < vectors; i += kRunThreads)
    reinterpret_cast<uint4 *>(keys + begin + lead)[i] = make_uint4(key, key, key, key);
  if (tail + threadIdx.x < end) keys[tail + threadIdx.x] = key;
}

// One thread takes a number. Those behind the first `moves` wait until all before have been done: their blocks run.
template <class U>
__device__ __forceinline__ void take_run_item(State<U> &state, uint32_t moves, RunStorage &storage) {
  storage.item = fetch_increment_relaxed(&state.run_tickets);
  if (storage.item >= moves)
    while (load_acquire(&state.pieces_saved) != moves) {
    }
}

// Puts the keys of frequent values between the others of their cells, by way of `saved`. Blocks take by a ticket what
// is to be saved, then what is to be moved and written, so that whoever waits for the first does so for blocks that
// run.
template <class U>
__global__ void __launch_bounds__(kRunThreads)
    msd_runs_kernel(U *keys, U *saved, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kFitsHere<kFrequentSharedBytes>) return;
  __shared__ RunStorage storage;
  wait_for_kernel_before();
  State<U> &state = *arguments.state;
  if (state.go == 0 || state.frequent == 0) return;
  number_pieces(arguments, storage);
  const uint32_t number = state.frequent, moves = storage.first_move[number];
  const uint32_t items = 2 * moves + storage.first_piece[number];
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) take_run_item(state, moves, storage);
    __syncthreads();
    const uint32_t item = storage.item;
    if (item >= items) return;
    const uint32_t move = item < moves ? item : item - moves, piece = move - moves;
    const bool writes = item >= 2 * moves;
    const uint32_t *const firsts = writes ? storage.first_piece : storage.first_move;
    const uint32_t own = writes ? piece : move;
    const uint32_t i = last_not_above(number, own, [&](uint32_t value) { return firsts[value]; });
    const FrequentCell cell = frequent_cell(arguments, i);
    const uint32_t in_cell = own - firsts[i];
    // Written by another block of this kernel, where the cell has other keys.
    const uint32_t split = __ldcg(&arguments.frequent[i].split);
    if (writes) {
      write_run(keys, cell, in_cell * kRunPiece, split, codec);
    } else if (item >= moves) {
      move_piece(keys, saved, cell, in_cell * kMovePiece, split);
    } else {
      save_piece(keys, saved, cell, in_cell * kMovePiece, codec, arguments.frequent[i], storage);
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) increment_release(&state.pieces_saved);
    }
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_FREQUENT_CUH_
