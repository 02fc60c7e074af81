// SPDX-License-Identifier: MIT OR Apache-2.0
// The element types by name, size and kind, and the array that the commands work on.
#ifndef GSORT_TOOLS_TYPES_H_
#define GSORT_TOOLS_TYPES_H_

#include <stdbool.h>
#include <stdint.h>

#include "gsort.h"

typedef enum type_kind { kind_unsigned, kind_signed, kind_float } type_kind;

typedef struct type_info {
  const char *name;       // as --type takes it
  const char *npy_descr;  // as a .npy header spells it
  gsort_dtype dtype;
  uint32_t size_bytes;
  type_kind kind;
  int mantissa_bits;   // stored bits, 0 for integers
  int decimal_digits;  // significant digits after which reading back gives the same bits, 0 for integers
} type_info;

// NULL if there is no such type.
const type_info *type_by_name(const char *name);
const type_info *type_by_dtype(gsort_dtype dtype);

// `*swapped` tells that the bytes of each element come in the other order. bool is a type of .npy files alone: its
// elements are sorted as the bytes that they are.
const type_info *type_by_npy_descr(const char *descr, bool *swapped);
bool type_is_bool(const type_info *type);

// All names with spaces between, for sentences.
#define TYPE_NAMES "u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64"

enum { dimensions_max = 32 };

typedef struct array {
  const type_info *type;
  uint64_t count;  // of all elements
  void *data;      // aligned to the element size
  void *memory;    // what free() takes; `data` lies in it
  uint32_t dimensions;
  uint64_t extents[dimensions_max];
  bool fortran_order;  // the first extent's neighbours lie together, not the last one's
} array;

// An array of one dimension that owns `memory`.
array array_make(const type_info *type, uint64_t count, void *memory);
void array_free(array *a);

static inline void *array_at(const array *a, uint64_t i) { return (char *)a->data + i * a->type->size_bytes; }

#endif  // GSORT_TOOLS_TYPES_H_
