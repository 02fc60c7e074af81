// SPDX-License-Identifier: MIT OR Apache-2.0
// The same bits at any number of threads.
#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kWatched = true;
#else
constexpr bool kWatched = false;
#endif

// Under ThreadSanitizer everything takes tens of times as long. What remains still gives every operation to several
// threads: sums are shared out from 2^19 elements on.
struct Workload {
  std::vector<gsort_dtype> types;
  std::vector<uint64_t> sizes, reference_sizes;
  std::vector<Distribution> distributions;
  std::vector<uint32_t> threads;
};
const Workload kWorkload = kWatched
                               ? Workload{{GSORT_I32, GSORT_F64}, {600011}, {50021}, {Distribution::kSmallRange}, {3}}
                               : Workload{{GSORT_U8, GSORT_I32, GSORT_BF16, GSORT_F64},
                                          {1000, 100003, 600011},
                                          {5, 50021, 400009},
                                          {Distribution::kSmallRange, Distribution::kTwoValues},
                                          {2, 3, 8}};

class ThreadCountTest : public ::testing::TestWithParam<gsort_dtype> {
 protected:
  // Every operation on one input, its results as bytes.
  std::vector<Bytes> results(uint32_t threads, const Array &in) {
    const Handle handle(GSORT_BACKEND_CPU, threads);
    const Where where = {handle.get()};
    const gsort_dtype t = in.type();
    const uint64_t n = in.size();
    std::vector<Bytes> all;
    all.push_back(run_sort(where, in, 0).bytes());
    const Pairs pairs = run_sort_pairs(where, {in, generate_values(n, 4, 1)}, 4, GSORT_DESCENDING);
    all.push_back(pairs.keys.bytes());
    all.push_back(pairs.values);
    all.push_back(run_argsort(where, in, GSORT_U32, GSORT_NAN_LAST).bytes());
    all.push_back(run_rank(where, in, GSORT_U64, 0).bytes());
    all.push_back(run_merge(where, Array(t, all[0]), Array(t, all[0]), 0).bytes());
    all.push_back(run_sort_segments(where, in, generate_offsets(n, 50, 1), 0).bytes());
    const Selection best = run_topk(where, in, {n / 5, GSORT_U32, Wanted::kBoth, 0});
    all.push_back(best.values.bytes());
    all.push_back(best.indices.bytes());
    all.push_back(run_topk_rows(where, in, {n / 100, 100, 100}, {7, GSORT_U32, Wanted::kBoth, 0}).indices.bytes());
    all.push_back(run_scan(where, in, 0).bytes());
    for (const uint64_t bits : {run_sum(where, in), run_reduce(where, GSORT_MEAN, in, 0),
                                run_reduce(where, GSORT_ARGMIN, in, 0), run_reduce(where, GSORT_MAX, in, 0)}) {
      all.push_back(make_array(GSORT_U64, std::vector<uint64_t>{bits}).bytes());
    }
    return all;
  }
};

TEST_P(ThreadCountTest, SameBits) {
  for (const uint64_t n : kWorkload.sizes) {
    for (const Distribution distribution : kWorkload.distributions) {
      const Array in = generate(distribution, GetParam(), n, 3);
      const std::vector<Bytes> one_thread = results(1, in);
      for (const uint32_t threads : kWorkload.threads) {
        const std::vector<Bytes> many_threads = results(threads, in);
        for (size_t r = 0; r < one_thread.size(); r++) {
          ASSERT_TRUE(same_bytes(one_thread[r], many_threads[r]))
              << "result " << r << " with " << threads << " threads, n " << n;
        }
      }
    }
  }
}

// Runs above a cache's size: 24 of them after the first byte, half of which the second byte leaves whole or halves. One
// thread splits such a run where there are enough for all, and otherwise all threads do.
TEST(ThreadCountRuns, ManyThatMustBeSplitAgain) {
  const uint64_t n = kWatched ? 900000 : 2000000;
  Array keys(GSORT_U64, n);
  Random random(7);
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t bits = random.next(), run = bits % 24;
    const uint64_t second = run < 6 ? 5 : run < 12 ? bits >> 60 & 1 : bits >> 48 & 255;
    keys.set(i, run << 56 | second << 48 | (random.next() & 0xffffffffffff));
  }
  const Array sorted = reference_sort(keys, 0);
  const Indices order = reference_argsort(keys, 0);
  const Bytes values = generate_values(n, 8, 1);
  for (const uint32_t threads : {1u, 2u, 3u, 8u}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    const Handle handle(GSORT_BACKEND_CPU, threads);
    const Where where = {handle.get()};
    ASSERT_TRUE(same_elements(sorted, run_sort(where, keys, 0)));
    ASSERT_TRUE(same_elements(make_indices(GSORT_U32, order), run_argsort(where, keys, GSORT_U32, 0)));
    const Pairs pairs = run_sort_pairs(where, {keys, values}, 8, 0);
    ASSERT_TRUE(same_elements(sorted, pairs.keys));
    ASSERT_TRUE(same_bytes(gather_values(values, 8, order), pairs.values));
  }
}

TEST_P(ThreadCountTest, MatchesReferenceWithManyThreads) {
  const Handle handle(GSORT_BACKEND_CPU, 8);
  for (const uint64_t n : kWorkload.reference_sizes) {
    const Array keys = generate(Distribution::kAnd1, GetParam(), n, 3);
    const Indices order = reference_argsort(keys, GSORT_DESCENDING);
    EXPECT_TRUE(same_elements(gather(keys, order), run_sort({handle.get()}, keys, GSORT_DESCENDING)));
    EXPECT_TRUE(
        same_elements(make_indices(GSORT_U32, order), run_argsort({handle.get()}, keys, GSORT_U32, GSORT_DESCENDING)));
  }
}

TEST(ThreadCount, InfoTellsTheThreads) {
  const Handle handle(GSORT_BACKEND_CPU, 5);
  gsort_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_TRUE(succeeded(handle.get(), gsort_info_get(handle.get(), &info)));
  EXPECT_EQ(5u, info.threads);
}

INSTANTIATE_TEST_SUITE_P(Types, ThreadCountTest, ::testing::ValuesIn(kWorkload.types),
                         [](const auto &test) { return std::string(element_type(test.param).name); });

}  // namespace
}  // namespace gsort_test
