// SPDX-License-Identifier: MIT OR Apache-2.0
// Sort and count of text whose numbers become elements, also of more than memory holds.
#ifndef GSORT_TOOLS_EXTERNAL_TEXT_H_
#define GSORT_TOOLS_EXTERNAL_TEXT_H_

#include "job.h"
#include "source.h"

// The type is that of text_array.h, whatever the pieces are: it may be known at the end alone. Returns an exit code.
int external_text_run(job *j, source *s);

#endif  // GSORT_TOOLS_EXTERNAL_TEXT_H_
