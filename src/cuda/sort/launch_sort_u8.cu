// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/sort_width.cuh"

namespace gsort_internal {
template void launch_sort_width<uint8_t>(const LaunchContext &, const SortJob &);
}
