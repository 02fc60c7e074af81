// SPDX-License-Identifier: MIT OR Apache-2.0
// The sample sort of keys alone, as sort::launch() uses it: of keys that do not spread evenly.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_SAMPLE_SORT_H_
#define GSORT_CUDA_SORT_SAMPLE_SORT_SAMPLE_SORT_H_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/engine/launch.h"
#include "cuda/sort/msd/plan.h"
#include "cuda/sort/sample_sort/plan.h"

namespace gsort_internal::sort::sample_sort {

template <class U>
struct Sort {
  const U *keys_in;
  U *keys_out;  // may be keys_in
  U *scratch;   // n keys
  uint64_t n;
  KeyCodec<U> codec;
  void *tables;  // tables_bytes()
  Plan plan;
  // NULL, or a device word that the kernel before has written: not 0 = the keys are sorted already.
  const uint32_t *sorted;
  // Keys that spread evenly are sorted by this sort, of one pass, whose tables are not `tables`; no cells: they are not
  // looked for here.
  msd::Plan even;
  void *even_tables;
};

// Enqueues the sort. U: uint32_t, with a plan that holds the keys, or uint64_t.
template <class U>
void launch(const LaunchContext &context, const Sort<U> &sort);

extern template void launch<uint32_t>(const LaunchContext &, const Sort<uint32_t> &);
extern template void launch<uint64_t>(const LaunchContext &, const Sort<uint64_t> &);

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_SAMPLE_SORT_H_
