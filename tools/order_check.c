// SPDX-License-Identifier: MIT OR Apache-2.0
#include "order_check.h"

#include <limits.h>

// Elements become signed integers of their width, which ascend as the elements do in the order wanted: of those vectors
// have comparisons everywhere.
typedef struct key_rule {
  uint64_t flip;      // bits that change; of floats, all if the order is descending
  uint64_t infinity;  // of floats, its bits
} key_rule;

typedef uint64_t find_wrong(const key_rule *rule, bool unique, const void *before, const void *after, uint64_t count);

// Compilers make vectors of a loop over as many elements as this, whatever they think of longer ones.
enum { block_elements = 256 };

#define SIGN(U) ((U)((U)1 << (sizeof(U) * CHAR_BIT - 1)))
// All ones if the sign is set, otherwise 0.
#define NEGATIVE(U, bits) ((U)((U)0 - (U)((bits) >> (sizeof(U) * CHAR_BIT - 1))))

#define INTEGER_KEY(U, bits) ((U)((bits) ^ flip))
// The magnitudes of negative floats descend.
#define FLOAT_KEY(U, bits) ((U)((bits) ^ (U)(NEGATIVE(U, bits) >> 1) ^ flip))
// As order_key() has it, less half of the range.
#define MAGNITUDE(U, bits) ((U)((bits) & (U)(SIGN(U) - 1)))
#define NAN_MASK(U, bits) ((U)((U)0 - (U)(MAGNITUDE(U, bits) > infinity)))
#define NAN_LAST_KEY(U, bits)                                                              \
  ((U)((MAGNITUDE(U, bits) ^ (U)((U)(NEGATIVE(U, bits) ^ flip) & (U)~NAN_MASK(U, bits))) + \
       (U)(NEGATIVE(U, bits) & NAN_MASK(U, bits) & (U)(SIGN(U) - 1 - infinity)) + (U)(infinity + 1) + SIGN(U)))

// Whole blocks that are right are passed over; the first wrong element is looked for one by one.
#define PASS_OVER(S, U, KEY, wrong)                                                                            \
  do {                                                                                                         \
    for (uint64_t more = 1; more != 0 && count - i >= block_elements; i += more) {                             \
      U any = 0;                                                                                               \
      for (unsigned k = 0; k < block_elements; k++) any |= (U)((S)KEY(U, a[i + k]) wrong(S) KEY(U, b[i + k])); \
      more = any == 0 ? block_elements : 0;                                                                    \
    }                                                                                                          \
    while (i < count && !((S)KEY(U, a[i]) wrong(S) KEY(U, b[i]))) i++;                                         \
  } while (0)

#define FIND_WRONG(name, attribute, S, U, KEY)                                                             \
  attribute static uint64_t name(const key_rule *rule, bool unique, const void *before, const void *after, \
                                 uint64_t count) {                                                         \
    const U *a = before, *b = after, flip = (U)rule->flip, infinity = (U)rule->infinity;                   \
    uint64_t i = 0;                                                                                        \
    (void)infinity;                                                                                        \
    if (unique) {                                                                                          \
      PASS_OVER(S, U, KEY, >=);                                                                            \
    } else {                                                                                               \
      PASS_OVER(S, U, KEY, >);                                                                             \
    }                                                                                                      \
    return i;                                                                                              \
  }

// For each size from 1 to 8 bytes: integers, floats, floats with NaNs last. There are no floats of one byte.
typedef enum key_kind { key_integer, key_float, key_nan_last, key_kind_count } key_kind;
typedef find_wrong *finders[key_kind_count][4];

#define ALL_FINDERS(suffix, attribute)                                                                          \
  FIND_WRONG(integer1##suffix, attribute, int8_t, uint8_t, INTEGER_KEY)                                         \
  FIND_WRONG(integer2##suffix, attribute, int16_t, uint16_t, INTEGER_KEY)                                       \
  FIND_WRONG(integer4##suffix, attribute, int32_t, uint32_t, INTEGER_KEY)                                       \
  FIND_WRONG(integer8##suffix, attribute, int64_t, uint64_t, INTEGER_KEY)                                       \
  FIND_WRONG(float2##suffix, attribute, int16_t, uint16_t, FLOAT_KEY)                                           \
  FIND_WRONG(float4##suffix, attribute, int32_t, uint32_t, FLOAT_KEY)                                           \
  FIND_WRONG(float8##suffix, attribute, int64_t, uint64_t, FLOAT_KEY)                                           \
  FIND_WRONG(nan_last2##suffix, attribute, int16_t, uint16_t, NAN_LAST_KEY)                                     \
  FIND_WRONG(nan_last4##suffix, attribute, int32_t, uint32_t, NAN_LAST_KEY)                                     \
  FIND_WRONG(nan_last8##suffix, attribute, int64_t, uint64_t, NAN_LAST_KEY)                                     \
  static const finders all##suffix = {{integer1##suffix, integer2##suffix, integer4##suffix, integer8##suffix}, \
                                      {NULL, float2##suffix, float4##suffix, float8##suffix},                   \
                                      {NULL, nan_last2##suffix, nan_last4##suffix, nan_last8##suffix}};

ALL_FINDERS(, )

#if defined(__x86_64__) && defined(__GNUC__)
// What every processor of this kind has compares no 8-byte integers in vectors.
ALL_FINDERS(_avx2, __attribute__((target("avx2"))))

static const finders *finders_here(void) { return __builtin_cpu_supports("avx2") ? &all_avx2 : &all; }
#else
static const finders *finders_here(void) { return &all; }
#endif

static unsigned size_log2(const type_info *type) {
  unsigned log2 = 0;
  while (1u << log2 < type->size_bytes) log2++;
  return log2;
}

uint64_t order_first_wrong(const type_info *type, uint32_t flags, bool unique, const void *before, const void *after,
                           uint64_t count) {
  const unsigned bits = type->size_bytes * 8;
  const bool is_float = type->kind == kind_float;
  key_rule rule = {.flip = (flags & GSORT_DESCENDING) != 0 ? UINT64_MAX : 0};
  if (type->kind == kind_unsigned) rule.flip ^= UINT64_C(1) << (bits - 1);
  if (is_float) {
    rule.infinity = ((UINT64_C(1) << (bits - 1 - (unsigned)type->mantissa_bits)) - 1) << type->mantissa_bits;
  }
  const key_kind kind = !is_float ? key_integer : (flags & GSORT_NAN_LAST) != 0 ? key_nan_last : key_float;
  return (*finders_here())[kind][size_log2(type)](&rule, unique, before, after, count);
}
