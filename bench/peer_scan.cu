// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cub/device/device_scan.cuh>
#include <cuda/functional>

#include "peer_detail.h"

namespace gsort_bench {

namespace {

template <typename T>
cudaError_t scan_of(PeerScratch &scratch, const void *in, void *out, uint32_t n, cudaStream_t s) {
  return cub::DeviceScan::InclusiveSum(scratch.memory, scratch.bytes, static_cast<const T *>(in), static_cast<T *>(out),
                                       n, s);
}

}  // namespace

cudaError_t cub_scan(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  if (n > UINT32_MAX) return cudaErrorNotSupported;
  const uint32_t count = static_cast<uint32_t>(n);
  switch (t) {
    case GSORT_F32:
      return scan_of<float>(scratch, in, out, count, s);
    case GSORT_U8:
      return scan_of<uint8_t>(scratch, in, out, count, s);
    case GSORT_U16:
      return scan_of<uint16_t>(scratch, in, out, count, s);
    case GSORT_U32:
      return scan_of<uint32_t>(scratch, in, out, count, s);
    case GSORT_U64:
      return scan_of<uint64_t>(scratch, in, out, count, s);
    default:
      return cudaErrorNotSupported;
  }
}

cudaError_t peer_scan_wide(PeerScratch &scratch, const float *in, double *out, uint64_t n, cudaStream_t s) {
  return cub::DeviceScan::InclusiveScanInit(scratch.memory, scratch.bytes, in, out, cuda::std::plus<double>{}, 0.0,
                                            static_cast<uint32_t>(n), s);
}

int peer_version() { return CUB_VERSION; }

}  // namespace gsort_bench
