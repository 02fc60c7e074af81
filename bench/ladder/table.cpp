// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cuda_error.h"
#include "ladder.h"

namespace gsort_bench {

double device_median_ms(const LadderSettings &settings, const std::function<void()> &prepare,
                        const std::function<void()> &work) {
  constexpr uint32_t warm_runs = 2;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  require_cuda(cudaEventCreate(&begin), "cudaEventCreate");
  require_cuda(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  for (uint32_t run = 0; run < warm_runs + settings.runs; ++run) {
    prepare();
    require_cuda(cudaEventRecord(begin, settings.stream), "cudaEventRecord");
    work();
    require_cuda(cudaEventRecord(end, settings.stream), "cudaEventRecord");
    require_cuda(cudaEventSynchronize(end), "step");
    float ms = 0;
    require_cuda(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (run >= warm_runs) times.push_back(ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return static_cast<double>(times[times.size() / 2]);
}

double host_median_ms(uint32_t runs, const std::function<void()> &work) {
  using clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (uint32_t run = 0; run < runs; ++run) {
    const clock::time_point begin = clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::vector<uint32_t> keys_with_duplicates(uint32_t n) {
  std::vector<uint32_t> keys(n);
  uint64_t state = n;
  for (uint32_t &key : keys) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    key = static_cast<uint32_t>(state >> 33) % n * 65537u;
  }
  return keys;
}

void require_gsort_call(gsort_status status, const gsort *g) {
  if (status == GSORT_OK) return;
  throw std::runtime_error(std::string(gsort_status_name(status)) + ": " + gsort_error_message(g));
}

namespace {

std::string number(const char *pattern, double x) {
  if (x <= 0) return "-";
  char text[32];
  snprintf(text, sizeof text, pattern, x);
  return text;
}

}  // namespace

void print_steps(const std::vector<Step> &steps) {
  std::string last;
  double first_ms = 0;
  for (const Step &s : steps) {
    const std::string head = s.ladder + ", n = " + std::to_string(s.n);
    if (head != last) {
      printf("\n%s\n%-52s %11s %9s %9s %11s %s\n", head.c_str(), "step", "device ms", "GB/s", "x first", "host ms",
             "result");
      first_ms = 0;
    }
    last = head;
    if (first_ms <= 0) first_ms = s.device_ms;
    printf("%-52s %11s %9s %9s %11s %s\n", s.name.c_str(), number("%.4f", s.device_ms).c_str(),
           number("%.0f", s.device_ms > 0 ? s.bytes_read / s.device_ms * 1e-6 : 0).c_str(),
           number("%.2f", s.device_ms > 0 ? first_ms / s.device_ms : 0).c_str(), number("%.3f", s.host_ms).c_str(),
           s.right ? "ok" : "WRONG");
  }
}

bool write_steps(const std::string &path, const std::string &facts, const std::vector<Step> &steps) {
  FILE *const file = fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  fprintf(file, "# %s\nladder,n,step,device_ms,host_ms,gb_s,outcome\n", facts.c_str());
  for (const Step &s : steps) {
    fprintf(file, "%s,%llu,\"%s\",%.6g,%.6g,%.6g,%s\n", s.ladder.c_str(), static_cast<unsigned long long>(s.n),
            s.name.c_str(), s.device_ms, s.host_ms, s.device_ms > 0 ? s.bytes_read / s.device_ms * 1e-6 : 0,
            s.right ? "ok" : "WRONG");
  }
  return fclose(file) == 0;
}

}  // namespace gsort_bench
