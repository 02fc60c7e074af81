// SPDX-License-Identifier: MIT OR Apache-2.0
// Binary searches.
#ifndef GSORT_CUDA_PRIMITIVE_SEARCH_CUH_
#define GSORT_CUDA_PRIMITIVE_SEARCH_CUH_

#include <cstdint>

namespace gsort_internal {

// The first of `count` numbers for which holds(number) is true, as it is for all behind; `count` if it is for none.
template <class Number, class Holds>
__device__ __forceinline__ Number first_that(Number count, const Holds &holds) {
  Number low = 0, high = count;
  while (low < high) {
    const Number middle = (low + high) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// The last of `count` ascending values, value_of(number) each, that is at most `most`; 0 if none is.
template <class Number, class ValueOf>
__device__ __forceinline__ Number last_not_above(Number count, Number most, const ValueOf &value_of) {
  Number low = 0, high = count;
  while (high - low > 1) {
    const Number middle = (low + high) / 2;
    (value_of(middle) <= most ? low : high) = middle;
  }
  return low;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_SEARCH_CUH_
