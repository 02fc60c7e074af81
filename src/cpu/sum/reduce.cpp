// SPDX-License-Identifier: MIT OR Apache-2.0
// Minimum, maximum and their places. Means are in sum.cpp, beside the exact sums that they come from.
#include <cstdint>

#include "cpu/engine/operations.h"
#include "cpu/primitive/scatter.h"
#include "cpu/sum/exact_sum.h"
#include "cpu/sum/share.h"
#include "cpu/vector/select.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kReduceChunkItems = 1 << 18;
constexpr uint64_t kReduceItemsOfThread = 1 << 16;  // looked at in some microseconds

// The first of the least ordered keys of a range that is not empty, without vectors.
template <class K>
FirstOfLeast<K> least_one_by_one(const KeyCodec<K> &codec, const K *keys, uint64_t n) {
  FirstOfLeast<K> best{codec.encode(keys[0]), 0};
  with_encoder(codec, [&](auto encode) {
    for (uint64_t i = 1; i < n; ++i) {
      const K key = encode(keys[i]);
      if (key < best.key) best = {key, i};
    }
  });
  return best;
}

template <class K>
FirstOfLeast<K> least_of_range(const KeyCodec<K> &codec, const K *keys, Range range) {
  const SelectKernels<K> *const kernels = select_kernels(K{});
  FirstOfLeast<K> best = kernels != nullptr ? kernels->least(codec, keys + range.begin, range.size())
                                            : least_one_by_one(codec, keys + range.begin, range.size());
  best.index += range.begin;
  return best;
}

template <class K>
FirstOfLeast<K> least_of_all(Context &context, const KeyCodec<K> &codec, const K *keys, uint64_t n) {
  context.limit_threads(n, kReduceItemsOfThread);
  const uint64_t parts = min_u64(context.parts_for(n, kReduceItemsOfThread, kReduceChunkItems), 4096);
  context.begin(n);
  if (parts == 1) return least_of_range(codec, keys, {0, n});
  const HostBuffer<FirstOfLeast<K>> bests(context.memory, parts);
  context.for_each(parts, [&](uint64_t part, uint32_t) {
    if (context.stopped()) return;
    const Range range = part_of(n, part, parts, kLineBytes);
    bests[part] = least_of_range(codec, keys, range);
    context.advance(range.size());
  });
  context.throw_if_stopped();
  FirstOfLeast<K> best = bests[0];
  for (uint64_t part = 1; part < parts; ++part)
    if (bests[part].key < best.key) best = bests[part];
  return best;
}

// The maximum is the least of the descending order.
template <class K>
KeyCodec<K> codec_of(uint32_t op, const KeyOrder &order) {
  return make_codec<K>({order.dtype, op == GSORT_MAX || op == GSORT_ARGMAX, order.nan_last});
}

template <class K>
void put_extreme(uint32_t op, const KeyCodec<K> &codec, const FirstOfLeast<K> &best, void *out) {
  if (op == GSORT_ARGMIN || op == GSORT_ARGMAX) {
    *static_cast<uint64_t *>(out) = best.index;
  } else {
    *static_cast<K *>(out) = codec.decode(best.key);
  }
}

template <class K>
void find_extreme(Context &context, const Request &r) {
  const KeyCodec<K> codec = codec_of<K>(r.reduce_op, r.order);
  FirstOfLeast<K> best{static_cast<K>(~K{0}), UINT64_MAX};
  if (r.n > 0) best = least_of_all(context, codec, static_cast<const K *>(r.in), r.n);
  put_extreme(r.reduce_op, codec, best, r.out);
}

template <class K>
bool reduce_few_of(uint32_t op, const KeyOrder &order, const void *in, uint64_t n, void *out) {
  const SelectKernels<K> *const kernels = select_kernels(K{});
  if (kernels == nullptr) return false;
  const KeyCodec<K> codec = codec_of<K>(op, order);
  put_extreme(op, codec, kernels->least(codec, static_cast<const K *>(in), n), out);
  return true;
}

}  // namespace

bool reduce_few(uint32_t op, const KeyOrder &order, const void *in, uint64_t n, void *out) noexcept {
  switch (dtype_bytes(order.dtype)) {
    case 1:
      return reduce_few_of<uint8_t>(op, order, in, n, out);
    case 2:
      return reduce_few_of<uint16_t>(op, order, in, n, out);
    case 4:
      return reduce_few_of<uint32_t>(op, order, in, n, out);
    default:
      return reduce_few_of<uint64_t>(op, order, in, n, out);
  }
}

void cpu_reduce(Context &context, const Request &request) {
  if (request.reduce_op == GSORT_MEAN) return cpu_mean(context, request);
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { find_extreme<typename decltype(tag)::type>(context, request); });
}

uint64_t first_of_least(const Request &request, uint64_t begin, uint64_t end) noexcept {
  return with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
    using K = typename decltype(tag)::type;
    return least_of_range(make_codec<K>(request.order), static_cast<const K *>(request.in), {begin, end}).index;
  });
}

}  // namespace gsort_internal
