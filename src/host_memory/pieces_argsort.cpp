// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts in pieces in which what travels with each key is its own index. Where in the device's bytes a bucket's number
// is, there the keys lie in the input that the second trip brings for it, one after the other. So the device has their
// indices before it sorts both, and none goes over the bus but in the end.
//
// Between the trips the keys wait in the output, about where their indices will lie, if they are no wider than these.
#include "host_memory/pieces_buckets.h"
#include "host_memory/pieces_dealer.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

// Keys alone, in the places that they have between the trips.
SortJob keys_of(const SortJob &job) {
  SortJob keys = job;
  keys.carry_bytes = 0, keys.carry_out = nullptr;
  keys.carries_index = false;
  // At the output's end: as many indices end before them, or with them.
  if (keys.keys_out == nullptr && job.key_bytes <= job.carry_bytes)
    keys.keys_out = job.carry_out + job.n * (job.carry_bytes - job.key_bytes);
  return keys;
}

bool is_for_this_way(const SortJob &job) {
  return job.carries_index && !job.selects && job.keys_in != nullptr && job.wanted == job.n &&
         job.carry_out != nullptr && job.keys_out != job.keys_in;
}

Dealer::Needs needs_of(const PieceContext &context, const SortJob &job) {
  return {[&job](uint64_t items) { return sort_slot_bytes(job, items); },
          [&context, &job](uint64_t items) { return sort_workspace(context, job, items, false); }};
}

void leave_in_buckets(const SortJob &job, const char *keys, const std::vector<uint64_t> &ends, Buckets &buckets,
                      Piece &piece) {
  for (uint64_t b = 0, at = 0; b < ends.size(); ++b)
    while (at < ends[b]) {
      const Run slice = buckets.take(b, ends[b] - at);
      piece.out.push_back(
          {const_cast<char *>(keys) + at * job.key_bytes, const_cast<char *>(slice.keys), slice.count * job.key_bytes});
      at += slice.count;
    }
}

// The second trip.
void sort_buckets(const PieceContext &context, const SortJob &job, const Dealer &dealer, std::vector<Part> &parts,
                  PieceProgress &progress) {
  std::vector<uint32_t> numbers;
  for (uint32_t b = 0; b < dealer.buckets(); ++b)
    if (dealer.dealt()[b] != 0) numbers.push_back(b);
  PiecePipeline(context.device, dealer.room(), progress).run(parts.size(), [&](uint64_t p, Piece &piece) {
    make_part(job, dealer.room(), p, parts[p].slices, parts[p].rank, piece);
    PiecePlaces &places = piece.work.places;
    places.buckets = dealer.buckets_of(0), places.n = job.n;
    places.bucket = numbers[p];
    places.chunks = dealer.chunks();
    places.places = SortSlot(job, dealer.room(), p).carry;
    places.items = parts[p].items, places.index_bytes = job.carry_bytes;
  });
}

}  // namespace

bool deal_sort_job(const PieceContext &context, const SortJob &job, PieceProgress &progress) {
  // Not where ranks have failed to be dealt out.
  if (!is_for_this_way(job) || progress.done != 0) return false;
  Stopwatch watch;
  Dealer dealer(context, job, needs_of(context, job));
  if (!dealer.serves()) return false;
  // Of keys four times at most, of indices once.
  progress.expect(job.n * ((job.keys_out != nullptr ? 4 : 3) * job.key_bytes + job.carry_bytes));
  const SortJob keys = keys_of(job);
  Buckets buckets(context, keys, dealer.buckets());
  const double sample_ms = watch.lap_ms();
  buckets.take_own_pages(progress);
  dealer.run([&](uint64_t i, const std::vector<uint64_t> &ends,
                 Piece &piece) { leave_in_buckets(job, dealer.room().slot(i), ends, buckets, piece); },
             progress);
  const double first_ms = watch.lap_ms();
  if (!dealer.all_fit()) {
    context.control.log("sort in pieces: a bucket is longer than the sample said; done in another way");
    return false;
  }
  std::vector<Part> parts = buckets.parts(dealer.room().items);
  if (keys.keys_out != nullptr) buckets.clear_way(parts, progress);
  const double cut_ms = watch.lap_ms();
  sort_buckets(context, job, dealer, parts, progress);
  context.control.log(
      "sort in pieces of %llu elements, whose indices stay on the device: sample %.1f ms, first trip %.1f ms, cuts "
      "%.1f ms, second trip in %llu parts %.1f ms; %llu elements lay aside",
      ull(dealer.room().items), sample_ms, first_ms, cut_ms, ull(parts.size()), watch.lap_ms(),
      ull(buckets.items_aside()));
  return true;
}

}  // namespace gsort_internal
