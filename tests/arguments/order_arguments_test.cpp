// SPDX-License-Identifier: MIT OR Apache-2.0
// Wrong arguments of argsort, rank, merge and segments.
#include "arguments/fixture.h"

namespace gsort_test {
namespace {

using IndexCall = gsort_status (*)(gsort *, gsort_dtype, const void *, uint64_t, gsort_dtype, void *, uint32_t);

class OrderArguments : public ArgumentsTest {
 protected:
  // argsort and rank differ in the name of the output alone.
  void check_index_call(IndexCall call, const std::string &out_name) {
    expect_invalid(call(g(), 13, keys(), kItems, GSORT_U32, indices(), 0), {"t", "13"});
    expect_invalid(call(g(), GSORT_U32, keys(), kItems, GSORT_U32, indices(), GSORT_SMALLEST),
                   {refused_flags(GSORT_SMALLEST)});
    expect_invalid(call(g(), GSORT_U32, nullptr, kItems, GSORT_U32, indices(), 0), {"keys", "NULL"});
    expect_invalid(call(g(), GSORT_U32, keys(), kItems, GSORT_U32, nullptr, 0), {out_name, "NULL"});
    expect_invalid(call(g(), GSORT_U32, keys(), kTooMany, GSORT_U64, indices(), 0), {as_text(kTooMany)});
    const uint8_t *const odd_keys = bytes(keys()) + 2;
    expect_invalid(call(g(), GSORT_F32, odd_keys, 4, GSORT_U32, indices(), 0), {"keys", as_text(odd_keys)});
    uint8_t *const odd_indices = bytes(indices()) + 4;
    expect_invalid(call(g(), GSORT_U32, keys(), 4, GSORT_U64, odd_indices, 0), {out_name, as_text(odd_indices)});
    uint8_t *const shared = bytes(keys());
    expect_invalid(call(g(), GSORT_U32, keys(), kItems, GSORT_U32, shared, 0), {out_name, "keys", as_text(shared)});
    for (const gsort_dtype index_t : {0u, GSORT_U8, GSORT_I16, GSORT_F32, GSORT_F64, 13u}) {
      expect_invalid(call(g(), GSORT_U32, keys(), kItems, index_t, indices(), 0),
                     {"index_t", as_text(uint64_t{index_t})});
    }
    expect_ok(call(g(), GSORT_U32, nullptr, 0, GSORT_U32, nullptr, 0));
  }
  // The output is NULL too, so that a call that accepts the index type does not run.
  void check_index_range(IndexCall call) {
    // n - 1 is the greatest index: the first n is refused for its index, the second gets as far as the NULL output.
    const uint64_t two_to_31 = uint64_t{1} << 31;
    expect_invalid(call(g(), GSORT_U8, keys(), 2 * two_to_31 + 1, GSORT_U32, nullptr, 0), {"index_t"});
    expect_invalid(call(g(), GSORT_U8, keys(), 2 * two_to_31, GSORT_U32, nullptr, 0), {"NULL"});
    expect_invalid(call(g(), GSORT_U8, keys(), two_to_31 + 1, GSORT_I32, nullptr, 0), {"index_t"});
    expect_invalid(call(g(), GSORT_U8, keys(), two_to_31, GSORT_I32, nullptr, 0), {"NULL"});
  }
};

TEST_P(OrderArguments, Argsort) { check_index_call(gsort_argsort, "indices_out"); }
TEST_P(OrderArguments, Rank) { check_index_call(gsort_rank, "ranks_out"); }
TEST_P(OrderArguments, ArgsortIndexTypeTooSmall) { check_index_range(gsort_argsort); }
TEST_P(OrderArguments, RankIndexTypeTooSmall) { check_index_range(gsort_rank); }

TEST_P(OrderArguments, Merge) {
  const auto merge = [&](gsort_dtype t, const void *a, uint64_t a_n, const void *b, uint64_t b_n, void *to,
                         uint32_t flags) { return gsort_merge(g(), t, a, a_n, b, b_n, to, flags); };
  expect_invalid(merge(0, keys(), 10, values(), 10, out(), 0), {"t", "0"});
  expect_invalid(merge(GSORT_U32, keys(), 10, values(), 10, out(), GSORT_EXCLUSIVE), {refused_flags(GSORT_EXCLUSIVE)});
  expect_invalid(merge(GSORT_U32, nullptr, 10, values(), 10, out(), 0), {"a", "NULL"});
  expect_invalid(merge(GSORT_U32, keys(), 10, nullptr, 10, out(), 0), {"b", "NULL"});
  expect_invalid(merge(GSORT_U32, keys(), 10, values(), 10, nullptr, 0), {"out", "NULL"});
  expect_invalid(merge(GSORT_U32, keys(), kTooMany, values(), 10, out(), 0), {as_text(kTooMany)});
  expect_invalid(merge(GSORT_U8, keys(), UINT64_MAX, values(), 10, out(), 0), {as_text(UINT64_MAX)});
  expect_invalid(merge(GSORT_U32, bytes(keys()) + 1, 10, values(), 10, out(), 0), {"a"});
  expect_invalid(merge(GSORT_U32, keys(), 10, bytes(values()) + 2, 10, out(), 0), {"b"});
  expect_invalid(merge(GSORT_U32, keys(), 10, values(), 10, bytes(out()) + 3, 0), {"out"});
  expect_invalid(merge(GSORT_U32, keys(), 10, values(), 10, bytes(keys()), 0), {"out", "a"});
  expect_invalid(merge(GSORT_U32, keys(), 10, values(), 10, bytes(values()) + 36, 0), {"out", "b"});
  expect_ok(merge(GSORT_U32, nullptr, 0, nullptr, 0, nullptr, 0));
}

// Offsets may lie right behind the output or right before it.
TEST_P(OrderArguments, OffsetsBesideTheOutput) {
  const uint64_t offsets[] = {0, 3, 8};
  const uint64_t content[] = {3, 1, 2, 9, 8, 7, 6, 5};
  const Bytes sorted = make_array(GSORT_U64, std::vector<uint64_t>{1, 2, 3, 5, 6, 7, 8, 9}).bytes();
  Buffer in(place(), sizeof content), both(place(), sizeof content + sizeof offsets);
  in.write(make_array(GSORT_U64, std::vector<uint64_t>(content, content + 8)).bytes());
  for (const bool behind : {true, false}) {
    Bytes whole(both.bytes());
    std::memcpy(whole.data() + (behind ? sizeof content : 0), offsets, sizeof offsets);
    both.write(whole);
    uint8_t *const to = bytes(both.data()) + (behind ? 0 : sizeof offsets);
    const auto *begin = reinterpret_cast<const uint64_t *>(bytes(both.data()) + (behind ? sizeof content : 0));
    expect_ok(gsort_sort_segments(g(), GSORT_U64, in.data(), to, 8, begin, 2, 0));
    const Bytes result = both.read();
    EXPECT_EQ(0, std::memcmp(sorted.data(), result.data() + (behind ? 0 : sizeof offsets), sizeof content));
    // One offset more would reach into the output.
    if (!behind) {
      expect_invalid(gsort_sort_segments(g(), GSORT_U64, in.data(), to, 8, begin, 3, 0), {"keys_out", "offsets"});
    }
  }
}

TEST_P(OrderArguments, Segments) {
  Buffer offsets(place(), 24);
  offsets.write(make_array(GSORT_U64, std::vector<uint64_t>{0, 5, kItems}).bytes());
  const auto *two = static_cast<const uint64_t *>(offsets.data());
  const auto sort = [&](gsort_dtype t, const void *in, void *to, uint64_t n, const uint64_t *begin, uint64_t segments,
                        uint32_t flags) { return gsort_sort_segments(g(), t, in, to, n, begin, segments, flags); };
  expect_invalid(sort(77, keys(), out(), kItems, two, 2, 0), {"t", "77"});
  expect_invalid(sort(GSORT_U32, keys(), out(), kItems, two, 2, 0x40), {refused_flags(0x40)});
  expect_invalid(sort(GSORT_U32, nullptr, out(), kItems, two, 2, 0), {"keys_in", "NULL"});
  expect_invalid(sort(GSORT_U32, keys(), nullptr, kItems, two, 2, 0), {"keys_out", "NULL"});
  expect_invalid(sort(GSORT_U32, keys(), out(), kItems, nullptr, 2, 0), {"offsets", "NULL"});
  expect_invalid(sort(GSORT_U32, keys(), bytes(keys()) + 4, kItems, two, 2, 0), {"keys_out", "keys_in"});
  expect_invalid(sort(GSORT_U64, keys(), out(), kTooMany, two, 2, 0), {as_text(kTooMany)});
  expect_invalid(sort(GSORT_U32, keys(), out(), kItems, two, UINT64_MAX, 0), {"segments"});
  expect_invalid(sort(GSORT_U32, keys(), out(), kItems, two, UINT64_MAX / 8, 0), {"offsets"});
  const auto *odd = reinterpret_cast<const uint64_t *>(bytes(two) + 4);
  expect_invalid(sort(GSORT_U32, keys(), out(), kItems, odd, 1, 0), {"offsets"});
}

TEST_P(OrderArguments, WrongOffsets) {
  const std::vector<std::vector<uint64_t>> wrong = {{0, kItems + 1},          {5, 4},          {0, 10, 9, kItems},
                                                    {kItems + 1, kItems + 1}, {0, UINT64_MAX}, {UINT64_MAX, 0}};
  for (const std::vector<uint64_t> &offsets : wrong) {
    Buffer buffer(place(), offsets.size() * 8);
    buffer.write(make_array(GSORT_U64, offsets).bytes());
    expect_invalid(gsort_sort_segments(g(), GSORT_U32, keys(), out(), kItems,
                                       static_cast<const uint64_t *>(buffer.data()), offsets.size() - 1, 0),
                   {"offsets"});
    EXPECT_TRUE(buffer.red_zones_intact());
  }
  const uint64_t on_host[] = {0, 10, 9, kItems};
  expect_invalid(gsort_sort_segments(g(), GSORT_U32, keys(), out(), kItems, on_host, 3, 0), {"offsets"});
  EXPECT_NE(std::string::npos, std::string(gsort_error_message(g())).find("offsets[1] = 10 is above offsets[2] = 9"))
      << gsort_error_message(g());
}

GSORT_INSTANTIATE_BACKENDS(OrderArguments);

}  // namespace
}  // namespace gsort_test
