// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: quicksort in place whose partition compresses each vector to both sides, down
// to what a network holds. The partition reads from the end with the less room, so that what it writes never meets what
// it has not read (Bramas, A Novel Hybrid Quicksort Algorithm Vectorized using AVX-512, 2017; Blacher, Giesinger,
// Kuehne, Fast and Robust Vectorized In-Place Sorting of Primitive Types, 2021).
#if defined(GSORT_CPU_VECTOR_SORT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_SORT_INL_H_
#undef GSORT_CPU_VECTOR_SORT_INL_H_
#else
#define GSORT_CPU_VECTOR_SORT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "core/random_draws.h"
#include "cpu/vector/blocks-inl.h"
#include "cpu/vector/keys-inl.h"
#include "cpu/vector/sort.h"
#include "cpu/vector/target.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET

// Vectors that a step of the partition takes: enough to hide the wait for the counts of one. In place it takes 256
// bytes of long arrays, from kLongVectors on: it reads from either end in turn, and longer pieces come sooner from
// memory.
constexpr size_t kStepVectors = 4;
constexpr size_t kLongStepVectors = std::max<size_t>(kStepVectors, 256 / (kLanes<uint32_t> * sizeof(uint32_t)));
constexpr size_t kLongVectors = 32 * kLongStepVectors;

// Where the keys of a partition go: the lower ones from the front, the others from the back.
template <class K>
struct Sides {
  LaneOf<K> *front, *back;
};

// Writes a vector's keys that are not above the pivot to the front and the others to the back. There must be room for a
// whole vector at either end, and for two if both ends are of one gap.
template <class K>
HWY_INLINE void put(KeyVec<K> v, hn::Mask<KeyTag<K>> above, Sides<K> &sides) {
  const KeyTag<K> d;
  const size_t aboves = hn::CountTrue(d, above);
#if HWY_TARGET == HWY_AVX3
  hn::StoreU(compress_lanes<K>(hn::Not(above), v), d, sides.front);
  sides.back -= aboves;
  hn::BlendedStore(compress_lanes<K>(above, v), hn::FirstN(d, aboves), d, sides.back);
#else
  const auto parted = partition_lanes<K>(above, v);
  hn::StoreU(parted, d, sides.front);
  hn::StoreU(parted, d, sides.back - kLanes<K>);
  sides.back -= aboves;
#endif
  sides.front += kLanes<K> - aboves;
}

// A few vectors' keys, parted in two buffers, until there is a gap for them.
template <class K, size_t kVectors>
class Buffered {
 public:
  HWY_INLINE void add(KeyVec<K> v, hn::Mask<KeyTag<K>> above) { put<K>(v, above, sides_); }

  // Fills the gap of `count` keys at `to`; returns how many of them are lower ones. Lanes of the first vector beyond
  // `count` keys in all were the greatest key, so that they are last in the buffer.
  HWY_INLINE size_t write(LaneOf<K> *to, size_t count) const {
    const size_t lower = static_cast<size_t>(sides_.front - low_);
    copy(low_, to, lower);
    copy(sides_.back, to + lower, count - lower);
    return lower;
  }

  // Fills two gaps with the same keys in any order, for a partition that ends early.
  void put_back(LaneOf<K> *first, LaneOf<K> *first_end, LaneOf<K> *second, LaneOf<K> *second_end) const {
    const LaneOf<K> *from = low_;
    const auto next = [&] {
      if (from == sides_.front) from = sides_.back;
      return *from++;
    };
    while (first != first_end) *first++ = next();
    while (second != second_end) *second++ = next();
  }

 private:
  static constexpr size_t kRoom = (kVectors + 1) * kLanes<K>;  // the last store may reach a vector further

  static HWY_INLINE void copy(const LaneOf<K> *from, LaneOf<K> *to, size_t count) {
    const KeyTag<K> d;
    size_t i = 0;
    for (; i + kLanes<K> <= count; i += kLanes<K>) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    if (i < count) store_some<K>(load_some<K, false>(nullptr, from + i, count - i), to + i, count - i);
  }
  LaneOf<K> low_[kRoom], high_[kRoom];
  Sides<K> sides_{low_, high_ + kRoom};
};

// Looks, if it does, for numbers that have no place in the order of numbers that is the order of their bits: NaNs and
// -0, as they are encoded.
template <class K, bool kLooks>
class OddKeys {
 public:
  HWY_INLINE KeyVec<K> look(KeyVec<K> key) { return key; }
  HWY_INLINE bool found() const { return false; }
};
#if GSORT_VECTOR_NUMBERS
// Of encoded keys.
HWY_INLINE hn::Mask<KeyTag<double>> is_odd(KeyVec<double> key) {
#if HWY_TARGET == HWY_AVX3
  constexpr int kNansAndMinusZero = 0x85;
  return {_mm512_fpclass_pd_mask(key.raw, kNansAndMinusZero)};
#else
  const KeyTag<double> d;
  const auto bits = bits_of<double>(key), minus_zero = hn::Set(BitsTag<double>(), INT64_MIN);
  return hn::Or(hn::IsNaN(key), hn::RebindMask(d, hn::Eq(bits, minus_zero)));
#endif
}
template <>
class OddKeys<double, true> {
 public:
  HWY_INLINE OddKeys() : found_(hn::FirstN(KeyTag<double>(), 0)) {}
  HWY_INLINE KeyVec<double> look(KeyVec<double> key) {
    found_ = hn::Or(found_, is_odd(key));
    return key;
  }
  HWY_INLINE bool found() const { return !hn::AllFalse(KeyTag<double>(), found_); }

 private:
  hn::Mask<KeyTag<double>> found_;
};
#endif

// How a partition sees keys: what it loads of them goes to its sides, and above() tells to which. Lanes behind `some`
// keys are above any pivot.
//
// Those of a part, which are in the kernels' own order, and those that are seen for the first time and encoded.
template <class K, bool kEncode>
class EncodedKeys {
 public:
  using Key = K;
  using Coder = SortCoder<K>;
  static constexpr bool kAsks = false;

  HWY_INLINE EncodedKeys(const Coder &coder, LaneOf<K> pivot) : coder_(coder), pivot_(hn::Set(KeyTag<K>(), pivot)) {}
  HWY_INLINE KeyVec<K> all(const LaneOf<K> *from) {
    const auto v = hn::LoadU(KeyTag<K>(), from);
    return kEncode ? odd_.look(coder_.encode(v)) : v;
  }
  HWY_INLINE KeyVec<K> some(const LaneOf<K> *from, size_t count) {
    return odd_.look(load_some<K, kEncode>(&coder_, from, count));
  }
  HWY_INLINE hn::Mask<KeyTag<K>> above(KeyVec<K> v) const { return hn::Gt(v, pivot_); }
  HWY_INLINE bool found_odd() const { return odd_.found(); }
  HWY_INLINE bool goes_on() const { return true; }

 private:
  const Coder &coder_;
  KeyVec<K> pivot_;
  OddKeys<K, kEncode> odd_;
};

// Keys that stay as the caller knows them. One mask brings them all to the right side of a pivot that it encodes: those
// of the other sign need no other, for the top bit alone tells where they belong.
template <class K, bool kNansLast>
class RawKeys {
 public:
  using Key = K;
  struct Coder {
    KeyCodec<K> codec;
    GoesOn goes_on;
  };
  static constexpr bool kAsks = true;

  HWY_INLINE RawKeys(const Coder &coder, LaneOf<K> pivot)
      : goes_on_(coder.goes_on),
        mask_(mask_for(coder.codec, pivot)),
        encode_(coder.codec),
        pivot_(hn::Set(KeyTag<K>(), pivot)),
        greatest_(broadcast<K>(coder.codec.decode(static_cast<K>(~K{0})))) {}
  HWY_INLINE KeyVec<K> all(const LaneOf<K> *from) const { return hn::LoadU(KeyTag<K>(), from); }
  HWY_INLINE KeyVec<K> some(const LaneOf<K> *from, size_t count) const {
    return hn::IfThenElse(hn::FirstN(KeyTag<K>(), count), load_some<K, false>(nullptr, from, count), greatest_);
  }
  HWY_INLINE hn::Mask<KeyTag<K>> above(KeyVec<K> v) const {
    if constexpr (kNansLast) return hn::Gt(encode_(v), pivot_);
    return hn::Gt(hn::Xor(v, mask_), pivot_);
  }
  HWY_INLINE bool found_odd() const { return false; }
  HWY_INLINE bool goes_on() const { return goes_on_.ask(goes_on_.user); }

 private:
  static HWY_INLINE KeyVec<K> mask_for(const KeyCodec<K> &codec, LaneOf<K> pivot) {
    constexpr K kTop = KeyCodec<K>::kTop;
    const K raw = codec.decode(static_cast<K>(static_cast<K>(pivot) ^ kTop));
    return broadcast<K>(static_cast<K>(((raw & kTop) != 0 ? codec.mask_negative : codec.mask_positive) ^ kTop));
  }

  const GoesOn &goes_on_;
  KeyVec<K> mask_;
  KeyEncoder<K, kNansLast> encode_;
  KeyVec<K> pivot_, greatest_;
};

// What a partition leaves: how many keys went to the front, and whether there were odd ones among the numbers.
struct Parted {
  size_t lower;
  bool odd;
};

// Partitions of keys that ask whether they go on do so when they have read as many, in a tenth of a millisecond.
template <class K>
constexpr size_t kKeysUnheard = (size_t{1} << 20) / sizeof(K);
// Of `left` keys, read so many at a step, those that are left when it asks again.
template <class Keys>
HWY_INLINE size_t left_when_asked(size_t left, size_t step) {
  const size_t before = kKeysUnheard<typename Keys::Key> / step * step;
  return Keys::kAsks && left > before ? left - before : 0;
}

// Brings the keys of `in` up to the pivot to the front of `out`, which is another array, and the others to its back.
// Ends early, with anything in `out`, when it is not to go on.
template <class Keys, class K = typename Keys::Key>
HWY_NOINLINE Parted partition_copy(const typename Keys::Coder coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n,
                                   LaneOf<K> pivot) {
  constexpr size_t kWide = kLanes<K>, kStep = kStepVectors * kWide;
  Keys keys_at(coder, pivot);
  Sides<K> sides{out, out + n};
  size_t i = 0;
  for (const size_t end = n < kWide ? 0 : (n - kWide) / kStep * kStep; i != end;) {
    for (const size_t asks = end - left_when_asked<Keys>(end - i, kStep); i != asks; i += kStep) {
      const auto a = keys_at.all(in + i), b = keys_at.all(in + i + kWide);
      const auto c = keys_at.all(in + i + 2 * kWide), e = keys_at.all(in + i + 3 * kWide);
      put<K>(a, keys_at.above(a), sides);
      put<K>(b, keys_at.above(b), sides);
      put<K>(c, keys_at.above(c), sides);
      put<K>(e, keys_at.above(e), sides);
    }
    if (i != end && !keys_at.goes_on()) return {0, false};
  }
  Buffered<K, kStepVectors + 1> buffered;
  const auto add = [&](KeyVec<K> v) HWY_ATTR { buffered.add(v, keys_at.above(v)); };
  const size_t left_over = (n - i) % kWide;
  if (left_over > 0) add(keys_at.some(in + (n - left_over), left_over));
  for (; n - i >= kWide; i += kWide) add(keys_at.all(in + i));
  const size_t lower = static_cast<size_t>(sides.front - out);
  return {lower + buffered.write(sides.front, static_cast<size_t>(sides.back - sides.front)), keys_at.found_odd()};
}

// The same in place, for at least 2 * kVectors vectors of keys, so many at a step. Where it ends early, it leaves all
// keys in any order.
template <class Keys, size_t kVectors, class K = typename Keys::Key>
HWY_NOINLINE Parted partition_in_steps(const typename Keys::Coder coder, LaneOf<K> *keys, size_t n, LaneOf<K> pivot) {
  static_assert(kVectors % kStepVectors == 0, "a step is read in pieces of four vectors");
  constexpr size_t kWide = kLanes<K>, kStep = kVectors * kWide, kPiece = kStepVectors * kWide;
  Keys keys_at(coder, pivot);
  Sides<K> sides{keys, keys + n};
  LaneOf<K> *begin = keys + kStep, *end = keys + n - n % kWide - kStep;  // of what is not read yet
  Buffered<K, 2 * kVectors + 1> buffered;
  const auto add = [&](KeyVec<K> v) HWY_ATTR { buffered.add(v, keys_at.above(v)); };
  if (n % kWide != 0) add(keys_at.some(keys + (n - n % kWide), n % kWide));
  for (size_t i = 0; i < kStep; i += kWide) {
    add(keys_at.all(keys + i));
    add(keys_at.all(end + i));
  }
  // Whichever end has less room gets more by being read, so each has room for a step.
  while (static_cast<size_t>(end - begin) % kStep != 0) {
    const bool from_front = begin - sides.front <= sides.back - end;
    end -= from_front ? 0 : kWide;
    const auto a = keys_at.all(from_front ? begin : end);
    begin += from_front ? kWide : 0;
    put<K>(a, keys_at.above(a), sides);
  }
  while (begin != end) {
    const size_t left = left_when_asked<Keys>(static_cast<size_t>(end - begin), kStep);
    while (Keys::kAsks ? static_cast<size_t>(end - begin) != left : begin != end) {
      const bool from_front = begin - sides.front <= sides.back - end;
      end -= from_front ? 0 : kStep;
      const LaneOf<K> *const from = from_front ? begin : end;
      begin += from_front ? kStep : 0;
      // What is beside the room first: these keys fill no more than that and their own places.
      const LaneOf<K> *at = from_front ? from : from + (kStep - kPiece);
      const ptrdiff_t next = from_front ? ptrdiff_t{kPiece} : -ptrdiff_t{kPiece};
      for (size_t i = 0; i < kStep; i += kPiece, at += next) {
        const auto a = keys_at.all(at), b = keys_at.all(at + kWide);
        const auto c = keys_at.all(at + 2 * kWide), e = keys_at.all(at + 3 * kWide);
        put<K>(a, keys_at.above(a), sides);
        put<K>(b, keys_at.above(b), sides);
        put<K>(c, keys_at.above(c), sides);
        put<K>(e, keys_at.above(e), sides);
      }
    }
    if (begin != end && !keys_at.goes_on()) {
      buffered.put_back(sides.front, begin, end, sides.back);
      return {0, false};
    }
  }
  const size_t lower = static_cast<size_t>(sides.front - keys);
  return {lower + buffered.write(sides.front, static_cast<size_t>(sides.back - sides.front)), keys_at.found_odd()};
}

template <class K, bool kEncode>
HWY_INLINE Parted partition(const SortCoder<K> &coder, LaneOf<K> *keys, size_t n, LaneOf<K> pivot) {
  using Keys = EncodedKeys<K, kEncode>;
  if (n < kLongVectors * kLanes<K>) return partition_in_steps<Keys, kStepVectors>(coder, keys, n, pivot);
  return partition_in_steps<Keys, kLongStepVectors>(coder, keys, n, pivot);
}
// The first one of a sort, in place or not.
template <class K>
HWY_INLINE Parted partition_first(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n,
                                  LaneOf<K> pivot) {
  if (in == out) return partition<K, true>(coder, out, n, pivot);
  return partition_copy<EncodedKeys<K, true>>(coder, in, out, n, pivot);
}

// The same, in place or not, for fewer than 2 * kLongStepVectors vectors of keys.
template <class Keys, class K = typename Keys::Key>
HWY_NOINLINE size_t partition_few(const typename Keys::Coder coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n,
                                  LaneOf<K> pivot) {
  constexpr size_t kWide = kLanes<K>;
  Keys keys_at(coder, pivot);
  Buffered<K, 2 * kLongStepVectors> buffered;
  const auto add = [&](KeyVec<K> v) HWY_ATTR { buffered.add(v, keys_at.above(v)); };
  const size_t whole = n - n % kWide;
  if (n != whole) add(keys_at.some(in + whole, n - whole));
  for (size_t i = 0; i < whole; i += kWide) add(keys_at.all(in + i));
  return buffered.write(out, n);
}

// The median of keys drawn at random, and whether all of them were `least` or `greatest`.
template <class K>
struct Pivot {
  LaneOf<K> key;
  bool two;
  LaneOf<K> least, greatest;
};

template <class K, size_t kRows, bool kEncode>
HWY_NOINLINE Pivot<K> median_of_draws(const SortCoder<K> &coder, const LaneOf<K> *keys, size_t n) {
  constexpr size_t kDraws = kRows * kLanes<K>;
  HWY_ALIGN LaneOf<K> drawn[kDraws];
  RandomDraws draws(n);
  for (LaneOf<K> &draw : drawn) draw = keys[static_cast<size_t>(draws.below_short(n))];
  RowSort<K, kRows, kEncode>::run(coder.encoding_only(), drawn, drawn, kDraws);
  const LaneOf<K> least = drawn[0], greatest = drawn[kDraws - 1], median = drawn[kDraws / 2 - 1];
  bool two = median == least || median == greatest;
  for (size_t i = 0; two && i < kDraws; ++i) two = drawn[i] == least || drawn[i] == greatest;
  return {median, two, least, greatest};
}

// More draws where a better balance saves more than they cost.
template <class K, bool kEncode>
HWY_INLINE Pivot<K> choose_pivot(const SortCoder<K> &coder, const LaneOf<K> *keys, size_t n) {
  if (n >= size_t{1} << 32) n = (size_t{1} << 32) - 1;  // the draws' range
  if (n <= 8 * kNetworkKeys<K>) return median_of_draws<K, 1, kEncode>(coder, keys, n);
  if (n <= 64 * kNetworkKeys<K>) return median_of_draws<K, 4, kEncode>(coder, keys, n);
  return median_of_draws<K, 8, kEncode>(coder, keys, n);
}

// A part of the array: its keys are from `least` to `greatest`. Pivots are drawn `draws_left` times from here on; then
// they halve the range of keys, so that whatever the keys, a part is split no more than a key's bits times.
template <class K>
struct Part {
  LaneOf<K> *keys;
  size_t n;
  OrderedOf<K> least, greatest;
  uint32_t draws_left;
};

// Splits `part` at a pivot, to which `lower` keys are equal or lower. A pivot is below the greatest key possible, so
// either side has fewer possible keys than the whole: of equal keys remain the parts that have one key.
template <class K>
HWY_INLINE OrderedOf<K> below_greatest(OrderedOf<K> pivot, OrderedOf<K> greatest) {
  return pivot < greatest ? pivot : static_cast<OrderedOf<K>>(greatest - 1);
}

// What lanes are compared with to know keys up to `pivot`. Of numbers: none is -0, which would be equal to 0.
template <class K>
HWY_INLINE LaneOf<K> pivot_lane(OrderedOf<K> pivot) {
  if constexpr (std::is_floating_point_v<K>) {
    return number_of(pivot == -1 ? -2 : pivot);
  } else {
    return pivot;
  }
}

// How many of n keys are `least` if all others are `greatest`; n + 1 if there is another key.
template <class K, bool kEncode>
HWY_NOINLINE size_t count_least(const SortCoder<K> coder, const LaneOf<K> *keys, size_t n, LaneOf<K> least,
                                LaneOf<K> greatest) {
  const KeyTag<K> d;
  // As keys are before they are encoded, which spares encoding them.
  LaneOf<K> low_key = least, high_key = greatest;
  if constexpr (kEncode) low_key = coder.raw_one(least), high_key = coder.raw_one(greatest);
  const auto low = hn::Set(d, low_key), high = hn::Set(d, high_key);
  constexpr size_t kGroup = 4 * kLanes<K>;
  size_t i = 0, count = 0;
  for (; i + kGroup <= n; i += kGroup) {
    const auto a = hn::LoadU(d, keys + i), b = hn::LoadU(d, keys + i + kLanes<K>);
    const auto c = hn::LoadU(d, keys + i + 2 * kLanes<K>), e = hn::LoadU(d, keys + i + 3 * kLanes<K>);
    const auto a_low = hn::Eq(a, low), b_low = hn::Eq(b, low), c_low = hn::Eq(c, low), e_low = hn::Eq(e, low);
    const auto ab = hn::And(hn::Or(a_low, hn::Eq(a, high)), hn::Or(b_low, hn::Eq(b, high)));
    const auto ce = hn::And(hn::Or(c_low, hn::Eq(c, high)), hn::Or(e_low, hn::Eq(e, high)));
    if (!hn::AllTrue(d, hn::And(ab, ce))) return n + 1;
    count += hn::CountTrue(d, a_low) + hn::CountTrue(d, b_low) + hn::CountTrue(d, c_low) + hn::CountTrue(d, e_low);
  }
  for (; i < n; ++i) {
    if (keys[i] != low_key && keys[i] != high_key) return n + 1;
    count += keys[i] == low_key ? 1 : 0;
  }
  return count;
}

// Writes n times what the coder makes of a key.
template <class K>
HWY_INLINE void fill(const SortCoder<K> &coder, LaneOf<K> *out, size_t n, OrderedOf<K> ordered) {
  const auto key = hn::Set(KeyTag<K>(), coder.decode_one(ordered));
  size_t i = 0;
  for (; i + kLanes<K> <= n; i += kLanes<K>) hn::StoreU(key, KeyTag<K>(), out + i);
  store_some<K>(key, out + i, n - i);
}

// Sorts keys of two values, which the draws tell of, by counting; returns false and writes nothing if there are others.
template <class K, bool kEncode>
HWY_INLINE bool sort_two_values(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n,
                                const Pivot<K> &drawn) {
  if (!drawn.two) return false;
  const size_t lower = count_least<K, kEncode>(coder, in, n, drawn.least, drawn.greatest);
  if (lower > n) return false;
  fill<K>(coder, out, lower, ordered_of(drawn.least));
  fill<K>(coder, out + lower, n - lower, ordered_of(drawn.greatest));
  return true;
}

// Sorts a part, or splits it into two, of which `small` is at most half, and returns whether it did that.
template <class K>
HWY_INLINE bool sort_or_split(const SortCoder<K> &coder, Part<K> part, Part<K> &small, Part<K> &large) {
  if (part.n <= kNetworkKeys<K>) {
    if (part.n > 0) sort_in_network<K, false>(coder, part.keys, part.keys, part.n);
    return false;
  }
  if (part.least == part.greatest) {
    fill<K>(coder, part.keys, part.n, part.least);
    return false;
  }
  OrderedOf<K> pivot =
      static_cast<OrderedOf<K>>((part.least >> 1) + (part.greatest >> 1) + (part.least & part.greatest & 1));
  if (part.draws_left > 0) {
    --part.draws_left;
    const Pivot<K> drawn = choose_pivot<K, false>(coder, part.keys, part.n);
    if (sort_two_values<K, false>(coder, part.keys, part.keys, part.n, drawn)) return false;
    pivot = below_greatest<K>(ordered_of(drawn.key), part.greatest);
  }
  const size_t lower = partition<K, false>(coder, part.keys, part.n, pivot_lane<K>(pivot)).lower;
  small = {part.keys, lower, part.least, pivot, part.draws_left};
  large = {part.keys + lower, part.n - lower, static_cast<OrderedOf<K>>(pivot + 1), part.greatest, part.draws_left};
  if (small.n > large.n) std::swap(small, large);
  return true;
}

// The larger halves wait in an array: frames of a recursion, of which there are as many, are forty times as large.
template <class K>
void quick_sort(const SortCoder<K> &coder, Part<K> part) {
  constexpr size_t kWaitingMax = 48;  // each is at most half of the one before, and no memory holds 2^48 keys
  Part<K> waiting[kWaitingMax];
  size_t count = 0;
  for (;;) {
    Part<K> small, large;
    if (sort_or_split<K>(coder, part, small, large)) {
      waiting[count++] = large;
      part = small;
    } else {
      if (count == 0) return;
      part = waiting[--count];
    }
  }
}

// Draws halve a part nearly always; twice as many as halvings are needed means bad luck or bad keys.
inline uint32_t draws_for(uint64_t n) { return 2 * (64 - static_cast<uint32_t>(__builtin_clzll(n))); }

// Sorts more keys than a network holds, from `least` to `greatest`, of which `pivot` is one.
template <class K>
void sort_many(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n, LaneOf<K> pivot,
               LaneOf<K> least = std::numeric_limits<LaneOf<K>>::min(),
               LaneOf<K> greatest = std::numeric_limits<LaneOf<K>>::max()) {
  pivot = below_greatest<K>(pivot, greatest);
  const size_t lower = partition_first<K>(coder, in, out, n, pivot).lower;
  quick_sort<K>(coder, {out, lower, least, pivot, draws_for(n)});
  quick_sort<K>(coder, {out + lower, n - lower, static_cast<LaneOf<K>>(pivot + 1), greatest, draws_for(n)});
}

#if GSORT_VECTOR_NUMBERS
// Floats of 8 bytes are sorted as numbers where none is a NaN or -0: one instruction then finds the lesser of two,
// where integers of 8 bytes need two or three.
class NumberSort {
 public:
  using Codec = KeyCodec<uint64_t>;

  explicit constexpr NumberSort(const Codec &codec) : codec_(codec), coder_(mask_of(codec), mask_of(codec)) {}

  // Whether so many are sorted sooner so than as integers.
  static constexpr size_t kIntegersMax = HWY_TARGET == HWY_AVX3 ? 16 * kLanes<double> : 0;
  static bool pays(size_t n) {
    return n > kIntegersMax && !(HWY_TARGET == HWY_AVX3 && processor_is_of_amd.load(std::memory_order_relaxed));
  }
  static bool serves(const Codec &encode, const Codec &decode) {
    return encode.mask_positive != encode.mask_negative && encode.mask_positive == decode.mask_positive;
  }

  // Sort keys and return true, or return false and write nothing where they are not such numbers: few, as a network
  // holds, and many, of which one's place in the kernels' own order is `pivot`.
  bool sort_few(const double *in, double *out, size_t n) const {
    if (!are_numbers(in, n)) return false;
    network_sort<double, true>(coder_, in, out, n);
    return true;
  }
  bool sort_many(const double *in, double *out, size_t n, int64_t pivot) const {
    if (!are_numbers(in, n < kGlance ? n : kGlance)) return false;
    const int64_t least = ordered_of(-kGreatestLane<double>), greatest = ordered_of(kGreatestLane<double>);
    pivot = below_greatest<double>(pivot < least ? least : pivot, greatest);
    const double lane = pivot_lane<double>(pivot);
    const Parted parted = partition_first<double>(coder_, in, out, n, lane);
    if (parted.odd) {
      sort_parted(reinterpret_cast<int64_t *>(out), n);
      return true;
    }
    quick_sort<double>(coder_, {out, parted.lower, least, pivot, draws_for(n)});
    quick_sort<double>(coder_, {out + parted.lower, n - parted.lower, pivot + 1, greatest, draws_for(n)});
    return true;
  }

 private:
  using Masks = SortCoder<double>::Masks;
  static constexpr uint64_t kTop = KeyCodec<uint64_t>::kTop;
  static constexpr size_t kGlance = 1024;  // where odd keys are many, one is among the first
  // Another sign brings descending ones into the order that is wanted.
  static constexpr Masks mask_of(const Codec &codec) { return {(codec.mask_positive & kTop) == 0 ? kTop : 0, 0}; }

  HWY_INLINE bool are_numbers(const double *in, size_t n) const {
    if (n < kLanes<double>) {
      EncodedKeys<double, true> keys_at(coder_, 0);
      keys_at.some(in, n);
      return !keys_at.found_odd();
    }
#if HWY_TARGET == HWY_AVX3
    // Of encoded keys, in which -0 is the odd zero whatever the order: one instruction tells it and NaNs.
    return no_key<double>(in, n, [&](KeyVec<double> key) HWY_ATTR { return is_odd(coder_.encode(key)); });
#else
    // Of keys as they are, which spares encoding them: which zero is -0 then goes by the order.
    const hn::Vec<BitsTag<double>> zero =
        hn::Set(BitsTag<double>(), static_cast<int64_t>(coder_.encoding().mask ^ kTop));
    return no_key<double>(in, n, [&](KeyVec<double> key) HWY_ATTR {
      const auto is_zero = hn::RebindMask(KeyTag<double>(), hn::Eq(bits_of<double>(key), zero));
      return hn::Or(hn::IsNaN(key), is_zero);
    });
#endif
  }

  // The partition met an odd key: the keys are in some order, as numbers whose ascending order is the one wanted.
  HWY_NOINLINE void sort_parted(int64_t *keys, size_t n) const {
    const SortCoder<uint64_t> coder(Codec{kTop, ~uint64_t{0}, 0}, codec_);
    const Pivot<uint64_t> drawn = choose_pivot<uint64_t, true>(coder, keys, n);
    ::gsort_internal::HWY_NAMESPACE::sort_many<uint64_t>(coder, keys, keys, n, drawn.key);
  }

  Codec codec_;
  SortCoder<double> coder_;
};

inline const double *numbers(const uint64_t *keys) { return reinterpret_cast<const double *>(keys); }
inline double *numbers(uint64_t *keys) { return reinterpret_cast<double *>(keys); }
#endif

// Whether at least kOneValueMin keys are all the same.
template <class K>
constexpr size_t kOneValueMin = 12 * kLanes<K>;  // fewer are sorted nearly as soon
template <class K>
HWY_INLINE bool are_one_value(const LaneOf<K> *keys, size_t n) {
  const KeyTag<K> d;
  const auto first = hn::Set(d, keys[0]);
  const auto group = [&](const LaneOf<K> *from) HWY_ATTR {
    const auto a = hn::Eq(hn::LoadU(d, from), first), b = hn::Eq(hn::LoadU(d, from + kLanes<K>), first);
    const auto c = hn::Eq(hn::LoadU(d, from + 2 * kLanes<K>), first);
    return hn::AllTrue(d, hn::And(hn::And(a, b), hn::And(c, hn::Eq(hn::LoadU(d, from + 3 * kLanes<K>), first))));
  };
  constexpr size_t kGroup = 4 * kLanes<K>;
  size_t i = 0;
  for (; i + kGroup <= n; i += kGroup)
    if (!group(keys + i)) return false;
  return group(keys + (n - kGroup));
}

// Sorts keys of one value, for which a network takes as long as for others.
template <class K>
HWY_NOINLINE bool sort_one_value(const SortCoder<K> &coder, const K *in, K *out, size_t n) {
  if (!are_one_value<K>(reinterpret_cast<const LaneOf<K> *>(in), n)) return false;
  const OrderedOf<K> ordered = coder.encode_one(in[0]);
  if (in != out || coder.decode_one(ordered) != static_cast<LaneOf<K>>(in[0]))
    fill<K>(coder, reinterpret_cast<LaneOf<K> *>(out), n, ordered);
  return true;
}
// Whether a look at some keys allows for it, as it hardly ever does.
template <class K>
HWY_INLINE bool may_be_one_value(const K *keys, size_t n) {
  return n >= kOneValueMin<K> && keys[0] == keys[n - 1] && keys[0] == keys[n / 2] && keys[0] == keys[n / 2 - 1];
}

// Keys that are all from `least` to `greatest`.
template <class K>
HWY_INLINE void sort_keys_within(const KeyCodec<K> &encode, const KeyCodec<K> &decode, const K *in_bits, K *out_bits,
                                 uint64_t n, LaneOf<K> least, LaneOf<K> greatest) {
  if (n == 0) return;
  const SortCoder<K> coder(encode, decode);
  if (HWY_UNLIKELY(may_be_one_value(in_bits, n)) && sort_one_value<K>(coder, in_bits, out_bits, n)) return;
  const LaneOf<K> *const in = reinterpret_cast<const LaneOf<K> *>(in_bits);
  LaneOf<K> *const out = reinterpret_cast<LaneOf<K> *>(out_bits);
  if (n <= kNetworkKeys<K>) {
#if GSORT_VECTOR_NUMBERS
    if constexpr (sizeof(K) == 8)
      if (NumberSort::pays(n) && NumberSort::serves(encode, decode) &&
          NumberSort(encode).sort_few(numbers(in_bits), numbers(out_bits), n))
        return;
#endif
    return sort_in_network<K, true>(coder, in, out, n);
  }
  const Pivot<K> drawn = choose_pivot<K, true>(coder, in, n);
  if (sort_two_values<K, true>(coder, in, out, n, drawn)) return;
#if GSORT_VECTOR_NUMBERS
  if constexpr (sizeof(K) == 8)
    if (NumberSort::pays(n) && NumberSort::serves(encode, decode) &&
        NumberSort(encode).sort_many(numbers(in_bits), numbers(out_bits), n, drawn.key))
      return;
#endif
  sort_many<K>(coder, in, out, n, drawn.key, least, greatest);
}
template <class K>
void sort_keys(const KeyCodec<K> &encode, const KeyCodec<K> &decode, const K *in, K *out, uint64_t n) {
  using Limits = std::numeric_limits<LaneOf<K>>;
  sort_keys_within<K>(encode, decode, in, out, n, Limits::min(), Limits::max());
}
template <class K>
void sort_part(const KeyCodec<K> &codec, K *keys, uint64_t n, InnerKey<K> least, InnerKey<K> greatest) {
  sort_keys_within<K>(codec, codec, keys, keys, n, least, greatest);
}

// The coders of the orders by number, as they are needed, so that a network reads its masks from where they stand.
template <class K>
SortCoder<K> constexpr numbered_coder(uint32_t order) {
  return {kNumberedCodecs<K>[order], kNumberedCodecs<K>[order]};
}
template <class K>
constexpr SortCoder<K> kNumberedCoders[kNumberedOrders] = {numbered_coder<K>(0), numbered_coder<K>(1),
                                                           numbered_coder<K>(2), numbered_coder<K>(3),
                                                           numbered_coder<K>(4), numbered_coder<K>(5)};

template <class K>
constexpr uint64_t kIntegersMax = ~uint64_t{0};
#if GSORT_VECTOR_NUMBERS
template <>
constexpr uint64_t kIntegersMax<uint64_t> = NumberSort::kIntegersMax;
#endif

template <class K>
void sort_few(uint32_t order, const K *in_bits, K *out_bits, uint64_t n) {
  if (n > kNetworkKeys<K>)
    return sort_keys<K>(kNumberedCodecs<K>[order], kNumberedCodecs<K>[order], in_bits, out_bits, n);
  if (n == 0) return;
  if (HWY_UNLIKELY(may_be_one_value(in_bits, n)) && sort_one_value<K>(kNumberedCoders<K>[order], in_bits, out_bits, n))
    return;
#if GSORT_VECTOR_NUMBERS
  if constexpr (sizeof(K) == 8) {
    constexpr uint32_t kFloats = static_cast<uint32_t>(Kind::kFloat) * 2;
    static constexpr NumberSort kSorts[] = {NumberSort(kNumberedCodecs<K>[kFloats]),
                                            NumberSort(kNumberedCodecs<K>[kFloats + 1])};
    if (order >= kFloats && NumberSort::pays(n) &&
        kSorts[order - kFloats].sort_few(numbers(in_bits), numbers(out_bits), n))
      return;
  }
#endif
  sort_in_network<K, true>(kNumberedCoders<K>[order], reinterpret_cast<const LaneOf<K> *>(in_bits),
                           reinterpret_cast<LaneOf<K> *>(out_bits), n);
}

// Writes what the coder makes of keys, in the order that they have.
template <class K>
HWY_NOINLINE void recode(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
  const KeyTag<K> d;
  size_t i = 0;
  for (; i + kLanes<K> <= n; i += kLanes<K>) hn::StoreU(coder.decode(coder.encode(hn::LoadU(d, in + i))), d, out + i);
  if (i < n) store_some<K>(coder.decode(load_some<K, true>(&coder, in + i, n - i)), out + i, n - i);
}

template <class K>
void decode_inner_keys(const KeyCodec<K> &decode, const K *in, K *out, uint64_t n) {
  recode<K>(SortCoder<K>(kInnerOrder<K>, decode), reinterpret_cast<const LaneOf<K> *>(in),
            reinterpret_cast<LaneOf<K> *>(out), n);
}

template <class Keys, class K = typename Keys::Key>
HWY_INLINE uint64_t split_at(const typename Keys::Coder &coder, const LaneOf<K> *in, LaneOf<K> *out, uint64_t n,
                             InnerKey<K> pivot) {
  if (n < 2 * kLongStepVectors * kLanes<K>) return partition_few<Keys>(coder, in, out, n, pivot);
  if (in != out) return partition_copy<Keys>(coder, in, out, n, pivot).lower;
  return partition_in_steps<Keys, kLongStepVectors>(coder, out, n, pivot).lower;
}

template <class K>
uint64_t split_keys(const KeyCodec<K> &codec, const K *in_bits, K *out_bits, uint64_t n, InnerKey<K> pivot,
                    const GoesOn &goes_on) {
  const LaneOf<K> *const in = reinterpret_cast<const LaneOf<K> *>(in_bits);
  LaneOf<K> *const out = reinterpret_cast<LaneOf<K> *>(out_bits);
  if (pivot == std::numeric_limits<InnerKey<K>>::max()) {  // partitions take it for what is beyond the end
    if (in != out) std::copy(in, in + n, out);
    return n;
  }
  if (codec.nan_count != 0) return split_at<RawKeys<K, true>>({codec, goes_on}, in, out, n, pivot);
  return split_at<RawKeys<K, false>>({codec, goes_on}, in, out, n, pivot);
}

#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_SORT_INL_H_
