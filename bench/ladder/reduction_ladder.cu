// SPDX-License-Identifier: MIT OR Apache-2.0
// The sum of an array of floats, from the naive tree to one pass at the speed of reading.
//
// The values are small halves of odd numbers, of both signs, so that every partial sum is exact in a float whatever the
// order: each step must give the same bits.
#include <numeric>

#include "cuda_error.h"
#include "ladder.h"

namespace gsort_bench {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kLoads = 8;  // of one thread, from step 4 on
constexpr uint32_t kWarps = kThreads / 32;

// Work of one pass: in[0 .. n) to one partial sum a block.
struct Pass {
  const float *in;
  float *out;
  uint64_t n;
};

__device__ float load_or_zero(const Pass &p, uint64_t i) { return i < p.n ? p.in[i] : 0.0f; }

// 1. Neighbours first; the threads that still work lie ever further apart, so every warp runs to the end.
__global__ void tree_divergent(Pass p) {
  __shared__ float held[kThreads];
  held[threadIdx.x] = load_or_zero(p, uint64_t{blockIdx.x} * kThreads + threadIdx.x);
  __syncthreads();
  for (uint32_t distance = 1; distance < kThreads; distance *= 2) {
    if (threadIdx.x % (2 * distance) == 0) held[threadIdx.x] += held[threadIdx.x + distance];
    __syncthreads();
  }
  if (threadIdx.x == 0) p.out[blockIdx.x] = held[0];
}

// 2. The same pairs, but the working threads are the lowest ones: whole warps retire. Strides hit the same banks.
__global__ void tree_compact(Pass p) {
  __shared__ float held[kThreads];
  held[threadIdx.x] = load_or_zero(p, uint64_t{blockIdx.x} * kThreads + threadIdx.x);
  __syncthreads();
  for (uint32_t distance = 1; distance < kThreads; distance *= 2) {
    const uint32_t left = 2 * distance * threadIdx.x;
    if (left < kThreads) held[left] += held[left + distance];
    __syncthreads();
  }
  if (threadIdx.x == 0) p.out[blockIdx.x] = held[0];
}

// Halves of the array are added, so neighbouring threads touch neighbouring banks.
__device__ float add_block_by_halves(float *held, float mine) {
  held[threadIdx.x] = mine;
  __syncthreads();
  for (uint32_t distance = kThreads / 2; distance > 0; distance /= 2) {
    if (threadIdx.x < distance) held[threadIdx.x] += held[threadIdx.x + distance];
    __syncthreads();
  }
  return held[0];
}

// 3. Sequential addressing.
__global__ void tree_sequential(Pass p) {
  __shared__ float held[kThreads];
  const float mine = load_or_zero(p, uint64_t{blockIdx.x} * kThreads + threadIdx.x);
  const float sum = add_block_by_halves(held, mine);
  if (threadIdx.x == 0) p.out[blockIdx.x] = sum;
}

__device__ float add_several(const Pass &p) {
  const uint64_t first = uint64_t{blockIdx.x} * kThreads * kLoads + threadIdx.x;
  float mine = 0;
#pragma unroll
  for (uint32_t load = 0; load < kLoads; ++load) mine += load_or_zero(p, first + uint64_t{load} * kThreads);
  return mine;
}

// 4. Every thread adds several elements of its own before the tree, which then costs an eighth.
__global__ void several_loads(Pass p) {
  __shared__ float held[kThreads];
  const float sum = add_block_by_halves(held, add_several(p));
  if (threadIdx.x == 0) p.out[blockIdx.x] = sum;
}

// The sum over the block, in thread 0: within warps by shuffles, then one value a warp.
__device__ float add_block_by_shuffles(float *held, float mine) {
  for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffffu, mine, distance);
  if (threadIdx.x % 32 == 0) held[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = threadIdx.x < kWarps ? held[threadIdx.x] : 0.0f;
  if (threadIdx.x < 32) {
    for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffffu, mine, distance);
  }
  return mine;
}

// 5. Warps add through registers: two barriers instead of nine.
__global__ void warp_shuffles(Pass p) {
  __shared__ float held[kWarps];
  const float sum = add_block_by_shuffles(held, add_several(p));
  if (threadIdx.x == 0) p.out[blockIdx.x] = sum;
}

__device__ float add_vectors(const Pass &p, uint64_t first, uint64_t stride, uint32_t vectors) {
  float mine = 0;
#pragma unroll
  for (uint32_t v = 0; v < vectors; ++v) {
    const uint64_t i = first + v * stride;
    if (i + 4 <= p.n) {
      const float4 four = *reinterpret_cast<const float4 *>(p.in + i);
      mine += (four.x + four.y) + (four.z + four.w);
    } else {
      for (uint64_t rest = i; rest < p.n && rest < i + 4; ++rest) mine += p.in[rest];
    }
  }
  return mine;
}

// 6. Four floats a load: a quarter of the load instructions.
__global__ void vector_loads(Pass p) {
  __shared__ float held[kWarps];
  const uint64_t first = uint64_t{blockIdx.x} * kThreads * kLoads + 4 * threadIdx.x;
  const float sum = add_block_by_shuffles(held, add_vectors(p, first, 4 * kThreads, kLoads / 4));
  if (threadIdx.x == 0) p.out[blockIdx.x] = sum;
}

// 7. As many blocks as fit the device walk the whole array; the last to finish adds their sums: one launch.
__global__ void __launch_bounds__(kThreads) one_pass(Pass p, float *partial_sums, uint32_t *blocks_done) {
  __shared__ float held[kWarps];
  __shared__ bool is_last;
  constexpr uint32_t vectors = 4;
  const uint64_t tile = uint64_t{kThreads} * 4 * vectors;
  float mine = 0;
  for (uint64_t base = blockIdx.x * tile; base < p.n; base += gridDim.x * tile) {
    mine += add_vectors(p, base + 4 * threadIdx.x, 4 * kThreads, vectors);
  }
  const float sum = add_block_by_shuffles(held, mine);
  if (threadIdx.x == 0) {
    partial_sums[blockIdx.x] = sum;
    // Release: the sum is visible before the block counts as done; pairs with the last block's fence.
    __threadfence();
    is_last = atomicAdd(blocks_done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  // Acquire: every block's sum was published before the count that this block read.
  __threadfence();
  mine = 0;
  for (uint32_t b = threadIdx.x; b < gridDim.x; b += kThreads) mine += *const_cast<volatile float *>(&partial_sums[b]);
  const float total = add_block_by_shuffles(held, mine);
  if (threadIdx.x == 0) {
    p.out[0] = total;
    *blocks_done = 0;
  }
}

using PassKernel = void (*)(Pass);

// Buffers of one ladder: the input, two arrays for partial sums in turn, the one-pass method's counter.
struct Arrays {
  DeviceBuffer in, sums[2], counter;
  uint64_t n = 0;
};

// Repeats a kernel until one sum is left, in the array that is returned.
const float *reduce_in_passes(PassKernel kernel, uint32_t block_items, const Arrays &a, cudaStream_t s) {
  Pass pass{a.in.as<float>(), nullptr, a.n};
  for (uint32_t turn = 0; pass.in == a.in.as<float>() || pass.n > 1; ++turn) {
    const uint64_t blocks = (pass.n + block_items - 1) / block_items;
    pass.out = a.sums[turn % 2].as<float>();
    kernel<<<static_cast<uint32_t>(blocks), kThreads, 0, s>>>(pass);
    pass.in = pass.out;
    pass.n = blocks;
  }
  return pass.in;
}

const float *reduce_in_one_pass(const Arrays &a, cudaStream_t s) {
  int sms = 0;
  require_cuda(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute");
  const uint32_t blocks = static_cast<uint32_t>(sms) * (2048 / kThreads);
  const Pass pass{a.in.as<float>(), a.sums[1].as<float>(), a.n};
  one_pass<<<blocks, kThreads, 0, s>>>(pass, a.sums[0].as<float>(), a.counter.as<uint32_t>());
  return a.sums[1].as<float>();
}

struct Method {
  const char *name;
  std::function<const float *()> run;
};

std::vector<float> small_halves(uint64_t n) {
  std::vector<float> values(n);
  uint64_t state = 0;
  for (float &x : values) {
    state += 0x9e3779b97f4a7c15ull;
    const uint64_t word = (state ^ (state >> 31)) * 0xbf58476d1ce4e5b9ull;
    x = static_cast<float>(static_cast<int>(word >> 60) - 8) + 0.5f;
  }
  return values;
}

std::vector<Method> methods_of(const Arrays &a, cudaStream_t s) {
  const auto passes = [&a, s](PassKernel kernel, uint32_t items) {
    return [=, &a] { return reduce_in_passes(kernel, items, a, s); };
  };
  return {{"1 tree of neighbours, divergent", passes(tree_divergent, kThreads)},
          {"2 no divergence", passes(tree_compact, kThreads)},
          {"3 sequential addressing", passes(tree_sequential, kThreads)},
          {"4 several loads a thread", passes(several_loads, kThreads * kLoads)},
          {"5 warp shuffles", passes(warp_shuffles, kThreads * kLoads)},
          {"6 vector loads", passes(vector_loads, kThreads * kLoads)},
          {"7 one pass", [&a, s] { return reduce_in_one_pass(a, s); }}};
}

float read_float(const float *device, cudaStream_t s) {
  float x = 0;
  require_cuda(cudaMemcpyAsync(&x, device, sizeof x, cudaMemcpyDeviceToHost, s), "read the sum");
  require_cuda(cudaStreamSynchronize(s), "reduction step");
  return x;
}

Step run_method(const LadderSettings &settings, const Method &method, const Arrays &a, const std::vector<float> &host,
                float expected) {
  Step step;
  step.name = method.name;
  const float *sum = nullptr;
  step.device_ms = device_median_ms(settings, [] {}, [&] { sum = method.run(); });
  require_cuda(cudaGetLastError(), "reduction step");
  step.right = read_float(sum, settings.stream) == expected;
  step.host_ms = host_median_ms(3, [&] {
    require_cuda(cudaMemcpyAsync(a.in.get(), host.data(), 4 * a.n, cudaMemcpyHostToDevice, settings.stream), "copy in");
    step.right = read_float(method.run(), settings.stream) == expected && step.right;
  });
  return step;
}

Step run_library(const LadderSettings &settings, const Arrays &a, const std::vector<float> &host, double expected) {
  Step step;
  step.name = "gsort_sum, exact for any values";
  double sum = 0;
  double *const device_sum = a.sums[0].as<double>();
  step.device_ms = device_median_ms(
      settings, [] {},
      [&] { require_gsort_call(gsort_sum(settings.g, GSORT_F32, a.in.get(), a.n, device_sum, 0), settings.g); });
  require_cuda(cudaMemcpy(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost), "read the sum");
  step.right = sum == expected;
  step.host_ms = host_median_ms(3, [&] {
    require_gsort_call(gsort_sum(settings.g, GSORT_F32, host.data(), a.n, &sum, 0), settings.g);
    step.right = step.right && sum == expected;
  });
  return step;
}

Step run_on_cpu(const std::vector<float> &host, double expected) {
  Step step;
  step.name = "0 one CPU thread";
  double sum = 0;
  step.host_ms = host_median_ms(3, [&] { sum = std::accumulate(host.begin(), host.end(), 0.0); });
  step.right = sum == expected;
  return step;
}

void run_size(const LadderSettings &settings, uint64_t n, std::vector<Step> &steps) {
  const std::vector<float> host = small_halves(n);
  int64_t halves = 0;
  for (const float x : host) halves += static_cast<int64_t>(2 * x);
  const double expected = 0.5 * static_cast<double>(halves);
  Arrays a;
  a.n = n;
  a.in.reserve(4 * n);
  for (DeviceBuffer &sums : a.sums) sums.reserve(4 * (n / kThreads + 1));
  require_cuda(cudaMemset(a.counter.reserve(sizeof(uint32_t)), 0, sizeof(uint32_t)), "clear the counter");
  require_cuda(cudaMemcpy(a.in.get(), host.data(), 4 * n, cudaMemcpyHostToDevice), "copy in");
  require_cuda(cudaDeviceSynchronize(), "data");
  std::vector<Step> done;
  done.push_back(run_on_cpu(host, expected));
  for (const Method &method : methods_of(a, settings.stream)) {
    done.push_back(run_method(settings, method, a, host, static_cast<float>(expected)));
  }
  done.push_back(run_library(settings, a, host, expected));
  for (Step &step : done) {
    step.ladder = "sum of floats";
    step.n = n;
    step.bytes_read = 4.0 * static_cast<double>(n);
    steps.push_back(step);
  }
}

}  // namespace

std::vector<Step> run_reduction_ladder(const LadderSettings &settings) {
  std::vector<Step> steps;
  run_size(settings, uint64_t{1536} * 20480, steps);
  run_size(settings, uint64_t{1} << 28, steps);
  return steps;
}

}  // namespace gsort_bench
