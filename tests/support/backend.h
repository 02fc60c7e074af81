// SPDX-License-Identifier: MIT OR Apache-2.0
// Handles for the tests, and the fixture that is parameterised over backend and element type.
#ifndef GSORT_TESTS_SUPPORT_BACKEND_H_
#define GSORT_TESTS_SUPPORT_BACKEND_H_

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "support/buffer.h"
#include "support/element.h"

namespace gsort_test {

gsort_options default_options(uint32_t backend);

// A handle that is destroyed at the end of its scope.
class Handle {
 public:
  explicit Handle(const gsort_options &options);
  explicit Handle(uint32_t backend, uint32_t threads = 0);
  ~Handle() { gsort_destroy(g_); }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  gsort *get() const { return g_; }
  gsort_status status() const { return status_; }

 private:
  gsort *g_ = nullptr;
  gsort_status status_;
};

// Why the backend cannot be tested here; empty if it can. With GSORT_TESTS_REQUIRE_GPU=1 in the environment a missing
// GPU is a failure of the tests instead of a reason to skip them.
std::string backend_problem(uint32_t backend);
bool gpu_is_required();

// One handle a backend for the whole run: most tests want a used handle rather than a fresh one.
gsort *shared_handle(uint32_t backend);

inline Place default_place(uint32_t backend) { return backend == GSORT_BACKEND_CUDA ? Place::kDevice : Place::kHost; }

#define GSORT_SKIP_WITHOUT(backend)                                                         \
  do {                                                                                      \
    const std::string gsort_problem = ::gsort_test::backend_problem(backend);               \
    if (!gsort_problem.empty() && ::gsort_test::gpu_is_required()) FAIL() << gsort_problem; \
    if (!gsort_problem.empty()) GTEST_SKIP() << gsort_problem;                              \
  } while (false)

class BackendTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override { GSORT_SKIP_WITHOUT(GetParam()); }
  uint32_t backend() const { return GetParam(); }
  gsort *handle() const { return shared_handle(backend()); }
  Place place() const { return default_place(backend()); }
};

class BackendTypeTest : public ::testing::TestWithParam<std::tuple<uint32_t, gsort_dtype>> {
 protected:
  void SetUp() override { GSORT_SKIP_WITHOUT(backend()); }
  uint32_t backend() const { return std::get<0>(GetParam()); }
  gsort_dtype type() const { return std::get<1>(GetParam()); }
  gsort *handle() const { return shared_handle(backend()); }
  Place place() const { return default_place(backend()); }
};

std::string backend_name(uint32_t backend);
std::string backend_test_name(const ::testing::TestParamInfo<uint32_t> &info);
std::string backend_type_test_name(const ::testing::TestParamInfo<std::tuple<uint32_t, gsort_dtype>> &info);

#define GSORT_INSTANTIATE_BACKENDS(suite)                                                             \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, ::testing::Values(GSORT_BACKEND_CPU, GSORT_BACKEND_CUDA), \
                           ::gsort_test::backend_test_name)
#define GSORT_INSTANTIATE_BACKENDS_TYPES(suite, types)                                                          \
  INSTANTIATE_TEST_SUITE_P(                                                                                     \
      Backends, suite,                                                                                          \
      ::testing::Combine(::testing::Values(GSORT_BACKEND_CPU, GSORT_BACKEND_CUDA), ::testing::ValuesIn(types)), \
      ::gsort_test::backend_type_test_name)

}  // namespace gsort_test

#endif  // GSORT_TESTS_SUPPORT_BACKEND_H_
