// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/sum/exact_sum.h"

#include <atomic>
#include <cstring>
#include <type_traits>

#include "cpu/engine/float_environment.h"
#include "cpu/sum/floats.h"
#include "cpu/sum/leading_sum.h"
#include "cpu/vector/fold.h"

namespace gsort_internal {

namespace {

// Elements that are near each other, as they mostly are, are added up plainly, many lanes at a time and doubles in two
// parts: a double holds such sums, and the processor tells of every addition that had to round. What the lanes of many
// blocks hold is then a block itself.
//
// Other blocks are folded into windows of 52 bits from the greatest magnitude down: adding to a number so large that
// every addition rounds to the same multiple splits each element without error (Rump, Ogita, Oishi, Accurate
// floating-point summation, 2008). The least magnitude tells how many windows it takes until what is below them can be
// added plainly. Blocks that it takes too many for go to sums by exponent, or by span.

// Whether the processor keeps the record, found once. Threads that look at once find the same, and none waits for
// another, which after a fork might not be there.
bool rounding_is_recorded() {
  enum : uint32_t { kUnknown, kNo, kYes };
  static std::atomic<uint32_t> known{kUnknown};
  uint32_t found = known.load(std::memory_order_relaxed);
  if (found == kUnknown) {
    found = RoundingWatch().works() ? kYes : kNo;
    known.store(found, std::memory_order_relaxed);
  }
  return found == kYes;
}

// The kernels where there are no vectors.
Magnitudes plain_magnitudes(const void *array, uint32_t items) {
  const double *const x = static_cast<const double *>(array);
  Magnitudes m = {0, ~uint64_t{0}};
  for (uint32_t i = 0; i < items; ++i) {
    const uint64_t magnitude = bits_of_double(x[i]) & ~kDoubleSign;
    m.greatest = magnitude > m.greatest ? magnitude : m.greatest;
    m.least = magnitude - 1 < m.least - 1 ? magnitude : m.least;
  }
  return m;
}

void plain_fold(const void *array, uint32_t items, const double *windows, uint32_t count, Folded *folded) {
  constexpr uint32_t kLanes = kFoldItems >> kFoldLaneBits;
  const double *const x = static_cast<const double *>(array);
  double sums[kLanes][kWindowsMax + 1] = {};
  for (auto &lane : sums)
    for (uint32_t w = 0; w < count; ++w) lane[w] = windows[w];
  for (uint32_t i = 0; i < items; ++i) {
    double *const lane = sums[i % kLanes], rest = x[i];
    for (uint32_t w = 0; w < count; ++w) {
      const double next = lane[w] + rest;
      rest -= next - lane[w];
      lane[w] = next;
    }
    lane[count] += rest;
  }
  *folded = {};
  for (const auto &lane : sums) {
    for (uint32_t w = 0; w < count; ++w)
      folded->units[w] += static_cast<int64_t>(bits_of_double(lane[w]) - bits_of_double(windows[w]));
    folded->below += lane[count];
  }
}

constexpr FoldKernels kPlainFold = {plain_magnitudes, plain_fold, nullptr, nullptr, kFoldItems};

constexpr uint32_t span_of(int32_t exponent) {
  return static_cast<uint32_t>(exponent < -1023 ? 0 : exponent + 1023) >> kSpanBits;
}
template <class F>
constexpr SpanRange kSpanRange = {span_of(F::kLeastExponent), span_of(F::kGreatestExponent)};

// Whether what failed for a block is tried for the next one: not for some, and for more if it fails again.
class Trial {
 public:
  bool is_due() {
    if (wait_ == 0) return true;
    --wait_;
    return false;
  }
  // How many blocks it is not due for, up to `most`; they are taken to come next.
  uint32_t skip(uint32_t most) {
    const uint32_t blocks = wait_ < most ? static_cast<uint32_t>(wait_) : most;
    wait_ -= blocks;
    return blocks;
  }
  void worked() { next_ = kWaitMin; }
  void failed() {
    wait_ = next_;
    if (next_ < kWaitMax) next_ *= 4;
  }
  void give_up() { wait_ = UINT64_MAX; }

 private:
  static constexpr uint64_t kWaitMin = 4, kWaitMax = 64;
  uint64_t wait_ = 0, next_ = kWaitMin;
};

template <class F>
class RangeSum {
 public:
  RangeSum(SumScratch &scratch, bool tries_plainly) : scratch_(scratch), tries_plainly_(tries_plainly) {}

  // Up to 2^18 elements and a block. Short and long ones may come in any order.
  void add(const typename F::Bits *x, uint64_t count) {
    if (kernels_ == nullptr || !tries_plainly_ || !rounding_is_recorded()) plainly_.give_up();
    choose_sums(count);
    for (uint64_t i = 0; i < count;) i += add_some(x + i, count - i);
    if (lanes_ > 0) move_lanes();
    if (scratch_.by_exponent.is_full()) scratch_.by_exponent.move_to(scratch_.limbs);
  }

 private:
  static constexpr int32_t kExponentMin = -900, kExponentMax = 1000;  // windows stay among normal numbers

  // Where elements go that are too far from each other for windows, and how many windows are as quick.
  void choose_sums(uint64_t count) {
    // For fewer, clearing and reading a sum for each exponent take longer than adding elements to spans does.
    constexpr uint64_t kFloatsMin = 1 << 12, kFloatsMinBesideWindows = 7 << 8, kDoublesMin = 1 << 13;
    if constexpr (std::is_same<F, SingleFloats>::value) {
      const BinKernels *const kernels = count >= kFloatsMinBesideWindows ? bin_kernels() : nullptr;
      const bool has_windows = kernels != nullptr && kernels->add != nullptr;
      takes_bins_ = count >= kFloatsMin || has_windows;
      windows_max_ = !takes_bins_ ? kWindowsMax : has_windows ? 2 : 3;
    }
    if constexpr (std::is_same<F, DoubleFloats>::value) takes_bins_ = count >= kDoublesMin && !spans_are_wide();
  }

  // Adds a block, or as many as are not tried plainly and go one way, which is shorter than that of each. Returns how
  // many elements that were.
  uint64_t add_some(const typename F::Bits *x, uint64_t count) {
    const uint32_t first = count < kFoldItems ? static_cast<uint32_t>(count) : kFoldItems;
    if (plainly_.is_due()) {
      if (!add_plainly(x, first)) add_otherwise(x, first);
      return first;
    }
    const uint64_t blocks = 1 + plainly_.skip(kFoldGroupItems / kFoldItems - 1), group = blocks * kFoldItems;
    const uint32_t items = static_cast<uint32_t>(count < group ? count : group);
    add_otherwise(x, items);
    return items;
  }
  // Of elements that additions would round.
  void add_otherwise(const typename F::Bits *x, uint32_t count) {
    if (scratch_.limbs.has_special()) return scratch_.limbs.note(special_flags(x, count));
    if (folded_.is_due()) {
      const uint32_t done = fold_blocks(x, count);
      if (done == count) return;
      x += done;
      count -= done;
    } else {
      folded_.skip((count - 1) / kFoldItems);
    }
    scratch_.is_plain = false;
    if constexpr (std::is_same<F, SingleFloats>::value || std::is_same<F, DoubleFloats>::value)
      if (takes_bins_) {
        rounded_ = true;  // by windows
        if (!scratch_.by_exponent.add(x, count, scratch_.limbs)) scratch_.limbs.note(special_flags(x, count));
        return;
      }
    add_to_spans(x, count);
  }

  // Whether a block was added plainly: whether that is exact.
  bool add_plainly(const typename F::Bits *x, uint32_t count) {
    double *const high = scratch_.high + lanes_, *const low = scratch_.low + lanes_;
    uint32_t lanes = 1;
    if (rounded_) watch_.begin();
    if (count == kFoldItems) {
      lanes = kernels_->lane_sums(x, count, high, low);
    } else if (!kernels_->two_sums(x, count, high, low)) {
      *high = *low = 0;
    }
    rounded_ = !watch_.was_exact();
    if (rounded_) {
      plainly_.failed();
      return false;
    }
    plainly_.worked();
    lanes_ += lanes;
    if (lanes_ + kLaneSumsMax > SumScratch::kLanes) move_lanes();
    return true;
  }

  // Adds what the lanes hold to the scratch.
  void move_lanes() {
    move(scratch_.high, scratch_.plain.high);
    move(scratch_.low, scratch_.plain.low);
    lanes_ = 0;
  }
  void move(double *sums, double &total) {
    uint32_t items = lanes_;
    for (sums[items++] = total; items % kFoldGrain != 0; ++items) sums[items] = 0;
    if (rounded_) watch_.begin();
    total = plain_sum_kernel()(sums, items);
    rounded_ = !watch_.was_exact();
    if (!rounded_) return;
    total = 0;
    if (fold<DoubleFloats>(*doubles_, sums, items)) return;
    scratch_.is_plain = false;
    for (uint32_t i = 0; i < items; ++i) scratch_.limbs.add(sums[i]);
  }

  void widen(const typename F::Bits *x, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) scratch_.block[i] = F::widen(x[i]);
  }

  // How many of the elements were folded: all of them, or those before what could not be. As a rule the next ones can
  // be if these could. Of more windows than two a call is no shorter for more elements, which are farther from each
  // other.
  uint32_t fold_blocks(const typename F::Bits *x, uint32_t count) {
    constexpr uint32_t kGrainsFrom = 4 * kFoldGrain;
    const uint32_t most = kernels_ != nullptr && windows_ <= 2 ? kernels_->items_max : kFoldItems;
    for (uint32_t done = 0; done < count;) {
      // What is less than a grain is widened first, and all of few elements.
      const uint32_t left = count - done, whole = left < kGrainsFrom ? left : left / kFoldGrain * kFoldGrain,
                     items = whole < most ? whole : most;
      if (!fold_block(x + done, items)) {
        folded_.failed();
        return done;
      }
      done += items;
    }
    folded_.worked();
    return count;
  }
  // Whether whole grains, or a few elements, could be.
  bool fold_block(const typename F::Bits *x, uint32_t count) {
    if (kernels_ != nullptr && count % kFoldGrain == 0) return fold<F>(*kernels_, x, count);
    widen(x, count);
    for (; count % kFoldGrain != 0; ++count) scratch_.block[count] = 0;
    return fold<F>(*doubles_, scratch_.block, count);
  }

  // Where windows begin. The elements of a lane add up to less than 2^(exponent + 1 + kFoldLaneBits), half of the first
  // window's leading bit; what they leave, at most half a unit each, to half of the second's at most.
  static constexpr int32_t kFirstAbove = kFoldLaneBits + 2, kWindowBits = 52 - kFoldLaneBits;

  // Adds whole grains, or nothing: numbers past the windows, or bits too far apart. `Facts` are those that all elements
  // keep to, whatever they are widened to.
  template <class Facts, class T>
  bool fold(const FoldKernels &kernels, const T *x, uint32_t items) {
    using Read = std::conditional_t<std::is_same<T, double>::value, DoubleFloats, F>;
    rounded_ = true;
    const Magnitudes magnitudes = kernels.magnitudes(x, items);
    if (magnitudes.greatest == 0) return true;
    const int32_t greatest = exponent_of(Read::magnitude(magnitudes.greatest)),
                  least = exponent_of(Read::magnitude(magnitudes.least)) - Facts::kFractionBits,
                  last_bit = least < Facts::kLeastExponent ? Facts::kLeastExponent : least;
    if (greatest > kExponentMax) return false;
    // What is below the last window, all of it together, is no more than 2^53 times the last bit.
    const int32_t item_bits = items <= kFoldItems ? kFoldItemBits : kFoldGroupItemBits,
                  last_window = last_bit + 106 - item_bits;
    const int32_t first_window = (greatest < kExponentMin ? kExponentMin : greatest) + kFirstAbove;
    double windows[kWindowsMax];
    uint32_t count = 0;
    for (int32_t exponent = first_window;; exponent -= kWindowBits) {
      if (count == windows_max_) return false;
      windows[count++] = 1.5 * power_of_two(exponent);
      if (exponent <= last_window) break;
    }
    windows_ = count;
    Folded folded;
    kernels.fold(x, items, windows, count, &folded);
    scratch_.is_plain = false;
    for (uint32_t i = 0; i < count; ++i)
      scratch_.limbs.add_part(folded.units[i], position_of(first_window - 52 - static_cast<int32_t>(i) * kWindowBits));
    if (folded.below != 0) scratch_.limbs.add(folded.below);
    return true;
  }
  static int32_t exponent_of(double x) { return static_cast<int32_t>(bits_of_double(x) >> 52 & 0x7ff) - 1023; }
  static uint32_t position_of(int32_t exponent) {
    return static_cast<uint32_t>(exponent + static_cast<int32_t>(kSumOneBit));
  }

  void add_to_spans(const typename F::Bits *x, uint32_t count) {
    ExponentSums &sums = scratch_.by_exponent;
    sums.begin_spans(count, kSpanRange<F>, scratch_.limbs);
    if (to_spans_ == nullptr) {
      for (uint32_t i = 0; i < count; ++i) sums.add_to_span(F::widen(x[i]), i, scratch_.limbs);
    } else if (to_spans_(x, count, sums.spans(), sums.copy_words()) == kSpecialExponent) {
      scratch_.limbs.note(special_flags(x, count));
    }
  }
  // Of the infinities and NaNs among elements: in the first bits of words, by arithmetic that compilers make vectors
  // of.
  static uint32_t special_flags(const typename F::Bits *x, uint32_t count) {
    uint64_t nans = 0, plus = 0, minus = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t bits = bits_of_double(F::widen(x[i])), from_plus = bits ^ kDoubleInf,
                     from_minus = from_plus ^ kDoubleSign;
      nans |= kDoubleInf - (bits & ~kDoubleSign);
      plus |= (from_plus - 1) & ~from_plus;
      minus |= (from_minus - 1) & ~from_minus;
    }
    return (nans >> 63 != 0 ? kSumNan : 0) | (plus >> 63 != 0 ? kSumPosInf : 0) | (minus >> 63 != 0 ? kSumNegInf : 0);
  }

  SumScratch &scratch_;
  const bool tries_plainly_;
  Trial plainly_, folded_;
  bool takes_bins_ = false;
  RoundingWatch watch_;
  bool rounded_ = true;  // whether the watch may have seen that something was rounded
  uint32_t lanes_ = 0;   // in the scratch
  uint32_t windows_max_ = kWindowsMax, windows_ = kWindowsMax;  // those that the last fold took
  const FoldKernels *kernels_ = fold_kernels(F::kType);
  const AddToSpans to_spans_ = add_to_spans_kernel(F::kType);
  const FoldKernels *doubles_ =
      fold_kernels(FoldType::kDouble) != nullptr ? fold_kernels(FoldType::kDouble) : &kPlainFold;
};

}  // namespace

namespace {

// Adds x to the sum and returns what was rounded off, exactly (Knuth, The Art of Computer Programming, volume 2); a NaN
// if something is infinite or none.
double add_with_rest(double &sum, double x) {
  const double before = sum;
  sum += x;
  const double of_x = sum - before;
  return (before - (sum - of_x)) + (x - of_x);
}

// The sum in two doubles, of which the second holds what is rounded off from the first; false if it were rounded, too.
template <class F>
bool add_to_pair(const void *in, uint64_t n, PlainSums &sums) {
  constexpr uint64_t kLookEvery = 4;
  const typename F::Bits *const x = static_cast<const typename F::Bits *>(in);
  uint64_t lost = 0;
  const auto add = [&](double number) {
    const double rest = add_with_rest(sums.high, number);
    lost |= bits_of_double(add_with_rest(sums.low, rest)) & ~kDoubleSign;
  };
  uint64_t i = 0;
  for (; i + kLookEvery <= n && lost == 0; i += kLookEvery)
    for (uint64_t k = 0; k < kLookEvery; ++k) add(F::widen(x[i + k]));
  if (lost != 0) return false;
  for (; i < n; ++i) add(F::widen(x[i]));
  return lost == 0;
}

}  // namespace

bool PlainSums::add_exactly(double &sum, double x) { return add_with_rest(sum, x) == 0; }

namespace {

// (sum + rest) / n rounded once, of a rest of at most half a last place of the sum; false where that is not known by
// this: near a tie, or at either end. The quotient's remainder is a double (Boldo, Daumas, Representable correcting
// terms for possibly underflowing floating point operations, 2003), and tells together with the rest how far it lies
// off.
bool divide_once(double sum, double rest, uint64_t n, double &result) {
  constexpr uint64_t fraction_mask = (uint64_t{1} << 52) - 1, lower_half = (uint64_t{1} << 27) - 1;
  constexpr uint64_t exponent_least = 123, exponents = 1917;  // 2^-900 to 2^1017
  const double divisor = static_cast<double>(n), quotient = sum / divisor;
  result = quotient;
  const uint64_t exponent = (bits_of_double(quotient) & kDoubleInf) >> 52;
  if (n >= uint64_t{1} << 26 || exponent - exponent_least >= exponents) return false;
  if ((n & (n - 1)) == 0) return true;  // the sum was rounded already
  const double upper = double_of_bits(bits_of_double(quotient) & ~lower_half), lower = quotient - upper;
  const double off = ((sum - upper * divisor) - lower * divisor + rest) / divisor;
  double left = add_with_rest(result, off);
  if (left < 0) left = -left;
  const uint64_t bits = bits_of_double(result);
  const double half_place = double_of_bits(bits & kDoubleInf) * 0x1p-53;
  return (bits & fraction_mask) != 0 && left < half_place * (1 - 0x1p-40);
}

}  // namespace

bool PlainSums::finish(uint64_t n, bool mean, double &result) const {
  double sum = high;
  const double rest = add_with_rest(sum, low);
  if (!mean) {
    result = sum;
  } else if (rest == 0) {
    result = sum / static_cast<double>(n);
  } else if (!divide_once(sum, rest, n, result)) {
    return false;
  }
  return result - result == 0 && sum != 0;
}

namespace {

// By the processor's record, which takes longer to set and to read than a few additions.
bool add_plainly(const FoldKernels *kernels, const void *in, uint64_t n, PlainSums &sums) {
  if (kernels == nullptr || !rounding_is_recorded()) return false;
  RoundingWatch watch;
  watch.begin();
  return kernels->two_sums(in, static_cast<uint32_t>(n), &sums.high, &sums.low) && watch.was_exact();
}

}  // namespace

void add_floats(gsort_dtype t, const void *in, Range range, SumScratch &scratch, bool tries_plainly) {
  with_floats(t, [&](auto tag) {
    using F = typename decltype(tag)::type;
    RangeSum<F>(scratch, tries_plainly).add(static_cast<const typename F::Bits *>(in) + range.begin, range.size());
  });
}

bool add_few_floats(gsort_dtype t, const void *in, uint64_t n, PlainSums &sums) {
  constexpr uint64_t kPairOnly = 16, kPairMax = 40;
  bool is_added = false;
  with_floats(t, [&](auto tag) {
    using F = typename decltype(tag)::type;
    is_added = n > kPairOnly && add_plainly(fold_kernels(F::kType), in, n, sums);
    if (is_added || n > kPairMax) return;
    sums = {};
    is_added = add_to_pair<F>(in, n, sums);
  });
  return is_added;
}

namespace {

template <class F>
bool add_to_few_spans(const void *in, uint64_t n, PlainSums &sums) {
  if (n > FewSpans::kItemsMax) return false;
  FewSpans spans(kSpanRange<F>);
  uint32_t greatest = 0;
  if (const AddToSpans kernel = add_to_spans_kernel(F::kType)) {
    greatest = kernel(in, static_cast<uint32_t>(n), spans.words(), 0);
  } else {
    const typename F::Bits *const x = static_cast<const typename F::Bits *>(in);
    for (uint64_t i = 0; i < n; ++i) {
      const uint32_t exponent = spans.add(F::widen(x[i]));
      greatest = exponent > greatest ? exponent : greatest;
    }
  }
  return greatest != kSpecialExponent && spans.round(greatest, sums.high, sums.low);
}

}  // namespace

bool add_few_far_floats(gsort_dtype t, const void *in, uint64_t n, bool mean, PlainSums &sums) {
  constexpr uint64_t kSpansFirst = 24;  // so few are sooner added to spans, if their type has few of those
  bool is_added = false;
  FoldType type = FoldType::kDouble;
  with_floats(t, [&](auto tag) { type = decltype(tag)::type::kType; });
  const FoldKernels *const folds = fold_kernels(type);
  if (folds != nullptr && (n > kSpansFirst || type == FoldType::kDouble) && n <= kLeadingSumItemsMax)
    is_added = find_leading_sum(*folds, t, in, n, mean, sums);
  if (is_added) return true;
  with_floats(t, [&](auto tag) { is_added = add_to_few_spans<typename decltype(tag)::type>(in, n, sums); });
  return is_added;
}

bool all_minus_zero(gsort_dtype t, const void *in, uint64_t n) {
  return with_width(dtype_bytes(t), [&](auto tag) {
    using K = typename decltype(tag)::type;
    const K *const bits = static_cast<const K *>(in);
    for (uint64_t i = 0; i < n; ++i)
      if (bits[i] != KeyCodec<K>::kTop) return false;
    return true;
  });
}

}  // namespace gsort_internal
