// SPDX-License-Identifier: MIT OR Apache-2.0
// The best k of a stream of keys: most elements fall to one comparison with the worst of the best so far.
#ifndef GSORT_CPU_TOPK_FILTER_H_
#define GSORT_CPU_TOPK_FILTER_H_

#include <algorithm>
#include <cstdint>

#include "cpu/primitive/scatter.h"
#include "cpu/vector/select.h"

namespace gsort_internal {

template <class K, class I>
struct Candidate {
  K key;
  I index;
  // No two candidates are equal, so any selection among them is the stable one.
  bool operator<(const Candidate &other) const { return key != other.key ? key < other.key : index < other.index; }
};

// Brings the first k of `count` candidates to the front, in order.
template <class K, class I>
void select_and_sort(Candidate<K, I> *candidates, uint64_t count, uint64_t k) {
  if (k < count) std::nth_element(candidates, candidates + k, candidates + count);
  std::sort(candidates, candidates + k);
}

template <class K, class I>
class TopkFilter {
 public:
  // Candidates that a filter for k needs room for: twice the k, and a block that is only then cut down.
  static constexpr uint64_t room(uint64_t k) { return 2 * k + kBlockItems; }

  TopkFilter(Candidate<K, I> *candidates, uint64_t k) : candidates_(candidates), k_(k) {}

  // Before the first offer: keys after `last` are none of the best, nor need k others be kept to know that.
  void leave_out_after(K last) { leave_out(last, false); }

  // What is offered from here on lies before index `end`, and what is kept does not: of equal keys those are wanted
  // first that come now.
  void go_before(uint64_t end) {
    behind_ = static_cast<I>(end);
    if (was_cut_) leave_out(last_, false);
  }

  // Offers the keys in[begin] to in[end - 1], whose indices rise from call to call, or to go_before().
  void offer(const KeyCodec<K> &codec, const K *in, uint64_t begin, uint64_t end) {
    uint64_t i = begin;
    const SelectKernels<K> *const kernels = select_kernels(K{});
    while (kernels != nullptr && bounded_ && i < end) i += offer_before(*kernels, codec, in, i, end);
    with_encoder(codec, [&](auto encode) {
      for (; i + kBlockItems <= end; i += kBlockItems) {
        if (bounded_ && kernels != nullptr) break;
        if (bounded_ && !any_before(in + i, encode)) continue;
        for (uint64_t j = i; j < i + kBlockItems; ++j) add(encode(in[j]), j);
        if (count_ >= 2 * k_) cut();
      }
    });
    while (kernels != nullptr && bounded_ && i < end) i += offer_before(*kernels, codec, in, i, end);
    for (; i < end; ++i) {
      add(codec.encode(in[i]), i);
      if (count_ >= 2 * k_) cut();
    }
  }

  // Cuts down to the best k, in any order, and returns how many there are.
  uint64_t finish() {
    if (count_ > k_) cut();
    return count_;
  }

 private:
  static constexpr uint64_t kFoundItems = 2 * kSelectRoom;
  static constexpr uint64_t kStepItems = uint64_t{1} << 30;  // indices within a step have 32 bits

  // Looks for keys before the threshold with vectors, until a few hundred are found, and adds those. Returns how many
  // keys were looked at.
  uint64_t offer_before(const SelectKernels<K> &kernels, const KeyCodec<K> &codec, const K *in, uint64_t begin,
                        uint64_t end) {
    uint32_t found[kFoundItems];
    uint64_t count = 0;
    const uint64_t step = end - begin < kStepItems ? end - begin : kStepItems;
    const uint64_t seen = kernels.below(codec, in + begin, step, threshold_, found, kFoundItems, &count);
    for (uint64_t f = 0; f < count; ++f) {
      const uint64_t index = begin + found[f];
      add(codec.encode(in[index]), index);
      if (count_ >= 2 * k_) cut();
    }
    return seen;
  }

  static constexpr uint64_t kBlockItems = 64;  // one branch for as many comparisons, which go side by side

  template <class Encode>
  bool any_before(const K *in, Encode encode) const {
    const K threshold = threshold_;
    K least = static_cast<K>(~K{0});
    for (uint64_t j = 0; j < kBlockItems; ++j) {
      const K key = encode(in[j]);
      least = key < least ? key : least;
    }
    return least < threshold;
  }

  // Keys after `last`, and, if so, those that are equal to it.
  void leave_out(K last, bool and_equal) {
    bounded_ = and_equal || last != static_cast<K>(~K{0});
    threshold_ = static_cast<K>(and_equal ? last : last + 1);
  }

  void add(K key, uint64_t index) {
    if (bounded_ && key >= threshold_) return;
    candidates_[count_++] = {key, static_cast<I>(index)};
  }

  void cut() {
    std::nth_element(candidates_, candidates_ + (k_ - 1), candidates_ + count_);
    count_ = k_;
    last_ = candidates_[k_ - 1].key;
    was_cut_ = true;
    // An equal key comes after the k that are kept, unless it lies before one of them.
    leave_out(last_, candidates_[k_ - 1].index < behind_);
  }

  Candidate<K, I> *candidates_;
  uint64_t k_;
  uint64_t count_ = 0;
  K threshold_ = 0;  // if bounded_: this key and those after it are left out
  bool bounded_ = false;
  I behind_ = static_cast<I>(~I{0});  // what is offered has lower indices
  K last_ = 0;                        // of the k that were kept after the last cut
  bool was_cut_ = false;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_TOPK_FILTER_H_
