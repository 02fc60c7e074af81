// SPDX-License-Identifier: MIT OR Apache-2.0
// Small arrays: rank (enumeration) sort beside a radix sort and the library.
//
// Rank sort counts, for each key, the keys that come before it; that count is its place. One launch and no passes, but
// the work grows with n squared. Equal keys go by their index, so that all ranks differ; descending order takes the
// same ranks from the other end, but for the ties.
#include <algorithm>

#include "cuda_error.h"
#include "ladder.h"
#include "own_radix.cuh"

namespace gsort_bench {
namespace {

constexpr uint32_t kRankThreads = 256;

__global__ void __launch_bounds__(kRankThreads) rank_sort(const uint32_t *in, uint32_t *out, uint32_t n) {
  __shared__ uint32_t others[kRankThreads];
  const uint32_t i = blockIdx.x * kRankThreads + threadIdx.x;
  const uint32_t key = i < n ? in[i] : 0;
  uint32_t rank = 0;
  for (uint32_t base = 0; base < n; base += kRankThreads) {
    if (base + threadIdx.x < n) others[threadIdx.x] = in[base + threadIdx.x];
    __syncthreads();
    const uint32_t count = min(kRankThreads, n - base);
    for (uint32_t j = 0; j < count; ++j) rank += others[j] < key || (others[j] == key && base + j < i);
    __syncthreads();
  }
  if (i < n) out[rank] = key;
}

struct Arrays {
  DeviceBuffer in, out[2], counts, block_sums;
  uint32_t n = 0;
};

const uint32_t *sort_by_ranks(const Arrays &a, cudaStream_t s) {
  const uint32_t blocks = (a.n + kRankThreads - 1) / kRankThreads;
  rank_sort<<<blocks, kRankThreads, 0, s>>>(a.in.as<uint32_t>(), a.out[0].as<uint32_t>(), a.n);
  return a.out[0].as<uint32_t>();
}

const uint32_t *sort_by_radix(const Arrays &a, cudaStream_t s) {
  constexpr uint32_t digits = 256;
  const uint32_t tiles = (a.n + kTileKeys - 1) / kTileKeys;
  SortPass p{a.in.as<uint32_t>(), a.out[0].as<uint32_t>(), a.counts.as<uint32_t>(), a.n, tiles, 0};
  for (uint32_t turn = 1; p.shift < 32; ++turn, p.shift += 8) {
    count_parallel<digits><<<tiles, kSortThreads, 0, s>>>(p);
    scan_parallel(p.counts, a.block_sums.as<uint32_t>(), digits * tiles, s);
    scatter_parallel<digits><<<tiles, kSortThreads, 0, s>>>(p);
    p.in = p.out;
    p.out = a.out[turn % 2].as<uint32_t>();
  }
  return p.in;
}

const uint32_t *sort_by_library(const LadderSettings &settings, const Arrays &a) {
  require_gsort_call(gsort_sort(settings.g, GSORT_U32, a.in.get(), a.out[0].get(), a.n, 0), settings.g);
  return a.out[0].as<uint32_t>();
}

struct Method {
  const char *name;
  std::function<const uint32_t *()> run;
};

Step run_method(const LadderSettings &settings, const Method &method, const std::vector<uint32_t> &expected) {
  Step step;
  step.name = method.name;
  const uint32_t *sorted = nullptr;
  LadderSettings more_runs = settings;
  more_runs.runs = std::max(settings.runs, 31u);  // a few microseconds each
  step.device_ms = device_median_ms(more_runs, [] {}, [&] { sorted = method.run(); });
  require_cuda(cudaGetLastError(), "rank step");
  std::vector<uint32_t> got(expected.size());
  require_cuda(cudaMemcpyAsync(got.data(), sorted, 4 * got.size(), cudaMemcpyDeviceToHost, settings.stream),
               "copy back");
  require_cuda(cudaStreamSynchronize(settings.stream), "rank step");
  step.right = got == expected;
  return step;
}

void run_size(const LadderSettings &settings, Arrays &a, uint32_t n, std::vector<Step> &steps) {
  a.n = n;
  const std::vector<uint32_t> keys = keys_with_duplicates(n);
  std::vector<uint32_t> expected = keys;
  std::sort(expected.begin(), expected.end());
  require_cuda(cudaMemcpyAsync(a.in.get(), keys.data(), 4 * keys.size(), cudaMemcpyHostToDevice, settings.stream),
               "copy in");
  require_cuda(cudaStreamSynchronize(settings.stream), "data");
  const Method methods[] = {
      {"rank sort", [&] { return sort_by_ranks(a, settings.stream); }},
      {"radix sort, 8-bit digits", [&] { return sort_by_radix(a, settings.stream); }},
      {"gsort_sort", [&] { return sort_by_library(settings, a); }},
  };
  for (const Method &method : methods) {
    Step step = run_method(settings, method, expected);
    step.ladder = "small sorts of u32";
    step.n = n;
    step.bytes_read = 4.0 * n;
    steps.push_back(step);
  }
}

}  // namespace

std::vector<Step> run_rank_ladder(const LadderSettings &settings) {
  constexpr uint32_t largest = 1u << 16;
  constexpr uint32_t counts = 256 * (largest / kTileKeys + 1);
  Arrays a;
  a.in.reserve(4 * largest);
  for (DeviceBuffer &out : a.out) out.reserve(4 * largest);
  a.counts.reserve(4 * counts);
  a.block_sums.reserve(4 * (counts / 512 + 64));
  std::vector<Step> steps;
  for (uint32_t n = 64; n <= largest; n *= 4) run_size(settings, a, n, steps);
  return steps;
}

}  // namespace gsort_bench
