// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/pairs.h"

#include "cpu/vector/few.h"
#include "cpu/vector/sort.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/pairs.cpp"
// Others have no permutations of words by a vector.
#undef GSORT_VECTOR_PAIRS
#define GSORT_VECTOR_PAIRS (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/vector/few_table-inl.h"
#include "cpu/vector/network-inl.h"
#include "cpu/vector/pair_narrow-inl.h"
#include "cpu/vector/pair_ranks-inl.h"
#include "cpu/vector/pair_row-inl.h"
#include "cpu/vector/pair_words-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
#if GSORT_VECTOR_PAIRS
namespace {

using Key = KeyVec<uint32_t>;
constexpr size_t kWide = kLanes<uint32_t>;

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
  // True, for a tail call.
  static HWY_NOINLINE bool run(const SortCoder<uint32_t> &coder, const uint32_t *keys, const uint32_t *values,
                               uint32_t n, uint32_t *keys_out, uint32_t *values_out) {
    Key key[kGroups], value[kGroups];
    KeyVec<KeyAsNumber> words[2 * kRows];
    load<0>(coder, keys, values, n, key, value, words);
    sort_columns<KeyAsNumber, 0, kRows>(words);
    merge_columns<KeyAsNumber, kRows, 2>(words);
    Transpose<KeyAsNumber, kRows>::run(words);
    store<0>(words, n, key, value, keys_out, values_out);
    return true;
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

  template <size_t kGroup>
  static HWY_INLINE void store(const KeyVec<KeyAsNumber> *words, uint32_t n, const Key *key, const Key *value,
                               uint32_t *keys_out, uint32_t *values_out) {
    if constexpr (kGroup < kGroups) {
      const KeyTag<uint32_t> d;
      constexpr size_t kBegin = kGroup * kWide;
      const auto low = hn::BitCast(d, words[2 * kGroup]), high = hn::BitCast(d, words[2 * kGroup + 1]);
      if (kBegin > 0 && n <= kBegin) return;
      const auto places = hn::ConcatEven(d, high, low);
      const auto lanes = lanes_of_places<uint32_t>(places);
      store_up_to<uint32_t>(fetch_lanes<uint32_t, kGroups>(key, places, lanes), keys_out + kBegin, n - kBegin);
      store_up_to<uint32_t>(fetch_lanes<uint32_t, kGroups>(value, places, lanes), values_out + kBegin, n - kBegin);
      store<kGroup + 1>(words, n, key, value, keys_out, values_out);
    }
  }
};

// Ranks are quickest where keys fill the vectors, networks where fewer of their steps cross lanes; and processors with
// wide vectors have narrow ones, too. See processor_is_of_amd.
#undef GSORT_NARROW_PAIRS
#if HWY_TARGET == HWY_AVX3 && (HWY_TARGETS & HWY_AVX2) != 0
#define GSORT_NARROW_PAIRS 1
#else
#define GSORT_NARROW_PAIRS 0
#endif

HWY_INLINE bool sort_pairs(uint32_t order, const uint32_t *keys, const uint32_t *values, uint32_t n, uint32_t *keys_out,
                           uint32_t *values_out) {
  const SortCoder<uint32_t> &coder = kFewCoders<uint32_t>[order];
#if GSORT_NARROW_PAIRS
  if (n >= NarrowPairs::kPairsMin && n <= NarrowPairs::kPairsMax && processor_is_of_amd.load(std::memory_order_relaxed))
    return NarrowPairs::run(coder, keys, values, n, keys_out, values_out);
  if (n <= kWide / 4 * 3) return N_AVX2::kPairs32.sort(order, keys, values, n, keys_out, values_out);
#endif
#if HWY_TARGET == HWY_AVX2
  if (n <= kWide) return RankSort<uint32_t, 1>::run(coder, keys, values, n, keys_out, values_out);
#else
  if (n <= kWide) return PairSort<2>::run(coder, keys, values, n, keys_out, values_out);
#endif
  if (n <= 2 * kWide) return PairSort<4>::run(coder, keys, values, n, keys_out, values_out);
#if HWY_TARGET == HWY_AVX2
  if (n <= 4 * kWide) return PairSort<8>::run(coder, keys, values, n, keys_out, values_out);
#else
  if (n <= 4 * kWide) return WordNetwork<uint32_t, 4>::run(coder, keys, values, n, keys_out, values_out);
#endif
  if (n <= 8 * kWide) return WordNetwork<uint32_t, 8>::run(coder, keys, values, n, keys_out, values_out);
  return WordNetwork<uint32_t, 16>::run(coder, keys, values, n, keys_out, values_out);
}

#if GSORT_NARROW_PAIRS
HWY_NOINLINE bool sort_narrow_pairs(uint32_t order, const uint64_t *keys, const uint64_t *values, uint32_t n,
                                    uint64_t *keys_out, uint64_t *values_out) {
  return NarrowPairs::run(kFewCoders<uint64_t>[order], keys, values, n, keys_out, values_out) ||
         N_AVX2::kPairs64.sort(order, keys, values, n, keys_out, values_out);
}
#endif

// Up to which ranks in memory are quicker than words, but where so many are sorted with nothing else to do.
constexpr uint32_t kLongRankItemsMax = 20;

HWY_INLINE bool sort_pairs(uint32_t order, const uint64_t *keys, const uint64_t *values, uint32_t n, uint64_t *keys_out,
                           uint64_t *values_out) {
#if HWY_TARGET == HWY_AVX3
  if (n > 2 * kLanes<uint64_t> && n <= kLongRankItemsMax) return false;
  if (n > 4 * kLanes<uint64_t>)
    return WordNetwork<uint64_t, 8>::run(kFewCoders<uint64_t>[order], keys, values, n, keys_out, values_out);
  if (n > kLongRankItemsMax)
    return WordNetwork<uint64_t, 4>::run(kFewCoders<uint64_t>[order], keys, values, n, keys_out, values_out);
#endif
  const SortCoder<uint64_t> &coder = kFewCoders<uint64_t>[order];
  constexpr uint32_t kLongWide = kLanes<uint64_t>;
#if GSORT_NARROW_PAIRS
  // So many leave wide vectors empty in part.
  if (n <= kLongWide / 2 || (n > kLongWide && n <= kLongWide / 2 * 3))
    return N_AVX2::kPairs64.sort(order, keys, values, n, keys_out, values_out);
  if (n > kLongWide && processor_is_of_amd.load(std::memory_order_relaxed))
    return sort_narrow_pairs(order, keys, values, n, keys_out, values_out);
#endif
  if (n <= kLongWide) return RankSort<uint64_t, 1>::run(coder, keys, values, n, keys_out, values_out);
#if HWY_TARGET == HWY_AVX2
  if (n > 3 * kLongWide) return RankSort<uint64_t, 4>::run(coder, keys, values, n, keys_out, values_out);
  if (n > 2 * kLongWide) return RankSort<uint64_t, 3>::run(coder, keys, values, n, keys_out, values_out);
#endif
  return RankSort<uint64_t, 2>::run(coder, keys, values, n, keys_out, values_out);
}

template <class K>
constexpr uint32_t kPairItems = (sizeof(K) == 4           ? 16
                                 : HWY_TARGET == HWY_AVX3 ? 8
                                                          : 4) *
                                kLanes<K>;

// Of kN records, so that nothing is left to find out but the order.
template <class K, bool>
struct ChooseSort {
  static constexpr bool kKnowsPlain = false;
  static constexpr uint32_t kItemsMax = kPairItems<K> < kFewMax ? kPairItems<K> : kFewMax;

  template <size_t kN>
  static constexpr FewPairSort sort_of() {
    if constexpr (kN <= kItemsMax)
      return sort<kN>;
    else
      return nullptr;
  }

 private:
  template <size_t kN>
  static bool sort(uint32_t order, const void *keys_in, const void *values_in, uint32_t, void *keys_to,
                   void *values_to) {
    const K *const keys = static_cast<const K *>(keys_in), *const values = static_cast<const K *>(values_in);
    K *const keys_out = static_cast<K *>(keys_to), *const values_out = static_cast<K *>(values_to);
#if HWY_TARGET == HWY_AVX3
    const SortCoder<K> &coder = kFewCoders<K>[order];
    if constexpr (sizeof(K) == 4 && kN >= NarrowPairs::kPairsMin && kN <= NarrowPairs::kPairsMax)
      if (processor_is_of_amd.load(std::memory_order_relaxed))
        return NarrowPairs::sort(coder, keys, values, kN, keys_out, values_out);
    if constexpr (sizeof(K) == 8 && kN > 4 && kN <= 8)
      return PairRow<kN>::run(coder, keys, values, keys_out, values_out);
    if constexpr (sizeof(K) == 8 && kN > 16 && kN <= kLongRankItemsMax)
      return WordNetwork<K, 4>::run(coder, keys, values, kN, keys_out, values_out);
#endif
    return sort_pairs(order, keys, values, kN, keys_out, values_out);
  }
};

}  // namespace

extern const FewTable<FewPairSort> kFewPairs;
const FewTable<FewPairSort> kFewPairs = make_few_table<FewPairSort, ChooseSort>();
extern const PairKernels<uint32_t> kPairs32;
extern const PairKernels<uint64_t> kPairs64;
const PairKernels<uint32_t> kPairs32 = {sort_pairs, kPairItems<uint32_t>};
const PairKernels<uint64_t> kPairs64 = {sort_pairs, kPairItems<uint64_t>};
static_assert(kPairItems<uint64_t> <= kLongPairItemsMax);
#else
extern const FewTable<FewPairSort> kFewPairs;
const FewTable<FewPairSort> kFewPairs = {};
extern const PairKernels<uint32_t> kPairs32;
extern const PairKernels<uint64_t> kPairs64;
const PairKernels<uint32_t> kPairs32 = {nullptr, 0};
const PairKernels<uint64_t> kPairs64 = {nullptr, 0};
#endif
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(PairKernels<uint32_t>, pair_kernels, uint32_t, kPairs32)
GSORT_DEFINE_KERNELS_OF(PairKernels<uint64_t>, pair_kernels, uint64_t, kPairs64)
#if GSORT_HIGHWAY
const FewTables<FewPairSort> kFewPairSorts = few_tables_of<FewPairSort>(GSORT_VECTOR_TABLE(kFewPairs));
#else
const FewTables<FewPairSort> kFewPairSorts = few_tables_of<FewPairSort>({});
#endif
}  // namespace gsort_internal
#endif
