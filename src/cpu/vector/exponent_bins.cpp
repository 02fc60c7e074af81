// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/exponent_bins.h"

#include <cstddef>

#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#ifndef GSORT_CPU_VECTOR_EXPONENT_BINS_TABLE_
#define GSORT_CPU_VECTOR_EXPONENT_BINS_TABLE_
namespace gsort_internal {
struct BinsTable {
  ReadBins read;
};
}  // namespace gsort_internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/exponent_bins.cpp"
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::ScalableTag<uint64_t>;
using NumberTag = hn::ScalableTag<double>;
using Words = hn::Vec<WordTag>;
using Numbers = hn::Vec<NumberTag>;
constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(uint64_t);
static_assert(kBinGroup % kLanes == 0, "groups are whole vectors");

HWY_INLINE Numbers number(double value) { return hn::Set(NumberTag(), value); }

// The sums of mantissas, leading bits included, of bins whose sums are `totals`; `bin` are their numbers. In units of
// 2^23 an element is bin + 2^20, and less than one more; all fractions together are less than that, because there are
// 2^20 elements at most. So the quotient is the count, and 2^-20 at least below the next number.
HWY_INLINE Words mantissas(Words totals, Numbers bin) {
  static_assert(kBinItemsMax == 1 << 20 && kBinOne >> 23 == 1 << 20, "counts and quotients");
  const WordTag d;
  const NumberTag d_numbers;
  constexpr double kUnits = 0x1p52, kNearest = 0x1.8p52;
  const auto as_number = [&](Words below_2_52) {
    const auto bits = hn::Or(below_2_52, hn::BitCast(d, number(kUnits)));
    return hn::Sub(hn::BitCast(d_numbers, bits), number(kUnits));
  };
  const auto each = hn::Add(bin, number(0x1p20)), quotient = hn::Div(as_number(hn::ShiftRight<23>(totals)), each),
             below = hn::Sub(quotient, number(0.5 - 0x1p-22)),  // whose nearest number is the count
      count = hn::Sub(hn::Add(below, number(kNearest)), number(kNearest)),
             rest = hn::Mul(count, hn::Sub(each, number(1)));
  return hn::Sub(totals, hn::ShiftLeft<23>(hn::BitCast(d, hn::Add(rest, number(kUnits)))));
}

HWY_INLINE uint64_t sum_of(Words words) {
  uint64_t lanes[kLanes], sum = 0;
  hn::StoreU(words, WordTag(), lanes);
  for (const uint64_t lane : lanes) sum += lane;
  return sum;
}

// a * b of the lower halves.
HWY_INLINE Words product(Words a, Words b) {
  const hn::Repartition<uint32_t, WordTag> d;
  return hn::MulEven(hn::BitCast(d, a), hn::BitCast(d, b));
}

HWY_NOINLINE void read_bins(const uint64_t *bins, uint64_t *words) {
  const WordTag d;
  const auto first_powers = hn::Shl(hn::Set(d, 1), hn::Iota(d, 0));  // of two: shifts by multiplications
  auto bin = hn::Iota(NumberTag(), 0);
  for (size_t group = 0; group < kBinGroups; ++group) {
    auto low = hn::Zero(d), high = low, powers = first_powers;
    for (size_t i = 0; i < kBinGroup; i += kLanes) {
      const uint64_t *const from = bins + group * kBinGroup + i;
      auto totals = hn::LoadU(d, from);
      for (size_t copy = 1; copy < kBinCopies; ++copy)
        totals = hn::Add(totals, hn::LoadU(d, from + copy * kBinCopyWords));
      const auto sums = mantissas(totals, bin);
      low = hn::Add(low, product(sums, powers));
      high = hn::Add(high, product(hn::ShiftRight<32>(sums), powers));
      // Carried on, because compilers make such vectors in memory, word by word, and wait for them.
      bin = hn::Add(bin, number(kLanes));
      powers = hn::ShiftLeft<kLanes>(powers);
    }
    words[2 * group] = sum_of(low);
    words[2 * group + 1] = sum_of(high);
  }
}

}  // namespace

extern const BinsTable kBinKernels;
const BinsTable kBinKernels = {read_bins};
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort_internal {
ReadBins read_bins_kernel() {
  static const BinsTable *const table[] = GSORT_VECTOR_TABLE(kBinKernels);
  const BinsTable *const picked = pick_kernels(table);
  return picked == nullptr ? nullptr : picked->read;
}
}  // namespace gsort_internal
#endif  // HWY_ONCE

#else  // GSORT_HIGHWAY

namespace gsort_internal {
ReadBins read_bins_kernel() { return nullptr; }
}  // namespace gsort_internal

#endif  // GSORT_HIGHWAY
