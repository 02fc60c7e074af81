// SPDX-License-Identifier: MIT OR Apache-2.0
// In which order the first trip of a sort reads its input, and in place where it writes the pieces. Pure functions.
//
// A sort in place reads a stripe of each bucket's region at a time. What it then has of the bucket goes back into the
// stripe; where that is more or less, some goes to other stripes of the same piece. So the array holds a permutation of
// the input after every piece, and no scratch memory is needed. So a piece can be put back as it was, too.
#ifndef GSORT_HOST_MEMORY_READ_ORDER_H_
#define GSORT_HOST_MEMORY_READ_ORDER_H_

#include <cstdint>
#include <vector>

namespace gsort_internal {

// The first of some parts of n elements that differ by one at most.
constexpr uint64_t even_cut(uint64_t n, uint64_t parts, uint64_t part) {
  return part * (n / parts) + (part < n % parts ? part : n % parts);
}

// A number that depends on every bit of i.
constexpr uint64_t mixed(uint64_t i) {
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
  return i ^ (i >> 31);
}

struct Stripe {
  uint64_t begin, count;  // in the input
};

class ReadOrder {
 public:
  ReadOrder() = default;
  // Pieces of `items` elements but for the last, as they lie.
  static ReadOrder as_it_lies(uint64_t n, uint64_t items);
  // Pieces of `items` at most, with a stripe of each of the regions; items > regions. Which one differs from region to
  // region, so that data with a period are mixed.
  static ReadOrder in_stripes(uint64_t n, uint64_t regions, uint64_t items);

  uint64_t pieces() const { return stripes_.size(); }
  const std::vector<Stripe> &stripes(uint64_t piece) const { return stripes_[piece]; }
  // Elements that are read before the piece, and that it has.
  uint64_t begin(uint64_t piece) const { return begins_[piece]; }
  uint64_t items(uint64_t piece) const { return begins_[piece + 1] - begins_[piece]; }
  // Where the elements are that are read after so many others each; the numbers ascend.
  std::vector<uint64_t> places_of(const std::vector<uint64_t> &numbers) const;

 private:
  void add(std::vector<Stripe> stripes);

  std::vector<std::vector<Stripe>> stripes_;
  std::vector<uint64_t> begins_{0};
};

// So many elements of the bucket, from `from` on in the sorted piece, go to `to` in the array.
struct PlacedSlice {
  uint64_t bucket, from, to, count;
};

// Fills the stripes, one for each bucket, with a sorted piece in which the bucket's elements end at ends[bucket]. What
// a bucket has too many of goes behind its own stripe if it can, where the second trip writes last.
std::vector<PlacedSlice> place_slices(const std::vector<Stripe> &stripes, const std::vector<uint64_t> &ends);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_READ_ORDER_H_
