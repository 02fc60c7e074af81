// SPDX-License-Identifier: MIT OR Apache-2.0
// The same bits from every vector target that this machine has, and without vectors.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "core/half.h"
#include "cpu/vector/select.h"
#include "cpu/vector/target.h"
#include "engine_fixture.h"

namespace gsort_test {
namespace {

class EachTarget : public testing::TestWithParam<VectorTarget> {
 protected:
  void SetUp() override {
    const VectorTarget target = GetParam();
    if (target != VectorTarget::kNone && !vector_target_usable(target))
      GTEST_SKIP() << "no " << vector_target_name(target) << " here";
    force_vector_target(target);
  }
  void TearDown() override { force_vector_target(before_); }

  // Calls f(tag, order) for every type, direction and NaN rule.
  template <class F>
  static void for_each_order(F &&f) {
    for (const gsort_dtype t : kAllTypes)
      for (int descending = 0; descending < 2; ++descending)
        for (int nan_last = 0; nan_last <= (is_float(t) ? 1 : 0); ++nan_last) {
          const KeyOrder order{t, descending != 0, nan_last != 0};
          with_width(dtype_bytes(t), [&](auto tag) { f(tag, order); });
        }
  }

  template <class U>
  void check_sort(const KeyOrder &order, const std::vector<U> &keys) {
    const uint64_t n = keys.size();
    std::vector<U> wanted = keys, in_place = keys, out(n + 2, U{0x55});
    std::sort(wanted.begin(), wanted.end(), [&](U a, U b) { return comes_before(order, a, b); });
    Request r{Operation::kSort, order};
    r.n = n, r.in = in_place.data(), r.out = in_place.data();
    one_.engine->execute(r);
    ASSERT_EQ(in_place, wanted) << "n " << n;
    std::vector<U> few = keys;
    const bool is_few = n > 0 && one_.engine->sort_few(order, few.data(), few.data(), n);
    ASSERT_EQ(few, is_few ? wanted : keys) << "n " << n;
    const bool has_short_way = n > 0 && n <= (sizeof(U) <= 2 ? 1024u : 512u) && (sizeof(U) <= 2 || !order.nan_last);
    ASSERT_TRUE(!has_short_way || is_few == (GetParam() != VectorTarget::kNone)) << "n " << n;
    r.in = keys.data(), r.out = out.data() + 1;
    three_.engine->execute(r);
    ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + 1)) << "n " << n;
    ASSERT_EQ(out.front(), U{0x55});
    ASSERT_EQ(out.back(), U{0x55});
  }

  // Pairs, whose values are the keys' places, and the argsort, which must be the same.
  template <class U>
  void check_pairs(const KeyOrder &order, const std::vector<U> &keys) {
    const uint64_t n = keys.size();
    std::vector<uint32_t> places(n), wanted(n), indices(n);
    std::iota(places.begin(), places.end(), 0u);
    wanted = places;
    std::stable_sort(wanted.begin(), wanted.end(),
                     [&](uint32_t a, uint32_t b) { return comes_before(order, keys[a], keys[b]); });
    for (EngineUnderTest *const engine : {&one_, &three_}) {
      std::vector<U> sorted = keys;
      std::vector<uint32_t> values = places;
      Request r{Operation::kSortPairs, order};
      r.n = n, r.in = sorted.data(), r.out = sorted.data();
      r.values_in = values.data(), r.values_out = values.data(), r.value_bytes = sizeof(uint32_t);
      engine->engine->execute(r);
      ASSERT_EQ(values, wanted) << "n " << n;
      for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(sorted[i], keys[wanted[i]]) << "n " << n << " i " << i;
      Request a{Operation::kArgsort, order};
      a.n = n, a.in = keys.data(), a.out = indices.data(), a.index_t = GSORT_U32;
      engine->engine->execute(a);
      ASSERT_EQ(indices, wanted) << "n " << n;
    }
  }

  // The short way of few pairs and of few keys' indices, if it takes them, in place and not; returns whether it does.
  template <class U, class V>
  bool check_few(const KeyOrder &order, const std::vector<U> &keys) {
    const uint64_t n = keys.size();
    std::vector<uint32_t> wanted(n);
    std::iota(wanted.begin(), wanted.end(), 0u);
    std::stable_sort(wanted.begin(), wanted.end(),
                     [&](uint32_t a, uint32_t b) { return comes_before(order, keys[a], keys[b]); });
    std::vector<V> values(n);
    for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<V>(3 * i + 1);
    std::vector<U> keys_in_place = keys, keys_out(n + 2, U{0x55});
    std::vector<V> values_in_place = values, values_out(n + 2, V{0x55});
    Engine &engine = *one_.engine;
    FewPairs p{order, sizeof(V), n, keys.data(), values.data(), keys_out.data() + 1, values_out.data() + 1};
    const bool is_few = engine.sort_few_pairs(p);
    p.keys = p.keys_out = keys_in_place.data();
    p.values = p.values_out = values_in_place.data();
    EXPECT_EQ(engine.sort_few_pairs(p), is_few);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t from = is_few ? wanted[i] : i;
      EXPECT_EQ(keys_in_place[i], keys[from]) << "n " << n << " i " << i;
      EXPECT_EQ(values_in_place[i], values[from]) << "n " << n << " i " << i;
      EXPECT_EQ(keys_out[i + 1], is_few ? keys[from] : U{0x55}) << "n " << n << " i " << i;
      EXPECT_EQ(values_out[i + 1], is_few ? values[from] : V{0x55}) << "n " << n << " i " << i;
    }
    EXPECT_TRUE(keys_out.front() == U{0x55} && keys_out.back() == U{0x55});
    EXPECT_TRUE(values_out.front() == V{0x55} && values_out.back() == V{0x55});
    if constexpr (sizeof(V) >= 4) {
      for (const bool ranks : {false, true}) {
        std::vector<V> out(n + 2, V{0x55});
        if (!engine.index_few(order, ranks, keys.data(), n, sizeof(V), out.data() + 1)) {
          EXPECT_EQ(out, std::vector<V>(n + 2, V{0x55}));
          EXPECT_TRUE(ranks || !is_few);
          continue;
        }
        for (uint64_t i = 0; i < n; ++i)
          EXPECT_EQ(ranks ? out[1 + wanted[i]] : out[1 + i], ranks ? i : wanted[i]) << "n " << n << " i " << i;
        EXPECT_TRUE(out.front() == V{0x55} && out.back() == V{0x55});
      }
    }
    return is_few;
  }

  // The first of the best keys, the usual way and the short one.
  template <class U>
  void check_best(const KeyOrder &order, const std::vector<U> &keys) {
    const uint64_t n = keys.size();
    const auto before = [&](U a, U b) { return comes_before(order, a, b); };
    const auto wanted = std::min_element(keys.begin(), keys.end(), before);
    const uint32_t extreme = order.descending ? GSORT_MAX : GSORT_MIN;
    Request r{Operation::kReduce, {order.dtype, false, order.nan_last}};
    r.n = n, r.in = keys.data();
    for (const bool short_way : {false, true}) {
      const auto run = [&](uint32_t op, void *out) {
        if (short_way) return one_.engine->reduce_few(op, r.order, keys.data(), n, out);
        r.out = out, r.reduce_op = op;
        one_.engine->execute(r);
        return true;
      };
      U best{};
      uint64_t index = UINT64_MAX;
      if (!run(extreme, &best)) {
        ASSERT_EQ(GetParam(), VectorTarget::kNone);
        continue;
      }
      ASSERT_TRUE(run(order.descending ? GSORT_ARGMAX : GSORT_ARGMIN, &index));
      ASSERT_EQ(best, *wanted) << "n " << n;
      ASSERT_EQ(index, static_cast<uint64_t>(wanted - keys.begin())) << "n " << n;
    }
  }

  template <class U>
  void check_topk(const KeyOrder &order, const std::vector<U> &keys, uint64_t k) {
    std::vector<uint64_t> wanted(keys.size());
    std::iota(wanted.begin(), wanted.end(), uint64_t{0});
    std::stable_sort(wanted.begin(), wanted.end(),
                     [&](uint64_t a, uint64_t b) { return comes_before(order, keys[a], keys[b]); });
    std::vector<U> values(k);
    std::vector<uint64_t> indices(k);
    Request r{Operation::kTopk, order};
    r.n = keys.size(), r.in = keys.data(), r.k = k;
    r.out = values.data(), r.index_t = GSORT_U64, r.indices_out = indices.data();
    for (EngineUnderTest *const engine : {&one_, &three_}) {
      std::vector<U> alone(k + 1, U{0x55});
      r.out = alone.data(), r.indices_out = nullptr;
      engine->engine->execute(r);
      ASSERT_EQ(alone.back(), U{0x55});
      r.out = values.data(), r.indices_out = indices.data();
      engine->engine->execute(r);
      for (uint64_t i = 0; i < k; ++i) {
        ASSERT_EQ(alone[i], keys[wanted[i]]) << "n " << keys.size() << " k " << k << " i " << i;
        ASSERT_EQ(indices[i], wanted[i]) << "n " << keys.size() << " k " << k << " i " << i;
        ASSERT_EQ(values[i], keys[wanted[i]]) << "n " << keys.size() << " k " << k << " i " << i;
      }
    }
  }

  std::mt19937_64 random_{11};
  EngineUnderTest one_{1}, three_{3};
  VectorTarget before_ = vector_target();
};

TEST_P(EachTarget, SortsEveryShortLength) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint64_t n = 0; n < 1100; n += n < 300 ? 1 : 7)
      check_sort(order, make_keys<U>(static_cast<uint32_t>(n % kShapes), n, random_));
  });
}

TEST_P(EachTarget, SortsLongArraysOfEveryShape) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint32_t shape = 0; shape < kShapes; ++shape)
      check_sort(order, make_keys<U>(shape, 3000 + 17 * random_() % 5000, random_));
    check_sort(order, make_keys<U>(static_cast<uint32_t>(random_() % kShapes), 270001, random_));
  });
}

// One read finds keys that are in order or in the reverse order: it must see the one key that is not, wherever it lies.
TEST_P(EachTarget, SortsKeysInOrderButForOne) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    const KeyCodec<U> codec = make_codec<U>(order);
    for (const uint64_t n : {uint64_t{1024}, uint64_t{1025}, uint64_t{1087}, uint64_t{2113}}) {
      std::vector<U> keys(n);
      for (uint64_t i = 0; i < n; ++i) keys[i] = codec.decode(static_cast<U>(i * (U(~U{0}) / n)));
      for (const bool reversed : {false, true}) {
        if (reversed) std::reverse(keys.begin(), keys.end());
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
TEST_P(EachTarget, SortsRunsThatAreThere) {
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

TEST_P(EachTarget, SortsPairsOfEveryShapeStably) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t n : {1, 16, 17, 33, 256, 257, 4096, 4097, 9000})
      check_pairs(order, make_keys<U>(static_cast<uint32_t>(random_() % kShapes), n, random_));
    if (sizeof(U) < 4 || order.descending || order.nan_last) return;
    for (uint32_t shape = 0; shape < kShapes; ++shape) check_pairs(order, make_keys<U>(shape, 20001, random_));
    check_pairs(order, make_keys<U>(0, 140011, random_));
    // Keys of two clusters far from each other.
    std::vector<U> keys = make_keys<U>(0, 30001, random_);
    for (U &key : keys) key = static_cast<U>((key & 1) << (sizeof(U) * 8 - 1) | (key >> 1 & 0xfff));
    check_pairs(order, keys);
  });
}

// Keys of few values, which are counted, of one more than are, and with a key that no draw finds; zeros of both signs
// and NaNs are values as others.
TEST_P(EachTarget, SortsPairsOfFewValuesStably) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t n : {uint64_t{255}, uint64_t{256}, uint64_t{1001}, uint64_t{9001}, uint64_t{270007}}) {
      if (n > 100000 && (order.descending || order.nan_last)) continue;
      for (const uint64_t count : {2, 3, 16, 17}) {
        U values[17];
        for (U &value : values) value = static_cast<U>(random_());
        values[1] = KeyCodec<U>::kTop;
        values[2] = 0;
        std::vector<U> keys(n);
        for (U &key : keys) key = values[random_() % count];
        check_pairs(order, keys);
        if (count == 17) continue;
        keys[random_() % n] = static_cast<U>(random_());
        check_pairs(order, keys);
        keys.back() = static_cast<U>(random_());
        check_pairs(order, keys);
      }
    }
  });
}

// Keys of one value but for one key, anywhere: what is looked at to tell must see it.
TEST_P(EachTarget, SortsKeysOfOneValueButForOne) {
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
TEST_P(EachTarget, SortsTheGreatestAndLeastKeys) {
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

// Floats without NaNs and -0, which are sorted as numbers, and with one such among them, which sees to it that none
// are.
TEST_P(EachTarget, SortsFloatsWithAndWithoutOddOnes) {
  constexpr uint64_t kOdd[] = {0x8000000000000000, 0, 0x7ff8000000000000, 0xfff0000000000001};
  const auto float_of = [this](uint32_t kind) -> double {
    const double x = static_cast<double>(random_() >> 11) * 0x1p-52 - 1;
    if (kind == 0) return x;
    if (kind == 1) return static_cast<double>(random_() % 7) - 3;
    if (kind == 2) return x * 0x1p-1022;
    return random_() % 4 == 0 ? (x < 0 ? -1 : 1) * std::numeric_limits<double>::infinity() : x * 0x1.8p1023;
  };
  for (const bool descending : {false, true}) {
    const KeyOrder order{GSORT_F64, descending, false};
    for (const uint64_t n : {1, 5, 8, 17, 64, 100, 129, 256, 257, 513, 1000, 4099, 70001, 1100003}) {
      for (uint32_t kind = 0; kind < (n > 100000 ? 2 : 4); ++kind) {
        std::vector<uint64_t> keys(n);
        for (uint64_t &key : keys) {
          const double number = float_of(kind);
          std::memcpy(&key, &number, sizeof key);
        }
        check_sort(order, keys);
        if (n > 100000) continue;
        for (const uint64_t odd : kOdd) {
          std::vector<uint64_t> spoilt = keys;
          spoilt[random_() % n] = odd;
          check_sort(order, spoilt);
        }
      }
    }
  }
}

// Integers whose bits are those of numbers, and what is none: -1, which would be -0, and the greatest magnitudes, which
// would be NaNs; all keys of either end, where others are not, and a key of one kind among those of another.
TEST_P(EachTarget, SortsIntegersThatAreNumbersAndOthers) {
  constexpr uint64_t kInfinity = 0x7ff0000000000000, kTop = uint64_t{1} << 63;
  constexpr uint64_t kEnds[] = {0,
                                1,
                                kInfinity - 1,
                                kInfinity,
                                kInfinity + 1,
                                kTop - 1,
                                kTop,
                                kTop + 1,
                                kTop + kInfinity,
                                ~kInfinity,
                                ~uint64_t{0},
                                ~uint64_t{0} - 1,
                                ~kInfinity - 1,
                                ~kInfinity + 1,
                                kTop + kInfinity + 1};
  const auto key_of = [&](uint32_t kind) -> uint64_t {
    const uint64_t x = random_();
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
        return kEnds[x % (sizeof kEnds / sizeof *kEnds)];
      default:
        return (x & ~(uint64_t{0xfff} << 52)) | (x % 2 == 0 ? uint64_t{0x3ff} << 52 : uint64_t{0xc00} << 52);
    }
  };
  constexpr uint32_t kKinds = 9;
  for (const gsort_dtype t : {GSORT_U64, GSORT_I64}) {
    for (const bool descending : {false, true}) {
      const KeyOrder order{t, descending, false};
      for (const uint64_t n :
           {1, 3, 4, 5, 9, 11, 12, 13, 16, 17, 31, 32, 63, 64, 65, 100, 127, 128, 129, 300, 1000, 5000}) {
        for (uint32_t kind = 0; kind < kKinds; ++kind) {
          std::vector<uint64_t> keys(n);
          for (uint64_t &key : keys) key = key_of(kind);
          check_sort(order, keys);
          for (uint32_t other = 0; other < kKinds; ++other) {
            std::vector<uint64_t> mixed = keys;
            mixed[random_() % n] = key_of(other);
            check_sort(order, mixed);
          }
        }
      }
    }
  }
}

TEST_P(EachTarget, FindsTheFirstBestKey) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint64_t n = 1; n < 20000; n += n < 300 ? 1 : 1 + n / 3)
      check_best(order, make_keys<U>(static_cast<uint32_t>(random_() % kShapes), n, random_));
  });
}

// Keys of the sign that comes first are looked for alone, if there are any: none, one, at each end, zeros of both
// signs, many equal ones, NaNs.
TEST_P(EachTarget, FindsTheFirstBestKeyOfEitherSign) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    constexpr U top = KeyCodec<U>::kTop;
    for (const uint64_t n : {uint64_t{1}, uint64_t{2}, uint64_t{31}, uint64_t{64}, uint64_t{65}, uint64_t{200},
                             uint64_t{1023}, uint64_t{2048}, uint64_t{5001}}) {
      for (const U sign : {U{0}, top}) {
        for (const U magnitudes : {U{0}, U{3}, static_cast<U>(top - 1)}) {
          std::vector<U> keys(n);
          for (U &key : keys) key = static_cast<U>((static_cast<U>(random_()) & magnitudes) | sign);
          check_best(order, keys);
          for (const uint64_t place : {uint64_t{0}, n / 2, n - 1}) {
            std::vector<U> with_other = keys;
            with_other[place] = static_cast<U>(keys[place] ^ top);
            check_best(order, with_other);
            with_other[random_() % n] = static_cast<U>(~U{0});
            check_best(order, with_other);
          }
        }
      }
    }
  });
}

// Few records have a way of their own, which must take them at these lengths and leave others alone.
TEST_P(EachTarget, SortsFewRecordsByTheShortWay) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint64_t n = 1; n <= 210; n += n < 70 || n > 120 ? 1 : 7) {
      for (uint32_t shape = 0; shape < (n < 40 ? kShapes : 1); ++shape) {
        std::vector<U> keys = make_keys<U>(n < 40 ? shape : static_cast<uint32_t>(random_() % kShapes), n, random_);
        if (random_() % 2 == 0)
          for (U &key : keys) key = static_cast<U>(key & (KeyCodec<U>::kTop | 3));  // many ties, zeros of both signs
        const bool is_few = check_few<U, uint32_t>(order, keys);
        EXPECT_EQ(is_few, GetParam() != VectorTarget::kNone && n <= (sizeof(U) <= 4 ? 192 : 128));
        check_few<U, uint64_t>(order, keys);
        if (n % 3 == 0) check_few<U, uint8_t>(order, keys);
        if (n % 3 == 1) check_few<U, uint16_t>(order, keys);
      }
    }
  });
}

// Values that lie anywhere, or have a size that nothing moves at once, are left to the usual way.
TEST_P(EachTarget, TheShortWayLeavesOddValuesAlone) {
  std::vector<uint32_t> keys(16), keys_out(16);
  std::vector<unsigned char> values(16 * 16 + 1), values_out(16 * 16 + 1);
  std::iota(keys.rbegin(), keys.rend(), 5u);
  for (const uint32_t bytes : {2u, 3u, 4u, 8u, 12u}) {
    const FewPairs p{{GSORT_U32, false, false}, bytes, 16, keys.data(), values.data() + 1, keys_out.data(),
                     values_out.data()};
    EXPECT_FALSE(one_.engine->sort_few_pairs(p)) << bytes;
  }
  EXPECT_EQ(keys_out, std::vector<uint32_t>(16));
}

TEST_P(EachTarget, TopkIsTheHeadOfTheStableOrder) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t n : {uint64_t{4095}, uint64_t{4096}, uint64_t{30011}})
      for (const uint64_t k : {uint64_t{1}, uint64_t{9}, uint64_t{300}, n / 3, n / 2, n / 2 + 1})
        check_topk(order, make_keys<U>(static_cast<uint32_t>(random_() % kShapes), n, random_), k);
  });
}

// Keys laid out against the sample: what it draws is better than all others, or worse, so that another method must take
// the call.
TEST_P(EachTarget, TopkIsRightWhereTheSampleMisleads) {
  const KeyOrder order{GSORT_F32, false, false};
  for (const uint64_t n : {uint64_t{5000}, uint64_t{300000}}) {
    for (const uint32_t drawn : {0x3f000000u, 0x41000000u}) {
      std::vector<uint32_t> keys(n);
      for (uint32_t &key : keys) key = 0x40000000u + static_cast<uint32_t>(random_() % 100000);
      uint64_t state = n;
      for (uint64_t i = 0; i < n / 64 && i < 4096; ++i) {
        state = state * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u;
        keys[(state >> 32) * n >> 32] = drawn + static_cast<uint32_t>(i);
      }
      for (const uint64_t k : {uint64_t{1}, uint64_t{77}, n / 4}) check_topk(order, keys, k);
    }
  }
}

// The same where the blocks that a small k looks at hold other keys than the rest.
TEST_P(EachTarget, TopkIsRightWhereTheBlocksMislead) {
  const KeyOrder order{GSORT_U64, false, false};
  const SelectKernels<uint64_t> *const kernels = select_kernels(uint64_t{});
  const uint64_t sets = kernels == nullptr ? 64 : kernels->minima_sets;
  for (const uint64_t root : {uint64_t{72}, uint64_t{500}}) {
    const uint64_t n = root * root, blocks = 16 * root / sets, part = n / blocks;
    for (const uint64_t drawn : {uint64_t{1} << 20, uint64_t{1} << 60}) {
      std::vector<uint64_t> keys(n);
      for (uint64_t &key : keys) key = (uint64_t{1} << 40) + random_() % 100000;
      uint64_t state = n;
      for (uint64_t b = 0; b < blocks; ++b) {
        state = state * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u;
        const uint64_t start = b * part + ((state >> 32) * (part - sets + 1) >> 32);
        for (uint64_t i = start; i < start + sets; ++i) keys[i] = drawn + i;
      }
      for (const uint64_t k : {uint64_t{1}, uint64_t{5}, uint64_t{10}}) check_topk(order, keys, k);
    }
  }
}

// The least key of every set, of blocks anywhere.
TEST_P(EachTarget, MinimaOfEverySet) {
  for_each_order([](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    using gsort_internal::select_kernels;
    const auto *const kernels = select_kernels(U{});
    if (kernels == nullptr || kernels->minima == nullptr) return;
    const uint64_t sets = kernels->minima_sets;
    const KeyCodec<U> codec = make_codec<U>(order);
    const std::vector<uint32_t> starts = {1, static_cast<uint32_t>(2 * sets + 3), static_cast<uint32_t>(4 * sets)};
    std::mt19937_64 random(order.dtype);
    for (const uint32_t blocks : {1u, 3u}) {
      std::vector<U> keys(starts[blocks - 1] + sets), least(sets), wanted(sets);
      for (U &key : keys) key = static_cast<U>(random());
      for (uint64_t set = 0; set < sets; ++set) {
        wanted[set] = static_cast<U>(~U{0});
        for (uint32_t b = 0; b < blocks; ++b) wanted[set] = std::min(wanted[set], codec.encode(keys[starts[b] + set]));
      }
      kernels->minima(codec, keys.data(), starts.data(), blocks, least.data());
      ASSERT_EQ(wanted, least) << "type " << order.dtype << ", blocks " << blocks;
    }
  });
}

// Of keys alone, so many that come before the bound that parts of one thread's lie far from each other, and at every
// length of a last group; few values, of which the bound is one that many keys have.
TEST_P(EachTarget, TopkOfManyKeysAlone) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    if (sizeof(U) < 4) return;
    for (const uint64_t values : {uint64_t{0}, uint64_t{7}, uint64_t{3000}}) {
      for (uint64_t n = 9000; n < 9070; n += values == 0 ? 1 : 23) {
        std::vector<U> keys(n);
        for (U &key : keys) key = static_cast<U>(values == 0 ? random_() : random_() % values);
        check_topk(order, keys, 700 + random_() % 2000);
      }
    }
    if (!order.descending) check_topk(order, make_keys<U>(0, 200003, random_), 30001);
  });
}

// A bound behind which there is one key alone, and a call for keys of which there are none before it.
TEST_P(EachTarget, TopkOfTheLastKeysThereAre) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    const KeyCodec<U> codec = make_codec<U>(order);
    std::vector<U> keys(65536 + 7);
    for (U &key : keys) key = codec.decode(static_cast<U>(~U{0} - random_() % 2));
    for (const uint64_t k : {uint64_t{1}, uint64_t{8}, uint64_t{31}}) check_topk(order, keys, k);
  });
}

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

TEST_P(EachTarget, SumsAreExact) {
  for (const gsort_dtype t : {GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64}) {
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      for (const uint64_t n : {uint64_t{1}, uint64_t{31}, uint64_t{1024}, uint64_t{1500}, uint64_t{40000}}) {
        for (const uint32_t spread : {0u, 1u, 20u, 70u, 150u}) {
          std::vector<U> floats = make_floats<U>(t, spread, n, random_);
          if (spread == 20 && n > 100) {  // what is near cancels, and tiny elements are left
            for (uint64_t i = 0; i + 1 < n; i += 2) floats[i + 1] = static_cast<U>(floats[i] ^ KeyCodec<U>::kTop);
            floats[n / 2] = U{1};
          }
          Superaccumulator wanted;
          wanted.clear();
          for (const U x : floats) {
            double value = 0;
            if constexpr (sizeof(U) == 2) value = t == GSORT_F16 ? Half::to_double(x) : BFloat16::to_double(x);
            if constexpr (sizeof(U) == 4) {
              float single;
              std::memcpy(&single, &x, sizeof single);
              value = static_cast<double>(single);
            }
            if constexpr (sizeof(U) == 8) value = double_of_bits(x);
            wanted.add(value);
          }
          double sum = 0;
          Request r{Operation::kSum, {t, false, false}};
          r.n = n, r.in = floats.data(), r.out = &sum;
          three_.engine->execute(r);
          ASSERT_EQ(bits_of_double(sum), bits_of_double(wanted.sum())) << "t " << t << " n " << n << " " << spread;
        }
      }
    });
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
TEST_P(EachTarget, SumsOfElementsFarBelowOne) {
  for (const uint64_t n : {uint64_t{1000}, uint64_t{1024}, uint64_t{6000}}) {
    for (const int top : {1020, 995, 3, -600, -890, -980})
      check_sums_below_one<double>(*three_.engine, GSORT_F64, top, n);
    for (const int top : {127, 100, 0, -60}) check_sums_below_one<float>(*three_.engine, GSORT_F32, top, n);
  }
}

TEST_P(EachTarget, SumsOfIntegersWrap) {
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
        three_.engine->execute(r);
        ASSERT_EQ(sum, wanted) << "t " << t << " n " << n;
      }
    });
  }
}

TEST_P(EachTarget, ScansAsWithoutVectors) {
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

// An array that ends, or begins, where memory may not be touched.
template <class U>
class FencedArray {
 public:
  FencedArray(const std::vector<U> &values, bool fence_behind) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes = values.size() * sizeof(U);
    bytes_ = (bytes + page - 1) / page * page + 2 * page;
    map_ = static_cast<char *>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED) std::abort();
    mprotect(map_, page, PROT_NONE);
    mprotect(map_ + bytes_ - page, page, PROT_NONE);
    data_ = reinterpret_cast<U *>(fence_behind ? map_ + bytes_ - page - bytes : map_ + page);
    std::copy(values.begin(), values.end(), data_);
  }
  ~FencedArray() { munmap(map_, bytes_); }
  FencedArray(const FencedArray &) = delete;
  FencedArray &operator=(const FencedArray &) = delete;
  U *data() const { return data_; }

 private:
  char *map_;
  size_t bytes_;
  U *data_;
};

TEST_P(EachTarget, TouchesNothingBesideTheArrays) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_U32, GSORT_F64}) {
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      for (uint64_t n = 1; n < 5000; n += n < 40 ? 1 : n < 700 ? 13 : 411) {
        for (const bool behind : {false, true}) {
          const std::vector<U> keys = make_keys<U>(0, n, random_);
          std::vector<U> wanted = keys;
          const KeyOrder order{t, false, n % 2 == 0 && is_float(t)};
          std::sort(wanted.begin(), wanted.end(), [&](U a, U b) { return comes_before(order, a, b); });
          const FencedArray<U> in(keys, behind), out(std::vector<U>(n), behind);
          uint64_t result = 0;
          Request r{Operation::kSort, order};
          r.n = n, r.in = in.data(), r.out = out.data();
          one_.engine->execute(r);
          ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.data())) << "t " << t << " n " << n;
          r.operation = Operation::kScan;
          one_.engine->execute(r);
          r.operation = Operation::kTopk, r.k = n / 3;
          one_.engine->execute(r);
          ASSERT_TRUE(std::equal(out.data(), out.data() + n / 3, wanted.begin())) << "t " << t << " n " << n;
          r.operation = Operation::kSum, r.out = &result;
          one_.engine->execute(r);
          r.operation = Operation::kReduce, r.reduce_op = GSORT_ARGMIN;
          one_.engine->execute(r);
          ASSERT_EQ(keys[result], wanted[0]) << "t " << t << " n " << n;
          r.operation = Operation::kSort, r.out = in.data();
          one_.engine->execute(r);
          ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), in.data())) << "t " << t << " n " << n;
        }
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EachTarget,
                         testing::Values(VectorTarget::kNone, VectorTarget::kSse4, VectorTarget::kAvx2,
                                         VectorTarget::kAvx512, VectorTarget::kNeon),
                         [](const auto &target) {
                           const std::string name = vector_target_name(target.param);
                           return name == "AVX-512" ? std::string("AVX512") : name == "no" ? "None" : name;
                         });

}  // namespace
}  // namespace gsort_test
