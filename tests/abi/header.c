/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Compiled as every version of C and C++ that the header is for. Uses each name once. */
#include <gsort.h>

#if GSORT_VERSION_MAJOR != 1 || GSORT_VERSION < 10000
#error "the version of the header"
#endif

typedef gsort_status (*header_sort_fn)(gsort *, gsort_dtype, const void *, void *, uint64_t, uint32_t);

static gsort_status use(gsort *g, void *array) {
  const header_sort_fn sort = gsort_sort;
  gsort_options options = GSORT_OPTIONS_INIT;
  gsort_info info;
  uint64_t bytes = 0;
  options.backend = GSORT_BACKEND_AUTO + GSORT_BACKEND_CPU + GSORT_BACKEND_CUDA;
  info.struct_size = (uint32_t)sizeof(info);
  info.reason[255] = '\0';
  return sort(g,
              GSORT_U8 + GSORT_I8 + GSORT_U16 + GSORT_I16 + GSORT_U32 + GSORT_I32 + GSORT_U64 + GSORT_I64 + GSORT_F16 +
                  GSORT_BF16 + GSORT_F32 + GSORT_F64,
              array, array, options.struct_size + info.struct_size,
              GSORT_DESCENDING | GSORT_NAN_LAST | GSORT_SMALLEST | GSORT_EXCLUSIVE) +
         gsort_workspace_bytes(GSORT_OP_SORT, GSORT_U8, 0, 0, &bytes);
}

int main(void) { return use(NULL, NULL) == GSORT_OK ? 1 : 0; }
