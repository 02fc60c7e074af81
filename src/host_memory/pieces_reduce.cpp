// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums and reductions in pieces: one pass, the pieces' results joined exactly.
#include "host_memory/pieces_reduce.h"

#include <algorithm>
#include <cstring>

#include "core/dtype.h"

namespace gsort_internal {
namespace {

// Sends every piece through `part`. Returns the length of a piece.
template <class Result>
uint64_t reduce_pieces(const PieceContext &context, const Request &part, std::vector<Result> &results) {
  const uint64_t element = dtype_bytes(part.order.dtype), n = part.n;
  const PieceNeeds needs = reduce_needs(context.device, part, sizeof(Result), [&](uint64_t items) {
    return std::vector<uint64_t>{items, last_piece(n, items)};
  });
  const PieceRoom room = find_room(context.device, needs, piece_items_max(n, element, kPiecesReadWanted), 1);
  if (room.items == 0) throw_no_room(context.device);
  const uint64_t count = (n + room.items - 1) / room.items;
  results.resize(count);
  PieceProgress progress{context.control, 0, n * element};
  PiecePipeline(context.device, room, progress).run(count, [&](uint64_t i, Piece &piece) {
    const uint64_t begin = i * room.items, items = n - begin < room.items ? n - begin : room.items;
    make_reduce_piece(part, room.slot(i), room.items, begin, items, reinterpret_cast<char *>(&results[i]),
                      sizeof(Result), piece);
  });
  context.control.checkpoint(progress.total, progress.total);
  return room.items;
}

Request shape_of(const Request &part, uint64_t items) {
  Request piece = part;
  piece.n = items;
  if (part.operation == Operation::kTopk) {
    piece.columns = piece.row_stride = items;
    piece.k = std::min(part.k, items);
  }
  return piece;
}

}  // namespace

Request part_request(const Request &request) {
  Request part = request;
  if (is_sum(request)) {
    part.partial_sum = true;
    return part;
  }
  const bool greatest = request.reduce_op == GSORT_MAX || request.reduce_op == GSORT_ARGMAX;
  part.reduce_op = greatest ? GSORT_ARGMAX : GSORT_ARGMIN;
  part.order.descending = greatest;
  return part;
}

PieceNeeds reduce_needs(PieceDevice &device, const Request &part, uint64_t result_bytes,
                        const std::function<std::vector<uint64_t>(uint64_t items)> &lengths) {
  const uint64_t element = dtype_bytes(part.order.dtype);
  return {0, [=](uint64_t items) { return slice_bytes(items * element) + slice_bytes(result_bytes); },
          [&device, part, lengths](uint64_t items) {
            uint64_t most = 0;
            for (const uint64_t length : lengths(items))
              most = std::max(most, device.workspace_bytes(shape_of(part, length)));
            return slice_bytes(most);
          }};
}

void make_reduce_piece(const Request &part, char *slot, uint64_t slot_items, uint64_t begin, uint64_t items,
                       char *result, uint64_t result_bytes, Piece &piece) {
  const uint64_t element = dtype_bytes(part.order.dtype);
  char *const made = slot + slice_bytes(slot_items * element);
  piece.in = {{slot, element_at(part.in, begin, element), items * element}};
  piece.work.request = shape_of(part, items);
  piece.work.request.in = slot;
  (part.operation == Operation::kTopk ? piece.work.request.indices_out : piece.work.request.out) = made;
  piece.out = {{made, result, result_bytes}};
}

void join_sums(const Request &request, const std::vector<PartialSum> &parts) {
  Superaccumulator sum;
  sum.clear();
  uint64_t low = 0;
  for (const PartialSum &part : parts) {
    if (is_float(request.order.dtype)) {
      sum.add_limbs(part.limbs);
      sum.note(static_cast<uint32_t>(part.flags), 0);
    } else {
      low += static_cast<uint64_t>(part.limbs[0]);
      sum.add_int128(part.limbs[1], static_cast<uint64_t>(part.limbs[0]));
      sum.note(kSumNotMinus0, 0);
    }
  }
  sum.note(0, request.n);
  uint64_t bits = low;
  if (request.operation == Operation::kReduce)
    bits = bits_of_double(sum.mean(request.n));
  else if (is_float(request.order.dtype))
    bits = bits_of_double(sum.sum());
  std::memcpy(request.out, &bits, sizeof bits);
}

void join_best(const Request &request, const std::vector<uint64_t> &indices) {
  const KeyOrder order = part_request(request).order;
  with_width(dtype_bytes(order.dtype), [&](auto tag) {
    using U = typename decltype(tag)::type;
    const auto codec = make_codec<U>(order);
    const U *const elements = static_cast<const U *>(request.in);
    uint64_t best = UINT64_MAX;
    for (const uint64_t index : indices) {
      if (index >= request.n) continue;
      if (best != UINT64_MAX) {
        const U key = codec.encode(elements[index]), least = codec.encode(elements[best]);
        if (key > least || (key == least && index > best)) continue;
      }
      best = index;
    }
    if (best == UINT64_MAX) best = 0;  // no device that works says so
    if (request.reduce_op == GSORT_ARGMIN || request.reduce_op == GSORT_ARGMAX)
      std::memcpy(request.out, &best, sizeof best);
    else
      std::memcpy(request.out, &elements[best], sizeof(U));
  });
}

void sum_in_pieces(const PieceContext &context, const Request &request) {
  std::vector<PartialSum> parts;
  reduce_pieces(context, part_request(request), parts);
  join_sums(request, parts);
}

void reduce_in_pieces(const PieceContext &context, const Request &request) {
  std::vector<uint64_t> indices;
  const uint64_t items = reduce_pieces(context, part_request(request), indices);
  for (uint64_t i = 0; i < indices.size(); ++i) indices[i] = i * items + std::min(indices[i], items - 1);
  join_best(request, indices);
}

}  // namespace gsort_internal
