// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of every suite.
#include <initializer_list>

#include "row.h"

namespace gsort_bench {
namespace {

constexpr uint64_t power(uint32_t log2) { return uint64_t{1} << log2; }

Row make(const char *suite, Work work, gsort_dtype t, uint64_t n, Goal goal = {},
         Distribution d = Distribution::kUniform) {
  Row row;
  row.suite = suite;
  row.work = work;
  row.t = t;
  row.n = n;
  row.goal = goal;
  row.distribution = d;
  return row;
}

Row make_pairs(gsort_dtype t, uint32_t value_bytes, uint64_t n, Goal goal) {
  Row row = make("sort", Work::kSortPairs, t, n, goal);
  row.value_bytes = value_bytes;
  return row;
}

Row make_topk(gsort_dtype t, uint64_t n, uint64_t k, Goal goal, Distribution d = Distribution::kUniform) {
  Row row = make("select", Work::kTopk, t, n, goal, d);
  row.k = k;
  return row;
}

Row make_topk_rows(uint64_t rows, uint64_t columns, uint64_t k) {
  Row row = make("select", Work::kTopkRows, GSORT_F32, rows * columns);
  row.rows = rows;
  row.k = k;
  return row;
}

// 90% of the read ceiling, 4500 GB/s on an H200.
Goal read_goal(gsort_dtype t, uint64_t n) { return {0, static_cast<double>(n * dtype_bytes(t)) / (0.9 * 4500e6)}; }

Row make_reduce(uint32_t op, gsort_dtype t, uint64_t n) {
  Row row = make("sum", Work::kReduce, t, n, read_goal(t, n));
  row.reduce_op = op;
  return row;
}

Goal sort_goal(uint32_t log2) {
  if (log2 == 28) return {1.7, 0};
  if (log2 >= 24) return {1.6, 0};
  if (log2 == 20) return {1.5, 0};
  if (log2 == 16) return {1.8, 0};
  if (log2 == 12) return {1.3, 0};
  return {};
}

}  // namespace

void add_sort_rows(std::vector<Row> &rows) {
  rows.push_back(make("sort", Work::kFirstCall, GSORT_U32, power(20), {0, 10}));
  for (uint32_t log2 = 10; log2 <= 30; ++log2) {
    rows.push_back(make("sort", Work::kCopyCeiling, GSORT_U32, power(log2)));
    rows.push_back(make("sort", Work::kSort, GSORT_U32, power(log2), sort_goal(log2)));
    // The half step, 1.4 times as many.
    if (log2 < 30) rows.push_back(make("sort", Work::kSort, GSORT_U32, power(log2) * 181 / 128));
  }
  for (const Distribution d : {Distribution::kUniform, Distribution::kNormal, Distribution::kExponential}) {
    rows.push_back(make("sort", Work::kSort, GSORT_F32, power(28), {1.5, 0}, d));
  }
  rows.push_back(make("sort", Work::kSort, GSORT_I32, power(28), {1.5, 0}, Distribution::kNormal));
  for (const gsort_dtype t : {GSORT_U64, GSORT_F64}) {
    for (const Distribution d : {Distribution::kUniform, Distribution::kIds32}) {
      rows.push_back(make("sort", Work::kSort, t, power(28), {1.3, 0}, d));
    }
  }
  for (const uint32_t log2 : {20u, 24u, 28u}) {
    rows.push_back(make_pairs(GSORT_U32, 4, power(log2), {log2 == 28 ? 1.25 : 0, 0}));
  }
  rows.push_back(make_pairs(GSORT_U64, 8, power(28), {1.15, 0}));
  rows.push_back(make_pairs(GSORT_U64, 4, power(28), {1.15, 0}));
  rows.push_back(make("sort", Work::kArgsort, GSORT_U32, power(28), {1.15, 0}));
  rows.push_back(make("sort", Work::kArgsort, GSORT_F32, power(28), {1.15, 0}));
  rows.push_back(make("sort", Work::kArgsort, GSORT_F64, power(27), {1.15, 0}));
  rows.push_back(make("sort", Work::kSort, GSORT_U8, power(28), {4, 0}));
  rows.push_back(make("sort", Work::kSort, GSORT_U16, power(28), {4, 0}));
  for (const gsort_dtype t : {GSORT_U8, GSORT_U16, GSORT_F32, GSORT_U64}) {
    rows.push_back(make("sort", Work::kSort, t, power(20), {1.3, 0}));
    rows.push_back(make("sort", Work::kSort, t, power(24), {1.3, 0}));
  }
  for (const uint32_t log2 : {24u, 26u, 28u}) rows.push_back(make("sort", Work::kLowMemory, GSORT_U32, power(log2)));
  rows.push_back(make("sort", Work::kLowMemory, GSORT_U64, power(28)));
  for (const uint32_t log2 : {24u, 28u}) {
    rows.push_back(make_pairs(GSORT_U32, 4, power(log2), {}));
    rows.back().work = Work::kLowMemory;
  }
  rows.push_back(make_pairs(GSORT_U64, 8, power(27), {}));
  rows.back().work = Work::kLowMemory;
}

void add_sort_distribution_rows(std::vector<Row> &rows) {
  struct Case {
    Distribution d;
    double ratio;
  };
  const Case cases[] = {
      {Distribution::kConstant, 5},         {Distribution::kSorted, 5},         {Distribution::kReverse, 2},
      {Distribution::kBits16Low, 1.8},      {Distribution::kBits16Middle, 1.8}, {Distribution::kBits16High, 1.8},
      {Distribution::kBits16Spread, 1.8},   {Distribution::kAnd1, 1.2},         {Distribution::kAnd3, 1.2},
      {Distribution::kAnd9, 1.2},           {Distribution::kZipf, 1.2},         {Distribution::kZipfScrambled, 1.2},
      {Distribution::kTwoValues, 1.2},      {Distribution::kStaggered, 1.2},    {Distribution::kNearlySorted, 1.2},
      {Distribution::kOrganPipe, 1.2},      {Distribution::kSawtooth, 1.2},     {Distribution::kPrefix8, 1.2},
      {Distribution::kPrefix15, 1.2},       {Distribution::kHotBucket, 1.2},    {Distribution::kHalfBucket, 1.2},
      {Distribution::kHalvingBuckets, 1.2},
  };
  for (const Case &c : cases) rows.push_back(make("sort-dist", Work::kSort, GSORT_U32, power(28), {c.ratio, 0}, c.d));
  for (const Distribution d : {Distribution::kConstant, Distribution::kSorted, Distribution::kReverse,
                               Distribution::kTwoValues, Distribution::kNans, Distribution::kNarrow}) {
    rows.push_back(make("sort-dist", Work::kSort, GSORT_F32, power(28), {1.2, 0}, d));
  }
  for (const Distribution d : {Distribution::kConstant, Distribution::kSorted, Distribution::kZipf,
                               Distribution::kPrefix15, Distribution::kHalvingBuckets}) {
    rows.push_back(make("sort-dist", Work::kSort, GSORT_U64, power(27), {1.2, 0}, d));
    Row pairs = make_pairs(GSORT_U32, 4, power(27), {1.2, 0});
    pairs.suite = "sort-dist";
    pairs.distribution = d;
    rows.push_back(pairs);
  }
}

// Every kind of data beside uniform, for keys, pairs and argsorts, at four sizes: does the speed hold?
void add_distribution_table_rows(std::vector<Row> &rows) {
  const Distribution kinds[] = {
      Distribution::kUniform,      Distribution::kNormal,         Distribution::kExponential,
      Distribution::kLogUniform,   Distribution::kPrices,         Distribution::kZeros,
      Distribution::kLogSizes,     Distribution::kTimestamps,     Distribution::kText,
      Distribution::kWordHashes,   Distribution::kZipf,           Distribution::kZipfScrambled,
      Distribution::kFew256,       Distribution::kFew65536,       Distribution::kFew16777216,
      Distribution::kPercents,     Distribution::kClusters,       Distribution::kTwoValues,
      Distribution::kAnd1,         Distribution::kAnd3,           Distribution::kAnd9,
      Distribution::kBits16Spread, Distribution::kStaggered,      Distribution::kNearlySorted,
      Distribution::kOrganPipe,    Distribution::kSawtooth,       Distribution::kHotBucket,
      Distribution::kHalfBucket,   Distribution::kHalvingBuckets, Distribution::kConstant,
      Distribution::kSorted,       Distribution::kReverse,
  };
  for (const uint32_t log2 : {20u, 22u, 24u, 28u}) {
    for (const Distribution d : kinds) {
      const Goal keys{1.3, 0}, pairs{1.2, 0};
      for (const gsort_dtype t : {GSORT_U32, GSORT_F32, GSORT_U64}) {
        rows.push_back(make("data", Work::kSort, t, power(log2), keys, d));
      }
      for (const gsort_dtype t : {GSORT_U32, GSORT_U64}) {
        rows.push_back(make_pairs(t, dtype_bytes(t), power(log2), pairs));
        rows.back().suite = "data";
        rows.back().distribution = d;
      }
      for (const gsort_dtype t : {GSORT_F32, GSORT_F64})
        rows.push_back(make("data", Work::kArgsort, t, power(log2), pairs, d));
    }
  }
}

void add_merge_rows(std::vector<Row> &rows) {
  for (const gsort_dtype t : {GSORT_U32, GSORT_U64}) {
    for (const uint32_t log2 : {12u, 16u, 20u, 24u, 28u}) {
      for (const uint64_t ratio : {1u, 100u, 10000u}) {
        if (power(log2) <= ratio) continue;
        rows.push_back(make("merge", Work::kMerge, t, power(log2), {1.1, 0}, Distribution::kSorted));
        rows.back().merge_ratio = ratio;
      }
    }
  }
}

void add_segment_rows(std::vector<Row> &rows) {
  for (const uint64_t items : {10u, 100u, 1000u, 3000u, 10000u, 100000u, 1000000u, 0u}) {
    Row row = make("segments", Work::kSegments, GSORT_U32, power(26), {1, 0});
    row.segment_items = items;
    rows.push_back(row);
  }
}

namespace {

// Top-k of the rows of a matrix, which may be of different lengths.
void add_matrix_rows(std::vector<Row> &rows) {
  for (const uint64_t k : {1u, 10u, 256u, 2048u}) {
    rows.push_back(make_topk_rows(64, 32000, k));
    rows.push_back(make_topk_rows(1024, 32000, k));
    if (k <= 1024) rows.push_back(make_topk_rows(8192, 1024, k));
    rows.push_back(make_topk_rows(100, power(20), k));
    rows.push_back(make_topk_rows(1, power(24), k));
  }
  for (const uint64_t k : {10u, 256u}) {
    for (const uint64_t columns : {1024u, 32000u, 1048576u}) {
      Row row = make_topk_rows(columns == 1024 ? 8192 : columns == 32000 ? 1024 : 100, columns, k);
      row.by_offsets = true;
      rows.push_back(row);
    }
  }
}

}  // namespace

void add_select_rows(std::vector<Row> &rows) {
  rows.push_back(make("select", Work::kReadCeiling, GSORT_F32, power(28)));
  for (const uint64_t k : {10u, 256u, 4096u, 65536u}) {
    rows.push_back(make_topk(GSORT_F32, power(28), k, {0, 0.45}));
  }
  Row against_sort = make_topk(GSORT_F32, power(28), 256, {0, 0.45});
  against_sort.peer = Peer::kSortAll;
  rows.push_back(against_sort);
  for (const Distribution d :
       {Distribution::kNormal, Distribution::kConstant, Distribution::kSorted, Distribution::kReverse,
        Distribution::kTwoValues, Distribution::kInfinities, Distribution::kNans, Distribution::kNarrow,
        Distribution::kZipf, Distribution::kSampleLow, Distribution::kSampleHigh}) {
    for (const uint64_t k : {256u, 65536u}) rows.push_back(make_topk(GSORT_F32, power(28), k, {0, 0.9}, d));
  }
  rows.push_back(make_topk(GSORT_F32, power(24), 256, {0, 0.06}));
  rows.push_back(make_topk(GSORT_F32, power(20), 256, {0, 0.030}));
  rows.push_back(make_topk(GSORT_F32, power(16), 256, {0, 0.020}));
  for (const uint64_t k : {10000u, 65536u}) rows.push_back(make_topk(GSORT_F32, power(20), k, {1, 0}));
  rows.push_back(make_topk(GSORT_F32, power(16), 2048, {1, 0}));
  rows.push_back(make_topk(GSORT_F32, power(28), power(20), {1, 0}));
  for (const uint64_t k : {power(26), power(27), power(28)}) {
    Row row = make_topk(GSORT_F32, power(28), k, {});
    row.peer = Peer::kSortAll;
    rows.push_back(row);
  }
  add_matrix_rows(rows);
  for (gsort_dtype t = GSORT_U8; t <= GSORT_F64; ++t) {
    for (const bool smallest : {false, true}) {
      Row row = make_topk(t, power(27), 256, {});
      row.smallest = smallest;
      rows.push_back(row);
    }
  }
}

void add_sum_rows(std::vector<Row> &rows) {
  rows.push_back(make("sum", Work::kReadCeiling, GSORT_F32, power(28)));
  rows.push_back(make("sum", Work::kSum, GSORT_F32, power(28), {0, 0.30}));
  rows.push_back(make("sum", Work::kSum, GSORT_F32, power(28), {0, 0.30}, Distribution::kNormal));
  rows.push_back(make("sum", Work::kSum, GSORT_F32, power(30), {0, 1.10}));
  rows.push_back(make("sum", Work::kSum, GSORT_F32, uint64_t{1536} * 20480, {1, 0.035}));
  for (const uint32_t log2 : {24u, 20u, 16u}) {
    rows.push_back(make("sum", Work::kSum, GSORT_F32, power(log2), {1, 0}));
  }
  for (const gsort_dtype t : {GSORT_F64, GSORT_F16, GSORT_BF16, GSORT_U32, GSORT_I32, GSORT_U64, GSORT_U16, GSORT_U8}) {
    rows.push_back(make("sum", Work::kSum, t, power(28), read_goal(t, power(28))));
  }
  for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX, GSORT_MEAN}) {
    rows.push_back(make_reduce(op, GSORT_F32, power(28)));
  }
  rows.push_back(make_reduce(GSORT_MIN, GSORT_U32, power(28)));
  rows.push_back(make_reduce(GSORT_ARGMAX, GSORT_U32, power(28)));
  rows.push_back(make("sum", Work::kCopyCeiling, GSORT_F32, power(28)));
  // These have no peer, whose reads between gsort's would leave part of the array in the L2 cache: the ceiling is
  // measured alone, too.
  for (const gsort_dtype t : {GSORT_U8, GSORT_U16, GSORT_BF16}) {
    if (t != GSORT_BF16) rows.push_back(make("sum", Work::kReadCeiling, t, power(28)));
    rows.push_back(make_reduce(GSORT_ARGMIN, t, power(28)));
    rows.back().goal = {0, 0, 0.9};
  }
  for (const gsort_dtype t : {GSORT_F32, GSORT_U32, GSORT_U64, GSORT_U16, GSORT_U8}) {
    // 75% of the copy ceiling, 4249 GB/s on an H200.
    const double goal_ms = 2.0 * static_cast<double>(power(28) * dtype_bytes(t)) / (0.75 * 4249e6);
    rows.push_back(make("sum", Work::kScan, t, power(28), {0, goal_ms}));
    rows.push_back(rows.back());
    rows.back().exclusive = true;
    if (dtype_bytes(t) == 4) rows.push_back(make("sum", Work::kScan, t, power(16), {0, 0.010}));
  }
}

void add_large_rows(std::vector<Row> &rows) {
  rows.push_back(make("large", Work::kSort, GSORT_U32, power(31) + 3, {1.6, 0}));
  rows.push_back(make("large", Work::kSort, GSORT_U32, power(32) + 3, {1.6, 0}));
}

namespace {

void add_quick_rows(std::vector<Row> &rows) {
  for (const uint32_t log2 : {12u, 16u, 20u, 24u, 28u}) {
    rows.push_back(make("quick", Work::kSort, GSORT_U32, power(log2), sort_goal(log2)));
  }
  rows.push_back(make("quick", Work::kCopyCeiling, GSORT_U32, power(28)));
  rows.push_back(make("quick", Work::kSort, GSORT_F32, power(26)));
  rows.push_back(make("quick", Work::kSort, GSORT_U64, power(26)));
  for (Row row : {make_pairs(GSORT_U32, 4, power(26), {}), make_topk(GSORT_F32, power(28), 256, {0, 0.45})}) {
    row.suite = "quick";
    rows.push_back(row);
  }
  rows.push_back(make("quick", Work::kSum, GSORT_F32, power(28), {0, 0.30}));
  rows.push_back(make("quick", Work::kScan, GSORT_F32, power(26)));
}

}  // namespace

std::vector<Row> rows_of_suite(const std::string &suite) {
  std::vector<Row> rows;
  const bool full = suite == "full";
  if (suite == "quick") add_quick_rows(rows);
  if (full || suite == "sort") add_sort_rows(rows);
  if (full || suite == "sort-dist") add_sort_distribution_rows(rows);
  if (suite == "data") add_distribution_table_rows(rows);
  if (full || suite == "merge") add_merge_rows(rows);
  if (full || suite == "segments") add_segment_rows(rows);
  if (full || suite == "select") add_select_rows(rows);
  if (full || suite == "sum") add_sum_rows(rows);
  if (full || suite == "large") add_large_rows(rows);
  return rows;
}

std::string row_name(const Row &row) {
  static const char *const reductions[] = {"?", "min", "max", "argmin", "argmax", "mean"};
  const std::string type = dtype_name(row.t);
  switch (row.work) {
    case Work::kSort:
      return "sort " + type;
    case Work::kSortPairs:
      return "pairs " + type + "+" + std::to_string(8 * row.value_bytes) + "b";
    case Work::kArgsort:
      return "argsort " + type;
    case Work::kMerge:
      return "merge " + type + (row.merge_ratio > 1 ? " " + std::to_string(row.merge_ratio) + ":1" : "");
    case Work::kSegments:
      return "segments " + type + " of " + (row.segment_items > 0 ? std::to_string(row.segment_items) : "mixed sizes");
    case Work::kTopk:
      return "topk " + type + " k=" + std::to_string(row.k) + (row.smallest ? " smallest" : "");
    case Work::kTopkRows:
      return (row.by_offsets ? "topk segments " : "topk rows ") + type + " " + std::to_string(row.rows) + "x" +
             std::to_string(row.columns()) + " k=" + std::to_string(row.k);
    case Work::kSum:
      return "sum " + type;
    case Work::kReduce:
      return std::string(reductions[row.reduce_op]) + " " + type;
    case Work::kScan:
      return "scan " + type + (row.exclusive ? " exclusive" : "");
    case Work::kCopyCeiling:
      return "copy ceiling " + type;
    case Work::kReadCeiling:
      return "read ceiling " + type;
    case Work::kFirstCall:
      return "first call sort " + type;
    case Work::kLowMemory:
      return "low-memory " + (row.value_bytes == 0 ? "sort " + type
                                                   : "pairs " + type + "+" + std::to_string(8 * row.value_bytes) + "b");
  }
  return "?";
}

}  // namespace gsort_bench
