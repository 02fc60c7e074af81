// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/spans.h"

#include <cstddef>
#include <type_traits>

#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#ifndef GSORT_CPU_VECTOR_SPANS_TABLE_
#define GSORT_CPU_VECTOR_SPANS_TABLE_
namespace gsort_internal {
// In the order of FoldType.
struct SpansTable {
  AddToSpans of_type[4];
  bool is_wide;
};
}  // namespace gsort_internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/spans.cpp"
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/vector/widen-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
namespace {

// No wider, as every element is an addition of 16 bytes of its own: eight lanes take as long as four.
using DoubleTag = hn::CappedTag<double, 4>;
using BitsTag = hn::RebindToUnsigned<DoubleTag>;
using HalvesTag = hn::Repartition<uint32_t, BitsTag>;
using Bits = hn::Vec<BitsTag>;
using TwoTag = hn::Full128<uint64_t>;
constexpr size_t kLanes = hn::MaxLanes(DoubleTag());
constexpr size_t kStep = kSpanCopies;
static_assert(kLanes == 2 || kLanes == 4, "pairs of words are taken out of one or two blocks");
static_assert(kStep % kLanes == 0, "a step goes to each copy once");

HWY_INLINE Bits constant(uint64_t value) { return hn::Set(BitsTag(), value); }
// Of numbers below 2^32, of which there are instructions for halves on every target.
HWY_INLINE Bits lesser(Bits a, Bits b) {
  const HalvesTag d;
  return hn::BitCast(BitsTag(), hn::Min(hn::BitCast(d, a), hn::BitCast(d, b)));
}
HWY_INLINE Bits greater(Bits a, Bits b) {
  const HalvesTag d;
  return hn::BitCast(BitsTag(), hn::Max(hn::BitCast(d, a), hn::BitCast(d, b)));
}

// `element` points to the bits of a double, the first 7 of which are the span's number.
HWY_INLINE void add_words(const void *element, hn::Vec<TwoTag> words, uint64_t *sums) {
  static_assert(kSpanBits == 5 && kSpans == 64, "the first 7 bits");
  uint16_t top = 0;
  __builtin_memcpy(&top, static_cast<const char *>(element) + 6, sizeof top);
  uint64_t *const sum = reinterpret_cast<uint64_t *>(reinterpret_cast<char *>(sums) + ((top & 0xfe00u) >> 5));
  const TwoTag d;
  hn::Store(hn::Add(hn::Load(d, sum), words), d, sum);
}

struct Copies {
  uint64_t *sums;
  size_t words;  // from one to the next

  HWY_INLINE uint64_t *at(size_t copy) const { return sums + copy * words; }
};

// Adds a vector of elements, each to a copy from `copies` on.
template <class D>
HWY_INLINE void add_vector(D d, const void *elements, hn::Vec<D> bits, Copies copies, hn::Vec<D> &greatest) {
  const auto one = constant(1), exponent = hn::And(hn::ShiftRight<52>(bits), constant(kSpecialExponent));
  greatest = greater(greatest, exponent);
  const auto fraction = hn::And(bits, constant((uint64_t{1} << 52) - 1)),
             mantissa = hn::Or(fraction, hn::ShiftLeft<52>(lesser(exponent, one))),
             shift = hn::And(greater(exponent, one), constant((1 << kSpanBits) - 1)),
             low = hn::And(hn::Shl(mantissa, shift), constant((uint64_t{1} << kSpanLowBits) - 1)),
             high = hn::Shr(mantissa, hn::Sub(constant(kSpanLowBits), shift));
  const auto even = hn::InterleaveLower(d, low, high), odd = hn::InterleaveUpper(d, low, high);
  const char *const first = static_cast<const char *>(elements);
  if constexpr (hn::MaxLanes(d) == 2) {
    add_words(first, even, copies.at(0));
    add_words(first + 8, odd, copies.at(1));
  } else {
    const hn::Half<D> half;
    add_words(first, hn::LowerHalf(half, even), copies.at(0));
    add_words(first + 8, hn::LowerHalf(half, odd), copies.at(1));
    add_words(first + 16, hn::UpperHalf(half, even), copies.at(2));
    add_words(first + 24, hn::UpperHalf(half, odd), copies.at(3));
  }
}

template <class F>
HWY_INLINE void add_step(const F *x, Copies copies, Bits &greatest) {
  const DoubleTag d;
  const BitsTag d_bits;
  for (size_t i = 0; i < kStep; i += kLanes) {
    const auto bits = hn::BitCast(d_bits, load_widened(d, x + i));
    const Copies some = {copies.at(i), copies.words};
    if constexpr (std::is_same<F, double>::value) {
      add_vector(d_bits, x + i, bits, some, greatest);
    } else {
      HWY_ALIGN uint64_t widened[kLanes];
      hn::Store(bits, d_bits, widened);
      add_vector(d_bits, widened, bits, some, greatest);
    }
  }
}

template <class F>
HWY_NOINLINE uint32_t add_to_spans(const void *array, uint32_t items, uint64_t *sums, size_t copy_words) {
  const Copies copies = {sums, copy_words};
  const F *const x = static_cast<const F *>(array);
  Bits greatest = hn::Zero(BitsTag());
  size_t i = 0;
  for (; i + kStep <= items; i += kStep) add_step(x + i, copies, greatest);
  if (i < items) {
    F last[kStep] = {};
    __builtin_memcpy(last, x + i, (items - i) * sizeof(F));
    add_step(last, copies, greatest);
  }
  return static_cast<uint32_t>(hn::GetLane(hn::MaxOfLanes(HalvesTag(), hn::BitCast(HalvesTag(), greatest))));
}

}  // namespace

extern const SpansTable kToSpans;
const SpansTable kToSpans = {
    {add_to_spans<hwy::float16_t>, add_to_spans<hwy::bfloat16_t>, add_to_spans<float>, add_to_spans<double>},
    kLanes == 4};
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort_internal {
static const SpansTable *picked_table() {
  static const SpansTable *const table[] = GSORT_VECTOR_TABLE(kToSpans);
  return pick_kernels(table);
}
AddToSpans add_to_spans_kernel(FoldType type) {
  const SpansTable *const picked = picked_table();
  return picked == nullptr ? nullptr : picked->of_type[static_cast<uint32_t>(type)];
}
bool spans_are_wide() {
  const SpansTable *const picked = picked_table();
  return picked != nullptr && picked->is_wide;
}
}  // namespace gsort_internal
#endif  // HWY_ONCE

#else  // GSORT_HIGHWAY

namespace gsort_internal {
AddToSpans add_to_spans_kernel(FoldType) { return nullptr; }
bool spans_are_wide() { return false; }
}  // namespace gsort_internal

#endif  // GSORT_HIGHWAY
