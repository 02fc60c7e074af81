// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/msd/stable_width.cuh"

namespace gsort_internal::sort::msd {
template const uint32_t *launch_stable<uint64_t>(const LaunchContext &, const Job &, const uint32_t *);
}
