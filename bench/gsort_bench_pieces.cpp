// SPDX-License-Identifier: MIT OR Apache-2.0
// Host arrays that are worked in pieces because the device may hold less: what calls take beside the copies of their
// bytes, both ways at once, from and to the same arrays. Results are compared with a handle's that may hold them.
//
// usage: gsort_bench_pieces [ELEMENTS_LOG2 [LIMIT_MIB [log [WORK]]]]      (default: 28 512; log: what the library tells
// of its trips, "" otherwise; WORK: a part of the names of what is done)
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "gsort.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const char *what, const char *why) {
  std::fprintf(stderr, "gsort_bench_pieces: %s: %s\n", what, why);
  std::exit(1);
}
void must(cudaError_t result, const char *what) {
  if (result != cudaSuccess) give_up(what, cudaGetErrorString(result));
}

gsort *make(uint64_t limit_bytes, bool logs) {
  gsort_options options = {};
  options.struct_size = sizeof options;
  options.backend = GSORT_BACKEND_CUDA;
  options.device_memory_limit_bytes = limit_bytes;
  if (logs)
    options.log = [](void *, const char *line) {
      if (std::strstr(line, "sort in pieces") != nullptr) std::printf("    | %s\n", line);
    };
  gsort *g = nullptr;
  if (gsort_create(&options, &g) != GSORT_OK) give_up("gsort_create", gsort_error_message(nullptr));
  return g;
}

double milliseconds(const std::function<void()> &work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The least of some calls, of which the first makes threads and pages.
double least_ms(int calls, const std::function<void()> &work, const std::function<void()> &prepare = [] {}) {
  prepare();
  work();
  double least = 1e30;
  for (int i = 0; i < calls; ++i) {
    prepare();
    least = std::min(least, milliseconds(work));
  }
  return least;
}

// What fresh pages cost whoever writes to them first: large scratch memory is of such.
void tell_fresh_pages(uint64_t bytes) {
  constexpr uint64_t kPageBytes = uint64_t{2} << 20;
  for (const unsigned threads : {1u, 8u}) {
    char *memory = nullptr;
    const auto write = [&] {
      std::vector<std::thread> writers;
      for (unsigned t = 0; t < threads; ++t)
        writers.emplace_back([=] {
          for (uint64_t at = t * kPageBytes; at < bytes; at += threads * kPageBytes)
            std::memset(memory + at, 1, std::min(kPageBytes, bytes - at));
        });
      for (std::thread &writer : writers) writer.join();
    };
    const double fresh = least_ms(
        2,
        [&] {
          memory = static_cast<char *>(std::aligned_alloc(kPageBytes, bytes));
          if (memory == nullptr) give_up("memory", "there is too little");
          madvise(memory, bytes, MADV_HUGEPAGE);
          write();
        },
        [&] { std::free(memory); });
    const double again = least_ms(2, write);
    std::printf("%llu bytes written by %u threads: fresh pages %.1f ms, the same pages again %.1f ms\n",
                static_cast<unsigned long long>(bytes), threads, fresh, again);
    std::free(memory);
  }
}

struct Arrays {
  char *in, *values_in, *out, *values_out;
};

// One trip of `bytes` in each direction at once, by the driver, of registered memory.
double trip_ms(const Arrays &a, uint64_t bytes_in, uint64_t bytes_out) {
  constexpr uint64_t kChunk = uint64_t{64} << 20;
  cudaStream_t in = nullptr, out = nullptr;
  char *device = nullptr;
  must(cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking), "a stream");
  must(cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking), "a stream");
  must(cudaMalloc(reinterpret_cast<void **>(&device), 2 * kChunk), "device memory");
  const double ms = least_ms(2, [&] {
    for (uint64_t offset = 0; offset < std::max(bytes_in, bytes_out); offset += kChunk) {
      if (offset < bytes_in)
        must(cudaMemcpyAsync(device, a.in + offset, std::min(kChunk, bytes_in - offset), cudaMemcpyHostToDevice, in),
             "a copy");
      if (offset < bytes_out)
        must(cudaMemcpyAsync(a.out + offset, device + kChunk, std::min(kChunk, bytes_out - offset),
                             cudaMemcpyDeviceToHost, out),
             "a copy");
    }
    must(cudaStreamSynchronize(in), "waiting");
    must(cudaStreamSynchronize(out), "waiting");
  });
  must(cudaFree(device), "cudaFree");
  must(cudaStreamDestroy(in), "cudaStreamDestroy");
  must(cudaStreamDestroy(out), "cudaStreamDestroy");
  return ms;
}

struct Work {
  const char *name;
  uint64_t bytes_in, bytes_out, trips;  // of an element; whole, of the only result, if that is all
  std::function<gsort_status(gsort *, const Arrays &, uint64_t n)> run;
  bool in_place = false;  // in `out`, where the input is put before
};

std::vector<Work> all_work() {
  return {
      {"sort u32", 4, 4, 2,
       [](gsort *g, const Arrays &a, uint64_t n) { return gsort_sort(g, GSORT_U32, a.in, a.out, n, 0); }},
      {"u32 in place", 4, 4, 2,
       [](gsort *g, const Arrays &a, uint64_t n) { return gsort_sort(g, GSORT_U32, a.out, a.out, n, 0); }, true},
      {"pairs u64+u64", 16, 16, 2,
       [](gsort *g, const Arrays &a, uint64_t n) {
         return gsort_sort_pairs(g, GSORT_U64, a.in, a.out, 8, a.values_in, a.values_out, n / 4, 0);
       }},
      {"pairs in place", 16, 16, 2,
       [](gsort *g, const Arrays &a, uint64_t n) {
         char *const values = a.out + 2 * n;
         return gsort_sort_pairs(g, GSORT_U64, a.out, a.out, 8, values, values, n / 4, 0);
       },
       true},
      {"argsort u32", 4, 4, 2,
       [](gsort *g, const Arrays &a, uint64_t n) { return gsort_argsort(g, GSORT_U32, a.in, n, GSORT_U32, a.out, 0); }},
      {"argsort u64", 8, 8, 2,
       [](gsort *g, const Arrays &a, uint64_t n) {
         return gsort_argsort(g, GSORT_U64, a.in, n / 2, GSORT_U64, a.out, 0);
       }},
      {"rank u32", 4, 4, 2,
       [](gsort *g, const Arrays &a, uint64_t n) { return gsort_rank(g, GSORT_U32, a.in, n, GSORT_U32, a.out, 0); }},
      {"sum f32", 4, 0, 1,
       [](gsort *g, const Arrays &a, uint64_t n) { return gsort_sum(g, GSORT_F32, a.in, n, a.out, 0); }},
      {"top-k f32 256", 4, 0, 1,
       [](gsort *g, const Arrays &a, uint64_t n) {
         return gsort_topk(g, GSORT_F32, a.in, n, 256, a.out, GSORT_U32, a.values_out, 0);
       }},
      {"scan f32", 4, 4, 1,
       [](gsort *g, const Arrays &a, uint64_t n) { return gsort_scan(g, GSORT_F32, a.in, a.out, n, 0); }},
  };
}

// Of the arrays' first 8 bytes each 4 KiB: enough to tell a wrong result, and quick.
uint64_t fingerprint(const char *array, uint64_t bytes) {
  uint64_t mixed = 0;
  for (uint64_t i = 0; i + 8 <= bytes; i += 4096) {
    uint64_t word;
    std::memcpy(&word, array + i, 8);
    mixed = (mixed ^ word) * 0x9e3779b97f4a7c15u;
  }
  return mixed;
}

void compare(const char *kind, const Arrays &a, uint64_t n, uint64_t limit_bytes, bool logs, const char *wanted,
             int &wrong) {
  gsort *const whole = make(0, false), *const pieces = make(limit_bytes, logs);
  const double trip = trip_ms(a, 4 * n, 4 * n), one_way = trip_ms(a, 4 * n, 0);
  std::printf("%s, %llu x 4 bytes: a trip both ways %.1f ms, one way %.1f ms\n", kind,
              static_cast<unsigned long long>(n), trip, one_way);
  for (const Work &work : all_work()) {
    if (std::strstr(work.name, wanted) == nullptr) continue;
    const auto run = [&](gsort *g) {
      if (work.run(g, a, n) != GSORT_OK) give_up(work.name, gsort_error_message(g));
    };
    const uint64_t out_bytes = work.bytes_out == 0 ? 8 : 4 * n;
    const auto prepare = [&] {
      if (work.in_place)
        std::memcpy(a.out, a.in, 4 * n);
      else
        std::memset(a.out, 0xAB, out_bytes);
    };
    const double at_once = least_ms(1, [&] { run(whole); }, prepare);
    const uint64_t want = fingerprint(a.out, out_bytes);
    const double in_pieces = least_ms(2, [&] { run(pieces); }, prepare);
    const bool same = fingerprint(a.out, out_bytes) == want;
    wrong += !same;
    const double bus = work.bytes_out == 0 ? one_way : trip * static_cast<double>(work.trips);
    std::printf("  %-14s at once %8.1f ms   in pieces %8.1f ms   bus / in pieces %5.2f%s\n", work.name, at_once,
                in_pieces, bus / in_pieces, same ? "" : "   WRONG");
    std::fflush(stdout);
  }
  gsort_destroy(whole), gsort_destroy(pieces);
}

}  // namespace

int main(int count, char **arguments) {
  const int log2 = count > 1 ? std::atoi(arguments[1]) : 28, limit_mib = count > 2 ? std::atoi(arguments[2]) : 512;
  const bool logs = count > 3 && std::strcmp(arguments[3], "log") == 0;
  const char *const wanted = count > 4 ? arguments[4] : "";
  if (count > 5 || (count > 3 && !logs && arguments[3][0] != '\0') || log2 < 20 || log2 > 34 || limit_mib < 2)
    give_up("usage", "gsort_bench_pieces [20 to 34 [LIMIT_MIB [log [WORK]]]]");
  const uint64_t n = uint64_t{1} << log2;
  std::vector<char *> memory;
  for (int i = 0; i < 4; ++i) {
    char *const array = static_cast<char *>(std::aligned_alloc(uint64_t{2} << 20, 4 * n));
    if (array == nullptr) give_up("memory", "there is too little");
    memory.push_back(array);
  }
  uint64_t state = 1;
  for (const int i : {0, 1})
    for (uint64_t j = 0; j < n; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      reinterpret_cast<uint32_t *>(memory[static_cast<size_t>(i)])[j] =
          static_cast<uint32_t>(state >> 33) & 0x7f7fffffu;
    }
  for (const size_t i : {size_t{2}, size_t{3}}) std::memset(memory[i], 1, 4 * n);
  tell_fresh_pages(4 * n);
  const Arrays arrays = {memory[0], memory[1], memory[2], memory[3]};
  int wrong = 0;
  compare("pageable", arrays, n, static_cast<uint64_t>(limit_mib) << 20, logs, wanted, wrong);
  for (char *const array : memory) must(cudaHostRegister(array, 4 * n, cudaHostRegisterDefault), "cudaHostRegister");
  compare("registered", arrays, n, static_cast<uint64_t>(limit_mib) << 20, logs, wanted, wrong);
  std::printf("%d results differ\n", wrong);
  for (char *const array : memory) {
    must(cudaHostUnregister(array), "cudaHostUnregister");
    std::free(array);
  }
  return wrong != 0;
}
