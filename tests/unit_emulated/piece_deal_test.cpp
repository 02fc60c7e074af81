// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernels that deal keys out to buckets, list a bucket's places and scatter, thread by thread on the CPU.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cuda/engine/piece_deal.cuh"

namespace gsort_internal {
namespace {

template <class U>
void deal_and_list(uint64_t n, uint32_t count, bool descending, U differing) {
  std::mt19937_64 random(n + count);
  const KeyCodec<U> codec = make_codec<U>({sizeof(U) == 4 ? GSORT_F32 : GSORT_I64, descending, false});
  std::vector<U> keys(n);
  for (U &key : keys) key = static_cast<U>(random()) % differing;
  using Placed = std::pair<U, uint64_t>;
  constexpr uint64_t kFirst = 1000;  // the piece is not the first
  std::vector<Placed> bounds;
  for (uint32_t b = 0; b < count; ++b) {
    const uint64_t place = random() % (n + 2 * kFirst);
    bounds.push_back({codec.encode(keys[place % n]), place});
  }
  std::sort(bounds.begin(), bounds.end());
  std::vector<U> bound_keys;
  std::vector<uint64_t> bound_places;
  for (const Placed &bound : bounds)
    bound_keys.push_back(codec.decode(bound.first)), bound_places.push_back(bound.second);

  std::vector<uint4> memory(n / 16 + 1, uint4{~0u, ~0u, ~0u, ~0u});
  auto *const buckets = reinterpret_cast<uint8_t *>(memory.data());
  emulation::launch(3, kDealThreads, 0, [&] {
    deal_kernel<U>({keys.data(), n, kFirst, {}, codec, bound_keys.data(), bound_places.data(), count, buckets});
  });
  std::vector<std::vector<uint32_t>> want(count + 1);
  for (uint64_t i = 0; i < n; ++i) {
    const Placed key = {codec.encode(keys[i]), kFirst + i};
    const auto bucket = static_cast<uint64_t>(std::upper_bound(bounds.begin(), bounds.end(), key) - bounds.begin());
    ASSERT_EQ(bucket, buckets[i]) << i;
    want[bucket].push_back(static_cast<uint32_t>(i));
  }

  const uint64_t chunks = place_chunks(n);
  for (uint32_t bucket = 0; bucket <= count; ++bucket) {
    std::vector<uint32_t> sums(chunks, 0xa5a5a5a5), got(want[bucket].size() + 1, 0xa5a5a5a5);
    // One less than there are is written if no more are wanted.
    const uint64_t items = want[bucket].size() - (bucket % 2 == 1 && !want[bucket].empty() ? 1 : 0);
    const PlaceParams params = {buckets, n, bucket, sums.data(), items};
    emulation::launch(static_cast<uint32_t>(chunks), kPlaceThreads, 0, [&] { count_places_kernel(params); });
    emulation::launch(1, kPlaceSumThreads, 0, [&] { sum_places_kernel(sums.data(), chunks); });
    emulation::launch(static_cast<uint32_t>(chunks), kPlaceThreads, 0,
                      [&] { list_places_kernel<uint32_t>(params, got.data()); });
    want[bucket].resize(items);
    want[bucket].resize(got.size(), 0xa5a5a5a5);
    ASSERT_TRUE(want[bucket] == got) << "bucket " << bucket << " of " << count + 1 << ", n = " << n;
  }
}

TEST(PieceDeal, DealsAndLists) {
  for (const uint64_t n : {uint64_t{1}, uint64_t{15}, uint64_t{17}, kPlaceChunk, kPlaceChunk + 1, 3 * kPlaceChunk - 5})
    for (const bool descending : {false, true}) {
      deal_and_list<uint32_t>(n, 5, descending, 0xffffffffu);
      deal_and_list<uint32_t>(n, 3, descending, 2);  // few values: places decide
    }
  deal_and_list<uint64_t>(2 * kPlaceChunk + 100, kDealBoundsMax, false, ~uint64_t{0});
  deal_and_list<uint64_t>(kPlaceChunk / 2, 1, true, 7);
}

// A piece that is made of stripes: bounds are compared by places in the array, and a bucket's places become turns.
TEST(PieceDeal, DealsStripes) {
  constexpr uint64_t kReadBefore = 50;
  const std::vector<uint64_t> starts = {0, 30, 50, 50, 400, 1000}, begins = {500, 0, 3000, 7000, 2000, 9000};
  const std::vector<uint8_t> turns = {3, 1, 5, 9, 4, 250};
  constexpr uint64_t n = 1500, items = n - kReadBefore;
  const KeyCodec<uint32_t> codec = make_codec<uint32_t>({GSORT_U32, false, false});
  const std::vector<uint32_t> keys(items, 7), bounds(2, 7);
  const std::vector<uint64_t> places = {2100, 9100};  // in the array
  std::vector<uint4> memory(n / 16 + 1, uint4{0, 0, 0, 0});
  auto *const buckets = reinterpret_cast<uint8_t *>(memory.data());
  const PieceStripes own = {4, starts.data() + 2, begins.data() + 2, turns.data() + 2},
                     all = {6, starts.data(), begins.data(), turns.data()};
  emulation::launch(1, kDealThreads, 0, [&] {
    deal_kernel<uint32_t>(
        {keys.data(), items, kReadBefore, own, codec, bounds.data(), places.data(), 2, buckets + kReadBefore});
  });
  std::vector<uint8_t> want_turns;
  for (uint64_t i = kReadBefore; i < n; ++i) {
    const uint64_t stripe = i < 400 ? 3 : i < 1000 ? 4 : 5, place = begins[stripe] + i - starts[stripe];
    const uint64_t want = (place >= places[0] ? 1u : 0u) + (place >= places[1] ? 1u : 0u);
    ASSERT_EQ(want, buckets[i]) << i;
    if (want == 1) want_turns.push_back(turns[stripe]);
  }
  std::vector<uint32_t> sums(1);
  std::vector<uint8_t> got(want_turns.size() + 1, 0xa5);
  const PlaceParams params = {buckets, n, 1, sums.data(), n};
  emulation::launch(1, kPlaceThreads, 0, [&] { count_places_kernel(params); });
  emulation::launch(1, kPlaceSumThreads, 0, [&] { sum_places_kernel(sums.data(), 1); });
  emulation::launch(1, kPlaceThreads, 0, [&] { list_turns_kernel(params, all, got.data()); });
  want_turns.push_back(0xa5);
  EXPECT_TRUE(want_turns == got);
}

// More chunks than the block that sums them has threads.
TEST(PieceDeal, SumsOfManyChunks) {
  for (const uint64_t count : {1u, 1023u, 1024u, 1025u, 5000u}) {
    std::vector<uint32_t> chunks(count), want(count);
    std::mt19937_64 random(count);
    uint32_t before = 0;
    for (uint64_t i = 0; i < count; ++i) {
      chunks[i] = static_cast<uint32_t>(random() % kPlaceChunk);
      want[i] = before;
      before += chunks[i];
    }
    emulation::launch(1, kPlaceSumThreads, 0, [&] { sum_places_kernel(chunks.data(), count); });
    ASSERT_TRUE(want == chunks) << count;
  }
}

TEST(PieceDeal, Scatters) {
  constexpr uint64_t n = 5001;
  std::vector<uint32_t> places(n);
  for (uint32_t i = 0; i < n; ++i) places[i] = i;
  std::shuffle(places.begin(), places.end(), std::mt19937_64(7));
  std::vector<uint64_t> from(n), moved(n), numbered(n);
  for (uint64_t i = 0; i < n; ++i) from[i] = i * i;
  emulation::launch(2, kDealThreads, 0,
                    [&] { scatter_kernel<uint64_t>(places.data(), from.data(), 0, moved.data(), n); });
  emulation::launch(2, kDealThreads, 0,
                    [&] { scatter_kernel<uint64_t>(places.data(), nullptr, 77, numbered.data(), n); });
  for (uint64_t i = 0; i < n; ++i) {
    ASSERT_EQ(i * i, moved[places[i]]);
    ASSERT_EQ(77 + i, numbered[places[i]]);
  }
  // A place that leads out of the array moves nothing.
  places[5] = static_cast<uint32_t>(n);
  std::vector<uint64_t> guarded(n + 1, 1);
  emulation::launch(2, kDealThreads, 0,
                    [&] { scatter_kernel<uint64_t>(places.data(), nullptr, 77, guarded.data(), n); });
  EXPECT_EQ(1u, guarded[n]);
}

}  // namespace
}  // namespace gsort_internal
