// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels of the sort in place are given, and what they leave for each other.
#ifndef GSORT_CUDA_SORT_IN_PLACE_JOB_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_JOB_CUH_

#include <cstdint>
#include <type_traits>

#include "core/key_bits.h"
#include "cuda/sort/in_place/plan.h"

namespace gsort_internal::sort::in_place {

struct NoValue {};
template <class V>
constexpr bool kHasValues = !std::is_same<V, NoValue>::value;
template <class V>
constexpr uint32_t kValueBytes = kHasValues<V> ? sizeof(V) : 0;

constexpr uint32_t kNone = ~0u;  // in `source` and `target`

// Cleared before the first kernel, but for the splitters.
struct State {
  unsigned long long totals[3][kBucketsMax];  // by turns, of the search for exact splitters
  uint32_t moves;                             // listed
  uint32_t next_move;
  // Items at or above the i-th, by key and then by place, belong to bucket i + 1 or a later one.
  unsigned long long splitter[kBucketsMax];  // ordered bits
  unsigned long long splitter_place[kBucketsMax];
};
static_assert(sizeof(State) <= kStateBytes, "the plan counts with this size");

// What kernels that look at keys alone are given.
template <class U>
struct KeyJob {
  const U *keys_in;
  KeyCodec<U> codec;
  uint64_t n;
  uint32_t brick;
  uint32_t slots;  // the last may be short
  uint32_t buckets, stripes;
  uint32_t stripe_slots;  // of every stripe but the last, which may have fewer
  uint64_t samples;
  uint64_t sample_part;  // items of which one is sampled
  uint64_t slack;
  State *state;
  const uint32_t *done;  // NULL, or a word: not 0 = the keys are sorted by their cells, and nothing is to be done
  U *sample;
  U *sample_sorted;
  uint32_t *counts;    // [bucket][stripe] items
  uint64_t *starts;    // [bucket][stripe] place of the first of them in the output; then n
  uint32_t *piece_of;  // [bucket][stripe] and one more: which piece the slot of `starts` has

  __device__ __forceinline__ bool is_done() const { return done != nullptr && *done != 0; }
  // The first item of a stripe, or the end.
  __device__ __forceinline__ uint64_t stripe_begin(uint32_t stripe) const {
    const uint64_t begin = uint64_t{stripe} * stripe_slots * brick;
    return begin < n ? begin : n;
  }
};

template <class U, class V>
struct Job : KeyJob<U> {
  using Key = U;
  using Value = V;
  static constexpr uint32_t kItemBytes = sizeof(U) + kValueBytes<V>;
  static constexpr uint32_t kBrick = brick_items(kItemBytes);  // == brick
  static constexpr bool kHasCode = kHasCodeHere<kItemBytes>;

  U *keys;  // the output; may be keys_in
  const V *values_in;
  V *values;
  bool vectors;   // keys and values begin at multiples of 16 bytes in the output
  U *piece_keys;  // bricks of slots that no stripe fills alone
  V *piece_values;
  uint32_t *source;  // of a slot: where its brick lies, or kNone: it is made of pieces
  uint32_t *target;  // of the brick in a slot: the slot where it belongs; kNone: the slot holds nothing
  uint32_t *moves;   // slots at which moves begin; see kRotates
  U *cut_keys;       // bricks of slots that were emptied
  V *cut_values;
};

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_JOB_CUH_
