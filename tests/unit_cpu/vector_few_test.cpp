// SPDX-License-Identifier: MIT OR Apache-2.0
// Short calls that are done at once: merges, segments, top-k, running sums and means, from every vector target and
// without vectors, between pages that nobody may touch.
#include <cmath>

#include "core/superaccumulator.h"
#include "fenced_array.h"
#include "vector_target_fixture.h"

namespace gsort_test {
namespace {

class EachTargetDoesFew : public EachTarget {
 protected:
  bool has_vectors() const { return GetParam() != VectorTarget::kNone; }
  uint64_t below(uint64_t n) { return random_() % n; }

  template <class U>
  std::vector<U> some_keys(uint64_t n) {
    return make_keys<U>(static_cast<uint32_t>(random_() % kShapes), n, random_);
  }
  template <class U>
  static void sort_keys(const KeyOrder &order, typename std::vector<U>::iterator begin,
                        typename std::vector<U>::iterator end) {
    std::sort(begin, end, [&](U x, U y) { return comes_before(order, x, y); });
  }
};

TEST_P(EachTargetDoesFew, Merges) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    const auto before = [&](U x, U y) { return comes_before(order, x, y); };
    for (uint64_t n = 1; n <= 1024; n += n < 80 ? 1 : 1 + below(n / 4)) {
      const uint64_t turn = n % 4, a_n = turn == 0 ? n / 2 : turn == 1 ? below(n + 1) : turn == 2 ? n : n / 9;
      std::vector<U> a = some_keys<U>(a_n), b = some_keys<U>(n - a_n), wanted(n);
      sort_keys<U>(order, a.begin(), a.end());
      sort_keys<U>(order, b.begin(), b.end());
      std::merge(a.begin(), a.end(), b.begin(), b.end(), wanted.begin(), before);
      const bool behind = n % 3 != 0;
      const FencedArray<U> a_in(a, behind), b_in(b, behind), out(std::vector<U>(n, U{0x55}), behind);
      ASSERT_TRUE(one_.engine->merge_few({order, a_in.data(), a_n, b_in.data(), n - a_n, out.data()}));
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.data())) << "t " << order.dtype << " n " << n;
    }
  });
}

// Inputs that are not in order leave the same keys in some order.
TEST_P(EachTargetDoesFew, MergesLoseNothingOfUnsortedInputs) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint64_t n = 2; n <= 600; n += 1 + below(40)) {
      const std::vector<U> a = some_keys<U>(n / 2), b = some_keys<U>(n - n / 2);
      std::vector<U> keys = a, out(n);
      keys.insert(keys.end(), b.begin(), b.end());
      ASSERT_TRUE(one_.engine->merge_few({order, a.data(), a.size(), b.data(), b.size(), out.data()}));
      sort_keys<U>(order, keys.begin(), keys.end());
      sort_keys<U>(order, out.begin(), out.end());
      ASSERT_EQ(keys, out) << "t " << order.dtype << " n " << n;
    }
  });
}

TEST_P(EachTargetDoesFew, SortsSegments) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    const uint64_t sure = order.nan_last && sizeof(U) >= 4 ? 0 : 512;  // so many are done wherever there are vectors
    for (uint64_t n = 1; n <= 1024; n += 1 + below(n < 60 ? 3 : 60)) {
      const uint64_t segments = 1 + below(n < 30 ? 5 : 60);
      std::vector<uint64_t> offsets(segments + 1);
      for (uint64_t &offset : offsets) offset = below(n + 1);
      std::sort(offsets.begin(), offsets.end());
      if (n % 2 == 0) offsets.front() = 0, offsets.back() = n;
      const std::vector<U> keys = some_keys<U>(n);
      std::vector<U> wanted = keys;
      const auto place = [&](uint64_t offset) { return wanted.begin() + static_cast<std::ptrdiff_t>(offset); };
      for (uint64_t s = 0; s < segments; ++s) sort_keys<U>(order, place(offsets[s]), place(offsets[s + 1]));
      const bool behind = n % 3 != 0;
      const FencedArray<U> in(keys, behind), out(std::vector<U>(n, U{0x55}), behind);
      const FencedArray<uint64_t> cuts(offsets, behind);
      for (U *const to : {out.data(), in.data()}) {
        const bool done = one_.engine->sort_few_segments({order, in.data(), to, n, cuts.data(), segments});
        ASSERT_TRUE(done || !has_vectors() || n > sure) << "t " << order.dtype << " n " << n;
        const U untouched = to == out.data() ? U{0x55} : keys[0];
        ASSERT_TRUE(done ? std::equal(wanted.begin(), wanted.end(), to) : to[0] == untouched)
            << "t " << order.dtype << " n " << n << " in place " << (to == in.data());
      }
    }
  });
}

TEST_P(EachTargetDoesFew, LeavesWrongOffsetsToTheChecks) {
  const KeyOrder order{GSORT_U32, false, false};
  const std::vector<uint32_t> keys = {5, 4, 3, 2, 1};
  std::vector<uint32_t> out(5, 9);
  for (const std::vector<uint64_t> &offsets :
       std::vector<std::vector<uint64_t>>{{0, 3, 2, 5}, {0, 6}, {6, 6}, {3, 0}}) {
    EXPECT_FALSE(
        one_.engine->sort_few_segments({order, keys.data(), out.data(), 5, offsets.data(), offsets.size() - 1}));
    EXPECT_EQ(std::vector<uint32_t>(5, 9), out);
  }
}

TEST_P(EachTargetDoesFew, Selects) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint64_t n = 1; n <= 4096; n += 1 + below(n < 70 ? 3 : n / 3)) {
      for (const uint64_t most : {uint64_t{1}, uint64_t{12}, uint64_t{45}, n}) {
        const uint64_t k = 1 + below(most < n ? most : n);
        const std::vector<U> keys = some_keys<U>(n);
        const auto wanted = order_of<uint64_t>(order, keys);
        const FencedArray<U> in(keys, k % 3 != 0);
        for (const uint32_t index_bytes : {0u, 4u, 8u}) {
          const bool values_wanted = index_bytes == 0 || n % 2 == 0;
          std::vector<U> values(k + 1, U{0x55});
          std::vector<uint32_t> four(k + 1, 0x55);
          std::vector<uint64_t> eight(k + 1, 0x55);
          void *const indices = index_bytes == 4 ? static_cast<void *>(four.data()) : eight.data();
          const bool done = one_.engine->topk_few({order, in.data(), n, k, values_wanted ? values.data() : nullptr,
                                                   index_bytes == 0 ? nullptr : indices, index_bytes});
          ASSERT_TRUE(done || !has_vectors() || n > 100 || (order.nan_last && index_bytes == 0)) << n << " k " << k;
          for (uint64_t i = 0; i <= k; ++i) {
            const bool written = done && i < k;
            ASSERT_EQ(values[i], written && values_wanted ? keys[wanted[i]] : U{0x55})
                << "t " << order.dtype << " n " << n << " k " << k << " i " << i << " index " << index_bytes;
            ASSERT_EQ(four[i], written && index_bytes == 4 ? wanted[i] : 0x55) << "n " << n << " k " << k;
            ASSERT_EQ(eight[i], written && index_bytes == 8 ? wanted[i] : 0x55) << "n " << n << " k " << k;
          }
        }
      }
    }
  });
}

// All of the best lie in one set, or there are more equal to the bound, or before it, than there is room for.
TEST_P(EachTargetDoesFew, SelectsWhereTheBoundSaysLittle) {
  const KeyOrder order{GSORT_I32, false, false};
  for (const uint64_t n : {uint64_t{256}, uint64_t{1000}, uint64_t{4096}}) {
    for (const uint64_t step : {uint64_t{1}, uint64_t{16}, uint64_t{32}, uint64_t{64}, uint64_t{128}}) {
      for (const uint64_t k : {uint64_t{1}, uint64_t{5}, uint64_t{10}}) {
        std::vector<uint32_t> keys(n, 1000000);
        for (uint64_t i = 3; i < n; i += step) keys[i] = static_cast<uint32_t>(i % 7 + (step == 1 ? 0 : n - i));
        const auto wanted = order_of<uint64_t>(order, keys);
        std::vector<uint32_t> values(k, 0x55), alone(k, 0x55);
        std::vector<uint64_t> indices(k, 0x55);
        const bool done = one_.engine->topk_few({order, keys.data(), n, k, values.data(), indices.data(), 8});
        const bool done_alone = one_.engine->topk_few({order, keys.data(), n, k, alone.data(), nullptr, 8});
        for (uint64_t i = 0; i < k; ++i) {
          ASSERT_EQ(values[i], done ? keys[wanted[i]] : 0x55) << "n " << n << " step " << step << " k " << k;
          ASSERT_EQ(indices[i], done ? wanted[i] : 0x55) << "n " << n << " step " << step << " k " << k;
          ASSERT_EQ(alone[i], done_alone ? keys[wanted[i]] : 0x55) << "n " << n << " step " << step << " k " << k;
        }
      }
    }
  }
}

// Rows of all lengths that have a way of their own, as a matrix with something behind each row.
TEST_P(EachTargetDoesFew, SelectsInRows) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t columns : {uint64_t{3}, uint64_t{40}, uint64_t{129}, uint64_t{600}, uint64_t{3000}}) {
      for (const uint64_t most : {uint64_t{1}, uint64_t{8}, uint64_t{60}, columns}) {
        const uint64_t k = 1 + below(most < columns ? most : columns), rows = 3, stride = columns + below(5);
        const std::vector<U> keys = some_keys<U>(rows * stride);
        std::vector<U> values(rows * k), alone(rows * k);
        std::vector<uint32_t> indices(rows * k);
        Request r{Operation::kTopkRows, order};
        r.n = rows * columns, r.in = keys.data(), r.k = k, r.rows = rows, r.columns = columns, r.row_stride = stride;
        r.index_t = GSORT_U32, r.out = alone.data();
        one_.engine->execute(r);
        r.out = values.data(), r.indices_out = indices.data();
        three_.engine->execute(r);
        for (uint64_t row = 0; row < rows; ++row) {
          const U *const begin = keys.data() + row * stride;
          const auto wanted = order_of<uint32_t>(order, std::vector<U>(begin, begin + columns));
          for (uint64_t i = 0; i < k; ++i) {
            ASSERT_EQ(wanted[i], indices[row * k + i]) << "t " << order.dtype << " columns " << columns << " k " << k;
            ASSERT_EQ(begin[wanted[i]], values[row * k + i]) << "t " << order.dtype << " columns " << columns;
            ASSERT_EQ(begin[wanted[i]], alone[row * k + i]) << "t " << order.dtype << " columns " << columns;
          }
        }
      }
    }
  });
}

TEST_P(EachTargetDoesFew, ScansAsTheUsualWayWithoutVectors) {
  for (const gsort_dtype t : kAllTypes) {
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      for (uint64_t n = 1; n <= 8193; n += n < 700 ? 1 : 1 + below(1500)) {
        std::vector<U> in = some_keys<U>(n), wanted(n);
        for (const bool exclusive : {false, true}) {
          Request r{Operation::kScan, {t, false, false}};
          r.n = n, r.in = in.data(), r.out = wanted.data(), r.exclusive = exclusive;
          force_vector_target(VectorTarget::kNone);
          one_.engine->execute(r);
          force_vector_target(GetParam());
          const FencedArray<U> from(in, n % 3 != 0), to(in, n % 3 != 0);
          for (U *const out : {to.data(), from.data()}) {
            const bool is_few = n <= (is_float(t) && sizeof(U) == 2 && !has_vectors() ? 1024 : 8192);
            ASSERT_EQ(is_few, one_.engine->scan_few(t, exclusive, from.data(), out, n));
            const std::vector<U> &result = is_few ? wanted : in;
            ASSERT_TRUE(std::equal(result.begin(), result.end(), out)) << "t " << t << " n " << n << " " << exclusive;
          }
        }
      }
    });
  }
}

double exact_mean(const std::vector<double> &numbers) {
  Superaccumulator sum;
  sum.clear();
  for (const double x : numbers) sum.add(x);
  return sum.mean(numbers.size());
}

// Numbers of all bits; of few, whose mean is often a tie, or so near one that the last of them decides.
TEST_P(EachTargetDoesFew, MeansOfFloatsAreRoundedOnce) {
  uint64_t done = 0, ties = 0;
  for (int turn = 0; turn < 40000; ++turn) {
    const uint64_t n = 1 + below(turn % 8 == 0 ? 1100 : 12);
    std::vector<double> numbers(n);
    const int kind = turn % 5, scale = turn % 3 == 0 ? static_cast<int>(below(1900)) - 950 : 0;
    uint64_t above = 0;  // of kind 2, what numbers have above 2^52, in units of their last place
    for (double &x : numbers) {
      const uint64_t bits = random_();
      above += bits & 7;
      x = std::ldexp(static_cast<double>(kind < 2    ? bits >> 11
                                         : kind == 2 ? (uint64_t{1} << 52) + (bits & 7)
                                                     : bits & 15),
                     scale);
      if (kind == 1 && (bits & 1) != 0) x = -x;
    }
    if (kind == 4)
      numbers[0] = std::ldexp(1.0, scale + 53),
      numbers[n / 2] += std::ldexp(static_cast<double>(turn % 3) - 1, scale - 60);
    double mean = 0x55;
    bool rounds = false;
    if (!one_.engine->mean_few(GSORT_F64, numbers.data(), n, &mean, rounds)) {
      ASSERT_EQ(0x55, mean);
      continue;
    }
    ASSERT_EQ(bits_of_double(mean), bits_of_double(exact_mean(numbers))) << "turn " << turn << " n " << n;
    ++done, ties += kind == 2 && above % n != 0 && 2 * above % n == 0 ? 1 : 0;
  }
  EXPECT_GT(done, 10000u);
  EXPECT_GT(ties, 100u);
}

TEST_P(EachTargetDoesFew, MeansOfIntegersAreRoundedOnce) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_U32, GSORT_I32, GSORT_U64, GSORT_I64}) {
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      const bool is_signed = dtype_facts(t).kind == Kind::kSigned;
      for (int turn = 0; turn < 600; ++turn) {
        const uint64_t n = 1 + below(turn % 7 == 0 ? 8192 : 40);
        std::vector<U> keys(n);
        __extension__ typedef __int128 Wide;
        Wide sum = 0;
        for (U &key : keys) {
          key = static_cast<U>(random_() >> (turn % 60 > 20 && sizeof(U) == 8 ? 12 : 0));
          sum += is_signed ? Wide{static_cast<std::make_signed_t<U>>(key)} : Wide{key};
        }
        Superaccumulator exact;
        exact.clear();
        exact.note(kSumNotMinus0, n);
        exact.add_int128(static_cast<int64_t>(sum >> 64), static_cast<uint64_t>(sum));
        double mean = 0x55;
        bool rounds = false;
        const bool done = one_.engine->mean_few(t, keys.data(), n, &mean, rounds);
        ASSERT_TRUE(done) << "t " << t << " n " << n;
        ASSERT_EQ(bits_of_double(mean), bits_of_double(exact.mean(n))) << "t " << t << " n " << n;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EachTargetDoesFew, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
