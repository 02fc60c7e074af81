// SPDX-License-Identifier: MIT OR Apache-2.0
// A handle of the CPU engine for a benchmark.
#ifndef GSORT_BENCH_CPU_HANDLE_H_
#define GSORT_BENCH_CPU_HANDLE_H_

#include <cstdint>
#include <cstdio>

#include "gsort.h"

namespace gsort_bench {

// NULL, and a line on stderr, where none can be made.
inline gsort *make_cpu_handle(uint32_t threads) {
  gsort_options options{};
  options.struct_size = sizeof options;
  options.backend = GSORT_BACKEND_CPU;
  options.threads = threads;
  gsort *g = nullptr;
  if (gsort_create(&options, &g) != GSORT_OK) std::fprintf(stderr, "%s\n", gsort_error_message(nullptr));
  return g;
}

inline gsort_info info_of(gsort *g) {
  gsort_info info{};
  info.struct_size = sizeof info;
  gsort_info_get(g, &info);
  return info;
}

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CPU_HANDLE_H_
