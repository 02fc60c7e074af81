// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows with offsets, thread by thread on the CPU: the block that lists rows and tells the host.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <random>

#include "cuda/topk/ragged.cuh"

namespace gsort_internal::topk {
namespace {

constexpr uint64_t kResults = 256, kBlockResultsMax = 2048, kTurn = 5;

struct Listed {
  std::vector<uint64_t> lists[kLists];
  unsigned long long counters[kRaggedCounters] = {9, 9, 9, 9};
  uint64_t words[2 + kLists] = {};
  uint32_t error = 7;
};

// capacity: of each list.
Listed list_rows(const std::vector<uint64_t> &offsets, uint64_t elements, uint64_t k, uint64_t capacity,
                 uint64_t scanned_items_max = 0) {
  Listed listed;
  Ragged ragged{};
  ragged.offsets = offsets.data();
  ragged.error = &listed.error;
  ragged.elements = elements;
  ragged.block_k_max = kBlockResultsMax;
  ragged.scanned_items_max = scanned_items_max;
  ragged.counters = listed.counters;
  for (uint32_t i = 0; i < kLists; ++i) {
    listed.lists[i].assign(capacity + 1, ~uint64_t{0});
    ragged.lists[i] = listed.lists[i].data(), ragged.capacity[i] = capacity;
  }
  const auto rows = static_cast<uint32_t>(offsets.size() - 1);
  emulation::launch(1, kListAloneThreads, 0,
                    [&] { topk_list_few_rows_kernel(ragged, rows, k, {listed.words, kTurn}); });
  return listed;
}

void check(const Listed &listed, const std::vector<uint64_t> &offsets, uint64_t k, uint64_t scanned_items_max = 0) {
  std::vector<uint64_t> wanted[kLists];
  for (uint64_t r = 0; r + 1 < offsets.size(); ++r) {
    const RaggedClass who = ragged_class(offsets[r + 1] - offsets[r], k, kBlockResultsMax);
    const bool scanned = is_scanned(offsets[r + 1] - offsets[r], scanned_items_max);
    if (who != RaggedClass::kWarp && !scanned) wanted[static_cast<uint32_t>(who) - 1].push_back(r);
  }
  EXPECT_EQ(0u, listed.error);
  EXPECT_EQ(0u, listed.words[1]);
  EXPECT_EQ(kTurn, listed.words[0]);
  EXPECT_EQ(0u, listed.counters[kLists]) << "the ticket";
  for (uint32_t i = 0; i < kLists; ++i) {
    EXPECT_EQ(wanted[i].size(), listed.counters[i]) << "list " << i;
    EXPECT_EQ(wanted[i].size(), listed.words[2 + i]) << "list " << i;
    std::vector<uint64_t> rows = listed.lists[i];
    EXPECT_EQ(~uint64_t{0}, rows[wanted[i].size()]) << "list " << i;
    rows.resize(wanted[i].size());
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(wanted[i], rows) << "list " << i;
  }
}

std::vector<uint64_t> random_offsets(uint32_t rows, uint32_t seed) {
  const uint64_t lengths[] = {0, 100, kWarpItemsMax, kWarpItemsMax + 1, 3000, kRaggedLong, kRaggedLong + 1, 1ull << 31};
  std::mt19937 random(seed);
  std::vector<uint64_t> offsets{random() % 3};
  while (offsets.size() <= rows) offsets.push_back(offsets.back() + lengths[random() % std::size(lengths)]);
  return offsets;
}

TEST(EmulatedTopkList, EveryRowIsOnItsList) {
  for (const uint32_t rows : {1u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 4096u, 4097u, 8192u, 16384u})
    for (const uint64_t k : {uint64_t{1}, kResults, kResults + 1, kBlockResultsMax + 1}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, k = " + std::to_string(k));
      const std::vector<uint64_t> offsets = random_offsets(rows, rows);
      check(list_rows(offsets, offsets.back(), k, rows), offsets, k);
    }
}

TEST(EmulatedTopkList, RowsThatAreScannedForAreOnNone) {
  constexpr uint64_t kScanned = 4096;
  const std::vector<uint64_t> offsets = random_offsets(5000, 7);
  check(list_rows(offsets, offsets.back(), 16, 5000, kScanned), offsets, 16, kScanned);
}

TEST(EmulatedTopkList, RowsOfWarpsAloneAreOnNone) {
  std::vector<uint64_t> offsets;
  for (uint64_t r = 0; r <= 5000; ++r) offsets.push_back(r * kWarpItemsMax);
  check(list_rows(offsets, offsets.back(), kResults, 1), offsets, kResults);
}

TEST(EmulatedTopkList, WrongOffsetsAreToldAndStayWithinTheLists) {
  constexpr uint32_t kRows = 5000;
  for (const uint32_t at : {0u, 1u, 1024u, 4095u, kRows}) {
    std::vector<uint64_t> offsets = random_offsets(kRows, at);
    const uint64_t elements = offsets.back();
    offsets[at] = elements + 1;
    const Listed listed = list_rows(offsets, elements, kResults, 10);
    EXPECT_EQ(1u, listed.error) << at;
    EXPECT_EQ(1u, listed.words[1]) << at;
    EXPECT_EQ(kTurn, listed.words[0]) << at;
    for (const auto &list : listed.lists) EXPECT_EQ(~uint64_t{0}, list[10]) << "behind a list's end";
  }
}

}  // namespace
}  // namespace gsort_internal::topk
