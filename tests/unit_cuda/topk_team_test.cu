// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k by all blocks together, with the ways that its samples and candidates can go wrong forced.
#include "topk_support.h"

namespace gsort_test {
namespace {

// Inputs made against the sample are as good as a sample that lies: its rank is forced far too low or too high, or it
// is left out.
TEST_F(Topk, MisledSample) {
  uint64_t seed = 300;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_U64, GSORT_BF16, GSORT_I8})
      for (uint64_t k : {3, 1000, 6000})
        for (int lie = 0; lie < 5; ++lie)
          for (bool team : {false, true}) {
            Case c;
            c.t = t, c.values = values, c.columns = 200000 + seed % 9, c.k = k, c.seed = ++seed;
            c.offset = seed % 4, c.greatest = seed % 2;
            if (!team) c.columns = 30000;
            c.force.team = team;
            c.force.random_sample = lie >= 3;
            if (lie % 3 == 0) c.force.sample_rank = 1;
            if (lie % 3 == 1) c.force.sample_rank = 1 << 20;
            if (lie == 2) c.force.no_sample = true;
            run_case(c);
            if (HasFatalFailure()) return;
          }
}

// Rows of a few megabytes are their own sample: sizes around those at which blocks, groups and tiles change.
TEST_F(Topk, WholeRowAsSample) {
  uint64_t seed = 1300;
  for (uint64_t n : {16383, 16384, 16385, 16400, 20481, 32768, 65535, 65552, 70001, 131072, 262147, 540673, 1048576,
                     1048579, 2097152, 2097153})
    for (Values values : {Values::kUniform, Values::kSorted, Values::kReverse, Values::kConstant, Values::kInfinities})
      for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_I16, GSORT_U8}) {
        Case c;
        c.t = t, c.values = values, c.columns = n, c.seed = ++seed, c.force.team = true;
        c.greatest = seed % 2, c.offset = seed % 5, c.k = seed % 5 == 0 ? 2048 : seed % 3 == 0 ? 256 : 1 + seed % 1000;
        run_case(c);
        c.force.no_cluster = true;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

// A cluster that does many rows, of which it leaves some to the other way: those with more candidates than 120.
TEST_F(Topk, ClusterRowAfterRow) {
  uint64_t seed = 1400;
  for (Values values : {Values::kUniform, Values::kTwo, Values::kSorted, Values::kInfinities})
    for (gsort_dtype t : {GSORT_F32, GSORT_I32, GSORT_U64, GSORT_BF16})
      for (uint32_t count_items : {0, 120})
        for (uint64_t rows : {3, 300}) {
          Case c;
          c.t = t, c.values = values, c.rows = rows, c.columns = rows == 3 ? 40000 : 16384, c.k = 100, c.seed = ++seed;
          c.row_padding = seed % 3, c.offset = seed % 4, c.greatest = seed % 2;
          c.force.team = true, c.force.count_items = count_items;
          run_case(c);
          if (HasFatalFailure()) return;
        }
}

// More results and smaller clusters than the others', up to what a warp offers at most.
TEST_F(Topk, ClusterOfAnySize) {
  uint64_t seed = 1450;
  for (uint64_t n : {16384, 20000, 32768, 33000, 65536, 100000, 131072})
    for (uint64_t k : {1, 2, 31, 32, 33, 64, 250, 257, 512})
      for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U16}) {
        Case c;
        c.t = t, c.values = seed % 3 ? Values::kUniform : Values::kReverse, c.columns = n, c.k = k, c.seed = ++seed;
        c.greatest = seed % 2, c.nan_last = seed % 4 == 0, c.offset = seed % 5, c.force.team = true;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

// Clusters that read a row in tiles, of fewer rows than have room at once, just as many and more; some leave rows to
// the other way.
void run_in_tiles(gsort_dtype t, Values values, uint64_t rows, uint64_t bytes, uint64_t seed) {
  Case c;
  c.t = t, c.values = values, c.rows = rows, c.columns = bytes / dtype_bytes(t), c.seed = seed;
  c.k = seed % 3 == 0 ? 8 : seed % 3 == 1 ? 1 + seed % 20 : 50;
  c.row_padding = seed % 3, c.offset = seed % 4, c.greatest = seed % 2, c.nan_last = seed % 4 == 0;
  if (seed % 7 == 0) c.force.team = true, c.force.count_items = 60;
  run_case(c);
}

TEST_F(Topk, ClustersReadTiles) {
  uint64_t seed = 1480;
  for (uint64_t rows : {2, 15, 16, 31, 66})
    for (uint64_t bytes : {270000, 500000, 1100000})
      for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_BF16, GSORT_U8})
        for (Values values : {Values::kUniform, Values::kSorted, Values::kReverse, Values::kConstant, Values::kTwo}) {
          if (++seed % 3 != 0 || rows * bytes > 20000000) continue;
          run_in_tiles(t, values, rows, bytes, seed / 3);
          if (HasFatalFailure()) return;
        }
}

TEST_F(Topk, RacecheckClustersThatReadTiles) {
  for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8})
    for (uint64_t seed : {1, 2, 3}) run_in_tiles(t, Values::kTwo, 40, 140000, seed);
}

// A grid that keeps its row in registers: as many blocks as the length asks for, more candidates in a block than are
// sure of a place, and rows that it leaves to the other way.
TEST_F(Topk, GridOfAnySize) {
  uint64_t seed = 1600;
  for (uint64_t n : {33000, 131088, 300000, 1048576, 2162687})
    for (uint64_t k : {1, 31, 256, 512, 1000, 2048})
      for (Values values : {Values::kUniform, Values::kReverse, Values::kZipf})
        for (gsort_dtype t : {GSORT_F32, GSORT_U64, GSORT_BF16, GSORT_I8}) {
          Case c;
          c.t = t, c.values = values, c.columns = n, c.k = k, c.seed = ++seed, c.greatest = seed % 2;
          c.run = seed % 3 == 0 ? 64 : 1, c.nan_last = seed % 4 == 0, c.offset = seed % 5,
          c.force.team = c.force.no_cluster = true;
          if (seed % 7 == 0) c.force.count_items = 120;
          run_case(c);
          if (HasFatalFailure()) return;
        }
}

// Rows of which the blocks tell each other their best draws, and few candidates if they have few: not of rows in order.
TEST_F(Topk, FewCandidates) {
  uint64_t seed = 1700;
  for (uint64_t n : {2200000, 5000003})
    for (uint64_t rows : {1, 3})
      for (uint64_t k : {1, 256, 2048})
        for (Values values : {Values::kUniform, Values::kSorted, Values::kTwo})
          for (gsort_dtype t : {GSORT_F32, GSORT_F64}) {
            Case c;
            c.t = t, c.values = values, c.columns = n, c.rows = rows, c.k = k, c.seed = ++seed;
            c.greatest = seed % 2, c.offset = seed % 5, c.force.team = true;
            if (seed % 7 == 0) c.force.count_items = 300;
            if (seed % 11 == 0) c.force.sample_rank = 1;
            run_case(c);
            if (HasFatalFailure()) return;
          }
}

// The same of rows of equal neighbours, where few blocks have nearly all candidates: as many as a list has sure slots,
// some times as many, and more than a list has room for.
TEST_F(Topk, CandidatesOfFewBlocks) {
  uint64_t seed = 1800;
  for (uint64_t n : {2200000, 5931642})
    for (uint64_t run : {8, 16, 31, 64, 150, 2000})
      for (uint64_t k : {1, 10, 300, 1000}) {
        Case c;
        c.t = ++seed % 2 ? GSORT_U32 : GSORT_F64, c.columns = n, c.run = run, c.k = k, c.seed = seed;
        c.rows = seed % 5 == 0 ? 3 : 1, c.values = seed % 3 == 0 ? Values::kNarrow : Values::kUniform;
        c.greatest = seed / 2 % 2, c.offset = seed % 7, c.force.team = true;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

// Candidates are thinned out before they are counted where they are many; here where they are more than so few.
TEST_F(Topk, ThinnedOut) {
  uint64_t seed = 1500;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_BF16, GSORT_U8})
      for (uint64_t k : {1, 20, 256, 700, 2048})
        for (uint32_t count_items : {1, 300, 2500}) {
          Case c;
          c.t = t, c.values = values, c.columns = 100000 + seed % 5000, c.k = k, c.seed = ++seed;
          c.offset = seed % 4, c.greatest = seed % 2, c.force.team = true, c.force.random_sample = seed % 3 == 0;
          c.force.count_items = count_items;
          run_case(c);
          if (HasFatalFailure()) return;
        }
}

}  // namespace
}  // namespace gsort_test
