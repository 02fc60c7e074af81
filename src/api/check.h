// SPDX-License-Identifier: MIT OR Apache-2.0
// The checks of arguments. Each throws Error(INVALID_ARGUMENT) with the argument, its value and the remedy.
#ifndef GSORT_API_CHECK_H_
#define GSORT_API_CHECK_H_

#include <cstdint>

#include "engine.h"
#include "gsort.h"

namespace gsort_internal {

void check_dtype(gsort_dtype t);
void check_flags(uint32_t flags, uint32_t allowed);
// An index type that can hold max_index.
void check_index_dtype(gsort_dtype index_t, uint64_t max_index);
// a * b, or an error that says that `what` is too large.
uint64_t checked_multiply(uint64_t a, uint64_t b, const char *what);

// A caller's array, as far as a call uses it.
struct ArrayUse {
  const char *name;
  const void *array;
  uint64_t bytes;
};

// Checks an array of `count` elements of element_bytes: not NULL, aligned to `alignment`, a power of two, its size fits
// 64 bits, its end fits the address space, and the engine reaches it. With count = 0 anything goes, and nothing is
// looked at.
ArrayUse check_array(Engine &engine, const char *name, const void *array, uint64_t count, uint32_t element_bytes,
                     uint32_t alignment);

// `out` and `other` share no byte, or, if may_be_same, are the same whole array.
void check_overlap(const ArrayUse &out, const ArrayUse &other, bool may_be_same);

// offsets[0 .. segments] ascend and none is above n. Host memory.
void check_offsets(const uint64_t *offsets, uint64_t segments, uint64_t n);

}  // namespace gsort_internal

#endif  // GSORT_API_CHECK_H_
