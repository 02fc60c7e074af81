// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys alone that are a few runs in order or in the reverse order, one behind the other, as an organ pipe is: the runs
// are found by vectors and merged, two at a time.
#ifndef GSORT_CPU_SORT_SORTED_RUNS_H_
#define GSORT_CPU_SORT_SORTED_RUNS_H_

#include <cstdint>
#include <utility>

#include "cpu/engine/context.h"
#include "cpu/merge/merge.h"
#include "cpu/primitive/scatter.h"
#include "cpu/sort/ordered_keys.h"
#include "cpu/vector/select.h"

namespace gsort_internal {

template <class K>
class SortedRuns {
 public:
  // Sorts such keys and returns true; returns false and writes nothing where they are no such keys, where there is no
  // memory for them, or where the context is stopped while it looks. Stopped later, it leaves an `out` that is `in`,
  // which it may be, as it was or sorted.
  static bool sort(Context &context, const KeyCodec<K> &codec, const K *in, K *out, uint64_t n) {
    const SelectKernels<K> *const kernels = select_kernels(K{});
    // Memory is what the sort can do without: none of the caller's is asked for.
    if (kernels == nullptr || n < kItemsMin || !context.memory.keeps_blocks()) return false;
    SortedRuns runs(context, codec, *kernels, in, out, n);
    if (!runs.find()) return false;
    try {
      runs.scratch_ = HostBuffer<K>(context.memory, n);
      runs.cuts_ = HostBuffer<uint64_t>(context.memory, merge_parts(context, n) + 1);
    } catch (const Error &) {
      return false;
    }
    context.control.log("cpu sort: %u runs are merged, %u threads", runs.count_, context.threads());
    runs.merge_all();
    return true;
  }

 private:
  // A merge of two takes a third of the sort of 2^12 keys of 4 bytes, and less of longer ones and others.
  static constexpr uint64_t kItemsMin = 1 << 12;
  static constexpr uint64_t kItemsOfMany = sizeof(K) == 8 ? 1 << 12 : 1 << 18;
  static constexpr uint32_t kRunsMax = 4, kRunsMaxOfFew = 2;
  static constexpr uint64_t kRunShare = 64;  // shorter ones say that the keys are not of this kind
  static constexpr uint64_t kGlance = 16;    // equal keys, with which either kind of run may begin

  SortedRuns(Context &context, const KeyCodec<K> &codec, const SelectKernels<K> &kernels, const K *in, K *out,
             uint64_t n)
      : context_(context), codec_(codec), kernels_(kernels), in_(in), out_(out), n_(n) {}

  bool find() {
    const uint32_t most = n_ < kItemsOfMany ? kRunsMaxOfFew : kRunsMax;
    while (begins_[count_] < n_) {
      const uint64_t begin = begins_[count_], pairs = n_ - 1 - begin;
      if (count_ == most) return false;
      uint64_t length = 1 + ordered_pairs(in_ + begin, pairs, false);
      reversed_[count_] = false;
      if (length <= kGlance && length <= pairs) {
        length = 1 + ordered_pairs(in_ + begin, pairs, true);
        reversed_[count_] = true;
      }
      if (length < n_ / kRunShare && length <= pairs) return false;
      begins_[++count_] = begin + length;
    }
    return !context_.stopped();
  }

  // How many pairs of neighbours are in order, from the first on; or fewer once the context is stopped.
  uint64_t ordered_pairs(const K *keys, uint64_t pairs, bool reversed) {
    uint64_t ordered = 0;
    while (ordered < pairs && context_.goes_on(0)) {
      const uint64_t piece = min_u64(pairs - ordered, kOrderChunkItems);
      const uint64_t of_piece = kernels_.ordered(codec_, keys + ordered, piece, reversed);
      ordered += of_piece;
      if (of_piece < piece) break;
    }
    return ordered;
  }

  // The runs go back and forth between the output and the scratch, so that the last merge ends in the output.
  void merge_all() {
    const uint32_t merges = count_ <= 2 ? 1 : 2;
    K *from = merges == 1 ? scratch_.data() : out_, *to = merges == 1 ? out_ : scratch_.data();
    for (uint32_t r = 0; r < count_; ++r) bring(r, from);
    if (context_.stopped()) return;
    for (uint32_t m = 0; m < merges; ++m) {
      const bool last = m + 1 == merges;
      for (uint32_t r = 0; r < count_; r += 2) {
        const uint64_t begin = begins_[r], middle = begins_[r + 1 < count_ ? r + 1 : count_],
                       end = begins_[r + 2 < count_ ? r + 2 : count_];
        merge_two({from + begin, middle - begin, from + middle, end - middle}, to + begin, last);
      }
      for (uint32_t r = 2; r < count_; r += 2) begins_[r / 2] = begins_[r];
      begins_[(count_ + 1) / 2] = n_;
      count_ = (count_ + 1) / 2;
      std::swap(from, to);
    }
  }

  // Brings a run to its place in `to`, encoded and in order.
  void bring(uint32_t r, K *to) {
    const Range run{begins_[r], begins_[r + 1]};
    const uint64_t chunks = divide_up(run.size(), kOrderChunkItems);
    const bool in_place = to == in_;
    with_encoder(codec_, [&](auto encode) {
      const auto bring_part = [&](uint64_t c, uint32_t) {
        if (!in_place && context_.stopped()) return;
        const Range part = part_of(reversed_[r] && in_place ? run.size() / 2 : run.size(), c, chunks, kLineBytes);
        const K *const from = in_ + run.begin;
        K *const out = to + run.begin;
        const uint64_t end = run.size() - 1;
        if (!reversed_[r]) {
          for (uint64_t i = part.begin; i < part.end; ++i) out[i] = encode(from[i]);
        } else if (!in_place) {
          for (uint64_t i = part.begin; i < part.end; ++i) out[i] = encode(from[end - i]);
        } else {
          for (uint64_t i = part.begin; i < part.end; ++i) {
            const K key = encode(from[i]);
            out[i] = encode(from[end - i]);
            out[end - i] = key;
          }
        }
      };
      in_place ? context_.for_each_unbroken(chunks, bring_part) : context_.for_each(chunks, bring_part);
      if (reversed_[r] && in_place && run.size() % 2 != 0) {
        K &middle = to[run.begin + run.size() / 2];
        middle = encode(middle);
      }
    });
  }

  void merge_two(const MergeInputs<K> &in, K *out, bool decode) {
    const auto as_they_are = [](K key) { return key; };
    const uint64_t n = in.a_n + in.b_n;
    for_merge_parts(context_, in, merge_parts(context_, n), in_ != out_, cuts_.data(), as_they_are,
                    [&](Range range, const MergeInputs<K> &part) {
                      merge_part(part, out + range.begin, as_they_are);
                      if (decode) decode_keys(codec_, out + range.begin, range.size());
                    });
  }

  Context &context_;
  KeyCodec<K> codec_;
  const SelectKernels<K> &kernels_;
  const K *in_;
  K *out_;
  uint64_t n_;
  uint32_t count_ = 0;
  uint64_t begins_[kRunsMax + 1] = {};  // of the runs, and the end of the last
  bool reversed_[kRunsMax] = {};
  HostBuffer<K> scratch_;
  HostBuffer<uint64_t> cuts_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_SORTED_RUNS_H_
