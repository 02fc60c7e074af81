// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_reduce.cuh>
#include <cuda/functional>

#include "peer_detail.h"

namespace gsort_bench {
namespace {

template <typename In, typename Total>
cudaError_t sum_in(PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  return cub::DeviceReduce::Reduce(scratch.memory, scratch.bytes, static_cast<const In *>(in),
                                   static_cast<Total *>(out), static_cast<int64_t>(n), cuda::std::plus<Total>{},
                                   Total{}, s);
}

template <typename In>
cudaError_t reduce_of(uint32_t op, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  const In *const data = static_cast<const In *>(in);
  const int64_t count = static_cast<int64_t>(n);
  In *const value_out = static_cast<In *>(out);
  int64_t *const index_out = reinterpret_cast<int64_t *>(static_cast<char *>(out) + 8);
  switch (op) {
    case GSORT_MIN:
      return cub::DeviceReduce::Min(scratch.memory, scratch.bytes, data, value_out, count, s);
    case GSORT_MAX:
      return cub::DeviceReduce::Max(scratch.memory, scratch.bytes, data, value_out, count, s);
    case GSORT_ARGMIN:
      return cub::DeviceReduce::ArgMin(scratch.memory, scratch.bytes, data, value_out, index_out, count, s);
    case GSORT_ARGMAX:
      return cub::DeviceReduce::ArgMax(scratch.memory, scratch.bytes, data, value_out, index_out, count, s);
    default:
      return cudaErrorNotSupported;
  }
}

}  // namespace

cudaError_t cub_sum(gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n, cudaStream_t s) {
  switch (t) {
    case GSORT_U8:
      return sum_in<uint8_t, uint64_t>(scratch, in, out, n, s);
    case GSORT_U16:
      return sum_in<uint16_t, uint64_t>(scratch, in, out, n, s);
    case GSORT_U32:
      return sum_in<uint32_t, uint64_t>(scratch, in, out, n, s);
    case GSORT_I32:
      return sum_in<int32_t, int64_t>(scratch, in, out, n, s);
    case GSORT_U64:
      return sum_in<uint64_t, uint64_t>(scratch, in, out, n, s);
    case GSORT_F16:
      return sum_in<__half, float>(scratch, in, out, n, s);
    case GSORT_BF16:
      return sum_in<__nv_bfloat16, float>(scratch, in, out, n, s);
    case GSORT_F32:
      return sum_in<float, float>(scratch, in, out, n, s);
    case GSORT_F64:
      return sum_in<double, double>(scratch, in, out, n, s);
    default:
      return cudaErrorNotSupported;
  }
}

cudaError_t cub_reduce(uint32_t op, gsort_dtype t, PeerScratch &scratch, const void *in, void *out, uint64_t n,
                       cudaStream_t s) {
  if (t == GSORT_F32) return reduce_of<float>(op, scratch, in, out, n, s);
  if (t == GSORT_U32) return reduce_of<uint32_t>(op, scratch, in, out, n, s);
  return cudaErrorNotSupported;
}

}  // namespace gsort_bench
