// SPDX-License-Identifier: MIT OR Apache-2.0
#include "peer_topk.cuh"

namespace gsort_bench {

template cudaError_t cub_topk<double>(PeerScratch &, const PeerRows &, cudaStream_t);
template cudaError_t cub_topk<uint64_t>(PeerScratch &, const PeerRows &, cudaStream_t);

}  // namespace gsort_bench
