// SPDX-License-Identifier: MIT OR Apache-2.0
// The quicksort of keys alone by two threads, in place: once the array is split, by both of them if it is long, whoever
// splits a part goes on with the lesser half and leaves the other one to whoever has nothing to do.
#ifndef GSORT_CPU_SORT_TEAM_QUICKSORT_H_
#define GSORT_CPU_SORT_TEAM_QUICKSORT_H_

#include <algorithm>
#include <cstdint>

#include "cpu/engine/context.h"
#include "cpu/primitive/range.h"
#include "cpu/sort/key_quicksort.h"
#include "cpu/sort/part_list.h"

namespace gsort_internal {

template <class K>
class TeamQuicksort {
 public:
  static constexpr uint32_t kThreads = 2;

  // Allocates all it needs, for keys of any number.
  TeamQuicksort(Context &context, const KeyQuicksort<K> &keys)
      : context_(context), keys_(keys), list_(context.memory, kThreads * kRoomOfThread) {}

  // Sorts n keys of `in` into `out`, which may be `in`. Advances by n when the array is split, and by n when its parts
  // are sorted. Once the context is stopped it leaves a permutation in an `out` that was `in`.
  void run(const K *in, K *out, uint64_t n) {
    const auto pivot = keys_.draw_pivot(in, n);
    if (pivot.few_values && n <= Alone::kFewValuesItems) {  // one thread counts them sooner
      keys_.sort_whole(in, out, n);
      return context_.advance(n);
    }
    const uint64_t piece = min_u64(max_u64(n / kPieces, kPieceBytesMin / sizeof(K)), Alone::kPartItems);
    if (n * sizeof(K) >= kBytesTogether) {
      split_together(in, out, n, pivot.key);
    } else {
      list_.add({Alone::whole(out, n), true});
    }
    context_.repeat([&](uint32_t worker) {
      return list_.step([&](const Task &task) {
        if (!task.is_whole) {
          sort_shared(task.part, piece, worker);
        } else if (!context_.stopped()) {  // while the other thread wakes up
          Part small{}, large{};
          keys_.split_whole(in, out, n, pivot.key, small, large, worker);
          context_.advance(n);
          list_.add({large, false});
          sort_shared(small, piece, worker);
        }
      });
    });
  }

 private:
  using Alone = KeyQuicksort<K>;
  using Part = typename Alone::Part;
  using Inner = typename Alone::Inner;
  struct Task {
    Part part;
    bool is_whole;  // all keys, which are not split yet
  };

  // What a thread takes last is little of its share, so that both end at about the same time.
  static constexpr uint64_t kPieces = 16, kPieceBytesMin = 1 << 14;
  // A thread that goes on with lesser halves leaves no more parts than a number can be halved; and the first ones.
  static constexpr uint64_t kRoomOfThread = 48;
  static constexpr uint64_t kBytesTogether = 1 << 20;  // from here on the first split is some tenths of a millisecond
  static constexpr uint64_t kSwapItemsMin = 1 << 14, kSwapItemsMost = 1 << 17;

  // Each thread splits a half of the array; then the upper keys of the first half that are where lower ones belong
  // change places with lower keys of the second half.
  void split_together(const K *in, K *out, uint64_t n, Inner pivot) {
    uint64_t lowers[kThreads] = {};
    context_.for_each(kThreads, [&](uint64_t half, uint32_t worker) {
      const Range range = part_of(n, half, kThreads, kLineBytes);
      lowers[half] = keys_.split(in + range.begin, out + range.begin, range.size(), pivot, worker);
      context_.advance(range.size());
    });
    if (context_.stopped()) return;
    const uint64_t middle = part_of(n, 0, kThreads, kLineBytes).end;
    const uint64_t count = min_u64(middle - lowers[0], lowers[1]);
    K *const upper = out + lowers[0], *const lower = out + (middle + lowers[1] - count);
    const uint64_t chunks = context_.parts_for(count, kSwapItemsMin, kSwapItemsMost);
    context_.for_each(chunks, [&](uint64_t c, uint32_t) {
      if (context_.stopped()) return;
      const Range range = part_of(count, c, chunks, kLineBytes);
      std::swap_ranges(upper + range.begin, upper + range.end, lower + range.begin);
    });
    Part small{}, large{};
    Alone::make_halves(Alone::whole(out, n), lowers[0] + lowers[1], pivot, small, large);
    list_.add({large, false});
    list_.add({small, false});
  }

  void sort_shared(Part part, uint64_t piece, uint32_t worker) {
    Part small{}, large{};
    while (keys_.split_part(part, piece, small, large, worker)) {
      list_.add({large, false});  // for which there is room
      part = small;
    }
    keys_.finish_part(part);
  }

  Context &context_;
  const Alone &keys_;
  PartList<Task> list_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_TEAM_QUICKSORT_H_
