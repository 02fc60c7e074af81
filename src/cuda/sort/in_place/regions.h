// SPDX-License-Identifier: MIT OR Apache-2.0
// The arithmetic of the partition in place: which slots are whose, and how bricks change places. Plain functions of one
// thread, of host or device, so that tests try them by the million.
#ifndef GSORT_CUDA_SORT_IN_PLACE_REGIONS_H_
#define GSORT_CUDA_SORT_IN_PLACE_REGIONS_H_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/sort/in_place/plan.h"

namespace gsort_internal::sort::in_place {

// What a slot holds, beside the number of a bucket.
constexpr uint8_t kHole = 255;    // nothing
constexpr uint8_t kBorder = 254;  // nothing, and it will be the place of no brick: keys of two buckets belong there

// The slots as they lie in the array: the first begins behind `head` keys, at an aligned address.
struct SlotGrid {
  uint64_t n, head;
  uint32_t slots, brick;  // keys of a brick
};

struct Regions {
  uint64_t start[kBucketsMax + 1];                 // place of each bucket's first key
  uint32_t first[kBucketsMax], last[kBucketsMax];  // slots that lie in the bucket wholly: first to last - 1
  uint32_t borders;                                // slots that hold keys of several buckets in the end
  uint32_t border[kBucketsMax];
};

// The places of buckets with so many keys each.
GSORT_HOST_DEVICE void find_regions(const SlotGrid &grid, const uint64_t *sizes, uint32_t buckets, Regions &regions) {
  uint64_t place = 0;
  regions.borders = 0;
  for (uint32_t bucket = 0; bucket < buckets; ++bucket) {
    regions.start[bucket] = place;
    const uint64_t begin = place > grid.head ? place - grid.head : 0;
    place += sizes[bucket];
    const uint64_t end = place > grid.head ? place - grid.head : 0;
    uint64_t first = (begin + grid.brick - 1) / grid.brick, last = end / grid.brick;
    if (last > grid.slots) last = grid.slots;
    if (first > last) first = last;
    regions.first[bucket] = static_cast<uint32_t>(first);
    regions.last[bucket] = static_cast<uint32_t>(last);
    const uint64_t cut = begin / grid.brick;
    if (begin % grid.brick == 0 || cut >= grid.slots) continue;
    if (regions.borders == 0 || regions.border[regions.borders - 1] != cut)
      regions.border[regions.borders++] = static_cast<uint32_t>(cut);
  }
  regions.start[buckets] = place;
}

// The bucket in whose region a slot lies; `buckets`: in none's.
GSORT_HOST_DEVICE uint32_t region_of(const Regions &regions, uint32_t buckets, uint32_t slot) {
  for (uint32_t bucket = 0; bucket < buckets; ++bucket)
    if (slot < regions.last[bucket]) return slot >= regions.first[bucket] ? bucket : buckets;
  return buckets;
}

// `items` cycles of the same buckets: item i moves the brick in slot list[start[t] + i - first] to slot list[start[t +
// 1]
// + i - first] for every t, and the last one's to the first's.
struct Cycle {
  uint32_t first;  // of its items among all
  uint32_t length;
  uint32_t start[kBucketsMax];
};

// Bricks in wrong regions: edge (i, j) has those that lie in region i and belong to bucket j, list[next] on, of which
// `count` are not in a cycle yet. Every region has as many that belong elsewhere as it lacks.
struct Edges {
  uint32_t count[kBucketsMax * kBucketsMax];
  uint32_t next[kBucketsMax * kBucketsMax];
  uint32_t targets[kBucketsMax];  // bit j: edge (i, j) has bricks left
  uint32_t path[kBucketsMax];     // regions that are followed; here, where a device can index it quickly
};

struct CycleWriter {
  Cycle *cycles;
  uint32_t cycle_count, items;
};

// Makes `items` items of the cycle through path[0] to path[length - 1].
GSORT_HOST_DEVICE void take_cycle(Edges &edges, const uint32_t *path, uint32_t length, uint32_t items,
                                  CycleWriter &writer) {
  Cycle &cycle = writer.cycles[writer.cycle_count++];
  cycle.first = writer.items;
  cycle.length = length;
  writer.items += items;
  for (uint32_t t = 0; t < length; ++t) {
    const uint32_t from = path[t], to = path[t + 1 < length ? t + 1 : 0], edge = from * kBucketsMax + to;
    cycle.start[t] = edges.next[edge];
    edges.next[edge] += items;
    edges.count[edge] -= items;
    if (edges.count[edge] == 0) edges.targets[from] &= ~(1u << to);
  }
}

// Makes cycles of all edges. Bricks of two regions that can change places do; what is left is followed from region to
// region until one comes again. Each cycle empties an edge. Needs the counts and places of edges. Returns the items.
GSORT_HOST_DEVICE uint32_t find_cycles(Edges &edges, uint32_t buckets, Cycle *cycles, uint32_t &cycle_count) {
  CycleWriter writer = {cycles, 0, 0};
  for (uint32_t from = 0; from < buckets; ++from) {
    edges.targets[from] = 0;
    for (uint32_t to = 0; to < buckets; ++to)
      if (to != from && edges.count[from * kBucketsMax + to] != 0) edges.targets[from] |= 1u << to;
  }
  uint32_t *const path = edges.path;
  for (uint32_t from = 0; from < buckets; ++from)
    for (uint32_t to = from + 1; to < buckets; ++to) {
      const uint32_t there = edges.count[from * kBucketsMax + to], back = edges.count[to * kBucketsMax + from];
      const uint32_t both = there < back ? there : back;
      path[0] = from, path[1] = to;
      if (both != 0) take_cycle(edges, path, 2, both, writer);
    }
  for (uint32_t begin = 0; begin < buckets; ++begin) {
    while (edges.targets[begin] != 0) {
      uint32_t length = 0, at = begin, seen = 0;
      while ((seen >> at & 1) == 0) {
        seen |= 1u << at;
        path[length++] = at;
        uint32_t to = 0;
        while ((edges.targets[at] >> to & 1) == 0) ++to;
        at = to;
      }
      uint32_t from = 0;
      while (path[from] != at) ++from;
      uint32_t least = UINT32_MAX;
      for (uint32_t t = from; t < length; ++t) {
        const uint32_t count = edges.count[path[t] * kBucketsMax + (t + 1 < length ? path[t + 1] : at)];
        if (count < least) least = count;
      }
      take_cycle(edges, path + from, length - from, least, writer);
    }
  }
  cycle_count = writer.cycle_count;
  return writer.items;
}

// What kernels leave for each other; cleared before.
struct State {
  unsigned long long left[kBucketsMax];  // keys of each bucket in its list
  uint32_t bricks[kBucketsMax];          // of each bucket, in slots
  uint32_t holes;                        // listed
  uint32_t blocks_done;
  Edges edges;
  // Written before they are read:
  uint64_t splitter[kBucketsMax];      // ordered bits; keys at or above the i-th belong to bucket i + 1 or a later one,
  uint32_t splitter_tie[kBucketsMax];  // of equal ones those whose tie is at or above this
  uint32_t has_ties;                   // some splitter asks for ties
  uint32_t failed;                     // a border lies out of its window
  Regions regions;
  uint32_t filled[kBucketsMax];  // holes that are filled from the bucket's list
  uint32_t cursor[kBucketsMax * kBucketsMax];
  uint32_t cycle_count, items;
};
constexpr uint64_t kStateBytes = 8192;
static_assert(sizeof(State) <= kStateBytes, "the plan counts with this size");

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_REGIONS_H_
