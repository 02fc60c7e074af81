// SPDX-License-Identifier: MIT OR Apache-2.0
// The map of 4-byte keys: cells are in order, each begins where it says, and has about its share of the weight.
#include "cuda/sort/msd/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace gsort_test {
namespace {

using namespace gsort_internal::sort::msd;

using Weights = std::vector<uint32_t>;

std::vector<uint32_t> words_of(const Weights &weights, uint32_t cells) {
  const uint64_t total = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
  std::vector<uint32_t> places, words;
  uint64_t before = 0;
  for (const uint32_t weight : weights) {
    places.push_back(
        static_cast<uint32_t>(std::min(before * cells * kShareUnit / total, uint64_t{cells} * kShareUnit - 1)));
    before += weight;
  }
  places.push_back(cells * kShareUnit);
  for (size_t entry = 0; entry < weights.size(); ++entry) {
    words.push_back(share_word(places[entry], places[entry + 1] - places[entry]));
    EXPECT_EQ(places[entry], shares_before(words.back()));
    EXPECT_LE(own_shares(words.back()), places[entry + 1] - places[entry]);
    EXPECT_GE(own_shares(words.back()), std::min(places[entry + 1] - places[entry], 8191u)) << "cells are wasted";
  }
  return words;
}

std::vector<Weights> weights_of_many_kinds() {
  std::mt19937 random(5);
  std::vector<Weights> all;
  const auto make = [&](const std::function<uint32_t(uint32_t)> &weight) {
    Weights weights(kMapEntries);
    for (uint32_t entry = 0; entry < kMapEntries; ++entry) weights[entry] = weight(entry);
    all.push_back(weights);
  };
  make([](uint32_t) { return 128; });
  make([](uint32_t entry) { return entry == 0 ? 1000000 : 0; });
  make([](uint32_t entry) { return entry == kMapEntries - 1 ? 1 : 0; });
  make([](uint32_t entry) { return entry == 4711 ? 1000000 : 1; });
  make([](uint32_t entry) { return entry % 100 == 50 ? 500 : 0; });
  make([&](uint32_t) { return static_cast<uint32_t>(random() % 300); });
  make([&](uint32_t) { return static_cast<uint32_t>(random() % 50 == 0 ? random() % 20000 : random() % 3); });
  make([&](uint32_t entry) { return entry < 20 ? 1u << entry : 0; });
  return all;
}

// The keys around every place where an entry or a cell begins.
std::vector<uint32_t> keys_at_borders(const std::vector<uint32_t> &words, uint32_t cells) {
  std::vector<uint32_t> keys = {0, 1, ~0u};
  const auto add = [&](uint32_t key) {
    for (const uint32_t near : {key - 1, key, key + 1}) keys.push_back(near);
  };
  for (uint32_t entry = 0; entry < kMapEntries; ++entry) add(entry << kMapShift);
  for (uint32_t cell = 0; cell < cells; ++cell) add(static_cast<uint32_t>(first_key_of_cell(words.data(), cell)));
  return keys;
}

TEST(Shares, EveryCellBeginsWhereItSays) {
  for (const Weights &weights : weights_of_many_kinds())
    for (const uint32_t cells : {1280u, 2560u, 40960u}) {
      const std::vector<uint32_t> words = words_of(weights, cells);
      EXPECT_EQ(0u, first_key_of_cell(words.data(), 0));
      for (uint32_t cell = 1; cell < cells; ++cell) {
        const uint64_t begin = first_key_of_cell(words.data(), cell);
        ASSERT_GE(begin, first_key_of_cell(words.data(), cell - 1)) << cell;
        ASSERT_TRUE(begin >> 32 != 0 || shared_cell(words.data(), static_cast<uint32_t>(begin)) >= cell);
        ASSERT_LT(shared_cell(words.data(), static_cast<uint32_t>(begin - 1)), cell);
      }
      for (const uint32_t key : keys_at_borders(words, cells)) {
        const uint32_t cell = shared_cell(words.data(), key);
        ASSERT_LT(cell, cells) << key;
        ASSERT_LE(first_key_of_cell(words.data(), cell), key);
      }
    }
}

TEST(Shares, CellsHaveTheirShareOfTheWeight) {
  std::mt19937 random(6);
  for (const Weights &weights : weights_of_many_kinds()) {
    constexpr uint32_t kCells = 2560, kKeysEach = 64;
    const std::vector<uint32_t> words = words_of(weights, kCells);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<double> cells(kCells);
    for (uint32_t entry = 0; entry < kMapEntries; ++entry)
      for (uint32_t i = 0; i < kKeysEach; ++i)
        cells[shared_cell(words.data(), entry << kMapShift | random() % (1u << kMapShift))] +=
            weights[entry] / (total * kKeysEach);
    // An entry's keys here are kKeysEach: a cell that begins or ends in a heavy one has as much weight as some of them.
    for (uint32_t cell = 0; cell < kCells; ++cell) {
      const uint64_t begin = first_key_of_cell(words.data(), cell);
      if (begin >> 32 != 0) continue;
      const uint64_t first = begin >> kMapShift;
      const uint64_t last = cell + 1 < kCells ? (first_key_of_cell(words.data(), cell + 1) - 1) >> kMapShift : first;
      const double key = std::max(weights[first], weights[last]) / (total * kKeysEach);
      ASSERT_LT(cells[cell], 2.5 / kCells + 4 * key) << cell;
    }
  }
}

// Digits of a range: in order, less than there are counters, one for each value where those are few.
TEST(Shares, DigitsOfARange) {
  for (const uint32_t last : {0u, 1u, 2u, 5u, 99u, kFinishDigits - 2, kFinishDigits - 1, kFinishDigits,
                              kFinishDigits + 1, 123456u, 0x7ffffu, ~0u}) {
    const KeyRange range{1000, last};
    const uint32_t factor = range.factor();
    EXPECT_EQ(last < kFinishDigits, factor == 0);
    EXPECT_LT((uint64_t{last} * factor) >> 32, kFinishDigits);
    if (factor == 0) continue;
    EXPECT_GE((uint64_t{last} * factor) >> 32, kFinishDigits / 2 - 1) << "digits are wasted";
  }
}

}  // namespace
}  // namespace gsort_test
