// SPDX-License-Identifier: MIT OR Apache-2.0
// The CPU engine's operations: each does a whole checked request, or throws Error.
#ifndef GSORT_CPU_ENGINE_OPERATIONS_H_
#define GSORT_CPU_ENGINE_OPERATIONS_H_

#include "core/request.h"
#include "cpu/engine/context.h"
#include "engine.h"

namespace gsort_internal {

void cpu_sort(Context &context, const Request &request);
// The same for as many keys as a network of vectors holds, if they are: nothing but the arrays is looked at. False, and
// nothing written, for others.
bool sort_few_keys(const KeyOrder &order, const void *in, void *out, uint64_t n) noexcept;
// Whether it would take n keys, and any fewer.
bool are_few_keys(const KeyOrder &order, uint64_t n) noexcept;
// Sorts fewer than 2^32 keys of 1 byte by counting them, on some KiB of stack. `out` may be `in`.
void count_byte_keys(const KeyOrder &order, const uint8_t *in, uint8_t *out, uint64_t n) noexcept;
// The same of few pairs, and of an argsort or the ranks of few keys.
bool sort_few_pairs(const FewPairs &pairs) noexcept;
bool index_few_keys(const KeyOrder &order, bool ranks, const void *keys, uint64_t n, uint32_t index_bytes,
                    void *out) noexcept;
// A sum or a mean; Engine::sum_few(), Engine::mean_few().
bool sum_few(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept;
bool mean_few(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept;
// Running sums of up to a tile, 2-byte floats of an eighth of it; false, and nothing written, of more.
bool scan_few(gsort_dtype t, bool exclusive, const void *in, void *out, uint64_t n) noexcept;
// A merge on one thread.
void merge_few(const FewMerge &merge) noexcept;
// Segments all of which sort_few_keys() would take; false, and nothing written, for others and wrong offsets.
bool sort_few_segments(const FewSegments &segments) noexcept;
// Room for what may be among the first k: for each element two places and 24 bytes, aligned to 8. Not on the stack:
// sorts take as much of it as a call may.
struct TopkScratch {
  uint32_t *places;
  void *memory;
  uint64_t room;
};
// A top-k on the calling thread. False, and nothing written, where this is not the way: without vectors, of many
// elements, and with less room than it takes, which may show only then.
bool topk_few(const FewTopk &topk, const TopkScratch &scratch) noexcept;
// A minimum or maximum, or its place, by vectors; false without any.
bool reduce_few(uint32_t op, const KeyOrder &order, const void *in, uint64_t n, void *out) noexcept;
void cpu_sort_pairs(Context &context, const Request &request);
void cpu_argsort(Context &context, const Request &request);
void cpu_rank(Context &context, const Request &request);
void cpu_merge(Context &context, const Request &request);
void cpu_sort_segments(Context &context, const Request &request);
void cpu_topk(Context &context, const Request &request);
void cpu_topk_rows(Context &context, const Request &request);  // and of segments
void cpu_sum(Context &context, const Request &request);
void cpu_reduce(Context &context, const Request &request);
void cpu_scan(Context &context, const Request &request);

}  // namespace gsort_internal

#endif  // GSORT_CPU_ENGINE_OPERATIONS_H_
