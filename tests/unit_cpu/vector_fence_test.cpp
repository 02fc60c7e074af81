// SPDX-License-Identifier: MIT OR Apache-2.0
// No vector target reads or writes beside the arrays of a call.
#include "cpu/engine/context.h"
#include "cpu/sort/pair_quicksort.h"
#include "fenced_array.h"
#include "vector_target_fixture.h"

namespace gsort_test {
namespace {

class EachTargetStaysInside : public EachTarget {
 protected:
  // The quicksort of pairs by itself, with each array that it is given between pages that nobody may touch: keys and
  // values that lie elsewhere, in the output or in the scratch, or indices in place of values.
  template <class K, class V>
  void part_between_fences(const std::vector<K> &keys, bool behind) {
    const PairQuicksortKernels<K, V> *const kernels = find_pair_quicksort_kernels<K, V>();
    if (kernels == nullptr) return;
    const uint64_t n = keys.size();
    const KeyOrder order{sizeof(K) == 4 ? GSORT_F32 : GSORT_F64, n % 2 == 0, false};
    const auto wanted = order_of<uint32_t>(order, keys);
    std::vector<V> places(n);
    std::iota(places.begin(), places.end(), V{0});
    HostMemory memory(nullptr, nullptr, nullptr, 0);
    Control control;
    Pool pool(1);
    for (uint32_t where = 0; where < 4; ++where) {
      Context context(memory, control, pool, true);
      context.begin(2 * n);
      const FencedArray<K> in(keys, behind), out(keys, behind), scratch(keys, behind);
      const FencedArray<V> from(places, behind), to(places, behind), scratch_values(places, behind);
      const FencedArray<uint64_t> words(std::vector<uint64_t>(PairQuicksort<K, V>::words_for(*kernels)), behind);
      PairQuicksort<K, V> sort(context, *kernels, make_codec<K>(order), {scratch.data(), scratch_values.data()},
                               words.data(), true);
      const K *const first_keys[] = {in.data(), in.data(), out.data(), scratch.data()};
      const V *const first_values[] = {from.data(), nullptr, to.data(), scratch_values.data()};
      sort.run(first_keys[where], first_values[where], n, {out.data(), to.data()}, true);
      for (uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(wanted[i], to.data()[i]) << "n " << n << " where " << where << " i " << i;
        ASSERT_EQ(keys[wanted[i]], out.data()[i]) << "n " << n << " where " << where << " i " << i;
      }
    }
  }
};

// A chunk's share in a split by several threads writes its own records alone.
template <class K, class V>
void split_apart_between_fences(const std::vector<K> &keys, K pivot_key, bool behind) {
  const PairQuicksortKernels<K, V> *const kernels = find_pair_quicksort_kernels<K, V>();
  if (kernels == nullptr) return;
  const uint64_t n = keys.size();
  const KeyCodec<K> codec = make_codec<K>({sizeof(K) == 4 ? GSORT_F32 : GSORT_F64, n % 2 == 0, false});
  const auto inner = [&](K key) { return static_cast<InnerKey<K>>(codec.encode(key) ^ KeyCodec<K>::kTop); };
  const InnerKey<K> pivot = inner(pivot_key);
  std::vector<V> values(n);
  for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<V>(i * 7 + 5);
  const FencedArray<K> from(keys, behind);
  const FencedArray<V> from_values(values, behind);
  std::vector<uint64_t> wanted(n);
  std::iota(wanted.begin(), wanted.end(), uint64_t{0});
  const uint64_t lowers = static_cast<uint64_t>(
      std::stable_partition(wanted.begin(), wanted.end(), [&](uint64_t i) { return inner(keys[i]) <= pivot; }) -
      wanted.begin());
  ASSERT_EQ(lowers, kernels->count(codec, from.data(), n, pivot));
  for (const bool numbers : {false, true}) {
    const FencedArray<K> lower(std::vector<K>(lowers), behind), upper(std::vector<K>(n - lowers), behind);
    const FencedArray<V> lower_values(std::vector<V>(lowers), behind), upper_values(std::vector<V>(n - lowers), behind);
    constexpr uint64_t kFirst = 1000;
    kernels->split_apart(codec, {from.data(), numbers ? nullptr : from_values.data(), kFirst}, n, pivot, lowers,
                         {lower.data(), lower_values.data()}, {upper.data(), upper_values.data()});
    for (uint64_t i = 0; i < n; ++i) {
      const bool is_lower = i < lowers;
      const uint64_t at = is_lower ? i : i - lowers;
      const InnerKey<K> key = static_cast<InnerKey<K>>((is_lower ? lower : upper).data()[at]);
      const V value = (is_lower ? lower_values : upper_values).data()[at];
      ASSERT_EQ(inner(keys[wanted[i]]), key) << "n " << n << " lowers " << lowers << " i " << i;
      ASSERT_EQ(numbers ? static_cast<V>(wanted[i] + kFirst) : values[wanted[i]], value)
          << "n " << n << " lowers " << lowers << " i " << i;
    }
  }
}

TEST_P(EachTargetStaysInside, SplitsApartWithoutAWordBesideItsOwn) {
  for (uint64_t n = 1; n < 2000; n += n < 150 ? 1 : 97) {
    for (const bool behind : {false, true}) {
      // Pivots with few records on either side, and records of one side before all of the other.
      for (uint32_t shape = 0; shape < kShapes; ++shape) {
        const auto short_keys = make_keys<uint32_t>(shape, n, random_);
        const auto long_keys = make_keys<uint64_t>(shape, n, random_);
        const uint64_t at = shape % 3 == 0 ? random_() % n : shape % 3 == 1 ? 0 : n - 1;
        split_apart_between_fences<uint32_t, uint32_t>(short_keys, short_keys[at], behind);
        split_apart_between_fences<uint64_t, uint32_t>(long_keys, long_keys[at], behind);
        split_apart_between_fences<uint64_t, uint64_t>(long_keys, long_keys[at], behind);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(EachTargetStaysInside, TouchesNothingBesideTheArrays) {
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

TEST_P(EachTargetStaysInside, TouchesNothingBesideFewKeys) {
  for (const bool of_amd : {false, true}) {
    const ProcessorOfAmd processor(of_amd);
    for (const gsort_dtype t : {GSORT_U32, GSORT_I32, GSORT_F32, GSORT_U64, GSORT_F64}) {
      with_width(dtype_bytes(t), [&](auto tag) {
        using U = typename decltype(tag)::type;
        for (uint64_t n = 1; n <= 300; ++n) {
          for (const bool behind : {false, true}) {
            const KeyOrder order{t, (n + (behind ? 1 : 0)) % 2 == 0, false};
            const std::vector<U> keys = make_keys<U>(static_cast<uint32_t>(random_() % kShapes), n, random_);
            std::vector<U> wanted = keys;
            std::sort(wanted.begin(), wanted.end(), [&](U a, U b) { return comes_before(order, a, b); });
            const FencedArray<U> in(keys, behind), out(std::vector<U>(n), behind);
            for (U *const sorted : {out.data(), in.data()}) {
              if (!one_.engine->sort_few(order, in.data(), sorted, n)) continue;
              ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), sorted)) << "t " << t << " n " << n;
            }
          }
        }
      });
    }
  }
}

TEST_P(EachTargetStaysInside, TouchesNothingBesideFewPairs) {
  for (const gsort_dtype t : {GSORT_U32, GSORT_F32, GSORT_U64, GSORT_F64}) {
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      for (uint64_t n = 1; n <= 260; n += n < 70 ? 1 : 5) {
        for (const bool behind : {false, true}) {
          const KeyOrder order{t, n % 2 == 0, false};
          const std::vector<U> keys = make_keys<U>(static_cast<uint32_t>(random_() % kShapes), n, random_);
          const auto wanted = order_of<U>(order, keys);
          std::vector<U> places(n);
          std::iota(places.begin(), places.end(), U{0});
          const FencedArray<U> in(keys, behind), out(keys, behind), from(places, behind), to(places, behind);
          for (const bool in_place : {false, true}) {
            U *const sorted = (in_place ? in : out).data(), *const values = (in_place ? from : to).data();
            if (!one_.engine->sort_few_pairs({order, sizeof(U), n, in.data(), from.data(), sorted, values})) continue;
            ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), values)) << "t " << t << " n " << n;
            for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(sorted[i], keys[wanted[i]]) << "t " << t << " n " << n;
          }
        }
      }
    });
  }
}

TEST_P(EachTargetStaysInside, TouchesNothingBesidePairs) {
  for (uint64_t n = 193; n < 7000; n += n < 300 ? 1 : n < 2100 ? 37 : 611) {
    for (const bool behind : {false, true}) {
      const KeyOrder order{n % 3 == 0 ? GSORT_F32 : GSORT_U32, n % 2 == 0, false};
      const auto keys = make_keys<uint32_t>(n % 5 == 0 ? static_cast<uint32_t>(random_() % kShapes) : 0, n, random_);
      const auto wanted = order_of<uint32_t>(order, keys);
      std::vector<uint32_t> places(n);
      std::iota(places.begin(), places.end(), 0u);
      const FencedArray<uint32_t> in(keys, behind), out(keys, behind), from(places, behind), to(places, behind);
      for (const bool in_place : {false, true}) {
        Request r{Operation::kSortPairs, order};
        r.n = n, r.in = in.data(), r.values_in = from.data(), r.value_bytes = sizeof(uint32_t);
        r.out = (in_place ? in : out).data(), r.values_out = (in_place ? from : to).data();
        one_.engine->execute(r);
        ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), static_cast<const uint32_t *>(r.values_out))) << n;
      }
    }
  }
}

TEST_P(EachTargetStaysInside, TouchesNothingBesidePartedPairs) {
  for (uint64_t n = 1; n < 9000; n += n < 70 ? 1 : n < 2100 ? 53 : 911) {
    for (const bool behind : {false, true}) {
      for (const uint32_t shape : {0u, static_cast<uint32_t>(n % kShapes)}) {
        part_between_fences<uint32_t, uint32_t>(make_keys<uint32_t>(shape, n, random_), behind);
        part_between_fences<uint64_t, uint32_t>(make_keys<uint64_t>(shape, n, random_), behind);
        part_between_fences<uint64_t, uint64_t>(make_keys<uint64_t>(shape, n, random_), behind);
      }
    }
  }
}

// Asked whether it goes on, says no at one time.
struct StopAt {
  uint64_t time, asked = 0;
  static bool ask(void *user) {
    StopAt &stop = *static_cast<StopAt *>(user);
    return stop.asked++ != stop.time;
  }
};
constexpr uint64_t kNever = ~uint64_t{0};

// A split of keys in place and of others, with each array between pages that nobody may touch. Returns how often it was
// asked whether it goes on, the lesser of both; one that is told to stop does so, and leaves all keys in place.
template <class K>
uint64_t split_between_fences(const KeyOrder &order, const std::vector<K> &keys, K pivot_key, bool behind,
                              uint64_t stop_at) {
  const SortKernels<K> *const kernels = sort_kernels(K{});
  if (kernels == nullptr) return 0;
  const uint64_t n = keys.size();
  const KeyCodec<K> codec = make_codec<K>(order);
  const auto inner = [&](K key) { return static_cast<InnerKey<K>>(codec.encode(key) ^ KeyCodec<K>::kTop); };
  const InnerKey<K> pivot = inner(pivot_key);
  const auto is_lower = [&](K key) { return inner(key) <= pivot; };
  const uint64_t before = fingerprint(keys.data(), n);
  const FencedArray<K> in(keys, behind), out(std::vector<K>(n), behind);
  uint64_t asked = kNever;
  for (const bool in_place : {false, true}) {
    K *const to = (in_place ? in : out).data();
    StopAt stop{stop_at};
    const uint64_t lowers = kernels->split(codec, in.data(), to, n, pivot, {StopAt::ask, &stop});
    const bool was_stopped = stop.asked > stop_at;
    asked = std::min(asked, stop.asked);
    EXPECT_TRUE(!was_stopped || stop.asked == stop_at + 1) << "asked again, in place " << in_place;
    if (was_stopped && !in_place) continue;
    EXPECT_EQ(before, fingerprint(to, n)) << "n " << n << " in place " << in_place;
    if (was_stopped) continue;
    EXPECT_EQ(static_cast<uint64_t>(std::count_if(keys.begin(), keys.end(), is_lower)), lowers) << "n " << n;
    EXPECT_TRUE(std::is_partitioned(to, to + n, is_lower)) << "n " << n << " in place " << in_place;
  }
  return asked;
}

TEST_P(EachTargetStaysInside, SplitsKeysBesideNothing) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    if constexpr (sizeof(U) >= 4)
      for (uint64_t n = 1; n < 1500; n += n < 300 ? 1 + n % 2 : 97)
        for (const uint32_t shape : {0u, static_cast<uint32_t>(n % kShapes)}) {
          auto keys = make_keys<U>(shape, n, random_);
          add_odd_numbers(order.dtype, keys, random_);
          split_between_fences<U>(order, keys, keys[random_() % n], n % 2 == 0, kNever);
          if (HasFailure()) return;
        }
  });
}

TEST_P(EachTargetStaysInside, SplitsThatAreStoppedLeaveAllKeys) {
  for_each_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    if constexpr (sizeof(U) >= 4) {
      // The middle key, and keys nearly all of which go to one side.
      for (const uint32_t place : {500u, 5u, 960u}) {
        auto keys = make_keys<U>(0, ((4 << 20) + 30000) / sizeof(U) + random_() % 100, random_);
        add_odd_numbers(order.dtype, keys, random_);
        std::vector<U> some(keys.begin(), keys.begin() + 1000);
        std::sort(some.begin(), some.end(), [&](U a, U b) { return comes_before(order, a, b); });
        uint64_t stop_at = 0;
        while (split_between_fences<U>(order, keys, some[place], false, stop_at) > stop_at) ++stop_at;
        EXPECT_TRUE(stop_at >= 3 || sort_kernels(U{}) == nullptr) << stop_at << " chances";
        if (HasFailure()) return;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Targets, EachTargetStaysInside, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
