// SPDX-License-Identifier: MIT OR Apache-2.0
// In place of the library's: blocks run one after the other, so that no cluster can meet.
#ifndef GSORT_CUDA_PRIMITIVE_CLUSTER_CUH_
#define GSORT_CUDA_PRIMITIVE_CLUSTER_CUH_

#include <cstdint>
#include <stdexcept>

namespace gsort_internal {

inline void cluster_arrive() { throw std::logic_error("a cluster is not emulated"); }
inline void cluster_wait() {}
inline uint64_t cluster_load(const uint64_t *own, uint32_t) { return *own; }

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_CLUSTER_CUH_
