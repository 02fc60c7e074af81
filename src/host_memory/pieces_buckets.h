// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the slices of buckets lie between the two trips of a sort that spreads them over its outputs, and the parts
// that the second trip makes of them.
#ifndef GSORT_HOST_MEMORY_PIECES_BUCKETS_H_
#define GSORT_HOST_MEMORY_PIECES_BUCKETS_H_

#include <vector>

#include "host_memory/host_work.h"
#include "host_memory/pieces_sort.h"

namespace gsort_internal {

inline bool is_in_place(const SortJob &job) { return job.keys_out == job.keys_in; }

// What the second trip brings and sorts at a time.
struct Part {
  std::vector<Run> slices;
  uint64_t rank, items;
  std::vector<uint64_t> homes{};  // of each slice in place: where in the array it lies, or lay before it went aside
};

class Buckets {
 public:
  Buckets(const PieceContext &context, const SortJob &job, uint64_t count);

  void take_own_pages(const PieceProgress &progress) const { take_pages(context_, own_keys_, progress); }

  // Room for a slice of the bucket, or for the first of it.
  Run take(uint64_t bucket, uint64_t items);
  // A slice of the bucket that is put there.
  Run put(uint64_t bucket, uint64_t rank, uint64_t items);

  // The buckets in their order, cut where they are longer than a part may be.
  std::vector<Part> parts(uint64_t capacity) const;

  // Part p arrives while part p - 2 is written. What it has of the places up to there goes aside; in place, of all the
  // places before its own, so that host memory has what is not written yet.
  void clear_way(std::vector<Part> &parts, const PieceProgress &progress);

  // In place, when so many parts have been written and no more will be: what went aside of the others goes to where
  // the parts that were written have left holes.
  void restore(const std::vector<Part> &parts, uint64_t written) const noexcept;

  uint64_t items_aside() const { return aside_items_; }

 private:
  struct Aside {
    HostBuffer<char> keys, carry;
    uint64_t items, taken;
  };

  uint64_t expected_rank(uint64_t bucket) const;
  Run at(uint64_t rank, uint64_t items) const;
  Run take_aside(uint64_t items);
  void add_aside(uint64_t items);
  void cut(const std::vector<Run> &slices, uint64_t capacity, uint64_t rank, std::vector<Part> &parts) const;
  void clear_slice(const Run &slice, uint64_t end_rank, const PieceProgress &progress, Part &cleared);
  void move_aside(const Run &to, const Run &from, const PieceProgress &progress);
  void make_moves(const PieceProgress &progress);

  const PieceContext &context_;
  const SortJob &job_;
  const uint64_t count_;
  HostBuffer<char> own_keys_;
  char *keys_;                            // of all places, by rank; those of what travels are carry_out
  std::vector<uint64_t> filled_;          // of a bucket's expected places
  std::vector<std::vector<Run>> slices_;  // in the order of the pieces
  std::vector<Aside> aside_;
  uint64_t aside_items_ = 0;
  std::vector<HostCopy> moves_;  // still to be made
  uint64_t move_bytes_ = 0;
};

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECES_BUCKETS_H_
