// SPDX-License-Identifier: MIT OR Apache-2.0
// One thread's part of splitting records by a digit: load, count, and scatter through buffers of a cache line each.
#ifndef GSORT_CPU_PRIMITIVE_SCATTER_H_
#define GSORT_CPU_PRIMITIVE_SCATTER_H_

#include <cstdint>
#include <cstring>
#include <new>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "cpu/primitive/block_sort.h"
#include "cpu/primitive/copy.h"
#include "cpu/primitive/range.h"

namespace gsort_internal {

// The bits of an ordered key from `shift` on, as many as `mask` has.
struct Digit {
  uint32_t shift;
  uint32_t mask;
  template <class K>
  uint32_t of(K key) const {
    return static_cast<uint32_t>(key >> shift) & mask;
  }
};

// The same of keys that crowd: values of a finer digit, 2^kMappedDigitBits at most, stand for runs of neighbours.
constexpr uint32_t kMappedDigitBits = 11;
struct MappedDigit {
  uint32_t shift;
  uint32_t mask;  // one less than there are runs
  uint32_t fine_mask;
  const uint8_t *runs;
  template <class K>
  uint32_t of(K key) const {
    return runs[static_cast<uint32_t>(key >> shift) & fine_mask];
  }
};

// Past this a split's output leaves the caches before it is read again, so lines go straight to memory.
constexpr uint64_t kStreamBytes = 8 * 1024 * 1024;

// Calls f(encode) with the cheapest function that turns raw keys into ordered ones.
template <class K, class F>
void with_encoder(const KeyCodec<K> &codec, F &&f) {
  if (codec.is_identity()) return f([](K bits) { return bits; });
  if (codec.nan_count != 0) return f([codec](K bits) { return codec.encode(bits); });
  if (codec.mask_positive == codec.mask_negative)
    return f([mask = codec.mask_positive](K bits) { return static_cast<K>(bits ^ mask); });
  f([positive = codec.mask_positive, both = static_cast<K>(codec.mask_positive ^ codec.mask_negative)](K bits) {
    const K sign =
        static_cast<K>(K{0} - static_cast<K>(bits >> (sizeof(K) * 8 - 1)));  // all ones if the top bit is set
    return static_cast<K>(bits ^ positive ^ (both & sign));
  });
}

template <class K>
void encode_keys(const KeyCodec<K> &codec, const K *from, K *to, uint64_t count) {
  if (codec.is_identity()) {
    if (from != to) copy_items(to, from, count);
    return;
  }
  with_encoder(codec, [&](auto encode) {
    for (uint64_t i = 0; i < count; ++i) to[i] = encode(from[i]);
  });
}

template <class K>
void decode_keys(const KeyCodec<K> &codec, K *keys, uint64_t count) {
  if (codec.is_identity()) return;
  if (codec.nan_count == 0 && codec.mask_positive == codec.mask_negative) {
    for (uint64_t i = 0; i < count; ++i) keys[i] = static_cast<K>(keys[i] ^ codec.mask_positive);
  } else if (codec.nan_count == 0) {
    // The encoded top bit is the raw one xor the mask's, which is the same for both masks or tells them apart.
    const KeyCodec<K> c = codec;
    for (uint64_t i = 0; i < count; ++i) {
      const K positive = static_cast<K>(keys[i] ^ c.mask_positive),
              negative = static_cast<K>(keys[i] ^ c.mask_negative);
      const K pick = static_cast<K>(K{0} - static_cast<K>(positive >> (sizeof(K) * 8 - 1)));
      keys[i] = static_cast<K>((negative & pick) | (positive & static_cast<K>(~pick)));
    }
  } else {
    for (uint64_t i = 0; i < count; ++i) keys[i] = codec.decode(keys[i]);
  }
}

// Puts ordered keys and values (indices from `first_index` if there are none) into `to`.
template <class K, class V>
void load_records(const KeyCodec<K> &codec, const K *keys, const V *values, uint64_t first_index, uint64_t count,
                  Records<K, V> to) {
  encode_keys(codec, keys, to.keys, count);
  if constexpr (kHasValue<V>) {
    if (values != nullptr) {
      if (values != to.values) copy_items(to.values, values, count);
    } else if constexpr (std::is_integral<V>::value) {
      for (uint64_t i = 0; i < count; ++i) to.values[i] = static_cast<V>(first_index + i);
    }
  }
}

template <class K>
K differing_bits_of(const KeyCodec<K> &codec, const K *keys, Range range, K first) {
  K differing = 0;
  with_encoder(codec, [&](auto encode) {
    K bits = 0;
    for (uint64_t i = range.begin; i < range.end; ++i) bits = static_cast<K>(bits | (encode(keys[i]) ^ first));
    differing = bits;
  });
  return differing;
}

// counts[v] becomes the number of keys of the range whose digit is v.
template <class K, class D>
void count_digits(const KeyCodec<K> &codec, const K *keys, Range range, const D &digit, uint64_t *counts) {
  // Two tables, so that a run of one digit does not wait for its own counter.
  constexpr uint32_t kTableValues = 256;
  uint32_t tables[2][kTableValues];
  const uint32_t values = digit.mask + 1;
  for (uint32_t v = 0; v < values; ++v) counts[v] = 0;
  for (uint64_t begin = range.begin; begin < range.end;) {
    const uint64_t end = min_u64(range.end, begin + (uint64_t{1} << 31));  // a counter holds that many
    for (auto &table : tables) std::memset(table, 0, values * sizeof table[0]);
    with_encoder(codec, [&](auto encode) {
      uint64_t i = begin;
      for (; i + 2 <= end; i += 2) {
        ++tables[0][digit.of(encode(keys[i]))];
        ++tables[1][digit.of(encode(keys[i + 1]))];
      }
      if (i < end) ++tables[0][digit.of(encode(keys[i]))];
    });
    for (uint32_t v = 0; v < values; ++v) counts[v] += tables[0][v] + uint64_t{tables[1][v]};
    begin = end;
  }
}

// Buffers of one line for each run of an output array: stores of single elements to hundreds of runs become stores of
// whole lines.
template <class T, uint32_t Values>
class LineBuffers {
 public:
  static constexpr uint32_t kItems = kLineBytes / sizeof(T);

  LineBuffers(T *out, bool stream)
      : out_(out),
        phase_(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(out) / sizeof(T)) % kItems),
        stream_(stream && reinterpret_cast<uintptr_t>(out) % sizeof(T) == 0) {}

  // Element `to` of the output, in run `v`, which this thread began to write at `start`.
  void put(uint32_t v, uint64_t to, T value, const uint64_t *starts) {
    const uint32_t slot = static_cast<uint32_t>(to + phase_) % kItems;
    lines_[v][slot] = value;
    if (slot == kItems - 1) flush(v, to + 1, starts[v]);
  }

  // Writes what is left of run `v`, which ends before `end`.
  void finish(uint32_t v, uint64_t end, uint64_t start) {
    const uint32_t buffered = static_cast<uint32_t>(end + phase_) % kItems;
    if (buffered != 0 && end > start) write_part(v, end, buffered, start);
  }

 private:
  void flush(uint32_t v, uint64_t end, uint64_t start) {
    if (end - start < kItems) return write_part(v, end, kItems, start);
    T *const line = out_ + (end - kItems);
#if defined(__SSE2__)
    if (stream_) {
      const __m128i *const from = reinterpret_cast<const __m128i *>(lines_[v]);
      for (uint32_t i = 0; i < kLineBytes / 16; ++i)
        _mm_stream_si128(reinterpret_cast<__m128i *>(line) + i, _mm_load_si128(from + i));
      return;
    }
#endif
    std::memcpy(line, lines_[v], kLineBytes);
  }

  // The last `buffered` slots before `end` of the line, less those of before `start`.
  void write_part(uint32_t v, uint64_t end, uint32_t buffered, uint64_t start) {
    const uint32_t count = static_cast<uint32_t>(min_u64(buffered, end - start));
    std::memcpy(out_ + (end - count), &lines_[v][buffered - count], count * sizeof(T));
  }

  alignas(kLineBytes) T lines_[Values][kItems];
  T *out_;
  uint32_t phase_;
  bool stream_;
};

struct NoBuffers {
  NoBuffers(void *, bool) {}
};

// What a thread's part of a split reads and writes; starts[v] is where its part of run v begins.
template <class K, class V, class D>
struct ScatterJob {
  RecordSource<K, V> source;
  Range range;
  D digit;
  const uint64_t *starts;
  Records<K, V> to;
  bool stream;
  void *lines;  // kLinesBytes of the thread's own, aligned to a line, if `stream`
};

// Without buffers: few enough runs for the caches to gather the stores themselves.
template <uint32_t Values, class K, class V, class D, class Encode>
void scatter_directly(const ScatterJob<K, V, D> &job, Encode encode) {
  // Everything the loop uses is local, so that no store through `to` can seem to change it.
  uint64_t next[Values];
  std::memcpy(next, job.starts, (job.digit.mask + 1) * sizeof next[0]);
  const ScatterJob<K, V, D> j = job;
  for (uint64_t i = j.range.begin; i < j.range.end; ++i) {
    const K key = encode(j.source.keys[i]);
    const uint64_t at = next[j.digit.of(key)]++;
    j.to.keys[at] = key;
    if constexpr (kHasValue<V>) j.to.values[at] = j.source.value(i);
  }
}

// The buffers, which are too much for the stack of a small thread.
template <uint32_t Values, class K, class V>
struct Lines {
  explicit Lines(const Records<K, V> &to, bool stream) : keys(to.keys, stream), values(to.values, stream) {}
  LineBuffers<K, Values> keys;
  std::conditional_t<kHasValue<V>, LineBuffers<V, Values>, NoBuffers> values;
  uint64_t next[Values], starts[Values];
};
template <uint32_t Values, class K, class V>
constexpr uint64_t kLinesBytes = sizeof(Lines<Values, K, V>);

template <uint32_t Values, class K, class V, class D, class Encode>
void scatter_through_lines(const ScatterJob<K, V, D> &job, Encode encode) {
  const ScatterJob<K, V, D> j = job;
  auto &lines = *::new (j.lines) Lines<Values, K, V>(j.to, j.stream);
  uint64_t *const next = lines.next, *const starts = lines.starts;
  std::memcpy(next, j.starts, (j.digit.mask + 1) * sizeof next[0]);
  std::memcpy(starts, j.starts, (j.digit.mask + 1) * sizeof next[0]);
  auto &key_lines = lines.keys;
  auto &value_lines = lines.values;
  for (uint64_t i = j.range.begin; i < j.range.end; ++i) {
    const K key = encode(j.source.keys[i]);
    const uint32_t v = j.digit.of(key);
    const uint64_t at = next[v]++;
    key_lines.put(v, at, key, starts);
    if constexpr (kHasValue<V>) value_lines.put(v, at, j.source.value(i), starts);
  }
  for (uint32_t v = 0; v <= j.digit.mask; ++v) {
    key_lines.finish(v, next[v], starts[v]);
    if constexpr (kHasValue<V>) value_lines.finish(v, next[v], starts[v]);
  }
#if defined(__SSE2__)
  if (j.stream) _mm_sfence();  // streamed lines are seen by the thread that sorts them next
#endif
}

// Moves the range's records to their runs in `to`.
template <uint32_t Values, class K, class V, class D>
void scatter_records(const KeyCodec<K> &codec, const ScatterJob<K, V, D> &job) {
  with_encoder(codec, [&job](auto encode) {
    if (job.stream) {
      scatter_through_lines<Values>(job, encode);
    } else {
      scatter_directly<Values>(job, encode);
    }
  });
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_PRIMITIVE_SCATTER_H_
