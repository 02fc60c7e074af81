// SPDX-License-Identifier: MIT OR Apache-2.0
#include <limits>
#include <utility>

#include "cpu/vector/sort.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/sort_64.cpp"
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/vector/sort-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
extern const SortKernels<uint64_t> kSort64;
const SortKernels<uint64_t> kSort64 = {sort_keys<uint64_t>, sort_part<uint64_t>, split_keys<uint64_t>,
                                       decode_inner_keys<uint64_t>};
#endif
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort_internal {
const SortKernels<uint64_t> *sort_kernels(uint64_t) {
  static const SortKernels<uint64_t> *const table[] = GSORT_VECTOR_TABLE(kSort64);
  return pick_kernels(table);
}
}  // namespace gsort_internal
#endif  // HWY_ONCE

#else  // GSORT_HIGHWAY

namespace gsort_internal {
const SortKernels<uint64_t> *sort_kernels(uint64_t) { return nullptr; }
}  // namespace gsort_internal

#endif  // GSORT_HIGHWAY
