// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/select.h"

#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/select.cpp"
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/vector/keys-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
namespace {

// Vectors of which the greatest key is compared with the best so far at once: the more, the less the comparison shows;
// so few that finding the key again, in the end, takes no time.
constexpr size_t kBlockVectors = 64;
constexpr size_t kAbreast = 4;  // maxima side by side, because one waits for the one before

// Keys as signed integers of which the greatest is looked for.
template <class K>
class FlipEncoder {
 public:
  explicit FlipEncoder(K flip) : flip_(flip), flips_(broadcast<K>(flip)) {}
  HWY_INLINE KeyVec<K> operator()(KeyVec<K> bits) const { return hn::Xor(bits, flips_); }
  LaneOf<K> one(K bits) const { return static_cast<LaneOf<K>>(static_cast<K>(bits ^ flip_)); }

 private:
  K flip_;
  KeyVec<K> flips_;
};
// The same for any order, whose least key is the greatest of these.
template <class K, bool kNanLast>
class ReverseEncoder {
 public:
  explicit ReverseEncoder(const KeyCodec<K> &codec) : codec_(codec), encode_(codec) {}
  HWY_INLINE KeyVec<K> operator()(KeyVec<K> bits) const { return hn::Not(encode_(bits)); }
  LaneOf<K> one(K bits) const {
    return static_cast<LaneOf<K>>(static_cast<K>(~codec_.encode(bits) ^ KeyCodec<K>::kTop));
  }

 private:
  const KeyCodec<K> &codec_;
  KeyEncoder<K, kNanLast> encode_;
};

template <class K>
struct Greatest {
  LaneOf<K> lane;
  uint64_t index;
};

// The first key that is greater than `best` and than which no other is, looked for in blocks of kVectors; the last one
// lies over the one before, none of whose keys it can take for new. n is a block or more.
template <class K, size_t kVectors, class Encoder>
HWY_INLINE Greatest<K> greatest_of_blocks(const Encoder &encode, const K *keys, uint64_t n, Greatest<K> best) {
  const KeyTag<K> d;
  constexpr size_t lanes = HWY_MAX_BYTES / sizeof(K), block = kVectors * lanes;
  uint64_t found = n;  // the beginning of the block that the best is in
  auto limit = hn::Set(d, best.lane);
  for (uint64_t end = block;; end = end + block < n ? end + block : n) {
    const K *const from = keys + (end - block);
    auto m0 = encode(load_bits(from)), m1 = encode(load_bits(from + lanes));
    auto m2 = encode(load_bits(from + 2 * lanes)), m3 = encode(load_bits(from + 3 * lanes));
    for (size_t i = kAbreast * lanes; i < block; i += kAbreast * lanes) {
      m0 = hn::Max(m0, encode(load_bits(from + i)));
      m1 = hn::Max(m1, encode(load_bits(from + i + lanes)));
      m2 = hn::Max(m2, encode(load_bits(from + i + 2 * lanes)));
      m3 = hn::Max(m3, encode(load_bits(from + i + 3 * lanes)));
    }
    const auto most = hn::Max(hn::Max(m0, m1), hn::Max(m2, m3));
    if (!hn::AllFalse(d, hn::Gt(most, limit))) {
      HWY_ALIGN LaneOf<K> lane[lanes];
      hn::Store(most, d, lane);
      for (const LaneOf<K> one : lane) best.lane = one > best.lane ? one : best.lane;
      limit = hn::Set(d, best.lane);
      found = end - block;
    }
    if (end == n) break;
  }
  for (uint64_t i = found; i < n; i += lanes) {
    const intptr_t lane = hn::FindFirstTrue(d, hn::Eq(encode(load_bits(keys + i)), limit));
    if (lane < 0) continue;
    best.index = i + static_cast<uint64_t>(lane);
    break;
  }
  return best;
}

template <class K, class Encoder>
HWY_NOINLINE Greatest<K> find_greatest(const Encoder &encode, const K *keys, uint64_t n, Greatest<K> best) {
  constexpr size_t lanes = HWY_MAX_BYTES / sizeof(K);
  if (n >= kBlockVectors * lanes) return greatest_of_blocks<K, kBlockVectors>(encode, keys, n, best);
  if (n >= kAbreast * lanes) return greatest_of_blocks<K, kAbreast>(encode, keys, n, best);
  for (uint64_t i = 0; i < n; ++i)
    if (encode.one(keys[i]) > best.lane) best = {encode.one(keys[i]), i};
  return best;
}

template <class K, class Encoder>
FirstOfLeast<K> first_of(const Encoder &encode, const KeyCodec<K> &codec, const K *keys, uint64_t n) {
  const Greatest<K> best = find_greatest(encode, keys, n, {encode.one(keys[0]), 0});
  return {codec.encode(keys[best.index]), best.index};
}

template <class K>
FirstOfLeast<K> least(const KeyCodec<K> &codec, const K *keys, uint64_t n) {
  if (codec.nan_count != 0) return first_of(ReverseEncoder<K, true>(codec), codec, keys, n);
  const K flip = static_cast<K>(~codec.mask_positive ^ KeyCodec<K>::kTop);
  if (codec.mask_positive == codec.mask_negative) return first_of(FlipEncoder<K>(flip), codec, keys, n);
  // Of floats, the sign that comes first is looked for alone, if it is there: those are the greatest as they are, where
  // the sign that they have says nothing else.
  const K first_sign = static_cast<K>(codec.mask_positive & KeyCodec<K>::kTop);  // ascending: the negative ones
  constexpr uint64_t kGlance = 64;
  for (uint64_t i = 0; i < n && i < kGlance; ++i) {
    if ((keys[i] & KeyCodec<K>::kTop) != first_sign) continue;
    const FlipEncoder<K> encode(first_sign);
    const Greatest<K> best = find_greatest(encode, keys, n, {encode.one(keys[i]), i});
    return {codec.encode(keys[best.index]), best.index};
  }
  return first_of(ReverseEncoder<K, false>(codec), codec, keys, n);
}

// Whether ordered bits are what is looked for.
template <class K, bool kEqual>
struct Wanted {
  static bool one(K key, K bound) { return kEqual ? key == bound : key < bound; }
  static HWY_INLINE auto many(KeyVec<K> keys, KeyVec<K> bound) {
    if constexpr (kEqual) {
      return hn::Eq(keys, bound);
    } else {
      return hn::Lt(keys, bound);
    }
  }
};

// The mask's lanes as bits. Read as wide as they were written: a wider load waits until they are in the cache.
template <class D, class M>
HWY_INLINE uint64_t mask_bits(D d, M mask) {
  constexpr size_t kBytes = (HWY_MAX_BYTES / sizeof(hn::TFromD<D>) + 7) / 8;
  uint8_t bytes[8 + HWY_MAX_BYTES / 8];
  hn::StoreMaskBits(d, mask, bytes);
  std::conditional_t<kBytes <= 4, typename UnsignedOf<kBytes <= 4 ? kBytes : 4>::type, uint64_t> bits;
  __builtin_memcpy(&bits, bytes, sizeof bits);
  return bits;
}

// Appends the indices of the bits that are set; up to three entries behind them are written, too. Four at a time,
// because a processor cannot foresee how many there are.
HWY_INLINE uint64_t append_bits(uint64_t bits, uint64_t first, uint32_t *indices, uint64_t count) {
  const uint64_t end = count + static_cast<uint64_t>(__builtin_popcountll(bits));
  for (; count < end; count += 4) {
    for (uint64_t j = 0; j < 4; ++j, bits &= bits - 1)
      indices[count + j] =
          static_cast<uint32_t>(first + static_cast<uint64_t>(__builtin_ctzll(bits | uint64_t{1} << 63)));
  }
  return end;
}

// The same for the lanes of four masks that follow each other.
template <class D, class M>
HWY_INLINE uint64_t append_lanes(D d, const M (&masks)[4], uint64_t first, uint32_t *indices, uint64_t count) {
  constexpr uint64_t kLaneCount = HWY_MAX_BYTES / sizeof(hn::TFromD<D>);
  if constexpr (4 * kLaneCount <= 64) {
    uint64_t bits = 0;
    for (uint64_t j = 0; j < 4; ++j) bits |= mask_bits(d, masks[j]) << (j * kLaneCount);
    return append_bits(bits, first, indices, count);
  }
  for (uint64_t j = 0; j < 4; ++j)
    for (uint64_t bits = mask_bits(d, masks[j]); bits != 0; bits &= bits - 1)
      indices[count++] = static_cast<uint32_t>(first + j * kLaneCount + static_cast<uint64_t>(__builtin_ctzll(bits)));
  return count;
}

template <class K, bool kNanLast, bool kEqual>
HWY_NOINLINE uint64_t find_keys(const KeyCodec<K> &codec, const K *keys, uint64_t n, K bound, uint32_t *indices,
                                uint64_t room, uint64_t *count_out) {
  using Test = Wanted<K, kEqual>;
  const KeyTag<K> d;
  const size_t lanes = hn::Lanes(d), group = 4 * lanes;
  static_assert(kSelectRoom >= 4 * HWY_MAX_BYTES,
                "a group's keys fit the room that is asked for, and what is written "
                "behind those of wider lanes");
  const KeyEncoder<K, kNanLast> encode(codec);
  const auto limit = broadcast<K>(static_cast<K>(bound ^ KeyCodec<K>::kTop));
  uint64_t i = 0, count = *count_out;
  for (; i + group <= n && room - count >= kSelectRoom; i += group) {
    const auto b0 = Test::many(encode(load_bits(keys + i)), limit);
    const auto b1 = Test::many(encode(load_bits(keys + i + lanes)), limit);
    const auto b2 = Test::many(encode(load_bits(keys + i + 2 * lanes)), limit);
    const auto b3 = Test::many(encode(load_bits(keys + i + 3 * lanes)), limit);
    if (hn::AllFalse(d, hn::Or(hn::Or(b0, b1), hn::Or(b2, b3)))) continue;
    const decltype(hn::Not(b0)) masks[4] = {b0, b1, b2, b3};
    count = append_lanes(d, masks, i, indices, count);
  }
  if (i + group > n && room - count >= kSelectRoom) {
    for (; i < n; ++i)
      if (Test::one(codec.encode(keys[i]), bound)) indices[count++] = static_cast<uint32_t>(i);
  }
  *count_out = count;
  return i;
}

template <class K, bool kEqual>
uint64_t keys_by_bound(const KeyCodec<K> &codec, const K *keys, uint64_t n, K bound, uint32_t *indices, uint64_t room,
                       uint64_t *count) {
  return codec.nan_count != 0 ? find_keys<K, true, kEqual>(codec, keys, n, bound, indices, room, count)
                              : find_keys<K, false, kEqual>(codec, keys, n, bound, indices, room, count);
}

// Writes the lanes of `keys` that are wanted, side by side, and as many more behind them as fill a vector; returns how
// many those are.
template <class K, class M>
HWY_INLINE uint64_t store_lanes(M wanted, KeyVec<K> keys, K *out) {
  const KeyTag<K> d;
#if HWY_TARGET == HWY_AVX3
  const auto packed = compress_lanes<K>(wanted, keys);
#else
  const auto packed = partition_lanes<K>(hn::Not(wanted), keys);
#endif
  hn::StoreU(packed, d, reinterpret_cast<LaneOf<K> *>(out));
  return hn::CountTrue(d, wanted);
}

template <class K, bool kNanLast>
HWY_NOINLINE uint64_t copy_keys(const KeyCodec<K> &codec, const K *keys, uint64_t n, K bound, K *found, uint64_t room,
                                uint64_t *count_out) {
  using Test = Wanted<K, false>;
  const KeyTag<K> d;
  const size_t lanes = hn::Lanes(d), group = 4 * lanes;
  const KeyEncoder<K, kNanLast> encode(codec);
  const auto limit = broadcast<K>(static_cast<K>(bound ^ KeyCodec<K>::kTop));
  uint64_t i = 0, count = *count_out;
  for (; i + group <= n && room - count >= kSelectRoom; i += group) {
    const auto k0 = load_bits(keys + i), k1 = load_bits(keys + i + lanes);
    const auto k2 = load_bits(keys + i + 2 * lanes), k3 = load_bits(keys + i + 3 * lanes);
    const auto b0 = Test::many(encode(k0), limit), b1 = Test::many(encode(k1), limit);
    const auto b2 = Test::many(encode(k2), limit), b3 = Test::many(encode(k3), limit);
    if (hn::AllFalse(d, hn::Or(hn::Or(b0, b1), hn::Or(b2, b3)))) continue;
    // Not one branch for each, which no processor foresees where some of them have keys.
    count += store_lanes<K>(b0, k0, found + count);
    count += store_lanes<K>(b1, k1, found + count);
    count += store_lanes<K>(b2, k2, found + count);
    count += store_lanes<K>(b3, k3, found + count);
  }
  if (i + group > n && room - count >= kSelectRoom) {
    for (; i < n; ++i)
      if (Test::one(codec.encode(keys[i]), bound)) found[count++] = keys[i];
  }
  *count_out = count;
  return i;
}

template <class K>
uint64_t keys_below(const KeyCodec<K> &codec, const K *keys, uint64_t n, K bound, K *found, uint64_t room,
                    uint64_t *count) {
  return codec.nan_count != 0 ? copy_keys<K, true>(codec, keys, n, bound, found, room, count)
                              : copy_keys<K, false>(codec, keys, n, bound, found, room, count);
}

// What compresses vectors does so for lanes of 4 and 8 bytes.
template <class K>
constexpr auto keys_below_of() -> decltype(SelectKernels<K>::keys_below) {
  if constexpr (sizeof(K) >= 4) return keys_below<K>;
  return nullptr;
}

constexpr size_t kMinimaVectors = 8;  // as many as the narrowest targets have registers for

template <class K, bool kNanLast>
HWY_NOINLINE void find_minima(const KeyCodec<K> &codec, const K *keys, const uint32_t *starts, uint32_t blocks,
                              K *least) {
  const KeyTag<K> d;
  const size_t lanes = hn::Lanes(d);
  const KeyEncoder<K, kNanLast> encode(codec);
  auto m0 = broadcast<K>(static_cast<K>(KeyCodec<K>::kTop - 1)), m1 = m0, m2 = m0, m3 = m0, m4 = m0, m5 = m0, m6 = m0,
       m7 = m0;
  for (uint32_t b = 0; b < blocks; ++b) {
    const K *const block = keys + starts[b];
    m0 = hn::Min(m0, encode(load_bits(block)));
    m1 = hn::Min(m1, encode(load_bits(block + lanes)));
    m2 = hn::Min(m2, encode(load_bits(block + 2 * lanes)));
    m3 = hn::Min(m3, encode(load_bits(block + 3 * lanes)));
    m4 = hn::Min(m4, encode(load_bits(block + 4 * lanes)));
    m5 = hn::Min(m5, encode(load_bits(block + 5 * lanes)));
    m6 = hn::Min(m6, encode(load_bits(block + 6 * lanes)));
    m7 = hn::Min(m7, encode(load_bits(block + 7 * lanes)));
  }
  const auto top = broadcast<K>(KeyCodec<K>::kTop);
  const auto put = [&](size_t v, KeyVec<K> m)
                       HWY_ATTR { hn::StoreU(hn::Xor(m, top), d, reinterpret_cast<LaneOf<K> *>(least) + v * lanes); };
  put(0, m0), put(1, m1), put(2, m2), put(3, m3), put(4, m4), put(5, m5), put(6, m6), put(7, m7);
}

template <class K>
void minima(const KeyCodec<K> &codec, const K *keys, const uint32_t *starts, uint32_t blocks, K *least) {
  return codec.nan_count != 0 ? find_minima<K, true>(codec, keys, starts, blocks, least)
                              : find_minima<K, false>(codec, keys, starts, blocks, least);
}

// The kinds of keys of which the order is looked for: a sign changes no other bit, it does, or NaNs are last.
enum class Signs { kPlain, kFlip, kNanLast };

template <class K, Signs kSigns>
HWY_NOINLINE uint64_t find_order(const KeyCodec<K> &codec, const K *keys, uint64_t n, bool reversed) {
  const KeyTag<K> d;
  const size_t lanes = hn::Lanes(d), group = 4 * lanes;
  const KeyEncoder<K, kSigns == Signs::kNanLast> encoder(codec);
  const auto mask = broadcast<K>(static_cast<K>(codec.mask_positive ^ KeyCodec<K>::kTop));
  const auto encode = [&](KeyVec<K> v) HWY_ATTR { return kSigns == Signs::kPlain ? hn::Xor(v, mask) : encoder(v); };
  const uint64_t first = reversed ? 1 : 0, second = 1 - first;
  const auto wrong = [&](uint64_t i) HWY_ATTR {
    return hn::Gt(encode(load_bits(keys + i + first)), encode(load_bits(keys + i + second)));
  };
  uint64_t i = 0;
  while (n >= group && i < n) {
    const uint64_t at = i + group <= n ? i : n - group;  // the last group lies over the one before
    const auto any = hn::Or(hn::Or(wrong(at), wrong(at + lanes)), hn::Or(wrong(at + 2 * lanes), wrong(at + 3 * lanes)));
    if (!hn::AllFalse(d, any)) break;
    i = at + group;
  }
  while (i < n && codec.encode(keys[i + first]) <= codec.encode(keys[i + second])) ++i;
  return i;
}

template <class K>
uint64_t ordered(const KeyCodec<K> &codec, const K *keys, uint64_t n, bool reversed) {
  if (codec.nan_count != 0) return find_order<K, Signs::kNanLast>(codec, keys, n, reversed);
  return codec.mask_positive == codec.mask_negative ? find_order<K, Signs::kPlain>(codec, keys, n, reversed)
                                                    : find_order<K, Signs::kFlip>(codec, keys, n, reversed);
}

template <class K>
bool all_are(const K *keys, uint64_t n, K key) {
  const KeyTag<K> d;
  const size_t lanes = hn::Lanes(d), group = 4 * lanes;
  const auto same = broadcast<K>(key);
  const auto other = [&](uint64_t i) HWY_ATTR { return hn::Xor(load_bits(keys + i), same); };
  uint64_t i = 0;
  while (n >= group && i < n) {
    const uint64_t at = i + group <= n ? i : n - group;  // as above
    const auto any = hn::Or(hn::Or(other(at), other(at + lanes)), hn::Or(other(at + 2 * lanes), other(at + 3 * lanes)));
    if (!hn::AllTrue(d, hn::Eq(any, hn::Zero(d)))) return false;
    i = at + group;
  }
  while (i < n && keys[i] == key) ++i;
  return i == n;
}

template <class K>
constexpr SelectKernels<K> kernels = {least<K>,
                                      keys_by_bound<K, false>,
                                      keys_by_bound<K, true>,
                                      keys_below_of<K>(),
                                      minima<K>,
                                      kMinimaVectors *HWY_MAX_BYTES / sizeof(K),
                                      ordered<K>,
                                      all_are<K>};
static_assert(kMinimaVectors * HWY_MAX_BYTES <= kMinimaSetsMax, "room for the widest vectors of bytes");

}  // namespace

extern const SelectKernels<uint8_t> kSelect8;
extern const SelectKernels<uint16_t> kSelect16;
extern const SelectKernels<uint32_t> kSelect32;
extern const SelectKernels<uint64_t> kSelect64;
const SelectKernels<uint8_t> kSelect8 = kernels<uint8_t>;
const SelectKernels<uint16_t> kSelect16 = kernels<uint16_t>;
const SelectKernels<uint32_t> kSelect32 = kernels<uint32_t>;
const SelectKernels<uint64_t> kSelect64 = kernels<uint64_t>;
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(SelectKernels<uint8_t>, select_kernels, uint8_t, kSelect8)
GSORT_DEFINE_KERNELS_OF(SelectKernels<uint16_t>, select_kernels, uint16_t, kSelect16)
GSORT_DEFINE_KERNELS_OF(SelectKernels<uint32_t>, select_kernels, uint32_t, kSelect32)
GSORT_DEFINE_KERNELS_OF(SelectKernels<uint64_t>, select_kernels, uint64_t, kSelect64)
}  // namespace gsort_internal
#endif
