// SPDX-License-Identifier: MIT OR Apache-2.0
// Arrays worked in pieces give the bits of the whole; whatever fails on the way leaves inputs as promised.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "host_memory/pieces.h"
#include "piece_device_on_cpu.h"

namespace gsort_test {
namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

// The arrays of one call; outputs and inputs may be one.
struct Call {
  Request request{};
  std::vector<char> in, b, values, out, values_out, indices_out;
  std::vector<uint64_t> offsets;

  // The request on arrays of its own.
  Request bound(bool in_place) {
    Request r = request;
    r.in = in.data(), r.b = b.data(), r.values_in = values.data();
    r.out = out.empty() ? nullptr : out.data();
    r.values_out = values_out.data();
    r.indices_out = indices_out.empty() ? nullptr : indices_out.data();
    r.offsets = offsets.data();
    if (in_place) r.out = in.data(), r.values_out = values.data();
    return r;
  }
};

struct Pieces {
  explicit Pieces(uint64_t budget_bytes, uint64_t host_limit_bytes = 0)
      : device(budget_bytes), memory(nullptr, nullptr, nullptr, host_limit_bytes), pool(2) {}
  gsort_status run(const Request &request) {
    try {
      control.begin_call();
      execute_in_pieces({device, memory, control, pool}, request);
      return GSORT_OK;
    } catch (const LostOrder &error) {
      lost_order = true;
      said = error.text();
      return error.status();
    } catch (const Error &error) {
      said = error.text();
      return error.status();
    }
  }
  bool lost_order = false;
  PieceDeviceOnCpu device;
  HostMemory memory;
  Control control;
  Pool pool;
  std::string said;
};

struct Countdown {
  uint64_t calls_left, last = 0, total = 0;
  bool fell = false;
  static int32_t call(void *user, uint64_t done, uint64_t total) {
    Countdown &c = *static_cast<Countdown *>(user);
    c.fell |= done < c.last || done > total || (c.total != 0 && total != c.total);
    c.last = done, c.total = total;
    return c.calls_left-- == 0 ? 1 : 0;
  }
};

template <class U>
std::vector<char> bytes_of(const std::vector<U> &elements) {
  std::vector<char> bytes(elements.size() * sizeof(U));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

std::vector<char> keys_of(gsort_dtype t, uint32_t shape, uint64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  return with_width(dtype_bytes(t),
                    [&](auto tag) { return bytes_of(make_keys<typename decltype(tag)::type>(shape, n, random)); });
}

Call make_call(Operation operation, gsort_dtype t, uint32_t shape, uint64_t n) {
  Call call;
  call.request.operation = operation;
  call.request.order = {t, false, false};
  call.request.n = n;
  call.in = keys_of(t, shape, n, n + shape);
  call.out.assign(call.in.size(), 1);
  call.request.index_t = GSORT_U32;
  return call;
}

// Runs the call whole by the CPU's engine and in pieces: all outputs are the same, and inputs as they were.
void expect_same(const Call &call, uint64_t budget_bytes, bool in_place = false, uint64_t steps_min = 4) {
  EngineUnderTest whole(2);
  Call expected = call, pieces = call;
  whole.engine->execute(expected.bound(in_place));
  Pieces work(budget_bytes);
  ASSERT_EQ(GSORT_OK, work.run(pieces.bound(in_place))) << work.said;
  EXPECT_GE(work.device.steps, steps_min) << "that was one piece";
  ASSERT_TRUE(expected.in == pieces.in);
  ASSERT_TRUE(expected.values == pieces.values);
  ASSERT_TRUE(expected.out == pieces.out);
  ASSERT_TRUE(expected.values_out == pieces.values_out);
  ASSERT_TRUE(expected.indices_out == pieces.indices_out);
  EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
}

std::string named(gsort_dtype t, uint32_t shape) {
  return std::string(dtype_facts(t).name) + ", shape " + std::to_string(shape);
}

// Every type with every shape; orders take turns.
template <class F>
void for_all_inputs(F &&f) {
  uint32_t turn = 0;
  for (const gsort_dtype t : kAllTypes)
    for (uint32_t shape = 0; shape < kShapes; ++shape, ++turn) {
      SCOPED_TRACE(named(t, shape));
      f(t, shape, KeyOrder{t, turn % 2 == 1, turn % 3 == 1 && is_float(t)}, turn);
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(Pieces, SortsAsTheWholeIsSorted) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    Call call = make_call(Operation::kSort, t, shape, 150001);
    call.request.order = order;
    // A sort of 2-byte keys counts all values, which alone takes a megabyte.
    expect_same(call, dtype_bytes(t) == 2 ? kMegabyte * 7 / 4 : kMegabyte / 2, turn % 2 == 0);
  });
}

std::vector<char> sorted_u32(const std::vector<char> &bytes) {
  std::vector<uint32_t> keys(bytes.size() / 4);
  std::memcpy(keys.data(), bytes.data(), bytes.size());
  std::sort(keys.begin(), keys.end());
  return bytes_of(keys);
}

// Keys alone in place need a sixteenth of their bytes as scratch memory, whatever their order.
TEST(Pieces, SortsInPlaceWithLittleScratchMemory) {
  constexpr uint64_t n = 600000;
  for (uint32_t shape = 0; shape < kShapes; ++shape) {
    Call call = make_call(Operation::kSort, GSORT_U32, shape, n);
    const std::vector<char> expected = sorted_u32(call.in);
    Pieces work(kMegabyte, n * 4 / 8);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said << ", shape " << shape;
    EXPECT_TRUE(expected == call.in) << shape;
    EXPECT_EQ(0u, work.memory.held_bytes());
  }
}

// Data that rise and fall with a period: stripes of one place in it would all go to one bucket.
TEST(Pieces, SortsInPlaceDataWithPeriods) {
  constexpr uint32_t n = 600000;
  for (uint32_t periods = 1; periods <= 64; ++periods) {
    std::vector<uint32_t> keys(n);
    for (uint32_t i = 0; i < n; ++i) keys[i] = static_cast<uint32_t>(uint64_t{i} * periods % n);
    Call call = make_call(Operation::kSort, GSORT_U32, 0, n);
    call.in = bytes_of(keys);
    const std::vector<char> expected = sorted_u32(call.in);
    Pieces work(kMegabyte, uint64_t{n} * 4 / 2);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said << ", " << periods << " periods";
    ASSERT_TRUE(expected == call.in) << periods;
  }
}

TEST(Pieces, PairsAreStable) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    constexpr uint32_t kValueBytes[] = {1, 2, 3, 4, 8, 16, 65, 200};
    Call call = make_call(Operation::kSortPairs, t, shape, 60001);
    call.request.order = order;
    call.request.value_bytes = kValueBytes[turn % 8];
    call.values = keys_of(GSORT_U8, 0, call.request.n * call.request.value_bytes, turn);
    call.values_out.assign(call.values.size(), 1);
    expect_same(call, kMegabyte, turn % 2 == 1);
  });
}

TEST(Pieces, ArgsortsAndRanks) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    for (const Operation operation : {Operation::kArgsort, Operation::kRank}) {
      Call call = make_call(operation, t, shape, 60001);
      call.request.order = order;
      call.request.index_t = turn % 2 == 0 ? GSORT_U32 : GSORT_I64;
      call.out.assign(call.request.n * dtype_bytes(call.request.index_t), 1);
      expect_same(call, kMegabyte);
    }
  });
}

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
  const auto sorted = [](const std::vector<char> &bytes) {
    std::vector<uint32_t> keys(bytes.size() / 4);
    std::memcpy(keys.data(), bytes.data(), bytes.size());
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  EXPECT_TRUE(sorted(all) == sorted(call.out));
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

TEST(Pieces, SumsAndReductions) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t) {
    Call call = make_call(Operation::kSum, t, shape, 300001);
    call.out.assign(8, 1);
    expect_same(call, 200000);
    call.request.operation = Operation::kReduce;
    for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX, GSORT_MEAN}) {
      call.request.reduce_op = op;
      call.request.order = {t, op == GSORT_MAX || op == GSORT_ARGMAX, op != GSORT_MEAN && order.nan_last};
      call.out.assign(op == GSORT_MIN || op == GSORT_MAX ? dtype_bytes(t) : 8, 1);
      expect_same(call, 200000);
    }
  });
}

// -0 alone sums to -0, and both infinities to NaN, wherever the pieces are cut.
TEST(Pieces, SumsOfWhatFlagsTell) {
  for (const double first : {-0.0, 0.0, 1.0 / 0.0, 5e-324, 1e308})
    for (const double last : {-0.0, -1.0 / 0.0, 0.0 / 0.0, -5e-324, 1e308}) {
      std::vector<double> elements(100000, -0.0);
      elements.front() = first, elements.back() = last;
      Call call = make_call(Operation::kSum, GSORT_F64, 0, elements.size());
      call.in = bytes_of(elements);
      call.out.assign(8, 1);
      expect_same(call, 100000);
      call.request.operation = Operation::kReduce, call.request.reduce_op = GSORT_MEAN;
      expect_same(call, 100000);
    }
}

// The least at every place, those at the borders of pieces among them.
TEST(Pieces, ExtremesAtEveryPlace) {
  const std::vector<uint64_t> elements(5000, 7);
  for (uint64_t place = 0; place < elements.size(); ++place) {
    Call call = make_call(Operation::kReduce, GSORT_U64, 0, elements.size());
    call.in = bytes_of(elements);
    call.in[place * sizeof(uint64_t)] = 3;
    call.out.assign(8, 1);
    call.request.reduce_op = GSORT_ARGMIN;
    Pieces work(20000);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
    ASSERT_GE(work.device.steps, 4u) << "that was one piece";
    ASSERT_EQ(std::vector<char>(call.out), bytes_of(std::vector<uint64_t>{place}));
  }
}

TEST(Pieces, ScansOfIntegers) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &, uint32_t turn) {
    if (is_float(t)) return;
    for (const bool exclusive : {false, true}) {
      Call call = make_call(Operation::kScan, t, shape, 300001);
      call.request.exclusive = exclusive;
      expect_same(call, 200000, turn % 2 == 1);
    }
  });
}

// The last piece has one element, two, ...
TEST(Pieces, ScansOfAnyLength) {
  for (uint64_t n = 8000; n < 10500; ++n) {
    const Call call = make_call(Operation::kScan, GSORT_U8, 6, n);
    ASSERT_NO_FATAL_FAILURE(expect_same(call, 8000)) << n;
  }
}

TEST(Pieces, ScansTellThatAllIsDone) {
  for (const bool exclusive : {false, true})
    for (const bool in_place : {false, true}) {
      Call call = make_call(Operation::kScan, GSORT_U16, 0, 300000);
      call.request.exclusive = exclusive;
      Pieces work(200000);
      Countdown countdown{UINT64_MAX};
      work.control.set_progress(&Countdown::call, &countdown);
      ASSERT_EQ(GSORT_OK, work.run(call.bound(in_place))) << work.said;
      EXPECT_FALSE(countdown.fell);
      EXPECT_EQ(countdown.total, countdown.last) << exclusive << in_place;
    }
}

// A piece has whole groups of 2^21 elements.
TEST(Pieces, ScansOfFloats) {
  for (const bool exclusive : {false, true}) {
    Call call = make_call(Operation::kScan, GSORT_F16, 6, 3 * (uint64_t{1} << 21) + 77);
    call.request.exclusive = exclusive;
    expect_same(call, 13 * kMegabyte, exclusive);
  }
  Call call = make_call(Operation::kScan, GSORT_F16, 6, 3 * (uint64_t{1} << 21) + 77);
  Pieces work(kMegabyte);
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, work.run(call.bound(false)));
  EXPECT_NE(std::string::npos, work.said.find("device_memory_limit_bytes")) << work.said;
}

TEST(Pieces, TooLittleMemoryIsRefusedBeforeAnythingIsWritten) {
  for (const uint64_t budget : {uint64_t{0}, uint64_t{1000}, uint64_t{30000}, 2 * kMegabyte})
    for (const bool in_place : {false, true}) {
      if (!in_place && budget == 2 * kMegabyte) continue;  // needs hardly any scratch memory
      Call call = make_call(in_place ? Operation::kSortPairs : Operation::kSort, GSORT_U64, 0, 400000);
      call.request.value_bytes = 1;
      call.values.assign(400000, 1);
      Call after = call;
      Pieces work(budget, 100000);
      EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, work.run(after.bound(in_place)));
      EXPECT_NE(std::string::npos, work.said.find("raise")) << work.said;
      EXPECT_TRUE(call.in == after.in && call.out == after.out && call.values == after.values);
      EXPECT_EQ(0u, work.memory.held_bytes());
    }
}

// Long scratch memory, whose pages are had beforehand.
TEST(Pieces, PairsInPlaceThroughLongScratchMemory) {
  Call call = make_call(Operation::kSortPairs, GSORT_U32, 0, (uint64_t{1} << 23) + 3);
  call.request.value_bytes = 1;
  call.values = keys_of(GSORT_U8, 0, call.request.n, 5);
  expect_same(call, 24 * kMegabyte, true);
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

// Memory that is there but cannot be had makes pieces smaller.
TEST(Pieces, LessMemoryThanWasSaid) {
  for (uint64_t take = 0; take < 6; ++take) {
    Call call = make_call(Operation::kSort, GSORT_U32, 0, 200000);
    Call expected = call;
    EngineUnderTest whole(2);
    whole.engine->execute(expected.bound(false));
    Pieces work(kMegabyte);
    work.device.fail_take = take;
    ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
    EXPECT_TRUE(expected.out == call.out);
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

// Into other arrays a sort needs next to no scratch memory of what a sample stands for, and the calls succeed with a
// limit that the arrays are far above.
TEST(Pieces, SortsIntoOtherArraysWithLittleScratchMemory) {
  for (const uint32_t shape : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
    Call call = make_call(Operation::kSortPairs, GSORT_U32, shape, 400000);
    call.request.value_bytes = 4;
    call.values = keys_of(GSORT_U32, 0, 400000, 5);
    call.values_out.assign(call.values.size(), 1);
    Call expected = call;
    EngineUnderTest whole(2);
    whole.engine->execute(expected.bound(false));
    Pieces work(2 * kMegabyte, 400000 * 8 / 8);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said << ", shape " << shape;
    EXPECT_TRUE(expected.out == call.out && expected.values_out == call.values_out) << shape;
  }
}

// Values that tell their places, so that a result shows whether equal keys kept their order.
Call make_pairs(gsort_dtype t, uint32_t shape, uint64_t n, uint32_t value_bytes) {
  Call call = make_call(Operation::kSortPairs, t, shape, n);
  call.request.value_bytes = value_bytes;
  call.values.assign(n * value_bytes, 3);
  for (uint64_t i = 0; i < n; ++i)
    std::memcpy(call.values.data() + i * value_bytes, &i, std::min<uint64_t>(value_bytes, sizeof i));
  return call;
}

Call sorted_whole(const Call &call, bool in_place) {
  Call sorted = call;
  EngineUnderTest whole(2);
  whole.engine->execute(sorted.bound(in_place));
  return sorted;
}

// Pairs in place need a sixteenth of their bytes as scratch memory and are stable.
TEST(Pieces, SortsPairsInPlaceWithLittleScratchMemory) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    constexpr uint32_t kValueBytes[] = {4, 8, 3, 16, 1, 64};
    Call call = make_pairs(t, shape, 200000, kValueBytes[turn % 6]);
    call.request.order = order;
    const Call expected = sorted_whole(call, true);
    // A part may need more workspace than there is where that depends on the length in no simple way.
    const bool by_length = turn % 5 == 4;
    // Of three buckets more lies in the way than of many.
    const bool few_buckets = dtype_bytes(t) == 2 || turn % 6 == 5;
    Pieces work(few_buckets ? 10 * kMegabyte : 4 * kMegabyte,
                by_length ? 0 : (call.in.size() + call.values.size()) / (few_buckets ? 2 : 7));
    work.device.by_length = by_length;
    ASSERT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said;
    EXPECT_TRUE(expected.in == call.in && expected.values == call.values);
    EXPECT_EQ(call.request.n, work.device.dealt);
    EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
  });
}

TEST(Pieces, SortsPairsInPlaceDataWithPeriods) {
  constexpr uint32_t n = 200000;
  for (uint32_t periods = 1; periods <= 32; ++periods) {
    Call call = make_pairs(GSORT_U32, 0, n, 4);
    std::vector<uint32_t> keys(n);
    for (uint32_t i = 0; i < n; ++i) keys[i] = static_cast<uint32_t>(uint64_t{i} * periods % n) / 5;
    call.in = bytes_of(keys);
    const Call expected = sorted_whole(call, true);
    Pieces work(3 * kMegabyte, n * 8 / 2);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said << ", " << periods << " periods";
    ASSERT_TRUE(expected.in == call.in && expected.values == call.values) << periods;
    EXPECT_EQ(n, work.device.dealt);
  }
}

// Every piece is put back, and the runs of the other way need scratch memory. Where there is none, the arrays are as
// they were.
TEST(Pieces, SamplesThatMisleadPairsInPlace) {
  constexpr uint64_t n = 200000;
  for (const uint32_t value_bytes : {4u, 5u, 16u})
    for (const bool behind : {false, true})
      for (const uint64_t limit_bytes : {uint64_t{0}, n * (4 + value_bytes) / 8})
        for (const uint64_t left : {1, 2, 4}) {
          Call call = make_pairs(GSORT_I32, 7, n, value_bytes);
          const Call before = call, expected = sorted_whole(call, true);
          Pieces work(4 * kMegabyte, limit_bytes);
          Countdown countdown{UINT64_MAX};
          work.control.set_progress(&Countdown::call, &countdown);
          work.device.misdeal = [&](uint64_t bucket, uint64_t buckets) {
            return behind ? std::max(bucket, buckets - std::min(left, buckets)) : std::min(bucket, left - 1);
          };
          const gsort_status status = work.run(call.bound(true));
          EXPECT_EQ(n, work.device.dealt);
          EXPECT_FALSE(countdown.fell);
          const Call &want = status == GSORT_OK ? expected : before;
          ASSERT_TRUE(want.in == call.in && want.values == call.values) << value_bytes << behind << limit_bytes;
          ASSERT_EQ(limit_bytes == 0 ? GSORT_OK : GSORT_ERROR_OUT_OF_MEMORY, status) << work.said;
        }
}

// Each key with the value that it had, whatever their order.
void expect_same_pairs(const Call &before, const Call &after) {
  const auto *const old_keys = reinterpret_cast<const uint32_t *>(before.in.data()),
                    *const keys = reinterpret_cast<const uint32_t *>(after.in.data()),
                    *const places = reinterpret_cast<const uint32_t *>(after.values.data());
  std::vector<bool> seen(before.request.n);
  for (uint64_t i = 0; i < before.request.n; ++i) {
    ASSERT_TRUE(keys[i] == old_keys[places[i]] && !seen[places[i]]) << i;
    seen[places[i]] = true;
  }
}

TEST(Pieces, SearchesThatTellNonsenseLoseNoPairsInPlace) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 20; ++round) {
    Call call = make_pairs(GSORT_U32, 0, 200000, 4);
    const Call before = call;
    Pieces work(4 * kMegabyte);
    work.device.tampers_with_deals = true;
    work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
      for (uint64_t i = 0; i < count; ++i) told[i] = round % 2 == 0 ? random() : told[i] + random() % (items / 64);
    };
    EXPECT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said;
    ASSERT_NO_FATAL_FAILURE(expect_same_pairs(before, call)) << round;
  }
}

// Every step fails in turn, and every chance to cancel is taken: where buckets serve, and where they are undone.
TEST(Pieces, StoppedCallsLoseNoPairsInPlace) {
  for (const bool cancels : {false, true})
    for (const bool misdeals : {false, true}) {
      const Call before = make_pairs(GSORT_U32, 7, 200000, 4);
      uint64_t stopped = 0;
      for (uint64_t at = 0;; ++at) {
        Call now = before;
        Pieces work(4 * kMegabyte);
        Countdown countdown{cancels ? at : UINT64_MAX};
        work.control.set_progress(&Countdown::call, &countdown);
        if (!cancels) work.device.fail_step = at;
        if (misdeals) work.device.misdeal = [](uint64_t bucket, uint64_t) { return std::min<uint64_t>(bucket, 1); };
        const gsort_status status = work.run(now.bound(true));
        ASSERT_FALSE(countdown.fell);
        ASSERT_NO_FATAL_FAILURE(expect_same_pairs(before, now)) << at;
        EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
        if (status == GSORT_OK) {
          if (countdown.calls_left > 1) break;
          continue;
        }
        ++stopped;
        ASSERT_EQ(cancels ? GSORT_ERROR_CANCELLED : GSORT_ERROR_INTERNAL, status);
      }
      EXPECT_GT(stopped, 10u);
    }
}

// Where memory is wanting in the midst of it, the call may be done in another way, but not with what is in disorder.
TEST(Pieces, PairsInPlaceWithoutMemoryAreStableOrSayThatTheyAreNot) {
  for (const bool misdeals : {false, true}) {
    const Call before = make_pairs(GSORT_U32, 7, 200000, 4);
    const Call expected = sorted_whole(before, true);
    uint64_t lost = 0, kept = 0;
    for (uint64_t at = 0;; ++at) {
      Call now = before;
      Pieces work(4 * kMegabyte);
      work.device.fail_step = at;
      work.device.fail_status = GSORT_ERROR_OUT_OF_MEMORY;
      if (misdeals) work.device.misdeal = [](uint64_t bucket, uint64_t) { return std::min<uint64_t>(bucket, 1); };
      const gsort_status status = work.run(now.bound(true));
      if (status == GSORT_OK) break;
      ASSERT_EQ(GSORT_ERROR_OUT_OF_MEMORY, status);
      ASSERT_NO_FATAL_FAILURE(expect_same_pairs(before, now)) << at;
      lost += work.lost_order;
      if (work.lost_order) continue;
      ++kept;
      const Call again = sorted_whole(now, true);
      ASSERT_TRUE(again.in == expected.in && again.values == expected.values) << at;
    }
    EXPECT_GT(lost, 5u);
    EXPECT_EQ(misdeals, kept > 5);  // behind what was undone
  }
}

// Samples that tell nothing of the input, here as if all of it came before the bounds, or behind them: much goes aside,
// and buckets are cut again.
TEST(Pieces, SamplesThatMisleadChangeNothing) {
  for (const Operation operation : {Operation::kSort, Operation::kSortPairs})
    for (const uint64_t part : {0, 1, 2, 3}) {
      Call call = make_call(operation, GSORT_F32, part == 3 ? 7 : 0, 300000);
      call.request.value_bytes = 4;
      call.values = keys_of(GSORT_U32, 0, 300000, 5);
      call.values_out.assign(call.values.size(), 1);
      Call expected = call;
      EngineUnderTest whole(2);
      whole.engine->execute(expected.bound(false));
      Pieces work(kMegabyte);
      work.device.by_length = true;
      work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
        const uint64_t half = count / 4 * 2;  // two words a bound
        for (uint64_t i = 0; i < count; ++i)
          if (part == 0 || (part >= 2 && i < half)) told[i] = 0;
        for (uint64_t i = 0; i < count; ++i)
          if (part == 1 || (part == 3 && i >= half)) told[i] = items;
      };
      ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
      EXPECT_TRUE(expected.out == call.out && expected.values_out == call.values_out) << part;
      EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
    }
}

// What argsorts and ranks are given: keys that are dealt out to buckets while their indices stay on the device.
Call make_dealt(Operation operation, gsort_dtype t, uint32_t shape, gsort_dtype index_t) {
  Call call = make_call(operation, t, shape, 300000);
  call.request.index_t = index_t;
  call.out.assign(call.request.n * dtype_bytes(index_t), 1);
  return call;
}

// They need little scratch memory, which is what a limit far below the arrays shows.
TEST(Pieces, IndicesAndRanksOfDealtKeys) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    for (const gsort_dtype index_t : {GSORT_U32, GSORT_I64})
      for (const Operation operation : {Operation::kArgsort, Operation::kRank}) {
        if (dtype_bytes(t) > dtype_bytes(index_t)) continue;
        Call call = make_dealt(operation, t, shape, index_t);
        call.request.order = order;
        Call expected = call;
        EngineUnderTest whole(2);
        whole.engine->execute(expected.bound(false));
        // A part may need more workspace than there is where that depends on the length in no simple way.
        const bool by_length = turn % 4 == 3;
        Pieces work(5 * kMegabyte, by_length ? 0 : call.out.size() / 8 + kMegabyte / 16);
        work.device.by_length = by_length;
        ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
        EXPECT_TRUE(expected.out == call.out && expected.in == call.in);
        EXPECT_EQ(call.request.n, work.device.dealt);
        EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
      }
  });
}

// Keys that are wider than indices wait in scratch memory; ranks of such are made in the way of old.
TEST(Pieces, IndicesNarrowerThanKeys) {
  for (const Operation operation : {Operation::kArgsort, Operation::kRank}) {
    const Call call = make_dealt(operation, GSORT_F64, 7, GSORT_I32);
    expect_same(call, 3 * kMegabyte);
  }
}

// Values that stay at home until the order of the keys, and the keys themselves, are known.
TEST(Pieces, WideValuesOfDealtKeys) {
  Call call = make_call(Operation::kSortPairs, GSORT_U32, 7, 100000);
  call.request.value_bytes = 65;
  call.values = keys_of(GSORT_U8, 0, call.request.n * 65, 3);
  call.values_out.assign(call.values.size(), 1);
  for (const bool in_place : {false, true}) expect_same(call, kMegabyte * 3 / 2, in_place);
}

// All keys in the first buckets, or in the last: no bucket is cut, and the call is done in another way.
TEST(Pieces, SamplesThatMisleadDealers) {
  for (const Operation operation : {Operation::kArgsort, Operation::kRank})
    for (const bool behind : {false, true})
      for (const uint64_t buckets_left : {1, 2, 3}) {
        Call call = make_dealt(operation, GSORT_I32, 7, GSORT_U32);
        Call expected = call;
        EngineUnderTest whole(2);
        whole.engine->execute(expected.bound(false));
        Pieces work(5 * kMegabyte / 2);
        Countdown countdown{UINT64_MAX};
        work.control.set_progress(&Countdown::call, &countdown);
        work.device.misdeal = [&](uint64_t bucket, uint64_t buckets) {
          const uint64_t left = std::min(buckets_left, buckets);
          return behind ? std::max(bucket, buckets - left) : std::min(bucket, left - 1);
        };
        ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
        EXPECT_TRUE(expected.out == call.out && expected.in == call.in) << behind << buckets_left;
        EXPECT_GT(work.device.dealt, 0u);
        EXPECT_FALSE(countdown.fell);
        EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
      }
}

// Uneven buckets, whose keys do not lie where the sample expects them.
TEST(Pieces, UnevenBucketsOfDealtKeys) {
  for (const Operation operation : {Operation::kArgsort, Operation::kRank})
    for (const uint64_t distance : {1, 2, 3}) {
      Call call = make_dealt(operation, GSORT_U32, 7, GSORT_U32);
      // Every bucket has room for a quarter more than its share.
      std::mt19937_64 random(distance);
      uint32_t *const keys = reinterpret_cast<uint32_t *>(call.in.data());
      for (uint64_t i = 0; i < call.request.n; ++i) keys[i] = static_cast<uint32_t>(random() % (50 * distance));
      Call expected = call;
      EngineUnderTest whole(2);
      whole.engine->execute(expected.bound(false));
      Pieces work(5 * kMegabyte / 2);
      ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
      EXPECT_TRUE(expected.out == call.out && expected.in == call.in) << distance;
      EXPECT_EQ(call.request.n, work.device.dealt);
    }
}

// A device that is out of order: nothing but the output is written.
TEST(Pieces, SearchesThatTellNonsenseOfDealtKeys) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    Call call = make_dealt(round % 4 < 2 ? Operation::kArgsort : Operation::kRank, GSORT_U32, 0, GSORT_U32);
    const std::vector<char> before = call.in;
    Pieces work(5 * kMegabyte / 2);
    work.device.tampers_with_deals = true;
    work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
      for (uint64_t i = 0; i < count; ++i) told[i] = round % 2 == 0 ? random() : told[i] + random() % (items / 64);
    };
    EXPECT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
    EXPECT_TRUE(before == call.in);
    EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
  }
}

// Every step fails in turn, and every chance to cancel is taken.
TEST(Pieces, StoppedCallsOfDealtKeysLeaveTheirInput) {
  for (const Operation operation : {Operation::kArgsort, Operation::kRank})
    for (const bool cancels : {false, true}) {
      const Call call = make_dealt(operation, GSORT_U32, 7, GSORT_U32);
      uint64_t stopped = 0;
      for (uint64_t at = 0;; ++at) {
        Call now = call;
        Pieces work(5 * kMegabyte / 2);
        Countdown countdown{cancels ? at : UINT64_MAX};
        work.control.set_progress(&Countdown::call, &countdown);
        if (!cancels) work.device.fail_step = at;
        const gsort_status status = work.run(now.bound(false));
        ASSERT_FALSE(countdown.fell);
        ASSERT_TRUE(now.in == call.in);
        EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
        if (status == GSORT_OK) {
          EXPECT_EQ(countdown.total, countdown.last);
          break;
        }
        ++stopped;
        ASSERT_EQ(cancels ? GSORT_ERROR_CANCELLED : GSORT_ERROR_INTERNAL, status);
      }
      EXPECT_GT(stopped, 10u);
    }
}

// What a search tells of keys that it takes to lie before all bounds, or behind them.
void tell_of_one_side(uint64_t *told, uint64_t count, uint64_t items, bool behind) {
  for (uint64_t i = 0; i < count; ++i) told[i] = behind ? items : 0;
}

// In place such a sort is done in the other way if there is memory for that. If not, no element is lost.
TEST(Pieces, SamplesThatMisleadInPlace) {
  constexpr uint64_t n = 300000;
  for (const bool behind : {false, true})
    for (const uint64_t limit_bytes : {uint64_t{0}, n * 4 + 100000, n * 4 / 8}) {
      Call call = make_call(Operation::kSort, GSORT_U32, 0, n);
      const std::vector<char> expected = sorted_u32(call.in);
      Pieces work(kMegabyte, limit_bytes);
      work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
        tell_of_one_side(told, count, items, behind);
      };
      const gsort_status status = work.run(call.bound(true));
      if (limit_bytes >= n * 4 || limit_bytes == 0) {
        ASSERT_EQ(GSORT_OK, status) << work.said << ", " << limit_bytes;
        EXPECT_TRUE(expected == call.in);
      }
      EXPECT_TRUE(status == GSORT_OK || status == GSORT_ERROR_OUT_OF_MEMORY) << work.said;
      EXPECT_TRUE(expected == sorted_u32(call.in)) << limit_bytes;
      EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
    }
}

// A device that is out of order: no element is lost and nothing else is written.
void mislead_searches(bool in_place) {
  std::mt19937_64 random(in_place ? 4 : 3);
  for (int round = 0; round < 20; ++round) {
    Call call = make_call(Operation::kSort, GSORT_U32, 0, 200000);
    Pieces work(kMegabyte);
    work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
      for (uint64_t i = 0; i < count; ++i) told[i] = round % 2 == 0 ? random() : random() % (items + 1);
    };
    const std::vector<char> before = call.in;
    ASSERT_EQ(GSORT_OK, work.run(call.bound(in_place))) << work.said;
    EXPECT_TRUE(in_place || before == call.in);
    EXPECT_TRUE(sorted_u32(before) == sorted_u32(in_place ? call.in : call.out)) << round;
  }
}

TEST(Pieces, SearchesThatTellNonsenseLoseNothing) { mislead_searches(false); }
TEST(Pieces, SearchesThatTellNonsenseLoseNothingInPlace) { mislead_searches(true); }

// Every step fails in turn, and every chance to cancel is taken, of keys in place: those of some of the parts in their
// way, too.
void stop_keys_everywhere(bool cancels, bool misleads) {
  const Call call = make_call(Operation::kSort, GSORT_U32, 0, 150000);
  const std::vector<char> expected = sorted_u32(call.in);
  uint64_t stopped = 0;
  for (uint64_t at = 0;; ++at) {
    Call now = call;
    Pieces work(kMegabyte / 2);
    Countdown countdown{cancels ? at : UINT64_MAX};
    work.control.set_progress(&Countdown::call, &countdown);
    if (!cancels) work.device.fail_step = at;
    uint64_t pieces = 0;
    work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
      if (misleads && ++pieces % 3 != 0) tell_of_one_side(told, count / 4 * 2, items, pieces % 3 == 1);
    };
    const gsort_status status = work.run(now.bound(true));
    ASSERT_FALSE(countdown.fell);
    ASSERT_TRUE(expected == sorted_u32(now.in)) << at;
    if (status == GSORT_OK) {
      if (!misleads) {
        EXPECT_TRUE(expected == now.in);
      }
      if (countdown.calls_left > 1) break;
      continue;
    }
    ++stopped;
    ASSERT_EQ(cancels ? GSORT_ERROR_CANCELLED : GSORT_ERROR_INTERNAL, status);
  }
  EXPECT_GT(stopped, 10u);
}

TEST(Pieces, FailingStepsLoseNoKeysInPlace) {
  for (const bool misleads : {false, true}) stop_keys_everywhere(false, misleads);
}

TEST(Pieces, CancelledCallsLoseNoKeysInPlace) {
  for (const bool misleads : {false, true}) stop_keys_everywhere(true, misleads);
}

// Every step fails in turn, and every chance to cancel is taken: in-place pairs are then a permutation of their input,
// other inputs intact.
void stop_everywhere(bool in_place, bool cancels) {
  Call call = make_call(Operation::kSortPairs, GSORT_U32, 7, 60000);
  call.request.value_bytes = 4;
  std::vector<uint32_t> numbers(call.request.n);
  std::iota(numbers.begin(), numbers.end(), 0u);
  call.values = call.values_out = bytes_of(numbers);
  uint64_t stopped = 0;
  for (uint64_t at = 0;; ++at) {
    Call now = call;
    Pieces work(kMegabyte);
    Countdown countdown{cancels ? at : UINT64_MAX};
    work.control.set_progress(&Countdown::call, &countdown);
    if (!cancels) work.device.fail_step = at;
    const gsort_status status = work.run(now.bound(in_place));
    ASSERT_FALSE(countdown.fell);
    const auto *const before = reinterpret_cast<const uint32_t *>(call.in.data());
    const auto *const keys = reinterpret_cast<const uint32_t *>(in_place ? now.in.data() : now.out.data());
    const auto *const places = reinterpret_cast<const uint32_t *>(in_place ? now.values.data() : now.values_out.data());
    if (status == GSORT_OK || in_place) {
      std::vector<bool> seen(numbers.size());
      for (uint64_t i = 0; i < numbers.size(); ++i) {
        ASSERT_TRUE(keys[i] == before[places[i]] && !seen[places[i]]) << at;
        seen[places[i]] = true;
      }
    }
    if (!in_place) {
      ASSERT_TRUE(now.in == call.in && now.values == call.values);
    }
    if (status == GSORT_OK) {
      EXPECT_TRUE(std::is_sorted(keys, keys + numbers.size()));
      if (countdown.calls_left > 1) break;
      continue;
    }
    ++stopped;
    ASSERT_EQ(cancels ? GSORT_ERROR_CANCELLED : GSORT_ERROR_INTERNAL, status);
  }
  EXPECT_GT(stopped, 10u);
}

TEST(Pieces, FailingStepsLoseNothing) {
  stop_everywhere(true, false);
  stop_everywhere(false, false);
}

TEST(Pieces, CancelledCallsLoseNothing) {
  stop_everywhere(true, true);
  stop_everywhere(false, true);
}

TEST(Pieces, ScanInPlaceIsAllOrNothing) {
  const Call call = make_call(Operation::kScan, GSORT_U16, 0, 300000);
  Call expected = call;
  EngineUnderTest whole(2);
  whole.engine->execute(expected.bound(true));
  for (uint64_t at = 0;; ++at) {
    Call now = call;
    Pieces work(200000);
    Countdown countdown{at};
    work.control.set_progress(&Countdown::call, &countdown);
    const gsort_status status = work.run(now.bound(true));
    ASSERT_TRUE(now.in == (status == GSORT_OK ? expected.in : call.in));
    if (status == GSORT_OK) {
      EXPECT_EQ(countdown.total, countdown.last) << "the last chance to cancel is the one before the result is written";
      break;
    }
    ASSERT_EQ(GSORT_ERROR_CANCELLED, status);
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
