// SPDX-License-Identifier: MIT OR Apache-2.0
// x86-simd-sort's headers, compiled for the processor at hand, which is how they choose among their kernels.
#include <x86simdsort-static-incl.h>

#include "cpu_peers.h"

namespace gsort_bench {

void sort_with_x86_simd_sort(gsort_dtype t, void *keys, uint64_t n) {
  with_peer_keys(t, keys, [n](auto *k) { x86simdsortStatic::qsort(k, n); });
}

}  // namespace gsort_bench
