// SPDX-License-Identifier: MIT OR Apache-2.0
// Running sums in pieces: one pass. Every piece is scanned inclusively with what came before it; the results of an
// exclusive scan are those, one element on.
//
// Integers: the last result of the piece before is put in front of the piece as one more element. Floats: pieces are
// whole groups of core/scan_order.h, and the device hands the prefix of the next group on.
#include <cstring>

#include "core/dtype.h"
#include "core/scan_order.h"
#include "host_memory/host_work.h"
#include "host_memory/piece_pipeline.h"

namespace gsort_internal {
namespace {

struct ScanJob {
  const Request &request;
  char *out;  // the results go here: the output, or scratch memory where that is the input
  uint64_t element;
  bool floats;

  uint64_t front_bytes() const { return floats ? 0 : kSliceAlignment; }  // of a slot, room for one element
  // What piece [begin, begin + items) writes.
  PieceCopy results(char *first, uint64_t begin, uint64_t items) const {
    const uint64_t to = request.exclusive ? begin + 1 : begin;
    const uint64_t count = to + items > request.n ? items - 1 : items;
    return {first, out + to * element, count * element};
  }
};

Request shape_of(const ScanJob &job, uint64_t items) {
  Request piece = job.request;
  piece.exclusive = false;
  piece.n = items;
  return piece;
}

void make_piece(const ScanJob &job, const PieceRoom &room, const double &nothing, uint64_t i, Piece &piece) {
  const uint64_t begin = i * room.items, rest = job.request.n - begin, items = rest < room.items ? rest : room.items;
  char *first = room.slot(i) + job.front_bytes();
  piece.in = {{first, element_at(job.request.in, begin, job.element), items * job.element}};
  piece.out = {job.results(first, begin, items)};
  if (piece.out[0].bytes == 0) piece.out.clear();
  piece.work.request = shape_of(job, items);
  if (job.floats) {
    piece.work.request.scan_carry = reinterpret_cast<double *>(room.shared());
    if (i == 0) {
      char *const host = const_cast<char *>(reinterpret_cast<const char *>(&nothing));
      piece.in.push_back({room.shared(), host, sizeof nothing});
    }
  } else if (i != 0) {
    first -= job.element;
    piece.work.request.n = items + 1;
    const char *const last = room.slot(i - 1) + job.front_bytes() + (room.items - 1) * job.element;
    piece.work.moves = {{first, last, job.element}};
  }
  piece.work.request.in = piece.work.request.out = first;
}

}  // namespace

void scan_in_pieces(const PieceContext &context, const Request &request) {
  const uint64_t element = dtype_bytes(request.order.dtype), n = request.n;
  // In place nothing may be changed by a call that does not end well.
  HostBuffer<char> scratch;
  if (request.in == request.out) scratch = large_scratch(context.memory, n * element);
  const bool floats = is_float(request.order.dtype);
  const ScanJob job{request, scratch.data() != nullptr ? scratch.data() : static_cast<char *>(request.out), element,
                    floats};
  const PieceNeeds needs = {
      floats ? kSliceAlignment : 0, [&](uint64_t items) { return job.front_bytes() + slice_bytes(items * element); },
      [&](uint64_t items) { return slice_bytes(context.device.workspace_bytes(shape_of(job, items + 1))); }};
  const PieceRoom room = find_room(context.device, needs, piece_items_max(n, element, context.device.pieces_wanted()),
                                   floats ? uint64_t{kScanGroupTiles} * kScanTileItems : 1);
  if (room.items == 0) throw_no_room(context.device);
  PieceProgress progress{context.control, 0, 2 * n * element};
  take_pages(context, scratch, progress);
  const double nothing = -0.0;
  PiecePipeline(context.device, room, progress).run((n + room.items - 1) / room.items, [&](uint64_t i, Piece &piece) {
    make_piece(job, room, nothing, i, piece);
  });
  if (request.exclusive) std::memset(job.out, 0, element);
  if (scratch.data() != nullptr) context.control.checkpoint(progress.total, progress.total);
  if (scratch.data() != nullptr) copy_on_host(context.pool, request.out, scratch.data(), n * element);
  if (scratch.data() == nullptr) context.control.report(progress.total, progress.total);
}

}  // namespace gsort_internal
