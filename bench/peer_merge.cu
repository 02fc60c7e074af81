// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cub/device/device_merge.cuh>

#include "peer_detail.h"

namespace gsort_bench {

template <typename Key>
cudaError_t cub_merge(PeerScratch &scratch, const PeerMerge &merge, cudaStream_t s) {
  return cub::DeviceMerge::MergeKeys(scratch.memory, scratch.bytes, static_cast<const Key *>(merge.a),
                                     static_cast<int64_t>(merge.a_n), static_cast<const Key *>(merge.b),
                                     static_cast<int64_t>(merge.b_n), static_cast<Key *>(merge.out), {}, s);
}

template cudaError_t cub_merge<uint32_t>(PeerScratch &, const PeerMerge &, cudaStream_t);
template cudaError_t cub_merge<uint64_t>(PeerScratch &, const PeerMerge &, cudaStream_t);

}  // namespace gsort_bench
