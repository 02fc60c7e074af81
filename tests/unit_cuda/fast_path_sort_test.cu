// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole sorts that try the fast path: where it does not apply, the sort behind it does the work.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cuda/sort/fast_path/plan.h"
#include "cuda/sort/launch.h"
#include "cuda/sort/msd/plan.h"
#include "fast_path_support.h"

namespace gsort_internal {
namespace {

using gsort_test::Bytes;
using gsort_test::DeviceArray;
using gsort_test::masked_words;
using gsort_test::ordered_words;
using gsort_test::pack;
using gsort_test::random_mask;
using gsort_test::random_words;
using gsort_test::stable_order;
using gsort_test::taken;
using gsort_test::unpack;
using gsort_test::Words;

class FastPathSort : public gsort_test::LaunchTest {
 protected:
  sort::Options options_;

  void check(const Words &keys, const Request &request, bool in_place) { check(keys, request, in_place, in_place); }

  void check(const Words &keys, Request request, bool in_place, bool values_in_place) {
    const uint32_t bytes = dtype_bytes(request.order.dtype);
    const uint64_t n = keys.size();
    const bool pairs = request.operation == Operation::kSortPairs;
    const bool sorts = pairs || request.operation == Operation::kSort;
    const uint32_t out_bytes = sorts ? bytes : dtype_bytes(request.index_t);
    SCOPED_TRACE("operation " + std::to_string(static_cast<int>(request.operation)) + " values of " +
                 std::to_string(request.value_bytes) + (in_place ? " in place" : "") +
                 (values_in_place ? " values in place" : ""));
    const std::vector<uint64_t> sources = stable_order(keys, request.order);
    DeviceArray in(pack(keys, bytes), bytes), out(n * out_bytes, 0);
    const Bytes values = gsort_test::random_bytes(1, n * request.value_bytes, 255, 9);
    DeviceArray values_in(values, 0), values_out(n * request.value_bytes, 0);
    request.n = n;
    const uint64_t asked = options_.fast_path_items_min;
    ASSERT_EQ(sort::make_plan(request, facts_, options_).tries_fast_path,
              n >= (asked != 0 ? asked : sort::fast_path::items_min(bytes, request.operation == Operation::kSort)));
    request.in = in.data();
    request.out = in_place && sorts ? in.data() : out.data();
    request.values_in = values_in.data();
    request.values_out = values_in_place ? values_in.data() : values_out.data();
    run(sort::workspace_bytes(request, options_), request,
        [&](const gsort_internal::LaunchContext &context, const Request &what, void *workspace) {
          sort::launch(context, what, workspace, options_);
        });

    Words expected = sorts ? taken(keys, sources) : sources;
    if (request.operation == Operation::kRank)
      for (uint64_t i = 0; i < n; ++i) expected[sources[i]] = i;
    const bool moved = in_place && sorts;
    ASSERT_TRUE(unpack((moved ? in : out).read(), out_bytes) == expected);
    if (!moved) ASSERT_TRUE(unpack(in.read(), bytes) == keys) << "the input changed";
    if (!pairs) return;
    Bytes values_expected(values.size());
    for (uint64_t i = 0; i < n; ++i)
      std::copy_n(values.begin() + static_cast<int64_t>(sources[i] * request.value_bytes), request.value_bytes,
                  values_expected.begin() + static_cast<int64_t>(i * request.value_bytes));
    ASSERT_TRUE((values_in_place ? values_in : values_out).read() == values_expected) << "values";
  }

  void check_operations(const Words &keys, const KeyOrder &order) {
    for (const bool in_place : {false, true}) {
      check(keys, {Operation::kSort, order}, in_place);
      for (const uint32_t value_bytes : {4u, 8u, 12u})
        for (const bool values_in_place : {false, true}) {
          Request request{Operation::kSortPairs, order};
          request.value_bytes = value_bytes;
          check(keys, request, in_place, values_in_place);
        }
    }
    for (const Operation operation : {Operation::kArgsort, Operation::kRank})
      for (const gsort_dtype index_t : {GSORT_U32, GSORT_U64}) {
        Request request{operation, order};
        request.index_t = index_t;
        check(keys, request, false);
      }
  }
};

Words words_of(uint64_t n, uint32_t bytes, uint64_t count, uint64_t seed) {
  const Words values = random_words(count, bytes, seed);
  Words words = random_words(n, 8, seed + 1);
  for (uint64_t &word : words) word = values[word % count];
  return words;
}

// Descending, but for up to `most` that are equal.
Words turned_runs(uint64_t n, const KeyOrder &order, uint64_t most, uint64_t seed) {
  Words words = ordered_words(n, order, seed, true);
  const Words draws = random_words(n, 8, seed + 1);
  for (uint64_t i = 0; i < n; i += 1 + draws[i] % most)
    for (uint64_t next = i + 1; next < n && next < i + 1 + draws[i] % most; ++next) words[next] = words[i];
  return words;
}

// Ordered, few bits, few values, all with one key that spoils it, and neither.
std::vector<Words> telling_inputs(uint64_t n, const KeyOrder &order) {
  const uint32_t bytes = dtype_bytes(order.dtype);
  const Words up = ordered_words(n, order, 1, false);
  Words last_wrong = up, first_wrong = up, foreign = masked_words(n, bytes, 0xfff0000, 2);
  std::swap(last_wrong[n - 1], last_wrong[n - 2]);
  std::swap(first_wrong[0], first_wrong[1]);
  foreign[n - 5] ^= 1;
  Words other_value = words_of(n, bytes, 30, 15);
  other_value[n - 2] ^= 1;
  return {up,
          ordered_words(n, order, 2, true),
          last_wrong,
          first_wrong,
          foreign,
          turned_runs(n, order, 9, 6),
          turned_runs(n, order, 35, 7),
          words_of(n, bytes, 2, 10),
          words_of(n, bytes, 7, 11),
          words_of(n, bytes, 200, 12),
          words_of(n, bytes, 256, 13),
          words_of(n, bytes, 300, 14),
          other_value,
          masked_words(n, bytes, 0xffff00, 3),
          masked_words(n, bytes, 0x55555555, 4),
          random_words(n, bytes, 5),
          Words(n, 42)};
}

TEST_F(FastPathSort, EveryOperation) {
  options_.fast_path_items_min = 1;
  options_.algorithm = sort::Algorithm::kLsd;
  for (const KeyOrder &order : {KeyOrder{GSORT_U32, false, false}, KeyOrder{GSORT_F32, true, true},
                                KeyOrder{GSORT_I64, true, false}, KeyOrder{GSORT_F64, false, false}})
    for (const Words &keys : telling_inputs(20011, order)) {
      SCOPED_TRACE(std::string(dtype_facts(order.dtype).name) + " beginning with " + std::to_string(keys[0]) + ' ' +
                   std::to_string(keys[1]) + ' ' + std::to_string(keys[2]));
      check_operations(keys, order);
      if (HasFatalFailure()) return;
    }
}

// With the stable partition sort behind, and several portions of passes.
TEST_F(FastPathSort, BeforeThePartitionOfPairs) {
  options_.fast_path_items_min = 1;
  options_.algorithm = sort::Algorithm::kStable;
  options_.portion_tiles = 3;
  for (const KeyOrder &order : {KeyOrder{GSORT_U32, true, false}, KeyOrder{GSORT_F64, false, true}})
    for (const Words &keys : telling_inputs(130011, order)) {
      for (const bool in_place : {false, true}) {
        Request request{Operation::kSortPairs, order};
        request.value_bytes = 8;
        check(keys, request, in_place);
      }
      Request request{Operation::kRank, order};
      request.index_t = GSORT_U64;
      check(keys, request, false);
      if (HasFatalFailure()) return;
    }
}

// With the partition sort behind.
TEST_F(FastPathSort, KeysAlone) {
  options_.fast_path_items_min = 1;
  options_.algorithm = sort::Algorithm::kMsd;
  for (const KeyOrder &order : {KeyOrder{GSORT_U32, true, false}, KeyOrder{GSORT_F64, false, false}})
    for (const Words &keys : telling_inputs(sort::msd::kItemsMin + 77, order))
      for (const bool in_place : {false, true}) {
        check(keys, {Operation::kSort, order}, in_place);
        if (HasFatalFailure()) return;
      }
}

// So few keys and blocks that compute-sanitizer's racecheck comes to an end: before passes, with and without values,
// and before the partition sort.
TEST_F(FastPathSort, RacecheckBeforePasses) {
  options_.fast_path_items_min = 1;
  options_.algorithm = sort::Algorithm::kLsd;
  facts_.multiprocessors = std::min(facts_.multiprocessors, 2u);
  const uint64_t n = 9001;
  for (const KeyOrder &order : {KeyOrder{GSORT_U32, false, false}, KeyOrder{GSORT_F64, true, true}}) {
    const uint32_t bytes = dtype_bytes(order.dtype);
    for (const Words &keys :
         {words_of(n, bytes, 40, 11), random_words(n, bytes, 5), ordered_words(n, order, 2, true)}) {
      check(keys, {Operation::kSort, order}, true);
      Request pairs{Operation::kSortPairs, order};
      pairs.value_bytes = bytes;
      check(keys, pairs, false);
      check(keys, pairs, true);
      Request rank{Operation::kRank, order};
      rank.index_t = GSORT_U64;
      check(keys, rank, false);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(FastPathSort, RacecheckBeforeThePartition) {
  options_.fast_path_items_min = 1;
  options_.algorithm = sort::Algorithm::kMsd;
  const uint64_t n = sort::msd::kItemsMin + 77;
  const KeyOrder order = {GSORT_U32, true, false};
  check(words_of(n, 4, 200, 12), {Operation::kSort, order}, true);
  check(random_words(n, 4, 5), {Operation::kSort, order}, false);
}

TEST_F(FastPathSort, AtItsOwnSize) {
  for (const uint64_t n : {sort::fast_path::kShortItemsMin - 1, sort::fast_path::kShortItemsMin}) {
    Words keys(n);
    for (uint64_t i = 0; i < n; ++i) keys[i] = n - i;
    check(keys, {Operation::kSort, {GSORT_U32, false, false}}, true);
  }
}

// One graph, replayed over different keys: nothing of one run is left for the next.
TEST_F(FastPathSort, ReplaysOfACapturedSort) {
  options_.fast_path_items_min = 1;
  const uint64_t n = sort::msd::kItemsMin + 5;
  const KeyOrder order = {GSORT_U32, false, false};
  DeviceArray in(n * 4, 4), out(n * 4, 0);
  Request request{Operation::kSort, order};
  request.n = n;
  request.in = in.data();
  request.out = out.data();
  DeviceArray workspace(sort::workspace_bytes(request, options_), 0);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  sort::launch(context(stream), request, workspace.data(), options_);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  for (uint64_t turn = 0; turn < 15; ++turn) {
    const Words keys = turn % 5 == 0   ? ordered_words(n, order, turn, false)
                       : turn % 5 == 1 ? random_words(n, 4, turn)
                       : turn % 5 == 2 ? masked_words(n, 4, random_mask(16, 4, turn), turn)
                       : turn % 5 == 3 ? ordered_words(n, order, turn, true)
                                       : masked_words(n, 4, random_mask(9, 4, turn), turn);
    const Bytes packed = pack(keys, 4);
    in.put(packed);
    ASSERT_EQ(cudaGraphLaunch(replay, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    Words expected = keys;
    std::sort(expected.begin(), expected.end());
    ASSERT_TRUE(unpack(out.read(), 4) == expected) << turn;
  }
  EXPECT_EQ(cudaGraphExecDestroy(replay), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
}  // namespace gsort_internal
