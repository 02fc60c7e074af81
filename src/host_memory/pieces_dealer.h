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

  void run(const Leave &leave, PieceProgress &progress);

  // Behind it: the keys of each bucket, and whether they all fit a slot, and what is done with them the workspace. If
  // not, keys that are in no order cannot be cut again.
  const std::vector<uint64_t> &dealt() const { return dealt_; }
  bool all_fit() const;

  // On the device: the buckets of the keys from `place` on, and what PiecePlaces works in.
  uint8_t *buckets_of(uint64_t place) const;
  uint32_t *chunks() const;

 private:
  Request request(uint64_t items, char *keys, uint8_t *numbers, char *sorted) const;
  uint64_t own_workspace(uint64_t items) const;
  uint64_t workspace(uint64_t items) const;
  bool find_room_and_buckets();
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
};

// False: the job is none for this way, or the data are none, which may be found out when the first trip is over; the
// outputs are unspecified then.
bool deal_sort_job(const PieceContext &context, const SortJob &job, PieceProgress &progress);
bool deal_rank(const PieceContext &context, const SortJob &job, PieceProgress &progress);  // to carry_out

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECES_DEALER_H_
