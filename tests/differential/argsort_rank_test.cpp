// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_argsort() and gsort_rank() with every index type.
#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class ArgsortRankTest : public BackendTypeTest {};

TEST_P(ArgsortRankTest, ArgsortMatchesReference) {
  uint32_t turn = 0;
  for (const Sample &sample : samples(type(), kSortFlags)) {
    SCOPED_TRACE(sample.describe());
    const gsort_dtype index_t = kIndexTypes[turn++ % 4];
    const Array keys = sample.make();
    const Array order = run_argsort(sample.where(handle(), place()), keys, index_t, sample.flags);
    ASSERT_TRUE(same_elements(make_indices(index_t, reference_argsort(keys, sample.flags)), order));
    if (HasFailure()) return;
  }
}

TEST_P(ArgsortRankTest, RankMatchesReference) {
  uint32_t turn = 2;
  for (const Sample &sample : samples(type(), kSortFlags)) {
    SCOPED_TRACE(sample.describe());
    const gsort_dtype index_t = kIndexTypes[turn++ % 4];
    const Array keys = sample.make();
    const Array ranks = run_rank(sample.where(handle(), place()), keys, index_t, sample.flags);
    ASSERT_TRUE(same_elements(make_indices(index_t, reference_rank(keys, sample.flags)), ranks));
    if (HasFailure()) return;
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(ArgsortRankTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
