// SPDX-License-Identifier: MIT OR Apache-2.0
#include "distribution_names.h"

#include <cstddef>

namespace gsort_bench {

const char *distribution_name(Distribution d) {
  static const char *const names[] = {
      "uniform",    "normal",     "exponential", "constant",      "sorted",         "reverse",       "two-values",
      "and-1",      "and-3",      "and-9",       "zipf",          "zipf-scrambled", "staggered",     "nearly-sorted",
      "organ-pipe", "sawtooth",   "bits16-low",  "bits16-middle", "bits16-high",    "bits16-spread", "prefix-8",
      "prefix-15",  "hot-bucket", "half-bucket", "halving",       "ids-2^32",       "inf-99.9%",     "nan-50%",
      "narrow",     "sample-low", "sample-high", "log-uniform",   "prices",         "zeros-90%",     "log-sizes",
      "timestamps", "text",       "word-hashes", "few-2^8",       "few-2^16",       "few-2^24",      "percents",
      "clusters",
  };
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<size_t>(Distribution::kCount),
                "every distribution has a name");
  return d < Distribution::kCount ? names[static_cast<uint32_t>(d)] : "unknown";
}

uint32_t dtype_bytes(gsort_dtype t) {
  switch (t) {
    case GSORT_U8:
    case GSORT_I8:
      return 1;
    case GSORT_U16:
    case GSORT_I16:
    case GSORT_F16:
    case GSORT_BF16:
      return 2;
    case GSORT_U32:
    case GSORT_I32:
    case GSORT_F32:
      return 4;
    default:
      return 8;
  }
}

const char *dtype_name(gsort_dtype t) {
  static const char *const names[] = {"?",   "u8",  "i8",  "u16",  "i16", "u32", "i32",
                                      "u64", "i64", "f16", "bf16", "f32", "f64"};
  return t <= GSORT_F64 ? names[t] : names[0];
}

bool dtype_is_float(gsort_dtype t) { return t >= GSORT_F16 && t <= GSORT_F64; }

bool dtype_is_signed_integer(gsort_dtype t) {
  return t == GSORT_I8 || t == GSORT_I16 || t == GSORT_I32 || t == GSORT_I64;
}

}  // namespace gsort_bench
