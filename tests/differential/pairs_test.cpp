// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sort_pairs(): stability and values of every kind of size.
#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class PairsTest : public BackendTypeTest {
 protected:
  void check(const Sample &sample, uint32_t value_bytes) {
    SCOPED_TRACE(sample.describe() + ", value bytes " + std::to_string(value_bytes));
    const Pairs in = {sample.make(), generate_values(sample.n, value_bytes, sample.seed)};
    const Pairs out = run_sort_pairs(sample.where(handle(), place()), in, value_bytes, sample.flags);
    const Indices order = reference_argsort(in.keys, sample.flags);
    ASSERT_TRUE(same_elements(gather(in.keys, order), out.keys));
    ASSERT_TRUE(same_bytes(gather_values(in.values, value_bytes, order), out.values)) << "values";
  }
};

TEST_P(PairsTest, MatchesReference) {
  constexpr uint32_t kValueBytes[] = {4, 8, 1, 2, 16, 3, 12};
  uint32_t turn = 0;
  for (const Sample &sample : samples(type(), kSortFlags)) {
    check(sample, kValueBytes[turn++ % 7]);
    if (HasFailure()) return;
  }
}

// Sizes beyond those that a register holds: odd ones, a cache line and around it, the largest allowed.
TEST_P(PairsTest, ValuesOfEverySize) {
  for (uint32_t value_bytes = 1; value_bytes <= 40; value_bytes++) {
    check({Distribution::kSmallRange, type(), 613, value_bytes, kSortFlags[value_bytes % 4], value_bytes % 16,
           value_bytes % 2 == 0},
          value_bytes);
    if (HasFailure()) return;
  }
  for (const uint32_t value_bytes : {63u, 64u, 65u, 100u, 128u, 255u, 256u, 257u, 1000u, 4096u, 65535u, 65536u}) {
    check({Distribution::kTwoValues, type(), 37, value_bytes, 0, 0, value_bytes % 2 == 0}, value_bytes);
    if (HasFailure()) return;
  }
}

// Around the length up to which pairs of 4-byte keys need no memory.
TEST_P(PairsTest, FewPairs) {
  for (const uint64_t n : {1u, 2u, 3u, 17u, 64u, 200u, 255u, 256u, 257u, 300u})
    for (const uint32_t value_bytes : {1u, 2u, 4u, 8u, 16u})
      for (const uint32_t flags : kSortFlags) {
        check({Distribution::kSmallRange, type(), n, n + value_bytes, flags, 0, (n + value_bytes) % 2 == 0},
              value_bytes);
        if (HasFailure()) return;
      }
}

// Keys in place and values not, and the other way round.
TEST_P(PairsTest, HalfInPlace) {
  const Sample sample = {Distribution::kSmallRange, type(), 5000, 3, 0, 0, false};
  const Pairs in = {sample.make(), generate_values(sample.n, 4, 9)};
  const Indices order = reference_argsort(in.keys, 0);
  for (const bool keys_in_place : {false, true}) {
    Buffer keys(place(), in.keys.bytes().size());
    Buffer values(place(), in.values.size());
    Buffer out(place(), keys_in_place ? values.bytes() : keys.bytes());
    keys.write(in.keys.bytes());
    values.write(in.values);
    void *keys_out = keys_in_place ? keys.data() : out.data();
    void *values_out = keys_in_place ? out.data() : values.data();
    ASSERT_TRUE(succeeded(handle(), gsort_sort_pairs(handle(), type(), keys.data(), keys_out, 4, values.data(),
                                                     values_out, sample.n, 0)));
    ASSERT_TRUE(succeeded(handle(), gsort_synchronize(handle())));
    const Buffer &sorted_keys = keys_in_place ? keys : out;
    const Buffer &sorted_values = keys_in_place ? out : values;
    EXPECT_TRUE(same_bytes(gather(in.keys, order).bytes(), sorted_keys.read()));
    EXPECT_TRUE(same_bytes(gather_values(in.values, 4, order), sorted_values.read()));
    EXPECT_TRUE(out.red_zones_intact());
  }
}

// Host arrays of values may begin at any byte, in place and not, whatever the values' size.
TEST_P(PairsTest, ValuesAtAnyAddress) {
  for (const uint32_t value_bytes : {2u, 4u, 8u, 16u, 12u}) {
    for (const size_t offset : {size_t{1}, size_t{2}, size_t{4}, size_t{7}, size_t{9}}) {
      const uint64_t n = offset == 7 ? 70000 : 1700;
      const Pairs in = {generate(Distribution::kSmallRange, type(), n, offset),
                        generate_values(n, value_bytes, offset)};
      const Indices order = reference_argsort(in.keys, 0);
      const Bytes sorted = gather_values(in.values, value_bytes, order);
      Buffer keys(Place::kHost, in.keys.bytes().size());
      keys.write(in.keys.bytes());
      Buffer values(Place::kHost, in.values.size(), offset);
      values.write(in.values);
      const Buffer keys_out(Place::kHost, keys.bytes());
      const Buffer values_out(Place::kHost, values.bytes(), offset % 3);
      SCOPED_TRACE(testing::Message() << value_bytes << " bytes at " << offset);
      ASSERT_TRUE(succeeded(handle(), gsort_sort_pairs(handle(), type(), keys.data(), keys_out.data(), value_bytes,
                                                       values.data(), values_out.data(), n, 0)));
      ASSERT_TRUE(same_bytes(sorted, values_out.read()));
      ASSERT_TRUE(values_out.red_zones_intact());
      ASSERT_TRUE(succeeded(handle(), gsort_sort_pairs(handle(), type(), keys.data(), keys.data(), value_bytes,
                                                       values.data(), values.data(), n, 0)));
      ASSERT_TRUE(same_bytes(sorted, values.read())) << "in place";
      ASSERT_TRUE(values.red_zones_intact());
    }
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(PairsTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
