// SPDX-License-Identifier: MIT OR Apache-2.0
#include "exact_sum.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <vector>

#include "cuda_error.h"
#include "round_bins.h"

namespace gsort_bench {
namespace {

constexpr int kBlockThreads = 256;
constexpr int kGridBlocks = 1024;
constexpr uint32_t kPieceBits = 18;  // 32 pieces of 18 bits and a sign fit an int
constexpr uint32_t kPieces = 3;      // 3 x 18 >= the 53 bits of a double's mantissa
constexpr uint32_t kExponents = 2048;

// Every float type is exact as a double, so doubles are all that is split here.
__device__ double widen(double x) { return x; }
__device__ double widen(float x) { return x; }
__device__ double widen(__half x) { return __half2float(x); }
__device__ double widen(__nv_bfloat16 x) { return __bfloat162float(x); }

// Adds the lanes' mantissas to bins[exponent][piece]; all lanes of a warp must call it.
__device__ void add_mantissas(double x, unsigned long long *bins) {
  const uint64_t bits = static_cast<uint64_t>(__double_as_longlong(x));
  const uint32_t field = static_cast<uint32_t>(bits >> 52) & 0x7ff;
  const uint64_t mantissa = (bits & 0xfffffffffffffull) | (field != 0 ? uint64_t{1} << 52 : 0);
  const uint32_t exponent = field != 0 ? field - 1 : 0;  // units of 2^(exponent - 1074)
  const uint32_t peers = __match_any_sync(0xffffffffu, exponent);
  const bool leads = static_cast<uint32_t>(__ffs(static_cast<int>(peers))) == threadIdx.x % 32 + 1;
  for (uint32_t piece = 0; piece < kPieces; ++piece) {
    const int part = static_cast<int>((mantissa >> (kPieceBits * piece)) & ((1u << kPieceBits) - 1));
    const int sum = __reduce_add_sync(peers, (bits >> 63) != 0 ? -part : part);
    if (leads && sum != 0) {
      atomicAdd(&bins[exponent * kPieces + piece], static_cast<unsigned long long>(static_cast<long long>(sum)));
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kBlockThreads) bins_kernel(const T *in, uint64_t n, unsigned long long *bins_out) {
  extern __shared__ unsigned long long bins[];
  for (uint32_t b = threadIdx.x; b < kExponents * kPieces; b += kBlockThreads) bins[b] = 0;
  __syncthreads();
  const uint64_t stride = uint64_t{gridDim.x} * kBlockThreads;
  for (uint64_t base = uint64_t{blockIdx.x} * kBlockThreads; base < n; base += stride) {
    const uint64_t i = base + threadIdx.x;
    add_mantissas(i < n ? widen(in[i]) : 0.0, bins);
  }
  __syncthreads();
  for (uint32_t b = threadIdx.x; b < kExponents * kPieces; b += kBlockThreads) {
    if (bins[b] != 0) atomicAdd(&bins_out[b], bins[b]);
  }
}

template <typename T>
void launch_bins(const void *in, uint64_t n, unsigned long long *bins, cudaStream_t s) {
  constexpr size_t shared_bytes = kExponents * kPieces * sizeof(unsigned long long);
  static_assert(shared_bytes <= 48 * 1024, "no opt-in to larger shared memory");
  bins_kernel<<<kGridBlocks, kBlockThreads, shared_bytes, s>>>(static_cast<const T *>(in), n, bins);
}

}  // namespace

double exact_sum(gsort_dtype t, const void *in, uint64_t n, uint32_t divide_log2, cudaStream_t s) {
  DeviceBuffer device_bins;
  const size_t bytes = kExponents * kPieces * sizeof(unsigned long long);
  unsigned long long *const bins = static_cast<unsigned long long *>(device_bins.reserve(bytes));
  require_cuda(cudaMemsetAsync(bins, 0, bytes, s), "exact sum: clear");
  if (t == GSORT_F16) launch_bins<__half>(in, n, bins, s);
  if (t == GSORT_BF16) launch_bins<__nv_bfloat16>(in, n, bins, s);
  if (t == GSORT_F32) launch_bins<float>(in, n, bins, s);
  if (t == GSORT_F64) launch_bins<double>(in, n, bins, s);
  require_cuda(cudaGetLastError(), "exact sum: launch");
  std::vector<int64_t> host(kExponents * kPieces);
  require_cuda(cudaMemcpyAsync(host.data(), bins, bytes, cudaMemcpyDeviceToHost, s), "exact sum: read");
  require_cuda(cudaStreamSynchronize(s), "exact sum");
  // Bit b of the sum has the weight 2^(b - 1074); a piece p of exponent e starts at bit e + 18 p.
  std::vector<int64_t> by_bit(kExponents + kPieceBits * kPieces, 0);
  for (uint32_t e = 0; e < kExponents; ++e) {
    for (uint32_t piece = 0; piece < kPieces; ++piece) by_bit[e + kPieceBits * piece] += host[e * kPieces + piece];
  }
  return round_bins(by_bit.data(), static_cast<uint32_t>(by_bit.size()), -1074 - static_cast<int32_t>(divide_log2));
}

}  // namespace gsort_bench
