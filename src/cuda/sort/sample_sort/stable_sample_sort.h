// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable sample sort of pairs and of argsort with keys of 8 bytes, as sort::launch() uses it: tried first, with a
// radix sort behind it for keys that it leaves.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_SAMPLE_SORT_H_
#define GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_SAMPLE_SORT_H_

#include <cstdint>

#include "cuda/sort/job.h"

namespace gsort_internal::sort::sample_sort {

// Enqueues the sort of a job whose plan is sort::Algorithm::kStableSampleSort. Returns the address of a device word
// that says, once the work has run, whether the job is done (not 0) or nothing was written but workspace (0). The first
// kernel clears the job's counters.
const uint32_t *launch_stable(const LaunchContext &context, const Job &job);

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_SAMPLE_SORT_H_
