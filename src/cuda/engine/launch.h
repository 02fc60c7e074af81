// SPDX-License-Identifier: MIT OR Apache-2.0
// What a launch of any family is given. Each family has a pure workspace function and a launch function, in its
// launch.h, that enqueues the work on a stream: no allocation, no synchronisation, no host round trip, so that every
// call can be captured in a graph.
//
// Workspace sizes are upper bounds that depend on the request's shape alone (operation, dtype, n, k, value_bytes, index
// bytes, rows, columns, segments, b_n), not on pointers or the device. A launch takes workspace aligned to 256 and of
// at least that size, and a request in which every pointer is device-accessible and n > 0. in == out is allowed where
// the API allows it. `workspace` holds garbage on entry.
#ifndef GSORT_CUDA_ENGINE_LAUNCH_H_
#define GSORT_CUDA_ENGINE_LAUNCH_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "core/control.h"
#include "core/request.h"
#include "cuda/engine/device_facts.h"

namespace gsort_internal {

// Device memory that is zero between launches on a stream: a kernel that counts in it leaves it zero again, which saves
// its next call the clearing.
constexpr uint64_t kStandingBytes = 1024;

struct LaunchContext {
  cudaStream_t stream;
  const DeviceFacts *device;
  const Control *control;  // for log() only
  // kStandingBytes of device memory, zero between launches on the stream; NULL if there is none.
  void *standing = nullptr;
};

// Tells the log what a plan describes: describe(request, plan, text, bytes) of its family.
template <class Plan>
void log_plan(const LaunchContext &context, const Request &request, const Plan &plan) {
  if (context.control == nullptr || !context.control->has_log()) return;
  char line[512];
  describe(request, plan, line, sizeof line);
  context.control->log("%s", line);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_LAUNCH_H_
