// SPDX-License-Identifier: MIT OR Apache-2.0
#include "order.h"

#include <string.h>

// NaNs ascend by their bits, after everything else; the codes that NaNs leave free below make room for them there.
static uint64_t order_nan_last(const type_info *type, uint32_t flags, uint64_t bits) {
  const unsigned width = type->size_bytes * 8;
  const uint64_t sign = UINT64_C(1) << (width - 1);
  const uint64_t infinity = ((UINT64_C(1) << (width - 1 - (unsigned)type->mantissa_bits)) - 1) << type->mantissa_bits;
  const uint64_t nans_a_sign = (UINT64_C(1) << type->mantissa_bits) - 1;
  const uint64_t magnitude = bits & (sign - 1);
  if (magnitude > infinity) {
    const uint64_t negatives = (bits & sign) != 0 ? nans_a_sign : 0;
    return 2 * infinity + 2 + negatives + (magnitude - infinity - 1);
  }
  const uint64_t ascending = (bits & sign) != 0 ? infinity - magnitude : infinity + 1 + magnitude;
  return (flags & GSORT_DESCENDING) != 0 ? 2 * infinity + 1 - ascending : ascending;
}

uint64_t order_key(const type_info *type, uint32_t flags, const void *element) {
  uint64_t bits = 0;
  memcpy(&bits, element, type->size_bytes);
  if (type->kind == kind_float && (flags & GSORT_NAN_LAST) != 0) return order_nan_last(type, flags, bits);
  const uint64_t all_ones = UINT64_MAX >> (64 - 8 * type->size_bytes), sign = all_ones / 2 + 1;
  uint64_t ascending = bits;
  if (type->kind == kind_signed) ascending = bits ^ sign;
  if (type->kind == kind_float) ascending = (bits & sign) != 0 ? bits ^ all_ones : bits | sign;
  return (flags & GSORT_DESCENDING) != 0 ? ascending ^ all_ones : ascending;
}

void order_element(const type_info *type, uint64_t key, void *element) {
  const uint64_t sign = (UINT64_MAX >> (64 - 8 * type->size_bytes)) / 2 + 1;
  uint64_t bits = key;
  if (type->kind == kind_signed) bits = key ^ sign;
  if (type->kind == kind_float) bits = (key & sign) != 0 ? key ^ sign : ~key;
  memcpy(element, &bits, type->size_bytes);
}
