// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/pieces_dealer.h"

#include <algorithm>
#include <numeric>

#include "core/dtype.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kBucketsMax = kDealBoundsMax + 1;

// What all pieces share on the device.
struct Shared {
  uint64_t keys, places, numbers, found, chunks, buckets, bytes;

  explicit Shared(uint64_t n) {
    SliceCounter counter;
    keys = counter.take(kDealBoundsMax * sizeof(uint64_t));
    places = counter.take(kDealBoundsMax * sizeof(uint64_t));
    numbers = counter.take(kDealBoundsMax);
    found = counter.take(2 * kDealBoundsMax * sizeof(uint64_t));
    chunks = counter.take(place_chunks(n) * sizeof(uint32_t));
    buckets = counter.take(n);
    bytes = counter.bytes();
  }
};

}  // namespace

Dealer::Dealer(const PieceContext &context, const SortJob &job, Needs needs)
    : context_(context), job_(job), needs_(std::move(needs)) {
  if (!find_room_and_buckets()) return;
  order_ = ReadOrder::as_it_lies(job.n, room_.items);
  bounds_ = sample_bounds(job, order_, buckets());
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
  return reinterpret_cast<uint8_t *>(room_.shared() + Shared(job_.n).buckets) + place;
}

uint32_t *Dealer::chunks() const { return reinterpret_cast<uint32_t *>(room_.shared() + Shared(job_.n).chunks); }

// A sort of the buckets' numbers, with which the keys travel; the sorted numbers go behind its workspace.
Request Dealer::request(uint64_t items, char *keys, uint8_t *numbers, char *sorted) const {
  Request request{};
  request.operation = Operation::kSortPairs;
  request.order = {GSORT_U8, false, false};
  request.n = items;
  request.in = numbers;
  request.out = sorted;
  request.value_bytes = static_cast<uint32_t>(job_.key_bytes);
  request.values_in = request.values_out = keys;
  return request;
}

uint64_t Dealer::own_workspace(uint64_t items) const {
  // A size query looks at no address, but at whether there is one, and at which are the same.
  char *const one = reinterpret_cast<char *>(uintptr_t{kSliceAlignment}), *const other = one + kSliceAlignment;
  return slice_bytes(context_.device.workspace_bytes(
      request(items, one, reinterpret_cast<uint8_t *>(other), other + kSliceAlignment)));
}

uint64_t Dealer::workspace(uint64_t items) const {
  return std::max(own_workspace(items) + slice_bytes(items), needs_.workspace_bytes(items));
}

bool Dealer::find_room_and_buckets() {
  const uint64_t n = job_.n;
  const PieceNeeds needs = {Shared(n).bytes, needs_.slot_bytes, [&](uint64_t items) {
                              // A bucket has most of what a piece has, or any share of it.
                              constexpr uint64_t kShares = 8;
                              uint64_t most = workspace(last_piece(n, items));
                              for (uint64_t share = 1; share <= kShares; ++share)
                                most = std::max(most, workspace((items * share + kShares - 1) / kShares));
                              return most;
                            }};
  room_ = find_room(context_.device, needs, std::min(n, with_slack(piece_items_max(n, job_.record_bytes()))), 1);
  if (room_.items == 0) return false;
  const uint64_t of_bucket = std::max<uint64_t>(room_.items / 5 * 4, 1), count = (n + of_bucket - 1) / of_bucket;
  if (count == 1 || count > kBucketsMax || count >= room_.items) return false;
  dealt_.assign(count, 0);
  return true;
}

void Dealer::make(uint64_t i, Piece &piece) {
  const Shared shared(job_.n);
  char *const slot = room_.slot(i), *const keys = room_.shared() + shared.keys,
              *const places = room_.shared() + shared.places, *const numbers = room_.shared() + shared.numbers;
  piece.in = {{slot, element_at(job_.keys_in, begin(i), job_.key_bytes), items(i) * job_.key_bytes}};
  if (i == 0) {
    piece.in.push_back({keys, bounds_.keys.data(), bounds_.keys.size()});
    piece.in.push_back(
        {places, reinterpret_cast<char *>(bounds_.places.data()), bounds_.places.size() * sizeof(uint64_t)});
    piece.in.push_back({numbers, reinterpret_cast<char *>(numbers_.data()), numbers_.size()});
  }
  const auto count = static_cast<uint32_t>(buckets() - 1);
  piece.work.deal.order = job_.order;
  piece.work.deal.keys = slot;
  piece.work.deal.items = items(i), piece.work.deal.first_place = begin(i);
  piece.work.deal.bounds = keys, piece.work.deal.places = reinterpret_cast<uint64_t *>(places);
  piece.work.deal.count = count;
  piece.work.deal.buckets = buckets_of(begin(i));
  piece.work.request = request(items(i), slot, buckets_of(begin(i)), room_.workspace() + own_workspace(items(i)));
  piece.work.search = {numbers, count, reinterpret_cast<uint64_t *>(room_.shared() + shared.found), found_.data()};
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

}  // namespace gsort_internal
