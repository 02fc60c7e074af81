// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys with values, and the order as indices: the same from every vector target and without vectors.
#include "cpu/vector/pairs.h"
#include "vector_target_fixture.h"

namespace gsort_test {
namespace {

class EachTargetSortsPairs : public EachTarget {
 protected:
  template <class U>
  void check_pairs(const KeyOrder &order, const std::vector<U> &keys) {
    const uint64_t n = keys.size();
    const auto wanted = order_of<uint32_t>(order, keys);
    std::vector<uint32_t> places(n), indices(n);
    std::iota(places.begin(), places.end(), 0u);
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
      if (sizeof(U) == 8) check_long_values(*engine, order, keys, wanted);
    }
  }
  // Into other arrays.
  template <class U>
  void check_long_values(EngineUnderTest &engine, const KeyOrder &order, const std::vector<U> &keys,
                         const std::vector<uint32_t> &wanted) {
    const uint64_t n = keys.size();
    std::vector<U> sorted(n);
    std::vector<uint64_t> values(n), values_out(n);
    for (uint64_t i = 0; i < n; ++i) values[i] = ~i;
    Request r{Operation::kSortPairs, order};
    r.n = n, r.in = keys.data(), r.out = sorted.data();
    r.values_in = values.data(), r.values_out = values_out.data(), r.value_bytes = sizeof(uint64_t);
    engine.engine->execute(r);
    for (uint64_t i = 0; i < n; ++i) {
      ASSERT_EQ(sorted[i], keys[wanted[i]]) << "n " << n << " i " << i;
      ASSERT_EQ(values_out[i], ~uint64_t{wanted[i]}) << "n " << n << " i " << i;
    }
  }

  // The short way of few pairs, if it takes them, in place and not; returns whether it does.
  template <class U, class V>
  bool check_few_pairs(const KeyOrder &order, const std::vector<U> &keys) {
    const uint64_t n = keys.size();
    const auto wanted = order_of<uint32_t>(order, keys);
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
    return is_few;
  }

  // The short way of few keys' indices or ranks, if it takes them; returns whether it does.
  template <class U, class Index>
  bool check_few_indices(const KeyOrder &order, const std::vector<U> &keys, bool ranks) {
    const uint64_t n = keys.size();
    const auto wanted = order_of<Index>(order, keys);
    std::vector<Index> out(n + 2, Index{0x55});
    if (!one_.engine->index_few(order, ranks, keys.data(), n, sizeof(Index), out.data() + 1)) {
      EXPECT_EQ(out, std::vector<Index>(n + 2, Index{0x55}));
      return false;
    }
    for (uint64_t i = 0; i < n; ++i)
      EXPECT_EQ(ranks ? out[1 + wanted[i]] : out[1 + i], ranks ? i : wanted[i]) << "n " << n << " i " << i;
    EXPECT_TRUE(out.front() == Index{0x55} && out.back() == Index{0x55});
    return true;
  }

  // How many keys of a width are sure to take the short way, with values and without.
  template <class U>
  static constexpr uint64_t sure() {
    return sizeof(U) <= 4 ? 192 : 128;
  }

  // Pairs whose values can be indices, and the indices alone, which must take the short way where so few of those do.
  template <class U, class Index>
  bool check_few(const KeyOrder &order, const std::vector<U> &keys) {
    const bool is_few = check_few_pairs<U, Index>(order, keys);
    EXPECT_TRUE((check_few_indices<U, Index>(order, keys, false)) || !is_few || keys.size() > sure<U>());
    check_few_indices<U, Index>(order, keys, true);
    return is_few;
  }
};

TEST_P(EachTargetSortsPairs, OfEveryShapeStably) {
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
TEST_P(EachTargetSortsPairs, OfFewValuesStably) {
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

// Keys and values in place or not, each by itself; what is read only stays.
TEST_P(EachTargetSortsPairs, IntoAnyArrays) {
  const KeyOrder order{GSORT_I32, true, false};
  for (const uint64_t n : {193, 511, 512, 513, 1024, 1025, 2049, 30011}) {
    const std::vector<uint32_t> keys = make_keys<uint32_t>(0, n, random_);
    const auto wanted = order_of<uint32_t>(order, keys);
    for (uint32_t in_place = 0; in_place < 4; ++in_place) {
      std::vector<uint32_t> keys_in = keys, values_in(n), keys_out(n), values_out(n);
      std::iota(values_in.begin(), values_in.end(), 7u);
      Request r{Operation::kSortPairs, order};
      r.n = n, r.in = keys_in.data(), r.values_in = values_in.data(), r.value_bytes = sizeof(uint32_t);
      std::vector<uint32_t> &sorted = in_place % 2 == 1 ? keys_in : keys_out;
      std::vector<uint32_t> &values = in_place / 2 == 1 ? values_in : values_out;
      r.out = sorted.data(), r.values_out = values.data();
      one_.engine->execute(r);
      for (uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(sorted[i], keys[wanted[i]]) << "n " << n << " i " << i;
        ASSERT_EQ(values[i], wanted[i] + 7) << "n " << n << " i " << i;
        ASSERT_TRUE(in_place % 2 == 1 || keys_in[i] == keys[i]) << "n " << n << " i " << i;
        ASSERT_TRUE(in_place / 2 == 1 || values_in[i] == i + 7) << "n " << n << " i " << i;
      }
    }
  }
}

// Blocks in which words of 4 bytes leave out the bits that tell keys apart: few keys that agree in the others, many,
// and all but one.
TEST_P(EachTargetSortsPairs, WhoseKeysCrowdInBlocks) {
  for (const gsort_dtype t : {GSORT_U32, GSORT_F32}) {
    for (const uint64_t n : {193, 300, 512, 513, 1000, 1024, 1025, 2048, 2049, 20011}) {
      for (const uint32_t run : {2u, 20u, 32u, 33u, 500u}) {
        std::vector<uint32_t> keys(n);
        for (uint64_t i = 0; i < n; ++i)
          keys[i] = static_cast<uint32_t>(i / run) << 18 | static_cast<uint32_t>(random_() & 0x3f);
        std::shuffle(keys.begin(), keys.end(), random_);
        check_pairs(KeyOrder{t, run == 20, false}, keys);
        keys[random_() % n] = 0x7f7fffff;
        check_pairs(KeyOrder{t, run == 33, false}, keys);
      }
      std::vector<uint32_t> keys(n);
      for (uint32_t &key : keys) key = static_cast<uint32_t>(random_() & 0x1f);
      keys[random_() % n] = 0xffffffff;
      check_pairs(KeyOrder{t, false, false}, keys);
    }
  }
}

// The same of 8 bytes: what words of 4 bytes leave out, those of 8 hold but for the last bits of keys far apart.
TEST_P(EachTargetSortsPairs, WhoseLongKeysCrowdInBlocks) {
  for (const gsort_dtype t : {GSORT_U64, GSORT_F64}) {
    for (const uint64_t n : {1025, 2049, 4097, 16384, 16385, 40011}) {
      for (const uint32_t run : {2u, 32u, 33u, 500u, 5000u}) {
        for (const uint32_t shift : {12u, 40u}) {
          std::vector<uint64_t> keys(n);
          for (uint64_t i = 0; i < n; ++i) keys[i] = (i / run) << shift | (random_() & 0xfff);
          std::shuffle(keys.begin(), keys.end(), random_);
          check_pairs(KeyOrder{t, run == 33, false}, keys);
          keys[random_() % n] = 0x7fefffffffffffff;
          check_pairs(KeyOrder{t, run == 32, t == GSORT_F64}, keys);
        }
      }
      std::vector<uint64_t> keys(n);
      for (uint64_t &key : keys) key = random_() & 0x3ff;
      keys[random_() % n] = ~uint64_t{0};
      check_pairs(KeyOrder{t, false, false}, keys);
    }
  }
}

// Runs that a digit does not split are parted, and so are arrays of the lengths that lines to memory would split: of
// one thread's, the keys are then encoded before where NaNs are last.
TEST_P(EachTargetSortsPairs, LongKeysOfEveryShape) {
  for (const gsort_dtype t : {GSORT_U64, GSORT_F64}) {
    for (uint32_t shape = 0; shape < kShapes; ++shape) {
      for (const uint64_t n : {uint64_t{16385}, uint64_t{70001}, shape % 3 == 0 ? uint64_t{700001} : uint64_t{22000}})
        check_pairs(KeyOrder{t, shape % 2 == 1, t == GSORT_F64 && shape % 3 != 1},
                    make_keys<uint64_t>(shape, n, random_));
    }
  }
  for (uint32_t shape = 0; shape < kShapes; ++shape)
    for (const uint64_t n : {193, 1025, 5000, 70001})
      check_pairs(KeyOrder{GSORT_F32, shape % 2 == 1, true}, make_keys<uint32_t>(shape, n, random_));
}

// Few records have a way of their own, which must take them at these lengths and leave others alone.
TEST_P(EachTargetSortsPairs, FewRecordsByTheShortWay) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint64_t n = 1; n <= 210; n += n < 70 || n > 120 ? 1 : 7) {
      for (uint32_t shape = 0; shape < (n < 40 ? kShapes : 1); ++shape) {
        std::vector<U> keys = make_keys<U>(n < 40 ? shape : static_cast<uint32_t>(random_() % kShapes), n, random_);
        if (random_() % 2 == 0)
          for (U &key : keys) key = static_cast<U>(key & (KeyCodec<U>::kTop | 3));  // many ties, zeros of both signs
        const ProcessorOfAmd processor(random_() % 2 != 0);
        const bool is_few = check_few<U, uint32_t>(order, keys);
        const uint64_t surely = GetParam() == VectorTarget::kNone ? 0 : sure<U>();
        const auto *const kernels = sizeof(U) == 4 ? pair_kernels(uint32_t{}) : nullptr;
        const uint64_t most = std::max<uint64_t>(surely, kernels == nullptr ? 0 : kernels->items_max);
        EXPECT_TRUE(n <= surely ? is_few : !is_few || n <= most) << "n " << n;
        check_few<U, uint64_t>(order, keys);
        if (n % 3 == 0) check_few_pairs<U, uint8_t>(order, keys);
        if (n % 3 == 1) check_few_pairs<U, uint16_t>(order, keys);
      }
    }
  });
}

// Few records whose words leave out the last bits of their keys: where those tell keys apart, where they do not, and
// where the keys' first bits are the same, so that words hold all the others; and keys of which nothing differs.
TEST_P(EachTargetSortsPairs, FewLongKeysThatDifferInTheirLastBits) {
  const auto check = [&](const std::vector<uint64_t> &keys) {
    for (const gsort_dtype t : {GSORT_U64, GSORT_I64, GSORT_F64})
      for (const bool descending : {false, true}) {
        const ProcessorOfAmd processor(random_() % 2 != 0);
        check_few_pairs<uint64_t, uint64_t>({t, descending, false}, keys);
      }
  };
  for (uint64_t n = 2; n <= 70; ++n) {
    std::vector<uint64_t> near(n), far(n), apart(n), last(n, 0x1234);
    check(last);
    for (uint64_t i = 0; i < n; ++i) last[i] ^= random_() & 1;
    check(last);
    for (uint64_t i = 0; i < n; ++i) near[i] = 0x3ff0000000000000 | (random_() & 0xff);
    for (uint64_t i = 0; i < n; ++i) far[i] = (random_() & 1) << 62 | (random_() & 0x1f);
    for (uint64_t i = 0; i < n; ++i) apart[i] = random_() << 8 | 0x5a;
    check(near);
    check(far);
    check(apart);
    apart[n / 2] = apart[0] ^ 1;
    check(apart);
    apart[n - 1] = apart[n / 2];
    check(apart);
    for (uint64_t i = 0; i < n; ++i) apart[i] = (i % 2 == 0 ? ~uint64_t{0} : 0) ^ (random_() & 3);  // the greatest, too
    check(apart);
    for (uint64_t i = 0; i < n; ++i) apart[i] = ~uint64_t{0} ^ (random_() & 3);
    check(apart);
  }
}

// Values that lie anywhere, or have a size that nothing moves at once, are left to the usual way.
TEST_P(EachTargetSortsPairs, ShortWayLeavesOddValuesAlone) {
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

INSTANTIATE_TEST_SUITE_P(Targets, EachTargetSortsPairs, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
