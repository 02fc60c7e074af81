// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: sorts of up to two blocks of keys, each of which the registers hold.
#if defined(GSORT_CPU_VECTOR_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_BLOCKS_INL_H_
#undef GSORT_CPU_VECTOR_BLOCKS_INL_H_
#else
#define GSORT_CPU_VECTOR_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "cpu/vector/narrow-inl.h"
#include "cpu/vector/network-inl.h"
#include "cpu/vector/target.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET

// Two sorted blocks and their merge cost less than a partition, whose larger side would be too large for one block.
template <class K>
constexpr size_t kNetworkKeys = 2 * kBlockKeys<K>;

// Sorts more than kBlockKeys keys, up to kNetworkKeys: two blocks, and a bitonic merge of rows that follow each other.
// The merge, the larger part, is there once for keys that are encoded before it and for others.
template <class K>
class TwoBlocks {
 public:
  template <bool kEncode>
  static HWY_NOINLINE void run(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
    const KeyTag<K> d;
    HWY_ALIGN LaneOf<K> second[kBlockKeys<K>];
    const size_t rest = n - kBlockKeys<K>;
    const SortCoder<K> to_inner = coder.encoding_only();
    for (size_t i = rest / kLanes<K> * kLanes<K>; i < kBlockKeys<K>; i += kLanes<K>)
      hn::Store(hn::Set(d, kGreatestLane<K>), d, second + i);
    sort_block_of_rows<K, kEncode>(to_inner, in + kBlockKeys<K>, second, rest);
    RowSort<K, kRowsMax<K>, kEncode>::run(to_inner, in, out, kBlockKeys<K>);
    merge(coder, out, second, rest);
  }

 private:
  // The block at `out` with the one in `second`, of which the first `rest` keys are written.
  static HWY_NOINLINE void merge(const SortCoder<K> &coder, LaneOf<K> *out, LaneOf<K> *second, size_t rest) {
    KeyVec<K> v[kRowsMax<K>];
    part<0>(out, second, v);
    finish(v);
    store<0>(coder, v, out, kBlockKeys<K>);
    load_upper<0>(second, v);
    finish(v);
    store<0>(coder, v, out + kBlockKeys<K>, rest);
  }

  struct Lanes {
    template <size_t kRow>
    static HWY_INLINE void run(KeyVec<K> *v) {
      compare_lanes<K, kLanes<K> / 2>(v[kRow]);
    }
  };

  // Leaves the lower keys of both blocks in `v` and the others, in rows in the reverse order, in `second`.
  template <size_t kRow>
  static HWY_INLINE void part(const LaneOf<K> *first, LaneOf<K> *second, KeyVec<K> *v) {
    if constexpr (kRow < kRowsMax<K>) {
      const KeyTag<K> d;
      LaneOf<K> *const mirrored = second + (kRowsMax<K> - 1 - kRow) * kLanes<K>;
      const auto a = hn::LoadU(d, first + kRow * kLanes<K>), b = reverse_lanes<K, kLanes<K>>(hn::Load(d, mirrored));
      v[kRow] = hn::Min(a, b);
      hn::Store(not_lower<K>(v[kRow], a, b), d, mirrored);
      part<kRow + 1>(first, second, v);
    }
  }
  template <size_t kRow>
  static HWY_INLINE void load_upper(const LaneOf<K> *second, KeyVec<K> *v) {
    if constexpr (kRow < kRowsMax<K>) {
      v[kRow] = hn::Load(KeyTag<K>(), second + (kRowsMax<K> - 1 - kRow) * kLanes<K>);
      load_upper<kRow + 1>(second, v);
    }
  }
  static HWY_INLINE void finish(KeyVec<K> *v) {
    MergeRows<K, 0, kRowsMax<K>>::run_all(v);
    for_rows<0, kRowsMax<K>, Lanes>(v);
  }
  template <size_t kRow>
  static HWY_INLINE void store(const SortCoder<K> &coder, const KeyVec<K> *v, LaneOf<K> *out, size_t n) {
    RowSort<K, kRowsMax<K>, true>::template store<kRow>(coder, v, out, n);
  }
};

// Sorts up to kNetworkKeys keys.
template <class K, bool kEncode>
HWY_INLINE void network_sort(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
  if (n > kBlockKeys<K>) return TwoBlocks<K>::template run<kEncode>(coder, in, out, n);
#if HWY_TARGET == HWY_AVX3
  if constexpr (kEncode && !std::is_floating_point_v<LaneOf<K>>)
    if (n <= kNarrowKeys<K> && processor_is_of_amd.load(std::memory_order_relaxed))
      return sort_in_narrow_rows<K>(coder, in, out, n);
#endif
  sort_block_of_rows<K, kEncode>(coder, in, out, n);
}

// Whether `is_odd` finds nothing in vectors of all keys, of which it sees some twice. At least a vector's keys.
template <class K, class IsOdd>
HWY_INLINE bool no_key(const LaneOf<K> *in, size_t n, IsOdd &&is_odd) {
  const KeyTag<K> d;
  constexpr size_t kWide = kLanes<K>;
  auto found = is_odd(hn::LoadU(d, in + (n - kWide)));
  for (size_t i = 0; i + kWide < n; i += kWide) found = hn::Or(found, is_odd(hn::LoadU(d, in + i)));
  return hn::AllFalse(d, found);
}

#if GSORT_VECTOR_KEYS_AS_NUMBERS
// Sorts ordered integers as numbers. An integer's bits are a number's that has the same place among others, if all bits
// of negative ones but the sign are flipped: but for -1, which would be -0, and for those of the greatest magnitudes,
// which would be NaNs. Where all are of those, as small unsigned keys are, another flip of all keys alike brings them
// among the numbers of one sign.
class KeysAsNumbers {
 public:
  using Masks = SortCoder<uint64_t>::Masks;
  using Lanes = LaneOf<uint64_t>;

  // Up to a network's keys, at least a vector's, which `encode` makes ordered ones; or false, and nothing is written.
  static HWY_INLINE bool sort(const Masks &encode, const Masks &decode, const Lanes *in, Lanes *out, size_t n) {
    if (encode.both != 0) return false;  // floats that no numbers serve
    const Lanes first = in[0] ^ static_cast<Lanes>(encode.mask);
    const bool at_end = first > kInfinity || first < ~kInfinity;
    if (at_end) {
      if (!are_at_end(encode.mask, first < 0, in, n)) return false;
      const uint64_t flip = first < 0 ? kTop : ~uint64_t{0};
      const bool has_other_mask = ((decode.mask & kTop) != 0) != (first < 0);
      const uint64_t mask = decode.mask ^ flip ^ (has_other_mask ? decode.both : 0);
      run({NumberMasks{encode.mask ^ flip, 0}, NumberMasks{mask, 0}}, in, out, n);
    } else {
      if (!are_between_ends(encode.mask, in, n)) return false;
      run({flipped(encode), flipped(decode)}, in, out, n);
    }
    return true;
  }

 private:
  using NumberMasks = SortCoder<KeyAsNumber>::Masks;
  static constexpr Lanes kInfinity = 0x7ff0000000000000;
  static constexpr uint64_t kTop = KeyCodec<uint64_t>::kTop;

  static HWY_NOINLINE void run(const SortCoder<KeyAsNumber> &coder, const Lanes *in, Lanes *out, size_t n) {
    network_sort<KeyAsNumber, true>(coder, reinterpret_cast<const double *>(in), reinterpret_cast<double *>(out), n);
  }

  // All bits but the sign of negative ones flipped, before or behind what the masks do.
  static NumberMasks flipped(const Masks &masks) {
    return {masks.mask ^ ((masks.mask & kTop) != 0 ? ~kTop : 0), masks.both ^ ~kTop};
  }

  static HWY_NOINLINE bool are_between_ends(uint64_t mask, const Lanes *in, size_t n) {
    const KeyTag<uint64_t> d;
    const auto minus_one = hn::Set(d, static_cast<Lanes>(~mask));
    // From ~kInfinity to kInfinity, moved to the least integer. A mask of all bits turns the range round, and so does
    // that of all but the top one with the top bit flipped, which is the top bit added.
    const bool flips_top = (mask & 1) != mask >> 63;
    const auto shift = hn::Set(d, static_cast<Lanes>((flips_top ? 0 : kTop) + static_cast<uint64_t>(kInfinity) + 1));
    const auto last = hn::Set(d, static_cast<Lanes>(kTop + 2 * static_cast<uint64_t>(kInfinity) + 1));
    return no_key<uint64_t>(in, n, [&](KeyVec<uint64_t> key) HWY_ATTR {
      return hn::Or(hn::Gt(hn::Add(key, shift), last), hn::Eq(key, minus_one));
    });
  }

  static HWY_NOINLINE bool are_at_end(uint64_t mask, bool lower, const Lanes *in, size_t n) {
    const KeyTag<uint64_t> d;
    // Those of the upper end are turned round.
    const auto flip = hn::Set(d, static_cast<Lanes>(lower ? mask : ~mask));
    const auto last = hn::Set(d, static_cast<Lanes>(kTop + static_cast<uint64_t>(kInfinity)));
    return no_key<uint64_t>(in, n, [&](KeyVec<uint64_t> key) HWY_ATTR { return hn::Gt(hn::Xor(key, flip), last); });
  }
};
#endif

// Sorts up to kNetworkKeys keys the way that is quickest for them.
template <class K, bool kEncode>
HWY_INLINE void sort_in_network(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
#if GSORT_VECTOR_KEYS_AS_NUMBERS
  constexpr size_t kFewest = 3 * kLanes<K>;  // fewer are no quicker
  if constexpr (std::is_same_v<K, uint64_t>)
    if (n >= kFewest &&
        KeysAsNumbers::sort(kEncode ? coder.encoding() : KeysAsNumbers::Masks{0, 0}, coder.decoding(), in, out, n))
      return;
#endif
  network_sort<K, kEncode>(coder, in, out, n);
}

#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_BLOCKS_INL_H_
