// SPDX-License-Identifier: MIT OR Apache-2.0
// Shared memory is memory like any other, and nothing is kept out of a cache.
#ifndef GSORT_CUDA_PRIMITIVE_PTX_CUH_
#define GSORT_CUDA_PRIMITIVE_PTX_CUH_

#include <cstdint>

#include "emulation.h"

namespace gsort_internal {

inline uint32_t shared_add(uint32_t *p, uint32_t value) { return atomicAdd(p, value); }
inline void shared_count(uint32_t *p) { atomicAdd(p, 1u); }
inline void shared_max(uint32_t *p, uint32_t value) { atomicMax(p, value); }
inline void sync_some(uint32_t number, uint32_t threads) { __barrier_sync_count(number, threads); }
inline uint4 load_once(const uint4 *p) { return *p; }
inline void load_once_if(bool there, const uint4 *p, uint4 &v) {
  if (there) v = *p;
}
inline uint64_t global_nanoseconds() { return 0; }

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_PTX_CUH_
