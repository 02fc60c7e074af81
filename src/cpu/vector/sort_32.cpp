// SPDX-License-Identifier: MIT OR Apache-2.0
#include <limits>
#include <utility>

#include "cpu/vector/sort.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/sort_32.cpp"
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
extern const SortKernels<uint32_t> kSort32;
const SortKernels<uint32_t> kSort32 = {sort_keys<uint32_t>, sort_part<uint32_t>, split_keys<uint32_t>,
                                       decode_inner_keys<uint32_t>};
#endif
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort_internal {
const SortKernels<uint32_t> *sort_kernels(uint32_t) {
  static const SortKernels<uint32_t> *const table[] = GSORT_VECTOR_TABLE(kSort32);
  return pick_kernels(table);
}
}  // namespace gsort_internal
#endif  // HWY_ONCE

#else  // GSORT_HIGHWAY

namespace gsort_internal {
const SortKernels<uint32_t> *sort_kernels(uint32_t) { return nullptr; }
}  // namespace gsort_internal

#endif  // GSORT_HIGHWAY
