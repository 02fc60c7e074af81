// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/pieces.h"

#include <algorithm>

#include "core/error.h"
#include "host_memory/host_work.h"
#include "host_memory/piece_pipeline.h"

namespace gsort_internal {

PieceRoom find_room(PieceDevice &device, const PieceNeeds &needs, uint64_t items_max, uint64_t grain) {
  PieceRoom room;
  room.shared_bytes = needs.shared_bytes;
  const auto bytes_of = [&](uint64_t items) {
    return items == 0 ? 0 : room.shared_bytes + needs.workspace_bytes(items) + kPieceSlots * needs.slot_bytes(items);
  };
  // The last piece of a multiple of the grain may be shorter.
  const uint64_t rounded = items_max > UINT64_MAX - grain ? items_max : (items_max + grain - 1) / grain * grain;
  const auto slot_fits = [&](uint64_t items) {
    return items == 0 || needs.slot_bytes(items) <= kPieceBytesMax ? bytes_of(items) : UINT64_MAX;
  };
  for (uint64_t budget = device.budget_bytes(); budget != 0; budget /= 2) {
    uint64_t items = most_items(budget, rounded, grain, slot_fits);
    // Large items in small numbers, or large grains, may be above what a step should take.
    if (items == 0) items = most_items(budget, std::min(rounded, grain), grain, bytes_of);
    if (items == 0) return room;
    room.memory = device.take(bytes_of(items));
    if (room.memory == nullptr) continue;
    room.items = items;
    room.slot_bytes = needs.slot_bytes(items), room.workspace_bytes = needs.workspace_bytes(items);
    return room;
  }
  return room;
}

bool widen(PieceDevice &device, PieceRoom &room, uint64_t workspace_bytes) {
  if (workspace_bytes <= room.workspace_bytes) return true;
  room.workspace_bytes = workspace_bytes;
  room.memory = room.bytes() <= device.budget_bytes() ? device.take(room.bytes()) : nullptr;
  return room.memory != nullptr;
}

void throw_no_room(PieceDevice &device) {
  throw Error(GSORT_ERROR_OUT_OF_MEMORY,
              "%llu bytes of device memory are too little even for pieces of the arrays; raise "
              "device_memory_limit_bytes or free device memory",
              static_cast<unsigned long long>(device.budget_bytes()));
}

void take_pages(const PieceContext &context, const HostBuffer<char> &scratch, const PieceProgress &progress) {
  constexpr uint64_t kBytesMin = uint64_t{1} << 25, kAtOnce = uint64_t{1} << 30;  // some 20 ms
  if (scratch.count() < kBytesMin) return;
  for (uint64_t at = 0; at < scratch.count(); at += kAtOnce) {
    progress.tell();
    touch_pages(context.pool, scratch.data() + at, std::min(kAtOnce, scratch.count() - at));
  }
}

void PiecePipeline::check(const PieceWork &work) const {
  uint64_t bytes = device_.workspace_bytes(work.request);
  for (const Request &before : work.before) bytes = std::max(bytes, device_.workspace_bytes(before));
  if (bytes > room_.workspace_bytes)
    throw Error(GSORT_ERROR_INTERNAL, "a piece needs more workspace than the longest of its call");
}

void PiecePipeline::run(uint64_t count, const Make &make, const Leave &leave) {
  const auto below_count = [&](uint64_t i, Piece &piece) {
    if (i == count) return false;
    make(i, piece);
    return true;
  };
  run_while(below_count, leave);
}

// Step s: piece s arrives, piece s - 1 is worked on, piece s - 2 leaves.
void PiecePipeline::run_while(const MakeMore &make, const Leave &leave) {
  Piece pieces[kPieceSlots];
  const std::vector<PieceCopy> none;
  uint64_t count = UINT64_MAX - 2;  // until it is known
  for (uint64_t s = 0; s < count + 2; ++s) {
    Piece &arriving = pieces[s % kPieceSlots], &worked = pieces[(s + 2) % kPieceSlots],
          &leaving = pieces[(s + 1) % kPieceSlots];
    if (s < count) {
      arriving = Piece{};
      if (make(s, arriving)) {
        arriving.work.workspace = room_.workspace();
        check(arriving.work);
      } else if (s == 0) {
        return;
      } else {
        count = s;
      }
    }
    const bool works = s >= 1 && s <= count, leaves = s >= 2;
    if (leaves && leave != nullptr) leave(s - 2, leaving);
    if (leaves && !leaving.out.empty()) begun_ = true;
    progress_.writes = false;
    try {
      device_.step(s < count ? arriving.in : none, works ? &worked.work : nullptr, leaves ? leaving.out : none,
                   progress_);
    } catch (...) {
      if (leaves && progress_.writes) left_ = s - 1;
      throw;
    }
    if (leaves) written_ = left_ = s - 1;
  }
}

void execute_in_pieces(const PieceContext &context, const Request &request) {
  switch (request.operation) {
    case Operation::kSum:
      return sum_in_pieces(context, request);
    case Operation::kReduce:
      return request.reduce_op == GSORT_MEAN ? sum_in_pieces(context, request) : reduce_in_pieces(context, request);
    case Operation::kScan:
      return scan_in_pieces(context, request);
    case Operation::kSortSegments:
    case Operation::kTopkSegments:
      return segments_in_pieces(context, request);
    case Operation::kTopkRows:
      return topk_rows_in_pieces(context, request);
    default:
      return sort_in_pieces(context, request);
  }
}

}  // namespace gsort_internal
