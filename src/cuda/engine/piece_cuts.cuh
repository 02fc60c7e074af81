// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernel that cuts sorted runs at ranks of all of them: the key at a rank is found by halving what it may be, as
// in a search for many sequences' common quantile, by 32 candidates at a time.
#ifndef GSORT_CUDA_ENGINE_PIECE_CUTS_CUH_
#define GSORT_CUDA_ENGINE_PIECE_CUTS_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "host_memory/piece_device.h"

namespace gsort_internal {

// A lane of each warp adds up what comes before one of the candidates.
constexpr uint32_t kCutThreads = 256, kCutCandidates = 32;

template <class U>
struct CutParams {
  const U *keys;
  KeyCodec<U> codec;
  uint32_t runs;
  uint64_t ends[kCutRunsMax], ranks[kCutRunsMax];
  uint64_t *found;
};

// How many keys from `begin` on, of those up to `end`, which are sorted, are not above the bits; as a place.
template <class U>
__device__ __forceinline__ uint64_t place_behind(const CutParams<U> &p, uint64_t begin, uint64_t end, uint64_t bits) {
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    if (uint64_t{p.codec.encode(p.keys[middle])} <= bits)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// The last of the ordered bits that belong to a candidate: they share what is left, `width` each.
__device__ __forceinline__ uint64_t candidate_bits(uint64_t low, uint64_t high, uint64_t width, uint32_t candidate) {
  const uint64_t offset = candidate * width, span = high - low;
  return offset > span || span - offset < width - 1 ? high : low + offset + (width - 1);
}

// One thread writes how many keys of each run the cut leaves before it. Of equal keys those of earlier runs come first.
template <class U>
__device__ __forceinline__ void write_cut(const CutParams<U> &p, const uint64_t *begins, const uint64_t *ends,
                                          uint64_t rank, uint64_t before_runs) {
  uint64_t less = 0;
  for (uint32_t r = 0; r < p.runs; ++r) less += begins[r];
  uint64_t rest = rank - (less - before_runs);
  for (uint32_t r = 0; r < p.runs; ++r) {
    const uint64_t equal = ends[r] - begins[r], taken = equal < rest ? equal : rest;
    p.found[uint64_t{blockIdx.x} * p.runs + r] = begins[r] + taken - (r == 0 ? 0 : p.ends[r - 1]);
    rest -= taken;
  }
}

// A block for each cut.
template <class U>
__global__ void __launch_bounds__(kCutThreads) cut_kernel(const __grid_constant__ CutParams<U> p) {
  // In each run the cut lies within [begins, ends): places in all of the runs.
  __shared__ uint64_t begins[kCutRunsMax], ends[kCutRunsMax], places[kCutCandidates][kCutRunsMax];
  const uint64_t rank = p.ranks[blockIdx.x];
  const uint32_t lane = threadIdx.x % kCutCandidates;
  uint64_t before_runs = 0;  // the sum of the places where runs begin
  for (uint32_t r = 1; r < p.runs; ++r) before_runs += p.ends[r - 1];
  for (uint32_t r = threadIdx.x; r < p.runs; r += kCutThreads) {
    begins[r] = r == 0 ? 0 : p.ends[r - 1];
    ends[r] = p.ends[r];
  }
  __syncthreads();
  // The least bits up to which there are `rank` keys or more lie between these two. The same in all threads.
  uint64_t low = 0, high = static_cast<U>(~U{0});
  while (low < high) {
    const uint64_t width = (high - low) / kCutCandidates + 1;
    for (uint32_t i = threadIdx.x; i < kCutCandidates * p.runs; i += kCutThreads) {
      const uint32_t candidate = i / p.runs, r = i % p.runs;
      places[candidate][r] = place_behind(p, begins[r], ends[r], candidate_bits(low, high, width, candidate));
    }
    __syncthreads();
    uint64_t before = 0;
    for (uint32_t r = 0; r < p.runs; ++r) before += places[lane][r];
    // The last candidate has enough of them.
    const uint32_t enough = __ballot_sync(0xffffffffu, before - before_runs >= rank);
    const uint32_t first = static_cast<uint32_t>(__ffs(static_cast<int>(enough | 0x80000000u))) - 1;
    for (uint32_t r = threadIdx.x; r < p.runs; r += kCutThreads) {
      if (first != 0) begins[r] = places[first - 1][r];
      ends[r] = places[first][r];
    }
    high = candidate_bits(low, high, width, first);
    low += first * width;
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  write_cut(p, begins, ends, rank, before_runs);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_PIECE_CUTS_CUH_
