// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of segments that the warps of a block hold, of keys of 2 bytes and more, in a time that does not depend on the
// keys (primitive/merge_sort.cuh): teams of warps, as many as the length wants, take segments from the lists.
#ifndef GSORT_CUDA_SEGMENTS_MERGE_SEGMENTS_CUH_
#define GSORT_CUDA_SEGMENTS_MERGE_SEGMENTS_CUH_

#include <cstdint>
#include <type_traits>

#include "core/key_bits.h"
#include "cuda/primitive/key_rows.cuh"
#include "cuda/primitive/merge_sort.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/segments/check.cuh"

namespace gsort_internal::segments {

template <class U>
constexpr uint32_t kMergeRows = merge_rows(sizeof(U));
template <class U>
constexpr uint32_t kMergeRun = merge_run_items(sizeof(U));
// What a key is in registers and in shared memory.
template <class U>
using MergeKey = typename std::conditional<sizeof(U) < 4, uint32_t, U>::type;
template <class U>
constexpr uint32_t kMergeSharedBytes = merge_room<MergeKey<U>>(kMergeWarps * kMergeRun<U>) * sizeof(MergeKey<U>);
template <class U>
constexpr uint32_t kBigSharedBytes = merge_room<MergeKey<U>>(kBigWarps * kMergeRun<U>) * sizeof(MergeKey<U>);
static_assert(kBigSharedBytes<uint32_t> == big_shared_bytes(4) && kBigSharedBytes<uint64_t> == big_shared_bytes(8),
              "the plan counts with these sizes");
static_assert(kRunKeys<kMergeRows<uint32_t>> == kMergeRun<uint32_t>, "the plan counts with this size");
static_assert(kMergeSharedBytes<uint64_t> <= 64 * 1024, "a block must fit an SM of sm_75");

template <class U>
__device__ __forceinline__ uint64_t keys_of_listed(const Params<U> &params, const List &list, uint64_t i) {
  const uint64_t *const bounds = params.bounds_of(list.segments[i]);
  return bounds[1] - bounds[0];
}

// Loads the rows of a run's lane, the first of which has `left` keys from its own on; what is not there becomes the
// greatest key.
template <class U>
__device__ __forceinline__ void load_run(const U *from, int left, const KeyCodec<U> &codec,
                                         MergeKey<U> (&keys)[kMergeRows<U>]) {
  const U none = codec.decode(static_cast<U>(~U{0}));
#pragma unroll
  for (uint32_t row = 0; row < kMergeRows<U>; ++row) {
    keys[row] = none;
    if (static_cast<int>(row * 32) < left) keys[row] = from[row * 32];
  }
  encode_rows(codec, keys);
}
template <class U>
__device__ __forceinline__ void store_run(U *to, int left, const KeyCodec<U> &codec,
                                          MergeKey<U> (&keys)[kMergeRows<U>]) {
  decode_rows(codec, keys);
#pragma unroll
  for (uint32_t row = 0; row < kMergeRows<U>; ++row)
    if (static_cast<int>(row * 32) < left) to[row * 32] = static_cast<U>(keys[row]);
}

// By the warps of a team that can hold it. shared: the team's own.
template <class U>
__device__ __forceinline__ void merge_segment(const Params<U> &params, uint64_t listed, const WarpTeam &team,
                                              MergeKey<U> *shared) {
  // Bounds are read anew where they are needed: kept, they would spill.
  const volatile uint64_t *const bounds = params.bounds_of(listed);
  const auto count = [&] { return static_cast<uint32_t>(bounds[1] - bounds[0]); };
  const uint32_t first = team.warp * kMergeRun<U> + lane_id(), runs = (count() + kMergeRun<U> - 1) / kMergeRun<U>;
  MergeKey<U> keys[kMergeRows<U>];
  if (team.warp < runs)
    load_run(params.source_of(listed) + bounds[0] + first, static_cast<int>(count() - first), params.codec, keys);
  merge_sort<kMergeRows<U>>(team, shared, runs, keys);
  if (team.warp < runs)
    store_run(params.keys_out + bounds[0] + first, static_cast<int>(count() - first), params.codec, keys);
}

// A barrier for each team of each size, halves of teams among them: none may be for different numbers of warps
// (sync_some()). A warp alone needs none.
__device__ __forceinline__ uint32_t team_barrier(uint32_t first_warp, uint32_t warps) {
  constexpr uint32_t kMiddle = 2, kHalves = kMiddle + kMergeWarps / kMiddleTeamWarps,
                     kSmall = kHalves + 2 * kMergeWarps / kMiddleTeamWarps;
  static_assert(kSmall + kMergeWarps / kSmallTeamWarps <= 16, "a block has so many, of which one is for all");
  return warps == kMergeWarps            ? 1
         : warps == kMiddleTeamWarps     ? kMiddle + first_warp / kMiddleTeamWarps
         : warps * 2 == kMiddleTeamWarps ? kHalves + first_warp / (kMiddleTeamWarps / 2)
                                         : kSmall + first_warp / kSmallTeamWarps;
}

// Teams of `warps` take the list's segments in turn, two at a time where there are many: if half a team holds either,
// each half sorts one.
template <class U>
__device__ __forceinline__ void merge_listed(const Params<U> &params, const List &list, uint32_t warps,
                                             MergeKey<U> *shared) {
  const uint32_t warp = threadIdx.x / 32, team = warp / warps, of_team = warp % warps, half = warps / 2;
  const uint64_t count = *list.count, teams = uint64_t{gridDim.x} * (kMergeWarps / warps);
  const uint32_t each = count > teams ? 2 : 1;
  for (uint64_t i = (uint64_t{team} * gridDim.x + blockIdx.x) * each; i < count; i += teams * each) {
    const bool two = each == 2 && i + 1 < count;
    const bool apart = two && keys_of_listed(params, list, i) <= half * kMergeRun<U> &&
                       keys_of_listed(params, list, i + 1) <= half * kMergeRun<U>;
    const uint32_t members = apart ? half : warps, part = of_team / members, turns = two && !apart ? 2 : 1;
    const uint32_t first = team * warps + part * members;
#pragma unroll 1
    for (uint32_t turn = 0; turn < turns; ++turn)
      merge_segment(params, list.segments[i + part + turn], {of_team % members, team_barrier(first, members), members},
                    shared + run_place<MergeKey<U>>(first * kMergeRun<U>));
  }
}

// Big segments, a block each. shared: kBigSharedBytes.
template <class U>
__device__ __forceinline__ void merge_big_listed(const Params<U> &params, MergeKey<U> *shared) {
  if (*params.error != 0) return;
  const uint64_t count = *params.big.count;
  for (uint64_t i = blockIdx.x; i < count; i += gridDim.x)
    merge_segment(params, params.big.segments[i], {threadIdx.x / 32, 1, kBigWarps}, shared);
}

// The longest first: they take longest. shared: kMergeSharedBytes.
template <class U>
__device__ __forceinline__ void merge_all_listed(const Params<U> &params, MergeKey<U> *shared) {
  if (*params.error != 0) return;
#pragma unroll 1
  for (uint32_t length = 0; length < 3; ++length) {
    const List &list = length == 0 ? params.medium_merges : length == 1 ? params.middle_merges : params.small_merges;
    const uint32_t warps = length == 0 ? kMergeWarps : length == 1 ? kMiddleTeamWarps : kSmallTeamWarps;
    merge_listed(params, list, warps, shared);
  }
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_MERGE_SEGMENTS_CUH_
