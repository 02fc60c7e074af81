// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls on pageable host arrays, by each backend and by AUTO, which chooses one of them for each call: whether it chose
// the quicker one, and what the copies cost. Every result is compared with the CPU engine's.
//
// usage: gsort_bench_host [MOST_LOG2]      (default: 28)
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gsort.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Work {
  const char *name;
  uint64_t out_bytes;  // of one element's result; of the only one if that is all
  bool one_result;
  std::function<gsort_status(gsort *, const void *in, void *out, uint64_t n)> run;
};

std::vector<Work> all_work() {
  return {
      {"sort u32", 4, false,
       [](gsort *g, const void *in, void *out, uint64_t n) { return gsort_sort(g, GSORT_U32, in, out, n, 0); }},
      {"sort u64", 4, false,
       [](gsort *g, const void *in, void *out, uint64_t n) { return gsort_sort(g, GSORT_U64, in, out, n / 2, 0); }},
      {"argsort f32", 4, false,
       [](gsort *g, const void *in, void *out, uint64_t n) {
         return gsort_argsort(g, GSORT_F32, in, n, GSORT_U32, out, 0);
       }},
      {"top-k f32 256", 1024, true,
       [](gsort *g, const void *in, void *out, uint64_t n) {
         return gsort_topk(g, GSORT_F32, in, n, std::min<uint64_t>(n, 256), out, GSORT_U32, nullptr, 0);
       }},
      {"sum f32", 8, true,
       [](gsort *g, const void *in, void *out, uint64_t n) { return gsort_sum(g, GSORT_F32, in, n, out, 0); }},
      {"max f32", 4, true,
       [](gsort *g, const void *in, void *out, uint64_t n) {
         return gsort_reduce(g, GSORT_MAX, GSORT_F32, in, n, out, 0);
       }},
      {"scan f32", 4, false,
       [](gsort *g, const void *in, void *out, uint64_t n) { return gsort_scan(g, GSORT_F32, in, out, n, 0); }},
  };
}

gsort *make(uint32_t backend) {
  gsort_options options = {};
  options.struct_size = sizeof options;
  options.backend = backend;
  gsort *g = nullptr;
  if (gsort_create(&options, &g) == GSORT_OK) return g;
  std::fprintf(stderr, "gsort_bench_host: %s\n", gsort_error_message(nullptr));
  std::exit(1);
}

// One of the sides that are compared: its handle, and where it leaves its results.
struct Side {
  gsort *handle;
  void *out;
  std::vector<double> us = {};
  double spent_us = 0;
};

double run_us(const Side &side, const Work &work, const void *in, uint64_t n) {
  const auto begin = Clock::now();
  if (work.run(side.handle, in, side.out, n) != GSORT_OK) {
    std::fprintf(stderr, "gsort_bench_host: %s: %s\n", work.name, gsort_error_message(side.handle));
    std::exit(1);
  }
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// Calls of 2 ms. The first finds threads asleep and another side's data in the caches: it counts only where it is all
// of them.
void run_burst(Side &side, const Work &work, const void *in, uint64_t n) {
  constexpr double kBurstUs = 2000;
  const double first = run_us(side, work, in, n);
  if (first >= kBurstUs) side.us.push_back(first);
  double burst = first;
  while (burst < kBurstUs) {
    side.us.push_back(run_us(side, work, in, n));
    burst += side.us.back();
  }
  side.spent_us += burst;
}

// All sides in turns, a burst of calls each, for about 60 ms a side, three times at least: what changes meanwhile,
// clocks and the machine's other work, changes for all of them.
void run_in_turns(std::vector<Side> &sides, const Work &work, const void *in, uint64_t n) {
  constexpr double kSideUs = 60000;
  for (Side &side : sides) (void)run_us(side, work, in, n);  // which makes threads, contexts and pages
  for (int round = 0; round < 3 || sides.back().spent_us < kSideUs; ++round)
    for (Side &side : sides) run_burst(side, work, in, n);
}

double median(std::vector<double> us) {
  std::nth_element(us.begin(), us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2), us.end());
  return us[us.size() / 2];
}

}  // namespace

int main(int count, char **arguments) {
  const int most = count > 1 ? std::atoi(arguments[1]) : 28;
  if (count > 2 || most < 10 || most > 34) {
    std::fprintf(stderr, "usage: gsort_bench_host [MOST_LOG2]   (10 to 34)\n");
    return 2;
  }
  gsort *const cpu = make(GSORT_BACKEND_CPU), *const cuda = make(GSORT_BACKEND_CUDA),
               *const chosen = make(GSORT_BACKEND_AUTO);
  std::vector<uint32_t> in(uint64_t{1} << most), out(in.size()), by_device(in.size()), want(in.size());
  uint64_t state = 1;
  for (uint32_t &word : in) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    word = static_cast<uint32_t>(state >> 33) & 0x7f7fffffu;  // finite floats
  }
  std::printf("%-14s %12s %12s %12s %12s %8s\n", "work", "elements", "cpu us", "cuda us", "auto us", "auto/best");
  int wrong = 0;
  for (const Work &work : all_work())
    for (int log2 = 10; log2 <= most; log2 += log2 < 20 ? 2 : 4) {
      const uint64_t n = uint64_t{1} << log2, bytes = work.one_result ? work.out_bytes : n * work.out_bytes;
      std::vector<Side> sides = {{cpu, want.data()}, {cuda, by_device.data()}, {chosen, out.data()}};
      std::memset(by_device.data(), 0xAB, bytes), std::memset(out.data(), 0xAB, bytes);
      run_in_turns(sides, work, in.data(), n);
      wrong += std::memcmp(by_device.data(), want.data(), bytes) != 0;
      wrong += std::memcmp(out.data(), want.data(), bytes) != 0;
      const double by_cpu = median(sides[0].us), by_cuda = median(sides[1].us), by_auto = median(sides[2].us);
      std::printf("%-14s %12llu %12.1f %12.1f %12.1f %8.2f\n", work.name, static_cast<unsigned long long>(n), by_cpu,
                  by_cuda, by_auto, by_auto / std::min(by_cpu, by_cuda));
    }
  std::printf("%d results differ\n", wrong);
  gsort_destroy(cpu), gsort_destroy(cuda), gsort_destroy(chosen);
  return wrong != 0;
}
