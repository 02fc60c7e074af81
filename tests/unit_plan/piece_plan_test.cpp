// SPDX-License-Identifier: MIT OR Apache-2.0
// How long pieces are, in which order they are read, and where sorted ones are cut.
#include "host_memory/piece_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/error.h"
#include "host_memory/read_order.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

TEST(PiecePlan, TheMostItemsThatFit) {
  const auto bytes_of = [](uint64_t items) { return items * 12 + 100; };
  for (const uint64_t budget : {uint64_t{0}, uint64_t{100}, uint64_t{111}, uint64_t{112}, uint64_t{1} << 20})
    for (const uint64_t grain : {1, 7, 1000}) {
      const uint64_t items = most_items(budget, 5000 * grain, grain, bytes_of);
      EXPECT_EQ(0u, items % grain);
      EXPECT_LE(items, 5000 * grain);
      EXPECT_TRUE(items == 0 || bytes_of(items) <= budget);
      EXPECT_TRUE(items == 5000 * grain || bytes_of(items + grain) > budget);
    }
}

// Pieces that are sorted as they arrive: no more than a fourth each, halves of what is left towards the end.
TEST(PiecePlan, PiecesThatArrive) {
  constexpr uint64_t kMegabyte = uint64_t{1} << 20;
  std::vector<uint64_t> megabytes;
  for (const uint64_t end : arriving_ends(uint64_t{1} << 28, 4, 16 * kMegabyte))
    megabytes.push_back(end * 4 / kMegabyte);
  EXPECT_EQ((std::vector<uint64_t>{256, 512, 768, 896, 960, 992, 1008, 1024}), megabytes);
  for (const uint64_t record : {1, 2, 3, 8, 12, 72})
    for (const uint64_t least : {uint64_t{4096}, kArrivingPieceBytesMin, kPageableArrivingPieceBytesMin})
      for (const uint64_t bytes : {uint64_t{100}, 8 * least, 100 * least + 77, uint64_t{1} << 34, uint64_t{1} << 40}) {
        const uint64_t n = bytes / record;
        const std::vector<uint64_t> ends = arriving_ends(n, record, least);
        if (ends.empty()) {
          EXPECT_GT(bytes / least, uint64_t{1} << 20);
          continue;
        }
        EXPECT_EQ(n, ends.back());
        EXPECT_LE(ends.size(), kCutRunsMax);
        for (uint64_t i = 0, begin = 0; i < ends.size(); begin = ends[i++]) {
          EXPECT_EQ(0u, begin % 256);
          const uint64_t items = ends[i] - begin;
          EXPECT_TRUE(i + 1 == ends.size() || items * record + record > least);
          EXPECT_TRUE(n < 8 * least || items <= n / 4 + 256);
          EXPECT_TRUE(bytes > (uint64_t{1} << 33) || items * record <= kPieceBytesMax + 256 * record);
        }
      }
}

constexpr KeyOrder kOrder = {GSORT_U32, false, false};

struct Runs {
  std::vector<std::vector<uint32_t>> keys;
  std::vector<Run> runs() const {
    std::vector<Run> all;
    for (const auto &run : keys) all.push_back({reinterpret_cast<const char *>(run.data()), nullptr, run.size()});
    return all;
  }
};

Runs make_runs(uint64_t count, uint64_t length, uint32_t range, bool sorted, uint64_t seed) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  Runs runs;
  for (uint64_t r = 0; r < count; ++r) {
    runs.keys.emplace_back(length + (r % 3 == 2 ? random() % length : 0));
    for (uint32_t &key : runs.keys.back()) key = static_cast<uint32_t>(random() % range);
    if (sorted) std::sort(runs.keys.back().begin(), runs.keys.back().end());
  }
  return runs;
}

// Every element is in one part, no part is above the capacity.
void expect_whole(const Runs &runs, const Parts &parts, uint64_t capacity) {
  for (uint64_t p = 0; p < parts.count(); ++p) {
    uint64_t size = 0;
    for (uint64_t r = 0; r < runs.keys.size(); ++r) {
      ASSERT_LE(parts.at(p, r), parts.at(p + 1, r));
      size += parts.at(p + 1, r) - parts.at(p, r);
    }
    ASSERT_LE(size, capacity);
    ASSERT_EQ(parts.first_rank(p) + size, parts.first_rank(p + 1));
  }
  for (uint64_t r = 0; r < runs.keys.size(); ++r) {
    EXPECT_EQ(0u, parts.at(0, r));
    EXPECT_EQ(runs.keys[r].size(), parts.at(parts.count(), r));
  }
}

TEST(PiecePlan, PartsAreInStableOrder) {
  uint64_t seed = 1;
  for (const uint64_t count : {1, 2, 5, 40})
    for (const uint32_t range : {1u, 2u, 50u, 1000u, UINT32_MAX})
      for (const uint64_t capacity : {count + 1, 2 * count + 3, 40 * count, uint64_t{100000}}) {
        const Runs runs = make_runs(count, 500, range, true, seed++);
        const Parts parts = split_runs(runs.runs(), kOrder, capacity, UINT64_MAX);
        expect_whole(runs, parts, capacity);
        // (key, run, place) of what ends before a cut is below what begins behind it.
        for (uint64_t p = 1; p < parts.count(); ++p)
          for (uint64_t a = 0; a < count; ++a)
            for (uint64_t b = 0; b < count; ++b) {
              if (parts.at(p, a) == 0 || parts.at(p, b) == runs.keys[b].size()) continue;
              const uint32_t before = runs.keys[a][parts.at(p, a) - 1], behind = runs.keys[b][parts.at(p, b)];
              ASSERT_TRUE(before < behind || (before == behind && a <= b));
            }
      }
}

TEST(PiecePlan, PartsAreNearlyAsLargeAsTheyMayBe) {
  const Runs runs = make_runs(30, 100000, UINT32_MAX, true, 1);
  const Parts parts = split_runs(runs.runs(), kOrder, 100000, UINT64_MAX);
  EXPECT_LE(parts.count(), parts.first_rank(parts.count()) / 90000 + 1);
}

TEST(PiecePlan, OnlyWhatIsWanted) {
  const Runs runs = make_runs(10, 1000, 300, true, 1);
  const Parts parts = split_runs(runs.runs(), kOrder, 500, 1200);
  EXPECT_GE(parts.first_rank(parts.count()), 1200u);
  EXPECT_LT(parts.first_rank(parts.count() - 1), 1200u);
}

TEST(PiecePlan, RunsThatAreNotSortedGiveWholeParts) {
  for (uint64_t seed = 1; seed < 50; ++seed) {
    const Runs runs = make_runs(3, 1000, 300, false, seed);
    expect_whole(runs, split_runs(runs.runs(), kOrder, 200, UINT64_MAX), 200);
  }
}

TEST(PiecePlan, TooManyRunsAreRefused) {
  const Runs runs = make_runs(40, 10, 300, true, 1);
  EXPECT_THROW(split_runs(runs.runs(), kOrder, 40, UINT64_MAX), Error);
}

// Every element is read once, by pieces that are not too long and have a part of every region.
TEST(ReadOrder, ReadsEveryElementOnce) {
  for (const uint64_t n : {1000, 1001, 4999, 100000})
    for (const uint64_t regions : {1, 2, 7, 30})
      for (const uint64_t items : {uint64_t{40}, uint64_t{100}, uint64_t{999}}) {
        const ReadOrder order =
            regions == 1 ? ReadOrder::as_it_lies(n, items) : ReadOrder::in_stripes(n, regions, items);
        std::vector<bool> read(n);
        std::vector<uint64_t> numbers(n), places;
        std::iota(numbers.begin(), numbers.end(), uint64_t{0});
        for (uint64_t i = 0; i < order.pieces(); ++i) {
          ASSERT_EQ(places.size(), order.begin(i));
          ASSERT_LE(order.items(i), items);
          ASSERT_EQ(regions, order.stripes(i).size());
          uint64_t region = 0;
          for (const Stripe &stripe : order.stripes(i)) {
            ASSERT_GE(stripe.begin, even_cut(n, regions, region));
            ASSERT_LE(stripe.begin + stripe.count, even_cut(n, regions, ++region));
            ASSERT_LE(stripe.count, items / regions + 1);
            for (uint64_t place = stripe.begin; place < stripe.begin + stripe.count; ++place) {
              ASSERT_FALSE(read[place]);
              read[place] = true;
              places.push_back(place);
            }
          }
        }
        ASSERT_EQ(places, order.places_of(numbers));
        numbers = {n / 3, n / 3, n / 2, n - 1};
        ASSERT_EQ(std::vector<uint64_t>({places[n / 3], places[n / 3], places[n / 2], places[n - 1]}),
                  order.places_of(numbers));
        ASSERT_LE(order.pieces(), n / (items - regions) + 1) << "pieces that are too short";
      }
}

// All elements of a piece find a place in its stripes, each bucket's in its own as far as they go; what is too much
// lies in the way of the second trip only where there is no hole behind.
TEST(ReadOrder, SlicesFillTheStripes) {
  std::mt19937_64 random(1);
  for (uint32_t round = 0; round < 2000; ++round) {
    const uint64_t buckets = 1 + random() % 12, skew = 1 + random() % 100;
    std::vector<Stripe> stripes;
    uint64_t items = 0;
    for (uint64_t b = 0; b < buckets; ++b) {
      stripes.push_back({1000 * b, random() % 40});
      items += stripes.back().count;
    }
    std::vector<uint64_t> ends;
    for (uint64_t b = 0; b + 1 < buckets; ++b) ends.push_back(random() % (items * skew / 100 + 1));
    ends.push_back(items);
    std::sort(ends.begin(), ends.end());
    std::vector<bool> taken(items), filled(1000 * buckets);
    std::vector<uint64_t> own(buckets), before(buckets);
    for (const PlacedSlice &p : place_slices(stripes, ends)) {
      ASSERT_GT(p.count, 0u);
      ASSERT_GE(p.from, p.bucket == 0 ? 0 : ends[p.bucket - 1]);
      ASSERT_LE(p.from + p.count, ends[p.bucket]);
      const uint64_t region = p.to / 1000;
      ASSERT_LE(p.to + p.count, stripes[region].begin + stripes[region].count);
      if (region == p.bucket) own[region] += p.count;
      if (region < p.bucket) before[p.bucket] += p.count;
      for (uint64_t i = 0; i < p.count; ++i) {
        ASSERT_FALSE(taken[p.from + i] || filled[p.to + i]);
        taken[p.from + i] = filled[p.to + i] = true;
      }
    }
    ASSERT_EQ(items, static_cast<uint64_t>(std::count(taken.begin(), taken.end(), true)));
    // Behind the bucket b there are so many holes more than elements that are too many, at the best; never less than 0.
    uint64_t holes = 0, in_the_way = 0, least = 0;
    for (uint64_t b = buckets; b-- > 0;) {
      const uint64_t count = ends[b] - (b != 0 ? ends[b - 1] : 0);
      ASSERT_EQ(std::min(count, stripes[b].count), own[b]);
      const uint64_t over = count - own[b], behind = std::min(over, holes);
      least += over - behind;
      holes += stripes[b].count - own[b] - behind;
      in_the_way += before[b];
    }
    ASSERT_EQ(least, in_the_way);
  }
}

}  // namespace
}  // namespace gsort_test
