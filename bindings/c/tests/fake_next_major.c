// SPDX-License-Identifier: MIT OR Apache-2.0
// A library that says it is gsort 2.3.4.
#include <stdint.h>

uint32_t gsort_version(void);

uint32_t gsort_version(void) { return 20304; }
