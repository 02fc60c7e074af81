// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cub/device/device_scan.cuh>
#include <cuda/functional>

#include "peer_detail.h"

namespace gsort_bench {

cudaError_t cub_scan(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  if (n > UINT32_MAX) return cudaErrorNotSupported;
  const uint32_t count = static_cast<uint32_t>(n);
  if (t == GSORT_F32) {
    return cub::DeviceScan::InclusiveSum(scratch.memory, scratch.bytes, static_cast<const float *>(in),
                                         static_cast<float *>(out), count, s);
  }
  if (t == GSORT_U32) {
    return cub::DeviceScan::InclusiveSum(scratch.memory, scratch.bytes, static_cast<const uint32_t *>(in),
                                         static_cast<uint32_t *>(out), count, s);
  }
  return cudaErrorNotSupported;
}

cudaError_t peer_scan_wide(PeerScratch &scratch, const float *in, double *out, uint64_t n, cudaStream_t s) {
  return cub::DeviceScan::InclusiveScanInit(scratch.memory, scratch.bytes, in, out, cuda::std::plus<double>{}, 0.0,
                                            static_cast<uint32_t>(n), s);
}

int peer_version() { return CUB_VERSION; }

}  // namespace gsort_bench
