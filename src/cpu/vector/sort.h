// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector sorts of keys alone on one thread, in place, on a few KiB of stack.
#ifndef GSORT_CPU_VECTOR_SORT_H_
#define GSORT_CPU_VECTOR_SORT_H_

#include <cstdint>
#include <type_traits>

#include "core/key_bits.h"

namespace gsort_internal {

// Keys in the kernels' own order: as signed integers, because that is the comparison that every target has.
template <class K>
using InnerKey = std::make_signed_t<K>;

// The codec of keys that are, or are to remain, in the kernels' own order.
template <class K>
constexpr KeyCodec<K> kInnerOrder{KeyCodec<K>::kTop, KeyCodec<K>::kTop, 0};

// The orders without NaNs last, by number, and their codecs: make_codec()'s, which cost a short call more to make.
constexpr uint32_t kNumberedOrders = 6;
inline uint32_t order_number(const KeyOrder &order) {
  return static_cast<uint32_t>(dtype_facts(order.dtype).kind) * 2 + (order.descending ? 1 : 0);
}
constexpr uint32_t kUnsignedOrder = static_cast<uint32_t>(Kind::kUnsigned) * 2;
constexpr uint32_t kSignedOrder = static_cast<uint32_t>(Kind::kSigned) * 2;  // the kernels' own
template <class K>
constexpr KeyCodec<K> kNumberedCodecs[kNumberedOrders] = {
    {0, 0, 0},
    {static_cast<K>(~K{0}), static_cast<K>(~K{0}), 0},
    {KeyCodec<K>::kTop, KeyCodec<K>::kTop, 0},
    {static_cast<K>(~KeyCodec<K>::kTop), static_cast<K>(~KeyCodec<K>::kTop), 0},
    {KeyCodec<K>::kTop, static_cast<K>(~K{0}), 0},
    {static_cast<K>(~KeyCodec<K>::kTop), 0, 0}};

// Asked now and then in the midst of long work; what it calls throws nothing.
struct GoesOn {
  bool (*ask)(void *user);
  void *user;
};

// Codecs of what follows, but that of split(), have no NaNs last. `in` may be `out`, and overlaps it in no other way.
template <class K>
struct SortKernels {
  // Writes to `out` what decode.decode() makes of the ordered bits encode.encode() of the keys of `in`, in ascending
  // order of those bits.
  void (*sort)(const KeyCodec<K> &encode, const KeyCodec<K> &decode, const K *in, K *out, uint64_t n);

  // The same by an order's number, with the least there is to do around the sort.
  void (*sort_few)(uint32_t order, const K *in, K *out, uint64_t n);
  uint64_t integers_max;  // how many keys sort_few sorts without comparing floats, whatever the float environment

  // The same in place, of keys that are all from `least` to `greatest` in the kernels' own order.
  void (*sort_part)(const KeyCodec<K> &codec, K *keys, uint64_t n, InnerKey<K> least, InnerKey<K> greatest);

  // Writes the keys as they are to `out`: first those up to the pivot, which is in the kernels' own order, and returns
  // how many these are. When it is not to go on, it ends early: an `out` that is `in` then has all keys in any order,
  // another one anything, and the number means nothing.
  uint64_t (*split)(const KeyCodec<K> &codec, const K *in, K *out, uint64_t n, InnerKey<K> pivot,
                    const GoesOn &goes_on);

  // Writes what decode.decode() makes of keys in the kernels' own order to `out`, in the order that they have.
  void (*decode)(const KeyCodec<K> &decode, const K *in, K *out, uint64_t n);
};

// NULL if there are no vectors.
const SortKernels<uint32_t> *sort_kernels(uint32_t);
const SortKernels<uint64_t> *sort_kernels(uint64_t);
inline const SortKernels<uint8_t> *sort_kernels(uint8_t) { return nullptr; }
inline const SortKernels<uint16_t> *sort_kernels(uint16_t) { return nullptr; }

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_SORT_H_
