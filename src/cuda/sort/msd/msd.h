// SPDX-License-Identifier: MIT OR Apache-2.0
// The MSD sort of keys alone, as sort::launch() uses it: tried first, with an LSD sort behind it for keys that it turns
// away.
#ifndef GSORT_CUDA_SORT_MSD_MSD_H_
#define GSORT_CUDA_SORT_MSD_MSD_H_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/engine/launch.h"
#include "cuda/primitive/clear_memory.cuh"
#include "cuda/sort/msd/tables.h"

namespace gsort_internal::sort::msd {

template <class U>
struct Sort {
  const U *keys_in;
  U *keys_out;  // may be keys_in
  U *scratch;   // n keys
  uint64_t n;
  KeyCodec<U> codec;
  void *tables;  // tables_bytes()
  Plan plan;
  SplitPlan split;  // of 8-byte keys; no sample: keys that neither equal cells nor the map serve are turned away
  // NULL, or a device word that an earlier kernel of the stream has written: not 0 = the keys are sorted already, by
  // another method, and nothing is to be done.
  const uint32_t *done;
  bool chained;                 // the last work in the stream is a kernel of the same sort, with which this may overlap
  bool splitters_only = false;  // sorts all keys by splitters, crowded or not: tests ask for it
  Cleared cleared = {};         // what a sort behind this one counts in, for the first kernel to clear
};

// Enqueues the sort. Returns the address of a device word that says, once the work has run, whether the keys are sorted
// (not 0: here, or before, see `done`) or the data is not for this method and nothing was written but scratch (0).
// U: uint32_t or uint64_t.
template <class U>
const uint32_t *launch(const LaunchContext &context, const Sort<U> &sort);

// The tables of a sort, and its kernels but the one that looks at the keys, which another kernel before them has done.
template <class U>
Arguments<U> arguments_of(const LaunchContext &context, const Sort<U> &sort) {
  TableSlices slices(sort.tables);
  return make_arguments<U>(sort.plan, context.device->multiprocessors, slices);
}
template <class U>
void launch_behind_look(const LaunchContext &context, const Sort<U> &sort);

// The look at the keys and the counts of their cells alone: of a sort whose bins and cells are filled by the caller.
// Its plan takes neither crowds nor frequent values, and has two passes. The state says whether the keys are for it.
template <class U>
void launch_counts(const LaunchContext &context, const Sort<U> &sort);
// Sorts the bins of each batch, whose keys lie there in ordered bits, by way of sort.scratch, which has room for a
// batch alone; the caller has taken the batch's place off its cells' cursors. batches: in device memory, one behind the
// other. most_cells, most_tiles: of any of them.
template <class U>
void launch_batches(const LaunchContext &context, const Sort<U> &sort, const Batch *batches, uint32_t count,
                    uint32_t most_cells, uint32_t most_tiles);

// Finishes cells that another sort has found, of keys that lie in them (the state says whether it has), where they are.
// Behind it in the stream, on the same device.
template <class U>
void launch_finish(const LaunchContext &context, const FoundCells<U> &cells, U *keys, const KeyCodec<U> &codec);

extern template void launch_finish<uint32_t>(const LaunchContext &, const FoundCells<uint32_t> &, uint32_t *,
                                             const KeyCodec<uint32_t> &);
extern template void launch_finish<uint64_t>(const LaunchContext &, const FoundCells<uint64_t> &, uint64_t *,
                                             const KeyCodec<uint64_t> &);
extern template void launch_behind_look<uint32_t>(const LaunchContext &, const Sort<uint32_t> &);
extern template void launch_behind_look<uint64_t>(const LaunchContext &, const Sort<uint64_t> &);
extern template void launch_counts<uint32_t>(const LaunchContext &, const Sort<uint32_t> &);
extern template void launch_counts<uint64_t>(const LaunchContext &, const Sort<uint64_t> &);
extern template void launch_batches<uint32_t>(const LaunchContext &, const Sort<uint32_t> &, const Batch *, uint32_t,
                                              uint32_t, uint32_t);
extern template void launch_batches<uint64_t>(const LaunchContext &, const Sort<uint64_t> &, const Batch *, uint32_t,
                                              uint32_t, uint32_t);
extern template const uint32_t *launch<uint32_t>(const LaunchContext &, const Sort<uint32_t> &);
extern template const uint32_t *launch<uint64_t>(const LaunchContext &, const Sort<uint64_t> &);

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_MSD_H_
