// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of many segments of one array: small ones one a thread, large ones each on all threads.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu/engine/float_environment.h"
#include "cpu/engine/operations.h"
#include "cpu/primitive/copy.h"
#include "cpu/sort/ordered_keys.h"
#include "cpu/sort/record_sort.h"
#include "cpu/sort/vector_sort.h"
#include "cpu/vector/target.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kItemsOfTask = 1 << 13;    // enough work that handing out a task does not show
constexpr uint64_t kItemsOfThread = 1 << 13;  // enough that waking a thread does not
constexpr uint64_t kFewKeysMin = 5;           // fewer are inserted
constexpr uint64_t kOrderedKeysMin = 1 << 9;  // of fewer a look at their order would show
constexpr uint64_t kFirstLook = 16;           // most that are in no order say so at once
constexpr uint64_t kCountedBytesMin = 320, kCountedBytesMax = 1 << 22;  // keys of 1 byte
constexpr uint64_t kItemsAlone = 1 << 17;                               // a segment of fewer is never worth all threads

template <class K>
class SegmentSort {
 public:
  SegmentSort(Context &context, const Request &r)
      : context_(context),
        r_(r),
        codec_(make_codec<K>(r.order)),
        in_(static_cast<const K *>(r.in)),
        out_(static_cast<K *>(r.out)) {}

  void run() {
    context_.limit_threads(r_.n, kItemsOfThread);
    if (kernels_ != nullptr) return run_in_vectors();
    measure();
    const HostBuffer<K> block_scratch(context_.memory, block_items_ * context_.threads());
    const HostBuffer<K> large_scratch(context_.memory, large_items_);
    RecordSort<K, NoValue> large_sort(context_, codec_, {large_scratch.data(), nullptr}, large_items_);
    context_.control.log("cpu sort_segments: %llu segments, the largest of %llu keys, %u threads",
                         static_cast<unsigned long long>(r_.segments), static_cast<unsigned long long>(longest_),
                         context_.threads());
    context_.begin(2 * r_.n);
    copy_outside();
    sort_small(block_scratch.data());
    sort_large(large_sort);
    context_.throw_if_stopped();
  }

 private:
  Range segment(uint64_t s) const { return {r_.offsets[s], r_.offsets[s + 1]}; }
  static bool is_large(uint64_t size) { return size > (sizeof(K) == 1 ? kCountedBytesMax : kBlockItems<K, NoValue>); }
  static bool is_counted(uint64_t size) {
    return sizeof(K) == 1 && size >= kCountedBytesMin && size <= kCountedBytesMax;
  }

  // Vectors sort in place: only the segments that all threads share need memory.
  void run_in_vectors() {
    share_ = context_.threads() == 1 ? UINT64_MAX : max_u64(kItemsAlone, r_.n / context_.threads());
    uint64_t longest = 0, longest_shared = 0;
    for (uint64_t s = 0; s < r_.segments; ++s) {
      longest = max_u64(longest, segment(s).size());
      if (segment(s).size() > share_) longest_shared = longest;
    }
    VectorSort<K> sort(context_, *kernels_, codec_, longest_shared);
    context_.control.log("cpu sort_segments: %llu segments, the largest of %llu keys, %s vectors, %u threads",
                         static_cast<unsigned long long>(r_.segments), static_cast<unsigned long long>(longest),
                         vector_target_name(vector_target()), context_.threads());
    context_.begin(r_.n);
    copy_outside();
    sort_alone();
    for (uint64_t s = 0; s < r_.segments && !context_.stopped(); ++s) {
      const Range range = segment(s);
      if (range.size() <= share_) continue;
      const K *const in = in_ + range.begin;
      K *const out = out_ + range.begin;
      if (sort_ordered_keys(context_, codec_, in, out, range.size())) {
        context_.advance(range.size());
      } else {
        sort.run(in, out, range.size());
      }
    }
    context_.throw_if_stopped();
  }

  // The segments that are sorted by one thread each.
  void sort_alone() {
    const uint64_t tasks = min_u64(r_.segments, divide_up(r_.n, kItemsOfTask));
    context_.for_each(tasks, [&](uint64_t task, uint32_t) {
      const Range mine = part_of(r_.segments, task, tasks, 1);
      for (uint64_t s = mine.begin; s < mine.end && !context_.stopped(); ++s) {
        const Range range = segment(s);
        if (range.size() > share_) continue;
        sort_in_vectors(range);
        context_.advance(range.size());
      }
    });
  }

  void sort_in_vectors(const Range &range) {
    const K *const in = in_ + range.begin;
    K *const out = out_ + range.begin;
    if (range.size() >= kOrderedKeysMin && copy_ordered(in, out, range.size())) return;
    if (codec_.nan_count == 0) return kernels_->sort_few(order_, in, out, range.size());
    const KeyCodec<K> identity{0, 0, 0};
    encode_keys(codec_, in, out, range.size());
    kernels_->sort(identity, identity, out, out, range.size());
    decode_keys(codec_, out, range.size());
  }

  // Whether a segment's keys are in order or in the reverse order: then they are brought to where they belong.
  bool copy_ordered(const K *in, K *out, uint64_t size) const {
    const bool reversed = codec_.encode(in[0]) > codec_.encode(in[size - 1]);
    if (!range_is_ordered(codec_, in, {0, min_u64(size - 1, kFirstLook)}, reversed) ||
        !range_is_ordered(codec_, in, {0, size - 1}, reversed))
      return false;
    if (in != out) copy_items(out, in, size);
    if (reversed) std::reverse(out, out + size);
    return true;
  }

  // Sizes of the largest segments of both kinds that need room, and of all.
  void measure() {
    for (uint64_t s = 0; s < r_.segments; ++s) {
      const uint64_t size = segment(s).size();
      longest_ = max_u64(longest_, size);
      if (is_counted(size)) continue;
      uint64_t &most = is_large(size) ? large_items_ : block_items_;
      most = max_u64(most, size);
    }
  }

  void copy_outside() {
    if (in_ == out_) return;
    const uint64_t first = r_.segments == 0 ? r_.n : r_.offsets[0],
                   last = r_.segments == 0 ? r_.n : r_.offsets[r_.segments];
    if (first > 0) copy_items(out_, in_, first);
    if (last < r_.n) copy_items(out_ + last, in_ + last, r_.n - last);
  }

  // Tasks are equal numbers of segments; those of very unequal sizes even out because tasks are many.
  void sort_small(K *scratch) {
    const uint64_t tasks = min_u64(r_.segments, divide_up(r_.n, kItemsOfTask));
    context_.for_each(tasks, [&](uint64_t task, uint32_t worker) {
      const Range mine = part_of(r_.segments, task, tasks, 1);
      for (uint64_t s = mine.begin; s < mine.end && !context_.stopped(); ++s)
        if (!is_large(segment(s).size())) sort_one(segment(s), scratch + worker * block_items_);
    });
  }

  void sort_one(const Range &range, K *scratch) {
    const uint64_t size = range.size();
    if (size == 0) return;
    K *const keys = out_ + range.begin;
    // Keys of 1 and 2 bytes, which have no kernels of their own: as short calls are done, but for the shortest.
    if (size >= kFewKeysMin && sort_few_keys(r_.order, in_ + range.begin, keys, size))
      return context_.advance(2 * size);
    if (range.size() >= kOrderedKeysMin && copy_ordered(in_ + range.begin, keys, size))
      return context_.advance(2 * size);
    if constexpr (sizeof(K) == 1) {
      if (is_counted(size)) {
        count_byte_keys(r_.order, in_ + range.begin, keys, size);
        return context_.advance(2 * size);
      }
    }
    encode_keys(codec_, in_ + range.begin, keys, size);
    sort_block<K, NoValue>({keys, nullptr}, {scratch, nullptr}, static_cast<uint32_t>(size), sizeof(K) * 8, false);
    decode_keys(codec_, keys, size);
    context_.advance(2 * size);
  }

  void sort_large(RecordSort<K, NoValue> &sort) {
    if (large_items_ == 0) return;
    for (uint64_t s = 0; s < r_.segments; ++s) {
      const Range range = segment(s);
      if (!is_large(range.size()) || context_.stopped()) continue;
      sort.run({in_ + range.begin, nullptr}, {out_ + range.begin, nullptr}, range.size());
    }
  }

  const SortKernels<K> *kernels_ = sort_kernels(K{});
  Context &context_;
  const Request &r_;
  uint32_t order_ = order_number(r_.order);
  KeyCodec<K> codec_;
  const K *in_;
  K *out_;
  uint64_t block_items_ = 0, large_items_ = 0, longest_ = 0;
  uint64_t share_ = 0;  // longer segments are for all threads
};

bool are_right(const FewSegments &s) {
  for (uint64_t i = 0; i < s.segments; ++i)
    if (s.offsets[i] > s.offsets[i + 1]) return false;
  return s.offsets[s.segments] <= s.n;
}

// Calls sort(in, out, keys) for each segment that has keys, and copies what is outside of all.
template <class K, class Sort>
void for_few_segments(const FewSegments &s, Sort &&sort) {
  const K *const in = static_cast<const K *>(s.in);
  K *const out = static_cast<K *>(s.out);
  for (uint64_t i = 0; i < s.segments; ++i)
    if (const uint64_t begin = s.offsets[i], size = s.offsets[i + 1] - begin; size > 0)
      sort(in + begin, out + begin, size);
  if (in == out) return;
  const uint64_t last = s.offsets[s.segments];
  std::memcpy(out, in, s.offsets[0] * sizeof(K));
  std::memcpy(out + last, in + last, (s.n - last) * sizeof(K));
}

}  // namespace

bool sort_few_segments(const FewSegments &s) noexcept {
  if (!are_few_keys(s.order, s.n) || !are_right(s)) return false;
  const FloatEnvironment float_environment;  // floats of 8 bytes are compared as such
  with_width(dtype_bytes(s.order.dtype), [&](auto tag) {
    using K = typename decltype(tag)::type;
    if constexpr (sizeof(K) >= 4) {
      const auto sort = sort_kernels(K{})->sort_few;
      const uint32_t order = order_number(s.order);
      for_few_segments<K>(s, [=](const K *in, K *out, uint64_t n) { sort(order, in, out, n); });
    } else {
      for_few_segments<K>(s, [&s](const K *in, K *out, uint64_t n) { sort_few_keys(s.order, in, out, n); });
    }
  });
  return true;
}

void cpu_sort_segments(Context &context, const Request &request) {
  if (request.n == 0) return;
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { SegmentSort<typename decltype(tag)::type>(context, request).run(); });
}

}  // namespace gsort_internal
