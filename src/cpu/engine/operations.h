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
// The same of few pairs, and of an argsort or the ranks of few keys.
bool sort_few_pairs(const FewPairs &pairs) noexcept;
bool index_few_keys(const KeyOrder &order, bool ranks, const void *keys, uint64_t n, uint32_t index_bytes,
                    void *out) noexcept;
// A sum; Engine::sum_few().
bool sum_few(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept;
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
