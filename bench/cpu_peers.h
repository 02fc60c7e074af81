// SPDX-License-Identifier: MIT OR Apache-2.0
// Other projects' ways of doing what gsort does, where they are at hand: each compiled in a file of its own, with what
// it asks for.
#ifndef GSORT_BENCH_CPU_PEERS_H_
#define GSORT_BENCH_CPU_PEERS_H_

#include <cstdint>
#include <vector>

#include "gsort.h"

namespace gsort_bench {

// What a run works on. Types: GSORT_U32, GSORT_U64, GSORT_F32, GSORT_F64. Values are words as wide as the keys.
struct PeerArrays {
  gsort_dtype t;
  void *keys;    // sorts leave them in order
  void *values;  // of pairs; moved along
  void *out;  // of an argsort, a sum, a scan or a merge; an argsort's indices have 4 bytes, or 8 where peers ask for it
  uint64_t n;
  uint32_t threads;
  uint64_t part;  // elements of a segment (n is a multiple), or k
};

// A function that is NULL is not at hand.
using PeerFunction = void (*)(const PeerArrays &arrays);
struct CpuPeer {
  const char *name;
  bool on_threads;  // takes as many as it may; others stand in the table of several threads with one
  PeerFunction sort = nullptr, pairs = nullptr, argsort = nullptr, sum = nullptr, scan = nullptr, merge = nullptr;
  PeerFunction topk = nullptr;      // leaves the least `part` keys in order in front of the others
  PeerFunction greatest = nullptr;  // into `out`
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

CpuPeer std_peer();
CpuPeer vqsort_peer();
CpuPeer x86_simd_sort_peer();
CpuPeer ips4o_peer();

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CPU_PEERS_H_
