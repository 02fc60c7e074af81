// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of up to 64 keys, alone and with values, whose kernels are found by their number: the kernels between pages
// that nobody may touch, and calls of the interface, from every vector target and without vectors.
#include "cpu/vector/few.h"
#include "fenced_array.h"
#include "vector_target_fixture.h"

namespace gsort_test {
namespace {

constexpr uint32_t kShortShapes = kShapes + 3;

// Of make_keys()'s shapes, or of few values, of odd numbers, or of keys of which some differ in their last bits alone.
template <class U>
std::vector<U> make_short_keys(gsort_dtype t, uint32_t shape, uint64_t n, std::mt19937_64 &random) {
  std::vector<U> keys = make_keys<U>(shape < kShapes ? shape : 0, n, random);
  constexpr uint32_t bits = sizeof(U) * 8;
  if (shape == kShapes)
    for (U &key : keys) key = static_cast<U>(random() % 4 << (bits - 2));
  if (shape == kShapes + 1 && is_float(t)) {
    const uint32_t mantissa_bits = dtype_facts(t).mantissa_bits;
    const U infinity = static_cast<U>(static_cast<U>(~U{0}) >> (mantissa_bits + 1) << mantissa_bits);
    const U odd[] = {0,
                     infinity,
                     static_cast<U>(infinity + 1),
                     static_cast<U>(infinity + 2),
                     static_cast<U>(infinity | infinity >> 1),
                     static_cast<U>(static_cast<U>(~U{0}) >> 1)};
    for (U &key : keys) key = static_cast<U>(odd[random() % 6] | (random() & 1) << (bits - 1));
  }
  if (shape == kShapes + 2)
    for (U &key : keys) key = static_cast<U>((random() & 1) << (bits - 1) | random() % 16);
  if (shape < kShapes && shape % 2 == 1) add_odd_numbers(t, keys, random);
  return keys;
}

class EachTargetSortsFew : public EachTarget {
 protected:
  // Calls f(tag, order, flags, keys) for every type, order and number of keys up to kMost, and several shapes.
  template <class F>
  void for_each_keys(uint64_t most, F &&f) {
    for_each_order([&](auto tag, const KeyOrder &order) {
      using U = typename decltype(tag)::type;
      const uint32_t flags = (order.descending ? GSORT_DESCENDING : 0) | (order.nan_last ? GSORT_NAN_LAST : 0);
      for (uint64_t n = 0; n <= most; ++n)
        for (uint32_t shape = 0; shape < kShortShapes; ++shape)
          f(order, flags, make_short_keys<U>(order.dtype, shape, n, random_));
    });
  }
  template <class U>
  static std::vector<U> sorted(const KeyOrder &order, const std::vector<U> &keys) {
    std::vector<U> wanted = keys;
    std::stable_sort(wanted.begin(), wanted.end(), [&](U a, U b) { return comes_before(order, a, b); });
    return wanted;
  }
  template <class U>
  static std::vector<U> numbered(uint64_t n) {
    std::vector<U> values(n);
    for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<U>(0x1000 + 3 * i);
    return values;
  }

  // The kernels of a table for an order; items_max is 0 where there are none.
  template <class Sort>
  static FewSorts<Sort> kernels(const FewTables<Sort> &tables, gsort_dtype t, uint32_t flags) {
    return t < GSORT_U32 ? FewSorts<Sort>{} : few_sorts(tables, t - GSORT_U32, flags);
  }

  void check_keys_by_kernels() {
    for_each_keys(kFewMax, [&](const KeyOrder &order, uint32_t flags, const auto &keys) {
      using U = typename std::decay_t<decltype(keys)>::value_type;
      const uint64_t n = keys.size();
      const FewSorts<FewKeySort> few = kernels(kFewKeySorts, order.dtype, flags);
      ASSERT_LE(few.items_max, kFewMax);
      if (n == 0 || n > few.items_max) return;
      ASSERT_EQ(few.key_bytes, sizeof(U));
      ASSERT_FALSE(order.nan_last);
      const std::vector<U> wanted = sorted(order, keys);
      const FencedArray<U> in(keys, random_() % 2 == 0), out(std::vector<U>(n), random_() % 2 == 0);
      for (U *const to : {out.data(), in.data()}) {
        few.by_count[n - 1](few.coder, n, in.data(), to);
        ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), to)) << "t " << order.dtype << " n " << n;
      }
    });
  }

  void check_pairs_by_kernels() {
    for_each_keys(kFewMax, [&](const KeyOrder &order, uint32_t flags, const auto &keys) {
      using U = typename std::decay_t<decltype(keys)>::value_type;
      const uint64_t n = keys.size();
      const FewSorts<FewPairSort> few = kernels(kFewPairSorts, order.dtype, flags);
      if (n == 0 || n > few.items_max) return;
      const auto wanted = order_of<uint32_t>(order, keys);
      const std::vector<U> values = numbered<U>(n);
      const bool behind = random_() % 2 == 0;
      const FencedArray<U> in(keys, behind), values_in(values, behind), out(std::vector<U>(n, 9), behind),
          values_out(std::vector<U>(n, 9), behind);
      for (const bool in_place : {false, true}) {
        const FencedArray<U> &to = in_place ? in : out, &values_to = in_place ? values_in : values_out;
        const bool done = few.by_count[n - 1](few.order, in.data(), values_in.data(), static_cast<uint32_t>(n),
                                              to.data(), values_to.data());
        for (uint64_t i = 0; i < n; ++i) {
          const uint64_t from = done ? wanted[i] : i;
          ASSERT_EQ(to.data()[i], done || in_place ? keys[from] : U{9}) << "t " << order.dtype << " n " << n;
          ASSERT_EQ(values_to.data()[i], done || in_place ? values[from] : U{9}) << "t " << order.dtype << " n " << n;
        }
      }
    });
  }
};

TEST_P(EachTargetSortsFew, KeysByKernels) {
  for (const bool of_amd : {false, true}) {
    const ProcessorOfAmd processor(of_amd);
    check_keys_by_kernels();
  }
}

TEST_P(EachTargetSortsFew, PairsByKernels) {
  for (const bool of_amd : {false, true}) {
    const ProcessorOfAmd processor(of_amd);
    check_pairs_by_kernels();
  }
}

// Calls on a handle, in place and not, again and again on the same arrays.
class EachTargetSortsByCalls : public EachTargetSortsFew {
 protected:
  void SetUp() override {
    EachTargetSortsFew::SetUp();
    gsort_options options{};
    options.struct_size = sizeof options;
    options.backend = GSORT_BACKEND_CPU;
    options.threads = 1;
    ASSERT_EQ(gsort_create(&options, &g_), GSORT_OK);
  }
  void TearDown() override {
    gsort_destroy(g_);
    EachTargetSortsFew::TearDown();
  }
  static constexpr uint64_t kMost = kFewMax + 3;  // and some more, which take other ways
  gsort *g_ = nullptr;
};

TEST_P(EachTargetSortsByCalls, Keys) {
  std::vector<uint64_t> room(2 * (kMost + 2));
  for_each_keys(kMost, [&](const KeyOrder &order, uint32_t flags, const auto &keys) {
    using U = typename std::decay_t<decltype(keys)>::value_type;
    const uint64_t n = keys.size();
    const std::vector<U> wanted = sorted(order, keys);
    U *const in = reinterpret_cast<U *>(room.data()) + 1, *const out = in + kMost + 2;
    out[-1] = out[n] = 0x55;
    for (U *const to : {out, in}) {
      std::copy(keys.begin(), keys.end(), in);
      in[n] = 0x55;
      ASSERT_EQ(gsort_sort(g_, order.dtype, in, to, n, flags), GSORT_OK);
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), to)) << "t " << order.dtype << " n " << n;
      ASSERT_TRUE(to == in || std::equal(keys.begin(), keys.end(), in)) << "t " << order.dtype << " n " << n;
      ASSERT_TRUE(in[n] == 0x55 && out[-1] == 0x55 && out[n] == 0x55) << "t " << order.dtype << " n " << n;
    }
  });
}

TEST_P(EachTargetSortsByCalls, KeysOfTypedFunctions) {
  for (uint64_t n = 0; n <= kMost; ++n) {
    const auto check = [&](gsort_dtype t, auto key, auto sort) {
      using T = decltype(key);
      using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      for (uint32_t flags = 0; flags < 4; ++flags) {
        const KeyOrder order{t, (flags & GSORT_DESCENDING) != 0, (flags & GSORT_NAN_LAST) != 0 && is_float(t)};
        const std::vector<U> keys = make_short_keys<U>(t, static_cast<uint32_t>(random_() % kShortShapes), n, random_);
        std::vector<T> to(n + 1);
        if (n > 0) std::memcpy(to.data(), keys.data(), n * sizeof(U));
        ASSERT_EQ(sort(g_, to.data(), n, flags), GSORT_OK);
        ASSERT_EQ(n == 0 ? 0 : std::memcmp(to.data(), sorted(order, keys).data(), n * sizeof(U)), 0) << t << " n " << n;
      }
    };
    check(GSORT_U32, uint32_t{}, gsort_sort_u32);
    check(GSORT_I32, int32_t{}, gsort_sort_i32);
    check(GSORT_U64, uint64_t{}, gsort_sort_u64);
    check(GSORT_I64, int64_t{}, gsort_sort_i64);
    check(GSORT_F32, float{}, gsort_sort_f32);
    check(GSORT_F64, double{}, gsort_sort_f64);
  }
}

TEST_P(EachTargetSortsByCalls, Pairs) {
  std::vector<uint64_t> room(4 * (kMost + 2));
  for_each_keys(kMost, [&](const KeyOrder &order, uint32_t flags, const auto &keys) {
    using U = typename std::decay_t<decltype(keys)>::value_type;
    const uint64_t n = keys.size();
    const auto wanted = order_of<uint32_t>(order, keys);
    const std::vector<U> values = numbered<U>(n);
    U *const in = reinterpret_cast<U *>(room.data()), *const values_in = in + kMost + 2,
             *const out = values_in + kMost + 2, *const values_out = out + kMost + 2;
    for (const uint32_t in_place : {0, 1, 2, 3}) {  // neither, keys, values, both
      U *const to = (in_place & 1) != 0 ? in : out, *const values_to = (in_place & 2) != 0 ? values_in : values_out;
      std::copy(keys.begin(), keys.end(), in);
      std::copy(values.begin(), values.end(), values_in);
      ASSERT_EQ(gsort_sort_pairs(g_, order.dtype, in, to, sizeof(U), values_in, values_to, n, flags), GSORT_OK);
      for (uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(to[i], keys[wanted[i]]) << "t " << order.dtype << " n " << n << " i " << i;
        ASSERT_EQ(values_to[i], values[wanted[i]]) << "t " << order.dtype << " n " << n << " i " << i;
      }
    }
  });
}

// After calls of which nothing is odd, so that everything that a short way goes by is known.
TEST_P(EachTargetSortsByCalls, RefusesWhatLongerCallsRefuse) {
  std::vector<uint64_t> room(256, 7);
  uint64_t *const a = room.data(), *const b = a + 64, *const c = b + 64, *const d = c + 64;
  const auto shifted = [](uint64_t *array, uint64_t bytes) { return reinterpret_cast<char *>(array) + bytes; };
  for (const uint64_t n : {uint64_t{2}, uint64_t{5}, uint64_t{16}, uint64_t{40}}) {
    for (int round = 0; round < 2; ++round) {
      ASSERT_EQ(gsort_sort(g_, GSORT_U64, a, b, n, 0), GSORT_OK);
      ASSERT_EQ(gsort_sort_pairs(g_, GSORT_U64, a, b, 8, c, d, n, 0), GSORT_OK);
      ASSERT_EQ(gsort_sort_pairs(g_, GSORT_U64, a, a, 8, b, b, n, 0), GSORT_OK);
    }
    EXPECT_EQ(gsort_sort(nullptr, GSORT_U64, a, a, n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort(g_, 0, a, a, n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort(g_, GSORT_F64 + 1, a, a, n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort(g_, GSORT_U64, a, a, n, GSORT_SMALLEST), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort(g_, GSORT_U64, nullptr, a, n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort(g_, GSORT_U64, a, nullptr, n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort(g_, GSORT_U64, shifted(a, 4), shifted(a, 4), n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort(g_, GSORT_U64, a, a + 1, n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort(g_, GSORT_U64, a + n - 1, a, n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    const auto pairs = [&](const void *keys, void *keys_out, const void *values, void *values_out) {
      return gsort_sort_pairs(g_, GSORT_U64, keys, keys_out, 8, values, values_out, n, 0);
    };
    EXPECT_EQ(gsort_sort_pairs(nullptr, GSORT_U64, a, b, 8, c, d, n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort_pairs(g_, GSORT_U64, a, b, 0, c, d, n, 0), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(gsort_sort_pairs(g_, GSORT_U64, a, b, 8, c, d, n, GSORT_SMALLEST), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(nullptr, b, c, d), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, nullptr, c, d), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, b, nullptr, d), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, b, c, nullptr), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(shifted(a, 4), b, c, d), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, b, b + n - 1, d), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, b, c, a + n - 1), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, b, c, b + n - 1), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, a + 1, c, d), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, b, c, c + 1), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, a, a, a), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, a, a + n - 1, a + n - 1), GSORT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(pairs(a, b, shifted(c, 3), shifted(d, 3)), GSORT_OK) << "values may lie anywhere";
  }
}

// Who listens hears of calls of any length.
TEST_P(EachTargetSortsByCalls, TellsListeners) {
  std::vector<uint32_t> keys = {3, 1, 2}, values = {0, 1, 2};
  uint32_t heard = 0;
  for (int round = 0; round < 2; ++round) ASSERT_EQ(gsort_sort_u32(g_, keys.data(), keys.size(), 0), GSORT_OK);
  const auto count = [](void *user, uint64_t, uint64_t) -> int32_t { return ++*static_cast<uint32_t *>(user), 0; };
  ASSERT_EQ(gsort_set_progress(g_, count, &heard), GSORT_OK);
  keys = {3, 1, 2};
  EXPECT_EQ(gsort_sort_u32(g_, keys.data(), keys.size(), 0), GSORT_OK);
  EXPECT_GT(heard, 0u);
  EXPECT_EQ(keys, (std::vector<uint32_t>{1, 2, 3}));
  heard = 0;
  EXPECT_EQ(gsort_sort_pairs(g_, GSORT_U32, keys.data(), keys.data(), 4, values.data(), values.data(), 3, 0), GSORT_OK);
  EXPECT_GT(heard, 0u);
}

INSTANTIATE_TEST_SUITE_P(Vector, EachTargetSortsFew, testing::ValuesIn(kEveryTarget), target_test_name);
INSTANTIATE_TEST_SUITE_P(Vector, EachTargetSortsByCalls, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
