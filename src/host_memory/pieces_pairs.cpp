// SPDX-License-Identifier: MIT OR Apache-2.0
// Pairs in place. A piece is made of a stripe of every bucket's region and fills the same stripes when it has been
// dealt out (read_order.h), so that no runs are written to scratch memory. What the second trip brings of a bucket is
// not in the order of the array then: the device has the turns of the elements' stripes from the numbers that stayed
// there, sorts by these, and by the keys behind that.
//
// Where a bucket turns out too long, the numbers tell how to put every piece back as it was.
#include <algorithm>

#include "core/error.h"
#include "host_memory/pieces_buckets.h"
#include "host_memory/pieces_dealer.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

class PairsInPlace {
 public:
  PairsInPlace(const PieceContext &context, const SortJob &job)
      : context_(context),
        job_(job),
        dealer_(context, job,
                {[this](uint64_t items) { return sort_slot_bytes(job_, items); },
                 [this](uint64_t items) { return std::max(part_workspace(items), undo_workspace(items)); }}),
        placements_(dealer_.serves() ? dealer_.pieces() : 0) {}

  const Dealer &dealer() const { return dealer_; }

  void deal(Buckets &buckets, PieceProgress &progress) {
    dealer_.run(
        [&](uint64_t i, const std::vector<uint64_t> &ends, Piece &piece) {
          placements_[i] = place_slices(dealer_.stripes(i), ends);
          for (const PlacedSlice &p : placements_[i]) {
            buckets.put(p.bucket, p.to, p.count);
            piece.out.push_back(keys_copy(i, p.from, p.to, p.count));
            piece.out.push_back(carry_copy(i, p.from, p.to, p.count));
          }
        },
        progress);
  }

  void sort_parts(Buckets &buckets, const std::vector<Part> &parts, PieceProgress &progress) {
    std::vector<uint32_t> numbers;
    for (uint32_t b = 0; b < dealer_.buckets(); ++b)
      if (dealer_.dealt()[b] != 0) numbers.push_back(b);
    PiecePipeline pipeline(context_.device, dealer_.room(), progress);
    try {
      pipeline.run(parts.size(), [&](uint64_t p, Piece &piece) { make_part_of(p, parts[p], numbers[p], piece); });
    } catch (...) {
      buckets.restore(parts, pipeline.left());
      throw;
    }
  }

  // Puts every piece back as it was.
  void undo(PieceProgress &progress) {
    PiecePipeline(context_.device, dealer_.room(), progress).run(dealer_.pieces(), [&](uint64_t i, Piece &piece) {
      for (const PlacedSlice &p : placements_[i]) {
        piece.in.push_back(keys_copy(i, p.from, p.to, p.count));
        piece.in.push_back(carry_copy(i, p.from, p.to, p.count));
      }
      uint64_t at = 0;
      for (const Stripe &stripe : dealer_.stripes(i)) {
        if (stripe.count == 0) continue;
        piece.out.push_back(keys_copy(i, at, stripe.begin, stripe.count));
        piece.out.push_back(carry_copy(i, at, stripe.begin, stripe.count));
        at += stripe.count;
      }
      make_undo(i, piece.work);
    });
  }

 private:
  static constexpr KeyOrder kNumbers = {GSORT_U8, false, false};

  PieceCopy keys_copy(uint64_t piece, uint64_t item, uint64_t place, uint64_t count) const {
    const SortSlot slot(job_, dealer_.room(), piece);
    return {slot.keys + item * job_.key_bytes, element_at(job_.keys_in, place, job_.key_bytes), count * job_.key_bytes};
  }
  PieceCopy carry_copy(uint64_t piece, uint64_t item, uint64_t place, uint64_t count) const {
    const SortSlot slot(job_, dealer_.room(), piece);
    return {slot.carry + item * job_.carry_bytes, element_at(job_.carry_in, place, job_.carry_bytes),
            count * job_.carry_bytes};
  }

  void make_part_of(uint64_t p, const Part &part, uint32_t bucket, Piece &piece) const {
    const SortSlot slot(job_, dealer_.room(), p);
    make_part(job_, dealer_.room(), p, part.slices, part.rank, piece);
    char *const turns = dealer_.room().workspace() + sorts_workspace(GSORT_U8, part.items);
    char *const sorted = turns + slice_bytes(part.items);
    PiecePlaces &places = piece.work.places;
    places.buckets = dealer_.buckets_of(0), places.n = job_.n;
    places.bucket = bucket;
    places.chunks = dealer_.chunks();
    places.places = turns;
    places.items = part.items, places.index_bytes = 1;
    places.stripes = dealer_.all_stripes();
    piece.work.before = {numbers_request(GSORT_U8, part.items, turns, sorted, slot.keys, job_.key_bytes),
                         numbers_request(GSORT_U8, part.items, turns, sorted, slot.carry, job_.carry_bytes)};
  }

  void make_undo(uint64_t i, PieceWork &work) const {
    const SortSlot slot(job_, dealer_.room(), i);
    const uint64_t items = dealer_.items(i);
    char *const sorted = dealer_.room().workspace() + sorts_workspace(GSORT_U32, items);
    char *const places = sorted + slice_bytes(items * kPlaceBytes);
    // Where in the piece the elements were.
    work.before = {places_request(kNumbers, items, dealer_.buckets_of(dealer_.begin(i)), sorted, places),
                   numbers_request(GSORT_U32, items, places, sorted, slot.carry, job_.carry_bytes)};
    work.request = numbers_request(GSORT_U32, items, places, sorted, slot.keys, job_.key_bytes);
  }

  // The most that any of the sorts needs, of such numbers or of the keys.
  uint64_t sorts_workspace(gsort_dtype t, uint64_t items) const {
    const auto bytes = [&](const Request &request) { return slice_bytes(context_.device.workspace_bytes(request)); };
    uint64_t most =
        std::max(bytes(numbers_request(t, items, somewhere(1), somewhere(2), somewhere(3), job_.key_bytes)),
                 bytes(numbers_request(t, items, somewhere(1), somewhere(2), somewhere(3), job_.carry_bytes)));
    if (t == GSORT_U8) return std::max(most, sort_workspace(context_, job_, items, false));
    return std::max(most, bytes(places_request(kNumbers, items, somewhere(1), somewhere(2), somewhere(3))));
  }
  uint64_t part_workspace(uint64_t items) const { return sorts_workspace(GSORT_U8, items) + 2 * slice_bytes(items); }
  uint64_t undo_workspace(uint64_t items) const {
    return sorts_workspace(GSORT_U32, items) + 2 * slice_bytes(items * kPlaceBytes);
  }

  const PieceContext &context_;
  const SortJob &job_;
  Dealer dealer_;
  std::vector<std::vector<PlacedSlice>> placements_;  // of each piece
};

bool is_for_this_way(const SortJob &job) {
  return is_in_place(job) && job.keys_in != nullptr && job.carry_in != nullptr && job.carry_out == job.carry_in &&
         !job.selects && job.wanted == job.n;
}

// False: undone.
bool deal_and_sort(const PieceContext &context, const SortJob &job, PairsInPlace &pairs, Stopwatch &watch,
                   PieceProgress &progress) {
  Buckets buckets(context, job, pairs.dealer().buckets());
  const double sample_ms = watch.lap_ms();
  pairs.deal(buckets, progress);
  const double first_ms = watch.lap_ms();
  std::vector<Part> parts;
  try {
    if (pairs.dealer().all_fit()) {
      parts = buckets.parts(pairs.dealer().room().items);
      buckets.clear_way(parts, progress);
    }
  } catch (const Error &error) {
    if (error.status() != GSORT_ERROR_OUT_OF_MEMORY) throw;
    parts.clear();
  }
  if (parts.empty()) {
    context.control.log("sort in pieces: buckets are not as the sample said; undone and done in another way");
    pairs.undo(progress);
    return false;
  }
  const double cut_ms = watch.lap_ms();
  pairs.sort_parts(buckets, parts, progress);
  context.control.log(
      "sort in pieces of %llu elements, spread in place, whose turns stay on the device: sample %.1f ms, first trip "
      "%.1f ms, cuts %.1f ms, second trip in %llu parts %.1f ms; %llu elements lay aside",
      ull(pairs.dealer().room().items), sample_ms, first_ms, cut_ms, ull(parts.size()), watch.lap_ms(),
      ull(buckets.items_aside()));
  return true;
}

}  // namespace

bool deal_pairs_in_place(const PieceContext &context, const SortJob &job, PieceProgress &progress) {
  if (!is_for_this_way(job)) return false;
  Stopwatch watch;
  PairsInPlace pairs(context, job);
  if (!pairs.dealer().serves()) return false;
  try {
    return deal_and_sort(context, job, pairs, watch, progress);
  } catch (const Error &error) {
    throw LostOrder(error);
  }
}

}  // namespace gsort_internal
