// SPDX-License-Identifier: MIT OR Apache-2.0
// Bodies of CUB's radix sorts; each peer_*.cu instantiates what it names.
#ifndef GSORT_BENCH_PEER_SORT_CUH_
#define GSORT_BENCH_PEER_SORT_CUH_

#include <cub/device/device_radix_sort.cuh>

#include "peer_detail.h"

namespace gsort_bench {

template <typename Key, typename Count>
cudaError_t cub_sort_keys_counted(PeerScratch &scratch, const void *in, void *out, Count n, cudaStream_t s) {
  return cub::DeviceRadixSort::SortKeys(scratch.memory, scratch.bytes, static_cast<const Key *>(in),
                                        static_cast<Key *>(out), n, 0, static_cast<int>(8 * sizeof(Key)), s);
}

template <typename Key>
cudaError_t cub_sort_keys(PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  return cub_sort_keys_counted<Key>(scratch, in, out, static_cast<uint32_t>(n), s);
}

template <typename Key>
cudaError_t cub_sort_keys_wide(PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  return cub_sort_keys_counted<Key>(scratch, in, out, n, s);
}

template <typename Key, typename Value>
cudaError_t cub_sort_pairs(PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s) {
  return cub::DeviceRadixSort::SortPairs(
      scratch.memory, scratch.bytes, static_cast<const Key *>(pairs.keys_in), static_cast<Key *>(pairs.keys_out),
      static_cast<const Value *>(pairs.values_in), static_cast<Value *>(pairs.values_out),
      static_cast<uint32_t>(pairs.n), 0, static_cast<int>(8 * sizeof(Key)), s);
}

template <typename Key, typename Value>
cudaError_t cub_sort_pairs_descending(PeerScratch &scratch, const PeerPairs &pairs, cudaStream_t s) {
  return cub::DeviceRadixSort::SortPairsDescending(
      scratch.memory, scratch.bytes, static_cast<const Key *>(pairs.keys_in), static_cast<Key *>(pairs.keys_out),
      static_cast<const Value *>(pairs.values_in), static_cast<Value *>(pairs.values_out),
      static_cast<uint32_t>(pairs.n), 0, static_cast<int>(8 * sizeof(Key)), s);
}

}  // namespace gsort_bench

#endif  // GSORT_BENCH_PEER_SORT_CUH_
