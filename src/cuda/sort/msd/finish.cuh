// SPDX-License-Identifier: MIT OR Apache-2.0
// Last step of the MSD sort: a block sorts one cell on chip. A digit of up to kFinishBits is ranked by counters;
// keys that share it lie side by side then and are put in order: by a warp or the block where they are many, and in
// registers.
#ifndef GSORT_CUDA_SORT_MSD_FINISH_CUH_
#define GSORT_CUDA_SORT_MSD_FINISH_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/sort/msd/groups.cuh"
#include "cuda/sort/msd/pass_sort.cuh"
#include "cuda/sort/msd/state.cuh"
#include "cuda/sort/msd/window_sort.cuh"

namespace gsort_internal::sort::msd {

// A cell of the usual size fills the first rows of a block; they need no test.
constexpr int kFinishSure = 7;
constexpr int kMappedSure = 5;

template <class U>
struct FinishStorage {
  alignas(16) uint32_t counters[kFinishDigits];
  // Keys of no cell lie around the cell's, where windows end.
  U padded_keys[kWindowGroup + BlockShape<sizeof(U)>::kFinishKeysMax + BlockShape<sizeof(U)>::kFinishItems +
                kWindowHalo];
  uint32_t warp_totals[BlockShape<sizeof(U)>::kFinishThreads / 32];
  uint32_t cell[5];  // its place, number of keys, digits
  Groups<BlockShape<sizeof(U)>::kFinishKeysMax> groups;
};

// Digits of one of equal cells of 4-byte keys: of how far into its cell a key lies, which the lower half of the product
// says whose upper half is the number of the cell. Of no more bits than tell all values of the cell apart: its counters
// lie side by side. Of all kinds of digits put() and get() go by way of shared memory, and exact() tells that keys of
// equal digit are equal.
struct EvenDigits {
  uint32_t factor, shift, is_exact;

  EvenDigits() = default;
  __device__ __forceinline__ EvenDigits(uint32_t align, uint32_t cells) : factor(cells << align) {
    const uint32_t distance_bits = 31 - static_cast<uint32_t>(__clz(static_cast<int>(cells))) + align;  // of two values
    is_exact = distance_bits >= 32 - kFinishBits;
    const uint32_t bits = distance_bits > 32 ? 0 : 32 - distance_bits;
    shift = 30 - min(bits, kFinishBits);
  }
  __device__ __forceinline__ uint32_t counter_offset(uint32_t key) const { return key * factor >> shift & ~3u; }
  __device__ __forceinline__ bool exact() const { return is_exact != 0; }
  __device__ __forceinline__ void put(volatile uint32_t *words) const {
    words[0] = factor, words[1] = shift, words[2] = is_exact;
  }
  __device__ __forceinline__ void get(const volatile uint32_t *words) {
    factor = words[0], shift = words[1], is_exact = words[2];
  }
};

// Digits of a cell of 8-byte keys, of a power of two's width. A shift of at least 2 bits is taken together with the
// multiplication by a counter's size, one instruction less a key.
template <bool kQuick>
struct ShiftDigits {
  uint32_t shift, mask;

  __device__ __forceinline__ uint32_t counter_offset(uint64_t key) const {  // bytes
    if (kQuick) return static_cast<uint32_t>(key >> (shift - 2)) & ((kFinishDigits - 1) * 4);
    return (static_cast<uint32_t>(key >> shift) & mask) * 4;
  }
  __device__ __forceinline__ bool exact() const { return shift == 0; }
  __device__ __forceinline__ void put(volatile uint32_t *words) const { words[0] = shift, words[1] = mask; }
  __device__ __forceinline__ void get(const volatile uint32_t *words) { shift = words[0], mask = words[1]; }
};

// Digits of a cell of the map: of how far a key lies above the cell's first value, by a factor of the cell's. 8-byte
// keys below, from parts of the range where the sample had none, have digit 0.
template <class U>
struct MappedDigits;

template <>
struct MappedDigits<uint32_t> {
  uint32_t below, factor;  // below: one less than the first value, or 0; factor ~0: every value has a digit

  MappedDigits() = default;
  __device__ __forceinline__ MappedDigits(uint32_t, TwoWords range) : below(range.x), factor(range.y) {}
  __device__ __forceinline__ uint32_t counter_offset(uint32_t key) const { return __umulhi(key - below, factor) * 4; }
  // Of the first cell the values 0 and 1 share a digit.
  __device__ __forceinline__ bool exact() const { return factor == ~0u && below != 0; }
  __device__ __forceinline__ void put(volatile uint32_t *words) const { words[0] = below, words[1] = factor; }
  __device__ __forceinline__ void get(const volatile uint32_t *words) { below = words[0], factor = words[1]; }
};

// A cell of 8-byte keys is `shift` bits wide in the key's leading 32 bits: the factor applies to the 32 bits from
// there.
template <>
struct MappedDigits<uint64_t> {
  uint32_t align, first, factor_shift;  // shift in the upper half

  MappedDigits() = default;
  __device__ __forceinline__ MappedDigits(uint32_t to_align, TwoWords range)
      : align(to_align), first(range.x), factor_shift(range.y) {}
  __device__ __forceinline__ uint32_t counter_offset(uint64_t key) const {
    const uint64_t aligned = key << align, begin = uint64_t{first} << 32;
    const uint64_t above = aligned > begin ? aligned - begin : 0;
    return __umulhi(static_cast<uint32_t>(above >> (factor_shift >> 16)), factor_shift & 0xffffu) * 4;
  }
  __device__ __forceinline__ bool exact() const { return false; }
  __device__ __forceinline__ void put(volatile uint32_t *words) const {
    words[0] = align, words[1] = first, words[2] = factor_shift;
  }
  __device__ __forceinline__ void get(const volatile uint32_t *words) {
    align = words[0], first = words[1], factor_shift = words[2];
  }
};

__device__ __forceinline__ uint32_t *counter_at(uint32_t *counters, uint32_t offset) {
  return reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(counters) + offset);
}

// How many keys the fullest digit of a cell has: up to kFewGroup, up to kWindowGroup, or more.
enum class Crowd { kFew, kWindow, kMany };

// Cells four times as wide as they are on average have factors below the number of cells, shifted.
constexpr uint32_t kWideShift = kFinishBits - 2;

// Digits for the range of the keys that a cell has, where those that it can have are many. By way of storage.cell.
// Begins and ends with a barrier.
__device__ __forceinline__ void tighten_digits(const uint32_t *from, uint32_t count, FinishStorage<uint32_t> &storage) {
  if (threadIdx.x == 0) storage.warp_totals[0] = ~0u, storage.warp_totals[1] = 0;
  __syncthreads();
  uint32_t least = ~0u, most = 0;
  for (uint32_t i = threadIdx.x; i < count; i += BlockShape<4>::kFinishThreads)
    least = min(least, from[i]), most = max(most, from[i]);
  least = warp_least(least), most = warp_greatest(most);
  if (lane_id() == 0) atomicMin(&storage.warp_totals[0], least), atomicMax(&storage.warp_totals[1], most);
  __syncthreads();
  if (threadIdx.x == 0) {
    least = storage.warp_totals[0];
    const uint32_t below = least - (least != 0), last = storage.warp_totals[1] - below;
    // As KeyRange::factor or a little less, without a call.
    const float factor = __fdividef(35184372088832.0f, static_cast<float>(last) + 1.0f) * (1.0f - 0x1p-20f);
    storage.cell[2] = below, storage.cell[3] = last < kFinishDigits ? ~0u : static_cast<uint32_t>(factor);
  }
  __syncthreads();
}

// Whether any digit has so many keys that windows do not order them: the last of them has the largest number. `places`:
// the keys' numbers among those of their digits, two in a word. By the block.
template <uint32_t kWords>
__device__ __forceinline__ Crowd crowd_of(const uint32_t (&places)[kWords]) {
  static_assert(kWindowGroup == 8, "numbers from 8 on have a bit above the lowest three");
  constexpr uint32_t kAboveThree = 0xfff8fff8u, kLift = (kWindowGroup - kFewGroup) * 0x00010001u;
  uint32_t all = 0, all_lifted = 0;
#pragma unroll
  for (uint32_t i = 0; i < kWords; ++i) all |= places[i], all_lifted |= places[i] + kLift;
  if (!__syncthreads_or((all_lifted & kAboveThree) != 0)) return Crowd::kFew;
  return __syncthreads_or((all & kAboveThree) != 0) ? Crowd::kMany : Crowd::kWindow;
}

// Ranks one cell of `count` keys into storage. The first kSure keys of every thread are there.
template <class U, int kSure, class Digits>
__device__ __forceinline__ Crowd rank_cell(const U *from, uint32_t count, const Digits &digits,
                                           FinishStorage<U> &storage) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kFinishThreads;
  constexpr int kItems = BlockShape<sizeof(U)>::kFinishItems;
  U *const sorted = storage.padded_keys + kWindowGroup;
  U keys[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (i < kSure || i * kThreads + threadIdx.x < count) keys[i] = __ldcs(from + i * kThreads + threadIdx.x);
#pragma unroll
  for (uint32_t i = 0; i < kFinishDigits / 4 / kThreads; ++i)
    reinterpret_cast<uint4 *>(storage.counters)[i * kThreads + threadIdx.x] = make_uint4(0, 0, 0, 0);
  if (threadIdx.x < kWindowGroup) storage.padded_keys[threadIdx.x] = 0;
  if (threadIdx.x < kItems + kWindowHalo) sorted[count + threadIdx.x] = static_cast<U>(~U{0});
  __syncthreads();
  uint32_t places[(kItems + 1) / 2];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    uint32_t number = 0;
    if (i < kSure || i * kThreads + threadIdx.x < count)
      number = atomicAdd(counter_at(storage.counters, digits.counter_offset(keys[i])), 1u);
    places[i / 2] = i % 2 == 0 ? number : __byte_perm(places[i / 2], number, 0x5410);
  }
  // This also has the numbers packed before the scan needs registers.
  const Crowd crowd = crowd_of(places);
  scan_finish_counters<kThreads>(storage.counters, storage.warp_totals);
  // Read anew, so that offsets are computed again rather than kept in registers that would spill.
  Digits same_digits;
  same_digits.get(storage.cell + 2);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (i >= kSure && i * kThreads + threadIdx.x >= count) continue;
    const uint32_t first = *counter_at(storage.counters, same_digits.counter_offset(keys[i]));
    sorted[first + (i % 2 == 0 ? places[i / 2] & 0xffffu : places[i / 2] >> 16)] = keys[i];
  }
  __syncthreads();
  return crowd;
}

// Stores the sorted cell; identity: the keys need no decoding.
template <class U, bool kIdentity>
__device__ __forceinline__ void store_cell(const U *sorted, U *to, uint32_t count, const KeyCodec<U> &codec) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kFinishThreads;
  constexpr int kItems = BlockShape<sizeof(U)>::kFinishItems;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const uint32_t at = i * kThreads + threadIdx.x;
    if (at < count) to[at] = kIdentity ? sorted[at] : codec.decode(sorted[at]);
  }
}

// Puts the keys of digits with more than the windows order in order, in place of the counters; where some of them are
// too many and too far apart for a warp, all keys of the cell. Returns whether others have several keys.
template <class U>
__device__ __noinline__ bool sort_crowded_digits(FinishStorage<U> &storage) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kFinishThreads;
  constexpr uint32_t kWide = kFinishDigits / (kThreads / 32);  // counters that a warp has
  U *const sorted = storage.padded_keys + kWindowGroup;
  const uint32_t count = storage.cell[1];
  bool several = false;
  for (uint32_t i = threadIdx.x; i < kFinishDigits; i += kThreads) {
    const uint32_t begin = storage.counters[i], end = i + 1 < kFinishDigits ? storage.counters[i + 1] : count;
    if (end - begin > kWindowGroup)
      storage.groups.list(begin, end - begin);
    else
      several |= end - begin > 1;
  }
  several = __syncthreads_or(several);
  if (sort_listed_groups_of_warps<kWide>(sorted, storage.groups, storage.counters)) return several;
  using Passes = PassSortStorage<kThreads>;
  static_assert(sizeof(Passes) <= sizeof(storage.counters), "in place of the counters");
  sort_by_passes<kThreads, BlockShape<sizeof(U)>::kFinishItems>(sorted, count, 0,
                                                                *reinterpret_cast<Passes *>(storage.counters));
  return false;
}

// Sorts one cell.
template <class U, int kSure, class Digits>
__device__ __forceinline__ void finish_cell(const U *from, U *to, uint32_t count, const Digits &digits,
                                            const KeyCodec<U> &codec, FinishStorage<U> &storage) {
  U *const sorted = storage.padded_keys + kWindowGroup;
  const Crowd crowd = rank_cell<U, kSure>(from, count, digits, storage);
  // Read anew where needed: kept, they would spill.
  const volatile uint32_t *const cell = storage.cell;
  Digits same_digits;
  same_digits.get(cell + 2);
  if (!same_digits.exact()) {
    constexpr int kItems = BlockShape<sizeof(U)>::kFinishItems;
    if (crowd == Crowd::kFew)
      sort_in_windows<kItems, kFewGroup - 1>(sorted, cell[1]);
    else if (crowd == Crowd::kWindow || sort_crowded_digits<U>(storage))
      sort_in_windows<kItems, kWindowHalo>(sorted, cell[1]);
  }
  if (codec.is_identity())
    store_cell<U, true>(sorted, to + cell[0], cell[1], codec);
  else
    store_cell<U, false>(sorted, to + cell[0], cell[1], codec);
}

// The table of a huge cell that is counted in several chunks is cleared here. count: of the keys that lie in it.
__device__ __forceinline__ void prepare_counting(uint32_t *table, uint32_t cell, uint32_t count,
                                                 const Arguments<uint32_t> &arguments) {
  if (count <= arguments.plan.huge_chunk) return;
  const KeyRange range = range_of_cell(arguments, cell);
  if (!is_huge(arguments.cells[cell + 1] - arguments.cells[cell], range)) return;
  for (uint32_t i = threadIdx.x; i <= range.last; i += BlockShape<4>::kFinishThreads) table[i] = 0;
}

// A cell of at most 32 keys, by one warp.
template <class U>
__device__ __forceinline__ void finish_few(const U *from, U *to, uint32_t count, const KeyCodec<U> &codec) {
  if (threadIdx.x >= 32) return;
  const U key = from[min(lane_id(), count - 1)];
  uint32_t place = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const U other = __shfl_sync(kFullWarp, key, i);
    place += other < key || (other == key && i < lane_id());
  }
  if (lane_id() < count) to[place] = codec.decode(key);
}

// Finishes a cell of a map, whose number of digits follows from its range.
template <class U>
__device__ __forceinline__ void finish_mapped(const U *from, U *to, uint32_t cell, uint32_t place, uint32_t count,
                                              const KeyCodec<U> &codec, const Arguments<U> &arguments,
                                              FinishStorage<U> &storage) {
  MappedDigits<U> digits(map_align(arguments), arguments.ranges[cell]);
  if (threadIdx.x == 0) digits.put(storage.cell + 2);
  if constexpr (sizeof(U) == 4) {
    if (digits.factor < arguments.plan.map_shares << kWideShift) {
      tighten_digits(from + place, count, storage);
      digits.get(storage.cell + 2);
    }
  }
  if (count >= kMappedSure * BlockShape<sizeof(U)>::kFinishThreads)
    finish_cell<U, kMappedSure>(from + place, to, count, digits, codec, storage);
  else
    finish_cell<U, 0>(from + place, to, count, digits, codec, storage);
}

// One of equal cells.
__device__ __forceinline__ void finish_even(const uint32_t *from, uint32_t *to, uint32_t place, uint32_t count,
                                            const KeyCodec<uint32_t> &codec, const Arguments<uint32_t> &arguments,
                                            FinishStorage<uint32_t> &storage) {
  const EvenDigits digits(even_align(arguments), arguments.plan.narrow_cells);
  if (threadIdx.x == 0) digits.put(storage.cell + 2);
  if (count >= kFinishSure * BlockShape<4>::kFinishThreads)
    finish_cell<uint32_t, kFinishSure>(from + place, to, count, digits, codec, storage);
  else
    finish_cell<uint32_t, 0>(from + place, to, count, digits, codec, storage);
}
__device__ __forceinline__ void finish_even(const uint64_t *from, uint64_t *to, uint32_t place, uint32_t count,
                                            const KeyCodec<uint64_t> &codec, const Arguments<uint64_t> &arguments,
                                            FinishStorage<uint64_t> &storage) {
  const uint32_t cell_shift = bits_below_cell(arguments);
  const ShiftDigits<false> digits = {cell_shift > kFinishBits ? cell_shift - kFinishBits : 0,
                                     (1u << min(cell_shift, kFinishBits)) - 1};
  if (threadIdx.x == 0) digits.put(storage.cell + 2);
  if (count >= kFinishSure * BlockShape<8>::kFinishThreads && digits.shift >= 2)
    finish_cell<uint64_t, kFinishSure>(from + place, to, count, ShiftDigits<true>{digits.shift, digits.mask}, codec,
                                       storage);
  else
    finish_cell<uint64_t, 0>(from + place, to, count, digits, codec, storage);
}

// A block a cell. `to` may be `from`: a cell is loaded whole before any of it is stored. batch: NULL, or the cells that
// there are, which lie in `from` from its begin on; then none of them is crowded.
template <class U>
__global__ void __launch_bounds__(BlockShape<sizeof(U)>::kFinishThreads,
                                  blocks_here(BlockShape<sizeof(U)>::kFinishThreads, sizeof(U) == 8 ? 1 : 2))
    msd_finish_kernel(const U *from, U *to, [[maybe_unused]] U *spare, KeyCodec<U> codec, const Batch *batch,
                      Arguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  FinishStorage<U> &storage = *reinterpret_cast<FinishStorage<U> *>(shared);
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  uint32_t cell = blockIdx.x, end_cell = cut_of(arguments).cells;
  if (batch != nullptr) {
    cell += batch->first_cell;
    end_cell = batch->end_cell;
    from -= batch->place;
  }
  if (cell >= end_cell) return;
  const uint32_t place = arguments.cells[cell], count = moved_keys(arguments, cell);
  if (count == 0) return;
  if constexpr (sizeof(U) == 4) {
    if (count > BlockShape<4>::kFinishKeysMax) return prepare_counting(spare + place, cell, count, arguments);
  }
  if (count <= 32) return finish_few(from + place, to + place, count, codec);
  if (threadIdx.x == 0) {
    storage.cell[0] = place, storage.cell[1] = count;
    storage.groups.listed = storage.groups.huge_listed = 0;
    // Cells of 4-byte keys, of which two are in work on an SM, gain nothing by it.
    const uint32_t later = cell + arguments.ahead;
    if (sizeof(U) == 8 && later < end_cell) {
      const uint32_t begin = arguments.cells[later], end = arguments.cells[later + 1];
      prefetch_to_l2(from, begin, end - begin, end);
    }
  }
  if (arguments.state->mapped != 0)
    finish_mapped(from, to, cell, place, count, codec, arguments, storage);
  else
    finish_even(from, to, place, count, codec, arguments, storage);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_FINISH_CUH_
