// SPDX-License-Identifier: MIT OR Apache-2.0
// How large the pieces of an array are that a device works on one after the other, and where sorted pieces are cut so
// that each part of all of them fits the device. Pure functions, but for reading the runs.
#ifndef GSORT_HOST_MEMORY_PIECE_PLAN_H_
#define GSORT_HOST_MEMORY_PIECE_PLAN_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "core/key_bits.h"

namespace gsort_internal {

// Pieces of three are on the device at a time: one arrives, one is worked on, one leaves.
constexpr uint64_t kPieceSlots = 3;
// A step with pieces of so many bytes takes the bus 5 ms; a cancel waits for a step at most.
constexpr uint64_t kPieceBytesMax = uint64_t{256} << 20;
// A step of so many bytes takes the bus 0.6 ms, which hides its launches and waits. The bus is idle in one direction
// while the first piece arrives and while the last leaves: of more pieces that is a lesser part.
constexpr uint64_t kPieceBytesMin = uint64_t{32} << 20, kPiecesWanted = 32;
// Of pageable memory every step begins with empty slots of the ring, so that fewer are better: 2^30 bytes took a sort
// 92 ms in 32 pieces, 80 in 16 and 85 in 12, a scan 46, 37 and 39 (H200's host, 2026-11-24).
constexpr uint64_t kPageablePiecesWanted = 16;
// Where hardly anything leaves, only the last piece's work waits for its arrival. Fewer steps then are fewer times that
// the ring's threads begin anew: a sum of 2^28 pageable floats took 28 ms in pieces of 170 MB and 42 in pieces of 32 MB
// (two libraries, H200's host, 2026-11-22).
constexpr uint64_t kPiecesReadWanted = 8;

// A sort of arrays that the device holds is done as they arrive (pieces_arriving.h). A piece takes no more than a
// fourth of the elements, so that two of them and the workspace of one are less than the workspace of all. From there
// on each is half as long as the one before, which the bus brings in the time that the device sorts the one before in:
// of pairs and argsorts it needs a third to a half of what the bus needs for their keys. The last piece is sorted when
// the bus has nothing more to bring, and the first part before it has anything to take away: 2^22 keys take 0.06 ms,
// and shorter pieces hardly less, but each one more has a step's launches and waits, some 0.03 ms (2^30 and 2^28 keys,
// H200, 2026-11-24).
constexpr uint64_t kArrivingShare = 4, kArrivingPieceBytesMin = uint64_t{16} << 20;
// Of pageable memory each step begins with empty slots of the ring.
constexpr uint64_t kPageableArrivingPieceBytesMin = uint64_t{64} << 20;
// Of 256 MiB of keys the steps and the cuts took 0.55 ms beside the copies, a sort at once 1.3 (H200, 2026-11-24). Of
// half as many neither is much above the other.
constexpr uint64_t kArrivingBytesMin = uint64_t{256} << 20;
// So many runs are cut at most.
constexpr uint32_t kCutRunsMax = 64;

// Where pieces of n elements that are sorted as they arrive end; empty: they would be too many.
std::vector<uint64_t> arriving_ends(uint64_t n, uint64_t record_bytes, uint64_t piece_bytes_min);

// How many of n items of so many bytes a piece should have at most, where so many pieces are wanted.
constexpr uint64_t piece_items_max(uint64_t n, uint64_t item_bytes, uint64_t pieces = kPiecesWanted) {
  const uint64_t least = kPieceBytesMin / item_bytes + 1, wanted = n / pieces + 1;
  const uint64_t items = least > wanted ? least : wanted;
  return items < n ? items : n;
}

// Many items, up to items_max and a multiple of `grain`, of which bytes_of(items) is not above the budget: the most
// where bytes_of() grows. 0: there are none.
uint64_t most_items(uint64_t budget_bytes, uint64_t items_max, uint64_t grain,
                    const std::function<uint64_t(uint64_t)> &bytes_of);

// A sorted piece in host memory.
struct Run {
  const char *keys;
  const char *carry;  // what travels with each key; NULL: nothing
  uint64_t count;
};

// Where the runs are cut: part p has the elements from at(p, r) to at(p + 1, r) of run r, all of which come before
// those of part p + 1 in the stable order.
class Parts {
 public:
  explicit Parts(uint64_t runs) : runs_(runs), at_(runs, 0) {}
  uint64_t count() const { return at_.size() / runs_ - 1; }
  uint64_t at(uint64_t part, uint64_t run) const { return at_[part * runs_ + run]; }
  uint64_t first_rank(uint64_t part) const;  // elements in the parts before
  void add(const std::vector<uint64_t> &cut) { at_.insert(at_.end(), cut.begin(), cut.end()); }

 private:
  uint64_t runs_;
  std::vector<uint64_t> at_;
};

// Cuts runs into parts of at most `capacity` elements, as many as hold the first `wanted` elements. Runs that are not
// in order give parts of such sizes all the same. Throws Error(OUT_OF_MEMORY) where the runs are too many.
Parts split_runs(const std::vector<Run> &runs, const KeyOrder &order, uint64_t capacity, uint64_t wanted);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECE_PLAN_H_
