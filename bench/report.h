// SPDX-License-Identifier: MIT OR Apache-2.0
// Results as an aligned table, as CSV and as JSON.
#ifndef GSORT_BENCH_REPORT_H_
#define GSORT_BENCH_REPORT_H_

#include <string>
#include <vector>

#include "row.h"

namespace gsort_bench {

// What was measured, where, with what.
struct Facts {
  std::string date;
  std::string device;
  std::string driver;
  std::string cuda;
  std::string cub;
  std::string gsort;
  std::string commit;
  std::string settings;
};

void print_facts(const Facts &facts);
void print_head();
void print_result(const Result &result);

// Both return an empty string, or a sentence about the file that could not be written.
std::string write_csv(const std::string &path, const Facts &facts, const std::vector<Result> &results);
std::string write_json(const std::string &path, const Facts &facts, const std::vector<Result> &results);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_REPORT_H_
