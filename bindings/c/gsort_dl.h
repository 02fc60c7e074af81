// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort for programs that want it only if it is there: the library is opened at run time and its functions are reached
// through a table, named as in gsort.h without the prefix. Compile gsort_dl.c into the program; link nothing but the
// system's own libdl, where that is a library of its own.
#ifndef GSORT_DL_H_
#define GSORT_DL_H_

#include "gsort.h"

#ifdef __cplusplus
extern "C" {
#endif

// What goes wrong when the library is opened.
#define GSORT_DL_OK 0
#define GSORT_DL_NOT_FOUND 1      // no such library, or the system cannot load it
#define GSORT_DL_NOT_GSORT 2      // a library without gsort's functions
#define GSORT_DL_WRONG_VERSION 3  // another major version than that of gsort.h

// Every function of gsort 1.0. Only to be used between gsort_dl_open() and gsort_dl_close().
typedef struct gsort_dl {
  gsort_status (*create)(const gsort_options *options, gsort **out);
  void (*destroy)(gsort *g);
  const char *(*error_message)(const gsort *g);
  gsort_status (*info_get)(const gsort *g, gsort_info *info);
  gsort_status (*set_stream)(gsort *g, void *cuda_stream);
  gsort_status (*synchronize)(gsort *g);

  gsort_status (*sort_u32)(gsort *g, uint32_t *keys, uint64_t n, uint32_t flags);
  gsort_status (*sort_i32)(gsort *g, int32_t *keys, uint64_t n, uint32_t flags);
  gsort_status (*sort_u64)(gsort *g, uint64_t *keys, uint64_t n, uint32_t flags);
  gsort_status (*sort_i64)(gsort *g, int64_t *keys, uint64_t n, uint32_t flags);
  gsort_status (*sort_f32)(gsort *g, float *keys, uint64_t n, uint32_t flags);
  gsort_status (*sort_f64)(gsort *g, double *keys, uint64_t n, uint32_t flags);
  gsort_status (*sort)(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out, uint64_t n, uint32_t flags);
  gsort_status (*sort_pairs)(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out, uint32_t value_bytes,
                             const void *values_in, void *values_out, uint64_t n, uint32_t flags);
  gsort_status (*argsort)(gsort *g, gsort_dtype t, const void *keys, uint64_t n, gsort_dtype index_t, void *indices_out,
                          uint32_t flags);
  gsort_status (*rank)(gsort *g, gsort_dtype t, const void *keys, uint64_t n, gsort_dtype index_t, void *ranks_out,
                       uint32_t flags);
  gsort_status (*merge)(gsort *g, gsort_dtype t, const void *a, uint64_t a_n, const void *b, uint64_t b_n, void *out,
                        uint32_t flags);
  gsort_status (*sort_segments)(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out, uint64_t n,
                                const uint64_t *offsets, uint64_t segments, uint32_t flags);

  gsort_status (*topk)(gsort *g, gsort_dtype t, const void *in, uint64_t n, uint64_t k, void *values_out,
                       gsort_dtype index_t, void *indices_out, uint32_t flags);
  gsort_status (*topk_rows)(gsort *g, gsort_dtype t, const void *in, uint64_t rows, uint64_t columns,
                            uint64_t row_stride, uint64_t k, void *values_out, gsort_dtype index_t, void *indices_out,
                            uint32_t flags);
  gsort_status (*topk_segments)(gsort *g, gsort_dtype t, const void *in, uint64_t n, const uint64_t *offsets,
                                uint64_t segments, uint64_t k, void *values_out, gsort_dtype index_t, void *indices_out,
                                uint32_t flags);

  gsort_status (*sum)(gsort *g, gsort_dtype t, const void *in, uint64_t n, void *out, uint32_t flags);
  gsort_status (*reduce)(gsort *g, uint32_t op, gsort_dtype t, const void *in, uint64_t n, void *out, uint32_t flags);
  gsort_status (*scan)(gsort *g, gsort_dtype t, const void *in, void *out, uint64_t n, uint32_t flags);

  // The typed calls.
  gsort_status (*topk_u32)(gsort *g, const uint32_t *in, uint64_t n, uint64_t k, uint32_t *values_out,
                           uint64_t *indices_out, uint32_t flags);
  gsort_status (*topk_i32)(gsort *g, const int32_t *in, uint64_t n, uint64_t k, int32_t *values_out,
                           uint64_t *indices_out, uint32_t flags);
  gsort_status (*topk_u64)(gsort *g, const uint64_t *in, uint64_t n, uint64_t k, uint64_t *values_out,
                           uint64_t *indices_out, uint32_t flags);
  gsort_status (*topk_i64)(gsort *g, const int64_t *in, uint64_t n, uint64_t k, int64_t *values_out,
                           uint64_t *indices_out, uint32_t flags);
  gsort_status (*topk_f32)(gsort *g, const float *in, uint64_t n, uint64_t k, float *values_out, uint64_t *indices_out,
                           uint32_t flags);
  gsort_status (*topk_f64)(gsort *g, const double *in, uint64_t n, uint64_t k, double *values_out,
                           uint64_t *indices_out, uint32_t flags);
  gsort_status (*argsort_u32)(gsort *g, const uint32_t *keys, uint64_t n, uint64_t *indices_out, uint32_t flags);
  gsort_status (*argsort_i32)(gsort *g, const int32_t *keys, uint64_t n, uint64_t *indices_out, uint32_t flags);
  gsort_status (*argsort_u64)(gsort *g, const uint64_t *keys, uint64_t n, uint64_t *indices_out, uint32_t flags);
  gsort_status (*argsort_i64)(gsort *g, const int64_t *keys, uint64_t n, uint64_t *indices_out, uint32_t flags);
  gsort_status (*argsort_f32)(gsort *g, const float *keys, uint64_t n, uint64_t *indices_out, uint32_t flags);
  gsort_status (*argsort_f64)(gsort *g, const double *keys, uint64_t n, uint64_t *indices_out, uint32_t flags);
  gsort_status (*sum_u32)(gsort *g, const uint32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*sum_i32)(gsort *g, const int32_t *in, uint64_t n, int64_t *out, uint32_t flags);
  gsort_status (*sum_u64)(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*sum_i64)(gsort *g, const int64_t *in, uint64_t n, int64_t *out, uint32_t flags);
  gsort_status (*sum_f32)(gsort *g, const float *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*sum_f64)(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*mean_u32)(gsort *g, const uint32_t *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*mean_i32)(gsort *g, const int32_t *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*mean_u64)(gsort *g, const uint64_t *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*mean_i64)(gsort *g, const int64_t *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*mean_f32)(gsort *g, const float *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*mean_f64)(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*min_u32)(gsort *g, const uint32_t *in, uint64_t n, uint32_t *out, uint32_t flags);
  gsort_status (*min_i32)(gsort *g, const int32_t *in, uint64_t n, int32_t *out, uint32_t flags);
  gsort_status (*min_u64)(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*min_i64)(gsort *g, const int64_t *in, uint64_t n, int64_t *out, uint32_t flags);
  gsort_status (*min_f32)(gsort *g, const float *in, uint64_t n, float *out, uint32_t flags);
  gsort_status (*min_f64)(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*max_u32)(gsort *g, const uint32_t *in, uint64_t n, uint32_t *out, uint32_t flags);
  gsort_status (*max_i32)(gsort *g, const int32_t *in, uint64_t n, int32_t *out, uint32_t flags);
  gsort_status (*max_u64)(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*max_i64)(gsort *g, const int64_t *in, uint64_t n, int64_t *out, uint32_t flags);
  gsort_status (*max_f32)(gsort *g, const float *in, uint64_t n, float *out, uint32_t flags);
  gsort_status (*max_f64)(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags);
  gsort_status (*argmin_u32)(gsort *g, const uint32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmin_i32)(gsort *g, const int32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmin_u64)(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmin_i64)(gsort *g, const int64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmin_f32)(gsort *g, const float *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmin_f64)(gsort *g, const double *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmax_u32)(gsort *g, const uint32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmax_i32)(gsort *g, const int32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmax_u64)(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmax_i64)(gsort *g, const int64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmax_f32)(gsort *g, const float *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*argmax_f64)(gsort *g, const double *in, uint64_t n, uint64_t *out, uint32_t flags);
  gsort_status (*scan_u32)(gsort *g, const uint32_t *in, uint32_t *out, uint64_t n, uint32_t flags);
  gsort_status (*scan_i32)(gsort *g, const int32_t *in, int32_t *out, uint64_t n, uint32_t flags);
  gsort_status (*scan_u64)(gsort *g, const uint64_t *in, uint64_t *out, uint64_t n, uint32_t flags);
  gsort_status (*scan_i64)(gsort *g, const int64_t *in, int64_t *out, uint64_t n, uint32_t flags);
  gsort_status (*scan_f32)(gsort *g, const float *in, float *out, uint64_t n, uint32_t flags);
  gsort_status (*scan_f64)(gsort *g, const double *in, double *out, uint64_t n, uint32_t flags);

  gsort_status (*reserve)(gsort *g, uint32_t op, gsort_dtype t, uint64_t n, uint64_t parameter);
  gsort_status (*workspace_bytes)(uint32_t op, gsort_dtype t, uint64_t n, uint64_t parameter, uint64_t *bytes);
  gsort_status (*set_workspace)(gsort *g, void *device_memory, uint64_t bytes);

  gsort_status (*set_progress)(gsort *g, gsort_progress_fn fn, void *user);
  gsort_status (*cancel)(gsort *g);

  uint32_t (*version)(void);
  const char *(*version_string)(void);
  const char *(*status_name)(gsort_status s);

  void *library;    // what dlopen() gave
  char error[512];  // the sentence of a failed gsort_dl_open(), "" after success
} gsort_dl;

// Opens the library and fills the table.
// `path`: a file, or NULL for the environment variable GSORT_LIBRARY if it is set, otherwise libgsort.so.1 where the
// system looks for libraries. A `path` without a slash is looked for there too.
// Returns GSORT_DL_OK, or one of the errors with a sentence in dl->error; the table is then all NULL.
int gsort_dl_open(gsort_dl *dl, const char *path);

// Empties the table and closes the library. Handles must have been destroyed before. A closed or zeroed table is fine.
void gsort_dl_close(gsort_dl *dl);

#ifdef __cplusplus
}
#endif

#endif  // GSORT_DL_H_
