// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts of every bucket in every stripe, before anything is moved; splitters that are exact where the sample has
// misled; and where each stripe's part of each bucket begins.
#ifndef GSORT_CUDA_SORT_IN_PLACE_COUNT_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_COUNT_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/in_place/job.cuh"
#include "cuda/sort/in_place/splitters.cuh"

namespace gsort_internal::sort::in_place {

constexpr uint32_t kCountThreads = 256;
constexpr uint32_t kCountParts = 4;  // blocks that count a stripe
constexpr uint32_t kExactThreads = 512;
constexpr uint32_t kStartThreads = 1024;

// A thread's counts: eight bits a bucket, the even ones in the first word.
class ThreadCounts {
 public:
  static constexpr uint32_t kRows = 8;  // items at a time

  // Counts items of `keys` from `begin` on, each thread of the block its own.
  template <class U>
  __device__ __forceinline__ void add_range(const U *keys, const KeyCodec<U> &codec, const Splitters<U> &splitters,
                                            uint64_t begin, uint64_t end, uint32_t stride, uint32_t *totals) {
    for (uint64_t at = begin; at < end; at += uint64_t{kRows} * stride) {
      uint64_t four_bits = 0;
      if (at + kRows * stride <= end) {
        U own[kRows];
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row) own[row] = keys[at + row * stride + threadIdx.x];
        __syncwarp();
#pragma unroll
        for (uint32_t row = 0; row < kRows; ++row)
          four_bits += uint64_t{1} << 4 * splitters.bucket_of(codec.encode(own[row]), at + row * stride + threadIdx.x);
      } else {
#pragma unroll 1
        for (uint64_t i = at + threadIdx.x; i < end; i += stride)
          four_bits += uint64_t{1} << 4 * splitters.bucket_of(codec.encode(keys[i]), i);
      }
      even_ += four_bits & 0x0f0f0f0f0f0f0f0full;
      odd_ += four_bits >> 4 & 0x0f0f0f0f0f0f0f0full;
      if (++batches_ == 255 / kRows) flush(totals);
    }
  }

  // Adds to `totals`, in shared memory. By whole warps.
  __device__ __forceinline__ void flush(uint32_t *totals) {
#pragma unroll
    for (uint32_t bucket = 0; bucket < kBucketsMax; ++bucket) {
      const uint64_t word = bucket % 2 == 0 ? even_ : odd_;
      const uint32_t sum = warp_sum(static_cast<uint32_t>(word >> (bucket / 2 * 8)) & 255);
      if (lane_id() == 0 && sum != 0) atomicAdd(totals + bucket, sum);
    }
    even_ = odd_ = 0;
    batches_ = 0;
  }

 private:
  uint64_t even_ = 0, odd_ = 0;
  uint32_t batches_ = 0;
};

// kCountParts blocks a stripe. `counts` is cleared.
template <class U>
__global__ void __launch_bounds__(kCountThreads) count_kernel(const __grid_constant__ KeyJob<U> job) {
  if constexpr (!kHasCodeHere<sizeof(U)>) return;
  __shared__ Splitters<U> splitters;
  __shared__ uint32_t totals[kBucketsMax];
  if (job.is_done()) return;
  splitters.load(*job.state);
  if (threadIdx.x < kBucketsMax) totals[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t stripe = blockIdx.x / kCountParts, part = blockIdx.x % kCountParts;
  const uint64_t first = job.stripe_begin(stripe), items = job.stripe_begin(stripe + 1) - first;
  ThreadCounts counts;
  counts.add_range(job.keys_in, job.codec, splitters, first + items * part / kCountParts,
                   first + items * (part + 1) / kCountParts, kCountThreads, totals);
  counts.flush(totals);
  __syncthreads();
  if (threadIdx.x < job.buckets && totals[threadIdx.x] != 0)
    atomicAdd(&job.counts[threadIdx.x * job.stripes + stripe], totals[threadIdx.x]);
}

// Whether a bucket begins further from where it should than the windows allow. By a whole block, with the same answer
// in every thread; `totals`: room for the buckets' items.
template <class U>
__device__ __forceinline__ bool is_misled(const KeyJob<U> &job, unsigned long long *totals) {
  if (threadIdx.x < kBucketsMax) totals[threadIdx.x] = 0;
  __syncthreads();
  for (uint32_t bucket = 0; bucket < job.buckets; ++bucket) {
    unsigned long long sum = 0;
    for (uint32_t i = threadIdx.x; i < job.stripes; i += blockDim.x) sum += job.counts[bucket * job.stripes + i];
    if (sum != 0) atomicAdd(totals + bucket, sum);
  }
  __syncthreads();
  bool misled = false;
  uint64_t start = 0;
  for (uint32_t bucket = 0; bucket < job.buckets; ++bucket) {
    const uint64_t wanted = bucket_target(job.n, job.buckets, bucket);
    misled |= (start > wanted ? start - wanted : wanted - start) > job.slack;
    start += totals[bucket];
  }
  return misled;
}

// One bit more of every splitter's key, or of its place: it stays set where no more items lie below than should.
struct Candidate {
  uint64_t key, place;
};
__device__ __forceinline__ Candidate with_bit(Candidate low, uint32_t bit, uint32_t place_bits) {
  if (bit >= place_bits)
    low.key |= uint64_t{1} << (bit - place_bits);
  else
    low.place |= uint64_t{1} << bit;
  return low;
}

// Of a splitter for each thread, as Splitters.load() does for those of the state; clears `totals`, too.
template <class U>
__device__ __forceinline__ void try_splitters(const Candidate &own, Splitters<U> &splitters, uint32_t *totals) {
  if (threadIdx.x >= kBucketsMax) return;
  splitters.key[threadIdx.x] = static_cast<U>(own.key);
  splitters.place[threadIdx.x] = own.place;
  totals[threadIdx.x] = 0;
}

// Counts every stripe by splitters that are exact.
template <class U>
__device__ __forceinline__ void count_again(const KeyJob<U> &job, const Candidate &own, Splitters<U> &splitters,
                                            uint32_t *totals) {
  for (uint32_t stripe = blockIdx.x; stripe < job.stripes; stripe += gridDim.x) {
    __syncthreads();
    try_splitters(own, splitters, totals);
    __syncthreads();
    ThreadCounts counts;
    counts.add_range(job.keys_in, job.codec, splitters, job.stripe_begin(stripe), job.stripe_begin(stripe + 1),
                     kExactThreads, totals);
    counts.flush(totals);
    __syncthreads();
    if (threadIdx.x < job.buckets) job.counts[threadIdx.x * job.stripes + stripe] = totals[threadIdx.x];
  }
}

// Where the sample has misled, which happens to one input of hundreds of millions, or to one that was made for it, the
// splitters are found bit by bit, each by a pass over all keys, and the stripes are counted again. A cooperative
// launch, before anything is moved.
template <class U>
__global__ void __launch_bounds__(kExactThreads) exact_kernel(const __grid_constant__ KeyJob<U> job) {
  if constexpr (!kHasCodeHere<sizeof(U)>) return;
  __shared__ Splitters<U> splitters;
  __shared__ unsigned long long sums[kBucketsMax];
  __shared__ uint32_t totals[kBucketsMax];
  if (job.is_done() || !is_misled(job, sums)) return;
  const auto grid = cooperative_groups::this_grid();
  const uint64_t begin = job.n / gridDim.x * blockIdx.x + job.n % gridDim.x * blockIdx.x / gridDim.x;
  const uint64_t end = job.n / gridDim.x * (blockIdx.x + 1) + job.n % gridDim.x * (blockIdx.x + 1) / gridDim.x;
  const uint32_t place_bits = bit_width(job.n), bits = place_bits + 8 * sizeof(U), own = threadIdx.x;
  const bool searches = own + 1 < job.buckets;
  Candidate found{0, 0};
  if (own < kBucketsMax && !searches) found = {static_cast<U>(~U{0}), ~uint64_t{0}};
  for (uint32_t turn = 0; turn < bits; ++turn) {
    const Candidate tried = searches ? with_bit(found, bits - 1 - turn, place_bits) : found;
    __syncthreads();
    try_splitters(tried, splitters, totals);
    if (own < kBucketsMax && blockIdx.x == 0) job.state->totals[(turn + 1) % 3][own] = 0;
    __syncthreads();
    ThreadCounts counts;
    counts.add_range(job.keys_in, job.codec, splitters, begin, end, kExactThreads, totals);
    counts.flush(totals);
    __syncthreads();
    if (own < kBucketsMax && totals[own] != 0) atomicAdd(&job.state->totals[turn % 3][own], totals[own]);
    grid.sync();
    if (searches) {
      uint64_t below = 0;
      for (uint32_t bucket = 0; bucket <= own; ++bucket) below += __ldcg(&job.state->totals[turn % 3][bucket]);
      if (below <= bucket_target(job.n, job.buckets, own + 1)) found = tried;
    }
  }
  if (blockIdx.x == 0 && own < kBucketsMax) {
    job.state->splitter[own] = found.key;
    job.state->splitter_place[own] = found.place;
  }
  count_again(job, found, splitters, totals);
}

// The parts that a thread of starts_kernel() takes; the end counts as one, which has no items.
struct StartParts {
  uint32_t begin, end, last;  // last: with the end

  __device__ __forceinline__ explicit StartParts(uint32_t parts) {
    const uint32_t each = (parts + kStartThreads) / kStartThreads;
    begin = min(threadIdx.x * each, parts + 1);
    last = min(begin + each, parts + 1);
    end = min(last, parts);
  }
};

// The first place of every stripe's part of every bucket.
template <class U>
__device__ __forceinline__ void store_starts(const KeyJob<U> &job, const StartParts &own, uint64_t *warp_items) {
  const uint32_t warp = threadIdx.x / 32;
  uint64_t items = 0;
  for (uint32_t i = own.begin; i < own.end; ++i) items += job.counts[i];
  const uint64_t inclusive = warp_inclusive_sum(items);
  if (lane_id() == 31) warp_items[warp] = inclusive;
  __syncthreads();
  uint64_t start = inclusive - items;
  for (uint32_t i = 0; i < warp; ++i) start += warp_items[i];
  for (uint32_t i = own.begin; i < own.end; ++i) {
    job.starts[i] = start;
    start += job.counts[i];
  }
  if (threadIdx.x == kStartThreads - 1) job.starts[job.buckets * job.stripes] = job.n;
}

// Of each of those places, and the end, which piece its slot has: the number of the first part that begins in that
// slot.
template <class U>
__device__ __forceinline__ void store_pieces(const KeyJob<U> &job, const StartParts &own, uint32_t *warp_piece) {
  const uint32_t lane = lane_id(), warp = threadIdx.x / 32;
  const auto begins_slot = [&](uint32_t i) {
    return i == 0 || job.starts[i] / job.brick != job.starts[i - 1] / job.brick;
  };
  uint32_t piece = 0;
  for (uint32_t i = own.begin; i < own.last; ++i)
    if (begins_slot(i)) piece = i;
  uint32_t before = warp_inclusive_max(piece);
  if (lane == 31) warp_piece[warp] = before;
  before = __shfl_up_sync(kFullWarp, before, 1);
  if (lane == 0) before = 0;
  __syncthreads();
  for (uint32_t i = 0; i < warp; ++i) before = max(before, warp_piece[i]);
  for (uint32_t i = own.begin; i < own.last; ++i) {
    if (begins_slot(i)) before = i;
    job.piece_of[i] = before;
  }
}

// One block.
template <class U>
__global__ void __launch_bounds__(kStartThreads) starts_kernel(const __grid_constant__ KeyJob<U> job) {
  if constexpr (!kHasCodeHere<sizeof(U)>) return;
  __shared__ uint64_t warp_items[kStartThreads / 32];
  __shared__ uint32_t warp_piece[kStartThreads / 32];
  if (job.is_done()) return;
  const StartParts own(job.buckets * job.stripes);
  store_starts(job, own, warp_items);
  __syncthreads();
  store_pieces(job, own, warp_piece);
}

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_COUNT_CUH_
