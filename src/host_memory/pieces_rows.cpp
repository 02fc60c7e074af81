// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows and segments in pieces: as many whole ones as fit at a time. One that does not fit is worked in pieces by
// itself.
#include <algorithm>
#include <cstring>

#include "core/dtype.h"
#include "host_memory/host_work.h"
#include "host_memory/pieces_sort.h"

namespace gsort_internal {
namespace {

// The two outputs of selections, each of which may be missing.
struct Selected {
  char *values, *indices;
  uint64_t value_bytes, index_bytes;

  explicit Selected(const Request &request)
      : values(static_cast<char *>(request.out)),
        indices(static_cast<char *>(request.indices_out)),
        value_bytes(values != nullptr ? dtype_bytes(request.order.dtype) : 0),
        index_bytes(indices != nullptr ? dtype_bytes(request.index_t) : 0) {}

  uint64_t slot_bytes(uint64_t entries) const {
    return slice_bytes(entries * value_bytes) + slice_bytes(entries * index_bytes);
  }
  char *values_at(uint64_t entry) const { return values == nullptr ? nullptr : values + entry * value_bytes; }
  char *indices_at(uint64_t entry) const { return indices == nullptr ? nullptr : indices + entry * index_bytes; }

  // Sends `entries` results from `entry` on back, which the work leaves at `slot`.
  void add_to(Piece &piece, char *slot, uint64_t entry, uint64_t entries) const {
    Request &request = piece.work.request;
    char *const slot_indices = slot + slice_bytes(entries * value_bytes);
    request.out = values == nullptr ? nullptr : slot;
    request.indices_out = indices == nullptr ? nullptr : slot_indices;
    if (values != nullptr) piece.out.push_back({slot, values_at(entry), entries * value_bytes});
    if (indices != nullptr) piece.out.push_back({slot_indices, indices_at(entry), entries * index_bytes});
  }
  // The entries behind a segment's last.
  void fill(uint64_t entry, uint64_t entries) const {
    if (values != nullptr) std::memset(values_at(entry), 0, entries * value_bytes);
    if (indices != nullptr) std::memset(indices_at(entry), 0xff, entries * index_bytes);
  }
};

// Consecutive segments that are worked on together, or one that does not fit.
struct Group {
  uint64_t first, end;
  bool alone;
};

class Segments {
 public:
  // gap: elements between two segments that belong to neither, and that offsets do not count.
  Segments(const PieceContext &context, const Request &request, uint64_t gap = 0)
      : context_(context),
        request_(request),
        selected_(request),
        sorts_(request.operation == Operation::kSortSegments),
        element_(dtype_bytes(request.order.dtype)),
        gap_(gap),
        offsets_(request.offsets) {}

  void run() {
    const uint64_t bytes = (offsets_[request_.segments] - offsets_[0]) * element_;
    PieceProgress progress{context_.control, 0, sorts_ ? 2 * bytes : bytes};
    progress.is_of_many = true;
    plan();
    if (context_.else_at_once && std::any_of(groups_.begin(), groups_.end(), [](const Group &g) { return g.alone; }))
      throw Error(GSORT_ERROR_OUT_OF_MEMORY, "a segment does not fit a piece");
    copy_what_is_outside();
    for (uint64_t g = 0; g < groups_.size();) {
      if (groups_[g].alone) {
        run_alone(groups_[g++].first, progress);
        continue;
      }
      const uint64_t first = g;
      while (g < groups_.size() && !groups_[g].alone) ++g;
      // A segment that was worked on alone has taken other memory.
      room_.memory = context_.device.take(room_.bytes());
      if (room_.memory == nullptr) throw_no_room(context_.device);
      PiecePipeline(context_.device, room_, progress).run(g - first, [&](uint64_t i, Piece &piece) {
        make(groups_[first + i], i, piece);
      });
    }
    context_.control.report(progress.total, progress.total);
  }

 private:
  // Of so many elements a group has so many segments at most.
  uint64_t segments_of(uint64_t items) const {
    const uint64_t whole = std::max<uint64_t>(request_.n, 1);
    const double share = static_cast<double>(items) / static_cast<double>(whole);
    return static_cast<uint64_t>(share * static_cast<double>(request_.segments)) + 1;
  }
  uint64_t entries_of(uint64_t segments) const { return sorts_ ? 0 : segments * request_.k; }
  Request shape(uint64_t items, uint64_t segments) const {
    Request piece = request_;
    piece.n = items;
    piece.segments = segments;
    return piece;
  }
  uint64_t offsets_bytes(uint64_t segments) const { return slice_bytes((segments + 1) * sizeof(uint64_t)); }
  uint64_t workspace_bytes(uint64_t items, uint64_t segments) const {
    return slice_bytes(context_.device.workspace_bytes(shape(items, segments)));
  }
  // A piece's elements come first, then offsets, then results.
  PieceRoom find(uint64_t items_max) const {
    const PieceNeeds needs = {0,
                              [&](uint64_t items) {
                                const uint64_t segments = segments_of(items);
                                return slice_bytes(items * element_) + offsets_bytes(segments) +
                                       selected_.slot_bytes(entries_of(segments));
                              },
                              [&](uint64_t items) { return workspace_bytes(items, segments_of(items)); }};
    return find_room(context_.device, needs, items_max, 1);
  }

  // Groups are cut for shorter pieces until the one that needs the most workspace has it.
  void plan() {
    // Where all could be done at once, both directions are to be in use most of the time.
    const uint64_t most =
        context_.else_at_once ? piece_items_max(request_.n, element_, context_.device.pieces_wanted()) : request_.n;
    for (uint64_t items_max = std::max<uint64_t>(most, 1);; items_max = room_.items / 8 * 7) {
      room_ = items_max != 0 ? find(items_max) : PieceRoom{};
      group();
      uint64_t workspace = 0;
      for (const Group &group : groups_)
        if (!group.alone)
          workspace = std::max(workspace, workspace_bytes(length(group.first, group.end), group.end - group.first));
      if (room_.items == 0 || widen(context_.device, room_, workspace)) return;
    }
  }

  void group() {
    groups_.clear();
    const uint64_t most = segments_of(room_.items);
    for (uint64_t s = 0; s < request_.segments;) {
      Group group = {s, s, false};
      while (group.end < request_.segments && group.end - s < most && length(s, group.end + 1) <= room_.items)
        ++group.end;
      group.alone = room_.items == 0 || group.end == s;
      if (group.alone) group.end = s + 1;
      groups_.push_back(group);
      s = group.end;
    }
  }
  uint64_t length(uint64_t first, uint64_t end) const { return offsets_[end] - offsets_[first]; }

  void make(const Group &group, uint64_t i, Piece &piece) const {
    const uint64_t begin = offsets_[group.first], items = length(group.first, group.end),
                   segments = group.end - group.first;
    char *const slot = room_.slot(i), *const offsets = slot + slice_bytes(room_.items * element_);
    for (uint64_t s = group.first; s <= group.end; ++s) piece.offsets.push_back(offsets_[s] - begin);
    piece.in = {{offsets, reinterpret_cast<char *>(piece.offsets.data()), piece.offsets.size() * sizeof(uint64_t)}};
    add_elements(group, slot, piece);
    piece.work.request = shape(items, segments);
    piece.work.request.in = slot;
    piece.work.request.offsets = reinterpret_cast<uint64_t *>(offsets);
    if (sorts_) {
      piece.work.request.out = slot;
      if (items != 0) piece.out = {{slot, element_at(request_.out, begin, element_), items * element_}};
      return;
    }
    char *const results = offsets + offsets_bytes(segments_of(room_.items));
    selected_.add_to(piece, results, entries_of(group.first), entries_of(segments));
  }

  char *source(uint64_t s) const { return element_at(request_.in, offsets_[s] + s * gap_, element_); }

  void add_elements(const Group &group, char *slot, Piece &piece) const {
    const uint64_t step = gap_ == 0 ? group.end - group.first : 1;
    for (uint64_t s = group.first; s < group.end; s += step) {
      const uint64_t bytes = length(s, s + step) * element_;
      if (bytes != 0) piece.in.push_back({slot, source(s), bytes});
      slot += bytes;
    }
  }

  void run_alone(uint64_t s, PieceProgress &progress) const {
    const uint64_t items = length(s, s + 1), wanted = std::min(items, request_.k), entry = entries_of(s);
    const char *const first = source(s);
    if (!sorts_) {
      if (wanted != 0)
        run_sort_job(
            context_,
            select_job(request_, first, items, wanted, selected_.values_at(entry), selected_.indices_at(entry)),
            progress);
      return selected_.fill(entry + wanted, request_.k - wanted);
    }
    const SortJob job = sort_job(request_.order, first, element_at(request_.out, offsets_[s], element_), items);
    if (items != 0) run_sort_job(context_, job, progress);
  }

  void copy_what_is_outside() const {
    if (!sorts_ || request_.in == request_.out) return;
    const uint64_t begin = offsets_[0], end = offsets_[request_.segments];
    copy_on_host(context_.pool, request_.out, request_.in, begin * element_);
    copy_on_host(context_.pool, element_at(request_.out, end, element_), element_at(request_.in, end, element_),
                 (request_.n - end) * element_);
  }

  const PieceContext &context_;
  const Request &request_;
  const Selected selected_;
  const bool sorts_;
  const uint64_t element_, gap_;
  const uint64_t *const offsets_;
  PieceRoom room_;
  std::vector<Group> groups_;
};

// The rows of a piece lie as they do in the matrix, with what is between them.
uint64_t extent(const Request &request, uint64_t rows) {
  return rows == 0 ? 0 : (rows - 1) * request.row_stride + request.columns;
}

uint64_t rows_workspace(const PieceContext &context, const Request &request, uint64_t rows) {
  Request shape = request;
  shape.rows = rows, shape.n = rows * request.columns;
  return slice_bytes(context.device.workspace_bytes(shape));
}

void rows_together(const PieceContext &context, const Request &request, const PieceRoom &room,
                   PieceProgress &progress) {
  const uint64_t element = dtype_bytes(request.order.dtype);
  const Selected selected(request);
  const uint64_t count = (request.rows + room.items - 1) / room.items;
  PiecePipeline(context.device, room, progress).run(count, [&](uint64_t i, Piece &piece) {
    const uint64_t first = i * room.items, rows = std::min(room.items, request.rows - first);
    char *const slot = room.slot(i);
    piece.in = {{slot, element_at(request.in, first * request.row_stride, element), extent(request, rows) * element}};
    piece.work.request = request;
    piece.work.request.in = slot;
    piece.work.request.rows = rows, piece.work.request.n = rows * request.columns;
    selected.add_to(piece, slot + slice_bytes(extent(request, room.items) * element), first * request.k,
                    rows * request.k);
  });
}

// More pieces than this are too short.
constexpr uint64_t kRowPiecesMax = 256;

void rows_as_segments(const PieceContext &context, const Request &request) {
  const HostBuffer<uint64_t> offsets(context.memory, request.rows + 1);
  for (uint64_t r = 0; r <= request.rows; ++r) offsets[r] = r * request.columns;
  Request segments = request;
  segments.operation = Operation::kTopkSegments;
  segments.offsets = offsets.data();
  segments.segments = request.rows;
  Segments(context, segments, request.row_stride - request.columns).run();
}

}  // namespace

void topk_rows_in_pieces(const PieceContext &context, const Request &request) {
  const uint64_t element = dtype_bytes(request.order.dtype);
  const Selected selected(request);
  const PieceNeeds needs = {0,
                            [&](uint64_t rows) {
                              return slice_bytes(extent(request, rows) * element) +
                                     selected.slot_bytes(rows * request.k);
                            },
                            [&](uint64_t rows) {
                              const uint64_t last = rows_workspace(context, request, last_piece(request.rows, rows));
                              return std::max(rows_workspace(context, request, rows), last);
                            }};
  const PieceRoom room = find_room(context.device, needs, request.rows, 1);
  // A selection of rows may need hundreds of megabytes of workspace. With less, they are segments.
  if (room.items * kRowPiecesMax < request.rows) return rows_as_segments(context, request);
  PieceProgress progress{context.control, 0, extent(request, request.rows) * element};
  rows_together(context, request, room, progress);
  context.control.report(progress.total, progress.total);
}

void segments_in_pieces(const PieceContext &context, const Request &request) { Segments(context, request).run(); }

}  // namespace gsort_internal
