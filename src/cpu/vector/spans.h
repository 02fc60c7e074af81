// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels that add floats of any exponents to sums of mantissas, one for each span: a sign and 32 exponents.
#ifndef GSORT_CPU_VECTOR_SPANS_H_
#define GSORT_CPU_VECTOR_SPANS_H_

#include <cstddef>
#include <cstdint>

#include "cpu/vector/fold.h"

namespace gsort_internal {

// An element widened to a double goes to the span of its sign and its exponent / 32, where its mantissa of 53 bits is
// shifted by exponent % 32; a subnormal number has the exponent 1, and no leading bit. Of what is shifted, 84 bits at
// most, the first word of a span's sum takes the lower 42 and the second the rest: there is room for 2^20 elements in
// either, whatever they are. Neighbours go to copies of the sums by turns, so that elements of one span wait less for
// each other.
constexpr uint32_t kSpanBits = 5, kSpanLowBits = 42;
constexpr uint32_t kSpans = 64;  // of a sign; those of the other sign follow
constexpr uint32_t kSpanCopies = 4;
// A copy does not begin a multiple of 4 KiB behind another one: loads would seem to depend on stores to it.
constexpr uint32_t kSpanCopyWords = 2 * 2 * kSpans + 8;
constexpr uint32_t kSpanWords = kSpanCopies * kSpanCopyWords;
constexpr uint32_t kSpanItemsMax = 1 << 20;
constexpr uint32_t kSpecialExponent = 0x7ff;  // of infinities and NaNs

// Adds any number of elements of a type, the array of which is passed by its address, to sums aligned to 16 bytes. From
// one copy to the next are `copy_words`: kSpanCopyWords, or 0. Returns the greatest exponent: infinities and NaNs are
// added as if they were numbers.
using AddToSpans = uint32_t (*)(const void *x, uint32_t items, uint64_t *sums, size_t copy_words);
// NULL if there are no vectors.
AddToSpans add_to_spans_kernel(FoldType type);
// Whether the kernels take four elements at a time, and not two at most.
bool spans_are_wide();

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_SPANS_H_
