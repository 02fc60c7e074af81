// SPDX-License-Identifier: MIT OR Apache-2.0
// One stable partition pass of the stable MSD sort: a radix pass whose digit lies where the keys' range says, or is
// what the map says, and whose second time looks back within the bins of the first only.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_PASS_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_PASS_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/sort/msd/names.h"
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

// What a tile has beside, where the map tells the digits.
template <class U, class V, class Shape>
struct MappedPassStorage {
  StablePassStorage<U, V, Shape> stable;
  uint32_t map[kStableMapEntries];
  uint8_t digits[Shape::kItems];         // of the tile as it is loaded: in registers they would spill
  uint8_t sorted_digits[Shape::kItems];  // of the sorted tile
};
static_assert(2 * (sizeof(MappedPassStorage<uint64_t, uint64_t, LargeTile<8>>) + 1024) <= kStableMapSharedBytesMin,
              "two blocks an SM");

template <class U, class V, class Shape, bool kMapped>
using StableStorage = std::conditional_t<kMapped, MappedPassStorage<U, V, Shape>, StablePassStorage<U, V, Shape>>;

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
template <class Shape, bool kMapped, class U, class Storage>
__device__ __forceinline__ void name_second_job(const StablePassParams<U> &params, uint32_t tile, Storage &storage) {
  const StableArguments &arguments = params.arguments;
  const StableCut cut = stable_cut<kMapped>(arguments);
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

// The same with a map: digits of the first pass are the upper parts of cells' numbers, those of the second the lower.
template <class U>
__device__ __forceinline__ uint32_t mapped_first_place(const StablePassParams<U> &params, uint32_t bin,
                                                       uint32_t digit) {
  const StableArguments &arguments = params.arguments;
  // No key has a digit beyond; what fills a tile up has.
  if (!params.second && digit >= arguments.plan.mapped_cells >> kStableMappedSecondBits) return 0;
  return arguments.cells[params.second ? bin << kStableMappedSecondBits | digit : digit << kStableMappedSecondBits];
}

// Stores a tile that is sorted by the digits beside it.
template <class U, class V, class Shape>
__device__ __forceinline__ void store_mapped_keys(const MappedPassStorage<U, V, Shape> &all,
                                                  TileDigits<Shape> &digits) {
  const PassStorage<U, V, Shape> &storage = all.stable.pass;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t place = tile_place<Shape>(row), digit = all.sorted_digits[place];
    digits.set(row, digit);
    if (place < all.stable.job.items) *tile_target<Shape, U>(storage.runs[digit], row) = storage.keys[place];
  }
}

// Sorts the tile by the map in shared memory.
template <class U, class V, class Shape>
__device__ __forceinline__ void sort_mapped_tile(const StablePassParams<U> &params, MappedPassStorage<U, V, Shape> &all,
                                                 PackedPlaces<Shape::kRows> &places) {
  const TileJob<uint32_t> &job = all.stable.job;
  const uint32_t align = stable_map_align<U>(params.arguments);
  U keys[Shape::kRows];
  load_keys<Shape>(params.keys_in + job.begin, job.items, params.second ? nullptr : &params.codec, keys);
  {
    const auto from = reinterpret_cast<const uint4 *>(params.arguments.map);
    for (uint32_t i = threadIdx.x; i < kStableMapEntries / 4; i += Shape::kThreads)
      reinterpret_cast<uint4 *>(all.map)[i] = from[i];
  }
  __syncthreads();
  const uint32_t first = first_item<Shape>(), items = job.items, shift = params.second ? 0 : kStableMappedSecondBits;
  // What fills the last tile of a chain up is behind all pairs.
  const auto digit_at = [&](uint32_t row) {
    const uint32_t cell = stable_mapped_cell(all.map, stable_leading_bits(keys[row], align));
    const uint32_t digit = first + row * 32 < items ? cell >> shift & (kStableBinsMax - 1) : kStableBinsMax - 1;
    all.digits[first + row * 32] = static_cast<uint8_t>(digit);
    return digit;
  };
  sort_tile_by(
      all.stable.pass, job, keys, params.keys_out, places, digit_at,
      [&] { return [&all, first](uint32_t row) { return uint32_t{all.digits[first + row * 32]}; }; },
      [&](uint32_t place, uint32_t digit) { all.sorted_digits[place] = static_cast<uint8_t>(digit); },
      [&](uint32_t digit) { return uint64_t{mapped_first_place(params, all.stable.bin, digit)}; });
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

// Look-back words: those of the first pass, which are cleared before, end with the status of an even pass, which means
// "not yet" to the second. Tiles are handed out in order by a counter, and those of a bin follow each other, so every
// predecessor in a chain belongs to a block that runs already (see look_back()).
template <class U, class V, class Shape, bool kMapped>
__global__ void __launch_bounds__(Shape::kThreads, 2)
    stable_pass_kernel(const __grid_constant__ StablePassParams<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &all = *reinterpret_cast<StablePassStorage<U, V, Shape> *>(shared);
  [[maybe_unused]] auto &with_map = *reinterpret_cast<MappedPassStorage<U, V, Shape> *>(shared);
  PassStorage<U, V, Shape> &storage = all.pass;
  wait_for_kernel_before();
  if (is_for_other<U, kMapped>(*params.arguments.state)) return;
  if (threadIdx.x == 0) storage.tile = atomicAdd(&params.arguments.state->next_tile[params.second ? 1 : 0], 1u);
  __syncthreads();
  if (params.second) {
    if (storage.tile >= params.arguments.first_tile[stable_cut<kMapped>(params.arguments).bins()]) return;
    name_second_job<Shape, kMapped>(params, storage.tile, all);
  } else {
    name_first_job<Shape>(params, storage.tile, all);
  }
  __syncthreads();
  const TileJob<uint32_t> &job = all.job;

  PackedPlaces<Shape::kRows> places;
  if constexpr (kMapped)
    sort_mapped_tile(params, with_map, places);
  else
    sort_even_tile(params, all, places);
  V values[Shape::kRows];
  load_stable_values<Shape>(params, job, values);
  TileDigits<Shape> digits;
  if constexpr (kMapped)
    store_mapped_keys(with_map, digits);
  else
    store_keys(storage, job.items, job.shift, static_cast<const KeyCodec<U> *>(nullptr), digits);
  store_values(storage, job.items, values, places, digits, params.keys_out, params.values_out, FinalValues::kStore);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_PASS_CUH_
