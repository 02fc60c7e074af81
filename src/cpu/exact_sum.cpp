// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/exact_sum.h"

#include <cstring>

#include "core/half.h"
#include "cpu/processor.h"

namespace gsort_internal {

namespace {

// A block is folded into two windows of 52 bits below its greatest magnitude: adding to a number so large that every
// addition rounds to the same multiple splits each element without error, many lanes at a time. Elements with bits
// below both windows, infinities and NaNs send the block to the superaccumulator, element by element.
constexpr uint32_t kFoldItems = 1024;  // 8 KiB of stack where they are widened
constexpr uint32_t kFoldLanes = 16;
constexpr int32_t kLaneBits = 6;  // each lane adds 2^6 elements
static_assert(kFoldItems == kFoldLanes << kLaneBits, "lanes share a block evenly");

typedef double DoubleVector __attribute__((vector_size(32)));
typedef int64_t MaskVector __attribute__((vector_size(32)));
constexpr uint32_t kVectorItems = 4;
constexpr uint32_t kVectors = kFoldLanes / kVectorItems;

double power_of_two(int32_t exponent) { return double_of_bits(static_cast<uint64_t>(exponent + 1023) << 52); }

// Adds units * 2^exponent.
void add_units(Superaccumulator &sum, int64_t units, int32_t exponent) {
  const double unit = power_of_two(exponent);
  sum.add_part(static_cast<double>(units & 0xffffffff) * unit);
  sum.add_part(static_cast<double>(units >> 32) * unit * 4294967296.0);
}

inline __attribute__((always_inline)) void load(const double *from, DoubleVector &to) {
  std::memcpy(&to, from, sizeof to);
}

inline __attribute__((always_inline)) double greatest_magnitude(const double *x) {
  DoubleVector greatest[kVectors] = {};
  for (uint32_t i = 0; i < kFoldItems; i += kFoldLanes) {
    for (uint32_t j = 0; j < kVectors; ++j) {
      DoubleVector v;
      load(x + i + j * kVectorItems, v);
      const MaskVector magnitude = reinterpret_cast<MaskVector>(v) & INT64_MAX;
      const DoubleVector positive = reinterpret_cast<DoubleVector>(magnitude);
      greatest[j] = positive > greatest[j] ? positive : greatest[j];
    }
  }
  double result = 0;
  for (const DoubleVector &v : greatest)
    for (uint32_t lane = 0; lane < kVectorItems; ++lane) result = v[lane] > result ? v[lane] : result;
  return result;
}

// What the two windows of a block hold, in units of their last bits.
struct Folded {
  int64_t units[2];
  bool exact;
};

inline __attribute__((always_inline)) Folded fold(const double *x, double window_1, double window_2) {
  DoubleVector sums_1[kVectors], sums_2[kVectors];
  MaskVector rest = {};
  for (uint32_t j = 0; j < kVectors; ++j) {
    sums_1[j] = DoubleVector{window_1, window_1, window_1, window_1};
    sums_2[j] = DoubleVector{window_2, window_2, window_2, window_2};
  }
  for (uint32_t i = 0; i < kFoldItems; i += kFoldLanes) {
    for (uint32_t j = 0; j < kVectors; ++j) {
      DoubleVector v;
      load(x + i + j * kVectorItems, v);
      const DoubleVector next_1 = sums_1[j] + v;
      const DoubleVector rest_1 = v - (next_1 - sums_1[j]);
      sums_1[j] = next_1;
      const DoubleVector next_2 = sums_2[j] + rest_1;
      rest |= rest_1 != (next_2 - sums_2[j]);
      sums_2[j] = next_2;
    }
  }
  // Sums keep their window's exponent, so their bits differ from it by the number of units added.
  // Unsigned, because a NaN among the elements leaves differences that overflow; its block is then not used.
  uint64_t units[2] = {0, 0};
  for (uint32_t j = 0; j < kVectors; ++j) {
    for (uint32_t lane = 0; lane < kVectorItems; ++lane) {
      units[0] += bits_of_double(sums_1[j][lane]) - bits_of_double(window_1);
      units[1] += bits_of_double(sums_2[j][lane]) - bits_of_double(window_2);
    }
  }
  return {{static_cast<int64_t>(units[0]), static_cast<int64_t>(units[1])},
          (rest[0] | rest[1] | rest[2] | rest[3]) == 0};
}

double greatest_magnitude_baseline(const double *x) { return greatest_magnitude(x); }
Folded fold_baseline(const double *x, double window_1, double window_2) { return fold(x, window_1, window_2); }

#if defined(GSORT_X86_AVX2)
GSORT_X86_AVX2 double greatest_magnitude_avx2(const double *x) { return greatest_magnitude(x); }
GSORT_X86_AVX2 Folded fold_avx2(const double *x, double window_1, double window_2) {
  return fold(x, window_1, window_2);
}
#else
constexpr auto greatest_magnitude_avx2 = greatest_magnitude_baseline;
constexpr auto fold_avx2 = fold_baseline;
#endif

void add_one_by_one(const double *x, uint32_t count, Superaccumulator &sum) {
  for (uint32_t i = 0; i < count; ++i) sum.add(x[i]);
}

// Adds kFoldItems doubles.
void add_block(const double *x, bool avx2, Superaccumulator &sum) {
  constexpr int32_t exponent_min = -900, exponent_max = 1000;  // both windows stay among normal numbers
  const double greatest = avx2 ? greatest_magnitude_avx2(x) : greatest_magnitude_baseline(x);
  int32_t exponent = static_cast<int32_t>(bits_of_double(greatest) >> 52) - 1023;
  if (exponent > exponent_max) return add_one_by_one(x, kFoldItems, sum);
  if (exponent < exponent_min) exponent = exponent_min;
  // The elements of a lane add up to less than 2^(exponent + 1 + kLaneBits), half of the window's leading bit; what
  // they leave, at most half a unit each, to less than half of the second's.
  const int32_t exponent_1 = exponent + kLaneBits + 2, exponent_2 = exponent_1 - 52 + kLaneBits;
  const double window_1 = 1.5 * power_of_two(exponent_1), window_2 = 1.5 * power_of_two(exponent_2);
  const Folded folded = avx2 ? fold_avx2(x, window_1, window_2) : fold_baseline(x, window_1, window_2);
  if (!folded.exact) return add_one_by_one(x, kFoldItems, sum);
  add_units(sum, folded.units[0], exponent_1 - 52);
  add_units(sum, folded.units[1], exponent_2 - 52);
}

// Adds the elements of a range, which `load_items(first, count, buffer)` widens to doubles.
template <class Load>
void add_range(Range range, Superaccumulator &sum, Load load_items) {
  double buffer[kFoldItems];
  const bool avx2 = has_avx2();
  uint64_t i = range.begin;
  for (; i + kFoldItems <= range.end; i += kFoldItems) add_block(load_items(i, kFoldItems, buffer), avx2, sum);
  const uint32_t left = static_cast<uint32_t>(range.end - i);
  if (left > 0) add_one_by_one(load_items(i, left, buffer), left, sum);
}

inline __attribute__((always_inline)) int64_t sum_halves(const uint16_t *x, uint64_t count, uint32_t &specials) {
  int64_t total = 0;
  uint32_t special = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t exponent = (x[i] >> 10) & 31u, normal = exponent != 0 ? 1 : 0;
    const int64_t magnitude = static_cast<int64_t>((x[i] & 0x3ffu) | normal << 10) << (exponent - normal);
    const int64_t sign = -static_cast<int64_t>(x[i] >> 15);
    total += (magnitude ^ sign) - sign;
    special |= exponent == 31 ? 1 : 0;
  }
  specials |= special;
  return total;
}

int64_t sum_halves_baseline(const uint16_t *x, uint64_t count, uint32_t &specials) {
  return sum_halves(x, count, specials);
}
#if defined(GSORT_X86_AVX2)
GSORT_X86_AVX2 int64_t sum_halves_avx2(const uint16_t *x, uint64_t count, uint32_t &specials) {
  return sum_halves(x, count, specials);
}
#else
constexpr auto sum_halves_avx2 = sum_halves_baseline;
#endif

// Every finite half is a multiple of 2^-24 below 2^40 of them: 2^20 fit a 64-bit integer.
void add_halves(const uint16_t *x, Range range, Superaccumulator &sum) {
  constexpr uint64_t step = 1 << 20;
  const bool avx2 = has_avx2();
  for (uint64_t i = range.begin; i < range.end; i += step) {
    const uint64_t count = min_u64(step, range.end - i);
    uint32_t specials = 0;
    const int64_t units = avx2 ? sum_halves_avx2(x + i, count, specials) : sum_halves_baseline(x + i, count, specials);
    if (specials == 0) {
      add_units(sum, units, -24);
    } else {
      for (uint64_t j = i; j < i + count; ++j) sum.add(Half::to_double(x[j]));
    }
  }
}

}  // namespace

void add_floats(gsort_dtype t, const void *in, Range range, Superaccumulator &sum) {
  switch (t) {
    case GSORT_F16:
      return add_halves(static_cast<const uint16_t *>(in), range, sum);
    case GSORT_BF16:
      return add_range(range, sum, [in](uint64_t first, uint32_t count, double *buffer) {
        const uint16_t *const x = static_cast<const uint16_t *>(in) + first;
        for (uint32_t i = 0; i < count; ++i) {
          const uint32_t bits = static_cast<uint32_t>(x[i]) << 16;
          float value;
          std::memcpy(&value, &bits, sizeof value);
          buffer[i] = static_cast<double>(value);
        }
        return static_cast<const double *>(buffer);
      });
    case GSORT_F32:
      return add_range(range, sum, [in](uint64_t first, uint32_t count, double *buffer) {
        const float *const x = static_cast<const float *>(in) + first;
        for (uint32_t i = 0; i < count; ++i) buffer[i] = static_cast<double>(x[i]);
        return static_cast<const double *>(buffer);
      });
    default:
      return add_range(range, sum,
                       [in](uint64_t first, uint32_t, double *) { return static_cast<const double *>(in) + first; });
  }
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
