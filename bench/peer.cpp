// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses the instantiation of a peer's algorithm by type.
#include "peer.h"

#include "peer_detail.h"

namespace gsort_bench {

namespace {

// Counting in 64 bits CUB 3.5 and 3.6 sort keys alone faster than in 32 from some millions on (H200, 2026-11-22: 2^28
// u32 in 5.44 ms against 6.33, 2^24 in 0.415 against 0.457, but 2^20 in 0.073 against 0.071). Each size gets the
// faster.
constexpr uint64_t kWideItemsMin = uint64_t{1} << 22;

template <typename Key>
cudaError_t sort_keys_at_best(PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  return n >= kWideItemsMin ? cub_sort_keys_wide<Key>(scratch, in, out, n, s)
                            : cub_sort_keys<Key>(scratch, in, out, n, s);
}

}  // namespace

cudaError_t peer_sort_keys(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  switch (t) {
    case GSORT_U8:
      return sort_keys_at_best<uint8_t>(scratch, in, out, n, s);
    case GSORT_U16:
      return sort_keys_at_best<uint16_t>(scratch, in, out, n, s);
    case GSORT_U32:
      return sort_keys_at_best<uint32_t>(scratch, in, out, n, s);
    case GSORT_I32:
      return sort_keys_at_best<int32_t>(scratch, in, out, n, s);
    case GSORT_F32:
      return sort_keys_at_best<float>(scratch, in, out, n, s);
    case GSORT_U64:
      return sort_keys_at_best<uint64_t>(scratch, in, out, n, s);
    case GSORT_F64:
      return sort_keys_at_best<double>(scratch, in, out, n, s);
    default:
      return cudaErrorNotSupported;
  }
}

cudaError_t peer_sort_pairs(gsort_dtype t, uint32_t value_bytes, PeerScratch &scratch, const PeerPairs &pairs,
                            cudaStream_t s) {
  if (pairs.n > UINT32_MAX) return cudaErrorNotSupported;
  if (t == GSORT_U32 && value_bytes == 4) return cub_sort_pairs<uint32_t, uint32_t>(scratch, pairs, s);
  if (t == GSORT_F32 && value_bytes == 4) return cub_sort_pairs<float, uint32_t>(scratch, pairs, s);
  if (t == GSORT_U64 && value_bytes == 4) return cub_sort_pairs<uint64_t, uint32_t>(scratch, pairs, s);
  if (t == GSORT_U64 && value_bytes == 8) return cub_sort_pairs<uint64_t, uint64_t>(scratch, pairs, s);
  return cudaErrorNotSupported;
}

cudaError_t peer_sort_pairs_descending(gsort_dtype t, PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s) {
  if (t != GSORT_F32 || pairs.n > UINT32_MAX) return cudaErrorNotSupported;
  return cub_sort_pairs_descending<float, uint32_t>(scratch, pairs, s);
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
