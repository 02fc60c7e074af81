// SPDX-License-Identifier: MIT OR Apache-2.0
// Bricks go to their slots. A move begins at a slot that holds nothing: the brick that belongs there is copied, then
// the one that belongs into the slot that this one left, and so on, until a slot that is made of pieces. So that moves
// are short and many, one of every kSlotsPerCut slots is emptied before, and the move that comes to it ends. Bricks
// that go in a circle without such a slot are moved by one that keeps its first brick meanwhile. A warp makes a move,
// and every lane has the same vectors of all its bricks, so that nothing waits for anything.
#ifndef GSORT_CUDA_SORT_IN_PLACE_MOVES_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_MOVES_CUH_

#include <cstdint>

#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/in_place/job.cuh"

namespace gsort_internal::sort::in_place {

constexpr uint32_t kMoveThreads = 256;
constexpr uint32_t kMoveBlocks = 4;  // on one multiprocessor
constexpr uint32_t kPieceThreads = 128;
constexpr uint32_t kRotates = 1u << 31;  // in the list of moves: a circle

// Where a brick lies.
template <class U, class V>
struct Brick {
  U *keys;
  V *values;
};
template <uint32_t kItems, class U, class V>
__device__ __forceinline__ Brick<U, V> brick_in(U *keys, V *values, uint32_t brick) {
  const uint64_t at = uint64_t{brick} * kItems;
  return {keys + at, values + (kHasValues<V> ? at : 0)};
}

// A warp's copy of a brick of T: each lane has the same items of all bricks. `vectors`: both are aligned to them.
template <uint32_t kItems, class T>
__device__ __forceinline__ void copy_items(const T *from, T *to, bool vectors) {
  constexpr uint32_t kVectors = kItems * sizeof(T) / (16 * 32);
  if (vectors) {
    const auto *const all = reinterpret_cast<const uint4 *>(from) + lane_id();
    uint4 copied[kVectors];
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) copied[i] = all[i * 32];
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) reinterpret_cast<uint4 *>(to)[i * 32 + lane_id()] = copied[i];
    return;
  }
#pragma unroll 4
  for (uint32_t i = lane_id(); i < kItems; i += 32) to[i] = from[i];
}
template <uint32_t kItems, class U, class V>
__device__ __forceinline__ void copy_brick(const Brick<U, V> &from, const Brick<U, V> &to, bool vectors) {
  copy_items<kItems>(from.keys, to.keys, vectors);
  if constexpr (kHasValues<V>) copy_items<kItems>(from.values, to.values, vectors);
}

// Whether the slot is the one of its kSlotsPerCut that is emptied, if its brick and another's are to be moved.
__device__ __forceinline__ bool may_be_cut(uint32_t slot) {
  return slot % kSlotsPerCut == mix_bits(slot / kSlotsPerCut) % kSlotsPerCut;
}

// Whether no move passes through the slot, whose brick is to be moved, but one that begins and ends with it: it is the
// least of a circle without a slot that is emptied.
__device__ __forceinline__ bool leads_circle(const uint32_t *source, uint32_t slot) {
  for (uint32_t at = source[slot]; at != slot; at = source[at])
    if (at == kNone || at < slot || may_be_cut(at)) return false;
  return true;
}

// Lists the slots at which moves begin, and empties those that are cut. A warp has the slots of one cut.
template <class J>
__global__ void __launch_bounds__(kMoveThreads) list_kernel(const __grid_constant__ J job) {
  if constexpr (!J::kHasCode) return;
  static_assert(kSlotsPerCut == 32, "a lane a slot");
  const uint32_t slot = blockIdx.x * kMoveThreads + threadIdx.x;
  const uint32_t from = slot < job.slots ? job.source[slot] : kNone;
  const bool gets = from != kNone && from != slot;  // another slot's brick
  const bool empty = gets && job.target[slot] == kNone, cut = gets && !empty && may_be_cut(slot);
  const bool circle = gets && !empty && !cut && leads_circle(job.source, slot);
  const uint32_t listed = __ballot_sync(kFullWarp, empty || cut || circle);
  uint32_t first = 0;
  if (lane_id() == 0 && listed != 0) first = atomicAdd(&job.state->moves, static_cast<uint32_t>(__popc(listed)));
  first = __shfl_sync(kFullWarp, first, 0);
  if (empty || cut || circle)
    job.moves[first + static_cast<uint32_t>(__popc(listed & lanes_below()))] = slot | (circle ? kRotates : 0);
  const uint32_t cuts = __ballot_sync(kFullWarp, cut);
  if (cuts == 0) return;
  const uint32_t group = slot / kSlotsPerCut,
                 own = group * kSlotsPerCut + static_cast<uint32_t>(__ffs(static_cast<int>(cuts))) - 1;
  copy_brick<J::kBrick>(brick_in<J::kBrick>(job.keys, job.values, own),
                        brick_in<J::kBrick>(job.cut_keys, job.cut_values, group), job.vectors);
}

// `kept`: room for a brick.
template <class J, class U, class V>
__device__ __forceinline__ void make_move(const J &job, uint32_t begin, bool rotates, const Brick<U, V> &kept) {
  constexpr uint32_t kBrick = J::kBrick;
  if (rotates) copy_brick<kBrick>(brick_in<kBrick>(job.keys, job.values, begin), kept, job.vectors);
  uint32_t hole = begin, from = job.source[begin];
  while (from != kNone) {
    const uint32_t next = job.source[from];
    const bool last = rotates ? from == begin : may_be_cut(from) && next != kNone;
    Brick<U, V> brick = brick_in<kBrick>(job.keys, job.values, from);
    if (last) brick = rotates ? kept : brick_in<kBrick>(job.cut_keys, job.cut_values, from / kSlotsPerCut);
    copy_brick<kBrick>(brick, brick_in<kBrick>(job.keys, job.values, hole), job.vectors);
    if (last) return;
    hole = from;
    from = next;
  }
}

template <class J>
__global__ void __launch_bounds__(kMoveThreads) move_kernel(const __grid_constant__ J job) {
  if constexpr (!J::kHasCode) return;
  using U = typename J::Key;
  using V = typename J::Value;
  constexpr uint32_t kWarps = kMoveThreads / 32;
  __shared__ __align__(16) unsigned char room[kWarps * J::kBrick * J::kItemBytes];
  const Brick<U, V> kept = brick_in<J::kBrick>(
      reinterpret_cast<U *>(room), reinterpret_cast<V *>(room + kWarps * J::kBrick * sizeof(U)), threadIdx.x / 32);
  const uint32_t moves = job.state->moves;
  while (true) {
    uint32_t move = 0;
    if (lane_id() == 0) move = atomicAdd(&job.state->next_move, 1u);
    move = __shfl_sync(kFullWarp, move, 0);
    if (move >= moves) return;
    const uint32_t begin = job.moves[move];
    make_move(job, begin & ~kRotates, (begin & kRotates) != 0, kept);
  }
}

// A block a stripe's part of a bucket, and one for the end: the first that begins in a slot made of pieces writes it.
template <class U, class V>
__global__ void __launch_bounds__(kPieceThreads) pieces_kernel(const __grid_constant__ Job<U, V> job) {
  if constexpr (!Job<U, V>::kHasCode) return;
  constexpr uint32_t kBrick = Job<U, V>::kBrick;
  if (job.is_done() || job.piece_of[blockIdx.x] != blockIdx.x) return;
  const uint64_t slot = job.starts[blockIdx.x] / kBrick;
  if (slot >= job.slots || job.source[slot] != kNone) return;
  const uint64_t begin = slot * kBrick, end = begin + kBrick < job.n ? begin + kBrick : job.n;
  const auto piece = brick_in<kBrick>(job.piece_keys, job.piece_values, blockIdx.x);
  for (uint32_t i = threadIdx.x; i < end - begin; i += kPieceThreads) {
    job.keys[begin + i] = piece.keys[i];
    if constexpr (kHasValues<V>) job.values[begin + i] = piece.values[i];
  }
}

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_MOVES_CUH_
