// SPDX-License-Identifier: MIT OR Apache-2.0
// Every ordering operation of the CPU engine against std:: algorithms with a comparison of the test's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "cpu/vector/select.h"
#include "engine_fixture.h"

namespace gsort_test {
namespace {

const uint64_t kSizes[] = {0, 1, 2, 3, 15, 16, 17, 40, 255, 256, 257, 1000, 4097, 20001};
constexpr uint64_t kLargeItems = 300007;  // more than fit a cache, for every type; some shapes of keys each time

class CpuOrders : public testing::TestWithParam<gsort_dtype> {
 protected:
  // Calls f(tag, order) for every direction and NaN rule of the type.
  template <class F>
  void for_each_order(F &&f) {
    const gsort_dtype t = GetParam();
    for (int descending = 0; descending < 2; ++descending) {
      for (int nan_last = 0; nan_last <= (is_float(t) ? 1 : 0); ++nan_last) {
        const KeyOrder order{t, descending != 0, nan_last != 0};
        with_width(dtype_bytes(t), [&](auto tag) { f(tag, order); });
      }
    }
  }
  template <class U>
  static std::vector<uint64_t> stable_order(const KeyOrder &order, const std::vector<U> &keys) {
    std::vector<uint64_t> indices(keys.size());
    std::iota(indices.begin(), indices.end(), uint64_t{0});
    std::stable_sort(indices.begin(), indices.end(),
                     [&](uint64_t a, uint64_t b) { return comes_before(order, keys[a], keys[b]); });
    return indices;
  }
  std::mt19937_64 random_{7};
  EngineUnderTest one_{1}, three_{3};
};

TEST_P(CpuOrders, SortInPlaceAndOut) {
  uint32_t turn = 0;
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t size : kSizes) {
      for (uint32_t shape = 0; shape < kShapes; ++shape) {
        uint64_t n = size;
        if (n == 20001 && shape == turn % kShapes) n = kLargeItems, turn += 2;
        const std::vector<U> keys = make_keys<U>(shape, n, random_);
        std::vector<U> wanted = keys, in_place = keys, out(n + 2, U{0x55});
        std::sort(wanted.begin(), wanted.end(), [&](U a, U b) { return comes_before(order, a, b); });
        Request r{Operation::kSort, order};
        r.n = n;
        r.in = in_place.data(), r.out = in_place.data();
        three_.engine->execute(r);
        ASSERT_EQ(in_place, wanted) << "n " << n << " shape " << shape;
        r.in = keys.data(), r.out = out.data() + 1;
        one_.engine->execute(r);
        ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + 1)) << "n " << n << " shape " << shape;
        ASSERT_EQ(out.front(), U{0x55});
        ASSERT_EQ(out.back(), U{0x55});
      }
    }
  });
}

// Keys in this order or in the reverse, far apart with equal ones among them or one apart; and with two neighbours
// exchanged, so that one pair alone is wrong: at the ends, and where parts meet that are looked at one after the other
// or by different threads.
TEST_P(CpuOrders, KeysInOrderAlready) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t n : {uint64_t{257}, uint64_t{70001}, (uint64_t{1} << 18) + 130}) {
      for (const uint32_t shape : {0u, 3u}) {
        std::vector<U> wanted = make_keys<U>(shape, n, random_);
        for (uint64_t i = 0; shape == 0 && i + 1 < n; i += 5) wanted[i + 1] = wanted[i];
        std::sort(wanted.begin(), wanted.end(), [&](U a, U b) { return comes_before(order, a, b); });
        for (const bool reversed : {false, true}) {
          // Parts meet at multiples of 64, those of threads near the middle.
          const uint64_t middle = n / 2 / 64 * 64;
          for (const uint64_t exchanged : {n, uint64_t{0}, uint64_t{63}, uint64_t{1023}, uint64_t{1024}, middle - 1,
                                           middle + 63, middle + 64, middle + 127, n - 3, n - 2}) {
            std::vector<U> keys = wanted, out(n + 2, U{0x55});
            if (reversed) std::reverse(keys.begin(), keys.end());
            if (exchanged + 1 < n) std::swap(keys[exchanged], keys[exchanged + 1]);
            Request r{Operation::kSort, order};
            r.n = n;
            r.in = keys.data(), r.out = out.data() + 1;
            three_.engine->execute(r);
            ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + 1))
                << "n " << n << " shape " << shape << " reversed " << reversed << " exchanged " << exchanged;
            ASSERT_EQ(out.front(), U{0x55});
            ASSERT_EQ(out.back(), U{0x55});
            r.out = keys.data();
            (exchanged % 2 == 0 ? one_ : three_).engine->execute(r);
            ASSERT_EQ(keys, wanted) << "n " << n << " shape " << shape << " reversed " << reversed << " exchanged "
                                    << exchanged;
          }
        }
      }
    }
  });
}

TEST_P(CpuOrders, PairsAreStable) {
  const uint32_t value_sizes[] = {1, 2, 3, 4, 8, 16, 24, 100};
  uint32_t turn = 0;
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{17}, uint64_t{257}, uint64_t{5000}, uint64_t{40001}}) {
      for (const uint32_t bytes : value_sizes) {
        const std::vector<U> keys = make_keys<U>(turn++ % kShapes, n, random_);
        std::vector<unsigned char> values(n * bytes);
        for (unsigned char &byte : values) byte = static_cast<unsigned char>(random_());
        const std::vector<uint64_t> wanted = stable_order(order, keys);
        const bool in_place = turn % 2 == 0;
        std::vector<U> keys_out = keys;
        std::vector<unsigned char> values_out = values;
        Request r{Operation::kSortPairs, order};
        r.n = n, r.value_bytes = bytes;
        r.in = in_place ? keys_out.data() : keys.data(), r.out = keys_out.data();
        r.values_in = in_place ? values_out.data() : values.data(), r.values_out = values_out.data();
        (turn % 3 == 0 ? one_ : three_).engine->execute(r);
        for (uint64_t i = 0; i < n; ++i) {
          ASSERT_EQ(keys_out[i], keys[wanted[i]]) << "n " << n << " bytes " << bytes << " i " << i;
          ASSERT_EQ(std::memcmp(&values_out[i * bytes], &values[wanted[i] * bytes], bytes), 0)
              << "n " << n << " bytes " << bytes << " i " << i;
        }
      }
    }
  });
}

TEST_P(CpuOrders, ArgsortAndRankAreInverse) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t n : kSizes) {
      const std::vector<U> keys = make_keys<U>(static_cast<uint32_t>(n % kShapes), n, random_);
      const std::vector<uint64_t> wanted = stable_order(order, keys);
      std::vector<uint32_t> indices(n);
      std::vector<uint64_t> ranks(n);
      Request r{Operation::kArgsort, order};
      r.n = n, r.in = keys.data(), r.out = indices.data(), r.index_t = GSORT_I32;
      three_.engine->execute(r);
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), indices.begin())) << "n " << n;
      r.operation = Operation::kRank, r.out = ranks.data(), r.index_t = GSORT_U64;
      three_.engine->execute(r);
      for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(ranks[wanted[i]], i) << "n " << n;
    }
  });
}

// Two runs on two threads are merged by eight parts, the list of whose places is then one number longer than a line of
// memory: AddressSanitizer sees a shorter list.
TEST(CpuRuns, MergeByEightParts) {
  EngineUnderTest two(2);
  std::vector<std::string> lines;
  two.control.set_log(
      [](void *user, const char *line) { static_cast<std::vector<std::string> *>(user)->push_back(line); }, &lines);
  std::vector<uint32_t> keys(70000), out(keys.size());
  for (uint32_t i = 0; i < keys.size(); ++i) keys[i] = i % 35000 * 3 + i / 35000;
  std::vector<uint32_t> wanted = keys;
  std::sort(wanted.begin(), wanted.end());
  Request r{Operation::kSort, {GSORT_U32, false, false}};
  r.n = keys.size(), r.in = keys.data(), r.out = out.data();
  two.control.begin_call();
  two.engine->execute(r);
  EXPECT_EQ(wanted, out);
  const bool vectors = select_kernels(uint32_t{}) != nullptr;
  const bool merged = std::any_of(lines.begin(), lines.end(), [](const std::string &line) {
    return line.find("2 runs are merged") != std::string::npos;
  });
  EXPECT_EQ(vectors, merged);
}

TEST_P(CpuOrders, MergeOfSortedAndOfUnsorted) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    const auto less = [&](U a, U b) { return comes_before(order, a, b); };
    for (const uint64_t a_n : {uint64_t{0}, uint64_t{1}, uint64_t{70001}}) {
      for (const uint64_t b_n : {uint64_t{0}, uint64_t{1000}, uint64_t{65535}}) {
        for (const bool sorted : {true, false}) {
          std::vector<U> a = make_keys<U>(static_cast<uint32_t>((a_n + b_n) % kShapes), a_n, random_);
          std::vector<U> b = make_keys<U>(0, b_n, random_), out(a_n + b_n), wanted(a_n + b_n);
          if (sorted) std::sort(a.begin(), a.end(), less), std::sort(b.begin(), b.end(), less);
          Request r{Operation::kMerge, order};
          r.n = a_n, r.in = a.data(), r.b_n = b_n, r.b = b.data(), r.out = out.data();
          three_.engine->execute(r);
          std::copy(a.begin(), a.end(), wanted.begin());
          std::copy(b.begin(), b.end(), wanted.begin() + static_cast<std::ptrdiff_t>(a_n));
          std::sort(wanted.begin(), wanted.end(), less);
          if (!sorted) std::sort(out.begin(), out.end(), less);  // then only the multiset is promised
          ASSERT_EQ(out, wanted) << a_n << " + " << b_n;
        }
      }
    }
  });
}

TEST_P(CpuOrders, SegmentsOfManySizes) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t longest : {uint64_t{3}, uint64_t{100}, uint64_t{5000}, uint64_t{300000}}) {
      const uint64_t n = longest + longest / 2 + 50;
      std::vector<uint64_t> offsets{11};
      while (offsets.back() + longest + 5 < n && offsets.size() < 4000)
        offsets.push_back(offsets.back() + (random_() % 4 == 0 ? 0 : random_() % (longest + 1)));
      const std::vector<U> keys = make_keys<U>(static_cast<uint32_t>(longest % kShapes), n, random_);
      std::vector<U> wanted = keys, out(n), in_place = keys;
      for (uint64_t s = 0; s + 1 < offsets.size(); ++s)
        std::sort(wanted.begin() + static_cast<std::ptrdiff_t>(offsets[s]),
                  wanted.begin() + static_cast<std::ptrdiff_t>(offsets[s + 1]),
                  [&](U a, U b) { return comes_before(order, a, b); });
      Request r{Operation::kSortSegments, order};
      r.n = n, r.offsets = offsets.data(), r.segments = offsets.size() - 1;
      r.in = keys.data(), r.out = out.data();
      three_.engine->execute(r);
      ASSERT_EQ(out, wanted) << longest;
      r.in = in_place.data(), r.out = in_place.data();
      one_.engine->execute(r);
      ASSERT_EQ(in_place, wanted) << longest;
      r.segments = 0, r.offsets = nullptr, r.in = keys.data(), r.out = out.data();
      one_.engine->execute(r);
      ASSERT_EQ(out, keys);
    }
  });
}

TEST_P(CpuOrders, TopkIsTheHeadOfTheStableOrder) {
  uint32_t turn = 0;
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t n : {uint64_t{1}, uint64_t{64}, uint64_t{1000}, uint64_t{20000}, uint64_t{80000}}) {
      for (const uint64_t k : {uint64_t{1}, n / 100, n / 20, n / 3, n}) {
        if (k == 0) continue;
        const std::vector<U> keys = make_keys<U>(turn++ % kShapes, n, random_);
        const std::vector<uint64_t> wanted = stable_order(order, keys);
        std::vector<U> values(k);
        std::vector<uint32_t> indices(k);
        Request r{Operation::kTopk, order};
        r.n = n, r.k = k, r.in = keys.data(), r.out = values.data();
        r.index_t = GSORT_U32, r.indices_out = indices.data();
        (turn % 2 == 0 ? one_ : three_).engine->execute(r);
        for (uint64_t i = 0; i < k; ++i) {
          ASSERT_EQ(indices[i], wanted[i]) << "n " << n << " k " << k << " i " << i;
          ASSERT_EQ(values[i], keys[wanted[i]]);
        }
      }
    }
  });
}

// Fewer keys than k are good, and all of them are in the sample that bounds what is looked at: the places are those of
// Topk::last_by_sample(). A bound by fewer than k of the sample would leave out keys that are among the best.
TEST(CpuTopk, BoundOfTheSampleKeepsKeys) {
  constexpr uint64_t kCount = 65536, kWanted = 8, kPart = 1024;
  for (const uint64_t good : {uint64_t{1}, uint64_t{4}, uint64_t{5}, uint64_t{7}, uint64_t{8}}) {
    std::vector<uint32_t> keys(kCount);
    for (uint64_t i = 0; i < kCount; ++i) keys[i] = static_cast<uint32_t>(1000 + i);
    uint64_t mixed = 0;
    for (uint64_t i = 0; i < good; ++i) {
      mixed = (mixed + i) * 0x9e3779b97f4a7c15u;
      keys[i * kPart + (mixed >> 32) % kPart] = static_cast<uint32_t>(i);
    }
    std::vector<uint32_t> wanted = keys, values(kWanted), indices(kWanted);
    std::sort(wanted.begin(), wanted.end());
    wanted.resize(kWanted);
    EngineUnderTest two{2};
    Request r{Operation::kTopk, {GSORT_U32, false, false}};
    r.n = r.columns = r.row_stride = kCount, r.rows = 1, r.k = kWanted;
    r.in = keys.data(), r.out = values.data(), r.indices_out = indices.data(), r.index_t = GSORT_U32;
    two.engine->execute(r);
    EXPECT_EQ(wanted, values) << good << " good keys";
    for (uint64_t i = 0; i < kWanted; ++i) EXPECT_EQ(values[i], keys[indices[i]]);
  }
}

TEST_P(CpuOrders, TopkOfRows) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (const uint64_t columns : {uint64_t{1}, uint64_t{33}, uint64_t{500}, uint64_t{20000}}) {
      for (const uint64_t k : {uint64_t{1}, columns / 5, columns}) {
        if (k == 0) continue;
        const uint64_t rows = 7, stride = columns + 3;
        const std::vector<U> keys =
            make_keys<U>(static_cast<uint32_t>((columns + k) % kShapes), rows * stride, random_);
        std::vector<U> values(rows * k);
        std::vector<uint64_t> indices(rows * k);
        Request r{Operation::kTopkRows, order};
        r.n = rows * columns, r.rows = rows, r.columns = columns, r.row_stride = stride, r.k = k;
        r.in = keys.data(), r.out = values.data(), r.index_t = GSORT_I64, r.indices_out = indices.data();
        three_.engine->execute(r);
        for (uint64_t row = 0; row < rows; ++row) {
          const std::vector<U> one(keys.begin() + static_cast<std::ptrdiff_t>(row * stride),
                                   keys.begin() + static_cast<std::ptrdiff_t>(row * stride + columns));
          const std::vector<uint64_t> wanted = stable_order(order, one);
          for (uint64_t i = 0; i < k; ++i) {
            ASSERT_EQ(indices[row * k + i], wanted[i]) << "columns " << columns << " k " << k << " row " << row;
            ASSERT_EQ(values[row * k + i], one[wanted[i]]);
          }
        }
      }
    }
  });
}

TEST_P(CpuOrders, MinimaAndMaxima) {
  for_each_order([&](auto tag, KeyOrder order) {
    using U = typename decltype(tag)::type;
    order.descending = false;
    for (const uint64_t n : {uint64_t{1}, uint64_t{255}, uint64_t{257}, uint64_t{600001}}) {
      const std::vector<U> keys = make_keys<U>(static_cast<uint32_t>(random_() % kShapes), n, random_);
      for (const bool greatest : {false, true}) {
        KeyOrder direction = order;
        direction.descending = greatest;
        uint64_t wanted = 0;
        for (uint64_t i = 1; i < n; ++i)
          if (comes_before(direction, keys[i], keys[wanted])) wanted = i;
        U extreme{};
        uint64_t index = 0;
        Request r{Operation::kReduce, order};
        r.n = n, r.in = keys.data(), r.out = &extreme, r.reduce_op = greatest ? GSORT_MAX : GSORT_MIN;
        three_.engine->execute(r);
        EXPECT_EQ(extreme, keys[wanted]) << "n " << n;
        r.out = &index, r.reduce_op = greatest ? GSORT_ARGMAX : GSORT_ARGMIN;
        one_.engine->execute(r);
        EXPECT_EQ(index, wanted) << "n " << n;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(AllTypes, CpuOrders, testing::ValuesIn(kAllTypes),
                         [](const auto &instance) { return std::string(dtype_facts(instance.param).name + 6); });

}  // namespace
}  // namespace gsort_test
