// SPDX-License-Identifier: MIT OR Apache-2.0
// The peers' algorithms behind plain functions, so that their templates are compiled once each and nowhere else: CUB's
// device-wide ones, and libcusort's where its header was named.
#ifndef GSORT_BENCH_PEER_H_
#define GSORT_BENCH_PEER_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gsort.h"

namespace gsort_bench {

// Scratch memory of a peer's call. With memory == nullptr a call does no work and sets `bytes`.
struct PeerScratch {
  void *memory = nullptr;
  size_t bytes = 0;
};

struct PeerPairs {
  const void *keys_in;
  void *keys_out;
  const void *values_in;
  void *values_out;
  uint64_t n;
};

struct PeerSegments {
  const void *keys_in;
  void *keys_out;
  uint64_t n;
  const uint32_t *offsets;  // segments + 1
  uint64_t segments;
};

struct PeerMerge {
  const void *a;
  uint64_t a_n;
  const void *b;
  uint64_t b_n;
  void *out;
};

// Rows without gaps between them; values and column numbers (uint32_t) of the k greatest of each row.
struct PeerRows {
  const void *in;
  uint64_t rows;
  uint64_t columns;
  uint64_t k;
  void *values_out;
  uint32_t *indices_out;
};

// The ways in which a peer sorts keys or pairs. Which is fastest depends on the row, so each is timed: counting in 64
// bits CUB 3.6 sorts 2^28 keys in 5.44 ms and in 32 bits in 6.33, but 2^20 in 0.073 and 0.071 (u32, H200, 2026-11-22).
enum class SortPeer { kCub, kCub64BitCounts, kLibcusort };
constexpr SortPeer kSortPeers[] = {SortPeer::kCub, SortPeer::kCub64BitCounts, SortPeer::kLibcusort};
const char *sort_peer_name(SortPeer peer);

// Every function answers cudaErrorNotSupported where the peer has no such algorithm or this build leaves it out.

cudaError_t peer_sort_keys(SortPeer peer, gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n,
                           cudaStream_t s);
// Not with 64-bit counts, which are never the faster here (8.53 ms against 7.41 for 2^28 u32 + u32).
cudaError_t peer_sort_pairs(SortPeer peer, gsort_dtype t, uint32_t value_bytes, PeerScratch &scratch,
                            const PeerPairs &pairs, cudaStream_t s);
// Descending, values of 4 bytes: what a caller without a top-k would do.
cudaError_t peer_sort_pairs_descending(gsort_dtype t, PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s);
cudaError_t peer_merge(gsort_dtype t, PeerScratch &scratch, const PeerMerge &merge, cudaStream_t s);
cudaError_t peer_sort_segments(gsort_dtype t, PeerScratch &scratch, const PeerSegments &segments, cudaStream_t s);

// DeviceTopK: unsorted, ties arbitrary.
cudaError_t peer_topk(gsort_dtype t, PeerScratch &scratch, const PeerRows &one_row, cudaStream_t s);
// DeviceBatchedTopK: unsorted, ties arbitrary, rows that one block can hold.
cudaError_t peer_topk_rows(gsort_dtype t, PeerScratch &scratch, const PeerRows &rows, cudaStream_t s);
// DeviceSegmentedRadixSort of whole rows, descending: `indices_in` holds each row's column numbers; the outputs hold
// rows x columns elements.
cudaError_t peer_sort_rows(gsort_dtype t, PeerScratch &scratch, const PeerRows &rows, const uint32_t *indices_in,
                           cudaStream_t s);

// Integers are added in 64 bits, float and half types as floats, doubles as doubles: not exact. Writes 4 or 8 bytes.
cudaError_t peer_sum(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s);
// op is GSORT_MIN, GSORT_MAX, GSORT_ARGMIN or GSORT_ARGMAX; `out` has room for 32 bytes.
cudaError_t peer_reduce(uint32_t op, gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n,
                        cudaStream_t s);
cudaError_t peer_scan(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s);
// Inclusive sums of floats kept in doubles, the reference that float scans are compared with.
cudaError_t peer_scan_wide(PeerScratch &scratch, const float *in, double *out, uint64_t n, cudaStream_t s);

// CUB_VERSION of the headers that were compiled in (major * 100000 + minor * 100 + patch).
int peer_version();

}  // namespace gsort_bench

#endif  // GSORT_BENCH_PEER_H_
