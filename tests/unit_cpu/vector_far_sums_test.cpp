// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums of floats whose exponents are far from each other: by span and by exponent, from every vector target and without
// vectors, beside a Superaccumulator, which superaccumulator_test.cpp checks.
#include <cfloat>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/half.h"
#include "cpu/sum/exact_sum.h"
#include "cpu/vector/exponent_bins.h"
#include "vector_target_fixture.h"

namespace gsort_test {
namespace {

__extension__ typedef __int128 Int128;
constexpr gsort_dtype kFloatTypes[] = {GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64};

// What the bits of an element are.
struct FloatBits {
  gsort_dtype t;
  uint32_t width, fraction_bits;
  uint64_t exponents;  // of finite numbers

  explicit FloatBits(gsort_dtype type) : t(type), width(8 * dtype_bytes(type)) {
    fraction_bits = dtype_facts(type).mantissa_bits;
    exponents = (uint64_t{1} << (width - 1 - fraction_bits)) - 1;
  }
  uint64_t make(uint64_t negative, uint64_t exponent, uint64_t fraction) const {
    return negative << (width - 1) | exponent << fraction_bits | (fraction & most_fraction());
  }
  uint64_t most_fraction() const { return (uint64_t{1} << fraction_bits) - 1; }
  double value(uint64_t bits) const {
    if (t == GSORT_F16) return Half::to_double(static_cast<uint16_t>(bits));
    if (t == GSORT_BF16) return BFloat16::to_double(static_cast<uint16_t>(bits));
    if (t == GSORT_F64) return double_of_bits(bits);
    const uint32_t narrow = static_cast<uint32_t>(bits);
    float number;
    std::memcpy(&number, &narrow, sizeof number);
    return static_cast<double>(number);
  }
};

enum class Nature { kAll, kOneAndOutliers, kCancels, kTwoFar, kSubnormals, kSubnormalsLeft, kZeros };
constexpr Nature kNatures[] = {Nature::kAll,        Nature::kOneAndOutliers, Nature::kCancels, Nature::kTwoFar,
                               Nature::kSubnormals, Nature::kSubnormalsLeft, Nature::kZeros};

uint64_t make_element(const FloatBits &f, Nature nature, uint64_t i, uint64_t before, std::mt19937_64 &random) {
  const uint64_t word = random(), any = f.make(word & 1, word / 2 % f.exponents, random());
  switch (nature) {
    case Nature::kOneAndOutliers:
      if (i % 37 == 5) return f.make(0, i % 2 == 0 ? f.exponents - 1 : 0, word);
      return f.make(0, f.exponents / 2, f.most_fraction());
    case Nature::kCancels:
      return i % 2 == 1 ? before ^ f.make(1, 0, 0) : any;
    case Nature::kTwoFar:
      return f.make(0, f.exponents / 2 + (word % 2 == 0 ? f.exponents / 4 : 0) - f.exponents / 8, word >> 1);
    case Nature::kSubnormals:
      return i == 11 ? f.make(1, f.exponents - 1, word) : f.make(word & 1, 0, word >> 1);
    case Nature::kSubnormalsLeft:  // others, of any exponents, cancel each other
      return i % 4 == 0 ? any : i % 4 == 1 ? before ^ f.make(1, 0, 0) : f.make(i / 4 % 8 == 0 ? 1 : 0, 0, word);
    case Nature::kZeros:
      return word % 3 == 0 ? any : f.make(word >> 1 & 1, 0, 0);
    default:
      return any;
  }
}

// Elements as the type's bytes, and their exact sum.
struct Elements {
  std::vector<unsigned char> bytes;
  std::unique_ptr<Superaccumulator> sum = std::make_unique<Superaccumulator>();

  Elements() { sum->clear(); }
  void push_back(const FloatBits &f, uint64_t bits) {
    unsigned char word[8];
    std::memcpy(word, &bits, sizeof word);  // the lower bytes come first
    bytes.insert(bytes.end(), word, word + f.width / 8);
    sum->add(f.value(bits));
  }
};

Elements make_elements(const FloatBits &f, Nature nature, uint64_t n, std::mt19937_64 &random) {
  Elements elements;
  uint64_t bits = 0;
  for (uint64_t i = 0; i < n; ++i) {
    bits = make_element(f, nature, i, bits, random);
    elements.push_back(f, bits);
  }
  return elements;
}

double engine_sum(EngineUnderTest &engine, gsort_dtype t, const void *in, uint64_t n) {
  double sum = 0;
  Request r{Operation::kSum, {t, false, false}};
  r.n = n, r.in = in, r.out = &sum;
  engine.engine->execute(r);
  return sum;
}

class EachTargetAddsFar : public EachTarget {};

TEST_P(EachTargetAddsFar, NaturesAndLengths) {
  for (const gsort_dtype t : kFloatTypes)
    for (const Nature nature : kNatures)
      for (const uint64_t n :
           {1, 3, 64, 65, 127, 500, 512, 513, 1000, 2048, 2049, 4095, 4096, 4099, 8191, 8195, 70001}) {
        const FloatBits f(t);
        const Elements elements = make_elements(f, nature, n, random_);
        const uint64_t wanted = bits_of_double(elements.sum->sum());
        ASSERT_EQ(bits_of_double(engine_sum(one_, t, elements.bytes.data(), n)), wanted)
            << t << " nature " << static_cast<int>(nature) << " n " << n;
        ASSERT_EQ(bits_of_double(engine_sum(three_, t, elements.bytes.data(), n)), wanted)
            << t << " nature " << static_cast<int>(nature) << " n " << n;
      }
}

// Sums and means that a short call does, of elements at any address, where it does them: of any exponents if the sum is
// not at either end of what a double holds.
TEST_P(EachTargetAddsFar, FewOfEveryLength) {
  uint64_t done = 0, calls = 0;
  for (const gsort_dtype t : kFloatTypes)
    for (const Nature nature : kNatures)
      for (uint64_t n = 1; n <= 515; n += n < 300 ? 1 : 1 + random_() % 20) {
        const FloatBits f(t);
        const Elements elements = make_elements(f, nature, n, random_);
        std::vector<unsigned char> moved(16 + elements.bytes.size());
        const uint64_t offset = f.width / 8 * (n % 3);
        std::copy(elements.bytes.begin(), elements.bytes.end(), moved.begin() + static_cast<std::ptrdiff_t>(offset));
        const void *const in = moved.data() + offset;
        const bool ordinary = nature == Nature::kAll || nature == Nature::kOneAndOutliers || nature == Nature::kTwoFar;
        double sum = -1, mean = -1;
        bool rounds = false;
        const bool sum_done = one_.engine->sum_few(t, in, n, &sum, rounds),
                   mean_done = one_.engine->mean_few(t, in, n, &mean, rounds);
        const uint64_t wanted = bits_of_double(elements.sum->sum());
        ASSERT_EQ(bits_of_double(sum), sum_done ? wanted : bits_of_double(-1.0))
            << t << " nature " << static_cast<int>(nature) << " n " << n;
        if (mean_done) {
          ASSERT_EQ(bits_of_double(mean), bits_of_double(elements.sum->mean(n)))
              << t << " nature " << static_cast<int>(nature) << " n " << n;
        }
        calls += ordinary && n <= 512 ? 1 : 0;
        done += ordinary && n <= 512 && sum_done ? 1 : 0;
      }
  EXPECT_GT(done, calls / 100 * 90);
}

// Sums that lie near the middle of two doubles, or on it, by bits far below, and their means.
TEST_P(EachTargetAddsFar, FewNearTies) {
  Superaccumulator wanted;
  for (int turn = 0; turn < 30000; ++turn) {
    const int scale = static_cast<int>(random_() % 1700) - 800, below = 60 + static_cast<int>(random_() % 200);
    std::vector<double> x = {std::ldexp(static_cast<double>((uint64_t{1} << 52) + random_() % 4), scale),
                             std::ldexp(1.0, scale - 1), 0, 0};
    if (turn % 4 != 0) x[2] = std::ldexp(turn % 4 == 1 ? 1.0 : -1.0, scale - below);
    if (turn % 5 == 1) x[3] = std::ldexp(1.0, scale + 53 + turn % 7), x[1] *= 1 << (1 + turn % 7);
    if (turn % 7 < 3) x.resize(x.size() + static_cast<size_t>(turn % 100), -0.0);
    if (turn % 2 == 0)
      for (double &one : x) one = -one;
    std::shuffle(x.begin(), x.end(), random_);
    wanted.clear();
    for (const double one : x) wanted.add(one);
    double sum = -1, mean = -1;
    bool rounds = false;
    ASSERT_TRUE(one_.engine->sum_few(GSORT_F64, x.data(), x.size(), &sum, rounds));
    ASSERT_EQ(bits_of_double(sum), bits_of_double(wanted.sum())) << turn;
    if (one_.engine->mean_few(GSORT_F64, x.data(), x.size(), &mean, rounds)) {
      ASSERT_EQ(bits_of_double(mean), bits_of_double(wanted.mean(x.size()))) << turn;
    }
  }
}

// Means in the middle of two doubles, or beside it by bits far below.
TEST_P(EachTargetAddsFar, FewMeansNearTies) {
  Superaccumulator wanted;
  uint64_t done = 0;
  for (int turn = 0; turn < 30000; ++turn) {
    const uint64_t n = 3 + random_() % (turn % 10 == 0 ? 500 : 60);
    const uint64_t half_places = 2 * ((uint64_t{1} << 52) + (random_() >> 12)) + 1;
    const Int128 sum = static_cast<Int128>(half_places) * n;
    const int scale = static_cast<int>(random_() % 1700) - 800;
    std::vector<double> x(n, -0.0);
    x[0] = std::ldexp(static_cast<double>(static_cast<uint64_t>(sum >> 40)), scale + 40);
    x[1] = std::ldexp(static_cast<double>(static_cast<uint64_t>(sum & ((uint64_t{1} << 40) - 1))), scale);
    const double below = std::ldexp(1.0, scale - static_cast<int>(random_() % 200));
    if (turn % 4 != 0) x[2] = turn % 4 == 1 ? below : -below;
    if (turn % 2 == 0)
      for (double &one : x) one = -one;
    std::shuffle(x.begin(), x.end(), random_);
    wanted.clear();
    for (const double one : x) wanted.add(one);
    double mean = -1;
    bool rounds = false;
    if (!one_.engine->mean_few(GSORT_F64, x.data(), n, &mean, rounds)) continue;
    ++done;
    ASSERT_EQ(bits_of_double(mean), bits_of_double(wanted.mean(n))) << turn << " " << n;
  }
  EXPECT_GT(done, 3000u);
}

// The greatest words that so few elements leave, of either sign.
TEST_P(EachTargetAddsFar, FewSpansThatAreFull) {
  for (const int exponent : {-900, -897, -866, -865, 0, 1, 30, 31, 990, 1013})
    for (const double sign : {1.0, -1.0})
      for (const uint64_t n : {511, 512}) {
        std::vector<double> x(n, std::ldexp(sign * 0x1.fffffffffffffp0, exponent));
        x[7] = std::ldexp(sign, exponent - 120);
        Superaccumulator wanted;
        wanted.clear();
        for (const double one : x) wanted.add(one);
        double sum = -1;
        bool rounds = false;
        ASSERT_TRUE(one_.engine->sum_few(GSORT_F64, x.data(), n, &sum, rounds));
        ASSERT_EQ(sum, wanted.sum()) << exponent << " " << n;
      }
}

// Short and long parts of one array into one thread's memory, in any order.
TEST_P(EachTargetAddsFar, PartsOfAnyLengths) {
  const auto scratch = std::make_unique<SumScratch>();
  for (const gsort_dtype t : kFloatTypes)
    for (const Nature nature : kNatures)
      for (int trial = 0; trial < 4; ++trial) {
        constexpr uint64_t n = 60000;
        const FloatBits f(t);
        const Elements elements = make_elements(f, nature, n, random_);
        scratch->clear();
        for (uint64_t begin = 0; begin < n;) {
          const uint64_t length = std::min(random_() % (uint64_t{1} << (1 + random_() % 15)) + 1, n - begin);
          add_floats(t, elements.bytes.data(), {begin, begin + length}, *scratch, random_() % 3 != 0);
          begin += length;
        }
        scratch->gather();
        Superaccumulator &sum = scratch->gathered();
        ASSERT_EQ(sum.flags(), 0u);
        if (elements.sum->is_zero()) {
          ASSERT_TRUE(sum.is_zero());
        } else {
          ASSERT_EQ(bits_of_double(sum.sum()), bits_of_double(elements.sum->sum()))
              << t << " nature " << static_cast<int>(nature);
        }
      }
}

// So many elements of one exponent that sums are emptied on the way, and outliers in each block.
TEST_P(EachTargetAddsFar, MillionsOfOneExponent) {
  for (const gsort_dtype t : {GSORT_F32, GSORT_F64}) {
    const FloatBits f(t);
    for (const uint64_t exponent : {f.exponents / 2, f.exponents / 2 + 17}) {
      Elements elements;
      constexpr uint64_t n = (uint64_t{1} << 21) + 4711;
      for (uint64_t i = 0; i < n; ++i)
        elements.push_back(f, i % 300 == 7   ? f.make(1, f.exponents - 2, i)
                              : i % 300 == 8 ? f.make(1, 1, i)
                                             : f.make(0, exponent, f.most_fraction()));
      ASSERT_EQ(bits_of_double(engine_sum(one_, t, elements.bytes.data(), n)), bits_of_double(elements.sum->sum()))
          << t;
    }
  }
}

// So many elements of the greatest magnitude that lanes of one window or of two take as much as they may, and few that
// additions to the others would round.
TEST_P(EachTargetAddsFar, WindowsThatAreFull) {
  for (const gsort_dtype t : {GSORT_BF16, GSORT_F32, GSORT_F64}) {
    const FloatBits f(t);
    for (const uint64_t apart : {45, 70, 95})
      for (const uint64_t n : {4096, 20000}) {
        Elements elements;
        for (uint64_t i = 0; i < n; ++i)
          elements.push_back(
              f, i % 100 == 7 ? f.make(1, f.exponents / 2 - apart, i) : f.make(0, f.exponents / 2, f.most_fraction()));
        ASSERT_EQ(bits_of_double(engine_sum(one_, t, elements.bytes.data(), n)), bits_of_double(elements.sum->sum()))
            << t << " " << apart << " " << n;
      }
  }
}

// As many elements as there is room for, all into one sum: mantissas of all bits, shifted by as much as any are.
TEST_P(EachTargetAddsFar, SpansThatAreFull) {
  const auto limbs = std::make_unique<WideLimbs>();
  const auto sums = std::make_unique<ExponentSums>();
  const auto sum = std::make_unique<Superaccumulator>();
  const AddToSpans kernel = add_to_spans_kernel(FoldType::kDouble);
  for (const int exponent : {-1022, -992, -991, -32, 0, 1, 31, 960, 992, 1003})
    for (const double sign : {1.0, -1.0})
      for (const bool by_kernel : {false, true}) {
        if (by_kernel && kernel == nullptr) continue;
        const double element = std::ldexp(sign * 0x1.fffffffffffffp0, exponent);
        const std::vector<double> block(1024, element);
        limbs->reset(), sums->reset(), sum->clear();
        for (uint32_t i = 0; i < kSpanItemsMax; i += 1024) {
          sums->begin_spans(1024, {0, kSpans - 1}, *limbs);
          EXPECT_EQ(sums->is_full(), i + 1024 >= kSpanItemsMax / 2);
          if (by_kernel) {
            EXPECT_EQ(kernel(block.data(), 1024, sums->spans(), 0), static_cast<uint32_t>(exponent + 1023));
          } else {
            for (uint32_t k = 0; k < 1024; ++k) sums->add_to_span(element, 0, *limbs);
          }
        }
        sums->move_to(*limbs);
        limbs->move_to(*sum);
        ASSERT_EQ(sum->sum(), std::ldexp(element, 20)) << exponent << " " << by_kernel;
      }
}

// A kernel takes any number of elements, and tells of infinities and NaNs wherever they are.
TEST_P(EachTargetAddsFar, SpansTellOfTheGreatestExponent) {
  const AddToSpans kernel = add_to_spans_kernel(FoldType::kDouble);
  if (kernel == nullptr) GTEST_SKIP() << "no vectors";
  const std::vector<uint64_t> zeros(kSpanWords + 2);
  for (uint32_t n = 1; n < 20; ++n)
    for (uint32_t at = 0; at < n; ++at) {
      std::vector<double> x(n, 0x1p-1074);
      std::vector<uint64_t> sums = zeros;
      uint64_t *const aligned = sums.data() + (reinterpret_cast<uintptr_t>(sums.data()) % 16 == 0 ? 0 : 1);
      EXPECT_EQ(kernel(x.data(), n, aligned, kSpanCopyWords), 0u);
      x[at] = n % 2 == 0 ? -HUGE_VAL : std::nan("");
      EXPECT_EQ(kernel(x.data(), n, aligned, kSpanCopyWords), kSpecialExponent);
      x[at] = -DBL_MAX;
      EXPECT_EQ(kernel(x.data(), n, aligned, kSpanCopyWords), kSpecialExponent - 1);
    }
}

// Every bin with counts and fractions at both ends, beside integers of 128 bits.
TEST_P(EachTargetAddsFar, BinsThatAreRead) {
  if (bin_kernels() == nullptr) GTEST_SKIP() << "no vectors";
  const ReadBins kernel = bin_kernels()->read;
  std::vector<uint64_t> bins(kBinCopies * kBinCopyWords);
  for (int trial = 0; trial < 60; ++trial) {
    uint64_t wanted[2 * kBinGroups] = {}, words[2 * kBinGroups];
    for (uint32_t bin = 0; bin < kBins; ++bin) {
      const uint64_t counts[] = {0, 1, 2, kBinItemsMax, kBinItemsMax - 1, random_() % kBinItemsMax},
                     count = counts[trial < 5 ? trial : random_() % 6], most = count * 0x7fffff,
                     fractions = trial % 3 == 0   ? most
                                 : trial % 3 == 1 ? 0
                                                  : random_() % (most + 1);
      uint64_t rest = count * (kBinOne + (uint64_t{bin} << 23)) + fractions;
      const uint64_t mantissas = fractions + (count << 23);
      wanted[bin / 32 * 2] += (mantissas & 0xffffffffu) << bin % 32;
      wanted[bin / 32 * 2 + 1] += (mantissas >> 32) << bin % 32;
      for (uint32_t copy = 1; copy < kBinCopies; ++copy) {
        bins[copy * kBinCopyWords + bin] = rest / (copy + 1);
        rest -= rest / (copy + 1);
      }
      bins[bin] = rest;
    }
    kernel(bins.data(), words);
    for (uint32_t i = 0; i < 2 * kBinGroups; ++i) ASSERT_EQ(words[i], wanted[i]) << "trial " << trial << " word " << i;
  }
}

// Any number of elements into bins and windows, as many as there is room for in the end, of the greatest magnitude and
// of others.
TEST_P(EachTargetAddsFar, BinsAndWindows) {
  const auto limbs = std::make_unique<WideLimbs>();
  const auto sums = std::make_unique<ExponentSums>();
  const FloatBits f(GSORT_F32);
  for (const Nature nature : kNatures)
    for (const uint32_t n : {1, 3, 15, 16, 19, 20, 21, 39, 320, 4095, 4096, 4097, 9000}) {
      const Elements elements = make_elements(f, nature, n, random_);
      limbs->reset(), sums->reset();
      Superaccumulator sum;
      sum.clear();
      EXPECT_TRUE(sums->add(reinterpret_cast<const float *>(elements.bytes.data()), n, *limbs));
      sums->move_to(*limbs);
      limbs->move_to(sum);
      ASSERT_EQ(bits_of_double(sum.sum()), bits_of_double(elements.sum->sum())) << static_cast<int>(nature) << " " << n;
    }
  for (const float element : {FLT_MAX, -FLT_MAX, 0x1.fffffep-20f, -0x1.fffffep-82f, 0x1.fffffep-126f, -0x1p-149f}) {
    const std::vector<float> block(kBinBlockItems, element);
    limbs->reset(), sums->reset();
    Superaccumulator sum;
    sum.clear();
    for (uint32_t i = 0; i < kBinItemsMax; i += kBinBlockItems)
      EXPECT_TRUE(sums->add(block.data(), kBinBlockItems, *limbs));
    sums->move_to(*limbs);
    limbs->move_to(sum);
    ASSERT_EQ(sum.sum(), static_cast<double>(element) * kBinItemsMax);
  }
}

// Infinities and NaNs are told of, or come out of the bins, wherever they are.
TEST_P(EachTargetAddsFar, BinsAndWindowsTellOfSpecials) {
  const auto limbs = std::make_unique<WideLimbs>();
  const auto sums = std::make_unique<ExponentSums>();
  for (const float special : {HUGE_VALF, -HUGE_VALF, std::nanf("")})
    for (uint32_t n = 1; n < 70; ++n)
      for (uint32_t at = 0; at < n; ++at) {
        std::vector<float> x(n, -1.5f);
        x[at] = special;
        if (at > 0) x[at - 1] = FLT_MAX;
        limbs->reset(), sums->reset();
        const bool tells_all = sums->add(x.data(), n, *limbs);
        sums->move_to(*limbs);
        ASSERT_NE(tells_all, !limbs->has_special()) << n << " " << at;
        if (tells_all) {
          Superaccumulator sum;
          sum.clear();
          limbs->move_to(sum);
          ASSERT_EQ(bits_of_double(sum.sum()), bits_of_double(static_cast<double>(special) + 0)) << n << " " << at;
        }
      }
}

// Infinities and NaNs in one block or in several, of both signs or of one.
TEST_P(EachTargetAddsFar, SpecialsInBlocks) {
  for (const gsort_dtype t : kFloatTypes) {
    const FloatBits f(t);
    const uint64_t plus = f.make(0, f.exponents, 0), minus = f.make(1, f.exponents, 0), nan = f.make(1, f.exponents, 1);
    for (const uint64_t n : {uint64_t{70}, uint64_t{600}, uint64_t{3000}, uint64_t{40000}})
      for (const uint64_t first : {plus, minus, nan})
        for (const uint64_t second : {plus, minus, nan, f.make(0, 0, 0)}) {
          Elements elements;
          for (uint64_t i = 0; i < n; ++i)
            elements.push_back(f, i == n / 3       ? first
                                  : i == n - n / 4 ? second
                                                   : make_element(f, Nature::kAll, i, 0, random_));
          ASSERT_EQ(bits_of_double(engine_sum(one_, t, elements.bytes.data(), n)), bits_of_double(elements.sum->sum()))
              << t << " n " << n;
        }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EachTargetAddsFar, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
