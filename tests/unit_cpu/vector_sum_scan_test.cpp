// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums and running sums: the same bits from every vector target and without vectors.
#include <cmath>
#include <cstring>
#include <limits>

#include "core/half.h"
#include "cpu/vector/scan.h"
#include "cpu/vector/small_rounding.h"
#include "vector_target_fixture.h"

namespace gsort_test {
namespace {

class EachTargetAdds : public EachTarget {};

// Floats of any exponents, a few, or near ones; now and then zeros of both signs.
template <class U>
std::vector<U> make_floats(gsort_dtype t, uint32_t spread, uint64_t n, std::mt19937_64 &random) {
  std::vector<U> floats(n);
  const uint32_t mantissa_bits = dtype_facts(t).mantissa_bits, bits = sizeof(U) * 8;
  const uint64_t exponents = (uint64_t{1} << (bits - 1 - mantissa_bits)) - 1;
  for (U &x : floats) {
    const uint64_t fraction = random() & ((uint64_t{1} << mantissa_bits) - 1), sign = random() & 1;
    const uint64_t exponent = spread == 0 ? random() % exponents : exponents / 2 - random() % spread % (exponents / 2);
    x = static_cast<U>(sign << (bits - 1) | exponent << mantissa_bits | fraction);
    if (random() % 97 == 0) x = static_cast<U>(sign << (bits - 1));
  }
  return floats;
}

template <class U>
double number_of(gsort_dtype t, U bits) {
  if constexpr (sizeof(U) == 2) {
    return t == GSORT_F16 ? Half::to_double(bits) : BFloat16::to_double(bits);
  } else if constexpr (sizeof(U) == 4) {
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return static_cast<double>(number);
  } else {
    return double_of_bits(bits);
  }
}

TEST_P(EachTargetAdds, SumsAreExact) {
  for (const gsort_dtype t : {GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64}) {
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      for (const uint64_t n : {1, 2, 3, 7, 16, 17, 31, 40, 41, 64, 1024, 1500, 2048, 40000}) {
        for (const uint32_t spread : {0u, 1u, 20u, 70u, 150u}) {
          std::vector<U> floats = make_floats<U>(t, spread, n, random_);
          if (spread == 20 && n > 100) {  // what is near cancels, and tiny elements are left
            for (uint64_t i = 0; i + 1 < n; i += 2) floats[i + 1] = static_cast<U>(floats[i] ^ KeyCodec<U>::kTop);
            floats[n / 2] = U{1};
          }
          Superaccumulator wanted;
          wanted.clear();
          for (const U x : floats) wanted.add(number_of(t, x));
          double sum = 0;
          Request r{Operation::kSum, {t, false, false}};
          r.n = n, r.in = floats.data(), r.out = &sum;
          three_.engine->execute(r);
          ASSERT_EQ(bits_of_double(sum), bits_of_double(wanted.sum())) << "t " << t << " n " << n << " " << spread;
          sum = -1;
          const bool is_few = three_.engine->sum_few(t, r.in, n, &sum, r.rounds);
          ASSERT_EQ(bits_of_double(sum), bits_of_double(is_few ? wanted.sum() : -1.0))
              << "t " << t << " n " << n << " " << spread;
          ASSERT_TRUE(is_few || n > 16 || spread != 1 || wanted.sum() == 0) << "t " << t << " n " << n;
          ASSERT_TRUE(n <= 2048 || (!is_few && !r.rounds));
          three_.engine->execute(r);
          ASSERT_EQ(bits_of_double(sum), bits_of_double(wanted.sum())) << "t " << t << " n " << n << " " << spread;
        }
      }
    });
  }
}

TEST_P(EachTargetAdds, HalvesThatAreInfinite) {
  const auto sum_of = [this](const std::vector<uint16_t> &halves) {
    double sum = 0;
    Request r{Operation::kSum, {GSORT_F16, false, false}};
    r.n = halves.size(), r.in = halves.data(), r.out = &sum;
    one_.engine->execute(r);
    return bits_of_double(sum);
  };
  for (const uint64_t n : {uint64_t{3}, uint64_t{70}, uint64_t{1024}, uint64_t{5000}}) {
    std::vector<uint16_t> halves(n, 0x3c00);
    halves[n / 2] = 0x7c00;
    EXPECT_EQ(sum_of(halves), kDoubleInf) << n;
    halves[n / 2] = 0xfc00;
    EXPECT_EQ(sum_of(halves), kDoubleInf | kDoubleSign) << n;
    halves[0] = 0x7c00;
    EXPECT_EQ(sum_of(halves), kDoubleQuietNan) << n;
    halves[0] = 0x7bff, halves[n / 2] = 0xfc01;
    EXPECT_EQ(sum_of(halves), kDoubleQuietNan) << n;
  }
}

// One element is far above all others, which are equal or have all bits: halves of windows' units, all of one sign.
template <class F>
void check_sums_below_one(Engine &engine, gsort_dtype t, int top, uint64_t n) {
  for (int below = 0; below <= 400; ++below) {
    const F one = static_cast<F>(std::ldexp(1.0, top)), all_bits = 2 - std::numeric_limits<F>::epsilon();
    for (const F factor : {F{1}, F{-1}, all_bits}) {
      std::vector<F> x(n, static_cast<F>(std::ldexp(factor, top - below)));
      x[n / 3] = one;
      Superaccumulator wanted;
      wanted.clear();
      for (const F value : x) wanted.add(static_cast<double>(value));
      double sum = 0;
      Request r{Operation::kSum, {t, false, false}};
      r.n = n, r.in = x.data(), r.out = &sum;
      engine.execute(r);
      ASSERT_EQ(bits_of_double(sum), bits_of_double(wanted.sum()))
          << "t " << t << " n " << n << " top " << top << " below " << below << " factor " << factor;
    }
  }
}

TEST_P(EachTargetAdds, SumsOfElementsFarBelowOne) {
  for (const uint64_t n : {uint64_t{1000}, uint64_t{1024}, uint64_t{6000}}) {
    for (const int top : {1020, 995, 3, -600, -890, -980})
      check_sums_below_one<double>(*three_.engine, GSORT_F64, top, n);
    for (const int top : {127, 100, 0, -60}) check_sums_below_one<float>(*three_.engine, GSORT_F32, top, n);
  }
}

TEST_P(EachTargetAdds, SumsOfIntegersWrap) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_U32, GSORT_I32, GSORT_U64, GSORT_I64}) {
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      const bool is_signed = dtype_facts(t).kind == Kind::kSigned;
      for (const uint64_t n : {uint64_t{1}, uint64_t{17}, uint64_t{33}, uint64_t{1000}, uint64_t{300001}}) {
        std::vector<U> keys(n);
        uint64_t wanted = 0, sum = 0;
        for (U &key : keys) {
          key = static_cast<U>(random_() | (random_() & 1) << (sizeof(U) * 8 - 1));
          wanted += is_signed ? static_cast<uint64_t>(static_cast<std::make_signed_t<U>>(key)) : uint64_t{key};
        }
        Request r{Operation::kSum, {t, false, false}};
        r.n = n, r.in = keys.data(), r.out = &sum;
        one_.engine->execute(r);
        ASSERT_EQ(sum, wanted) << "t " << t << " n " << n;
        sum = ~wanted;
        if (n <= 1000) {
          ASSERT_TRUE(one_.engine->sum_few(t, r.in, n, &sum, r.rounds));
          ASSERT_EQ(sum, wanted) << "t " << t << " n " << n;
        }
        three_.engine->execute(r);
        ASSERT_EQ(sum, wanted) << "t " << t << " n " << n;
      }
    });
  }
}

TEST_P(EachTargetAdds, ScansAsWithoutVectors) {
  for (const gsort_dtype t : kAllTypes) {
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      for (const uint64_t n : {uint64_t{1}, uint64_t{15}, uint64_t{512}, uint64_t{8193}, uint64_t{300001}}) {
        std::vector<U> in =
            is_float(t) ? make_floats<U>(t, n % 2 == 0 ? 6 : 0, n, random_) : make_keys<U>(0, n, random_);
        if (is_float(t) && n > 100) in[n - 50] = static_cast<U>(~U{0});  // a NaN
        for (const bool exclusive : {false, true}) {
          std::vector<U> wanted(n), out(n), in_place = in;
          Request r{Operation::kScan, {t, false, false}};
          r.n = n, r.in = in.data(), r.out = wanted.data(), r.exclusive = exclusive;
          force_vector_target(VectorTarget::kNone);
          one_.engine->execute(r);
          force_vector_target(GetParam());
          r.out = out.data();
          one_.engine->execute(r);
          ASSERT_EQ(out, wanted) << "t " << t << " n " << n;
          r.in = in_place.data(), r.out = in_place.data();
          three_.engine->execute(r);
          ASSERT_EQ(in_place, wanted) << "t " << t << " n " << n;
        }
      }
    });
  }
}

// Of every length up to some hundred, at any address, also where a sum is a NaN or past the greatest number.
TEST_P(EachTargetAdds, ScansOfSmallFloatsAsWithoutVectors) {
  for (const gsort_dtype t : {GSORT_F16, GSORT_BF16})
    for (uint64_t n = 1; n <= 2100; n += n <= 300 ? 1 : 1 + random_() % 300) {
      std::vector<uint16_t> in = make_floats<uint16_t>(t, n % 3 == 0 ? 0 : n % 3 == 1 ? 3 : 12, n, random_);
      if (n % 5 == 0) in[random_() % n] = static_cast<uint16_t>(t == GSORT_F16 ? 0x7c00 : 0xff80);
      if (n % 7 == 0) in[n - 1 - random_() % n / 4] = 0xffff;
      if (n % 11 == 0) std::fill(in.begin(), in.end(), uint16_t{0x8000});
      for (const bool exclusive : {false, true}) {
        std::vector<uint16_t> wanted(n), out(n + 4, 0x5555), few(n + 4, 0x5555);
        Request r{Operation::kScan, {t, false, false}};
        r.n = n, r.in = in.data(), r.out = wanted.data(), r.exclusive = exclusive;
        force_vector_target(VectorTarget::kNone);
        one_.engine->execute(r);
        force_vector_target(GetParam());
        const uint64_t offset = 1 + n % 3;
        r.out = out.data() + offset;
        one_.engine->execute(r);
        const bool is_few = one_.engine->scan_few(t, exclusive, in.data(), few.data() + offset, n);
        ASSERT_EQ(is_few, n <= 1024 || GetParam() != VectorTarget::kNone);
        const std::vector<uint16_t> *const results[] = {&out, is_few ? &few : &out};
        for (const std::vector<uint16_t> *const result : results) {
          ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), result->begin() + static_cast<std::ptrdiff_t>(offset)))
              << "t " << t << " n " << n << " exclusive " << exclusive;
          ASSERT_EQ((*result)[offset - 1], 0x5555);
          ASSERT_TRUE(offset == 4 || (*result)[offset + n] == 0x5555);
        }
      }
    }
}

// A row of elements that change no sum, so that the results are what comes before it, rounded.
template <class Small>
void check_rounding(const SmallFloatScan *kernel, const std::vector<double> &sums) {
  const std::vector<uint16_t> in(70, 0x8000);
  for (const double sum : sums) {
    ASSERT_EQ(SmallRounding<Small>::round(sum), Small::from_double(sum)) << sum;
    if (kernel == nullptr) continue;
    uint16_t out[70];
    kernel->scan_row(in.data(), out, 1, sum);
    ASSERT_EQ(out[0], Small::from_double(sum)) << sum;
    if (sum != sum) {
      kernel->scan_row(in.data(), out, 70, sum);
      ASSERT_TRUE(std::count(out, out + 70, Small::kQuietNan) == 70);
    }
  }
}

// All numbers, the middles between them, and the doubles beside either; doubles of all kinds; and elements alone.
template <class Small>
void check_conversions(const SmallFloatScan *kernel, std::mt19937_64 &random) {
  std::vector<double> sums = {0.0,    -0.0,    HUGE_VAL, -HUGE_VAL, std::nan(""), -std::nan("1"),
                              5e-324, -5e-324, 1e-310,   1e308,     -1e308};
  for (uint32_t i = 0; i < Small::kInfinity; ++i) {
    const double low = Small::to_double(static_cast<uint16_t>(i)),
                 high = i + 1 < Small::kInfinity ? Small::to_double(static_cast<uint16_t>(i + 1))
                                                 : std::ldexp(1.0, Small::kBias + 1);
    for (const double x : {low, (low + high) / 2})
      for (const double y : {x, std::nextafter(x, 0.0), std::nextafter(x, HUGE_VAL)})
        sums.push_back(i % 3 == 0 ? -y : y);
  }
  for (int i = 0; i < 100000; ++i) {
    sums.push_back(double_of_bits(random()));
    sums.push_back(std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 320) - 230));
  }
  check_rounding<Small>(kernel, sums);
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i), wanted = Small::from_double(Small::to_double(bits));
    ASSERT_EQ(SmallRounding<Small>::round(SmallRounding<Small>::widen(bits)), wanted) << i;
    if (kernel == nullptr) continue;
    uint16_t out = 0;
    kernel->scan_row(&bits, &out, 1, -0.0);
    ASSERT_EQ(out, wanted) << i;
  }
}

TEST_P(EachTargetAdds, SmallFloatsAreRoundedOnce) {
  check_conversions<Half>(half_scan(), random_);
  check_conversions<BFloat16>(bfloat16_scan(), random_);
}

INSTANTIATE_TEST_SUITE_P(Targets, EachTargetAdds, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
