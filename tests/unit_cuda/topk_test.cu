// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of one row on the device against a reference on the host: every key width and order, sizes and k around every
// limit, either output alone, misaligned arrays.
#include "topk_support.h"

namespace gsort_test {
namespace {

TEST_F(Topk, EveryTypeOrderAndValues) {
  uint64_t seed = 100;
  for (gsort_dtype t : kAllTypes)
    for (Values values : kAllValues)
      for (int order = 0; order < 4; ++order) {
        Case c;
        c.t = t, c.values = values, c.greatest = order & 1, c.nan_last = order & 2, c.seed = ++seed;
        c.columns = 3000 + seed % 7, c.k = 1 + seed % 300, c.offset = seed % 5;
        run_case(c);
        c.columns = 40000 + seed % 50;
        run_case(c);
        c.force.team = true;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, SmallSizesAllK) {
  for (uint64_t n = 1; n <= 70; ++n)
    for (uint64_t k = 1; k <= n; ++k) {
      Case c;
      c.t = (n + k) % 2 == 0 ? GSORT_F32 : GSORT_U8, c.columns = n, c.k = k, c.seed = n * 100 + k;
      c.offset = n % 4, c.force.team = k % 3 == 0;
      run_case(c);
      if (HasFatalFailure()) return;
    }
}

// Around the sizes of tiles, buffers and blocks, and k around powers of two up to n.
TEST_F(Topk, BoundarySizes) {
  uint64_t seed = 7000;
  for (uint64_t n :
       {255, 256, 257, 1023, 1024, 1025, 2047, 2049, 8191, 8192, 8193, 16383, 16384, 16385, 32769, 65536, 65537})
    for (uint64_t k : {1, 2, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 10000}) {
      if (k > n) continue;
      for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8}) {
        Case c;
        c.t = t, c.columns = n, c.k = k, c.seed = ++seed, c.offset = seed % 4;
        c.values = kAllValues[seed % std::size(kAllValues)];
        c.index_t = seed % 2 == 0 ? GSORT_U64 : GSORT_I32;
        run_case(c);
        if (HasFatalFailure()) return;
      }
    }
}

TEST_F(Topk, AllOfTheElements) {
  for (gsort_dtype t : kAllTypes)
    for (uint64_t n : {1, 2, 100, 5000, 70000}) {
      Case c;
      c.t = t, c.columns = n, c.k = n, c.values = Values::kTwo, c.nan_last = true;
      run_case(c);
      c.k = n - n / 3;
      if (c.k > 0) run_case(c);
      if (HasFatalFailure()) return;
    }
}

TEST_F(Topk, EitherOutputAlone) {
  for (uint64_t n : {500, 9000, 100000, 600000})
    for (int outputs = 0; outputs < 3; ++outputs)
      for (bool sort : {false, true}) {
        Case c;
        c.columns = n, c.k = n / 3, c.want_values = outputs != 0, c.want_indices = outputs != 1, c.force.sort = sort;
        c.index_t = outputs == 2 ? GSORT_I64 : GSORT_U32;
        run_case(c);
        c.k = n - 1;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, LongRows) {
  uint64_t seed = 900;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_I16, GSORT_U8})
      for (uint64_t k : {1, 10, 256, 5000, 65536}) {
        Case c;
        c.t = t, c.values = values, c.columns = (1 << 19) + 12345 + seed % 3, c.k = k, c.seed = ++seed;
        c.greatest = seed % 2, c.nan_last = seed % 3 == 0, c.offset = seed % 4;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

// 8-byte keys are selected from by a sample where it tells enough, others exactly: also where the sample misleads.
TEST_F(Topk, LargeKBySort) {
  uint64_t seed = 400;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_I64, GSORT_F16, GSORT_U8})
      for (uint64_t k : {1, 7000, 99000, 230000, 270001}) {
        Case c;
        c.t = t, c.values = values, c.columns = 270001, c.k = k, c.seed = ++seed, c.force.sort = true;
        c.force.sample_rank = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 100000 : 0;
        c.greatest = seed % 2, c.offset = seed % 4, c.index_t = seed % 2 ? GSORT_U32 : GSORT_U64;
        run_case(c);
        if (HasFatalFailure()) return;
      }
  Case c;
  c.columns = 700000, c.k = 300000;  // by itself
  run_case(c);
  for (const uint64_t k : {280000, 1100000}) {
    c.t = GSORT_F64, c.columns = 4000001, c.k = k, c.seed = ++seed, c.values = Values::kEnds, c.offset = 1;
    c.force.sample_rank = 0;
    run_case(c);
    c.values = Values::kTwo;
    run_case(c);
    c.force.sample_rank = 100000;  // more candidates than there is room for
    run_case(c);
  }
}

// A team selects, a sort of composites orders: also where the sample misleads and exact passes select.
TEST_F(Topk, SelectedAndSorted) {
  uint64_t seed = 4100;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_I32, GSORT_F16, GSORT_U8})
      for (uint64_t n : {16384, 65537, 400001})
        for (uint64_t k : {uint64_t{1}, uint64_t{1025}, uint64_t{2048}, n / 8, n / 2}) {
          Case c;
          c.t = t, c.values = values, c.columns = n, c.k = k, c.seed = ++seed, c.force.select = true;
          c.force.sample_rank = seed % 5 == 0 ? 1 : seed % 5 == 1 ? 100000 : 0;
          c.greatest = seed % 2, c.nan_last = seed % 3 == 0, c.offset = seed % 4;
          c.index_t = seed % 7 == 0 ? GSORT_I64 : GSORT_U32;
          c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
          run_case(c);
          if (HasFatalFailure()) return;
        }
}

// Where nearly all are wanted the sort makes the indices: every way that a sort of pairs takes.
TEST_F(Topk, NearlyAllByAnyWayOfSorting) {
  uint64_t seed = 450;
  for (const uint64_t n : {1000, 20000, 300000, 600000, 2200000})
    for (const Values values : {Values::kUniform, Values::kSorted, Values::kReverse, Values::kConstant, Values::kTwo})
      for (const gsort_dtype t : {GSORT_F32, GSORT_U64, GSORT_I16, GSORT_U8}) {
        Case c;
        c.t = t, c.values = values, c.columns = n + seed % 3, c.k = c.columns - seed % 2 * 50, c.seed = ++seed;
        c.greatest = seed % 2, c.offset = seed % 4, c.force.sort = true, c.want_values = seed % 5 != 0;
        c.index_t = seed % 3 ? GSORT_U32 : GSORT_I64;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, RepeatsAreEqual) {
  // The sample differs from run to run; the result must not.
  for (int i = 0; i < 200; ++i) {
    Case c;
    c.values = Values::kTwo, c.columns = 100000, c.k = 500, c.force.team = i % 2;
    run_case(c);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Topk, ReservationCoversEverySplit) {
  for (uint64_t n : {1000ull, 100000ull, 3000000ull, 1ull << 28})
    for (uint64_t k : {1ull, 10ull, 128ull, 1000ull, 70000ull, 400000ull}) {
      if (k > n) continue;
      for (gsort_dtype t : {GSORT_U8, GSORT_F32, GSORT_F64}) {
        Request whole{};
        whole.operation = Operation::kTopkRows, whole.order = {t, true, false};
        whole.n = n, whole.k = k, whole.rows = 1, whole.columns = n, whole.row_stride = n;
        const uint64_t reserved = topk::make_plan(whole, device_facts()).workspace_bytes;
        for (uint64_t rows = 1; rows <= n / k; rows = rows * 3 / 2 + 1) {
          Request split = whole;
          split.rows = rows, split.columns = n / rows, split.row_stride = n / rows;
          EXPECT_LE(topk::make_plan(split, device_facts()).workspace_bytes, reserved) << n << " " << k << " " << rows;
        }
      }
    }
}

}  // namespace
}  // namespace gsort_test
