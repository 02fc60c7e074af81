// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable sorts of records whose keys are of up to sixteen values, by counting: one read tells how many records each
// value has, another moves what goes with the keys, and the keys are written anew.
#ifndef GSORT_CPU_SORT_FEW_VALUES_H_
#define GSORT_CPU_SORT_FEW_VALUES_H_

#include <atomic>
#include <cstdint>
#include <cstring>

#include "core/random_draws.h"
#include "cpu/engine/context.h"
#include "cpu/primitive/block_sort.h"
#include "cpu/primitive/copy.h"

namespace gsort_internal {

// The values, and a table that tells which of them a key is, by a multiplier that leaves each value a slot of its own.
// What looks at keys alone is called, so that it stands in the library once for a width of keys, not for each of
// values.
template <class K>
class FewValues {
 public:
  static constexpr uint32_t kMost = 16;
  static constexpr uint64_t kItemsOfMore = 1 << 13;  // so many pay for more than two values

  uint32_t count() const { return count_; }
  K value(uint32_t v) const { return values_[v]; }

  // Whether some keys drawn at random are of few values, which it then knows; most keys say at once that they are not.
  __attribute__((noinline)) bool draw(const K *keys, uint64_t n) {
    constexpr uint64_t kFirst = 8, kDrawsOfTwo = 24, kDraws = 64;
    K first[kFirst];
    RandomDraws draws(n);
    const auto next = [&] { return keys[draws.below(n)]; };
    uint32_t alike = 0;
    for (uint64_t i = 0; i < kFirst; ++i) {
      first[i] = next();
      for (uint64_t j = 0; j < i; ++j) alike |= first[i] == first[j] ? 1u : 0u;
    }
    if (alike == 0) return false;
    for (const K key : first) note(key);
    for (uint64_t i = kFirst; i < (count_ <= 2 ? kDrawsOfTwo : kDraws); ++i)
      if (!note(next()) || (count_ > 2 && n < kItemsOfMore)) return false;
    if (count_ == 2) return true;
    return n >= kItemsOfMore && make_table();
  }

  // Learns the values of keys of the range that it does not know yet; false if there are too many. With two values it
  // does not look: whoever counts them sees a third.
  __attribute__((noinline)) bool learn(const K *keys, Range range) {
    if (count_ == 2) return true;
    for (uint64_t i = range.begin; i < range.end; ++i)
      if (keys_[slot_of(keys[i])] != keys[i] && !(note(keys[i]) && make_table())) return false;
    return true;
  }

  // The values' places in the order that the codec makes of them.
  __attribute__((noinline)) void order(const KeyCodec<K> &codec, uint8_t *values) const {
    for (uint32_t v = 0; v < count_; ++v) {
      uint32_t at = v;
      for (; at > 0 && codec.encode(values_[values[at - 1]]) > codec.encode(values_[v]); --at)
        values[at] = values[at - 1];
      values[at] = static_cast<uint8_t>(v);
    }
  }

  // Adds up how many keys of the range each value has; false if there is another value.
  bool count_range(const K *keys, Range range, uint64_t *counts) const {
    constexpr uint64_t kBlock = sizeof(K) == 1 ? 128 : 1 << 12;
    for (uint64_t begin = range.begin; begin < range.end; begin += kBlock) {
      const Range block{begin, range.end - begin < kBlock ? range.end : begin + kBlock};
      if (!(count_ == 2 ? count_two(keys, block, counts) : count_block(keys, block, counts))) return false;
    }
    return true;
  }

  // Calls move(i, to) for all records of the range, the next of value v going to next[v]. No branch goes by a key.
  template <class Move>
  void move_range(const K *keys, Range range, const uint64_t *first, Move &&move) const {
    if (count_ == 2) {
      const K second = values_[1];
      uint64_t seconds = 0;
      const uint64_t to_first = first[0] - range.begin, to_second = first[1];
      for (uint64_t i = range.begin; i < range.end; ++i) {
        const uint64_t is_second = keys[i] == second ? 1 : 0, mask = 0 - is_second;
        const uint64_t at = to_first + i - seconds;
        move(i, at ^ ((at ^ (to_second + seconds)) & mask));
        seconds += is_second;
      }
      return;
    }
    uint64_t next[kMost];
    std::memcpy(next, first, sizeof next);
    const uint64_t multiplier = multiplier_;
    const uint8_t *const numbers = numbers_;
    for (uint64_t i = range.begin; i < range.end; ++i) move(i, next[numbers[slot_of(keys[i], multiplier)]]++);
  }

 private:
  static constexpr uint32_t kSlotBits = 8, kSlots = 1u << kSlotBits;

  static uint32_t slot_of(K key, uint64_t multiplier) {
    return static_cast<uint32_t>(uint64_t{key} * multiplier >> (64 - kSlotBits));
  }
  uint32_t slot_of(K key) const { return slot_of(key, multiplier_); }

  bool note(K key) {
    uint32_t known = 0;  // without a branch for each value
    for (uint32_t v = 0; v < count_; ++v) known |= values_[v] == key ? 1u : 0u;
    if (known != 0) return true;
    if (count_ == kMost) return false;
    values_[count_++] = key;
    return true;
  }

  // Of sixteen values two meet in a slot under two multipliers in five.
  bool make_table() {
    constexpr uint32_t kTries = 64;
    for (uint32_t t = 0; t < kTries; ++t) {
      multiplier_ = next_random(multiplier_);
      uint64_t taken[kSlots / 64] = {};
      uint32_t v = 0;
      for (; v < count_; ++v) {
        const uint32_t slot = slot_of(values_[v]);
        if ((taken[slot / 64] >> slot % 64 & 1) != 0) break;
        taken[slot / 64] |= uint64_t{1} << slot % 64;
      }
      if (v < count_) continue;
      // In a slot that is no value's stands one that would be elsewhere.
      for (uint32_t s = 0; s < kSlots; ++s) keys_[s] = values_[0], numbers_[s] = 0;
      for (v = 0; v < count_; ++v) {
        const uint32_t slot = slot_of(values_[v]);
        keys_[slot] = values_[v], numbers_[slot] = static_cast<uint8_t>(v);
      }
      return true;
    }
    return false;
  }

  bool count_two(const K *keys, Range block, uint64_t *counts) const {
    const K one = values_[0], two = values_[1], both = static_cast<K>(one ^ two);
    K wrong = 0, twos = 0;  // of a block, so that keys of 4 bytes can count it
    for (uint64_t i = block.begin; i < block.end; ++i) {
      const K is_two = static_cast<K>(keys[i] == two ? 1 : 0);
      wrong = static_cast<K>(wrong | (keys[i] ^ one ^ (both & static_cast<K>(K{0} - is_two))));
      twos = static_cast<K>(twos + is_two);
    }
    counts[0] += block.size() - twos;
    counts[1] += twos;
    return wrong == 0;
  }

  __attribute__((noinline)) bool count_block(const K *keys, Range block, uint64_t *counts) const {
    constexpr uint32_t kTables = 4;  // equal neighbours need not wait for each other's counter
    uint32_t tables[kTables][kMost] = {};
    K wrong = 0;
    const uint64_t multiplier = multiplier_;
    const uint8_t *const numbers = numbers_;
    const K *const known = keys_;
    const auto add = [&](uint32_t table, K key) {
      const uint32_t slot = slot_of(key, multiplier);
      wrong = static_cast<K>(wrong | (known[slot] ^ key));
      ++tables[table][numbers[slot]];
    };
    uint64_t i = block.begin;
    for (; i + kTables <= block.end; i += kTables) {
      add(0, keys[i]);
      add(1, keys[i + 1]);
      add(2, keys[i + 2]);
      add(3, keys[i + 3]);
    }
    for (; i < block.end; ++i) add(0, keys[i]);
    for (uint32_t v = 0; v < kMost; ++v)
      for (uint32_t t = 0; t < kTables; ++t) counts[v] += tables[t][v];
    return wrong == 0;
  }

  uint32_t count_ = 0;
  uint64_t multiplier_ = 0;
  K values_[kMost];
  K keys_[kSlots];
  uint8_t numbers_[kSlots];
};

// The work on records with keys of few values, in parts that are short enough for a cancel to be heard between them.
template <class K, class V>
class FewValuesSort {
 public:
  // Values of `source` that are NULL stand for the records' indices; they may lie where they go, as may the keys.
  // Without keys to be written `out.keys` is NULL.
  FewValuesSort(Context &context, const FewValues<K> &few, const RecordSource<K, V> &source, Records<K, V> out,
                uint64_t n)
      : context_(context), few_(few), source_(source), out_(out), n_(n) {
    constexpr uint64_t kItemsOfPart = 1 << 16;   // pay for a thread
    constexpr uint64_t kItemsUnheard = 1 << 18;  // take up to a millisecond
    parts_ = context.parts_for(n, kItemsOfPart, kItemsUnheard);
    if (parts_ > kPartsOnStack) more_ = HostBuffer<uint64_t>(context.memory, parts_ * kMost);
    places_ = parts_ > kPartsOnStack ? more_.data() : on_stack_;
    moves_in_place_ = source.values != nullptr && source.values == out.values;
  }

  // Sorts, or returns false and has written nothing: there is another value. Stopped, it leaves a permutation of what
  // lies where it goes.
  bool run(const KeyCodec<K> &codec) {
    context_.begin(n_ * (2 + (moves_in_place_ ? 1 : 0) + (out_.keys != nullptr ? 1 : 0)));
    if (!count()) return false;
    context_.control.log("cpu: keys of %u values, which are counted", few_.count());
    few_.order(codec, order_);
    counts_to_places();
    if (moves_in_place_) {
      copy_ = HostBuffer<V>(context_.memory, n_);
      copy(out_.values, copy_.data());
      context_.throw_if_stopped();
    }
    move();
    if (!context_.stopped()) {
      write_keys();
    } else if (moves_in_place_) {
      copy(copy_.data(), out_.values);
    }
    context_.throw_if_stopped();
    return true;
  }

 private:
  static constexpr uint32_t kMost = FewValues<K>::kMost;
  static constexpr uint64_t kPartsOnStack = 8;

  // Calls f(range, places) for all parts, the places those of the values' next records.
  template <class F>
  void for_each_part(F &&f) {
    if (parts_ == 1) {  // without the steps of the pool
      f(Range{0, n_}, places_);
      context_.advance(n_);
      return context_.poll();
    }
    context_.for_each(parts_, [&](uint64_t part, uint32_t) {
      const Range range = part_of(n_, part, parts_, kLineBytes);
      f(range, places_ + part * kMost);
      context_.advance(range.size());
    });
  }

  bool count() {
    std::atomic<bool> known{true};
    for_each_part([&](Range range, uint64_t *counts) {
      std::memset(counts, 0, kMost * sizeof counts[0]);
      if (context_.stopped() || !known.load(std::memory_order_relaxed)) return;
      if (!few_.count_range(source_.keys, range, counts)) known.store(false, std::memory_order_relaxed);
    });
    context_.throw_if_stopped();
    return known.load(std::memory_order_relaxed);
  }

  void counts_to_places() {
    uint64_t start = 0;
    for (uint32_t v = 0; v < few_.count(); ++v) {
      starts_[v] = start;
      for (uint64_t part = 0; part < parts_; ++part) {
        uint64_t &place = places_[part * kMost + order_[v]];
        const uint64_t count = place;
        place = start;
        start += count;
      }
    }
    starts_[few_.count()] = start;
  }

  void copy(const V *from, V *to) {
    for_each_part(
        [&](Range range, const uint64_t *) { copy_items(to + range.begin, from + range.begin, range.size()); });
  }

  void move() {
    const V *const from = moves_in_place_ ? copy_.data() : source_.values;
    V *const to = out_.values;
    for_each_part([&](Range range, const uint64_t *places) {
      if (context_.stopped()) return;
      if (from != nullptr) {
        few_.move_range(source_.keys, range, places, [from, to](uint64_t i, uint64_t at) { to[at] = from[i]; });
      } else if constexpr (std::is_integral_v<V>) {
        few_.move_range(source_.keys, range, places, [to](uint64_t i, uint64_t at) { to[at] = static_cast<V>(i); });
      }
    });
  }

  // Keys that are written over others are written to the end.
  void write_keys() {
    if (out_.keys == nullptr) return;
    for_each_part([&](Range range, const uint64_t *) {
      if (context_.stopped() && out_.keys != source_.keys) return;
      for (uint32_t v = 0; v < few_.count(); ++v) {
        const uint64_t begin = max_u64(range.begin, starts_[v]), end = min_u64(range.end, starts_[v + 1]);
        const K key = few_.value(order_[v]);
        for (uint64_t i = begin; i < end; ++i) out_.keys[i] = key;
      }
    });
  }

  Context &context_;
  const FewValues<K> &few_;
  const RecordSource<K, V> source_;
  const Records<K, V> out_;
  const uint64_t n_;
  uint64_t parts_;
  bool moves_in_place_;
  HostBuffer<V> copy_;  // of values that lie where they go
  uint64_t *places_;    // of every part: counts of the values, then where the next record of each goes
  HostBuffer<uint64_t> more_;
  uint64_t on_stack_[kPartsOnStack * kMost];
  uint8_t order_[kMost];
  uint64_t starts_[kMost + 1];
};

// Sorts records with keys of few values and returns true, or returns false and writes nothing. On its own, so that its
// tables are no part of another frame.
template <class K, class V>
__attribute__((noinline)) bool sort_few_values(Context &context, const KeyCodec<K> &codec,
                                               const RecordSource<K, V> &source, Records<K, V> out, uint64_t n) {
  constexpr uint64_t kLearnt = 1 << 8;
  FewValues<K> few;
  if (!few.draw(source.keys, n) || !few.learn(source.keys, {0, min_u64(n, kLearnt)}) || few.count() < 2) return false;
  if (FewValuesSort<K, V>(context, few, source, out, n).run(codec)) return true;
  context.begin(2 * n);  // for the sort that follows
  return false;
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_FEW_VALUES_H_
