// SPDX-License-Identifier: MIT OR Apache-2.0
// There is no L2 cache to ask.
#ifndef GSORT_CUDA_PRIMITIVE_PREFETCH_CUH_
#define GSORT_CUDA_PRIMITIVE_PREFETCH_CUH_

#include <cstdint>

namespace gsort_internal {

inline void prefetch_line(const void *) {}
template <class T>
void prefetch_to_l2(const T *, uint64_t, uint32_t, uint64_t) {}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_PREFETCH_CUH_
