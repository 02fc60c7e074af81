// SPDX-License-Identifier: MIT OR Apache-2.0
// One measurement of the CPU engine beside the standard library's algorithm of the same purpose.
#ifndef GSORT_BENCH_CPU_CASES_H_
#define GSORT_BENCH_CPU_CASES_H_

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

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

constexpr uint64_t kCpuTopk = 256;

const char *cpu_work_name(CpuWork work);
const char *cpu_peer_name(CpuWork work);

// "sort/u32/uniform/1024"
std::string cpu_case_name(const CpuCase &c);

// One side of a case: gsort with a handle of c.threads threads, whose first result is checked, or, without a handle,
// the standard library.
void run_cpu_case(benchmark::State &state, const CpuCase &c, gsort *g);

// Whether a result was wrong, or a call failed; it was told on the error output.
bool cpu_case_failed(const CpuCase &c);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CPU_CASES_H_
