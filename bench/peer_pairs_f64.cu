// SPDX-License-Identifier: MIT OR Apache-2.0
#include "peer_sort.cuh"

namespace gsort_bench {

template cudaError_t cub_sort_pairs<double, uint32_t>(PeerScratch &, const PeerPairs &, cudaStream_t);

}  // namespace gsort_bench
