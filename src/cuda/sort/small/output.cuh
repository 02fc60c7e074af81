// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a sort that one block does puts its results.
#ifndef GSORT_CUDA_SORT_SMALL_OUTPUT_CUH_
#define GSORT_CUDA_SORT_SMALL_OUTPUT_CUH_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal::sort::small {

template <class U>
struct Params {
  const U *keys_in;
  uint32_t n;
  KeyCodec<U> codec;
  U *keys_out;    // or NULL
  void *indices;  // source of every place, or NULL
  void *ranks;    // place of every source, or NULL
  bool wide;      // indices and ranks have 8 bytes
  const void *values_in;
  void *values_out;  // or NULL; not values_in
  uint32_t value_bytes;
  uint32_t value_unit_bytes;  // divides value_bytes and both arrays' addresses
};

template <class Unit>
__device__ __forceinline__ void copy_units(void *target, uint64_t target_item, const void *source, uint64_t source_item,
                                           uint32_t units) {
  Unit *to = static_cast<Unit *>(target) + target_item * units;
  const Unit *from = static_cast<const Unit *>(source) + source_item * units;
#pragma unroll 1
  for (uint32_t unit = 0; unit < units; ++unit) to[unit] = from[unit];
}

template <class U>
__device__ __forceinline__ void copy_value(const Params<U> &params, uint32_t place, uint32_t source) {
  const uint32_t units = params.value_bytes / params.value_unit_bytes;
  switch (params.value_unit_bytes) {
    case 8:
      return copy_units<uint64_t>(params.values_out, place, params.values_in, source, units);
    case 4:
      return copy_units<uint32_t>(params.values_out, place, params.values_in, source, units);
    case 2:
      return copy_units<uint16_t>(params.values_out, place, params.values_in, source, units);
    default:
      return copy_units<uint8_t>(params.values_out, place, params.values_in, source, units);
  }
}

// Everything but the key that belongs to a sorted item.
template <class U>
__device__ __forceinline__ void put_companions(const Params<U> &params, uint32_t place, uint32_t source) {
  if (params.indices != nullptr) {
    if (params.wide) static_cast<uint64_t *>(params.indices)[place] = source;
    if (!params.wide) static_cast<uint32_t *>(params.indices)[place] = source;
  }
  if (params.ranks != nullptr) {
    if (params.wide) static_cast<uint64_t *>(params.ranks)[source] = place;
    if (!params.wide) static_cast<uint32_t *>(params.ranks)[source] = place;
  }
  if (params.values_out != nullptr) copy_value(params, place, source);
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_OUTPUT_CUH_
