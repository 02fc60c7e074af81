// SPDX-License-Identifier: MIT OR Apache-2.0
// The places of few candidates among those of all blocks, thread by thread on the CPU.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "cuda/topk/grid.cuh"

namespace gsort_internal::topk {
namespace {

constexpr uint32_t kIndexBits = 23;

// So many candidates of each block, of keys 0 to `keys` - 1.
template <class U, class C>
class FewCandidates {
 public:
  FewCandidates(const std::vector<uint32_t> &counts, uint64_t keys) : found_(counts.size()), counts_(counts.size()) {
    std::mt19937_64 random(counts.size());
    for (size_t b = 0; b < counts.size(); ++b)
      for (uint32_t i = 0; i < counts[b]; ++i) {
        found_[b].push_back(static_cast<C>(random() % keys) << kIndexBits | all_.size());
        all_.push_back(found_[b].back());
      }
    lists_.assign(counts.size() * kRegionItems, C{0});
    std::sort(all_.begin(), all_.end());
  }

  uint64_t items() const { return all_.size(); }

  // Whether the best k were found, by all blocks or by none.
  bool run(uint64_t k, uint32_t most_each, uint32_t most) {
    values_.assign(k, U{0x55}), indices_.assign(k, 0x55555555u);
    const auto blocks = static_cast<uint32_t>(found_.size());
    const uint32_t slot_bits = slot_bits_for(blocks);
    const GridLists<C> lists{nullptr, lists_.data(), counts_.data()};
    emulation::launch(blocks, kTeamThreads, 0, [&] {
      const auto &found = found_[blockIdx.x];
      grid_publish(lists, blockIdx.x, found.data(), static_cast<uint32_t>(found.size()), kRegionItems, 1u << slot_bits);
    });
    uint32_t ends = 0;
    const uint32_t bytes = static_cast<uint32_t>(sizeof(GridShared<C>) + most * sizeof(C));
    emulation::launch(blocks, kTeamThreads, bytes, [&] {
      auto &shared = *reinterpret_cast<GridShared<C> *>(emulation::dynamic_shared.data());
      const auto &found = found_[blockIdx.x];
      const uint32_t mine = static_cast<uint32_t>(found.size());
      if (threadIdx.x < std::min(mine, kGridListItems)) shared.found[threadIdx.x] = found[threadIdx.x];
      if (threadIdx.x == 0) shared.count = mine, shared.total = 0, shared.gathered = 0;
      __syncthreads();
      C *const all = reinterpret_cast<C *>(&shared + 1);
      if (!grid_fetch(shared, lists, all, blocks, slot_bits, k, most_each, most)) return;
      Row<U> row{};
      row.index_bits = kIndexBits, row.codec = make_codec<U>({kType, false, false});
      grid_place<U, C>(shared, all, row, k, {values_.data(), indices_.data(), 4}, 0);
      if (threadIdx.x == 0) ++ends;
    });
    EXPECT_TRUE(ends == 0 || ends == blocks) << "blocks do not agree";
    return ends != 0;
  }

  void check() const {
    const KeyCodec<U> codec = make_codec<U>({kType, false, false});
    for (size_t i = 0; i < values_.size(); ++i) {
      ASSERT_EQ(all_[i] & ((C{1} << kIndexBits) - 1), indices_[i]) << "place " << i;
      ASSERT_EQ(codec.decode(static_cast<U>(all_[i] >> kIndexBits)), values_[i]) << "place " << i;
    }
  }

 private:
  static constexpr gsort_dtype kType = sizeof(U) == 8 ? GSORT_U64 : GSORT_U32;

  std::vector<std::vector<C>> found_;
  std::vector<C> all_, lists_;
  std::vector<uint32_t> counts_;
  std::vector<U> values_;
  std::vector<uint32_t> indices_;
};

template <class U, class C>
void expect_right(const std::vector<uint32_t> &counts, uint64_t k, uint64_t keys) {
  FewCandidates<U, C> call(counts, keys);
  ASSERT_TRUE(call.run(k, kGridListItems, static_cast<uint32_t>(call.items())));
  call.check();
}

// Lists of none, of fewer candidates than there are sure slots, of more, and of as many as can be.
TEST(EmulatedTopkGrid, ListsOfEveryLength) {
  for (const uint32_t blocks : {3u, 33u, 256u}) {
    std::vector<uint32_t> counts(blocks);
    std::mt19937 random(blocks);
    for (uint32_t &count : counts) count = random() % 6;
    counts[0] = 0, counts[1] = kGridListItems, counts[blocks - 1] = 37;
    expect_right<uint32_t, uint64_t>(counts, 1, 1u << 20);
    expect_right<uint64_t, Wide>(counts, 160, blocks);
  }
}

// A row of equal neighbours: few blocks have all.
TEST(EmulatedTopkGrid, CandidatesOfFewBlocks) {
  std::vector<uint32_t> counts(132, 0);
  for (uint32_t b = 0; b < 132; b += 9) counts[b] = 64;
  expect_right<uint32_t, uint64_t>(counts, 300, 15);
}

TEST(EmulatedTopkGrid, TooManyOrTooFewAreLeft) {
  std::vector<uint32_t> counts(20, 5);
  counts[7] = 33;
  FewCandidates<uint32_t, uint64_t> call(counts, 1000);
  const auto all = static_cast<uint32_t>(call.items());
  EXPECT_TRUE(call.run(10, 33, all));
  call.check();
  EXPECT_FALSE(call.run(10, 32, all)) << "a block has more";
  EXPECT_FALSE(call.run(10, 33, all - 1)) << "all have more";
  EXPECT_FALSE(call.run(all + 1, 33, all)) << "there are fewer than k";
  EXPECT_TRUE(call.run(all, 33, all)) << "there are k";
  call.check();
}

}  // namespace
}  // namespace gsort_internal::topk
