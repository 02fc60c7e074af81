// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels of a method one behind the other on a stream.
#ifndef GSORT_CUDA_ENGINE_LAUNCH_CHAIN_H_
#define GSORT_CUDA_ENGINE_LAUNCH_CHAIN_H_

#include <cstdint>

#include "cuda/engine/launcher.h"

namespace gsort_internal {

// Each kernel but the first is set up while the one before still runs, where the device can, and must wait for the end
// of that one before it reads anything (wait_for_kernel_before()). Every block must wait, also one that has nothing to
// do: a kernel waits for the one before it alone, and relies on it for all that lie before that.
struct LaunchChain {
  const LaunchContext &context;
  bool first;  // no kernel of the chain lies before the next one

  template <class... Parameters, class... Values>
  void operator()(void (*kernel)(Parameters...), const char *name, uint32_t blocks, uint32_t threads,
                  uint32_t shared_bytes, const Values &...values) {
    Grid grid = {blocks, threads, shared_bytes};
    grid.dependent = !first;
    launch_kernel(context, name, grid, kernel, values...);
    first = false;
  }
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_LAUNCH_CHAIN_H_
