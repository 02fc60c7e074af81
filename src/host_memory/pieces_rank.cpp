// SPDX-License-Identifier: MIT OR Apache-2.0
// Ranks in pieces. Each piece has its own place in the output all the while. The first trip leaves its keys there,
// bucket after bucket; the second brings a bucket of all pieces and puts the ranks where the keys were; the third
// brings the ranks of a piece and puts them in the order in which its keys came, which the device's bytes tell.
#include <algorithm>

#include "host_memory/pieces_dealer.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

class Ranker {
 public:
  Ranker(const PieceContext &context, const SortJob &job)
      : context_(context),
        job_(job),
        dealer_(context, job,
                {[this](uint64_t items) { return first_bytes(items) + slice_bytes(items * job_.carry_bytes); },
                 [this](uint64_t items) { return workspace(items); }}),
        ends_(dealer_.serves() ? dealer_.pieces() : 0) {}

  bool serves() const { return dealer_.serves(); }
  const Dealer &dealer() const { return dealer_; }

  void deal(PieceProgress &progress) {
    dealer_.run(
        [&](uint64_t i, const std::vector<uint64_t> &ends, Piece &piece) {
          ends_[i] = ends;
          piece.out = {{dealer_.room().slot(i), key_at(i, 0), dealer_.items(i) * job_.key_bytes}};
        },
        progress);
  }

  // Each bucket's keys become ranks.
  void rank_buckets(PieceProgress &progress) {
    std::vector<uint64_t> buckets, ranks;
    for (uint64_t b = 0, rank = 0; b < dealer_.buckets(); rank += dealer_.dealt()[b++])
      if (dealer_.dealt()[b] != 0) buckets.push_back(b), ranks.push_back(rank);
    run(buckets.size(), progress, [&](uint64_t p, Piece &piece) {
      const uint64_t b = buckets[p];
      char *const first = dealer_.room().slot(p), *const second = first + first_bytes(dealer_.room().items);
      uint64_t at = 0;
      for (uint64_t i = 0; i < dealer_.pieces(); ++i) {
        const uint64_t begin = b != 0 ? ends_[i][b - 1] : 0, count = ends_[i][b] - begin;
        if (count == 0) continue;
        piece.in.push_back({first + at * job_.key_bytes, key_at(i, begin), count * job_.key_bytes});
        piece.out.push_back({second + at * job_.carry_bytes, rank_at(i, begin), count * job_.carry_bytes});
        at += count;
      }
      char *const places = dealer_.room().workspace() + keys_workspace(at);
      piece.work.request = keys_request(at, first, places);
      piece.work.scatter = {places, nullptr, ranks[p], second, at, job_.carry_bytes};
    });
  }

  // Each piece's ranks go to the keys' places.
  void order_pieces(PieceProgress &progress) {
    run(dealer_.pieces(), progress, [&](uint64_t i, Piece &piece) {
      const uint64_t items = dealer_.items(i), bytes = items * job_.carry_bytes;
      char *const first = dealer_.room().slot(i), *const second = first + first_bytes(dealer_.room().items),
                  *const sorted = dealer_.room().workspace() + piece_workspace(items),
                  *const places = sorted + slice_bytes(items);
      piece.in = {{first, rank_at(i, 0), bytes}};
      piece.out = {{second, rank_at(i, 0), bytes}};
      piece.work.request = piece_request(items, dealer_.buckets_of(dealer_.begin(i)), sorted, places);
      piece.work.scatter = {places, first, 0, second, items, job_.carry_bytes};
    });
  }

 private:
  // Keys, and later ranks.
  uint64_t first_bytes(uint64_t items) const { return slice_bytes(items * std::max(job_.key_bytes, job_.carry_bytes)); }

  char *rank_at(uint64_t piece, uint64_t item) const {
    return element_at(job_.carry_out, dealer_.begin(piece) + item, job_.carry_bytes);
  }
  // At the end of the piece's place, so that no rank is written over a key of a later bucket.
  char *key_at(uint64_t piece, uint64_t item) const {
    const uint64_t before = dealer_.items(piece) * (job_.carry_bytes - job_.key_bytes);
    return rank_at(piece, 0) + before + item * job_.key_bytes;
  }

  // The order of a bucket's keys, as their places in the bucket.
  Request keys_request(uint64_t items, char *keys, char *places) const {
    return places_request(job_.order, items, keys, keys, places);
  }
  // Where in the piece the keys were that the first trip put one after the other.
  Request piece_request(uint64_t items, const void *numbers, char *sorted, char *places) const {
    return places_request({GSORT_U8, false, false}, items, numbers, sorted, places);
  }

  uint64_t keys_workspace(uint64_t items) const {
    return slice_bytes(context_.device.workspace_bytes(keys_request(items, somewhere(1), somewhere(2))));
  }
  uint64_t piece_workspace(uint64_t items) const {
    return slice_bytes(context_.device.workspace_bytes(piece_request(items, somewhere(1), somewhere(2), somewhere(3))));
  }
  uint64_t workspace(uint64_t items) const {
    return slice_bytes(items * kPlaceBytes) +
           std::max(keys_workspace(items), piece_workspace(items) + slice_bytes(items));
  }

  void run(uint64_t count, PieceProgress &progress, const PiecePipeline::Make &make) {
    PiecePipeline(context_.device, dealer_.room(), progress).run(count, make);
  }

  const PieceContext &context_;
  const SortJob &job_;
  Dealer dealer_;
  std::vector<std::vector<uint64_t>> ends_;  // of the buckets in each piece
};

}  // namespace

bool deal_rank(const PieceContext &context, const SortJob &job, PieceProgress &progress) {
  if (job.key_bytes > job.carry_bytes) return false;
  Stopwatch watch;
  Ranker ranker(context, job);
  if (!ranker.serves()) return false;
  progress.expect(3 * job.n * job.record_bytes());
  const double sample_ms = watch.lap_ms();
  ranker.deal(progress);
  if (!ranker.dealer().all_fit()) {
    context.control.log("sort in pieces: a bucket is longer than the sample said; done in another way");
    return false;
  }
  const double first_ms = watch.lap_ms();
  ranker.rank_buckets(progress);
  const double second_ms = watch.lap_ms();
  ranker.order_pieces(progress);
  context.control.log(
      "sort in pieces of %llu elements, whose ranks take their places: sample %.1f ms, first trip %.1f ms, second trip "
      "of %llu buckets %.1f ms, third trip %.1f ms",
      ull(ranker.dealer().room().items), sample_ms, first_ms, ull(ranker.dealer().buckets()), second_ms,
      watch.lap_ms());
  return true;
}

}  // namespace gsort_internal
