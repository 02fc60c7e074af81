// SPDX-License-Identifier: MIT OR Apache-2.0
// Last step of the MSD sort: a block sorts one cell on chip. A digit of up to kMsdFinishBits is ranked by counters;
// keys that share it lie side by side then and are put in order in registers, or, where they are many, by looking at
// neighbours or by a network.
#ifndef GSORT_CUDA_KERNELS_MSD_FINISH_CUH_
#define GSORT_CUDA_KERNELS_MSD_FINISH_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/block/exclusive_scan.cuh"
#include "cuda/kernels/msd_state.cuh"

namespace gsort_internal {

constexpr uint32_t kMsdFinishDigits = 1u << kMsdFinishBits;

// A cell of the usual size fills the first rows of a block; they need no test.
constexpr int kMsdFinishSure = 7;

// The most keys of one digit that the windows put in order: with one key a digit on average, 1 cell in 100 has more.
constexpr uint32_t kMsdWindowGroup = 8;
constexpr uint32_t kMsdWindowHalo = kMsdWindowGroup - 1;

template <class U>
struct MsdFinishStorage {
  uint32_t counters[kMsdFinishDigits];
  // Keys of no cell lie around the cell's, where windows and looks at neighbours end.
  U padded_keys[kMsdWindowGroup + MsdShape<sizeof(U)>::kFinishKeysMax + MsdShape<sizeof(U)>::kFinishItems +
                kMsdWindowHalo];
  uint32_t warp_totals[MsdShape<sizeof(U)>::kFinishThreads / 32];
  uint32_t cell[3];  // its place, number of keys, digit shift
};

// Sorts keys[0 .. count) ascending with Batcher's bitonic network in the form whose comparators all point one way, so
// that the missing keys of a count that is no power of two need no padding. 105 steps for 9,216 keys.
template <class U>
__device__ __noinline__ void network_sort(U *keys, uint32_t count) {
  const auto exchange = [&](uint32_t low, uint32_t high) {
    if (high >= count) return;
    const U a = keys[low], b = keys[high];
    if (a > b) keys[low] = b, keys[high] = a;
  };
  for (uint32_t size = 2; size / 2 < count; size *= 2) {
    for (uint32_t i = threadIdx.x; i < (count + size - 1) / size * (size / 2); i += blockDim.x) {
      const uint32_t within = i % (size / 2), base = i / (size / 2) * size;
      exchange(base + within, base + size - 1 - within);
    }
    __syncthreads();
    for (uint32_t half = size / 4; half != 0; half /= 2) {
      for (uint32_t i = threadIdx.x; i < (count + 2 * half - 1) / (2 * half) * half; i += blockDim.x) {
        const uint32_t low = i / half * 2 * half + i % half;
        exchange(low, low + half);
      }
      __syncthreads();
    }
  }
}

// Place of keys[i] among its neighbours of the same digit: those before it that are greater go behind it, those behind
// it that are less go before it. Equal keys keep their order, so places are distinct.
template <class U>
__device__ __forceinline__ uint32_t place_among_neighbours(const U *keys, uint32_t i, uint32_t digit_shift) {
  const U key = keys[i];
  uint32_t place = i;
  U other = keys[static_cast<int>(i) - 1];
  for (const U *at = keys + i - 1; ((other ^ key) >> digit_shift) == 0; other = *--at) place -= other > key;
  other = keys[i + 1];
  for (const U *at = keys + i + 1; ((other ^ key) >> digit_shift) == 0; other = *++at) place += other < key;
  return place;
}

// Finishes a cell in which some digit has many keys, which lie in `sorted` by digit: keys look at their neighbours, or,
// where some digit has more than kMsdNeighboursMax, a network sorts the cell. counters: place of each digit's first
// key.
template <class U>
__device__ __noinline__ void finish_crowded(U *sorted, U *to, uint32_t count, const uint32_t *counters,
                                            uint32_t digit_shift, KeyCodec<U> codec) {
  bool many = false;
  for (uint32_t i = threadIdx.x; i < kMsdFinishDigits; i += blockDim.x)
    many |= (i + 1 < kMsdFinishDigits ? counters[i + 1] : count) - counters[i] > kMsdNeighboursMax;
  if (__syncthreads_or(many)) {
    network_sort(sorted, count);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = codec.decode(sorted[i]);
    return;
  }
  // A key of another cell at either end: the bits that name the cell are turned over.
  if (threadIdx.x == 0) sorted[-1] = sorted[count] = static_cast<U>(~sorted[0]);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    to[place_among_neighbours(sorted, i, digit_shift)] = codec.decode(sorted[i]);
}

// Puts keys of equal digit in order, at most kMsdWindowGroup of each: every thread loads its run of neighbouring keys
// and as many on either side as a digit can have, and sorts the whole by odd-even transposition, which never moves a
// key past one of another digit. What happens near the window's ends is cut off as soon as it cannot reach the run.
template <class U>
__device__ __forceinline__ void sort_windows(U *sorted, uint32_t count) {
  constexpr int kItems = MsdShape<sizeof(U)>::kFinishItems, kHalo = kMsdWindowHalo, kWindow = kItems + 2 * kHalo;
  U window[kWindow];
  U *const first = sorted + threadIdx.x * kItems - kHalo;
  const bool any = threadIdx.x * kItems < count;
  if (any) {
#pragma unroll
    for (int i = 0; i < kWindow; ++i) window[i] = first[i];
#pragma unroll
    for (int round = 0; round <= kHalo; ++round) {
#pragma unroll
      for (int i = round; i <= kWindow - 1 - round && i + 1 < kWindow; i += 2) {
        const U low = window[i] < window[i + 1] ? window[i] : window[i + 1];
        window[i + 1] = window[i] < window[i + 1] ? window[i + 1] : window[i];
        window[i] = low;
      }
    }
  }
  __syncthreads();
  if (any) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) first[kHalo + i] = window[kHalo + i];
  }
  __syncthreads();
}

// The sum over the warp, in every lane.
__device__ __forceinline__ uint32_t warp_sum(uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kFullWarp, value);
#else
  for (uint32_t distance = 16; distance != 0; distance /= 2) value += __shfl_xor_sync(kFullWarp, value, distance);
  return value;
#endif
}

__device__ __forceinline__ void put_first_places(uint4 *counters, uint32_t first) {
  const uint4 counts = *counters;
  const uint32_t second = first + counts.x, third = second + counts.y;
  *counters = make_uint4(first, second, third, third + counts.z);
}

// Replaces counts by first places. All threads call it, and it ends with a barrier. A thread takes two groups of four
// counters, 128 apart, so that its 16-byte accesses meet no conflict; one scan serves both, in halves of a word.
template <uint32_t kThreads>
__device__ __forceinline__ void scan_finish_counters(uint32_t *counters, uint32_t *warp_totals) {
  static_assert(kThreads * 8 == kMsdFinishDigits, "a thread owns eight counters");
  uint4 *const own = reinterpret_cast<uint4 *>(counters) + threadIdx.x / 32 * 64 + lane_id();
  uint32_t sums;
  {
    const uint4 a = own[0], b = own[32];
    sums = (a.x + a.y + a.z + a.w) | (b.x + b.y + b.z + b.w) << 16;
  }
  const uint32_t inclusive = warp_inclusive_sum(sums);
  const uint32_t last = __shfl_sync(kFullWarp, inclusive, 31);
  if (lane_id() == 31) warp_totals[threadIdx.x / 32] = (last & 0xffffu) + (last >> 16);
  __syncthreads();
  const uint32_t before_warp = warp_sum(lane_id() < threadIdx.x / 32 ? warp_totals[lane_id()] : 0);
  const uint32_t before = inclusive - sums;
  // The counters are read again rather than held: with the keys they would not fit the registers.
  asm volatile("" ::: "memory");
  put_first_places(own, before_warp + (before & 0xffffu));
  asm volatile("" ::: "memory");
  put_first_places(own + 32, before_warp + (before >> 16) + (last & 0xffffu));
  __syncthreads();
}

// How a cell's keys are cut into digits. A digit of at least 2 bits' shift is taken together with the multiplication by
// a counter's size, one instruction less a key.
struct MsdFinishDigits {
  uint32_t shift, mask;

  template <bool kQuick, class U>
  __device__ __forceinline__ uint32_t counter_offset(U key) const {  // bytes
    if (kQuick) return static_cast<uint32_t>(key >> (shift - 2)) & ((kMsdFinishDigits - 1) * 4);
    return (static_cast<uint32_t>(key >> shift) & mask) * 4;
  }
};

__device__ __forceinline__ uint32_t *counter_at(uint32_t *counters, uint32_t offset) {
  return reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(counters) + offset);
}

// Ranks one cell of `count` keys into storage. kQuick: the first kSure keys of every thread are there, and
// digits.shift >= 2. Returns whether some digit has more than kMsdWindowGroup keys.
template <class U, bool kQuick>
__device__ __forceinline__ bool rank_cell(const U *from, uint32_t count, MsdFinishDigits digits,
                                          MsdFinishStorage<U> &storage) {
  constexpr uint32_t kThreads = MsdShape<sizeof(U)>::kFinishThreads;
  constexpr int kItems = MsdShape<sizeof(U)>::kFinishItems;
  constexpr int kSure = kQuick ? kMsdFinishSure : 0;
  U *const sorted = storage.padded_keys + kMsdWindowGroup;
  U keys[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (i < kSure || i * kThreads + threadIdx.x < count) keys[i] = __ldcs(from + i * kThreads + threadIdx.x);
#pragma unroll
  for (uint32_t i = 0; i < kMsdFinishDigits / 4 / kThreads; ++i)
    reinterpret_cast<uint4 *>(storage.counters)[i * kThreads + threadIdx.x] = make_uint4(0, 0, 0, 0);
  if (threadIdx.x < kMsdWindowGroup) storage.padded_keys[threadIdx.x] = 0;
  if (threadIdx.x < kItems + kMsdWindowHalo) sorted[count + threadIdx.x] = static_cast<U>(~U{0});
  __syncthreads();
  uint32_t places[(kItems + 1) / 2];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    uint32_t number = 0;
    if (i < kSure || i * kThreads + threadIdx.x < count)
      number = atomicAdd(counter_at(storage.counters, digits.counter_offset<kQuick>(keys[i])), 1u);
    places[i / 2] = i % 2 == 0 ? number : __byte_perm(places[i / 2], number, 0x5410);
  }
  // The last of a digit's keys has the largest number. This also has the numbers packed before the scan needs
  // registers.
  static_assert(kMsdWindowGroup == 8, "numbers from 8 on have a bit above the lowest three");
  uint32_t all = 0;
#pragma unroll
  for (int i = 0; i < (kItems + 1) / 2; ++i) all |= places[i];
  const bool many = __syncthreads_or((all & 0xfff8fff8u) != 0);
  scan_finish_counters<kThreads>(storage.counters, storage.warp_totals);
  // Read anew, so that offsets are computed again rather than held in registers that would spill.
  const MsdFinishDigits same_digits = {*static_cast<volatile uint32_t *>(&storage.cell[2]), digits.mask};
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (i >= kSure && i * kThreads + threadIdx.x >= count) continue;
    const uint32_t first = *counter_at(storage.counters, same_digits.counter_offset<kQuick>(keys[i]));
    sorted[first + (i % 2 == 0 ? places[i / 2] & 0xffffu : places[i / 2] >> 16)] = keys[i];
  }
  __syncthreads();
  return many;
}

// Stores the sorted cell; identity: the keys need no decoding.
template <class U, bool kIdentity>
__device__ __forceinline__ void store_cell(const U *sorted, U *to, uint32_t count, const KeyCodec<U> &codec) {
  constexpr uint32_t kThreads = MsdShape<sizeof(U)>::kFinishThreads;
  constexpr int kItems = MsdShape<sizeof(U)>::kFinishItems;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const uint32_t at = i * kThreads + threadIdx.x;
    if (at < count) to[at] = kIdentity ? sorted[at] : codec.decode(sorted[at]);
  }
}

// A block a cell. `to` may be `from`: a cell is loaded whole before any of it is stored.
template <class U>
__global__ void __launch_bounds__(MsdShape<sizeof(U)>::kFinishThreads, sizeof(U) == 8 ? 1 : 2)
    msd_finish_kernel(const U *from, U *to, KeyCodec<U> codec, MsdArguments<U> arguments) {
  extern __shared__ __align__(16) unsigned char shared[];
  MsdFinishStorage<U> &storage = *reinterpret_cast<MsdFinishStorage<U> *>(shared);
  U *const sorted = storage.padded_keys + kMsdWindowGroup;
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  const uint32_t place = arguments.cells[blockIdx.x], cell_keys = arguments.cells[blockIdx.x + 1] - place;
  if (cell_keys == 0) return;
  const uint32_t cell_shift = msd_cell_shift(arguments);
  const MsdFinishDigits digits = {cell_shift > kMsdFinishBits ? cell_shift - kMsdFinishBits : 0,
                                  (1u << min(cell_shift, kMsdFinishBits)) - 1};
  // Read anew where needed: held, they would spill.
  volatile uint32_t *const cell = storage.cell;
  if (threadIdx.x == 0) cell[0] = place, cell[1] = cell_keys, cell[2] = digits.shift;
  const bool many = cell_keys >= kMsdFinishSure * MsdShape<sizeof(U)>::kFinishThreads && digits.shift >= 2
                        ? rank_cell<U, true>(from + place, cell_keys, digits, storage)
                        : rank_cell<U, false>(from + place, cell_keys, digits, storage);
  if (cell[2] != 0 && (many || sizeof(U) == 8)) {
    finish_crowded(sorted, to + cell[0], cell[1], storage.counters, cell[2], codec);
    return;
  }
  if (sizeof(U) == 4 && cell[2] != 0) sort_windows(sorted, cell[1]);
  if (codec.is_identity())
    store_cell<U, true>(sorted, to + cell[0], cell[1], codec);
  else
    store_cell<U, false>(sorted, to + cell[0], cell[1], codec);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_MSD_FINISH_CUH_
