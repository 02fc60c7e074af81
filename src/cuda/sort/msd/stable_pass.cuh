// SPDX-License-Identifier: MIT OR Apache-2.0
// One stable partition pass of the stable MSD sort: a radix pass whose digit lies where the keys' range says, or is
// what the map or splitters say, and whose second time looks back within the bins of the first only.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_PASS_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_PASS_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/sort/msd/names.h"
#include "cuda/sort/msd/stable_cuts.cuh"
#include "cuda/sort/msd/stable_state.cuh"

namespace gsort_internal::sort::msd {

template <class U>
struct StablePassParams {
  const U *keys_in;
  U *keys_out;
  const void *values_in;
  void *values_out;
  KeyCodec<U> codec;
  StableArguments arguments;
  uint32_t n;
  bool second;
  bool values_are_indices;  // the first pass makes them up
};

template <class U, class V, class Shape>
struct StablePassStorage {
  PassStorage<U, V, Shape> pass;
  TileJob<uint32_t> job;  // here, and read anew behind every barrier: in registers it would spill
  uint32_t bin;
};
static_assert(sizeof(StablePassStorage<uint64_t, uint64_t, LargeTile<8>>) <= kLargeTileSharedBytes + 256,
              "two blocks an SM of 164 KB");

// What a tile has beside, where the map or splitters tell the digits.
template <class U, class V, class Shape>
struct UnevenPassStorage {
  StablePassStorage<U, V, Shape> stable;
  union {
    alignas(16) uint32_t map[kStableMapEntries];
    uint64_t tree[kStableBinsMax];  // of splitters
  };
  uint8_t digits[Shape::kItems];         // of the tile as it is loaded: in registers they would spill
  uint8_t sorted_digits[Shape::kItems];  // of the sorted tile
};
static_assert(2 * (sizeof(UnevenPassStorage<uint64_t, uint64_t, LargeTile<8>>) + 1024) <= kStableMapSharedBytesMin,
              "two blocks an SM");

template <class U, class V, class Shape, StableWay kWay>
using StableStorage =
    std::conditional_t<kWay == StableWay::kEven, StablePassStorage<U, V, Shape>, UnevenPassStorage<U, V, Shape>>;

// A tile of the first pass: of the input as it lies.
template <class Shape, class U, class Storage>
__device__ __forceinline__ void name_first_job(const StablePassParams<U> &params, uint32_t tile, Storage &storage) {
  if (threadIdx.x != 0) return;
  TileJob<uint32_t> job = take_tile<Shape>(tile, 0, params.n);
  job.look_back = params.arguments.look_back;
  // Of no meaning with a map.
  job.shift = stable_cell_shift(params.arguments) + params.arguments.plan.second_bits;
  storage.job = job;
  storage.bin = 0;
}

// A tile of the second pass: a part of one bin of the first, which the thread that finds the bin names.
template <class Shape, StableWay kWay, class U, class Storage>
__device__ __forceinline__ void name_second_job(const StablePassParams<U> &params, uint32_t tile, Storage &storage) {
  const StableArguments &arguments = params.arguments;
  const StableCut cut = stable_cut<kWay>(arguments);
  const uint32_t bin = threadIdx.x, second_bits = cut.second_bits;
  if (bin >= cut.bins()) return;
  const uint32_t first_tile = arguments.first_tile[bin];
  if (tile < first_tile || tile >= arguments.first_tile[bin + 1]) return;
  const uint32_t end = arguments.cells[(bin + 1) << second_bits];
  TileJob<uint32_t> job{};
  job.tile = tile - first_tile;
  job.begin = arguments.cells[bin << second_bits] + job.tile * Shape::kItems;
  job.items = min(Shape::kItems, end - static_cast<uint32_t>(job.begin));
  job.look_back = arguments.look_back + uint64_t{first_tile} * kDigitBins;
  job.shift = stable_cell_shift(arguments);
  job.sort_parity = 1;
  storage.job = job;
  storage.bin = bin;
}

// A digit always has eight bits. In the first pass those above first_bits belong to the prefix that all keys share; in
// the second those above second_bits are the bin's own. Either way keys of one tile agree in them, and digits name
// cells.
template <class U>
__device__ __forceinline__ uint32_t stable_first_place(const StablePassParams<U> &params, uint32_t bin,
                                                       uint32_t digit) {
  const StableArguments &arguments = params.arguments;
  const uint32_t second_bits = arguments.plan.second_bits;
  const uint32_t first_cell = (digit & ((1u << arguments.plan.first_bits) - 1)) << second_bits;
  const uint32_t cell = ((bin << second_bits) & ~(kDigitBins - 1)) | digit;
  return arguments.cells[params.second ? cell : first_cell];
}

template <class Shape, class U, class V>
__device__ __forceinline__ void load_stable_values(const StablePassParams<U> &params, const TileJob<uint32_t> &job,
                                                   V (&values)[Shape::kRows]) {
  if (!params.second && params.values_are_indices) {
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row)
      values[row] = static_cast<V>(job.begin + first_item<Shape>() + row * 32);
  } else {
    load_rows<Shape>(static_cast<const V *>(params.values_in) + job.begin, job.items, V{0}, values);
  }
}

// The same for uneven keys: digits of the first pass are the upper parts of cells' numbers, those of the second the
// lower.
template <StableWay kWay, class U>
__device__ __forceinline__ uint32_t uneven_first_place(const StablePassParams<U> &params, uint32_t bin,
                                                       uint32_t digit) {
  const StableArguments &arguments = params.arguments;
  // No key has a digit beyond; what fills a tile up has.
  if (!params.second && digit >= stable_cut<kWay>(arguments).bins()) return 0;
  return arguments.cells[params.second ? bin << kStableUnevenSecondBits | digit : digit << kStableUnevenSecondBits];
}

// Stores a tile that is sorted by the digits beside it.
template <class U, class V, class Shape>
__device__ __forceinline__ void store_uneven_keys(const UnevenPassStorage<U, V, Shape> &all,
                                                  TileDigits<Shape> &digits) {
  const PassStorage<U, V, Shape> &storage = all.stable.pass;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t place = tile_place<Shape>(row), digit = all.sorted_digits[place];
    digits.set(row, digit);
    if (place < all.stable.job.items) *tile_target<Shape, U>(storage.runs[digit], row) = storage.keys[place];
  }
}

// What tells a tile's digits comes into shared memory. Ends with a barrier.
template <StableWay kWay, class U, class V, class Shape>
__device__ __forceinline__ void load_uneven_cut(const StablePassParams<U> &params,
                                                UnevenPassStorage<U, V, Shape> &all) {
  const StableArguments &arguments = params.arguments;
  if constexpr (kWay == StableWay::kSplitters) {
    const uint64_t *const starts = arguments.starts + (params.second ? all.stable.bin * kStableBinsMax : 0);
    const uint32_t stride = params.second ? 1 : kStableBinsMax;
    load_part_tree(all.tree, [&](uint32_t part) { return starts[part * stride]; });
  } else {
    const auto from = reinterpret_cast<const uint4 *>(arguments.map);
    for (uint32_t i = threadIdx.x; i < kStableMapEntries / 4; i += Shape::kThreads)
      reinterpret_cast<uint4 *>(all.map)[i] = from[i];
  }
  __syncthreads();
}

// Notes the digits of the thread's keys by splitters, half of them at a time.
template <class U, class V, class Shape>
__device__ __forceinline__ void note_split_digits(const U (&keys)[Shape::kRows], UnevenPassStorage<U, V, Shape> &all) {
  constexpr uint32_t kAtOnce = Shape::kRows / 2;
  static_assert(2 * kAtOnce == Shape::kRows, "two halves");
  const uint32_t first = first_item<Shape>(), items = all.stable.job.items;
#pragma unroll
  for (uint32_t begin = 0; begin < Shape::kRows; begin += kAtOnce) {
    uint32_t parts[kAtOnce];
    find_parts(all.tree, keys + begin, parts);
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i) {
      const uint32_t at = first + (begin + i) * 32;
      all.digits[at] = static_cast<uint8_t>(at < items ? parts[i] : kStableBinsMax - 1);
    }
  }
}

// Sorts the tile by the map or by splitters.
template <StableWay kWay, class U, class V, class Shape>
__device__ __forceinline__ void sort_uneven_tile(const StablePassParams<U> &params, UnevenPassStorage<U, V, Shape> &all,
                                                 PackedPlaces<Shape::kRows> &places) {
  constexpr bool kSplit = kWay == StableWay::kSplitters;
  const TileJob<uint32_t> &job = all.stable.job;
  [[maybe_unused]] const uint32_t align = kSplit ? 0 : stable_map_align<U>(params.arguments);
  U keys[Shape::kRows];
  load_keys<Shape>(params.keys_in + job.begin, job.items, params.second ? nullptr : &params.codec, keys);
  load_uneven_cut<kWay>(params, all);
  if constexpr (kSplit) note_split_digits<U, V, Shape>(keys, all);
  const uint32_t first = first_item<Shape>(), items = job.items, shift = params.second ? 0 : kStableUnevenSecondBits;
  // What fills the last tile of a chain up is behind all pairs.
  const auto digit_at = [&](uint32_t row) {
    if constexpr (kSplit) return uint32_t{all.digits[first + row * 32]};
    const uint32_t cell = stable_mapped_cell(all.map, leading_bits(keys[row], align));
    const uint32_t digit = first + row * 32 < items ? cell >> shift & (kStableBinsMax - 1) : kStableBinsMax - 1;
    all.digits[first + row * 32] = static_cast<uint8_t>(digit);
    return digit;
  };
  sort_tile_by(
      all.stable.pass, job, keys, params.keys_out, places, digit_at,
      [&] { return [&all, first](uint32_t row) { return uint32_t{all.digits[first + row * 32]}; }; },
      [&](uint32_t place, uint32_t digit) { all.sorted_digits[place] = static_cast<uint8_t>(digit); },
      [&](uint32_t digit) { return uint64_t{uneven_first_place<kWay>(params, all.stable.bin, digit)}; });
}

// The same by the keys' bits.
template <class U, class V, class Shape>
__device__ __forceinline__ void sort_even_tile(const StablePassParams<U> &params, StablePassStorage<U, V, Shape> &all,
                                               PackedPlaces<Shape::kRows> &places) {
  const TileJob<uint32_t> &job = all.job;
  U keys[Shape::kRows];
  load_keys<Shape>(params.keys_in + job.begin, job.items, params.second ? nullptr : &params.codec, keys);
  sort_tile_from(all.pass, job, keys, params.keys_out, places,
                 [&](uint32_t digit) { return uint64_t{stable_first_place(params, all.bin, digit)}; });
}

// Draws a tile and names its job. Returns whether there is one. Ends with a barrier.
template <class Shape, StableWay kWay, class U, class Storage>
__device__ __forceinline__ bool take_stable_job(const StablePassParams<U> &params, Storage &all) {
  if (threadIdx.x == 0) all.pass.tile = atomicAdd(&params.arguments.state->next_tile[params.second ? 1 : 0], 1u);
  __syncthreads();
  if (params.second) {
    if (all.pass.tile >= params.arguments.first_tile[stable_cut<kWay>(params.arguments).bins()]) return false;
    name_second_job<Shape, kWay>(params, all.pass.tile, all);
  } else {
    name_first_job<Shape>(params, all.pass.tile, all);
  }
  __syncthreads();
  return true;
}

template <class U, class V, class Shape, StableWay kWay>
__device__ __forceinline__ void move_stable_tile(const StablePassParams<U> &params,
                                                 StableStorage<U, V, Shape, kWay> &with_digits) {
  auto &all = reinterpret_cast<StablePassStorage<U, V, Shape> &>(with_digits);  // its first part
  if (!take_stable_job<Shape, kWay>(params, all)) return;
  const TileJob<uint32_t> &job = all.job;
  PackedPlaces<Shape::kRows> places;
  if constexpr (kWay != StableWay::kEven)
    sort_uneven_tile<kWay>(params, with_digits, places);
  else
    sort_even_tile(params, all, places);
  V values[Shape::kRows];
  load_stable_values<Shape>(params, job, values);
  TileDigits<Shape> digits;
  if constexpr (kWay != StableWay::kEven)
    store_uneven_keys(with_digits, digits);
  else
    store_keys(all.pass, job.items, job.shift, static_cast<const KeyCodec<U> *>(nullptr), digits);
  store_values(all.pass, job.items, values, places, digits, params.keys_out, params.values_out, FinalValues::kStore);
}

// Look-back words: those of the first pass, which are cleared before, end with the status of an even pass, which means
// "not yet" to the second. Tiles are handed out in order by a counter, and those of a bin follow each other, so every
// predecessor in a chain belongs to a block that runs already (see look_back()).
template <class U, class V, class Shape, StableWay kWay>
__global__ void __launch_bounds__(Shape::kThreads, 2)
    stable_pass_kernel(const __grid_constant__ StablePassParams<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<StableStorage<U, V, Shape, kWay> *>(shared);
  wait_for_kernel_before();
  const StableState &state = *params.arguments.state;
  if (is_for_other<U, kWay>(state)) {
    // Turned away behind the first pass: the LSD sort wants the look-back words as they were.
    if (kWay == StableWay::kSplitters && params.second && state.dirty != 0 && threadIdx.x < kDigitBins)
      params.arguments.look_back[uint64_t{blockIdx.x} * kDigitBins + threadIdx.x] = 0;
    return;
  }
  move_stable_tile<U, V, Shape, kWay>(params, storage);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_PASS_CUH_
