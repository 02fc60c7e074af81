// SPDX-License-Identifier: MIT OR Apache-2.0
// What the log of a CPU handle says of the way that a call takes. Keys of 1 and 2 bytes, which go the same ways with
// and without vectors.
#include <string>
#include <vector>

#include "inputs/distributions.h"
#include "lifecycle/operations.h"
#include "reference/sorting.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

void keep_line(void *user, const char *message) { static_cast<std::vector<std::string> *>(user)->push_back(message); }

enum class Keys { kAny, kUp, kDown };

Array keys_of(Keys keys, gsort_dtype t, uint64_t n) {
  const Array any = generate(Distribution::kUniform, t, n, 1);
  return keys == Keys::kAny ? any : reference_sort(any, keys == Keys::kUp ? 0 : GSORT_DESCENDING);
}

struct Known {
  const char *operation;
  gsort_dtype t;
  uint64_t n;
  Keys keys;
  const char *line;  // the last one's beginning
};

constexpr Keys kAny = Keys::kAny, kUp = Keys::kUp, kDown = Keys::kDown;

constexpr Known kKnown[] = {
    {"sort", GSORT_U8, 1000, kAny, "cpu sort: n = 1000, 1-byte keys counted, 2 threads"},
    {"sort", GSORT_I8, 100000, kUp, "cpu sort: n = 100000, 1-byte keys counted, 2 threads"},
    {"sort", GSORT_U16, 1000, kAny, "cpu sort: n = 1000, 2-byte keys as words of 4, 1 threads"},
    {"sort", GSORT_F16, 60000, kUp, "cpu sort: the keys are in this order"},
    {"sort", GSORT_I16, 60000, kDown, "cpu sort: the keys are in the reverse order"},
    {"sort", GSORT_U16, 1000000, kAny, "cpu sort: n = 1000000, 2-byte keys counted, 2 threads"},
    {"sort_pairs", GSORT_U8, 1000, kAny,
     "cpu sort_pairs: n = 1000, 1-byte keys, 4-byte values, one sort in cache, 1 threads"},
    {"sort_pairs", GSORT_U16, 60000, kUp, "cpu sort_pairs: the keys are in the reverse order"},
    {"sort_pairs", GSORT_I16, 60000, kDown, "cpu sort_pairs: the keys are in this order"},  // it sorts descending
    {"argsort", GSORT_BF16, 60000, kUp, "cpu argsort: the keys are in this order"},
    {"argsort", GSORT_U16, 60000, kDown, "cpu argsort: the keys are in the reverse order"},
    {"rank", GSORT_U8, 1000, kAny, "cpu rank: n = 1000, 1-byte keys, 4-byte values, one sort in cache, 1 threads"},
    {"rank", GSORT_U16, 60000, kUp, "cpu rank: the keys are in this order"},
    {"topk", GSORT_U8, 1000, kAny, "cpu argsort: n = 1000, 1-byte keys, 4-byte values, one sort in cache, 1 threads"},
    {"topk_rows", GSORT_U8, 999, kAny, "cpu topk_rows: 3 rows, 0 of them long, "},
    {"sort_segments", GSORT_U16, 100000, kAny, "cpu sort_segments: 20 segments, the largest of "},
};

gsort_options options_with_log(uint32_t threads, std::vector<std::string> &lines) {
  gsort_options options = default_options(GSORT_BACKEND_CPU);
  options.threads = threads;
  options.log = keep_line;
  options.log_user = &lines;
  return options;
}

TEST(CpuLog, NamesTheWayOfACall) {
  std::vector<std::string> lines;
  const Handle handle(options_with_log(2, lines));
  ASSERT_EQ(GSORT_OK, handle.status());
  for (const Known &known : kKnown) {
    const Arrays arrays(Place::kHost, keys_of(known.keys, known.t, known.n));
    for (const NamedOperation &operation : all_operations()) {
      if (std::string(operation.name) != known.operation) continue;
      lines.clear();
      ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays)));
      ASSERT_FALSE(lines.empty()) << known.line;
      EXPECT_EQ(known.line, lines.back().substr(0, std::string(known.line).size()));
    }
  }
}

// Of longer keys, the way depends on the vectors that there are.
TEST(CpuLog, NamesTheSortOfLongerKeys) {
  std::vector<std::string> lines;
  const Handle handle(options_with_log(2, lines));
  ASSERT_EQ(GSORT_OK, handle.status());
  for (const gsort_dtype t : {GSORT_U32, GSORT_F32, GSORT_I64, GSORT_F64}) {
    const Array in = generate(Distribution::kUniform, t, 1000, 1);
    Bytes out(1000 * in.element_bytes());
    lines.clear();
    ASSERT_TRUE(succeeded(handle.get(), gsort_sort(handle.get(), t, in.bytes().data(), out.data(), 1000, 0)));
    ASSERT_FALSE(lines.empty()) << t;
    const std::string wanted = "cpu sort: n = 1000, " + std::to_string(in.element_bytes()) + "-byte keys, ";
    EXPECT_EQ(wanted, lines.back().substr(0, wanted.size()));
  }
}

// What one long row needs few threads for, its candidates, does not take them from the next row.
TEST(CpuLog, EveryLongRowIsForAllThreads) {
  constexpr uint64_t kRows = 3, kColumns = (uint64_t{1} << 20) + 5, k = 10;
  std::vector<std::string> lines;
  const Handle handle(options_with_log(3, lines));
  ASSERT_EQ(GSORT_OK, handle.status());
  const Array in = generate(Distribution::kUniform, GSORT_F32, kRows * kColumns, 1);
  lines.clear();
  Bytes best(kRows * k * in.element_bytes());
  ASSERT_TRUE(succeeded(handle.get(), gsort_topk_rows(handle.get(), GSORT_F32, in.bytes().data(), kRows, kColumns,
                                                      kColumns, k, best.data(), GSORT_U64, nullptr, 0)));
  ASSERT_EQ(1 + kRows, lines.size());
  for (size_t i = 1; i < lines.size(); ++i) EXPECT_NE(std::string::npos, lines[i].find("up to 3 threads")) << lines[i];
}

}  // namespace
}  // namespace gsort_test
