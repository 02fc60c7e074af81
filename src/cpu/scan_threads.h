// SPDX-License-Identifier: MIT OR Apache-2.0
// How many threads an integer scan is worth.
#ifndef GSORT_CPU_SCAN_THREADS_H_
#define GSORT_CPU_SCAN_THREADS_H_

#include <cstdint>

namespace gsort_internal {

// One thread reads the array once, several read it twice and meet twice: two that each had half of 4 MB took 401 us
// where one took 309 (an Intel Xeon of 16 processors), those of 2^16 elements of 4 bytes 23 to 25 where one took 17. On
// an EPYC two were no quicker at any length up to 128 MB. So four at least, and each with its share of an array of 4
// MB.
constexpr uint64_t kScanBytesOfThread = 1 << 20;
constexpr uint32_t kScanThreadsLeast = 4;

inline uint32_t integer_scan_threads(uint64_t bytes, uint32_t threads) {
  const uint64_t busy = bytes / kScanBytesOfThread;
  const uint64_t few = busy < threads ? busy : threads;
  return few < kScanThreadsLeast ? 1 : static_cast<uint32_t>(few);
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_SCAN_THREADS_H_
