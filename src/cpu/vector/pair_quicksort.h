// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels of a stable quicksort of records whose keys and values are of 4 or 8 bytes
// (cpu/sort/pair_quicksort.h).
#ifndef GSORT_CPU_VECTOR_PAIR_QUICKSORT_H_
#define GSORT_CPU_VECTOR_PAIR_QUICKSORT_H_

#include <cstdint>

#include "core/key_bits.h"
#include "cpu/vector/sort.h"

namespace gsort_internal {

// Keys, in the kernels' own order unless said otherwise, and the values beside them.
template <class K, class V>
struct PairArrays {
  K *keys;
  V *values;
  PairArrays at(uint64_t i) const { return {keys + i, values + i}; }
};

// Keys as a caller has them, and values, or NULL where those are the records' indices, of which `first` is the first.
template <class K, class V>
struct RawPairs {
  const K *keys;
  const V *values;
  uint64_t first;
};

// More are no block.
constexpr uint32_t kPairBlockItemsMax = 1 << 11;

template <class K, class V>
struct PairQuicksortKernels {
  using Arrays = PairArrays<K, V>;

  // Writes the records up to the pivot to `lower` and the others to `upper`, each in the order that they have, and
  // returns how many are lower. Either may be where the records lie, and both have room for all n.
  uint64_t (*split)(const Arrays &from, uint64_t n, InnerKey<K> pivot, const Arrays &lower, const Arrays &upper);

  // The same of keys as the codec finds them.
  uint64_t (*split_first)(const KeyCodec<K> &encode, const RawPairs<K, V> &from, uint64_t n, InnerKey<K> pivot,
                          const Arrays &lower, const Arrays &upper);

  // How many of n keys, as the codec finds them, are up to the pivot.
  uint64_t (*count)(const KeyCodec<K> &encode, const K *keys, uint64_t n, InnerKey<K> pivot);

  // As split_first(), for records of which `lowers` are up to the pivot: `lower` has room for those, `upper` for the
  // others, both are elsewhere, and nothing behind that room is touched, so that other threads may write there.
  void (*split_apart)(const KeyCodec<K> &encode, const RawPairs<K, V> &from, uint64_t n, InnerKey<K> pivot,
                      uint64_t lowers, const Arrays &lower, const Arrays &upper);

  // Whether all of n keys are the same.
  bool (*is_one_key)(const K *keys, uint64_t n);

  // Writes up to kPairBlockItemsMax records in order to `out`, which is elsewhere, with what decode.decode() makes of
  // their keys. `words` has room for n. False, and nothing of use in `out`, if words of 4 bytes, or of 8, do not tell
  // the order, which they do of up to 32 records.
  bool (*sort_block)(const KeyCodec<K> &decode, const Arrays &from, uint32_t n, bool long_words, uint64_t *words,
                     const Arrays &out);

  uint32_t block_items;  // that are best sorted as one; 0 where the target has no such kernels
};

using Pairs32 = PairArrays<uint32_t, uint32_t>;
using Pairs64With32 = PairArrays<uint64_t, uint32_t>;
using Pairs64 = PairArrays<uint64_t, uint64_t>;
using PairQuicksort32 = PairQuicksortKernels<uint32_t, uint32_t>;
using PairQuicksort64With32 = PairQuicksortKernels<uint64_t, uint32_t>;
using PairQuicksort64 = PairQuicksortKernels<uint64_t, uint64_t>;

// NULL if there are no vectors.
const PairQuicksort32 *pair_quicksort_kernels(Pairs32);
const PairQuicksort64With32 *pair_quicksort_kernels(Pairs64With32);
const PairQuicksort64 *pair_quicksort_kernels(Pairs64);

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_PAIR_QUICKSORT_H_
