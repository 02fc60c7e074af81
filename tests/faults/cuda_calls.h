// SPDX-License-Identifier: MIT OR Apache-2.0
// Stands between the library and the CUDA runtime: makes a chosen call fail, counts what is held and, where there is
// no GPU, plays a device whose kernels do nothing, so that all that the host does around them can be tested.
#ifndef GSORT_TESTS_FAULTS_CUDA_CALLS_H_
#define GSORT_TESTS_FAULTS_CUDA_CALLS_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <set>
#include <string>

namespace gsort_test {

struct Fault {
  uint64_t at;  // number of the call, from 0
  bool for_good;
  cudaError_t error;
};

// What happened between arm() and disarm().
struct CallReport {
  uint64_t calls = 0;          // of functions that can fail
  std::string failed;          // the first that was made to fail; empty: none
  uint64_t failed_number = 0;  // of the calls of that function, from 1
  bool together = false;       // it was a launch whose blocks, or those of a cluster, must be resident together
};

void arm(const Fault &fault);
CallReport disarm();

// What the application would see; none of these counts as a call. The first clears the error.
cudaError_t take_last_error();
int current_device();
cudaStreamCaptureMode current_capture_mode();
// The thread's device again, and the mode that threads begin with.
void restore_thread(int device);

// Taken by the library and not given back.
uint64_t live_device_bytes();
int live_streams();

// Since the program began: calls that were made to fail, and their functions.
uint64_t failures_made();
const std::set<std::string> &failed_functions();

// The stand-in has two devices, the memory of both is the host's, and every array lies where `arrays` says.
enum class ArrayPlace { kHost, kRegistered, kDevice };
void use_stand_in(ArrayPlace arrays);
void use_real_device();

// Until the end every stream of the stand-in is captured into a graph, which is destroyed then.
void begin_stand_in_capture();
void end_stand_in_capture();

}  // namespace gsort_test

#endif  // GSORT_TESTS_FAULTS_CUDA_CALLS_H_
