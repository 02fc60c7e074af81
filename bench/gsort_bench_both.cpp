// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums, reductions and selections of long host arrays, pageable and registered, by each backend and by AUTO, which may
// let both work at once: what that saves beside the quicker one. Every result is compared with the CPU engine's.
//
// usage: gsort_bench_both [MOST_LOG2 [THREADS [WORK]]]      (default: 28, all processors, and all work; WORK: a part of
// the names)
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "gsort.h"

namespace {

using Clock = std::chrono::steady_clock;

std::string placed;  // what AUTO's handle said of the last call

[[noreturn]] void give_up(const char *what, const char *why) {
  std::fprintf(stderr, "gsort_bench_both: %s: %s\n", what, why);
  std::exit(1);
}

void log_placement(void *, const char *line) {
  const std::string text = line;
  for (const char *const place : {"both", "the CPU", "the device"})
    if (text.find(std::string("host arrays: on ") + place) == 0) placed = place;
  if (text.find("the device takes part") != std::string::npos) placed = "both, after a trial";
}

gsort *make(uint32_t backend, uint32_t threads) {
  gsort_options options = {};
  options.struct_size = sizeof options;
  options.backend = backend;
  options.threads = threads;
  if (backend == GSORT_BACKEND_AUTO) options.log = log_placement;
  gsort *g = nullptr;
  if (gsort_create(&options, &g) != GSORT_OK) give_up("gsort_create", gsort_error_message(nullptr));
  return g;
}

struct Work {
  const char *name;
  bool adds_floats;  // exactly, which takes longer where exponents are far apart
  uint64_t element_bytes;
  std::function<gsort_status(gsort *, const void *in, void *out, uint64_t n)> run;
};

Work reduction(const char *name, uint32_t op, gsort_dtype t, uint64_t element_bytes) {
  const bool adds_floats = (op == 0 || op == GSORT_MEAN) && (t == GSORT_F32 || t == GSORT_F64);
  return {name, adds_floats, element_bytes, [op, t](gsort *g, const void *in, void *out, uint64_t n) {
            return op == 0 ? gsort_sum(g, t, in, n, out, 0) : gsort_reduce(g, op, t, in, n, out, 0);
          }};
}

constexpr uint64_t kMost = 1024;  // of a selection

Work selection(const char *name, gsort_dtype t, uint64_t element_bytes, uint64_t k) {
  return {name, false, element_bytes, [=](gsort *g, const void *in, void *out, uint64_t n) {
            return gsort_topk(g, t, in, n, k, out, GSORT_U64, static_cast<uint64_t *>(out) + kMost, 0);
          }};
}

const Work all_work[] = {
    reduction("sum f32", 0, GSORT_F32, 4),
    reduction("sum f64", 0, GSORT_F64, 8),
    reduction("sum u32", 0, GSORT_U32, 4),
    reduction("mean f32", GSORT_MEAN, GSORT_F32, 4),
    reduction("max f32", GSORT_MAX, GSORT_F32, 4),
    reduction("argmin f32", GSORT_ARGMIN, GSORT_F32, 4),
    reduction("argmax i64", GSORT_ARGMAX, GSORT_I64, 8),
    selection("top 256 f32", GSORT_F32, 4, 256),
    selection("top 1024 u64", GSORT_U64, 8, kMost),
};

// Finite floats and doubles: of 0.5 to 1 and alike, or of any exponent.
void fill(std::vector<uint32_t> &in, bool wide) {
  uint64_t state = 1;
  for (uint32_t &word : in) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<uint32_t>(state >> 33);
    word = wide ? bits & 0x7f7fffffu : (bits & 0x7fffffu) | 0x3f000000u;
  }
}

// How many results differ.
int time_work(const Work &work, const std::vector<uint32_t> &in, bool registered, bool wide, gsort *const handles[3]) {
  int wrong = 0;
  for (uint64_t bytes = std::min<uint64_t>(in.size() * 4, 64 << 20); bytes <= in.size() * 4; bytes *= 2) {
    std::vector<uint64_t> results[3];
    std::vector<double> times[3];
    // In turns, so that whatever else the machine does meets all of them; the first makes threads and memory.
    for (int round = 0; round < 12; ++round)
      for (int i = 0; i < 3; ++i) {
        results[i].assign(2 * kMost, 0);
        const auto begin = Clock::now();
        if (work.run(handles[i], in.data(), results[i].data(), bytes / work.element_bytes) != GSORT_OK)
          give_up(work.name, gsort_error_message(handles[i]));
        if (round != 0) times[i].push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        wrong += results[i] != results[0];
      }
    double median[3];
    for (int i = 0; i < 3; ++i) {
      std::sort(times[i].begin(), times[i].end());
      median[i] = times[i][times[i].size() / 2];
    }
    std::printf("%-10s %-5s %-12s %12llu %10.2f %10.2f %10.2f %8.2f  %s\n", registered ? "registered" : "pageable",
                wide ? "wide" : "near", work.name, static_cast<unsigned long long>(bytes >> 20), median[0], median[1],
                median[2], std::min(median[0], median[1]) / median[2], placed.c_str());
  }
  return wrong;
}

}  // namespace

int main(int count, char **arguments) {
  const int most = count > 1 ? std::atoi(arguments[1]) : 28, threads = count > 2 ? std::atoi(arguments[2]) : 0;
  const std::string wanted = count > 3 ? arguments[3] : "";
  if (count > 4 || most < 20 || most > 34 || threads < 0) {
    std::fprintf(stderr, "usage: gsort_bench_both [MOST_LOG2 [THREADS [WORK]]]   (20 to 34)\n");
    return 2;
  }
  gsort *const handles[] = {make(GSORT_BACKEND_CPU, static_cast<uint32_t>(threads)),
                            make(GSORT_BACKEND_CUDA, static_cast<uint32_t>(threads)),
                            make(GSORT_BACKEND_AUTO, static_cast<uint32_t>(threads))};
  std::vector<uint32_t> in(uint64_t{1} << most);
  std::printf("%-10s %-5s %-12s %12s %10s %10s %10s %8s  %s\n", "memory", "data", "work", "MiB", "cpu ms", "cuda ms",
              "auto ms", "best/auto", "auto ran on");
  int wrong = 0;
  for (const bool registered : {false, true}) {
    if (registered) {
      const cudaError_t result = cudaHostRegister(in.data(), in.size() * 4, cudaHostRegisterDefault);
      if (result != cudaSuccess) give_up("cudaHostRegister", cudaGetErrorString(result));
    }
    for (const bool wide : {false, true}) {
      fill(in, wide);
      for (const Work &work : all_work)
        if ((!wide || work.adds_floats) && std::string(work.name).find(wanted) != std::string::npos)
          wrong += time_work(work, in, registered, wide, handles);
    }
  }
  (void)cudaHostUnregister(in.data());
  std::printf("%d results differ\n", wrong);
  for (gsort *const g : handles) gsort_destroy(g);
  return wrong != 0;
}
