// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hwy/contrib/sort/vqsort.h>

#include "cpu_peers.h"

namespace gsort_bench {

void sort_with_vqsort(gsort_dtype t, void *keys, uint64_t n) {
#if GSORT_BENCH_VQSORT_PACKAGE
  static const hwy::Sorter sorter;  // as releases up to 1.0 have it
  with_peer_keys(t, keys, [n](auto *k) { sorter(k, n, hwy::SortAscending()); });
#else
  with_peer_keys(t, keys, [n](auto *k) { hwy::VQSort(k, n, hwy::SortAscending()); });
#endif
}

}  // namespace gsort_bench
