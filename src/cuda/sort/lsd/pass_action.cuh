// SPDX-License-Identifier: MIT OR Apache-2.0
// What each pass of a radix sort does, decided on the device by the histogram: the host never waits for the data.
#ifndef GSORT_CUDA_SORT_LSD_PASS_ACTION_CUH_
#define GSORT_CUDA_SORT_LSD_PASS_ACTION_CUH_

#include <cstdint>

#include "cuda/primitive/tile_shape.h"

namespace gsort_internal::sort::lsd {

enum class PassKind : uint32_t { kSkip, kSort, kCopy };

// Arrays are numbered 0 (input, read by the first pass alone), 1 (output of the last pass), 2 (the other one) and
// kDirectArray, which a pass by numbers has as its output in place of 1: where values become what the caller wants.
constexpr uint32_t kDirectArray = 3;
template <class U>
struct Arrays {
  U *keys[4];
  void *values[4];
};

// What a pass does besides, as bits of a word: fields of their own would take registers that its kernel does not have.
constexpr uint32_t kFirst = 1;    // the values are as the caller gave them, or are to be made
constexpr uint32_t kLast = 2;     // the values become as the caller wants them
constexpr uint32_t kEncodes = 4;  // the keys are as the caller gave them
constexpr uint32_t kDecodes = 8;  // the keys become as the caller wants them
constexpr uint32_t kStoresKeys = 16;

struct PassAction {
  PassKind kind;
  uint32_t source;
  uint32_t target;
  uint32_t key_source;   // of the keys that are sorted by
  uint32_t sort_parity;  // of the number of sorting passes before: tells look-back words of two passes apart
  uint32_t flags;

  __device__ bool first() const { return flags & kFirst; }
  __device__ bool last() const { return flags & kLast; }
  __device__ bool encodes() const { return flags & kEncodes; }
  __device__ bool decodes() const { return flags & kDecodes; }
  __device__ bool stores_keys() const { return flags & kStoresKeys; }
};

// An input that aliases the output must not be the target of the first pass, so the number of passes must be even:
// where it is not, a slot whose digit does not vary copies. Where no digit varies a copy makes the output.
// values_as_sorted: values are for kernels behind, and keys for nobody, so that no pass is the last one.
__device__ inline void decide_actions(PassAction *actions, uint32_t slots, uint32_t varying_digits, bool aliased,
                                      bool keys_wanted, bool values_as_sorted) {
  const uint32_t sorts = static_cast<uint32_t>(__popc(varying_digits));
  const bool copies = sorts == 0 || (aliased && sorts % 2 == 1);
  const uint32_t total = sorts + (copies ? 1 : 0);
  bool copy_left = copies;
  uint32_t done = 0, sorted = 0;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    PassAction action{};
    if (varying_digits >> slot & 1u) {
      action.kind = PassKind::kSort;
      action.sort_parity = sorted++ % 2;
    } else if (copy_left) {
      action.kind = PassKind::kCopy;
      copy_left = false;
    }
    if (action.kind != PassKind::kSkip) {
      action.target = (total - 1 - done) % 2 == 0 ? 1 : 2;
      action.source = done == 0 ? 0 : 3 - action.target;
      const bool last = done == total - 1;
      action.key_source = action.source;
      if (done == 0) action.flags |= kFirst | kEncodes;
      if (last && !values_as_sorted) action.flags |= kLast | kDecodes;
      if (!last || keys_wanted) action.flags |= kStoresKeys;
      ++done;
    }
    actions[slot] = action;
  }
}

// Keys that were made dense (dense_keys.cuh) into the array that dense_source() names; values are where they were.
// values_aliased: the input of the values is their output.
__device__ inline uint32_t dense_passes(uint32_t sorts, bool values_aliased) {
  return sorts + (values_aliased && sorts % 2 == 1 ? 1 : 0);
}
__device__ inline uint32_t dense_source(uint32_t sorts, bool values_aliased) {
  return dense_passes(sorts, values_aliased) % 2 == 1 ? 2 : 1;
}
__device__ inline void decide_dense_actions(PassAction *actions, uint32_t sorts, bool values_aliased, bool keys_wanted,
                                            bool values_as_sorted) {
  const uint32_t total = dense_passes(sorts, values_aliased);
  for (uint32_t pass = 0; pass < total; ++pass) {
    const bool last = pass == total - 1;
    PassAction action{};
    action.kind = pass < sorts ? PassKind::kSort : PassKind::kCopy;
    action.target = (total - 1 - pass) % 2 == 0 ? 1 : 2;
    action.key_source = 3 - action.target;
    action.source = pass == 0 ? 0 : action.key_source;
    action.sort_parity = pass % 2;
    if (pass == 0) action.flags |= kFirst;
    if (last && !values_as_sorted) action.flags |= kLast;
    if (!last || keys_wanted) action.flags |= kStoresKeys;
    actions[pass] = action;
  }
}

// Values alone, by numbers of one digit that stand for their keys in array 2.
__device__ inline void decide_numbered_actions(PassAction *actions, bool aliased) {
  actions[0] = {PassKind::kSort, 0, kDirectArray, 2, 0, kFirst | kLast | kEncodes | kDecodes};
  if (!aliased) return;
  actions[0].target = 2;
  actions[0].flags = kFirst | kEncodes;
  actions[1] = {PassKind::kCopy, 2, kDirectArray, 2, 0, kLast | kDecodes};
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_PASS_ACTION_CUH_
