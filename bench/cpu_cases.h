// SPDX-License-Identifier: MIT OR Apache-2.0
// One measurement of the CPU engine beside the standard library's algorithm of the same purpose.
#ifndef GSORT_BENCH_CPU_CASES_H_
#define GSORT_BENCH_CPU_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_data.h"
#include "gsort.h"

namespace gsort_bench {

enum class CpuWork { kSort, kArgsort, kTopk, kSum };

struct CpuCase {
  CpuWork work;
  gsort_dtype t;
  uint64_t n;
  uint32_t threads;  // of gsort; the standard library's algorithms run on one
  Distribution distribution = Distribution::kUniform;
};

struct CpuResult {
  double gsort_ms = 0;
  double peer_ms = 0;
  bool right = false;
  std::string note;
};

constexpr uint64_t kCpuTopk = 256;

const char *cpu_work_name(CpuWork work);
const char *cpu_peer_name(CpuWork work);

// Times and checks one case with a handle of case.threads threads; `time_ms` bounds the timed runs of either side.
CpuResult run_cpu_case(const CpuCase &c, gsort *g, double time_ms);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CPU_CASES_H_
