// SPDX-License-Identifier: MIT OR Apache-2.0
// Radix sort of 16,777,217 u32 keys, step by step, on the device alone and from host array to host array.
#include <algorithm>

#include "cuda_error.h"
#include "ladder.h"
#include "own_radix.cuh"

namespace gsort_bench {
namespace {

constexpr uint32_t kKeys = 16777217;  // one more than 2^24: no tile may rely on a round number
constexpr uint32_t kTiles = (kKeys + kTileKeys - 1) / kTileKeys;
constexpr uint32_t kDigitsMost = 256;

// --- 1-bit split: a flag a key, a scan of the flags, a scatter ------------------------------------------------------

__global__ void flag_zeros(SortPass p) {
  const uint32_t i = blockIdx.x * kSortThreads + threadIdx.x;
  if (i < p.n) p.counts[i] = ((p.in[i] >> p.shift) & 1) == 0;
}

__global__ void scatter_split(SortPass p, const uint32_t *zeros_before) {
  const uint32_t i = blockIdx.x * kSortThreads + threadIdx.x;
  if (i >= p.n) return;
  const uint32_t last = p.n - 1;
  const uint32_t zeros = zeros_before[last] + (((p.in[last] >> p.shift) & 1) == 0);
  const uint32_t key = p.in[i];
  const bool is_zero = ((key >> p.shift) & 1) == 0;
  p.out[is_zero ? zeros_before[i] : zeros + i - zeros_before[i]] = key;
}

// One thread adds everything up: exclusive, in place.
__global__ void scan_sequential(uint32_t *counts, uint32_t n) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t mine = counts[i];
    counts[i] = sum;
    sum += mine;
  }
}

// --- Methods --------------------------------------------------------------------------------------------------------

struct Arrays {
  DeviceBuffer in, out[2], counts, block_sums;
};

SortPass first_pass(const Arrays &a) {
  return {a.in.as<uint32_t>(), a.out[0].as<uint32_t>(), a.counts.as<uint32_t>(), kKeys, kTiles, 0};
}

// After a pass its output is the next one's input; the arrays for outputs take turns.
void advance(SortPass &p, const Arrays &a, uint32_t bits) {
  p.in = p.out;
  p.out = p.in == a.out[0].as<uint32_t>() ? a.out[1].as<uint32_t>() : a.out[0].as<uint32_t>();
  p.shift += bits;
}

const uint32_t *sort_by_split(const Arrays &a, cudaStream_t s) {
  const uint32_t blocks = (kKeys + kSortThreads - 1) / kSortThreads;
  SortPass p = first_pass(a);
  while (p.shift < 32) {
    flag_zeros<<<blocks, kSortThreads, 0, s>>>(p);
    scan_parallel(p.counts, a.block_sums.as<uint32_t>(), kKeys, s);
    scatter_split<<<blocks, kSortThreads, 0, s>>>(p, p.counts);
    advance(p, a, 1);
  }
  return p.in;
}

// Which of the three stages of a pass run in parallel.
struct Stages {
  bool count_and_scan;
  bool scatter;
};

template <uint32_t DigitBits>
const uint32_t *sort_by_digits(const Arrays &a, Stages parallel, cudaStream_t s) {
  constexpr uint32_t digits = 1u << DigitBits;
  constexpr uint32_t lone_threads = 64;  // one tile a thread: small blocks spread over more of the device
  const uint32_t lone_blocks = (kTiles + lone_threads - 1) / lone_threads;
  SortPass p = first_pass(a);
  while (p.shift < 32) {
    if (parallel.count_and_scan) {
      count_parallel<digits><<<kTiles, kSortThreads, 0, s>>>(p);
      scan_parallel(p.counts, a.block_sums.as<uint32_t>(), digits * kTiles, s);
    } else {
      count_sequential<digits><<<lone_blocks, lone_threads, 0, s>>>(p);
      scan_sequential<<<1, 1, 0, s>>>(p.counts, digits * kTiles);
    }
    if (parallel.scatter) {
      scatter_parallel<digits><<<kTiles, kSortThreads, 0, s>>>(p);
    } else {
      scatter_sequential<digits><<<lone_blocks, lone_threads, 0, s>>>(p);
    }
    advance(p, a, DigitBits);
  }
  return p.in;
}

struct Method {
  const char *name;
  std::function<const uint32_t *()> run;
};

std::vector<Method> methods_of(const Arrays &a, cudaStream_t s) {
  return {{"1 1-bit digits: flags, scan, split", [&a, s] { return sort_by_split(a, s); }},
          {"2 4-bit digits, a tile a thread, one thread scans",
           [&a, s] { return sort_by_digits<4>(a, {false, false}, s); }},
          {"3 4-bit digits, parallel histogram and scan", [&a, s] { return sort_by_digits<4>(a, {true, false}, s); }},
          {"4 4-bit digits, parallel scatter", [&a, s] { return sort_by_digits<4>(a, {true, true}, s); }},
          {"5 8-bit digits, parallel scatter", [&a, s] { return sort_by_digits<8>(a, {true, true}, s); }}};
}

// --- Measuring ------------------------------------------------------------------------------------------------------

std::vector<uint32_t> random_keys() {
  std::vector<uint32_t> keys(kKeys);
  uint64_t state = 1;
  for (uint32_t &key : keys) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    key = static_cast<uint32_t>(state >> 32);
  }
  return keys;
}

// The classic: 8-bit digits, one thread, two arrays.
void sort_on_cpu(std::vector<uint32_t> &keys, std::vector<uint32_t> &scratch) {
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    uint32_t places[256] = {};
    for (const uint32_t key : keys) ++places[(key >> shift) & 255];
    uint32_t sum = 0;
    for (uint32_t &place : places) {
      const uint32_t count = place;
      place = sum;
      sum += count;
    }
    for (const uint32_t key : keys) scratch[places[(key >> shift) & 255]++] = key;
    keys.swap(scratch);
  }
}

void copy_back(std::vector<uint32_t> &to, const uint32_t *from, cudaStream_t s) {
  require_cuda(cudaMemcpyAsync(to.data(), from, 4 * to.size(), cudaMemcpyDeviceToHost, s), "copy back");
  require_cuda(cudaStreamSynchronize(s), "radix step");
}

Step run_on_cpu(const std::vector<uint32_t> &keys, const std::vector<uint32_t> &expected) {
  Step step;
  step.name = "0 one CPU thread, 8-bit digits";
  std::vector<uint32_t> work;
  std::vector<uint32_t> scratch(keys.size());
  step.host_ms = host_median_ms(3, [&] {
    work = keys;
    sort_on_cpu(work, scratch);
  });
  step.right = work == expected;
  return step;
}

Step run_method(const LadderSettings &settings, const Method &method, const Arrays &a,
                const std::vector<uint32_t> &keys, const std::vector<uint32_t> &expected) {
  Step step;
  step.name = method.name;
  std::vector<uint32_t> got(keys.size());
  const uint32_t *sorted = nullptr;
  step.device_ms = device_median_ms(settings, [] {}, [&] { sorted = method.run(); });
  require_cuda(cudaGetLastError(), "radix step");
  copy_back(got, sorted, settings.stream);
  step.right = got == expected;
  std::fill(got.begin(), got.end(), 0);
  step.host_ms = host_median_ms(3, [&] {
    require_cuda(cudaMemcpyAsync(a.in.get(), keys.data(), 4 * keys.size(), cudaMemcpyHostToDevice, settings.stream),
                 "copy in");
    copy_back(got, method.run(), settings.stream);
  });
  step.right = step.right && got == expected;
  return step;
}

Step run_library(const LadderSettings &settings, const Arrays &a, const std::vector<uint32_t> &keys,
                 const std::vector<uint32_t> &expected) {
  Step step;
  step.name = "6 gsort_sort";
  std::vector<uint32_t> got(keys.size());
  step.device_ms = device_median_ms(
      settings, [] {},
      [&] { require_gsort_call(gsort_sort(settings.g, GSORT_U32, a.in.get(), a.out[0].get(), kKeys, 0), settings.g); });
  copy_back(got, a.out[0].as<uint32_t>(), settings.stream);
  step.right = got == expected;
  std::fill(got.begin(), got.end(), 0);
  step.host_ms = host_median_ms(
      3, [&] { require_gsort_call(gsort_sort(settings.g, GSORT_U32, keys.data(), got.data(), kKeys, 0), settings.g); });
  step.right = step.right && got == expected;
  return step;
}

}  // namespace

std::vector<Step> run_radix_ladder(const LadderSettings &settings) {
  const std::vector<uint32_t> keys = random_keys();
  std::vector<uint32_t> expected = keys;
  std::sort(expected.begin(), expected.end());
  Arrays a;
  a.in.reserve(4 * size_t{kKeys});
  for (DeviceBuffer &out : a.out) out.reserve(4 * size_t{kKeys});
  const size_t counts = std::max<size_t>(kKeys, size_t{kDigitsMost} * kTiles);
  a.counts.reserve(4 * counts);
  a.block_sums.reserve(4 * (counts / 512 + 64));
  require_cuda(cudaMemcpyAsync(a.in.get(), keys.data(), 4 * keys.size(), cudaMemcpyHostToDevice, settings.stream),
               "copy in");
  require_cuda(cudaStreamSynchronize(settings.stream), "data");
  std::vector<Step> steps;
  steps.push_back(run_on_cpu(keys, expected));
  for (const Method &method : methods_of(a, settings.stream)) {
    steps.push_back(run_method(settings, method, a, keys, expected));
  }
  steps.push_back(run_library(settings, a, keys, expected));
  for (Step &step : steps) {
    step.ladder = "radix sort of u32";
    step.n = kKeys;
    step.bytes_read = 4.0 * kKeys;
  }
  return steps;
}

}  // namespace gsort_bench
