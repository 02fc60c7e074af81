// SPDX-License-Identifier: MIT OR Apache-2.0
#include "text_sum.h"

#include "number_units.h"
#include "order.h"

// So that the sum of 2^64 numbers stays within 128 bits.
enum { digits_max = 18 };

static wide_integer sum_integers(const lines *l) {
  const bool is_signed = l->mode == keys_signed;
  const type_info *type = type_by_dtype(is_signed ? GSORT_I64 : GSORT_U64);
  wide_integer total = 0;
  for (uint64_t i = 0; i < l->count; i++) {
    uint64_t element;
    order_element(type, l->keys[i], &element);
    total += is_signed ? (wide_integer)(int64_t)element : (wide_integer)element;
  }
  return total;
}

// Decimal places of the number; -1 if it is not finite or has too many.
static int places_of(const number *n) {
  if (n->kind != number_finite) return -1;
  if (n->digits == NULL) return 0;
  int64_t digits = 0, used = 0;
  for (const char *at = n->digits; at < n->digits_end; at++) {
    if (*at == '.') continue;
    digits++;
    if (*at != '0') used = digits;
  }
  const int64_t places = used - n->exponent;
  if (n->exponent > digits_max || places > digits_max) return -1;
  return places > 0 ? (int)places : 0;
}

bool text_sum(const lines *l, char *text) {
  if (l->mode != keys_decimal) {
    number_print_units(sum_integers(l), 0, text);
    return true;
  }
  int scale = 0;
  number n;
  for (uint64_t i = 0; i < l->count; i++) {
    lines_number(l->rules, lines_at(l, i), &n);
    const int places = places_of(&n);
    if (places < 0) return false;
    if (places > scale) scale = places;
  }
  wide_integer total = 0;
  for (uint64_t i = 0; i < l->count; i++) {
    wide_integer units;
    lines_number(l->rules, lines_at(l, i), &n);
    if (n.exponent > digits_max - scale && n.digits != NULL) return false;
    if (!number_in_units(&n, scale, &units)) return false;
    total += units;
  }
  number_print_units(total, scale, text);
  return true;
}
