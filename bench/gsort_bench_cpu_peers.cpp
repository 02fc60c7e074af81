// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort's CPU engine beside other projects' ways of doing the same that this program was built with, on one thread or
// several. All work on the same data in turns; a figure is the least of many runs. On one thread it is time of the
// thread, so that other work on the machine shows little; on several, time on the clock. Every result of gsort is
// compared with the standard library's.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "cpu_data.h"
#include "cpu_peers.h"

namespace gsort_bench {
namespace {

enum class PeerWork { kSort, kPairs, kArgsort, kSum, kScan, kMerge, kSegments, kTopk, kMax };
struct NamedWork {
  PeerWork work;
  const char *name;
  uint64_t part = 0;      // elements of a segment, or k
  int32_t exponents = 0;  // of floats to be added, drawn from so many powers of two; 0: uniform in [0, 1)
};
constexpr int32_t kAllExponents = 1900;
constexpr NamedWork kPeerWorks[] = {{PeerWork::kSort, "sort"},
                                    {PeerWork::kPairs, "pairs"},
                                    {PeerWork::kArgsort, "argsort"},
                                    {PeerWork::kSum, "sum"},
                                    {PeerWork::kSum, "sum-50", 0, 50},
                                    {PeerWork::kSum, "sum-wide", 0, kAllExponents},
                                    {PeerWork::kScan, "scan"},
                                    {PeerWork::kMerge, "merge"},
                                    {PeerWork::kSegments, "segments-10", 10},
                                    {PeerWork::kSegments, "segments-100", 100},
                                    {PeerWork::kSegments, "segments-1000", 1000},
                                    {PeerWork::kTopk, "topk-10", 10},
                                    {PeerWork::kTopk, "topk-4096", 4096},
                                    {PeerWork::kMax, "max"}};

// Whether a list of words with commas between them has this one.
bool has_word(const std::string &list, const std::string &word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

std::vector<CpuPeer> cpu_peers(const std::string &wanted) {
  std::vector<CpuPeer> peers;
#if GSORT_BENCH_VQSORT
  peers.push_back(vqsort_peer());
#endif
#if GSORT_BENCH_X86_SIMD_SORT
  peers.push_back(x86_simd_sort_peer());
#endif
#if GSORT_BENCH_IPS4O
  peers.push_back(ips4o_peer());
#endif
  peers.push_back(std_peer());
  const auto unwanted = [&](const CpuPeer &peer) { return wanted.find(peer.name) == std::string::npos; };
  if (!wanted.empty()) peers.erase(std::remove_if(peers.begin(), peers.end(), unwanted), peers.end());
  return peers;
}

PeerFunction function_of(const CpuPeer &peer, PeerWork work) {
  switch (work) {
    case PeerWork::kSort:
      return peer.sort;
    case PeerWork::kPairs:
      return peer.pairs;
    case PeerWork::kArgsort:
      return peer.argsort;
    case PeerWork::kSum:
      return peer.sum;
    case PeerWork::kScan:
      return peer.scan;
    case PeerWork::kMerge:
      return peer.merge;
    case PeerWork::kSegments:
      return peer.sort;  // one segment after the other
    case PeerWork::kTopk:
      return peer.topk;
    case PeerWork::kMax:
      return peer.greatest;
  }
  return nullptr;
}

struct PeerOptions {
  uint32_t min_log2 = 4, max_log2 = 22, step_log2 = 2;
  uint32_t threads = 1;
  std::vector<uint32_t> table_threads;  // a table of gsort's own times instead
  double time_ms = 150;
  bool data = false, all_data = false;
  std::string work = "sort", types = "u32,f32,u64,f64", peers;
  std::string commit = "unknown";
};

double seconds_now(bool of_thread) {
  timespec now{};
  clock_gettime(of_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct PeerCase {
  NamedWork work;
  gsort_dtype t;
  uint64_t n;
  Distribution distribution;

  uint32_t key_bytes() const { return t == GSORT_U32 || t == GSORT_F32 ? 4 : 8; }
  // Short arrays are worked on by the dozen, so that a run is long against the clock.
  uint64_t arrays() const { return std::max<uint64_t>(1, (uint64_t{1} << 14) / n); }
  bool is(PeerWork other) const { return work.work == other; }
};

using Bytes = std::vector<unsigned char>;

Bytes make_keys(const PeerCase &c) {
  const uint64_t items = c.n * c.arrays();
  Bytes keys(items * c.key_bytes());
  CpuWords words(c.distribution, items);
  for (uint64_t i = 0; i < items; ++i) {
    const uint64_t word = words.next();
    with_peer_keys(c.t, &keys[i * c.key_bytes()], [word, &c](auto *k) {
      using K = std::remove_pointer_t<decltype(k)>;
      if constexpr (std::is_floating_point_v<K>) {
        const double unit = static_cast<double>(word >> 11) * 0x1p-53;
        const int32_t most = sizeof(K) == 4 ? 240 : kAllExponents;  // and sums stay finite
        const int32_t exponents = std::min(c.work.exponents, most);
        const int32_t drawn = exponents == 0 ? 0 : static_cast<int32_t>(word % static_cast<uint32_t>(exponents));
        *k = static_cast<K>(exponents == 0 ? unit : std::ldexp(1 + unit, drawn - exponents / 2 - 20));
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

// The arrays of a run: values are the places of the keys before, indices have room for 8 bytes.
struct Buffers {
  Bytes keys, values, out;
  std::vector<uint64_t> offsets;  // of segments

  explicit Buffers(const PeerCase &c, const Bytes &in) : keys(in), values(in.size()), out(c.n * c.arrays() * 8, 0xa5) {
    const uint64_t items = c.n * c.arrays();
    for (uint64_t i = 0; i < items; ++i) {
      if (c.key_bytes() == 4) {
        reinterpret_cast<uint32_t *>(values.data())[i] = static_cast<uint32_t>(i);
      } else {
        reinterpret_cast<uint64_t *>(values.data())[i] = i;
      }
    }
    if (c.is(PeerWork::kSegments))
      for (uint64_t begin = 0; begin <= c.n; begin += c.work.part) offsets.push_back(begin);
    if (c.is(PeerWork::kMerge))
      for (uint64_t half = 0; half < 2 * c.arrays(); ++half)
        with_peer_keys(c.t, keys.data(), [&](auto *k) { std::sort(k + half * c.n / 2, k + (half + 1) * c.n / 2); });
  }
  PeerArrays array(const PeerCase &c, uint64_t a, uint32_t threads) {
    const uint64_t at = a * c.n * c.key_bytes();
    return {c.t, &keys[at], &values[at], &out[a * c.n * 8], c.n, threads, c.work.part};
  }
};

bool run_gsort(const PeerCase &c, gsort *g, const Buffers &buffers, const PeerArrays &a) {
  switch (c.work.work) {
    case PeerWork::kSort:
      return gsort_sort(g, a.t, a.keys, a.keys, a.n, 0) == GSORT_OK;
    case PeerWork::kPairs:
      return gsort_sort_pairs(g, a.t, a.keys, a.keys, c.key_bytes(), a.values, a.values, a.n, 0) == GSORT_OK;
    case PeerWork::kArgsort:
      return gsort_argsort(g, a.t, a.keys, a.n, GSORT_U32, a.out, 0) == GSORT_OK;
    case PeerWork::kSum:
      return gsort_sum(g, a.t, a.keys, a.n, a.out, 0) == GSORT_OK;
    case PeerWork::kScan:
      return gsort_scan(g, a.t, a.keys, a.out, a.n, 0) == GSORT_OK;
    case PeerWork::kMerge: {
      const unsigned char *const second = static_cast<unsigned char *>(a.keys) + a.n / 2 * c.key_bytes();
      return gsort_merge(g, a.t, a.keys, a.n / 2, second, a.n - a.n / 2, a.out, 0) == GSORT_OK;
    }
    case PeerWork::kSegments:
      return gsort_sort_segments(g, a.t, a.keys, a.keys, a.n, buffers.offsets.data(), buffers.offsets.size() - 1, 0) ==
             GSORT_OK;
    case PeerWork::kTopk:
      return gsort_topk(g, a.t, a.keys, a.n, a.part, a.out, 0, nullptr, GSORT_SMALLEST) == GSORT_OK;
    case PeerWork::kMax:
      return gsort_reduce(g, GSORT_MAX, a.t, a.keys, a.n, a.out, 0) == GSORT_OK;
  }
  return false;
}

// Sorts of segments are sorts of each.
void run_peer(const PeerCase &c, PeerFunction peer, const PeerArrays &a) {
  if (!c.is(PeerWork::kSegments)) return peer(a);
  PeerArrays segment = a;
  segment.n = c.work.part;
  for (uint64_t begin = 0; begin + c.work.part <= a.n; begin += c.work.part) {
    segment.keys = static_cast<unsigned char *>(a.keys) + begin * c.key_bytes();
    peer(segment);
  }
}

// Whether gsort's sums of floats, which are rounded or added otherwise than the peers', differ by no more than that.
bool sums_are_near(const PeerCase &c, Buffers &got) {
  bool near = true;
  for (uint64_t a = 0; a < c.arrays(); ++a) {
    const PeerArrays array = got.array(c, a, 1);
    with_peer_keys(c.t, array.keys, [&](auto *k) {
      double sum = 0;
      const auto is_near = [&sum](double x) { return std::fabs(x - sum) <= 1e-6 * sum; };
      for (uint64_t i = 0; i < c.n; ++i) {
        sum += static_cast<double>(k[i]);
        if (c.is(PeerWork::kScan)) near = near && is_near(static_cast<double>(static_cast<decltype(k)>(array.out)[i]));
      }
      if (c.is(PeerWork::kSum)) near = near && is_near(*static_cast<double *>(array.out));
    });
  }
  return near;
}

// What gsort must leave. Pairs: values are the keys' places, so a stable order sorts those of equal keys.
bool is_right(const PeerCase &c, Buffers &got, Buffers &expected) {
  const CpuPeer peer = std_peer();
  for (uint64_t a = 0; a < c.arrays(); ++a) {
    const PeerArrays array = expected.array(c, a, 1);
    if (c.is(PeerWork::kPairs)) {
      peer.argsort(array);
      peer.sort(array);
      const uint32_t *const order = static_cast<uint32_t *>(array.out);
      for (uint64_t i = 0; i < c.n; ++i) {
        const uint64_t place = order[i] + a * c.n;
        std::memcpy(static_cast<unsigned char *>(array.values) + i * c.key_bytes(), &place, c.key_bytes());
      }
    } else {
      run_peer(c, function_of(peer, c.work.work), array);
      if (c.is(PeerWork::kTopk)) std::memcpy(array.out, array.keys, c.work.part * c.key_bytes());
    }
  }
  if (c.is(PeerWork::kSort) || c.is(PeerWork::kPairs) || c.is(PeerWork::kSegments))
    return got.keys == expected.keys && got.values == expected.values;
  const bool is_float = c.t == GSORT_F32 || c.t == GSORT_F64;
  if (is_float && (c.is(PeerWork::kSum) || c.is(PeerWork::kScan))) return sums_are_near(c, got);
  return got.out == expected.out;
}

void print_row(const PeerCase &c, const std::vector<double> &best, bool right) {
  const double items = static_cast<double>(c.n * c.arrays());
  std::printf("| %s %s | %llu | %s |", c.work.name, type_name(c.t), static_cast<unsigned long long>(c.n),
              distribution_name(c.distribution));
  for (const double seconds : best) seconds < 1e30 ? std::printf(" %.2f |", seconds * 1e9 / items) : std::printf(" |");
  const double least = *std::min_element(best.begin() + 1, best.end());
  least < 1e30 ? std::printf(" %.2f |", least / best[0]) : std::printf(" |");  // no peer at hand does this work
  std::printf(" %s |\n", right ? "ok" : "WRONG");
  std::fflush(stdout);
}

// Prints a row; returns whether all results are right.
bool run_case(const PeerCase &c, gsort *g, const std::vector<CpuPeer> &peers, const PeerOptions &o) {
  const Bytes in = make_keys(c);
  std::vector<double> best(peers.size() + 1, 1e30);
  bool right = true;
  double spent = 0;
  const bool reads_only = c.is(PeerWork::kArgsort) || c.is(PeerWork::kSum) || c.is(PeerWork::kScan) ||
                          c.is(PeerWork::kMerge) || c.is(PeerWork::kMax);
  Buffers buffers(c, in);
  const Buffers fresh = buffers;
  // Seconds for all arrays.
  const auto run = [&](PeerFunction peer) {
    const double begin = seconds_now(o.threads == 1);
    for (uint64_t a = 0; a < c.arrays(); ++a) {
      const PeerArrays array = buffers.array(c, a, o.threads);
      if (peer != nullptr) {
        run_peer(c, peer, array);
      } else if (!run_gsort(c, g, buffers, array)) {
        right = false;
      }
    }
    return seconds_now(o.threads == 1) - begin;
  };
  for (uint32_t round = 0; round < 3 || (round < 300 && spent * 1e3 < o.time_ms * static_cast<double>(best.size()));
       ++round) {
    for (size_t turn = 0; turn < best.size(); ++turn) {
      // Another one begins each round: wide vectors are slow for some microseconds after a sort that used none.
      const size_t s = (round + turn) % best.size();
      const PeerFunction peer = s == 0 ? nullptr : function_of(peers[s - 1], c.work.work);
      if (s > 0 && peer == nullptr) continue;
      if (!reads_only) buffers = fresh;
      const double seconds = run(peer);
      spent += seconds;
      best[s] = std::min(best[s], seconds);
      if (round == 0 && s == 0) {
        Buffers expected = fresh;
        right = is_right(c, buffers, expected) && right;
      }
    }
  }
  print_row(c, best, right);
  return right;
}

bool parse(int argc, char **argv, PeerOptions &o) {
  const auto number = [](const char *text) { return static_cast<uint32_t>(std::strtoul(text, nullptr, 10)); };
  for (int a = 1; a < argc; ++a) {
    const std::string name = argv[a];
    if (name == "--data") {
      o.data = true;
      continue;
    }
    if (name == "--all-data") {
      o.all_data = true;
      continue;
    }
    if (a + 1 >= argc) return false;
    const char *const value = argv[++a];
    if (name == "--min-log2") {
      o.min_log2 = number(value);
    } else if (name == "--max-log2") {
      o.max_log2 = number(value);
    } else if (name == "--step-log2") {
      o.step_log2 = std::max(number(value), 1u);
    } else if (name == "--threads") {
      o.threads = number(value);
    } else if (name == "--thread-table") {
      for (const char *at = value; at != nullptr; at = std::strchr(at, ','), at += at != nullptr ? 1 : 0)
        o.table_threads.push_back(std::max(number(at), 1u));
    } else if (name == "--time-ms") {
      o.time_ms = std::strtod(value, nullptr);
    } else if (name == "--work") {
      o.work = value;
    } else if (name == "--types") {
      o.types = value;
    } else if (name == "--peers") {
      o.peers = value;
    } else if (name == "--commit") {
      o.commit = value;
    } else {
      return false;
    }
  }
  return o.threads > 0 && o.max_log2 < 36;
}

// The segments fill the array.
PeerCase case_of(const NamedWork &work, gsort_dtype t, uint32_t log2, Distribution distribution) {
  const uint64_t n = uint64_t{1} << log2;
  return {work, t, work.work == PeerWork::kSegments ? n / work.part * work.part : n, distribution};
}

// Calls f(case) for all that the options ask for; returns whether it always returned true.
template <class F>
bool for_each_case(const PeerOptions &o, F &&f) {
  bool right = true;
  for (const NamedWork &work : kPeerWorks) {
    if (!has_word(o.work, work.name)) continue;
    for (const gsort_dtype t : {GSORT_U32, GSORT_F32, GSORT_U64, GSORT_F64}) {
      if (!has_word(o.types, type_name(t))) continue;
      const uint32_t min_log2 = o.data ? o.max_log2 : o.min_log2;
      for (uint32_t log2 = min_log2; log2 <= o.max_log2; log2 += o.step_log2)
        for (const Distribution distribution : kCpuDistributions)
          if ((o.data || o.all_data || distribution == Distribution::kUniform) && uint64_t{1} << log2 > work.part)
            right = f(case_of(work, t, log2, distribution)) && right;
    }
  }
  return right;
}

gsort *create_engine(uint32_t threads, gsort_info &info) {
  gsort_options options{};
  options.struct_size = sizeof options;
  options.backend = GSORT_BACKEND_CPU;
  options.device = -1;
  options.threads = threads;
  gsort *g = nullptr;
  if (gsort_create(&options, &g) != GSORT_OK) {
    std::fprintf(stderr, "gsort_bench_cpu_peers: %s\n", gsort_error_message(nullptr));
    return nullptr;
  }
  info.struct_size = sizeof info;
  gsort_info_get(g, &info);
  return g;
}

// Microseconds that a call takes, the median of several, one after the other or after pauses in which threads fall
// asleep; below zero if one fails.
double median_us(const PeerCase &c, gsort *g, Buffers &buffers, const Buffers &fresh, bool pauses, double time_ms) {
  std::vector<double> times;
  double spent_ms = 0;
  for (uint64_t call = 0; call < 3 || (call < 200 && spent_ms < time_ms); ++call) {
    const uint64_t a = call % c.arrays();
    if (a == 0) buffers = fresh;
    if (pauses) {
      const timespec pause{0, 1500000};
      nanosleep(&pause, nullptr);
      spent_ms += 1.5;
    }
    const double begin = seconds_now(false);
    if (!run_gsort(c, g, buffers, buffers.array(c, a, 0))) return -1;
    times.push_back((seconds_now(false) - begin) * 1e6);
    spent_ms += times.back() * 1e-3;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// What each number of threads takes, so that the constants that say how many a call wakes can be read from it.
int run_thread_table(const PeerOptions &o) {
  std::vector<gsort *> engines;
  gsort_info info{};
  for (const uint32_t threads : o.table_threads) engines.push_back(create_engine(threads, info));
  if (std::count(engines.begin(), engines.end(), nullptr) > 0) return 1;
  std::printf("%s, microseconds a call, commit %s\n\n| work | n |", info.device_name, o.commit.c_str());
  for (const char *const when : {"", " after a pause"})
    for (const uint32_t threads : o.table_threads) std::printf(" %u threads%s |", threads, when);
  std::printf("\n|---|---|");
  for (size_t i = 0; i < 2 * engines.size(); ++i) std::printf("---|");
  std::printf("\n");
  const bool right = for_each_case(o, [&](const PeerCase &c) {
    Buffers buffers(c, make_keys(c));
    const Buffers fresh = buffers;
    bool done = true;
    std::printf("| %s %s | %llu |", c.work.name, type_name(c.t), static_cast<unsigned long long>(c.n));
    for (const bool pauses : {false, true})
      for (gsort *const g : engines) {
        const double us = median_us(c, g, buffers, fresh, pauses, o.time_ms);
        done = done && us >= 0;
        std::printf(" %.1f |", us);
      }
    std::printf("\n");
    std::fflush(stdout);
    return done;
  });
  for (gsort *const g : engines) gsort_destroy(g);
  return right ? 0 : 1;
}

int run(const PeerOptions &o) {
  gsort_info info{};
  gsort *const g = create_engine(o.threads, info);
  if (g == nullptr) return 1;
  const std::vector<CpuPeer> peers = cpu_peers(o.peers);
  std::printf("%s, %u threads, ns an element, commit %s\n\n| work | n | data | gsort |", info.device_name, o.threads,
              o.commit.c_str());
  for (const CpuPeer &peer : peers)
    std::printf(" %s%s |", peer.name, o.threads > 1 && !peer.on_threads ? " (one thread)" : "");
  std::printf(" best peer over gsort | |\n|---|---|---|---|");
  for (size_t i = 0; i < peers.size() + 2; ++i) std::printf("---|");
  std::printf("\n");
  const bool right = for_each_case(o, [&](const PeerCase &c) { return run_case(c, g, peers, o); });
  gsort_destroy(g);
  return right ? 0 : 1;
}

const char *const kUsage =
    "gsort_bench_cpu_peers: gsort's CPU engine beside the peers at hand, nanoseconds an element\n"
    "  --work LIST      of sort,pairs,argsort,sum,sum-50,sum-wide,scan,merge,segments-10,segments-100,\n"
    "                   segments-1000,topk-10,topk-4096,max (default sort); 50: exponents that floats are drawn from\n"
    "  --types LIST     of u32,f32,u64,f64 (default all)\n"
    "  --peers LIST     default: all that this program was built with\n"
    "  --threads N      default 1\n"
    "  --thread-table LIST   instead: what calls take on so many threads each, such as 1,2,4,8,16\n"
    "  --min-log2 N, --max-log2 N, --step-log2 N   sizes (default 4, 22, 2)\n"
    "  --data           the largest size of each distribution instead\n"
    "  --all-data       every size of each distribution\n"
    "  --time-ms MS     time for the runs of one figure (default 150)\n"
    "  --commit TEXT    printed in the header\n"
    "Exit code: 0 all right, 1 a wrong row, 2 wrong arguments.\n";

}  // namespace
}  // namespace gsort_bench

int main(int argc, char **argv) {
  gsort_bench::PeerOptions options;
  if (!gsort_bench::parse(argc, argv, options)) {
    std::fputs(gsort_bench::kUsage, stderr);
    return 2;
  }
  return options.table_threads.empty() ? gsort_bench::run(options) : gsort_bench::run_thread_table(options);
}
