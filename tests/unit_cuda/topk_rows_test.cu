// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of many rows of one length: by warps, by blocks and by all blocks together, with padding between rows.
#include "topk_support.h"

namespace gsort_test {
namespace {

// A warp a row: lengths around those of a warp's steps, k around those of its sorts.
TEST_F(Topk, RowsByWarps) {
  uint64_t seed = 1900;
  for (gsort_dtype t : kAllTypes)
    for (Values values : kAllValues)
      for (uint64_t columns : {1, 2, 31, 32, 33, 100, 128, 129, 255, 257, 500, 992, 1023, 1024})
        for (uint64_t k : {1, 2, 31, 32, 33, 128, 129, 255, 256}) {
          if (k > columns || ++seed % 8 != 0) continue;
          Case c;
          c.t = t, c.values = values, c.rows = 1 + seed % 6, c.columns = columns, c.k = k, c.seed = ++seed;
          c.row_padding = seed % 3, c.greatest = seed % 2, c.nan_last = seed % 5 == 0, c.offset = seed % 4;
          c.index_t = seed % 7 == 0 ? GSORT_I64 : GSORT_U32, c.force.warp = true;
          c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
          run_case(c);
          if (HasFatalFailure()) return;
        }
  for (uint64_t k : {1, 10, 200}) {  // by itself
    Case c;
    c.rows = 3001, c.columns = 300, c.k = k, c.values = Values::kTwo;
    run_case(c);
  }
}

// Lengths around those of the shapes in registers, k around their lanes, and rows that fill a warp's lanes or do not.
TEST_F(Topk, RowsByLanes) {
  uint64_t seed = 2900;
  for (gsort_dtype t : kAllTypes)
    for (Values values : kAllValues)
      for (uint64_t columns : {1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1024})
        for (uint64_t k : {1, 4, 5, 8, 9, 16, 17, 31, 32}) {
          if (k > columns || ++seed % 8 != 0) continue;
          Case c;
          c.t = t, c.values = values, c.rows = 1 + seed % 37, c.columns = columns, c.k = k, c.seed = ++seed;
          c.row_padding = seed % 3, c.greatest = seed % 2, c.nan_last = seed % 5 == 0, c.offset = seed % 4;
          c.index_t = seed % 7 == 0 ? GSORT_I64 : GSORT_U32;
          c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
          run_case(c);
          if (HasFatalFailure()) return;
        }
  for (uint64_t k : {8, 20}) {
    Case c;
    c.rows = 30001, c.columns = 100, c.k = k, c.values = Values::kNarrow;
    run_case(c);
  }
}

void vary(Case &c, uint64_t seed) {
  c.seed = seed;
  c.row_padding = seed % 3, c.greatest = seed % 2, c.nan_last = seed % 5 == 0, c.offset = seed % 4;
  c.index_t = seed % 7 == 0 ? GSORT_I64 : GSORT_U32;
  c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
}

constexpr uint64_t kAllColumns = ~uint64_t{0};

// One in `every` of all types, values, lengths and k, with up to so many rows; force(options) names the way.
template <class Force>
void run_some(uint64_t seed, uint64_t every, uint64_t rows_max, const std::vector<uint64_t> &lengths,
              const std::vector<uint64_t> &ks, Force &&force) {
  for (gsort_dtype t : kAllTypes)
    for (Values values : kAllValues)
      for (uint64_t columns : lengths)
        for (uint64_t k : ks) {
          if (k == kAllColumns) k = columns;
          if (k > columns || ++seed % every != 0) continue;
          Case c;
          c.t = t, c.values = values, c.rows = 1 + seed % rows_max, c.columns = columns, c.k = k;
          vary(c, ++seed), force(c.force);
          run_case(c);
          if (Topk::HasFatalFailure()) return;
        }
}

// The same, sorted whole.
TEST_F(Topk, RowsBySortedLanes) {
  run_some(2930, 12, 37, {1, 2, 9, 63, 64, 65, 100, 127, 128, 129, 200, 255, 256}, {1, 17, 33, kAllColumns},
           [](topk::Options &force) { force.sorted_lanes = true; });
  if (HasFatalFailure()) return;
  for (uint64_t columns : {60, 120, 200}) {  // by themselves
    Case c;
    c.rows = 20001, c.columns = columns, c.k = 40 + columns / 4, c.values = Values::kUniform;
    run_case(c);
  }
}

// And bound by groups.
TEST_F(Topk, RowsByBoundLanes) {
  run_some(2960, 12, 37, {1, 33, 100, 128, 129, 300, 511, 512, 513, 700, 1000, 1023, 1024},
           {1, 2, 33, 63, 64, 65, 100, 128}, [](topk::Options &force) { force.bound_lanes = true; });
  if (HasFatalFailure()) return;
  for (uint64_t k : {40, 100}) {  // by themselves
    Case c;
    c.rows = 3001, c.columns = 1000, c.k = k, c.values = Values::kZipf;
    run_case(c);
  }
}

// A row of some thousand elements by a block, and shorter ones.
TEST_F(Topk, RowsByBoundBlocks) {
  run_some(2980, 16, 7, {1, 63, 300, 1025, 2047, 2048, 2049, 3000, 4096, 4097, 6000, 8192},
           {1, 2, 33, 64, 65, 128, 129, 200, 256}, [](topk::Options &force) { force.bound_rows = true; });
  if (HasFatalFailure()) return;
  for (uint64_t k : {20, 100, 250}) {  // by themselves
    Case c;
    c.rows = 3001, c.columns = 3000, c.k = k, c.values = Values::kZipf;
    run_case(c);
  }
}

// Rows in parts: two half full, as many as a block merges in turns, and parts of different lengths.
TEST_F(Topk, RowsInParts) {
  run_some(4200, 28, 7, {8193, 8224, 12289, 16384, 16385, 20001, 70003, 150001}, {2, 31, 32, 33, 64, 65, 100, 128},
           [](topk::Options &force) { force.parts = true; });
  if (HasFatalFailure()) return;
  uint64_t seed = 4300;
  for (const gsort_dtype t : {GSORT_F32, GSORT_U64, GSORT_BF16, GSORT_U8})
    for (const uint64_t columns : {(uint64_t{1} << 20) + 7, topk::kPartsRowMax}) {
      Case c;
      c.t = t, c.values = kAllValues[seed % std::size(kAllValues)], c.columns = columns, c.k = 3 + seed % 120;
      c.rows = columns == topk::kPartsRowMax ? 1 : 2;
      vary(c, ++seed), c.force.parts = true;
      run_case(c);
      if (HasFatalFailure()) return;
    }
  for (uint64_t k : {20, 100}) {  // by themselves
    Case c;
    c.rows = 40, c.columns = 50257, c.k = k, c.t = GSORT_F64, c.values = Values::kZipf;
    run_case(c);
  }
}

// The best one of each: by warps, blocks, clusters, and parts that meet in memory.
TEST_F(Topk, BestOfRows) {
  uint64_t seed = 3000;
  for (gsort_dtype t : kAllTypes)
    for (Values values : kAllValues)
      for (uint64_t columns : {1, 15, 1000, 1025, 4096, 5001, 40000, 200001, 600000}) {
        for (uint64_t rows : {1, 3, 20, 80}) {
          if (rows * columns > 2000000 || ++seed % 5 != 0) continue;
          Case c;
          c.t = t, c.values = values, c.rows = rows, c.columns = columns, c.k = 1;
          vary(c, ++seed), c.force.best = true;
          run_case(c);
          if (HasFatalFailure()) return;
        }
      }
  for (uint64_t columns : {700, 2000, 5000}) {  // by themselves, as many as warps do each
    Case c;
    c.rows = 5001, c.columns = columns, c.k = 1, c.values = Values::kTwo;
    run_case(c);
  }
}

TEST_F(Topk, RacecheckRowsByLanes) {
  for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8})
    for (Values values : {Values::kUniform, Values::kTwo, Values::kEnds})
      for (bool sorted : {false, true}) {
        Case c;
        c.t = t, c.values = values, c.rows = 70, c.columns = sorted ? 100 : 500, c.k = 60;
        c.force.sorted_lanes = sorted, c.force.bound_lanes = !sorted;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, RacecheckBoundBlocks) {
  for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8})
    for (Values values : {Values::kUniform, Values::kTwo, Values::kConstant})
      for (uint64_t k : {40, 120, 250}) {
        Case c;
        c.t = t, c.values = values, c.rows = 9, c.columns = t == GSORT_U8 ? 6000 : k == 120 ? 2000 : 3000, c.k = k;
        c.force.bound_rows = true;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, RacecheckRowsInParts) {
  for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8})
    for (Values values : {Values::kUniform, Values::kTwo, Values::kConstant})
      for (uint64_t k : {20, 50, 120}) {
        Case c;
        c.t = t, c.values = values, c.rows = 3, c.columns = k == 20 ? 150000 : 20000, c.k = k, c.offset = k % 3;
        c.force.parts = true;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, RacecheckBestOfRows) {
  for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8})
    for (uint64_t columns : {500, 9000, 70000, 600000}) {
      Case c;
      c.t = t, c.values = Values::kTwo, c.rows = columns > 100000 ? 2 : 5, c.columns = columns, c.k = 1, c.offset = 1;
      c.force.best = true;
      run_case(c);
      if (HasFatalFailure()) return;
    }
}

// Rows of a part of a tile, of some and of many, by blocks of every size.
TEST_F(Topk, RowsByStreams) {
  uint64_t seed = 3900;
  for (uint32_t threads : {32, 64, 128, 256, 512, 1024})
    for (Values values : kAllValues)
      for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_I8, GSORT_F16})
        for (uint64_t columns : {3, 1000, 2049, 8192, 20001, 150001})
          for (uint64_t k : {1, 10, 16, 32, 64, 128}) {
            if (k > columns || k > topk::stream_k_max(threads) || ++seed % 3 != 0) continue;
            if (threads < 128 && !device_facts().clusters()) continue;
            Case c;
            c.t = t, c.values = values, c.rows = 1 + seed % 3, c.columns = columns, c.k = k, c.seed = ++seed;
            c.force.stream = true, c.force.stream_threads = threads;
            c.row_padding = seed % 3, c.greatest = seed % 2, c.nan_last = seed % 5 == 0, c.offset = seed % 4;
            c.index_t = seed % 7 == 0 ? GSORT_I64 : GSORT_U32;
            c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
            run_case(c);
            if (HasFatalFailure()) return;
          }
  for (uint64_t rows : {7, 150, 700}) {  // by itself
    Case c;
    c.rows = rows, c.columns = 5000, c.k = 50;
    run_case(c);
  }
  for (gsort_dtype t : {GSORT_U8, GSORT_BF16, GSORT_F32, GSORT_U64})  // by a warp or two
    for (uint64_t k : {1, 16, 17, 32})
      for (uint64_t columns : {1025, 1700}) {
        Case c;
        c.t = t, c.values = kAllValues[++seed % std::size(kAllValues)], c.k = k;
        c.rows = 4300, c.columns = columns + seed % 5, c.offset = seed % 5, c.row_padding = seed % 3;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

// Rows in turn: what one row leaves in the workspace must not show in the next.
TEST_F(Topk, TeamsOfManyRows) {
  uint64_t seed = 1700;
  for (uint64_t rows : {2, 9, 300})
    for (Values values : kAllValues)
      for (uint32_t count_items : {0, 200}) {
        Case c;
        c.values = values, c.rows = rows, c.columns = 17000 + seed % 3000, c.k = 1 + seed % 400, c.seed = ++seed;
        c.row_padding = seed % 3, c.force.team = true, c.force.count_items = count_items;
        c.force.random_sample = seed % 2;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, Rows) {
  uint64_t seed = 500;
  struct Shape {
    uint64_t rows, columns, k;
  };
  constexpr Shape shapes[] = {{1000, 1, 1},        {500, 17, 5},        {300, 100, 100},     {257, 1024, 10},
                              {100, 1024, 1024},   {20, 9000, 2048},    {5, 32000, 1},       {5, 32000, 256},
                              {5, 32000, 2048},    {3, 30000, 5000},    {7, 9000, 9000},     {200, 5000, 3000},
                              {3, 300000, 10},     {2, 300000, 3000},   {2, 300000, 270000}, {140, 70000, 100},
                              {2, 700000, 262145}, {9, 400000, 262145}, {3, 1000000, 700000}};
  for (const Shape &shape : shapes)
    for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8, GSORT_BF16})
      for (int variant = 0; variant < 3; ++variant) {
        if (shape.rows * shape.columns > 2000000 && (t != GSORT_F32 || variant > 1)) continue;
        Case c;
        c.t = t, c.rows = shape.rows, c.columns = shape.columns, c.k = shape.k, c.seed = ++seed;
        c.values = kAllValues[seed % std::size(kAllValues)], c.row_padding = variant == 0 ? 0 : seed % 7 + 1;
        c.greatest = seed % 3 != 0, c.nan_last = seed % 2, c.offset = variant;
        c.force.team = variant == 2;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

// Blocks that list a row: whole, and bound by one sample or two, where they serve and where they mislead.
void rows_that_are_listed(Values values, gsort_dtype t, uint64_t rows, uint64_t columns, uint64_t k, uint64_t seed) {
  Case c;
  c.t = t, c.values = values, c.rows = rows, c.columns = columns, c.k = k, c.seed = seed, c.force.rows = true;
  c.force.sample_rank = seed % 4 == 0 ? 1 : seed % 4 == 1 ? 100000 : 0;
  c.greatest = seed % 2, c.nan_last = seed % 3 == 0, c.offset = seed % 5, c.row_padding = seed % 7;
  c.run = seed % 6 == 0 ? 64 : 1;
  c.index_t = seed % 5 == 0 ? GSORT_I64 : GSORT_U32;
  c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
  run_case(c);
}

TEST_F(Topk, RowsThatAreListed) {
  uint64_t seed = 6000;
  const uint64_t many =
      2 * device_facts().multiprocessors + 1;  // so many that the blocks are smaller, or of twice that
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_I64, GSORT_F16, GSORT_U8, GSORT_I32, GSORT_F64}) {
      for (const uint64_t k : {1, 129, 1024}) rows_that_are_listed(values, t, many, 2048 + seed % 2, k, ++seed);
      for (const uint64_t k : {300, 1000}) rows_that_are_listed(values, t, many, 5000 + seed % 70, k, ++seed);
      for (const uint64_t k : {129, 512}) rows_that_are_listed(values, t, 2 * many, 1024 + seed % 900, k, ++seed);
      for (const uint64_t k : {20, 1025, 2048}) rows_that_are_listed(values, t, 3, 4096 + seed % 2, k, ++seed);
      rows_that_are_listed(values, t, 18, 40000 + seed % 70, 700, ++seed);
      rows_that_are_listed(values, t, 18, 90000 + seed % 70, 2048, ++seed);
      if (HasFatalFailure()) return;
    }
}

TEST_F(Topk, RacecheckRowsThatAreListed) {
  const uint64_t many = 2 * device_facts().multiprocessors + 1;
  for (gsort_dtype t : {GSORT_F32, GSORT_F64}) {
    rows_that_are_listed(Values::kUniform, t, many, 2500, 129, 2);
    rows_that_are_listed(Values::kTwo, t, many, 2500, 1000, 3);
    rows_that_are_listed(Values::kUniform, t, 2 * many, 1300, 200, 2);
    for (const uint64_t seed : {4, 5, 6}) rows_that_are_listed(Values::kUniform, t, 2, 20000, 1000, seed);
    rows_that_are_listed(Values::kZipf, t, 2, 20000, 2048, 7);
    rows_that_are_listed(Values::kUniform, t, 2, 100000, 2048, 10);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gsort_test
