// SPDX-License-Identifier: MIT OR Apache-2.0
// The fast path as sort::launch() takes it: tried before a sort, which has nothing to do where it applied.
#ifndef GSORT_CUDA_SORT_FAST_PATH_FAST_PATH_H_
#define GSORT_CUDA_SORT_FAST_PATH_FAST_PATH_H_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/engine/launch.h"
#include "cuda/sort/fast_path/plan.h"

namespace gsort_internal::sort::lsd {
struct PassAction;
}

namespace gsort_internal::sort::fast_path {

template <class U>
struct Arrays {
  const U *keys_in;
  U *keys_out;  // may be keys_in; NULL: sorted keys are not wanted
  uint64_t n;
  KeyCodec<U> codec;

  const void *values_in;  // NULL: the values are the keys' indices
  void *values_out;       // may be values_in; NULL: there are no values
  uint32_t value_bytes;   // 4 or 8
  bool ranks;             // of the indices every one's place is wanted, not the other way round

  void *state;       // kStateBytes, 0 on entry
  uint32_t *counts;  // kBins, with values kBinsWithValues; 0 on entry
  uint32_t *bases;   // likewise, garbage on entry

  // With values: what radix passes, launched behind this, read where keys of few values were counted: they move the
  // values then, by numbers in place of keys. Alone: NULL.
  U *numbers;                // n
  uint64_t *digit_bases;     // kDigitBins, of slot 0
  lsd::PassAction *actions;  // of two slots, 0 on entry

  // NULL, or a device word that work before the clearing has written: not 0 = all is sorted already.
  const uint32_t *sorted;
  bool after_clearing;  // the last work in the stream is a launch_clear(), with which this may overlap
};

// Sets memory, aligned to 16 bytes, to 0. `bytes`: a multiple of 16.
void launch_clear(const LaunchContext &context, void *memory, uint64_t bytes);

// Enqueues a test of the keys, and the sort if they are ascending, descending (with values: few of them equal, and no
// output an input), of few values or, alone, combinations of few bits. Returns the address of a device word that says,
// once the work has run, whether keys and values are sorted (not 0; the values of keys that were counted are by the
// passes behind) or neither is (0). In the latter case outputs that are inputs are as they were, other outputs hold
// anything. U: uint32_t or uint64_t.
template <class U>
const uint32_t *launch(const LaunchContext &context, const Plan &plan, const Arrays<U> &arrays);

extern template const uint32_t *launch<uint32_t>(const LaunchContext &, const Plan &, const Arrays<uint32_t> &);
extern template const uint32_t *launch<uint64_t>(const LaunchContext &, const Plan &, const Arrays<uint64_t> &);

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_FAST_PATH_H_
