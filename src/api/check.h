// SPDX-License-Identifier: MIT OR Apache-2.0
// The checks of arguments. Each throws Error(INVALID_ARGUMENT) with the argument, its value and the remedy.
#ifndef GSORT_API_CHECK_H_
#define GSORT_API_CHECK_H_

#include <cstdint>

#include "core/dtype.h"
#include "engine.h"
#include "gsort.h"

namespace gsort_internal {

[[noreturn]] void refuse_dtype(gsort_dtype t);
[[noreturn]] void refuse_flags(uint32_t refused, uint32_t allowed);
// Tests here, sentences there: what a call of a few keys takes is mostly its checks.
inline void check_dtype(gsort_dtype t) {
  if (!is_dtype(t)) refuse_dtype(t);
}
inline void check_flags(uint32_t flags, uint32_t allowed) {
  if ((flags & ~allowed) != 0) refuse_flags(flags & ~allowed, allowed);
}
// An index type that can hold max_index.
void check_index_dtype(gsort_dtype index_t, uint64_t max_index);
// a * b, or an error that says that `what` is too large.
[[noreturn]] void refuse_product(uint64_t a, uint64_t b, const char *what);
inline uint64_t checked_multiply(uint64_t a, uint64_t b, const char *what) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product)) refuse_product(a, b, what);
  return product;
}

[[noreturn]] void refuse_null(const char *name, uint64_t count);
[[noreturn]] void refuse_alignment(const char *name, const void *array, uint32_t alignment);
[[noreturn]] void refuse_end(const char *name, const void *array, uint64_t bytes);

// A caller's array, as far as a call uses it.
struct ArrayUse {
  const char *name;
  const void *array;
  uint64_t bytes;
};

// Checks an array of `count` elements of element_bytes: not NULL, aligned to `alignment`, a power of two, its size fits
// 64 bits, its end fits the address space, and the engine reaches it. With count = 0 anything goes, and nothing is
// looked at.
inline ArrayUse check_array(Engine &engine, const char *name, const void *array, uint64_t count, uint32_t element_bytes,
                            uint32_t alignment) {
  if (count == 0) return {name, array, 0};
  if (array == nullptr) refuse_null(name, count);
  const uint64_t bytes = checked_multiply(count, element_bytes, name);
  const uintptr_t address = reinterpret_cast<uintptr_t>(array);
  if ((address & (alignment - 1)) != 0) refuse_alignment(name, array, alignment);
  if (address + (bytes - 1) < address) refuse_end(name, array, bytes);
  engine.check_array(name, array, bytes);
  return {name, array, bytes};
}

// `out` and `other` share no byte, or, if may_be_same, are the same whole array.
void check_overlap(const ArrayUse &out, const ArrayUse &other, bool may_be_same);

// offsets[0 .. segments] ascend and none is above n. Host memory.
void check_offsets(const uint64_t *offsets, uint64_t segments, uint64_t n);

}  // namespace gsort_internal

#endif  // GSORT_API_CHECK_H_
