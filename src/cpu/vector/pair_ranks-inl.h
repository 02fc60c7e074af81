// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: sorts of very few records by their ranks, each key compared with all others, in
// registers from the first load to the last store.
#if defined(GSORT_CPU_VECTOR_PAIR_RANKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_PAIR_RANKS_INL_H_
#undef GSORT_CPU_VECTOR_PAIR_RANKS_INL_H_
#else
#define GSORT_CPU_VECTOR_PAIR_RANKS_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "cpu/vector/network-inl.h"
#include "cpu/vector/pair_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET && GSORT_VECTOR_PAIRS

// Up to kVecs vectors of records.
template <class K, size_t kVecs>
class RankSort {
 public:
  static HWY_NOINLINE bool run(const SortCoder<K> &coder, const K *keys, const K *values, uint32_t n, K *keys_out,
                               K *values_out) {
    const KeyTag<K> d;
    KeyVec<K> key[kVecs], ordered[kVecs], value[kVecs];
    load<0>(coder, keys, values, n, key, ordered, value);
    auto sorted = hn::Zero(d);
    for_vectors<0>([&](auto vec) HWY_ATTR {
      constexpr size_t kVec = decltype(vec)::value;
      sorted = hn::Or(sorted, placed<kVec>(rank<kVec>(ordered)));
    });
    or_lanes<kWide / 2>(sorted);
    store<0>(sorted, key, value, n, keys_out, values_out);
    return true;
  }

 private:
  static constexpr size_t kWide = kLanes<K>, kPlaces = kVecs * kWide;
  static constexpr int kShift = kPlaces > 8 || sizeof(K) == 4 ? 2 : 3;  // a place has 2^kShift bits of a lane
  static_assert(kPlaces << kShift <= sizeof(K) * 8 && kPlaces <= 1u << (1 << kShift), "a lane holds all places");

  template <size_t kVec, class F>
  static HWY_INLINE void for_vectors(F &&f) {
    if constexpr (kVec < kVecs) {
      f(std::integral_constant<size_t, kVec>());
      for_vectors<kVec + 1>(f);
    }
  }

  // Behind the last record, the greatest key, which comes after others by its place.
  template <size_t kVec>
  static HWY_INLINE void load(const SortCoder<K> &coder, const K *keys, const K *values, uint32_t n, KeyVec<K> *key,
                              KeyVec<K> *ordered, KeyVec<K> *value) {
    if constexpr (kVec < kVecs) {
      const KeyTag<K> d;
      constexpr size_t kBegin = kVec * kWide;
      const auto *const keys_at = reinterpret_cast<const LaneOf<K> *>(keys) + kBegin;
      const auto *const values_at = reinterpret_cast<const LaneOf<K> *>(values) + kBegin;
      if (n >= kBegin + kWide) {
        key[kVec] = hn::LoadU(d, keys_at);
        value[kVec] = hn::LoadU(d, values_at);
        ordered[kVec] = coder.encode(key[kVec]);
      } else {
        const auto mask = hn::FirstN(d, n < kBegin ? 0 : n - kBegin);
        key[kVec] = hn::MaskedLoad(mask, d, keys_at);
        value[kVec] = hn::MaskedLoad(mask, d, values_at);
        ordered[kVec] = hn::IfThenElse(mask, coder.encode(key[kVec]), hn::Set(d, kGreatestLane<K>));
      }
      load<kVec + 1>(coder, keys, values, n, key, ordered, value);
    }
  }

  // How many keys come before those of a vector.
  template <size_t kVec>
  static HWY_INLINE KeyVec<K> rank(const KeyVec<K> *ordered) {
    const KeyTag<K> d;
    auto before = hn::Zero(d), after = hn::Set(d, static_cast<LaneOf<K>>(kVec * kWide));  // of vectors before
    meet_own<kVec, 1>(ordered, before);
    for_vectors<0>([&](auto other) HWY_ATTR {
      constexpr size_t kOther = decltype(other)::value;
      if constexpr (kOther < kVec) meet_earlier<kVec, kOther, 0>(ordered, after);
      if constexpr (kOther > kVec) meet_later<kVec, kOther, 0>(ordered, before);
    });
    return hn::Sub(after, before);
  }

  // Minus one for each that comes before, or, of a vector before, after; equal ones do by their places.
  template <size_t kVec, size_t kBy>
  static HWY_INLINE void meet_own(const KeyVec<K> *ordered, KeyVec<K> &before) {
    if constexpr (kBy < kWide) {
      const KeyTag<K> d;
      const auto key = ordered[kVec], other = rotate_lanes<K, kBy>(key);
      const auto is_earlier = hn::Gt(hn::Iota(d, 0), hn::Set(d, static_cast<LaneOf<K>>(kWide - kBy - 1)));
      const auto comes_before = hn::Or(hn::Gt(key, other), hn::And(hn::Eq(key, other), is_earlier));
      before = hn::Add(before, hn::VecFromMask(d, comes_before));
      meet_own<kVec, kBy + 1>(ordered, before);
    }
  }
  template <size_t kVec, size_t kOther, size_t kBy>
  static HWY_INLINE void meet_earlier(const KeyVec<K> *ordered, KeyVec<K> &after) {
    if constexpr (kBy < kWide) {
      const KeyTag<K> d;
      const auto other = rotate_lanes<K, kBy>(ordered[kOther]);
      after = hn::Add(after, hn::VecFromMask(d, hn::Gt(other, ordered[kVec])));
      meet_earlier<kVec, kOther, kBy + 1>(ordered, after);
    }
  }
  template <size_t kVec, size_t kOther, size_t kBy>
  static HWY_INLINE void meet_later(const KeyVec<K> *ordered, KeyVec<K> &before) {
    if constexpr (kBy < kWide) {
      const KeyTag<K> d;
      const auto other = rotate_lanes<K, kBy>(ordered[kOther]);
      before = hn::Add(before, hn::VecFromMask(d, hn::Gt(ordered[kVec], other)));
      meet_later<kVec, kOther, kBy + 1>(ordered, before);
    }
  }
  // A vector's places, each at the bits of its rank.
  template <size_t kVec>
  static HWY_INLINE KeyVec<K> placed(KeyVec<K> ranks) {
    const hn::RebindToUnsigned<KeyTag<K>> d_bits;
    const auto places = hn::BitCast(d_bits, hn::Iota(KeyTag<K>(), static_cast<LaneOf<K>>(kVec * kWide)));
    const auto shifts = hn::BitCast(d_bits, hn::ShiftLeft<kShift>(ranks));
    return hn::BitCast(KeyTag<K>(), hn::Shl(places, shifts));
  }

  template <size_t kDistance>
  static HWY_INLINE void or_lanes(KeyVec<K> &v) {
    if constexpr (kDistance >= 1) {
      v = hn::Or(v, rotate_lanes<K, kDistance>(v));
      or_lanes<kDistance / 2>(v);
    }
  }

  template <size_t kVec>
  static HWY_INLINE void store(KeyVec<K> sorted, const KeyVec<K> *key, const KeyVec<K> *value, uint32_t n, K *keys_out,
                               K *values_out) {
    if constexpr (kVec < kVecs) {
      const KeyTag<K> d;
      const hn::RebindToUnsigned<KeyTag<K>> d_bits;
      constexpr size_t kBegin = kVec * kWide;
      if (kBegin > 0 && n <= kBegin) return;
      const auto shifts = hn::ShiftLeft<kShift>(hn::Iota(d_bits, kBegin));
      const auto places = hn::BitCast(d, hn::Shr(hn::BitCast(d_bits, sorted), shifts));
      const auto lanes = lanes_of_places<K>(places);
      store_up_to<K>(fetch_lanes<K, kVecs>(key, places, lanes), keys_out + kBegin, n - kBegin);
      store_up_to<K>(fetch_lanes<K, kVecs>(value, places, lanes), values_out + kBegin, n - kBegin);
      store<kVec + 1>(sorted, key, value, n, keys_out, values_out);
    }
  }
};

#endif  // GSORT_VECTOR_TARGET && GSORT_VECTOR_PAIRS
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_PAIR_RANKS_INL_H_
