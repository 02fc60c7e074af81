// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of host arrays that the device holds, done while they arrive and while results leave.
#ifndef GSORT_HOST_MEMORY_PIECES_ARRIVING_H_
#define GSORT_HOST_MEMORY_PIECES_ARRIVING_H_

#include "host_memory/pieces_sort.h"

namespace gsort_internal {

// False: this way does not serve the job, or the device has no memory for it; nothing was done. In place the arrays
// hold a permutation of their input whatever happens, but for a device that fails while it writes; once something was
// written over them, a failure is a LostOrder.
bool sort_as_it_arrives(const PieceContext &context, const SortJob &job, PieceProgress &progress);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECES_ARRIVING_H_
