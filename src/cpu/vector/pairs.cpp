// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/pairs.h"

#include "cpu/vector/sort.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/pairs.cpp"
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/vector/network-inl.h"
// clang-format on

// Others have no permutations of words by a vector.
#undef GSORT_VECTOR_PAIRS
#define GSORT_VECTOR_PAIRS (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
#if GSORT_VECTOR_PAIRS
namespace {

using Key = KeyVec<uint32_t>;
constexpr size_t kWide = kLanes<uint32_t>;

constexpr SortCoder<uint32_t> coder_of(uint32_t order) {
  return {kNumberedCodecs<uint32_t>[order], kNumberedCodecs<uint32_t>[order]};
}
constexpr SortCoder<uint32_t> kCoders[kNumberedOrders] = {coder_of(0), coder_of(1), coder_of(2),
                                                          coder_of(3), coder_of(4), coder_of(5)};

// What is added to 32 * key for a word: the record's place, in the middle of the numbers from 1 to 2. Words so have the
// order of numbers, of which a minimum is one instruction.
struct Places {
  int64_t words[kPairItemsMax] = {};
  constexpr Places() {
    for (uint32_t i = 0; i < kPairItemsMax; ++i) words[i] = 0x3ff8000000000000 + i;
  }
};
HWY_ALIGN constexpr Places kPlaces;
constexpr int kPlaceBits = 5;
static_assert(kPairItemsMax == 1 << kPlaceBits, "places lie below the key");

// Records in kRows vectors of words of their keys and places: no two words are the same, so that a network, which
// leaves equal keys in any order, leaves the stable one. The records are then fetched from the registers.
template <size_t kRows>
class PairSort {
 public:
  static HWY_NOINLINE void run(const SortCoder<uint32_t> &coder, const uint32_t *keys, const uint32_t *values,
                               uint32_t n, uint32_t *keys_out, uint32_t *values_out) {
    Key key[kGroups], value[kGroups];
    KeyVec<KeyAsNumber> words[2 * kRows];
    load<0>(coder, keys, values, n, key, value, words);
    sort_columns<KeyAsNumber, 0, kRows>(words);
    merge_columns<KeyAsNumber, kRows, 2>(words);
    Transpose<KeyAsNumber, kRows>::run(words);
    store<0>(words, n, key, value, keys_out, values_out);
  }

 private:
  static constexpr size_t kGroups = kRows / 2;  // of records that are a vector of keys and two of words

  template <size_t kGroup>
  static HWY_INLINE void load(const SortCoder<uint32_t> &coder, const uint32_t *keys, const uint32_t *values,
                              uint32_t n, Key *key, Key *value, KeyVec<KeyAsNumber> *words) {
    if constexpr (kGroup < kGroups) {
      const KeyTag<uint32_t> d;
      constexpr size_t kBegin = kGroup * kWide;
      const auto *const keys_at = reinterpret_cast<const int32_t *>(keys) + kBegin;
      const auto *const values_at = reinterpret_cast<const int32_t *>(values) + kBegin;
      // More vectors than half of all are whole.
      if (kGroup < kGroups / 2 || n >= kBegin + kWide) {
        key[kGroup] = hn::LoadU(d, keys_at);
        value[kGroup] = hn::LoadU(d, values_at);
        set_words<kGroup>(coder.encode(key[kGroup]), words);
      } else {  // the greatest key behind the last, where places are greater, too
        const auto mask = hn::FirstN(d, n < kBegin ? 0 : n - kBegin);
        key[kGroup] = hn::MaskedLoad(mask, d, keys_at);
        value[kGroup] = hn::MaskedLoad(mask, d, values_at);
        const auto greatest = hn::Set(d, kGreatestLane<uint32_t>);
        set_words<kGroup>(hn::IfThenElse(mask, coder.encode(key[kGroup]), greatest), words);
      }
      load<kGroup + 1>(coder, keys, values, n, key, value, words);
    }
  }

  template <size_t kGroup>
  static HWY_INLINE void set_words(Key ordered, KeyVec<KeyAsNumber> *words) {
    const BitsTag<KeyAsNumber> d;
    const hn::Half<KeyTag<uint32_t>> half;
    const int64_t *const places = kPlaces.words + kGroup * kWide;
    const auto lower = hn::ShiftLeft<kPlaceBits>(hn::PromoteTo(d, hn::LowerHalf(half, ordered)));
    const auto upper = hn::ShiftLeft<kPlaceBits>(hn::PromoteTo(d, hn::UpperHalf(half, ordered)));
    words[2 * kGroup] = lanes_of<KeyAsNumber>(hn::Add(lower, hn::Load(d, places)));
    words[2 * kGroup + 1] = lanes_of<KeyAsNumber>(hn::Add(upper, hn::Load(d, places + kWide / 2)));
  }

  // What lies at the places of kCount vectors, `lanes` those within each.
  template <size_t kCount, class Lanes>
  static HWY_INLINE Key fetch(const Key *from, Key places, const Lanes &lanes) {
    if constexpr (kCount == 1) {
      return hn::TableLookupLanes(from[0], lanes);
    } else {
      constexpr int32_t kUpper = kCount / 2 * kWide;  // the bit of places in the upper half
      const KeyTag<uint32_t> d;
      const auto is_upper = hn::Gt(hn::And(places, hn::Set(d, kUpper)), hn::Zero(d));
      return hn::IfThenElse(is_upper, fetch<kCount / 2>(from + kCount / 2, places, lanes),
                            fetch<kCount / 2>(from, places, lanes));
    }
  }

  template <size_t kGroup>
  static HWY_INLINE void store(const KeyVec<KeyAsNumber> *words, uint32_t n, const Key *key, const Key *value,
                               uint32_t *keys_out, uint32_t *values_out) {
    if constexpr (kGroup < kGroups) {
      const KeyTag<uint32_t> d;
      constexpr size_t kBegin = kGroup * kWide;
      const auto low = hn::BitCast(d, words[2 * kGroup]), high = hn::BitCast(d, words[2 * kGroup + 1]);
      if (kBegin > 0 && n <= kBegin) return;
      const auto places = hn::ConcatEven(d, high, low);
      const auto lanes = hn::IndicesFromVec(d, hn::And(places, hn::Set(d, static_cast<int32_t>(kWide - 1))));
      put(fetch<kGroups>(key, places, lanes), keys_out + kBegin, n - kBegin);
      put(fetch<kGroups>(value, places, lanes), values_out + kBegin, n - kBegin);
      store<kGroup + 1>(words, n, key, value, keys_out, values_out);
    }
  }
  static HWY_INLINE void put(Key v, uint32_t *to, size_t count) {
    auto *const lanes = reinterpret_cast<int32_t *>(to);
    if (count >= kWide) return hn::StoreU(v, KeyTag<uint32_t>(), lanes);
    store_some<uint32_t>(v, lanes, count);
  }
};

void sort_pairs(uint32_t order, const uint32_t *keys, const uint32_t *values, uint32_t n, uint32_t *keys_out,
                uint32_t *values_out) {
  if (n <= kWide) return PairSort<2>::run(kCoders[order], keys, values, n, keys_out, values_out);
  if constexpr (kPairItemsMax > 2 * kWide)
    if (n > 2 * kWide) return PairSort<8>::run(kCoders[order], keys, values, n, keys_out, values_out);
  PairSort<4>::run(kCoders[order], keys, values, n, keys_out, values_out);
}

}  // namespace

extern const PairKernels kPairs;
const PairKernels kPairs = {sort_pairs};
#else
extern const PairKernels kPairs;
const PairKernels kPairs = {nullptr};
#endif
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
#if GSORT_HIGHWAY
const PairKernels *pair_kernels() {
  static const PairKernels *const table[] = GSORT_VECTOR_TABLE(kPairs);
  return pick_kernels(table);
}
#else
const PairKernels *pair_kernels() { return nullptr; }
#endif
}  // namespace gsort_internal
#endif
