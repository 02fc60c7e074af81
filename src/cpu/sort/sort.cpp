// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of keys alone.
#include <cstdint>

#include "cpu/engine/float_environment.h"
#include "cpu/engine/operations.h"
#include "cpu/sort/ordered_keys.h"
#include "cpu/sort/record_sort.h"
#include "cpu/sort/sorted_runs.h"
#include "cpu/sort/vector_sort.h"
#include "cpu/vector/short_sort.h"
#include "cpu/vector/target.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kStackItems = 256;        // fewer keys than this need no memory but the stack
constexpr uint64_t kFewBytes = 1 << 12;      // what a call takes shows in sorts of fewer bytes
constexpr uint64_t kFewShortKeys = 1 << 10;  // keys of 1 and 2 bytes, on some KiB of stack
constexpr uint64_t kCountFewBytes = 320;     // keys of 1 byte that are counted: 256 counters are walked in 0.3 us
constexpr uint64_t kCountChunkItems = 1 << 20;
// From here on clearing and walking 65,536 counters costs less than a second pass over 2-byte keys.
constexpr uint64_t kCountItemsOf2Bytes = 1 << 17;

// More of them take digits as long as words of 4 bytes if they are even.
constexpr uint64_t kLongerWordsMax = 1 << 14;

template <class K>
constexpr uint32_t kKeyValues = 1u << (sizeof(K) * 8);

// Adds up how often every raw key occurs.
template <class K>
void count_keys(Context &context, const K *keys, uint64_t n, uint64_t *totals, uint32_t *counters, uint64_t parts) {
  constexpr uint32_t tables = sizeof(K) == 1 ? 4 : 1;  // more hide the wait of equal neighbours, if they stay small
  context.for_each(parts, [&](uint64_t part, uint32_t worker) {
    const Range range = part_of(n, part, parts, kLineBytes);
    uint32_t *const mine = counters + part * tables * kKeyValues<K>;
    uint64_t *const total = totals + part * kKeyValues<K>;
    for (uint32_t v = 0; v < kKeyValues<K>; ++v) total[v] = 0;
    for (uint64_t begin = range.begin; begin < range.end && !context.stopped();) {
      const uint64_t end = min_u64(range.end, begin + (uint64_t{1} << 31));  // a counter holds that many
      std::memset(mine, 0, tables * kKeyValues<K> * sizeof *mine);
      for (uint64_t i = begin; i < end && context.goes_on(worker);) {
        const uint64_t stop = min_u64(end, i + kCountChunkItems);
        for (; i + tables <= stop; i += tables)
          for (uint32_t t = 0; t < tables; ++t) ++mine[t * kKeyValues<K> + keys[i + t]];
        for (; i < stop; ++i) ++mine[keys[i]];
      }
      for (uint32_t t = 0; t < tables; ++t)
        for (uint32_t v = 0; v < kKeyValues<K>; ++v) total[v] += mine[t * kKeyValues<K> + v];
      begin = end;
    }
    context.advance(range.size());
  });
  for (uint64_t part = 1; part < parts; ++part)
    for (uint32_t v = 0; v < kKeyValues<K>; ++v) totals[v] += totals[part * kKeyValues<K> + v];
}

template <class K>
void fill_run(K *out, K key, uint64_t begin, uint64_t end) {
  if constexpr (sizeof(K) == 1) {
    if (end > begin) std::memset(out + begin, key, end - begin);
  } else {
    for (uint64_t i = begin; i < end; ++i) out[i] = key;
  }
}

// Writes the keys in order: `starts` (one more than there are keys) tells where each run begins.
template <class K>
void fill_keys(Context &context, const KeyCodec<K> &codec, const uint64_t *starts, K *out, uint64_t n) {
  const uint64_t parts = min_u64(divide_up(n, kCountChunkItems), context.threads());
  context.for_each_unbroken(parts, [&](uint64_t part, uint32_t) {
    const Range range = part_of(n, part, parts, kLineBytes);
    uint32_t low = 0, high = kKeyValues<K>;  // the last run that begins at or before the range
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      (starts[middle] <= range.begin ? low : high) = middle;
    }
    for (uint32_t v = low; v < kKeyValues<K> && starts[v] < range.end; ++v)
      fill_run(out, codec.decode(static_cast<K>(v)), max_u64(starts[v], range.begin),
               min_u64(starts[v + 1], range.end));
  });
}

// Keys of so few values are counted and written anew.
template <class K>
void counting_sort(Context &context, const KeyCodec<K> &codec, const K *in, K *out, uint64_t n) {
  const uint64_t parts = min_u64(divide_up(n, kCountChunkItems), sizeof(K) == 1 ? 64 : context.threads());
  constexpr uint32_t tables = sizeof(K) == 1 ? 4 : 1;
  const HostBuffer<uint64_t> totals(context.memory, parts * kKeyValues<K>);
  const HostBuffer<uint32_t> counters(context.memory, parts * tables * kKeyValues<K>);
  const HostBuffer<uint64_t> starts(context.memory, kKeyValues<K> + 1);
  context.begin(n);
  // Neighbours that are the same wait for each other's counter, of which there is one for 2-byte keys.
  if (sizeof(K) == 2 && sort_ordered_keys(context, codec, in, out, n)) return context.throw_if_stopped();
  count_keys(context, in, n, totals.data(), counters.data(), parts);
  context.throw_if_stopped();
  uint64_t start = 0;
  for (uint32_t v = 0; v < kKeyValues<K>; ++v) {
    starts[v] = start;
    start += totals[codec.decode(static_cast<K>(v))];
  }
  starts[kKeyValues<K>] = start;
  fill_keys(context, codec, starts.data(), out, n);
}

// to[i] = convert(from[i]), some at a time: of a count that it knows the compiler makes vectors.
template <class From, class To, class Convert>
void convert_items(const From *from, uint64_t n, To *to, Convert convert) {
  constexpr uint64_t kStep = 64;
  uint64_t i = 0;
  for (; i + kStep <= n; i += kStep)
    for (uint64_t j = 0; j < kStep; ++j) to[i + j] = convert(from[i + j]);
  for (; i < n; ++i) to[i] = convert(from[i]);
}

// Keys of 2 bytes as words of 4, which vectors sort sooner than digits do, and sooner than so few are counted.
template <class K>
void sort_by_longer_words(Context &context, const SortKernels<uint32_t> &kernels, const KeyCodec<K> &codec, const K *in,
                          K *out, uint64_t n) {
  limit_vector_threads<uint32_t>(context, n);
  const HostBuffer<uint32_t> words(context.memory, n);
  VectorSort<uint32_t> sort(context, kernels, {0, 0, 0}, n);
  context.control.log("cpu sort: n = %llu, 2-byte keys as words of 4, %u threads", static_cast<unsigned long long>(n),
                      context.threads());
  context.begin(context.threads() > 1 ? 2 * n : n);
  if (sort_ordered_keys(context, codec, in, out, n)) return context.throw_if_stopped();
  with_encoder(codec, [&](auto encode) { convert_items(in, n, words.data(), encode); });
  sort.run(words.data(), words.data(), n);
  context.throw_if_stopped();
  convert_items(words.data(), n, out, [](uint32_t word) { return static_cast<K>(word); });
  decode_keys(codec, out, n);
}

template <class K>
void sort_keys(Context &context, const KeyCodec<K> &codec, const K *in, K *out, uint64_t n) {
  if (const SortKernels<K> *const kernels = sort_kernels(K{})) {
    limit_vector_threads<K>(context, n);
    VectorSort<K> sort(context, *kernels, codec, n);
    context.begin(context.threads() > 1 ? 2 * n : n);
    if (n < kOrderLookItems ||
        (!sort_ordered_keys(context, codec, in, out, n) && !SortedRuns<K>::sort(context, codec, in, out, n))) {
      if (context.control.has_log())
        context.control.log("cpu sort: n = %llu, %u-byte keys, %s vectors, %u threads",
                            static_cast<unsigned long long>(n), static_cast<uint32_t>(sizeof(K)),
                            vector_target_name(vector_target()), context.threads());
      sort.run(in, out, n);
    }
    return context.throw_if_stopped();
  }
  if (n <= kStackItems) {
    K scratch[kStackItems];
    context.begin(n);
    return RecordSort<K, NoValue>(context, codec, {scratch, nullptr}, n).run({in, nullptr}, {out, nullptr}, n);
  }
  if constexpr (sizeof(K) <= 2) {
    if (sizeof(K) == 1 || n >= kCountItemsOf2Bytes) {
      context.control.log("cpu sort: n = %llu, %u-byte keys counted, %u threads", static_cast<unsigned long long>(n),
                          static_cast<uint32_t>(sizeof(K)), context.threads());
      return counting_sort(context, codec, in, out, n);
    }
  }
  if constexpr (sizeof(K) == 2) {
    const SortKernels<uint32_t> *const kernels = sort_kernels(uint32_t{});
    if (kernels != nullptr && n <= kLongerWordsMax) return sort_by_longer_words(context, *kernels, codec, in, out, n);
  }
  const HostBuffer<K> scratch(context.memory, n);
  RecordSort<K, NoValue> sort(context, codec, {scratch.data(), nullptr}, n);
  sort.log_plan("sort");
  context.begin(2 * n);
  if (!sort_ordered_keys(context, codec, in, out, n)) sort.run({in, nullptr}, {out, nullptr}, n);
  context.throw_if_stopped();
}

template <class K>
bool are_few_keys(const KeyOrder &order, uint64_t n) {
  return n < kOrderLookItems && n <= kFewBytes / sizeof(K) && sort_kernels(K{}) != nullptr && !order.nan_last;
}

// On its own where floats may be compared as such: its frame is more than a short call needs.
template <class K>
__attribute__((noinline)) void sort_few_numbers(const SortKernels<K> &kernels, uint32_t order, const K *in, K *out,
                                                uint64_t n) {
  const FloatEnvironment float_environment;
  kernels.sort_few(order, in, out, n);
}

template <class K>
bool sort_few_keys(const KeyOrder &order, const void *in, void *out, uint64_t n) {
  if (n >= kOrderLookItems || n > kFewBytes / sizeof(K) || order.nan_last) return false;
  const SortKernels<K> *const kernels = sort_kernels(K{});
  if (kernels == nullptr) return false;
  if (sizeof(K) == 8 && n > kernels->integers_max) {
    sort_few_numbers(*kernels, order_number(order), static_cast<const K *>(in), static_cast<K *>(out), n);
  } else {
    kernels->sort_few(order_number(order), static_cast<const K *>(in), static_cast<K *>(out), n);
  }
  return true;
}

// Counts up to kFewShortKeys keys of 1 byte and writes them anew, 16 at a time, over what comes next.
__attribute__((noinline)) void count_few_keys(const KeyCodec<uint8_t> &codec, const uint8_t *in, uint8_t *out,
                                              uint64_t n) {
  constexpr uint32_t kTables = 4, kAtOnce = 16;  // tables as in count_keys()
  uint16_t counts[kTables][kKeyValues<uint8_t>] = {};
  uint64_t i = 0;
  for (; i + kTables <= n; i += kTables)
    for (uint32_t t = 0; t < kTables; ++t) ++counts[t][in[i + t]];
  for (; i < n; ++i) ++counts[0][in[i]];
  for (uint32_t t = 1; t < kTables; ++t)
    for (uint32_t v = 0; v < kKeyValues<uint8_t>; ++v)
      counts[0][v] = static_cast<uint16_t>(counts[0][v] + counts[t][v]);
  uint8_t keys[kFewShortKeys + kAtOnce], *to = keys;
  for (uint32_t v = 0; v < kKeyValues<uint8_t>; ++v) {
    const uint8_t key = codec.decode(static_cast<uint8_t>(v));
    const uint32_t count = counts[0][key];
    std::memset(to, key, kAtOnce);
    if (__builtin_expect(count > kAtOnce, 0)) std::memset(to + kAtOnce, key, count - kAtOnce);
    to += count;
  }
  std::memcpy(out, keys, n);
}

// Whether there may be a kernel for so many keys of 2 bytes.
constexpr bool are_short_vectors(uint64_t n) { return n >= kShortSortItemsMin && n <= kShortSortItemsMax; }

// Keys of 2 bytes have vectors of their own where they are so few, and others are sooner sorted as words of 2 bytes,
// too. False if there is no kernel, or not for so many.
template <class K>
__attribute__((noinline)) bool sort_as_short_words(const KeyOrder &order, const void *in, void *out, uint64_t n) {
  const ShortSortKernels *const kernels = short_sort_kernels();
  if (kernels == nullptr || n > kernels->items_max) return false;
  uint16_t words[kShortSortItemsMax];
  const KeyCodec<K> codec = make_codec<K>(order);
  const K *const from = static_cast<const K *>(in);
  with_encoder(codec, [&](auto encode) {
    for (uint64_t i = 0; i < n; ++i) words[i] = encode(from[i]);
  });
  kernels->sort(kUnsignedOrder, words, words, static_cast<uint32_t>(n));
  K *const to = static_cast<K *>(out);
  for (uint64_t i = 0; i < n; ++i) to[i] = static_cast<K>(words[i]);
  decode_keys(codec, to, n);
  return true;
}
template <class K>
bool sort_in_short_vectors(const KeyOrder &order, const void *in, void *out, uint64_t n) {
  constexpr uint64_t kWordsMin = 40;  // fewer are sorted as soon by words of 4 bytes
  if constexpr (sizeof(K) == 2)
    if (!order.nan_last) {
      const ShortSortKernels *const kernels = short_sort_kernels();
      if (kernels == nullptr || n > kernels->items_max) return false;
      kernels->sort(order_number(order), static_cast<const uint16_t *>(in), static_cast<uint16_t *>(out),
                    static_cast<uint32_t>(n));
      return true;
    }
  return n >= kWordsMin && sort_as_short_words<K>(order, in, out, n);
}

// As words of 4 bytes so few are sorted sooner than by digits or by counting. On its own, so that the words are no part
// of another frame.
template <class K>
__attribute__((noinline)) bool sort_few_short_keys(const KeyOrder &order, const void *in, void *out, uint64_t n) {
  const SortKernels<uint32_t> *const kernels = sort_kernels(uint32_t{});
  if (n > kFewShortKeys || kernels == nullptr) return false;
  uint32_t words[kFewShortKeys];
  const KeyCodec<K> codec = make_codec<K>(order);
  const K *const from = static_cast<const K *>(in);
  with_encoder(codec, [&](auto encode) {
    for (uint64_t i = 0; i < n; ++i) words[i] = encode(from[i]);
  });
  kernels->sort_few(kSignedOrder, words, words, n);
  K *const to = static_cast<K *>(out);
  for (uint64_t i = 0; i < n; ++i) to[i] = static_cast<K>(words[i]);
  decode_keys(codec, to, n);
  return true;
}

// On their own, so that keys of 4 and 8 bytes pass without a frame.
__attribute__((noinline)) bool sort_few_bytes(const KeyOrder &order, const void *in, void *out, uint64_t n) {
  if (n >= kCountFewBytes && n <= kFewShortKeys) {
    count_few_keys(make_codec<uint8_t>(order), static_cast<const uint8_t *>(in), static_cast<uint8_t *>(out), n);
    return true;
  }
  return (are_short_vectors(n) && sort_in_short_vectors<uint8_t>(order, in, out, n)) ||
         sort_few_short_keys<uint8_t>(order, in, out, n);
}
__attribute__((noinline)) bool sort_few_of_two_bytes(const KeyOrder &order, const void *in, void *out, uint64_t n) {
  return (are_short_vectors(n) && sort_in_short_vectors<uint16_t>(order, in, out, n)) ||
         sort_few_short_keys<uint16_t>(order, in, out, n);
}

}  // namespace

void count_byte_keys(const KeyOrder &order, const uint8_t *in, uint8_t *out, uint64_t n) noexcept {
  constexpr uint32_t kTables = 4;  // as in count_keys()
  uint32_t counts[kTables][kKeyValues<uint8_t>] = {};
  uint64_t i = 0;
  for (; i + kTables <= n; i += kTables)
    for (uint32_t t = 0; t < kTables; ++t) ++counts[t][in[i + t]];
  for (; i < n; ++i) ++counts[0][in[i]];
  const KeyCodec<uint8_t> codec = make_codec<uint8_t>(order);
  for (uint32_t v = 0; v < kKeyValues<uint8_t>; ++v) {
    const uint8_t key = codec.decode(static_cast<uint8_t>(v));
    uint64_t count = 0;
    for (uint32_t t = 0; t < kTables; ++t) count += counts[t][key];
    std::memset(out, key, count);
    out += count;
  }
}

bool sort_few_keys(const KeyOrder &order, const void *in, void *out, uint64_t n) noexcept {
  const uint32_t bytes = dtype_bytes(order.dtype);
  if (bytes == 4) return sort_few_keys<uint32_t>(order, in, out, n);
  if (bytes == 8) return sort_few_keys<uint64_t>(order, in, out, n);
  return bytes == 2 ? sort_few_of_two_bytes(order, in, out, n) : sort_few_bytes(order, in, out, n);
}

bool are_few_keys(const KeyOrder &order, uint64_t n) noexcept {
  switch (dtype_bytes(order.dtype)) {
    case 1:
    case 2:
      return n <= kFewShortKeys && sort_kernels(uint32_t{}) != nullptr;
    case 4:
      return are_few_keys<uint32_t>(order, n);
    default:
      return are_few_keys<uint64_t>(order, n);
  }
}

void cpu_sort(Context &context, const Request &request) {
  if (request.n == 0) return;
  with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
    using K = typename decltype(tag)::type;
    sort_keys(context, make_codec<K>(request.order), static_cast<const K *>(request.in), static_cast<K *>(request.out),
              request.n);
  });
}

}  // namespace gsort_internal
