// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows that a block reads once, thread by thread on the CPU.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "cuda/topk/rows.cuh"

namespace gsort_internal::topk {
namespace {

constexpr uint32_t kMissing = 0xdddddddd;

// What the rows have: where the sample serves, and where it misleads.
enum class Values {
  kRandom,
  kTwo,
  kOne,
  kInOrder,
  kFew,
  kEnds,
  kBestInSomeTiles,
  kBestInLastTile,
  kTileByTile,
  kAnyTile
};
constexpr Values kAllValues[] = {Values::kRandom,
                                 Values::kTwo,
                                 Values::kOne,
                                 Values::kInOrder,
                                 Values::kFew,
                                 Values::kEnds,
                                 Values::kBestInSomeTiles,
                                 Values::kBestInLastTile,
                                 Values::kTileByTile,
                                 Values::kAnyTile};

struct Case {
  uint32_t items;
  uint32_t k;
  Values values = Values::kRandom;
  uint32_t rank = 0;
};

// The tile that an element belongs to.
uint32_t tile_of(uint32_t at, uint32_t tiles) { return at / 32 % tiles; }

template <class U, class Block>
std::vector<U> make_row(const Case &c, uint32_t seed) {
  std::mt19937_64 random(seed);
  const uint32_t tiles = (c.items + Block::kTile - 1) / Block::kTile;
  std::vector<U> row(c.items);
  for (uint32_t i = 0; i < c.items; ++i) {
    const uint64_t any = random();
    switch (c.values) {
      case Values::kRandom:
        row[i] = static_cast<U>(any);
        break;
      case Values::kTwo:
        row[i] = static_cast<U>(any % 2);
        break;
      case Values::kOne:
        row[i] = static_cast<U>(7);
        break;
      case Values::kInOrder:
        row[i] = static_cast<U>(i);
        break;
      case Values::kFew:
        row[i] = static_cast<U>(any % 100);
        break;
      case Values::kEnds:  // digits of numbers below the least that is looked at wrap around
        row[i] = static_cast<U>(any % 7 == 0 ? any >> 32 & 1 : any % 7 == 1 ? ~(any >> 40) : ~(any >> 62));
        break;
      case Values::kBestInSomeTiles:
        row[i] = static_cast<U>(any % 100 + (tile_of(i, tiles) % 5 == 0 ? 0 : 100));
        break;
      case Values::kBestInLastTile:
        row[i] = static_cast<U>(any % 100 + (tile_of(i, tiles) == tiles - 1 ? 0 : 100));
        break;
      case Values::kAnyTile:
        row[i] = static_cast<U>(any % 50 + 50 * (tile_of(i, tiles) * 7 % 5));
        break;
      case Values::kTileByTile:
        row[i] = static_cast<U>(any % 4 + 4 * (tiles - tile_of(i, tiles)));
        break;
    }
  }
  return row;
}

template <class U, uint32_t kThreads>
void check(const std::vector<Case> &cases) {
  using Key = WidenedKey<U>;
  using Block = RowsBlock<WidenedKey<U>, kThreads>;
  uint32_t seed = 1;
  for (const Case &c : cases) {
    SCOPED_TRACE(std::to_string(sizeof(U)) + " bytes, " + std::to_string(kThreads) + " threads, " +
                 std::to_string(c.items) + " elements, k = " + std::to_string(c.k) + ", values " +
                 std::to_string(static_cast<int>(c.values)) + ", rank " + std::to_string(c.rank));
    const std::vector<U> row = make_row<U, Block>(c, ++seed);
    std::vector<U> values(c.k + 1, 0);
    std::vector<uint32_t> indices(c.k + 1, kMissing);
    Problem<U> problem{};
    problem.in = row.data(), problem.rows = 1, problem.columns = problem.row_stride = c.items, problem.k = c.k;
    problem.codec = make_codec<U>({sizeof(U) == 1   ? GSORT_U8
                                   : sizeof(U) == 2 ? GSORT_U16
                                   : sizeof(U) == 4 ? GSORT_U32
                                                    : GSORT_U64,
                                   false, false});
    problem.output = {values.data(), indices.data(), 4};
    RowsBounds bounds{};
    if (c.items > Block::kRoom) bounds = rows_bounds(c.items, c.k, kThreads);
    if (c.rank != 0) bounds = {c.rank, 0, 0, 0};
    const RowsProblem<Key> rows = {widened_problem(problem), bounds};
    emulation::launch(1, kThreads, sizeof(Block),
                      [&] { rows_all(*reinterpret_cast<Block *>(emulation::dynamic_shared.data()), rows); });
    std::vector<uint32_t> wanted(c.items);
    std::iota(wanted.begin(), wanted.end(), 0u);
    std::stable_sort(wanted.begin(), wanted.end(), [&](uint32_t a, uint32_t b) { return row[a] < row[b]; });
    const uint32_t k = std::min(c.k, c.items);
    for (uint32_t i = 0; i < k; ++i) {
      ASSERT_EQ(wanted[i], indices[i]) << i;
      ASSERT_EQ(row[wanted[i]], values[i]) << i;
    }
    EXPECT_EQ(kMissing, indices[c.k]) << "behind the results";
  }
}

template <class U, uint32_t kThreads>
std::vector<Case> cases_of() {
  using Block = RowsBlock<WidenedKey<U>, kThreads>;
  const uint32_t k_max = static_cast<uint32_t>(rows_k_max(kThreads));
  EXPECT_NE(0u, rows_bounds(20 * Block::kTile + 5, k_max, kThreads).tiles);
  std::vector<Case> cases;
  for (const Values values : kAllValues)
    for (const uint32_t items : {1u, Block::kRoom, Block::kRoom + 1, Block::kTile + 1, 10 * Block::kTile - 32})
      for (const uint32_t k : {1u, 129u, k_max - 24, k_max}) cases.push_back({items, std::min(k, items), values});
  // A rank too low, one too high, and rows that are bound twice.
  for (const uint32_t rank : {1u, Block::kTile * 9 / 10})
    cases.push_back({5 * Block::kTile + 77, k_max / 2, Values::kRandom, rank});
  for (const Values values : {Values::kRandom, Values::kFew, Values::kBestInLastTile, Values::kBestInSomeTiles})
    cases.push_back({20 * Block::kTile + 5, k_max, values});
  return cases;
}

TEST(EmulatedTopkRows, TheBestComeInOrder) {
  check<uint8_t, 128>(cases_of<uint8_t, 128>());
  check<uint16_t, 128>(cases_of<uint16_t, 128>());
  check<uint32_t, 256>(cases_of<uint32_t, 256>());
  check<uint32_t, 512>(cases_of<uint32_t, 512>());
  check<uint64_t, 256>(cases_of<uint64_t, 256>());
}

}  // namespace
}  // namespace gsort_internal::topk
