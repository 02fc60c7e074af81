// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints what each step of the reduction, radix and rank ladders buys on this device.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "cuda_error.h"
#include "ladder.h"

namespace gsort_bench {
namespace {

const char *const kUsage =
    "gsort_ladder [reduction|radix|rank|strided|host|all] [--csv FILE] [--runs N] [--commit TEXT]\n"
    "Exit code: 0 all right, 1 a wrong step or a failure, 2 wrong arguments, 3 no usable GPU.\n";

struct LadderOptions {
  std::string ladder = "all";
  std::string csv_path;
  std::string commit = "unknown";
  uint32_t runs = 7;
  bool good = true;
};

LadderOptions parse(int argc, char **argv) {
  LadderOptions o;
  for (int a = 1; a < argc; ++a) {
    const std::string name = argv[a];
    if (name == "reduction" || name == "radix" || name == "rank" || name == "strided" || name == "host" ||
        name == "all") {
      o.ladder = name;
    } else if (a + 1 < argc && name == "--csv") {
      o.csv_path = argv[++a];
    } else if (a + 1 < argc && name == "--commit") {
      o.commit = argv[++a];
    } else if (a + 1 < argc && name == "--runs") {
      o.runs = static_cast<uint32_t>(std::strtoul(argv[++a], nullptr, 10));
    } else {
      o.good = false;
    }
  }
  o.good = o.good && o.runs > 0;
  return o;
}

std::string gather_facts(const LadderOptions &o) {
  cudaDeviceProp properties{};
  require_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  int driver = 0;
  require_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return std::string(date) + " | " + properties.name + " | driver CUDA " + std::to_string(driver / 1000) + "." +
         std::to_string(driver % 1000 / 10) + " | gsort " + gsort_version_string() + " | commit " + o.commit;
}

LadderSettings make_settings(const LadderOptions &o) {
  LadderSettings settings;
  settings.runs = o.runs;
  require_cuda(cudaSetDevice(0), "cudaSetDevice");
  require_cuda(cudaStreamCreateWithFlags(&settings.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  gsort_options options{};
  options.struct_size = sizeof options;
  options.backend = GSORT_BACKEND_CUDA;
  options.device = 0;
  require_gsort_call(gsort_create(&options, &settings.g), nullptr);
  require_gsort_call(gsort_set_stream(settings.g, settings.stream), settings.g);
  return settings;
}

int run(const LadderOptions &o) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    fprintf(stderr, "gsort_ladder: no usable GPU\n");
    return 3;
  }
  const LadderSettings settings = make_settings(o);
  const std::string facts = gather_facts(o);
  printf("%s\n", facts.c_str());
  std::vector<Step> steps;
  const auto take = [&](const char *name, std::vector<Step> (*ladder)(const LadderSettings &)) {
    if (o.ladder != "all" && o.ladder != name) return;
    const std::vector<Step> done = ladder(settings);
    print_steps(done);
    steps.insert(steps.end(), done.begin(), done.end());
  };
  take("reduction", run_reduction_ladder);
  take("radix", run_radix_ladder);
  take("rank", run_rank_ladder);
  take("strided", run_strided_ladder);
  take("host", run_host_ladder);
  gsort_destroy(settings.g);
  cudaStreamDestroy(settings.stream);
  if (!o.csv_path.empty() && !write_steps(o.csv_path, facts, steps)) {
    fprintf(stderr, "gsort_ladder: %s could not be written\n", o.csv_path.c_str());
    return 1;
  }
  for (const Step &s : steps) {
    if (!s.right) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gsort_bench

int main(int argc, char **argv) {
  const gsort_bench::LadderOptions options = gsort_bench::parse(argc, argv);
  if (!options.good) {
    fputs(gsort_bench::kUsage, stderr);
    return 2;
  }
  try {
    return gsort_bench::run(options);
  } catch (const std::exception &e) {
    fprintf(stderr, "gsort_ladder: %s\n", e.what());
    return 1;
  }
}
