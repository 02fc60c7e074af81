// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums and reductions in pieces: one pass, the pieces' results joined exactly.
#include <algorithm>
#include <cstring>

#include "core/dtype.h"
#include "core/superaccumulator.h"
#include "host_memory/piece_pipeline.h"

namespace gsort_internal {
namespace {

// Sends every piece through `request`, whose results of result_bytes each are left in `results`. Returns the length of
// a piece.
template <class Result>
uint64_t reduce_pieces(const PieceContext &context, const Request &request, std::vector<Result> &results) {
  const uint64_t element = dtype_bytes(request.order.dtype), n = request.n;
  const auto shape = [&](uint64_t items) {
    Request piece = request;
    piece.n = items;
    return piece;
  };
  const PieceNeeds needs = {0,
                            [&](uint64_t items) { return slice_bytes(items * element) + slice_bytes(sizeof(Result)); },
                            [&](uint64_t items) {
                              const uint64_t last = context.device.workspace_bytes(shape(last_piece(n, items)));
                              return slice_bytes(std::max(last, context.device.workspace_bytes(shape(items))));
                            }};
  const PieceRoom room = find_room(context.device, needs, piece_items_max(n, element, kPiecesReadWanted), 1);
  if (room.items == 0) throw_no_room(context.device);
  const uint64_t count = (n + room.items - 1) / room.items;
  results.resize(count);
  PieceProgress progress{context.control, 0, n * element};
  PiecePipeline(context.device, room, progress).run(count, [&](uint64_t i, Piece &piece) {
    const uint64_t begin = i * room.items, items = n - begin < room.items ? n - begin : room.items;
    char *const slot = room.slot(i), *const result = slot + slice_bytes(room.items * element);
    piece.in = {{slot, element_at(request.in, begin, element), items * element}};
    piece.work.request = shape(items);
    piece.work.request.in = slot, piece.work.request.out = result;
    piece.out = {{result, reinterpret_cast<char *>(&results[i]), sizeof(Result)}};
  });
  context.control.checkpoint(progress.total, progress.total);
  return room.items;
}

uint64_t join(const Request &request, const std::vector<PartialSum> &parts) {
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
  if (request.operation == Operation::kReduce) return bits_of_double(sum.mean(request.n));
  return is_float(request.order.dtype) ? bits_of_double(sum.sum()) : low;
}

}  // namespace

void sum_in_pieces(const PieceContext &context, const Request &request) {
  Request partial = request;
  partial.partial_sum = true;
  std::vector<PartialSum> parts;
  reduce_pieces(context, partial, parts);
  const uint64_t bits = join(request, parts);
  std::memcpy(request.out, &bits, sizeof bits);
}

// Each piece gives the index of its best element; the earliest piece wins among equals.
void reduce_in_pieces(const PieceContext &context, const Request &request) {
  const bool wants_index = request.reduce_op == GSORT_ARGMIN || request.reduce_op == GSORT_ARGMAX;
  const bool greatest = request.reduce_op == GSORT_MAX || request.reduce_op == GSORT_ARGMAX;
  Request arg = request;
  arg.reduce_op = greatest ? GSORT_ARGMAX : GSORT_ARGMIN;
  arg.order.descending = greatest;
  std::vector<uint64_t> indices;
  const uint64_t items = reduce_pieces(context, arg, indices);
  with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
    using U = typename decltype(tag)::type;
    const auto codec = make_codec<U>(arg.order);
    const U *const elements = static_cast<const U *>(request.in);
    uint64_t best = 0;
    for (uint64_t i = 0; i < indices.size(); ++i) {
      const uint64_t index = i * items + std::min(indices[i], items - 1);
      if (index >= request.n) continue;  // no device that works says so
      if (i == 0) best = index;
      if (codec.encode(elements[index]) < codec.encode(elements[best])) best = index;
    }
    if (wants_index)
      std::memcpy(request.out, &best, sizeof best);
    else
      std::memcpy(request.out, &elements[best], sizeof(U));
  });
}

}  // namespace gsort_internal
