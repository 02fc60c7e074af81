// SPDX-License-Identifier: MIT OR Apache-2.0
// Small arrays in one block, in shared memory: every thread sorts a strided part of the keys bit by bit, and then the
// parts are merged by finding the least of their first keys, n times over.
#include <algorithm>

#include "cuda_error.h"
#include "ladder.h"

namespace gsort_bench {
namespace {

constexpr uint32_t kKeysMost = 4096;  // twice, 32 KB: what every GPU gives a block
constexpr uint32_t kThreadsMost = 256;

// The part of thread t has the keys t, t + threads, t + 2 * threads, ...
struct Part {
  uint32_t *keys;
  uint32_t first, stride, n;

  __device__ uint32_t &operator[](uint32_t i) const { return keys[first + i * stride]; }
  __device__ uint32_t count() const { return first < n ? (n - first + stride - 1) / stride : 0; }
};

// One pass a bit: keys with a zero move up in their own place, those with a one wait in `ones` and are put behind them.
__device__ void sort_part(const Part &part, const Part &ones) {
  const uint32_t count = part.count();
  for (uint32_t bit = 0; bit < 32; ++bit) {
    uint32_t zero_count = 0, one_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t key = part[i];
      if ((key >> bit & 1) == 0)
        part[zero_count++] = key;
      else
        ones[one_count++] = key;
    }
    for (uint32_t i = 0; i < one_count; ++i) part[zero_count + i] = ones[i];
  }
}

// A part's first key that is not written yet, and under it the part: the lowest part wins among equals.
__device__ uint64_t candidate(const Part &part, uint32_t taken) {
  return taken < part.count() ? uint64_t{part[taken]} << 32 | part.first : UINT64_MAX;
}

__device__ void merge_by_one_thread(uint32_t *keys, uint32_t n, uint32_t *taken, uint32_t *out) {
  taken[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (uint32_t i = 0; i < n; ++i) {
    uint64_t least = UINT64_MAX;
    for (uint32_t t = 0; t < blockDim.x; ++t) least = min(least, candidate({keys, t, blockDim.x, n}, taken[t]));
    out[i] = static_cast<uint32_t>(least >> 32);
    ++taken[least & 0xffffffffu];
  }
}

__device__ uint64_t least_of_warp(uint64_t mine) {
  for (uint32_t distance = 16; distance != 0; distance /= 2)
    mine = min(mine, __shfl_xor_sync(0xffffffffu, mine, static_cast<int>(distance)));
  return mine;
}

// Every thread offers the first key of its part; a tree of warps finds the least.
__device__ void merge_by_block(uint32_t *keys, uint32_t n, uint64_t *warp_least, uint32_t *out) {
  const Part part = {keys, threadIdx.x, blockDim.x, n};
  const uint32_t warps = blockDim.x / 32;
  uint32_t taken = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint64_t of_warp = least_of_warp(candidate(part, taken));
    // The two rows of results take turns, so that one barrier is enough.
    uint64_t *const row = warp_least + i % 2 * (kThreadsMost / 32);
    if (threadIdx.x % 32 == 0) row[threadIdx.x / 32] = of_warp;
    __syncthreads();
    uint64_t least = row[0];
    for (uint32_t w = 1; w < warps; ++w) least = min(least, row[w]);
    if (threadIdx.x == static_cast<uint32_t>(least)) {
      out[i] = static_cast<uint32_t>(least >> 32);
      ++taken;
    }
  }
}

enum class Merge { kByOneThread, kByBlock };

template <Merge How>
__global__ void __launch_bounds__(kThreadsMost) strided_sort(const uint32_t *in, uint32_t *out, uint32_t n) {
  __shared__ uint32_t keys[kKeysMost], ones[kKeysMost];
  __shared__ uint64_t warp_least[2 * (kThreadsMost / 32)];
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) keys[i] = in[i];
  __syncthreads();
  sort_part({keys, threadIdx.x, blockDim.x, n}, {ones, threadIdx.x, blockDim.x, n});
  __syncthreads();
  if (How == Merge::kByOneThread)
    merge_by_one_thread(keys, n, ones, out);
  else
    merge_by_block(keys, n, warp_least, out);
}

struct Method {
  const char *name;
  std::function<void()> run;
};

void run_size(const LadderSettings &settings, uint32_t n, std::vector<Step> &steps) {
  const std::vector<uint32_t> keys = keys_with_duplicates(n);
  std::vector<uint32_t> expected = keys, got(n);
  std::sort(expected.begin(), expected.end());
  DeviceBuffer in, out;
  in.reserve(4 * n), out.reserve(4 * n);
  uint32_t *const from = in.as<uint32_t>(), *const to = out.as<uint32_t>();
  require_cuda(cudaMemcpy(from, keys.data(), 4 * n, cudaMemcpyHostToDevice), "copy in");
  const cudaStream_t s = settings.stream;
  const Method methods[] = {
      {"1 one thread sorts bit by bit", [&] { strided_sort<Merge::kByOneThread><<<1, 1, 0, s>>>(from, to, n); }},
      {"2 32 threads sort strided parts, one merges",
       [&] { strided_sort<Merge::kByOneThread><<<1, 32, 0, s>>>(from, to, n); }},
      {"3 32 threads, the warp finds the least", [&] { strided_sort<Merge::kByBlock><<<1, 32, 0, s>>>(from, to, n); }},
      {"4 256 threads, the block finds the least",
       [&] { strided_sort<Merge::kByBlock><<<1, kThreadsMost, 0, s>>>(from, to, n); }},
      {"5 gsort_sort", [&] { require_gsort_call(gsort_sort(settings.g, GSORT_U32, from, to, n, 0), settings.g); }},
  };
  for (const Method &method : methods) {
    Step step;
    step.ladder = "strided parts of u32 merged by the least";
    step.n = n;
    step.name = method.name;
    step.bytes_read = 4.0 * n;
    require_cuda(cudaMemset(to, 0, 4 * n), "clear");
    require_cuda(cudaDeviceSynchronize(), "clear");
    step.device_ms = device_median_ms(settings, [] {}, method.run);
    require_cuda(cudaGetLastError(), "strided step");
    require_cuda(cudaMemcpy(got.data(), to, 4 * n, cudaMemcpyDeviceToHost), "copy back");
    step.right = got == expected;
    steps.push_back(step);
  }
}

}  // namespace

std::vector<Step> run_strided_ladder(const LadderSettings &settings) {
  std::vector<Step> steps;
  for (const uint32_t n : {uint32_t{256}, uint32_t{1000}, kKeysMost}) run_size(settings, n, steps);
  return steps;
}

}  // namespace gsort_bench
