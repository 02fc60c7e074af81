// SPDX-License-Identifier: MIT OR Apache-2.0
// Wrong arguments of gsort_sum(), gsort_reduce() and gsort_scan().
#include "arguments/fixture.h"

namespace gsort_test {
namespace {

class SumArguments : public ArgumentsTest {
 protected:
  gsort_status sum(gsort_dtype t, const void *in, uint64_t n, void *to, uint32_t flags) {
    return gsort_sum(g(), t, in, n, to, flags);
  }
  gsort_status reduce(uint32_t op, gsort_dtype t, const void *in, uint64_t n, void *to, uint32_t flags) {
    return gsort_reduce(g(), op, t, in, n, to, flags);
  }
  gsort_status scan(gsort_dtype t, const void *in, void *to, uint64_t n, uint32_t flags) {
    return gsort_scan(g(), t, in, to, n, flags);
  }
};

TEST_P(SumArguments, Sum) {
  expect_invalid(sum(0, keys(), kItems, out(), 0), {"t", "0"});
  for (const uint32_t flags : {GSORT_DESCENDING, GSORT_NAN_LAST, GSORT_SMALLEST, GSORT_EXCLUSIVE, 0x10u}) {
    expect_invalid(sum(GSORT_F32, keys(), kItems, out(), flags), {refused_flags(flags)});
  }
  expect_invalid(sum(GSORT_F32, nullptr, kItems, out(), 0), {"in", "NULL"});
  expect_invalid(sum(GSORT_F32, keys(), kItems, nullptr, 0), {"out", "NULL"});
  expect_invalid(sum(GSORT_F32, nullptr, 0, nullptr, 0), {"out", "NULL"});
  expect_invalid(sum(GSORT_F32, keys(), kTooMany, out(), 0), {as_text(kTooMany)});
  const uint8_t *const odd = bytes(keys()) + 1;
  expect_invalid(sum(GSORT_F32, odd, 4, out(), 0), {"in", as_text(odd)});
  uint8_t *const odd_out = bytes(out()) + 4;
  expect_invalid(sum(GSORT_F32, keys(), 4, odd_out, 0), {"out", as_text(odd_out)});
  expect_invalid(sum(GSORT_F32, keys(), kItems, bytes(keys()) + 8, 0), {"out", "in"});
}

TEST_P(SumArguments, Reduce) {
  for (const uint32_t op : {0u, 6u, 0xffffffffu}) {
    expect_invalid(reduce(op, GSORT_U32, keys(), kItems, out(), 0), {"op", as_text(uint64_t{op})});
  }
  for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX, GSORT_MEAN}) {
    expect_invalid(reduce(op, 13, keys(), kItems, out(), 0), {"t", "13"});
    expect_invalid(reduce(op, GSORT_U32, keys(), kItems, out(), GSORT_DESCENDING), {refused_flags(GSORT_DESCENDING)});
    expect_invalid(reduce(op, GSORT_U32, nullptr, kItems, out(), 0), {"in", "NULL"});
    expect_invalid(reduce(op, GSORT_U32, keys(), kItems, nullptr, 0), {"out", "NULL"});
    expect_invalid(reduce(op, GSORT_U32, nullptr, 0, nullptr, 0), {"out", "NULL"});
    expect_invalid(reduce(op, GSORT_U32, keys(), kTooMany, out(), 0), {as_text(kTooMany)});
    expect_invalid(reduce(op, GSORT_U32, bytes(keys()) + 2, 4, out(), 0), {"in"});
    expect_invalid(reduce(op, GSORT_U32, keys(), kItems, bytes(keys()) + 16, 0), {"out", "in"});
    expect_invalid(reduce(op, GSORT_U32, keys(), 4, bytes(out()) + 2, 0), {"out"});
  }
  expect_invalid(reduce(GSORT_MEAN, GSORT_F32, keys(), kItems, out(), GSORT_NAN_LAST), {refused_flags(GSORT_NAN_LAST)});
  expect_invalid(reduce(GSORT_ARGMIN, GSORT_U32, keys(), 4, bytes(out()) + 4, 0), {"out"});
}

// Right in front of the array and right behind it.
TEST_P(SumArguments, ResultsBesideTheArrayDoNotOverlap) {
  Buffer both(place(), 8 + 64 + 8);
  uint8_t *const first = bytes(both.data());
  for (uint8_t *const to : {first, first + 72}) {
    both.write(Bytes(80, 1));
    expect_ok(sum(GSORT_U64, first + 8, 8, to, 0));
    expect_ok(sum(GSORT_U8, first + 8, 64, to, 0));
    for (const uint32_t op : {GSORT_MIN, GSORT_ARGMAX, GSORT_MEAN})
      expect_ok(reduce(op, GSORT_U64, first + 8, 8, to, 0));
    const Bytes after = both.read();
    EXPECT_EQ(Bytes(64, 1), Bytes(after.begin() + 8, after.begin() + 72));
  }
  expect_ok(reduce(GSORT_MAX, GSORT_U8, first + 1, 10, first, 0));
  EXPECT_TRUE(both.red_zones_intact());
}

TEST_P(SumArguments, Scan) {
  expect_invalid(scan(0, keys(), out(), kItems, 0), {"t", "0"});
  for (const uint32_t flags : {GSORT_DESCENDING, GSORT_NAN_LAST, GSORT_SMALLEST, 0x18u}) {
    expect_invalid(scan(GSORT_U32, keys(), out(), kItems, flags), {refused_flags(flags & ~GSORT_EXCLUSIVE)});
  }
  expect_invalid(scan(GSORT_U32, nullptr, out(), kItems, 0), {"in", "NULL"});
  expect_invalid(scan(GSORT_U32, keys(), nullptr, kItems, 0), {"out", "NULL"});
  expect_invalid(scan(GSORT_U32, keys(), out(), kTooMany, 0), {as_text(kTooMany)});
  expect_invalid(scan(GSORT_U32, keys(), bytes(keys()) + 4, kItems, 0), {"out", "in"});
  expect_invalid(scan(GSORT_U16, bytes(keys()) + 1, out(), 4, 0), {"in"});
  expect_invalid(scan(GSORT_U16, keys(), bytes(out()) + 1, 4, 0), {"out"});
  expect_ok(scan(GSORT_U32, nullptr, nullptr, 0, 0));
}

GSORT_INSTANTIATE_BACKENDS(SumArguments);

}  // namespace
}  // namespace gsort_test
