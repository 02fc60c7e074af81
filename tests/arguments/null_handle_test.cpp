// SPDX-License-Identifier: MIT OR Apache-2.0
// Every call on a NULL handle, and the texts that need none.
#include "arguments/fixture.h"

namespace gsort_test {
namespace {

void expect_null_handle(gsort_status status) {
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, status);
  EXPECT_TRUE(has_words(gsort_error_message(nullptr), {"g", "NULL"}));
}

TEST(NullHandle, EveryCall) {
  uint64_t a[4] = {4, 3, 2, 1};
  uint64_t b[4] = {9, 9, 9, 9};
  float f[2] = {1, 0};
  double d[2] = {1, 0};
  uint32_t u[2] = {1, 0};
  int32_t i[2] = {1, 0};
  int64_t l[2] = {1, 0};
  gsort_info info = {};
  info.struct_size = sizeof info;
  expect_null_handle(gsort_info_get(nullptr, &info));
  expect_null_handle(gsort_set_stream(nullptr, nullptr));
  expect_null_handle(gsort_synchronize(nullptr));
  expect_null_handle(gsort_sort_u32(nullptr, u, 2, 0));
  expect_null_handle(gsort_sort_i32(nullptr, i, 2, 0));
  expect_null_handle(gsort_sort_u64(nullptr, a, 4, 0));
  expect_null_handle(gsort_sort_i64(nullptr, l, 2, 0));
  expect_null_handle(gsort_sort_f32(nullptr, f, 2, 0));
  expect_null_handle(gsort_sort_f64(nullptr, d, 2, 0));
  expect_null_handle(gsort_sort(nullptr, GSORT_U64, a, b, 4, 0));
  expect_null_handle(gsort_sort_pairs(nullptr, GSORT_U64, a, b, 4, u, i, 2, 0));
  expect_null_handle(gsort_argsort(nullptr, GSORT_U64, a, 4, GSORT_U64, b, 0));
  expect_null_handle(gsort_rank(nullptr, GSORT_U64, a, 4, GSORT_U64, b, 0));
  expect_null_handle(gsort_merge(nullptr, GSORT_U64, a, 1, a + 1, 1, b, 0));
  expect_null_handle(gsort_sort_segments(nullptr, GSORT_U64, a, b, 4, nullptr, 0, 0));
  expect_null_handle(gsort_topk(nullptr, GSORT_U64, a, 4, 1, b, GSORT_U64, nullptr, 0));
  expect_null_handle(gsort_topk_rows(nullptr, GSORT_U64, a, 2, 2, 2, 1, b, GSORT_U64, nullptr, 0));
  expect_null_handle(gsort_topk_segments(nullptr, GSORT_U64, a, 4, nullptr, 0, 1, b, GSORT_U64, nullptr, 0));
  expect_null_handle(gsort_sum(nullptr, GSORT_U64, a, 4, b, 0));
  expect_null_handle(gsort_reduce(nullptr, GSORT_MIN, GSORT_U64, a, 4, b, 0));
  expect_null_handle(gsort_scan(nullptr, GSORT_U64, a, b, 4, 0));
  expect_null_handle(gsort_reserve(nullptr, GSORT_OP_SORT, GSORT_U64, 4, 0));
  expect_null_handle(gsort_set_workspace(nullptr, nullptr, 0));
  expect_null_handle(gsort_set_progress(nullptr, nullptr, nullptr));
  expect_null_handle(gsort_cancel(nullptr));
  gsort_destroy(nullptr);
  for (const uint64_t nine : b) EXPECT_EQ(9u, nine);
  EXPECT_EQ(4u, a[0]);
  EXPECT_EQ(1.0f, f[0]);
}

TEST(Names, VersionAndStatuses) {
  EXPECT_EQ(static_cast<uint32_t>(GSORT_VERSION), gsort_version());
  EXPECT_EQ(std::to_string(GSORT_VERSION_MAJOR) + "." + std::to_string(GSORT_VERSION_MINOR) + "." +
                std::to_string(GSORT_VERSION_PATCH),
            gsort_version_string());
  const std::pair<gsort_status, const char *> names[] = {{GSORT_OK, "GSORT_OK"},
                                                         {GSORT_ERROR_INVALID_ARGUMENT, "GSORT_ERROR_INVALID_ARGUMENT"},
                                                         {GSORT_ERROR_OUT_OF_MEMORY, "GSORT_ERROR_OUT_OF_MEMORY"},
                                                         {GSORT_ERROR_NO_DEVICE, "GSORT_ERROR_NO_DEVICE"},
                                                         {GSORT_ERROR_DEVICE_LOST, "GSORT_ERROR_DEVICE_LOST"},
                                                         {GSORT_ERROR_CANCELLED, "GSORT_ERROR_CANCELLED"},
                                                         {GSORT_ERROR_FORKED, "GSORT_ERROR_FORKED"},
                                                         {GSORT_ERROR_NOT_SUPPORTED, "GSORT_ERROR_NOT_SUPPORTED"},
                                                         {GSORT_ERROR_INTERNAL, "GSORT_ERROR_INTERNAL"}};
  for (const auto &[status, name] : names) EXPECT_STREQ(name, gsort_status_name(status));
  for (const gsort_status status : {-1, 9, 1000000, INT32_MIN}) {
    EXPECT_STREQ("unknown status", gsort_status_name(status));
  }
}

TEST(Messages, EmptyBeforeAnyFailureAndBoundToTheHandle) {
  const Handle first(GSORT_BACKEND_CPU);
  const Handle second(GSORT_BACKEND_CPU);
  EXPECT_STREQ("", gsort_error_message(first.get()));
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort_u32(first.get(), nullptr, 1, 0));
  EXPECT_STRNE("", gsort_error_message(first.get()));
  EXPECT_STREQ("", gsort_error_message(second.get()));
}

}  // namespace
}  // namespace gsort_test
