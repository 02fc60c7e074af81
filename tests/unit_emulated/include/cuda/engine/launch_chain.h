// SPDX-License-Identifier: MIT OR Apache-2.0
// Nothing is launched.
#ifndef GSORT_CUDA_ENGINE_LAUNCH_CHAIN_H_
#define GSORT_CUDA_ENGINE_LAUNCH_CHAIN_H_

namespace gsort_internal {

struct LaunchChain;

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_LAUNCH_CHAIN_H_
