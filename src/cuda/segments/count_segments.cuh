// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of segments of 1-byte keys, a warp each: it counts how often each value comes, and writes each as often
// (counting sort: Seward, "Information Sorting in the Application of Electronic Digital Computers to Business
// Operations", 1954). In a time that hardly depends on the keys: no two lanes ever add to one counter.
#ifndef GSORT_CUDA_SEGMENTS_COUNT_SEGMENTS_CUH_
#define GSORT_CUDA_SEGMENTS_COUNT_SEGMENTS_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/warp.cuh"
#include "cuda/segments/check.cuh"

namespace gsort_internal::segments {

// 16 neighbouring keys, aligned in memory: what a lane reads or writes at once.
constexpr uint32_t kPieceKeys = 16;
constexpr uint32_t kRowKeys = 32 * kPieceKeys;  // of a warp's pieces side by side

struct CountStorage {
  // A warp's: a byte for each value and lane, four values a word. A lane's words lie in a bank of its own.
  static constexpr uint32_t kRows = 256 / 4;
  // Rows of keys that are counted before a byte can be full.
  static constexpr uint32_t kKeyRows = 255 / kPieceKeys;
  // Keys that are written at a time; the counters are free by then.
  static constexpr uint32_t kWindowRows = 4, kWindowKeys = kWindowRows * kRowKeys;

  union Warp {
    uint32_t counters[kRows][32];
    uint4 quads[kRows * 8];
    uint4 window[kWindowKeys / kPieceKeys];  // the value where its keys begin; 0 elsewhere
  } warps[kCountWarps];
};
static_assert(sizeof(CountStorage) <= 48 * 1024, "a block has so much unasked");

// The keys [first, end) of an array, cut into pieces where memory is aligned: piece 0 has the first key.
template <class Byte>
struct Pieces {
  Byte *base;        // aligned; `skipped` before the first key
  uint32_t skipped;  // less than a piece
  uint32_t end;      // behind the last key, from `base` on

  __device__ __forceinline__ Pieces(Byte *keys, uint32_t count)
      : skipped(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(keys) % kPieceKeys)) {
    base = keys - skipped;
    end = skipped + count;
  }
  __device__ __forceinline__ bool is_whole(uint32_t at) const { return at >= skipped && at + kPieceKeys <= end; }
};

__device__ __forceinline__ uint32_t &word_of(uint4 &quad, uint32_t i) {
  return i == 0 ? quad.x : i == 1 ? quad.y : i == 2 ? quad.z : quad.w;
}

__device__ __forceinline__ void count_key(uint32_t (*counters)[32], uint32_t key) {
  counters[key / 4][lane_id()] += 1u << key % 4 * 8;
}

// Counts the lane's piece at `at`, of which keys may be missing.
__device__ __forceinline__ void count_piece(uint32_t (*counters)[32], const Pieces<const uint8_t> &pieces, uint32_t at,
                                            uint32_t mask) {
  if (pieces.is_whole(at)) {
    uint4 quad = *reinterpret_cast<const uint4 *>(pieces.base + at);
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t word = word_of(quad, i) ^ mask;
#pragma unroll
      for (uint32_t byte = 0; byte < 4; ++byte) count_key(counters, word >> byte * 8 & 0xffu);
    }
  } else {
#pragma unroll 1
    for (uint32_t i = max(at, pieces.skipped); i < min(at + kPieceKeys, pieces.end); ++i)
      count_key(counters, (pieces.base[i] ^ mask) & 0xffu);
  }
}

// How often the lane's values come: 8 * lane and those behind it.
struct LaneCounts {
  uint32_t values[8] = {};

  // Adds up all lanes' counters, and clears them.
  __device__ __forceinline__ void take(uint32_t (*counters)[32]) {
#pragma unroll
    for (uint32_t row = 0; row < 2; ++row) {
      uint32_t even = 0, odd = 0;  // of two values each
#pragma unroll 8
      for (uint32_t i = 0; i < 32; ++i) {
        uint32_t &word = counters[lane_id() * 2 + row][(i + lane_id()) % 32];  // lanes meet at no bank
        even += word & 0xff00ffu;
        odd += word >> 8 & 0xff00ffu;
        word = 0;
      }
      values[row * 4] += even & 0xffffu;
      values[row * 4 + 1] += odd & 0xffffu;
      values[row * 4 + 2] += even >> 16;
      values[row * 4 + 3] += odd >> 16;
    }
  }
};

// Counts the keys of a segment. The counters are clear before and afterwards.
__device__ __forceinline__ LaneCounts count_segment(CountStorage::Warp &warp, const uint8_t *from, uint32_t count,
                                                    uint32_t mask) {
  const Pieces<const uint8_t> pieces(from, count);
  LaneCounts counts;
  uint32_t row = 0;
  for (uint32_t at = lane_id() * kPieceKeys; at - lane_id() * kPieceKeys < pieces.end; at += kRowKeys) {
    count_piece(warp.counters, pieces, at, mask);
    if (++row < CountStorage::kKeyRows) continue;
    row = 0;
    __syncwarp();
    counts.take(warp.counters);
    __syncwarp();
  }
  __syncwarp();
  counts.take(warp.counters);
  __syncwarp();
  return counts;
}

// Each 0 of the piece becomes the value before it, the first ones `value`.
__device__ __forceinline__ void fill_piece(uint4 &piece, uint32_t value) {
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t &word = word_of(piece, i);
    uint32_t filled = 0;
#pragma unroll
    for (uint32_t byte = 0; byte < 4; ++byte) {
      const uint32_t begins = word >> byte * 8 & 0xffu;
      value = begins != 0 ? begins : value;
      filled |= value << byte * 8;
    }
    word = filled;
  }
}

// The last byte of a piece that is not 0, if there is one.
__device__ __forceinline__ uint32_t last_of_piece(const uint4 &piece) {
  const uint32_t word = piece.w != 0 ? piece.w : piece.z != 0 ? piece.z : piece.y != 0 ? piece.y : piece.x;
  return word == 0 ? 0 : word >> ((31 - __clz(static_cast<int>(word))) / 8 * 8);
}

__device__ __forceinline__ void store_piece(const Pieces<uint8_t> &pieces, uint32_t at, const uint4 &piece) {
  if (pieces.is_whole(at)) {
    *reinterpret_cast<uint4 *>(pieces.base + at) = piece;
    return;
  }
#pragma unroll 1
  for (uint32_t i = max(at, pieces.skipped); i < min(at + kPieceKeys, pieces.end); ++i) {
    const uint32_t word_at = (i - at) / 4;
    const uint32_t word = word_at == 0 ? piece.x : word_at == 1 ? piece.y : word_at == 2 ? piece.z : piece.w;
    pieces.base[i] = static_cast<uint8_t>(word >> (i - at) % 4 * 8);
  }
}

// Writes each value as often as it was counted, and leaves the counters clear. A window at a time, values are put where
// their keys begin, and fill the room up to the next: since they ascend, that is a running maximum.
__device__ __forceinline__ void write_segment(CountStorage::Warp &warp, uint8_t *to, uint32_t count,
                                              const LaneCounts &counts, uint32_t mask) {
  const Pieces<uint8_t> pieces(to, count);
  uint32_t own = 0;
#pragma unroll
  for (uint32_t i = 0; i < 8; ++i) own += counts.values[i];
  const uint32_t first = pieces.skipped + warp_inclusive_sum(own) - own;
  uint8_t *const marks = reinterpret_cast<uint8_t *>(warp.window);
  uint32_t value = 0;
  for (uint32_t begin = 0; begin < pieces.end; begin += CountStorage::kWindowKeys) {
    uint32_t place = first;
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) {
      if (counts.values[i] != 0 && place - begin < CountStorage::kWindowKeys)
        marks[place - begin] = static_cast<uint8_t>(lane_id() * 8 + i);
      place += counts.values[i];
    }
    __syncwarp();
#pragma unroll 1
    for (uint32_t row = 0; row < CountStorage::kWindowRows; ++row) {
      const uint32_t at = begin + row * kRowKeys + lane_id() * kPieceKeys;
      uint4 &marked = warp.window[row * 32 + lane_id()];
      uint4 piece = marked;
      marked = make_uint4(0, 0, 0, 0);
      const uint32_t last = warp_inclusive_max(last_of_piece(piece));
      const uint32_t before = __shfl_up_sync(kFullWarp, last, 1);
      fill_piece(piece, max(lane_id() == 0 ? 0u : before, value));
      value = max(value, __shfl_sync(kFullWarp, last, 31));
      piece.x ^= mask, piece.y ^= mask, piece.z ^= mask, piece.w ^= mask;
      if (at < pieces.end) store_piece(pieces, at, piece);
    }
    __syncwarp();
  }
}

// Warps take the listed segments in turn, the longer ones first.
__device__ __forceinline__ void count_all_listed(const Params<uint8_t> &params, CountStorage &storage) {
  if (*params.error != 0) return;
  CountStorage::Warp &warp = storage.warps[threadIdx.x / 32];
#pragma unroll 4
  for (uint32_t i = lane_id(); i < CountStorage::kRows * 8; i += 32) warp.quads[i] = make_uint4(0, 0, 0, 0);
  __syncwarp();
  const uint64_t big = params.big_items_max == 0 ? 0 : *params.big.count;
  const uint64_t longer = big + *params.medium.count, listed = longer + *params.small.count;
  const uint64_t warps = uint64_t{gridDim.x} * kCountWarps;
  const uint32_t mask = uint32_t{params.codec.encode(0)} * 0x1010101u;
  for (uint64_t i = uint64_t{threadIdx.x / 32} * gridDim.x + blockIdx.x; i < listed; i += warps) {
    const uint64_t segment = i < big      ? params.big.segments[i]
                             : i < longer ? params.medium.segments[i - big]
                                          : params.small.segments[i - longer];
    const uint64_t *const bounds = params.bounds_of(segment);
    const uint64_t begin = bounds[0];
    const uint32_t count = static_cast<uint32_t>(bounds[1] - begin);
    const LaneCounts counts = count_segment(warp, params.source_of(segment) + begin, count, mask);
    write_segment(warp, params.keys_out + begin, count, counts, mask);
  }
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_COUNT_SEGMENTS_CUH_
