// SPDX-License-Identifier: MIT OR Apache-2.0
// How a warp merges a tile: from two parts, in any memory, through registers, to its place in the output.
#ifndef GSORT_CUDA_MERGE_TILE_CUH_
#define GSORT_CUDA_MERGE_TILE_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/merge/network.cuh"
#include "cuda/merge/plan.h"
#include "cuda/merge/split.cuh"
#include "cuda/primitive/ptx.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::merge {

// Keys of a tile: place 32 * r + lane in register r.
template <class U>
using TileKeys = RegisterKey<U>[Tile<sizeof(U)>::kRows];

// Loads so that the first from_a keys of parts.a ascend, then the first from_b of parts.b descend; between them, in a
// tile that is not full, lies what no key comes after.
template <class U, class Index>
__device__ __forceinline__ void load_tile(TileKeys<U> &keys, const Parts<U, Index> &parts, uint32_t from_a,
                                          uint32_t from_b, const KeyCodec<U> &codec) {
  constexpr int32_t kRows = Tile<sizeof(U)>::kRows, kLast = Tile<sizeof(U)>::kKeys - 1;
  const int32_t lane = static_cast<int32_t>(lane_id());
  const U *const up = parts.a + lane, *const down = parts.b + (kLast - lane);
  const int32_t a_rows = static_cast<int32_t>(from_a) - lane;
  if (from_a + from_b == Tile<sizeof(U)>::kKeys) {
#pragma unroll
    for (int32_t r = 0; r < kRows; ++r) {
      // The address is chosen, not the load: of two loads to one register the second would wait for the first.
      const U *source = down - r * 64;
      if (r * 32 < a_rows) source = up;
      keys[r] = source[r * 32];
    }
  } else {
    const int32_t b_rows = kLast + 1 - static_cast<int32_t>(from_b) - lane;
    const U beyond = codec.decode(static_cast<U>(~U{0}));
#pragma unroll
    for (int32_t r = 0; r < kRows; ++r) {
      keys[r] = beyond;
      if (r * 32 < a_rows)
        keys[r] = up[r * 32];
      else if (r * 32 >= b_rows)
        keys[r] = down[-r * 32];
    }
  }
}

// Writes a tile that is one run of keys in shared memory, a word a lane.
template <class U>
__device__ __forceinline__ void copy_tile(const U *keys, U *out, uint32_t count) {
  if (count == Tile<sizeof(U)>::kKeys && reinterpret_cast<uint64_t>(out) % 4 == 0) {
    const uint32_t address = shared_address(keys), shift = address % 4 * 8;
    const uint32_t from = address - address % 4 + lane_id() * 4;
    uint32_t *const to = reinterpret_cast<uint32_t *>(out) + lane_id();
#pragma unroll 8
    for (uint32_t row = 0; row < Tile<sizeof(U)>::kKeys * sizeof(U) / 128; ++row) {
      uint32_t low, high = 0;
      load_shared(from + row * 128, low);
      if (sizeof(U) < 4) load_shared(from + row * 128 + 4, high);
      __stcs(to + row * 32, sizeof(U) < 4 ? __funnelshift_r(low, high, shift) : low);
    }
    return;
  }
#pragma unroll 4
  for (uint32_t i = lane_id(); i < count; i += 32) out[i] = keys[i];
}

// The same, in vectors where the tile is whole and `out` is aligned to them.
template <class U>
__device__ __forceinline__ void copy_vectors(const U *keys, U *out, uint32_t count) {
  static_assert(sizeof(U) >= 4, "keys are whole words");
  if (count != Tile<sizeof(U)>::kKeys || reinterpret_cast<uint64_t>(out) % 16 != 0) return copy_tile(keys, out, count);
  const uint32_t shift = shared_address(keys) % 16;
  const uint4 *const from = reinterpret_cast<const uint4 *>(reinterpret_cast<const char *>(keys) - shift) + lane_id();
  uint4 *const to = reinterpret_cast<uint4 *>(out) + lane_id();
#pragma unroll 4
  for (uint32_t row = 0; row < Tile<sizeof(U)>::kKeys * sizeof(U) / 512; ++row) {
    uint4 v = from[row * 32];
    if (shift != 0) {
      const uint4 next = from[row * 32 + 1];
      if (shift == 4) v = make_uint4(v.y, v.z, v.w, next.x);
      if (shift == 8) v = make_uint4(v.z, v.w, next.x, next.y);
      if (shift == 12) v = make_uint4(v.w, next.x, next.y, next.z);
    }
    __stcs(to + row * 32, v);
  }
}

// Merges the keys and writes the first `count`.
template <class U>
__device__ __forceinline__ void merge_tile(TileKeys<U> &keys, const Room<U> &room, const KeyCodec<U> &codec, U *out,
                                           uint32_t count) {
  const bool plain = codec.is_identity();
  // Without the test for NaN_LAST at every key.
  const KeyCodec<U> no_nans = {codec.mask_positive, codec.mask_negative, 0};
  if (codec.nan_count != 0) {
#pragma unroll
    for (RegisterKey<U> &key : keys) key = codec.encode(static_cast<U>(key));
  } else if (!plain) {
#pragma unroll
    for (RegisterKey<U> &key : keys) key = no_nans.encode(static_cast<U>(key));
  }
  merge_in_registers(keys, room);
  if (codec.nan_count != 0) {
#pragma unroll
    for (RegisterKey<U> &key : keys) key = codec.decode(static_cast<U>(key));
  } else if (!plain) {
#pragma unroll
    for (RegisterKey<U> &key : keys) key = no_nans.decode(static_cast<U>(key));
  }
  store_merged(keys, room, out, count);
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_TILE_CUH_
