// SPDX-License-Identifier: MIT OR Apache-2.0
// The one way in which kernels are launched.
#ifndef GSORT_CUDA_ENGINE_LAUNCHER_H_
#define GSORT_CUDA_ENGINE_LAUNCHER_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/engine/check.h"
#include "cuda/engine/launch.h"
#include "cuda/engine/shared_bytes.h"

namespace gsort_internal {

// Which blocks of a grid may wait for each other: all that are resident together.
enum class Together : uint32_t {
  kNone,
  kClusters,  // those of a cluster
  kGrid,      // all: a cooperative launch
};

struct Grid {
  uint32_t blocks, threads;
  uint32_t shared_bytes = 0;  // dynamic
  Together together = Together::kNone;
  uint32_t cluster_blocks = 1;  // of a cluster
  // The kernel is set up while the one before in the stream still runs, where the device can, and must wait for that
  // one's end before it reads anything (wait_for_kernel_before()).
  bool dependent = false;
};

// Throws Error if the launch fails, LaunchDoesNotFit if blocks that must be resident together are not. `name` is for
// the message.
template <class... Parameters, class... Values>
void launch_kernel(const LaunchContext &context, const char *name, const Grid &grid, void (*kernel)(Parameters...),
                   const Values &...values) {
  allow_shared_bytes(kernel, grid.shared_bytes);
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(grid.blocks);
  config.blockDim = dim3(grid.threads);
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = context.stream;
  config.attrs = attributes;
  if (grid.together == Together::kClusters) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs++].val.clusterDim = {grid.cluster_blocks, 1, 1};
  }
  if (grid.together == Together::kGrid) {
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs++].val.cooperative = 1;
  }
  if (grid.dependent && context.device->dependent_launches()) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  const cudaError_t result = cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(values)...);
  (grid.together == Together::kNone ? cuda_check : check_launch_together)(result, name);
}

// Counters that are zero before a kernel, which leaves them zero: in the engine's standing memory, or, where there is
// none, in `own`, which is cleared if they are needed.
template <class Counters>
Counters *zero_counters(const LaunchContext &context, void *own, bool needed) {
  static_assert(sizeof(Counters) <= kStandingBytes, "the engine leaves them room");
  if (context.standing != nullptr) return static_cast<Counters *>(context.standing);
  if (needed) cuda_check(cudaMemsetAsync(own, 0, sizeof(Counters), context.stream), "cudaMemsetAsync");
  return static_cast<Counters *>(own);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_LAUNCHER_H_
