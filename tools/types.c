// SPDX-License-Identifier: MIT OR Apache-2.0
#include "types.h"

#include <stdlib.h>
#include <string.h>

// bfloat16 has no name of its own in .npy: programs that use it store it as two opaque bytes.
static const type_info types[] = {
    {"u8", "|u1", GSORT_U8, 1, kind_unsigned, 0, 0},   {"i8", "|i1", GSORT_I8, 1, kind_signed, 0, 0},
    {"u16", "<u2", GSORT_U16, 2, kind_unsigned, 0, 0}, {"i16", "<i2", GSORT_I16, 2, kind_signed, 0, 0},
    {"u32", "<u4", GSORT_U32, 4, kind_unsigned, 0, 0}, {"i32", "<i4", GSORT_I32, 4, kind_signed, 0, 0},
    {"u64", "<u8", GSORT_U64, 8, kind_unsigned, 0, 0}, {"i64", "<i8", GSORT_I64, 8, kind_signed, 0, 0},
    {"f16", "<f2", GSORT_F16, 2, kind_float, 10, 5},   {"bf16", "|V2", GSORT_BF16, 2, kind_float, 7, 4},
    {"f32", "<f4", GSORT_F32, 4, kind_float, 23, 9},   {"f64", "<f8", GSORT_F64, 8, kind_float, 52, 17},
};

enum { type_count = sizeof(types) / sizeof(types[0]) };

static const type_info bool_type = {"bool", "|b1", GSORT_U8, 1, kind_unsigned, 0, 0};

const type_info *type_by_name(const char *name) {
  for (int i = 0; i < type_count; i++) {
    if (strcmp(types[i].name, name) == 0) return &types[i];
  }
  return NULL;
}

const type_info *type_by_dtype(gsort_dtype dtype) {
  for (int i = 0; i < type_count; i++) {
    if (types[i].dtype == dtype) return &types[i];
  }
  return NULL;
}

const type_info *type_by_npy_descr(const char *descr, bool *swapped) {
  *swapped = false;
  if (strcmp(descr, bool_type.npy_descr) == 0) return &bool_type;
  // The byte order mark means nothing for single bytes, and '=' is how some writers say "this machine's".
  for (int i = 0; i < type_count; i++) {
    if (descr[0] == '\0' || strcmp(types[i].npy_descr + 1, descr + 1) != 0) continue;
    const bool opaque = descr[1] == 'V';
    if (descr[0] == '|' ? types[i].size_bytes == 1 || opaque : strchr("<=>", descr[0]) != NULL) {
      *swapped = descr[0] == '>' && types[i].size_bytes > 1 && !opaque;
      return &types[i];
    }
  }
  return NULL;
}

bool type_is_bool(const type_info *type) { return type == &bool_type; }

array array_make(const type_info *type, uint64_t count, void *memory) {
  return (array){.type = type, .count = count, .data = memory, .memory = memory, .dimensions = 1, .extents = {count}};
}

void array_free(array *a) {
  free(a->memory);
  a->memory = NULL;
  a->data = NULL;
  a->count = 0;
}
