// SPDX-License-Identifier: MIT OR Apache-2.0
// A vector kernel that parts words in two without changing the order within either part.
#ifndef GSORT_CPU_VECTOR_PARTITION_H_
#define GSORT_CPU_VECTOR_PARTITION_H_

#include <cstdint>

namespace gsort_internal {

struct PartitionKernels {
  // Leaves the words up to the pivot, of n, side by side at `words`, and the others in `upper`, which has room for
  // kPartitionRoom more than n. Returns how many stay.
  uint64_t (*split)(int64_t *words, uint64_t n, int64_t pivot, int64_t *upper);

  // Whether vectors are so wide that such partitions are faster than scattering records to hundreds of runs.
  bool beat_scatters;
};
constexpr uint64_t kPartitionRoom = 8;

// NULL if there are no vectors.
const PartitionKernels *partition_kernels(uint64_t);

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_PARTITION_H_
