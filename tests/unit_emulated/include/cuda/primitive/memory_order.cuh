// SPDX-License-Identifier: MIT OR Apache-2.0
// Blocks run one after the other: what one has written the next one reads.
#ifndef GSORT_CUDA_PRIMITIVE_MEMORY_ORDER_CUH_
#define GSORT_CUDA_PRIMITIVE_MEMORY_ORDER_CUH_

namespace gsort_internal {

template <class Word>
Word load_relaxed(const Word *word) {
  return *word;
}
template <class Word>
void store_relaxed(Word *word, Word value) {
  *word = value;
}
template <class Word>
Word fetch_add_relaxed(Word *word, Word value) {
  const Word before = *word;
  *word += value;
  return before;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_MEMORY_ORDER_CUH_
