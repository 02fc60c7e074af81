// SPDX-License-Identifier: MIT OR Apache-2.0
// The first trip of sorts in pieces that want indices or ranks: it deals the keys of each piece out to buckets, between
// bounds that a sample of the input gave, and leaves the keys of a bucket in the order in which they came. Which bucket
// a key went to stays on the device, a byte for each.
#ifndef GSORT_HOST_MEMORY_PIECES_DEALER_H_
#define GSORT_HOST_MEMORY_PIECES_DEALER_H_

#include <functional>
#include <vector>

#include "host_memory/pieces_sort.h"
#include "host_memory/pieces_spread.h"
#include "host_memory/read_order.h"

namespace gsort_internal {

class Dealer {
 public:
  // What later trips need, which go through the same room.
  struct Needs {
    std::function<uint64_t(uint64_t items)> slot_bytes, workspace_bytes;
  };
  // Says where a piece goes of which bucket b ends at ends[b].
  using Leave = std::function<void(uint64_t i, const std::vector<uint64_t> &ends, Piece &piece)>;

  Dealer(const PieceContext &context, const SortJob &job, Needs needs);

  // False: the device has too little memory for this, or the pieces would be too many.
  bool serves() const { return serves_; }
  const PieceRoom &room() const { return room_; }
  uint64_t buckets() const { return dealt_.size(); }
  uint64_t pieces() const { return order_.pieces(); }
  uint64_t begin(uint64_t piece) const { return order_.begin(piece); }
  uint64_t items(uint64_t piece) const { return order_.items(piece); }
  // Of an array that is sorted in place.
  const std::vector<Stripe> &stripes(uint64_t piece) const { return order_.stripes(piece); }

  void run(const Leave &leave, PieceProgress &progress);

  // Behind it: the keys of each bucket, and whether they all fit a slot, and what is done with them the workspace. If
  // not, keys that are in no order cannot be cut again.
  const std::vector<uint64_t> &dealt() const { return dealt_; }
  bool all_fit() const;

  // On the device: the buckets of the keys from `place` on, and what PiecePlaces works in.
  uint8_t *buckets_of(uint64_t place) const;
  uint32_t *chunks() const;
  PieceStripes all_stripes() const;

 private:
  uint64_t own_workspace(uint64_t items) const;
  uint64_t workspace(uint64_t items) const;
  PieceStripes stripes_from(uint64_t first, uint64_t count) const;
  void make_stripes();
  bool find_room_and_buckets();
  void bring_shared(Piece &piece);
  PieceDeal deal_of(uint64_t i) const;
  void make(uint64_t i, Piece &piece);
  void leave(uint64_t i, const Leave &to, Piece &piece);

  const PieceContext &context_;
  const SortJob &job_;
  const Needs needs_;
  PieceRoom room_;
  bool serves_ = false;
  ReadOrder order_;
  Bounds bounds_;
  std::vector<uint64_t> found_, dealt_;
  std::vector<uint8_t> numbers_;
  std::vector<uint64_t> starts_, begins_;  // of the stripes of all pieces, and the turns
  std::vector<uint8_t> turns_;
};

// A sort of numbers, from one place to another, with which values travel in place.
Request numbers_request(gsort_dtype t, uint64_t items, const void *numbers, char *sorted, char *values,
                        uint64_t value_bytes);
// Such a sort that writes to `places` where the numbers, or keys, were before.
constexpr uint64_t kPlaceBytes = 4;
Request places_request(const KeyOrder &order, uint64_t items, const void *numbers, char *sorted, char *places);
// What a size query is given: it looks at no address, but at whether there is one, and at which are the same.
inline char *somewhere(uint64_t which) { return reinterpret_cast<char *>(uintptr_t{which * kSliceAlignment}); }

// False: this way does not serve the job, or its data, which may be found out only when the first trip is over; outputs
// are unspecified then, but for arrays that are sorted in place, which are as they were.
bool deal_pairs_in_place(const PieceContext &context, const SortJob &job, PieceProgress &progress);
bool deal_sort_job(const PieceContext &context, const SortJob &job, PieceProgress &progress);
bool deal_rank(const PieceContext &context, const SortJob &job, PieceProgress &progress);  // to carry_out

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECES_DEALER_H_
