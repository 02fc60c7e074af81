// SPDX-License-Identifier: MIT OR Apache-2.0
// Merges, top-k and segments in pieces, what is refused, and how often arrays travel.
#include <gtest/gtest.h>

#include <algorithm>

#include "pieces_fixture.h"

namespace gsort_test {
namespace {

TEST(Pieces, MergesOfAnyTwoLengths) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    constexpr uint64_t kLengths[][2] = {{100000, 100000}, {200000, 0}, {0, 200000}, {1, 199999}, {150000, 3}};
    Call call = make_call(Operation::kSort, t, shape, kLengths[turn % 5][0]);
    call.request.order = order;
    call.b = keys_of(t, shape, kLengths[turn % 5][1], turn + 1);
    EngineUnderTest sorter(2);
    const uint64_t b_n = kLengths[turn % 5][1];
    for (std::vector<char> *half : {&call.in, &call.b}) {
      Request sort = call.request;
      sort.n = half->size() / dtype_bytes(t), sort.in = sort.out = half->data();
      if (sort.n != 0) sorter.engine->execute(sort);
    }
    call.request.operation = Operation::kMerge;
    call.request.b_n = b_n;
    call.out.assign(call.in.size() + call.b.size(), 1);
    expect_same(call, dtype_bytes(t) == 1 ? kMegabyte / 4 : dtype_bytes(t) == 2 ? kMegabyte * 7 / 4 : kMegabyte / 2);
  });
}

// The same keys come out, in whatever order.
TEST(Pieces, MergeOfWhatIsNotSortedLosesNothing) {
  Call call = make_call(Operation::kMerge, GSORT_U32, 0, 100000);
  call.b = keys_of(GSORT_U32, 7, 90000, 5);
  call.request.b_n = 90000;
  call.out.assign(call.in.size() + call.b.size(), 1);
  std::vector<char> all = call.in;
  all.insert(all.end(), call.b.begin(), call.b.end());
  Pieces work(kMegabyte / 2);
  ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
  EXPECT_TRUE(sorted_u32(all) == sorted_u32(call.out));
}

TEST(Pieces, TopkOfOneRow) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    for (const uint64_t k : {uint64_t{1}, uint64_t{300}, uint64_t{9999}, uint64_t{100000}}) {
      Call call = make_call(Operation::kTopk, t, shape, 100000);
      call.request.order = order;
      call.request.k = k;
      call.request.rows = 1, call.request.columns = call.request.row_stride = call.request.n;
      call.request.index_t = turn % 2 == 0 ? GSORT_U64 : GSORT_U32;
      call.out.assign(turn % 3 == 0 ? 0 : k * dtype_bytes(t), 1);
      call.indices_out.assign(turn % 3 == 1 ? 0 : k * dtype_bytes(call.request.index_t), 1);
      expect_same(call, k == 300 || dtype_bytes(t) == 2 ? kMegabyte * 3 / 2 : kMegabyte * 7 / 8, false, 3);
    }
  });
}

TEST(Pieces, TopkOfRows) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    struct Matrix {
      uint64_t rows, columns, gap, k;
    };
    constexpr Matrix kMatrices[] = {{5000, 60, 3, 10}, {3, 60000, 5, 100}, {2, 50000, 0, 50000}, {40000, 5, 0, 2}};
    const Matrix &m = kMatrices[turn % 4];
    Call call = make_call(Operation::kTopkRows, t, shape, m.rows * (m.columns + m.gap));
    call.request.order = order;
    call.request.k = m.k;
    call.request.n = m.rows * m.columns;
    call.request.rows = m.rows, call.request.columns = m.columns, call.request.row_stride = m.columns + m.gap;
    call.out.assign(m.rows * m.k * dtype_bytes(t), 1);
    call.indices_out.assign(m.rows * m.k * 4, 1);
    expect_same(call, turn % 3 == 0 ? 300 * kMegabyte : kMegabyte * 3 / 2 + 60000 * turn, false, 3);
  });
}

std::vector<uint64_t> some_offsets(uint64_t n, uint64_t segments, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> offsets(segments + 1);
  for (uint64_t &offset : offsets) offset = n / 50 + random() % (n - n / 50);
  offsets[0] = n / 60;
  for (uint64_t s = 0; s + 1 < segments; s += 7) offsets[s] = offsets[s + 1];
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

TEST(Pieces, Segments) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    constexpr uint64_t kSegments[] = {1, 3, 100, 20000};
    const uint64_t segments = kSegments[turn % 4], n = 150000, k = turn % 5 == 0 ? 100 : 3;
    for (const Operation operation : {Operation::kSortSegments, Operation::kTopkSegments}) {
      Call call = make_call(operation, t, shape, n);
      call.request.order = order;
      call.request.segments = segments;
      call.offsets = some_offsets(n, segments, turn);
      call.request.k = k;
      const bool selects = operation == Operation::kTopkSegments;
      if (selects) {
        call.out.assign(segments * k * dtype_bytes(t), 1);
        call.indices_out.assign(segments * k * 4, 1);
      }
      expect_same(call, selects || dtype_bytes(t) == 2 ? kMegabyte * 5 / 4 : kMegabyte / 2, !selects && turn % 2 == 1,
                  3);
    }
  });
}

TEST(Pieces, NoMemoryIsRefusedByAllThatRead) {
  for (const Operation operation : {Operation::kSum, Operation::kReduce, Operation::kScan, Operation::kTopk}) {
    Call call = make_call(operation, GSORT_U64, 0, 400000);
    call.request.reduce_op = GSORT_ARGMIN;
    call.request.rows = 1, call.request.columns = call.request.row_stride = call.request.n, call.request.k = 5;
    Pieces work(1);
    EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, work.run(call.bound(false)));
    EXPECT_NE(std::string::npos, work.said.find("device_memory_limit_bytes")) << work.said;
  }
}

// The room has what that piece needs which needs the most, whichever it is.
TEST(Pieces, SegmentsOfWhichShorterOnesNeedMoreWorkspace) {
  EngineUnderTest whole(2);
  for (const Operation operation : {Operation::kSortSegments, Operation::kTopkSegments})
    for (uint64_t turn = 0; turn < 8; ++turn) {
      const uint64_t n = 150000 + turn, segments = 300;
      Call call = make_call(operation, GSORT_U32, 0, n);
      call.request.segments = segments;
      call.offsets = some_offsets(n, segments, turn);
      call.request.k = 3;
      if (operation == Operation::kTopkSegments) {
        call.out.assign(segments * 3 * 4, 1);
        call.indices_out.assign(segments * 3 * 4, 1);
      }
      Call expected = call;
      whole.engine->execute(expected.bound(false));
      Pieces work(kMegabyte * 5 / 4);
      work.device.by_length = true;
      ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
      EXPECT_GE(work.device.steps, 4u) << "that was one piece";
      EXPECT_TRUE(expected.out == call.out && expected.indices_out == call.indices_out);
    }
}

// Segments that the device could hold at once are not worked in pieces where one of them does not fit.
TEST(Pieces, SegmentsThatCouldBeDoneAtOnce) {
  for (const uint64_t longest : {1000u, 100000u}) {
    Call call = make_call(Operation::kSortSegments, GSORT_U32, 0, 300000);
    for (uint64_t at = 0; at < call.request.n; at += longest) call.offsets.push_back(at);
    call.request.segments = call.offsets.size();
    call.offsets.push_back(call.request.n);
    const Call expected = done_whole(call, false);
    Call now = call;
    Pieces work(kMegabyte);
    work.else_at_once = true;
    const gsort_status status = work.run(now.bound(false));
    ASSERT_EQ(longest == 1000 ? GSORT_OK : GSORT_ERROR_OUT_OF_MEMORY, status) << work.said;
    EXPECT_TRUE((status == GSORT_OK ? expected.out : call.out) == now.out);
    EXPECT_TRUE(call.in == now.in);
  }
}

// Two trips for sorts, one for what is written once or not at all.
TEST(Pieces, TripsOverTheBus) {
  const uint64_t n = 204800, bytes = n * 4;
  const auto traffic = [&](Operation operation, bool in_place = false) {
    Call call = make_call(operation, GSORT_U32, 0, n);
    Pieces work(kMegabyte);
    EXPECT_EQ(GSORT_OK, work.run(call.bound(in_place)));
    return std::pair<uint64_t, uint64_t>(work.device.bytes_in, work.device.bytes_out);
  };
  // What a sample has told of the input travels, too.
  EXPECT_EQ(2 * bytes, traffic(Operation::kSort).first / 4096 * 4096);
  EXPECT_EQ(2 * bytes, traffic(Operation::kSort).second);
  EXPECT_EQ(2 * bytes, traffic(Operation::kSort, true).first / 4096 * 4096);
  EXPECT_EQ(2 * bytes, traffic(Operation::kSort, true).second);
  // Neither indices nor scratch memory; ranks take a third trip.
  EXPECT_EQ(2 * bytes, traffic(Operation::kArgsort).first / 4096 * 4096);
  EXPECT_EQ(2 * bytes, traffic(Operation::kArgsort).second);
  EXPECT_EQ(3 * bytes, traffic(Operation::kRank).first / 4096 * 4096);
  EXPECT_EQ(3 * bytes, traffic(Operation::kRank).second);
  EXPECT_EQ((std::pair<uint64_t, uint64_t>(bytes, bytes)), traffic(Operation::kScan));
  EXPECT_EQ(bytes, traffic(Operation::kSum).first);
}

}  // namespace
}  // namespace gsort_test
