// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums, means and scans of the CPU engine.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <memory>

#include "core/half.h"
#include "core/scan_order.h"
#include "cpu/engine/float_environment.h"
#include "cpu/scan/threads.h"
#include "cpu/sum/exact_sum.h"
#include "engine_fixture.h"

namespace gsort_test {
namespace {

__extension__ typedef __int128 Int128;

double run_to_double(EngineUnderTest &engine, uint32_t reduce_op, gsort_dtype t, const void *in, uint64_t n) {
  double result = 0;
  Request r{reduce_op == 0 ? Operation::kSum : Operation::kReduce, {t, false, false}};
  r.n = n, r.in = in, r.out = &result, r.reduce_op = reduce_op;
  engine.engine->execute(r);
  return result;
}

// The sum of doubles element by element, which superaccumulator_test.cpp checks.
Superaccumulator exact_accumulator(const std::vector<double> &x) {
  Superaccumulator sum;
  sum.clear();
  for (const double v : x) sum.add(v);
  return sum;
}
double exact_sum(const std::vector<double> &x) { return exact_accumulator(x).sum(); }

// The processor adds or multiplies when these are called, and not later.
double (*volatile added)(double, double) = [](double a, double b) { return a + b; };
double (*volatile multiplied)(double, double) = [](double a, double b) { return a * b; };

TEST(RoundingWatch, SaysWhatWasRounded) {
  EXPECT_EQ(added(1, 0x1p-60), 1);  // the caller's thread has rounded before
  {
    RoundingWatch watch;
    ASSERT_TRUE(watch.works());
    watch.begin();
    EXPECT_EQ(added(1, 0x1p-50), 1 + 0x1p-50);
    EXPECT_TRUE(watch.was_exact());
    EXPECT_EQ(added(1, 0x1p-60), 1);
    EXPECT_FALSE(watch.was_exact());
    watch.begin();
    EXPECT_TRUE(watch.was_exact());
    EXPECT_EQ(multiplied(DBL_MAX, 2), HUGE_VAL);
    EXPECT_FALSE(watch.was_exact());
    watch.begin();
    EXPECT_TRUE(std::isnan(added(HUGE_VAL, -HUGE_VAL)));
    EXPECT_FALSE(watch.was_exact());
    watch.begin();
  }
  const RoundingWatch after;
  EXPECT_FALSE(after.was_exact());
}

// Doubles of several natures; shape 4 spans 600 binades and cancels. Of 6 no addition of a block rounds, but those of
// blocks do; of 7 the sum of two parts is a tie; 8 are near each other but for a few; 9 are of every exponent.
std::vector<double> make_doubles(int shape, uint64_t n, std::mt19937_64 &random) {
  std::vector<double> x(n);
  std::normal_distribution<double> normal;
  for (uint64_t i = 0; i < n; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    switch (shape) {
      case 0:
        x[i] = unit;
        break;
      case 1:
        x[i] = normal(random);
        break;
      case 2:
        x[i] = std::ldexp(unit - 0.5, -1040);
        break;
      case 3:
        x[i] = std::ldexp(unit - 0.5, 1020);
        break;
      case 4:
        x[i] = i % 2 == 1 ? -x[i - 1] : std::ldexp(unit, static_cast<int>(random() % 600) - 300);
        break;
      case 6:
        x[i] = std::ldexp(unit - 0.5, static_cast<int>(i / 1024 % 16) * 40 - 300);
        break;
      case 7:
        x[i] = i == 0 ? 0x1p60 : (i == 1 ? 0x1p7 : (i == 2 ? -0x1p-40 : (i == 3 ? 0x1p-40 : 0)));
        break;
      case 8:
        x[i] = i % 3000 == 7 || i % 5000 == 11 ? std::ldexp(unit, -200) : unit;
        break;
      case 9:
        x[i] = std::ldexp(unit - 0.5, static_cast<int>(random() % 2090) - 1074);
        break;
      default:
        x[i] = i % 3000 == 7 ? (i % 2 ? 5e-324 : 1e300) : unit;
        break;
    }
  }
  if (shape == 4 && n > 0) x[n / 2] = std::nextafter(x[n / 2], 0.0);
  return x;
}

TEST(CpuSum, DoublesOfManyNatures) {
  std::mt19937_64 random(11);
  EngineUnderTest one(1), three(3);
  for (int shape = 0; shape < 10; ++shape) {
    for (const uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{63}, uint64_t{1000}, uint64_t{2047}, uint64_t{2048},
                             uint64_t{2049}, uint64_t{4100}, uint64_t{70000}, uint64_t{900001}}) {
      const std::vector<double> x = make_doubles(shape, n, random);
      Superaccumulator sum = exact_accumulator(x);
      const uint64_t wanted = bits_of_double(sum.sum());
      EXPECT_EQ(bits_of_double(run_to_double(one, 0, GSORT_F64, x.data(), n)), wanted) << shape << " " << n;
      const double mean = run_to_double(one, GSORT_MEAN, GSORT_F64, x.data(), n);
      EXPECT_EQ(bits_of_double(mean), bits_of_double(sum.mean(n))) << shape << " " << n;
      EXPECT_EQ(bits_of_double(run_to_double(three, 0, GSORT_F64, x.data(), n)), wanted) << shape << " " << n;
    }
  }
}

TEST(CpuSum, SpecialsAnywhere) {
  EngineUnderTest engine(2);
  for (const uint64_t n : {uint64_t{3}, uint64_t{5000}, uint64_t{600000}}) {
    std::vector<double> x(n, 1.0);
    x[n / 2] = -NAN;
    EXPECT_EQ(bits_of_double(run_to_double(engine, 0, GSORT_F64, x.data(), n)), kDoubleQuietNan);
    x[n / 2] = -INFINITY;
    EXPECT_EQ(run_to_double(engine, 0, GSORT_F64, x.data(), n), -INFINITY);
    EXPECT_EQ(run_to_double(engine, GSORT_MEAN, GSORT_F64, x.data(), n), -INFINITY);
    x[0] = INFINITY;
    EXPECT_EQ(bits_of_double(run_to_double(engine, 0, GSORT_F64, x.data(), n)), kDoubleQuietNan);
    std::vector<double> zeros(n, -0.0);
    EXPECT_EQ(bits_of_double(run_to_double(engine, 0, GSORT_F64, zeros.data(), n)), kDoubleSign);
    zeros[n - 1] = 0.0;
    EXPECT_EQ(bits_of_double(run_to_double(engine, 0, GSORT_F64, zeros.data(), n)), 0u);
  }
  EXPECT_TRUE(std::isnan(run_to_double(engine, GSORT_MEAN, GSORT_U8, nullptr, 0)));
  EXPECT_TRUE(std::isnan(run_to_double(engine, GSORT_MEAN, GSORT_F32, nullptr, 0)));
}

// More elements of one exponent than a word holds, of the greatest fraction.
template <class F>
void check_full_bins(F element) {
  const auto limbs = std::make_unique<WideLimbs>();
  const auto sums = std::make_unique<ExponentSums>();
  constexpr uint32_t items = 1024, blocks = sizeof(F) == 4 ? 512 : 385;  // of floats as many as there is room for
  const std::vector<F> block(items, element);
  limbs->reset(), sums->reset();
  for (uint32_t b = 0; b < blocks; ++b) sums->add(block.data(), items, *limbs);
  EXPECT_EQ(sums->is_full(), sizeof(F) == 4);
  sums->move_to(*limbs);
  Superaccumulator sum;
  sum.clear();
  limbs->move_to(sum);
  std::vector<double> wanted(blocks * items, static_cast<double>(element));
  EXPECT_EQ(bits_of_double(sum.sum()), bits_of_double(exact_sum(wanted)));
}
TEST(CpuSum, BinsThatAreFull) {
  for (const double sign : {1.0, -1.0}) {
    check_full_bins(sign * 0x1.fffffffffffffp0);
    check_full_bins(sign * 0x1.fffffffffffffp-1022);
    check_full_bins(sign * 0x0.fffffffffffffp-1022);
    check_full_bins(static_cast<float>(sign * 0x1.fffffep5));
    check_full_bins(static_cast<float>(sign * 0x1.fffffep127));
    check_full_bins(static_cast<float>(sign * 0x1p-126));
    check_full_bins(static_cast<float>(sign * 0x0.fffffep-126));
  }
}

// The short way to a rounded sum, beside the Superaccumulator's: sums in the middle of two doubles, above and below.
TEST(CpuSum, ShortWayToTheResult) {
  std::mt19937_64 random(14);
  const auto limbs = std::make_unique<WideLimbs>();
  uint32_t known = 0;
  for (int top = -1074; top <= 1023; ++top)
    for (int trial = 0; trial < 12; ++trial) {
      const double sign = trial % 2 ? -1 : 1,
                   fraction = trial % 3 ? 1 + static_cast<double>(random() >> 11) * 0x1p-53 : 1;
      std::vector<double> x{sign * std::ldexp(fraction, top)};
      if (trial % 4 != 0) x.push_back(sign * std::ldexp(1.0, top - 53));
      if (trial % 5 != 0) x.push_back((trial % 5 == 1 ? -1 : 1) * std::ldexp(1.0, top - 53 - trial * trial * 7));
      if (trial == 11) x.push_back(-2 * x[0]);
      limbs->reset();
      for (const double element : x) limbs->add(element);
      Superaccumulator wanted = exact_accumulator(x);
      double result = 0;
      PlainSums rounded;
      if (!limbs->round(rounded.high, rounded.low)) continue;
      if (rounded.finish(7, false, result)) {
        ++known;
        ASSERT_EQ(bits_of_double(rounded.high), bits_of_double(result)) << top << " " << trial;
        ASSERT_EQ(bits_of_double(result), bits_of_double(wanted.sum())) << top << " " << trial;
      }
      if (rounded.finish(7, true, result)) {
        ASSERT_EQ(bits_of_double(result), bits_of_double(wanted.mean(7))) << top << " " << trial;
      }
    }
  EXPECT_GT(known, 20000u);
}

// Infinities and NaNs among elements of all exponents, which are added to bins.
TEST(CpuSum, SpecialsAmongWideElements) {
  std::mt19937_64 random(13);
  EngineUnderTest engine(1);
  std::vector<double> x = make_doubles(9, 20000, random);
  std::vector<float> narrow(x.size());
  for (const double special : {HUGE_VAL, -HUGE_VAL, std::nan(""), -std::nan(""), 0.0})
    for (const double other : {0.0, HUGE_VAL}) {
      x[15000] = special, x[16001] = other;
      for (size_t i = 0; i < x.size(); ++i)
        narrow[i] = static_cast<float>(std::ldexp(x[i], -(static_cast<int>(i % 40))));
      const std::vector<double> widened(narrow.begin(), narrow.end());
      EXPECT_EQ(bits_of_double(run_to_double(engine, 0, GSORT_F64, x.data(), x.size())), bits_of_double(exact_sum(x)));
      EXPECT_EQ(bits_of_double(run_to_double(engine, 0, GSORT_F32, narrow.data(), x.size())),
                bits_of_double(exact_sum(widened)));
    }
}

TEST(CpuSum, NarrowFloatsOfAllBits) {
  std::mt19937_64 random(12);
  EngineUnderTest engine(3);
  for (const uint64_t n : {uint64_t{1000}, uint64_t{5001}, uint64_t{700001}}) {
    std::vector<uint16_t> halves(n), brains(n);
    std::vector<float> floats(n);
    std::vector<double> half_values, brain_values, float_values;
    for (uint64_t i = 0; i < n; ++i) {
      halves[i] = static_cast<uint16_t>(random() % 0x7c00 | (random() & 0x8000));
      brains[i] = static_cast<uint16_t>(random() % 0x7f80 | (random() & 0x8000));
      const uint32_t bits = static_cast<uint32_t>(random() % 0x7f800000u | (random() & 0x80000000u));
      std::memcpy(&floats[i], &bits, sizeof bits);
      half_values.push_back(Half::to_double(halves[i]));
      brain_values.push_back(BFloat16::to_double(brains[i]));
      float_values.push_back(static_cast<double>(floats[i]));
    }
    EXPECT_EQ(run_to_double(engine, 0, GSORT_F16, halves.data(), n), exact_sum(half_values));
    EXPECT_EQ(run_to_double(engine, 0, GSORT_BF16, brains.data(), n), exact_sum(brain_values));
    EXPECT_EQ(run_to_double(engine, 0, GSORT_F32, floats.data(), n), exact_sum(float_values));
    halves[n / 2] = Half::kInfinity;
    EXPECT_EQ(run_to_double(engine, 0, GSORT_F16, halves.data(), n), INFINITY);
  }
}

template <class T>
void check_integers(gsort_dtype t, std::mt19937_64 &random) {
  EngineUnderTest engine(2);
  for (const uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{600001}}) {
    std::vector<T> x(n), scanned(n), exclusive;
    Int128 total = 0;
    for (T &v : x) v = static_cast<T>(random() | (sizeof(T) == 8 ? uint64_t{1} << 62 : 0)), total += v;
    uint64_t sum = 1;
    Request r{Operation::kSum, {t, false, false}};
    r.n = n, r.in = x.data(), r.out = &sum;
    engine.engine->execute(r);
    EXPECT_EQ(sum, static_cast<uint64_t>(total));
    if (n > 0) {
      const double mean = run_to_double(engine, GSORT_MEAN, t, x.data(), n);
      const long double wanted = static_cast<long double>(total) / static_cast<long double>(n);
      EXPECT_LE(std::fabs(static_cast<long double>(mean) - wanted), std::fabs(wanted) * 0x1.01p-53L);
    }
    r.operation = Operation::kScan, r.out = scanned.data();
    engine.engine->execute(r);
    exclusive = x;
    r.in = exclusive.data(), r.out = exclusive.data(), r.exclusive = true;
    engine.engine->execute(r);
    T before = 0;
    for (uint64_t i = 0; i < n; ++i) {
      ASSERT_EQ(exclusive[i], before) << i;
      before = static_cast<T>(static_cast<uint64_t>(before) + static_cast<uint64_t>(x[i]));
      ASSERT_EQ(scanned[i], before) << i;
    }
  }
}

TEST(CpuSum, IntegersOfEveryType) {
  std::mt19937_64 random(13);
  check_integers<uint8_t>(GSORT_U8, random);
  check_integers<int8_t>(GSORT_I8, random);
  check_integers<uint16_t>(GSORT_U16, random);
  check_integers<int16_t>(GSORT_I16, random);
  check_integers<uint32_t>(GSORT_U32, random);
  check_integers<int32_t>(GSORT_I32, random);
  check_integers<uint64_t>(GSORT_U64, random);
  check_integers<int64_t>(GSORT_I64, random);
}

// The order of docs/scan-order.md, element by element, with a prefix function at every level.
void kogge_stone(std::vector<double> &t) {
  for (size_t d = 1; d < t.size(); d *= 2) {
    const std::vector<double> before = t;
    for (size_t i = d; i < t.size(); ++i) t[i] = before[i - d] + before[i];
  }
}

double at(const std::vector<double> &x, uint64_t i) { return i < x.size() ? x[i] : -0.0; }

// What stands before each chunk and each row of a tile: running sums of the chunks' totals, and of the rows'.
struct TileSums {
  std::vector<std::vector<double>> chunks{16, std::vector<double>(32)};
  std::vector<double> rows = std::vector<double>(16);

  TileSums(const std::vector<double> &x, uint64_t tile) {
    for (uint64_t row = 0; row < 16; ++row) {
      for (uint64_t c = 0; c < 32; ++c) {
        const uint64_t begin = (tile * 512 + row * 32 + c) * 16;
        double sum = at(x, begin);
        for (uint64_t i = 1; i < 16; ++i) sum = sum + at(x, begin + i);
        chunks[row][c] = sum;
      }
      kogge_stone(chunks[row]);
      rows[row] = chunks[row][31];
    }
    kogge_stone(rows);
  }
};

// What stands before each tile, from the tiles' totals.
std::vector<double> tile_prefixes(const std::vector<double> &totals) {
  std::vector<double> prefixes(totals.size());
  double group_prefix = -0.0;
  for (uint64_t begin = 0; begin < totals.size(); begin += 256) {
    std::vector<double> runs(32);
    for (uint64_t run = 0; run < 32; ++run) {
      runs[run] = at(totals, begin + run * 8);
      for (uint64_t t = 1; t < 8; ++t) runs[run] = runs[run] + at(totals, begin + run * 8 + t);
    }
    kogge_stone(runs);
    for (uint64_t t = 0; t < 256 && begin + t < totals.size(); ++t) {
      double inside = -0.0;
      for (uint64_t u = t / 8 * 8; u < t; ++u) inside = inside + at(totals, begin + u);
      prefixes[begin + t] = group_prefix + ((t < 8 ? -0.0 : runs[t / 8 - 1]) + inside);
    }
    group_prefix = group_prefix + runs[31];
  }
  return prefixes;
}

std::vector<double> ordered_scan(const std::vector<double> &x) {
  const uint64_t tiles = (x.size() + kScanTileItems - 1) / kScanTileItems;
  std::vector<double> out(x.size()), totals(tiles);
  for (uint64_t tile = 0; tile < tiles; ++tile) totals[tile] = TileSums(x, tile).rows[15];
  const std::vector<double> prefixes = tile_prefixes(totals);
  for (uint64_t tile = 0; tile < tiles; ++tile) {
    const TileSums sums(x, tile);
    for (uint64_t i = tile * kScanTileItems; i < x.size() && i < (tile + 1) * kScanTileItems; ++i) {
      const uint64_t row = i / 512 % 16, c = i / 16 % 32;
      const double row_prefix = prefixes[tile] + (row == 0 ? -0.0 : sums.rows[row - 1]);
      const double prefix = row_prefix + (c == 0 ? -0.0 : sums.chunks[row][c - 1]);
      double sum = x[i / 16 * 16];
      for (uint64_t j = i / 16 * 16 + 1; j <= i; ++j) sum = sum + x[j];
      out[i] = prefix + sum;
    }
  }
  return out;
}

TEST(CpuScan, DoublesInTheStatedOrder) {
  std::mt19937_64 random(14);
  EngineUnderTest one(1), three(3);
  for (const uint64_t n : {0, 1, 15, 16, 17, 511, 513, 8191, 8192, 8193, 100000, 2097152, 5000001}) {
    std::vector<double> x = make_doubles(1, n, random);
    if (n > 20) x[3] = 1e18, x[n - 3] = -0.0;
    if (n == 8193) x[8000] = -NAN;
    const std::vector<double> wanted = ordered_scan(x);
    std::vector<double> out(n), in_place = x;
    Request r{Operation::kScan, {GSORT_F64, false, false}};
    r.n = n, r.in = x.data(), r.out = out.data();
    one.engine->execute(r);
    r.in = in_place.data(), r.out = in_place.data(), r.exclusive = true;
    three.engine->execute(r);
    const auto canonical = [](double v) { return std::isnan(v) ? kDoubleQuietNan : bits_of_double(v); };
    for (uint64_t i = 0; i < n; ++i) {
      ASSERT_EQ(bits_of_double(out[i]), canonical(wanted[i])) << "n " << n << " i " << i;
      ASSERT_EQ(bits_of_double(in_place[i]), i == 0 ? 0 : canonical(wanted[i - 1])) << "n " << n << " i " << i;
    }
  }
}

// Threads from 1 MB on where there are four of them: fewer take longer than one.
TEST(CpuScan, IntegersOnThreadsThatPay) {
  constexpr uint64_t mb = 1 << 20;
  for (const uint32_t threads : {1u, 2u, 3u, 64u}) EXPECT_EQ(integer_scan_threads(mb - 1, threads), 1u);
  for (const uint32_t threads : {1u, 2u, 3u}) EXPECT_EQ(integer_scan_threads(100 * mb, threads), 1u);
  EXPECT_EQ(integer_scan_threads(mb, 4), 4u);
  EXPECT_EQ(integer_scan_threads(mb, 16), 8u);
  EXPECT_EQ(integer_scan_threads(2 * mb - 1, 16), 15u);
  EXPECT_EQ(integer_scan_threads(100 * mb, 16), 16u);
}

template <class T>
void check_integer_scan(gsort_dtype t, uint64_t n, std::mt19937_64 &random) {
  EngineUnderTest one(1), five(5);
  std::vector<T> in(n), wanted(n), out(n);
  for (T &x : in) x = static_cast<T>(random());
  T sum = 0;
  for (uint64_t i = 0; i < n; ++i) wanted[i] = sum = static_cast<T>(sum + in[i]);
  for (EngineUnderTest *const engine : {&one, &five}) {
    Request r{Operation::kScan, {t, false, false}};
    r.n = n, r.in = in.data(), r.out = out.data();
    engine->engine->execute(r);
    EXPECT_TRUE(out == wanted) << "n " << n;
    std::vector<T> in_place = in;
    r.in = in_place.data(), r.out = in_place.data(), r.exclusive = true;
    engine->engine->execute(r);
    EXPECT_EQ(in_place[0], T{0});
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end() - 1, in_place.begin() + 1)) << "n " << n;
  }
}

TEST(CpuScan, IntegersOnOneThreadAndOnSeveral) {
  std::mt19937_64 random(16);
  for (const uint64_t mb : {1, 4, 5}) {
    check_integer_scan<uint8_t>(GSORT_U8, (mb << 20) + 3, random);
    check_integer_scan<uint16_t>(GSORT_U16, (mb << 19) + 1, random);
    check_integer_scan<uint32_t>(GSORT_U32, (mb << 18) + 5, random);
    check_integer_scan<uint64_t>(GSORT_U64, (mb << 17) + 7, random);
  }
}

TEST(CpuScan, NarrowFloatsAreRoundedOnce) {
  std::mt19937_64 random(15);
  EngineUnderTest engine(2);
  const uint64_t n = 40000;
  std::vector<uint16_t> halves(n), out(n);
  std::vector<float> floats(n), sums(n);
  std::vector<double> half_values(n), float_values(n);
  for (uint64_t i = 0; i < n; ++i) {
    halves[i] = static_cast<uint16_t>(random() % 0x4000 | (random() & 0x8000));
    half_values[i] = Half::to_double(halves[i]);
    floats[i] = static_cast<float>(static_cast<double>(random() % 1000003) * 0.37 - 180000.0);
    float_values[i] = static_cast<double>(floats[i]);
  }
  Request r{Operation::kScan, {GSORT_F16, false, false}};
  r.n = n, r.in = halves.data(), r.out = out.data();
  engine.engine->execute(r);
  const std::vector<double> wanted = ordered_scan(half_values);
  for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(out[i], Half::from_double(wanted[i])) << i;
  r.order.dtype = GSORT_F32, r.in = floats.data(), r.out = sums.data();
  engine.engine->execute(r);
  const std::vector<double> wanted_floats = ordered_scan(float_values);
  for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(sums[i], static_cast<float>(wanted_floats[i])) << i;
}

}  // namespace
}  // namespace gsort_test
