// SPDX-License-Identifier: MIT OR Apache-2.0
// The MSD sort of keys alone, as launch_sort uses it: tried first, with an LSD sort behind it for keys that it turns
// away.
#ifndef GSORT_CUDA_SORT_MSD_MSD_H_
#define GSORT_CUDA_SORT_MSD_MSD_H_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/engine/launch.h"
#include "cuda/sort/msd/msd_tables.h"

namespace gsort_internal {

template <class U>
struct MsdSort {
  const U *keys_in;
  U *keys_out;  // may be keys_in
  U *scratch;   // n keys
  uint64_t n;
  KeyCodec<U> codec;
  void *tables;  // msd_tables_bytes()
  // NULL, or a device word that an earlier kernel of the stream has written: not 0 = the keys are sorted already, by
  // another method, and nothing is to be done.
  const uint32_t *done;
  // 0: the plan's own. Tests ask for more, to reach what else takes very many keys.
  uint32_t cell_bits;
  bool chained;  // the last work in the stream is a kernel of the same sort, with which this may overlap
  // Keys that lie too unevenly for equal cells and for the map are sorted by splitters, if they are not crowded;
  // msd_splits() but for tests.
  bool splits;
  bool splitters_only = false;  // as are all keys, crowded or not: tests ask for it
};

// Enqueues the sort. Returns the address of a device word that says, once the work has run, whether the keys are sorted
// (not 0: here, or before, see `done`) or the data is not for this method and nothing was written but scratch (0).
// U: uint32_t or uint64_t.
template <class U>
const uint32_t *launch_msd(const LaunchContext &context, const MsdSort<U> &sort);

extern template const uint32_t *launch_msd<uint32_t>(const LaunchContext &, const MsdSort<uint32_t> &);
extern template const uint32_t *launch_msd<uint64_t>(const LaunchContext &, const MsdSort<uint64_t> &);

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_MSD_MSD_H_
