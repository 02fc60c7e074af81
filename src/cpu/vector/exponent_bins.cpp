// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/exponent_bins.h"

#include <cstddef>

#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
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
// Wide vectors, and instructions of 64 bits that come with them.
#undef GSORT_BINS_AND_WINDOWS
#define GSORT_BINS_AND_WINDOWS (HWY_ARCH_X86_64 && (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3))
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::ScalableTag<uint64_t>;
using NumberTag = hn::ScalableTag<double>;
using Words = hn::Vec<WordTag>;
using Numbers = hn::Vec<NumberTag>;
constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(uint64_t);
static_assert(kBinGroup % kLanes == 0, "groups are whole vectors");

HWY_INLINE Numbers number(double value) { return hn::Set(NumberTag(), value); }

#if GSORT_BINS_AND_WINDOWS
// In each step window w takes what window w - 1 left in the step before, so that none waits for another.
struct Windows {
  Numbers sum[kBinWindows + 1], rest[kBinWindows + 1];
};
HWY_INLINE Numbers window_of(size_t window) {
  const int32_t exponent = kBinWindowFirst - static_cast<int32_t>(window) * kBinWindowBits;
  const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52 | uint64_t{1} << 51;
  return hn::BitCast(NumberTag(), hn::Set(WordTag(), bits));
}
template <size_t Window>
HWY_INLINE void pass(Windows &windows, Numbers x) {
  const auto one = hn::Set(NumberTag(), 1.0), sum = windows.sum[Window];
  const auto next = Window % 2 == 1 ? hn::MulAdd(x, one, sum) : hn::Add(sum, x);
  windows.rest[Window + 1] = hn::NegMulAdd(hn::Sub(next, sum), one, x);
  windows.sum[Window] = next;
}

// Where bins are. The instructions are written out, because one that shifts an element and leaves it where it is, which
// compilers do not take, saves one in five, and because windows' steps between them stay where they are.
struct Bins {
  uint64_t *bins;

  template <size_t Copy>
  HWY_INLINE void add(const float *from) const {
    uint64_t element, bin;
    __asm__ volatile(
        "movl %[from], %k[element]\n\t"
        "shrxq %[shift], %[element], %[bin]\n\t"
        "addq %[one], %[element]\n\t"
        "addq %[element], %c[copy](%[bins], %[bin], 8)"
        : [element] "=&r"(element), [bin] "=&r"(bin)
        : [from] "m"(*from), [shift] "r"(uint64_t{kBinFractionBits}), [one] "r"(kBinOne), [bins] "r"(bins),
          [copy] "i"(Copy * kBinCopyWords * sizeof(uint64_t))
        : "memory", "cc");
  }
  HWY_INLINE void add_two(const float *from) const {
    add<0>(from);
    add<1>(from + 1);
  }
  HWY_INLINE void add_other_two(const float *from) const {
    add<2>(from);
    add<3>(from + 1);
  }
};

constexpr size_t kStepBins = 12, kStep = kLanes + kStepBins;
static_assert((kBinBlockItems + kStep - 1) / kStep <= 1 << kFoldLaneBits, "a lane takes no more than it may");

HWY_INLINE void add_step(Numbers x, const float *to_bins, const Bins &bins, Windows &windows) {
  windows.sum[6] = hn::Add(windows.sum[6], windows.rest[6]);
  pass<5>(windows, windows.rest[5]);
  pass<4>(windows, windows.rest[4]);
  bins.add_two(to_bins);
  pass<3>(windows, windows.rest[3]);
  bins.add_other_two(to_bins + 2);
  pass<2>(windows, windows.rest[2]);
  bins.add_two(to_bins + 4);
  pass<1>(windows, windows.rest[1]);
  bins.add_other_two(to_bins + 6);
  pass<0>(windows, x);
  bins.add_two(to_bins + 8);
  bins.add_other_two(to_bins + 10);
}
HWY_INLINE void pass_all(Numbers x, Windows &windows) {
  windows.sum[6] = hn::Add(windows.sum[6], windows.rest[6]);
  pass<5>(windows, windows.rest[5]);
  pass<4>(windows, windows.rest[4]);
  pass<3>(windows, windows.rest[3]);
  pass<2>(windows, windows.rest[2]);
  pass<1>(windows, windows.rest[1]);
  pass<0>(windows, x);
}

// What a window's lanes hold, in units. Sums keep their window's exponent, so their bits differ from it by the number
// of units added; where they do not, there was an infinity or a NaN.
HWY_INLINE uint64_t units_of(Numbers sum, Numbers window, uint64_t &changed) {
  const WordTag d;
  HWY_ALIGN uint64_t lanes[kLanes];
  const auto units = hn::Sub(hn::BitCast(d, sum), hn::BitCast(d, window));
  hn::Store(units, d, lanes);
  uint64_t total = 0;
  for (const uint64_t lane : lanes) total += lane;
  hn::Store(hn::Xor(hn::BitCast(d, sum), hn::BitCast(d, window)), d, lanes);
  for (const uint64_t lane : lanes) changed |= lane >> 52;
  return total;
}

HWY_NOINLINE bool add_to_bins(const float *x, uint32_t items, uint64_t *bins, BinWindows *to) {
  const auto zero = hn::Zero(NumberTag());
  const Bins some = {bins};
  Windows windows = {{window_of(0), window_of(1), window_of(2), window_of(3), window_of(4), window_of(5), zero},
                     {zero, zero, zero, zero, zero, zero, zero}};
  size_t i = 0;
  for (; i + kStep <= items; i += kStep) {
    const auto widened = hn::PromoteTo(NumberTag(), hn::LoadU(hn::Rebind<float, NumberTag>(), x + i));
    add_step(widened, x + i + kLanes, some, windows);
  }
  for (; i < items; ++i) some.add<0>(x + i);
  for (size_t step = 0; step <= kBinWindows; ++step) pass_all(zero, windows);  // what is on its way
  static_assert(kBinWindows == 6, "one for each");
  uint64_t changed = 0;
  const uint64_t units[kBinWindows] = {
      units_of(windows.sum[0], window_of(0), changed), units_of(windows.sum[1], window_of(1), changed),
      units_of(windows.sum[2], window_of(2), changed), units_of(windows.sum[3], window_of(3), changed),
      units_of(windows.sum[4], window_of(4), changed), units_of(windows.sum[5], window_of(5), changed)};
  if (changed != 0) return false;
  for (size_t window = 0; window < kBinWindows; ++window) to->units[window] += static_cast<int64_t>(units[window]);
  to->below += hn::GetLane(hn::SumOfLanes(NumberTag(), windows.sum[6]));
  return true;
}
#endif

// The sums of mantissas, leading bits included, of bins whose sums are `totals`; `bin` are their numbers and a half. In
// units of 2^23 an element is bin - 1/2 + 2^20, and less than one more; all fractions together are less than that,
// because there are 2^19 elements at most. So the quotient by what is in the middle is the count to 1/4. The divisor's
// inverse is that of 2^20, and some terms of a series: what is left out is less than 2^-32 of it.
HWY_INLINE Words mantissas(Words totals, Numbers bin) {
  static_assert(kBinItemsMax == 1 << 19 && kBinOne >> kBinFractionBits == 1 << 20, "counts and quotients");
  const WordTag d;
  constexpr double kUnits = 0x1p52, kNearest = 0x1.8p52;
  const auto units_bits = hn::BitCast(d, number(kUnits)),
             units = hn::Or(hn::ShiftRight<kBinFractionBits>(totals), units_bits);
  const auto part = hn::Mul(bin, number(0x1p-20)), less = hn::Sub(part, hn::Mul(part, part)),
             inverse = hn::Sub(number(0x1p-20), hn::Mul(less, number(0x1p-20))),
             quotient = hn::Mul(hn::Sub(hn::BitCast(NumberTag(), units), number(kUnits)), inverse),
             count = hn::Sub(hn::Add(quotient, number(kNearest)), number(kNearest)),
             rest = hn::Mul(count, hn::Add(bin, number(0x1p20 - 1.5)));
  return hn::Sub(totals, hn::ShiftLeft<kBinFractionBits>(hn::BitCast(d, hn::Add(rest, number(kUnits)))));
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
  auto bin = hn::Add(hn::Iota(NumberTag(), 0), number(0.5));
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

extern const BinKernels kBinKernels;
#if GSORT_BINS_AND_WINDOWS
const BinKernels kBinKernels = {add_to_bins, read_bins};
#else
const BinKernels kBinKernels = {nullptr, read_bins};
#endif
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(BinKernels, bin_kernels, , kBinKernels)
}  // namespace gsort_internal
#endif
