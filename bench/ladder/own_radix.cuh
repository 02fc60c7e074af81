// SPDX-License-Identifier: MIT OR Apache-2.0
// Radix sorts of u32 keys written for reading: histogram, scan, scatter, each in a simple and in a parallel form.
// They are the rungs of the ladder, not part of the library.
#ifndef GSORT_BENCH_LADDER_OWN_RADIX_CUH_
#define GSORT_BENCH_LADDER_OWN_RADIX_CUH_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gsort_bench {

constexpr uint32_t kSortThreads = 256;
constexpr uint32_t kSortWarps = kSortThreads / 32;
constexpr uint32_t kTileRounds = 8;
constexpr uint32_t kTileKeys = kSortThreads * kTileRounds;
constexpr uint32_t kScanKeys = 4 * kSortThreads;  // of one block of the scan

struct SortPass {
  const uint32_t *in;
  uint32_t *out;
  uint32_t *counts;  // [digit][tile]: counts, and after the scan the place of the tile's first key of the digit
  uint32_t n;
  uint32_t tiles;
  uint32_t shift;
};

__device__ inline uint32_t digit_of(uint32_t key, uint32_t shift, uint32_t digits) {
  return (key >> shift) & (digits - 1);
}

// --- Histograms -----------------------------------------------------------------------------------------------------

// One thread counts one tile, key after key.
template <uint32_t Digits>
__global__ void count_sequential(SortPass p) {
  const uint32_t tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile >= p.tiles) return;
  for (uint32_t d = 0; d < Digits; ++d) p.counts[d * p.tiles + tile] = 0;
  const uint32_t end = min(p.n, (tile + 1) * kTileKeys);
  for (uint32_t i = tile * kTileKeys; i < end; ++i) ++p.counts[digit_of(p.in[i], p.shift, Digits) * p.tiles + tile];
}

// One block counts one tile, by atomics in shared memory.
template <uint32_t Digits>
__global__ void count_parallel(SortPass p) {
  __shared__ uint32_t counts[Digits];
  for (uint32_t d = threadIdx.x; d < Digits; d += kSortThreads) counts[d] = 0;
  __syncthreads();
  for (uint32_t round = 0; round < kTileRounds; ++round) {
    const uint32_t i = blockIdx.x * kTileKeys + round * kSortThreads + threadIdx.x;
    if (i < p.n) atomicAdd(&counts[digit_of(p.in[i], p.shift, Digits)], 1);
  }
  __syncthreads();
  for (uint32_t d = threadIdx.x; d < Digits; d += kSortThreads) p.counts[d * p.tiles + blockIdx.x] = counts[d];
}

// --- Scans: exclusive, in place -------------------------------------------------------------------------------------

// The sum of the threads' values before this one; `total` is the block's.
__device__ inline uint32_t scan_block(uint32_t mine, uint32_t *warp_sums, uint32_t &total) {
  const uint32_t lane = threadIdx.x % 32;
  uint32_t inclusive = mine;
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const uint32_t below = __shfl_up_sync(0xffffffffu, inclusive, distance);
    if (lane >= distance) inclusive += below;
  }
  if (lane == 31) warp_sums[threadIdx.x / 32] = inclusive;
  __syncthreads();
  uint32_t before = 0;
  total = 0;
  for (uint32_t w = 0; w < kSortWarps; ++w) {
    if (w < threadIdx.x / 32) before += warp_sums[w];
    total += warp_sums[w];
  }
  __syncthreads();
  return before + inclusive - mine;
}

// Every block scans kScanKeys counts and hands out their sum.
static __global__ void scan_blocks(uint32_t *counts, uint32_t *block_sums, uint32_t n) {
  __shared__ uint32_t warp_sums[kSortWarps];
  const uint32_t first = blockIdx.x * kScanKeys + 4 * threadIdx.x;
  uint32_t held[4];
  uint32_t mine = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    held[k] = first + k < n ? counts[first + k] : 0;
    mine += held[k];
  }
  uint32_t total = 0;
  uint32_t before = scan_block(mine, warp_sums, total);
  for (uint32_t k = 0; k < 4; ++k) {
    if (first + k < n) counts[first + k] = before;
    before += held[k];
  }
  if (threadIdx.x == 0) block_sums[blockIdx.x] = total;
}

static __global__ void add_block_sums(uint32_t *counts, const uint32_t *block_sums, uint32_t n) {
  const uint32_t sum = block_sums[blockIdx.x];
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t i = blockIdx.x * kScanKeys + k * kSortThreads + threadIdx.x;
    if (i < n) counts[i] += sum;
  }
}

// Scans n counts; block_sums has room for n / 512 + 64 numbers.
static inline void scan_parallel(uint32_t *counts, uint32_t *block_sums, uint32_t n, cudaStream_t s) {
  const uint32_t blocks = (n + kScanKeys - 1) / kScanKeys;
  scan_blocks<<<blocks, kSortThreads, 0, s>>>(counts, block_sums, n);
  if (blocks == 1) return;
  scan_parallel(block_sums, block_sums + blocks, blocks, s);
  add_block_sums<<<blocks, kSortThreads, 0, s>>>(counts, block_sums, n);
}

// --- Scatters -------------------------------------------------------------------------------------------------------

// One thread moves one tile, key after key; the counts are its cursors.
template <uint32_t Digits>
__global__ void scatter_sequential(SortPass p) {
  const uint32_t tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile >= p.tiles) return;
  const uint32_t end = min(p.n, (tile + 1) * kTileKeys);
  for (uint32_t i = tile * kTileKeys; i < end; ++i) {
    const uint32_t key = p.in[i];
    p.out[p.counts[digit_of(key, p.shift, Digits) * p.tiles + tile]++] = key;
  }
}

// Lanes of the warp whose digit is the same, found by one ballot a digit bit.
template <uint32_t Digits>
__device__ uint32_t lanes_alike(uint32_t digit, bool valid) {
  uint32_t alike = __ballot_sync(0xffffffffu, valid);
  for (uint32_t bit = 1; bit < Digits; bit *= 2) {
    const uint32_t set = __ballot_sync(0xffffffffu, (digit & bit) != 0);
    alike &= (digit & bit) != 0 ? set : ~set;
  }
  return alike;
}

// One block moves one tile, a key a thread and round. A key's place is its tile's cursor of the digit, plus the keys
// of that digit in lower warps of the round, plus those in lower lanes: the order of equal digits is kept.
template <uint32_t Digits>
__global__ void scatter_parallel(SortPass p) {
  __shared__ uint32_t cursors[Digits];
  __shared__ uint32_t warp_counts[kSortWarps][Digits];
  const uint32_t warp = threadIdx.x / 32;
  for (uint32_t d = threadIdx.x; d < Digits; d += kSortThreads) cursors[d] = p.counts[d * p.tiles + blockIdx.x];
  for (uint32_t round = 0; round < kTileRounds; ++round) {
    for (uint32_t c = threadIdx.x; c < kSortWarps * Digits; c += kSortThreads) warp_counts[c / Digits][c % Digits] = 0;
    __syncthreads();
    const uint32_t i = blockIdx.x * kTileKeys + round * kSortThreads + threadIdx.x;
    const bool valid = i < p.n;
    const uint32_t key = valid ? p.in[i] : 0;
    const uint32_t digit = digit_of(key, p.shift, Digits);
    const uint32_t alike = lanes_alike<Digits>(digit, valid);
    const uint32_t lower = __popc(alike & ((1u << (threadIdx.x % 32)) - 1));
    if (valid && lower == 0) warp_counts[warp][digit] = __popc(alike);
    __syncthreads();
    uint32_t place = valid ? cursors[digit] + lower : 0;
    for (uint32_t w = 0; w < warp && valid; ++w) place += warp_counts[w][digit];
    if (valid) p.out[place] = key;
    __syncthreads();
    for (uint32_t d = threadIdx.x; d < Digits; d += kSortThreads) {
      for (uint32_t w = 0; w < kSortWarps; ++w) cursors[d] += warp_counts[w][d];
    }
    __syncthreads();
  }
}

}  // namespace gsort_bench

#endif  // GSORT_BENCH_LADDER_OWN_RADIX_CUH_
