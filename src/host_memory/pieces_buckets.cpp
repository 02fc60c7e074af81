// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/pieces_buckets.h"

#include <algorithm>

#include "host_memory/read_order.h"

namespace gsort_internal {
namespace {

// Where parts that have been written lay, behind `end`.
struct Holes {
  const std::vector<Part> &parts;
  const uint64_t end;
  uint64_t part = 0, slice = 0, taken = 0;

  // As many elements as one hole has of those that are wanted.
  Stripe take(uint64_t wanted) {
    for (;; ++slice, taken = 0) {
      while (slice == parts[part].homes.size()) ++part, slice = 0;
      const uint64_t home = parts[part].homes[slice], last = home + parts[part].slices[slice].count,
                     begin = std::max(home, end) + taken;
      if (begin >= last) continue;
      const uint64_t count = std::min(wanted, last - begin);
      taken += count;
      return {begin, count};
    }
  }
};

}  // namespace

Buckets::Buckets(const PieceContext &context, const SortJob &job, uint64_t count)
    : context_(context), job_(job), count_(count), filled_(count, 0), slices_(count) {
  keys_ = job.keys_out;
  if (keys_ == nullptr) {
    own_keys_ = large_scratch(context.memory, job.n * job.key_bytes);
    keys_ = own_keys_.data();
  }
  // While nothing has been written yet. Of 2^28 uniform keys in 32 parts 2.3% went aside.
  if (is_in_place(job)) add_aside(std::max<uint64_t>(job.n / 16, 1));
}

Run Buckets::take(uint64_t bucket, uint64_t items) {
  const uint64_t begin = expected_rank(bucket) + filled_[bucket], room = expected_rank(bucket + 1) - begin;
  const Run slice = room == 0 ? take_aside(items) : at(begin, std::min(items, room));
  if (room != 0) filled_[bucket] += slice.count;
  slices_[bucket].push_back(slice);
  return slice;
}

Run Buckets::put(uint64_t bucket, uint64_t rank, uint64_t items) {
  slices_[bucket].push_back(at(rank, items));
  return slices_[bucket].back();
}

std::vector<Part> Buckets::parts(uint64_t capacity) const {
  std::vector<Part> parts;
  uint64_t rank = 0;
  for (const std::vector<Run> &slices : slices_) {
    uint64_t items = 0;
    for (const Run &slice : slices) items += slice.count;
    if (items > capacity)
      cut(slices, capacity, rank, parts);
    else if (items != 0)
      parts.push_back({slices, rank, items});
    rank += items;
  }
  return parts;
}

void Buckets::clear_way(std::vector<Part> &parts, const PieceProgress &progress) {
  for (uint64_t p = 0; p < parts.size(); ++p) {
    const uint64_t end = parts[is_in_place(job_) || p == 0 ? p : p - 1].rank;
    Part cleared{{}, parts[p].rank, parts[p].items};
    for (const Run &slice : parts[p].slices) clear_slice(slice, end, progress, cleared);
    parts[p] = std::move(cleared);
  }
  make_moves(progress);
}

void Buckets::restore(const std::vector<Part> &parts, uint64_t written) const noexcept {
  if (written == parts.size()) return;
  const uint64_t end = parts[written].rank;
  Holes holes{parts, end};
  for (uint64_t p = written; p < parts.size(); ++p)
    for (uint64_t s = 0; s < parts[p].homes.size(); ++s) {
      const uint64_t home = parts[p].homes[s];
      uint64_t left = home < end ? std::min(parts[p].slices[s].count, end - home) : 0;
      for (uint64_t done = 0; left != 0;) {
        const Stripe hole = holes.take(left);
        const Run from = slice_of(job_, parts[p].slices[s], done, done + hole.count), to = at(hole.begin, hole.count);
        copy_on_host(context_.pool, const_cast<char *>(to.keys), from.keys, hole.count * job_.key_bytes);
        if (job_.carry_bytes != 0)
          copy_on_host(context_.pool, const_cast<char *>(to.carry), from.carry, hole.count * job_.carry_bytes);
        done += hole.count, left -= hole.count;
      }
    }
}

uint64_t Buckets::expected_rank(uint64_t bucket) const { return even_cut(job_.n, count_, bucket); }

Run Buckets::at(uint64_t rank, uint64_t items) const {
  return {keys_ + rank * job_.key_bytes, job_.carry_bytes != 0 ? job_.carry_out + rank * job_.carry_bytes : nullptr,
          items};
}

// As many of the items as the scratch memory at hand has room for.
Run Buckets::take_aside(uint64_t items) {
  if (aside_.empty() || aside_.back().taken == aside_.back().items) {
    constexpr uint64_t kOfAll = 32;  // more than goes aside of data that the sample stands for
    add_aside(std::max<uint64_t>(job_.n / kOfAll, 1));
  }
  Aside &last = aside_.back();
  const Run all = {last.keys.data(), last.carry.data(), last.items};
  const Run slice = slice_of(job_, all, last.taken, last.taken + std::min(items, last.items - last.taken));
  last.taken += slice.count, aside_items_ += slice.count;
  return slice;
}

void Buckets::add_aside(uint64_t items) {
  Aside aside{large_scratch(context_.memory, items * job_.key_bytes), {}, items, 0};
  if (job_.carry_bytes != 0) aside.carry = large_scratch(context_.memory, items * job_.carry_bytes);
  aside_.push_back(std::move(aside));
}

void Buckets::cut(const std::vector<Run> &slices, uint64_t capacity, uint64_t rank, std::vector<Part> &parts) const {
  const Parts cuts = split_runs(slices, job_.order, capacity, UINT64_MAX);
  for (uint64_t p = 0; p < cuts.count(); ++p) {
    Part part{{}, rank + cuts.first_rank(p), cuts.first_rank(p + 1) - cuts.first_rank(p)};
    for (uint64_t r = 0; r < slices.size(); ++r)
      if (cuts.at(p, r) != cuts.at(p + 1, r))
        part.slices.push_back(slice_of(job_, slices[r], cuts.at(p, r), cuts.at(p + 1, r)));
    parts.push_back(std::move(part));
  }
}

void Buckets::clear_slice(const Run &slice, uint64_t end_rank, const PieceProgress &progress, Part &cleared) {
  const auto address = reinterpret_cast<uintptr_t>(slice.keys), begin = reinterpret_cast<uintptr_t>(keys_);
  const bool lies_there = address >= begin && address - begin < job_.n * job_.key_bytes;
  const uint64_t home = lies_there ? (address - begin) / job_.key_bytes : job_.n,
                 moved = home < end_rank ? std::min(slice.count, end_rank - home) : 0;
  for (uint64_t done = 0; done < moved;) {
    const Run to = take_aside(moved - done);
    move_aside(to, slice_of(job_, slice, done, done + to.count), progress);
    cleared.slices.push_back(to);
    cleared.homes.push_back(home + done);
    done += to.count;
  }
  if (moved == slice.count) return;
  cleared.slices.push_back(slice_of(job_, slice, moved, slice.count));
  cleared.homes.push_back(home + moved);
}

// Slices are short, and one after the other they would keep one thread at work. A cancel waits for some milliseconds.
void Buckets::move_aside(const Run &to, const Run &from, const PieceProgress &progress) {
  constexpr uint64_t kCopyBytes = uint64_t{1} << 20, kAtOnceBytes = uint64_t{256} << 20;
  const auto add = [&](const char *target, const char *source, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += kCopyBytes)
      moves_.push_back({const_cast<char *>(target) + at, source + at, std::min(kCopyBytes, bytes - at)});
    move_bytes_ += bytes;
  };
  add(to.keys, from.keys, to.count * job_.key_bytes);
  if (job_.carry_bytes != 0) add(to.carry, from.carry, to.count * job_.carry_bytes);
  if (move_bytes_ >= kAtOnceBytes) make_moves(progress);
}

void Buckets::make_moves(const PieceProgress &progress) {
  if (moves_.empty()) return;
  progress.tell();
  copy_each_on_host(context_.pool, moves_);
  moves_.clear();
  move_bytes_ = 0;
}

}  // namespace gsort_internal
