// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys alone, sorted to the same bits by every vector target and without vectors.
#include <cstring>
#include <iterator>
#include <limits>

#include "vector_target_fixture.h"

namespace gsort_test {
namespace {

class EachTargetSorts : public EachTarget {
 protected:
  template <class U>
  void check_sort(const KeyOrder &order, const std::vector<U> &keys) {
    const uint64_t n = keys.size();
    std::vector<U> wanted = keys, in_place = keys, out(n + 2, U{0x55});
    std::sort(wanted.begin(), wanted.end(), [&](U a, U b) { return comes_before(order, a, b); });
    Request r{Operation::kSort, order};
    r.n = n, r.in = in_place.data(), r.out = in_place.data();
    one_.engine->execute(r);
    ASSERT_EQ(in_place, wanted) << "n " << n;
    in_place = keys;
    two_.engine->execute(r);
    ASSERT_EQ(in_place, wanted) << "two threads, n " << n;
    std::vector<U> few = keys;
    const bool is_few = n > 0 && one_.engine->sort_few(order, few.data(), few.data(), n);
    ASSERT_EQ(few, is_few ? wanted : keys) << "n " << n;
    const bool has_short_way = n > 0 && n <= (sizeof(U) <= 2 ? 1024u : 512u) && (sizeof(U) <= 2 || !order.nan_last);
    const bool is_counted = sizeof(U) == 1 && n >= 320;  // which takes no vectors
    ASSERT_TRUE(!has_short_way || is_few == (is_counted || GetParam() != VectorTarget::kNone)) << "n " << n;
    r.in = keys.data(), r.out = out.data() + 1;
    three_.engine->execute(r);
    ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + 1)) << "n " << n;
    ASSERT_EQ(out.front(), U{0x55});
    ASSERT_EQ(out.back(), U{0x55});
  }
};

TEST_P(EachTargetSorts, EveryShortLength) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint64_t n = 0; n < 1100; n += n < (sizeof(U) == 2 ? 520 : 300) ? 1 : 7)
      check_sort(order, make_keys<U>(static_cast<uint32_t>(n % kShapes), n, random_));
  });
}

// A network that sorts all keys of two values sorts any.
TEST_P(EachTargetSorts, ShortKeysOfTwoValues) {
  for (const bool of_amd : {false, true}) {
    const ProcessorOfAmd processor(of_amd);
    for (const gsort_dtype t : {GSORT_U16, GSORT_U32, GSORT_U64}) {
      const KeyOrder order{t, false, false};
      with_width(dtype_bytes(t), [&](auto tag) {
        using U = typename decltype(tag)::type;
        for (uint64_t n = 1; n <= 520; ++n)
          for (uint64_t ones = 0; ones <= n; ones += 1 + n / 24) {
            std::vector<U> keys(n, U{7});
            std::fill(keys.begin() + static_cast<std::ptrdiff_t>(n - ones), keys.end(), static_cast<U>(U{0xff} << 8));
            const std::vector<U> wanted = keys;
            std::shuffle(keys.begin(), keys.end(), random_);
            if (one_.engine->sort_few(order, keys.data(), keys.data(), n)) {
              ASSERT_EQ(keys, wanted) << "t " << t << " n " << n << " ones " << ones;
            }
          }
      });
    }
  }
}

TEST_P(EachTargetSorts, LongArraysOfEveryShape) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint32_t shape = 0; shape < kShapes; ++shape)
      check_sort(order, make_keys<U>(shape, 3000 + 17 * random_() % 5000, random_));
    check_sort(order, make_keys<U>(static_cast<uint32_t>(random_() % kShapes), 270001, random_));
  });
}

// One read finds keys that are in order or in the reverse order: it must see the one key that is not, wherever it lies.
TEST_P(EachTargetSorts, KeysInOrderButForOne) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    const KeyCodec<U> codec = make_codec<U>(order);
    for (const uint64_t n : {uint64_t{1024}, uint64_t{1025}, uint64_t{1087}, uint64_t{2113}}) {
      std::vector<U> keys(n);
      for (uint64_t i = 0; i < n; ++i) keys[i] = codec.decode(static_cast<U>(i * (U(~U{0}) / n)));
      for (const bool reversed : {false, true}) {
        // Not std::reverse(), of which GCC 12 for Arm says that it writes outside of the vector.
        if (reversed) keys = std::vector<U>(keys.rbegin(), keys.rend());
        for (const uint64_t from_end :
             {uint64_t{1}, uint64_t{2}, uint64_t{63}, uint64_t{64}, uint64_t{65}, n - 1, n / 2}) {
          std::vector<U> spoilt = keys;
          std::swap(spoilt[n - from_end], spoilt[n - from_end - 1]);
          check_sort(order, spoilt);
        }
        check_sort(order, keys);
      }
    }
  });
}

// Runs in order and in the reverse order behind each other, of about equal or very unequal lengths, with many equal
// keys or few, now and then spoilt by a key.
TEST_P(EachTargetSorts, RunsThatAreThere) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    const KeyCodec<U> codec = make_codec<U>(order);
    for (const uint64_t n : {uint64_t{4096}, uint64_t{5001}, uint64_t{270001}}) {
      if (n > 100000 && (sizeof(U) < 4 || order.descending)) continue;
      for (uint64_t runs = 2; runs <= 5; ++runs) {
        const U mask = random_() % 2 == 0 ? static_cast<U>(~U{0}) : U{63};
        std::vector<U> keys(n);
        for (U &key : keys) key = static_cast<U>(random_()) & mask;
        for (uint64_t r = 0, begin = 0; r < runs; ++r) {
          const uint64_t end = r + 1 == runs ? n : begin + (n - begin) * (1 + random_() % 3) / 6;
          const auto first = keys.begin() + static_cast<std::ptrdiff_t>(begin),
                     last = keys.begin() + static_cast<std::ptrdiff_t>(end);
          std::sort(first, last);
          if (random_() % 2 == 0) std::reverse(first, last);
          begin = end;
        }
        if (random_() % 4 == 0) keys[random_() % n] = static_cast<U>(random_());
        for (U &key : keys) key = codec.decode(key);
        check_sort(order, keys);
      }
    }
  });
}

// A few keys, with equal ones among them, in narrow vectors or in wide ones, which go by whose the processor is.
TEST_P(EachTargetSorts, FewKeysOnEitherProcessor) {
  for (const bool of_amd : {false, true}) {
    const ProcessorOfAmd processor(of_amd);
    for_each_order([&](auto tag, const KeyOrder &order) {
      using U = typename decltype(tag)::type;
      for (uint64_t n = 1; n <= 34; ++n)
        for (const uint64_t kinds : {3, 40, 0}) {
          std::vector<U> keys(n);
          for (U &key : keys) key = static_cast<U>(kinds == 0 ? random_() : random_() % kinds * 0x9e3779b97f4a7c15);
          check_sort(order, keys);
        }
      for (uint64_t n = 35; n <= 300 && sizeof(U) >= 4; ++n)
        check_sort(order, make_keys<U>(static_cast<uint32_t>((n + of_amd) % kShapes), n, random_));
    });
  }
}

// Keys of one value but for one key, anywhere: what is looked at to tell must see it.
TEST_P(EachTargetSorts, KeysOfOneValueButForOne) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t n : {uint64_t{24}, uint64_t{47}, uint64_t{48}, uint64_t{49}, uint64_t{65}, uint64_t{96},
                             uint64_t{97}, uint64_t{191}, uint64_t{193}, uint64_t{511}, uint64_t{700}}) {
      const U value = static_cast<U>(random_());
      std::vector<U> keys(n, value);
      check_sort(order, keys);
      for (uint64_t place = 0; place < n; place += n < 200 ? 1 : 13) {
        keys[place] = static_cast<U>(value + 1 + random_() % 3);
        check_sort(order, keys);
        keys[place] = value;
      }
    }
  });
}

// Keys that are the greatest or least there are, alone and beside others: what kernels fill vectors up with.
TEST_P(EachTargetSorts, TheGreatestAndLeastKeys) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    const KeyCodec<U> codec = make_codec<U>(order);
    for (const uint64_t n : {uint64_t{100}, uint64_t{1500}, uint64_t{130000}}) {
      for (const uint32_t rare : {1u, 2u, 50u}) {
        std::vector<U> keys(n);
        for (U &key : keys) {
          const U end = random_() % 2 == 0 ? U{0} : static_cast<U>(~U{0});
          key = codec.decode(random_() % rare == 0 ? end : static_cast<U>(random_()));
        }
        check_sort(order, keys);
        std::fill(keys.begin(), keys.end(), codec.decode(static_cast<U>(~U{0})));
        keys[n / 2] = codec.decode(static_cast<U>(~U{0} - 1));
        check_sort(order, keys);
      }
    }
  });
}

double make_float(uint32_t kind, uint64_t bits) {
  const double x = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
  if (kind == 0) return x;
  if (kind == 1) return static_cast<double>(bits % 7) - 3;
  if (kind == 2) return x * 0x1p-1022;
  return bits % 4 == 0 ? (x < 0 ? -1 : 1) * std::numeric_limits<double>::infinity() : x * 0x1.8p1023;
}

// Floats without NaNs and -0, which may be sorted as numbers, and with one such among them, which sees to it that none
// are.
class FloatsAreSorted : public EachTargetSorts {
 protected:
  void check_floats(bool descending, uint64_t n, uint32_t kind) {
    constexpr uint64_t kOdd[] = {0x8000000000000000, 0, 0x7ff8000000000000, 0xfff0000000000001};
    const KeyOrder order{GSORT_F64, descending, false};
    std::vector<uint64_t> keys(n);
    for (uint64_t &key : keys) {
      const double number = make_float(kind, random_());
      std::memcpy(&key, &number, sizeof key);
    }
    check_sort(order, keys);
    if (n > 100000) return;
    for (const uint64_t odd : kOdd) {
      std::vector<uint64_t> spoilt = keys;
      spoilt[random_() % n] = odd;
      check_sort(order, spoilt);
    }
  }
  void check_all() {
    for (const bool descending : {false, true})
      for (const uint64_t n : {1, 5, 8, 17, 64, 100, 128, 129, 256, 257, 513, 1000, 4099, 70001, 1100003})
        for (uint32_t kind = 0; kind < (n > 100000 ? 2 : 4); ++kind) check_floats(descending, n, kind);
  }
};

TEST_P(FloatsAreSorted, AsNumbers) {
  const ProcessorOfAmd processor(false);
  check_all();
}

TEST_P(FloatsAreSorted, AsIntegersWithAvx512) {
  if (GetParam() != VectorTarget::kAvx512) GTEST_SKIP() << "the same as above";
  const ProcessorOfAmd processor(true);
  check_all();
}

// The least and the greatest keys, and those about the bits of an infinity of either sign.
constexpr uint64_t kInfinity = 0x7ff0000000000000, kTop = uint64_t{1} << 63, kMost = ~uint64_t{0};
constexpr uint64_t kEnds[] = {0,        1,         kInfinity - 1,  kInfinity,        kInfinity + 1,
                              kTop - 1, kTop,      kTop + 1,       kTop + kInfinity, ~kInfinity,
                              kMost,    kMost - 1, ~kInfinity - 1, ~kInfinity + 1,   kTop + kInfinity + 1};

constexpr uint32_t kIntegerKinds = 9;

uint64_t make_integer(uint32_t kind, uint64_t x) {
  switch (kind) {
    case 0:
      return x;
    case 1:
      return x >> 12;  // at the lower end of unsigned keys
    case 2:
      return ~(x >> 12);  // and at the upper one
    case 3:
      return kTop | x >> 12;  // at the lower end of signed keys
    case 4:
      return ~(kTop | x >> 12);
    case 5:
      return x % 11 - 5;
    case 6:
      return x % 11 + 1;
    case 7:
      return kEnds[x % std::size(kEnds)];
    default:
      return (x & ~(uint64_t{0xfff} << 52)) | (x % 2 == 0 ? uint64_t{0x3ff} << 52 : uint64_t{0xc00} << 52);
  }
}

// Integers whose bits are those of numbers, and what is none: -1, which would be -0, and the greatest magnitudes, which
// would be NaNs; all keys of either end, where others are not, and a key of one kind among those of another.
TEST_P(EachTargetSorts, IntegersThatAreNumbersAndOthers) {
  for (const gsort_dtype t : {GSORT_U64, GSORT_I64}) {
    for (const bool descending : {false, true}) {
      const KeyOrder order{t, descending, false};
      for (const uint64_t n :
           {1, 3, 4, 5, 9, 11, 12, 13, 16, 17, 31, 32, 63, 64, 65, 100, 127, 128, 129, 300, 1000, 5000}) {
        for (uint32_t kind = 0; kind < kIntegerKinds; ++kind) {
          std::vector<uint64_t> keys(n);
          for (uint64_t &key : keys) key = make_integer(kind, random_());
          check_sort(order, keys);
          for (uint32_t other = 0; other < kIntegerKinds; ++other) {
            std::vector<uint64_t> mixed = keys;
            mixed[random_() % n] = make_integer(other, random_());
            check_sort(order, mixed);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EachTargetSorts, testing::ValuesIn(kEveryTarget), target_test_name);
INSTANTIATE_TEST_SUITE_P(Targets, FloatsAreSorted, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
