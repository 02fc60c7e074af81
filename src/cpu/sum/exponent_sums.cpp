// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/sum/exponent_sums.h"

#include <cstring>
#include <initializer_list>

#include "cpu/engine/float_environment.h"

namespace gsort_internal {

namespace {

__extension__ typedef unsigned __int128 UInt128;

// value * 2^shift, of a shift from 1 to 63, in fewer instructions than compilers make of a shift of 128 bits.
Int128 shifted(int64_t value, uint32_t shift) {
  const uint64_t above = static_cast<uint64_t>(value >> (64 - shift));
  return static_cast<Int128>(static_cast<UInt128>(above) << 64 | static_cast<uint64_t>(value) << shift);
}

// What an element adds to its span, and where that begins.
struct SpanWords {
  uint32_t at;
  uint64_t low, high;
};
SpanWords span_words(uint64_t bits) {
  const uint32_t exponent = static_cast<uint32_t>(bits >> 52) & kSpecialExponent,
                 has_leading_bit = exponent != 0 ? 1 : 0, shift = (exponent | (1 - has_leading_bit)) % (1 << kSpanBits);
  const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | static_cast<uint64_t>(has_leading_bit) << 52;
  return {static_cast<uint32_t>(bits >> (52 + kSpanBits)) * 2,
          (mantissa << shift) & ((uint64_t{1} << kSpanLowBits) - 1), mantissa >> (kSpanLowBits - shift)};
}

constexpr uint64_t kDoubleUnit = uint64_t{1} << 52;
constexpr uint32_t kDoubleExponents = 1 << 11;

// Adds what is no normal number to the limbs, but for zeros.
void add_odd_ones(const double *x, uint32_t count, WideLimbs &limbs) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t magnitude = bits_of_double(x[i]) & ~kDoubleSign;
    const uint32_t is_odd = magnitude - kDoubleUnit >= kDoubleInf - kDoubleUnit ? 1 : 0;
    if ((is_odd & (magnitude != 0 ? 1u : 0u)) != 0) limbs.add(x[i]);
  }
}

// Adds what a bin has above 64 bits.
__attribute__((noinline, cold)) void add_carry(uint64_t bin, WideLimbs &limbs) {
  const Int128 carry = Int128{1} << 64;
  limbs.add_part(bin >= kDoubleExponents ? -carry : carry, static_cast<uint32_t>(bin % kDoubleExponents - 1));
}

constexpr uint32_t kLeastFloat = kSumOneBit - 149;  // its position

uint64_t total_of_bin(const uint64_t *bins, uint32_t bin) {
  uint64_t total = 0;
  for (uint32_t copy = 0; copy < kBinCopies; ++copy) total += bins[copy * kBinCopyWords + bin];
  return total;
}
// What an element adds, but for its fraction.
constexpr uint64_t one_of_bin(uint32_t bin) { return kBinOne + (uint64_t{bin} << 23); }
static_assert((uint64_t{kBinItemsMax} << 23) <= kBinOne, "all fractions are less than one element's part");
static_assert(one_of_bin(kBins) <= UINT64_MAX / kBinItemsMax, "sums fit 64 bits");

// The kernels where there are no vectors, or narrow ones.
void add_to_bins(const float *x, uint32_t count, uint64_t *bins) {
  const auto add_one = [bins](const float *from, uint64_t copy) {
    uint32_t bits;
    std::memcpy(&bits, from, sizeof bits);
    const uint64_t bin = bits >> kBinFractionBits;
    (bins + copy * kBinCopyWords)[bin] += bits + kBinOne;
  };
  uint64_t i = 0;
  for (; i + kBinCopies <= count; i += kBinCopies) {
    add_one(x + i, 0);
    add_one(x + i + 1, 1);
    add_one(x + i + 2, 2);
    add_one(x + i + 3, 3);
  }
  for (; i < count; ++i) add_one(x + i, 0);
}
void read_bins_one_by_one(const uint64_t *bins, uint64_t *words) {
  for (uint32_t group = 0; group < kBinGroups; ++group) {
    uint64_t low = 0, high = 0;
    for (uint32_t i = 0; i < kBinGroup; ++i) {
      const uint32_t bin = group * kBinGroup + i;
      const uint64_t total = total_of_bin(bins, bin);
      if (total == 0) continue;
      const uint64_t mantissas = total % one_of_bin(bin) + (total / one_of_bin(bin) << 23);
      low += (mantissas & 0xffffffffu) << i;
      high += (mantissas >> 32) << i;
    }
    words[2 * group] = low;
    words[2 * group + 1] = high;
  }
}

// What a bin of infinities and NaNs tells, as one of them.
double special_of(bool negative, bool has_fraction) {
  return double_of_bits(has_fraction ? kDoubleQuietNan : kDoubleInf | (negative ? kDoubleSign : 0));
}

// A sum in words of 32 bits from `first` to `end` - 1, the lower ones being zero, and -1 or 0 above them as `carry`.
// The first bit of word 0 is 2^(`position` - 1074). As WideLimbs::round().
bool round_words(uint32_t *word, uint32_t first, uint32_t end, int64_t carry, int32_t position, double &sum,
                 double &rest) {
  constexpr uint32_t kWordsMin = 5;  // whose last place is no subnormal number
  constexpr uint64_t kHalf = uint64_t{1} << 52;
  if (carry == -1) {
    uint64_t one = 1;
    for (uint32_t i = first; i < end; ++i) {
      one += ~word[i];
      word[i] = static_cast<uint32_t>(one);
      one >>= 32;
    }
  }
  uint32_t top = end;
  while (top > first && word[top - 1] == 0) --top;
  if (top == first || top-- < kWordsMin) return false;
  const auto word_at = [&](uint32_t i) { return i >= first ? uint64_t{word[i]} : 0; };
  const uint32_t zeros = static_cast<uint32_t>(__builtin_clz(word[top]));
  const uint64_t next = word_at(top - 2) << 32 | word_at(top - 3),
                 leading = (word_at(top) << 32 | word_at(top - 1)) << zeros | next >> 32 >> (32 - zeros);
  uint32_t sticky = 0;
  for (uint32_t i = first; i + 3 < top && sticky == 0; ++i) sticky = word[i];
  // The leading bits without the last 11 are the double's; of what is below them, 53 bits, the last of which is set if
  // anything is below it, so that what is not half of the double's last place does not become it.
  const uint64_t mantissa = leading >> 11, below = next << zeros,
                 left = (leading & 0x7ff) << 42 | below >> 22 | ((below << 42 | sticky) != 0 ? 1 : 0);
  const uint32_t shift = static_cast<uint32_t>(position + static_cast<int32_t>(top * 32 + 31 - zeros - 52));
  if (shift >= 2045) return false;
  const bool up = left > kHalf || (left == kHalf && (mantissa & 1) != 0);
  const uint64_t sign = carry != 0 ? kDoubleSign : 0;
  sum = double_of_bits(((static_cast<uint64_t>(shift) << 52) + mantissa + (up ? 1 : 0)) | sign);
  const double last_place = double_of_bits(static_cast<uint64_t>(shift - 51) << 52 | sign);
  rest = static_cast<double>(static_cast<int64_t>(left) - (up ? static_cast<int64_t>(2 * kHalf) : 0)) * 0x1p-53 *
         last_place;
  return true;
}

}  // namespace

void WideLimbs::begin() {
  if (used_) return;
  std::memset(limb_, 0, sizeof limb_);
  flags_ = 0;
  first_ = kSumLimbs, last_ = 0;
  used_ = true;
}

Int128 &WideLimbs::limb_at(uint32_t position) {
  const uint32_t limb = position >> 5;
  first_ = limb < first_ ? limb : first_;
  last_ = limb > last_ ? limb : last_;
  return limb_[limb];
}

void WideLimbs::add(double x) {
  begin();
  const uint64_t bits = bits_of_double(x);
  const uint32_t exponent = static_cast<uint32_t>(bits >> 52) & 0x7ff;
  if (exponent == 0x7ff) {
    flags_ |= sum_flags(bits);
    return;
  }
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const uint64_t mantissa = fraction | static_cast<uint64_t>(exponent != 0 ? 1 : 0) << 52;
  const int64_t sign = static_cast<int64_t>(bits) >> 63, value = (static_cast<int64_t>(mantissa) ^ sign) - sign;
  const uint32_t position = exponent - (exponent != 0 ? 1 : 0), shift = position & 31;
  const uint64_t above = static_cast<uint64_t>((value >> 32) >> (32 - shift));
  limb_at(position) += static_cast<Int128>(static_cast<UInt128>(above) << 64 | static_cast<uint64_t>(value) << shift);
}

void WideLimbs::note(uint32_t flags) {
  if (flags == 0) return;
  begin();
  flags_ |= flags;
}

void WideLimbs::add_part(Int128 value, uint32_t position) {
  begin();
  limb_at(position) += static_cast<Int128>(static_cast<UInt128>(value) << (position & 31));
}

void WideLimbs::add_spans(const int64_t *words, SpanRange range) {
  static_assert(kSpanBits == 5 && kSpanLowBits > 32 && kSpanLowBits <= 64, "spans are as long as limbs");
  uint32_t first = range.first, last = range.last;
  const auto is_zero = [words](uint32_t span) { return (words[2 * span] | words[2 * span + 1]) == 0; };
  while (first < last && is_zero(first)) ++first;
  while (first < last && is_zero(last)) --last;
  begin();
  const uint32_t lowest = first == 0 ? 0 : first - 1;
  first_ = first_ < lowest ? first_ : lowest;
  last_ = last_ > last + 1 ? last_ : last + 1;
  // The exponent of a bit's position is one more. In the first span nothing has the exponent 0: its sum is even.
  if (first == 0) {
    limb_[0] += words[0] / 2;
    limb_[1] += shifted(words[1], kSpanLowBits - 33);
    first = 1;
  }
  for (uint32_t span = first; span <= last; ++span) {
    limb_[span - 1] += shifted(words[2 * span], 31);
    limb_[span + 1] += shifted(words[2 * span + 1], kSpanLowBits - 33);
  }
}

void WideLimbs::move_to(Superaccumulator &sum) {
  if (!used_) return;
  used_ = false;
  sum.note(flags_, 0);
  sum.normalise();
  int64_t *const limbs = sum.limbs();
  Int128 carry = 0;
  for (uint32_t i = 0; i < kSumLimbs; ++i) {
    const Int128 whole = limb_[i] + carry + limbs[i];
    carry = whole >> 32;
    limbs[i] = i + 1 < kSumLimbs ? static_cast<int64_t>(whole & 0xffffffffu) : static_cast<int64_t>(whole);
  }
}

bool WideLimbs::round(double &sum, double &rest) const {
  if (!used_ || flags_ != 0) return false;
  uint32_t word[kSumLimbs];
  Int128 carry = 0;
  uint32_t end = first_;
  for (; end < kSumLimbs && (end <= last_ || (carry != 0 && carry != -1)); ++end) {
    const Int128 whole = limb_[end] + carry;
    word[end] = static_cast<uint32_t>(whole);
    carry = whole >> 32;
  }
  if (carry != 0 && carry != -1) return false;
  return round_words(word, first_, end, static_cast<int64_t>(carry), 0, sum, rest);
}

FewSpans::FewSpans(SpanRange range) : first_(range.first) {
  for (uint64_t *sums : {words_, words_ + 2 * kSpans}) {
    std::memset(sums + 2 * range.first, 0, (range.last - range.first + 1) * 2 * sizeof sums[0]);
    // Where kernels add zeros, infinities and NaNs.
    for (const uint32_t i : {0u, 1u, 2 * kSpans - 2, 2 * kSpans - 1}) sums[i] = 0;
  }
}

uint32_t FewSpans::add(double x) {
  const SpanWords words = span_words(bits_of_double(x));
  words_[words.at] += words.low;
  words_[words.at + 1] += words.high;
  return static_cast<uint32_t>(bits_of_double(x) >> 52) & kSpecialExponent;
}

bool FewSpans::round(uint32_t greatest, double &sum, double &rest) const {
  const auto difference = [this](uint32_t i) { return static_cast<int64_t>(words_[i] - words_[i + 2 * kSpans]); };
  const uint32_t last = greatest >> kSpanBits;
  if (last < first_) return false;  // zeros alone
  uint32_t first = first_;
  while (first < last && (difference(2 * first) | difference(2 * first + 1)) == 0) ++first;
  uint32_t word[kSpans + 2];
  int64_t carry = 0, above = 0;
  for (uint32_t span = first; span <= last; ++span) {
    const int64_t whole = carry + above + difference(2 * span);
    word[span] = static_cast<uint32_t>(whole);
    carry = whole >> 32;
    above = difference(2 * span + 1) * (int64_t{1} << (kSpanLowBits - 32));
  }
  carry += above;
  for (uint32_t span = last + 1; span <= last + 2; ++span) {
    word[span] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  return round_words(word, first, last + 3, carry, -1, sum, rest);
}

// Takes note of `count` elements more; whether the sums are to be cleared for them.
bool ExponentSums::begins(Kind kind, uint32_t count, WideLimbs &limbs) {
  if (kind_ == kind) {
    items_ += count;
    return false;
  }
  move_to(limbs);
  kind_ = kind;
  items_ = count;
  return true;
}

bool ExponentSums::add(const double *x, uint32_t count, WideLimbs &limbs) {
  constexpr uint64_t kTurn = 4, kStep = 64;
  if (begins(Kind::kByDoubleExponent, count, limbs)) std::memset(sums_, 0, sizeof sums_);
  uint64_t *const bins = sums_;
  const auto add_one = [bins, &limbs](double element) {
    const uint64_t bits = bits_of_double(element), bin = bits >> 52,
                   mantissa = (bits & (kDoubleUnit - 1)) | kDoubleUnit;
    if (__builtin_expect(__builtin_add_overflow(bins[bin], mantissa, &bins[bin]), 0)) add_carry(bin, limbs);
  };
  for (uint64_t step = 0; step < count; step += kStep) {
    const uint64_t end = count - step < kStep ? count : step + kStep;
    uint64_t i = step;
    for (; i + kTurn <= end; i += kTurn) {
      add_one(x[i]);
      add_one(x[i + 1]);
      add_one(x[i + 2]);
      add_one(x[i + 3]);
    }
    for (; i < end; ++i) add_one(x[i]);
    // The bins of no exponent, or of no number, hold nothing from step to step.
    constexpr uint32_t kOddBins[] = {0, kDoubleExponents - 1, kDoubleExponents, kDoubleBins - 1};
    uint64_t odd = 0;
    for (const uint32_t bin : kOddBins) odd |= bins[bin];
    if (odd == 0) continue;
    for (const uint32_t bin : kOddBins) bins[bin] = 0;
    add_odd_ones(x + step, static_cast<uint32_t>(end - step), limbs);
  }
  return true;
}

bool ExponentSums::add(const float *x, uint32_t count, WideLimbs &limbs) {
  if (begins(Kind::kByExponent, count, limbs)) {
    std::memset(sums_, 0, kBinWords * sizeof sums_[0]);
    windows_ = {};
  }
  const BinKernels *const kernels = bin_kernels();
  if (kernels == nullptr || kernels->add == nullptr) {
    add_to_bins(x, count, sums_);
    return true;
  }
  bool tells_all = true;
  for (uint32_t i = 0; i < count; i += kBinBlockItems) {
    const uint32_t items = count - i < kBinBlockItems ? count - i : kBinBlockItems;
    if (!kernels->add(x + i, items, sums_, &windows_)) tells_all = false;
  }
  return tells_all;
}

void ExponentSums::begin_spans(uint32_t count, SpanRange range, WideLimbs &limbs) {
  if (kind_ == Kind::kBySpan && copy_words_ == 0 && items_ + count > kOneCopyItems) move_to(limbs);
  if (!begins(Kind::kBySpan, count, limbs)) return;
  range_ = range;
  copy_words_ = count <= kOneCopyItems ? 0 : kSpanCopyWords;
  for (uint32_t copy = 0; copy < (copy_words_ == 0 ? 1 : kSpanCopies); ++copy)
    for (uint32_t sign = 0; sign < 2; ++sign) {
      uint64_t *const sums = sums_ + copy * kSpanCopyWords + sign * 2 * kSpans;
      std::memset(sums + 2 * range.first, 0, (range.last - range.first + 1) * 2 * sizeof sums[0]);
      // Where kernels add zeros, infinities and NaNs.
      for (const uint32_t i : {0u, 1u, 2 * kSpans - 2, 2 * kSpans - 1}) sums[i] = 0;
    }
}

void ExponentSums::add_to_span(double x, uint32_t i, WideLimbs &limbs) {
  if ((bits_of_double(x) & kDoubleInf) == kDoubleInf) return limbs.add(x);
  const SpanWords words = span_words(bits_of_double(x));
  uint64_t *const sum = sums_ + i % kSpanCopies * copy_words_ + words.at;
  sum[0] += words.low;
  sum[1] += words.high;
}

void ExponentSums::move_to(WideLimbs &limbs) {
  if (kind_ == Kind::kBySpan) move_spans(limbs);
  if (kind_ == Kind::kByExponent) move_bins(limbs);
  if (kind_ == Kind::kByDoubleExponent) move_doubles(limbs);
  kind_ = Kind::kNone;
}

void ExponentSums::move_doubles(WideLimbs &limbs) const {
  constexpr uint32_t kLimbBits = 32;
  for (const bool negative : {false, true})
    for (uint32_t position = 0; position < kDoubleExponents; position += kLimbBits) {
      // The exponent of a bit's position is one more. The last one of all is of no number, and holds nothing.
      const uint64_t *const bins = sums_ + (negative ? kDoubleExponents : 0) + position + 1;
      uint64_t low = 0, high = 0;
      for (uint32_t j = kLimbBits; j-- > 0;) {
        const uint64_t sum = position + j + 1 < kDoubleExponents ? bins[j] : 0;
        low = 2 * low + (sum & 0xffffffffu);
        high = 2 * high + (sum >> 32);
      }
      const Int128 sum = (static_cast<Int128>(high) << 32) + low;
      if (sum != 0) limbs.add_part(negative ? -sum : sum, position);
    }
}

void ExponentSums::move_spans(WideLimbs &limbs) const {
  static_assert(uint64_t{kSpanItemsMax} << kSpanLowBits <= uint64_t{1} << 62, "words of both signs keep theirs");
  int64_t words[2 * kSpans];
  const auto difference = [this](uint32_t i, uint32_t copy) {
    const uint64_t *const sums = sums_ + copy * kSpanCopyWords;
    return sums[i] - sums[i + 2 * kSpans];
  };
  const uint32_t begin = 2 * range_.first, end = 2 * range_.last + 2;
  if (copy_words_ == 0) {
    for (uint32_t i = begin; i < end; ++i) words[i] = static_cast<int64_t>(difference(i, 0));
  } else {
    static_assert(kSpanCopies == 4, "written out for the compiler's vectors");
    for (uint32_t i = begin; i < end; ++i)
      words[i] = static_cast<int64_t>(difference(i, 0) + difference(i, 1) + difference(i, 2) + difference(i, 3));
  }
  limbs.add_spans(words, range_);
}

// Those of zeros and subnormal numbers, which have no leading bit, and of infinities and NaNs. They are cleared.
void ExponentSums::move_odd_bins(bool negative, WideLimbs &limbs) {
  const uint32_t first = negative ? kBins / 2 : 0, last = first + kBins / 2 - 1;
  for (const uint32_t bin : {first, last}) {
    const uint64_t total = total_of_bin(sums_, bin);
    for (uint32_t copy = 0; copy < kBinCopies; ++copy) sums_[copy * kBinCopyWords + bin] = 0;
    if (total == 0) continue;
    const Int128 fractions = total % one_of_bin(bin);
    if (bin == last) {
      limbs.add(special_of(negative, fractions != 0));
    } else {
      limbs.add_part(negative ? -fractions : fractions, kLeastFloat);
    }
  }
}

// Parts of a double's precision at most: below the windows are multiples of 2^-149 up to 2^-117.
void ExponentSums::move_windows(WideLimbs &limbs) const {
  for (uint32_t w = 0; w < kBinWindows; ++w) {
    const int32_t last_bit = kBinWindowFirst - 52 - static_cast<int32_t>(w) * kBinWindowBits;
    if (windows_.units[w] != 0)
      limbs.add_part(windows_.units[w], static_cast<uint32_t>(last_bit + static_cast<int32_t>(kSumOneBit)));
  }
  if (windows_.below != 0) limbs.add(windows_.below);
}

void ExponentSums::move_bins(WideLimbs &limbs) {
  move_odd_bins(false, limbs);
  move_odd_bins(true, limbs);
  move_windows(limbs);
  const RoundingWatch watch;  // a kernel rounds
  const BinKernels *const kernels = bin_kernels();
  uint64_t words[2 * kBinGroups];
  (kernels != nullptr ? kernels->read : read_bins_one_by_one)(sums_, words);
  for (uint32_t group = 0; group < kBinGroups / 2; ++group) {
    const uint64_t *const plus = words + 2 * group, *const minus = plus + kBinGroups;
    const Int128 low = static_cast<Int128>(plus[0]) - minus[0], high = static_cast<Int128>(plus[1]) - minus[1];
    // The exponent of a bit's position is one more.
    if ((low | high) != 0) limbs.add_part(high * (int64_t{1} << 32) + low, kLeastFloat - 1 + group * kBinGroup);
  }
}

}  // namespace gsort_internal
