// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/sum/leading_sum.h"

#include <cstring>

#include "core/superaccumulator.h"
#include "cpu/sum/floats.h"

namespace gsort_internal {

namespace {

class LeadingSum {
 public:
  // Few elements that are no whole grains are copied, all or the last ones, and zeros behind them.
  LeadingSum(const FoldKernels &kernels, gsort_dtype t, const void *in, uint64_t n)
      : kernels_(kernels), type_(t), bytes_(dtype_bytes(t)), x_(static_cast<const char *>(in)) {
    const uint32_t all = static_cast<uint32_t>(n), rest_of_all = all % kFoldGrain;
    whole_ = all;
    if (rest_of_all == 0) {
      greatest_ = greatest_exponent(x_, all);
      return;
    }
    if (all >= kFoldGrain) greatest_ = greatest_exponent(x_, all - rest_of_all);
    whole_ = all < kCopied ? 0 : all - rest_of_all;
    const uint32_t rest = all - whole_;
    copied_ = (rest + kFoldGrain - 1) / kFoldGrain * kFoldGrain;
    char *const last_grain = copy_ + (copied_ - kFoldGrain) * bytes_;
    std::memcpy(copy_, x_ + whole_ * bytes_, rest * bytes_);
    std::memset(copy_ + rest * bytes_, 0, (copied_ - rest) * bytes_);
    const int32_t of_last = greatest_exponent(last_grain, kFoldGrain);
    greatest_ = of_last > greatest_ ? of_last : greatest_;
  }

  bool find(bool mean, PlainSums &sums) const {
    constexpr int32_t kSpecial = 1024;
    if (greatest_ == kSpecial) return false;
    const int32_t lowered = greatest_ > kGreatestMax ? kLowered : 0,
                  greatest = (greatest_ < kLeastMin ? kLeastMin : greatest_) - lowered;
    const uint32_t count = mean ? 2 : 1;
    const int32_t first = greatest + kFoldLaneBits + 2, fraction_bits = mean ? 24 : 40;
    const double windows[2] = {1.5 * power_of_two(first), 1.5 * power_of_two(first - kWindowBits)};
    Folded total = {};
    for (uint32_t i = 0; i < whole_; i += kFoldItems)
      fold(x_ + i * bytes_, whole_ - i < kFoldItems ? whole_ - i : kFoldItems, windows, count, lowered != 0, total);
    if (copied_ > 0) fold(copy_, copied_, windows, count, lowered != 0, total);
    // In parts of the last window's unit. The parts below it are less than 2^10 units.
    const int32_t unit = first - 52 - static_cast<int32_t>(count - 1) * kWindowBits;
    Int128 parts = total.units[0];
    if (mean) parts = parts * (int64_t{1} << kWindowBits) + total.units[1];
    parts =
        parts * (int64_t{1} << fraction_bits) + static_cast<int64_t>(total.below * power_of_two(fraction_bits - unit));
    return round(parts, unit - fraction_bits + lowered, mean, sums);
  }

 private:
  // A lane of the first window stays below 2^1024, and units are normal numbers.
  static constexpr int32_t kGreatestMax = 1013, kLeastMin = -800, kLowered = 64, kWindowBits = 52 - kFoldLaneBits;
  static constexpr uint32_t kCopied = 3 * kFoldGrain;

  int32_t greatest_exponent(const void *x, uint32_t items) const {
    const uint64_t bits = kernels_.magnitudes(x, items).greatest;
    double greatest = 0;
    with_floats(type_, [&](auto tag) { greatest = decltype(tag)::type::magnitude(bits); });
    return static_cast<int32_t>(bits_of_double(greatest) >> 52) - 1023;
  }

  // Adds up to a block, times 2^-kLowered if `lowers`, which only doubles are: what that takes from numbers below
  // 2^-900 is nothing beside the greatest.
  void fold(const char *x, uint32_t items, const double *windows, uint32_t count, bool lowers, Folded &total) const {
    if (!lowers) return add_folded(x, items, windows, count, total);
    constexpr uint32_t kSome = 4 * kFoldGrain;
    double lowered[kSome];
    for (uint32_t begin = 0; begin < items; begin += kSome) {
      const uint32_t some = items - begin < kSome ? items - begin : kSome;
      std::memcpy(lowered, x + begin * sizeof lowered[0], some * sizeof lowered[0]);
      for (uint32_t i = 0; i < some; ++i) lowered[i] *= 0x1p-64;
      add_folded(lowered, some, windows, count, total);
    }
  }
  void add_folded(const void *x, uint32_t items, const double *windows, uint32_t count, Folded &total) const {
    Folded folded;
    kernels_.fold(x, items, windows, count, &folded);
    for (uint32_t i = 0; i < count; ++i) total.units[i] += folded.units[i];
    total.below += folded.below;
  }

  // Of so many parts of 2^unit, of which some may be too many or too few.
  static bool round(Int128 parts, int32_t unit, bool mean, PlainSums &sums) {
    constexpr uint32_t kUnsure = 1024;  // more than 2^22 * 2^40 / 2^53 and two that are rounded off
    __extension__ typedef unsigned __int128 UInt128;
    const UInt128 magnitude = parts < 0 ? -static_cast<UInt128>(parts) : static_cast<UInt128>(parts);
    const uint64_t upper = static_cast<uint64_t>(magnitude >> 64);
    if (upper == 0) return false;
    const uint32_t below = 64 - static_cast<uint32_t>(__builtin_clzll(upper)) + 11;  // bits behind the double's 53
    const UInt128 half = UInt128{1} << (below - 1), left = magnitude & (2 * half - 1);
    const UInt128 from_half = left > half ? left - half : half - left;
    const UInt128 unsure = mean && below > 50 ? UInt128{kUnsure} << (below - 50) : UInt128{kUnsure};
    if (from_half <= unsure || (mean && (below < 50 || from_half >= half - unsure))) return false;
    const bool up = left > half;
    // The mantissa's leading bit adds the missing 1 to the exponent.
    const int32_t exponent = unit + static_cast<int32_t>(below) + 52 + 1022;
    if (exponent < (mean ? 200 : 0) || exponent > 2044) return false;
    const uint64_t bits = (static_cast<uint64_t>(exponent) << 52) + static_cast<uint64_t>(magnitude >> below);
    sums.high = double_of_bits((bits + (up ? 1 : 0)) | (parts < 0 ? kDoubleSign : 0));
    sums.low = 0;
    if (!mean) return true;
    const Int128 rest = static_cast<Int128>(left) - (up ? static_cast<Int128>(2 * half) : 0);
    sums.low = static_cast<double>(parts < 0 ? -rest : rest) * power_of_two(unit);
    return true;
  }

  const FoldKernels &kernels_;
  const gsort_dtype type_;
  const uint32_t bytes_;  // of an element
  const char *const x_;
  uint32_t whole_, copied_ = 0;  // elements that are read where they are, and the others, with zeros
  int32_t greatest_ = -1023;     // exponent; that of the least numbers is as good
  alignas(32) char copy_[kCopied * sizeof(double)];
};

}  // namespace

bool find_leading_sum(const FoldKernels &kernels, gsort_dtype t, const void *in, uint64_t n, bool mean,
                      PlainSums &sums) {
  return LeadingSum(kernels, t, in, n).find(mean, sums);
}

}  // namespace gsort_internal
