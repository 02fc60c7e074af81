// SPDX-License-Identifier: MIT OR Apache-2.0
// Stands between the library and the CUDA runtime: makes a chosen call fail, counts what is held and, where there is
// no GPU, plays a device whose kernels do nothing, so that all that the host does around them can be tested.
#ifndef GSORT_TESTS_FAULTS_CUDA_CALLS_H_
#define GSORT_TESTS_FAULTS_CUDA_CALLS_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace gsort_test {

struct Fault {
  uint64_t at;  // number of the call, from 0
  bool for_good;
  cudaError_t error;
  const char *function = nullptr;  // whose calls are counted and fail; NULL: all functions
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
constexpr Fault kNoFault = {UINT64_MAX, false, cudaSuccess};
// Of a function, since the last arm().
uint64_t calls_of(const char *function);

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

// The stand-in has two devices, the memory of both is the host's, and every array lies where `arrays` says, but for
// those of place_array().
enum class ArrayPlace { kHost, kRegistered, kDevice, kManaged };
struct StandInDevice {
  int major = 9, minor = 0, multiprocessors = 132, shared_bytes = 232448;
  int compiled_for = 0;  // what the kernels' code was compiled for, as 10 times the major and the minor; 0: the device
  int driver_version = 13000, devices = 2;
};
void use_stand_in(ArrayPlace arrays, const StandInDevice &device = {});
void use_real_device();
// Until use_stand_in() is called again. device: on which it lies, -1: on the current one. Copies of memory that is
// registered in part are refused, as a driver does.
void place_array(const void *begin, uint64_t bytes, ArrayPlace place, int device = -1);

// Until use_stand_in() is called again the stand-in's driver tells the thread's context: one of the application's own,
// or NULL for the device's primary one, which the runtime works in and which a reset replaces by another in the same
// place.
void set_own_context(void *context);
void *own_context();
void reset_stand_in_devices();
// A driver that does not have the function of this name, from the first handle of the process on.
void remove_from_driver(const char *name);

// Instead of nothing kernels do this, which is told their mangled names, until use_stand_in() is called again.
void play_kernels(std::function<void(const std::string &kernel)> act);

// What the stand-in was asked to do, in order.
struct Work {
  std::string function;  // of the runtime
  std::string kernel;    // its mangled name, of launches
  uint32_t blocks, threads, shared_bytes, cluster_blocks;
  bool together_grid, dependent;
  const void *from, *to;  // of copies; `to` of clears
  uint64_t bytes;
  int value;  // of clears
  cudaStream_t stream;
  int device;  // the thread's
};
// Since record_work(), with what was copied or cleared by several threads in any order; ends the recording.
void record_work();
std::vector<Work> recorded_work();

// Until the end every stream of the stand-in is captured into a graph, which is destroyed then.
void begin_stand_in_capture();
void end_stand_in_capture();
// Since the program began, while a stream was captured, by a thread that had not said that it captures nothing thereby.
// A device refuses those.
uint64_t unsafe_allocations();
// In between: something that may not be captured has been done.
void invalidate_stand_in_capture();
// Every stream's; -1: the current one.
void set_device_of_streams(int device);

}  // namespace gsort_test

#endif  // GSORT_TESTS_FAULTS_CUDA_CALLS_H_
