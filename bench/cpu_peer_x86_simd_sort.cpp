// SPDX-License-Identifier: MIT OR Apache-2.0
// x86-simd-sort's headers, compiled for the processor at hand, which is how they choose among their kernels. With
// OpenMP it sorts large arrays on several threads.
#include <omp.h>
#include <x86simdsort-static-incl.h>

#include <type_traits>

#include "cpu_peers.h"

namespace gsort_bench {
namespace {

void sort(const PeerArrays &a) {
  omp_set_num_threads(static_cast<int>(a.threads));
  with_peer_keys(a.t, a.keys, [&](auto *k) { x86simdsortStatic::qsort(k, a.n); });
}

void pairs(const PeerArrays &a) {
  omp_set_num_threads(static_cast<int>(a.threads));
  with_peer_keys(a.t, a.keys, [&](auto *k) {
    using Value = std::conditional_t<sizeof *k == 4, uint32_t, uint64_t>;
    x86simdsortStatic::keyvalue_qsort(k, static_cast<Value *>(a.values), a.n);
  });
}

// Not stable, and of indices of 8 bytes.
void argsort(const PeerArrays &a) {
  omp_set_num_threads(static_cast<int>(a.threads));
  size_t *const order = static_cast<size_t *>(a.out);
  for (uint64_t i = 0; i < a.n; ++i) order[i] = i;
  with_peer_keys(a.t, a.keys, [&](auto *k) { x86simdsortStatic::argsort(k, order, a.n); });
}

void topk(const PeerArrays &a) {
  with_peer_keys(a.t, a.keys, [&](auto *k) { x86simdsortStatic::partial_qsort(k, a.part, a.n); });
}

}  // namespace

CpuPeer x86_simd_sort_peer() {
  CpuPeer peer{"x86-simd-sort", true, sort, pairs, argsort};
  peer.topk = topk;
  return peer;
}

}  // namespace gsort_bench
