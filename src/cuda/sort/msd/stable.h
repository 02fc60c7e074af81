// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable MSD sort of pairs and of argsort, as sort::launch() uses it: tried first, with an LSD sort behind it for
// keys that it turns away.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_H_
#define GSORT_CUDA_SORT_MSD_STABLE_H_

#include <cstdint>

#include "cuda/sort/job.h"

namespace gsort_internal::sort::msd {

// Enqueues the sort of a job whose plan is sort::Algorithm::kStable. done: NULL, or a device word that earlier work of
// the stream has written: not 0 = another method has done the job. Returns the address of a device word that says, once
// the work has run, whether the job is done (not 0: here, or before) or the data is not for this method and nothing was
// written but workspace (0). U: uint32_t or uint64_t. If the plan tries a fast path, the last work in the stream must
// be that; otherwise the first kernel clears the job's counters. The look-back words are left cleared where nothing was
// done.
template <class U>
const uint32_t *launch_stable(const LaunchContext &context, const Job &job, const uint32_t *done);

extern template const uint32_t *launch_stable<uint32_t>(const LaunchContext &, const Job &, const uint32_t *);
extern template const uint32_t *launch_stable<uint64_t>(const LaunchContext &, const Job &, const uint32_t *);

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_H_
