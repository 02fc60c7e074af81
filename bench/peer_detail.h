// SPDX-License-Identifier: MIT OR Apache-2.0
// Templates that the peer_*.cu files instantiate, declared without CUB for peer.cpp, which chooses among them.
#ifndef GSORT_BENCH_PEER_DETAIL_H_
#define GSORT_BENCH_PEER_DETAIL_H_

#include "peer.h"

namespace gsort_bench {

template <typename Key>
cudaError_t cub_sort_keys(PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s);
// The same with counts of 64 bits.
template <typename Key>
cudaError_t cub_sort_keys_wide(PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s);
template <typename Key, typename Value>
cudaError_t cub_sort_pairs(PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s);
template <typename Key, typename Value>
cudaError_t cub_sort_pairs_descending(PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s);
template <typename Key>
cudaError_t cub_merge(PeerScratch &scratch, const PeerMerge &merge, cudaStream_t s);
template <typename Key>
cudaError_t cub_sort_segments(PeerScratch &scratch, const PeerSegments &segments, cudaStream_t s);
template <typename Key>
cudaError_t cub_sort_rows(PeerScratch &scratch, const PeerRows &rows, const uint32_t *indices_in, cudaStream_t s);
template <typename Key>
cudaError_t cub_topk(PeerScratch &scratch, const PeerRows &one_row, cudaStream_t s);

template <typename Key>
cudaError_t libcusort_keys(PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s);
template <typename Key, typename Value>
cudaError_t libcusort_pairs(PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s);

// These choose the type inside: their kernels are small.
cudaError_t cub_topk_rows_f32(PeerScratch &scratch, const PeerRows &rows, cudaStream_t s);
cudaError_t cub_sum(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s);
cudaError_t cub_reduce(uint32_t op, gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n,
                       cudaStream_t s);
cudaError_t cub_scan(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_PEER_DETAIL_H_
