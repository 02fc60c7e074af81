// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the blocks' exact sums meet: in the shared memory of a cluster, or in words of global memory.
#ifndef GSORT_CUDA_SUM_COMBINE_CUH_
#define GSORT_CUDA_SUM_COMBINE_CUH_

#include <cstdint>

#include "core/superaccumulator.h"
#include "cuda/primitive/cluster.cuh"
#include "cuda/primitive/memory_order.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sum/plan.h"

namespace gsort_internal::sum {

// What the blocks of a grid add to; zero before the launch and after it.
//
// A block adds each of its limbs that are not zero to the limb's word, and last, to the word of the blocks, how many
// words those were. A word counts its additions in its upper bits. So the words themselves say when all blocks have
// added all they had: nothing needs to be in order, and the block that waits for that needs no ticket, which would be
// two trips to memory more. It holds up no other block, so that its wait ends.
struct State {
  static constexpr uint32_t kFlags = kSumLimbs;       // word of NaNs and infinities: blocks that have met them
  static constexpr uint32_t kBlocks = kSumLimbs + 1;  // word of the blocks
  static constexpr uint32_t kWords = kSumLimbs + 2;
  unsigned long long words[kWords];

  // A limb's word is (additions << kCountBit) + the sum, which may be negative.
  static constexpr uint32_t kCountBit = 53;
  // Limbs below this, of kBlocksMax blocks, sum to less than half of 2^kCountBit.
  static constexpr int64_t kLimbEnd = int64_t{1} << 41;
  static_assert(Tuning::kBlocksMax * static_cast<uint64_t>(kLimbEnd) < uint64_t{1} << (kCountBit - 1) &&
                    Tuning::kBlocksMax < 1u << (64 - kCountBit),
                "neither part of a word reaches the other");
  __device__ static __forceinline__ int64_t sum_of(uint64_t word) {
    return static_cast<int64_t>(word << (64 - kCountBit)) >> (64 - kCountBit);
  }
  __device__ static __forceinline__ uint32_t additions_of(uint64_t word) {
    return static_cast<uint32_t>((word - static_cast<uint64_t>(sum_of(word))) >> kCountBit);
  }

  // The word of the flags has three fields of so many bits, each the number of blocks with the flag; that of the blocks
  // the number of blocks, of those with kSumNotMinus0, and of all additions.
  static constexpr uint32_t kFlagBits = 16, kNotMinus0Bit = 16, kAdditionsBit = 32;
};

// The kernel's shared memory beyond the accumulator's own.
struct BlockSums {
  int64_t limbs[kSumLimbs];  // the block's
  int64_t total[kSumLimbs];  // the grid's
  uint64_t flags;            // the block's, then of who has gathered them
  uint32_t warp_flags[Tuning::kThreads / 32];
};
constexpr uint32_t kFlagsThread = kSumLimbs;  // the thread that carries the flags beside those with a limb each

// The first block of the cluster gathers what all have; true in it. It must call cluster_wait() before it ends.
template <class Sum>
__device__ __forceinline__ bool combine_in_cluster(BlockSums &block) {
  cluster_arrive();
  cluster_wait();
  if (blockIdx.x == 0) {
    const uint32_t i = threadIdx.x;
    uint64_t others[Tuning::kClusterBlocksMax];  // all loads before the first use
#pragma unroll
    for (uint32_t rank = 1; rank < Tuning::kClusterBlocksMax; ++rank) {
      others[rank] = 0;
      if (rank >= gridDim.x) continue;
      if (i < Sum::kLimbs) others[rank] = cluster_load(reinterpret_cast<const uint64_t *>(&block.limbs[i]), rank);
      if (i == kFlagsThread) others[rank] = cluster_load(&block.flags, rank);
    }
#pragma unroll
    for (uint32_t rank = 1; rank < Tuning::kClusterBlocksMax; ++rank) {
      if (i < Sum::kLimbs) block.limbs[i] += static_cast<int64_t>(others[rank]);
      if (i == kFlagsThread) block.flags |= others[rank];
    }
    __syncthreads();
  }
  cluster_arrive();  // no block leaves while its shared memory is read
  if (blockIdx.x == 0) return true;
  cluster_wait();
  return false;
}

// One thread: makes all limbs but the last words from 0 to 2^32 - 1.
__device__ inline void carry_limbs(int64_t *limbs, uint32_t count) {
  int64_t carry = 0;
#pragma unroll 1
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t value = limbs[i] + carry;
    carry = value >> 32;
    limbs[i] = i + 1 < count ? value & 0xffffffff : value;
  }
}

__device__ __forceinline__ uint64_t flags_word(uint32_t flags) {
  uint64_t word = 0;
  for (uint32_t bit = 0; bit < 3; ++bit) word |= static_cast<uint64_t>(flags >> bit & 1) << bit * State::kFlagBits;
  return word;
}

// Adds the block's limbs and flags to the state. Every thread calls it.
template <uint32_t kLimbs>
__device__ __forceinline__ void add_to_state(BlockSums &block, State &state) {
  static_assert(kSumNan == 1 && kSumPosInf == 2 && kSumNegInf == 4, "the flags that have a word of their own");
  const uint32_t i = threadIdx.x;
  int64_t value = i < kLimbs ? block.limbs[i] : 0;
  if (__syncthreads_or(value >= State::kLimbEnd || value <= -State::kLimbEnd)) {
    if (i == 0) carry_limbs(block.limbs, kLimbs);
    __syncthreads();
    if (i < kLimbs) value = block.limbs[i];
  }
  if (i == kFlagsThread) value = static_cast<int64_t>(flags_word(static_cast<uint32_t>(block.flags)));
  const uint64_t additions = __syncthreads_count(value != 0);
  if (value != 0) atomicAdd(&state.words[i], (1ull << State::kCountBit) + static_cast<unsigned long long>(value));
  if (i != kFlagsThread) return;
  const uint64_t not_minus_0 = (block.flags & kSumNotMinus0) != 0 ? 1 : 0;
  atomicAdd(&state.words[State::kBlocks], static_cast<unsigned long long>(additions << State::kAdditionsBit |
                                                                          not_minus_0 << State::kNotMinus0Bit | 1));
}

// The words say themselves whether they are complete.
__device__ __forceinline__ uint64_t load_word(const unsigned long long *p) {
  return load_relaxed(reinterpret_cast<const uint64_t *>(p));
}

// Additions that the word tells of, to be found in the others, less those that were found in it.
__device__ __forceinline__ uint32_t additions_missing(uint32_t index, uint64_t word) {
  if (index != State::kBlocks) return 0 - State::additions_of(word);
  constexpr uint32_t kBlocksMissing = 1 << 30;  // more than there can be additions
  const bool all = (word & ((1u << State::kNotMinus0Bit) - 1)) == gridDim.x;
  return all ? static_cast<uint32_t>(word >> State::kAdditionsBit) : kBlocksMissing;
}

// One warp: waits until all blocks have added all they had; leaves their sum and flags in the block's total and
// flags, and the state zero.
__device__ __forceinline__ void gather_state(BlockSums &block, State &state) {
  constexpr uint32_t kEach = (State::kWords + 31) / 32;
  const uint32_t lane = threadIdx.x & 31;
  uint64_t words[kEach];
  uint32_t missing;  // modulo 2^32
  do {
    missing = 0;
#pragma unroll
    for (uint32_t j = 0; j < kEach; ++j)
      words[j] = j * 32 + lane < State::kWords ? load_word(&state.words[j * 32 + lane]) : 0;
#pragma unroll
    for (uint32_t j = 0; j < kEach; ++j) missing += additions_missing(j * 32 + lane, words[j]);
    missing = warp_sum(missing);
  } while (missing != 0);
  uint32_t flags = 0;
#pragma unroll
  for (uint32_t j = 0; j < kEach; ++j) {
    const uint32_t index = j * 32 + lane;
    if (index >= State::kWords) continue;
    if (words[j] != 0) state.words[index] = 0;
    if (index < kSumLimbs) block.total[index] = State::sum_of(words[j]);
    constexpr uint64_t kField = (1u << State::kFlagBits) - 1;
    if (index == State::kFlags)
      for (uint32_t bit = 0; bit < 3; ++bit)
        if ((words[j] >> bit * State::kFlagBits & kField) != 0) flags |= 1u << bit;
    if (index == State::kBlocks && (words[j] >> State::kNotMinus0Bit & 0xffff) != 0) flags |= kSumNotMinus0;
  }
  for (uint32_t d = 16; d > 0; d /= 2) flags |= __shfl_xor_sync(kFullWarp, flags, d);
  if (lane == 0) block.flags = flags;
  __syncwarp();
}

// Integer additions are associative: the limbs do not depend on the order in which blocks arrive.
//
// Forward progress: only the block of the highest number waits, and blocks start in the order of their numbers, so that
// it starts when all others have. (Should a device start them in another order the wait still ends as long as one more
// block fits beside it.)
//
// True in the first warp of the last block, once block.total and block.flags are the grid's.
template <uint32_t kLimbs>
__device__ __forceinline__ bool combine_in_grid(BlockSums &block, State &state) {
  add_to_state<kLimbs>(block, state);
  if (blockIdx.x != gridDim.x - 1 || threadIdx.x >= 32) return false;
  gather_state(block, state);
  return true;
}

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_COMBINE_CUH_
