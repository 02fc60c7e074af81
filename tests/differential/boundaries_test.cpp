// SPDX-License-Identifier: MIT OR Apache-2.0
// Sizes around powers of two and around three quarters of them, up to 2^20: where tiles, blocks and passes begin.
#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

constexpr gsort_dtype kMainTypes[] = {GSORT_U8, GSORT_F16, GSORT_U32, GSORT_F64};

std::vector<uint64_t> boundary_sizes() {
  std::vector<uint64_t> sizes;
  for (uint64_t power = 1 << 12; power <= 1 << 20; power *= 2) {
    for (const uint64_t n : {power - 1, power, power + 1}) sizes.push_back(n);
    if (power < 1 << 18) sizes.push_back(power / 4 * 3 + 1);
  }
  return sizes;
}

class BoundariesTest : public BackendTypeTest {};

TEST_P(BoundariesTest, SortPairsAndArgsort) {
  uint64_t turn = 0;
  for (const uint64_t n : boundary_sizes()) {
    const uint32_t flags = kSortFlags[turn % 4];
    const Distribution distribution = turn % 3 == 0 ? Distribution::kAnd3 : Distribution::kUniform;
    SCOPED_TRACE(testing::Message() << "n " << n << describe_flags(flags));
    const Array keys = generate(distribution, type(), n, n);
    const Where where = {handle(), place(), place(), static_cast<uint32_t>(turn % 4), turn % 2 == 0};
    const Indices order = reference_argsort(keys, flags);
    const Array sorted = gather(keys, order);
    ASSERT_TRUE(same_elements(sorted, run_sort(where, keys, flags)));
    const Pairs in = {keys, generate_values(n, 4, n)};
    const Pairs out = run_sort_pairs(where, in, 4, flags);
    ASSERT_TRUE(same_elements(sorted, out.keys));
    ASSERT_TRUE(same_bytes(gather_values(in.values, 4, order), out.values));
    ASSERT_TRUE(same_elements(make_indices(GSORT_U32, order), run_argsort(where, keys, GSORT_U32, flags)));
    if (HasFailure()) return;
    turn++;
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(BoundariesTest, kMainTypes);

}  // namespace
}  // namespace gsort_test
