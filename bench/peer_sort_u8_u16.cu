// SPDX-License-Identifier: MIT OR Apache-2.0
#include "peer_sort.cuh"

namespace gsort_bench {

template cudaError_t cub_sort_keys<uint8_t>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t cub_sort_keys_wide<uint8_t>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t cub_sort_keys<uint16_t>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t cub_sort_keys_wide<uint16_t>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);

}  // namespace gsort_bench
