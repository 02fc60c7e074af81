// SPDX-License-Identifier: MIT OR Apache-2.0
// Whether keys crowd in cells however these are cut, as the sorted sample tells.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_CROWDING_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_CROWDING_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/split_plan.h"
#include "cuda/sort/sample_sort/tables.h"

namespace gsort_internal::sort::sample_sort {

// Whether the value of sampled key `i` has a bin of its own, whose keys are not moved.
template <class U>
__device__ __forceinline__ bool has_own_bin(const U *sample, uint32_t i, U key) {
  constexpr uint32_t kApart = kSample / kBins;
  const uint32_t splitter = i / kApart * kApart;
  if (__ldcg(sample + splitter) != key) return false;
  return (splitter != 0 && __ldcg(sample + splitter - kApart) == key) ||
         (splitter + kApart < kSample && __ldcg(sample + splitter + kApart) == key);
}

// Looks at a part of the sorted sample and adds what it shows to the state. By a warp of every block.
template <class U>
__device__ __forceinline__ void note_crowding(const Arguments<U> &arguments) {
  const U *const sample = arguments.sample;
  uint32_t differing = 0, equal = 0, repeated = 0;
  for (uint32_t base = blockIdx.x * 32; base < kSample; base += gridDim.x * 32) {
    const uint32_t i = base + lane_id();
    bool differs = false, equals = false, repeats = false;
    if (i != 0 && i + 1 < kSample) {
      const U key = __ldcg(sample + i), before = static_cast<U>(key - __ldcg(sample + i - 1)),
              behind = static_cast<U>(__ldcg(sample + i + 1) - key), least = min(before, behind);
      differs = least != 0 && max(before, behind) >> msd::kSplitCrowdedBits > least;
      equals = before == 0;
      repeats = equals && !has_own_bin(sample, i, key);
    }
    differing += __popc(__ballot_sync(kFullWarp, differs));
    equal += __popc(__ballot_sync(kFullWarp, equals));
    repeated += __popc(__ballot_sync(kFullWarp, repeats));
  }
  if (lane_id() != 0) return;
  if (differing != 0) atomicAdd(&arguments.state->differing, differing);
  if (equal != 0) atomicAdd(&arguments.state->equal, equal);
  if (repeated != 0) atomicAdd(&arguments.state->repeated, repeated);
}

// Once all blocks have looked: whether the keys lie in clusters of clusters, as bits ANDed or text, so that many
// distances differ much from the next one; or, of 4 bytes, have values that come often, but not so often that they have
// bins of their own, and lie anywhere: as prices they would lie in steps, and have digits of their own.
template <class U>
GSORT_HOST_DEVICE bool are_crowded(const State &state) {
  if (state.differing > kDifferingMax<U>) return true;
  if (sizeof(U) != 4 || state.repeated <= kRepeatedMax) return false;
  // What lies anywhere, by the pairs of unequal neighbours.
  const uint32_t unequal = kSample - state.equal;
  return uint64_t{state.differing} * kSample * kSample > uint64_t{kRandomDiffering} * unequal * unequal;
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_CROWDING_CUH_
