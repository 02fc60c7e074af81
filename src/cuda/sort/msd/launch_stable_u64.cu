// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/msd/stable_cells.h"
#include "cuda/sort/msd/stable_width.cuh"

namespace gsort_internal::sort::msd {

template const uint32_t *launch_stable<uint64_t>(const LaunchContext &, const Job &, const uint32_t *);

void launch_stable_cells(LaunchChain &launch, const Job &job, const StableArguments &arguments, uint32_t cells) {
  if (sort::carry_bytes(job.plan.carry) == 4)
    launch_finish_kernels<uint64_t, uint32_t>(launch, job, arguments, job.keys_y, job.values_y, cells, true);
  else
    launch_finish_kernels<uint64_t, uint64_t>(launch, job, arguments, job.keys_y, job.values_y, cells, true);
}

}  // namespace gsort_internal::sort::msd
