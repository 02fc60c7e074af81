// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hwy/contrib/sort/vqsort.h>

#include "cpu_peers.h"

namespace gsort_bench {
namespace {

void sort(const PeerArrays &a) {
#if GSORT_BENCH_VQSORT_PACKAGE
  static const hwy::Sorter sorter;  // as releases up to 1.0 have it
  with_peer_keys(a.t, a.keys, [&](auto *k) { sorter(k, a.n, hwy::SortAscending()); });
#else
  with_peer_keys(a.t, a.keys, [&](auto *k) { hwy::VQSort(k, a.n, hwy::SortAscending()); });
#endif
}

#if !GSORT_BENCH_VQSORT_PACKAGE
void topk(const PeerArrays &a) {
  with_peer_keys(a.t, a.keys, [&](auto *k) { hwy::VQPartialSort(k, a.n, a.part, hwy::SortAscending()); });
}
#endif

}  // namespace

CpuPeer vqsort_peer() {
  CpuPeer peer{"vqsort", false, sort};
#if !GSORT_BENCH_VQSORT_PACKAGE
  peer.topk = topk;
#endif
  return peer;
}

}  // namespace gsort_bench
