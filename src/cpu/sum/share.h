// SPDX-License-Identifier: MIT OR Apache-2.0
// What the CPU's threads do of a sum or a reduction, where others do the rest of it.
#ifndef GSORT_CPU_SUM_SHARE_H_
#define GSORT_CPU_SUM_SHARE_H_

#include <cstdint>

#include "core/host_memory.h"
#include "core/request.h"
#include "core/superaccumulator.h"
#include "cpu/sum/exact_sum.h"

namespace gsort_internal {

constexpr uint64_t kShareItemsMax = 1 << 18;  // of one call below; takes some 0.1 ms

// An exact sum of a part of request.in.
class SumShare {
 public:
  // Takes all the memory that it needs; throws Error.
  SumShare(HostMemory &memory, const Request &request, uint32_t workers);
  // Adds the elements from begin to end - 1, kShareItemsMax at most. Each worker is one thread.
  void add(uint64_t begin, uint64_t end, uint32_t worker) noexcept;
  // What was added, which was the elements from begin to end - 1 in all. Once.
  PartialSum sum(uint64_t begin, uint64_t end) noexcept;

 private:
  const Request &request_;
  HostBuffer<SumScratch> floats_;  // of each worker
  HostBuffer<Int128> integers_;    // likewise
};

// The index of the first of the least elements in the request's order, from begin to end - 1; begin < end.
uint64_t first_of_least(const Request &request, uint64_t begin, uint64_t end) noexcept;

}  // namespace gsort_internal

#endif  // GSORT_CPU_SUM_SHARE_H_
