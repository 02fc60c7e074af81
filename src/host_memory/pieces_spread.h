// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorting in pieces where the outputs are other arrays than the inputs, or keys alone in place: what the first trip
// sorts lies in the outputs meanwhile, about where it will end, so that hardly any scratch memory is needed, whose
// pages would be fresh ones.
#ifndef GSORT_HOST_MEMORY_PIECES_SPREAD_H_
#define GSORT_HOST_MEMORY_PIECES_SPREAD_H_

#include "host_memory/pieces_sort.h"
#include "host_memory/read_order.h"

namespace gsort_internal {

// Elements of the input that cut it into buckets of about one size.
struct Bounds {
  std::vector<char> keys;  // as arrays hold them
  std::vector<uint64_t> places;
};
// Their places are counted in the order in which the input is read, or as it lies.
enum class BoundPlaces { kAsRead, kInArray };
Bounds sample_bounds(const SortJob &job, const ReadOrder &order, uint64_t buckets, BoundPlaces counted);

// Brings piece i of the input, stripe by stripe, and returns its elements.
uint64_t bring_stripes(const SortJob &job, const ReadOrder &order, const PieceRoom &room, uint64_t i, Piece &piece);

// A bucket takes four fifths of a piece's room, so that hardly any is too long.
constexpr uint64_t with_slack(uint64_t items) { return items + items / 4; }

// False: this way does not serve the job; nothing was done, or the array that is sorted in place is in another order.
bool spread_sort_job(const PieceContext &context, const SortJob &job, PieceProgress &progress);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECES_SPREAD_H_
