// SPDX-License-Identifier: MIT OR Apache-2.0
// The best keys and the first of them: the same from every vector target and without vectors.
#include "cpu/vector/select.h"
#include "vector_target_fixture.h"

namespace gsort_test {
namespace {

class EachTargetSelects : public EachTarget {
 protected:
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
    const auto wanted = order_of<uint64_t>(order, keys);
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
};

TEST_P(EachTargetSelects, FindsTheFirstBestKey) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (uint64_t n = 1; n < 20000; n += n < 300 ? 1 : 1 + n / 3)
      check_best(order, make_keys<U>(static_cast<uint32_t>(random_() % kShapes), n, random_));
  });
}

// Keys of the sign that comes first are looked for alone, if there are any: none, one, at each end, zeros of both
// signs, many equal ones, NaNs.
TEST_P(EachTargetSelects, FindsTheFirstBestKeyOfEitherSign) {
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

TEST_P(EachTargetSelects, TopkIsTheHeadOfTheStableOrder) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t n : {uint64_t{4095}, uint64_t{4096}, uint64_t{30011}})
      for (const uint64_t k : {uint64_t{1}, uint64_t{9}, uint64_t{300}, n / 3, n / 2, n / 2 + 1})
        check_topk(order, make_keys<U>(static_cast<uint32_t>(random_() % kShapes), n, random_), k);
  });
}

// Keys laid out against the sample: what it draws is better than all others, or worse, so that another method must take
// the call.
TEST_P(EachTargetSelects, TopkIsRightWhereTheSampleMisleads) {
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
TEST_P(EachTargetSelects, TopkIsRightWhereTheBlocksMislead) {
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
TEST_P(EachTargetSelects, MinimaOfEverySet) {
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
TEST_P(EachTargetSelects, TopkOfManyKeysAlone) {
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
TEST_P(EachTargetSelects, TopkOfTheLastKeysThereAre) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    const KeyCodec<U> codec = make_codec<U>(order);
    std::vector<U> keys(65536 + 7);
    for (U &key : keys) key = codec.decode(static_cast<U>(~U{0} - random_() % 2));
    for (const uint64_t k : {uint64_t{1}, uint64_t{8}, uint64_t{31}}) check_topk(order, keys, k);
  });
}

INSTANTIATE_TEST_SUITE_P(Targets, EachTargetSelects, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
