// SPDX-License-Identifier: MIT OR Apache-2.0
// Wrong arguments of gsort_reserve(), gsort_workspace_bytes(), gsort_set_workspace() and gsort_set_stream().
#include "arguments/fixture.h"

namespace gsort_test {
namespace {

class MemoryArguments : public ArgumentsTest {
 protected:
  // The same wrong shape for the call that reserves and for the one that computes.
  void expect_both_invalid(uint32_t op, gsort_dtype t, uint64_t n, uint64_t parameter, const Words &words) {
    expect_invalid(gsort_reserve(g(), op, t, n, parameter), words);
    uint64_t needed = 12345;
    EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_workspace_bytes(op, t, n, parameter, &needed));
    EXPECT_TRUE(has_words(gsort_error_message(nullptr), words));
    EXPECT_EQ(12345u, needed) << "something was written";
  }
};

TEST_P(MemoryArguments, Shapes) {
  expect_both_invalid(0, GSORT_U32, 100, 0, {"op", "0"});
  expect_both_invalid(13, GSORT_U32, 100, 0, {"op", "13"});
  expect_both_invalid(GSORT_OP_SORT, 0, 100, 0, {"t", "0"});
  expect_both_invalid(GSORT_OP_SORT, GSORT_U32, 100, 7, {"parameter", "7"});
  expect_both_invalid(GSORT_OP_SORT_PAIRS, GSORT_U32, 100, 0, {"parameter", "0"});
  expect_both_invalid(GSORT_OP_SORT_PAIRS, GSORT_U32, 100, 65537, {"parameter", "65537"});
  expect_both_invalid(GSORT_OP_ARGSORT, GSORT_U32, 100, 3, {"parameter", "3"});
  expect_both_invalid(GSORT_OP_RANK, GSORT_U32, 100, 16, {"parameter", "16"});
  expect_both_invalid(GSORT_OP_TOPK, GSORT_U32, 100, 101, {"parameter", "101"});
  expect_both_invalid(GSORT_OP_TOPK, GSORT_U32, 0, 1, {"parameter", "1"});
  expect_both_invalid(GSORT_OP_TOPK_ROWS, GSORT_U32, 100, 101, {"parameter", "101"});
  expect_both_invalid(GSORT_OP_SORT, GSORT_U32, kTooMany, 0, {as_text(kTooMany)});
  expect_both_invalid(GSORT_OP_SORT_PAIRS, GSORT_U8, uint64_t{1} << 50, 65536, {});
}

// Sizes are refused before the sum of what a workspace holds passes 2^64: indices of 8 bytes beside keys of 1, say.
TEST_P(MemoryArguments, SizesThatWouldWrap) {
  for (uint32_t op = GSORT_OP_SORT; op <= GSORT_OP_TOPK_SEGMENTS; ++op) {
    const bool index = op == GSORT_OP_ARGSORT || op == GSORT_OP_RANK;
    const uint64_t parameter = index ? 8 : op == GSORT_OP_SORT_PAIRS ? 9 : 0;
    uint64_t before = 0;
    for (uint32_t bit = 33; bit <= 53; ++bit) {  // n x 9 bytes is below 2^57
      uint64_t needed = 0;
      ASSERT_EQ(GSORT_OK, gsort_workspace_bytes(op, GSORT_U8, uint64_t{1} << bit, parameter, &needed));
      EXPECT_LE(before, needed) << "op " << op << ", n = 2^" << bit;
      EXPECT_GE(needed, index ? uint64_t{8} << bit : 0) << "op " << op << ", n = 2^" << bit;
      before = needed;
    }
    for (const uint64_t n : {(uint64_t{1} << 57) + 1, uint64_t{1} << 62, UINT64_MAX})
      expect_both_invalid(op, GSORT_U8, n, parameter, {"n", as_text(n)});
  }
  expect_both_invalid(GSORT_OP_SORT_PAIRS, GSORT_U8, (uint64_t{1} << 54) + 1, 8, {"n", "values of 8"});
  expect_both_invalid(GSORT_OP_SORT, GSORT_F64, (uint64_t{1} << 54) + 1, 0, {"n", "elements of 8"});
}

TEST_P(MemoryArguments, EveryOperationHasAWorkspaceSize) {
  struct Shape {
    uint32_t op;
    uint64_t last;
  };
  constexpr Shape kShapes[] = {{GSORT_OP_SORT, 0},   {GSORT_OP_SORT_PAIRS, 4}, {GSORT_OP_ARGSORT, 4},
                               {GSORT_OP_RANK, 8},   {GSORT_OP_MERGE, 0},      {GSORT_OP_SORT_SEGMENTS, 10},
                               {GSORT_OP_TOPK, 100}, {GSORT_OP_TOPK_ROWS, 10}, {GSORT_OP_SUM, 0},
                               {GSORT_OP_REDUCE, 0}, {GSORT_OP_SCAN, 0},       {GSORT_OP_TOPK_SEGMENTS, 10}};
  for (const Shape &shape : kShapes) {
    for (const gsort_dtype t : kAllTypes) {
      for (const uint64_t n : {uint64_t{1000}, uint64_t{1} << 20, (uint64_t{1} << 32) + 1}) {
        uint64_t needed = UINT64_MAX;
        ASSERT_EQ(GSORT_OK, gsort_workspace_bytes(shape.op, t, n, shape.last, &needed))
            << "op " << shape.op << ": " << gsort_error_message(nullptr);
        // No plan needs more than a few copies of keys, 8-byte indices and some counters a segment.
        EXPECT_LT(needed, n * 64 + (uint64_t{1} << 30)) << "op " << shape.op;
      }
      expect_ok(gsort_reserve(g(), shape.op, t, 1000, shape.last));
    }
  }
}

// The size is that of the run's plan, which is made alike in a build without CUDA: figures of a build with it. They
// change with the plans.
TEST_P(MemoryArguments, WorkspaceSizesAreThoseOfEveryBuild) {
  struct Known {
    uint32_t op;
    gsort_dtype t;
    uint64_t n, last, bytes;
  };
  constexpr Known kKnown[] = {
      {GSORT_OP_SORT, GSORT_U32, 1000000, 0, 4417792},
      {GSORT_OP_SORT, GSORT_F64, 16777216, 0, 147817984},
      {GSORT_OP_SORT, GSORT_I32, 200000000, 0, 819278848},
      {GSORT_OP_SORT, GSORT_U8, 100000000, 0, 11008},
      {GSORT_OP_SORT_PAIRS, GSORT_I64, 1000000, 8, 16389376},
      {GSORT_OP_SORT_PAIRS, GSORT_F32, 100000000, 4, 808722176},
      {GSORT_OP_ARGSORT, GSORT_U16, 524288, 4, 4430592},
      {GSORT_OP_ARGSORT, GSORT_F32, 283115520, 4, 3421433600},
      {GSORT_OP_ARGSORT, GSORT_F32, 283115521, 4, 3421039872},
      {GSORT_OP_RANK, GSORT_U64, 4096, 8, 359424},
      {GSORT_OP_MERGE, GSORT_I32, 16777216, 0, 33536},
      {GSORT_OP_SORT_SEGMENTS, GSORT_F32, 1000000, 300000, 5196288},
      {GSORT_OP_TOPK, GSORT_F32, 16777216, 100, 1369344},
      {GSORT_OP_TOPK, GSORT_BF16, 1000000, 500000, 12185856},
      {GSORT_OP_TOPK_ROWS, GSORT_U32, 16777216, 100, 268435456},
      {GSORT_OP_TOPK_SEGMENTS, GSORT_F32, 1000000, 100, 1721600},
      {GSORT_OP_SUM, GSORT_F32, 1000000000, 0, 17152},
      {GSORT_OP_REDUCE, GSORT_I8, 1, 0, 17152},
      {GSORT_OP_SCAN, GSORT_F64, 16777216, 0, 65632},
      {GSORT_OP_SCAN, GSORT_I64, 70000, 0, 312},
  };
  for (const Known &known : kKnown) {
    uint64_t needed = 0;
    ASSERT_EQ(GSORT_OK, gsort_workspace_bytes(known.op, known.t, known.n, known.last, &needed));
    EXPECT_EQ(known.bytes, needed) << "op " << known.op << " type " << known.t << " n " << known.n << " " << known.last;
  }
}

// Rows of which there are none may be of any length.
TEST_P(MemoryArguments, NoRows) {
  float *const none = nullptr;
  expect_ok(gsort_topk_rows(g(), GSORT_F32, none, 0, 100, 100, 7, none, GSORT_U32, nullptr, 0));
  expect_ok(gsort_reserve(g(), GSORT_OP_TOPK_ROWS, GSORT_F32, 0, 7));
  uint64_t needed = UINT64_MAX, of_nothing = UINT64_MAX;
  expect_ok(gsort_workspace_bytes(GSORT_OP_TOPK_ROWS, GSORT_F32, 0, 7, &needed));
  expect_ok(gsort_workspace_bytes(GSORT_OP_TOPK_ROWS, GSORT_F32, 0, 0, &of_nothing));
  EXPECT_EQ(of_nothing, needed);
}

TEST_P(MemoryArguments, AllOfThemMayBeSelected) {
  expect_ok(gsort_reserve(g(), GSORT_OP_TOPK, GSORT_U32, 100, 100));
  expect_ok(gsort_reserve(g(), GSORT_OP_TOPK_ROWS, GSORT_U32, 100, 100));
  expect_ok(gsort_reserve(g(), GSORT_OP_ARGSORT, GSORT_U32, 100, 4));
  expect_ok(gsort_reserve(g(), GSORT_OP_SORT_PAIRS, GSORT_U32, 100, 65536));
}

TEST_P(MemoryArguments, WorkspaceBytesOfNull) {
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_workspace_bytes(GSORT_OP_SORT, GSORT_U32, 10, 0, nullptr));
  EXPECT_TRUE(has_words(gsort_error_message(nullptr), {"bytes", "NULL"}));
}

TEST_P(MemoryArguments, StreamAndWorkspace) {
  // On a CPU handle, too, what is wrong comes before what it cannot do.
  expect_invalid(gsort_set_workspace(g(), bytes(out()) + 8, 256), {"device_memory", as_text(bytes(out()) + 8)});
  expect_invalid(gsort_set_workspace(g(), nullptr, 256), {"device_memory", "256"});
  expect_invalid(gsort_set_workspace(g(), bytes(out()), 0), {"device_memory", "0"});
  expect_ok(gsort_set_workspace(g(), nullptr, 0));
  if (backend() == GSORT_BACKEND_CPU) {
    int somewhere = 0;
    EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, gsort_set_stream(g(), &somewhere));
    EXPECT_NE(std::string(), gsort_error_message(g()));
    expect_ok(gsort_set_stream(g(), nullptr));
    EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, gsort_set_workspace(g(), bytes(out()), 256));
    EXPECT_NE(std::string(), gsort_error_message(g()));
  }
}

GSORT_INSTANTIATE_BACKENDS(MemoryArguments);

}  // namespace
}  // namespace gsort_test
