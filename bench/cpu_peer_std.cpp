// SPDX-License-Identifier: MIT OR Apache-2.0
// The standard library's algorithms, and a sum as compilers make it of a plain loop.
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "cpu_peers.h"

namespace gsort_bench {
namespace {

void sort(const PeerArrays &a) {
  with_peer_keys(a.t, a.keys, [&](auto *k) { std::sort(k, k + a.n); });
}

void argsort(const PeerArrays &a) {
  uint32_t *const order = static_cast<uint32_t *>(a.out);
  std::iota(order, order + a.n, 0u);
  with_peer_keys(a.t, a.keys, [&](auto *k) {
    std::stable_sort(order, order + a.n, [k](uint32_t x, uint32_t y) { return k[x] < k[y]; });
  });
}

void sum(const PeerArrays &a) {
  with_peer_keys(a.t, a.keys, [&](auto *k) {
    using K = std::remove_pointer_t<decltype(k)>;
    // Lanes of the widest vectors side by side: additions do not wait for each other.
    constexpr uint64_t kLanes = 64;
    using Total = std::conditional_t<std::is_floating_point_v<K>, double, uint64_t>;
    Total lanes[kLanes] = {};
    uint64_t i = 0;
    for (; i + kLanes <= a.n; i += kLanes)
      for (uint64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<Total>(k[i + lane]);
    for (; i < a.n; ++i) lanes[0] += static_cast<Total>(k[i]);
    *static_cast<Total *>(a.out) = std::accumulate(lanes, lanes + kLanes, Total{});
  });
}

void scan(const PeerArrays &a) {
  with_peer_keys(a.t, a.keys, [&](auto *k) { std::inclusive_scan(k, k + a.n, static_cast<decltype(k)>(a.out)); });
}

// The halves of the keys, which are in order.
void merge(const PeerArrays &a) {
  with_peer_keys(a.t, a.keys,
                 [&](auto *k) { std::merge(k, k + a.n / 2, k + a.n / 2, k + a.n, static_cast<decltype(k)>(a.out)); });
}

void topk(const PeerArrays &a) {
  with_peer_keys(a.t, a.keys, [&](auto *k) { std::partial_sort(k, k + a.part, k + a.n); });
}

void greatest(const PeerArrays &a) {
  with_peer_keys(a.t, a.keys, [&](auto *k) {
    using K = std::remove_pointer_t<decltype(k)>;
    constexpr uint64_t kLanes = 64;  // as in the sum
    K lanes[kLanes];
    std::fill(lanes, lanes + kLanes, k[0]);
    uint64_t i = 0;
    for (; i + kLanes <= a.n; i += kLanes)
      for (uint64_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = lanes[lane] < k[i + lane] ? k[i + lane] : lanes[lane];
    for (; i < a.n; ++i) lanes[0] = lanes[0] < k[i] ? k[i] : lanes[0];
    *static_cast<K *>(a.out) = *std::max_element(lanes, lanes + kLanes);
  });
}

}  // namespace

CpuPeer std_peer() { return {"std", false, sort, nullptr, argsort, sum, scan, merge, topk, greatest}; }

}  // namespace gsort_bench
