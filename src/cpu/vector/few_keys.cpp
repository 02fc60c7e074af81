// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstring>

#include "cpu/vector/few.h"
#include "cpu/vector/sort.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/few_keys.cpp"
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/vector/blocks-inl.h"
#include "cpu/vector/few_table-inl.h"
#include "cpu/vector/narrow-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
#undef GSORT_FEW_KEYS
#define GSORT_FEW_KEYS (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
#if GSORT_FEW_KEYS
namespace {

template <class K>
void copy_key(const void *, uint64_t, const void *in, void *out) {
  K key;
  std::memcpy(&key, in, sizeof key);
  std::memcpy(out, &key, sizeof key);
}
template <class K>
void sort_more(const void *coder, uint64_t n, const void *in, void *out) {
  sort_in_network<K, true>(*static_cast<const SortCoder<K> *>(coder), static_cast<const LaneOf<K> *>(in),
                           static_cast<LaneOf<K> *>(out), n);
}

#if HWY_TARGET == HWY_AVX3
// Sorts kN keys, more than kRows - 1 rows hold, but for rows at the end that stay empty.
template <class Row, size_t kRows, size_t kN, bool kPlain, class Network = ColumnNetwork<Row, kRows>>
class FewSort {
 public:
  using K = WideKey<Row>;
  using Lanes = LaneOf<K>;

  static void run(const void *coder, uint64_t, const void *in, void *out) {
    const SortCoder<K> &masks = *static_cast<const SortCoder<K> *>(coder);
    Vec v[kRows == 1 ? 1 : 2 * kRows];
    load<0>(masks, static_cast<const Lanes *>(in), v);
    Network::run(v);
    store<0>(masks, v, static_cast<Lanes *>(out), Vec());
  }

 private:
  using Vec = KeyVec<Row>;
  static constexpr size_t kWide = kLanes<Row>;

  // The first kCount lanes from `a`, the others from `b`.
  template <size_t kCount>
  static HWY_INLINE Vec first_from(Vec a, Vec b) {
    constexpr int kMask = ~((1 << (kCount * sizeof(K) / 4)) - 1);
    if constexpr (sizeof(a.raw) == 16)
      return Vec{_mm_blend_epi32(a.raw, b.raw, kMask & 0xf)};
    else
      return Vec{_mm256_blend_epi32(a.raw, b.raw, kMask & 0xff)};
  }
  // Lanes from kFirst on of `a`, then of `b`.
  template <size_t kFirst>
  static HWY_INLINE Vec lanes_from(Vec a, Vec b) {
    if constexpr (sizeof(a.raw) == 16)
      return Vec{_mm_alignr_epi8(b.raw, a.raw, kFirst * sizeof(K))};
    else if constexpr (sizeof(K) == 8)
      return Vec{_mm256_alignr_epi64(b.raw, a.raw, kFirst)};
    else
      return Vec{_mm256_alignr_epi32(b.raw, a.raw, kFirst)};
  }

  template <size_t kRow>
  static HWY_INLINE void load(const SortCoder<K> &masks, const Lanes *in, Vec *v) {
    if constexpr (kRow < kRows) {
      const KeyTag<Row> d;
      constexpr size_t kBegin = kRow * kWide;
      const auto greatest = hn::Set(d, kGreatestLane<Row>);
      if constexpr (kN >= kBegin + kWide) {
        v[kRow] = masks.template encode<Row, kPlain>(hn::LoadU(d, in + kBegin));
      } else if constexpr (kN <= kBegin) {
        v[kRow] = greatest;
      } else if constexpr (kRow > 0) {  // a row of the last keys, some of which another row has
        const auto last = masks.template encode<Row, kPlain>(hn::LoadU(d, in + (kN - kWide)));
        v[kRow] = first_from<kBegin + kWide - kN>(greatest, last);
      } else {
        const hn::Half<KeyTag<Row>> half;
        static_assert(kN > kWide / 2);
        const auto keys = masks.template encode<Row, kPlain>(
            hn::Combine(d, hn::LoadU(half, in + (kN - kWide / 2)), hn::LoadU(half, in)));
        v[kRow] = first_from<kWide / 2>(keys, first_from<kWide - kN + kWide / 2>(greatest, keys));
      }
      load<kRow + 1>(masks, in, v);
    }
  }

  template <size_t kRow>
  static HWY_INLINE void store(const SortCoder<K> &masks, const Vec *v, Lanes *out, Vec before) {
    if constexpr (kRow < kRows && kN > kRow * kWide) {
      const KeyTag<Row> d;
      constexpr size_t kBegin = kRow * kWide;
      const auto keys = masks.template decode<Row, kPlain>(v[Network::row_at(kRow)]);
      if constexpr (kN >= kBegin + kWide) {
        hn::StoreU(keys, d, out + kBegin);
        store<kRow + 1>(masks, v, out, keys);
      } else if constexpr (kRow > 0) {
        hn::StoreU(lanes_from<kN - kBegin>(before, keys), d, out + (kN - kWide));
      } else {
        const hn::Half<KeyTag<Row>> half;
        const auto last = lanes_from<kN - kWide / 2>(keys, keys);
        hn::StoreU(hn::LowerHalf(half, keys), half, out);
        hn::StoreU(hn::LowerHalf(half, last), half, out + (kN - kWide / 2));
      }
    }
  }
};

// The same of two.
template <class K, bool kPlain>
void sort_two_keys(const void *coder, uint64_t, const void *in, void *out) {
  const SortCoder<K> &masks = *static_cast<const SortCoder<K> *>(coder);
  using Row = NarrowKey<K, 16>;
  KeyVec<Row> keys;
  if constexpr (sizeof(K) == 4)
    keys.raw = _mm_loadl_epi64(static_cast<const __m128i *>(in));
  else
    keys.raw = _mm_loadu_si128(static_cast<const __m128i *>(in));
  keys = masks.template encode<Row, kPlain>(keys);
  const auto other = swap_lanes<Row, 1>(keys);
  const auto sorted = hn::InterleaveLower(KeyTag<Row>(), hn::Min(keys, other), hn::Max(keys, other));
  keys = masks.template decode<Row, kPlain>(sorted);
  if constexpr (sizeof(K) == 4)
    _mm_storel_epi64(static_cast<__m128i *>(out), keys.raw);
  else
    _mm_storeu_si128(static_cast<__m128i *>(out), keys.raw);
}

template <class K, bool kPlain>
struct ChooseSort {
  static constexpr bool kKnowsPlain = true;
  static constexpr uint32_t kItemsMax = kFewMax;

  template <size_t kN>
  static constexpr FewKeySort sort_of() {
    constexpr size_t kRows = kN <= 4 ? 1 : 2;
    if constexpr (kN == 1)
      return copy_key<K>;
    else if constexpr (kN == 2)
      return sort_two_keys<K, kPlain>;
    else if constexpr (kN > 16)
      return sort_more<K>;
    else if constexpr (sizeof(K) == 8 && kN > 8)
      return FewSort<HalfKey<K>, 4, kN, kPlain, ExchangeNetwork<K, 4>>::run;
    else if constexpr (sizeof(K) == 8 || kN > 8)
      return FewSort<HalfKey<K>, kRows, kN, kPlain>::run;
    else
      return FewSort<QuarterKey<K>, kRows, kN, kPlain>::run;
  }
};
#else
// Keys of 8 bytes are compared as floats there.
template <class K, bool>
struct ChooseSort {
  static constexpr bool kKnowsPlain = false;
  static constexpr uint32_t kItemsMax = sizeof(K) == 4 ? kFewMax : 0;

  template <size_t kN>
  static constexpr FewKeySort sort_of() {
    if constexpr (sizeof(K) == 8) return nullptr;
    return kN == 1 ? copy_key<K> : sort_more<K>;
  }
};
#endif

}  // namespace
#endif

extern const FewTable<FewKeySort> kFewKeys;
#if GSORT_FEW_KEYS
const FewTable<FewKeySort> kFewKeys = make_few_table<FewKeySort, ChooseSort>();
#else
const FewTable<FewKeySort> kFewKeys = {};
#endif
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
#if GSORT_HIGHWAY
const FewTables<FewKeySort> kFewKeySorts = few_tables_of<FewKeySort>(GSORT_VECTOR_TABLE(kFewKeys));
#else
const FewTables<FewKeySort> kFewKeySorts = few_tables_of<FewKeySort>({});
#endif
}  // namespace gsort_internal
#endif
