// SPDX-License-Identifier: MIT OR Apache-2.0
// A planned sort with all its arrays named: what launch.cu hands to the code of one key width.
#ifndef GSORT_CUDA_SORT_JOB_H_
#define GSORT_CUDA_SORT_JOB_H_

#include <cstdint>

#include "cuda/engine/launch.h"
#include "cuda/primitive/clear_memory.cuh"
#include "cuda/sort/plan.h"

namespace gsort_internal::sort {

// What the last pass does with a value; all but the first are for values that are indices.
enum class FinalValues : uint32_t { kStore, kWiden, kRank4, kRank8 };

struct Job {
  const Request *request;
  Plan plan;
  void *workspace;
  const uint32_t *done;  // see launch()

  // Passes read the input, then go back and forth between x and y and end in x.
  const void *keys_in;
  void *keys_x;
  void *keys_y;
  bool keys_wanted;
  const void *values_in;
  bool values_are_indices;  // and are made, not read
  void *values_x;
  void *values_y;
  FinalValues final_values;
  // Of what the fast path orders, and of passes by numbers that stand for the keys.
  FinalValues direct_values;
  void *direct_out;

  // A sort in one block gives these at once; NULL: not wanted.
  void *small_indices;
  void *small_ranks;
  bool small_wide;
  const void *small_values_in;
  void *small_values_out;
  uint32_t value_unit_bytes;

  template <class T>
  T *slice(uint64_t offset) const {
    return reinterpret_cast<T *>(static_cast<char *>(workspace) + offset);
  }
  bool aliased() const {
    return keys_in == keys_x || (request->operation == Operation::kSortPairs && values_in == values_x);
  }
  // The second slot of one-digit keys is for aliased arrays alone.
  uint32_t slots() const { return aliased() ? plan.lsd.slots : plan.lsd.digits; }
};

// What the passes behind another sort count in, for that to clear before it; a fast path has it cleared before itself.
inline Cleared counters_to_clear(const Job &job) {
  return job.plan.tries_fast_path ? Cleared{} : Cleared{job.workspace, job.plan.slices.zero_bytes / 16};
}

// Sorts of keys of one width; instantiated in launch_<width>.cu. Returns the fast path's device word; NULL: it was not
// tried.
template <class U>
const uint32_t *launch_width(const LaunchContext &context, const Job &job);
extern template const uint32_t *launch_width<uint8_t>(const LaunchContext &, const Job &);
extern template const uint32_t *launch_width<uint16_t>(const LaunchContext &, const Job &);
extern template const uint32_t *launch_width<uint32_t>(const LaunchContext &, const Job &);
extern template const uint32_t *launch_width<uint64_t>(const LaunchContext &, const Job &);

}  // namespace gsort_internal::sort

#endif  // GSORT_CUDA_SORT_JOB_H_
