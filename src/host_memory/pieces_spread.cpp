// SPDX-License-Identifier: MIT OR Apache-2.0
// The first trip sorts pieces and cuts each of them at bounds that a sample of the input gave. What lies between two
// bounds is a bucket; the slices of a bucket are put one behind the other to where the sample expects them in the end,
// and aside, in scratch memory, when that is full. The second trip brings the buckets, sorts them and writes them
// over what has been brought before.
//
// Bounds are elements of the input, key and place, and equal keys are told apart by their place. So buckets are parts
// of the stable order, whatever the sample was like: it only has a say in how much goes aside.
//
// Keys alone are sorted so in place as well: a piece is made of stripes of all places and fills the same stripes when
// it has been sorted (read_order.h). Equal keys cannot be told from one another, so that their order does not count.
// What is in the second trip's way goes aside before it, so that nothing is written over that has not been written
// before.
#include "host_memory/pieces_spread.h"

#include <algorithm>
#include <cstring>

#include "core/dtype.h"
#include "host_memory/pieces_buckets.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

// Every piece leaves in as many copies; with more the classic way is not far behind.
constexpr uint64_t kBucketsMax = 256;
// A bucket has 512 samples, which tell its size to 4.4%.
constexpr uint64_t kSamplesMin = uint64_t{1} << 14, kSamplesPerBucket = 512;

template <class U>
struct Sampled {
  U key;  // ordered bits
  uint64_t place;

  bool operator<(const Sampled &other) const { return key != other.key ? key < other.key : place < other.place; }
};

// Puts those samples into their places that are bounds of buckets, the first of which begins at sample `from`.
template <class U>
void sort_bounds(std::vector<Sampled<U>> &samples, uint64_t buckets, uint64_t first, uint64_t last, uint64_t from,
                 uint64_t end) {
  if (first >= last) return;
  const uint64_t middle = first + (last - first) / 2, at = middle * samples.size() / buckets;
  const auto begin = samples.begin();
  std::nth_element(begin + static_cast<int64_t>(from), begin + static_cast<int64_t>(at),
                   begin + static_cast<int64_t>(end));
  sort_bounds(samples, buckets, first, middle, from, at);
  sort_bounds(samples, buckets, middle + 1, last, at + 1, end);
}

// One element of every n / samples, anywhere in it.
template <class U>
Bounds sample_of(const SortJob &job, const ReadOrder &order, uint64_t buckets, BoundPlaces counted) {
  const KeyCodec<U> codec = make_codec<U>(job.order);
  const U *const keys = reinterpret_cast<const U *>(job.keys_in);
  const uint64_t count = std::min(job.n, std::max(kSamplesMin, kSamplesPerBucket * buckets)), stride = job.n / count;
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < count; ++i)
    numbers.push_back(i * stride + i * (job.n % count) / count + mixed(i + 1) % stride);
  const std::vector<uint64_t> places = order.places_of(numbers);
  // Nothing but loads that do not wait for one another: nearly all miss the caches.
  std::vector<Sampled<U>> samples(count);
  const std::vector<uint64_t> &told = counted == BoundPlaces::kAsRead ? numbers : places;
  for (uint64_t i = 0; i < count; ++i) samples[i] = {codec.encode(keys[places[i]]), told[i]};
  sort_bounds(samples, buckets, 1, buckets, 0, count);
  Bounds bounds;
  bounds.keys.resize((buckets - 1) * sizeof(U));
  for (uint64_t b = 1; b < buckets; ++b) {
    const Sampled<U> &sample = samples[b * count / buckets];
    const U key = codec.decode(sample.key);
    std::memcpy(bounds.keys.data() + (b - 1) * sizeof(U), &key, sizeof(U));
    bounds.places.push_back(sample.place);
  }
  return bounds;
}

// The first trip.
class Spreader {
 public:
  Spreader(const PieceContext &context, const SortJob &job) : context_(context), job_(job) {
    if (!find_pieces()) return;
    bounds_ = sample_bounds(job, order_, buckets_, BoundPlaces::kAsRead);
    found_.resize(2 * (buckets_ - 1));
    serves_ = true;
  }

  bool serves() const { return serves_; }
  uint64_t buckets() const { return buckets_; }
  uint64_t piece_items() const { return room_.items; }

  void run(Buckets &buckets, PieceProgress &progress) {
    PiecePipeline(context_.device, room_, progress)
        .run(
            order_.pieces(), [&](uint64_t i, Piece &piece) { make(i, piece); },
            [&](uint64_t i, Piece &piece) { leave(i, buckets, piece); });
  }

 private:
  static constexpr uint64_t kBoundsBytes = slice_bytes(kBucketsMax * sizeof(uint64_t)),
                            kSharedBytes = kBoundsBytes + slice_bytes(2 * kBucketsMax * sizeof(uint64_t));

  uint64_t workspace(uint64_t items) const { return sort_workspace(context_, job_, items, job_.carries_index); }

  // False: they would be too many.
  bool find_pieces() {
    const uint64_t n = job_.n;
    const PieceNeeds needs = {
        kSharedBytes, [&](uint64_t items) { return sort_slot_bytes(job_, items); },
        [&](uint64_t items) { return std::max(workspace(items), workspace(last_piece(n, items))); }};
    // Shorter pieces, until the one that needs the most workspace has it.
    for (uint64_t items_max =
             std::min(n, with_slack(piece_items_max(n, job_.record_bytes(), context_.device.pieces_wanted())));
         ; items_max = room_.items / 8 * 7) {
      room_ = items_max != 0 ? find_room(context_.device, needs, items_max, 1) : PieceRoom{};
      if (room_.items == 0) return false;
      const uint64_t of_bucket = std::max<uint64_t>(room_.items / 5 * 4, 1);
      buckets_ = (n + of_bucket - 1) / of_bucket;
      if (buckets_ == 1 || buckets_ > kBucketsMax || buckets_ >= room_.items) return false;
      order_ =
          is_in_place(job_) ? ReadOrder::in_stripes(n, buckets_, room_.items) : ReadOrder::as_it_lies(n, room_.items);
      uint64_t workspace_bytes = 0;
      for (uint64_t i = 0; i < order_.pieces(); ++i)
        workspace_bytes = std::max(workspace_bytes, workspace(order_.items(i)));
      if (widen(context_.device, room_, workspace_bytes)) return true;
    }
  }

  void make(uint64_t i, Piece &piece) {
    const SortSlot slot(job_, room_, i);
    const uint64_t items = bring_stripes(job_, order_, room_, i, piece);
    if (i == 0) piece.in.push_back({room_.shared(), bounds_.keys.data(), bounds_.keys.size()});
    piece.work.request = sort_request(job_, items, slot.keys, slot.carry, job_.carries_index);
    if (job_.carries_index) piece.work.index_base = order_.begin(i);
    piece.work.search = {room_.shared(), buckets_ - 1, reinterpret_cast<uint64_t *>(room_.shared() + kBoundsBytes),
                         found_.data()};
  }

  // How many elements of piece i come before the bound. What the device has found leads out of no array.
  uint64_t cut_of(uint64_t i, uint64_t bound) const {
    const uint64_t begin = order_.begin(i), items = order_.items(i), place = bounds_.places[bound];
    const uint64_t equal_end = std::min(found_[2 * bound + 1], items),
                   equal_begin = std::min(found_[2 * bound], equal_end);
    const auto share = [&](uint64_t of, uint64_t all) {
      return equal_begin + static_cast<uint64_t>(static_cast<double>(equal_end - equal_begin) *
                                                 (static_cast<double>(of) / static_cast<double>(all)));
    };
    // In place as much of every piece, so that each fills its own stripes.
    if (is_in_place(job_)) return share(place, job_.n);
    if (place < begin) return equal_begin;
    if (place >= begin + items) return equal_end;
    // The bound is of this piece. Any of its equals may be the first behind it; about as many of them come before it.
    return share(place - begin, items);
  }

  void leave(uint64_t i, Buckets &buckets, Piece &piece) const {
    std::vector<uint64_t> ends;
    for (uint64_t b = 0, at = 0; b < buckets_; ++b) {
      at = b + 1 < buckets_ ? std::max(at, cut_of(i, b)) : order_.items(i);
      ends.push_back(at);
    }
    if (is_in_place(job_)) {
      for (const PlacedSlice &p : place_slices(order_.stripes(i), ends))
        leave_slice(i, p.from, buckets.put(p.bucket, p.to, p.count), piece);
      return;
    }
    for (uint64_t b = 0, at = 0; b < buckets_; ++b)
      while (at < ends[b]) {
        const Run slice = buckets.take(b, ends[b] - at);
        leave_slice(i, at, slice, piece);
        at += slice.count;
      }
  }

  void leave_slice(uint64_t i, uint64_t from, const Run &slice, Piece &piece) const {
    const SortSlot slot(job_, room_, i);
    piece.out.push_back(
        {slot.keys + from * job_.key_bytes, const_cast<char *>(slice.keys), slice.count * job_.key_bytes});
    if (slice.carry != nullptr)
      piece.out.push_back(
          {slot.carry + from * job_.carry_bytes, const_cast<char *>(slice.carry), slice.count * job_.carry_bytes});
  }

  const PieceContext &context_;
  const SortJob &job_;
  PieceRoom room_;
  bool serves_ = false;
  uint64_t buckets_ = 0;
  ReadOrder order_;
  Bounds bounds_;
  std::vector<uint64_t> found_;
};

// The second trip.
class PartWriter {
 public:
  PartWriter(const PieceContext &context, const SortJob &job, Buckets &buckets)
      : context_(context), job_(job), buckets_(buckets) {}

  // Shorter parts, until the one that needs the most workspace has it.
  void plan(uint64_t items_max, const PieceProgress &progress) {
    for (;; items_max = room_.items / 8 * 7) {
      room_ = find_part_room(context_, job_, items_max);
      parts_ = buckets_.parts(room_.items);
      uint64_t workspace = 0;
      for (const Part &part : parts_)
        workspace = std::max(workspace, sort_workspace(context_, job_, part.items, false));
      if (widen(context_.device, room_, workspace)) break;
    }
    buckets_.clear_way(parts_, progress);
  }

  void run(PieceProgress &progress) {
    PiecePipeline pipeline(context_.device, room_, progress);
    try {
      pipeline.run(parts_.size(), [&](uint64_t p, Piece &piece) {
        make_part(job_, room_, p, parts_[p].slices, parts_[p].rank, piece);
      });
    } catch (...) {
      if (is_in_place(job_)) buckets_.restore(parts_, pipeline.left());
      throw;
    }
  }

  uint64_t parts() const { return parts_.size(); }

 private:
  const PieceContext &context_;
  const SortJob &job_;
  Buckets &buckets_;
  PieceRoom room_;
  std::vector<Part> parts_;
};

bool is_for_this_way(const SortJob &job) {
  if (job.selects || job.keys_in == nullptr || job.wanted != job.n) return false;
  if (is_in_place(job)) return job.carry_bytes == 0;
  if (job.carry_bytes != 0 && job.carry_out == nullptr) return false;
  return job.carry_in == nullptr || job.carry_out != job.carry_in;
}

}  // namespace

Bounds sample_bounds(const SortJob &job, const ReadOrder &order, uint64_t buckets, BoundPlaces counted) {
  return with_width(dtype_bytes(job.order.dtype),
                    [&](auto tag) { return sample_of<typename decltype(tag)::type>(job, order, buckets, counted); });
}

uint64_t bring_stripes(const SortJob &job, const ReadOrder &order, const PieceRoom &room, uint64_t i, Piece &piece) {
  const SortSlot slot(job, room, i);
  uint64_t items = 0;
  for (const Stripe &stripe : order.stripes(i)) {
    if (stripe.count == 0) continue;
    piece.in.push_back({slot.keys + items * job.key_bytes, element_at(job.keys_in, stripe.begin, job.key_bytes),
                        stripe.count * job.key_bytes});
    if (job.carry_in != nullptr)
      piece.in.push_back({slot.carry + items * job.carry_bytes, element_at(job.carry_in, stripe.begin, job.carry_bytes),
                          stripe.count * job.carry_bytes});
    items += stripe.count;
  }
  return items;
}

bool spread_sort_job(const PieceContext &context, const SortJob &job, PieceProgress &progress) {
  if (!is_for_this_way(job)) return false;
  Stopwatch watch;
  Spreader spreader(context, job);
  if (!spreader.serves()) return false;
  Buckets buckets(context, job, spreader.buckets());
  const double sample_ms = watch.lap_ms();
  buckets.take_own_pages(progress);
  spreader.run(buckets, progress);
  const double first_ms = watch.lap_ms();
  PartWriter writer(context, job, buckets);
  try {
    writer.plan(spreader.piece_items(), progress);
  } catch (const Error &error) {
    // In place the array holds a permutation of the input now, which can be sorted in the other way.
    if (!is_in_place(job) || error.status() != GSORT_ERROR_OUT_OF_MEMORY) throw;
    return false;
  }
  const double cut_ms = watch.lap_ms();
  writer.run(progress);
  context.control.log(
      "sort in pieces of %llu elements, spread over the output: sample %.1f ms, first trip %.1f ms, cuts %.1f ms, "
      "second trip in %llu parts %.1f ms; %llu elements lay aside",
      ull(spreader.piece_items()), sample_ms, first_ms, cut_ms, ull(writer.parts()), watch.lap_ms(),
      ull(buckets.items_aside()));
  return true;
}

}  // namespace gsort_internal
