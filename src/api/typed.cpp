// SPDX-License-Identifier: MIT OR Apache-2.0
// The typed calls: each is the general one, with the type of the array that it is given.
#include "gsort.h"

namespace {

constexpr gsort_dtype type_of(const uint32_t *) { return GSORT_U32; }
constexpr gsort_dtype type_of(const int32_t *) { return GSORT_I32; }
constexpr gsort_dtype type_of(const uint64_t *) { return GSORT_U64; }
constexpr gsort_dtype type_of(const int64_t *) { return GSORT_I64; }
constexpr gsort_dtype type_of(const float *) { return GSORT_F32; }
constexpr gsort_dtype type_of(const double *) { return GSORT_F64; }

}  // namespace

gsort_status gsort_topk_u32(gsort *g, const uint32_t *in, uint64_t n, uint64_t k, uint32_t *values_out,
                            uint64_t *indices_out, uint32_t flags) {
  return gsort_topk(g, type_of(in), in, n, k, values_out, GSORT_U64, indices_out, flags);
}
gsort_status gsort_topk_i32(gsort *g, const int32_t *in, uint64_t n, uint64_t k, int32_t *values_out,
                            uint64_t *indices_out, uint32_t flags) {
  return gsort_topk(g, type_of(in), in, n, k, values_out, GSORT_U64, indices_out, flags);
}
gsort_status gsort_topk_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t k, uint64_t *values_out,
                            uint64_t *indices_out, uint32_t flags) {
  return gsort_topk(g, type_of(in), in, n, k, values_out, GSORT_U64, indices_out, flags);
}
gsort_status gsort_topk_i64(gsort *g, const int64_t *in, uint64_t n, uint64_t k, int64_t *values_out,
                            uint64_t *indices_out, uint32_t flags) {
  return gsort_topk(g, type_of(in), in, n, k, values_out, GSORT_U64, indices_out, flags);
}
gsort_status gsort_topk_f32(gsort *g, const float *in, uint64_t n, uint64_t k, float *values_out, uint64_t *indices_out,
                            uint32_t flags) {
  return gsort_topk(g, type_of(in), in, n, k, values_out, GSORT_U64, indices_out, flags);
}
gsort_status gsort_topk_f64(gsort *g, const double *in, uint64_t n, uint64_t k, double *values_out,
                            uint64_t *indices_out, uint32_t flags) {
  return gsort_topk(g, type_of(in), in, n, k, values_out, GSORT_U64, indices_out, flags);
}

gsort_status gsort_argsort_u32(gsort *g, const uint32_t *keys, uint64_t n, uint64_t *indices_out, uint32_t flags) {
  return gsort_argsort(g, type_of(keys), keys, n, GSORT_U64, indices_out, flags);
}
gsort_status gsort_argsort_i32(gsort *g, const int32_t *keys, uint64_t n, uint64_t *indices_out, uint32_t flags) {
  return gsort_argsort(g, type_of(keys), keys, n, GSORT_U64, indices_out, flags);
}
gsort_status gsort_argsort_u64(gsort *g, const uint64_t *keys, uint64_t n, uint64_t *indices_out, uint32_t flags) {
  return gsort_argsort(g, type_of(keys), keys, n, GSORT_U64, indices_out, flags);
}
gsort_status gsort_argsort_i64(gsort *g, const int64_t *keys, uint64_t n, uint64_t *indices_out, uint32_t flags) {
  return gsort_argsort(g, type_of(keys), keys, n, GSORT_U64, indices_out, flags);
}
gsort_status gsort_argsort_f32(gsort *g, const float *keys, uint64_t n, uint64_t *indices_out, uint32_t flags) {
  return gsort_argsort(g, type_of(keys), keys, n, GSORT_U64, indices_out, flags);
}
gsort_status gsort_argsort_f64(gsort *g, const double *keys, uint64_t n, uint64_t *indices_out, uint32_t flags) {
  return gsort_argsort(g, type_of(keys), keys, n, GSORT_U64, indices_out, flags);
}

gsort_status gsort_sum_u32(gsort *g, const uint32_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_sum(g, type_of(in), in, n, out, flags);
}
gsort_status gsort_sum_i32(gsort *g, const int32_t *in, uint64_t n, int64_t *out, uint32_t flags) {
  return gsort_sum(g, type_of(in), in, n, out, flags);
}
gsort_status gsort_sum_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_sum(g, type_of(in), in, n, out, flags);
}
gsort_status gsort_sum_i64(gsort *g, const int64_t *in, uint64_t n, int64_t *out, uint32_t flags) {
  return gsort_sum(g, type_of(in), in, n, out, flags);
}
gsort_status gsort_sum_f32(gsort *g, const float *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_sum(g, type_of(in), in, n, out, flags);
}
gsort_status gsort_sum_f64(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_sum(g, type_of(in), in, n, out, flags);
}

gsort_status gsort_mean_u32(gsort *g, const uint32_t *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MEAN, type_of(in), in, n, out, flags);
}
gsort_status gsort_mean_i32(gsort *g, const int32_t *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MEAN, type_of(in), in, n, out, flags);
}
gsort_status gsort_mean_u64(gsort *g, const uint64_t *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MEAN, type_of(in), in, n, out, flags);
}
gsort_status gsort_mean_i64(gsort *g, const int64_t *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MEAN, type_of(in), in, n, out, flags);
}
gsort_status gsort_mean_f32(gsort *g, const float *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MEAN, type_of(in), in, n, out, flags);
}
gsort_status gsort_mean_f64(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MEAN, type_of(in), in, n, out, flags);
}

gsort_status gsort_min_u32(gsort *g, const uint32_t *in, uint64_t n, uint32_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_min_i32(gsort *g, const int32_t *in, uint64_t n, int32_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_min_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_min_i64(gsort *g, const int64_t *in, uint64_t n, int64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_min_f32(gsort *g, const float *in, uint64_t n, float *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_min_f64(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MIN, type_of(in), in, n, out, flags);
}

gsort_status gsort_max_u32(gsort *g, const uint32_t *in, uint64_t n, uint32_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_max_i32(gsort *g, const int32_t *in, uint64_t n, int32_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_max_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_max_i64(gsort *g, const int64_t *in, uint64_t n, int64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_max_f32(gsort *g, const float *in, uint64_t n, float *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_max_f64(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_MAX, type_of(in), in, n, out, flags);
}

gsort_status gsort_argmin_u32(gsort *g, const uint32_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmin_i32(gsort *g, const int32_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmin_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmin_i64(gsort *g, const int64_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmin_f32(gsort *g, const float *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMIN, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmin_f64(gsort *g, const double *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMIN, type_of(in), in, n, out, flags);
}

gsort_status gsort_argmax_u32(gsort *g, const uint32_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmax_i32(gsort *g, const int32_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmax_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmax_i64(gsort *g, const int64_t *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmax_f32(gsort *g, const float *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMAX, type_of(in), in, n, out, flags);
}
gsort_status gsort_argmax_f64(gsort *g, const double *in, uint64_t n, uint64_t *out, uint32_t flags) {
  return gsort_reduce(g, GSORT_ARGMAX, type_of(in), in, n, out, flags);
}

gsort_status gsort_scan_u32(gsort *g, const uint32_t *in, uint32_t *out, uint64_t n, uint32_t flags) {
  return gsort_scan(g, type_of(in), in, out, n, flags);
}
gsort_status gsort_scan_i32(gsort *g, const int32_t *in, int32_t *out, uint64_t n, uint32_t flags) {
  return gsort_scan(g, type_of(in), in, out, n, flags);
}
gsort_status gsort_scan_u64(gsort *g, const uint64_t *in, uint64_t *out, uint64_t n, uint32_t flags) {
  return gsort_scan(g, type_of(in), in, out, n, flags);
}
gsort_status gsort_scan_i64(gsort *g, const int64_t *in, int64_t *out, uint64_t n, uint32_t flags) {
  return gsort_scan(g, type_of(in), in, out, n, flags);
}
gsort_status gsort_scan_f32(gsort *g, const float *in, float *out, uint64_t n, uint32_t flags) {
  return gsort_scan(g, type_of(in), in, out, n, flags);
}
gsort_status gsort_scan_f64(gsort *g, const double *in, double *out, uint64_t n, uint32_t flags) {
  return gsort_scan(g, type_of(in), in, out, n, flags);
}
