// SPDX-License-Identifier: MIT OR Apache-2.0
// The .npy format of one-dimensional arrays, versions 1 and 2.
#ifndef GSORT_TOOLS_NPY_H_
#define GSORT_TOOLS_NPY_H_

#include "input.h"
#include "output.h"
#include "types.h"

// Checks the header and hands the file's memory over to the array. `type` NULL: as the header says.
int npy_adopt(file_bytes *file, const type_info *type, array *out);

// Header of an array of `count` elements of `type`.
int npy_write_header(output *out, const type_info *type, uint64_t count);

// Header of an array of records: a u64 named index and a value.
int npy_write_pair_header(output *out, const type_info *value_type, uint64_t count);

#endif  // GSORT_TOOLS_NPY_H_
