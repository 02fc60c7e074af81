// SPDX-License-Identifier: MIT OR Apache-2.0
// The processor's name. What it can do: see vector/target.h.
#ifndef GSORT_CPU_ENGINE_PROCESSOR_H_
#define GSORT_CPU_ENGINE_PROCESSOR_H_

#include <cstdint>

namespace gsort_internal {

// Writes the processor's name, NUL-terminated.
void processor_name(char *name, uint32_t bytes);

}  // namespace gsort_internal

#endif  // GSORT_CPU_ENGINE_PROCESSOR_H_
