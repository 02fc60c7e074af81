// SPDX-License-Identifier: MIT OR Apache-2.0
// Each piece is sorted on the device while the next one arrives, and stays there as a run. When the last is sorted, the
// device cuts all runs at the ranks where parts of the result begin; then each part is gathered from the runs and
// sorted, while the part before it leaves. So the bus waits for the sorts of the last piece and the first part alone,
// which are short ones: pieces become shorter towards the end, and the parts have the lengths of the pieces, turned
// round.
#include "host_memory/pieces_arriving.h"

#include <algorithm>

#include "core/dtype.h"
#include "core/error.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

class ArrivingSort {
 public:
  ArrivingSort(const PieceContext &context, const SortJob &job)
      : context_(context),
        job_(job),
        ends_(arriving_ends(job.n, job.record_bytes(), context.device.arriving_sizes().piece_bytes_min)),
        parts_(ends_.size()) {}

  uint64_t count() const { return ends_.size(); }

  // False: there is no memory for it.
  bool take_room() {
    for (uint64_t i = 0; i < count(); ++i) {
      room_.items = std::max(room_.items, items(i));
      room_.workspace_bytes = std::max({room_.workspace_bytes, sort_workspace(context_, job_, items(i), false),
                                        sort_workspace(context_, job_, items(i), job_.carries_index)});
    }
    room_.slot_bytes = sort_slot_bytes(job_, room_.items);
    room_.shared_bytes = sort_slot_bytes(job_, job_.n) + slice_bytes(count() * count() * sizeof(uint64_t));
    const uint64_t bytes = room_.shared_bytes + room_.workspace_bytes + kSlots * room_.slot_bytes;
    room_.memory = bytes <= context_.device.budget_bytes() ? context_.device.take(bytes) : nullptr;
    return room_.memory != nullptr;
  }

  // All pieces arrive and become runs. Nothing is written to host arrays.
  void bring(PieceProgress &progress) {
    char *const keys = room_.shared(), *const carry = keys + slice_bytes(job_.n * job_.key_bytes);
    for (uint64_t i = 0; i < count(); ++i)
      runs_.push_back({keys + begin(i) * job_.key_bytes,
                       job_.carry_bytes != 0 ? carry + begin(i) * job_.carry_bytes : nullptr, items(i)});
    found_.resize((count() - 1) * count());
    PiecePipeline(context_.device, room_, progress).run(count(), [&](uint64_t i, Piece &piece) {
      make_run(i, piece);
      if (i + 1 == count()) ask_for_cuts(piece.work.cuts);
    });
    note_cuts();
  }

  void write(PieceProgress &progress) {
    // What is half written over an input is finished; other outputs need not be.
    progress.on_cancel = is_over_input() ? OnCancel::kGoOn : OnCancel::kStop;
    PiecePipeline pipeline(context_.device, room_, progress);
    const auto put_back = [&] {
      const bool writes = is_over_input() && pipeline.has_written();
      if (writes) restore(pipeline.written(), progress);
      return writes;
    };
    try {
      pipeline.run(count(), [&](uint64_t p, Piece &piece) { make_sorted_part(p, piece); });
    } catch (const Error &error) {
      if (put_back()) throw LostOrder(error);
      throw;
    } catch (...) {
      (void)put_back();
      throw;
    }
  }

 private:
  static constexpr uint64_t kSlots = 2;  // a part leaves while the next is sorted

  uint64_t begin(uint64_t i) const { return i == 0 ? 0 : ends_[i - 1]; }
  uint64_t items(uint64_t i) const { return ends_[i] - begin(i); }
  uint64_t rank(uint64_t part) const { return job_.n - (part == count() ? 0 : ends_[count() - 1 - part]); }
  bool keys_over_input() const { return job_.keys_out == job_.keys_in; }
  bool carry_over_input() const { return job_.carry_in != nullptr && job_.carry_out == job_.carry_in; }
  bool is_over_input() const { return keys_over_input() || carry_over_input(); }

  void make_run(uint64_t i, Piece &piece) const {
    char *const keys = const_cast<char *>(runs_[i].keys), *const carry = const_cast<char *>(runs_[i].carry);
    piece.in = {{keys, element_at(job_.keys_in, begin(i), job_.key_bytes), items(i) * job_.key_bytes}};
    if (job_.carry_in != nullptr)
      piece.in.push_back({carry, element_at(job_.carry_in, begin(i), job_.carry_bytes), items(i) * job_.carry_bytes});
    piece.work.request = sort_request(job_, items(i), keys, carry, job_.carries_index);
    if (job_.carries_index) piece.work.index_base = begin(i);
  }

  void ask_for_cuts(PieceCuts &cuts) {
    cuts.order = job_.order;
    cuts.keys = runs_[0].keys;
    cuts.runs = static_cast<uint32_t>(count()), cuts.cuts = cuts.runs - 1;
    std::copy(ends_.begin(), ends_.end(), cuts.ends);
    for (uint64_t part = 1; part < count(); ++part) cuts.ranks[part - 1] = rank(part);
    cuts.found = reinterpret_cast<uint64_t *>(room_.shared() + sort_slot_bytes(job_, job_.n));
    cuts.told = found_.data();
  }

  // What the device has found leads out of no array, and each part has its length whatever that was.
  void note_cuts() {
    for (uint64_t part = 1; part <= count(); ++part) {
      std::vector<uint64_t> cut;
      uint64_t all = 0;
      for (uint64_t r = 0; r < count(); ++r) {
        const uint64_t told = part == count() ? items(r) : found_[(part - 1) * count() + r];
        cut.push_back(std::min(std::max(told, parts_.at(part - 1, r)), items(r)));
        all += cut[r];
      }
      for (uint64_t r = 0; r < count() && all != rank(part); ++r) {
        const uint64_t more = all < rank(part) ? std::min(rank(part) - all, items(r) - cut[r]) : 0,
                       less = all > rank(part) ? std::min(all - rank(part), cut[r] - parts_.at(part - 1, r)) : 0;
        cut[r] += more - less, all += more - less;
      }
      parts_.add(cut);
    }
  }

  void make_sorted_part(uint64_t part, Piece &piece) const {
    std::vector<Run> slices;
    for (uint64_t r = 0; r < count(); ++r)
      if (parts_.at(part, r) != parts_.at(part + 1, r))
        slices.push_back(slice_of(job_, runs_[r], parts_.at(part, r), parts_.at(part + 1, r)));
    make_part(job_, room_, part % kSlots, slices, rank(part), piece);
    // Slices come from the device's memory.
    for (const PieceCopy &copy : piece.in) piece.work.moves.push_back({copy.device, copy.host, copy.bytes});
    piece.in.clear();
  }

  // Behind the parts that are written goes what is left of the runs, so that nothing is lost.
  void restore(uint64_t written, PieceProgress &progress) const noexcept {
    try {
      std::vector<PieceCopy> out;
      uint64_t to = rank(written);
      for (uint64_t r = 0; r < count(); ++r) {
        const Run rest = slice_of(job_, runs_[r], parts_.at(written, r), runs_[r].count);
        if (rest.count != 0 && keys_over_input())
          out.push_back(
              {const_cast<char *>(rest.keys), job_.keys_out + to * job_.key_bytes, rest.count * job_.key_bytes});
        if (rest.count != 0 && carry_over_input())
          out.push_back(
              {const_cast<char *>(rest.carry), job_.carry_out + to * job_.carry_bytes, rest.count * job_.carry_bytes});
        to += rest.count;
      }
      context_.device.step({}, nullptr, out, progress);
    } catch (...) {  // the first failure is what the caller hears of
    }
  }

  const PieceContext &context_;
  const SortJob &job_;
  const std::vector<uint64_t> ends_;  // of pieces
  PieceRoom room_{};                  // of the longest piece; the runs and their cuts are shared
  std::vector<Run> runs_;             // in the device's memory
  std::vector<uint64_t> found_;
  Parts parts_;
};

bool is_for_this_way(const PieceContext &context, const SortJob &job, const PieceProgress &progress) {
  return job.keys_in != nullptr && !job.selects && job.wanted == job.n && progress.done == 0 &&
         job.n * job.record_bytes() >= context.device.arriving_sizes().bytes_min;
}

}  // namespace

bool rather_sorted_as_it_arrives(const Request &request) {
  uint64_t bytes = dtype_bytes(request.order.dtype);
  switch (request.operation) {
    case Operation::kSort:
      break;
    case Operation::kSortPairs:
      if (request.value_bytes > kTravellingBytesMax) return false;
      bytes += request.value_bytes;
      break;
    case Operation::kArgsort:
      bytes += dtype_bytes(request.index_t);
      break;
    default:
      return false;
  }
  return request.n >= (kArrivingBytesMin - 1) / bytes + 1;
}

bool sort_as_it_arrives(const PieceContext &context, const SortJob &job, PieceProgress &progress) {
  if (!is_for_this_way(context, job, progress)) return false;
  ArrivingSort sort(context, job);
  if (sort.count() < 2 || !sort.take_room()) return false;
  progress.expect(job.n * (job.key_bytes * (job.keys_out != nullptr ? 2 : 1) +
                           job.carry_bytes * ((job.carry_in != nullptr ? 1 : 0) + (job.carry_out != nullptr ? 1 : 0))));
  Stopwatch watch;
  sort.bring(progress);
  const double in_ms = watch.lap_ms();
  sort.write(progress);
  context.control.log(
      "sorted as it arrived, in %llu pieces: brought and sorted in %.1f ms, parts sorted and written in %.1f ms",
      ull(sort.count()), in_ms, watch.lap_ms());
  return true;
}

}  // namespace gsort_internal
