// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sort() and the typed sorts against the reference.
#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class SortTest : public BackendTypeTest {};

TEST_P(SortTest, MatchesReference) {
  for (const Sample &sample : samples(type(), kSortFlags)) {
    SCOPED_TRACE(sample.describe());
    const Array keys = sample.make();
    const Array sorted = run_sort(sample.where(handle(), place()), keys, sample.flags);
    ASSERT_TRUE(same_elements(reference_sort(keys, sample.flags), sorted));
    if (HasFailure()) return;
  }
}

// Every digit in turn is the only one that differs.
TEST_P(SortTest, OneDigitEach) {
  for (uint64_t digit = 0; digit < element_type(type()).bytes; digit++) {
    for (const uint32_t flags : kSortFlags) {
      SCOPED_TRACE(testing::Message() << "digit " << digit << describe_flags(flags));
      const Array keys = generate(Distribution::kOneDigit, type(), 5003, digit);
      ASSERT_TRUE(same_elements(reference_sort(keys, flags), run_sort({handle(), place()}, keys, flags)));
    }
  }
}

TEST_P(SortTest, EveryMisalignment) {
  for (uint32_t offset = 0; offset < 16; offset++) {
    for (const uint64_t n : {uint64_t{15}, uint64_t{1000}, uint64_t{9001}}) {
      SCOPED_TRACE(testing::Message() << "offset " << offset << ", n " << n);
      const Array keys = generate(Distribution::kUniform, type(), n, offset);
      const Where where = {handle(), place(), place(), offset, offset % 2 == 1};
      ASSERT_TRUE(same_elements(reference_sort(keys, 0), run_sort(where, keys, 0)));
    }
  }
}

// The flags that sorting knows have no effect on integers where the header says so.
TEST_P(SortTest, NanLastDoesNothingToIntegers) {
  if (element_type(type()).is_float) return;
  const Array keys = generate(Distribution::kUniform, type(), 3001, 5);
  const Where where = {handle(), place()};
  EXPECT_TRUE(same_elements(run_sort(where, keys, 0), run_sort(where, keys, GSORT_NAN_LAST)));
}

gsort_status typed_sort(gsort *g, gsort_dtype t, void *keys, uint64_t n, uint32_t flags) {
  switch (t) {
    case GSORT_U32:
      return gsort_sort_u32(g, static_cast<uint32_t *>(keys), n, flags);
    case GSORT_I32:
      return gsort_sort_i32(g, static_cast<int32_t *>(keys), n, flags);
    case GSORT_U64:
      return gsort_sort_u64(g, static_cast<uint64_t *>(keys), n, flags);
    case GSORT_I64:
      return gsort_sort_i64(g, static_cast<int64_t *>(keys), n, flags);
    case GSORT_F32:
      return gsort_sort_f32(g, static_cast<float *>(keys), n, flags);
    default:
      return gsort_sort_f64(g, static_cast<double *>(keys), n, flags);
  }
}

TEST_P(SortTest, TypedSorts) {
  const uint32_t bytes = element_type(type()).bytes;
  if (bytes < 4) return;  // the header has typed sorts for 32 and 64 bits only
  for (const uint32_t flags : kSortFlags) {
    for (const uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{777}, uint64_t{30011}}) {
      SCOPED_TRACE(testing::Message() << n << describe_flags(flags));
      const Array keys = generate(Distribution::kUniform, type(), n, n);
      Buffer buffer(place(), keys.bytes().size(), bytes);
      buffer.write(keys.bytes());
      ASSERT_TRUE(succeeded(handle(), typed_sort(handle(), type(), buffer.data(), n, flags)));
      ASSERT_TRUE(succeeded(handle(), gsort_synchronize(handle())));
      EXPECT_TRUE(buffer.red_zones_intact());
      ASSERT_TRUE(same_elements(reference_sort(keys, flags), Array(type(), buffer.read())));
    }
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(SortTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
