// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys that are in order already, or in the reverse order: one read finds out, and keys alone need no sort then.
#ifndef GSORT_CPU_SORT_ORDERED_KEYS_H_
#define GSORT_CPU_SORT_ORDERED_KEYS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "cpu/engine/context.h"
#include "cpu/primitive/copy.h"
#include "cpu/primitive/scatter.h"
#include "cpu/vector/select.h"

namespace gsort_internal {

constexpr uint64_t kOrderChunkItems = 1 << 18;  // shared among threads, and cancelled between
constexpr uint64_t kOrderLookItems = 1 << 10;   // compared before the next look whether it goes on

// Whether every key of the range comes no later than the one behind it, which must be there. `reversed`: no earlier.
template <class K>
bool range_is_ordered(const KeyCodec<K> &codec, const K *keys, Range range, bool reversed) {
  if (const SelectKernels<K> *const kernels = select_kernels(K{}))
    return kernels->ordered(codec, keys + range.begin, range.size(), reversed) == range.size();
  bool ordered = true;
  with_encoder(codec, [&](auto encode) {
    for (uint64_t begin = range.begin; begin < range.end && ordered; begin += kOrderLookItems) {
      const uint64_t end = min_u64(range.end, begin + kOrderLookItems);
      uint32_t wrong = 0;
      if (reversed) {
        for (uint64_t i = begin; i < end; ++i) wrong |= encode(keys[i]) < encode(keys[i + 1]) ? 1u : 0u;
      } else {
        for (uint64_t i = begin; i < end; ++i) wrong |= encode(keys[i]) > encode(keys[i + 1]) ? 1u : 0u;
      }
      ordered = wrong == 0;
    }
  });
  return ordered;
}

// Whether n keys are in the order wanted, or `reversed`, as all threads see it; false where the context is stopped.
template <class K>
bool keys_are_ordered(Context &context, const KeyCodec<K> &codec, const K *keys, uint64_t n, bool reversed) {
  // Most keys are not, and say so at once.
  const uint64_t few = min_u64(n - 1, kOrderLookItems / 16);
  if (!range_is_ordered(codec, keys, {0, few}, reversed)) return false;
  // If the last is the first, they are in order if all are.
  const SelectKernels<K> *const kernels = select_kernels(K{});
  const bool one_value = kernels != nullptr && keys[0] == keys[n - 1];
  const uint64_t chunks = divide_up(n, kOrderChunkItems);
  std::atomic<bool> ordered{true};
  context.for_each(chunks, [&](uint64_t c, uint32_t) {
    if (context.stopped() || !ordered.load(std::memory_order_relaxed)) return;
    Range range = part_of(n, c, chunks, kLineBytes);
    if (range.end == n) --range.end;  // the last key has none behind it
    if (one_value ? !kernels->all_are(keys + range.begin, range.size(), keys[0])
                  : !range_is_ordered(codec, keys, range, reversed))
      ordered.store(false, std::memory_order_relaxed);
  });
  return !context.stopped() && ordered.load(std::memory_order_relaxed);
}

// out[i] = in[n - 1 - i], of a range of them or, in place, of a range of the first half and what it changes places
// with.
template <class T>
void reverse_range(const T *in, T *out, uint64_t n, Range range) {
  if (in == out) {
    for (uint64_t i = range.begin; i < range.end; ++i) std::swap(out[i], out[n - 1 - i]);
    return;
  }
  constexpr uint64_t step = 64;  // of a count that it knows the compiler makes vectors
  uint64_t i = range.begin;
  for (; i + step <= range.end; i += step)
    for (uint64_t j = 0; j < step; ++j) out[i + j] = in[n - 1 - i - j];
  for (; i < range.end; ++i) out[i] = in[n - 1 - i];
}

// The same of all n. `out` may be `in`. Where it `breaks`, it ends early once the context is stopped, with a
// permutation in an `out` that is `in`.
template <class T>
void reverse_items(Context &context, const T *in, T *out, uint64_t n, bool breaks) {
  const uint64_t chunks = divide_up(n, kOrderChunkItems);
  const auto reverse = [&](uint64_t c, uint32_t) {
    if (breaks && context.stopped()) return;
    reverse_range(in, out, n, part_of(in == out ? n / 2 : n, c, chunks, kLineBytes));
  };
  breaks ? context.for_each(chunks, reverse) : context.for_each_unbroken(chunks, reverse);
}

// What goes with keys that were reversed, reversed likewise: brings that of equal keys back to the order that it had.
template <class K, class T>
void reverse_equal_runs(const K *keys, T *items, uint64_t n) {
  for (uint64_t i = 1; i < n; ++i) {
    if (keys[i] != keys[i - 1]) continue;
    uint64_t end = i + 1;
    while (end < n && keys[end] == keys[i]) ++end;
    std::reverse(items + (i - 1), items + end);
    i = end;
  }
}

// Sorts keys that are in the order wanted, or in its reverse (equal keys are the same bits, so that none is told from
// another), and returns true; returns false and writes nothing where they are in neither, or the context is stopped
// while it looks. Stopped later, it leaves a permutation in an `out` that is `in`, which it may be. n > 1.
template <class K>
bool sort_ordered_keys(Context &context, const KeyCodec<K> &codec, const K *in, K *out, uint64_t n) {
  const bool reversed = codec.encode(in[0]) > codec.encode(in[n - 1]);
  if (!keys_are_ordered(context, codec, in, n, reversed)) return false;
  context.control.log("cpu sort: the keys are in %s order", reversed ? "the reverse" : "this");
  if (reversed) {
    reverse_items(context, in, out, n, true);
  } else if (in != out) {
    const uint64_t chunks = divide_up(n, kOrderChunkItems);
    context.for_each(chunks, [&](uint64_t c, uint32_t) {
      if (context.stopped()) return;
      const Range range = part_of(n, c, chunks, kLineBytes);
      copy_items(out + range.begin, in + range.begin, range.size());
    });
  }
  return true;
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_ORDERED_KEYS_H_
