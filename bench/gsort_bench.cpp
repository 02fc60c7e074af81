// SPDX-License-Identifier: MIT OR Apache-2.0
// Times gsort beside CUB on one GPU in one run, and checks every result.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>

#include "bench.h"
#include "report.h"

#ifndef GSORT_BENCH_CUB_ORIGIN
#define GSORT_BENCH_CUB_ORIGIN "the toolkit's own"
#endif

namespace gsort_bench {
namespace {

std::string version_text(int version, int major_unit, int minor_unit) {
  return std::to_string(version / major_unit) + "." + std::to_string(version % major_unit / minor_unit);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

Facts gather_facts(const Options &options) {
  Facts facts;
  facts.date = today();
  int device = 0;
  cudaDeviceProp properties{};
  require_cuda(cudaGetDevice(&device), "cudaGetDevice");
  require_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  facts.device = std::string(properties.name) + " (sm_" + std::to_string(10 * properties.major + properties.minor) +
                 ", " + std::to_string(properties.multiProcessorCount) + " SMs, " +
                 std::to_string(properties.totalGlobalMem >> 30) + " GiB)";
  int driver = 0;
  int runtime = 0;
  require_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  require_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  facts.driver = "CUDA " + version_text(driver, 1000, 10);
  facts.cuda = version_text(runtime, 1000, 10);
  const int cub = peer_version();
  facts.cub = version_text(cub, 100000, 100) + "." + std::to_string(cub % 100) + ", " GSORT_BENCH_CUB_ORIGIN;
  facts.gsort = gsort_version_string();
  facts.commit = options.commit;
  facts.settings = std::string("suite ") + options.suite + ", medians, seed " + std::to_string(options.seed) +
                   (options.cold ? ", cold L2" : "") + (options.queued ? ", queued" : "");
  return facts;
}

std::vector<Row> chosen_rows(const Options &options) {
  std::vector<Row> rows;
  for (const Row &row : rows_of_suite(options.suite)) {
    const bool small =
        options.max_log2 >= 64 || row.n >> options.max_log2 == 0 || row.n == uint64_t{1} << options.max_log2;
    const std::string text = row_name(row) + " " + distribution_name(row.distribution);
    if (small && text.find(options.filter) != std::string::npos) rows.push_back(row);
  }
  return rows;
}

// Keeps the device busy for a while: an idle one runs at a lower clock, which the first rows would be timed at.
void wake_device() {
  constexpr size_t kBytes = size_t{1} << 26;
  constexpr double kSeconds = 0.5;
  void *memory = nullptr;
  require_cuda(cudaMalloc(&memory, kBytes), "cudaMalloc");
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < kSeconds) {
    require_cuda(cudaMemset(memory, 0, kBytes), "cudaMemset");
    require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  require_cuda(cudaFree(memory), "cudaFree");
}

// A goal that is part of a ceiling, as a time: by the newest ceiling of as many bytes. Without one there is no goal.
void settle_goal(Result &result, const std::vector<Result> &before) {
  const auto bytes = [](const Row &row) { return row.n * dtype_bytes(row.t); };
  for (const Result &other : before)
    if (other.row.work == Work::kReadCeiling && bytes(other.row) == bytes(result.row) &&
        other.outcome == Outcome::kRight && result.row.goal.of_ceiling > 0)
      result.row.goal.ms_max = other.gsort.median_ms / result.row.goal.of_ceiling;
}

std::vector<Result> run_rows(Bench &bench, const std::vector<Row> &rows) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Result> results;
  for (const Row &row : rows) {
    const double spent_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (bench.options.budget_s > 0 && spent_s > bench.options.budget_s) {
      printf("not run: %zu of %zu rows, the budget of %.0f s is spent\n", rows.size() - results.size(), rows.size(),
             bench.options.budget_s);
      break;
    }
    Result result = run_row(bench, row);
    settle_goal(result, results);
    results.push_back(result);
    print_result(result);
  }
  return results;
}

// Prints what the run came to and returns the exit code.
int summarize(const Options &options, const std::vector<Result> &results) {
  uint32_t counts[4] = {};
  for (const Result &r : results) ++counts[static_cast<int>(r.outcome)];
  printf("%u right, %u wrong, %u failed, %u skipped\n", counts[0], counts[1], counts[2], counts[3]);
  if (options.spoil) {
    // The read ceiling has no result that could be spoilt.
    uint32_t blind = counts[2];
    for (const Result &r : results) blind += r.outcome == Outcome::kRight && r.row.work != Work::kReadCeiling;
    printf("%u spoilt results passed their check or failed before it\n", blind);
    return blind > 0 ? 1 : 0;
  }
  return counts[1] + counts[2] > 0 ? 1 : 0;
}

int report_files(const Options &options, const Facts &facts, const std::vector<Result> &results) {
  std::string fault;
  if (!options.csv_path.empty()) fault = write_csv(options.csv_path, facts, results);
  if (!options.json_path.empty() && fault.empty()) fault = write_json(options.json_path, facts, results);
  if (!fault.empty()) fprintf(stderr, "gsort_bench: %s\n", fault.c_str());
  return fault.empty() ? 0 : 1;
}

int run(const Options &options) {
  const std::vector<Row> rows = chosen_rows(options);
  if (rows.empty()) {
    fprintf(stderr, "gsort_bench: no rows match --suite %s --filter '%s' --max-log2 %u; see --help\n",
            options.suite.c_str(), options.filter.c_str(), options.max_log2);
    return 2;
  }
  if (options.list) {
    for (const Row &row : rows) {
      printf("%-10s %-32s %12llu %s\n", row.suite.c_str(), row_name(row).c_str(),
             static_cast<unsigned long long>(row.n), distribution_name(row.distribution));
    }
    return 0;
  }
  int devices = 0;
  const cudaError_t e = cudaGetDeviceCount(&devices);
  if (e != cudaSuccess || devices == 0) {
    fprintf(stderr, "gsort_bench: no usable GPU: %s\n", e == cudaSuccess ? "none found" : cudaGetErrorString(e));
    return 3;
  }
  Bench bench(options);
  const Facts facts = gather_facts(options);
  print_facts(facts);
  print_head();
  wake_device();
  const std::vector<Result> results = run_rows(bench, rows);
  const int wrong = summarize(options, results);
  return report_files(options, facts, results) != 0 ? 1 : wrong;
}

}  // namespace
}  // namespace gsort_bench

int main(int argc, char **argv) {
  gsort_bench::Options options;
  const std::string fault = gsort_bench::parse_options(argc, argv, options);
  if (!fault.empty()) {
    fprintf(stderr, "gsort_bench: %s\n", fault.c_str());
    return 2;
  }
  if (options.help) {
    fputs(gsort_bench::usage(), stdout);
    return 0;
  }
  try {
    return gsort_bench::run(options);
  } catch (const std::exception &e) {
    fprintf(stderr, "gsort_bench: %s\n", e.what());
    return 1;
  }
}
