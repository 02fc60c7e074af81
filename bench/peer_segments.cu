// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cub/device/device_segmented_sort.cuh>

#include "peer_detail.h"

namespace gsort_bench {

template <typename Key>
cudaError_t cub_sort_segments(PeerScratch &scratch, const PeerSegments &segments, cudaStream_t s) {
  return cub::DeviceSegmentedSort::SortKeys(scratch.memory, scratch.bytes, static_cast<const Key *>(segments.keys_in),
                                            static_cast<Key *>(segments.keys_out), static_cast<int64_t>(segments.n),
                                            static_cast<int64_t>(segments.segments), segments.offsets,
                                            segments.offsets + 1, s);
}

template cudaError_t cub_sort_segments<uint32_t>(PeerScratch &, const PeerSegments &, cudaStream_t);

}  // namespace gsort_bench
