// SPDX-License-Identifier: MIT OR Apache-2.0
// Sizes to ask plans about, and the check that slices of a workspace do not overlap.
#ifndef GSORT_TESTS_UNIT_PLAN_PLAN_SUPPORT_H_
#define GSORT_TESTS_UNIT_PLAN_PLAN_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/request.h"

namespace gsort_test {

constexpr gsort_dtype kPlanTypes[] = {GSORT_U8, GSORT_U16, GSORT_F32, GSORT_I64};

// Powers of two and their neighbours, from 1 to 2^36, and some sizes between.
inline std::vector<uint64_t> plan_sizes() {
  std::vector<uint64_t> sizes = {1, 3, 100, 4095, 4097, 100000, 700001, 10000019, 283115520, 283115521};
  for (uint32_t bit = 1; bit <= 36; ++bit)
    for (const int64_t off : {-1, 0, 1}) sizes.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(off));
  return sizes;
}

inline gsort_internal::Request make(gsort_internal::Operation operation, gsort_dtype t, uint64_t n,
                                    uint32_t value_bytes) {
  gsort_internal::Request request = {};
  request.operation = operation;
  request.order.dtype = t;
  request.n = n;
  request.value_bytes = value_bytes;
  request.index_t = GSORT_U64;
  return request;
}

struct Slice {
  const char *name;
  uint64_t offset;
  uint64_t bytes;  // needed
};

// In the order given every slice is aligned and ends before the next begins, and the last before `whole`.
inline void expect_apart(const std::vector<Slice> &slices, uint64_t whole, uint64_t alignment) {
  uint64_t end = 0;
  const char *before = "the beginning";
  for (const Slice &slice : slices) {
    EXPECT_EQ(0u, slice.offset % alignment) << slice.name;
    EXPECT_LE(end, slice.offset) << slice.name << " overlaps " << before;
    end = slice.offset + slice.bytes;
    before = slice.name;
  }
  EXPECT_LE(end, whole) << before << " ends behind the workspace";
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_PLAN_PLAN_SUPPORT_H_
