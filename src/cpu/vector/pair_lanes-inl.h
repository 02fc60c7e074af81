// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: lanes moved within and between the vectors that hold a few records.
#if defined(GSORT_CPU_VECTOR_PAIR_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_PAIR_LANES_INL_H_
#undef GSORT_CPU_VECTOR_PAIR_LANES_INL_H_
#else
#define GSORT_CPU_VECTOR_PAIR_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include "cpu/vector/network-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET && GSORT_VECTOR_PAIRS

// What lies at the places of kCount vectors, `lanes` those within each.
template <class K, size_t kCount, class Lanes>
HWY_INLINE KeyVec<K> fetch_lanes(const KeyVec<K> *from, KeyVec<K> places, const Lanes &lanes) {
  if constexpr (kCount == 1) {
    return hn::TableLookupLanes(from[0], lanes);
#if HWY_TARGET == HWY_AVX3
  } else if constexpr (kCount == 2 && sizeof(K) == 4) {
    return KeyVec<K>{_mm512_permutex2var_epi32(from[0].raw, places.raw, from[1].raw)};
  } else if constexpr (kCount == 2) {
    return KeyVec<K>{_mm512_permutex2var_epi64(from[0].raw, places.raw, from[1].raw)};
#endif
  } else {
    constexpr size_t kLower = kCount > 2 ? kCount - kCount / 2 : 1;  // vectors, a power of two
    static_assert((kLower & (kLower - 1)) == 0);
    constexpr auto kUpper = static_cast<LaneOf<K>>(kLower * kLanes<K>);  // the bit of places in the others
    const KeyTag<K> d;
    const auto is_upper = hn::Gt(hn::And(places, hn::Set(d, kUpper)), hn::Zero(d));
    return hn::IfThenElse(is_upper, fetch_lanes<K, kCount - kLower>(from + kLower, places, lanes),
                          fetch_lanes<K, kLower>(from, places, lanes));
  }
}

// The lanes of places within their vectors.
template <class K>
HWY_INLINE auto lanes_of_places(KeyVec<K> places) {
  const KeyTag<K> d;
  return hn::IndicesFromVec(d, hn::And(places, hn::Set(d, static_cast<LaneOf<K>>(kLanes<K> - 1))));
}

// The first `count` lanes, or all there are.
template <class K>
HWY_INLINE void store_up_to(KeyVec<K> v, K *to, size_t count) {
  auto *const lanes = reinterpret_cast<LaneOf<K> *>(to);
  if (count >= kLanes<K>) return hn::StoreU(v, KeyTag<K>(), lanes);
  store_some<K>(v, lanes, count);
}

// In each lane the one that is kBy further on, behind the last one the first.
template <class K, int kBy>
HWY_INLINE KeyVec<K> rotate_lanes(KeyVec<K> v) {
  if constexpr (kBy == 0) return v;
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(K) == 8) return KeyVec<K>{_mm512_alignr_epi64(v.raw, v.raw, kBy)};
  return KeyVec<K>{_mm512_alignr_epi32(v.raw, v.raw, kBy)};
#else
  if constexpr (sizeof(K) == 8) {
    constexpr int kFrom = kBy % 4 | (kBy + 1) % 4 << 2 | (kBy + 2) % 4 << 4 | (kBy + 3) % 4 << 6;
    return KeyVec<K>{_mm256_permute4x64_epi64(v.raw, kFrom)};
  } else {
    const KeyTag<K> d;
    const auto other = hn::SwapAdjacentBlocks(v);
    if constexpr (kBy == 4) return other;
    if constexpr (kBy < 4) return hn::CombineShiftRightBytes<kBy * 4>(d, other, v);
    if constexpr (kBy > 4) return hn::CombineShiftRightBytes<kBy * 4 - 16>(d, v, other);
  }
#endif
}

// In each lane the one before it, in the first the last one of `before`.
template <class K>
HWY_INLINE KeyVec<K> one_further(KeyVec<K> before, KeyVec<K> v) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(K) == 8) return KeyVec<K>{_mm512_alignr_epi64(v.raw, before.raw, 7)};
  return KeyVec<K>{_mm512_alignr_epi32(v.raw, before.raw, 15)};
#else
  const KeyTag<K> d;
  return hn::CombineShiftRightBytes<16 - sizeof(K)>(d, v, hn::ConcatLowerUpper(d, v, before));
#endif
}

#endif  // GSORT_VECTOR_TARGET && GSORT_VECTOR_PAIRS
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_PAIR_LANES_INL_H_
