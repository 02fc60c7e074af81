// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of one row by buckets of a grid, also where its sample misleads.
#include "topk_support.h"

namespace gsort_test {
namespace {

bool has_buckets() {
  if (topk::buckets_fit(device_facts(), true)) return true;
  std::puts("this device has no grid of as many blocks");
  return false;
}

TEST_F(Topk, BucketsOfAnyValuesAndSizes) {
  if (!has_buckets()) return;
  uint64_t seed = 5100;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_I32, GSORT_U64, GSORT_F64})
      for (uint64_t n : {16384, 65537, 262145, 1048576})
        for (uint64_t k : {1, 1025, 10000, 65536, 131072}) {
          if (k > n) continue;
          Case c;
          c.t = t, c.values = values, c.columns = n, c.k = k, c.seed = ++seed, c.force.buckets = true;
          c.greatest = seed % 2, c.nan_last = seed % 3 == 0, c.offset = seed % 4;
          c.index_t = seed % 7 == 0 ? GSORT_I64 : GSORT_U32;
          c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
          run_case(c);
          if (HasFatalFailure()) return;
        }
}

// Of rows that the blocks read tile by tile.
TEST_F(Topk, BucketsOfLongRows) {
  if (!has_buckets()) return;
  uint64_t seed = 7100;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_U32, GSORT_I64, GSORT_F64})
      for (uint64_t n : {1048577, 2097152, 3000001})
        for (uint64_t k : {1, 2049, 10000, 100000}) {
          Case c;
          c.t = t, c.values = values, c.columns = n - seed % 3, c.k = k, c.seed = ++seed, c.force.buckets = true;
          if (!topk::buckets_fit(topk::Shape{1, c.columns, k, dtype_bytes(t)})) continue;
          c.greatest = seed % 2, c.nan_last = seed % 3 == 0, c.offset = seed % 4;
          c.index_t = seed % 7 == 0 ? GSORT_I64 : GSORT_U32;
          c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
          run_case(c);
          if (HasFatalFailure()) return;
        }
}

// Too few pass, so that another sample is drawn, or far more than are wanted; the longest row.
TEST_F(Topk, BucketsOfAMisledSampleOfALongRow) {
  if (!has_buckets()) return;
  uint64_t seed = 7900;
  for (Values values : {Values::kUniform, Values::kSorted, Values::kReverse, Values::kConstant, Values::kTwo})
    for (gsort_dtype t : {GSORT_F32, GSORT_U64})
      for (uint64_t rank : {1, 10, 1000}) {
        Case c;
        c.t = t, c.values = values, c.columns = 1500000 + seed % 3, c.k = 9000;
        c.seed = ++seed, c.greatest = seed % 2, c.force.buckets = true, c.force.sample_rank = rank;
        run_case(c);
        if (HasFatalFailure()) return;
      }
  Case c;
  c.values = Values::kUniform, c.columns = topk::kLongBucketsColumnsMax, c.k = 60000, c.force.buckets = true;
  run_case(c);
}

// Too few pass, so that all is done again; or all, so that no block can hold its bucket.
TEST_F(Topk, BucketsOfAMisledSample) {
  if (!has_buckets()) return;
  uint64_t seed = 5900;
  for (Values values : {Values::kUniform, Values::kSorted, Values::kReverse, Values::kConstant, Values::kTwo})
    for (gsort_dtype t : {GSORT_F32, GSORT_U64})
      for (uint64_t rank : {1, 40, 100000}) {
        Case c;
        c.t = t, c.values = values, c.columns = rank == 100000 ? 1048576 : 500000 + seed % 3, c.k = 9000;
        c.seed = ++seed, c.greatest = seed % 2, c.force.buckets = true, c.force.sample_rank = rank;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, BucketsAreEqualFromCallToCall) {
  if (!has_buckets()) return;
  for (int i = 0; i < 100; ++i) {
    Case c;
    c.values = i % 2 ? Values::kTwo : Values::kUniform, c.columns = 300000 + i, c.k = 2000, c.force.buckets = true;
    run_case(c);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gsort_test
