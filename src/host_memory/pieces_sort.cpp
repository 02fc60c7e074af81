// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/pieces_sort.h"

#include <algorithm>
#include <cstring>

#include "core/dtype.h"
#include "core/error.h"
#include "host_memory/host_work.h"
#include "host_memory/pieces_arriving.h"
#include "host_memory/pieces_dealer.h"
#include "host_memory/pieces_spread.h"

namespace gsort_internal {
namespace {

gsort_dtype index_type(uint64_t bytes) { return bytes == 4 ? GSORT_U32 : GSORT_U64; }

// Copies that go on in both memories are one.
void add_copy(std::vector<PieceCopy> &copies, const PieceCopy &next) {
  if (!copies.empty()) {
    PieceCopy &last = copies.back();
    if (last.device + last.bytes == next.device && last.host + last.bytes == next.host) {
      last.bytes += next.bytes;
      return;
    }
  }
  copies.push_back(next);
}

// The first trip: pieces of the input become runs in scratch memory.
class RunMaker {
 public:
  RunMaker(const PieceContext &context, const SortJob &job) : context_(context), job_(job), may_select_(job.selects) {
    const PieceNeeds needs = {
        0, [&](uint64_t items) { return slot_bytes(items); },
        [&](uint64_t items) { return std::max(workspace_bytes(items), workspace_bytes(last_piece(job.n, items))); }};
    const uint64_t pieces = job.selects ? kPiecesReadWanted : context.device.pieces_wanted();
    room_ = find_room(context.device, needs, piece_items_max(job.n, job.record_bytes(), pieces), 1);
    if (may_select_ && room_.items < std::min(kSelectItemsMin, job.n)) {
      may_select_ = false;
      room_ = find_room(context.device, needs,
                        piece_items_max(job.n, job.record_bytes(), context.device.pieces_wanted()), 1);
    }
    if (room_.items == 0) throw_no_room(context.device);
    count_ = (job.n + room_.items - 1) / room_.items;
    const uint64_t last = job.n - (count_ - 1) * room_.items;
    total_ = (count_ - 1) * run_items(room_.items) + run_items(last);
    keys_ = large_scratch(context.memory, total_ * job.key_bytes);
    if (job.carry_bytes != 0) carry_ = large_scratch(context.memory, total_ * job.carry_bytes);
  }

  void run(PieceProgress &progress) {
    take_pages(context_, keys_, progress);
    take_pages(context_, carry_, progress);
    PiecePipeline(context_.device, room_, progress).run(count_, [&](uint64_t i, Piece &piece) { make(i, piece); });
  }
  std::vector<Run> runs() const {
    std::vector<Run> runs;
    for (uint64_t i = 0; i < count_; ++i)
      runs.push_back({keys_of(i), job_.carry_bytes != 0 ? carry_of(i) : nullptr, run_items(items_of(i))});
    return runs;
  }

 private:
  // A selection needs a megabyte of workspace. Where that leaves too little for the elements, a sort needs less.
  static constexpr uint64_t kSelectItemsMin = uint64_t{1} << 16;

  // Of a piece of so many elements the first so many may be wanted.
  uint64_t run_items(uint64_t items) const { return std::min(items, job_.wanted); }
  uint64_t items_of(uint64_t i) const { return std::min(room_.items, job_.n - i * room_.items); }
  char *keys_of(uint64_t i) const { return keys_.data() + i * run_items(room_.items) * job_.key_bytes; }
  char *carry_of(uint64_t i) const { return carry_.data() + i * run_items(room_.items) * job_.carry_bytes; }
  // Where much of a piece is wanted, it is sorted.
  bool selects(uint64_t items) const { return may_select_ && job_.wanted <= items / 4; }

  uint64_t slot_bytes(uint64_t items) const {
    if (!selects(items)) return sort_slot_bytes(job_, items);
    // Behind the keys the best and their indices, or the indices of a last piece that is short and sorted whole.
    return slice_bytes(items * job_.key_bytes) + 4 * sort_slot_bytes(job_, job_.wanted);
  }
  uint64_t workspace_bytes(uint64_t items) const {
    if (!selects(items)) return sort_workspace(context_, job_, items, job_.carries_index);
    char *const somewhere = reinterpret_cast<char *>(uintptr_t{kSliceAlignment});
    return slice_bytes(context_.device.workspace_bytes(select_request(items, somewhere, somewhere)));
  }

  Request select_request(uint64_t items, char *keys, char *best) const {
    Request request{};
    request.operation = Operation::kTopk;
    request.order = job_.order;
    request.n = request.columns = request.row_stride = items;
    request.rows = 1;
    request.k = job_.wanted;
    request.in = keys;
    request.out = best;
    request.index_t = job_.carry_bytes != 0 ? index_type(job_.carry_bytes) : GSORT_U64;
    if (job_.carry_bytes != 0) request.indices_out = best + slice_bytes(job_.wanted * job_.key_bytes);
    return request;
  }

  void make(uint64_t i, Piece &piece) const {
    const uint64_t begin = i * room_.items, items = items_of(i), wanted = run_items(items);
    const SortSlot slot(job_, room_, i);
    const char *keys = slot.keys, *carry = slot.carry;
    piece.in = {{slot.keys, element_at(job_.keys_in, begin, job_.key_bytes), items * job_.key_bytes}};
    if (job_.carry_in != nullptr)
      piece.in.push_back({slot.carry, element_at(job_.carry_in, begin, job_.carry_bytes), items * job_.carry_bytes});
    if (selects(items)) {
      piece.work.request = select_request(items, slot.keys, slot.carry);
      keys = static_cast<const char *>(piece.work.request.out);
      carry = static_cast<const char *>(piece.work.request.indices_out);
    } else {
      piece.work.request = sort_request(job_, items, slot.keys, slot.carry, job_.carries_index);
    }
    if (job_.carries_index) piece.work.index_base = begin;
    piece.out = {{const_cast<char *>(keys), keys_of(i), wanted * job_.key_bytes}};
    if (job_.carry_bytes != 0) piece.out.push_back({const_cast<char *>(carry), carry_of(i), wanted * job_.carry_bytes});
  }

  const PieceContext &context_;
  const SortJob &job_;
  bool may_select_;
  PieceRoom room_;
  uint64_t count_ = 0, total_ = 0;
  HostBuffer<char> keys_, carry_;
};

// The second trip: the runs' slices between two cuts are sorted again and written. A stable sort of slices in the order
// of their runs is a stable merge, and hides behind the copies as a merge would.
class RunMerger {
 public:
  RunMerger(const PieceContext &context, const SortJob &job, const std::vector<Run> &runs)
      : context_(context), job_(job), runs_(runs), parts_(runs.size()) {
    uint64_t items_max = 0;
    for (const Run &run : runs_) items_max += run.count;
    // Few samples are enough where a part holds many elements of every run.
    const uint64_t most = piece_items_max(items_max, job.record_bytes(), context.device.pieces_wanted());
    if (most > 64 * runs.size()) items_max = most;
    // Cut into shorter parts until the one that needs the most workspace has it.
    for (;; items_max = room_.items / 8 * 7) {
      room_ = find_part_room(context, job, items_max);
      parts_ = split_runs(runs, job.order, room_.items, job.wanted);
      uint64_t workspace = 0;
      for (uint64_t p = 0; p < parts_.count(); ++p)
        workspace = std::max(workspace, workspace_bytes(parts_.first_rank(p + 1) - parts_.first_rank(p)));
      if (widen(context.device, room_, workspace)) return;
    }
  }

  void run(PieceProgress &progress) {
    PiecePipeline pipeline(context_.device, room_, progress);
    try {
      pipeline.run(parts_.count(), [&](uint64_t i, Piece &piece) { make(i, piece); });
    } catch (const Error &error) {
      if (pipeline.has_written()) restore(pipeline.written());
      // Where the other array was not written over, keys have lost their values, so that nobody may begin again.
      if (pipeline.has_written() && job_.carry_in != nullptr && keys_over_input() != carry_over_input())
        throw LostOrder(error);
      throw;
    } catch (...) {
      if (pipeline.has_written()) restore(pipeline.written());
      throw;
    }
  }

 private:
  bool keys_over_input() const { return job_.keys_out != nullptr && job_.keys_out == job_.keys_in; }
  bool carry_over_input() const { return job_.carry_out != nullptr && job_.carry_out == job_.carry_in; }
  uint64_t workspace_bytes(uint64_t items) const { return sort_workspace(context_, job_, items, false); }

  void make(uint64_t part, Piece &piece) const {
    std::vector<Run> slices;
    for (uint64_t r = 0; r < runs_.size(); ++r) {
      const uint64_t begin = parts_.at(part, r), end = parts_.at(part + 1, r);
      if (begin != end) slices.push_back(slice_of(job_, runs_[r], begin, end));
    }
    make_part(job_, room_, part, slices, parts_.first_rank(part), piece);
  }

  // In place: behind the parts that are written goes what is left of the runs, so that nothing is lost.
  void restore(uint64_t written) const noexcept {
    const bool keys = keys_over_input(), carry = carry_over_input();
    uint64_t rank = parts_.first_rank(written);
    for (uint64_t r = 0; r < runs_.size(); ++r) {
      const uint64_t begin = parts_.at(written, r), count = runs_[r].count - begin;
      if (keys)
        copy_on_host(context_.pool, element_at(job_.keys_out, rank, job_.key_bytes),
                     element_at(runs_[r].keys, begin, job_.key_bytes), count * job_.key_bytes);
      if (carry)
        copy_on_host(context_.pool, element_at(job_.carry_out, rank, job_.carry_bytes),
                     element_at(runs_[r].carry, begin, job_.carry_bytes), count * job_.carry_bytes);
      rank += count;
    }
  }

  const PieceContext &context_;
  const SortJob &job_;
  const std::vector<Run> &runs_;
  PieceRoom room_;
  Parts parts_;
};

// Whose outputs are still to be named.
SortJob keys_job(const Request &request) {
  return sort_job(request.order, static_cast<const char *>(request.in), nullptr, request.n);
}

void make_indices(SortJob &job, uint64_t bytes) {
  job.carry_bytes = bytes;
  job.carries_index = true;
}

// Ends with a report that no one may answer: the results are written.
void run_alone(const PieceContext &context, const SortJob &job) {
  PieceProgress progress{context.control, 0, job.bus_bytes()};
  run_sort_job(context, job, progress);
  context.control.report(progress.total, progress.total);
}

// An output, or scratch memory in its stead where it is the input too.
class Aside {
 public:
  Aside(const PieceContext &context, const void *in, void *out, uint64_t bytes) : context_(context), out_(out) {
    if (in == out) scratch_ = large_scratch(context.memory, bytes);
  }
  char *data() const { return scratch_.data() != nullptr ? scratch_.data() : static_cast<char *>(out_); }
  void put_back() const {
    if (scratch_.data() != nullptr) copy_on_host(context_.pool, out_, scratch_.data(), scratch_.count());
  }

 private:
  const PieceContext &context_;
  void *out_;
  HostBuffer<char> scratch_;
};

void sort_wide_pairs(const PieceContext &context, const Request &request) {
  SortJob job = keys_job(request);
  make_indices(job, request.n <= UINT32_MAX ? 4 : 8);
  const HostBuffer<char> order = large_scratch(context.memory, request.n * job.carry_bytes);
  const Aside keys(context, request.in, request.out, request.n * job.key_bytes);
  const Aside values(context, request.values_in, request.values_out, request.n * request.value_bytes);
  job.keys_out = keys.data();
  job.carry_out = order.data();
  run_alone(context, job);
  // From here on nothing is asked any more: keys and values stay together.
  gather_on_host(context.pool, values.data(), request.values_in, order.data(), request.n,
                 static_cast<uint32_t>(job.carry_bytes), request.value_bytes);
  keys.put_back();
  values.put_back();
}

void sort_pairs(const PieceContext &context, const Request &request) {
  if (request.value_bytes > kTravellingBytesMax) return sort_wide_pairs(context, request);
  SortJob job = keys_job(request);
  job.keys_out = static_cast<char *>(request.out);
  job.carry_bytes = request.value_bytes;
  job.carry_in = static_cast<const char *>(request.values_in);
  job.carry_out = static_cast<char *>(request.values_out);
  run_alone(context, job);
}

void rank(const PieceContext &context, const Request &request) {
  SortJob job = keys_job(request);
  make_indices(job, dtype_bytes(request.index_t));
  job.carry_out = static_cast<char *>(request.out);
  PieceProgress progress{context.control, 0, job.bus_bytes()};
  if (deal_rank(context, job, progress)) return context.control.report(progress.total, progress.total);
  const HostBuffer<char> order = large_scratch(context.memory, request.n * job.carry_bytes);
  job.carry_out = order.data();
  run_sort_job(context, job, progress);
  context.control.report(progress.total, progress.total);
  invert_on_host(context.pool, request.out, order.data(), request.n, static_cast<uint32_t>(job.carry_bytes));
}

void merge(const PieceContext &context, const Request &request) {
  SortJob job = keys_job(request);
  job.keys_in = nullptr;
  job.n = job.wanted = request.n + request.b_n;
  job.keys_out = static_cast<char *>(request.out);
  if (request.n != 0) job.sorted.push_back({static_cast<const char *>(request.in), nullptr, request.n});
  if (request.b_n != 0) job.sorted.push_back({static_cast<const char *>(request.b), nullptr, request.b_n});
  run_alone(context, job);
}

}  // namespace

uint64_t sort_slot_bytes(const SortJob &job, uint64_t items) {
  return slice_bytes(items * job.key_bytes) + slice_bytes(items * job.carry_bytes);
}

Request sort_request(const SortJob &job, uint64_t items, char *keys, char *carry, bool makes_indices) {
  Request request{};
  request.operation = job.carry_bytes != 0 ? Operation::kSortPairs : Operation::kSort;
  request.order = job.order;
  request.n = items;
  request.in = request.out = keys;
  if (job.carry_bytes == 0) return request;
  request.value_bytes = static_cast<uint32_t>(job.carry_bytes);
  request.values_in = makes_indices ? nullptr : carry;
  request.values_out = carry;
  return request;
}

uint64_t sort_workspace(const PieceContext &context, const SortJob &job, uint64_t items, bool makes_indices) {
  // A size query looks at no address, but at whether there is one.
  char *const somewhere = reinterpret_cast<char *>(uintptr_t{kSliceAlignment});
  return slice_bytes(context.device.workspace_bytes(sort_request(job, items, somewhere, somewhere, makes_indices)));
}

PieceRoom find_part_room(const PieceContext &context, const SortJob &job, uint64_t items_max) {
  const PieceNeeds needs = {0, [&](uint64_t items) { return sort_slot_bytes(job, items); },
                            [&](uint64_t items) { return sort_workspace(context, job, items, false); }};
  const PieceRoom room = items_max != 0 ? find_room(context.device, needs, items_max, 1) : PieceRoom{};
  if (room.items == 0) throw_no_room(context.device);
  return room;
}

void make_part(const SortJob &job, const PieceRoom &room, uint64_t part, const std::vector<Run> &slices, uint64_t rank,
               Piece &piece) {
  const SortSlot slot(job, room, part);
  std::vector<PieceCopy> carry;
  uint64_t items = 0;
  for (const Run &run : slices) {
    add_copy(piece.in, {slot.keys + items * job.key_bytes, const_cast<char *>(run.keys), run.count * job.key_bytes});
    if (run.carry != nullptr)
      add_copy(carry,
               {slot.carry + items * job.carry_bytes, const_cast<char *>(run.carry), run.count * job.carry_bytes});
    items += run.count;
  }
  piece.in.insert(piece.in.end(), carry.begin(), carry.end());
  piece.work.request = sort_request(job, items, slot.keys, slot.carry, false);
  const uint64_t wanted = std::min(items, job.wanted - rank);
  if (job.keys_out != nullptr)
    piece.out.push_back({slot.keys, job.keys_out + rank * job.key_bytes, wanted * job.key_bytes});
  if (job.carry_out != nullptr)
    piece.out.push_back({slot.carry, job.carry_out + rank * job.carry_bytes, wanted * job.carry_bytes});
}

SortJob sort_job(const KeyOrder &order, const char *keys_in, char *keys_out, uint64_t n) {
  SortJob job{};
  job.order = order;
  job.key_bytes = dtype_bytes(order.dtype);
  job.keys_in = keys_in;
  job.keys_out = keys_out;
  job.n = job.wanted = n;
  return job;
}

uint64_t SortJob::bus_bytes() const {
  if (selects) return n * key_bytes;
  return (keys_in != nullptr ? 4 : 2) * n * record_bytes() - (carries_index ? n * carry_bytes : 0);
}

void run_sort_job(const PieceContext &context, const SortJob &job, PieceProgress &progress) {
  if (job.keys_in == nullptr) return RunMerger(context, job, job.sorted).run(progress);
  if (sort_as_it_arrives(context, job, progress)) return;
  if (context.else_at_once && !job.selects)
    throw Error(GSORT_ERROR_OUT_OF_MEMORY, "there is no device memory to sort arrays in as they arrive");
  if (deal_sort_job(context, job, progress) || deal_pairs_in_place(context, job, progress)) return;
  if (spread_sort_job(context, job, progress)) return;
  Stopwatch watch;
  RunMaker maker(context, job);
  maker.run(progress);
  const double first_ms = watch.lap_ms();
  const std::vector<Run> runs = maker.runs();
  RunMerger merger(context, job, runs);
  const double cut_ms = watch.lap_ms();
  merger.run(progress);
  context.control.log(
      "sort in pieces, %zu runs in scratch memory: first trip %.1f ms, cuts %.1f ms, second trip %.1f ms", runs.size(),
      first_ms, cut_ms, watch.lap_ms());
}

SortJob select_job(const Request &request, const char *row, uint64_t n, uint64_t k, char *values_out,
                   char *indices_out) {
  SortJob job = keys_job(request);
  job.keys_in = row;
  job.n = n, job.wanted = k;
  job.selects = true;
  job.keys_out = values_out;
  if (indices_out != nullptr) make_indices(job, dtype_bytes(request.index_t));
  job.carry_out = indices_out;
  return job;
}

void sort_in_pieces(const PieceContext &context, const Request &request) {
  SortJob job = keys_job(request);
  switch (request.operation) {
    case Operation::kSortPairs:
      return sort_pairs(context, request);
    case Operation::kRank:
      return rank(context, request);
    case Operation::kMerge:
      return merge(context, request);
    case Operation::kArgsort:
      make_indices(job, dtype_bytes(request.index_t));
      job.carry_out = static_cast<char *>(request.out);
      return run_alone(context, job);
    case Operation::kTopk:
      return run_alone(context, select_job(request, static_cast<const char *>(request.in), request.n, request.k,
                                           static_cast<char *>(request.out), static_cast<char *>(request.indices_out)));
    default:
      job.keys_out = static_cast<char *>(request.out);
      return run_alone(context, job);
  }
}

}  // namespace gsort_internal
