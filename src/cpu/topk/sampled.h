// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k in one read: a sample gives a bound that almost surely has k keys at or before it and few more, vectors find
// those, and they are sorted (Floyd, Rivest, Expected time bounds for selection, 1975). Where the sample misled, there
// are too few or too many, and another method takes the call.
#ifndef GSORT_CPU_TOPK_SAMPLED_H_
#define GSORT_CPU_TOPK_SAMPLED_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/random_draws.h"
#include "cpu/primitive/copy.h"
#include "cpu/sort/record_sort.h"
#include "cpu/sort/vector_sort.h"
#include "cpu/topk/filter.h"
#include "cpu/topk/output.h"
#include "cpu/vector/select.h"

namespace gsort_internal {

template <class K>
class SampledTopk {
 public:
  SampledTopk(Context &context, const KeyCodec<K> &codec, const K *in, uint64_t n, uint64_t k, const TopkOutput<K> &out)
      : context_(context), codec_(codec), in_(in), n_(n), k_(k), out_(out) {}

  // Returns false if the call is not for this method, or the sample misled; nothing has been written then.
  bool run() {
    const SelectKernels<K> *const kernels = select_kernels(K{});
    if (kernels == nullptr || !are_enough() || n_ >= kItemsMax || k_ > n_ / 2) return false;
    Sample sample = sample_of(*kernels);
    if (sample.rank >= sample.draws) return false;
    context_.limit_threads(n_, kItemsOfThread);
    const uint64_t parts = context_.threads() == 1 ? 1 : uint64_t{context_.threads()} * 4;
    room_ = room_of_part(sample.rank * (n_ / sample.draws + 1), parts);
    const HostBuffer<K> drawn(context_.memory, sample.by_minima ? kernels->minima_sets : sample.draws);
    const HostBuffer<uint64_t> counts(context_.memory, parts);
    // Where nobody asks for indices, keys alone.
    const bool keys_alone = out_.indices == nullptr && kernels->keys_below != nullptr;
    const HostBuffer<uint32_t> found(context_.memory, keys_alone ? 0 : parts * room_);
    const HostBuffer<K> found_keys(context_.memory, keys_alone ? parts * room_ : 0);
    context_.begin(n_);
    const K bound =
        sample.by_minima ? bound_by_minima(*kernels, drawn.data(), sample.draws) : bound_by_draws(drawn.data(), sample);
    uint64_t below = 0;
    const bool fits = keys_alone ? find(kernels->keys_below, bound, parts, found_keys.data(), counts.data(), below)
                                 : find(kernels->below, bound, parts, found.data(), counts.data(), below);
    if (!fits) return false;
    const uint64_t wanted = below < k_ ? k_ - below : 0;
    HostBuffer<uint32_t> same;
    const uint64_t equal = find_bound(kernels->equal, bound, wanted, same);
    if (equal < wanted) return false;
    context_.control.log("cpu topk: n = %llu, k = %llu, %llu found by a sample's bound, up to %u threads",
                         static_cast<unsigned long long>(n_), static_cast<unsigned long long>(k_),
                         static_cast<unsigned long long>(below), context_.threads());
    if (keys_alone) {
      sort_values(found_keys.data(), counts.data(), parts, bound);
    } else if constexpr (sizeof(K) <= 4) {
      sort_words({found.data(), counts.data(), parts, below}, {same.data(), equal, bound});
    } else {
      sort_records({found.data(), counts.data(), parts, below}, {same.data(), equal, bound});
    }
    context_.throw_if_stopped();
    return true;
  }

 private:
  // Of fewer 8-byte keys with indices, heaps of the best so far are quicker as long as k is small.
  static constexpr uint64_t kItemsMin = 1 << 10, kRecordItemsMin = 1 << 11, kRecordItemsOfAnyK = 1 << 12;
  static constexpr uint64_t kRecordsOfK = 32;
  static constexpr uint64_t kItemsMax = uint64_t{1} << 32;  // indices have 32 bits
  // Of a large k what lies between it and the bound costs more than the draws that it takes to be nearer.
  static constexpr uint64_t kDrawsShare = 64, kDrawsShareOfLargeK = 32, kLargeK = 16;
  // Fewer draws than kDrawsMin leave so many keys before the bound that those cost more than the draws.
  static constexpr uint64_t kDrawsMin = 1 << 8, kDrawsMax = 1 << 12;
  static constexpr uint64_t kSetsOfK = 3;
  static constexpr uint64_t kMinimaDraws = 16;  // times the root of n
  static constexpr uint64_t kBlocksMax = 1 << 10;
  static constexpr uint64_t kItemsOfThread = 1 << 16;  // read in some microseconds

  // Places of keys before the bound, within each part.
  struct Found {
    const uint32_t *indices;
    const uint64_t *counts;
    uint64_t parts, total;
  };
  // Places of keys that are the bound.
  struct Same {
    const uint32_t *indices;
    uint64_t count;
    K bound;
  };

  bool are_enough() const {
    if (sizeof(K) < 8 || out_.indices == nullptr) return n_ >= kItemsMin;
    return n_ >= kRecordItemsOfAnyK || (n_ >= kRecordItemsMin && k_ > n_ / kRecordsOfK);
  }

  // How many keys are drawn, and which of them is expected to be the bound.
  struct Sample {
    uint64_t draws, rank;
    bool by_minima;
  };
  Sample sample_of(const SelectKernels<K> &kernels) const {
    // A small k is that of the least keys of sets: so many keys are looked at that they cost as much as those found.
    if (sizeof(K) >= 4 && k_ <= kernels.minima_sets / kSetsOfK) {
      const uint64_t blocks = min_u64(kMinimaDraws * root_of(n_) / kernels.minima_sets, kBlocksMax);
      const uint64_t draws = blocks * kernels.minima_sets;
      if (draws > 0 && draws <= n_ / 2) return {draws, 2 * k_ + 8, true};
    }
    const uint64_t share = k_ > n_ / kLargeK ? kDrawsShareOfLargeK : kDrawsShare;
    const uint64_t draws = min_u64(max_u64(n_ / share, kDrawsMin), kDrawsMax);
    return {draws, rank_of_bound(n_, k_, draws), false};
  }

  K bound_by_draws(K *drawn, const Sample &sample) const {
    RandomDraws draws(n_);
    for (uint64_t i = 0; i < sample.draws; ++i) drawn[i] = codec_.encode(in_[draws.below_short(n_)]);
    return key_of_rank(drawn, sample.draws, sample.rank);
  }

  // The k-th of the least keys of sets into which blocks from all over the array are dealt.
  K bound_by_minima(const SelectKernels<K> &kernels, K *least, uint64_t draws) const {
    const uint64_t sets = kernels.minima_sets, blocks = draws / sets, part = n_ / blocks;
    uint32_t starts[kBlocksMax];
    RandomDraws shifts(n_);
    for (uint64_t b = 0; b < blocks; ++b)
      starts[b] = static_cast<uint32_t>(b * part + shifts.below_short(part - sets + 1));
    kernels.minima(codec_, in_, starts, static_cast<uint32_t>(blocks), least);
    return key_of_rank(least, sets, k_ - 1);
  }

  static K key_of_rank(K *keys, uint64_t count, uint64_t rank) {
    if (const SortKernels<K> *const kernels = sort_kernels(K{})) {  // faster than a selection without vectors
      constexpr KeyCodec<K> as_they_are{0, 0, 0};
      kernels->sort(as_they_are, as_they_are, keys, keys, count);
    } else {
      std::nth_element(keys, keys + rank, keys + count);
    }
    return keys[rank];
  }

  // No more than twice what is expected of all, so that data in order is no bad case for one thread; several have room
  // for as many in each part, where such data has them, unless that is more than half as many as there are elements.
  uint64_t room_of_part(uint64_t expected, uint64_t parts) const {
    const uint64_t share = divide_up(n_, parts), room_of_all = room_for(expected);
    if (parts == 1) return min_u64(room_of_all, share + 8 * root_of(expected)) + 2 * kSelectRoom;
    const uint64_t room = room_of_all * parts <= n_ / 2 ? room_of_all : room_for(divide_up(expected, parts));
    return min_u64(max_u64(room, 2 * k_), share + 2 * kLineBytes) + 2 * kSelectRoom;
  }
  static uint64_t room_for(uint64_t expected) { return 2 * expected + 8 * root_of(expected); }

  Range part(uint64_t p, uint64_t parts) const { return part_of(n_, p, parts, kLineBytes); }

  // Finds the keys before the bound, each part by one thread; false if one has more than there is room for. `found`:
  // indices, or the keys.
  template <class Below, class T>
  bool find(Below below, K bound, uint64_t parts, T *found, uint64_t *counts, uint64_t &total) {
    std::atomic<bool> fits{true};
    context_.for_each(parts, [&](uint64_t p, uint32_t) {
      counts[p] = 0;
      if (context_.stopped()) return;
      const Range range = part(p, parts);
      const uint64_t seen = below(codec_, in_ + range.begin, range.size(), bound, found + p * room_, room_, &counts[p]);
      if (seen < range.size()) fits.store(false, std::memory_order_relaxed);
      context_.advance(range.size());
    });
    context_.throw_if_stopped();
    for (uint64_t p = 0; p < parts; ++p) total += counts[p];
    return fits.load(std::memory_order_relaxed);
  }

  // Keys that are the bound itself count as far as they are needed: many, perhaps, where values repeat. Returns how
  // many of those wanted there are.
  uint64_t find_bound(decltype(SelectKernels<K>::equal) equal, K bound, uint64_t wanted, HostBuffer<uint32_t> &same) {
    if (wanted == 0) return 0;
    const uint64_t room = wanted + 2 * kSelectRoom;
    uint64_t found = 0;
    same = HostBuffer<uint32_t>(context_.memory, room);
    equal(codec_, in_, n_, bound, same.data(), room, &found);
    return min_u64(found, wanted);
  }

  // Calls f(place among the candidates, index) for all of them: those before the bound in the order of the input, then
  // those that are the bound.
  template <class F>
  void for_candidates(const Found &found, const Same &same, F &&f) const {
    uint64_t place = 0;
    for (uint64_t p = 0; p < found.parts; ++p) {
      const uint64_t begin = part(p, found.parts).begin;
      const uint32_t *const indices = found.indices + p * room_;
      for (uint64_t i = 0; i < found.counts[p]; ++i) f(place++, begin + indices[i]);
    }
    for (uint64_t i = 0; i < same.count; ++i) f(place++, uint64_t{same.indices[i]});
  }

  // Of keys alone: equal ones are the same bits, so that those which are the bound need not be fetched.
  void sort_values(K *keys, const uint64_t *counts, uint64_t parts, K bound) {
    if constexpr (sizeof(K) >= 4) {
      uint64_t count = counts[0];
      for (uint64_t p = 1; p < parts; ++p) {
        std::memmove(keys + count, keys + p * room_, counts[p] * sizeof(K));
        count += counts[p];
      }
      limit_vector_threads<K>(context_, count);
      if (count > 0) VectorSort<K>(context_, *sort_kernels(K{}), codec_, count).run(keys, keys, count);
      const uint64_t taken = min_u64(count, k_);
      copy_items<K>(out_.values, keys, taken);
      std::fill(out_.values + taken, out_.values + k_, codec_.decode(bound));
    }
  }

  // Words of a key and, below it, its index: no two are equal, so their order is the stable one.
  void sort_words(const Found &found, const Same &same) {
    const uint64_t count = found.total + same.count;
    const HostBuffer<uint64_t> words(context_.memory, count);
    for_candidates(found, same, [&](uint64_t place, uint64_t index) {
      words[place] = static_cast<uint64_t>(codec_.encode(in_[index])) << 32 | index;
    });
    limit_vector_threads<uint64_t>(context_, count);
    VectorSort<uint64_t>(context_, *sort_kernels(uint64_t{}), {0, 0, 0}, count).run(words.data(), words.data(), count);
    for (uint64_t i = 0; i < k_; ++i)
      out_.put(i, codec_.decode(static_cast<K>(words[i] >> 32)), words[i] & 0xffffffffu);
  }

  void sort_records(const Found &found, const Same &same) {
    const uint64_t count = found.total + same.count;
    const HostBuffer<K> keys(context_.memory, count), key_scratch(context_.memory, count);
    const HostBuffer<uint32_t> indices(context_.memory, count), index_scratch(context_.memory, count);
    for_candidates(found, same, [&](uint64_t place, uint64_t index) {
      keys[place] = codec_.encode(in_[index]);
      indices[place] = static_cast<uint32_t>(index);
    });
    limit_vector_threads<K>(context_, count);
    RecordSort<K, uint32_t> sort(context_, {0, 0, 0}, {key_scratch.data(), index_scratch.data()}, count);
    sort.run({keys.data(), indices.data()}, {keys.data(), indices.data()}, count);
    for (uint64_t i = 0; i < k_; ++i) out_.put(i, codec_.decode(keys[i]), indices[i]);
  }

  Context &context_;
  KeyCodec<K> codec_;
  const K *in_;
  uint64_t n_, k_;
  TopkOutput<K> out_;
  uint64_t room_ = 0;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_TOPK_SAMPLED_H_
