// SPDX-License-Identifier: MIT OR Apache-2.0
// Wrong arguments of gsort_sort(), of the typed sorts and of gsort_sort_pairs().
#include "arguments/fixture.h"

namespace gsort_test {
namespace {

class SortArguments : public ArgumentsTest {
 protected:
  gsort_status sort(gsort_dtype t, const void *in, void *to, uint64_t n, uint32_t flags) {
    return gsort_sort(g(), t, in, to, n, flags);
  }
  struct PairsCall {
    gsort_dtype t = GSORT_U32;
    const void *keys_in;
    void *keys_out;
    uint32_t value_bytes = 4;
    const void *values_in;
    void *values_out;
    uint64_t n = kItems;
    uint32_t flags = 0;
  };
  PairsCall good_pairs() const { return {GSORT_U32, keys(), out(), 4, values(), values_out(), kItems, 0}; }
  gsort_status pairs(const PairsCall &c) {
    return gsort_sort_pairs(g(), c.t, c.keys_in, c.keys_out, c.value_bytes, c.values_in, c.values_out, c.n, c.flags);
  }
};

TEST_P(SortArguments, ElementType) {
  expect_invalid(sort(0, keys(), out(), kItems, 0), {"t", "0"});
  expect_invalid(sort(13, keys(), out(), kItems, 0), {"t", "13"});
  expect_invalid(sort(0xffffffffu, keys(), out(), kItems, 0), {"t", "4294967295"});
  expect_invalid(sort(13, nullptr, nullptr, 0, 0), {"t", "13"});
}

TEST_P(SortArguments, Flags) {
  for (const uint32_t flags : {GSORT_SMALLEST, GSORT_EXCLUSIVE, 0x10u, 0x80000000u, 0x80000011u}) {
    expect_invalid(sort(GSORT_U32, keys(), out(), kItems, flags), {refused_flags(flags & ~GSORT_DESCENDING)});
  }
  expect_invalid(gsort_sort_f32(g(), reinterpret_cast<float *>(bytes(keys())), kItems, GSORT_SMALLEST),
                 {refused_flags(GSORT_SMALLEST)});
}

TEST_P(SortArguments, NullArrays) {
  expect_invalid(sort(GSORT_U32, nullptr, out(), kItems, 0), {"keys_in", "NULL"});
  expect_invalid(sort(GSORT_U32, keys(), nullptr, kItems, 0), {"keys_out", "NULL"});
  expect_invalid(gsort_sort_u32(g(), nullptr, 1, 0), {"keys", "NULL"});
  expect_invalid(gsort_sort_i32(g(), nullptr, 1, 0), {"keys", "NULL"});
  expect_invalid(gsort_sort_u64(g(), nullptr, 1, 0), {"keys", "NULL"});
  expect_invalid(gsort_sort_i64(g(), nullptr, 1, 0), {"keys", "NULL"});
  expect_invalid(gsort_sort_f32(g(), nullptr, 1, 0), {"keys", "NULL"});
  expect_invalid(gsort_sort_f64(g(), nullptr, 1, 0), {"keys", "NULL"});
  expect_ok(sort(GSORT_U32, nullptr, nullptr, 0, 0));
  expect_ok(gsort_sort_f64(g(), nullptr, 0, 0));
}

TEST_P(SortArguments, SizeOverflow) {
  expect_invalid(sort(GSORT_U32, keys(), out(), kTooMany, 0), {as_text(kTooMany)});
  expect_invalid(sort(GSORT_U64, keys(), out(), UINT64_MAX, 0), {as_text(UINT64_MAX)});
  // No overflow of the product, but past the end of the address space.
  expect_invalid(sort(GSORT_U8, keys(), out(), UINT64_MAX, 0), {as_text(UINT64_MAX)});
  expect_invalid(sort(GSORT_U32, keys(), bytes(keys()), UINT64_MAX / 4, 0), {"keys_in"});
}

TEST_P(SortArguments, Alignment) {
  for (const gsort_dtype t : kAllTypes) {
    for (uint32_t offset = 1; offset < element_type(t).bytes; offset++) {
      const uint8_t *in = bytes(keys()) + offset;
      expect_invalid(sort(t, in, out(), 4, 0), {"keys_in", as_text(in)});
      uint8_t *to = bytes(out()) + offset;
      expect_invalid(sort(t, keys(), to, 4, 0), {"keys_out", as_text(to)});
    }
  }
}

TEST_P(SortArguments, Overlap) {
  uint8_t *const inside = bytes(keys()) + 4;
  expect_invalid(sort(GSORT_U32, keys(), inside, kItems, 0), {"keys_out", as_text(inside), "keys_in"});
  expect_invalid(sort(GSORT_U32, inside, bytes(keys()), kItems, 0), {"keys_out", as_text(keys()), "keys_in"});
  // Only the last element is shared.
  uint8_t *const last = bytes(keys()) + 4 * (kItems - 1);
  expect_invalid(sort(GSORT_U32, keys(), last, kItems, 0), {"keys_out", "keys_in"});
  // Only one byte is, at either end.
  uint8_t *const last_byte = bytes(keys()) + kItems - 1;
  expect_invalid(sort(GSORT_U8, keys(), last_byte, kItems, 0), {"keys_out", "keys_in"});
  expect_invalid(sort(GSORT_U8, last_byte, bytes(keys()), kItems, 0), {"keys_out", "keys_in"});
}

TEST_P(SortArguments, NeighboursDoNotOverlap) {
  const Buffer both(place(), 200);
  uint8_t *const first = bytes(both.data());
  Buffer source(place(), 100);
  source.write(Bytes(100, 7));
  expect_ok(sort(GSORT_U8, source.data(), first, 100, 0));
  expect_ok(sort(GSORT_U8, first, first + 100, 100, 0));
  expect_ok(sort(GSORT_U8, first + 100, first, 100, 0));
  EXPECT_EQ(Bytes(200, 7), both.read());
  EXPECT_TRUE(both.red_zones_intact());
}

TEST_P(SortArguments, ValueBytes) {
  for (const uint32_t value_bytes : {0u, 65537u, 0xffffffffu}) {
    PairsCall call = good_pairs();
    call.value_bytes = value_bytes;
    expect_invalid(pairs(call), {"value_bytes", as_text(uint64_t{value_bytes})});
  }
}

TEST_P(SortArguments, PairsNullArrays) {
  PairsCall call = good_pairs();
  call.keys_in = nullptr;
  expect_invalid(pairs(call), {"keys_in", "NULL"});
  call = good_pairs();
  call.keys_out = nullptr;
  expect_invalid(pairs(call), {"keys_out", "NULL"});
  call = good_pairs();
  call.values_in = nullptr;
  expect_invalid(pairs(call), {"values_in", "NULL"});
  call = good_pairs();
  call.values_out = nullptr;
  expect_invalid(pairs(call), {"values_out", "NULL"});
}

TEST_P(SortArguments, PairsTypeFlagsAndAlignment) {
  PairsCall call = good_pairs();
  call.t = 99;
  expect_invalid(pairs(call), {"t", "99"});
  call = good_pairs();
  call.flags = GSORT_SMALLEST;
  expect_invalid(pairs(call), {refused_flags(GSORT_SMALLEST)});
  call = good_pairs();
  call.keys_in = bytes(keys()) + 1;
  call.n = 4;
  expect_invalid(pairs(call), {"keys_in", as_text(call.keys_in)});
}

// Values are bytes: those of 3 may lie anywhere.
TEST_P(SortArguments, PairsValuesAtOddAddresses) {
  PairsCall call = good_pairs();
  call.value_bytes = 3;
  call.n = 20;
  call.values_in = bytes(values()) + 1;
  call.values_out = bytes(values_out()) + 5;
  expect_ok(pairs(call));
}

TEST_P(SortArguments, PairsSizeOverflow) {
  PairsCall call = good_pairs();
  call.n = kTooMany;
  expect_invalid(pairs(call), {as_text(kTooMany)});
  // The keys fit 64 bits, the values do not.
  call = good_pairs();
  call.t = GSORT_U8;
  call.value_bytes = 65536;
  call.n = uint64_t{1} << 48;
  expect_invalid(pairs(call), {as_text(call.n)});
}

TEST_P(SortArguments, PairsOverlap) {
  PairsCall call = good_pairs();
  call.keys_out = bytes(keys()) + 4;
  expect_invalid(pairs(call), {"keys_out", "keys_in"});
  call = good_pairs();
  call.values_out = bytes(values()) + 4;
  expect_invalid(pairs(call), {"values_out", "values_in"});
  call = good_pairs();
  call.values_out = bytes(keys());
  expect_invalid(pairs(call), {"values_out", "keys_in"});
  call = good_pairs();
  call.keys_out = bytes(values());
  expect_invalid(pairs(call), {"keys_out", "values_in"});
  call = good_pairs();
  call.values_out = call.keys_out;
  expect_invalid(pairs(call), {"values_out", "keys_out"});
}

GSORT_INSTANTIATE_BACKENDS(SortArguments);

}  // namespace
}  // namespace gsort_test
