// SPDX-License-Identifier: MIT OR Apache-2.0
// The .npy format, versions 1 to 3.
#ifndef GSORT_TOOLS_NPY_H_
#define GSORT_TOOLS_NPY_H_

#include "input.h"
#include "output.h"
#include "types.h"

enum { npy_magic_bytes = 6 };
extern const char npy_magic[npy_magic_bytes];

// What a header says.
typedef struct npy_layout {
  array shape;            // without data
  bool swapped;           // each element's bytes come in the other order
  uint64_t header_bytes;  // where the elements begin
} npy_layout;

// Understands the header at the start of `bytes`. `type` NULL: as the header says. Returns an exit code.
int npy_read_header(const char *name, const char *bytes, size_t count, const type_info *type, npy_layout *out);

// Bytes that the header at the start of a file takes, of which `count` are at hand; 0 if it is not a .npy file.
uint64_t npy_header_bytes(const char *bytes, size_t count);
enum { npy_prefix_bytes = 12 };  // at most, until the length of the header is known

// Checks the header and hands the file's memory over to the array, as little-endian elements.
int npy_adopt(file_bytes *file, const type_info *type, array *out);

void npy_swap_bytes(void *data, uint64_t count, uint32_t size_bytes);

// Header of an array with the type and the extents of `a`.
int npy_write_header(output *out, const array *a);

// Header of an array of records: a u64 of this name and a value. Shaped as `values`.
int npy_write_pair_header(output *out, const char *first_name, const array *values);

#endif  // GSORT_TOOLS_NPY_H_
