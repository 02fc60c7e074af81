// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels that run one behind the other have nothing to wait for.
#ifndef GSORT_TESTS_UNIT_EMULATED_CUDA_RUNTIME_H_
#define GSORT_TESTS_UNIT_EMULATED_CUDA_RUNTIME_H_

#include "emulation.h"

using cudaStream_t = void *;

#endif  // GSORT_TESTS_UNIT_EMULATED_CUDA_RUNTIME_H_
