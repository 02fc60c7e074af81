// SPDX-License-Identifier: MIT OR Apache-2.0
// Minimum, maximum and their places. Means are in sum.cpp, beside the exact sums that they come from.
#include <cstdint>

#include "cpu/exact_sum.h"
#include "cpu/operations.h"
#include "cpu/scatter.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kReduceChunkItems = 1 << 18;
constexpr uint64_t kReduceBlockItems = 256;  // only a block with a better key is looked into

template <class K>
struct Best {
  K key;
  uint64_t index;
};

// The first of the least ordered keys of a range that is not empty.
template <class K, class Encode>
Best<K> best_of(const K *keys, Range range, Encode encode) {
  Best<K> best{encode(keys[range.begin]), range.begin};
  uint64_t i = range.begin;
  for (; i + kReduceBlockItems <= range.end; i += kReduceBlockItems) {
    K least = static_cast<K>(~K{0});
    for (uint64_t j = 0; j < kReduceBlockItems; ++j) {
      const K key = encode(keys[i + j]);
      least = key < least ? key : least;
    }
    if (least >= best.key) continue;
    uint64_t j = i;
    while (encode(keys[j]) != least) ++j;
    best = {least, j};
  }
  for (; i < range.end; ++i)
    if (encode(keys[i]) < best.key) best = {encode(keys[i]), i};
  return best;
}

template <class K, class Encode>
Best<K> best_of_all(Context &context, const K *keys, uint64_t n, Encode encode) {
  const uint64_t parts = min_u64(divide_up(n, kReduceChunkItems), 4096);
  const HostBuffer<Best<K>> bests(context.memory, parts);
  context.begin(n);
  context.for_each(parts, [&](uint64_t part, uint32_t) {
    if (context.stopped()) return;
    const Range range = part_of(n, part, parts, kLineBytes);
    bests[part] = best_of(keys, range, encode);
    context.advance(range.size());
  });
  context.throw_if_stopped();
  Best<K> best = bests[0];
  for (uint64_t part = 1; part < parts; ++part)
    if (bests[part].key < best.key) best = bests[part];
  return best;
}

// Looks for the least ordered key: the maximum is the least of the descending order.
template <class K>
void find_extreme(Context &context, const Request &r) {
  KeyOrder order = r.order;
  order.descending = r.reduce_op == GSORT_MAX || r.reduce_op == GSORT_ARGMAX;
  const bool wants_index = r.reduce_op == GSORT_ARGMIN || r.reduce_op == GSORT_ARGMAX;
  const KeyCodec<K> codec = make_codec<K>(order);
  Best<K> best{static_cast<K>(~K{0}), UINT64_MAX};
  if (r.n > 0) {
    with_encoder(codec, [&](auto encode) { best = best_of_all(context, static_cast<const K *>(r.in), r.n, encode); });
  }
  if (wants_index) {
    *static_cast<uint64_t *>(r.out) = best.index;
  } else {
    *static_cast<K *>(r.out) = codec.decode(best.key);
  }
}

}  // namespace

void cpu_reduce(Context &context, const Request &request) {
  if (request.reduce_op == GSORT_MEAN) return cpu_mean(context, request);
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { find_extreme<typename decltype(tag)::type>(context, request); });
}

}  // namespace gsort_internal
