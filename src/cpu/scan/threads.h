// SPDX-License-Identifier: MIT OR Apache-2.0
// How many threads an integer scan is worth.
#ifndef GSORT_CPU_SCAN_THREADS_H_
#define GSORT_CPU_SCAN_THREADS_H_

#include <cstdint>

namespace gsort_internal {

// One thread reads the array once, several read it twice and meet twice. On 16 processors of an Intel Xeon two took
// longer than one for up to 2 MB of 4-byte elements and four for up to 512 KB; of 1 MB one took 79 us, four 73, eight
// 61, of 4 MB one 343, four 262, sixteen 131. On an EPYC two were no quicker at any length up to 128 MB.
constexpr uint64_t kScanBytesLeast = 1 << 20;
constexpr uint64_t kScanBytesOfThread = 1 << 17;
constexpr uint32_t kScanThreadsLeast = 4;

inline uint32_t integer_scan_threads(uint64_t bytes, uint32_t threads) {
  const uint64_t busy = bytes / kScanBytesOfThread;
  const uint64_t few = busy < threads ? busy : threads;
  return bytes < kScanBytesLeast || few < kScanThreadsLeast ? 1 : static_cast<uint32_t>(few);
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_SCAN_THREADS_H_
