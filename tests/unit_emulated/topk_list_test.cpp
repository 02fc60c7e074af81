// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows with offsets, thread by thread on the CPU: the block that lists rows and tells the host.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "cuda/topk/ragged.cuh"

namespace gsort_internal::topk {
namespace {

constexpr uint64_t kResults = 256, kBlockResultsMax = 2048, kTurn = 5;

struct Listed {
  std::vector<uint64_t> lists[kLists];
  unsigned long long counters[kRaggedCounters];
  uint64_t words[3 + kLists] = {};
  uint32_t error = 7;
};

// What is on no list and on lists by length, as where k allows it, or not.
struct Limits {
  uint32_t short_items, listed_items;
};
constexpr Limits kOld = {kWarpItemsMax, 0}, kByLength = {kSomeItemsMax, 16384};

// capacity: of each list. blocks = 1: by the kernel of one.
Listed list_rows(const std::vector<uint64_t> &offsets, uint64_t elements, uint64_t k, uint64_t capacity,
                 const Limits &limits, uint32_t blocks) {
  Listed listed;
  Ragged ragged{};
  ragged.offsets = offsets.data();
  ragged.error = &listed.error;
  ragged.elements = elements;
  ragged.block_k_max = kBlockResultsMax;
  ragged.short_items_max = limits.short_items, ragged.listed_items_max = limits.listed_items;
  ragged.counters = listed.counters;
  std::fill_n(listed.counters, kRaggedCounters, 9);
  for (uint32_t i = 0; i < kLists; ++i) {
    listed.lists[i].assign(capacity + 1, ~uint64_t{0});
    ragged.lists[i] = listed.lists[i].data(), ragged.capacity[i] = capacity;
  }
  const auto rows = static_cast<uint32_t>(offsets.size() - 1);
  ListCounters counts{};
  if (blocks == 1)
    emulation::launch(1, kListAloneThreads, 0,
                      [&] { topk_list_few_rows_kernel(ragged, rows, k, {listed.words, kTurn}); });
  else
    emulation::launch(blocks, kListThreads, 0,
                      [&] { topk_list_rows_kernel(ragged, rows, k, &counts, {listed.words, kTurn}); });
  const ListCounters zero{};
  EXPECT_EQ(0, std::memcmp(&zero, &counts, sizeof zero)) << "for the next call";
  return listed;
}

// The list of a row, or kLists.
uint32_t wanted_list(uint64_t items, uint64_t k, const Limits &limits) {
  if (is_on_no_list(items, k, limits.short_items)) return kLists;
  if (items <= limits.listed_items) return list_by_length(items);
  return static_cast<uint32_t>(ragged_class(items, k, kBlockResultsMax)) - 1;
}

void check(const Listed &listed, const std::vector<uint64_t> &offsets, uint64_t k, const Limits &limits) {
  std::vector<uint64_t> wanted[kLists + 1];
  uint64_t longest = 0, all = 0;
  for (uint64_t r = 0; r + 1 < offsets.size(); ++r) {
    const uint64_t items = offsets[r + 1] - offsets[r];
    const uint32_t list = wanted_list(items, k, limits);
    wanted[list].push_back(r);
    if (list == kListLong || list == kListTeam) longest = std::max(longest, items), all += items;
  }
  EXPECT_EQ(0u, listed.error);
  EXPECT_EQ(0u, listed.words[1]);
  EXPECT_EQ(kTurn, listed.words[0]);
  EXPECT_EQ(0u, listed.counters[kTicket]);
  EXPECT_EQ(longest, listed.counters[kLongest]);
  EXPECT_EQ(longest, listed.words[2 + kLists]);
  EXPECT_EQ(all, listed.counters[kLongAll]);
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
  const uint64_t lengths[] = {0,    128,  129,   513,   kWarpItemsMax, kWarpItemsMax + 1, 2048,
                              2049, 4097, 16384, 16385, kRaggedLong,   kRaggedLong + 1,   1ull << 31};
  std::mt19937 random(seed);
  std::vector<uint64_t> offsets{random() % 3};
  while (offsets.size() <= rows) offsets.push_back(offsets.back() + lengths[random() % std::size(lengths)]);
  return offsets;
}

TEST(EmulatedTopkList, EveryRowIsOnItsList) {
  for (const uint32_t rows : {1u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 4096u, 4097u, 8192u, 16384u})
    for (const uint64_t k : {uint64_t{1}, kResults, kResults + 1, kBlockResultsMax + 1})
      for (const Limits &limits : {kOld, kByLength})
        for (const uint32_t blocks : {1u, 2u, 37u}) {
          SCOPED_TRACE(std::to_string(rows) + " rows, k = " + std::to_string(k) + ", blocks " + std::to_string(blocks));
          const std::vector<uint64_t> offsets = random_offsets(rows, rows);
          check(list_rows(offsets, offsets.back(), k, rows, limits, blocks), offsets, k, limits);
        }
}

TEST(EmulatedTopkList, RowsOfWarpsAloneAreOnNone) {
  std::vector<uint64_t> offsets;
  for (uint64_t r = 0; r <= 5000; ++r) offsets.push_back(r * kWarpItemsMax);
  check(list_rows(offsets, offsets.back(), kResults, 1, kOld, 1), offsets, kResults, kOld);
}

TEST(EmulatedTopkList, WrongOffsetsAreToldAndStayWithinTheLists) {
  constexpr uint32_t kRows = 5000;
  for (const uint32_t at : {0u, 1u, 1024u, 4095u, kRows})
    for (const uint32_t blocks : {1u, 5u}) {
      std::vector<uint64_t> offsets = random_offsets(kRows, at);
      const uint64_t elements = offsets.back();
      offsets[at] = elements + 1;
      const Listed listed = list_rows(offsets, elements, kResults, 10, kByLength, blocks);
      EXPECT_EQ(1u, listed.error) << at;
      EXPECT_EQ(1u, listed.words[1]) << at;
      EXPECT_EQ(kTurn, listed.words[0]) << at;
      for (const auto &list : listed.lists) EXPECT_EQ(~uint64_t{0}, list[10]) << "behind a list's end";
    }
}

}  // namespace
}  // namespace gsort_internal::topk
