// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/segments/width.cuh"

namespace gsort_internal::segments {
template void launch_width<uint64_t>(const LaunchContext &, const Job &);
}
