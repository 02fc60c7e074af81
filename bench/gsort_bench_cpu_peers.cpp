// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort's CPU engine beside other projects' ways of doing the same that this program was built with, on one thread or
// several. All work on the same data in turns; a figure is the least of many runs. On one thread it is time of the
// thread, so that other work on the machine shows little; on several, time on the clock. Every result of gsort is
// compared with the standard library's.
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cpu_handle.h"
#include "cpu_peer_cases.h"
#include "option_fields.h"

namespace gsort_bench {
namespace {

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

struct PeerOptions {
  uint32_t min_log2 = 4, max_log2 = 22, step_log2 = 2;
  std::vector<uint32_t> counts;  // of elements, in place of powers of two
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

// Seconds of a side's turn, all arrays one after the other, with gsort where there is no peer; below zero if a call
// failed.
double time_turn(const PeerCase &c, gsort *g, PeerFunction peer, Buffers &buffers, uint32_t threads) {
  bool right = true;
  const double begin = seconds_now(threads == 1);
  for (uint64_t a = 0; a < c.arrays(); ++a) {
    const PeerArrays array = buffers.array(c, a, threads);
    if (peer != nullptr) {
      run_peer(c, peer, array);
    } else if (!run_gsort(c, g, buffers, array)) {
      right = false;
    }
  }
  return right ? seconds_now(threads == 1) - begin : -1;
}

// Prints a row; returns whether all results are right.
bool run_case(const PeerCase &c, gsort *g, const std::vector<CpuPeer> &peers, const PeerOptions &o) {
  std::vector<double> best(peers.size() + 1, 1e30);
  bool right = true;
  double spent = 0;
  const bool reads_only = c.is(PeerWork::kArgsort) || c.is(PeerWork::kSum) || c.is(PeerWork::kScan) ||
                          c.is(PeerWork::kMerge) || c.is(PeerWork::kMax);
  Buffers buffers(c, make_keys(c));
  const Buffers fresh = buffers;
  const double most_spent = o.time_ms * 1e-3 * static_cast<double>(best.size());
  for (uint32_t round = 0; round < 3 || (round < 300 && spent < most_spent); ++round) {
    for (size_t turn = 0; turn < best.size(); ++turn) {
      // Another one begins each round: wide vectors are slow for some microseconds after a sort that used none.
      const size_t s = (round + turn) % best.size();
      const PeerFunction peer = s == 0 ? nullptr : function_of(peers[s - 1], c.work.work);
      if (s > 0 && peer == nullptr) continue;
      if (!reads_only) buffers = fresh;
      const double seconds = time_turn(c, g, peer, buffers, o.threads);
      right = right && seconds >= 0;
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

uint32_t number_of(const char *text) { return static_cast<uint32_t>(std::strtoul(text, nullptr, 10)); }

// Of a list with commas between them, none of them 0.
std::vector<uint32_t> numbers_of(const char *list) {
  std::vector<uint32_t> numbers;
  for (const char *at = list; at != nullptr; at = std::strchr(at, ','), at += at != nullptr ? 1 : 0)
    numbers.push_back(std::max(number_of(at), 1u));
  return numbers;
}

constexpr OptionField<PeerOptions, bool> kSwitches[] = {{"--data", &PeerOptions::data},
                                                        {"--all-data", &PeerOptions::all_data}};
constexpr OptionField<PeerOptions, uint32_t> kNumbers[] = {{"--min-log2", &PeerOptions::min_log2},
                                                           {"--max-log2", &PeerOptions::max_log2},
                                                           {"--step-log2", &PeerOptions::step_log2},
                                                           {"--threads", &PeerOptions::threads}};
constexpr OptionField<PeerOptions, std::string> kTexts[] = {{"--work", &PeerOptions::work},
                                                            {"--types", &PeerOptions::types},
                                                            {"--peers", &PeerOptions::peers},
                                                            {"--commit", &PeerOptions::commit}};

bool parse(int argc, char **argv, PeerOptions &o) {
  for (int a = 1; a < argc; ++a) {
    const std::string name = argv[a];
    if (set_field(kSwitches, name, true, o)) continue;
    if (a + 1 >= argc) return false;
    const char *const value = argv[++a];
    if (set_field(kNumbers, name, number_of(value), o) || set_field(kTexts, name, value, o)) continue;
    if (name == "--thread-table") {
      o.table_threads = numbers_of(value);
    } else if (name == "--counts") {
      o.counts = numbers_of(value);
    } else if (name == "--time-ms") {
      o.time_ms = std::strtod(value, nullptr);
    } else {
      return false;
    }
  }
  return o.threads > 0 && o.step_log2 > 0 && o.max_log2 < 36;
}

// The segments fill the array.
PeerCase case_of(const NamedWork &work, gsort_dtype t, uint64_t n, Distribution distribution) {
  return {work, t, work.work == PeerWork::kSegments ? n / work.part * work.part : n, distribution};
}

std::vector<uint64_t> counts_of(const PeerOptions &o) {
  std::vector<uint64_t> counts(o.counts.begin(), o.counts.end());
  if (!counts.empty()) return counts;
  for (uint32_t log2 = o.data ? o.max_log2 : o.min_log2; log2 <= o.max_log2; log2 += o.step_log2)
    counts.push_back(uint64_t{1} << log2);
  return counts;
}

// Calls f(case) for all that the options ask for; returns whether it always returned true.
template <class F>
bool for_each_case(const PeerOptions &o, F &&f) {
  bool right = true;
  for (const NamedWork &work : kPeerWorks) {
    if (!has_word(o.work, work.name)) continue;
    for (const gsort_dtype t : {GSORT_U32, GSORT_F32, GSORT_U64, GSORT_F64}) {
      if (!has_word(o.types, type_name(t))) continue;
      for (const uint64_t n : counts_of(o))
        for (const Distribution distribution : kCpuDistributions)
          if ((o.data || o.all_data || distribution == Distribution::kUniform) && n > work.part)
            right = f(case_of(work, t, n, distribution)) && right;
    }
  }
  return right;
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
  for (const uint32_t threads : o.table_threads) engines.push_back(make_cpu_handle(threads));
  if (std::count(engines.begin(), engines.end(), nullptr) > 0) return 1;
  const gsort_info info = info_of(engines.back());
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
  gsort *const g = make_cpu_handle(o.threads);
  if (g == nullptr) return 1;
  const gsort_info info = info_of(g);
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
    "  --counts LIST    of elements, in place of powers of two, such as 4,8,100\n"
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
