// SPDX-License-Identifier: MIT OR Apache-2.0
// What a progress function is told on the CPU by every operation and width of keys: work that grows from 0 to its
// whole.
#include <string>
#include <thread>
#include <vector>

#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

struct Told {
  std::vector<uint64_t> done, total;
  std::thread::id thread = std::this_thread::get_id();
  bool elsewhere = false;
};

int32_t remember(void *user, uint64_t done, uint64_t total) {
  auto *told = static_cast<Told *>(user);
  told->done.push_back(done);
  told->total.push_back(total);
  if (std::this_thread::get_id() != told->thread) told->elsewhere = true;
  return 0;
}

// A last part may not be told of: of sorts that end in one go, of keys outside all segments, of tiles in a row.
bool tells_the_end(const std::string &operation, gsort_dtype t) {
  if (operation == "sort_segments") return false;
  if (operation == "scan") return !element_type(t).is_float;
  return (operation != "sort" && operation != "argsort" && operation != "rank") || element_type(t).bytes < 4;
}

void expect_growing(const Told &told) {
  ASSERT_FALSE(told.done.empty());
  EXPECT_EQ(0u, told.done.front()) << "nothing is done yet";
  for (size_t i = 1; i < told.done.size(); ++i) {
    EXPECT_EQ(told.total[0], told.total[i]) << "the whole changed";
    ASSERT_LE(told.done[i - 1], told.done[i]) << "call " << i;
  }
  EXPECT_LE(told.done.back(), told.total.back());
  EXPECT_FALSE(told.elsewhere) << "not the calling thread";
}

TEST(Progress, GrowsToTheWhole) {
  const Handle handle(GSORT_BACKEND_CPU, 1);
  ASSERT_EQ(GSORT_OK, handle.status());
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_F16, GSORT_U32, GSORT_F32, GSORT_I64, GSORT_F64}) {
    const Arrays arrays(Place::kHost, generate(Distribution::kUniform, t, 400000, 1));
    for (const NamedOperation &operation : all_operations()) {
      SCOPED_TRACE(std::string(operation.name) + " of " + element_type(t).name);
      Told told;
      ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), remember, &told)));
      ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays)));
      expect_growing(told);
      if (tells_the_end(operation.name, t))
        EXPECT_EQ(told.total.back(), told.done.back());
      else
        EXPECT_TRUE(told.total.back() == arrays.n || told.total.back() == 2 * arrays.n) << told.total.back();
    }
  }
}

// Which is done digit by digit.
TEST(Progress, OfASelectionOfMoreThanHalf) {
  const Handle handle(GSORT_BACKEND_CPU, 1);
  ASSERT_EQ(GSORT_OK, handle.status());
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_F32, GSORT_U64}) {
    const Array in = generate(Distribution::kUniform, t, 400000, 1);
    Bytes best(in.bytes().size());
    Told told;
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), remember, &told)));
    ASSERT_TRUE(succeeded(handle.get(), gsort_topk(handle.get(), t, in.bytes().data(), in.size(), in.size() / 5 * 3,
                                                   best.data(), GSORT_U64, nullptr, 0)));
    expect_growing(told);
    EXPECT_EQ(told.total.back(), told.done.back()) << element_type(t).name;
  }
}

}  // namespace
}  // namespace gsort_test
