// SPDX-License-Identifier: MIT OR Apache-2.0
// The first trip sorts pieces and cuts each of them at bounds that a sample of the input gave. What lies between two
// bounds is a bucket; the slices of a bucket are put one behind the other to where the sample expects them in the end,
// and aside, in scratch memory, when that place is full. The second trip brings the buckets, sorts them and writes them
// over what has been brought before.
//
// Bounds are elements of the input, key and place, and equal keys are told apart by their place. So buckets are parts
// of the stable order, whatever the sample was like: it only has a say in how much goes aside.
#include "host_memory/pieces_spread.h"

#include <algorithm>
#include <cstring>

#include "core/dtype.h"
#include "host_memory/host_work.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

// Every piece leaves in as many copies; with more the classic way is not far behind.
constexpr uint64_t kBucketsMax = 256;
// A bucket has 512 samples, which tell its size to 4.4%; it takes four fifths of a slot, so that hardly any is too
// long.
constexpr uint64_t kSamplesMin = uint64_t{1} << 14, kSamplesPerBucket = 512;

uint64_t with_slack(uint64_t items) { return items + items / 4; }

// A number that depends on every bit of i.
uint64_t mixed(uint64_t i) {
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
  return i ^ (i >> 31);
}

struct Bounds {
  std::vector<char> keys;        // as arrays hold them
  std::vector<uint64_t> places;  // in the input
};

template <class U>
struct Sampled {
  U key;  // ordered bits
  uint64_t place;

  bool operator<(const Sampled &other) const { return key != other.key ? key < other.key : place < other.place; }
};

// One element of every n / samples, anywhere in it.
template <class U>
Bounds sample_bounds(const SortJob &job, uint64_t buckets) {
  const KeyCodec<U> codec = make_codec<U>(job.order);
  const U *const keys = reinterpret_cast<const U *>(job.keys_in);
  const uint64_t count = std::min(job.n, std::max(kSamplesMin, kSamplesPerBucket * buckets)), stride = job.n / count;
  std::vector<Sampled<U>> samples;
  samples.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t place = i * stride + i * (job.n % count) / count + mixed(i + 1) % stride;
    samples.push_back({codec.encode(keys[place]), place});
  }
  std::sort(samples.begin(), samples.end());
  Bounds bounds;
  bounds.keys.resize((buckets - 1) * sizeof(U));
  for (uint64_t b = 1; b < buckets; ++b) {
    const Sampled<U> &sample = samples[b * count / buckets];
    std::memcpy(bounds.keys.data() + (b - 1) * sizeof(U), &keys[sample.place], sizeof(U));
    bounds.places.push_back(sample.place);
  }
  return bounds;
}

// What the second trip brings and sorts at a time.
struct Part {
  std::vector<Run> slices;
  uint64_t rank, items;
};

// Where the slices of buckets lie between the trips.
class Buckets {
 public:
  Buckets(const PieceContext &context, const SortJob &job, uint64_t count)
      : context_(context), job_(job), count_(count), filled_(count, 0), slices_(count) {
    keys_ = job.keys_out;
    if (keys_ == nullptr) {
      own_keys_ = large_scratch(context.memory, job.n * job.key_bytes);
      keys_ = own_keys_.data();
    }
  }

  void take_own_pages(const PieceProgress &progress) const { take_pages(context_, own_keys_, progress); }

  // A place for a slice of the bucket, or for the first of it.
  Run take(uint64_t bucket, uint64_t items) {
    const uint64_t begin = expected_rank(bucket) + filled_[bucket], room = expected_rank(bucket + 1) - begin;
    const Run place = room == 0 ? take_aside(items) : at(begin, std::min(items, room));
    if (room != 0) filled_[bucket] += place.count;
    slices_[bucket].push_back(place);
    return place;
  }

  // The buckets in their order, cut where they are longer than a part may be.
  std::vector<Part> parts(uint64_t capacity) const {
    std::vector<Part> parts;
    uint64_t rank = 0;
    for (const std::vector<Run> &slices : slices_) {
      uint64_t items = 0;
      for (const Run &slice : slices) items += slice.count;
      if (items > capacity)
        cut(slices, capacity, rank, items, parts);
      else if (items != 0)
        parts.push_back({slices, rank, items});
      rank += items;
    }
    return parts;
  }

  // Part p arrives while part p - 2 is written. What it has of the places up to there goes aside.
  void clear_way(std::vector<Part> &parts) {
    for (uint64_t p = 1; p < parts.size(); ++p) {
      std::vector<Run> slices;
      for (const Run &slice : parts[p].slices) clear_slice(slice, parts[p - 1].rank, slices);
      parts[p].slices = std::move(slices);
    }
  }

  uint64_t items_aside() const { return aside_items_; }

 private:
  struct Aside {
    HostBuffer<char> keys, carry;
    uint64_t items, taken;
  };

  uint64_t expected_rank(uint64_t bucket) const {
    return bucket * (job_.n / count_) + std::min(bucket, job_.n % count_);
  }
  Run at(uint64_t rank, uint64_t items) const {
    return {keys_ + rank * job_.key_bytes, job_.carry_bytes != 0 ? job_.carry_out + rank * job_.carry_bytes : nullptr,
            items};
  }

  // As many of the items as the scratch memory at hand has room for.
  Run take_aside(uint64_t items) {
    if (aside_.empty() || aside_.back().taken == aside_.back().items) {
      constexpr uint64_t kOfAll = 32;  // more than goes aside of data that the sample stands for
      const uint64_t more = std::max<uint64_t>(job_.n / kOfAll, 1);
      Aside aside{large_scratch(context_.memory, more * job_.key_bytes), {}, more, 0};
      if (job_.carry_bytes != 0) aside.carry = large_scratch(context_.memory, more * job_.carry_bytes);
      aside_.push_back(std::move(aside));
    }
    Aside &last = aside_.back();
    const Run all = {last.keys.data(), last.carry.data(), last.items};
    const Run place = slice_of(job_, all, last.taken, last.taken + std::min(items, last.items - last.taken));
    last.taken += place.count, aside_items_ += place.count;
    return place;
  }

  void cut(const std::vector<Run> &slices, uint64_t capacity, uint64_t rank, uint64_t items,
           std::vector<Part> &parts) const {
    const Parts cuts = split_runs(slices, job_.order, capacity, items);
    for (uint64_t p = 0; p < cuts.count(); ++p) {
      Part part{{}, rank + cuts.first_rank(p), cuts.first_rank(p + 1) - cuts.first_rank(p)};
      for (uint64_t r = 0; r < slices.size(); ++r)
        if (cuts.at(p, r) != cuts.at(p + 1, r))
          part.slices.push_back(slice_of(job_, slices[r], cuts.at(p, r), cuts.at(p + 1, r)));
      parts.push_back(std::move(part));
    }
  }

  void clear_slice(const Run &slice, uint64_t end_rank, std::vector<Run> &slices) {
    const auto address = reinterpret_cast<uintptr_t>(slice.keys), begin = reinterpret_cast<uintptr_t>(keys_);
    uint64_t moved = 0;
    if (address >= begin && address - begin < end_rank * job_.key_bytes)
      moved = std::min(slice.count, end_rank - (address - begin) / job_.key_bytes);
    for (uint64_t done = 0; done < moved;) {
      const Run to = take_aside(moved - done), from = slice_of(job_, slice, done, done + to.count);
      copy_on_host(context_.pool, const_cast<char *>(to.keys), from.keys, to.count * job_.key_bytes);
      if (job_.carry_bytes != 0)
        copy_on_host(context_.pool, const_cast<char *>(to.carry), from.carry, to.count * job_.carry_bytes);
      slices.push_back(to);
      done += to.count;
    }
    if (moved < slice.count) slices.push_back(slice_of(job_, slice, moved, slice.count));
  }

  const PieceContext &context_;
  const SortJob &job_;
  const uint64_t count_;
  HostBuffer<char> own_keys_;
  char *keys_;                            // of all places, by rank; those of what travels are carry_out
  std::vector<uint64_t> filled_;          // of a bucket's expected places
  std::vector<std::vector<Run>> slices_;  // in the order of the pieces
  std::vector<Aside> aside_;
  uint64_t aside_items_ = 0;
};

// The first trip.
class Spreader {
 public:
  Spreader(const PieceContext &context, const SortJob &job) : context_(context), job_(job) {
    const PieceNeeds needs = {
        kSharedBytes, [&](uint64_t items) { return sort_slot_bytes(job, items); },
        [&](uint64_t items) { return std::max(workspace(items), workspace(last_piece(job.n, items))); }};
    room_ =
        find_room(context.device, needs, std::min(job.n, with_slack(piece_items_max(job.n, job.record_bytes()))), 1);
    if (room_.items == 0) return;
    const uint64_t of_bucket = std::max<uint64_t>(room_.items / 5 * 4, 1);
    buckets_ = (job.n + of_bucket - 1) / of_bucket;
    if (!serves()) return;
    bounds_ = with_width(dtype_bytes(job.order.dtype),
                         [&](auto tag) { return sample_bounds<typename decltype(tag)::type>(job, buckets_); });
    found_.resize(2 * (buckets_ - 1));
  }

  bool serves() const { return room_.items != 0 && buckets_ > 1 && buckets_ <= kBucketsMax; }
  uint64_t buckets() const { return buckets_; }
  uint64_t piece_items() const { return room_.items; }

  void run(Buckets &buckets, PieceProgress &progress) {
    PiecePipeline(context_.device, room_, progress)
        .run((job_.n + room_.items - 1) / room_.items, [&](uint64_t i, Piece &piece) { make(i, piece); },
             [&](uint64_t i, Piece &piece) { leave(i, buckets, piece); });
  }

 private:
  static constexpr uint64_t kBoundsBytes = slice_bytes(kBucketsMax * sizeof(uint64_t)),
                            kSharedBytes = kBoundsBytes + slice_bytes(2 * kBucketsMax * sizeof(uint64_t));

  uint64_t workspace(uint64_t items) const { return sort_workspace(context_, job_, items, job_.carries_index); }
  uint64_t items_of(uint64_t i) const { return std::min(room_.items, job_.n - i * room_.items); }

  void make(uint64_t i, Piece &piece) {
    const uint64_t begin = i * room_.items, items = items_of(i);
    const SortSlot slot(job_, room_, i);
    piece.in = {{slot.keys, element_at(job_.keys_in, begin, job_.key_bytes), items * job_.key_bytes}};
    if (job_.carry_in != nullptr)
      piece.in.push_back({slot.carry, element_at(job_.carry_in, begin, job_.carry_bytes), items * job_.carry_bytes});
    if (i == 0) piece.in.push_back({room_.shared(), bounds_.keys.data(), bounds_.keys.size()});
    piece.work.request = sort_request(job_, items, slot.keys, slot.carry, job_.carries_index);
    if (job_.carries_index) piece.work.index_base = begin;
    piece.work.search = {room_.shared(), buckets_ - 1, reinterpret_cast<uint64_t *>(room_.shared() + kBoundsBytes),
                         found_.data()};
  }

  // How many elements of piece i come before the bound. What the device has found leads out of no array.
  uint64_t cut_of(uint64_t i, uint64_t bound) const {
    const uint64_t begin = i * room_.items, items = items_of(i), place = bounds_.places[bound];
    const uint64_t equal_end = std::min(found_[2 * bound + 1], items),
                   equal_begin = std::min(found_[2 * bound], equal_end);
    if (place < begin) return equal_begin;
    if (place >= begin + items) return equal_end;
    // The bound is of this piece. Any of its equals may be the first behind it; about as many of them come before it.
    return equal_begin + static_cast<uint64_t>(static_cast<double>(equal_end - equal_begin) *
                                               (static_cast<double>(place - begin) / static_cast<double>(items)));
  }

  void leave(uint64_t i, Buckets &buckets, Piece &piece) const {
    const SortSlot slot(job_, room_, i);
    uint64_t at = 0;
    for (uint64_t b = 0; b < buckets_; ++b) {
      const uint64_t end = b + 1 < buckets_ ? std::max(at, cut_of(i, b)) : items_of(i);
      while (at < end) {
        const Run place = buckets.take(b, end - at);
        piece.out.push_back(
            {slot.keys + at * job_.key_bytes, const_cast<char *>(place.keys), place.count * job_.key_bytes});
        if (place.carry != nullptr)
          piece.out.push_back(
              {slot.carry + at * job_.carry_bytes, const_cast<char *>(place.carry), place.count * job_.carry_bytes});
        at += place.count;
      }
    }
  }

  const PieceContext &context_;
  const SortJob &job_;
  PieceRoom room_;
  uint64_t buckets_ = 0;
  Bounds bounds_;
  std::vector<uint64_t> found_;
};

// The second trip. Returns the number of parts.
uint64_t write_parts(const PieceContext &context, const SortJob &job, uint64_t items_max, Buckets &buckets,
                     PieceProgress &progress) {
  std::vector<Part> parts;
  PieceRoom room;
  // Shorter parts, until the one that needs the most workspace has it.
  for (;; items_max = room.items / 8 * 7) {
    room = find_part_room(context, job, items_max);
    parts = buckets.parts(room.items);
    uint64_t workspace = 0;
    for (const Part &part : parts) workspace = std::max(workspace, sort_workspace(context, job, part.items, false));
    if (widen(context.device, room, workspace)) break;
  }
  buckets.clear_way(parts);
  PiecePipeline(context.device, room, progress).run(parts.size(), [&](uint64_t p, Piece &piece) {
    make_part(job, room, p, parts[p].slices, parts[p].rank, piece);
  });
  return parts.size();
}

bool is_for_this_way(const SortJob &job) {
  if (job.selects || job.keys_in == nullptr || job.wanted != job.n) return false;
  if (job.keys_out == job.keys_in || (job.carry_bytes != 0 && job.carry_out == nullptr)) return false;
  return job.carry_in == nullptr || job.carry_out != job.carry_in;
}

}  // namespace

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
  const uint64_t parts = write_parts(context, job, spreader.piece_items(), buckets, progress);
  context.control.log(
      "sort in pieces of %llu elements, spread over the output: sample %.1f ms, first trip %.1f ms, second trip in "
      "%llu parts %.1f ms; %llu elements lay aside",
      ull(spreader.piece_items()), sample_ms, first_ms, ull(parts), watch.lap_ms(), ull(buckets.items_aside()));
  return true;
}

}  // namespace gsort_internal
