// SPDX-License-Identifier: MIT OR Apache-2.0
// One stable partition pass of the stable MSD sort: a radix pass whose digit lies where the keys' range says, and whose
// second time looks back within the bins of the first only.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_PASS_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_PASS_CUH_

#include <cstdint>

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

// A tile of the first pass: of the input as it lies.
template <class Shape, class U, class Storage>
__device__ __forceinline__ void name_first_job(const StablePassParams<U> &params, uint32_t tile, Storage &storage) {
  if (threadIdx.x != 0) return;
  TileJob<uint32_t> job = take_tile<Shape>(tile, 0, params.n);
  job.look_back = params.arguments.look_back;
  job.shift = stable_cell_shift(params.arguments) + params.arguments.plan.second_bits;
  storage.job = job;
  storage.bin = 0;
}

// A tile of the second pass: a part of one bin of the first, which the thread that finds the bin names.
template <class Shape, class U, class Storage>
__device__ __forceinline__ void name_second_job(const StablePassParams<U> &params, uint32_t tile, Storage &storage) {
  const StableArguments &arguments = params.arguments;
  const uint32_t bin = threadIdx.x, second_bits = arguments.plan.second_bits;
  if (bin >= 1u << arguments.plan.first_bits) return;
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

// Look-back words: those of the first pass, which are cleared before, end with the status of an even pass, which means
// "not yet" to the second. Tiles are handed out in order by a counter, and those of a bin follow each other, so every
// predecessor in a chain belongs to a block that runs already (see look_back()).
template <class U, class V, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 2)
    stable_pass_kernel(const __grid_constant__ StablePassParams<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &all = *reinterpret_cast<StablePassStorage<U, V, Shape> *>(shared);
  PassStorage<U, V, Shape> &storage = all.pass;
  wait_for_kernel_before();
  if (!kStableHasCode || params.arguments.state->go == 0) return;
  if (threadIdx.x == 0) storage.tile = atomicAdd(&params.arguments.state->next_tile[params.second ? 1 : 0], 1u);
  __syncthreads();
  if (params.second) {
    if (storage.tile >= params.arguments.first_tile[1u << params.arguments.plan.first_bits]) return;
    name_second_job<Shape>(params, storage.tile, all);
  } else {
    name_first_job<Shape>(params, storage.tile, all);
  }
  __syncthreads();
  const TileJob<uint32_t> &job = all.job;

  PackedPlaces<Shape::kRows> places;
  {
    U keys[Shape::kRows];
    load_keys<Shape>(params.keys_in + job.begin, job.items, params.second ? nullptr : &params.codec, keys);
    sort_tile_from(storage, job, keys, params.keys_out, places,
                   [&](uint32_t digit) { return uint64_t{stable_first_place(params, all.bin, digit)}; });
  }
  V values[Shape::kRows];
  load_stable_values<Shape>(params, job, values);
  TileDigits<Shape> digits;
  store_keys(storage, job.items, job.shift, static_cast<const KeyCodec<U> *>(nullptr), digits);
  store_values(storage, job.items, values, places, digits, params.keys_out, params.values_out, FinalValues::kStore);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_PASS_CUH_
