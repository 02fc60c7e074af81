// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows with offsets by lists, thread by thread on the CPU: each list's rows by the kernels that take them, and
// those on none, beside each other.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "cuda/topk/best.cuh"
#include "cuda/topk/bound_lanes.cuh"
#include "cuda/topk/bound_rows.cuh"
#include "cuda/topk/parts.cuh"
#include "cuda/topk/ragged.cuh"
#include "cuda/topk/short_rows.cuh"

namespace gsort_internal::topk {

// The kernels' dynamic shared memory, by the name that they give it.
alignas(16) thread_local unsigned char dynamic[max_of(sizeof(BoundBlock<uint32_t, 16, 2, 256>),
                                                      sizeof(BoundBlock<uint64_t, 8, 2, 256>))];

namespace {

constexpr DeviceFacts kDevice = {90, 132, 232448};
constexpr uint32_t kMissing = 0xdddddddd;

enum class Values { kRandom, kFew, kOne, kInOrder, kClose };
constexpr Values kAllValues[] = {Values::kRandom, Values::kFew, Values::kOne, Values::kInOrder, Values::kClose};

template <class U>
U make_value(Values values, uint64_t any, uint64_t at) {
  switch (values) {
    case Values::kRandom:
      return static_cast<U>(any);
    case Values::kFew:
      return static_cast<U>(any % 5);
    case Values::kOne:
      return static_cast<U>(7);
    case Values::kInOrder:
      return static_cast<U>(at);
    case Values::kClose:
      break;
  }
  return static_cast<U>(any % 11 == 0 ? any : ~(any >> (8 * sizeof(U) - 3)));
}

template <class U>
struct Call {
  std::vector<uint64_t> offsets;
  std::vector<U> in, values;
  std::vector<uint32_t> indices;
  KeyCodec<U> codec;
  Problem<U> problem{};
  std::vector<uint64_t> lists[kLists];
  unsigned long long counters[kRaggedCounters];
  uint32_t error = 7;

  Call(const std::vector<uint64_t> &lengths, uint32_t k, Values kind, uint64_t seed) : offsets{seed % 3} {
    std::mt19937_64 random(seed);
    for (const uint64_t length : lengths) {
      offsets.push_back(offsets.back() + length);
      while (in.size() < offsets.back()) in.push_back(make_value<U>(kind, random(), in.size()));
    }
    const uint64_t rows = lengths.size();
    values.assign(rows * k + 1, static_cast<U>(kMissing)), indices.assign(rows * k + 1, kMissing);
    codec = make_codec<U>({sizeof(U) == 1   ? GSORT_I8
                           : sizeof(U) == 2 ? GSORT_F16
                           : sizeof(U) == 4 ? GSORT_U32
                                            : GSORT_F64,
                           seed % 2 == 1, seed % 3 == 0 && (sizeof(U) == 2 || sizeof(U) == 8)});
    problem.in = in.data(), problem.rows = rows, problem.k = k, problem.codec = codec;
    problem.index_bits = sizeof(U) == 8 ? 64 : 32;
    problem.output = {values.data(), indices.data(), 4};
    Ragged &ragged = problem.ragged;
    ragged.offsets = offsets.data(), ragged.error = &error, ragged.elements = in.size(), ragged.block_k_max = 2048;
    ragged.short_items_max = ragged_short_items_max(k, kDevice);
    ragged.listed_items_max = ragged_listed_items_max(k, sizeof(U), kDevice);
    ragged.cuts = k > 1, ragged.cut_min = ragged.listed_items_max;
    ragged.rows_at_once =
        k <= kSomeLanesMax ? 2 + static_cast<uint32_t>(seed % 31) : 4 + static_cast<uint32_t>(seed % 29);
    ragged.counters = counters;
    for (uint32_t i = 0; i < kLists; ++i) {
      lists[i].assign(i == kListParts ? parts_max(in.size(), rows) : rows, 0);
      ragged.lists[i] = lists[i].data(), ragged.capacity[i] = lists[i].size();
    }
  }

  void list(bool by_many) {
    const auto rows = static_cast<uint32_t>(problem.rows);
    ListCounters counts{};
    if (by_many)
      emulation::launch(3, kListThreads, 0,
                        [&] { topk_list_rows_kernel(problem.ragged, rows, problem.k, &counts, {nullptr, 0}); });
    else
      emulation::launch(1, kListAloneThreads, 0,
                        [&] { topk_list_few_rows_kernel(problem.ragged, rows, problem.k, {nullptr, 0}); });
  }

  void check() const {
    const uint64_t k = problem.k;
    for (uint64_t r = 0; r + 1 < offsets.size(); ++r) {
      const U *const row = in.data() + offsets[r];
      std::vector<uint32_t> wanted(offsets[r + 1] - offsets[r]);
      std::iota(wanted.begin(), wanted.end(), 0u);
      std::stable_sort(wanted.begin(), wanted.end(),
                       [&](uint32_t a, uint32_t b) { return codec.encode(row[a]) < codec.encode(row[b]); });
      for (uint64_t i = 0; i < k; ++i) {
        const bool is = i < wanted.size();
        ASSERT_EQ(is ? wanted[i] : ~0u, indices[r * k + i])
            << "row " << r << " of " << wanted.size() << ", place " << i;
        ASSERT_EQ(is ? row[wanted[i]] : U{0}, values[r * k + i]) << "row " << r << " of " << wanted.size();
      }
    }
    EXPECT_EQ(kMissing, indices.back()) << "behind the results";
  }
};

template <uint32_t kRegisters, class Key>
void by_lanes(const WidenedProblem<Key> &problem, uint64_t rows, const LanesPlan &plan) {
  ASSERT_EQ(32u, plan.lanes);
  if (plan.registers != kRegisters) return;
  emulation::launch(static_cast<uint32_t>(rows + 3) / 4 + 1, kLanesThreads, 0,
                    [&] { topk_lanes_kernel<Key, 32, kRegisters>(problem); });
}

template <uint32_t kRegisters, uint32_t kGroups, class Key>
void by_bound_lanes(const WidenedProblem<Key> &problem, uint64_t rows, const BoundLanesPlan &plan) {
  if (plan.registers != kRegisters || plan.groups != kGroups) return;
  emulation::launch(static_cast<uint32_t>(rows + 3) / 4 + 1, kLanesThreads, 0,
                    [&] { topk_bound_lanes_kernel<BoundRow<Key, kRegisters, kGroups>>(problem); });
}

template <uint32_t kWarps, uint32_t kGroups, uint32_t kPlaces, class Key>
void by_block(const WidenedProblem<Key> &problem, uint64_t rows, const BoundRowsPlan &plan) {
  using Block = BoundBlock<Key, kWarps, kGroups, kPlaces>;
  if (plan.warps != kWarps || plan.groups != kGroups || plan.places != kPlaces) return;
  emulation::launch(static_cast<uint32_t>(rows) + 2, Block::kThreads, bound_shared_bytes<Block>,
                    [&] { topk_bound_rows_kernel<Block>(problem); });
}

// More blocks than rows, as where the host does not know how many there are. first: of lists that share a kernel.
template <class U>
void run_lists(Call<U> &call, uint32_t first, uint32_t list) {
  constexpr uint64_t kMost[] = {512, 1024, 2048, 4096, 8192, 16384};
  call.problem.ragged.taken = {first, list};
  uint64_t rows = 0;
  for (uint32_t i = first; i <= list; ++i) rows += call.counters[i];
  const Shape shape = {rows, kMost[list - kListTo512], call.problem.k, sizeof(U)};
  const WidenedProblem<WidenedKey<U>> problem = widened_problem(call.problem);
  if (list <= kListTo1024 && shape.k <= kRaggedLanesMax) {
    by_lanes<16>(problem, shape.rows, plan_lanes(shape));
    by_lanes<32>(problem, shape.rows, plan_lanes(shape));
  } else if (list <= kListTo1024) {
    const BoundLanesPlan plan = plan_bound_lanes(shape);
    by_bound_lanes<16, 4>(problem, shape.rows, plan);
    by_bound_lanes<16, 8>(problem, shape.rows, plan);
    by_bound_lanes<32, 4>(problem, shape.rows, plan);
    by_bound_lanes<32, 8>(problem, shape.rows, plan);
  } else {
    const BoundRowsPlan plan = plan_bound_rows(shape);
    by_block<2, 2, 256>(problem, shape.rows, plan);
    by_block<2, 4, 256>(problem, shape.rows, plan);
    by_block<4, 2, 256>(problem, shape.rows, plan);
    by_block<8, 2, 256>(problem, shape.rows, plan);
    if constexpr (sizeof(U) < 8) by_block<16, 2, 256>(problem, shape.rows, plan);
  }
}

// More blocks than parts, and than rows.
template <class U>
void run_parts(Call<U> &call) {
  using Key = WidenedKey<U>;
  const uint64_t parts = call.counters[kListParts], rows = call.counters[kListSplit], k = call.problem.k;
  ASSERT_LE(parts, call.lists[kListParts].size());
  std::vector<U> values(parts * k + 1, static_cast<U>(kMissing));
  std::vector<uint32_t> indices(parts * k + 1, kMissing);
  const PartsProblem<Key> merged = {widened_problem(call.problem),
                                    reinterpret_cast<const unsigned char *>(values.data()), indices.data()};
  Problem<U> of_parts = call.problem;
  of_parts.in_parts = true, of_parts.ragged.taken = {kListParts, kListParts};
  of_parts.output = {values.data(), indices.data(), 4};
  const WidenedProblem<Key> problem = widened_problem(of_parts);
  by_block<8, 2, 256>(problem, parts, plan_bound_rows({1, kPartItems, k, sizeof(U)}));
  EXPECT_EQ(kMissing, indices.back()) << "behind the best of parts";
  const auto by_warps = [&](auto each) {
    emulation::launch(static_cast<uint32_t>(rows) + 2, 32 * (k % 2 == 0 ? 4 : 1), 0,
                      [&] { topk_merge_parts_kernel<Key, decltype(each)::value>(merged); });
  };
  if (k <= 32) return by_warps(std::integral_constant<uint32_t, 1>());
  if (k <= 64) return by_warps(std::integral_constant<uint32_t, 2>());
  by_warps(std::integral_constant<uint32_t, 4>());
}

template <class U>
void run(Call<U> &call, bool list_by_many) {
  call.list(list_by_many);
  ASSERT_EQ(0u, call.error);
  for (const uint32_t list : {kListBlocks, kListLong, kListTeam}) ASSERT_EQ(0u, call.counters[list]);
  call.problem.ragged.waits = true;
  using Key = WidenedKey<U>;
  const WidenedProblem<Key> problem = widened_problem(call.problem);
  const uint32_t blocks = blocks_by_warps(problem, 4);
  if (call.problem.k <= kSomeLanesMax)
    emulation::launch(blocks, kLanesThreads, 0, [&] { topk_short_rows_kernel<Key>(problem); });
  else
    emulation::launch(blocks, kSortedThreads, 0, [&] { topk_short_sorted_rows_kernel<Key>(problem); });
  call.problem.ragged.waits = false;
  const bool few = list_by_many;  // either goes with either
  if (call.problem.k > 1) run_parts(call);
  for (uint32_t list = kListTo512; list < kRowLists; ++list) {
    if (call.problem.k == 1 && (few || list > kListTo512)) break;
    if (few && (list == kListTo512 || list == kListTo2048)) continue;
    run_lists(call, few && (list == kListTo1024 || list == kListTo4096) ? list - 1 : list, list);
  }
  if (call.problem.k != 1) return;
  call.problem.ragged.taken = {few ? kListTo512 : kListTo1024, kListLonger};
  const BestProblem<U> best = {call.problem.in, call.problem.rows, 0, 0, call.codec, call.problem.output, {}, nullptr,
                               nullptr};
  // With one block there are many rows for it.
  for (const uint32_t of : {1u, 7u})
    emulation::launch(of, kBestThreads, 0, [&] { topk_best_listed_kernel<U>(best, call.problem.ragged); });
}

// Short rows, empty ones, and some of every list, the longest it has among them.
std::vector<uint64_t> mixed_lengths(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> lengths;
  for (uint32_t i = 0; i < 70; ++i) lengths.push_back(i % 9 == 0 ? 0 : random() % (i % 3 == 0 ? 20 : 129));
  for (const uint64_t most : {128, 512, 1024, 2048, 4096, 8192, 16384, 70000, 140000}) {
    lengths.insert(lengths.end(), {most, most - random() % (most / 2)});
    if (most <= 1024) lengths.insert(lengths.end(), {most / 2 + 1, most - 1, most - 3});
  }
  std::shuffle(lengths.begin(), lengths.end(), random);
  return lengths;
}

template <class U>
void check_all(const std::vector<uint32_t> &ks) {
  uint64_t seed = sizeof(U);
  for (const uint32_t k : ks)
    for (const Values values : kAllValues) {
      ++seed;
      SCOPED_TRACE(std::to_string(sizeof(U)) + " bytes, k = " + std::to_string(k) + ", values " +
                   std::to_string(static_cast<int>(values)));
      Call<U> call(mixed_lengths(seed), k, values, seed);
      run(call, seed % 2 == 0);
      if (::testing::Test::HasFatalFailure()) return;
      call.check();
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(EmulatedTopkListed, EveryRowIsDoneOnce) {
  check_all<uint8_t>({1, 5, 17, 128});
  check_all<uint16_t>({1, 9, 33, 65});
  check_all<uint32_t>({1, 2, 16, 17, 32, 33, 64, 65, 128});
  check_all<uint64_t>({1, 8, 20, 64, 100});
}

// Nothing is written, and nothing read but the offsets.
TEST(EmulatedTopkListed, WrongOffsetsStopEveryKernel) {
  for (const uint32_t k : {1u, 16u, 64u}) {
    Call<uint32_t> call(mixed_lengths(k), k, Values::kRandom, k);
    call.offsets[40] = call.in.size() + 1;
    call.list(k == 16);
    EXPECT_EQ(1u, call.error);
    call.problem.in = nullptr;
    for (uint32_t list = kListTo512; list < kRowLists; ++list) run_lists(call, list, list);
    run_parts(call);
    const WidenedProblem<uint32_t> problem = widened_problem(call.problem);
    emulation::launch(20, kLanesThreads, 0, [&] { topk_short_rows_kernel<uint32_t>(problem); });
    emulation::launch(20, kSortedThreads, 0, [&] { topk_short_sorted_rows_kernel<uint32_t>(problem); });
    for (const uint32_t index : call.indices) ASSERT_EQ(kMissing, index);
  }
}

}  // namespace
}  // namespace gsort_internal::topk
