// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable sort of a block of records by words: whatever the keys' bits, also where words leave out those that
// differ.
#include "cpu/sort/word_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

using namespace gsort_internal;

namespace {

// Sorts the keys with their places as values, into either array, and compares with the stable order.
template <class K>
void check(const std::vector<K> &keys, uint32_t bits) {
  using Pairs = Records<K, uint32_t>;
  const uint32_t n = static_cast<uint32_t>(keys.size());
  std::vector<uint32_t> wanted(n);
  std::iota(wanted.begin(), wanted.end(), 0u);
  std::stable_sort(wanted.begin(), wanted.end(), [&](uint32_t i, uint32_t j) { return keys[i] < keys[j]; });
  for (const bool to_b : {false, true}) {
    std::vector<K> a_keys = keys, b_keys(n, 0xa5);
    std::vector<uint64_t> words(n);
    std::vector<uint32_t> a_values(n), b_values(n, 0xa5);
    std::iota(a_values.begin(), a_values.end(), 0u);
    const Pairs a{a_keys.data(), a_values.data()}, b{b_keys.data(), b_values.data()};
    const bool has_vectors = sort_kernels(uint64_t{}) != nullptr;
    if (!has_vectors || !sort_by_words(a, b, n, bits, to_b, words.data())) sort_block(a, b, n, bits, to_b);
    const std::vector<K> &got_keys = to_b ? b_keys : a_keys;
    ASSERT_EQ(wanted, to_b ? b_values : a_values) << "n " << n;
    for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(keys[wanted[i]], got_keys[i]) << "n " << n << " i " << i;
  }
}

// Keys of random bits where `mask` has them, the same ones elsewhere.
template <class K>
std::vector<K> random_keys(uint32_t n, uint64_t mask) {
  std::mt19937_64 random(n);
  std::vector<K> keys(n);
  for (K &key : keys) key = static_cast<K>((random() & mask) | (0x5a5a5a5a5a5a5a5aull & ~mask));
  return keys;
}

constexpr uint32_t kSizes[] = {1, 2, kWordItemsMin - 1, kWordItemsMin, 64, 65, 1000, 4096, 8192, 16384, 16385, 21845};

TEST(WordSort, IsStableWhateverBitsDiffer) {
  // All, few, the last ones that words leave out, the first and the last, duplicates in short and in long runs.
  for (const uint64_t mask :
       {~uint64_t{0}, uint64_t{0xff}, uint64_t{0x3fff}, (uint64_t{1} << 40) - 1, uint64_t{0xff00000000000003},
        uint64_t{0xffffff0000000fff}, uint64_t{0xfff0000000000000}, uint64_t{0xc000000000003fff}, uint64_t{0}})
    for (const uint32_t n : kSizes) check(random_keys<uint64_t>(n, mask), 64);
}

TEST(WordSort, TakesKeysThatDifferInTheBitsGivenAlone) {
  for (const uint32_t bits : {1u, 7u, 17u, 18u, 31u, 32u, 33u, 49u, 50u, 51u, 56u})
    for (const uint32_t n : kSizes) check(random_keys<uint64_t>(n, (uint64_t{1} << bits) - 1), bits);
}

TEST(WordSort, TakesKeysOfFourBytes) {
  for (const uint64_t mask : {0xffffffffu, 0xffu, 0x3fffu, 0xff000003u, 0xfff00fffu, 0xfff00000u, 0xc0000fffu, 0u})
    for (const uint32_t n : kSizes) check(random_keys<uint32_t>(n, mask), 32);
  for (const uint32_t bits : {1u, 7u, 17u, 20u, 21u, 24u, 31u})
    for (const uint32_t n : kSizes) check(random_keys<uint32_t>(n, (uint64_t{1} << bits) - 1), bits);
}

// Ties of words in runs of just as many as are put right one by one, and of one more.
TEST(WordSort, PutsTiesRight) {
  for (const uint32_t run : {2u, 3u, kTiesMax - 1, kTiesMax, kTiesMax + 1, 5 * kTiesMax}) {
    constexpr uint32_t n = 8192;
    std::vector<uint64_t> keys(n);
    std::mt19937_64 random(run);
    for (uint32_t i = 0; i < n; ++i) keys[i] = uint64_t{i / run} << 52 | (random() & 0x1f);
    keys[0] |= uint64_t{1} << 63;
    std::shuffle(keys.begin(), keys.end(), random);
    check(keys, 64);
  }
}

}  // namespace
