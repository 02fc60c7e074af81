// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels of the MSD sort tell each other in device memory.
#ifndef GSORT_CUDA_KERNELS_MSD_STATE_CUH_
#define GSORT_CUDA_KERNELS_MSD_STATE_CUH_

#include <cstdint>

#include "plan/msd_plan.h"

namespace gsort_internal {

// Written by the sample kernel. The histogram may clear `go` and `sorted`; no key is moved before it has run. With
// go = 0 the MSD kernels do nothing; with sorted = 0 the LSD sort behind them does the work.
template <class U>
struct MsdState {
  uint32_t go;
  uint32_t sorted;      // as `go`, but set too where the keys are sorted before this sort begins
  uint32_t foreign;     // set by the histogram: a key has another prefix
  uint32_t tickets;     // of the histogram's blocks
  uint32_t range_bits;  // bits of a key below the common prefix
  U prefix;             // the prefix in place, zeros below
};

template <class U>
struct MsdArguments {
  MsdState<U> *state;
  uint32_t *cells;       // 2^cell_bits + 1: keys in a cell, after the scan the place of its first key
  uint32_t *first_room;  // 2^first_bits cursors of the first pass
  uint32_t *room;        // 2^cell_bits cursors of the second pass
  uint32_t *first_tile;  // 2^first_bits + 1: number of the first tile of each bin of the first pass, in the second pass
  MsdPlan plan;
};

// The data is not for this method.
template <class U>
__device__ __forceinline__ void msd_turn_away(MsdState<U> *state) {
  state->go = 0;
  state->sorted = 0;
}

// Bits of a key below those that tell its cell. The sample kernel turns ranges of fewer bits than cell_bits away.
template <class U>
__device__ __forceinline__ uint32_t msd_cell_shift(const MsdArguments<U> &arguments) {
  return arguments.state->range_bits - arguments.plan.cell_bits;
}

// Until the kernel before has ended and its writes are visible: kernels are launched before that, where the chip can.
__device__ __forceinline__ void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_MSD_STATE_CUH_
