// SPDX-License-Identifier: MIT OR Apache-2.0
// Pieces through a device, three at a time: while one is worked on, the next arrives and the one before leaves.
#ifndef GSORT_HOST_MEMORY_PIECE_PIPELINE_H_
#define GSORT_HOST_MEMORY_PIECE_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "core/slices.h"
#include "host_memory/piece_device.h"
#include "host_memory/piece_plan.h"
#include "host_memory/pieces.h"

namespace gsort_internal {

struct Piece {
  std::vector<PieceCopy> in, out;
  PieceWork work{};
  std::vector<uint64_t> offsets;  // of segments, counted from the piece's begin
};

// Device memory for pieces: what all share, a workspace, and a slot for each of three.
struct PieceRoom {
  char *memory = nullptr;
  uint64_t items = 0;  // of one piece at most
  uint64_t shared_bytes = 0, slot_bytes = 0, workspace_bytes = 0;

  uint64_t bytes() const { return shared_bytes + workspace_bytes + kPieceSlots * slot_bytes; }
  char *shared() const { return memory; }
  char *workspace() const { return memory + shared_bytes; }
  char *slot(uint64_t piece) const { return workspace() + workspace_bytes + piece % kPieceSlots * slot_bytes; }
};

// What pieces of some length need.
struct PieceNeeds {
  uint64_t shared_bytes;  // as slices
  std::function<uint64_t(uint64_t items)> slot_bytes;
  // The most that a piece needs where all but the last have so many items. A shorter one may need more than a longer.
  std::function<uint64_t(uint64_t items)> workspace_bytes;
};

// Room for the longest pieces that fit, of a multiple of `grain` items, items_max at most. items = 0: there is none.
PieceRoom find_room(PieceDevice &device, const PieceNeeds &needs, uint64_t items_max, uint64_t grain);

// Gives the room a larger workspace. False: there is no memory for it, and it has none now.
bool widen(PieceDevice &device, PieceRoom &room, uint64_t workspace_bytes);

// Why a call cannot be done in pieces either.
[[noreturn]] void throw_no_room(PieceDevice &device);

// Has all pages of scratch memory that will be written whole. Tells of progress between some of them.
void take_pages(const PieceContext &context, const HostBuffer<char> &scratch, const PieceProgress &progress);

class PiecePipeline {
 public:
  // `make` fills piece i, which arrives at room.slot(i).
  using Make = std::function<void(uint64_t i, Piece &piece)>;
  // Says where what was made of piece i goes, once it has been made.
  using Leave = std::function<void(uint64_t i, Piece &piece)>;

  PiecePipeline(PieceDevice &device, const PieceRoom &room, PieceProgress &progress)
      : device_(device), room_(room), progress_(progress) {}

  void run(uint64_t count, const Make &make, const Leave &leave = nullptr);
  // The same until there is no piece more: `make` tells that by false.
  using MakeMore = std::function<bool(uint64_t i, Piece &piece)>;
  void run_while(const MakeMore &make, const Leave &leave = nullptr);
  // Pieces whose results have been written whole, also after an exception; and whether more were begun.
  uint64_t written() const { return written_; }
  bool has_written() const { return begun_; }
  // Pieces that have left: written whole after a cancel, too, and after anything but a failure of the device's copies.
  uint64_t left() const { return left_; }

 private:
  void check(const PieceWork &work) const;

  PieceDevice &device_;
  const PieceRoom &room_;
  PieceProgress &progress_;
  uint64_t written_ = 0, left_ = 0;
  bool begun_ = false;
};

// The ways of the operations, each in a file of its own.
void sum_in_pieces(const PieceContext &context, const Request &request);
void reduce_in_pieces(const PieceContext &context, const Request &request);
void scan_in_pieces(const PieceContext &context, const Request &request);
void sort_in_pieces(const PieceContext &context, const Request &request);  // pairs, argsort, rank, merge, top-k too
void topk_rows_in_pieces(const PieceContext &context, const Request &request);
void segments_in_pieces(const PieceContext &context, const Request &request);  // sorts and top-k of segments

// Of `n` items in pieces of `items`.
inline uint64_t last_piece(uint64_t n, uint64_t items) { return n % items != 0 ? n % items : items; }

// Elements of host memory, by their number.
inline char *element_at(const void *array, uint64_t index, uint64_t bytes) {
  return const_cast<char *>(static_cast<const char *>(array)) + index * bytes;
}

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECE_PIPELINE_H_
