// SPDX-License-Identifier: MIT OR Apache-2.0
// One line of the benchmark: what is to be measured, and what came of it.
#ifndef GSORT_BENCH_ROW_H_
#define GSORT_BENCH_ROW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distribution.h"
#include "gsort.h"

namespace gsort_bench {

enum class Work {
  kSort,
  kSortPairs,
  kArgsort,
  kMerge,
  kSegments,
  kTopk,
  kTopkRows,
  kSum,
  kReduce,
  kScan,
  kCopyCeiling,
  kReadCeiling,
  kFirstCall,  // create, first sort, second sort on a new handle; wall time
  kLowMemory,  // a sort whose handle may hold no more than an eighth of the input's bytes
};

// Which of CUB's algorithms stands beside gsort.
enum class Peer {
  kUsual,    // the one of the same purpose
  kSortAll,  // top-k: a descending sort of everything
  kNone,
};

struct Goal {
  double ratio_min = 0;   // CUB's time over gsort's; 0: none
  double ms_max = 0;      // gsort's time; 0: none
  double of_ceiling = 0;  // part of the read ceiling of as many bytes that ran before; 0: none. It becomes ms_max
};

struct Row {
  std::string suite;
  Work work = Work::kSort;
  gsort_dtype t = GSORT_U32;
  uint64_t n = 0;
  Distribution distribution = Distribution::kUniform;
  Peer peer = Peer::kUsual;
  Goal goal;
  uint32_t value_bytes = 0;    // pairs
  uint64_t segment_items = 0;  // segments: keys in each; 0: mixed sizes
  uint64_t merge_ratio = 1;    // merge: keys of the longer array for one of the shorter; n counts both
  uint64_t k = 0;              // top-k
  uint64_t rows = 1;           // top-k of rows; n = rows * columns
  uint32_t reduce_op = 0;      // GSORT_MIN and so on
  bool by_offsets = false;     // top-k of rows: gsort_topk_segments() on the same rows
  bool smallest = false;       // top-k
  bool exclusive = false;      // scan
  uint64_t columns() const { return n / rows; }
};

struct Timing {
  double median_ms = 0;
  double least_ms = 0;
  uint32_t runs = 0;
};

enum class Outcome { kRight, kWrong, kFailed, kSkipped };

struct Result {
  Row row;
  Outcome outcome = Outcome::kSkipped;
  std::string note;  // why wrong, failed or skipped; what the peer is
  Timing gsort;
  Timing peer;  // runs == 0: no peer
  std::string peer_name;
  std::string others;        // medians of all peers where there are several
  uint64_t bytes_moved = 0;  // least traffic of the work: what its inputs and outputs hold
  uint64_t gsort_extra_bytes = 0;
  uint64_t peer_extra_bytes = 0;
  double ratio() const { return peer.runs > 0 && gsort.median_ms > 0 ? peer.median_ms / gsort.median_ms : 0; }
  double gkey_s() const { return gsort.median_ms > 0 ? static_cast<double>(row.n) / gsort.median_ms * 1e-6 : 0; }
  double gb_s() const { return gsort.median_ms > 0 ? static_cast<double>(bytes_moved) / gsort.median_ms * 1e-6 : 0; }
};

// "sort u32", "pairs u64+u32", "topk f32 k=256": what a reader and --filter see.
std::string row_name(const Row &row);

// Rows of a suite (quick, sort, sort-dist, data, merge, select, sum, segments, large, full); empty for any other name.
std::vector<Row> rows_of_suite(const std::string &suite);

void add_sort_rows(std::vector<Row> &rows);
void add_sort_distribution_rows(std::vector<Row> &rows);
void add_distribution_table_rows(std::vector<Row> &rows);
void add_merge_rows(std::vector<Row> &rows);
void add_segment_rows(std::vector<Row> &rows);
void add_select_rows(std::vector<Row> &rows);
void add_sum_rows(std::vector<Row> &rows);
void add_large_rows(std::vector<Row> &rows);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_ROW_H_
