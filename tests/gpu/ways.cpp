// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gpu/ways.h"

#include <algorithm>
#include <iterator>

namespace gsort_test {
namespace {

using D = Distribution;
using Calls = std::vector<WayCall>;

const std::vector<D> kOfAnySort = {D::kUniform, D::kZipf, D::kAnd3, D::kSmallRange, D::kSorted, D::kStaggered};

bool narrow(gsort_dtype t) { return element_type(t).bytes < 4; }
bool wide(gsort_dtype t) { return element_type(t).bytes == 8; }

void add(Calls &calls, WayCall call, bool in_place, uint32_t flags) {
  call.in_place = in_place;
  call.flags = flags;
  calls.push_back(call);
}

// Upwards and downwards, one of them in place where there is such a thing.
void add_both(Calls &calls, const WayCall &call) {
  const bool in_place =
      call.called == Called::kSort || call.called == Called::kPairs || call.called == Called::kSegments;
  const uint64_t turn = calls.size() / 2 % 2;
  add(calls, call, in_place && turn == 0, 0);
  add(calls, call, in_place && turn == 1, GSORT_DESCENDING);
}

// Up to 2^20 keys: on chip, or by all passes in one launch.
void add_short_sorts(Calls &calls, gsort_dtype t) {
  for (const uint64_t n : {2, 64}) add_both(calls, {Called::kSort, t, n, "rank sort in one block"});
  add_both(calls, {Called::kSort, t, 900, ": sort in one block"});
  add_both(calls, {Called::kSort, t, wide(t) ? 4000u : 8000u, ": sort in one block"});
  if (!narrow(t)) {
    add_both(calls, {Called::kSort, t, 20000, "sample sort by the blocks of a grid"});
    add_both(calls, {Called::kSort, t, 200000, "sample sort by the blocks of a grid"});
  }
  if (wide(t)) add_both(calls, {Called::kSort, t, 500000, "sample sort by the blocks of a grid"});
  const char *long_way = narrow(t) || t == GSORT_F32 ? "LSD radix sort by the blocks of a grid, "
                                                     : "by the blocks of a grid, or one pass to 256 cells";
  if (wide(t)) long_way = t == GSORT_F64 ? ": sample sort, 1024 bins" : "256 cells of even keys by a grid, ";
  add_both(calls, {Called::kSort, t, 600000, long_way});
}

// The ways that begin at 2^20 keys, each on data that it is for and on data that it hands on.
void add_long_sorts(Calls &calls) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_I8}) add_both(calls, {Called::kSort, t, 3000000, "count and fill"});
  for (const gsort_dtype t : {GSORT_I16, GSORT_F16}) {
    add_both(calls, {Called::kSort, t, 1500000, ": LSD radix sort; LSD: 2 digits"});
    add_both(calls, {Called::kSort, t, 7000000, "count and fill"});
  }
  for (const D keys : kOfAnySort) {
    add_both(calls, {Called::kSort, GSORT_I32, 1500001, "or one pass to 256 cells of even keys, ", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_F32, 1500001, "by the blocks of a grid, 123 blocks", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_F32, 2500001, ": sample sort, 1024 bins, held by 123 blocks", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_U32, 2500001, "even keys before it by an MSD partition", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_F32, 4300001, ": LSD radix sort; LSD: 4 digits", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_I32, 4300001, "partition by 9 + 0 bits", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_F32, 9000001, ": LSD radix sort; LSD: 4 digits", 0, 1, keys});
    add_both(calls,
             {Called::kSort, GSORT_I32, 5000001, ", 0 for uneven keys by a map, partition by 5 + 5", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_U32, 8400001, "2048 for uneven keys by a map, partition by", 0, 1, keys});
    add_both(calls,
             {Called::kSort, GSORT_F32, 10000001, "for uneven keys by a map, partition by 6 + 5 bits", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_I64, 900001, "held by 126 blocks, or one pass to 256 cells of", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_U64, 3000001, "even keys before it by an MSD partition", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_F64, 3000001, ": sample sort, 1024 bins", 0, 1, keys});
    add_both(calls, {Called::kSort, GSORT_F64, 5000001, "; LSD: 8 digits, tiles of", 0, 1, keys});
  }
  constexpr uint64_t kFastPath = (uint64_t{1} << 24) + 3;
  const char *const fast = "fast path for ordered keys and combinations of up to 16 bits";
  for (const D keys : {D::kUniform, D::kZipf, D::kAnd3, D::kSmallRange, D::kReverse, D::kNearlySorted}) {
    add(calls, {Called::kSort, GSORT_U32, kFastPath, fast, 0, 1, keys}, calls.size() % 2 == 0, GSORT_DESCENDING);
    add(calls, {Called::kSort, GSORT_F64, kFastPath, fast, 0, 1, keys}, calls.size() % 2 == 0, 0);
  }
  // Of so many keys frequent values are looked for.
  add(calls, {Called::kSort, GSORT_I32, (uint64_t{1} << 26) + 5, "partition by 7 + 6 bits", 0, 1, D::kZipf}, true, 0);
}

void add_short_pairs(Calls &calls, gsort_dtype t) {
  for (const uint64_t value_bytes : {4, 8, 12}) {
    add_both(calls, {Called::kPairs, t, 60, "rank sort in one block", value_bytes});
    add_both(calls, {Called::kPairs, t, wide(t) ? 2000u : 4000u, ": sort in one block", value_bytes});
    const char *const some =
        narrow(t) ? "LSD radix sort by the blocks of a grid" : "sample sort by the blocks of a grid";
    add_both(calls, {Called::kPairs, t, 70000, some, value_bytes});
    add_both(calls, {Called::kPairs, t, 600000, "LSD radix sort by the blocks of a grid", value_bytes});
  }
  for (const Called called : {Called::kArgsort, Called::kRank})
    add_both(calls, {called, t, 600000, "LSD radix sort by the blocks of a grid"});
}

void add_long_pairs(Calls &calls) {
  const char *const passes = ": LSD radix sort; LSD: ";
  for (const gsort_dtype t : {GSORT_I8, GSORT_F16, GSORT_F32, GSORT_U64})
    for (const uint64_t value_bytes : {1, 4, 8, 20})
      if (t != GSORT_U64 || value_bytes != 8) add_both(calls, {Called::kPairs, t, 1500001, passes, value_bytes});
  for (const Called called : {Called::kArgsort, Called::kRank})
    for (const gsort_dtype t : {GSORT_U8, GSORT_BF16, GSORT_I32, GSORT_F64})
      add_both(calls, {called, t, 1500001, passes});
  for (const gsort_dtype t : {GSORT_U8, GSORT_F32})
    for (const uint64_t value_bytes : {1, 2})
      add_both(calls, {Called::kPairs, t, 4200001, "values widened to 4 bytes", value_bytes});
  for (const gsort_dtype t : {GSORT_U16, GSORT_F32})
    for (const D keys : {D::kUniform, D::kNearlySorted, D::kSmallRange})
      add(calls, {Called::kRank, t, 15100001, "ranks by windows of 2^", 0, 1, keys}, false, 0);
  // Of few values and of crowds the passes behind are taken.
  const char *const few = "a radix sort behind it, 512 bins", *const many = "a radix sort behind it, 1024 bins";
  for (const D keys : {D::kUniform, D::kZipf, D::kAnd3, D::kNearlySorted, D::kSmallRange}) {
    add_both(calls, {Called::kPairs, GSORT_F64, 1500001, few, 8, 1, keys});
    add_both(calls, {Called::kPairs, GSORT_U64, 2500001, many, 4, 1, keys});
    add_both(calls, {Called::kArgsort, GSORT_F64, 2000001, few, 0, 1, keys});
  }
  add(calls, {Called::kPairs, GSORT_I64, 4100001, many, 20}, true, GSORT_DESCENDING);
  add(calls, {Called::kRank, GSORT_F64, 3000001, many, 0, 1, D::kNans}, false, GSORT_NAN_LAST);
  constexpr uint64_t kStable4 = (uint64_t{1} << 24) + 3, kStable8 = (uint64_t{1} << 23) + 3;
  const char *const stable = ": stable MSD partition sort";
  for (const D keys : {D::kUniform, D::kZipf, D::kNearlySorted}) {
    add(calls, {Called::kPairs, GSORT_F32, kStable4, stable, 4, 1, keys}, keys == D::kZipf, GSORT_DESCENDING);
    add(calls, {Called::kPairs, GSORT_I64, kStable8, stable, 8, 1, keys}, keys != D::kZipf, 0);
  }
  add(calls, {Called::kPairs, GSORT_U32, kStable4, "and up to 256 values", 8, 1, D::kSmallRange}, true, 0);
  add(calls, {Called::kPairs, GSORT_U32, kStable4, "with 4 bytes each: stable MSD", 12}, true, GSORT_DESCENDING);
  add(calls, {Called::kArgsort, GSORT_I32, kStable4, stable}, false, 0);
  add(calls, {Called::kArgsort, GSORT_F64, kStable8, stable, 0, 1, D::kNans}, false, GSORT_NAN_LAST);
  // Doubles in [0, 1), which are cut by a map.
  add(calls, {Called::kArgsort, GSORT_F64, kStable8, stable, 0, 1, D::kSmallRange}, false, 0);
  add(calls, {Called::kPairs, GSORT_F64, kStable8, stable, 8, 1, D::kSmallRange}, true, GSORT_DESCENDING);
  add(calls, {Called::kRank, GSORT_F32, kStable4, stable, 0, 1, D::kSmallRange}, false, GSORT_DESCENDING);
}

// With an eighth of the bytes; of keys alone one more than whole bricks.
void add_little_memory(Calls &calls) {
  const char *const buckets = " in place, with ", *const pairs = " with their values in place, with ";
  const WayCall some[] = {{Called::kSort, GSORT_U16, 8400001, "of scratch memory, by counting"},
                          {Called::kSort, GSORT_U32, 4100 * 1024 + 1, buckets},
                          {Called::kSort, GSORT_F32, 4100 * 1024 + 1, buckets, 0, 1, D::kAnd3},
                          {Called::kSort, GSORT_I64, 2200 * 1024 + 1, buckets, 0, 1, D::kZipf},
                          {Called::kPairs, GSORT_I32, 16800001, pairs, 4},
                          {Called::kPairs, GSORT_F64, 8400001, pairs, 8, 1, D::kSmallRange},
                          {Called::kPairs, GSORT_U32, 6800001, pairs, 16, 1, D::kStaggered}};
  for (WayCall call : some) {
    call.little_memory = true;
    add(calls, call, true, calls.size() % 2 == 0 ? GSORT_DESCENDING : 0);
  }
}

void add_merges(Calls &calls, gsort_dtype t) {
  for (const uint64_t n : {900, 70000}) add_both(calls, {Called::kMerge, t, n, ", one grid of"});
  const char *const long_way = narrow(t) ? ", in groups of" : ", in a ring of";
  const uint64_t many = narrow(t) ? 9000001 : wide(t) ? 2500001 : 5000001;
  for (const D keys : {D::kUniform, D::kSmallRange}) add_both(calls, {Called::kMerge, t, many, long_way, 0, 1, keys});
}

void add_segments(Calls &calls, gsort_dtype t) {
  const char *const says = element_type(t).bytes == 1 ? " by counts of a warp, more by LSD passes"
                           : narrow(t)                ? " by a block, more by LSD passes"
                                                      : "by merges of runs of warps, more by partitions or by LSD";
  for (const uint64_t n : {20000, 70000, 2000000}) {
    add_both(calls, {Called::kSegments, t, n, says, 0, 0});
    add_both(calls, {Called::kSegments, t, n, says, 0, 1, D::kZipf});
    add_both(calls, {Called::kSegments, t, n, says, 0, 3, D::kAllEqual});
    add_both(calls, {Called::kSegments, t, n, "sort of segments on the GPU", 0, 100});
  }
  if (element_type(t).bytes >= 4) {
    const bool is_wide = wide(t);
    add_both(calls, {Called::kSegments, t, 2000000, is_wide ? "up to 12288 by merges" : "up to 24576 by merges", 0,
                     uint64_t{is_wide ? 250u : 130u}});
  }
  if (element_type(t).bytes == 2) {
    add_both(calls, {Called::kSegments, t, 8400001, "by merges of runs of warps, more by LSD", 0, 0});
    add_both(calls, {Called::kSegments, t, 8400001, "by merges of runs of warps, more by LSD", 0, 4000});
    add_both(calls, {Called::kSegments, t, 8400001, "up to 24576 by merges of runs of warps", 0, 600});
  }
}

// The selections of one array.
void add_topk(Calls &calls, gsort_dtype t) {
  const auto one = [&](uint64_t n, uint64_t k, const char *says, D keys = D::kUniform) {
    calls.push_back({Called::kTopk, t, n, says, k, 1, keys, calls.size() % 2 == 0 ? GSORT_SMALLEST : 0});
  };
  const bool eight = wide(t);
  const uint32_t bytes = element_type(t).bytes;
  const uint64_t few = bytes == 1 ? 30 : 200;  // of more the array is sorted
  one(500, 8, " lanes a row");
  one(8000, bytes == 1 ? 10 : 100, "8 warps a row, bound by groups");
  one(12000, bytes == 1 ? 10 : 100, eight ? "which is its own sample" : "16 warps a row, bound by groups");
  one(60000, 1, "the best of a row by ");
  one(60000, few / 2 + 10, "1 teams of ");
  one(narrow(t) ? 100000 : 50000, few, " blocks (clusters), sample of");
  one(900000, few, " blocks, sample of 900000,");
  one(900000, few, " blocks, sample of 900000,", D::kSmallRange);
  one(900000, bytes == 1 ? 80 : bytes == 2 ? 400 : 700, " blocks, sample of 900000,");
  one(10000000, 10, " blocks, sample of ");
  one(10000000, 10, " blocks, sample of ", D::kAllEqual);
  one(10000000, 2000, " blocks, sample of ");
  one(3000000, 2900000, ": sort of pairs");
  one(9000000, 2200000,
      narrow(t)    ? ": sort of pairs"
      : bytes == 4 ? "selection by a sample, then a sort"
                   : "exact selection, then a sort");
  if (narrow(t)) {
    one(8000, 500, bytes == 1 ? ": sort of pairs" : ": one block of ");
  } else {
    one(8000, 500, ": sort of pairs");
    one(600000, 1500, "buckets by the blocks of a grid");
    one(600000, 50000, "buckets by the blocks of a grid", D::kZipf);
    one(1000000, 120000, "buckets by the blocks of a grid", D::kStaggered);
  }
  one(600000, 200000, ": sort of pairs");
  one(2000000, 150000,
      eight       ? "selection by a sample, then a sort"
      : narrow(t) ? ": sort of pairs"
                  : "150000 listed by ");
  const char *const listed = eight ? "selection by a sample, then a sort" : " listed by ";
  const char *const tiles = narrow(t) ? listed : "buckets by the blocks of a grid that read tiles";
  for (const D keys : {D::kUniform, D::kSorted, D::kZipf, D::kSmallRange})
    one(narrow(t) ? 6500000 : 3000000, 5000, tiles, keys);
  if (!narrow(t)) {
    one(1048577, 2049, tiles, D::kReverse);
    one(2100000, 60000, tiles, D::kNearlySorted);
  }
  for (const D keys : {D::kUniform, D::kSorted}) one(9000000, 5000, listed, keys);
}

// Of rows, and of rows of different lengths.
void add_topk_rows(Calls &calls, gsort_dtype t) {
  const auto rows = [&](uint64_t number, uint64_t columns, uint64_t k, const char *says, D keys = D::kUniform) {
    const uint32_t flags = calls.size() % 2 == 0 ? GSORT_SMALLEST : 0;
    calls.push_back({Called::kTopkRows, t, number * columns, says, k, number, keys, flags});
  };
  rows(700, 300, 20, " lanes a row");
  rows(300, 40, 20, "8 lanes a row, which they sort");
  rows(1100, 100, 50, "8 lanes a row, which they sort", D::kSmallRange);
  rows(17000, 200, 100, wide(t) ? "one warp a row" : "16 lanes a row, which they sort");
  rows(600, 400, 60, "one warp a row, bound by 4 groups a lane");
  rows(600, 1000, 60, "one warp a row, bound by 4 groups a lane", D::kZipf);
  rows(600, 1000, 100, element_type(t).bytes == 1 ? "one warp a row" : "row, bound by 8 groups a lane");
  rows(600, 1000, 200, "one warp a row");
  rows(1100, 1000, 1, "the best of a row by a warp");
  rows(300, 50000, 1, "the best of a row by ", D::kSmallRange);
  rows(2, 600000, 1, "the best of a row by ");
  rows(20, 3000, 60, "4 warps a row, bound by groups");
  rows(600, 1500, 80, "2 warps a row, bound by groups");
  rows(1100, 3000, 250, "4 warps a row, bound by groups", D::kZipf);
  rows(200, 20000, 60,
       element_type(t).bytes == 1 ? "which is its own sample" : "3 parts a row, one block of 8 warps each",
       D::kSmallRange);
  rows(130, 60000, 8, "which is its own sample", D::kZipf);
  const bool held = element_type(t).bytes != 1;
  rows(20, 3000, 300, held ? "512 threads a row, which it holds" : "512 threads a row, which it lists");
  rows(300, 1500, 700, held ? "512 threads a row, which it holds" : "256 threads a row, which it lists");
  rows(200, 9000, 60, wide(t) ? "2 parts a row, one block of 8 warps each" : "16 warps a row, bound by groups");
  rows(1100, 9000, 150, "threads a row, bound by a sample");
  rows(70, 20000, 300, "512 threads a row, bound by a sample");
  rows(300, 2500, 200, "256 threads a row, bound by a sample", D::kZipf);
  rows(600, 1500, 200, "128 threads a row, bound by a sample");
  rows(20, 100000, 2000, "a row, bound by two samples");
  rows(3, 100000, 100, wide(t) ? "13 parts a row" : "3 teams of ");
  rows(24, 130000, 50, narrow(t) ? "24 teams of 4 blocks (clusters)" : "16 parts a row, one block of 8 warps each");
  if (!wide(t)) rows(50, 120000 / element_type(t).bytes, 8, "50 teams of 2 blocks (clusters)", D::kZipf);
  rows(5, 400000, 1000, "5 teams of ", D::kZipf);
  rows(3, 600000, 100000, "3 teams of ");
  if (wide(t)) rows(3, 600000, 200000, " blocks, sample of 0,");
  rows(2, 3000000, 200, "2 teams of ");
  if (!narrow(t)) rows(22, 300000, 64, "37 parts a row");
  rows(2, 1000000, 300000, "exact selection, then a sort");
  const auto segments = [&](uint64_t n, uint64_t number, uint64_t k) {
    calls.push_back({Called::kTopkSegments, t, n, "top-k of segments: ", k, number, D::kUniform,
                     calls.size() % 2 == 0 ? GSORT_SMALLEST : 0});
  };
  segments(90000, 100, 20);      // registers of warps
  segments(90000, 100, 200);     // warps
  segments(70000, 0, 40);        // most classes
  segments(300000, 6000, 8);     // some lanes of a warp
  segments(500000, 6000, 15);    // more of them
  segments(2000000, 0, 300);     // all of them
  segments(2000000, 3, 40);      // long rows
  segments(2000000, 200, 1000);  // blocks
  segments(5000000, 4500, 8);    // lists by length
  segments(3000000, 1300, 100);  // of longer ones
  segments(9000000, 700, 1);     // of any length
  segments(9000000, 90, 20);     // parts of rows
  segments(5000000, 20000, 50);  // by many blocks
  segments(600000, 2, 10000);    // by all blocks for the sake of k
}

void add_sums(Calls &calls, gsort_dtype t) {
  const bool is_float = element_type(t).is_float;
  for (uint64_t op = 0; op <= GSORT_MEAN; ++op) {
    // Sums of doubles have smaller tiles than the others.
    const bool sums = op == 0 || op == GSORT_MEAN;
    const uint64_t tile = (t == GSORT_F64 && sums ? 8192u : 16384u) / element_type(t).bytes;
    calls.push_back({Called::kReduce, t, tile - 3, " by one block of 1 blocks", op});
    calls.push_back({Called::kReduce, t, tile * 5 + 3, " by one cluster of 8 blocks", op});
    const D keys = is_float && sums ? D::kWideExponents : is_float ? D::kNans : D::kSmallRange;
    calls.push_back({Called::kReduce, t, tile * 300 + 3, " by a grid of ", op, 1, keys});
    calls.push_back({Called::kReduce, t, tile * 30 + 3, " by a grid of ", op});
    if (!sums && is_float) calls.back().flags = GSORT_NAN_LAST;
  }
}

void add_scans(Calls &calls, gsort_dtype t) {
  const uint32_t bytes = element_type(t).bytes;
  const auto both = [&](uint64_t n, const char *says) {
    add(calls, {Called::kScan, t, n, says}, false, 0);
    add(calls, {Called::kScan, t, n, says}, true, GSORT_EXCLUSIVE);
  };
  if (element_type(t).is_float) {
    both(5000, "a block a tile of 1 blocks");
    both(20000, "a cluster of 4 blocks");
    both(65000, "a cluster of 8 blocks");
    both(300000, "a block a tile of 37 blocks");
    both(7000000, bytes == 8 ? "a block a tile of 855 blocks" : "a pipeline of ");
    return;
  }
  both(1000, " tiles of 30720 bytes, 1 blocks");
  if (bytes <= 4) both(60000, "a cluster of 8 blocks");
  both(300000, " tiles of 30720 bytes, ");
  both(9000000, " tiles of 30720 bytes, 2");  // a tile of several for each of 264 blocks
}

}  // namespace

Calls calls_of_all_ways() {
  Calls calls;
  for (const gsort_dtype t : kAllTypes) {
    add_short_sorts(calls, t);
    add_short_pairs(calls, t);
    add_sums(calls, t);
    add_scans(calls, t);
  }
  for (const gsort_dtype t : {GSORT_U8, GSORT_F16, GSORT_I32, GSORT_F64}) {
    add_merges(calls, t);
    add_segments(calls, t);
  }
  for (const gsort_dtype t : {GSORT_I8, GSORT_BF16, GSORT_F32, GSORT_U64}) {
    add_topk(calls, t);
    add_topk_rows(calls, t);
  }
  add_long_sorts(calls);
  add_long_pairs(calls);
  add_little_memory(calls);
  return calls;
}

bool reads_the_same(const WayCall &a, const WayCall &b) {
  const auto sorted = [](const WayCall &call) { return call.called == Called::kMerge ? call.flags + 1 : 0; };
  return a.called == b.called && a.type == b.type && a.n == b.n && a.argument == b.argument && a.rows == b.rows &&
         a.keys == b.keys && sorted(a) == sorted(b);
}

uint64_t WayCall::input_bytes() const {
  return n * (element_type(type).bytes + (called == Called::kPairs ? argument : 0));
}

std::string WayCall::name() const {
  constexpr const char *kNames[] = {"sort",  "pairs",         "argsort",           "rank",   "merge", "segments",
                                    "top-k", "top-k of rows", "top-k of segments", "reduce", "scan"};
  std::string text = kNames[static_cast<int>(called)];
  text += std::string(" of ") + element_type(type).name + ", " + distribution_name(keys) + ", n = ";
  text += std::to_string(n) + ", argument " + std::to_string(argument) + ", rows " + std::to_string(rows);
  text += describe_flags(flags);
  return text + (in_place ? ", in place" : "") + (little_memory ? ", in little memory" : "");
}

std::vector<uint64_t> offsets_of(const WayCall &call) {
  std::vector<uint64_t> offsets = {0};
  if (call.rows != 0) {
    for (uint64_t row = 1; row <= call.rows; ++row) offsets.push_back(call.n / call.rows * row);
    return offsets;
  }
  constexpr uint64_t kLengths[] = {0, 7, 400, 800, 1500, 3000, 5000, 9000, 13000, 30, 70000, 1, 300000};
  for (size_t i = 0; offsets.back() < call.n; ++i)
    offsets.push_back(std::min(call.n, offsets.back() + kLengths[i % std::size(kLengths)]));
  return offsets;
}

WayArrays<uint64_t> array_sizes(const WayCall &call) {
  const uint64_t element = element_type(call.type).bytes, keys = call.n * element;
  WayArrays<uint64_t> sizes = {keys, 0, 0, keys, 0, 0};
  uint64_t found = call.argument;
  switch (call.called) {
    case Called::kPairs:
      sizes.values = sizes.values_out = call.n * call.argument;
      break;
    case Called::kArgsort:
    case Called::kRank:
      sizes.keys_out = 0, sizes.indices_out = call.n * 4;
      break;
    case Called::kReduce:
      sizes.keys_out = 8;
      break;
    case Called::kTopkSegments:
    case Called::kSegments:
      sizes.offsets = offsets_of(call).size() * 8;
      if (call.called == Called::kSegments) break;
      found *= offsets_of(call).size() - 1;
      sizes.keys_out = found * element, sizes.indices_out = found * 8;
      break;
    case Called::kTopk:
    case Called::kTopkRows:
      found *= call.rows;
      sizes.keys_out = found * element, sizes.indices_out = found * 8;
      break;
    default:
      break;
  }
  return sizes;
}

gsort_status run(gsort *g, const WayCall &c, const WayArrays<void *> &a) {
  const void *const keys = c.in_place ? a.keys_out : a.keys, *const values = c.in_place ? a.values_out : a.values;
  const uint64_t a_n = c.n / 3, columns = c.n / std::max<uint64_t>(c.rows, 1);
  const auto *const offsets = static_cast<const uint64_t *>(a.offsets);
  switch (c.called) {
    case Called::kSort:
      return gsort_sort(g, c.type, keys, a.keys_out, c.n, c.flags);
    case Called::kPairs:
      return gsort_sort_pairs(g, c.type, keys, a.keys_out, static_cast<uint32_t>(c.argument), values, a.values_out, c.n,
                              c.flags);
    case Called::kArgsort:
      return gsort_argsort(g, c.type, keys, c.n, GSORT_U32, a.indices_out, c.flags);
    case Called::kRank:
      return gsort_rank(g, c.type, keys, c.n, GSORT_U32, a.indices_out, c.flags);
    case Called::kMerge:
      return gsort_merge(g, c.type, a.keys, a_n, static_cast<const char *>(a.keys) + a_n * element_type(c.type).bytes,
                         c.n - a_n, a.keys_out, c.flags);
    case Called::kSegments:
      return gsort_sort_segments(g, c.type, keys, a.keys_out, c.n, offsets, offsets_of(c).size() - 1, c.flags);
    case Called::kTopk:
      return gsort_topk(g, c.type, keys, c.n, c.argument, a.keys_out, GSORT_U64, a.indices_out, c.flags);
    case Called::kTopkRows:
      return gsort_topk_rows(g, c.type, keys, c.rows, columns, columns, c.argument, a.keys_out, GSORT_U64,
                             a.indices_out, c.flags);
    case Called::kTopkSegments:
      return gsort_topk_segments(g, c.type, keys, c.n, offsets, offsets_of(c).size() - 1, c.argument, a.keys_out,
                                 GSORT_U64, a.indices_out, c.flags);
    case Called::kReduce:
      if (c.argument == 0) return gsort_sum(g, c.type, keys, c.n, a.keys_out, c.flags);
      return gsort_reduce(g, static_cast<uint32_t>(c.argument), c.type, keys, c.n, a.keys_out, c.flags);
    default:
      return gsort_scan(g, c.type, keys, a.keys_out, c.n, c.flags);
  }
}

}  // namespace gsort_test
