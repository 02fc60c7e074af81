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
  bool writes_keys, writes_values;
};

// The items of a group of a warp's, up to 32 rows.
struct Group {
  uint64_t first, end;
};

// Moves a group's values to where their keys already are.
template <class V, class U>
__device__ __forceinline__ void copy_values(const Arrays<U> &work, const Group &group) {
  constexpr uint32_t kAtOnce = 32 / sizeof(V);
  const V *from = static_cast<const V *>(work.values_in);
  V *to = static_cast<V *>(work.values_out);
#pragma unroll 1
  for (uint64_t at = group.first + lane_id(); at < group.end; at += kAtOnce * 32) {
    V value[kAtOnce];
#pragma unroll
    for (uint32_t row = 0; row < kAtOnce; ++row)
      if (at + row * 32 < group.end)
        value[row] = from == nullptr ? static_cast<V>(at + row * 32) : __ldcs(from + at + row * 32);
#pragma unroll
    for (uint32_t row = 0; row < kAtOnce; ++row)
      if (at + row * 32 < group.end) to[at + row * 32] = value[row];
  }
}

template <class V, class U>
__device__ __forceinline__ void copy_value(const Arrays<U> &work, uint64_t from, uint64_t to) {
  const V *const values = static_cast<const V *>(work.values_in);
  static_cast<V *>(work.values_out)[to] = values == nullptr ? static_cast<V>(from) : __ldcs(values + from);
}

// How many keys before `at`, or from it on, are equal to `key`; all lanes get it. UINT32_MAX: more than kEqualMax.
template <bool kBefore, class U>
__device__ __forceinline__ uint32_t count_equal(const U *keys, uint64_t n, uint64_t at, U key) {
#pragma unroll 1
  for (uint32_t distance = 0; distance < kEqualMax; distance += 32) {
    const uint32_t own = distance + lane_id();
    const bool there = kBefore ? own < at : own < n - at;
    const bool other = !there || keys[kBefore ? at - 1 - own : at + own] != key;
    const uint32_t others = __ballot_sync(kFullWarp, other);
    if (others != 0) return distance + __ffs(static_cast<int>(others)) - 1;
  }
  return UINT32_MAX;
}

// The heads among a group's keys, those that differ from the one before: lane r has row r's.
template <class U>
__device__ __forceinline__ uint32_t heads_of_rows(const U *keys, const Group &group, uint32_t rows) {
  uint32_t heads = 0;
#pragma unroll 2
  for (uint32_t row = 0; row < rows; ++row) {
    const uint64_t own = group.first + row * 32 + lane_id();
    const bool head = own >= group.end || own == 0 || keys[own] != keys[own - 1];
    const uint32_t ballot = __ballot_sync(kFullWarp, head);
    if (lane_id() == row) heads = ballot;
  }
  return heads;
}

// Where the keys begin and end that are equal to the lane's own of `row`, of a group whose first key has `before` equal
// ones before the group and whose last has `after` behind it.
struct EqualKeys {
  uint64_t begin, end;
};
__device__ __forceinline__ EqualKeys equal_keys(const Group &group, uint32_t row, uint32_t heads, uint32_t with_heads,
                                                uint32_t before, uint32_t after) {
  const uint32_t rows_before = with_heads & ((1u << row) - 1), rows_after = with_heads & (~1u << row);
  const uint32_t row_before = 31 - __clz(static_cast<int>(rows_before)),
                 row_after = __ffs(static_cast<int>(rows_after)) - 1;
  const uint32_t heads_before = __shfl_sync(kFullWarp, heads, row_before % 32);
  const uint32_t heads_here = __shfl_sync(kFullWarp, heads, row);
  const uint32_t heads_after = __shfl_sync(kFullWarp, heads, row_after % 32);
  const uint32_t up_to = heads_here & (lanes_below() | 1u << lane_id()), behind = heads_here & ~up_to;
  uint64_t begin = group.first - before, after_end = group.end + after;
  if (up_to != 0) {
    begin = group.first + row * 32 + 31 - __clz(static_cast<int>(up_to));
  } else if (rows_before != 0) {
    begin = group.first + row_before * 32 + 31 - __clz(static_cast<int>(heads_before));
  }
  if (behind != 0) {
    after_end = group.first + row * 32 + __ffs(static_cast<int>(behind)) - 1;
  } else if (rows_after != 0) {
    after_end = group.first + row_after * 32 + __ffs(static_cast<int>(heads_after)) - 1;
  }
  return {begin, after_end};
}

// Moves a group's values to where their keys go that are reversed, while equal ones keep their order. False: more are
// equal than kEqualMax.
template <class U>
__device__ __forceinline__ bool reverse_values(const Arrays<U> &work, const Group &group) {
  const U *keys = work.keys_in;
  const uint64_t n = work.n;
  const uint32_t rows = static_cast<uint32_t>((group.end - group.first + 31) / 32);
  const uint32_t heads = heads_of_rows(keys, group, rows);
  const uint32_t with_heads = __ballot_sync(kFullWarp, heads != 0);
  const uint32_t before = count_equal<true>(keys, n, group.first, keys[group.first]);
  const uint32_t after = count_equal<false>(keys, n, group.end, keys[group.end - 1]);
  if (before == UINT32_MAX || after == UINT32_MAX) return false;
#pragma unroll 2
  for (uint32_t row = 0; row < rows; ++row) {
    const uint64_t own = group.first + row * 32 + lane_id();
    const EqualKeys equal = equal_keys(group, row, heads, with_heads, before, after);
    if (own >= group.end) continue;
    const uint64_t place = n - equal.end + (own - equal.begin);
    const uint64_t from = work.ranks ? place : own, to = work.ranks ? own : place;
    if (work.value_bytes == 4) {
      copy_value<uint32_t>(work, from, to);
    } else {
      copy_value<uint64_t>(work, from, to);
    }
  }
  return true;
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
  __syncwarp();  // the compiler keeps all loads before it, so that none waits for another
  bool bad = false;
  U own = work.codec.encode(key[0]) ^ flip;
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    // The last lane's neighbour is lane 0's key of the next row.
    const U below = work.codec.encode(key[row + 1]) ^ flip;
    const U next = __shfl_sync(kFullWarp, lane_id() == 0 ? below : own, (lane_id() + 1) % 32);
    bad |= (kWhole || at + row * 32 + 1 < work.n) && next < own;
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
  return true;
}

// A group of a warp's keys; the last of all may be a part. False: they, or their values, were not written.
template <bool kWithValues, class U>
__device__ __forceinline__ bool check_group(const Arrays<U> &work, const OrderJob &job, uint64_t first) {
  using Shape = GroupShape<sizeof(U)>;
  if (first + Shape::kGroupItems < work.n) {
    if (!check_rows<Shape::kRows, true>(work, job, first)) return false;
  } else {
#pragma unroll 1
    for (uint64_t row = first; row < work.n; row += 32)
      if (!check_rows<1, false>(work, job, row)) return false;
  }
  if (!kWithValues || !job.writes_values) return true;
  const Group group = {first, min(first + Shape::kGroupItems, work.n)};
  if (job.descending) return reverse_values(work, group);
  if (work.value_bytes == 4) {
    copy_values<uint32_t>(work, group);
  } else {
    copy_values<uint64_t>(work, group);
  }
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

template <bool kWithValues, class U>
__device__ __forceinline__ void sort_ordered(const Params<U> &params, Storage<U> &storage, bool descending) {
  const Arrays<U> &work = params.work;
  const bool in_place = work.keys_out == work.keys_in;
  const OrderJob job = {descending, work.keys_out != nullptr && !in_place,
                        kWithValues && work.values_out != work.values_in};
  if (threadIdx.x == 0) storage.chunks = 0;
  __syncthreads();
  const uint32_t passed = for_each_chunk(&params.state->tickets.word, params.plan.chunks, [&](uint32_t chunk) {
    const uint64_t begin = uint64_t{chunk} * params.plan.chunk_items;
    const uint64_t end = min(begin + params.plan.chunk_items, work.n);
    for (uint64_t first = begin; first < end; first += GroupShape<sizeof(U)>::kGroupItems)
      if (!check_group<kWithValues>(work, job, first)) {
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
  if (kWithValues || !descending || !in_place) return;
  if (wait_for_verdict(params.state)) reverse_in_place(params);
}

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_ORDER_CUH_
