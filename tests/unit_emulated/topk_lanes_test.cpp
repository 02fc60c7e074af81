// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of short rows in the registers of lanes, and of somewhat longer ones in a block's, thread by thread on the CPU.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "cuda/topk/bound_lanes.cuh"
#include "cuda/topk/bound_rows.cuh"

namespace gsort_internal::topk {
namespace {

constexpr uint32_t kMissing = 0xdddddddd;

// What the rows have: ties, keys that differ in the bits that words leave out (in every other row, and where one lane's
// places end), and the best in the groups of few lanes.
enum class Values {
  kRandom,
  kTwo,
  kOne,
  kInOrder,
  kFew,
  kEnds,
  kClose,
  kTwoRanges,
  kBorder,
  kFewLanes,
  kFewThreads,
  kAllOnes
};
constexpr Values kAllValues[] = {Values::kRandom, Values::kTwo,      Values::kOne,        Values::kInOrder,
                                 Values::kFew,    Values::kEnds,     Values::kClose,      Values::kTwoRanges,
                                 Values::kBorder, Values::kFewLanes, Values::kFewThreads, Values::kAllOnes};

template <class U>
std::vector<U> make_rows(uint32_t rows, uint32_t columns, Values values, uint64_t seed) {
  constexpr uint32_t kBorderShift = sizeof(U) == 1 ? 0 : 8 * sizeof(U) - 10;
  std::mt19937_64 random(seed);
  std::vector<U> made(uint64_t{rows} * columns);
  for (uint32_t i = 0; i < made.size(); ++i) {
    const uint64_t any = random(), at = i % columns;
    uint64_t key = any;
    switch (values) {
      case Values::kRandom:
        break;
      case Values::kTwo:
        key = any % 2;
        break;
      case Values::kOne:
        key = 7;
        break;
      case Values::kInOrder:
        key = at;
        break;
      case Values::kFew:
        key = any % 20;
        break;
      case Values::kEnds:
        key = any % 7 == 0 ? any >> 32 & 1 : any % 7 == 1 ? ~(any >> 40) : ~(any >> 62);
        break;
      case Values::kClose:  // the first of a row is far from the others
        key = at == 0 ? ~uint64_t{0} >> 1 : any % 50;
        break;
      case Values::kTwoRanges:
        key = i / columns % 2 == 0 ? any % 3 : at == 0 ? ~uint64_t{0} >> 1 : any % 50;
        break;
      case Values::kBorder:  // places 31 and 32
        key = sizeof(U) == 1 ? at : (at == 32 ? 31 : at) << kBorderShift;
        if (sizeof(U) > 1 && at == 31) ++key;
        break;
      case Values::kFewLanes:
        key = at % 32 < 12 ? any % 2 : 100 + any % 20;
        break;
      case Values::kFewThreads:  // most of a block's groups have none of the best
        key = at % 64 < 9 ? any % 1000 : at % 64 == 9 ? 2000 + any % 10 : ~(any >> 8);
        break;
      case Values::kAllOnes:
        key = any % 3 == 0 ? any : ~uint64_t{0};
        break;
    }
    made[i] = static_cast<U>(key);
  }
  return made;
}

constexpr uint32_t kRows = 21;  // the last block has lanes without a row

template <class U>
struct Call {
  std::vector<U> in, values;
  std::vector<uint32_t> indices;
  KeyCodec<U> codec;
  Problem<U> problem{};

  // Of all kinds, downwards if k is odd, and with NaNs last if a third of it is whole.
  Call(uint32_t columns, uint32_t k, Values kind, uint64_t seed)
      : in(make_rows<U>(kRows, columns, kind, seed)), values(kRows * k + 1), indices(kRows * k + 1, kMissing) {
    problem.in = in.data(), problem.rows = kRows, problem.columns = problem.row_stride = columns, problem.k = k;
    codec = make_codec<U>({sizeof(U) == 1   ? GSORT_I8
                           : sizeof(U) == 2 ? GSORT_F16
                           : sizeof(U) == 4 ? GSORT_U32
                                            : GSORT_F64,
                           k % 2 == 1, k % 3 == 0 && (sizeof(U) == 2 || sizeof(U) == 8)});
    problem.codec = codec;
    for (U &key : in) key = codec.decode(key);  // of its place in the order
    problem.output = {values.data(), indices.data(), 4};
  }

  void check() const {
    const uint64_t columns = problem.columns, k = problem.k;
    std::vector<uint32_t> wanted(columns);
    for (uint64_t r = 0; r < kRows; ++r) {
      const U *const row = in.data() + r * columns;
      std::iota(wanted.begin(), wanted.end(), 0u);
      std::stable_sort(wanted.begin(), wanted.end(),
                       [&](uint32_t a, uint32_t b) { return codec.encode(row[a]) < codec.encode(row[b]); });
      for (uint64_t i = 0; i < k; ++i) {
        ASSERT_EQ(wanted[i], indices[r * k + i]) << "row " << r << ", place " << i;
        ASSERT_EQ(row[wanted[i]], values[r * k + i]) << "row " << r << ", place " << i;
      }
    }
    EXPECT_EQ(kMissing, indices[kRows * k]) << "behind the results";
  }
};

// Calls run(widened problem, blocks) for all values of rows of some lengths.
template <class U, class Run>
void check_all(const std::vector<uint32_t> &lengths, const std::vector<uint32_t> &ks, uint32_t rows_a_block,
               const char *name, Run &&run) {
  uint64_t seed = 1;
  for (const Values values : kAllValues)
    for (const uint32_t columns : lengths)
      for (const uint32_t k : ks) {
        if (k > columns) continue;
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(sizeof(U)) + " bytes, " + std::to_string(columns) +
                     " elements, k = " + std::to_string(k) + ", values " + std::to_string(static_cast<int>(values)));
        Call<U> call(columns, k, values, ++seed);
        run(widened_problem(call.problem), (kRows + rows_a_block - 1) / rows_a_block);
        call.check();
        if (::testing::Test::HasFatalFailure()) return;
      }
}

template <class U, uint32_t kLanes, uint32_t kRegisters>
void check_lanes() {
  using Key = WidenedKey<U>;
  constexpr uint32_t kMost = kLanes * kRegisters;
  check_all<U>({1, 2, kMost / 2, kMost - 1, kMost}, {1, 2, kLanes / 2, kLanes / 2 + 1, kLanes}, kLanesThreads / kLanes,
               "lanes", [](const WidenedProblem<Key> &problem, uint32_t blocks) {
                 emulation::launch(blocks, kLanesThreads, 0,
                                   [&] { topk_lanes_kernel<Key, kLanes, kRegisters>(problem); });
               });
}

TEST(EmulatedTopkLanes, RanksTheBest) {
  check_lanes<uint32_t, 8, 8>();
  check_lanes<uint16_t, 16, 16>();
  check_lanes<uint8_t, 32, 16>();
  check_lanes<uint64_t, 16, 8>();
}

template <class U, uint32_t kLanes, uint32_t kKeys>
void check_sorted() {
  using Row = SortedRow<WidenedKey<U>, kLanes, kKeys>;
  check_all<U>({1, 2, 33, Row::kItems - 1, Row::kItems}, {1, 2, 33, Row::kItems - 1, Row::kItems},
               kSortedThreads / kLanes, "sorted", [](const WidenedProblem<WidenedKey<U>> &problem, uint32_t blocks) {
                 emulation::launch(blocks, kSortedThreads, 0, [&] { topk_sorted_lanes_kernel<Row>(problem); });
               });
}

TEST(EmulatedTopkLanes, SortsRowsWhole) {
  check_sorted<uint32_t, 8, 8>();
  check_sorted<uint32_t, 8, 16>();
  check_sorted<uint16_t, 16, 16>();
  check_sorted<uint8_t, 8, 16>();
  check_sorted<uint64_t, 8, 8>();
  check_sorted<uint64_t, 8, 16>();
}

template <class U, uint32_t kRegisters, uint32_t kGroups>
void check_bound() {
  using Row = BoundRow<WidenedKey<U>, kRegisters, kGroups>;
  check_all<U>({1, 40, 129, 32 * kRegisters - 1, 32 * kRegisters}, {1, 2, 33, 16 * kGroups - 1, 16 * kGroups},
               kLanesThreads / 32, "bound", [](const WidenedProblem<WidenedKey<U>> &problem, uint32_t blocks) {
                 emulation::launch(blocks, kLanesThreads, 0, [&] { topk_bound_lanes_kernel<Row>(problem); });
               });
}

TEST(EmulatedTopkLanes, BoundsByGroupsAndSorts) {
  check_bound<uint32_t, 16, 4>();
  check_bound<uint32_t, 32, 8>();
  check_bound<uint16_t, 32, 4>();
  check_bound<uint8_t, 16, 4>();
  check_bound<uint64_t, 16, 4>();
}

template <class U, uint32_t kWarps, uint32_t kGroups, uint32_t kPlaces>
void check_block() {
  using Block = BoundBlock<WidenedKey<U>, kWarps, kGroups, kPlaces>;
  constexpr uint32_t kMost = Block::kThreads * kBoundRowsRegisters;
  check_all<U>({130, kMost / 2 + 1, kMost}, {33, std::min(kPlaces, Block::kThreads * kGroups) / 2}, 1, "block",
               [](const WidenedProblem<WidenedKey<U>> &problem, uint32_t blocks) {
                 emulation::launch(blocks, Block::kThreads, 0, [&] { topk_bound_rows_kernel<Block>(problem); });
               });
}

TEST(EmulatedTopkLanes, BoundsByGroupsOfABlock) {
  check_block<uint32_t, 2, 2, 256>();
  check_block<uint32_t, 4, 2, 256>();
  check_block<uint16_t, 8, 2, 256>();
  check_block<uint8_t, 4, 4, 512>();
  check_block<uint64_t, 2, 4, 256>();
}

}  // namespace
}  // namespace gsort_internal::topk
