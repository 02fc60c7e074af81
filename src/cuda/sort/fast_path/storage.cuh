// SPDX-License-Identifier: MIT OR Apache-2.0
// What a block of the fast path keeps of its sample.
#ifndef GSORT_CUDA_SORT_FAST_PATH_STORAGE_CUH_
#define GSORT_CUDA_SORT_FAST_PATH_STORAGE_CUH_

#include <cstdint>

#include "cuda/sort/fast_path/state.cuh"

namespace gsort_internal::sort::fast_path {

enum class Pattern : uint32_t { kNone, kAscending, kDescending, kFewBits, kFewValues };

// Keys that are `origin` with some of up to 16 words xor-ed to it. Every word's leading bit (pivot) is clear in origin
// and in all other words, so two keys compare as their pivots do: the first bit in which they differ leads their
// difference, which is a combination of words too. Two values are one word, however many bits they differ in; keys that
// differ in 16 bits are 16 words of one bit.
template <class U>
struct FewBits {
  uint32_t count;     // of words
  U words[kBitsMax];  // ascending
  U origin;
  U pivots;   // their mask
  U varying;  // all bits of all words
  // The number of a key is its pivots brought together in order. Where they are neighbours a shift does it; otherwise
  // step s moves those that have an odd distance to go, counted in 2^s, which are moves[s].
  bool neighbours;
  uint32_t shift;
  U moves[sizeof(U) == 8 ? 6 : 5];
  // The key of a number is low[number & 255] ^ high[number >> 8]; bit k of a number says whether word k is in the key.
  U low[256], high[256];
};

template <class U>
struct Storage {
  U sample[kSamples];
  FewBits<U> few;
  unsigned long long varying;
  uint32_t picked, chunks;
  uint32_t values;      // of keys of few values
  uint32_t multiplier;  // of their hash
  uint32_t warp_sums[kWarps];
};
static_assert(sizeof(Storage<uint64_t>) + 1024 <= kStaticBytes, "the plan counts with this size");

// Sampled key i of `samples` comes from its own equal part of the keys, at a hashed place, so that no period of the
// data meets the sample's.
__device__ __forceinline__ uint64_t sample_place(uint32_t i, uint32_t samples, uint64_t n) {
  const uint64_t part = n / samples;
  const uint32_t most = part < UINT32_MAX ? static_cast<uint32_t>(part) : UINT32_MAX;
  return i * part + __umulhi(i * 0x9e3779b9u + 0x7f4a7c15u, most);
}

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_STORAGE_CUH_
