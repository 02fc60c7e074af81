// SPDX-License-Identifier: MIT OR Apache-2.0
// libcusort's radix sorts.
#include <libcusort.cuh>

#include "peer_detail.h"

namespace gsort_bench {

template <typename Key>
cudaError_t libcusort_keys(PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  return cusort::DeviceRadixSort::SortKeys(scratch.memory, scratch.bytes, static_cast<const Key *>(in),
                                           static_cast<Key *>(out), n, 0, static_cast<int>(8 * sizeof(Key)), s);
}

template <typename Key, typename Value>
cudaError_t libcusort_pairs(PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s) {
  return cusort::DeviceRadixSort::SortPairs(
      scratch.memory, scratch.bytes, static_cast<const Key *>(pairs.keys_in), static_cast<Key *>(pairs.keys_out),
      static_cast<const Value *>(pairs.values_in), static_cast<Value *>(pairs.values_out), pairs.n, 0,
      static_cast<int>(8 * sizeof(Key)), s);
}

template cudaError_t libcusort_keys<uint8_t>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t libcusort_keys<uint16_t>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t libcusort_keys<uint32_t>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t libcusort_keys<int32_t>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t libcusort_keys<uint64_t>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t libcusort_keys<float>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t libcusort_keys<double>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t libcusort_pairs<uint32_t, uint32_t>(PeerScratch &, const PeerPairs &, cudaStream_t);
template cudaError_t libcusort_pairs<float, uint32_t>(PeerScratch &, const PeerPairs &, cudaStream_t);
template cudaError_t libcusort_pairs<double, uint32_t>(PeerScratch &, const PeerPairs &, cudaStream_t);
template cudaError_t libcusort_pairs<uint64_t, uint32_t>(PeerScratch &, const PeerPairs &, cudaStream_t);
template cudaError_t libcusort_pairs<uint64_t, uint64_t>(PeerScratch &, const PeerPairs &, cudaStream_t);

}  // namespace gsort_bench
