// SPDX-License-Identifier: MIT OR Apache-2.0
// The finish of the stable MSD sort, for a sort that has made cells between splitters of its own.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_CELLS_H_
#define GSORT_CUDA_SORT_MSD_STABLE_CELLS_H_

#include <cstdint>

#include "cuda/engine/launch_chain.h"
#include "cuda/sort/job.h"
#include "cuda/sort/msd/stable_state.cuh"

namespace gsort_internal::sort::msd {

// Sorts each cell of the job's pairs, which have keys of 8 bytes, on chip: from its y arrays, where keys lie in ordered
// bits, to its outputs. Read of the arguments, on the device: state, cells, starts, finished, large and pieces, as
// splitters tell them. A cell to be finished has up to kStableFinishItems pairs, a large one up to kStableLargeItems.
// cells: to be finished, at most.
void launch_stable_cells(LaunchChain &launch, const Job &job, const StableArguments &arguments, uint32_t cells);

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_CELLS_H_
