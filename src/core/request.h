// SPDX-License-Identifier: MIT OR Apache-2.0
// A checked call as a plain value: what api hands to an engine.
#ifndef GSORT_CORE_REQUEST_H_
#define GSORT_CORE_REQUEST_H_

#include <cstdint>

#include "core/key_bits.h"
#include "gsort.h"

namespace gsort_internal {

// Values are those of GSORT_OP_*.
enum class Operation : uint32_t {
  kSort = GSORT_OP_SORT,
  kSortPairs = GSORT_OP_SORT_PAIRS,
  kArgsort = GSORT_OP_ARGSORT,
  kRank = GSORT_OP_RANK,
  kMerge = GSORT_OP_MERGE,
  kSortSegments = GSORT_OP_SORT_SEGMENTS,
  kTopk = GSORT_OP_TOPK,
  kTopkRows = GSORT_OP_TOPK_ROWS,
  kSum = GSORT_OP_SUM,
  kReduce = GSORT_OP_REDUCE,
  kScan = GSORT_OP_SCAN,
  kTopkSegments = GSORT_OP_TOPK_SEGMENTS,
};

// Everything in it has been checked: sizes do not overflow; arrays are aligned to their elements (values of pairs to
// bytes alone), do not overlap but where in == out is allowed, and lie in memory that the engine reaches. n, k, rows
// and columns may be 0.
struct Request {
  Operation operation;
  KeyOrder order;            // type of the elements; for top-k `descending` says "the greatest first"
  uint64_t n = 0;            // elements of `in` (a_n for merge, rows * columns for top-k by rows)
  const void *in = nullptr;  // keys, a, or the elements
  void *out = nullptr;       // keys_out, indices_out (argsort), ranks_out, out, or values_out (may be NULL for top-k)

  const void *values_in = nullptr;  // pairs; within the CUDA engine NULL stands for each key's index
  void *values_out = nullptr;       // pairs; within the CPU engine, of an argsort: the sorted keys, or NULL
  uint32_t value_bytes = 0;

  gsort_dtype index_t = 0;      // argsort, rank, top-k with indices
  void *indices_out = nullptr;  // top-k; NULL: not wanted

  const void *b = nullptr;  // merge
  uint64_t b_n = 0;

  const uint64_t *offsets = nullptr;  // segments + 1 entries; checked by api if in host memory
  uint64_t segments = 0;

  uint64_t k = 0;  // top-k
  uint64_t rows = 0, columns = 0, row_stride = 0;

  uint32_t reduce_op = 0;  // GSORT_MIN ... GSORT_MEAN
  bool exclusive = false;  // scan
  bool rounds = false;     // sum of floats: Engine::sum_few() has found so

  // Within the CUDA engine, of pieces of a longer array:
  bool partial_sum = false;      // sum, mean: `out` receives a PartialSum
  double *scan_carry = nullptr;  // inclusive scan of floats: what comes before; replaced by the next group's prefix
};

}  // namespace gsort_internal

#endif  // GSORT_CORE_REQUEST_H_
