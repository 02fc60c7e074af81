// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k with k = 1, thread by thread on the CPU.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <random>

#include "cuda/topk/best.cuh"

namespace gsort_internal::topk {
namespace {

constexpr uint64_t kMissing = 0xdddddddddddddddd;

enum class Values { kRandom, kTwo, kOne, kInOrder, kBackwards, kAllOnes, kNans, kBestAtAnEdge };
constexpr Values kAllValues[] = {Values::kRandom,    Values::kTwo,     Values::kOne,  Values::kInOrder,
                                 Values::kBackwards, Values::kAllOnes, Values::kNans, Values::kBestAtAnEdge};

template <class U>
std::vector<U> make_rows(uint64_t rows, uint64_t stride, uint64_t columns, Values values, std::mt19937_64 &random) {
  std::vector<U> made(rows * stride + 16);
  for (uint64_t i = 0; i < made.size(); ++i) {
    const uint64_t any = random(), at = i % stride;
    uint64_t key = any;
    if (values == Values::kTwo) key = any % 2;
    if (values == Values::kOne) key = 7;
    if (values == Values::kInOrder) key = at;
    if (values == Values::kBackwards) key = columns - at;
    if (values == Values::kAllOnes) key = ~uint64_t{0};
    if (values == Values::kNans) key = any % 3 == 0 ? any : ~(any >> 62);  // floats of all ones, but for two bits
    if (values == Values::kBestAtAnEdge) key = at == 0 || at == columns - 1 ? 0 : 1 + any % 100;
    made[i] = static_cast<U>(key);
  }
  return made;
}

constexpr gsort_dtype kDtypes[] = {GSORT_U8, GSORT_F16, GSORT_F32, GSORT_F64};
template <class U>
constexpr gsort_dtype kDtype = kDtypes[sizeof(U) == 1   ? 0
                                       : sizeof(U) == 2 ? 1
                                       : sizeof(U) == 4 ? 2
                                                        : 3];

// parts = 0: by warps. Rows that miss their alignment by any number of elements, with room between them.
template <class U>
void check(uint64_t columns, uint32_t parts) {
  uint64_t seed = 1;
  for (const Values values : kAllValues)
    for (const uint64_t offset : {0, 1, 3}) {
      std::mt19937_64 random(++seed);
      const uint64_t rows = 5, stride = columns + seed % 3;
      const bool nan_last = seed % 2 == 0 && sizeof(U) > 1, wants_values = seed % 5 != 0, wants_indices = seed % 5 != 1;
      const KeyCodec<U> codec = make_codec<U>({kDtype<U>, seed % 4 < 2, nan_last});
      SCOPED_TRACE(std::to_string(sizeof(U)) + " bytes, " + std::to_string(columns) + " elements, " +
                   std::to_string(parts) + " parts, values " + std::to_string(static_cast<int>(values)) + ", offset " +
                   std::to_string(offset));
      const std::vector<U> made = make_rows<U>(rows, stride, columns, values, random);
      const U *const in = made.data() + offset;
      std::vector<U> best(rows + 1, static_cast<U>(kMissing));
      std::vector<uint64_t> indices(rows + 1, kMissing);
      std::vector<uint32_t> counters(rows, 0);
      std::vector<Extreme> extremes(rows * (parts + 1));
      const BestProblem<U> problem = {
          in,
          rows,
          columns,
          stride,
          codec,
          {wants_values ? best.data() : nullptr, wants_indices ? indices.data() : nullptr, 8},
          {parts == 0, parts, false},
          counters.data(),
          extremes.data()};
      if (parts == 0)
        emulation::launch(2, kBestWarpsThreads, 0, [&] { topk_best_warps_kernel<U>(problem); });
      else
        emulation::launch(static_cast<uint32_t>(rows) * parts, kBestThreads, 0, [&] { topk_best_kernel<U>(problem); });
      for (uint64_t r = 0; r < rows; ++r) {
        const U *const row = in + r * stride;
        uint64_t wanted = 0;
        for (uint64_t i = 1; i < columns; ++i)
          if (codec.encode(row[i]) < codec.encode(row[wanted])) wanted = i;
        ASSERT_EQ(wants_values ? row[wanted] : static_cast<U>(kMissing), best[r]) << "row " << r;
        ASSERT_EQ(wants_indices ? wanted : kMissing, indices[r]) << "row " << r;
        ASSERT_EQ(0u, counters[r]);
      }
      ASSERT_EQ(static_cast<U>(kMissing), best[rows]);
      ASSERT_EQ(kMissing, indices[rows]);
    }
}

template <class U>
void check_all() {
  constexpr uint64_t kWarpTile = 32 * kTileVectors * 16 / sizeof(U), kBlockTile = kBestTileBytes / sizeof(U);
  for (const uint64_t columns : {uint64_t{1}, uint64_t{2}, uint64_t{17}, uint64_t{100}, kWarpTile - 1, kWarpTile,
                                 kWarpTile + 1, 3 * kWarpTile + 5})
    check<U>(columns, 0);
  for (const uint64_t columns : {uint64_t{1}, uint64_t{100}, kBlockTile - 1, kBlockTile + 1, 3 * kBlockTile + 7})
    for (const uint32_t parts : {1, 2, 5}) check<U>(columns, parts);
}

TEST(EmulatedTopkBest, FindsTheFirstOfTheBest) {
  check_all<uint8_t>();
  check_all<uint16_t>();
  check_all<uint32_t>();
  check_all<uint64_t>();
}

}  // namespace
}  // namespace gsort_internal::topk
