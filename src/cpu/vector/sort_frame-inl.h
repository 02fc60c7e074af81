// SPDX-License-Identifier: MIT OR Apache-2.0
// The frame of the sources that compile the sort of one key type, GSORT_SORT_KEY, for every vector target, each
// target's kernels being GSORT_SORT_KERNELS. A source of its own for each type, so that they are compiled side by side.
// Included again for each target, so it has no guard.
#include <limits>
#include <utility>

#include "cpu/vector/sort.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/sort_frame-inl.h"
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
extern const SortKernels<GSORT_SORT_KEY> GSORT_SORT_KERNELS;
const SortKernels<GSORT_SORT_KEY> GSORT_SORT_KERNELS = {
    sort_keys<GSORT_SORT_KEY>, sort_few<GSORT_SORT_KEY>,   kIntegersMax<GSORT_SORT_KEY>,
    sort_part<GSORT_SORT_KEY>, split_keys<GSORT_SORT_KEY>, decode_inner_keys<GSORT_SORT_KEY>};
#endif
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();
#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(SortKernels<GSORT_SORT_KEY>, sort_kernels, GSORT_SORT_KEY, GSORT_SORT_KERNELS)
}  // namespace gsort_internal
#endif
