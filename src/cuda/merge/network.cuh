// SPDX-License-Identifier: MIT OR Apache-2.0
// A warp's merge: Batcher's bitonic network over a tile of 32 x kRows keys in registers. The tile holds ascending keys
// and then descending ones; whatever it holds, the network only exchanges keys, so that none is lost.
#ifndef GSORT_CUDA_MERGE_NETWORK_CUH_
#define GSORT_CUDA_MERGE_NETWORK_CUH_

#include <cstdint>
#include <type_traits>

#include "core/key_bits.h"
#include "cuda/merge/plan.h"
#include "cuda/primitive/staged_vector.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::merge {

// What a key is in a register.
template <class U>
using RegisterKey = std::conditional_t<sizeof(U) == 8, uint64_t, uint32_t>;

template <class V>
__device__ __forceinline__ void put_in_order(V &first, V &second) {
  const V least = min(first, second), most = max(first, second);
  first = least;
  second = most;
}

// The network's steps at distances kDistance, kDistance / 2, ..., 1 registers.
template <uint32_t kDistance, class V, uint32_t kRows>
__device__ __forceinline__ void exchange_registers(V (&keys)[kRows]) {
  if constexpr (kDistance != 0) {
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r)
      if ((r & kDistance) == 0) put_in_order(keys[r], keys[r + kDistance]);
    exchange_registers<kDistance / 2>(keys);
  }
}

// The same between lanes, at distances of 16 down to kRows lanes.
template <class V, uint32_t kRows>
__device__ __forceinline__ void exchange_lanes(V (&keys)[kRows]) {
#pragma unroll
  for (uint32_t distance = 16; distance >= kRows; distance /= 2) {
    const bool upper = (lane_id() & distance) != 0;
#pragma unroll
    for (V &key : keys) {
      const V other = __shfl_xor_sync(kFullWarp, key, distance);
      key = upper ? max(key, other) : min(key, other);
    }
  }
}

// The warp's room in shared memory: a lane's keys, one after the other, and a vector more, which spreads both ways of
// access over all banks: a row of keys, one a lane, and a vector of each of 8 lanes.
template <class U>
struct Room {
  static constexpr uint32_t kRows = Tile<sizeof(U)>::kRows;
  static constexpr uint32_t kLaneBytes = kRows * sizeof(RegisterKey<U>) + 16;
  static constexpr uint32_t kOutVectors = kRows * sizeof(U) / 16;  // of a lane's merged keys
  static constexpr uint32_t kOutBytes = kOutVectors * 16 + 16;
  static_assert(32 * kLaneBytes == Tile<sizeof(U)>::kRoomBytes && kOutBytes <= kLaneBytes, "the plan's room");

  char *begin;

  // Key `place` of the tile, while it is merged.
  __device__ __forceinline__ RegisterKey<U> &key(uint32_t place) const {
    return reinterpret_cast<RegisterKey<U> *>(begin + place / kRows * kLaneBytes)[place % kRows];
  }
  __device__ __forceinline__ const uint4 &keys_of_lane(uint32_t v) const {
    return reinterpret_cast<const uint4 *>(begin + lane_id() * kLaneBytes)[v];
  }
  // Vector `v` of the merged tile, as it goes to memory.
  __device__ __forceinline__ uint4 &merged(uint32_t v) const {
    return reinterpret_cast<uint4 *>(begin + v / kOutVectors * kOutBytes)[v % kOutVectors];
  }
  __device__ __forceinline__ U merged_key(uint32_t place) const {
    return reinterpret_cast<const U *>(begin + place / kRows * kOutBytes)[place % kRows];
  }
};

// `keys` of a tile are those at places 32 * r + lane, encoded. Leaves them merged in registers: places kRows * lane +
// r.
template <class U>
__device__ __forceinline__ void merge_in_registers(RegisterKey<U> (&keys)[Tile<sizeof(U)>::kRows],
                                                   const Room<U> &room) {
  constexpr uint32_t kRows = Room<U>::kRows, kVectorKeys = 16 / sizeof(RegisterKey<U>);
  exchange_registers<kRows / 2>(keys);
  exchange_lanes(keys);
  __syncwarp();  // the tile before has left the room
#pragma unroll
  for (uint32_t r = 0; r < kRows; ++r) room.key(r * 32 + lane_id()) = keys[r];
  __syncwarp();
#pragma unroll
  for (uint32_t v = 0; v < kRows / kVectorKeys; ++v) {
    const uint4 vector = room.keys_of_lane(v);
#pragma unroll
    for (uint32_t e = 0; e < kVectorKeys; ++e) keys[v * kVectorKeys + e] = vector_element<RegisterKey<U>>(vector, e);
  }
  exchange_registers<kRows / 2>(keys);
}

// Writes the first `count` of the merged tile's keys in full lines.
template <class U>
__device__ __forceinline__ void store_merged(const RegisterKey<U> (&keys)[Tile<sizeof(U)>::kRows], const Room<U> &room,
                                             U *out, uint32_t count) {
  constexpr uint32_t kVectorKeys = 16 / sizeof(U), kVectors = Room<U>::kOutVectors;
  if (Room<U>::kOutBytes != Room<U>::kLaneBytes) __syncwarp();  // all lanes have read what lies there
#pragma unroll
  for (uint32_t v = 0; v < kVectors; ++v) {
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t e = 0; e < kVectorKeys; ++e) put_element(words, e, static_cast<U>(keys[v * kVectorKeys + e]));
    room.merged(lane_id() * kVectors + v) = make_uint4(words[0], words[1], words[2], words[3]);
  }
  __syncwarp();
  if (count == Tile<sizeof(U)>::kKeys && (reinterpret_cast<uint64_t>(out) & 15) == 0) {
#pragma unroll
    for (uint32_t v = 0; v < kVectors; ++v)
      __stcs(reinterpret_cast<uint4 *>(out) + v * 32 + lane_id(), room.merged(v * 32 + lane_id()));
    return;
  }
#pragma unroll 4
  for (uint32_t i = lane_id(); i < count; i += 32) out[i] = room.merged_key(i);
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_NETWORK_CUH_
