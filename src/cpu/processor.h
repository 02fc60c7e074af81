// SPDX-License-Identifier: MIT OR Apache-2.0
// What the processor can do beyond the baseline that the library is compiled for.
#ifndef GSORT_CPU_PROCESSOR_H_
#define GSORT_CPU_PROCESSOR_H_

#include <cstdint>

// Before a function: compiled for AVX2, called only where has_avx2().
#if defined(__x86_64__) && defined(__GNUC__)
#define GSORT_X86_AVX2 __attribute__((target("avx2")))
#endif

namespace gsort_internal {

// Whether processor and system support AVX2; false on other architectures.
bool has_avx2();

// Writes the processor's name, NUL-terminated.
void processor_name(char *name, uint32_t bytes);

}  // namespace gsort_internal

#endif  // GSORT_CPU_PROCESSOR_H_
