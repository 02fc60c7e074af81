// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/msd/stable_width.cuh"

namespace gsort_internal {
template const uint32_t *launch_stable<uint64_t>(const LaunchContext &, const sort::Job &, const uint32_t *);
}
