// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: sorts of as many keys as the registers hold. The keys are a matrix of kRows
// vectors. Its columns are sorted by a network of whole vectors (Batcher, Sorting networks and their applications,
// 1968); then columns, pairs of columns and so on are merged by bitonic networks, whose greater distances exchange
// lanes and whose smaller ones whole vectors again; and the matrix is transposed on its way out. Columns first, because
// a comparison of two vectors takes two instructions and one across lanes takes three for each vector: as in Blacher,
// Giesinger, Kuehne, Fast and Robust Vectorized In-Place Sorting of Primitive Types, 2021.
#if defined(GSORT_CPU_VECTOR_NETWORK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_NETWORK_INL_H_
#undef GSORT_CPU_VECTOR_NETWORK_INL_H_
#else
#define GSORT_CPU_VECTOR_NETWORK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/vector/keys-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET

template <class K>
constexpr size_t kLanes = VectorOf<K>::kBytes / sizeof(K);

// Keys as integers in their order: what the lanes of integers hold, and what those of numbers can become.
template <class K>
using OrderedOf = hn::TFromD<BitsTag<K>>;

// Numbers are ordered integers but for the negative ones, all of whose bits but the sign's are flipped. The same way
// there and back.
inline double number_of(int64_t ordered) {
  const int64_t bits = ordered ^ ((ordered >> 63) & INT64_MAX);
  double number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}
inline int64_t ordered_of(double number) {
  int64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits ^ ((bits >> 63) & INT64_MAX);
}
template <class T>
T ordered_of(T lane) {
  return lane;
}

// What every key that a pivot or a bound can be compared with is up to.
template <class K>
constexpr LaneOf<K> kGreatestLane =
    std::numeric_limits<LaneOf<K>>::has_infinity ? std::numeric_limits<LaneOf<K>>::infinity()
                                                 : std::numeric_limits<LaneOf<K>>::max();

// How keys become signed integers, or numbers, in the order wanted, and what those become in the end. Masks alone: each
// is stored and loaded as one word, where a codec that was just written would be loaded in other pieces, which waits
// for the store.
template <class K>
class SortCoder {
 public:
  using Bits = std::make_unsigned_t<OrderedOf<K>>;
  struct Masks {
    Bits mask;  // of keys whose top bit is clear
    Bits both;  // what the mask of others differs in

    Bits both_if_set(Bits bits) const { return (bits & KeyCodec<Bits>::kTop) != 0 ? both : Bits{0}; }
  };

  // Of integers.
  constexpr SortCoder(const KeyCodec<Bits> &encode, const KeyCodec<Bits> &decode)
      : encode_(masks_of(encode)), decode_(masks_of(decode)) {}
  constexpr SortCoder(const Masks &encode, const Masks &decode) : encode_(encode), decode_(decode) {}

  template <class As = K, bool kPlain = false>
  HWY_INLINE KeyVec<As> encode(KeyVec<As> key) const {
    const auto bits = bits_of<As>(key);
    if constexpr (kPlain) return lanes_of<As>(hn::Xor(bits, all<As>(encode_.mask)));
    const auto sign = hn::BroadcastSignBit(bits);
    return lanes_of<As>(hn::Xor(hn::Xor(bits, all<As>(encode_.mask)), hn::And(sign, all<As>(encode_.both))));
  }
  // The top bit tells which mask made a key: both masks agree in it, so undoing one gives the key's own top bit back.
  template <class As = K, bool kPlain = false>
  HWY_INLINE KeyVec<As> decode(KeyVec<As> ordered) const {
    const auto bits = hn::Xor(bits_of<As>(ordered), all<As>(decode_.mask));
    if constexpr (kIsNumber || kPlain) return lanes_of<As>(bits);  // at most another sign
    return lanes_of<As>(hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), all<As>(decode_.both))));
  }
  LaneOf<K> encode_one(K bits) const {
    static_assert(!kIsNumber);
    return static_cast<LaneOf<K>>(static_cast<K>(bits ^ encode_.mask ^ encode_.both_if_set(bits)));
  }
  // The key that is encoded so.
  LaneOf<K> raw_one(LaneOf<K> ordered) const { return decoded(encode_, ordered); }
  LaneOf<K> decode_one(OrderedOf<K> ordered) const {
    if constexpr (kIsNumber) {
      return decode_.mask == 0 ? number_of(ordered) : -number_of(ordered);
    } else {
      return decoded(decode_, ordered);
    }
  }
  // Whether one mask makes all keys and undoes all: with kPlain, encode() and decode() know.
  bool is_plain() const { return encode_.both == 0 && decode_.both == 0; }
  const Masks &encoding() const { return encode_; }
  const Masks &decoding() const { return decode_; }
  // The same without decoding.
  SortCoder encoding_only() const { return {encode_, Masks{0, 0}}; }

 private:
  static constexpr bool kIsNumber = std::is_floating_point_v<K>;

  template <class As>
  static HWY_INLINE hn::Vec<BitsTag<As>> all(Bits mask) {
    return hn::Set(BitsTag<As>(), static_cast<OrderedOf<As>>(mask));
  }
  static constexpr Masks masks_of(const KeyCodec<Bits> &codec) {
    return {static_cast<Bits>(codec.mask_positive ^ KeyCodec<Bits>::kTop),
            static_cast<Bits>(codec.mask_positive ^ codec.mask_negative)};
  }
  static LaneOf<K> decoded(const Masks &masks, LaneOf<K> ordered) {
    const K bits = static_cast<K>(static_cast<K>(ordered) ^ masks.mask);
    return static_cast<LaneOf<K>>(static_cast<K>(bits ^ masks.both_if_set(bits)));
  }
  Masks encode_, decode_;
};

#if HWY_TARGET != HWY_AVX3
// Lanes whose number has the bit kDistance from `upper`, the others from `lower`.
template <class K, size_t kDistance>
HWY_INLINE KeyVec<K> blend_lanes(KeyVec<K> lower, KeyVec<K> upper) {
  const KeyTag<K> d;
  constexpr size_t kBytes = kDistance * sizeof(K);
  if constexpr (kBytes == 16) return hn::OddEvenBlocks(upper, lower);
  if constexpr (kDistance == 1) return hn::OddEven(upper, lower);
  if constexpr (kDistance > 1 && kBytes < 16) {
    using Wide = std::conditional_t<kBytes == 4, int32_t, int64_t>;
    const hn::Repartition<Wide, KeyTag<K>> wide;
    return hn::BitCast(d, hn::OddEven(hn::BitCast(wide, upper), hn::BitCast(wide, lower)));
  }
}
#endif

// Lanes at kDistance from each other exchanged.
template <class K, size_t kDistance>
HWY_INLINE KeyVec<K> swap_lanes(KeyVec<K> v) {
  const KeyTag<K> d;
  constexpr size_t kBytes = kDistance * sizeof(K);
  if constexpr (kDistance == 1) return hn::Reverse2(d, v);
  if constexpr (kDistance > 1 && kBytes < 16) {
    const hn::Repartition<int32_t, KeyTag<K>> words;
    const auto both = hn::BitCast(words, v);
    if constexpr (kBytes == 4) return hn::BitCast(d, hn::Shuffle2301(both));
    return hn::BitCast(d, hn::Shuffle1032(both));
  }
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  constexpr bool kIsNarrow = VectorOf<K>::kBytes < HWY_MAX_BYTES;
  if constexpr (kBytes == 16 && kIsNarrow) return hn::ConcatLowerUpper(d, v, v);
  if constexpr (kBytes == 16 && !kIsNarrow) return hn::SwapAdjacentBlocks(v);
  if constexpr (kBytes == 32) return hn::ConcatLowerUpper(d, v, v);
#else
  (void)kBytes;
#endif
}

// The same of lanes of 2 bytes: within blocks of 16 bytes, then the blocks.
template <size_t kGroup>
HWY_INLINE KeyVec<uint16_t> reverse_short_lanes(KeyVec<uint16_t> v) {
  const KeyTag<uint16_t> d;
  const hn::Repartition<uint8_t, KeyTag<uint16_t>> bytes;
  HWY_ALIGN static constexpr uint8_t kFours[16] = {6, 7, 4, 5, 2, 3, 0, 1, 14, 15, 12, 13, 10, 11, 8, 9},
                                     kEights[16] = {14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1};
  const auto places = hn::LoadDup128(bytes, kGroup == 4 ? kFours : kEights);
  const auto reversed = hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, v), places));
  if constexpr (kGroup == 16) return hn::SwapAdjacentBlocks(reversed);
  if constexpr (kGroup == 32) return hn::ReverseBlocks(d, reversed);
  return reversed;
}

// Each group of kGroup lanes reversed.
template <class K, size_t kGroup>
HWY_INLINE KeyVec<K> reverse_lanes(KeyVec<K> v) {
  const KeyTag<K> d;
  if constexpr (sizeof(K) == 2 && kGroup > 2) return reverse_short_lanes<kGroup>(v);
  if constexpr (kGroup == 2) return hn::Reverse2(d, v);
  if constexpr (sizeof(K) > 2 && kGroup == 4) return hn::Reverse4(d, v);
  if constexpr (sizeof(K) > 2 && kGroup == 8) return hn::Reverse8(d, v);
  if constexpr (sizeof(K) > 2 && kGroup == 16) return hn::Reverse(d, v);
}

#if HWY_TARGET == HWY_AVX3
// All three by exclusive or: of two keys, `lower` being the lower one, the other.
template <class V>
HWY_INLINE V xor_three(V lower, V a, V b) {
  if constexpr (sizeof(a.raw) == 64)
    return V{_mm512_ternarylogic_epi64(lower.raw, a.raw, b.raw, 0x96)};
  else if constexpr (sizeof(a.raw) == 32)
    return V{_mm256_ternarylogic_epi64(lower.raw, a.raw, b.raw, 0x96)};
  else
    return V{_mm_ternarylogic_epi64(lower.raw, a.raw, b.raw, 0x96)};
}
// The same in lanes of the mask; others are `lower`.
template <size_t kLaneBytes, uint16_t kMask, class V>
HWY_INLINE V xor_some_of_three(V lower, V a, V b) {
  constexpr uint8_t kShortMask = static_cast<uint8_t>(kMask);
  if constexpr (sizeof(a.raw) == 64 && kLaneBytes == 8)
    return V{_mm512_mask_ternarylogic_epi64(lower.raw, kShortMask, a.raw, b.raw, 0x96)};
  else if constexpr (sizeof(a.raw) == 64)
    return V{_mm512_mask_ternarylogic_epi32(lower.raw, kMask, a.raw, b.raw, 0x96)};
  else if constexpr (sizeof(a.raw) == 32 && kLaneBytes == 8)
    return V{_mm256_mask_ternarylogic_epi64(lower.raw, kShortMask & 15, a.raw, b.raw, 0x96)};
  else if constexpr (sizeof(a.raw) == 32)
    return V{_mm256_mask_ternarylogic_epi32(lower.raw, kShortMask, a.raw, b.raw, 0x96)};
  else if constexpr (kLaneBytes == 8)
    return V{_mm_mask_ternarylogic_epi64(lower.raw, kShortMask & 3, a.raw, b.raw, 0x96)};
  else
    return V{_mm_mask_ternarylogic_epi32(lower.raw, kShortMask & 15, a.raw, b.raw, 0x96)};
}

// Of two keys, the one that is not `lower`. Minima have one port of Intel's processors to themselves, and those of 8
// bytes need it twice; this runs on another one as well. AMD's have four for minima of 4 bytes and two for those of 8.
// Numbers have a maximum that waits for no minimum.
template <class K>
HWY_INLINE KeyVec<K> not_lower(KeyVec<K> lower, KeyVec<K> a, KeyVec<K> b) {
  constexpr bool kIsNarrow = VectorOf<K>::kBytes < HWY_MAX_BYTES;  // which AMD's have
  if constexpr (std::is_floating_point_v<LaneOf<K>> || (kIsNarrow && sizeof(K) == 4))
    return hn::Max(a, b);
  else
    return lanes_of<K>(xor_three(bits_of<K>(lower), bits_of<K>(a), bits_of<K>(b)));
}
// The same for lanes whose number has the bit kDistance, or for those where it has not; others are `lower`.
template <class K, size_t kDistance, bool kSet>
HWY_INLINE KeyVec<K> some_not_lower(KeyVec<K> lower, KeyVec<K> a, KeyVec<K> b) {
  constexpr uint32_t kAllBits = kDistance == 1   ? 0xaaaaaaaa
                                : kDistance == 2 ? 0xcccccccc
                                : kDistance == 4 ? 0xf0f0f0f0
                                : kDistance == 8 ? 0xff00ff00
                                                 : 0xffff0000;
  constexpr uint16_t kMask = static_cast<uint16_t>(kSet ? kAllBits : ~kAllBits);
  if constexpr (sizeof(K) == 2)
    return KeyVec<K>{_mm512_mask_max_epi16(lower.raw, kSet ? kAllBits : ~kAllBits, a.raw, b.raw)};
  else if constexpr (std::is_floating_point_v<LaneOf<K>>) {
    return KeyVec<K>{_mm512_mask_max_pd(lower.raw, static_cast<__mmask8>(kMask), a.raw, b.raw)};
  } else {
    return lanes_of<K>(xor_some_of_three<sizeof(K), kMask>(bits_of<K>(lower), bits_of<K>(a), bits_of<K>(b)));
  }
}
#else
template <class K>
HWY_INLINE KeyVec<K> not_lower(KeyVec<K>, KeyVec<K> a, KeyVec<K> b) {
  return hn::Max(a, b);
}
template <class K, size_t kDistance, bool kSet>
HWY_INLINE KeyVec<K> some_not_lower(KeyVec<K> lower, KeyVec<K> a, KeyVec<K> b) {
  const auto upper = hn::Max(a, b);
  return kSet ? blend_lanes<K, kDistance>(lower, upper) : blend_lanes<K, kDistance>(upper, lower);
}
#endif

template <class K>
HWY_INLINE void sort_two(KeyVec<K> &a, KeyVec<K> &b) {
  const auto lower = hn::Min(a, b);
  b = not_lower<K>(lower, a, b);
  a = lower;
}

// Compares each of the rows kRow, kRow + 2 * kStep, ... below kEnd with the one kStep further.
template <class K, size_t kRow, size_t kEnd, size_t kStep>
HWY_INLINE void sort_neighbours(KeyVec<K> *v) {
  if constexpr (kRow + kStep < kEnd) {
    sort_two<K>(v[kRow], v[kRow + kStep]);
    sort_neighbours<K, kRow + 2 * kStep, kEnd, kStep>(v);
  }
}

// Sorts the columns of rows kFirst, kFirst + kStep, ... of which there are kCount, the halves of which are sorted.
template <class K, size_t kFirst, size_t kCount, size_t kStep>
HWY_INLINE void merge_rows(KeyVec<K> *v) {
  if constexpr (kCount == 2) {
    sort_two<K>(v[kFirst], v[kFirst + kStep]);
  } else {
    merge_rows<K, kFirst, kCount / 2, kStep * 2>(v);
    merge_rows<K, kFirst + kStep, kCount / 2, kStep * 2>(v);
    // The even and the odd ones are in order; neighbours may be in the wrong one.
    sort_neighbours<K, kFirst + kStep, kFirst + kCount * kStep, kStep>(v);
  }
}

template <class K, size_t kFirst, size_t kCount>
HWY_INLINE void sort_columns(KeyVec<K> *v) {
  if constexpr (kCount >= 2) {
    sort_columns<K, kFirst, kCount / 2>(v);
    sort_columns<K, kFirst + kCount / 2, kCount / 2>(v);
    merge_rows<K, kFirst, kCount, 1>(v);
  }
}

// Calls one step for each of the rows: a loop that is certain to be unrolled, so that rows stay in registers.
template <size_t kRow, size_t kEnd, class Step, class V>
HWY_INLINE void for_rows(V *v) {
  if constexpr (kRow < kEnd) {
    Step::template run<kRow>(v);
    for_rows<kRow + 1, kEnd, Step>(v);
  }
}

// Compares every lane of a row with the one kDistance further, then at half that distance, and so on.
template <class K, size_t kDistance>
HWY_INLINE void compare_lanes(KeyVec<K> &row) {
  if constexpr (kDistance >= 1) {
    const auto other = swap_lanes<K, kDistance>(row);
    row = some_not_lower<K, kDistance, true>(hn::Min(row, other), row, other);
    compare_lanes<K, kDistance / 2>(row);
  }
}

// The first step of a merge of the sequences in two groups of kGroup / 2 columns: each key of the first with that of
// the second which lies as far from its end as the first from its beginning.
template <class K, size_t kRows, size_t kGroup>
struct CompareMirrored {
  template <size_t kRow>
  static HWY_INLINE void run(KeyVec<K> *v) {
    constexpr size_t kOther = kRows - 1 - kRow;
    const auto a = v[kRow], mirrored = reverse_lanes<K, kGroup>(v[kOther]);
    const auto lower = hn::Min(a, mirrored);
    v[kRow] = some_not_lower<K, kGroup / 2, true>(lower, a, mirrored);
    if constexpr (kRows > 1)
      v[kOther] = reverse_lanes<K, kGroup>(some_not_lower<K, kGroup / 2, false>(lower, a, mirrored));
  }
};

// The first steps of a merge, those between lanes. All of them for one pair of rows before the next, because the rows
// may be more than the registers.
template <class K, size_t kRows, size_t kGroup>
struct MergeLanes {
  template <size_t kRow>
  static HWY_INLINE void run(KeyVec<K> *v) {
    CompareMirrored<K, kRows, kGroup>::template run<kRow>(v);
    compare_lanes<K, kGroup / 4>(v[kRow]);
    if constexpr (kRow != kRows - 1 - kRow) compare_lanes<K, kGroup / 4>(v[kRows - 1 - kRow]);
  }
};

// The last steps of a merge, those between rows: of kCount rows from kFirst on, each half done before the next.
template <class K, size_t kFirst, size_t kCount>
struct MergeRows {
  template <size_t kRow>
  static HWY_INLINE void run(KeyVec<K> *v) {
    sort_two<K>(v[kFirst + kRow], v[kFirst + kRow + kCount / 2]);
  }
  static HWY_INLINE void run_all(KeyVec<K> *v) {
    if constexpr (kCount >= 2) {
      for_rows<0, kCount / 2, MergeRows>(v);
      MergeRows<K, kFirst, kCount / 2>::run_all(v);
      MergeRows<K, kFirst + kCount / 2, kCount / 2>::run_all(v);
    }
  }
};

// Merges groups of kGroup / 2 sorted columns into groups of kGroup, and so on up to the whole matrix.
template <class K, size_t kRows, size_t kGroup>
HWY_INLINE void merge_columns(KeyVec<K> *v) {
  if constexpr (kGroup <= kLanes<K>) {
    for_rows<0, (kRows + 1) / 2, MergeLanes<K, kRows, kGroup>>(v);
    MergeRows<K, 0, kRows>::run_all(v);
    merge_columns<K, kRows, kGroup * 2>(v);
  }
}

// transpose_in_blocks() of lanes of 2 bytes: pairs of rows, then of pairs, then of fours.
template <size_t kStep>
HWY_INLINE void transpose_short_in_blocks(const KeyVec<uint16_t> *v, KeyVec<uint16_t> *to) {
  const KeyTag<uint16_t> d;
  const hn::Repartition<int32_t, KeyTag<uint16_t>> words;
  const hn::Repartition<int64_t, KeyTag<uint16_t>> wide;
  hn::Vec<decltype(words)> pairs[8];
  hn::Vec<decltype(wide)> fours[8];
  for (size_t i = 0; i < 8; i += 2) {
    pairs[i] = hn::BitCast(words, hn::InterleaveLower(d, v[i], v[i + 1]));
    pairs[i + 1] = hn::BitCast(words, hn::InterleaveUpper(d, v[i], v[i + 1]));
  }
  for (size_t i = 0; i < 8; i += 4)
    for (size_t upper = 0; upper < 2; ++upper) {
      fours[i + 2 * upper] = hn::BitCast(wide, hn::InterleaveLower(words, pairs[i + upper], pairs[i + 2 + upper]));
      fours[i + 2 * upper + 1] = hn::BitCast(wide, hn::InterleaveUpper(words, pairs[i + upper], pairs[i + 2 + upper]));
    }
  for (size_t i = 0; i < 4; ++i) {
    to[2 * i * kStep] = hn::BitCast(d, hn::InterleaveLower(wide, fours[i], fours[i + 4]));
    to[(2 * i + 1) * kStep] = hn::BitCast(d, hn::InterleaveUpper(wide, fours[i], fours[i + 4]));
  }
}

// Transposes as many rows as a block of 16 bytes has lanes, within blocks: row g of block b comes to be column g of
// that block. Row kRow is the first; they are left at `to` in steps of kStep.
template <class K, size_t kStep>
HWY_INLINE void transpose_in_blocks(const KeyVec<K> *v, KeyVec<K> *to) {
  const KeyTag<K> d;
  if constexpr (sizeof(K) == 8) {
    to[0] = hn::InterleaveLower(d, v[0], v[1]);
    to[kStep] = hn::InterleaveUpper(d, v[0], v[1]);
  } else if constexpr (sizeof(K) == 2) {
    transpose_short_in_blocks<kStep>(v, to);
  } else {
    const hn::RepartitionToWide<KeyTag<K>> wide;
    const auto a = hn::BitCast(wide, hn::InterleaveLower(d, v[0], v[1]));
    const auto b = hn::BitCast(wide, hn::InterleaveUpper(d, v[0], v[1]));
    const auto e = hn::BitCast(wide, hn::InterleaveLower(d, v[2], v[3]));
    const auto f = hn::BitCast(wide, hn::InterleaveUpper(d, v[2], v[3]));
    to[0] = hn::BitCast(d, hn::InterleaveLower(wide, a, e));
    to[kStep] = hn::BitCast(d, hn::InterleaveUpper(wide, a, e));
    to[2 * kStep] = hn::BitCast(d, hn::InterleaveLower(wide, b, f));
    to[3 * kStep] = hn::BitCast(d, hn::InterleaveUpper(wide, b, f));
  }
}

// Transposes the blocks of as many rows as a vector has blocks; they are left at `to` in steps of kStep.
template <class K, size_t kStep>
HWY_INLINE void transpose_blocks(const KeyVec<K> *v, KeyVec<K> *to) {
  const KeyTag<K> d;
  constexpr size_t kBlocks = kLanes<K> * sizeof(K) / 16;
  (void)d;
  if constexpr (kBlocks == 1) to[0] = v[0];
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if constexpr (kBlocks == 2) {
    to[0] = hn::ConcatLowerLower(d, v[1], v[0]);
    to[kStep] = hn::ConcatUpperUpper(d, v[1], v[0]);
  }
  if constexpr (kBlocks == 4) {
    const auto a = hn::ConcatLowerLower(d, v[2], v[0]), b = hn::ConcatLowerLower(d, v[3], v[1]);
    const auto e = hn::ConcatUpperUpper(d, v[2], v[0]), f = hn::ConcatUpperUpper(d, v[3], v[1]);
    to[0] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
    to[kStep] = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
    to[2 * kStep] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(f), e);
    to[3 * kStep] = hn::OddEvenBlocks(f, hn::SwapAdjacentBlocks(e));
  }
#endif
}

template <class K, size_t kRows>
struct Transpose {
  static constexpr size_t kBlockLanes = 16 / sizeof(K), kBlocks = kLanes<K> / kBlockLanes;

  struct InBlocks {
    template <size_t kGroup>
    static HWY_INLINE void run(KeyVec<K> *v) {
      transpose_in_blocks<K, kRows / kBlockLanes>(v + kGroup * kBlockLanes, v + kRows + kGroup);
    }
  };
  struct OfBlocks {
    template <size_t kGroup>
    static HWY_INLINE void run(KeyVec<K> *v) {
      transpose_blocks<K, kRows / kBlocks>(v + kRows + kGroup * kBlocks, v + kGroup);
    }
  };

  // Two rows are fewer than a block's lanes or a vector's blocks.
  static HWY_INLINE void run_two(KeyVec<K> *v) {
    const KeyTag<K> d;
    const auto a = hn::InterleaveLower(d, v[0], v[1]), b = hn::InterleaveUpper(d, v[0], v[1]);
    v[0] = a;
    v[1] = b;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    if constexpr (kBlocks == 2) {
      v[0] = hn::ConcatLowerLower(d, b, a);
      v[1] = hn::ConcatUpperUpper(d, b, a);
    } else if constexpr (kBlocks == 4) {
      const auto even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
      const auto odd = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
      v[0] = hn::ConcatLowerLower(d, odd, even);
      v[1] = hn::ConcatUpperUpper(d, odd, even);
    }
#endif
  }

  // Four rows of lanes of 2 bytes are fewer than a block's lanes: two columns come to a block.
  static HWY_INLINE void run_four(KeyVec<K> *v) {
    const KeyTag<K> d;
    const hn::RepartitionToWide<KeyTag<K>> wide;
    for (size_t upper = 0; upper < 2; ++upper) {
      const auto first =
          hn::BitCast(wide, upper == 0 ? hn::InterleaveLower(d, v[0], v[1]) : hn::InterleaveUpper(d, v[0], v[1]));
      const auto last =
          hn::BitCast(wide, upper == 0 ? hn::InterleaveLower(d, v[2], v[3]) : hn::InterleaveUpper(d, v[2], v[3]));
      v[4 + 2 * upper] = hn::BitCast(d, hn::InterleaveLower(wide, first, last));
      v[5 + 2 * upper] = hn::BitCast(d, hn::InterleaveUpper(wide, first, last));
    }
    for_rows<0, kRows / kBlocks, OfBlocks>(v);
  }

  // Keys that follow each other down the columns come to follow each other along the rows. `v` has room for as many
  // rows again.
  static HWY_INLINE void run(KeyVec<K> *v) {
    if constexpr (kRows == 2) {
      run_two(v);
    } else if constexpr (kRows == 4 && sizeof(K) == 2) {
      run_four(v);
    } else if constexpr (kRows > 2) {
      static_assert(kRows >= kBlockLanes && kRows >= kBlocks, "blocks are transposed whole");
      for_rows<0, kRows / kBlockLanes, InBlocks>(v);
      for_rows<0, kRows / kBlocks, OfBlocks>(v);
    }
  }
};

// The first `count` lanes from memory (`coder` is not looked at without kEncode), the others the greatest key, nothing
// beyond them touched.
template <class K, bool kEncode>
HWY_INLINE KeyVec<K> load_some(const SortCoder<WideKey<K>> *coder, const LaneOf<K> *from, size_t count) {
  const KeyTag<K> d;
  const auto greatest = hn::Set(d, kGreatestLane<K>);
#if GSORT_VECTOR_MASKED_MEMORY
  const auto mask = hn::FirstN(d, count);
  const auto loaded = hn::MaskedLoad(mask, d, from);
  return hn::IfThenElse(mask, kEncode ? coder->template encode<K>(loaded) : loaded, greatest);
#else
  HWY_ALIGN LaneOf<K> lane[kLanes<K>];
  hn::Store(greatest, d, lane);
  static_assert(!std::is_floating_point_v<K>, "numbers are for targets with masks");
  for (size_t i = 0; i < count; ++i) lane[i] = kEncode ? coder->encode_one(static_cast<K>(from[i])) : from[i];
  return hn::Load(d, lane);
#endif
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Less than four words, lanes one by one or by two.
template <size_t kWords>
HWY_INLINE void store_words(hn::Vec<hn::FixedTag<int32_t, 4>> all, int32_t *out, size_t words) {
  const hn::FixedTag<int32_t, 4> d;
  if (words >= 2) {
    const hn::Repartition<int64_t, decltype(d)> wide;
    const int64_t pair = hn::GetLane(hn::BitCast(wide, all));
    std::memcpy(out, &pair, sizeof pair);
    if constexpr (kWords == 1) {
      if (words == 3) out[2] = hn::ExtractLane(all, 2);
    }
  } else if constexpr (kWords == 1) {
    if (words == 1) out[0] = hn::GetLane(all);
  }
}
// Less than eight words by two stores that overlap, of lanes from a vector that is turned.
template <size_t kWords>
HWY_INLINE void store_words(hn::Vec<hn::FixedTag<int32_t, 8>> all, int32_t *out, size_t words) {
  const hn::FixedTag<int32_t, 8> d;
  const hn::Half<decltype(d)> half;
  const auto low = hn::LowerHalf(half, all);
  if (words >= 4) {
    hn::StoreU(low, half, out);
    if (words == 4) return;
    // In the upper half, which is not stored, again: so no place is past the vector.
    HWY_ALIGN static constexpr int32_t kLow[8] = {0, 1, 2, 3, 0, 1, 2, 3};
    const auto from = hn::Add(hn::Load(d, kLow), hn::Set(d, static_cast<int32_t>(words - 4)));
    hn::StoreU(hn::LowerHalf(half, hn::TableLookupLanes(all, hn::IndicesFromVec(d, from))), half, out + (words - 4));
  } else {
    store_words<kWords>(low, out, words);
  }
}

#if HWY_TARGET == HWY_AVX3
template <size_t kWords>
HWY_INLINE void store_wide_words(hn::Vec<hn::FixedTag<int32_t, 16>> all, int32_t *out, size_t words) {
  const hn::FixedTag<int32_t, 16> d;
  const hn::Half<decltype(d)> half;
  if (words >= 8) {
    hn::StoreU(hn::LowerHalf(half, all), half, out);
    if (words == 8) return;
    HWY_ALIGN static constexpr int32_t kLow[16] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    const auto from = hn::Add(hn::Load(d, kLow), hn::Set(d, static_cast<int32_t>(words - 8)));
    const auto last = hn::TableLookupLanes(all, hn::IndicesFromVec(d, from));
    return hn::StoreU(hn::LowerHalf(half, last), half, out + (words - 8));
  }
  store_words<kWords>(hn::LowerHalf(half, all), out, words);
}
#endif

// Not by a masked store, which is some forty instructions of microcode in AMD's processors with AVX2 and takes 5 ns
// more than this with AVX-512 in a loop over short arrays: it seems to hold up loads of the next one, behind the last
// key.
template <class K>
HWY_INLINE void store_some(KeyVec<K> v, LaneOf<K> *to, size_t count) {
  const hn::Repartition<int32_t, KeyTag<K>> d;
  constexpr size_t kWords = sizeof(K) / 4;
  const size_t words = count * kWords;
  int32_t *const out = reinterpret_cast<int32_t *>(to);
  const auto all = hn::BitCast(d, v);
#if HWY_TARGET == HWY_AVX3
  if constexpr (VectorOf<K>::kBytes < 64)
    return store_words<kWords>(all, out, words);
  else
    return store_wide_words<kWords>(all, out, words);
#else
  store_words<kWords>(all, out, words);
#endif
}
#else
template <class K>
HWY_INLINE void store_some(KeyVec<K> v, LaneOf<K> *to, size_t count) {
  const KeyTag<K> d;
#if GSORT_VECTOR_MASKED_MEMORY
  hn::BlendedStore(v, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN LaneOf<K> lane[kLanes<K>];
  hn::Store(v, d, lane);
  for (size_t i = 0; i < count; ++i) to[i] = lane[i];
#endif
}
#endif

// Sorts rows, of which there is room for as many again, so that keys follow each other along them.
template <class K, size_t kRows>
struct ColumnNetwork {
  static constexpr size_t row_at(size_t place) { return place; }  // which row has the keys of a place in the end
  static HWY_INLINE void run(KeyVec<K> *v) {
    sort_columns<K, 0, kRows>(v);
    merge_columns<K, kRows, 2>(v);
    Transpose<K, kRows>::run(v);
  }
};

// Sorts up to kRows * kLanes keys; `in` may be `out`.
template <class K, size_t kRows, bool kEncode, class Network = ColumnNetwork<K, kRows>>
class RowSort {
 public:
  using Coder = SortCoder<WideKey<K>>;

  static HWY_NOINLINE void run(const Coder &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
    // Not one network with two ways in and out, where many rows would meet in the same registers.
    if (kHasPlain && coder.is_plain()) return sort<kHasPlain>(coder, in, out, n);
    sort<false>(coder, in, out, n);
  }

  // Writes the first n of the keys in rows that follow each other.
  template <size_t kRow, bool kPlain = false>
  static HWY_INLINE void store(const Coder &coder, const KeyVec<K> *v, LaneOf<K> *out, size_t n) {
    if constexpr (kRow < kRows) {
      constexpr size_t kBegin = kRow * kWide;
      if (n <= kBegin) return;
      const auto keys = coder.template decode<K, kPlain>(v[Network::row_at(kRow)]);
      if (n < kBegin + kWide) return store_some<K>(keys, out + kBegin, n - kBegin);
      hn::StoreU(keys, KeyTag<K>(), out + kBegin);
      store<kRow + 1, kPlain>(coder, v, out, n);
    }
  }

 private:
  static constexpr size_t kWide = kLanes<K>;
  static constexpr bool kHasPlain = kEncode && !std::is_same_v<K, WideKey<K>>;

  template <bool kPlain>
  static HWY_INLINE void sort(const Coder &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
    KeyVec<K> v[kRows == 1 ? 1 : 2 * kRows];
    load<0, kPlain>(coder, in, n, v);
    Network::run(v);
    store<0, kPlain>(coder, v, out, n);
  }

  template <size_t kRow, bool kPlain = false>
  static HWY_INLINE void load(const Coder &coder, const LaneOf<K> *in, size_t n, KeyVec<K> *v) {
    if constexpr (kRow < kRows) {
      const KeyTag<K> d;
      constexpr size_t kBegin = kRow * kWide;
      if (n >= kBegin + kWide) {
        const auto loaded = hn::LoadU(d, in + kBegin);
        v[kRow] = kEncode ? coder.template encode<K, kPlain>(loaded) : loaded;
      } else if (n > kBegin) {
        v[kRow] = load_some<K, kEncode>(&coder, in + kBegin, n - kBegin);
      } else {
        v[kRow] = hn::Set(d, kGreatestLane<K>);
      }
      load<kRow + 1, kPlain>(coder, in, n, v);
    }
  }
};

// More rows than registers cost less than another partition where those are wide.
template <class K>
constexpr size_t kRowsMax = HWY_TARGET == HWY_AVX3 ? 32 : 16;
template <class K>
constexpr size_t kBlockKeys = kRowsMax<K> * kLanes<K>;
// Sorts up to kBlockKeys keys.
template <class K, bool kEncode>
HWY_INLINE void sort_block_of_rows(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
  if (n <= kLanes<K>) return RowSort<K, 1, kEncode>::run(coder, in, out, n);
  if (n <= 2 * kLanes<K>) return RowSort<K, 2, kEncode>::run(coder, in, out, n);
  if (n <= 4 * kLanes<K>) return RowSort<K, 4, kEncode>::run(coder, in, out, n);
  if (n <= 8 * kLanes<K>) return RowSort<K, 8, kEncode>::run(coder, in, out, n);
  if constexpr (kRowsMax<K> > 16)
    if (n > 16 * kLanes<K>) return RowSort<K, 32, kEncode>::run(coder, in, out, n);
  RowSort<K, 16, kEncode>::run(coder, in, out, n);
}

#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_NETWORK_INL_H_
