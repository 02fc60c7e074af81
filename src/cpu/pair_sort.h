// SPDX-License-Identifier: MIT OR Apache-2.0
// One thread's stable sort of records of 4-byte keys and 4-byte values by words of both: vectors part the words at
// pivots, each part in the order that it has, until the parts are blocks. Everything is read and written side by side,
// where a scatter to many runs needs as many lines and pages at hand.
#ifndef GSORT_CPU_PAIR_SORT_H_
#define GSORT_CPU_PAIR_SORT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu/vector/partition.h"
#include "cpu/word_sort.h"

namespace gsort_internal {

class PairSort {
 public:
  using Pairs = Records<uint32_t, uint32_t>;
  static uint64_t words_for(uint64_t n) { return 2 * n + kPartitionRoom; }

  // Sorts n records of `from`, whose keys are ordered bits, into `other` if to_other and else in place; the other of
  // both holds leftovers. `words` has room for words_for(n).
  PairSort(const PartitionKernels &kernels, const Pairs &from, const Pairs &other, bool to_other, uint64_t *words,
           uint64_t n)
      : kernels_(kernels),
        from_(from),
        other_(other),
        to_other_(to_other),
        words_(reinterpret_cast<int64_t *>(words)),
        room_(reinterpret_cast<int64_t *>(words) + n) {
    for (uint64_t i = 0; i < n; ++i)
      words_[i] = static_cast<int64_t>(static_cast<uint64_t>(from.keys[i] ^ kTop) << 32 | from.values[i]);
    sort(0, n, 2 * bit_width_of(n));
  }

 private:
  static constexpr uint32_t kTop = uint32_t{1} << 31;  // words are compared as signed numbers
  static constexpr uint64_t kBlock = 1 << 11;          // fits a first-level cache with its copies
  static constexpr uint64_t kDrawsFew = 15, kDraws = 63, kItemsOfDraws = 1 << 15;

  // Splits the words from `begin` on at drawn keys, `splits_left` deep, the smaller part first.
  void sort(uint64_t begin, uint64_t n, uint32_t splits_left) {
    while (n > kBlock && splits_left > 0) {
      --splits_left;
      const int64_t greatest = greatest_word(draw_key(begin, n));
      uint64_t lower = split(begin, n, greatest);
      if (lower == n) {
        // The greatest key was drawn: what has it is in order.
        const bool is_least = greatest < INT64_MIN + (int64_t{1} << 32);
        lower = is_least ? 0 : split(begin, n, greatest - (int64_t{1} << 32));
        finish(begin + lower, n - lower, 0);
        n = lower;
        continue;
      }
      if (lower < n - lower) {
        sort(begin, lower, splits_left);
        begin += lower;
        n -= lower;
      } else {
        sort(begin + lower, n - lower, splits_left);
        n = lower;
      }
    }
    finish(begin, n, 32);
  }

  static int64_t greatest_word(int64_t word) { return word | 0xffffffff; }

  // On its own, as what follows: sort() calls itself.
  __attribute__((noinline)) int64_t draw_key(uint64_t begin, uint64_t n) const {
    int64_t drawn[kDraws];
    const uint64_t draws = n < kItemsOfDraws ? kDrawsFew : kDraws;
    uint64_t state = n;
    for (uint64_t i = 0; i < draws; ++i) {
      state = state * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u;
      drawn[i] = words_[begin + ((state >> 32) * n >> 32)];
    }
    std::nth_element(drawn, drawn + draws / 2, drawn + draws);
    return drawn[draws / 2];
  }

  uint64_t split(uint64_t begin, uint64_t n, int64_t greatest) const {
    const uint64_t lower = kernels_.split(words_ + begin, n, greatest, room_);
    std::memcpy(words_ + begin + lower, room_, (n - lower) * sizeof(int64_t));
    return lower;
  }

  // Sorts a block of words whose keys differ in no bit at or above `bits`.
  __attribute__((noinline)) void finish(uint64_t begin, uint64_t n, uint32_t bits) const {
    if (n == 0) return;
    const Pairs at = from_.at(begin);
    for (uint64_t i = 0; i < n; ++i) {
      at.keys[i] = static_cast<uint32_t>(static_cast<uint64_t>(words_[begin + i]) >> 32) ^ kTop;
      at.values[i] = static_cast<uint32_t>(words_[begin + i]);
    }
    sort_block_by_words(at, other_.at(begin), static_cast<uint32_t>(n), bits, to_other_,
                        n <= kBlock ? reinterpret_cast<uint64_t *>(room_) : nullptr);
  }

  const PartitionKernels &kernels_;
  Pairs from_, other_;
  bool to_other_;
  int64_t *words_, *room_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_PAIR_SORT_H_
