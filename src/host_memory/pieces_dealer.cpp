// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/pieces_dealer.h"

#include <algorithm>
#include <numeric>

#include "core/dtype.h"
#include "host_memory/pieces_buckets.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kBucketsMax = kDealBoundsMax + 1;

// Of an array that is sorted in place: a turn is a byte, and each region has two.
constexpr uint64_t kRegionsMax = 128, kStripesMax = uint64_t{1} << 14;

// What all pieces share on the device.
struct Shared {
  uint64_t keys, places, numbers, found, chunks, starts, begins, turns, buckets, bytes;

  explicit Shared(const SortJob &job) {
    const uint64_t stripes = is_in_place(job) ? kStripesMax : 0;
    SliceCounter counter;
    keys = counter.take(kDealBoundsMax * sizeof(uint64_t));
    places = counter.take(kDealBoundsMax * sizeof(uint64_t));
    numbers = counter.take(kDealBoundsMax);
    found = counter.take(2 * kDealBoundsMax * sizeof(uint64_t));
    chunks = counter.take(place_chunks(job.n) * sizeof(uint32_t));
    starts = counter.take(stripes * sizeof(uint64_t));
    begins = counter.take(stripes * sizeof(uint64_t));
    turns = counter.take(stripes);
    buckets = counter.take(job.n);
    bytes = counter.bytes();
  }
};

template <class T>
PieceCopy copy_of(char *to, std::vector<T> &elements) {
  return {to, reinterpret_cast<char *>(elements.data()), elements.size() * sizeof(T)};
}

}  // namespace

Dealer::Dealer(const PieceContext &context, const SortJob &job, Needs needs)
    : context_(context), job_(job), needs_(std::move(needs)) {
  if (!find_room_and_buckets()) return;
  bounds_ = sample_bounds(job, order_, buckets(), BoundPlaces::kInArray);
  if (is_in_place(job)) make_stripes();
  found_.resize(2 * (buckets() - 1));
  numbers_.resize(buckets() - 1);
  std::iota(numbers_.begin(), numbers_.end(), uint8_t{0});
  serves_ = true;
}

void Dealer::run(const Leave &to, PieceProgress &progress) {
  PiecePipeline(context_.device, room_, progress)
      .run(
          pieces(), [&](uint64_t i, Piece &piece) { make(i, piece); },
          [&](uint64_t i, Piece &piece) { leave(i, to, piece); });
}

bool Dealer::all_fit() const {
  return std::all_of(dealt_.begin(), dealt_.end(), [&](uint64_t items) {
    return items <= room_.items && needs_.workspace_bytes(items) <= room_.workspace_bytes;
  });
}

uint8_t *Dealer::buckets_of(uint64_t place) const {
  return reinterpret_cast<uint8_t *>(room_.shared() + Shared(job_).buckets) + place;
}

uint32_t *Dealer::chunks() const { return reinterpret_cast<uint32_t *>(room_.shared() + Shared(job_).chunks); }

PieceStripes Dealer::all_stripes() const { return stripes_from(0, starts_.size()); }

PieceStripes Dealer::stripes_from(uint64_t first, uint64_t count) const {
  const Shared shared(job_);
  return {static_cast<uint32_t>(count), reinterpret_cast<uint64_t *>(room_.shared() + shared.starts) + first,
          reinterpret_cast<uint64_t *>(room_.shared() + shared.begins) + first,
          reinterpret_cast<uint8_t *>(room_.shared() + shared.turns) + first};
}

// A region's stripes are read as they lie, but beginning with one in the middle: those before it come last.
void Dealer::make_stripes() {
  for (uint64_t i = 0; i < pieces(); ++i) {
    uint64_t start = begin(i);
    for (uint64_t region = 0; region < buckets(); ++region) {
      const Stripe &stripe = stripes(i)[region];
      starts_.push_back(start);
      begins_.push_back(stripe.begin);
      turns_.push_back(static_cast<uint8_t>(2 * region + (stripe.begin >= stripes(0)[region].begin ? 1 : 0)));
      start += stripe.count;
    }
  }
}

uint64_t Dealer::own_workspace(uint64_t items) const {
  const auto bytes = [&](uint64_t value_bytes) {
    return slice_bytes(context_.device.workspace_bytes(
        numbers_request(GSORT_U8, items, somewhere(1), somewhere(2), somewhere(3), value_bytes)));
  };
  return job_.carry_in != nullptr ? std::max(bytes(job_.key_bytes), bytes(job_.carry_bytes)) : bytes(job_.key_bytes);
}

uint64_t Dealer::workspace(uint64_t items) const {
  return std::max(own_workspace(items) + slice_bytes(items), needs_.workspace_bytes(items));
}

bool Dealer::find_room_and_buckets() {
  const uint64_t n = job_.n;
  const PieceNeeds needs = {Shared(job_).bytes, needs_.slot_bytes, [&](uint64_t items) {
                              // A bucket has most of what a piece has, or any share of it.
                              constexpr uint64_t kShares = 8;
                              uint64_t most = workspace(last_piece(n, items));
                              for (uint64_t share = 1; share <= kShares; ++share)
                                most = std::max(most, workspace((items * share + kShares - 1) / kShares));
                              return most;
                            }};
  room_ =
      find_room(context_.device, needs,
                std::min(n, with_slack(piece_items_max(n, job_.record_bytes(), context_.device.pieces_wanted()))), 1);
  if (room_.items == 0) return false;
  const uint64_t of_bucket = std::max<uint64_t>(room_.items / 5 * 4, 1), count = (n + of_bucket - 1) / of_bucket;
  if (count == 1 || count > kBucketsMax || count >= room_.items) return false;
  dealt_.assign(count, 0);
  if (!is_in_place(job_)) {
    order_ = ReadOrder::as_it_lies(n, room_.items);
    return true;
  }
  order_ = ReadOrder::in_stripes(n, count, room_.items);
  uint64_t most = 0;
  for (uint64_t i = 0; i < pieces(); ++i) most = std::max(most, workspace(items(i)));
  return count <= kRegionsMax && pieces() * count <= kStripesMax && most <= room_.workspace_bytes;
}

// Brings what all pieces share.
void Dealer::bring_shared(Piece &piece) {
  const Shared shared(job_);
  char *const base = room_.shared();
  piece.in.push_back(copy_of(base + shared.keys, bounds_.keys));
  piece.in.push_back(copy_of(base + shared.places, bounds_.places));
  piece.in.push_back(copy_of(base + shared.numbers, numbers_));
  if (starts_.empty()) return;
  piece.in.push_back(copy_of(base + shared.starts, starts_));
  piece.in.push_back(copy_of(base + shared.begins, begins_));
  piece.in.push_back(copy_of(base + shared.turns, turns_));
}

PieceDeal Dealer::deal_of(uint64_t i) const {
  const Shared shared(job_);
  char *const base = room_.shared();
  PieceDeal deal;
  deal.order = job_.order;
  deal.keys = SortSlot(job_, room_, i).keys;
  deal.items = items(i), deal.first_place = begin(i);
  if (!starts_.empty()) deal.stripes = stripes_from(i * buckets(), buckets());
  deal.bounds = base + shared.keys, deal.places = reinterpret_cast<uint64_t *>(base + shared.places);
  deal.count = static_cast<uint32_t>(buckets() - 1);
  deal.buckets = buckets_of(begin(i));
  return deal;
}

void Dealer::make(uint64_t i, Piece &piece) {
  bring_stripes(job_, order_, room_, i, piece);
  if (i == 0) bring_shared(piece);
  const PieceDeal deal = piece.work.deal = deal_of(i);
  // The numbers are sorted to behind the workspace.
  char *const sorted = room_.workspace() + own_workspace(items(i));
  const SortSlot slot(job_, room_, i);
  const auto sort = [&](char *values, uint64_t bytes) {
    return numbers_request(GSORT_U8, items(i), deal.buckets, sorted, values, bytes);
  };
  if (job_.carry_in != nullptr) piece.work.before = {sort(slot.carry, job_.carry_bytes)};
  piece.work.request = sort(slot.keys, job_.key_bytes);
  const Shared shared(job_);
  char *const base = room_.shared();
  piece.work.search = {base + shared.numbers, deal.count, reinterpret_cast<uint64_t *>(base + shared.found),
                       found_.data()};
}

// What the device has found leads out of no array.
void Dealer::leave(uint64_t i, const Leave &to, Piece &piece) {
  std::vector<uint64_t> ends;
  for (uint64_t b = 0, at = 0; b < buckets(); ++b) {
    const uint64_t end = b + 1 < buckets() ? std::max(at, std::min(found_[2 * b + 1], items(i))) : items(i);
    dealt_[b] += end - at;
    ends.push_back(at = end);
  }
  to(i, ends, piece);
}

Request numbers_request(gsort_dtype t, uint64_t items, const void *numbers, char *sorted, char *values,
                        uint64_t value_bytes) {
  Request request{};
  request.operation = Operation::kSortPairs;
  request.order.dtype = t;
  request.n = items;
  request.in = numbers;
  request.out = sorted;
  request.values_in = request.values_out = values;
  request.value_bytes = static_cast<uint32_t>(value_bytes);
  return request;
}

Request places_request(const KeyOrder &order, uint64_t items, const void *numbers, char *sorted, char *places) {
  Request request = numbers_request(order.dtype, items, numbers, sorted, places, kPlaceBytes);
  request.order = order;
  request.values_in = nullptr;
  return request;
}

}  // namespace gsort_internal
