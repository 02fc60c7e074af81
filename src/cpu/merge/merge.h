// SPDX-License-Identifier: MIT OR Apache-2.0
// Merges of two sorted arrays: the output is cut into equal parts, and a search along the merge path finds the inputs
// of each.
#ifndef GSORT_CPU_MERGE_MERGE_H_
#define GSORT_CPU_MERGE_MERGE_H_

#include <cstdint>
#include <cstring>

#include "cpu/engine/context.h"
#include "cpu/primitive/copy.h"

namespace gsort_internal {

constexpr uint64_t kMergeChunkItems = 1 << 16;
constexpr uint64_t kMergeItemsOfThread = 1 << 13;  // some ten microseconds of work

template <class K>
struct MergeInputs {
  const K *a;
  uint64_t a_n;
  const K *b;
  uint64_t b_n;
};

// How many elements of `a` are among the first `out_n` of the merge; equal keys of `a` go first.
template <class K, class Encode>
uint64_t merge_path(const MergeInputs<K> &in, uint64_t out_n, Encode encode) {
  uint64_t low = out_n > in.b_n ? out_n - in.b_n : 0, high = min_u64(out_n, in.a_n);
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (encode(in.a[middle]) <= encode(in.b[out_n - 1 - middle])) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// cuts[p + 1] is where the merge path was found to cross the end of part p. Sorted inputs give rising cuts; whatever
// the inputs, these bounds make every element go out once.
template <class RangeOf>
void make_cuts_rise(uint64_t *cuts, uint64_t parts, RangeOf range_of) {
  cuts[0] = 0;
  for (uint64_t p = 0; p < parts; ++p)
    cuts[p + 1] = min_u64(max_u64(cuts[p + 1], cuts[p]), cuts[p] + range_of(p).size());
}

// The inputs of a part of the output whose ends are cut at `cut` and `next_cut`.
template <class K>
MergeInputs<K> inputs_of(const MergeInputs<K> &in, Range part, uint64_t cut, uint64_t next_cut) {
  return {in.a + cut, next_cut - cut, in.b + (part.begin - cut), part.size() - (next_cut - cut)};
}

constexpr uint64_t kBothEndsItems = 4;  // of the shorter input; fewer are not worth the second end

template <class K, class Encode>
void merge_one_by_one(const MergeInputs<K> &in, K *out, Encode encode) {
  const K *a = in.a, *b = in.b;
  const K *a_end = a + in.a_n, *b_end = b + in.b_n;
  // From both ends, which wait side by side, as many steps as neither input can run out in. What is merged last is the
  // keys in the middle.
  for (K *out_end = out + in.a_n + in.b_n;;) {
    const uint64_t a_n = static_cast<uint64_t>(a_end - a), b_n = static_cast<uint64_t>(b_end - b);
    const uint64_t shorter = min_u64(a_n, b_n);
    if (shorter < kBothEndsItems) break;
    for (uint64_t step = shorter / 2; step > 0; --step) {
      const K a_first = *a, b_first = *b, a_last = a_end[-1], b_last = b_end[-1];
      const bool take_a = encode(a_first) <= encode(b_first), take_a_last = encode(a_last) > encode(b_last);
      *out++ = take_a ? a_first : b_first;
      *--out_end = take_a_last ? a_last : b_last;
      a += take_a, b += !take_a;
      a_end -= take_a_last, b_end -= !take_a_last;
    }
  }
  while (a != a_end && b != b_end) {
    const K a_key = *a, b_key = *b;
    const bool take_a = encode(a_key) <= encode(b_key);
    *out++ = take_a ? a_key : b_key;
    a += take_a;
    b += !take_a;
  }
  if (a != a_end) copy_items(out, a, static_cast<uint64_t>(a_end - a));
  if (b != b_end) copy_items(out, b, static_cast<uint64_t>(b_end - b));
}

// A merge without a branch waits for each comparison before it can load what the next one compares. Several that go
// side by side wait at the same time; more than four lack registers.
constexpr uint32_t kMergeStreams = 4;
constexpr uint64_t kStreamItems = 64;    // of fewer, finding the cuts takes longer than it saves
constexpr uint64_t kStreamStepsMin = 8;  // no fewer at a time

template <class K, class Encode>
void merge_steps(MergeInputs<K> (&streams)[kMergeStreams], K *(&outs)[kMergeStreams], uint64_t steps, Encode encode) {
  const K *a[kMergeStreams], *b[kMergeStreams];
  K *out[kMergeStreams];
  for (uint32_t s = 0; s < kMergeStreams; ++s) a[s] = streams[s].a, b[s] = streams[s].b, out[s] = outs[s];
  for (uint64_t i = 0; i < steps; ++i)
#pragma GCC unroll 4
    for (uint32_t s = 0; s < kMergeStreams; ++s) {
      const K a_key = *a[s], b_key = *b[s];
      const bool take_a = encode(a_key) <= encode(b_key);
      out[s][i] = take_a ? a_key : b_key;
      a[s] += take_a;
      b[s] += !take_a;
    }
  for (uint32_t s = 0; s < kMergeStreams; ++s) {
    const uint64_t from_a = static_cast<uint64_t>(a[s] - streams[s].a), from_b = steps - from_a;
    streams[s] = {a[s], streams[s].a_n - from_a, b[s], streams[s].b_n - from_b};
    outs[s] += steps;
  }
}

template <class K, class Encode>
void merge_part(const MergeInputs<K> &in, K *out, Encode encode) {
  const uint64_t n = in.a_n + in.b_n;
  if (n < kMergeStreams * kStreamItems) return merge_one_by_one(in, out, encode);
  const auto range_of = [n](uint64_t s) { return part_of(n, s, kMergeStreams, 1); };
  uint64_t cuts[kMergeStreams + 1];
  for (uint32_t s = 0; s < kMergeStreams; ++s) cuts[s + 1] = merge_path(in, range_of(s).end, encode);
  make_cuts_rise(cuts, kMergeStreams, range_of);
  MergeInputs<K> streams[kMergeStreams];
  K *outs[kMergeStreams];
  for (uint32_t s = 0; s < kMergeStreams; ++s) {
    streams[s] = inputs_of(in, range_of(s), cuts[s], cuts[s + 1]);
    outs[s] = out + range_of(s).begin;
  }
  for (;;) {
    // As many steps as no stream can run out in.
    uint64_t steps = n;
    for (const MergeInputs<K> &stream : streams) steps = min_u64(steps, min_u64(stream.a_n, stream.b_n));
    if (steps < kStreamStepsMin) break;
    merge_steps(streams, outs, steps, encode);
  }
  for (uint32_t s = 0; s < kMergeStreams; ++s) merge_one_by_one(streams[s], outs[s], encode);
}

// How many parts the threads cut a merge of n elements into.
inline uint64_t merge_parts(const Context &context, uint64_t n) {
  return context.parts_for(n, kMergeItemsOfThread, kMergeChunkItems);
}

// Calls f(range of the output, its inputs) for each of the parts, on all threads, with chances to cancel between them
// if `breakable`. `cuts` has room for one more than there are parts.
template <class K, class Encode, class F>
void for_merge_parts(Context &context, const MergeInputs<K> &in, uint64_t parts, bool breakable, uint64_t *cuts,
                     Encode encode, F &&f) {
  const uint64_t n = in.a_n + in.b_n;
  const auto range_of = [n, parts](uint64_t p) { return part_of(n, p, parts, kLineBytes); };
  context.for_each_unbroken(parts,
                            [&](uint64_t p, uint32_t) { cuts[p + 1] = merge_path(in, range_of(p).end, encode); });
  make_cuts_rise(cuts, parts, range_of);
  const auto do_part = [&](uint64_t p, uint32_t) {
    if (breakable && context.stopped()) return;
    f(range_of(p), inputs_of(in, range_of(p), cuts[p], cuts[p + 1]));
  };
  if (breakable) {
    context.for_each(parts, do_part);
  } else {
    context.for_each_unbroken(parts, do_part);
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_MERGE_MERGE_H_
