// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/rank.h"

#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/rank.cpp"
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

template <class K>
constexpr uint32_t kWide = HWY_MAX_BYTES / sizeof(K);

// What is added up lane by lane: minus one where a mask is set.
template <class K, class M>
HWY_INLINE void count_down(KeyVec<K> &count, M mask) {
  count = hn::Add(count, hn::VecFromMask(KeyTag<K>(), mask));
}

// All ones from the middle on: a vector from j before the middle on has them behind lane j - 1.
template <class K>
struct Stairs {
  LaneOf<K> steps[2 * kWide<K>] = {};
  constexpr Stairs() {
    for (uint32_t i = kWide<K>; i < 2 * kWide<K>; ++i) steps[i] = -1;
  }
};
template <class K>
HWY_ALIGN constexpr Stairs<K> kStairs;

// A vector of keys, and what is known of how many keys come before them.
template <class K>
struct Ranked {
  KeyVec<K> keys;
  KeyVec<K> after = hn::Zero(KeyTag<K>());   // minus the number of keys from before this vector that come after
  KeyVec<K> before = hn::Zero(KeyTag<K>());  // minus the number of keys of this vector and behind it that come before

  HWY_INLINE void meet_earlier(KeyVec<K> other) { count_down<K>(after, hn::Gt(other, keys)); }
  HWY_INLINE void meet_later(KeyVec<K> other) { count_down<K>(before, hn::Gt(keys, other)); }
  // The key of this vector's lane j: of equal keys it comes before those of the lanes behind.
  HWY_INLINE void meet_own(KeyVec<K> other, uint32_t j) {
    const KeyTag<K> d;
    const auto behind = hn::LoadU(d, kStairs<K>.steps + (kWide<K> - 1 - j));
    const auto same = hn::And(hn::VecFromMask(d, hn::Eq(keys, other)), behind);
    before = hn::Add(before, hn::Or(hn::VecFromMask(d, hn::Gt(keys, other)), same));
  }
  HWY_INLINE void store(uint32_t first, K *ranks) const {
    const KeyTag<K> d;
    const auto all_earlier = hn::Set(d, static_cast<LaneOf<K>>(first));
    hn::StoreU(hn::Sub(hn::Add(all_earlier, after), before), d, reinterpret_cast<LaneOf<K> *>(ranks) + first);
  }
};

// The keys in their order, whole vectors; behind the last one anything.
template <class K, bool kNanLast>
HWY_INLINE void encode_all(const KeyCodec<K> &codec, const K *keys, uint32_t n, LaneOf<K> *ordered) {
  const KeyTag<K> d;
  constexpr uint32_t wide = kWide<K>;
  const KeyEncoder<K, kNanLast> encode(codec);
  uint32_t i = 0;
  for (; i + wide <= n; i += wide) hn::Store(encode(load_bits(keys + i)), d, ordered + i);
  if (i == n) return;
#if GSORT_VECTOR_MASKED_MEMORY
  const auto *const from = reinterpret_cast<const LaneOf<K> *>(keys + i);
  hn::Store(encode(hn::MaskedLoad(hn::FirstN(d, n - i), d, from)), d, ordered + i);
#else
  HWY_ALIGN K last[wide] = {};
  for (uint32_t j = 0; j < n - i; ++j) last[j] = keys[i + j];
  hn::Store(encode(load_bits(last)), d, ordered + i);
#endif
}

template <class K, bool kNanLast>
HWY_NOINLINE void find_ranks(const KeyCodec<K> &codec, const K *keys, uint32_t n, K *ranks) {
  const KeyTag<K> d;
  constexpr uint32_t wide = kWide<K>;
  HWY_ALIGN LaneOf<K> ordered[kRankItemsMax + 2 * wide];
  encode_all<K, kNanLast>(codec, keys, n, ordered);
  // Two vectors at a time, which share the other keys' loads; the second one may lie behind all keys.
  for (uint32_t begin = 0; begin < n; begin += 2 * wide) {
    const uint32_t middle = begin + wide < n ? begin + wide : n, end = begin + 2 * wide < n ? begin + 2 * wide : n;
    Ranked<K> a{hn::Load(d, ordered + begin)}, b{hn::Load(d, ordered + begin + wide)};
    uint32_t j = 0;
    HWY_UNROLL(4)
    for (; j < begin; ++j) {
      const auto other = hn::Set(d, ordered[j]);
      a.meet_earlier(other), b.meet_earlier(other);
    }
    HWY_UNROLL(4)
    for (; j < middle; ++j) {
      const auto other = hn::Set(d, ordered[j]);
      a.meet_own(other, j - begin), b.meet_earlier(other);
    }
    HWY_UNROLL(4)
    for (; j < end; ++j) {
      const auto other = hn::Set(d, ordered[j]);
      a.meet_later(other), b.meet_own(other, j - middle);
    }
    HWY_UNROLL(4)
    for (; j < n; ++j) {
      const auto other = hn::Set(d, ordered[j]);
      a.meet_later(other), b.meet_later(other);
    }
    a.store(begin, ranks);
    if (middle < end) b.store(begin + wide, ranks);
  }
}

template <class K>
void ranks(const KeyCodec<K> &codec, const K *keys, uint32_t n, K *ranks) {
  return codec.nan_count != 0 ? find_ranks<K, true>(codec, keys, n, ranks)
                              : find_ranks<K, false>(codec, keys, n, ranks);
}

// Up to which words of keys and places are not quicker yet, measured with AVX2.
template <class K>
constexpr uint32_t kItemsMax = (sizeof(K) == 4 ? 32 : 24) / (HWY_MAX_BYTES >= 32 ? 1 : 2);

}  // namespace

extern const RankKernels<uint32_t> kRank32;
extern const RankKernels<uint64_t> kRank64;
#if HWY_TARGET == HWY_AVX3 && (HWY_TARGETS & HWY_AVX2) != 0  // few keys leave fewer lanes of narrow vectors idle
const RankKernels<uint32_t> kRank32 = {N_AVX2::ranks<uint32_t>, kItemsMax<uint32_t>};
const RankKernels<uint64_t> kRank64 = {N_AVX2::ranks<uint64_t>, kItemsMax<uint64_t>};
#else
const RankKernels<uint32_t> kRank32 = {ranks<uint32_t>, kItemsMax<uint32_t>};
const RankKernels<uint64_t> kRank64 = {ranks<uint64_t>, kItemsMax<uint64_t>};
#endif
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(RankKernels<uint32_t>, rank_kernels, uint32_t, kRank32)
GSORT_DEFINE_KERNELS_OF(RankKernels<uint64_t>, rank_kernels, uint64_t, kRank64)
}  // namespace gsort_internal
#endif
