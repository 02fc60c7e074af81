// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of keys with something that goes with them: values, or the keys' own indices.
#include <cstdint>
#include <type_traits>

#include "cpu/engine/operations.h"
#include "cpu/primitive/copy.h"
#include "cpu/sort/few_values.h"
#include "cpu/sort/ordered_keys.h"
#include "cpu/sort/pair_quicksort.h"
#include "cpu/sort/record_sort.h"
#include "cpu/sort/team_pair_quicksort.h"
#include "cpu/sort/vector_sort.h"
#include "cpu/vector/pairs.h"
#include "cpu/vector/rank.h"
#include "cpu/vector/sort.h"
#include "cpu/vector/target.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kFewValuesItemsMin = 1 << 8;  // fewer are sorted before the values are known
constexpr uint64_t kFewValuesItemsOfCache = 1 << 20;
constexpr uint64_t kGatherChunkBytes = 1 << 20;
// Up to so many records need no memory but some KiB of stack. Radix passes may take more of it.
template <class K>
constexpr uint64_t kFewItems = sizeof(K) == 4 ? 192 : 128;
template <class K, class V>
constexpr uint64_t kFewItemsWith = sizeof(V) <= 8 ? kFewItems<K> : kFewItems<K> * 8 / sizeof(V);

// Values of sizes that radix passes move along with the keys.
struct alignas(1) Bytes16 {
  unsigned char bytes[16];
};

// Where a sort of keys with values puts its records, and its scratch.
template <class K, class V>
struct PairBuffers {
  PairBuffers(HostMemory &memory, uint64_t n) : keys(memory, n), values(memory, n) {}
  Records<K, V> records() const { return {keys.data(), values.data()}; }
  HostBuffer<K> keys;
  HostBuffer<V> values;
};

// On its own, so that the words are gone where digits sort, which take more of the stack.
template <class K, class V>
__attribute__((noinline)) bool sort_few_by_words(const Records<K, V> &from, const Records<K, V> &to, uint32_t count) {
  uint64_t words[kFewItems<K> / 2];  // of 4 bytes
  return sort_by_words(from, to, count, sizeof(K) * 8, true, words);
}

// Few records with keys of 4 or 8 bytes are sorted on the calling thread's stack. Leaves the ordered keys in
// `keys_out`, which may be the keys' own array, and the values in that order in `values_out`, which is another array.
template <class K, class V>
void sort_few(const KeyCodec<K> &codec, const K *keys, V *values, uint64_t n, K *keys_out, V *values_out) {
  K ordered[kFewItems<K>];
  encode_keys(codec, keys, ordered, n);
  const Records<K, V> from{ordered, values}, to{keys_out, values_out};
  const uint32_t count = static_cast<uint32_t>(n);
  if (!sort_few_by_words(from, to, count)) sort_block(from, to, count, sizeof(K) * 8, true);
}

// On its own, as what follows, so that the arrays are no part of the frames of sorts of many.
template <class K, class V>
__attribute__((noinline)) void sort_pairs_by_words(const FewPairs &p) {
  const KeyCodec<K> codec = make_codec<K>(p.order);
  V values[kFewItemsWith<K, V>];  // the output may be the input
  std::memcpy(values, p.values, p.n * sizeof(V));
  K *const keys = static_cast<K *>(p.keys_out);
  sort_few(codec, static_cast<const K *>(p.keys), values, p.n, keys, static_cast<V *>(p.values_out));
  decode_keys(codec, keys, p.n);
}

template <class K, class I>
__attribute__((noinline)) void argsort_few_records(const KeyCodec<K> &codec, const K *keys, uint64_t n, I *indices) {
  K ordered[kFewItems<K>];
  uint32_t places[kFewItems<K>];
  for (uint32_t i = 0; i < n; ++i) places[i] = i;
  if constexpr (sizeof(I) == sizeof(uint32_t)) {
    sort_few(codec, keys, places, n, ordered, indices);
  } else {
    uint32_t sorted[kFewItems<K>];
    sort_few(codec, keys, places, n, ordered, sorted);
    for (uint64_t i = 0; i < n; ++i) indices[i] = sorted[i];
  }
}

// Whether few keys' indices were found by words.
template <class K, class I>
__attribute__((noinline)) bool argsort_few(const KeyCodec<K> &codec, const K *keys, uint64_t n, I *indices) {
  if (n < kWordItemsMin) return false;
  K ordered[kFewItems<K>];
  uint32_t words[kFewItems<K>];
  encode_keys(codec, keys, ordered, n);
  return place_few_by_words(ordered, static_cast<uint32_t>(n), words, indices);
}

// Finds the ranks of keys so few that comparing each with all others is the quickest way, or returns false.
template <class K>
bool rank_few(const KeyOrder &order, const void *keys, uint64_t n, K *ranks) {
  const RankKernels<K> *const kernels = rank_kernels(K{});
  if (kernels == nullptr || n > kernels->items_max) return false;
  kernels->ranks(make_codec<K>(order), static_cast<const K *>(keys), static_cast<uint32_t>(n), ranks);
  return true;
}

// The items, or a copy of them where they lie in the way of what is written.
template <class T>
const T *out_of_way(const void *items, const void *out, uint64_t n, T *copy) {
  if (items != out) return static_cast<const T *>(items);
  std::memcpy(copy, items, n * sizeof(T));
  return copy;
}

template <class K, class V>
__attribute__((noinline)) bool sort_pairs_by_rank(const FewPairs &p) {
  K ranks[kRankItemsMax], key_copy[kRankItemsMax];
  V value_copy[kRankItemsMax];
  if (!rank_few(p.order, p.keys, p.n, ranks)) return false;
  const K *const keys = out_of_way(p.keys, p.keys_out, p.n, key_copy);
  const V *const values = out_of_way(p.values, p.values_out, p.n, value_copy);
  K *const keys_out = static_cast<K *>(p.keys_out);
  V *const values_out = static_cast<V *>(p.values_out);
  for (uint64_t i = 0; i < p.n; ++i) {
    const K rank = ranks[i];
    keys_out[rank] = keys[i];
    values_out[rank] = values[i];
  }
  return true;
}

template <class K, class I>
bool index_by_rank(const KeyOrder &order, bool wants_ranks, const void *keys, uint64_t n, I *out) {
  K ranks[kRankItemsMax];
  if (!rank_few(order, keys, n, ranks)) return false;
  if (wants_ranks) {
    for (uint64_t i = 0; i < n; ++i) out[i] = static_cast<I>(ranks[i]);
  } else {
    for (uint64_t i = 0; i < n; ++i) out[ranks[i]] = static_cast<I>(i);
  }
  return true;
}

// Whether such few are sorted so, by vectors.
template <class K, class V>
bool are_few(uint64_t n) {
  return sizeof(K) >= 4 && n <= kFewItemsWith<K, V> && sort_kernels(uint32_t{}) != nullptr;
}

// Others with keys of 4 bytes are sorted by no more threads than have enough to do.
template <class K>
void limit_pair_threads(Context &context, uint64_t n) {
  if (sizeof(K) == 4) limit_vector_threads<uint64_t>(context, n);
}

// Whether keys that are in order already were copied, with their values: a stable sort leaves them so.
template <class K>
bool copy_ordered_pairs(Context &context, const Request &r) {
  const K *const keys = static_cast<const K *>(r.in);
  if (!keys_are_ordered(context, make_codec<K>(r.order), keys, r.n, false)) return false;
  context.control.log("cpu sort_pairs: the keys are in this order");
  if (r.in != r.out) copy_bytes(r.out, r.in, r.n * sizeof(K));
  if (r.values_in != r.values_out) copy_bytes(r.values_out, r.values_in, r.n * r.value_bytes);
  return true;
}

// The same of keys in the reverse order, with values that are moved as they are.
template <class K, class V>
bool reverse_ordered_pairs(Context &context, const KeyCodec<K> &codec, const RecordSource<K, V> &source,
                           Records<K, V> out, uint64_t n) {
  if (codec.encode(source.keys[0]) <= codec.encode(source.keys[n - 1]) ||
      !keys_are_ordered(context, codec, source.keys, n, true))
    return false;
  context.control.log("cpu sort_pairs: the keys are in the reverse order");
  reverse_items(context, source.keys, out.keys, n, false);
  reverse_items(context, source.values, out.values, n, false);
  reverse_equal_runs(out.keys, out.values, n);
  return true;
}

// Whether so many records are parted at once by what the keys are, by as many threads. Those with keys of 8 bytes are
// where a digit would not spread them, or where lines to memory would be one thread's other way; in memory, parts are
// read and written again and again, which pays for indices alone, or where keys repeat.
template <class K, class V>
bool parts_at_once(const Context &context, const RecordSource<K, V> &source, uint64_t n) {
  const uint32_t threads = context.threads();
  if (sizeof(K) == 4) return threads <= 4 || (threads <= 8 && n >= 1 << 18);
  constexpr uint64_t kItemsMin = 1 << 12, kItemsOfThread = 1 << 11, kItemsOfValues = 1 << 22, kItemsOfIndices = 1 << 25;
  if (threads > 16 || n < kItemsMin || n < threads * kItemsOfThread) return false;
  if (threads == 1 && parts_by_length<K, V>(n)) return true;
  if (digit_spreads(source.keys, n)) return false;
  return n <= (source.values == nullptr ? kItemsOfIndices : kItemsOfValues) ||
         (threads <= 8 && keys_repeat(source.keys, n));
}

// The kernels for records that are parted at once; NULL where another way is quicker, or without vectors.
template <class K, class V>
const PairQuicksortKernels<K, V> *quicksort_kernels(const Context &context, const RecordSource<K, V> &source,
                                                    uint64_t n) {
  if constexpr (kHasPairQuicksort<K, V>) {
    const PairQuicksortKernels<K, V> *const kernels = find_pair_quicksort_kernels<K, V>();
    if (kernels != nullptr && parts_at_once(context, source, n)) return kernels;  // which it takes for granted
  }
  return nullptr;
}

template <class K, class V>
void sort_by_partitions(Context &context, const PairQuicksortKernels<K, V> &kernels, const KeyCodec<K> &codec,
                        const RecordSource<K, V> &source, Records<K, V> out, uint64_t n) {
  if (context.control.has_log())
    context.control.log("cpu: n = %llu, keys of %u and values of %u bytes, by partitions, %s vectors",
                        static_cast<unsigned long long>(n), static_cast<uint32_t>(sizeof(K)),
                        static_cast<uint32_t>(sizeof(V)), vector_target_name(vector_target()));
  const PairBuffers<K, V> scratch(context.memory, n);
  context.prefer_large_pages(scratch.keys.data(), n * sizeof(K));
  context.prefer_large_pages(scratch.values.data(), n * sizeof(V));
  TeamPairQuicksort<K, V> team(context, kernels, {scratch.keys.data(), scratch.values.data()});
  const auto sort = [&](const KeyCodec<K> &order, const K *keys) {
    team.run(order, {keys, source.values, 0}, n, {out.keys, out.values});
  };
  if (codec.nan_count == 0) {
    sort(codec, source.keys);
  } else {                                       // the kernels know no such order: it is that of the encoded keys
    constexpr uint64_t kItemsUnheard = 1 << 19;  // between chances to cancel, of which these steps make no use
    for_each_piece(n, kItemsUnheard, [&](uint64_t begin, uint64_t count) {
      encode_keys(codec, source.keys + begin, out.keys + begin, count);
      context.poll();
    });
    sort(KeyCodec<K>{0, 0, 0}, out.keys);
    for_each_piece(n, kItemsUnheard, [&](uint64_t begin, uint64_t count) {
      decode_keys(codec, out.keys + begin, count);
      context.poll();
    });
  }
  context.throw_if_stopped();
}

// Sorts records by the way that is best for them, keys of few values before all; returns false for those that are left.
template <class K, class V>
bool sort_by_counts_or_partitions(Context &context, const KeyCodec<K> &codec, const RecordSource<K, V> &source,
                                  Records<K, V> out, uint64_t n, bool wants_keys) {
  const PairQuicksortKernels<K, V> *const kernels = quicksort_kernels<K, V>(context, source, n);
  // Those that fit a cache, and one thread's with short keys, as soon as they are counted.
  const bool parts_few_values = kernels != nullptr && n > kernels->block_items &&
                                (context.threads() == 1 ? sizeof(K) == 4 || n < kFewValuesItemsOfCache
                                                        : sizeof(K) == 4 && n < kFewValuesItemsOfCache);
  const Records<K, V> counted{wants_keys ? out.keys : nullptr, out.values};
  if (n >= kFewValuesItemsMin && !parts_few_values && sort_few_values(context, codec, source, counted, n)) return true;
  if constexpr (kHasPairQuicksort<K, V>) {
    if (kernels == nullptr) return false;
    sort_by_partitions(context, *kernels, codec, source, out, n);
    return true;
  }
  return false;
}

// Sorts records by the way that is best for them.
template <class K, class V>
void sort_records(Context &context, const KeyCodec<K> &codec, const RecordSource<K, V> &source, Records<K, V> out,
                  uint64_t n, bool wants_keys, const char *name) {
  if (sort_by_counts_or_partitions(context, codec, source, out, n, wants_keys)) return;
  const PairBuffers<K, V> scratch(context.memory, n);
  RecordSort<K, V> sort(context, codec, scratch.records(), n);
  sort.log_plan(name);
  sort.run(source, out, n);
  context.throw_if_stopped();
}

template <class K, class V>
void sort_moving_values(Context &context, const Request &r) {
  if constexpr (sizeof(K) >= 4) {
    if (are_few<K, V>(r.n)) {
      sort_pairs_by_words<K, V>({r.order, r.value_bytes, r.n, r.in, r.values_in, r.out, r.values_out});
      return context.advance(2 * r.n);
    }
  }
  if (r.n > 1 && copy_ordered_pairs<K>(context, r)) return context.throw_if_stopped();
  limit_pair_threads<K>(context, r.n);
  const KeyCodec<K> codec = make_codec<K>(r.order);
  const RecordSource<K, V> source{static_cast<const K *>(r.in), static_cast<const V *>(r.values_in)};
  const Records<K, V> out{static_cast<K *>(r.out), static_cast<V *>(r.values_out)};
  if (r.n > 1 && reverse_ordered_pairs(context, codec, source, out, r.n)) return context.throw_if_stopped();
  sort_records(context, codec, source, out, r.n, true, "sort_pairs");
}

// to[i] = from[indices[i]], for values of any size.
template <class I>
void gather_values(Context &context, const I *indices, uint64_t n, const void *from, void *to, uint32_t value_bytes) {
  const uint64_t parts = max_u64(1, min_u64(n, n * value_bytes / kGatherChunkBytes));
  context.for_each_unbroken(parts, [&](uint64_t part, uint32_t) {
    const Range range = part_of(n, part, parts, 1);
    const auto *const source = static_cast<const unsigned char *>(from);
    auto *const target = static_cast<unsigned char *>(to);
    for (uint64_t i = range.begin; i < range.end; ++i)
      std::memcpy(target + i * value_bytes, source + uint64_t{indices[i]} * value_bytes, value_bytes);
  });
}

// Moves values[indices[i]] to values[i] along the permutation's cycles; spoils the indices.
template <class I>
void permute_values(I *indices, uint64_t n, void *values, uint32_t value_bytes, void *one_value) {
  auto *const bytes = static_cast<unsigned char *>(values);
  const auto value = [&](uint64_t i) { return bytes + i * value_bytes; };
  for (uint64_t first = 0; first < n; ++first) {
    if (indices[first] == first) continue;
    std::memcpy(one_value, value(first), value_bytes);
    uint64_t to = first;
    while (indices[to] != first) {
      const uint64_t from = indices[to];
      std::memcpy(value(to), value(from), value_bytes);
      indices[to] = static_cast<I>(to);
      to = from;
    }
    std::memcpy(value(to), one_value, value_bytes);
    indices[to] = static_cast<I>(to);
  }
}

// Any other size: sort keys with indices, then move every value once.
template <class K, class I>
void sort_gathering_values(Context &context, const Request &r) {
  // In place, small values are gathered into scratch on all threads; large ones follow cycles and need room for one.
  constexpr uint32_t scratch_value_bytes_max = 64;
  if (r.n > 1 && copy_ordered_pairs<K>(context, r)) return context.throw_if_stopped();
  const bool in_place = r.values_in == r.values_out,
             through_scratch = in_place && r.value_bytes <= scratch_value_bytes_max;
  limit_pair_threads<K>(context, r.n);
  const PairBuffers<K, I> sorted(context.memory, r.n);
  const HostBuffer<unsigned char> room(context.memory, through_scratch ? r.n * r.value_bytes : r.value_bytes);
  sort_records<K, I>(context, make_codec<K>(r.order), {static_cast<const K *>(r.in), nullptr}, sorted.records(), r.n,
                     true, "sort_pairs by index");
  copy_bytes(r.out, sorted.keys.data(), r.n * sizeof(K));
  if (in_place && !through_scratch)
    return permute_values(sorted.values.data(), r.n, r.values_out, r.value_bytes, room.data());
  void *const to = in_place ? room.data() : r.values_out;
  gather_values(context, sorted.values.data(), r.n, r.values_in, to, r.value_bytes);
  if (in_place) copy_bytes(r.values_out, to, r.n * r.value_bytes);
}

// Whether values of a size that passes can move lie as such a type needs; host arrays of values may lie anywhere. Of
// other sizes it says nothing of use.
bool values_aligned(uint32_t value_bytes, const void *values, const void *values_out) {
  const uintptr_t both = reinterpret_cast<uintptr_t>(values) | reinterpret_cast<uintptr_t>(values_out);
  return value_bytes >= 16 || (both & (value_bytes - 1)) == 0;
}

// The kernels that sort so few records in registers; NULL where there are none.
template <class K>
const PairKernels<K> *register_kernels(const KeyOrder &order, uint64_t n) {
  const PairKernels<K> *const kernels = pair_kernels(K{});
  return kernels == nullptr || n > kernels->items_max || order.nan_last ? nullptr : kernels;
}

constexpr uint32_t kArgsortItemsMax = 32;  // of more keys, words tell the places as soon
static_assert(kArgsortItemsMax <= kPairItemsMax);
struct FirstPlaces {
  uint32_t places[kArgsortItemsMax] = {};
  constexpr FirstPlaces() {
    for (uint32_t i = 0; i < kArgsortItemsMax; ++i) places[i] = i;
  }
};
constexpr FirstPlaces kFirstPlaces;

// As pairs whose values are the keys' places. On its own, so that the keys are no part of another frame.
__attribute__((noinline)) bool argsort_in_registers(const KeyOrder &order, const uint32_t *keys, uint64_t n,
                                                    uint32_t *out) {
  const PairKernels<uint32_t> *const kernels = register_kernels<uint32_t>(order, n);
  if (kernels == nullptr) return false;
  uint32_t sorted[kArgsortItemsMax];
  kernels->sort(order_number(order), keys, kFirstPlaces.places, static_cast<uint32_t>(n), sorted, out);
  return true;
}

template <class K, class I>
bool index_few_of(const KeyOrder &order, bool ranks, const void *keys, uint64_t n, I *out) {
  if constexpr (sizeof(K) == 4 && sizeof(I) == 4)
    if (!ranks && n <= kArgsortItemsMax && argsort_in_registers(order, static_cast<const uint32_t *>(keys), n, out))
      return true;
  if (index_by_rank<K, I>(order, ranks, keys, n, out)) return true;
  if (ranks || !are_few<K, I>(n)) return false;
  const KeyCodec<K> codec = make_codec<K>(order);
  const K *const typed = static_cast<const K *>(keys);
  if (!argsort_few(codec, typed, n, out)) argsort_few_records(codec, typed, n, out);
  return true;
}

template <class K>
bool index_few_of(const KeyOrder &order, bool ranks, const void *keys, uint64_t n, uint32_t index_bytes, void *out) {
  return index_bytes == 4 ? index_few_of<K>(order, ranks, keys, n, static_cast<uint32_t *>(out))
                          : index_few_of<K>(order, ranks, keys, n, static_cast<uint64_t *>(out));
}

// Few keys of 1 or 2 bytes are sorted as words of 4 bytes, whose vectors the ways above have. On its own, so that the
// words are no part of another frame.
template <class K>
__attribute__((noinline)) bool index_few_short_keys(const KeyOrder &order, bool ranks, const void *keys, uint64_t n,
                                                    uint32_t index_bytes, void *out) {
  uint32_t words[kFewItems<uint32_t>];
  if (n > kFewItems<uint32_t>) return false;
  const K *const from = static_cast<const K *>(keys);
  with_encoder(make_codec<K>(order), [&](auto encode) {
    for (uint64_t i = 0; i < n; ++i) words[i] = encode(from[i]);
  });
  return index_few_of<uint32_t>({GSORT_U32, false, false}, ranks, words, n, index_bytes, out);
}

template <class K, class V>
__attribute__((noinline)) bool sort_few_short_pairs_of(const FewPairs &p) {
  constexpr uint64_t most = kFewItemsWith<uint32_t, V>;
  uint32_t places[most];
  if (p.n > most || !index_few_short_keys<K>(p.order, false, p.keys, p.n, sizeof places[0], places)) return false;
  K key_copy[most];
  V value_copy[most];
  const K *const keys = out_of_way(p.keys, p.keys_out, p.n, key_copy);
  const V *const values = out_of_way(p.values, p.values_out, p.n, value_copy);
  K *const keys_out = static_cast<K *>(p.keys_out);
  V *const values_out = static_cast<V *>(p.values_out);
  for (uint64_t i = 0; i < p.n; ++i) {
    const uint32_t from = places[i];
    keys_out[i] = keys[from];
    values_out[i] = values[from];
  }
  return true;
}

template <class K>
bool sort_pairs_in_registers(const FewPairs &p) {
  const PairKernels<K> *const kernels = register_kernels<K>(p.order, p.n);
  return kernels != nullptr &&
         kernels->sort(order_number(p.order), static_cast<const K *>(p.keys), static_cast<const K *>(p.values),
                       static_cast<uint32_t>(p.n), static_cast<K *>(p.keys_out), static_cast<K *>(p.values_out));
}

template <class K, class V>
bool sort_few_pairs_of(const FewPairs &p) {
  if constexpr (sizeof(K) < 4) {
    return sort_few_short_pairs_of<K, V>(p);
  } else {
    if constexpr (std::is_same_v<K, V>)
      if (!p.tried && (sizeof(K) == 4 || p.n <= kLongPairItemsMax) && sort_pairs_in_registers<K>(p)) return true;
    if (sort_pairs_by_rank<K, V>(p)) return true;
    if (!are_few<K, V>(p.n)) return false;
    sort_pairs_by_words<K, V>(p);
    return true;
  }
}

template <class K>
bool sort_few_pairs_of(const FewPairs &p) {
  switch (values_aligned(p.value_bytes, p.values, p.values_out) ? p.value_bytes : 0) {
    case 1:
      return sort_few_pairs_of<K, uint8_t>(p);
    case 2:
      return sort_few_pairs_of<K, uint16_t>(p);
    case 4:
      return sort_few_pairs_of<K, uint32_t>(p);
    case 8:
      return sort_few_pairs_of<K, uint64_t>(p);
    case 16:
      return sort_few_pairs_of<K, Bytes16>(p);
    default:
      return false;
  }
}

template <class K>
void sort_pairs(Context &context, const Request &r) {
  switch (values_aligned(r.value_bytes, r.values_in, r.values_out) ? r.value_bytes : 0) {
    case 1:
      return sort_moving_values<K, uint8_t>(context, r);
    case 2:
      return sort_moving_values<K, uint16_t>(context, r);
    case 4:
      return sort_moving_values<K, uint32_t>(context, r);
    case 8:
      return sort_moving_values<K, uint64_t>(context, r);
    case 16:
      return sort_moving_values<K, Bytes16>(context, r);
    default:
      return r.n <= UINT32_MAX ? sort_gathering_values<K, uint32_t>(context, r)
                               : sort_gathering_values<K, uint64_t>(context, r);
  }
}

// indices[i] = i, on all threads, some at a time: a count that the compiler knows makes it use vectors.
template <class I>
void write_indices(Context &context, I *indices, uint64_t n) {
  constexpr uint64_t kStep = 64;
  const uint64_t parts = min_u64(divide_up(n, kSplitChunkItems), kSplitChunksMax);
  context.for_each_unbroken(parts, [&](uint64_t part, uint32_t) {
    const Range range = part_of(n, part, parts, kLineBytes);
    uint64_t i = range.begin;
    for (; i + kStep <= range.end; i += kStep)
      for (uint64_t j = 0; j < kStep; ++j) indices[i + j] = static_cast<I>(i + j);
    for (; i < range.end; ++i) indices[i] = static_cast<I>(i);
  });
}

// Whether keys are in the reverse order: then their indices are written, those of equal keys as they come.
template <class K, class I>
bool indices_are_reversed(Context &context, const KeyCodec<K> &codec, const K *keys, uint64_t n, I *indices) {
  if (codec.encode(keys[0]) <= codec.encode(keys[n - 1]) || !keys_are_ordered(context, codec, keys, n, true))
    return false;
  for (uint64_t begin = 0; begin < n;) {
    uint64_t end = begin + 1;
    while (end < n && keys[end] == keys[begin]) ++end;
    I *const to = indices + (n - end);
    for (uint64_t i = begin; i < end; ++i) to[i - begin] = static_cast<I>(i);
    begin = end;
  }
  return true;
}

template <class From, class To>
void copy_indices(Context &context, const From *from, uint64_t n, To *to) {
  const uint64_t parts = min_u64(divide_up(n, kSplitChunkItems), kSplitChunksMax);
  context.for_each_unbroken(parts, [&](uint64_t part, uint32_t) {
    const Range range = part_of(n, part, parts, kLineBytes);
    for (uint64_t i = range.begin; i < range.end; ++i) to[i] = from[i];
  });
}

template <class K, class I>
void sort_indices(Context &context, const KeyCodec<K> &codec, const Request &r, I *indices, const char *name) {
  limit_pair_threads<K>(context, r.n);
  K *const keys_out = static_cast<K *>(r.values_out);
  const HostBuffer<K> sorted_keys(context.memory, keys_out == nullptr ? r.n : 0);
  const Records<K, I> out{keys_out == nullptr ? sorted_keys.data() : keys_out, indices};
  sort_records<K, I>(context, codec, {static_cast<const K *>(r.in), nullptr}, out, r.n, keys_out != nullptr, name);
}

// The keys that a call asks for besides, by their indices.
template <class K, class I>
void fetch_keys(const Request &r, const I *indices) {
  K *const keys_out = static_cast<K *>(r.values_out);
  for (uint64_t i = 0; keys_out != nullptr && i < r.n; ++i) keys_out[i] = static_cast<const K *>(r.in)[indices[i]];
}

// Leaves the stable order of the request's keys in `indices`.
template <class K, class I>
void argsort(Context &context, const Request &r, I *indices, const char *name) {
  const KeyCodec<K> codec = make_codec<K>(r.order);
  context.begin(2 * r.n);
  if constexpr (sizeof(K) >= 4) {
    if (are_few<K, I>(r.n)) {
      const K *const keys = static_cast<const K *>(r.in);
      if (!argsort_few(codec, keys, r.n, indices)) argsort_few_records(codec, keys, r.n, indices);
      fetch_keys<K>(r, indices);
      return context.advance(2 * r.n);
    }
  }
  if (r.n > 1 && keys_are_ordered(context, codec, static_cast<const K *>(r.in), r.n, false)) {
    context.control.log("cpu %s: the keys are in this order", name);
    write_indices(context, indices, r.n);
    return fetch_keys<K>(r, indices);
  }
  if (r.n > 1 && indices_are_reversed(context, codec, static_cast<const K *>(r.in), r.n, indices)) {
    context.control.log("cpu %s: the keys are in the reverse order", name);
    return fetch_keys<K>(r, indices);
  }
  if constexpr (sizeof(I) == 8 && sizeof(K) < 8) {
    if (r.n <= UINT32_MAX) {  // shorter indices are sorted sooner
      const HostBuffer<uint32_t> narrow(context.memory, r.n);
      sort_indices<K>(context, codec, r, narrow.data(), name);
      return copy_indices(context, narrow.data(), r.n, indices);
    }
  }
  sort_indices<K>(context, codec, r, indices, name);
}

template <class K, class Index, class I>
void rank_by(Context &context, const Request &r, I *ranks) {
  const HostBuffer<Index> indices(context.memory, r.n);
  argsort<K, Index>(context, r, indices.data(), "rank");
  const uint64_t parts = min_u64(divide_up(r.n, kSplitChunkItems), kSplitChunksMax);
  context.for_each(parts, [&](uint64_t part, uint32_t) {
    const Range range = part_of(r.n, part, parts, kLineBytes);
    for (uint64_t i = range.begin; i < range.end; ++i) ranks[indices[i]] = static_cast<I>(i);
  });
  context.throw_if_stopped();
}

template <class K, class I>
void rank(Context &context, const Request &r, I *ranks) {
  return r.n <= UINT32_MAX ? rank_by<K, uint32_t>(context, r, ranks) : rank_by<K, uint64_t>(context, r, ranks);
}

template <class F>
void with_key_and_index(const Request &r, F &&f) {
  with_width(dtype_bytes(r.order.dtype),
             [&](auto key_tag) { with_index(r.index_t, [&](auto index_tag) { f(key_tag, index_tag); }); });
}

}  // namespace

bool sort_few_pairs(const FewPairs &p) noexcept {
  switch (dtype_bytes(p.order.dtype)) {
    case 1:
      return sort_few_pairs_of<uint8_t>(p);
    case 2:
      return sort_few_pairs_of<uint16_t>(p);
    case 4:
      return sort_few_pairs_of<uint32_t>(p);
    default:
      return sort_few_pairs_of<uint64_t>(p);
  }
}

bool index_few_keys(const KeyOrder &order, bool ranks, const void *keys, uint64_t n, uint32_t index_bytes,
                    void *out) noexcept {
  switch (dtype_bytes(order.dtype)) {
    case 1:
      return index_few_short_keys<uint8_t>(order, ranks, keys, n, index_bytes, out);
    case 2:
      return index_few_short_keys<uint16_t>(order, ranks, keys, n, index_bytes, out);
    case 4:
      return index_few_of<uint32_t>(order, ranks, keys, n, index_bytes, out);
    default:
      return index_few_of<uint64_t>(order, ranks, keys, n, index_bytes, out);
  }
}

void cpu_sort_pairs(Context &context, const Request &request) {
  if (request.n == 0) return;
  context.begin(2 * request.n);
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { sort_pairs<typename decltype(tag)::type>(context, request); });
}

void cpu_argsort(Context &context, const Request &request) {
  if (request.n == 0) return;
  with_key_and_index(request, [&](auto key_tag, auto index_tag) {
    using I = typename decltype(index_tag)::type;
    argsort<typename decltype(key_tag)::type, I>(context, request, static_cast<I *>(request.out), "argsort");
  });
}

void cpu_rank(Context &context, const Request &request) {
  if (request.n == 0) return;
  with_key_and_index(request, [&](auto key_tag, auto index_tag) {
    using I = typename decltype(index_tag)::type;
    rank<typename decltype(key_tag)::type, I>(context, request, static_cast<I *>(request.out));
  });
}

}  // namespace gsort_internal
