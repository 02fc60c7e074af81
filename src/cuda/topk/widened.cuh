// SPDX-License-Identifier: MIT OR Apache-2.0
// One kernel for keys of 1, 2 and 4 bytes: they are widened to 4 bytes, by zeros below, so that their order stays.
#ifndef GSORT_CUDA_TOPK_WIDENED_CUH_
#define GSORT_CUDA_TOPK_WIDENED_CUH_

#include <type_traits>

#include "cuda/topk/common.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {

template <class U>
using WidenedKey = typename std::conditional<sizeof(U) == 8, uint64_t, uint32_t>::type;

template <class Key>
struct WidenedProblem {
  const unsigned char *in;
  uint64_t rows, columns, row_stride, k;
  uint32_t key_bytes;
  KeyCodec<Key> codec;  // of widened keys
  unsigned char *values;
  void *indices;
  uint32_t index_bytes;
  Ragged ragged;
  bool in_parts;  // see Problem
  uint32_t parts_of_row;
};

template <class U>
WidenedProblem<WidenedKey<U>> widened_problem(const Problem<U> &p) {
  using Key = WidenedKey<U>;
  const auto wide = [](U bits) { return static_cast<Key>(static_cast<Key>(bits) << 8 * (sizeof(Key) - sizeof(U))); };
  return {reinterpret_cast<const unsigned char *>(p.in),
          p.rows,
          p.columns,
          p.row_stride,
          p.k,
          sizeof(U),
          {wide(p.codec.mask_positive), wide(p.codec.mask_negative), wide(p.codec.nan_count)},
          reinterpret_cast<unsigned char *>(p.output.values),
          p.output.indices,
          p.output.index_bytes,
          p.ragged,
          p.in_parts,
          p.parts_of_row};
}

// It is passed by value: so it travels in registers.
template <class Key>
struct WidenedRow {
  const unsigned char *data;
  uint32_t items, key_bytes;
  KeyCodec<Key> codec;
};

// The row of so many elements from number `begin` of all on.
template <class Key>
__device__ __forceinline__ WidenedRow<Key> widened_part(const WidenedProblem<Key> &problem, uint64_t begin,
                                                        uint32_t items) {
  return {problem.in + begin * problem.key_bytes, items, problem.key_bytes, problem.codec};
}

template <class Key>
__device__ __forceinline__ WidenedRow<Key> widened_row(const WidenedProblem<Key> &problem, uint64_t r) {
  const bool ragged = problem.ragged.offsets != nullptr;
  const uint64_t begin = ragged ? problem.ragged.offsets[r] : r * problem.row_stride;
  const uint64_t items = ragged ? problem.ragged.offsets[r + 1] - begin : problem.columns;
  return widened_part(problem, begin, static_cast<uint32_t>(items));
}

// Part r of rows of one length, or the part of rows with offsets whose entry r is.
template <class Key>
__device__ __forceinline__ WidenedRow<Key> widened_part_of_row(const WidenedProblem<Key> &problem, uint64_t r) {
  if (problem.ragged.offsets != nullptr) return widened_part(problem, part_entry_begin(r), part_entry_items(r));
  const uint32_t row = static_cast<uint32_t>(r) / problem.parts_of_row,
                 part = static_cast<uint32_t>(r) % problem.parts_of_row;
  const uint64_t begin = part_begin(problem.columns, problem.parts_of_row, part),
                 end = part_begin(problem.columns, problem.parts_of_row, part + 1);
  return widened_part(problem, row * problem.row_stride + begin, static_cast<uint32_t>(end - begin));
}

// How many zeros are below a key of U.
template <class Key, class U>
constexpr uint32_t kWidenedZeros = 8 * (sizeof(Key) - sizeof(U));

// Elements of a row as they are, and widened. Loads of many elements come first: the compiler waits for one under a
// condition as soon as it is used.
template <class Key, class U>
struct WidenedLoader {
  const U *data;

  __device__ __forceinline__ Key load(uint32_t i) const { return __ldg(data + i); }
  __device__ __forceinline__ static Key widen(Key bits) { return bits << kWidenedZeros<Key, U>; }
  __device__ __forceinline__ static Key narrow(Key key) { return key >> kWidenedZeros<Key, U>; }
  // There are no floats of 8 bits.
  __device__ __forceinline__ static Key encode(const KeyCodec<Key> &codec, Key bits) {
    if constexpr (KeyCodec<U>::kMayBeFloat) return codec.encode(widen(bits));
    return widen(bits) ^ codec.mask_positive;
  }
};

// Calls f(loader). Once for each width, so that nothing is asked for each element.
template <class Key, class F>
__device__ __forceinline__ void with_loader(const WidenedRow<Key> &row, F &&f) {
  if (sizeof(Key) == 8 || row.key_bytes == 4)
    f(WidenedLoader<Key, Key>{reinterpret_cast<const Key *>(row.data)});
  else if (row.key_bytes == 2)
    f(WidenedLoader<Key, uint16_t>{reinterpret_cast<const uint16_t *>(row.data)});
  else
    f(WidenedLoader<Key, uint8_t>{row.data});
}

template <class Key>
__device__ __forceinline__ void widened_store(unsigned char *values, uint32_t key_bytes, uint64_t at, Key value) {
  if (sizeof(Key) == 8 || key_bytes == 4)
    reinterpret_cast<Key *>(values)[at] = value;
  else if (key_bytes == 2)
    reinterpret_cast<uint16_t *>(values)[at] = static_cast<uint16_t>(value >> 16);
  else
    values[at] = static_cast<unsigned char>(value >> 24);
}

template <class Key>
__device__ __forceinline__ void widened_write(const WidenedProblem<Key> &problem, uint64_t at, Key value,
                                              uint64_t index) {
  if (problem.values != nullptr) widened_store(problem.values, problem.key_bytes, at, value);
  write_index(problem.indices, problem.index_bytes, at, index);
}

// Fills the places [from, to) behind `begin`, those of a row with fewer elements than places: thread `first` of
// `threads`.
template <class Key>
__device__ __forceinline__ void widened_missing(const WidenedProblem<Key> &problem, uint64_t begin, uint32_t from,
                                                uint32_t to, uint32_t first, uint32_t threads) {
  for (uint32_t place = from + first; place < to; place += threads)
    widened_write(problem, begin + place, Key{0}, ~uint64_t{0});
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_WIDENED_CUH_
