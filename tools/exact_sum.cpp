// SPDX-License-Identifier: MIT OR Apache-2.0
// The one file of the tool that is C++: it lends the library's exact sums, which its interface gives for whole arrays
// alone. It needs nothing of C++'s library.
#include "exact_sum.h"

#include "core/superaccumulator.h"

using gsort_internal::Superaccumulator;

static_assert(sizeof(Superaccumulator) <= sizeof(exact_sum) && alignof(Superaccumulator) <= alignof(exact_sum),
              "a sum has room for the library's");

static Superaccumulator &of(exact_sum *s) { return *static_cast<Superaccumulator *>(static_cast<void *>(s)); }

void exact_sum_clear(exact_sum *s) { of(s).clear(); }

void exact_sum_add(exact_sum *s, const double *values, uint64_t count) {
  Superaccumulator &sum = of(s);
  for (uint64_t i = 0; i < count; ++i) sum.add(values[i]);
}

void exact_sum_add_integer(exact_sum *s, wide_integer value, uint64_t count) {
  of(s).add_int128(static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value));
  of(s).note(count > 0 ? gsort_internal::kSumNotMinus0 : 0, count);
}

void exact_sum_add_all(exact_sum *s, const exact_sum *other) {
  of(s).add(*static_cast<const Superaccumulator *>(static_cast<const void *>(other)));
}

double exact_sum_rounded(exact_sum *s) { return of(s).sum(); }

double exact_sum_mean(exact_sum *s) { return of(s).mean(of(s).count()); }
