// SPDX-License-Identifier: MIT OR Apache-2.0
// What plans must know of a device. No CUDA header: plans are made and tested without a GPU and in builds without CUDA.
#ifndef GSORT_CUDA_ENGINE_DEVICE_FACTS_H_
#define GSORT_CUDA_ENGINE_DEVICE_FACTS_H_

#include <cstdint>

#include "cuda/primitive/architecture.h"

namespace gsort_internal {

// Read once when the handle is made. Every question "can this device run it" is answered by a plan, from these.
struct DeviceFacts {
  uint32_t compute_capability;  // major * 10 + minor
  uint32_t multiprocessors;
  uint32_t shared_bytes_block_max;  // with opt-in, and no more than kernels of the capability are compiled for

  bool clusters_fit = true;  // false: a launch has shown that they do not

  // Clusters of 8 blocks are certain on the architectures for servers.
  constexpr bool clusters() const { return clusters_fit && architecture_of(compute_capability).clusters; }
  // Programmatic dependent launch: a kernel is set up while the one before still runs.
  constexpr bool dependent_launches() const { return compute_capability >= 90; }
};

// Who asks a plan for the workspace alone, which depends on no device, takes the least that there is.
constexpr DeviceFacts kLeastDevice = {75, 1, 48 * 1024};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_DEVICE_FACTS_H_
