// SPDX-License-Identifier: MIT OR Apache-2.0
// Times gsort's CPU engine beside the standard library, and checks every result. Google Benchmark times and reports;
// the table that documents are made of has a file of its own.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "cpu_cases.h"
#include "cpu_handle.h"

namespace gsort_bench {
namespace {

struct Options {
  uint32_t threads = 0;  // the larger of the two thread counts; 0: all
  std::string csv_path;
  std::string commit = "unknown";
};

// What comes before the caller's arguments, which win: the median of runs of both sides in random turns.
const char *const kDefaults[] = {"--benchmark_filter=/uniform/", "--benchmark_repetitions=5",
                                 "--benchmark_min_time=0.05", "--benchmark_enable_random_interleaving=true",
                                 "--benchmark_report_aggregates_only=true"};

// Takes our own arguments out of argv.
Options take_options(std::vector<char *> &arguments) {
  Options o;
  const auto take = [&](const char *argument) {
    const auto is = [&](const char *name) { return std::strncmp(argument, name, std::strlen(name)) == 0; };
    if (is("--csv="))
      o.csv_path = argument + 6;
    else if (is("--commit="))
      o.commit = argument + 9;
    else if (is("--threads="))
      o.threads = static_cast<uint32_t>(std::strtoul(argument + 10, nullptr, 10));
    else
      return false;
    return true;
  };
  std::vector<char *> others;
  for (char *argument : arguments)
    if (!take(argument)) others.push_back(argument);
  arguments.swap(others);
  return o;
}

gsort *make_handle(uint32_t threads) {
  gsort *const g = make_cpu_handle(threads);
  if (g == nullptr) std::exit(1);
  return g;
}

// One thread's handle and the handle of all threads.
struct Handles {
  explicit Handles(uint32_t threads) : one(make_handle(1)), all(make_handle(threads)) {}
  ~Handles() {
    gsort_destroy(one);
    gsort_destroy(all);
  }
  Handles(const Handles &) = delete;
  Handles &operator=(const Handles &) = delete;
  gsort *one;
  gsort *all;
};

// A case once for each of the thread counts.
std::vector<CpuCase> make_cases(uint32_t all_threads) {
  std::vector<CpuCase> cases;
  const auto add = [&](CpuCase c) {
    cases.push_back(c);
    c.threads = all_threads;
    if (all_threads > 1) cases.push_back(c);
  };
  for (const CpuWork work : {CpuWork::kSort, CpuWork::kArgsort, CpuWork::kTopk, CpuWork::kSum})
    for (gsort_dtype t = GSORT_U8; t <= GSORT_F64; ++t)
      for (const uint32_t log2 : {10u, 16u, 20u, 24u, 26u}) add({work, t, uint64_t{1} << log2, 1});
  for (const CpuWork work : {CpuWork::kSort, CpuWork::kArgsort, CpuWork::kTopk})
    for (const gsort_dtype t : {GSORT_U32, GSORT_U64, GSORT_F32})
      for (const Distribution distribution : kCpuDistributions)
        if (distribution != Distribution::kUniform) add({work, t, uint64_t{1} << 24, 1, distribution});
  return cases;
}

std::string gsort_side(const CpuCase &c) { return cpu_case_name(c) + "/gsort/threads:" + std::to_string(c.threads); }
std::string peer_side(const CpuCase &c) { return cpu_case_name(c) + "/" + cpu_peer_name(c.work); }

void register_sides(const std::vector<CpuCase> &cases, const Handles &handles) {
  for (const CpuCase &c : cases) {
    gsort *const g = c.threads == 1 ? handles.one : handles.all;
    benchmark::RegisterBenchmark(gsort_side(c).c_str(), run_cpu_case, c, g)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    if (c.threads != 1) continue;
    benchmark::RegisterBenchmark(peer_side(c).c_str(), run_cpu_case, c, nullptr)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

// Also keeps the medians, by the sides' names.
class Reporter : public benchmark::ConsoleReporter {
 public:
  Reporter() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run> &runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run &run : runs) {
      const bool only = run.run_type == Run::RT_Iteration && run.repetitions <= 1;
      if (only || run.aggregate_name == "median") medians_[run.run_name.function_name] = run.GetAdjustedRealTime();
    }
  }
  double median_ms(const std::string &side) const {
    const auto found = medians_.find(side);
    return found == medians_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, double> medians_;
};

// What a reader of the file must know: as in the files of gsort_bench.
void write_facts(std::FILE *csv, const Options &o, const gsort_info &info) {
  const std::time_t now = std::time(nullptr);
  char date[32] = "";
  std::tm utc = {};
  if (gmtime_r(&now, &utc) != nullptr) std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  std::fprintf(csv, "# date: %s\n# device: %s, %u threads\n# gsort: %s\n# commit: %s\n", date, info.device_name,
               info.threads, gsort_version_string(), o.commit.c_str());
  std::fprintf(csv, "work,type,data,n,threads,gsort_ms,peer_ms,peer,ratio,outcome\n");
}

// The rows of which both sides ran.
int write_rows(const Options &o, const gsort_info &info, const std::vector<CpuCase> &cases, const Reporter &reporter) {
  std::FILE *const csv = std::fopen(o.csv_path.c_str(), "w");
  if (csv == nullptr) {
    std::fprintf(stderr, "gsort_bench_cpu: %s cannot be opened for writing\n", o.csv_path.c_str());
    return 2;
  }
  write_facts(csv, o, info);
  for (const CpuCase &c : cases) {
    const double gsort_ms = reporter.median_ms(gsort_side(c)), peer_ms = reporter.median_ms(peer_side(c));
    if (gsort_ms == 0 || peer_ms == 0) continue;
    std::fprintf(csv, "%s,%s,%s,%llu,%u,%.6g,%.6g,%s,%.6g,%s\n", cpu_work_name(c.work), dtype_name(c.t),
                 distribution_name(c.distribution), static_cast<unsigned long long>(c.n), c.threads, gsort_ms, peer_ms,
                 cpu_peer_name(c.work), peer_ms / gsort_ms, cpu_case_failed(c) ? "WRONG" : "ok");
  }
  std::fclose(csv);
  return 0;
}

int run(int argc, char **argv) {
  std::vector<char *> arguments(argv, argv + argc);
  const Options o = take_options(arguments);
  for (const char *fallback : kDefaults) arguments.insert(arguments.begin() + 1, const_cast<char *>(fallback));
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  const Handles handles(o.threads);
  const gsort_info info = info_of(handles.all);
  benchmark::AddCustomContext("processor", info.device_name);
  benchmark::AddCustomContext("gsort", gsort_version_string());
  benchmark::AddCustomContext("commit", o.commit);
  const std::vector<CpuCase> cases = make_cases(info.threads);
  register_sides(cases, handles);
  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  const int written = o.csv_path.empty() ? 0 : write_rows(o, info, cases, reporter);
  return std::any_of(cases.begin(), cases.end(), cpu_case_failed) ? 1 : written;
}

}  // namespace
}  // namespace gsort_bench

int main(int argc, char **argv) { return gsort_bench::run(argc, argv); }
