// SPDX-License-Identifier: MIT OR Apache-2.0
// The lines of `gsort info`.
#ifndef GSORT_TOOLS_DESCRIBE_H_
#define GSORT_TOOLS_DESCRIBE_H_

#include "gsort.h"
#include "output.h"
#include "types.h"

// Both return an exit code.
int describe_engine(gsort *g, output *out);
int describe_array(gsort *g, output *out, const array *a, uint32_t flags);

#endif  // GSORT_TOOLS_DESCRIBE_H_
