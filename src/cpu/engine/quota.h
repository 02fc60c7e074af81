// SPDX-License-Identifier: MIT OR Apache-2.0
// How much processor time the control groups of the process allow, which is how containers are limited.
#ifndef GSORT_CPU_ENGINE_QUOTA_H_
#define GSORT_CPU_ENGINE_QUOTA_H_

#include <cstdint>

namespace gsort_internal {

// Processors' worth of time that the process may use, rounded up and at least 1; UINT32_MAX: no limit, or none that can
// be read. Knows control groups of version 1 and 2. `root` stands before every path, "" but in tests.
uint32_t quota_processors(const char *root);

}  // namespace gsort_internal

#endif  // GSORT_CPU_ENGINE_QUOTA_H_
