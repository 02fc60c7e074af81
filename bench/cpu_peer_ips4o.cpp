// SPDX-License-Identifier: MIT OR Apache-2.0
// IPS4o, the in-place parallel samplesort, with threads that it keeps between calls.
#include <ips4o.hpp>

#include <functional>

#include "cpu_peers.h"

namespace gsort_bench {
namespace {

template <class K>
void sort_on_threads(K *keys, uint64_t n, uint32_t threads) {
  static auto sorter = ips4o::parallel::make_sorter<K *, ips4o::Config<>>(
      ips4o::StdThreadPool(static_cast<int>(threads)), std::less<>(), false);
  sorter(keys, keys + n);
}

void sort(const PeerArrays &a) {
  with_peer_keys(a.t, a.keys, [&](auto *k) {
    if (a.threads == 1) return ips4o::sort(k, k + a.n);
    sort_on_threads(k, a.n, a.threads);
  });
}

}  // namespace

CpuPeer ips4o_peer() { return {"ips4o", true, sort}; }

}  // namespace gsort_bench
