// SPDX-License-Identifier: MIT OR Apache-2.0
// The sort of keys alone by vector kernels. One thread and two sort in place (key_quicksort.h, team_quicksort.h). More
// first cut the array into chunks that fit a cache, split each at the same bounds into parts, and then bring each part
// together and sort it: samplesort whose classification is a vector partition (Sanders, Winkel, Super Scalar Sample
// Sort, 2004; here the tree of bounds is walked by partitions, which vectors do faster than a search for each key).
#ifndef GSORT_CPU_SORT_VECTOR_SORT_H_
#define GSORT_CPU_SORT_VECTOR_SORT_H_

#include <cstdint>
#include <optional>

#include "cpu/engine/context.h"
#include "cpu/primitive/copy.h"
#include "cpu/primitive/range.h"
#include "cpu/sort/key_quicksort.h"
#include "cpu/sort/team_quicksort.h"
#include "cpu/vector/sort.h"

namespace gsort_internal {

// What each thread has to sort at least, some ten microseconds of work, and how much it takes for more than one: below
// that, threads that sleep come too late to help.
constexpr uint64_t kVectorBytesOfThread = 1 << 14;
constexpr uint64_t kVectorBytesOfThreads = 1 << 16;

template <class K>
void limit_vector_threads(Context &context, uint64_t n) {
  context.limit_threads(n < kVectorBytesOfThreads / sizeof(K) ? 0 : n, kVectorBytesOfThread / sizeof(K));
}

template <class K>
class VectorSort {
 public:
  // For sorts of up to n_max keys, by as many threads as the context has now. Allocates all it needs, which for one
  // thread is nothing, and writes nothing.
  VectorSort(Context &context, const SortKernels<K> &kernels, const KeyCodec<K> &codec, uint64_t n_max)
      : context_(context), keys_(context, kernels, codec) {
    if (context.threads() == 1 || n_max == 0) return;
    if (context.threads() == TeamQuicksort<K>::kThreads) {
      team_.emplace(context, keys_);
      return;
    }
    const Cuts cuts = cuts_for(n_max);  // neither number falls with n
    split_ = HostBuffer<K>(context.memory, n_max);
    from_ = HostBuffer<uint64_t>(context.memory, cuts.chunks * cuts.parts);
    to_ = HostBuffer<uint64_t>(context.memory, cuts.chunks * cuts.parts);
    drawn_ = HostBuffer<K>(context.memory, cuts.parts * kDrawsOfPart);
    bounds_ = HostBuffer<Inner>(context.memory, cuts.parts);
    begins_ = HostBuffer<uint64_t>(context.memory, cuts.parts + 1);
    context.prefer_large_pages(split_.data(), n_max * sizeof(K));
  }
  VectorSort(const VectorSort &) = delete;
  VectorSort &operator=(const VectorSort &) = delete;

  // Sorts n keys of `in` into `out`, which may be `in`. Advances by n on one thread, by 2 n on several. Once the
  // context is stopped it leaves a permutation in an `out` that was `in`.
  void run(const K *in, K *out, uint64_t n) {
    if (context_.threads() == 1) return keys_.run(in, out, n);
    if (team_) return team_->run(in, out, n);
    sort_on_threads(in, out, n);
  }

 private:
  using Inner = typename KeyQuicksort<K>::Inner;
  static constexpr Inner kLeast = KeyQuicksort<K>::kLeast, kGreatest = KeyQuicksort<K>::kGreatest;

  // How the threads cut the work. Chunk c's keys of part p begin at from_[c * parts + p] when it is split, and at
  // to_[c * parts + p] in the result.
  struct Cuts {
    uint64_t n, chunks;
    uint32_t parts;  // a power of two
  };
  static constexpr uint64_t kChunkItems = 1 << 17;  // split over and over within a second-level cache
  static constexpr uint64_t kChunkItemsMin = kVectorBytesOfThread / sizeof(K);
  static constexpr uint64_t kChunksMax = 1024;
  static constexpr uint32_t kPartsMax = 256;
  // Parts of a thread: more even out better where threads have much to do, fewer cost less where they have little.
  static constexpr uint64_t kPartsOfThread = 4, kPartsOfThreadFew = 2;
  static constexpr uint64_t kBytesOfThreadFew = 1 << 18;  // less is little
  static constexpr uint32_t kDrawsOfPart = 16;
  static constexpr uint32_t kDrawsOfLongPart = 64;  // of pivots, where a part is split once more

  Cuts cuts_for(uint64_t n) const {
    const uint64_t threads = context_.threads();
    const bool few = n * sizeof(K) < threads * kBytesOfThreadFew;
    const uint64_t parts_wanted = (few ? kPartsOfThreadFew : kPartsOfThread) * threads;
    const uint64_t chunks = max_u64(min_u64(parts_wanted, n / kChunkItemsMin), min_u64(n / kChunkItems, kChunksMax));
    uint32_t parts = 2;
    while (parts < kPartsMax && (parts < parts_wanted || parts < n / kChunkItems)) parts *= 2;
    return {n, max_u64(chunks, 1), parts};
  }

  void sort_on_threads(const K *in, K *out, uint64_t n) {
    const Cuts cuts = cuts_for(n);
    Inner *const bounds = bounds_.data();
    uint64_t *const begins = begins_.data();
    if (choose_bounds(in, n, cuts.parts, bounds) &&
        n <= KeyQuicksort<K>::kFewValuesItems) {  // one thread counts them sooner
      keys_.sort_whole(in, out, n);
      return context_.advance(n);
    }
    context_.for_each(cuts.chunks, [&](uint64_t c, uint32_t worker) {
      if (context_.stopped()) return;
      const Range chunk = part_of(n, c, cuts.chunks, kLineBytes);
      split_chunk(in, split_.data(), chunk, bounds, cuts.parts, &from_[c * cuts.parts], worker);
      context_.advance(chunk.size());
    });
    if (context_.stopped()) return;  // `in` still holds everything
    find_places(cuts, begins);
    const uint64_t size_alone = n / context_.threads();  // larger parts are brought together by all threads
    for (uint32_t p = 0; p < cuts.parts; ++p)
      if (begins[p + 1] - begins[p] > size_alone)
        context_.for_each_unbroken(cuts.chunks, [&](uint64_t c, uint32_t) { gather(cuts, c, p, out); });
    context_.for_each(cuts.parts, [&](uint64_t part, uint32_t worker) {
      const uint32_t p = static_cast<uint32_t>(part);
      const uint64_t size = begins[p + 1] - begins[p];
      for (uint64_t c = 0; size <= size_alone && c < cuts.chunks; ++c) gather(cuts, c, p, out);
      // Behind a bound at the greatest key there is nothing: no key is above that one.
      if (size == 0) return;
      const Inner least = p == 0 ? kLeast : static_cast<Inner>(bounds[p - 1] + 1);
      keys_.sort_part({out + begins[p], size, least, bounds[p], kDrawsOfLongPart}, worker);
    });
  }

  // Bounds at equal distances in a sample. A key that is drawn so often that two bounds fall on it gets a part of its
  // own, which needs no sort. Returns whether the sample is of one or two values.
  bool choose_bounds(const K *in, uint64_t n, uint32_t parts, Inner *bounds) const {
    const uint32_t draws = parts * kDrawsOfPart;
    keys_.draw(in, n, drawn_.data(), draws);
    for (uint32_t p = 0; p + 1 < parts; ++p) bounds[p] = static_cast<Inner>(drawn_[(p + 1) * kDrawsOfPart - 1]);
    for (uint32_t p = 0; p + 2 < parts; ++p)
      if (bounds[p] == bounds[p + 1] && (p == 0 || bounds[p - 1] < bounds[p]) && bounds[p] > kLeast) --bounds[p];
    bounds[parts - 1] = kGreatest;
    return KeyQuicksort<K>::are_few_values(drawn_.data(), draws);
  }

  // Splits a chunk at all bounds, the middle one first, and tells where its parts begin.
  void split_chunk(const K *in, K *out, Range chunk, const Inner *bounds, uint32_t parts, uint64_t *from,
                   uint32_t worker) {
    const uint64_t lower =
        keys_.split(in + chunk.begin, out + chunk.begin, chunk.size(), bounds[parts / 2 - 1], worker);
    const Range lower_keys{chunk.begin, chunk.begin + lower}, upper_keys{chunk.begin + lower, chunk.end};
    split_further(out, lower_keys, bounds, parts / 2, from, worker);
    split_further(out, upper_keys, bounds + parts / 2, parts / 2, from + parts / 2, worker);
  }
  void split_further(K *keys, Range range, const Inner *bounds, uint32_t parts, uint64_t *from, uint32_t worker) {
    // Where bounds fall on one key, no key is above it.
    for (; parts > 1 && bounds[parts / 2 - 1] == bounds[parts - 1]; parts /= 2)
      for (uint32_t p = parts / 2; p < parts; ++p) from[p] = range.end;
    if (parts == 1) {
      *from = range.begin;
      return;
    }
    K *const begin = keys + range.begin;
    const uint64_t lower = keys_.split(begin, begin, range.size(), bounds[parts / 2 - 1], worker);
    split_further(keys, {range.begin, range.begin + lower}, bounds, parts / 2, from, worker);
    split_further(keys, {range.begin + lower, range.end}, bounds + parts / 2, parts / 2, from + parts / 2, worker);
  }

  // Where in the result the keys of each chunk and part belong; begins[p] is where part p begins.
  void find_places(const Cuts &cuts, uint64_t *begins) {
    uint64_t next = 0;
    for (uint32_t p = 0; p < cuts.parts; ++p) {
      begins[p] = next;
      for (uint64_t c = 0; c < cuts.chunks; ++c) {
        to_[c * cuts.parts + p] = next;
        next += count_of(cuts, c, p);
      }
    }
    begins[cuts.parts] = next;
  }

  // Parts follow each other within a chunk, and chunks follow each other.
  uint64_t count_of(const Cuts &cuts, uint64_t c, uint32_t p) const {
    const uint64_t cut = c * cuts.parts + p;
    return (cut + 1 < cuts.chunks * cuts.parts ? from_[cut + 1] : cuts.n) - from_[cut];
  }

  // Brings a chunk's keys of a part to their place.
  void gather(const Cuts &cuts, uint64_t c, uint32_t p, K *out) const {
    const uint64_t cut = c * cuts.parts + p;
    copy_items<K>(out + to_[cut], split_.data() + from_[cut], count_of(cuts, c, p));
  }

  Context &context_;
  KeyQuicksort<K> keys_;
  std::optional<TeamQuicksort<K>> team_;
  HostBuffer<K> split_, drawn_;
  HostBuffer<Inner> bounds_;  // the greatest key that a part may have
  HostBuffer<uint64_t> from_, to_, begins_;
};

}  // namespace gsort_internal

#endif
