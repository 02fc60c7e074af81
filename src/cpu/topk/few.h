// SPDX-License-Identifier: MIT OR Apache-2.0
// topk_few() for rows, whose memory is asked for beforehand.
#ifndef GSORT_CPU_TOPK_FEW_H_
#define GSORT_CPU_TOPK_FEW_H_

#include <cstdint>

namespace gsort_internal {

// The room in which all is done of n elements that can be done so; 0 for none.
uint64_t topk_scratch_room(uint64_t n, uint64_t k);

}  // namespace gsort_internal

#endif  // GSORT_CPU_TOPK_FEW_H_
