// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/width.cuh"

namespace gsort_internal::sort {
template const uint32_t *launch_width<uint64_t>(const LaunchContext &, const Job &);
}
