// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: keys as signed integers whose order is the one that the call asks for. Signed,
// because that is the comparison that every target has.
// Included again for each target, so its guard is undone in between.
#if defined(GSORT_CPU_VECTOR_KEYS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_KEYS_INL_H_
#undef GSORT_CPU_VECTOR_KEYS_INL_H_
#else
#define GSORT_CPU_VECTOR_KEYS_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "core/key_bits.h"
#include "cpu/vector/compress_tables.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
namespace hn = hwy::HWY_NAMESPACE;

// Keys of 8 bytes that are encoded as numbers.
enum class KeyAsNumber : uint64_t {};

// Keys of K in vectors of kBytes bytes, narrower ones than the target's.
template <class K, size_t kBytes>
struct NarrowKey {
  K bits;
};

// What a lane holds: keys of K as signed integers, or, where K is double or KeyAsNumber, numbers.
template <class K>
struct Lane {
  using type = std::make_signed_t<K>;
};
template <>
struct Lane<double> {
  using type = double;
};
template <>
struct Lane<KeyAsNumber> {
  using type = double;
};
template <class K, size_t kBytes>
struct Lane<NarrowKey<K, kBytes>> : Lane<K> {};
template <class K>
using LaneOf = typename Lane<K>::type;

// Vectors of keys.
template <class K>
struct VectorOf {
  using Tag = hn::ScalableTag<LaneOf<K>>;
  static constexpr size_t kBytes = HWY_MAX_BYTES;
  using Wide = K;
};
template <class K, size_t kNarrowBytes>
struct VectorOf<NarrowKey<K, kNarrowBytes>> {
  using Tag = hn::FixedTag<LaneOf<K>, kNarrowBytes / sizeof(K)>;
  static constexpr size_t kBytes = kNarrowBytes;
  using Wide = K;
};
template <class K>
using KeyTag = typename VectorOf<K>::Tag;
template <class K>
using KeyVec = hn::Vec<KeyTag<K>>;
// The keys whose vectors may be narrow ones.
template <class K>
using WideKey = typename VectorOf<K>::Wide;

template <class K>
HWY_INLINE KeyVec<K> broadcast(K bits) {
  return hn::Set(KeyTag<K>(), static_cast<LaneOf<K>>(bits));
}
template <class K>
HWY_INLINE KeyVec<K> load_bits(const K *from) {
  return hn::LoadU(KeyTag<K>(), reinterpret_cast<const LaneOf<K> *>(from));
}

// The same lanes as signed integers, and back.
template <class K>
using BitsTag = hn::RebindToSigned<KeyTag<K>>;
template <class K>
HWY_INLINE hn::Vec<BitsTag<K>> bits_of(KeyVec<K> v) {
  return hn::BitCast(BitsTag<K>(), v);
}
template <class K>
HWY_INLINE KeyVec<K> lanes_of(hn::Vec<BitsTag<K>> bits) {
  return hn::BitCast(KeyTag<K>(), bits);
}

#if HWY_TARGET == HWY_AVX3
// The lanes whose mask is set side by side from the first on.
template <class K, class M>
HWY_INLINE KeyVec<K> compress_lanes(M mask, KeyVec<K> v) {
  // The instruction itself, because Highway 1.0 takes a table for 8-byte lanes.
  if constexpr (sizeof(K) == 8)
    return lanes_of<K>(hn::Vec<BitsTag<K>>{_mm512_maskz_compress_epi64(mask.raw, bits_of<K>(v).raw)});
  return hn::Compress(v, mask);
}
#else
// The lanes whose mask is not set side by side from the first on, behind them the others.
template <class K, class M>
HWY_INLINE KeyVec<K> partition_lanes(M mask, KeyVec<K> v) {
  const KeyTag<K> d;
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  constexpr uint32_t kLaneCount = HWY_MAX_BYTES / sizeof(K);
#if HWY_TARGET == HWY_AVX2
  // Eight lanes of 4 bytes are permuted, whatever the keys' size.
  const hn::Repartition<uint32_t, KeyTag<K>> d_entries;
  const hn::Rebind<uint8_t, decltype(d_entries)> d_places;
  const auto places = hn::PromoteTo(d_entries, hn::Load(d_places, kCompressTable<kLaneCount, 8>.places[bytes[0]]));
  const auto entries = hn::BitCast(d_entries, v);
  return hn::BitCast(d, hn::TableLookupLanes(entries, hn::IndicesFromVec(d_entries, places)));
#else
  const hn::Repartition<uint8_t, KeyTag<K>> d_entries;
  const auto places = hn::Load(d_entries, kCompressTable<kLaneCount, 16>.places[bytes[0]]);
  return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d_entries, v), places));
#endif
}
#endif

// KeyCodec::encode() with the top bit flipped: unsigned order becomes signed order.
template <class K, bool kNanLast>
class KeyEncoder {
 public:
  HWY_INLINE explicit KeyEncoder(const KeyCodec<K> &codec)
      : mask_(broadcast<K>(static_cast<K>(kNanLast ? codec.mask_positive : codec.mask_positive ^ KeyCodec<K>::kTop))),
        both_(broadcast<K>(static_cast<K>(codec.mask_positive ^ codec.mask_negative))),
        top_(broadcast<K>(KeyCodec<K>::kTop)),
        nan_count_(broadcast<K>(codec.nan_count)),
        infinity_(broadcast<K>(static_cast<K>(static_cast<K>(~KeyCodec<K>::kTop) - codec.nan_count))) {}

  HWY_INLINE KeyVec<K> operator()(KeyVec<K> bits) const {
    const auto sign = hn::BroadcastSignBit(bits);
    const auto plain = hn::Xor(hn::Xor(bits, mask_), hn::And(sign, both_));
    if constexpr (!kNanLast) return plain;
    const auto is_nan = hn::Gt(hn::AndNot(top_, bits), infinity_);
    const auto nan = hn::Sub(hn::Or(bits, top_), hn::AndNot(sign, nan_count_));
    return hn::Xor(hn::IfThenElse(is_nan, nan, hn::Sub(plain, nan_count_)), top_);
  }

 private:
  KeyVec<K> mask_, both_, top_, nan_count_, infinity_;
};

#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_KEYS_INL_H_
