// SPDX-License-Identifier: MIT OR Apache-2.0
// Entry points of the operations: check, make a Request, execute.
#include "api/check.h"
#include "api/handle.h"
#include "core/dtype.h"
#include "core/request.h"
#include "cpu/engine/readable.h"
#include "cpu/vector/few.h"

using namespace gsort_internal;

namespace {

constexpr uint32_t kOrderFlags = GSORT_DESCENDING | GSORT_NAN_LAST;
constexpr uint32_t kTopkFlags = GSORT_SMALLEST | GSORT_NAN_LAST;

KeyOrder order_of(gsort_dtype t, uint32_t flags) {
  return {t, (flags & GSORT_DESCENDING) != 0, (flags & GSORT_NAN_LAST) != 0 && is_float(t)};
}

Request make_request(Operation operation, gsort_dtype t, uint32_t flags) {
  Request request = {};
  request.operation = operation;
  request.order = order_of(t, flags);
  return request;
}

// Top-k: the best are the first of the descending order, unless the smallest are wanted.
KeyOrder topk_order_of(gsort_dtype t, uint32_t flags) {
  KeyOrder order = order_of(t, flags);
  order.descending = (flags & GSORT_SMALLEST) == 0;
  return order;
}
Request make_topk_request(Operation operation, gsort_dtype t, uint32_t flags) {
  Request request = make_request(operation, t, flags);
  request.order = topk_order_of(t, flags);
  return request;
}

ArrayUse check_elements(Handle &handle, const char *name, const void *array, uint64_t count, gsort_dtype t) {
  return check_array(*handle.engine, name, array, count, dtype_bytes(t), dtype_bytes(t));
}

// Calls of no more elements, which take a few microseconds at most, may be done at once, if nothing is wrong with them.
// What is, the checks of the usual way find again, and say.
constexpr uint64_t kFewSorted = 1 << 10, kFewMerged = 1 << 10, kFewSegments = 1 << 10, kFewSelected = 1 << 12,
                   kFewReduced = 1 << 13, kFewScanned = 1 << 13;
constexpr uint32_t kFewValueBytes = 16;

bool is_plain(gsort_dtype t, uint32_t flags, uint32_t allowed) { return is_dtype(t) && (flags & ~allowed) == 0; }
bool is_short_sort(uint64_t n, gsort_dtype t, uint32_t flags) {
  return n - 1 < kFewSorted && is_plain(t, flags, kOrderFlags);
}
bool is_array(const void *array, uint32_t alignment) {
  return array != nullptr && (reinterpret_cast<uintptr_t>(array) & (alignment - 1)) == 0;
}
// Of arrays so short that one which ended past the end of memory could not be read.
bool are_apart(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes) {
  const uintptr_t a_begin = reinterpret_cast<uintptr_t>(a), b_begin = reinterpret_cast<uintptr_t>(b);
  return a_begin + a_bytes <= b_begin || b_begin + b_bytes <= a_begin;
}
bool are_same_or_apart(const void *a, const void *b, uint64_t bytes) { return a == b || are_apart(a, bytes, b, bytes); }

bool sort_at_once(gsort *g, gsort_dtype t, const void *in, void *out, uint64_t n, uint32_t flags) {
  if (!is_short_sort(n, t, flags)) return false;
  const uint32_t bytes = dtype_bytes(t);
  if (!is_array(in, bytes) || !is_array(out, bytes) || !are_same_or_apart(in, out, n * bytes)) return false;
  return done_at_once(g, [&](Engine &engine) { return engine.sort_few(order_of(t, flags), in, out, n); });
}

// The same of so few keys that finding their kernel is all there is to do besides: the arguments stay in registers, and
// one whose checks take longer is left to the usual way.
__attribute__((always_inline)) inline bool few_sorted(gsort *g, gsort_dtype t, const void *in, void *out, uint64_t n,
                                                      uint32_t flags) {
  if (n - 1 >= kFewMax || t - GSORT_U32 >= kFewTypes || flags > kOrderFlags || g == nullptr) return false;
  const FewSorts<FewKeySort> &few = few_sorts(kFewKeySorts, t - GSORT_U32, flags);
  if (n - 1 >= few.items_max) return false;
  const uintptr_t both = reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out);
  if ((both & (few.key_bytes - 1)) != 0 || !are_same_or_apart(in, out, n * few.key_bytes)) return false;
  Handle &handle = *handle_of(g);
  if (handle.fork_generation != fork_generation() || !handle.turn.try_begin_short()) return false;
  const ReadablePages *const pages = handle.engine->known_pages();  // among which NULL is not
  const bool done = pages != nullptr && !handle.control.has_listener() && pages->remembers(in) &&
                    (in == out || pages->remembers(out));
  if (done) few.by_count[n - 1](few.coder, n, in, out);
  handle.turn.end_short();
  return done;
}

bool pairs_at_once(gsort *g, const FewPairs &p) {
  const uint32_t bytes = dtype_bytes(p.order.dtype);
  const uint64_t keys = p.n * bytes, values = p.n * p.value_bytes;
  const bool right = is_array(p.keys, bytes) && is_array(p.keys_out, bytes) && is_array(p.values, 1) &&
                     is_array(p.values_out, 1) && are_same_or_apart(p.keys, p.keys_out, keys) &&
                     are_same_or_apart(p.values, p.values_out, values) &&
                     are_apart(p.keys_out, keys, p.values, values) && are_apart(p.values_out, values, p.keys, keys) &&
                     are_apart(p.keys_out, keys, p.values_out, values);
  return right && done_at_once(g, [&](Engine &engine) { return engine.sort_few_pairs(p); });
}

// The same of so few whose values are as long as their keys. `tried`: whether their kernel was called.
__attribute__((always_inline)) inline bool few_pairs_sorted(gsort *g, gsort_dtype t, const void *keys_in,
                                                            void *keys_out, uint32_t value_bytes, const void *values_in,
                                                            void *values_out, uint64_t n, uint32_t flags, bool &tried) {
  tried = false;
  if (n - 1 >= kFewMax || t - GSORT_U32 >= kFewTypes || flags > kOrderFlags || g == nullptr) return false;
  const FewSorts<FewPairSort> &few = few_sorts(kFewPairSorts, t - GSORT_U32, flags);
  if (n - 1 >= few.items_max || value_bytes != few.key_bytes) return false;
  const uintptr_t all = reinterpret_cast<uintptr_t>(keys_in) | reinterpret_cast<uintptr_t>(keys_out) |
                        reinterpret_cast<uintptr_t>(values_in) | reinterpret_cast<uintptr_t>(values_out);
  const uint64_t bytes = n * value_bytes;
  if ((all & (value_bytes - 1)) != 0 || !are_apart(keys_out, bytes, values_out, bytes)) return false;
  const bool in_place = keys_in == keys_out && values_in == values_out;
  if (!in_place && (!are_same_or_apart(keys_in, keys_out, bytes) || !are_same_or_apart(values_in, values_out, bytes) ||
                    !are_apart(keys_out, bytes, values_in, bytes) || !are_apart(values_out, bytes, keys_in, bytes)))
    return false;
  Handle &handle = *handle_of(g);
  if (handle.fork_generation != fork_generation() || !handle.turn.try_begin_short()) return false;
  const ReadablePages *const pages = handle.engine->known_pages();
  tried = pages != nullptr && !handle.control.has_listener() && pages->remembers(keys_out) &&
          pages->remembers(values_out) && (in_place || (pages->remembers(keys_in) && pages->remembers(values_in)));
  const bool done =
      tried && few.by_count[n - 1](few.order, keys_in, values_in, static_cast<uint32_t>(n), keys_out, values_out);
  handle.turn.end_short();
  return done;
}

bool indices_at_once(gsort *g, const KeyOrder &order, bool ranks, const void *keys, uint64_t n, uint32_t index_bytes,
                     void *out) {
  const uint32_t bytes = dtype_bytes(order.dtype);
  if (!is_array(keys, bytes) || !is_array(out, index_bytes) || !are_apart(keys, n * bytes, out, n * index_bytes))
    return false;
  return done_at_once(g, [&](Engine &engine) { return engine.index_few(order, ranks, keys, n, index_bytes, out); });
}

uint32_t result_bytes(uint32_t op, gsort_dtype t) { return op == GSORT_MIN || op == GSORT_MAX ? dtype_bytes(t) : 8; }

bool reduce_at_once(gsort *g, uint32_t op, const KeyOrder &order, const void *in, uint64_t n, void *out) {
  const uint32_t bytes = dtype_bytes(order.dtype), out_bytes = result_bytes(op, order.dtype);
  if (!is_array(in, bytes) || !is_array(out, out_bytes) || !are_apart(in, n * bytes, out, out_bytes)) return false;
  return done_at_once(g, [&](Engine &engine) { return engine.reduce_few(op, order, in, n, out); });
}

using AddFew = bool (Engine::*)(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept;
bool sum_at_once(gsort *g, gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds, AddFew add) {
  const uint32_t bytes = dtype_bytes(t);
  if (!is_array(in, bytes) || !is_array(out, 8) || !are_apart(in, n * bytes, out, 8)) return false;
  return done_at_once(g, [&](Engine &engine) { return (engine.*add)(t, in, n, out, rounds); });
}

bool merge_at_once(gsort *g, const FewMerge &m) {
  const uint32_t bytes = dtype_bytes(m.order.dtype);
  const uint64_t out_bytes = (m.a_n + m.b_n) * bytes;
  const auto is_input = [&](const void *array, uint64_t count) {
    return count == 0 || (is_array(array, bytes) && are_apart(m.out, out_bytes, array, count * bytes));
  };
  if (!is_array(m.out, bytes) || !is_input(m.a, m.a_n) || !is_input(m.b, m.b_n)) return false;
  return done_at_once(g, [&](Engine &engine) { return engine.merge_few(m); });
}

bool segments_at_once(gsort *g, const FewSegments &s) {
  const uint32_t bytes = dtype_bytes(s.order.dtype);
  const uint64_t out_bytes = s.n * bytes, offset_bytes = (s.segments + 1) * sizeof *s.offsets;
  if (!is_array(s.in, bytes) || !is_array(s.out, bytes) || !are_same_or_apart(s.in, s.out, out_bytes) ||
      !is_array(s.offsets, sizeof *s.offsets) || !are_apart(s.out, out_bytes, s.offsets, offset_bytes))
    return false;
  return done_at_once(g, [&](Engine &engine) { return engine.sort_few_segments(s); });
}

bool topk_at_once(gsort *g, const FewTopk &t) {
  const uint32_t bytes = dtype_bytes(t.order.dtype);
  const uint64_t in_bytes = t.n * bytes, values = t.k * bytes, indices = t.k * t.index_bytes;
  const bool has_values = t.values_out != nullptr, has_indices = t.indices_out != nullptr;
  if (!is_array(t.in, bytes) || !(has_values || has_indices)) return false;
  if (has_values && !(is_array(t.values_out, bytes) && are_apart(t.values_out, values, t.in, in_bytes))) return false;
  if (has_indices && !(is_array(t.indices_out, t.index_bytes) && are_apart(t.indices_out, indices, t.in, in_bytes)))
    return false;
  if (has_values && has_indices && !are_apart(t.values_out, values, t.indices_out, indices)) return false;
  return done_at_once(g, [&](Engine &engine) { return engine.topk_few(t); });
}

bool scan_at_once(gsort *g, gsort_dtype t, const void *in, void *out, uint64_t n, bool exclusive) {
  const uint32_t bytes = dtype_bytes(t);
  if (!is_array(in, bytes) || !is_array(out, bytes) || !are_same_or_apart(in, out, n * bytes)) return false;
  return done_at_once(g, [&](Engine &engine) { return engine.scan_few(t, exclusive, in, out, n); });
}

// On its own, so that short calls save no registers for it.
__attribute__((noinline)) gsort_status sort_keys_in_turn(gsort *g, const char *in_name, gsort_dtype t, const void *in,
                                                         const char *out_name, void *out, uint64_t n, uint32_t flags) {
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, kOrderFlags);
    const ArrayUse in_use = check_elements(handle, in_name, in, n, t);
    if (out != in) check_overlap(check_elements(handle, out_name, out, n, t), in_use, true);
    if (n == 0) return;
    Request request = make_request(Operation::kSort, t, flags);
    request.in = in, request.out = out, request.n = n;
    handle.engine->execute(request);
  });
}

__attribute__((noinline)) gsort_status sort_more_in_place(gsort *g, gsort_dtype t, void *keys, uint64_t n,
                                                          uint32_t flags) {
  if (sort_at_once(g, t, keys, keys, n, flags)) return GSORT_OK;
  return sort_keys_in_turn(g, "keys", t, keys, "keys", keys, n, flags);
}
inline gsort_status sort_in_place(gsort *g, gsort_dtype t, void *keys, uint64_t n, uint32_t flags) {
  return few_sorted(g, t, keys, keys, n, flags) ? GSORT_OK : sort_more_in_place(g, t, keys, n, flags);
}
__attribute__((noinline)) gsort_status sort_more(gsort *g, gsort_dtype t, const void *in, void *out, uint64_t n,
                                                 uint32_t flags) {
  if (sort_at_once(g, t, in, out, n, flags)) return GSORT_OK;
  return sort_keys_in_turn(g, "keys_in", t, in, "keys_out", out, n, flags);
}

// On its own, as sort_keys_in_turn().
__attribute__((noinline)) gsort_status sort_pairs_in_turn(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out,
                                                          uint32_t value_bytes, const void *values_in, void *values_out,
                                                          uint64_t n, uint32_t flags) {
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, kOrderFlags);
    if (value_bytes == 0 || value_bytes > 65536)
      throw Error(GSORT_ERROR_INVALID_ARGUMENT, "value_bytes = %u; use 1 to 65536, or gsort_sort() for keys alone",
                  value_bytes);
    const ArrayUse keys = check_elements(handle, "keys_in", keys_in, n, t);
    const ArrayUse keys_sorted = check_elements(handle, "keys_out", keys_out, n, t);
    const ArrayUse values = check_array(*handle.engine, "values_in", values_in, n, value_bytes, 1);
    const ArrayUse values_sorted = check_array(*handle.engine, "values_out", values_out, n, value_bytes, 1);
    check_overlap(keys_sorted, keys, true);
    check_overlap(values_sorted, values, true);
    check_overlap(keys_sorted, values, false);
    check_overlap(values_sorted, keys, false);
    check_overlap(keys_sorted, values_sorted, false);
    if (n == 0) return;
    Request request = make_request(Operation::kSortPairs, t, flags);
    request.in = keys_in, request.out = keys_out, request.n = n;
    request.values_in = values_in, request.values_out = values_out, request.value_bytes = value_bytes;
    handle.engine->execute(request);
  });
}

// kTried: the kernel for so few has refused these pairs.
template <bool kTried>
__attribute__((noinline)) gsort_status sort_more_pairs(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out,
                                                       uint32_t value_bytes, const void *values_in, void *values_out,
                                                       uint64_t n, uint32_t flags) {
  if (is_short_sort(n, t, flags) && value_bytes - 1 < kFewValueBytes &&
      pairs_at_once(g, {order_of(t, flags), value_bytes, n, keys_in, values_in, keys_out, values_out, kTried}))
    return GSORT_OK;
  return sort_pairs_in_turn(g, t, keys_in, keys_out, value_bytes, values_in, values_out, n, flags);
}

// argsort and rank: keys in, one index an element out.
__attribute__((noinline)) gsort_status index_keys_in_turn(gsort *g, Operation operation, gsort_dtype t,
                                                          const void *keys, uint64_t n, gsort_dtype index_t,
                                                          const char *out_name, void *out, uint32_t flags) {
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, kOrderFlags);
    check_index_dtype(index_t, n == 0 ? 0 : n - 1);
    const ArrayUse in_use = check_elements(handle, "keys", keys, n, t);
    const ArrayUse out_use = check_elements(handle, out_name, out, n, index_t);
    check_overlap(out_use, in_use, false);
    if (n == 0) return;
    Request request = make_request(operation, t, flags);
    request.in = keys, request.out = out, request.n = n, request.index_t = index_t;
    handle.engine->execute(request);
  });
}

gsort_status index_keys(gsort *g, Operation operation, gsort_dtype t, const void *keys, uint64_t n, gsort_dtype index_t,
                        const char *out_name, void *out, uint32_t flags) {
  if (is_short_sort(n, t, flags) && is_index_dtype(index_t) &&
      indices_at_once(g, order_of(t, flags), operation == Operation::kRank, keys, n, dtype_bytes(index_t), out))
    return GSORT_OK;
  return index_keys_in_turn(g, operation, t, keys, n, index_t, out_name, out, flags);
}

void require_an_output(const void *values_out, const void *indices_out) {
  if (values_out == nullptr && indices_out == nullptr)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "values_out and indices_out are both NULL; pass one of them");
}

void check_k(uint64_t k, const char *whole_name, uint64_t whole) {
  if (k > whole)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "k = %llu is above %s = %llu; pass a k of at most %s",
                static_cast<unsigned long long>(k), whole_name, static_cast<unsigned long long>(whole), whole_name);
}

// The outputs of a top-k of `count` elements in all, against its input and, of segments, the offsets.
void check_topk_outputs(Handle &handle, const Request &request, uint64_t count, const ArrayUse &in,
                        const ArrayUse &offsets = {"offsets", nullptr, 0}) {
  const ArrayUse values =
      check_elements(handle, "values_out", request.out, request.out == nullptr ? 0 : count, request.order.dtype);
  check_overlap(values, in, false);
  check_overlap(values, offsets, false);
  if (request.indices_out == nullptr) return;
  const ArrayUse indices = check_elements(handle, "indices_out", request.indices_out, count, request.index_t);
  check_overlap(indices, in, false);
  check_overlap(indices, offsets, false);
  check_overlap(indices, values, false);
}

// The array of segments + 1 offsets.
ArrayUse check_segments(Handle &handle, const uint64_t *offsets, uint64_t segments) {
  if (segments == 0) return {"offsets", offsets, 0};
  if (segments == UINT64_MAX)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "segments = 2^64 - 1 is too large; pass the number of segments");
  return check_array(*handle.engine, "offsets", offsets, segments + 1, 8, 8);
}

// What the offsets say of n elements, if the host can read them; an engine checks others.
void check_offsets_of_host(Handle &handle, const uint64_t *offsets, uint64_t segments, uint64_t n) {
  if (segments != 0 && handle.engine->host_readable(offsets)) check_offsets(offsets, segments, n);
}

ArrayUse check_result(Handle &handle, const void *out, uint32_t bytes) {
  return check_array(*handle.engine, "out", out, 1, bytes, bytes);
}

}  // namespace

gsort_status gsort_sort_u32(gsort *g, uint32_t *keys, uint64_t n, uint32_t flags) {
  return sort_in_place(g, GSORT_U32, keys, n, flags);
}
gsort_status gsort_sort_i32(gsort *g, int32_t *keys, uint64_t n, uint32_t flags) {
  return sort_in_place(g, GSORT_I32, keys, n, flags);
}
gsort_status gsort_sort_u64(gsort *g, uint64_t *keys, uint64_t n, uint32_t flags) {
  return sort_in_place(g, GSORT_U64, keys, n, flags);
}
gsort_status gsort_sort_i64(gsort *g, int64_t *keys, uint64_t n, uint32_t flags) {
  return sort_in_place(g, GSORT_I64, keys, n, flags);
}
gsort_status gsort_sort_f32(gsort *g, float *keys, uint64_t n, uint32_t flags) {
  return sort_in_place(g, GSORT_F32, keys, n, flags);
}
gsort_status gsort_sort_f64(gsort *g, double *keys, uint64_t n, uint32_t flags) {
  return sort_in_place(g, GSORT_F64, keys, n, flags);
}

gsort_status gsort_sort(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out, uint64_t n, uint32_t flags) {
  return few_sorted(g, t, keys_in, keys_out, n, flags) ? GSORT_OK : sort_more(g, t, keys_in, keys_out, n, flags);
}

gsort_status gsort_sort_pairs(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out, uint32_t value_bytes,
                              const void *values_in, void *values_out, uint64_t n, uint32_t flags) {
  bool tried;
  if (few_pairs_sorted(g, t, keys_in, keys_out, value_bytes, values_in, values_out, n, flags, tried)) return GSORT_OK;
  if (tried) return sort_more_pairs<true>(g, t, keys_in, keys_out, value_bytes, values_in, values_out, n, flags);
  return sort_more_pairs<false>(g, t, keys_in, keys_out, value_bytes, values_in, values_out, n, flags);
}

gsort_status gsort_argsort(gsort *g, gsort_dtype t, const void *keys, uint64_t n, gsort_dtype index_t,
                           void *indices_out, uint32_t flags) {
  return index_keys(g, Operation::kArgsort, t, keys, n, index_t, "indices_out", indices_out, flags);
}

gsort_status gsort_rank(gsort *g, gsort_dtype t, const void *keys, uint64_t n, gsort_dtype index_t, void *ranks_out,
                        uint32_t flags) {
  return index_keys(g, Operation::kRank, t, keys, n, index_t, "ranks_out", ranks_out, flags);
}

gsort_status gsort_merge(gsort *g, gsort_dtype t, const void *a, uint64_t a_n, const void *b, uint64_t b_n, void *out,
                         uint32_t flags) {
  // Counts that are 0 or past 2^64 together are the usual way's.
  if (a_n <= kFewMerged && b_n <= kFewMerged && a_n + b_n - 1 < kFewMerged && is_plain(t, flags, kOrderFlags) &&
      merge_at_once(g, {order_of(t, flags), a, a_n, b, b_n, out}))
    return GSORT_OK;
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, kOrderFlags);
    uint64_t n;
    if (__builtin_add_overflow(a_n, b_n, &n))
      throw Error(GSORT_ERROR_INVALID_ARGUMENT, "a_n = %llu and b_n = %llu add to more than 2^64; pass smaller counts",
                  static_cast<unsigned long long>(a_n), static_cast<unsigned long long>(b_n));
    const ArrayUse a_use = check_elements(handle, "a", a, a_n, t);
    const ArrayUse b_use = check_elements(handle, "b", b, b_n, t);
    const ArrayUse out_use = check_elements(handle, "out", out, n, t);
    check_overlap(out_use, a_use, false);
    check_overlap(out_use, b_use, false);
    if (n == 0) return;
    Request request = make_request(Operation::kMerge, t, flags);
    request.in = a, request.n = a_n, request.b = b, request.b_n = b_n, request.out = out;
    handle.engine->execute(request);
  });
}

gsort_status gsort_sort_segments(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out, uint64_t n,
                                 const uint64_t *offsets, uint64_t segments, uint32_t flags) {
  if (is_short_sort(n, t, flags) && segments - 1 < kFewSegments &&
      segments_at_once(g, {order_of(t, flags), keys_in, keys_out, n, offsets, segments}))
    return GSORT_OK;
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, kOrderFlags);
    const ArrayUse in_use = check_elements(handle, "keys_in", keys_in, n, t);
    const ArrayUse out_use = check_elements(handle, "keys_out", keys_out, n, t);
    check_overlap(out_use, in_use, true);
    check_overlap(out_use, check_segments(handle, offsets, segments), false);
    check_offsets_of_host(handle, offsets, segments, n);
    if (n == 0) return;
    Request request = make_request(Operation::kSortSegments, t, flags);
    request.in = keys_in, request.out = keys_out, request.n = n;
    request.offsets = offsets, request.segments = segments;
    handle.engine->execute(request);
  });
}

gsort_status gsort_topk(gsort *g, gsort_dtype t, const void *in, uint64_t n, uint64_t k, void *values_out,
                        gsort_dtype index_t, void *indices_out, uint32_t flags) {
  if (n - 1 < kFewSelected && k - 1 < n && is_plain(t, flags, kTopkFlags) &&
      (indices_out == nullptr || is_index_dtype(index_t)) &&
      topk_at_once(g, {topk_order_of(t, flags), in, n, k, values_out, indices_out,
                       indices_out == nullptr ? 8 : dtype_bytes(index_t)}))
    return GSORT_OK;
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, kTopkFlags);
    check_k(k, "n", n);
    if (indices_out != nullptr) check_index_dtype(index_t, n == 0 ? 0 : n - 1);
    if (k == 0) return;
    require_an_output(values_out, indices_out);
    const ArrayUse in_use = check_elements(handle, "in", in, n, t);
    Request request = make_topk_request(Operation::kTopk, t, flags);
    request.in = in, request.n = n, request.k = k;
    request.rows = 1, request.columns = n, request.row_stride = n;
    request.out = values_out, request.indices_out = indices_out;
    request.index_t = indices_out == nullptr ? GSORT_U64 : index_t;
    check_topk_outputs(handle, request, k, in_use);
    handle.engine->execute(request);
  });
}

gsort_status gsort_topk_rows(gsort *g, gsort_dtype t, const void *in, uint64_t rows, uint64_t columns,
                             uint64_t row_stride, uint64_t k, void *values_out, gsort_dtype index_t, void *indices_out,
                             uint32_t flags) {
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, kTopkFlags);
    check_k(k, "columns", columns);
    if (row_stride < columns)
      throw Error(GSORT_ERROR_INVALID_ARGUMENT, "row_stride = %llu is below columns = %llu; rows would overlap",
                  static_cast<unsigned long long>(row_stride), static_cast<unsigned long long>(columns));
    if (indices_out != nullptr) check_index_dtype(index_t, columns == 0 ? 0 : columns - 1);
    if (k == 0 || rows == 0) return;
    require_an_output(values_out, indices_out);
    // The last row ends where its columns do: what lies behind them need not be there.
    uint64_t extent = checked_multiply(rows - 1, row_stride, "rows x row_stride");
    if (__builtin_add_overflow(extent, columns, &extent))
      throw Error(GSORT_ERROR_INVALID_ARGUMENT, "rows x row_stride is past 2^64; pass a smaller count");
    const ArrayUse in_use = check_elements(handle, "in", in, extent, t);
    Request request = make_topk_request(Operation::kTopkRows, t, flags);
    request.in = in, request.n = rows * columns, request.k = k;
    request.rows = rows, request.columns = columns, request.row_stride = row_stride;
    request.out = values_out, request.indices_out = indices_out;
    request.index_t = indices_out == nullptr ? GSORT_U64 : index_t;
    check_topk_outputs(handle, request, checked_multiply(rows, k, "rows x k"), in_use);
    handle.engine->execute(request);
  });
}

gsort_status gsort_topk_segments(gsort *g, gsort_dtype t, const void *in, uint64_t n, const uint64_t *offsets,
                                 uint64_t segments, uint64_t k, void *values_out, gsort_dtype index_t,
                                 void *indices_out, uint32_t flags) {
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, kTopkFlags);
    if (indices_out != nullptr) check_index_dtype(index_t, n == 0 ? 0 : n - 1);
    const ArrayUse in_use = check_elements(handle, "in", in, n, t);
    const ArrayUse offsets_use = check_segments(handle, offsets, segments);
    if (k == 0 || segments == 0) return check_offsets_of_host(handle, offsets, segments, n);
    require_an_output(values_out, indices_out);
    Request request = make_topk_request(Operation::kTopkSegments, t, flags);
    request.in = in, request.n = n, request.k = k;
    request.offsets = offsets, request.segments = segments;
    request.out = values_out, request.indices_out = indices_out;
    request.index_t = indices_out == nullptr ? GSORT_U64 : index_t;
    check_topk_outputs(handle, request, checked_multiply(segments, k, "segments x k"), in_use, offsets_use);
    check_offsets_of_host(handle, offsets, segments, n);
    handle.engine->execute(request);
  });
}

gsort_status gsort_sum(gsort *g, gsort_dtype t, const void *in, uint64_t n, void *out, uint32_t flags) {
  bool rounds = false;
  if (n - 1 < kFewReduced && is_plain(t, flags, 0) && sum_at_once(g, t, in, n, out, rounds, &Engine::sum_few))
    return GSORT_OK;
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, 0);
    const ArrayUse out_use = check_result(handle, out, 8);
    const ArrayUse in_use = check_elements(handle, "in", in, n, t);
    check_overlap(out_use, in_use, false);
    Request request = make_request(Operation::kSum, t, flags);
    request.in = in, request.n = n, request.out = out, request.rounds = rounds;
    handle.engine->execute(request);
  });
}

gsort_status gsort_reduce(gsort *g, uint32_t op, gsort_dtype t, const void *in, uint64_t n, void *out, uint32_t flags) {
  if (n - 1 < kFewReduced && op >= GSORT_MIN && op < GSORT_MEAN && is_plain(t, flags, GSORT_NAN_LAST) &&
      reduce_at_once(g, op, order_of(t, flags), in, n, out))
    return GSORT_OK;
  bool rounds = false;
  if (op == GSORT_MEAN && n - 1 < kFewReduced && is_plain(t, flags, 0) &&
      sum_at_once(g, t, in, n, out, rounds, &Engine::mean_few))
    return GSORT_OK;
  return with_handle(g, [&](Handle &handle) {
    if (op < GSORT_MIN || op > GSORT_MEAN)
      throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                  "op = %u is not a reduction; use GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX or GSORT_MEAN", op);
    check_dtype(t);
    check_flags(flags, op == GSORT_MEAN ? 0 : GSORT_NAN_LAST);
    const ArrayUse out_use = check_result(handle, out, result_bytes(op, t));
    const ArrayUse in_use = check_elements(handle, "in", in, n, t);
    check_overlap(out_use, in_use, false);
    Request request = make_request(Operation::kReduce, t, flags);
    request.order.descending = op == GSORT_MAX || op == GSORT_ARGMAX;
    request.in = in, request.n = n, request.out = out, request.reduce_op = op, request.rounds = rounds;
    handle.engine->execute(request);
  });
}

gsort_status gsort_scan(gsort *g, gsort_dtype t, const void *in, void *out, uint64_t n, uint32_t flags) {
  if (n - 1 < kFewScanned && is_plain(t, flags, GSORT_EXCLUSIVE) &&
      scan_at_once(g, t, in, out, n, (flags & GSORT_EXCLUSIVE) != 0))
    return GSORT_OK;
  return with_handle(g, [&](Handle &handle) {
    check_dtype(t);
    check_flags(flags, GSORT_EXCLUSIVE);
    const ArrayUse in_use = check_elements(handle, "in", in, n, t);
    const ArrayUse out_use = check_elements(handle, "out", out, n, t);
    check_overlap(out_use, in_use, true);
    if (n == 0) return;
    Request request = make_request(Operation::kScan, t, flags);
    request.in = in, request.out = out, request.n = n;
    request.exclusive = (flags & GSORT_EXCLUSIVE) != 0;
    handle.engine->execute(request);
  });
}
