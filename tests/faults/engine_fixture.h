// SPDX-License-Identifier: MIT OR Apache-2.0
// Handles on the stand-in, with what they log, and calls of which a chosen one of the runtime's functions fails.
#ifndef GSORT_TESTS_FAULTS_ENGINE_FIXTURE_H_
#define GSORT_TESTS_FAULTS_ENGINE_FIXTURE_H_

#include <map>
#include <string>
#include <vector>

#include "faults/cuda_calls.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {

inline ::testing::AssertionResult says(gsort *g, const std::string &text) {
  const std::string said = gsort_error_message(g);
  return said.find(text) != std::string::npos ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << said;
}

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override { use_stand_in(ArrayPlace::kDevice); }
  void TearDown() override {
    set_device_of_streams(-1);
    set_own_context(nullptr);
    restore_thread(0);
    use_real_device();
  }

  // What the log says goes to log_.
  gsort_options options() {
    gsort_options o = default_options(GSORT_BACKEND_CUDA);
    o.threads = 1;  // calls come in one order
    o.log_user = &log_;
    o.log = [](void *user, const char *line) { *static_cast<std::string *>(user) += std::string(line) + "\n"; };
    return o;
  }
  bool said(const char *what) {
    const bool found = log_.find(what) != std::string::npos;
    return log_.clear(), found;
  }
  // The status of a call in which a call of one function fails, the `nth` from 0.
  template <class Call>
  gsort_status failing(const char *function, cudaError_t error, const Call &call, uint64_t nth = 0) {
    arm({nth, false, error, function});
    const gsort_status status = call();
    failed_ = disarm().failed;
    EXPECT_EQ(cudaSuccess, take_last_error()) << "the application would see the library's error";
    return status;
  }
  gsort_status sort(gsort *g, uint64_t n) {
    if (keys_.size() < n) keys_.resize(n);
    return gsort_sort(g, GSORT_U32, keys_.data(), keys_.data(), n, 0);
  }
  // Calls of functions of the runtime during a call that succeeds.
  template <class Call>
  std::map<std::string, uint64_t> counted(gsort *g, const Call &call) {
    arm(kNoFault);
    EXPECT_TRUE(succeeded(g, call()));
    disarm();
    std::map<std::string, uint64_t> calls;
    for (const char *function :
         {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaStreamQuery", "cudaMalloc", "cudaFree",
          "cudaStreamGetId", "cudaFuncSetAttribute", "cudaHostRegister", "cudaEventRecord", "cudaSetDevice"})
      calls[function] = calls_of(function);
    return calls;
  }
  uint64_t held_bytes(gsort *g) {
    gsort_info info = {};
    info.struct_size = sizeof info;
    EXPECT_TRUE(succeeded(g, gsort_info_get(g, &info)));
    return info.device_held_bytes;
  }

  std::string log_, failed_;
  std::vector<uint32_t> keys_;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_FAULTS_ENGINE_FIXTURE_H_
