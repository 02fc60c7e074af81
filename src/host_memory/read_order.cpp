// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/read_order.h"

#include <algorithm>

namespace gsort_internal {

void ReadOrder::add(std::vector<Stripe> stripes) {
  uint64_t items = 0;
  for (const Stripe &stripe : stripes) items += stripe.count;
  begins_.push_back(begins_.back() + items);
  stripes_.push_back(std::move(stripes));
}

ReadOrder ReadOrder::as_it_lies(uint64_t n, uint64_t items) {
  ReadOrder order;
  for (uint64_t at = 0; at < n; at += items) order.add({{at, std::min(items, n - at)}});
  return order;
}

ReadOrder ReadOrder::in_stripes(uint64_t n, uint64_t regions, uint64_t items) {
  // Each stripe may have one element more than its share.
  const uint64_t pieces = (n + items - regions - 1) / (items - regions);
  ReadOrder order;
  for (uint64_t i = 0; i < pieces; ++i) {
    std::vector<Stripe> stripes;
    for (uint64_t r = 0; r < regions; ++r) {
      const uint64_t region = even_cut(n, regions, r), length = even_cut(n, regions, r + 1) - region,
                     stripe = (i + mixed(r)) % pieces, begin = even_cut(length, pieces, stripe),
                     end = even_cut(length, pieces, stripe + 1);
      stripes.push_back({region + begin, end - begin});
    }
    order.add(std::move(stripes));
  }
  return order;
}

std::vector<uint64_t> ReadOrder::places_of(const std::vector<uint64_t> &numbers) const {
  std::vector<uint64_t> places;
  places.reserve(numbers.size());
  uint64_t before = 0;
  for (const std::vector<Stripe> &stripes : stripes_)
    for (const Stripe &stripe : stripes) {
      while (places.size() < numbers.size() && numbers[places.size()] - before < stripe.count)
        places.push_back(stripe.begin + (numbers[places.size()] - before));
      before += stripe.count;
    }
  return places;
}

std::vector<PlacedSlice> place_slices(const std::vector<Stripe> &stripes, const std::vector<uint64_t> &ends) {
  std::vector<PlacedSlice> placements, rest;
  std::vector<Stripe> holes;
  // As much as the holes take; what is left of it.
  const auto fill = [&](PlacedSlice slice) {
    while (slice.count != 0 && !holes.empty()) {
      Stripe &hole = holes.back();
      const uint64_t count = std::min(slice.count, hole.count);
      placements.push_back({slice.bucket, slice.from, hole.begin, count});
      slice.from += count, slice.count -= count;
      hole.begin += count, hole.count -= count;
      if (hole.count == 0) holes.pop_back();
    }
    return slice;
  };
  for (uint64_t b = stripes.size(); b-- > 0;) {
    const uint64_t begin = b != 0 ? ends[b - 1] : 0, count = ends[b] - begin, own = std::min(count, stripes[b].count);
    if (own != 0) placements.push_back({b, begin, stripes[b].begin, own});
    const PlacedSlice left = fill({b, begin + own, 0, count - own});
    if (left.count != 0) rest.push_back(left);
    if (own < stripes[b].count) holes.push_back({stripes[b].begin + own, stripes[b].count - own});
  }
  for (const PlacedSlice &slice : rest) fill(slice);
  return placements;
}

}  // namespace gsort_internal
