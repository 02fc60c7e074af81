// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys that the sample calls ascending or descending: every neighbourhood is checked, and what passed is written at
// once where no input can be lost by it.
#ifndef GSORT_CUDA_SORT_FAST_PATH_ORDER_CUH_
#define GSORT_CUDA_SORT_FAST_PATH_ORDER_CUH_

#include <cstdint>

#include "cuda/sort/fast_path/sample.cuh"

namespace gsort_internal::sort::fast_path {

struct OrderJob {
  bool descending;
  bool strict;  // equal neighbours do not pass, for reversed they would change places
  bool writes_keys, writes_values;
};

// Moves kRows rows of a warp's values to where their keys go.
template <class V, uint32_t kRows, bool kWhole, class U>
__device__ __forceinline__ void move_values(const Arrays<U> &work, bool descending, uint64_t first) {
  constexpr uint32_t kAtOnce = kRows * sizeof(V) <= 32 ? kRows : 32 / sizeof(V);
  const V *from = static_cast<const V *>(work.values_in);
  V *to = static_cast<V *>(work.values_out);
#pragma unroll 1
  for (uint64_t at = first + lane_id(); at < first + kRows * 32; at += kAtOnce * 32) {
    V value[kAtOnce];
#pragma unroll
    for (uint32_t row = 0; row < kAtOnce; ++row)
      if (kWhole || at + row * 32 < work.n)
        value[row] = from == nullptr ? static_cast<V>(at + row * 32) : __ldcs(from + at + row * 32);
#pragma unroll
    for (uint32_t row = 0; row < kAtOnce; ++row)
      if (kWhole || at + row * 32 < work.n) to[descending ? work.n - 1 - (at + row * 32) : at + row * 32] = value[row];
  }
}

// kRows rows of a warp's keys, and the key after them; kWhole: all these exist. False: they are out of order, and none
// of them was written.
template <uint32_t kRows, bool kWhole, class U>
__device__ __forceinline__ bool check_rows(const Arrays<U> &work, const OrderJob &job, uint64_t first) {
  const uint64_t at = first + lane_id();
  const U flip = job.descending ? static_cast<U>(~U{0}) : U{0};
  U key[kRows + 1];
#pragma unroll
  for (uint32_t row = 0; row <= kRows; ++row) {
    const bool wanted = (kWhole || at + row * 32 < work.n) && (row < kRows || lane_id() == 0);
    key[row] = wanted ? __ldcs(work.keys_in + at + row * 32) : U{0};
  }
  bool bad = false;
  U own = work.codec.encode(key[0]) ^ flip;
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    // The last lane's neighbour is lane 0's key of the next row.
    const U below = work.codec.encode(key[row + 1]) ^ flip;
    const U next = __shfl_sync(kFullWarp, lane_id() == 0 ? below : own, (lane_id() + 1) % 32);
    bad |= (kWhole || at + row * 32 + 1 < work.n) && (next < own || (job.strict && next == own));
    own = below;
  }
  if (__any_sync(kFullWarp, bad)) return false;
  if (job.writes_keys) {
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint64_t place = at + row * 32;
      if (kWhole || place < work.n) work.keys_out[job.descending ? work.n - 1 - place : place] = key[row];
    }
  }
  if (job.writes_values) {
    if (work.value_bytes == 4)
      move_values<uint32_t, kRows, kWhole>(work, job.descending, first);
    else
      move_values<uint64_t, kRows, kWhole>(work, job.descending, first);
  }
  return true;
}

// A group of a warp's keys; the last of all may be a part.
template <class U>
__device__ __forceinline__ bool check_group(const Arrays<U> &work, const OrderJob &job, uint64_t first) {
  using Shape = GroupShape<sizeof(U)>;
  if (first + Shape::kGroupItems < work.n) return check_rows<Shape::kRows, true>(work, job, first);
#pragma unroll 1
  for (; first < work.n; first += 32)
    if (!check_rows<1, false>(work, job, first)) return false;
  return true;
}

// Swaps the keys of a group with those at the same distance from the end; `half` keys have a partner.
template <class U>
__device__ __forceinline__ void swap_group(U *keys, uint64_t n, uint64_t half, uint64_t first) {
  constexpr uint32_t kRows = GroupShape<sizeof(U)>::kRows / 2;
#pragma unroll 1
  for (uint64_t at = first + lane_id(); at < first + 2 * kRows * 32; at += kRows * 32) {
    U front[kRows], back[kRows];
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row)
      if (at + row * 32 < half) {
        front[row] = keys[at + row * 32];
        back[row] = keys[n - 1 - (at + row * 32)];
      }
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row)
      if (at + row * 32 < half) {
        keys[at + row * 32] = back[row];
        keys[n - 1 - (at + row * 32)] = front[row];
      }
  }
}

template <class U>
__device__ __forceinline__ void reverse_in_place(const Params<U> &params) {
  const uint64_t half = params.work.n / 2;
  const uint32_t chunk_items = params.plan.chunk_items;
  const auto chunks = static_cast<uint32_t>((half + chunk_items - 1) / chunk_items);
  for_each_chunk(&params.state->second_tickets.word, chunks, [&](uint32_t chunk) {
    const uint64_t begin = uint64_t{chunk} * chunk_items, end = min(begin + chunk_items, half);
    for (uint64_t first = begin; first < end; first += GroupShape<sizeof(U)>::kGroupItems)
      swap_group(params.work.keys_out, params.work.n, half, first);
    return true;
  });
}

template <class U>
__device__ __forceinline__ void sort_ordered(const Params<U> &params, Storage<U> &storage, bool descending,
                                             bool strict) {
  const Arrays<U> &work = params.work;
  const bool in_place = work.keys_out == work.keys_in;
  const OrderJob job = {descending, descending && strict, work.keys_out != nullptr && !in_place,
                        work.values_out != nullptr && work.values_out != work.values_in};
  if (threadIdx.x == 0) storage.chunks = 0;
  __syncthreads();
  const uint32_t passed = for_each_chunk(&params.state->tickets.word, params.plan.chunks, [&](uint32_t chunk) {
    const uint64_t begin = uint64_t{chunk} * params.plan.chunk_items;
    const uint64_t end = min(begin + params.plan.chunk_items, work.n);
    for (uint64_t first = begin; first < end; first += GroupShape<sizeof(U)>::kGroupItems)
      if (!check_group(work, job, first)) {
        if (lane_id() == 0) fail(params.state);
        return false;
      }
    return true;
  });
  if (lane_id() == 0) atomicAdd(&storage.chunks, passed);
  __syncthreads();
  // A block that came too late for a chunk may have sampled keys that others had begun to turn round.
  if (storage.chunks == 0) return;
  if (arrive_with_chunks(params.state, storage.chunks, params.plan.chunks)) announce_ready(params.state);
  if (!descending || !in_place) return;
  if (wait_for_verdict(params.state)) reverse_in_place(params);
}

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_ORDER_CUH_
