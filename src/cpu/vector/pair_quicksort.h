// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels of a stable quicksort of records whose keys and values are of 4 bytes (cpu/sort/pair_quicksort.h).
#ifndef GSORT_CPU_VECTOR_PAIR_QUICKSORT_H_
#define GSORT_CPU_VECTOR_PAIR_QUICKSORT_H_

#include <cstdint>

#include "core/key_bits.h"
#include "cpu/vector/sort.h"

namespace gsort_internal {

// Keys, in the kernels' own order unless said otherwise, and the values beside them.
struct ShortPairs {
  uint32_t *keys, *values;
  ShortPairs at(uint64_t i) const { return {keys + i, values + i}; }
};

// Keys as a caller has them, and values, or NULL where those are the records' indices, of which `first` is the first.
struct RawPairs {
  const uint32_t *keys, *values;
  uint64_t first;
};

// More are no block.
constexpr uint32_t kPairBlockItemsMax = 1 << 11;

struct PairQuicksortKernels {
  // Writes the records up to the pivot to `lower` and the others to `upper`, each in the order that they have, and
  // returns how many are lower. Either may be where the records lie, and both have room for all n.
  uint64_t (*split)(const ShortPairs &from, uint64_t n, InnerKey<uint32_t> pivot, const ShortPairs &lower,
                    const ShortPairs &upper);

  // The same of keys as the codec finds them.
  uint64_t (*split_first)(const KeyCodec<uint32_t> &encode, const RawPairs &from, uint64_t n, InnerKey<uint32_t> pivot,
                          const ShortPairs &lower, const ShortPairs &upper);

  // Whether all of n keys are the same.
  bool (*is_one_key)(const uint32_t *keys, uint64_t n);

  // Writes up to kPairBlockItemsMax records in order to `out`, which is elsewhere, with what decode.decode() makes of
  // their keys. `words` has room for n. False, and nothing of use in `out`, if words of 4 bytes do not tell the order.
  bool (*sort_block)(const KeyCodec<uint32_t> &decode, const ShortPairs &from, uint32_t n, uint32_t *words,
                     const ShortPairs &out);

  uint32_t block_items;  // that are best sorted as one; 0 where the target has no such kernels
};

// NULL if there are no vectors.
const PairQuicksortKernels *pair_quicksort_kernels(uint32_t);

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_PAIR_QUICKSORT_H_
