// SPDX-License-Identifier: MIT OR Apache-2.0
// Every operation once on a few sizes and types, on the GPU and on the CPU, compared bit for bit: a short program to
// run under compute-sanitizer. Exit status 0: all alike; 1: a difference or an error; 77: no GPU.
//
// usage: gsort_sanitizer_run [MOST_KEYS [SHARD SHARDS]]
// Sizes go up to 600,000 keys, enough for every path of the sorts but the largest, or up to MOST_KEYS, but for a few
// calls of 20,000 and more. SHARD, counted from 0: only every SHARDS-th comparison, so that several
// programs can share the work.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gsort.h"

namespace {

gsort *gpu = nullptr, *cpu = nullptr;
int failures = 0, calls = 0;
uint64_t shard = 0, shards = 1, comparisons = 0;

using Bytes = std::vector<unsigned char>;

void must(gsort *g, gsort_status status, const char *what) {
  ++calls;
  if (status == GSORT_OK) return;
  std::printf("%s: %s: %s\n", what, gsort_status_name(status), gsort_error_message(g));
  ++failures;
}

// Runs call(handle, output) on both and compares the outputs.
template <class Call>
void compare(const char *what, gsort_dtype t, uint64_t n, uint64_t out_bytes, Call call) {
  if (comparisons++ % shards != shard) return;
  Bytes results[2];
  for (int i = 0; i < 2; ++i) {
    results[i].assign(out_bytes, 0xAB);
    gsort *const g = i == 0 ? gpu : cpu;
    must(g, call(g, results[i].data()), what);
  }
  if (results[0] == results[1]) return;
  std::printf("%s: type %u, n = %llu: the GPU's result is not the CPU's\n", what, t,
              static_cast<unsigned long long>(n));
  ++failures;
}

uint64_t next_random(uint64_t &state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 11;
}

Bytes random_bytes(uint64_t bytes, uint64_t seed) {
  Bytes data(bytes);
  for (unsigned char &byte : data) byte = static_cast<unsigned char>(next_random(seed) >> 20);
  return data;
}

void sorts(gsort_dtype t, uint64_t element, const Bytes &keys, uint64_t n) {
  const Bytes values = random_bytes(n * 12, n);
  for (const uint32_t flags : {0u, GSORT_DESCENDING | GSORT_NAN_LAST}) {
    compare("sort", t, n, n * element,
            [&](gsort *g, void *out) { return gsort_sort(g, t, keys.data(), out, n, flags); });
    compare("argsort", t, n, n * 4,
            [&](gsort *g, void *out) { return gsort_argsort(g, t, keys.data(), n, GSORT_U32, out, flags); });
    compare("rank", t, n, n * 8,
            [&](gsort *g, void *out) { return gsort_rank(g, t, keys.data(), n, GSORT_U64, out, flags); });
    for (const uint32_t value_bytes : {4u, 8u, 12u})
      compare("sort_pairs", t, n, n * (element + value_bytes), [&](gsort *g, unsigned char *out) {
        return gsort_sort_pairs(g, t, keys.data(), out, value_bytes, values.data(), out + n * element, n, flags);
      });
    std::vector<uint64_t> offsets = {0, n / 50, n / 50, n / 7, n / 2, n};
    compare("sort_segments", t, n, n * element, [&](gsort *g, void *out) {
      return gsort_sort_segments(g, t, keys.data(), out, n, offsets.data(), offsets.size() - 1, flags);
    });
    const uint64_t a_n = n / 3;
    Bytes sorted = keys;
    must(cpu, gsort_sort(cpu, t, sorted.data(), sorted.data(), a_n, flags), "sort a");
    must(cpu, gsort_sort(cpu, t, sorted.data() + a_n * element, sorted.data() + a_n * element, n - a_n, flags),
         "sort b");
    compare("merge", t, n, n * element, [&](gsort *g, void *out) {
      return gsort_merge(g, t, sorted.data(), a_n, sorted.data() + a_n * element, n - a_n, out, flags);
    });
  }
}

void selection(gsort_dtype t, uint64_t element, const Bytes &keys, uint64_t n, uint64_t k) {
  compare("topk", t, n, k * (element + 8), [&](gsort *g, unsigned char *out) {
    return gsort_topk(g, t, keys.data(), n, k, out + k * 8, GSORT_U64, out, 0);
  });
}

void selections(gsort_dtype t, uint64_t element, const Bytes &keys, uint64_t n) {
  for (const uint64_t k : {uint64_t{1}, n / 100 + 1, n}) selection(t, element, keys, n, k);
  const uint64_t rows = 5, columns = n / rows, k = columns < 20 ? columns : 20;
  if (k == 0) return;
  compare("topk_rows", t, n, rows * k * (element + 8), [&](gsort *g, unsigned char *out) {
    return gsort_topk_rows(g, t, keys.data(), rows, columns, columns, k, out + rows * k * 8, GSORT_U64, out,
                           GSORT_SMALLEST);
  });
}

void selections_of_segments(gsort_dtype t, uint64_t element, const Bytes &keys, uint64_t n) {
  const std::vector<uint64_t> offsets = {0, n / 50, n / 50, n / 7, n / 2, n};
  const uint64_t segments = offsets.size() - 1, k = 20;
  compare("topk_segments", t, n, segments * k * (element + 8), [&](gsort *g, unsigned char *out) {
    return gsort_topk_segments(g, t, keys.data(), n, offsets.data(), segments, k, out + segments * k * 8, GSORT_U64,
                               out, 0);
  });
}

// Rows of a block each, which holds or lists or samples them, of keys that are far apart and of keys that crowd. There
// are smaller blocks for more rows than most GPUs have multiprocessors twice or four times.
void selections_of_many(gsort_dtype t, uint64_t element) {
  const uint64_t k = 300;
  for (const uint64_t columns : {700, 3000, 9000, 2100, 1200})
    for (const bool crowded : {false, true}) {
      const uint64_t rows = columns == 2100 ? 300 : columns == 1200 ? 600 : 2, n = rows * columns;
      Bytes keys = random_bytes(n * element, columns);
      if (crowded)
        for (Bytes::size_type i = 0; i < keys.size(); ++i)
          if (i % element != 0 || i / element % 3 == 0) keys[i] = 1;
      compare("topk_rows of many", t, n, rows * k * (element + 4), [&](gsort *g, unsigned char *out) {
        return gsort_topk_rows(g, t, keys.data(), rows, columns, columns, k, out + rows * k * 4, GSORT_U32, out, 0);
      });
    }
}

// More segments than the warps of any GPU take one by one, of 0 to 3 elements, and a few that a lane has no room for.
void selections_of_tiny_segments(gsort_dtype t, uint64_t element) {
  const uint64_t segments = 200000;
  std::vector<uint64_t> offsets = {0};
  for (uint64_t s = 0; s < segments; ++s) offsets.push_back(offsets.back() + (s % 1000 == 999 ? 5 + s / 2000 : s % 4));
  const uint64_t n = offsets.back();
  const Bytes keys = random_bytes(n * element, segments);
  for (const uint64_t k : {2, 40})
    compare("topk_segments, tiny", t, n, segments * k * (element + 4), [&](gsort *g, unsigned char *out) {
      return gsort_topk_segments(g, t, keys.data(), n, offsets.data(), segments, k, out + segments * k * 4, GSORT_U32,
                                 out, GSORT_SMALLEST);
    });
}

void scans(gsort_dtype t, uint64_t element, const Bytes &keys, uint64_t n) {
  for (const uint32_t flags : {0u, GSORT_EXCLUSIVE})
    compare("scan", t, n, n * element,
            [&](gsort *g, void *out) { return gsort_scan(g, t, keys.data(), out, n, flags); });
}

void sums(gsort_dtype t, uint64_t element, const Bytes &keys, uint64_t n) {
  compare("sum", t, n, 8, [&](gsort *g, void *out) { return gsort_sum(g, t, keys.data(), n, out, 0); });
  for (uint32_t op = GSORT_MIN; op <= GSORT_MEAN; ++op)
    compare("reduce", t, n, 8, [&](gsort *g, void *out) { return gsort_reduce(g, op, t, keys.data(), n, out, 0); });
  scans(t, element, keys, n);
}

// What takes more elements than the smallest limit lets through, and quickly: blocks together, in a cluster and in a
// grid that hold a row in registers, long results, very many segments.
void together(gsort_dtype t, uint64_t element) {
  const uint64_t n = 20000, long_n = 540000 / element;
  const Bytes keys = random_bytes(n * element, t), long_keys = random_bytes(long_n * element, t);
  for (const uint64_t k : {20, 300}) {
    selection(t, element, keys, n, k);
    selection(t, element, long_keys, long_n, k);
  }
  // A row that a grid reads tile by tile.
  const uint64_t tiles_n = (uint64_t{1} << 20) + 1000;
  if (t == GSORT_F32 || t == GSORT_U64) selection(t, element, random_bytes(tiles_n * element, t), tiles_n, 3000);
  scans(t, element, keys, n);
  selections_of_many(t, element);
  selections_of_tiny_segments(t, element);
}

gsort *make(uint32_t backend) {
  gsort_options options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.backend = backend;
  gsort *g = nullptr;
  if (gsort_create(&options, &g) != GSORT_OK) std::printf("%s\n", gsort_error_message(nullptr));
  return g;
}

}  // namespace

int main(int argc, char **argv) {
  const uint64_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 600000;
  if (argc > 3) shard = std::strtoull(argv[2], nullptr, 10), shards = std::strtoull(argv[3], nullptr, 10);
  if (argc == 3 || argc > 4 || shard >= shards) {
    std::fprintf(stderr, "usage: gsort_sanitizer_run [MOST_KEYS [SHARD SHARDS]], SHARD less than SHARDS\n");
    return 2;
  }
  gpu = make(GSORT_BACKEND_CUDA);
  if (gpu == nullptr) return 77;
  cpu = make(GSORT_BACKEND_CPU);
  if (cpu == nullptr) return 1;
  constexpr gsort_dtype types[] = {GSORT_U8, GSORT_F16, GSORT_U32, GSORT_F32, GSORT_F64};
  constexpr uint64_t element_bytes[] = {1, 2, 4, 4, 8};
  for (int i = 0; i < 5; ++i) {
    together(types[i], element_bytes[i]);
    for (const uint64_t n :
         {uint64_t{1}, uint64_t{33}, uint64_t{1000}, uint64_t{5000}, uint64_t{70001}, uint64_t{600000}}) {
      if (n > most) continue;
      const Bytes keys = random_bytes(n * element_bytes[i], n + types[i]);
      sorts(types[i], element_bytes[i], keys, n);
      selections(types[i], element_bytes[i], keys, n);
      selections_of_segments(types[i], element_bytes[i], keys, n);
      sums(types[i], element_bytes[i], keys, n);
    }
  }
  gsort_destroy(gpu);
  gsort_destroy(cpu);
  std::printf("%d calls, %d failures\n", calls, failures);
  return failures == 0 ? 0 : 1;
}
