// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernel that cuts sorted runs at ranks, thread by thread on the CPU.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cuda/engine/piece_cuts.cuh"

namespace gsort_internal {
namespace {

// Keys are drawn below `differing`, or one after the other, which puts whole runs behind others.
template <class U>
void expect_cuts(gsort_dtype t, const std::vector<uint64_t> &lengths, bool descending, uint64_t differing,
                 bool ascends = false) {
  std::mt19937_64 random(lengths.size() + differing);
  const KeyCodec<U> codec = make_codec<U>({t, descending, false});
  CutParams<U> p = {};
  std::vector<U> keys;
  for (const uint64_t length : lengths) {
    const auto begin = static_cast<std::ptrdiff_t>(keys.size());
    for (uint64_t i = 0; i < length; ++i) {
      const uint64_t key = ascends ? keys.size() : differing == 0 ? random() : random() % differing;
      keys.push_back(codec.decode(static_cast<U>(key)));
    }
    std::sort(keys.begin() + begin, keys.end(), [&](U a, U b) { return codec.encode(a) < codec.encode(b); });
    p.ends[p.runs++] = keys.size();
  }
  std::vector<std::pair<U, uint64_t>> elements;
  for (uint64_t i = 0; i < keys.size(); ++i) elements.push_back({codec.encode(keys[i]), i});
  std::sort(elements.begin(), elements.end());

  uint32_t cuts = 0;
  for (const uint64_t rank : {uint64_t{1}, keys.size() / 7 + 1, keys.size() / 2 + 1, keys.size() - 1})
    p.ranks[cuts++] = rank;
  std::vector<uint64_t> found(cuts * p.runs + 1, 77);
  p.keys = keys.data(), p.codec = codec, p.found = found.data();
  emulation::launch(cuts, kCutThreads, 0, [&] { cut_kernel<U>(p); });
  std::vector<uint64_t> want(found.size(), 0);
  want.back() = 77;
  for (uint32_t c = 0; c < cuts; ++c)
    for (uint64_t i = 0; i < p.ranks[c]; ++i)
      ++want[c * p.runs +
             static_cast<uint64_t>(std::upper_bound(p.ends, p.ends + p.runs, elements[i].second) - p.ends)];
  EXPECT_TRUE(want == found) << sizeof(U) << " bytes, " << p.runs << " runs, " << differing << " keys, " << descending;
}

TEST(PieceCuts, CutsRunsAtRanks) {
  const std::vector<uint64_t> halving = {4096, 4096, 4096, 2048, 1024, 512, 256, 300}, two = {5, 1};
  std::vector<uint64_t> many(kCutRunsMax, 40);
  for (const auto &lengths : {halving, two, many})
    for (const bool descending : {false, true})
      for (const uint64_t differing : {0, 1, 2, 9, 200}) {
        expect_cuts<uint8_t>(GSORT_I8, lengths, descending, differing);
        expect_cuts<uint16_t>(GSORT_U16, lengths, descending, differing);
        expect_cuts<uint32_t>(GSORT_F32, lengths, descending, differing);
        expect_cuts<uint64_t>(GSORT_I64, lengths, descending, differing);
      }
}

TEST(PieceCuts, CutsRunsThatComeOneAfterTheOther) {
  for (const bool descending : {false, true}) {
    expect_cuts<uint32_t>(GSORT_U32, {1000, 1000, 500, 250, 250}, descending, 0, true);
    expect_cuts<uint64_t>(GSORT_U64, {1000, 1000, 500, 250, 250}, descending, 0, true);
  }
}

}  // namespace
}  // namespace gsort_internal
