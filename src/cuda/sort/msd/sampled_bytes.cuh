// SPDX-License-Identifier: MIT OR Apache-2.0
// What the bytes of sampled 8-byte keys tell of two other ways to sort them: how many passes the LSD sort would take by
// dense keys (../lsd/dense_codes.cuh), and whether splitters of a sample leave cells that are even inside.
#ifndef GSORT_CUDA_SORT_MSD_SAMPLED_BYTES_CUH_
#define GSORT_CUDA_SORT_MSD_SAMPLED_BYTES_CUH_

#include <cstdint>

#include "cuda/primitive/tile_shape.h"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::sort::msd {

constexpr uint32_t kSampledBytesKeys = 2048;  // that are looked at

struct SampledBytes {
  uint32_t dense_bits;  // of a key, its bytes' values numbered
  // The collision entropy of the bytes, summed: 64 where they are random, as they are within clusters however these
  // lie. Keys whose low bytes have less, as text or packed fields, lie in clusters at every scale.
  float entropy;
};
constexpr SampledBytes kRandomBytes = {64, 64};  // also of keys that nobody has looked at

// Of the keys key_at(0) to key_at(kSampledBytesKeys - 1), best in no order: threads that lie near each other wait for
// each other where bytes are equal. By a block of kThreads.
template <uint32_t kThreads, class KeyAt>
__device__ __forceinline__ SampledBytes look_at_bytes(KeyAt key_at) {
  constexpr uint32_t kBytes = 8, kEach = kDigitBins / 32;
  static_assert(kThreads >= 32 * kBytes, "a warp for each byte");
  __shared__ uint32_t counts[kBytes][kDigitBins];
  __shared__ SampledBytes of_byte[kBytes];
  for (uint32_t i = threadIdx.x; i < kBytes * kDigitBins; i += kThreads) counts[i / kDigitBins][i % kDigitBins] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kSampledBytesKeys; i += kThreads) {
    const uint64_t key = key_at(i);
#pragma unroll
    for (uint32_t byte = 0; byte < kBytes; ++byte) atomicAdd(&counts[byte][key >> (8 * byte) & 0xff], 1u);
  }
  __syncthreads();
  const uint32_t byte = threadIdx.x / 32;
  if (byte < kBytes) {
    uint32_t values = 0, meetings = 0;
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i) {
      const uint32_t here = counts[byte][i * 32 + lane_id()];
      values += here != 0;
      meetings += here * (max(here, 1u) - 1);
    }
    values = warp_sum(values), meetings = warp_sum(meetings);
    constexpr float kPairs = static_cast<float>(kSampledBytesKeys) * (kSampledBytesKeys - 1);
    if (lane_id() == 0)
      of_byte[byte] = {bit_width(values - 1),
                       meetings == 0 ? 8.0f : fminf(8.0f, log2f(kPairs / static_cast<float>(meetings)))};
  }
  __syncthreads();
  SampledBytes all = {0, 0};
#pragma unroll
  for (uint32_t i = 0; i < kBytes; ++i) all.dense_bits += of_byte[i].dense_bits, all.entropy += of_byte[i].entropy;
  return all;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SAMPLED_BYTES_CUH_
