// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: how the table of kernels for few keys is made (few.h).
#if defined(GSORT_CPU_VECTOR_FEW_TABLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_FEW_TABLE_INL_H_
#undef GSORT_CPU_VECTOR_FEW_TABLE_INL_H_
#else
#define GSORT_CPU_VECTOR_FEW_TABLE_INL_H_
#endif

#include <hwy/highway.h>

#include <utility>

#include "cpu/vector/few.h"
#include "cpu/vector/network-inl.h"
#include "cpu/vector/sort.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET

template <class K>
constexpr SortCoder<K> few_coder_of(uint32_t order) {
  return {kNumberedCodecs<K>[order], kNumberedCodecs<K>[order]};
}
template <class K>
constexpr SortCoder<K> kFewCoders[kNumberedOrders] = {few_coder_of<K>(0), few_coder_of<K>(1), few_coder_of<K>(2),
                                                      few_coder_of<K>(3), few_coder_of<K>(4), few_coder_of<K>(5)};

// All that Choose<K, kPlain>::sort_of<n>() returns; kPlain: all keys are made by one mask, if kKnowsPlain says that
// this makes a difference.
template <class Sort, template <class, bool> class Choose, class K, bool kPlain>
struct FewSortsByCount {
  Sort of[kFewMax];

  template <size_t... kLess>
  static constexpr FewSortsByCount make(std::index_sequence<kLess...>) {
    return {{Choose<K, kPlain>::template sort_of<kLess + 1>()...}};
  }
};
template <class Sort, template <class, bool> class Choose, class K, bool kPlain>
constexpr FewSortsByCount<Sort, Choose, K, kPlain> kFewSortsByCount =
    FewSortsByCount<Sort, Choose, K, kPlain>::make(std::make_index_sequence<kFewMax>());

// Entries of a type of keys. NaNs last is an order of its own, which kernels do not know.
template <class Sort, template <class, bool> class Choose, class K, Kind kKind>
constexpr void set_few(FewSorts<Sort> (&of)[kFewOrders]) {
  static_assert(GSORT_DESCENDING == 1 && GSORT_NAN_LAST == 2);
  constexpr bool kIsFloat = kKind == Kind::kFloat, kPlain = Choose<K, false>::kKnowsPlain && !kIsFloat;
  for (uint32_t flags = 0; flags < (kIsFloat ? 2 : kFewOrders); ++flags) {
    const uint32_t order = static_cast<uint32_t>(kKind) * 2 + (flags & GSORT_DESCENDING);
    of[flags] = {kFewSortsByCount<Sort, Choose, K, kPlain>.of, &kFewCoders<K>[order], order,
                 Choose<K, kPlain>::kItemsMax, sizeof(K)};
  }
}
template <class Sort, template <class, bool> class Choose>
constexpr FewTable<Sort> make_few_table() {
  FewTable<Sort> table = {};
  set_few<Sort, Choose, uint32_t, Kind::kUnsigned>(table.of[GSORT_U32 - GSORT_U32]);
  set_few<Sort, Choose, uint32_t, Kind::kSigned>(table.of[GSORT_I32 - GSORT_U32]);
  set_few<Sort, Choose, uint64_t, Kind::kUnsigned>(table.of[GSORT_U64 - GSORT_U32]);
  set_few<Sort, Choose, uint64_t, Kind::kSigned>(table.of[GSORT_I64 - GSORT_U32]);
  set_few<Sort, Choose, uint32_t, Kind::kFloat>(table.of[GSORT_F32 - GSORT_U32]);
  set_few<Sort, Choose, uint64_t, Kind::kFloat>(table.of[GSORT_F64 - GSORT_U32]);
  return table;
}

#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_FEW_TABLE_INL_H_
