// SPDX-License-Identifier: MIT OR Apache-2.0
// Ladders: the same work done by a row of methods, each improving on the one before.
#ifndef GSORT_BENCH_LADDER_LADDER_H_
#define GSORT_BENCH_LADDER_LADDER_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gsort.h"

namespace gsort_bench {

struct Step {
  std::string ladder;
  uint64_t n = 0;
  std::string name;
  double device_ms = 0;   // 0: nothing runs on the device
  double host_ms = 0;     // host array to host result, wall clock; 0: not measured
  double bytes_read = 0;  // what one look at the input reads, for GB/s
  bool right = false;
};

struct LadderSettings {
  cudaStream_t stream = nullptr;
  gsort *g = nullptr;  // on the same stream
  uint32_t runs = 7;
};

std::vector<Step> run_reduction_ladder(const LadderSettings &settings);
std::vector<Step> run_radix_ladder(const LadderSettings &settings);
std::vector<Step> run_rank_ladder(const LadderSettings &settings);
std::vector<Step> run_strided_ladder(const LadderSettings &settings);
std::vector<Step> run_host_ladder(const LadderSettings &settings);

// Median of device-event times of `work`, after two runs to warm up; `prepare` runs untimed before each.
double device_median_ms(const LadderSettings &settings, const std::function<void()> &prepare,
                        const std::function<void()> &work);
// Median of wall-clock times of `work`, which waits for its result.
double host_median_ms(uint32_t runs, const std::function<void()> &work);

// Keys with many duplicates: a rank sort that forgets the ties loses some.
std::vector<uint32_t> keys_with_duplicates(uint32_t n);

void require_gsort_call(gsort_status status, const gsort *g);

void print_steps(const std::vector<Step> &steps);
// Returns false if the file cannot be written.
bool write_steps(const std::string &path, const std::string &facts, const std::vector<Step> &steps);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_LADDER_LADDER_H_
