// SPDX-License-Identifier: MIT OR Apache-2.0
// Times gsort's CPU engine beside the standard library, and checks every result.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "cpu_cases.h"

namespace gsort_bench {
namespace {

struct CpuOptions {
  bool quick = false;
  bool help = false;
  bool data = false;
  uint32_t max_log2 = 24;
  uint32_t threads = 0;  // the larger of the two thread counts; 0: all
  double time_ms = 300;
  std::string csv_path;
  std::string filter;
  std::string commit = "unknown";
};

const char *const kUsage =
    "gsort_bench_cpu: times gsort on the CPU beside the standard library and checks every result\n"
    "  --quick          few sizes and types, short runs\n"
    "  --max-log2 N     sizes up to 2^N (default 24)\n"
    "  --threads N      threads of the second column of runs (default: all)\n"
    "  --time-ms MS     time for the timed runs of one side of a row (default 300)\n"
    "  --data           2^24 elements of other data than uniform (u32, u64, f32), beside uniform ones\n"
    "  --filter TEXT    only rows whose name contains TEXT\n"
    "  --csv FILE       write the rows as CSV\n"
    "  --commit TEXT    printed in the header\n"
    "Exit code: 0 all right, 1 a wrong row, 2 wrong arguments.\n";

std::string parse(int argc, char **argv, CpuOptions &o) {
  for (int a = 1; a < argc; ++a) {
    const std::string name = argv[a];
    if (name == "--quick") {
      o.quick = true;
      continue;
    }
    if (name == "--data") {
      o.data = true;
      continue;
    }
    if (name == "--help") {
      o.help = true;
      continue;
    }
    if (a + 1 >= argc) return name + " is unknown or lacks its value; see --help";
    const char *const value = argv[++a];
    if (name == "--max-log2") {
      o.max_log2 = static_cast<uint32_t>(std::strtoul(value, nullptr, 10));
    } else if (name == "--threads") {
      o.threads = static_cast<uint32_t>(std::strtoul(value, nullptr, 10));
    } else if (name == "--time-ms") {
      o.time_ms = std::strtod(value, nullptr);
    } else if (name == "--filter") {
      o.filter = value;
    } else if (name == "--csv") {
      o.csv_path = value;
    } else if (name == "--commit") {
      o.commit = value;
    } else {
      return name + " is unknown; see --help";
    }
  }
  return "";
}

gsort *make_handle(uint32_t threads) {
  gsort_options options{};
  options.struct_size = sizeof options;
  options.backend = GSORT_BACKEND_CPU;
  options.device = -1;
  options.threads = threads;
  gsort *g = nullptr;
  if (gsort_create(&options, &g) != GSORT_OK) {
    std::fprintf(stderr, "gsort_bench_cpu: %s\n", gsort_error_message(nullptr));
    std::exit(1);
  }
  return g;
}

gsort_info info_of(gsort *g) {
  gsort_info info{};
  info.struct_size = sizeof info;
  gsort_info_get(g, &info);
  return info;
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

std::string name_of(const CpuCase &c) {
  const std::string name = std::string(cpu_work_name(c.work)) + " " + dtype_name(c.t);
  return c.distribution == Distribution::kUniform ? name : name + " " + distribution_name(c.distribution);
}

// The case on one thread and on all, if the filter has its name.
void add_case(std::vector<CpuCase> &cases, const CpuOptions &o, CpuCase c, uint32_t all_threads) {
  if (name_of(c).find(o.filter) == std::string::npos) return;
  cases.push_back(c);
  c.threads = all_threads;
  if (all_threads > 1) cases.push_back(c);
}

std::vector<CpuCase> make_data_cases(const CpuOptions &o, uint32_t all_threads) {
  std::vector<CpuCase> cases;
  const uint64_t n = uint64_t{1} << (o.quick ? 20 : 24);
  for (const CpuWork work : {CpuWork::kSort, CpuWork::kArgsort, CpuWork::kTopk})
    for (const gsort_dtype t : {GSORT_U32, GSORT_U64, GSORT_F32})
      for (const Distribution distribution : kCpuDistributions)
        add_case(cases, o, {work, t, n, 1, distribution}, all_threads);
  return cases;
}

std::vector<CpuCase> make_cases(const CpuOptions &o, uint32_t all_threads) {
  if (o.data) return make_data_cases(o, all_threads);
  const std::vector<gsort_dtype> quick_types = {GSORT_U32, GSORT_U64, GSORT_F32};
  std::vector<gsort_dtype> types;
  for (gsort_dtype t = GSORT_U8; t <= GSORT_F64; ++t) types.push_back(t);
  const std::vector<uint32_t> sizes_log2 =
      o.quick ? std::vector<uint32_t>{10, 20} : std::vector<uint32_t>{10, 16, 20, 24, 26};
  std::vector<CpuCase> cases;
  for (const CpuWork work : {CpuWork::kSort, CpuWork::kArgsort, CpuWork::kTopk, CpuWork::kSum}) {
    for (const gsort_dtype t : o.quick ? quick_types : types) {
      for (const uint32_t log2 : sizes_log2) {
        if (log2 <= o.max_log2) add_case(cases, o, {work, t, uint64_t{1} << log2, 1}, all_threads);
      }
    }
  }
  return cases;
}

void print_case(const CpuCase &c, const CpuResult &r) {
  std::printf("%-24s %10llu %8u %11.4f %9.1f %11.4f %-18s %7.2f %-6s %s\n", name_of(c).c_str(),
              static_cast<unsigned long long>(c.n), c.threads, r.gsort_ms, static_cast<double>(c.n) / r.gsort_ms * 1e-3,
              r.peer_ms, cpu_peer_name(c.work), r.peer_ms / r.gsort_ms, r.right ? "ok" : "WRONG", r.note.c_str());
  std::fflush(stdout);
}

void write_case(std::FILE *csv, const CpuCase &c, const CpuResult &r) {
  if (csv == nullptr) return;
  std::fprintf(csv, "%s,%s,%s,%llu,%u,%.6g,%.6g,%s,%.6g,%s\n", cpu_work_name(c.work), dtype_name(c.t),
               distribution_name(c.distribution), static_cast<unsigned long long>(c.n), c.threads, r.gsort_ms,
               r.peer_ms, cpu_peer_name(c.work), r.peer_ms / r.gsort_ms, r.right ? "ok" : "WRONG");
}

// What a reader of the file must know: as in the files of gsort_bench.
void write_facts(std::FILE *csv, const CpuOptions &o, const gsort_info &info) {
  if (csv == nullptr) return;
  const std::time_t now = std::time(nullptr);
  char date[32] = "";
  std::tm utc = {};
  if (gmtime_r(&now, &utc) != nullptr) std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  std::fprintf(csv, "# date: %s\n# device: %s, %u threads\n# gsort: %s\n# commit: %s\n", date, info.device_name,
               info.threads, gsort_version_string(), o.commit.c_str());
  std::fprintf(csv, "work,type,data,n,threads,gsort_ms,peer_ms,peer,ratio,outcome\n");
}

int run(const CpuOptions &o) {
  std::FILE *const csv = o.csv_path.empty() ? nullptr : std::fopen(o.csv_path.c_str(), "w");
  if (csv == nullptr && !o.csv_path.empty()) {
    std::fprintf(stderr, "gsort_bench_cpu: %s cannot be opened for writing\n", o.csv_path.c_str());
    return 2;
  }
  const Handles handles(o.threads);
  const gsort_info info = info_of(handles.all);
  std::printf("processor: %s | threads: %u | gsort: %s | commit: %s\n", info.device_name, info.threads,
              gsort_version_string(), o.commit.c_str());
  std::printf("%-24s %10s %8s %11s %9s %11s %-18s %7s %-6s\n", "work", "n", "threads", "gsort ms", "Mkey/s", "peer ms",
              "peer", "ratio", "result");
  write_facts(csv, o, info);
  uint32_t wrong = 0;
  const std::vector<CpuCase> cases = make_cases(o, info.threads);
  for (const CpuCase &c : cases) {
    const CpuResult r = run_cpu_case(c, c.threads == 1 ? handles.one : handles.all, o.quick ? 30 : o.time_ms);
    print_case(c, r);
    write_case(csv, c, r);
    wrong += r.right ? 0 : 1;
  }
  if (csv != nullptr) std::fclose(csv);
  std::printf("%zu rows, %u wrong\n", cases.size(), wrong);
  return wrong > 0 ? 1 : 0;
}

}  // namespace
}  // namespace gsort_bench

int main(int argc, char **argv) {
  gsort_bench::CpuOptions options;
  const std::string fault = gsort_bench::parse(argc, argv, options);
  if (!fault.empty()) {
    std::fprintf(stderr, "gsort_bench_cpu: %s\n", fault.c_str());
    return 2;
  }
  if (options.help) {
    std::fputs(gsort_bench::kUsage, stdout);
    return 0;
  }
  return gsort_bench::run(options);
}
