// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses the instantiation of a peer's algorithm by type.
#include "peer.h"

#include "peer_detail.h"

namespace gsort_bench {

#ifndef GSORT_BENCH_LIBCUSORT
template <typename Key>
cudaError_t libcusort_keys(PeerScratch &, const void *, void *, uint64_t, cudaStream_t) {
  return cudaErrorNotSupported;
}
template <typename Key, typename Value>
cudaError_t libcusort_pairs(PeerScratch &, const PeerPairs &, cudaStream_t) {
  return cudaErrorNotSupported;
}
#endif

namespace {

template <typename Key>
cudaError_t sort_keys(SortPeer peer, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  if (peer == SortPeer::kLibcusort) return libcusort_keys<Key>(scratch, in, out, n, s);
  if (peer == SortPeer::kCub64BitCounts) return cub_sort_keys_wide<Key>(scratch, in, out, n, s);
  return n <= UINT32_MAX ? cub_sort_keys<Key>(scratch, in, out, n, s) : cudaErrorNotSupported;
}

template <typename Key, typename Value>
cudaError_t sort_pairs(SortPeer peer, PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s) {
  if (peer == SortPeer::kLibcusort) return libcusort_pairs<Key, Value>(scratch, pairs, s);
  const bool serves = peer == SortPeer::kCub && pairs.n <= UINT32_MAX;
  return serves ? cub_sort_pairs<Key, Value>(scratch, pairs, s) : cudaErrorNotSupported;
}

}  // namespace

const char *sort_peer_name(SortPeer peer) {
  static const char *const names[] = {"CUB", "CUB, 64-bit counts", "libcusort"};
  return names[static_cast<int>(peer)];
}

cudaError_t peer_sort_keys(SortPeer peer, gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n,
                           cudaStream_t s) {
  switch (t) {
    case GSORT_U8:
      return sort_keys<uint8_t>(peer, scratch, in, out, n, s);
    case GSORT_U16:
      return sort_keys<uint16_t>(peer, scratch, in, out, n, s);
    case GSORT_U32:
      return sort_keys<uint32_t>(peer, scratch, in, out, n, s);
    case GSORT_I32:
      return sort_keys<int32_t>(peer, scratch, in, out, n, s);
    case GSORT_F32:
      return sort_keys<float>(peer, scratch, in, out, n, s);
    case GSORT_U64:
      return sort_keys<uint64_t>(peer, scratch, in, out, n, s);
    case GSORT_F64:
      return sort_keys<double>(peer, scratch, in, out, n, s);
    default:
      return cudaErrorNotSupported;
  }
}

cudaError_t peer_sort_pairs(SortPeer peer, gsort_dtype t, uint32_t value_bytes, PeerScratch &scratch,
                            const PeerPairs &pairs, cudaStream_t s) {
  if (t == GSORT_U32 && value_bytes == 4) return sort_pairs<uint32_t, uint32_t>(peer, scratch, pairs, s);
  if (t == GSORT_F32 && value_bytes == 4) return sort_pairs<float, uint32_t>(peer, scratch, pairs, s);
  if (t == GSORT_F64 && value_bytes == 4) return sort_pairs<double, uint32_t>(peer, scratch, pairs, s);
  if (t == GSORT_U64 && value_bytes == 4) return sort_pairs<uint64_t, uint32_t>(peer, scratch, pairs, s);
  if (t == GSORT_U64 && value_bytes == 8) return sort_pairs<uint64_t, uint64_t>(peer, scratch, pairs, s);
  return cudaErrorNotSupported;
}

cudaError_t peer_sort_pairs_descending(gsort_dtype t, PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s) {
  if (t != GSORT_F32 || pairs.n > UINT32_MAX) return cudaErrorNotSupported;
  return cub_sort_pairs_descending<float, uint32_t>(scratch, pairs, s);
}

cudaError_t peer_merge(gsort_dtype t, PeerScratch &scratch, const PeerMerge &merge, cudaStream_t s) {
  if (t == GSORT_U32) return cub_merge<uint32_t>(scratch, merge, s);
  if (t == GSORT_U64) return cub_merge<uint64_t>(scratch, merge, s);
  return cudaErrorNotSupported;
}

cudaError_t peer_sort_segments(gsort_dtype t, PeerScratch &scratch, const PeerSegments &segments, cudaStream_t s) {
  if (t != GSORT_U32 || segments.n > UINT32_MAX) return cudaErrorNotSupported;
  return cub_sort_segments<uint32_t>(scratch, segments, s);
}

cudaError_t peer_topk(gsort_dtype t, PeerScratch &scratch, const PeerRows &one_row, cudaStream_t s) {
  if (one_row.rows != 1 || one_row.columns > UINT32_MAX) return cudaErrorNotSupported;
  switch (t) {
    case GSORT_F32:
      return cub_topk<float>(scratch, one_row, s);
    case GSORT_U32:
      return cub_topk<uint32_t>(scratch, one_row, s);
    case GSORT_F64:
      return cub_topk<double>(scratch, one_row, s);
    case GSORT_U64:
      return cub_topk<uint64_t>(scratch, one_row, s);
    default:
      return cudaErrorNotSupported;
  }
}

cudaError_t peer_topk_rows(gsort_dtype t, PeerScratch &scratch, const PeerRows &rows, cudaStream_t s) {
  return t == GSORT_F32 ? cub_topk_rows_f32(scratch, rows, s) : cudaErrorNotSupported;
}

cudaError_t peer_sort_rows(gsort_dtype t, PeerScratch &scratch, const PeerRows &rows, const uint32_t *indices_in,
                           cudaStream_t s) {
  return t == GSORT_F32 ? cub_sort_rows<float>(scratch, rows, indices_in, s) : cudaErrorNotSupported;
}

cudaError_t peer_sum(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  return cub_sum(t, scratch, in, out, n, s);
}

cudaError_t peer_reduce(uint32_t op, gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n,
                        cudaStream_t s) {
  return cub_reduce(op, t, scratch, in, out, n, s);
}

cudaError_t peer_scan(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  return cub_scan(t, scratch, in, out, n, s);
}

}  // namespace gsort_bench
