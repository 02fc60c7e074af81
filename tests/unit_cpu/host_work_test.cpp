// SPDX-License-Identifier: MIT OR Apache-2.0
// What the host's threads do with places that a device made: each of them, and none outside the arrays.
#include "host_memory/host_work.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "host_memory/streaming_copy.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kItems = 100000;  // several parts

template <class Index>
std::vector<Index> reversed_places() {
  std::vector<Index> places(kItems);
  for (uint64_t i = 0; i < kItems; ++i) places[i] = static_cast<Index>(kItems - 1 - i);
  return places;
}

template <class Index>
void expect_gathered(uint32_t threads) {
  Pool pool(threads);
  for (const uint64_t element_bytes : {1, 3, 8}) {
    std::vector<uint8_t> from((kItems + 1) * element_bytes), to(from.size(), 0xee);
    for (uint64_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 % 201);
    std::vector<Index> places = reversed_places<Index>();
    const std::vector<uint64_t> wrong = {0, kItems / 2, kItems - 1};
    for (const uint64_t i : wrong) places[i] = static_cast<Index>(kItems + i);  // the first: one past the end
    gather_on_host(pool, to.data(), from.data(), places.data(), kItems, sizeof(Index), element_bytes);
    for (uint64_t i = 0; i <= kItems; ++i)
      for (uint64_t b = 0; b < element_bytes; ++b) {
        const bool stays = i == kItems || places[i] >= kItems;
        ASSERT_EQ(stays ? 0xee : from[(kItems - 1 - i) * element_bytes + b], to[i * element_bytes + b]) << i;
      }
  }
}

template <class Index>
void expect_inverted(uint32_t threads) {
  Pool pool(threads);
  std::vector<Index> places = reversed_places<Index>(), to(kItems + 1, 77);
  places[5] = static_cast<Index>(kItems), places[6] = static_cast<Index>(~Index{0});
  invert_on_host(pool, to.data(), places.data(), kItems, sizeof(Index));
  for (uint64_t i = 0; i < kItems; ++i) {
    const bool stays = i == kItems - 6 || i == kItems - 7;
    ASSERT_EQ(stays ? Index{77} : static_cast<Index>(kItems - 1 - i), to[i]) << i;
  }
  EXPECT_EQ(Index{77}, to[kItems]) << "written past the end";
}

TEST(HostWork, GathersFromPlacesInTheArrayAlone) {
  for (const uint32_t threads : {1u, 3u}) {
    expect_gathered<uint32_t>(threads);
    expect_gathered<uint64_t>(threads);
  }
}

TEST(HostWork, InvertsPlacesInTheArrayAlone) {
  for (const uint32_t threads : {1u, 3u}) {
    expect_inverted<uint32_t>(threads);
    expect_inverted<uint64_t>(threads);
  }
}

TEST(HostWork, CopiesEveryByteOnce) {
  Pool pool(3);
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{4097}, uint64_t{5000001}}) {
    std::vector<uint8_t> from(bytes + 1), to(bytes + 1, 0xee);
    std::iota(from.begin(), from.end(), uint8_t{3});
    copy_on_host(pool, to.data(), from.data(), bytes);
    EXPECT_EQ(0xee, to[bytes]) << "written past the end";
    to[bytes] = from[bytes];
    EXPECT_EQ(from, to);
  }
}

TEST(HostWork, MakesAllCopies) {
  for (const uint32_t threads : {1u, 3u}) {
    Pool pool(threads);
    for (const uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{1000}}) {
      std::vector<char> from(3 * count + 1, 'a'), to(3 * count + 1, 'x'), want = to;
      std::vector<HostCopy> copies;
      for (uint64_t i = 0; i < count; ++i) {
        copies.push_back({&to[3 * i], &from[3 * i], 2});
        want[3 * i] = want[3 * i + 1] = 'a';
      }
      copy_each_on_host(pool, copies);
      EXPECT_EQ(want, to) << count;
    }
  }
}

// A byte of each page and no other, none behind the end.
TEST(HostWork, TouchesEveryPage) {
  constexpr uint64_t kPageBytes = 4096;
  for (const uint32_t threads : {1u, 3u})
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, kPageBytes, 3 * kPageBytes + 1, (uint64_t{9} << 20) + 77}) {
      Pool pool(threads);
      std::vector<char> memory(bytes + 2 * kPageBytes, 'x');
      touch_pages(pool, memory.data(), bytes);
      for (uint64_t i = 0; i < memory.size(); ++i)
        ASSERT_EQ(i < bytes && i % kPageBytes == 0 ? 0 : 'x', memory[i]) << bytes << ", " << i;
    }
}

TEST(HostWork, PartsCoverEverythingOnce) {
  Pool pool(4);
  for (const uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{63}, uint64_t{1000003}}) {
    std::vector<uint8_t> times(n + 1, 0);
    on_all_threads(
        pool, n,
        [](void *user, uint64_t begin, uint64_t end) {
          for (uint64_t i = begin; i < end; ++i) ++static_cast<uint8_t *>(user)[i];
        },
        times.data());
    EXPECT_EQ(0, times[n]);
    for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(1, times[i]) << i;
  }
}

// Every byte and none beside them, wherever either array begins in a line of a cache.
TEST(StreamingCopy, EveryLengthAndPlace) {
  constexpr uint64_t kPlaces = 70, kMost = 300;
  std::vector<uint8_t> from(kPlaces + kMost);
  std::iota(from.begin(), from.end(), uint8_t{1});
  for (uint64_t source = 0; source < kPlaces; source += 3)
    for (uint64_t place = 0; place < kPlaces; ++place)
      for (uint64_t bytes = 0; bytes <= kMost; bytes += bytes < 70 ? 1 : 23) {
        std::vector<uint8_t> to(kPlaces + kMost + 1, 0xee), want = to;
        for (uint64_t i = 0; i < bytes; ++i) want[place + i] = from[source + i];
        copy_past_caches(to.data() + place, from.data() + source, bytes);
        ASSERT_TRUE(want == to) << bytes << " bytes from " << source << " to " << place;
      }
}

}  // namespace
}  // namespace gsort_internal
