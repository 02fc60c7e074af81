// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls on long host arrays by CUDA beside the copies of their bytes, one way after the other, without which none could
// be done: of registered arrays as measured in the same run, of pageable ones as a ring would bring them, 44 GB/s.
// Every result is compared with the CPU engine's.
//
// usage: gsort_bench_copies [log]      (log: what the library tells of its copies)
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "cuda_error.h"
#include "gsort.h"

namespace {

using Clock = std::chrono::steady_clock;
using gsort_bench::require_cuda;

constexpr uint64_t kPageableBytesPerMs = 44000000;

// Elements are spread over four arrays of 2^32 bytes.
struct Arrays {
  char *in, *out, *values_in, *values_out;
};

struct Work {
  const char *name;
  int log2;  // of the number of words of 4 bytes that it takes
  int more;  // and so many
  bool registered;
  uint64_t bytes_in, bytes_out;  // of a word; 0: few leave
  std::function<gsort_status(gsort *, const Arrays &, uint64_t words)> run;
};

std::vector<uint64_t> offsets;  // of segments of 1,000

gsort_status sort(gsort *g, const Arrays &a, uint64_t n) { return gsort_sort(g, GSORT_U32, a.in, a.out, n, 0); }
gsort_status sort_u64(gsort *g, const Arrays &a, uint64_t n) { return gsort_sort(g, GSORT_U64, a.in, a.out, n / 2, 0); }
gsort_status pairs(gsort *g, const Arrays &a, uint64_t n) {
  return gsort_sort_pairs(g, GSORT_U32, a.in, a.out, 4, a.values_in, a.values_out, n, 0);
}
gsort_status pairs_u64(gsort *g, const Arrays &a, uint64_t n) {
  return gsort_sort_pairs(g, GSORT_U64, a.in, a.out, 8, a.values_in, a.values_out, n / 2, 0);
}
gsort_status argsort(gsort *g, const Arrays &a, uint64_t n) {
  return gsort_argsort(g, GSORT_U32, a.in, n, GSORT_U32, a.out, 0);
}
gsort_status topk(gsort *g, const Arrays &a, uint64_t n) {
  return gsort_topk(g, GSORT_F32, a.in, n, 256, a.out, GSORT_U32, a.values_out, 0);
}
gsort_status segments(gsort *g, const Arrays &a, uint64_t n) {
  return gsort_sort_segments(g, GSORT_U32, a.in, a.out, n, offsets.data(), offsets.size() - 1, 0);
}
// Of the two halves of `values_in`.
gsort_status merge(gsort *g, const Arrays &a, uint64_t n) {
  return gsort_merge(g, GSORT_U32, a.values_in, n / 2, a.values_in + n / 2 * 4, n / 2, a.out, 0);
}

std::vector<Work> all_work() {
  return {{"sort u32", 24, 1, false, 4, 4, sort},
          {"sort u32", 26, 0, false, 4, 4, sort},
          {"sort u32", 28, 0, false, 4, 4, sort},
          {"sort u64", 28, 0, false, 4, 4, sort_u64},
          {"pairs u32 + u32", 28, 0, false, 8, 8, pairs},
          {"pairs u64 + u64", 27, 0, false, 8, 8, pairs_u64},
          {"argsort u32", 28, 0, false, 4, 4, argsort},
          {"top-k f32 256", 28, 0, false, 4, 0, topk},
          {"segments of 1,000", 28, 0, false, 4, 4, segments},
          {"merge u32", 28, 0, false, 4, 4, merge},
          {"sort u32", 24, 0, true, 4, 4, sort},
          {"sort u32", 26, 0, true, 4, 4, sort},
          {"sort u32", 28, 0, true, 4, 4, sort},
          {"sort u32", 30, 0, true, 4, 4, sort},
          {"sort u64", 28, 0, true, 4, 4, sort_u64},
          {"pairs u32 + u32", 28, 0, true, 8, 8, pairs},
          {"pairs u64 + u64", 27, 0, true, 8, 8, pairs_u64},
          {"argsort u32", 28, 0, true, 4, 4, argsort},
          {"top-k f32 256", 28, 0, true, 4, 0, topk},
          {"segments of 1,000", 28, 0, true, 4, 4, segments},
          {"merge u32", 28, 0, true, 4, 4, merge}};
}

gsort *make(uint32_t backend, bool logs) {
  gsort_options options = {};
  options.struct_size = sizeof options;
  options.backend = backend;
  if (logs)
    options.log = [](void *, const char *line) {
      if (std::strstr(line, "arrive") != nullptr || std::strstr(line, "at once") != nullptr)
        std::printf("    | %s\n", line);
    };
  gsort *g = nullptr;
  if (gsort_create(&options, &g) == GSORT_OK) return g;
  std::fprintf(stderr, "gsort_bench_copies: %s\n", gsort_error_message(nullptr));
  std::exit(1);
}

void run(gsort *g, const Work &work, const Arrays &arrays, uint64_t words) {
  if (work.run(g, arrays, words) == GSORT_OK) return;
  std::fprintf(stderr, "gsort_bench_copies: %s: %s\n", work.name, gsort_error_message(g));
  std::exit(1);
}

// The median of some calls behind one that makes threads, streams and pages.
double median_ms(const std::function<void()> &work) {
  std::vector<double> times;
  for (int i = 0; i < 6; ++i) {
    const auto begin = Clock::now();
    work();
    if (i != 0) times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// All bytes to the device, and then those of the result back.
double copies_ms(const Arrays &a, const Work &work, uint64_t words) {
  const uint64_t in = words * work.bytes_in, out = words * work.bytes_out;
  if (!work.registered) return static_cast<double>(in + out) / static_cast<double>(kPageableBytesPerMs);
  gsort_bench::DeviceBuffer device;
  void *const memory = device.reserve(in);
  return median_ms([&] {
    require_cuda(cudaMemcpyAsync(memory, a.in, in, cudaMemcpyHostToDevice, nullptr), "a copy");
    require_cuda(cudaMemcpyAsync(a.out, memory, out, cudaMemcpyDeviceToHost, nullptr), "a copy");
    require_cuda(cudaStreamSynchronize(nullptr), "waiting");
  });
}

// Uniform words, but for the bits that would make floats NaN or infinite; by some threads.
void fill(char *array, uint64_t words, uint64_t seed) {
  constexpr uint64_t kThreads = 8;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([=] {
      for (uint64_t i = words / kThreads * t; i < words / kThreads * (t + 1); ++i) {
        uint64_t x = (i + seed * words) * 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
        reinterpret_cast<uint32_t *>(array)[i] = static_cast<uint32_t>(x >> 32) & 0xff7fffffu;
      }
    });
  for (std::thread &thread : threads) thread.join();
}

// Of the first bytes of each 512.
uint64_t fingerprint(const char *array, uint64_t bytes) {
  uint64_t mixed = 0;
  for (uint64_t i = 0; i + 8 <= bytes; i += 512) {
    uint64_t word;
    std::memcpy(&word, array + i, 8);
    mixed = (mixed ^ word) * 0x9e3779b97f4a7c15u;
  }
  return mixed;
}

// Both outputs, as far as any work writes them.
uint64_t result_of(const Arrays &a, const Work &work, uint64_t words) {
  if (work.bytes_out == 0) return fingerprint(a.out, 1024) ^ fingerprint(a.values_out, 1024);
  return fingerprint(a.out, words * 4) + 31 * (work.bytes_out > 4 ? fingerprint(a.values_out, words * 4) : 0);
}

void compare(const std::vector<Work> &all, bool registered, const Arrays &arrays, bool logs, int &wrong) {
  gsort *const cpu = make(GSORT_BACKEND_CPU, false), *const cuda = make(GSORT_BACKEND_CUDA, false),
               *const telling = make(GSORT_BACKEND_CUDA, true);
  for (const Work &work : all) {
    if (work.registered != registered) continue;
    const uint64_t words = (uint64_t{1} << work.log2) + static_cast<uint64_t>(work.more);
    run(cpu, work, arrays, words);
    const uint64_t want = result_of(arrays, work, words);
    std::memset(arrays.out, 0xAB, work.bytes_out == 0 ? 1024 : words * 4);
    if (work.bytes_out > 4) std::memset(arrays.values_out, 0xAB, words * 4);
    if (logs) run(telling, work, arrays, words);
    const double ms = median_ms([&] { run(cuda, work, arrays, words); });
    const bool same = result_of(arrays, work, words) == want;
    wrong += !same;
    const double copies = copies_ms(arrays, work, words);
    std::printf("%-10s %-18s 2^%d%-3s %8.2f ms   copies %8.2f ms   over them %5.3f%s\n",
                registered ? "registered" : "pageable", work.name, work.log2, work.more != 0 ? "+1" : "", ms, copies,
                ms / copies, same ? "" : "   WRONG");
    std::fflush(stdout);
  }
  for (gsort *const g : {cpu, cuda, telling}) gsort_destroy(g);
}

}  // namespace

int main(int count, char **arguments) {
  const bool logs = count == 2 && std::strcmp(arguments[1], "log") == 0;
  if (count > 1 && !logs) {
    std::fprintf(stderr, "usage: gsort_bench_copies [log]\n");
    return 2;
  }
  constexpr uint64_t kWords = uint64_t{1} << 30, kFew = uint64_t{1} << 28;
  std::vector<char *> memory;
  for (const uint64_t words : {kWords, kWords, kFew, kFew}) {
    memory.push_back(static_cast<char *>(std::aligned_alloc(uint64_t{2} << 20, words * 4)));
    if (memory.back() == nullptr) {
      std::fprintf(stderr, "gsort_bench_copies: there is too little memory\n");
      return 1;
    }
    fill(memory.back(), words, memory.size());
  }
  for (uint64_t at = 0; at < kFew; at += 1000) offsets.push_back(at);
  offsets.push_back(kFew);
  const Arrays arrays = {memory[0], memory[1], memory[2], memory[3]};
  gsort *const cpu = make(GSORT_BACKEND_CPU, false);
  for (const uint64_t half : {uint64_t{0}, kFew / 2}) {
    auto *const keys = reinterpret_cast<uint32_t *>(arrays.values_in) + half;
    if (gsort_sort_u32(cpu, keys, kFew / 2, 0) != GSORT_OK) return 1;
  }
  gsort_destroy(cpu);
  const std::vector<Work> all = all_work();
  int wrong = 0;
  compare(all, false, arrays, logs, wrong);
  for (size_t i = 0; i < memory.size(); ++i)
    require_cuda(cudaHostRegister(memory[i], (i < 2 ? kWords : kFew) * 4, cudaHostRegisterDefault), "cudaHostRegister");
  compare(all, true, arrays, logs, wrong);
  std::printf("%d results differ\n", wrong);
  for (char *const array : memory) {
    require_cuda(cudaHostUnregister(array), "cudaHostUnregister");
    std::free(array);
  }
  return wrong != 0;
}
