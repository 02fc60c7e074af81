// SPDX-License-Identifier: MIT OR Apache-2.0
// Wrong arguments of gsort_topk(), gsort_topk_rows() and gsort_topk_segments().
#include "arguments/fixture.h"

namespace gsort_test {
namespace {

class SelectionArguments : public ArgumentsTest {
 protected:
  struct TopkCall {
    gsort_dtype t = GSORT_U32;
    const void *in;
    uint64_t n = kItems;
    uint64_t k = 5;
    void *values_out;
    gsort_dtype index_t = GSORT_U32;
    void *indices_out;
    uint32_t flags = 0;
  };
  TopkCall good() const { return {GSORT_U32, keys(), kItems, 5, out(), GSORT_U32, indices(), 0}; }
  gsort_status topk(const TopkCall &c) {
    return gsort_topk(g(), c.t, c.in, c.n, c.k, c.values_out, c.index_t, c.indices_out, c.flags);
  }
  gsort_status rows(const TopkCall &c, const Matrix &m) {
    return gsort_topk_rows(g(), c.t, c.in, m.rows, m.columns, m.row_stride, c.k, c.values_out, c.index_t, c.indices_out,
                           c.flags);
  }
};

TEST_P(SelectionArguments, K) {
  for (const uint64_t k : {kItems + 1, uint64_t{1} << 32, UINT64_MAX}) {
    TopkCall call = good();
    call.k = k;
    expect_invalid(topk(call), {"k", as_text(k), "n", as_text(kItems)});
    expect_invalid(rows(call, {1, kItems, kItems}), {"k", as_text(k), "columns"});
  }
  TopkCall call = good();
  call.n = 0;
  call.k = 1;
  expect_invalid(topk(call), {"k", "1"});
}

TEST_P(SelectionArguments, KOfZeroWritesNothing) {
  TopkCall call = good();
  call.k = 0;
  expect_ok(topk(call));
  expect_ok(rows(call, {4, 16, 16}));
  call.in = nullptr;
  call.n = 0;
  expect_ok(topk(call));
  call.values_out = call.indices_out = nullptr;
  expect_ok(topk(call));
  expect_ok(rows(call, {4, 16, 16}));
  expect_untouched();
}

TEST_P(SelectionArguments, TypeAndFlags) {
  TopkCall call = good();
  call.t = 0;
  expect_invalid(topk(call), {"t", "0"});
  expect_invalid(rows(call, {1, kItems, kItems}), {"t", "0"});
  for (const uint32_t flags : {GSORT_DESCENDING, GSORT_EXCLUSIVE, 0x100u}) {
    call = good();
    call.flags = flags;
    expect_invalid(topk(call), {refused_flags(flags)});
    expect_invalid(rows(call, {1, kItems, kItems}), {refused_flags(flags)});
  }
}

TEST_P(SelectionArguments, NullArrays) {
  TopkCall call = good();
  call.in = nullptr;
  expect_invalid(topk(call), {"in", "NULL"});
  expect_invalid(rows(call, {2, 8, 8}), {"in", "NULL"});
  call = good();
  call.values_out = nullptr;
  call.indices_out = nullptr;
  expect_invalid(topk(call), {"values_out", "indices_out", "NULL"});
  expect_invalid(rows(call, {2, 8, 8}), {"values_out", "indices_out", "NULL"});
}

TEST_P(SelectionArguments, IndexType) {
  TopkCall call = good();
  for (const gsort_dtype index_t : {0u, GSORT_U16, GSORT_F32, 1000u}) {
    call.index_t = index_t;
    expect_invalid(topk(call), {"index_t", as_text(uint64_t{index_t})});
    expect_invalid(rows(call, {2, 8, 8}), {"index_t", as_text(uint64_t{index_t})});
  }
  // The input is NULL too, so that a call that accepts the index type does not run.
  call = good();
  call.t = GSORT_U8;
  call.in = nullptr;
  call.n = (uint64_t{1} << 32) + 1;
  expect_invalid(topk(call), {"index_t"});
  call.index_t = GSORT_I32;
  call.n = (uint64_t{1} << 31) + 1;
  expect_invalid(topk(call), {"index_t"});
  expect_invalid(rows(call, {1, call.n, call.n}), {"index_t"});
}

TEST_P(SelectionArguments, IndexTypeIsNotLookedAtWithoutIndices) {
  TopkCall call = good();
  const Buffer best(place(), 5 * 4);
  call.values_out = best.data();
  call.indices_out = nullptr;
  call.index_t = 1000;
  expect_ok(topk(call));
  EXPECT_TRUE(best.red_zones_intact());
}

TEST_P(SelectionArguments, AlignmentAndOverlap) {
  TopkCall call = good();
  call.in = bytes(keys()) + 2;
  call.n = 10;
  expect_invalid(topk(call), {"in", as_text(call.in)});
  call = good();
  call.values_out = bytes(out()) + 1;
  expect_invalid(topk(call), {"values_out", as_text(call.values_out)});
  call = good();
  call.indices_out = bytes(indices()) + 2;
  expect_invalid(topk(call), {"indices_out", as_text(call.indices_out)});
  call = good();
  call.values_out = bytes(keys());
  expect_invalid(topk(call), {"values_out", "in"});
  call = good();
  call.indices_out = bytes(keys()) + 8;
  expect_invalid(topk(call), {"indices_out", "in"});
  call = good();
  call.indices_out = call.values_out;
  expect_invalid(topk(call), {"indices_out", "values_out"});
}

TEST_P(SelectionArguments, Rows) {
  TopkCall call = good();
  expect_invalid(rows(call, {4, 16, 15}), {"row_stride", "15", "columns", "16"});
  expect_invalid(rows(call, {4, 16, 0}), {"row_stride", "0"});
  expect_invalid(rows(call, {uint64_t{1} << 40, 16, uint64_t{1} << 40}), {"rows"});
  expect_invalid(rows(call, {uint64_t{1} << 60, 16, 16}), {});
  expect_invalid(rows(call, {2, 16, UINT64_MAX - 3}), {});
}

TEST_P(SelectionArguments, Segments) {
  Buffer offsets(place(), 24);
  offsets.write(make_array(GSORT_U64, std::vector<uint64_t>{0, 5, kItems}).bytes());
  const auto *two = static_cast<const uint64_t *>(offsets.data());
  const auto segments = [&](const TopkCall &c, const uint64_t *begin, uint64_t count) {
    return gsort_topk_segments(g(), c.t, c.in, c.n, begin, count, c.k, c.values_out, c.index_t, c.indices_out, c.flags);
  };
  TopkCall call = good();
  expect_invalid(segments(call, nullptr, 2), {"offsets", "NULL"});
  expect_invalid(segments(call, two, UINT64_MAX), {"segments"});
  expect_invalid(segments(call, two, UINT64_MAX / 8), {"offsets"});
  expect_invalid(segments(call, reinterpret_cast<const uint64_t *>(bytes(two) + 4), 1), {"offsets"});
  call.t = 0;
  expect_invalid(segments(call, two, 2), {"t", "0"});
  call = good(), call.flags = GSORT_DESCENDING;
  expect_invalid(segments(call, two, 2), {"flags"});
  call = good(), call.in = nullptr;
  expect_invalid(segments(call, two, 2), {"in", "NULL"});
  call = good(), call.index_t = GSORT_F32;
  expect_invalid(segments(call, two, 2), {"index_t"});
  call = good(), call.k = UINT64_MAX;
  expect_invalid(segments(call, two, 2), {"segments x k", as_text(UINT64_MAX)});
  call = good(), call.values_out = nullptr, call.indices_out = nullptr;
  expect_invalid(segments(call, two, 2), {"values_out", "indices_out", "NULL"});
  call = good(), call.values_out = bytes(keys());
  expect_invalid(segments(call, two, 2), {"values_out", "in"});
  call = good(), call.indices_out = const_cast<uint64_t *>(two);
  expect_invalid(segments(call, two, 2), {"indices_out", "offsets"});
  call = good(), call.k = 0;
  expect_ok(segments(call, two, 2));
  expect_ok(segments(good(), nullptr, 0));
  for (const std::vector<uint64_t> &wrong :
       {std::vector<uint64_t>{0, kItems + 1}, std::vector<uint64_t>{5, 4}, std::vector<uint64_t>{0, UINT64_MAX, 0}}) {
    Buffer buffer(place(), wrong.size() * 8);
    buffer.write(make_array(GSORT_U64, wrong).bytes());
    call = good(), call.k = 2;
    expect_invalid(segments(call, static_cast<const uint64_t *>(buffer.data()), wrong.size() - 1), {"offsets"});
    // Nothing is to be selected, but what is wrong is wrong.
    call = good(), call.k = 0;
    expect_invalid(segments(call, wrong.data(), wrong.size() - 1), {"offsets"});
  }
  expect_untouched();
}

TEST_P(SelectionArguments, SizeOverflow) {
  TopkCall call = good();
  call.n = kTooMany;
  call.index_t = GSORT_U64;
  expect_invalid(topk(call), {as_text(kTooMany)});
}

GSORT_INSTANTIATE_BACKENDS(SelectionArguments);

}  // namespace
}  // namespace gsort_test
