// SPDX-License-Identifier: MIT OR Apache-2.0
// Parts of arrays, and the arithmetic of cutting them.
#ifndef GSORT_CPU_PRIMITIVE_RANGE_H_
#define GSORT_CPU_PRIMITIVE_RANGE_H_

#include <cstdint>

namespace gsort_internal {

constexpr uint32_t kLineBytes = 64;  // of a cache; parts of arrays are cut at as many elements

// The half-open range of part `part` of `parts` nearly equal parts of n, cut at multiples of `grain`.
struct Range {
  uint64_t begin, end;
  uint64_t size() const { return end - begin; }
};
inline Range part_of(uint64_t n, uint64_t part, uint64_t parts, uint64_t grain) {
  const uint64_t grains = n / grain + (n % grain != 0), base = grains / parts, longer = grains % parts;
  const auto start = [&](uint64_t p) {
    const uint64_t grain_index = p * base + (p < longer ? p : longer);
    return grain_index >= n / grain + 1 ? n : (grain_index * grain < n ? grain_index * grain : n);
  };
  return {start(part), start(part + 1)};
}

inline uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
inline uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
inline uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

// Calls f(begin, count) for all of n items, `piece` of them at a time; the last piece may have fewer.
template <class F>
void for_each_piece(uint64_t n, uint64_t piece, F &&f) {
  for (uint64_t begin = 0; begin < n; begin += piece) f(begin, min_u64(piece, n - begin));
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_PRIMITIVE_RANGE_H_
