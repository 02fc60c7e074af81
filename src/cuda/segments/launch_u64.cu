// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/segments/width.cuh"

namespace gsort_internal {
template void launch_segments_width<uint64_t>(const LaunchContext &, const SegmentsJob &);
}
