// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of so few keys, alone or with values as long as they are, that what a call does around them is most of it: a
// kernel for each number of them, found by the least there is to do.
#ifndef GSORT_CPU_VECTOR_FEW_H_
#define GSORT_CPU_VECTOR_FEW_H_

#include <cstdint>

#include "cpu/vector/target.h"
#include "gsort.h"

namespace gsort_internal {

constexpr uint32_t kFewMax = 64;

// Sorts n keys; `in` may be `out`, and overlaps it in no other way.
using FewKeySort = void (*)(const void *coder, uint64_t n, const void *in, void *out);
// Sorts n records stably by an order's number (vector/sort.h); outputs may be their inputs. False, and nothing is
// written, if the kernel does not serve these keys.
using FewPairSort = bool (*)(uint32_t order, const void *keys, const void *values, uint32_t n, void *keys_out,
                             void *values_out);

// The kernels for a type in an order. Nothing is compared as floats.
template <class Sort>
struct FewSorts {
  alignas(32) const Sort *by_count;  // of n at n - 1
  const void *coder;                 // of the order
  uint32_t order;
  uint32_t items_max;  // up to kFewMax; 0 if there are none
  uint32_t key_bytes;
};

// By type, from GSORT_U32 on, and by GSORT_DESCENDING and GSORT_NAN_LAST.
constexpr uint32_t kFewTypes = GSORT_F64 - GSORT_U32 + 1, kFewOrders = 4;
template <class Sort>
struct FewTable {
  FewSorts<Sort> of[kFewTypes][kFewOrders];
};

// By the target in use, also where it is none or not known yet.
template <class Sort>
struct FewTables {
  const FewTable<Sort> *of[kVectorTargetUnknown + 1];
};
extern const FewTables<FewKeySort> kFewKeySorts;
extern const FewTables<FewPairSort> kFewPairSorts;

template <class Sort>
const FewSorts<Sort> &few_sorts(const FewTables<Sort> &tables, uint32_t type_from_u32, uint32_t flags) {
  return tables.of[vector_target_in_use.load(std::memory_order_relaxed)]->of[type_from_u32][flags];
}

template <class Sort>
constexpr FewTable<Sort> kNoFewSorts = {};
template <class Sort>
constexpr FewTables<Sort> few_tables_of(const FewTable<Sort> *const (&of_targets)[kVectorTargets]) {
  FewTables<Sort> tables = {};
  for (uint32_t i = 0; i <= kVectorTargetUnknown; ++i)
    tables.of[i] = i < kVectorTargets && of_targets[i] != nullptr ? of_targets[i] : &kNoFewSorts<Sort>;
  return tables;
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_FEW_H_
