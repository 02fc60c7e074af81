// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels that look for keys without moving them: the best one, and all that come before a bound.
#ifndef GSORT_CPU_VECTOR_SELECT_H_
#define GSORT_CPU_VECTOR_SELECT_H_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal {

template <class K>
struct FirstOfLeast {
  K key;  // ordered bits
  uint64_t index;
};

template <class K>
struct SelectKernels {
  // The first of the least ordered keys; n > 0.
  FirstOfLeast<K> (*least)(const KeyCodec<K> &codec, const K *keys, uint64_t n);

  // Writes the indices of keys whose ordered bits are below `bound` to `indices`, in order, behind `count` that are
  // there already, until all n keys are looked at or fewer than kSelectRoom entries are left of `room`. Returns how
  // many keys were looked at. n < 2^32.
  uint64_t (*below)(const KeyCodec<K> &codec, const K *keys, uint64_t n, K bound, uint32_t *indices, uint64_t room,
                    uint64_t *count);
  // The same of keys whose ordered bits are the bound.
  uint64_t (*equal)(const KeyCodec<K> &codec, const K *keys, uint64_t n, K bound, uint32_t *indices, uint64_t room,
                    uint64_t *count);

  // As below(), but the keys themselves instead of their indices; up to kSelectRoom behind them are written, too. NULL
  // for keys of 1 and 2 bytes.
  uint64_t (*keys_below)(const KeyCodec<K> &codec, const K *keys, uint64_t n, K bound, K *found, uint64_t room,
                         uint64_t *count);

  // The keys of `blocks` blocks, each of minima_sets keys from keys[starts[b]] on, are dealt to as many sets; writes
  // the least ordered key of each set. Of blocks that share no key, the k-th of these is one that k keys do not come
  // after.
  void (*minima)(const KeyCodec<K> &codec, const K *keys, const uint32_t *starts, uint32_t blocks, K *least);
  uint32_t minima_sets;  // up to kMinimaSetsMax

  // How many of the first n keys, from the first on, come no later than the one behind them, of which the last is
  // keys[n]. `reversed`: no earlier.
  uint64_t (*ordered)(const KeyCodec<K> &codec, const K *keys, uint64_t n, bool reversed);

  // Whether all n keys are `key`, bit for bit.
  bool (*all_are)(const K *keys, uint64_t n, K key);
};
constexpr uint64_t kSelectRoom = 256;
constexpr uint32_t kMinimaSetsMax = 512;

// NULL if there are no vectors.
const SelectKernels<uint8_t> *select_kernels(uint8_t);
const SelectKernels<uint16_t> *select_kernels(uint16_t);
const SelectKernels<uint32_t> *select_kernels(uint32_t);
const SelectKernels<uint64_t> *select_kernels(uint64_t);

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_SELECT_H_
