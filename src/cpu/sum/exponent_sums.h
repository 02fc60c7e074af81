// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums of floats of any exponents, element by element.
#ifndef GSORT_CPU_SUM_EXPONENT_SUMS_H_
#define GSORT_CPU_SUM_EXPONENT_SUMS_H_

#include <cstdint>

#include "core/superaccumulator.h"
#include "cpu/vector/exponent_bins.h"
#include "cpu/vector/spans.h"

namespace gsort_internal {

__extension__ typedef __int128 Int128;

// The spans (cpu/vector/spans.h) that the finite elements of a type go to, but for zeros, which add nothing to the
// first.
struct SpanRange {
  uint32_t first, last;
};

// A Superaccumulator's limbs with room above each: an addition changes one of them, and none carries until all are
// read.
class WideLimbs {
 public:
  void reset() { used_ = false; }
  // Takes infinities and NaNs, too.
  void add(double x);
  // Takes infinities and NaNs alone, by the flags that they give.
  void note(uint32_t flags);
  // Whether there are any. Then the sum is one, whatever the other elements are.
  bool has_special() const { return used_ && flags_ != 0; }
  // Adds value * 2^(position - 1074), as a part; of magnitude up to 2^104, to which sums of bins add up.
  void add_part(Int128 value, uint32_t position);
  // Adds the two words of each span from the first to the last one: words[2 * span] and words[2 * span + 1], below
  // 2^62.
  void add_spans(const int64_t *words, SpanRange range);
  void move_to(Superaccumulator &sum);  // and reset
  // The sum rounded once, and what is left of it then to some 2^-44 of the last place, which is zero only if nothing is
  // left; by a way that is shorter than that of a Superaccumulator. False of zeros, infinities and NaNs, and at either
  // end of what a double holds.
  bool round(double &sum, double &rest) const;

 private:
  void begin();
  Int128 &limb_at(uint32_t position);

  Int128 limb_[kSumLimbs];
  uint32_t first_, last_;  // of the limbs that were added to
  bool used_;
  uint32_t flags_;
};

// Sums of mantissas, for what elements of any exponents are added to at the same speed (Neal, Fast exact summation
// using small and large superaccumulators, 2015): one for each span, or, of many elements of 4 bytes, and where vectors
// are narrow of 8, one for each sign and exponent, which is sooner done for an element, but later cleared and read.
// Elements of one type come between two resets. Not cleared before the first one comes.
class ExponentSums {
 public:
  void reset() { kind_ = Kind::kNone; }
  // Adds to sums by exponent, floats as in cpu/vector/exponent_bins.h, some of them to windows. Of doubles what has no
  // mantissa with a leading bit goes to the limbs, and what a sum has above 64 bits. Whether there is nothing to tell:
  // false if there may be infinities and NaNs that the sums tell nothing of.
  bool add(const float *x, uint32_t count, WideLimbs &limbs);
  bool add(const double *x, uint32_t count, WideLimbs &limbs);
  // Makes room for `count` elements in sums by span.
  void begin_spans(uint32_t count, SpanRange range, WideLimbs &limbs);
  // Where a kernel adds them, all or some, and the words from one copy to the next. Infinities and NaNs it adds as if
  // they were numbers, which does not show: where there are any, the result is one.
  uint64_t *spans() { return sums_; }
  uint32_t copy_words() const { return copy_words_; }
  // Adds element number i instead. Infinities and NaNs go to the limbs.
  void add_to_span(double x, uint32_t i, WideLimbs &limbs);
  // Whether there is no room for 2^18 elements and a block more.
  bool is_full() const {
    return kind_ != Kind::kNone && items_ >= (kind_ == Kind::kByExponent ? kBinItemsMax / 4 : kItemsMax / 2);
  }
  void move_to(WideLimbs &limbs);  // and reset

 private:
  enum class Kind : uint32_t { kNone, kBySpan, kByExponent, kByDoubleExponent };
  static constexpr uint32_t kDoubleBins = 1 << 12;
  static constexpr uint32_t kItemsMax = 1 << 20;
  static constexpr uint32_t kOneCopyItems = 512;  // up to which clearing and reading copies takes longer than waiting
  static constexpr uint32_t kBinWords = kBinCopies * kBinCopyWords;
  static_assert(kItemsMax <= kSpanItemsMax && (1 << 18) + kFoldItems <= kBinItemsMax / 4 * 3, "room for all items");
  static_assert(kBinWords <= kDoubleBins && kSpanWords <= kDoubleBins, "room for all kinds");
  bool begins(Kind kind, uint32_t count, WideLimbs &limbs);
  void move_spans(WideLimbs &limbs) const;
  void move_doubles(WideLimbs &limbs) const;
  void move_bins(WideLimbs &limbs);
  void move_odd_bins(bool negative, WideLimbs &limbs);
  void move_windows(WideLimbs &limbs) const;

  alignas(64) uint64_t sums_[kDoubleBins];
  BinWindows windows_;  // beside sums of floats by exponent
  uint32_t items_;
  SpanRange range_;
  uint32_t copy_words_;  // 0: there is one copy
  Kind kind_;
};

// One copy of the spans, for few elements: of those that no element went to none is read but to find the first.
class FewSpans {
 public:
  static constexpr uint32_t kItemsMax = 512;  // the sums and what they carry are less than 2^62

  explicit FewSpans(SpanRange range);
  // Where a kernel adds elements.
  uint64_t *words() { return words_; }
  // Adds an element instead, and returns its exponent.
  uint32_t add(double x);
  // As WideLimbs::round(), of finite elements, the greatest of which has the exponent `greatest`.
  bool round(uint32_t greatest, double &sum, double &rest) const;

 private:
  static_assert((uint64_t{kItemsMax} << 42) <= uint64_t{1} << 51 && kSpanLowBits == 42, "of either word");

  alignas(64) uint64_t words_[2 * 2 * kSpans];
  uint32_t first_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SUM_EXPONENT_SUMS_H_
