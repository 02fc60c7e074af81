// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef GSORT_BENCH_OPTIONS_H_
#define GSORT_BENCH_OPTIONS_H_

#include <cstdint>
#include <string>

namespace gsort_bench {

struct Options {
  std::string suite = "quick";
  std::string filter;  // part of a row's name or distribution
  std::string csv_path;
  std::string json_path;
  std::string commit = "unknown";
  uint32_t max_log2 = 33;
  uint32_t runs = 0;    // timed runs a row; 0: as many as fit row_ms, at least 5
  double row_ms = 300;  // time spent on the timed runs of one side of a row
  double budget_s = 0;  // no new row is begun after this; 0: no limit
  uint64_t seed = 1;
  bool cold = false;    // flush the L2 cache before every timed run
  bool queued = false;  // keep the device busy while the host enqueues the timed work
  bool spoil = false;   // flip a bit of each result before its check: every row must come out wrong
  bool list = false;    // print the rows and stop
  bool help = false;
};

// Returns an empty string, or a sentence about the argument that is wrong.
std::string parse_options(int argc, char **argv, Options &options);
const char *usage();

}  // namespace gsort_bench

#endif  // GSORT_BENCH_OPTIONS_H_
