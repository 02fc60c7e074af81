// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of keys alone on one thread: gsort beside the vector sorts that this program was built with and std::sort. All
// sort the same keys in turns; a figure is the least of many runs, in time of the thread, so that other work on the
// machine shows little. Every result is compared with std::sort's.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "cpu_data.h"
#include "cpu_peers.h"

namespace gsort_bench {

void sort_with_std(gsort_dtype t, void *keys, uint64_t n) {
  with_peer_keys(t, keys, [n](auto *k) { std::sort(k, k + n); });
}

std::vector<CpuPeer> cpu_peers() {
  std::vector<CpuPeer> peers;
#if GSORT_BENCH_VQSORT
  peers.push_back({"vqsort", sort_with_vqsort});
#endif
#if GSORT_BENCH_X86_SIMD_SORT
  peers.push_back({"x86-simd-sort", sort_with_x86_simd_sort});
#endif
  peers.push_back({"std::sort", sort_with_std});
  return peers;
}

namespace {

struct PeerOptions {
  uint32_t max_log2 = 22;
  double time_ms = 150;
  bool data = false;
  std::string commit = "unknown";
};

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct PeerCase {
  gsort_dtype t;
  uint64_t n;
  Distribution distribution;
};

// Short arrays are sorted by the dozen, so that a run is long against the clock.
uint64_t arrays_of(uint64_t n) { return std::max<uint64_t>(1, (uint64_t{1} << 14) / n); }

std::vector<unsigned char> make_keys(const PeerCase &c, uint32_t bytes) {
  const uint64_t arrays = arrays_of(c.n);
  std::vector<unsigned char> keys(c.n * arrays * bytes);
  CpuWords words(c.distribution, c.n * arrays);
  for (uint64_t i = 0; i < c.n * arrays; ++i) {
    const uint64_t word = words.next();
    unsigned char *const key = &keys[i * bytes];
    with_peer_keys(c.t, key, [word](auto *k) {
      using K = std::remove_pointer_t<decltype(k)>;
      if constexpr (std::is_floating_point_v<K>) {
        *k = static_cast<K>(static_cast<double>(word >> 11) * 0x1p-53);
      } else {
        *k = static_cast<K>(word >> (64 - 8 * sizeof(K)));
      }
    });
  }
  return keys;
}

const char *type_name(gsort_dtype t) {
  return t == GSORT_U32 ? "u32" : t == GSORT_U64 ? "u64" : t == GSORT_F32 ? "f32" : "f64";
}

// Prints a row; returns whether all results are right.
bool run_case(const PeerCase &c, gsort *g, const std::vector<CpuPeer> &peers, const PeerOptions &o) {
  const uint32_t bytes = c.t == GSORT_U32 || c.t == GSORT_F32 ? 4 : 8;
  const uint64_t arrays = arrays_of(c.n);
  const std::vector<unsigned char> in = make_keys(c, bytes);
  std::vector<unsigned char> expected = in;
  for (uint64_t a = 0; a < arrays; ++a) sort_with_std(c.t, &expected[a * c.n * bytes], c.n);
  std::vector<double> best(peers.size() + 1, 1e30);
  bool right = true;
  double spent = 0;
  for (uint32_t round = 0; round < 3 || (round < 300 && spent * 1e3 < o.time_ms * static_cast<double>(best.size()));
       ++round) {
    for (size_t s = 0; s < best.size(); ++s) {
      std::vector<unsigned char> keys = in;
      const double begin = thread_seconds();
      for (uint64_t a = 0; a < arrays; ++a) {
        unsigned char *const array = &keys[a * c.n * bytes];
        if (s > 0) {
          peers[s - 1].sort(c.t, array, c.n);
        } else if (gsort_sort(g, c.t, array, array, c.n, 0) != GSORT_OK) {
          right = false;
        }
      }
      const double seconds = thread_seconds() - begin;
      spent += seconds;
      best[s] = std::min(best[s], seconds);
      right = right && keys == expected;
    }
  }
  const double items = static_cast<double>(c.n * arrays);
  std::printf("| sort %s | %llu | %s |", type_name(c.t), static_cast<unsigned long long>(c.n),
              distribution_name(c.distribution));
  for (const double seconds : best) std::printf(" %.2f |", seconds * 1e9 / items);
  std::printf(" %.2f | %s |\n", *std::min_element(best.begin() + 1, best.end()) / best[0], right ? "ok" : "WRONG");
  std::fflush(stdout);
  return right;
}

bool parse(int argc, char **argv, PeerOptions &o) {
  for (int a = 1; a < argc; ++a) {
    const std::string name = argv[a];
    if (name == "--data") {
      o.data = true;
    } else if (a + 1 < argc && name == "--max-log2") {
      o.max_log2 = static_cast<uint32_t>(std::strtoul(argv[++a], nullptr, 10));
    } else if (a + 1 < argc && name == "--time-ms") {
      o.time_ms = std::strtod(argv[++a], nullptr);
    } else if (a + 1 < argc && name == "--commit") {
      o.commit = argv[++a];
    } else {
      return false;
    }
  }
  return true;
}

int run(const PeerOptions &o) {
  gsort_options options{};
  options.struct_size = sizeof options;
  options.backend = GSORT_BACKEND_CPU;
  options.device = -1;
  options.threads = 1;
  gsort *g = nullptr;
  if (gsort_create(&options, &g) != GSORT_OK) {
    std::fprintf(stderr, "gsort_bench_cpu_peers: %s\n", gsort_error_message(nullptr));
    return 1;
  }
  gsort_info info{};
  info.struct_size = sizeof info;
  gsort_info_get(g, &info);
  const std::vector<CpuPeer> peers = cpu_peers();
  std::printf("%s, one thread, ns an element, commit %s\n\n| work | n | data | gsort |", info.device_name,
              o.commit.c_str());
  for (const CpuPeer &peer : peers) std::printf(" %s |", peer.name);
  std::printf(" best peer over gsort | |\n|---|---|---|---|");
  for (size_t i = 0; i < peers.size() + 2; ++i) std::printf("---|");
  std::printf("\n");
  bool right = true;
  for (const gsort_dtype t : {GSORT_U32, GSORT_F32, GSORT_U64, GSORT_F64}) {
    if (o.data) {
      for (const Distribution distribution : kCpuDistributions)
        right = run_case({t, uint64_t{1} << std::min(o.max_log2, 20u), distribution}, g, peers, o) && right;
    } else {
      for (uint32_t log2 = 4; log2 <= o.max_log2; log2 += 2)
        right = run_case({t, uint64_t{1} << log2, Distribution::kUniform}, g, peers, o) && right;
    }
  }
  gsort_destroy(g);
  return right ? 0 : 1;
}

}  // namespace
}  // namespace gsort_bench

int main(int argc, char **argv) {
  gsort_bench::PeerOptions options;
  if (!gsort_bench::parse(argc, argv, options)) {
    std::fputs("usage: gsort_bench_cpu_peers [--data] [--max-log2 N] [--time-ms MS] [--commit TEXT]\n", stderr);
    return 2;
  }
  return gsort_bench::run(options);
}
