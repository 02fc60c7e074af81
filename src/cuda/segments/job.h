// SPDX-License-Identifier: MIT OR Apache-2.0
// A planned sort of segments: what launch.cu hands to the code of one key width.
#ifndef GSORT_CUDA_SEGMENTS_JOB_H_
#define GSORT_CUDA_SEGMENTS_JOB_H_

#include <cstdint>

#include "cuda/engine/launch.h"
#include "cuda/engine/notice.h"
#include "cuda/segments/plan.h"

namespace gsort_internal::segments {

struct Job {
  const Request *request;
  Plan plan;
  void *workspace;
  uint32_t *error;  // the verdict on the offsets, which the kernels write
  Notice notice;    // with words, where the host waits for it

  template <class T>
  T *slice(uint64_t offset) const {
    return reinterpret_cast<T *>(static_cast<char *>(workspace) + offset);
  }
};

template <class U>
void launch_width(const LaunchContext &context, const Job &job);
extern template void launch_width<uint8_t>(const LaunchContext &, const Job &);
extern template void launch_width<uint16_t>(const LaunchContext &, const Job &);
extern template void launch_width<uint32_t>(const LaunchContext &, const Job &);
extern template void launch_width<uint64_t>(const LaunchContext &, const Job &);

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_JOB_H_
