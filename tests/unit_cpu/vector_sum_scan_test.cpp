// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums and running sums: the same bits from every vector target and without vectors.
#include <cstring>
#include <limits>

#include "core/half.h"
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

INSTANTIATE_TEST_SUITE_P(Targets, EachTargetAdds, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
