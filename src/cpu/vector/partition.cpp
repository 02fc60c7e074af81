// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/partition.h"

#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/partition.cpp"
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

using Word = uint64_t;
constexpr size_t kWide = HWY_MAX_BYTES / sizeof(Word);
static_assert(kWide <= kPartitionRoom, "a whole vector is written");

// Writes a vector's words up to the pivot to `lower` and the others to `upper`, both in the order that they have, and a
// whole vector to each. Vectors are written no earlier than read: fewer words are lower ones than were read.
HWY_INLINE void put(KeyVec<Word> v, KeyVec<Word> pivot, int64_t *&lower, int64_t *&upper) {
  const KeyTag<Word> d;
  const auto above = hn::Gt(v, pivot);
  const size_t aboves = hn::CountTrue(d, above);
#if HWY_TARGET == HWY_AVX3
  hn::StoreU(compress_lanes<Word>(hn::Not(above), v), d, lower);
  hn::StoreU(compress_lanes<Word>(above, v), d, upper);
#else
  hn::StoreU(partition_lanes<Word>(above, v), d, lower);
  hn::StoreU(partition_lanes<Word>(hn::Not(above), v), d, upper);
#endif
  lower += kWide - aboves;
  upper += aboves;
}

uint64_t split(int64_t *words, uint64_t n, int64_t pivot_word, int64_t *upper) {
  const KeyTag<Word> d;
  const auto pivot = hn::Set(d, pivot_word);
  int64_t *lower = words;
  uint64_t i = 0;
  for (; i + 4 * kWide <= n; i += 4 * kWide) {
    const auto a = hn::LoadU(d, words + i), b = hn::LoadU(d, words + i + kWide);
    const auto c = hn::LoadU(d, words + i + 2 * kWide), e = hn::LoadU(d, words + i + 3 * kWide);
    put(a, pivot, lower, upper);
    put(b, pivot, lower, upper);
    put(c, pivot, lower, upper);
    put(e, pivot, lower, upper);
  }
  for (; i < n; ++i) {
    const int64_t word = words[i];
    const bool stays = word <= pivot_word;
    *(stays ? lower : upper) = word;
    lower += stays;
    upper += !stays;
  }
  return static_cast<uint64_t>(lower - words);
}

}  // namespace

extern const PartitionKernels kPartition;
const PartitionKernels kPartition = {split, HWY_TARGET == HWY_AVX3};
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(PartitionKernels, partition_kernels, uint64_t, kPartition)
}  // namespace gsort_internal
#endif
