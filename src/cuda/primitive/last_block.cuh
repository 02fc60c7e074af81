// SPDX-License-Identifier: MIT OR Apache-2.0
// "Am I the last block to arrive?", for kernels whose last block combines what all blocks have left in memory.
#ifndef GSORT_CUDA_PRIMITIVE_LAST_BLOCK_CUH_
#define GSORT_CUDA_PRIMITIVE_LAST_BLOCK_CUH_

#include <cstdint>

namespace gsort_internal {

// Every thread of the block must call it, after its own writes of partial results. `tickets` was zero before the
// kernel. In the last block, what every block wrote before its call may be read, past the L1 cache (__ldcg). own: of
// all the tickets, those that this block takes.
__device__ __forceinline__ bool is_last_block(uint32_t *tickets, uint32_t all, uint32_t own = 1) {
  // Release: each thread's own writes are ordered before the barrier, hence before the ticket that thread 0 takes. The
  // barrier stands before the ticket: a block that took it while some of its threads were still writing would let the
  // last block read half a result.
  __threadfence();
  __syncthreads();
  int last = 0;
  if (threadIdx.x == 0) last = atomicAdd(tickets, own) == all - own;
  last = __syncthreads_or(last);
  // Acquire: pairs with the other blocks' fences through the ticket, so that their results are visible.
  if (last) __threadfence();
  return last != 0;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_LAST_BLOCK_CUH_
