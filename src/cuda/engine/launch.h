// SPDX-License-Identifier: MIT OR Apache-2.0
// The operations on device memory. Each family has a pure workspace function and a launch function that enqueues the
// work on a stream: no allocation, no synchronisation, no host round trip, so that every call can be captured in a
// graph.
#ifndef GSORT_CUDA_ENGINE_LAUNCH_H_
#define GSORT_CUDA_ENGINE_LAUNCH_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "core/control.h"
#include "core/request.h"
#include "cuda/engine/device_facts.h"

namespace gsort_internal {

struct LaunchContext {
  cudaStream_t stream;
  const DeviceFacts *device;
  const Control *control;  // for log() only
  // kStandingBytes of device memory, zero between launches on the stream; NULL if there is none.
  void *standing = nullptr;
};

// Workspace sizes are upper bounds that depend on the request's shape alone (operation, dtype, n, k, value_bytes, index
// bytes, rows, columns, segments, b_n), not on pointers or the device. launch_* takes workspace aligned to 256 and of
// at least that size, and a request in which every pointer is device-accessible and n > 0. in == out is allowed where
// the API allows it. `workspace` holds garbage on entry.
uint64_t sort_workspace_bytes(const Request &shape);  // sort, sort_pairs, argsort, rank
void launch_sort(const LaunchContext &context, const Request &request, void *workspace);

uint64_t segments_workspace_bytes(const Request &shape);
// offsets are in device memory and may be wrong; then nothing is written to out and *error_out (device, never NULL) is
// set to 1, otherwise to 0.
void launch_segments(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out);

uint64_t merge_workspace_bytes(const Request &shape);
void launch_merge(const LaunchContext &context, const Request &request, void *workspace);

uint64_t topk_workspace_bytes(const Request &shape);  // topk and topk_rows; k > 0
void launch_topk(const LaunchContext &context, const Request &request, void *workspace);

uint64_t topk_segments_workspace_bytes(const Request &shape);  // n, segments and k
// offsets as for launch_segments(). A row's places behind its last element get values of all zero bits and indices of
// all one bits. n may be 0.
void launch_topk_segments(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out);

uint64_t reduce_workspace_bytes(const Request &shape);  // sum and reduce; out is device memory; n > 0
void launch_reduce(const LaunchContext &context, const Request &request, void *workspace);

uint64_t scan_workspace_bytes(const Request &shape);
void launch_scan(const LaunchContext &context, const Request &request, void *workspace);

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_LAUNCH_H_
