// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorting in pieces: sorted pieces in scratch memory, cut into parts that fit the device, each sorted as a whole.
#ifndef GSORT_HOST_MEMORY_PIECES_SORT_H_
#define GSORT_HOST_MEMORY_PIECES_SORT_H_

#include <chrono>

#include "host_memory/piece_pipeline.h"

namespace gsort_internal {

// Values of more bytes stay where they are until the order of the keys is known.
constexpr uint32_t kTravellingBytesMax = 64;

struct SortJob {
  KeyOrder order;
  uint64_t key_bytes;
  uint64_t carry_bytes;  // what travels with a key; 0: nothing
  bool carries_index;    // that is the key's own index, 4 or 8 bytes, and carry_in is NULL
  bool selects;          // few are wanted
  const char *keys_in;   // NULL: `sorted` is what there is
  const char *carry_in;
  uint64_t n, wanted;       // elements, and how many of the first are written
  char *keys_out;           // NULL: not wanted
  char *carry_out;          // NULL: not wanted
  std::vector<Run> sorted;  // of a merge

  uint64_t record_bytes() const { return key_bytes + carry_bytes; }
  // What travels, for the progress.
  uint64_t bus_bytes() const;
};

// For the log.
class Stopwatch {
 public:
  // Milliseconds since the last question.
  double lap_ms() {
    const Clock::time_point now = Clock::now(), last = last_;
    last_ = now;
    return std::chrono::duration<double, std::milli>(now - last).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

// Where the arrays of a piece lie in its slot.
struct SortSlot {
  char *keys, *carry;

  SortSlot(const SortJob &job, const PieceRoom &room, uint64_t piece)
      : keys(room.slot(piece)), carry(keys + slice_bytes(room.items * job.key_bytes)) {}
};
uint64_t sort_slot_bytes(const SortJob &job, uint64_t items);

// A sort of `items` elements in a slot, in place, and the workspace of it.
Request sort_request(const SortJob &job, uint64_t items, char *keys, char *carry, bool makes_indices);
uint64_t sort_workspace(const PieceContext &context, const SortJob &job, uint64_t items, bool makes_indices);

inline Run slice_of(const SortJob &job, const Run &run, uint64_t begin, uint64_t end) {
  const char *const carry = run.carry != nullptr ? run.carry + begin * job.carry_bytes : nullptr;
  return {run.keys + begin * job.key_bytes, carry, end - begin};
}

// Room for the parts of the second trip. Throws where there is none.
PieceRoom find_part_room(const PieceContext &context, const SortJob &job, uint64_t items_max);
// A part of the second trip: slices that are brought, sorted, and written to the outputs from `rank` on.
void make_part(const SortJob &job, const PieceRoom &room, uint64_t part, const std::vector<Run> &slices, uint64_t rank,
               Piece &piece);

// In place (keys_out == keys_in, or carry_out == carry_in) the arrays hold a permutation of their input whatever
// happens, but for a device that fails while it writes.
void run_sort_job(const PieceContext &context, const SortJob &job, PieceProgress &progress);

// Of keys alone.
SortJob sort_job(const KeyOrder &order, const char *keys_in, char *keys_out, uint64_t n);
// A top-k of one row; indices are counted from its first element.
SortJob select_job(const Request &request, const char *row, uint64_t n, uint64_t k, char *values_out,
                   char *indices_out);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECES_SORT_H_
