// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support/backend.h"

#include <cstdlib>

namespace gsort_test {

gsort_options default_options(uint32_t backend) {
  gsort_options options = {};
  options.struct_size = sizeof(options);
  options.backend = backend;
  options.device = -1;
  return options;
}

Handle::Handle(const gsort_options &options) : status_(gsort_create(&options, &g_)) {}

Handle::Handle(uint32_t backend, uint32_t threads) {
  gsort_options options = default_options(backend);
  options.threads = threads;
  status_ = gsort_create(&options, &g_);
}

bool gpu_is_required() {
  const char *value = std::getenv("GSORT_TESTS_REQUIRE_GPU");
  return value != nullptr && std::string(value) == "1";
}

std::string backend_problem(uint32_t backend) {
  if (backend != GSORT_BACKEND_CUDA) return std::string();
  if (!device_available()) return device_problem();
  static const std::string kProblem = [] {
    const Handle probe(GSORT_BACKEND_CUDA);
    if (probe.status() == GSORT_OK) return std::string();
    return std::string("the library has no CUDA backend here: ") + gsort_error_message(nullptr);
  }();
  return kProblem;
}

gsort *shared_handle(uint32_t backend) {
  // Three threads, whatever the machine has: neither a power of two nor a divisor of the usual sizes.
  static const Handle kCpu(GSORT_BACKEND_CPU, 3);
  if (backend != GSORT_BACKEND_CUDA) return kCpu.get();
  static const Handle kCuda(GSORT_BACKEND_CUDA);
  return kCuda.get();
}

std::string backend_name(uint32_t backend) { return backend == GSORT_BACKEND_CUDA ? "cuda" : "cpu"; }

std::string backend_test_name(const ::testing::TestParamInfo<uint32_t> &info) { return backend_name(info.param) + "_"; }

std::string backend_type_test_name(const ::testing::TestParamInfo<std::tuple<uint32_t, gsort_dtype>> &info) {
  return backend_name(std::get<0>(info.param)) + "_" + element_type(std::get<1>(info.param)).name;
}

std::string describe_flags(uint32_t flags) {
  std::string text;
  if ((flags & GSORT_DESCENDING) != 0) text += " descending";
  if ((flags & GSORT_NAN_LAST) != 0) text += " nan_last";
  if ((flags & GSORT_SMALLEST) != 0) text += " smallest";
  if ((flags & GSORT_EXCLUSIVE) != 0) text += " exclusive";
  return text.empty() ? " no flags" : text;
}

}  // namespace gsort_test
