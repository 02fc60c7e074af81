// SPDX-License-Identifier: MIT OR Apache-2.0
// A warp's row of a scan tile: read in full lines, handed to the lanes as chunks of 16 elements, and back.
#ifndef GSORT_CUDA_SCAN_TILE_CUH_
#define GSORT_CUDA_SCAN_TILE_CUH_

#include <cstdint>

#include "core/scan_order.h"
#include "cuda/primitive/copy_async.cuh"
#include "cuda/primitive/staged_vector.cuh"

namespace gsort_internal::scan {

// The row in shared memory, or straight in global memory on devices whose shared memory is too small for a tile.
template <class Bits, bool Staged>
class RowState {
 public:
  static constexpr uint32_t kVectorElements = 16 / sizeof(Bits);
  static constexpr uint32_t kChunkVectors = kScanChunkItems / kVectorElements;
  using Chunk = uint4[kChunkVectors];

  // `count` elements of the row exist, from in[begin] and out[begin].
  __device__ __forceinline__ RowState(uint4 *staging, const void *in, void *out, uint64_t begin, uint32_t count)
      : staging_(staging),
        in_(static_cast<const Bits *>(in) + begin),
        out_(static_cast<Bits *>(out) + begin),
        count_(count),
        lane_(threadIdx.x & 31) {}

  // Elements past the end come as `identity`.
  __device__ __forceinline__ void load(Bits identity) {
    if constexpr (Staged) {
      if (count_ == kScanRowItems && (reinterpret_cast<uint64_t>(in_) & 15) == 0) {
        constexpr uint32_t kAtOnce = kChunkVectors < 4 ? kChunkVectors : 4;
#pragma unroll
        for (uint32_t begin = 0; begin < kChunkVectors; begin += kAtOnce) {
          uint4 v[kAtOnce];
#pragma unroll
          for (uint32_t k = 0; k < kAtOnce; ++k) v[k] = reinterpret_cast<const uint4 *>(in_)[(begin + k) * 32 + lane_];
#pragma unroll
          for (uint32_t k = 0; k < kAtOnce; ++k) staging_[staged_vector((begin + k) * 32 + lane_)] = v[k];
        }
      } else {
#pragma unroll 4
        for (uint32_t i = lane_; i < kScanRowItems; i += 32) *staged(i) = i < count_ ? in_[i] : identity;
      }
      __syncwarp();
    }
  }

  // The same, begun only: load_end() waits. Every lane closes one group of copies, an empty one if it copied at once.
  __device__ __forceinline__ void load_begin(Bits identity) {
    if (count_ == kScanRowItems && (reinterpret_cast<uint64_t>(in_) & 15) == 0) {
#pragma unroll
      for (uint32_t k = 0; k < kChunkVectors; ++k)
        copy_async(&staging_[staged_vector(k * 32 + lane_)], reinterpret_cast<const uint4 *>(in_) + k * 32 + lane_);
    } else {
#pragma unroll 4
      for (uint32_t i = lane_; i < kScanRowItems; i += 32) *staged(i) = i < count_ ? in_[i] : identity;
    }
    copy_async_close();
  }

  // Waits for all but the newest `Newer` groups of the lane's copies, then for the other lanes.
  template <uint32_t Newer>
  __device__ static __forceinline__ void load_end() {
    copy_async_wait<Newer>();
    __syncwarp();
  }

  __device__ __forceinline__ void read_chunk(Chunk &chunk, Bits identity) const {
#pragma unroll
    for (uint32_t k = 0; k < kChunkVectors; ++k) {
      if constexpr (Staged) {
        chunk[k] = staging_[staged_vector(lane_ * kChunkVectors + k)];
      } else {
        uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
        for (uint32_t e = 0; e < kVectorElements; ++e) {
          const uint32_t i = lane_ * kScanChunkItems + k * kVectorElements + e;
          put_element(words, e, i < count_ ? in_[i] : identity);
        }
        chunk[k] = make_uint4(words[0], words[1], words[2], words[3]);
      }
    }
  }

  // Vector `k` of the lane's chunk, in shared memory.
  __device__ __forceinline__ uint4 &chunk_vector(uint32_t k) const {
    static_assert(Staged, "global memory has no vectors at any element's address");
    return staging_[staged_vector(lane_ * kChunkVectors + k)];
  }

  __device__ __forceinline__ void write_chunk(const Chunk &chunk) {
#pragma unroll
    for (uint32_t k = 0; k < kChunkVectors; ++k) {
      if constexpr (Staged) {
        staging_[staged_vector(lane_ * kChunkVectors + k)] = chunk[k];
      } else {
#pragma unroll
        for (uint32_t e = 0; e < kVectorElements; ++e) {
          const uint32_t i = lane_ * kScanChunkItems + k * kVectorElements + e;
          if (i < count_) out_[i] = vector_element<Bits>(chunk[k], e);
        }
      }
    }
  }

  __device__ __forceinline__ void store() {
    if constexpr (Staged) {
      __syncwarp();
      if (count_ == kScanRowItems && (reinterpret_cast<uint64_t>(out_) & 15) == 0) {
#pragma unroll
        for (uint32_t k = 0; k < kChunkVectors; ++k)
          reinterpret_cast<uint4 *>(out_)[k * 32 + lane_] = staging_[staged_vector(k * 32 + lane_)];
      } else {
#pragma unroll 4
        for (uint32_t i = lane_; i < count_; i += 32) out_[i] = *staged(i);
      }
    }
  }

  // The same one element further on, behind `before`; the last element is left out.
  __device__ __forceinline__ void store_behind(Bits before) {
    __syncwarp();
#pragma unroll 4
    for (uint32_t i = lane_; i < count_; i += 32) out_[i] = i == 0 ? before : *staged(i - 1);
  }

 private:
  __device__ __forceinline__ Bits *staged(uint32_t i) const {
    return reinterpret_cast<Bits *>(staging_ + staged_vector(i / kVectorElements)) + i % kVectorElements;
  }

  uint4 *staging_;
  const Bits *in_;
  Bits *out_;
  uint32_t count_, lane_;
};

}  // namespace gsort_internal::scan

#endif  // GSORT_CUDA_SCAN_TILE_CUH_
