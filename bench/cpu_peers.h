// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of other projects, where they are at hand: each compiled in a file of its own, with what it asks for.
#ifndef GSORT_BENCH_CPU_PEERS_H_
#define GSORT_BENCH_CPU_PEERS_H_

#include <cstdint>
#include <vector>

#include "gsort.h"

namespace gsort_bench {

// Sorts n keys of the type in place, ascending. Types: GSORT_U32, GSORT_U64, GSORT_F32, GSORT_F64.
struct CpuPeer {
  const char *name;
  void (*sort)(gsort_dtype t, void *keys, uint64_t n);
};

// Calls f with the keys as what they are.
template <class F>
void with_peer_keys(gsort_dtype t, void *keys, F &&f) {
  switch (t) {
    case GSORT_U32:
      return f(static_cast<uint32_t *>(keys));
    case GSORT_U64:
      return f(static_cast<uint64_t *>(keys));
    case GSORT_F32:
      return f(static_cast<float *>(keys));
    default:
      return f(static_cast<double *>(keys));
  }
}

void sort_with_std(gsort_dtype t, void *keys, uint64_t n);
void sort_with_vqsort(gsort_dtype t, void *keys, uint64_t n);
void sort_with_x86_simd_sort(gsort_dtype t, void *keys, uint64_t n);

// Those that this program was built with.
std::vector<CpuPeer> cpu_peers();

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CPU_PEERS_H_
