// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ceiling.h"

namespace gsort_bench {
namespace {

constexpr int kBlockThreads = 512;
constexpr int kUnroll = 4;  // loads in flight a thread
constexpr uint64_t kTile = uint64_t{kBlockThreads} * kUnroll;

__global__ void __launch_bounds__(kBlockThreads) copy_tiles(const uint4 *in, uint4 *out, uint64_t n) {
  const uint64_t first = blockIdx.x * kTile + threadIdx.x;
  uint4 held[kUnroll];
  if (first + (kUnroll - 1) * kBlockThreads < n) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) held[u] = in[first + u * kBlockThreads];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) out[first + u * kBlockThreads] = held[u];
    return;
  }
  for (int u = 0; u < kUnroll; ++u) {
    if (first + u * kBlockThreads < n) out[first + u * kBlockThreads] = in[first + u * kBlockThreads];
  }
}

__global__ void __launch_bounds__(kBlockThreads) read_tiles(const uint4 *in, uint32_t *out, uint64_t n) {
  const uint64_t stride = gridDim.x * kTile;
  uint32_t folded = 0;
  for (uint64_t first = blockIdx.x * kTile + threadIdx.x; first < n; first += stride) {
    uint4 held[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const uint64_t place = first + u * kBlockThreads;
      held[u] = place < n ? __ldcs(&in[place]) : uint4{};
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) folded ^= held[u].x ^ held[u].y ^ held[u].z ^ held[u].w;
  }
  // Almost never true, and unknown to the compiler: keeps the loads.
  if (folded == 0x9e3779b9u) *out = folded;
}

__global__ void spin(uint64_t nanoseconds) {
  uint64_t begin = 0;
  uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

}  // namespace

cudaError_t copy_kernel(const void *in, void *out, uint64_t bytes, cudaStream_t s) {
  const uint64_t n = bytes / sizeof(uint4);
  const uint32_t blocks = static_cast<uint32_t>((n + kTile - 1) / kTile);
  copy_tiles<<<blocks, kBlockThreads, 0, s>>>(static_cast<const uint4 *>(in), static_cast<uint4 *>(out), n);
  return cudaGetLastError();
}

cudaError_t read_kernel(const void *in, void *out, uint64_t bytes, cudaStream_t s) {
  const uint64_t n = bytes / sizeof(uint4);
  const uint64_t tiles = (n + kTile - 1) / kTile;
  const uint32_t blocks = static_cast<uint32_t>(tiles < 4096 ? tiles : 4096);
  read_tiles<<<blocks, kBlockThreads, 0, s>>>(static_cast<const uint4 *>(in), static_cast<uint32_t *>(out), n);
  return cudaGetLastError();
}

cudaError_t delay_kernel(uint32_t microseconds, cudaStream_t s) {
  spin<<<1, 1, 0, s>>>(uint64_t{1000} * microseconds);
  return cudaGetLastError();
}

}  // namespace gsort_bench
