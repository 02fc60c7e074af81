// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k: the first k records of the stable order, without sorting the rest.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "cpu/engine/operations.h"
#include "cpu/primitive/copy.h"
#include "cpu/sort/record_sort.h"
#include "cpu/topk/few.h"
#include "cpu/topk/filter.h"
#include "cpu/topk/sampled.h"
#include "cpu/topk/share.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kFilterItemsMax = 1 << 16;  // candidates of a k up to this stay in the second-level cache
constexpr uint64_t kFilterRatioMin = 32;       // elements of a part for each of the k
constexpr uint64_t kPartItemsMin = 1 << 16;    // fewer are not worth another thread
constexpr uint64_t kSampleRatio = 16;          // sampled elements for each of the k
constexpr uint64_t kSampleShareMax = 1024;     // at most one in as many: they are read out of order
// From these shares of the elements on, whatever is asked for, sorting all is sooner done than selecting. Short keys
// are counted, or take few passes.
constexpr uint64_t kSortShare = 2, kSortShareOfShortKeys = 4;
constexpr uint64_t kSortShareOfBytes = 64, kSortShareOfHalves = 8, kHalvesCounted = 1 << 17;  // where keys alone are
constexpr uint64_t kSortShareMisled = 8;                                                      // of a sample

template <class K>
TopkOutput<K> output_of(const Request &r, uint64_t first) {
  const uint32_t index_bytes = r.indices_out == nullptr ? 0 : dtype_bytes(r.index_t);
  return {r.out == nullptr ? nullptr : static_cast<K *>(r.out) + first,
          r.indices_out == nullptr ? nullptr : static_cast<unsigned char *>(r.indices_out) + first * index_bytes,
          index_bytes};
}

template <class K>
class Topk {
 public:
  Topk(Context &context, const KeyOrder &order, const K *in, uint64_t n, uint64_t k, const TopkOutput<K> &out)
      : context_(context), order_(order), codec_(make_codec<K>(order)), in_(in), n_(n), k_(k), out_(out) {}

  void run() {
    const bool sorts_all = sorts_rather();
    if (!sorts_all && SampledTopk<K>(context_, codec_, in_, n_, k_, out_).run()) return;
    const char *method = "radix selection";
    void (Topk::*run_method)() = &Topk::select;
    if (!sorts_all && k_ <= kFilterItemsMax && k_ <= n_ / kFilterRatioMin) {
      method = "threshold filter";
      run_method = &Topk::filter;
    } else if (sorts_all || k_ >= n_ / kSortShareMisled || n_ <= kBlockItems<K, uint64_t>) {
      method = out_.indices == nullptr ? "sort" : "stable sort";
      run_method = out_.indices == nullptr ? &Topk::sort_keys
                   : n_ <= UINT32_MAX      ? &Topk::sort_indices<uint32_t>
                                           : &Topk::sort_indices<uint64_t>;
    }
    context_.control.log("cpu topk: n = %llu, k = %llu, %s, up to %u threads", static_cast<unsigned long long>(n_),
                         static_cast<unsigned long long>(k_), method, context_.threads());
    (this->*run_method)();
  }

 private:
  // Every thread keeps the best k of its part; the best of these are sorted.
  void filter() {
    const uint64_t part_items = max_u64(kPartItemsMin, k_ * kFilterRatioMin);
    const uint64_t parts = max_u64(1, min_u64(n_ / part_items, uint64_t{context_.threads()} * 4));
    const uint64_t room = TopkFilter<K, uint64_t>::room(k_);
    const HostBuffer<Candidate<K, uint64_t>> candidates(context_.memory, parts * room);
    const HostBuffer<uint64_t> kept(context_.memory, parts);
    const uint64_t sampled = min_u64(k_ * kSampleRatio, n_ / kSampleShareMax);
    const HostBuffer<K> sample(context_.memory, sampled);
    context_.begin(n_);
    const K last = last_by_sample(sample.data(), sampled);
    context_.for_each(parts, [&](uint64_t part, uint32_t) {
      kept[part] = 0;
      if (context_.stopped()) return;
      const Range range = part_of(n_, part, parts, kLineBytes);
      TopkFilter<K, uint64_t> best(&candidates[part * room], k_);
      best.leave_out_after(last);
      best.offer(codec_, in_, range.begin, range.end);
      kept[part] = best.finish();
      context_.advance(range.size());
    });
    context_.throw_if_stopped();
    uint64_t count = kept[0];
    for (uint64_t part = 1; part < parts; ++part)
      for (uint64_t i = 0; i < kept[part]; ++i) candidates[count++] = candidates[part * room + i];
    select_and_sort(candidates.data(), count, k_);
    for (uint64_t i = 0; i < k_; ++i) out_.put(i, codec_.decode(candidates[i].key), candidates[i].index);
  }

  // A key that at least k elements do not come after, the k-th of a sample: few elements come before it, in whatever
  // order they lie, where the best so far say little while keys only get better. Where the sample would be too small,
  // the last key there is.
  K last_by_sample(K *sample, uint64_t sampled) const {
    if (sampled < 2 * k_) return static_cast<K>(~K{0});
    const uint64_t part = n_ / sampled;
    uint64_t mixed = 0;
    for (uint64_t i = 0; i < sampled; ++i) {
      mixed = (mixed + i) * 0x9e3779b97f4a7c15u;
      sample[i] = codec_.encode(in_[i * part + (mixed >> 32) % part]);
    }
    std::nth_element(sample, sample + (k_ - 1), sample + sampled);
    return sample[k_ - 1];
  }

  bool sorts_rather() const {
    const uint64_t share = sizeof(K) <= 2 ? kSortShareOfShortKeys : kSortShare;
    if (k_ > n_ / share) return true;
    if (out_.indices != nullptr || sizeof(K) > 2) return false;
    return sizeof(K) == 1 ? k_ > n_ / kSortShareOfBytes : n_ >= kHalvesCounted && k_ > n_ / kSortShareOfHalves;
  }

  // Nobody asks for indices.
  void sort_keys() {
    const HostBuffer<K> sorted(context_.memory, n_);
    Request all{Operation::kSort, order_};
    all.n = n_, all.in = in_, all.out = sorted.data();
    cpu_sort(context_, all);
    context_.poll();
    context_.throw_if_stopped();
    copy_items(out_.values, static_cast<const K *>(sorted.data()), k_);
  }

  template <class I>
  void sort_indices() {
    const HostBuffer<I> sorted(context_.memory, n_);
    const HostBuffer<K> keys(context_.memory, n_);
    Request all{Operation::kArgsort, order_};
    all.n = n_, all.in = in_, all.out = sorted.data(), all.values_out = keys.data();
    all.index_t = sizeof(I) == 4 ? GSORT_U32 : GSORT_U64;
    cpu_argsort(context_, all);
    context_.poll();
    context_.throw_if_stopped();
    const uint64_t parts = divide_up(k_, kPartItemsMin);
    context_.for_each_unbroken(parts, [&](uint64_t part, uint32_t) {
      const Range range = part_of(k_, part, parts, kLineBytes);
      for (uint64_t i = range.begin; i < range.end; ++i) out_.put(i, keys[i], sorted[i]);
    });
  }

  // Finds the k-th key digit by digit, takes the keys before it and as many equal ones as fit, and sorts them.
  void select() {
    const uint64_t parts = min_u64(divide_up(n_, kSplitChunkItems), kSplitChunksMax);
    const HostBuffer<uint64_t> counts(context_.memory, parts * kSplitValues);
    const HostBuffer<K> keys(context_.memory, k_), key_scratch(context_.memory, k_);
    const HostBuffer<uint64_t> indices(context_.memory, k_), index_scratch(context_.memory, k_);
    const KeyCodec<K> identity{0, 0, 0};  // the keys taken are ordered already
    RecordSort<K, uint64_t> sort(context_, identity, {key_scratch.data(), index_scratch.data()}, k_);
    context_.begin((sizeof(K) + 2) * n_ + 2 * k_);
    uint64_t equal_taken = k_;
    const K last = find_last(counts.data(), parts, equal_taken);
    take(counts.data(), parts, last, equal_taken, keys.data(), indices.data());
    context_.throw_if_stopped();
    sort.run({keys.data(), indices.data()}, {keys.data(), indices.data()}, k_);
    context_.throw_if_stopped();
    for (uint64_t i = 0; i < k_; ++i) out_.put(i, codec_.decode(keys[i]), indices[i]);
  }

  // The ordered key at place k - 1. `rank` is k before, and after it how many keys equal to that one are taken.
  K find_last(uint64_t *counts, uint64_t parts, uint64_t &rank) {
    K prefix = 0;
    for (uint32_t shift = sizeof(K) * 8; shift > 0;) {
      shift -= kSplitDigitBits;
      count_with_prefix(counts, parts, prefix, shift);
      context_.throw_if_stopped();
      for (uint32_t v = 0;; ++v) {
        uint64_t count = 0;
        for (uint64_t part = 0; part < parts; ++part) count += counts[part * kSplitValues + v];
        if (rank <= count) {
          prefix = static_cast<K>(prefix | static_cast<K>(static_cast<K>(v) << shift));
          break;
        }
        rank -= count;
      }
    }
    return prefix;
  }

  // Counts the digit at `shift` of the keys whose bits above it are those of `prefix`.
  void count_with_prefix(uint64_t *counts, uint64_t parts, K prefix, uint32_t shift) {
    const Digit digit{shift, kSplitValues - 1};
    const bool first = shift + kSplitDigitBits == sizeof(K) * 8;
    context_.for_each(parts, [&](uint64_t part, uint32_t) {
      const Range range = part_of(n_, part, parts, kLineBytes);
      uint64_t *const mine = counts + part * kSplitValues;
      if (first) {
        count_digits(codec_, in_, range, digit, mine);
      } else {
        std::fill(mine, mine + kSplitValues, 0);
        with_encoder(codec_, [&](auto encode) {
          for (uint64_t i = range.begin; i < range.end; ++i) {
            const K key = encode(in_[i]);
            if ((static_cast<uint64_t>(key ^ prefix) >> shift) < kSplitValues) ++mine[digit.of(key)];
          }
        });
      }
      context_.advance(range.size());
    });
  }

  // Takes all keys before `last` and the first `equal_taken` of those equal to it, in the order of the input.
  void take(uint64_t *counts, uint64_t parts, K last, uint64_t equal_taken, K *keys, uint64_t *indices) {
    context_.for_each(parts, [&](uint64_t part, uint32_t) {
      const Range range = part_of(n_, part, parts, kLineBytes);
      uint64_t before = 0, equal = 0;
      with_encoder(codec_, [&](auto encode) {
        for (uint64_t i = range.begin; i < range.end; ++i) {
          const K key = encode(in_[i]);
          before += key < last ? 1 : 0;
          equal += key == last ? 1 : 0;
        }
      });
      counts[2 * part] = before;
      counts[2 * part + 1] = equal;
      context_.advance(range.size());
    });
    if (context_.stopped()) return;
    uint64_t taken = 0, equal_left = equal_taken;
    for (uint64_t part = 0; part < parts; ++part) {  // counts become: first place, equal keys to take
      const uint64_t before = counts[2 * part], equal = min_u64(counts[2 * part + 1], equal_left);
      counts[2 * part] = taken;
      counts[2 * part + 1] = equal;
      taken += before + equal;
      equal_left -= equal;
    }
    context_.for_each(parts, [&](uint64_t part, uint32_t) {
      const Range range = part_of(n_, part, parts, kLineBytes);
      uint64_t place = counts[2 * part], equal = counts[2 * part + 1];
      with_encoder(codec_, [&](auto encode) {
        for (uint64_t i = range.begin; i < range.end; ++i) {
          const K key = encode(in_[i]);
          if (key > last || (key == last && equal == 0)) continue;
          if (key == last) --equal;
          keys[place] = key;
          indices[place++] = i;
        }
      });
      context_.advance(range.size());
    });
  }

  Context &context_;
  const KeyOrder &order_;
  KeyCodec<K> codec_;
  const K *in_;
  uint64_t n_, k_;
  TopkOutput<K> out_;
};

// Rows of a matrix, or segments of an array.
class TopkRowSet {
 public:
  explicit TopkRowSet(const Request &r) : r_(r), segments_(r.operation == Operation::kTopkSegments) {}
  uint64_t rows() const { return segments_ ? r_.segments : r_.rows; }
  uint64_t elements() const { return segments_ ? r_.offsets[r_.segments] - r_.offsets[0] : r_.rows * r_.columns; }
  Range row(uint64_t i) const {
    if (segments_) return {r_.offsets[i], r_.offsets[i + 1]};
    return {i * r_.row_stride, i * r_.row_stride + r_.columns};
  }

 private:
  const Request &r_;
  bool segments_;
};

// Top-k of every row: short rows one a thread, long ones each on all threads.
template <class K>
class TopkRows {
 public:
  TopkRows(Context &context, const Request &r) : context_(context), r_(r), rows_(r), codec_(make_codec<K>(r.order)) {}

  void run() {
    measure();
    short_rows();
    for (uint64_t row = 0; long_rows_ != 0 && row < rows_.rows(); ++row)
      if (is_long(rows_.row(row).size())) long_row(row);
  }

 private:
  static bool is_long(uint64_t size) { return size > kRowItemsMax; }
  uint64_t k_of(uint64_t size) const { return min_u64(r_.k, size); }
  bool filters(uint64_t size) const { return k_of(size) <= size / 4; }

  // The room that a thread needs for the longest of its rows.
  void measure() {
    const uint64_t different = r_.operation == Operation::kTopkSegments ? rows_.rows() : 1;
    for (uint64_t row = 0; row < different; ++row) {
      const uint64_t size = rows_.row(row).size();
      if (is_long(size)) {
        ++long_rows_;
        continue;
      }
      // With a limit or functions of the caller's rows take no more memory than the ways that always work.
      if (context_.memory.keeps_blocks()) scratch_room_ = max_u64(scratch_room_, topk_scratch_room(size, k_of(size)));
      if (filters(size)) {
        filter_room_ = max_u64(filter_room_, TopkFilter<K, uint32_t>::room(k_of(size)));
      } else {
        sort_room_ = max_u64(sort_room_, 2 * size);
      }
    }
  }

  void short_rows() {
    const uint64_t rows = rows_.rows(), tasks = min_u64(rows, max_u64(1, divide_up(rows_.elements(), kPartItemsMin)));
    const uint64_t workers = min_u64(tasks, uint64_t{context_.threads()});
    const HostBuffer<uint32_t> places(context_.memory, workers * 2 * scratch_room_);
    const HostBuffer<uint64_t> memory(context_.memory, workers * 3 * scratch_room_);
    const HostBuffer<Candidate<K, uint32_t>> candidates(context_.memory, workers * filter_room_);
    const HostBuffer<K> keys(context_.memory, workers * sort_room_);
    const HostBuffer<uint32_t> indices(context_.memory, workers * sort_room_);
    context_.control.log("cpu topk_rows: %llu rows, %llu of them long, %s, up to %u threads",
                         static_cast<unsigned long long>(rows), static_cast<unsigned long long>(long_rows_),
                         filter_room_ == 0 ? "stable sort"
                         : sort_room_ == 0 ? "threshold filter"
                                           : "threshold filter or stable sort",
                         context_.threads());
    context_.begin(rows_.elements());
    context_.for_each(tasks, [&](uint64_t task, uint32_t worker) {
      const Range mine = part_of(rows, task, tasks, 1);
      for (uint64_t row = mine.begin; row < mine.end && !context_.stopped(); ++row) {
        const Range range = rows_.row(row);
        if (is_long(range.size())) continue;
        const uint64_t scratch = worker * scratch_room_;
        const bool done = select_few(row, {places.data() + 2 * scratch, memory.data() + 3 * scratch, scratch_room_});
        if (!done && filters(range.size())) {
          filter_row(row, candidates.data() + worker * filter_room_);
        } else if (!done) {
          const uint64_t begin = worker * sort_room_;
          sort_row(row, {keys.data() + begin, indices.data() + begin});
        }
        fill(row);
        context_.advance(range.size());
      }
    });
    context_.throw_if_stopped();
  }

  void long_row(uint64_t row) {
    const Range range = rows_.row(row);
    const Context::Part part(context_, range.size());
    Topk<K>(context_, r_.order, row_begin(row), range.size(), k_of(range.size()), output_of<K>(r_, row * r_.k)).run();
    fill(row);
  }

  // The entries that a row of fewer than k elements leaves.
  void fill(uint64_t row) const {
    const TopkOutput<K> out = output_of<K>(r_, row * r_.k);
    for (uint64_t i = k_of(rows_.row(row).size()); i < r_.k; ++i) out.put(i, K{0}, UINT64_MAX);
  }

  const K *row_begin(uint64_t row) const { return static_cast<const K *>(r_.in) + rows_.row(row).begin; }

  // Whether it was so short that this is the way.
  bool select_few(uint64_t row, const TopkScratch &scratch) const {
    const uint64_t size = rows_.row(row).size(), k = k_of(size);
    if (k == 0) return true;
    const TopkOutput<K> out = output_of<K>(r_, row * r_.k);
    return topk_few({r_.order, row_begin(row), size, k, out.values, out.indices, out.index_bytes}, scratch);
  }

  void filter_row(uint64_t row, Candidate<K, uint32_t> *candidates) const {
    const uint64_t size = rows_.row(row).size(), k = k_of(size);
    if (k == 0) return;
    TopkFilter<K, uint32_t> best(candidates, k);
    best.offer(codec_, row_begin(row), 0, size);
    select_and_sort(candidates, best.finish(), k);
    const TopkOutput<K> out = output_of<K>(r_, row * r_.k);
    for (uint64_t i = 0; i < k; ++i) out.put(i, codec_.decode(candidates[i].key), candidates[i].index);
  }

  void sort_row(uint64_t row, const Records<K, uint32_t> &records) const {
    const uint64_t size = rows_.row(row).size(), k = k_of(size);
    load_records<K, uint32_t>(codec_, row_begin(row), nullptr, 0, size, records);
    sort_block(records, records.at(size), static_cast<uint32_t>(size), sizeof(K) * 8, false);
    const TopkOutput<K> out = output_of<K>(r_, row * r_.k);
    for (uint64_t i = 0; i < k; ++i) out.put(i, codec_.decode(records.keys[i]), records.values[i]);
  }

  static constexpr uint64_t kRowItemsMax = uint64_t{1} << 20;

  Context &context_;
  const Request &r_;
  TopkRowSet rows_;
  KeyCodec<K> codec_;
  uint64_t filter_room_ = 0, sort_room_ = 0, scratch_room_ = 0, long_rows_ = 0;
};

template <class K>
class TopkShareOf final : public TopkShare {
 public:
  TopkShareOf(HostMemory &memory, const Request &r, uint32_t workers)
      : memory_(memory),
        r_(r),
        codec_(make_codec<K>(r.order)),
        room_(Filter::room(r.k)),
        candidates_(memory, workers * room_) {
    for (uint32_t worker = 0; worker < workers; ++worker)
      filters_.emplace_back(candidates_.data() + worker * room_, r.k);
  }

  void offer(uint64_t begin, uint64_t end, uint32_t worker) noexcept override {
    filters_[worker].go_before(end);
    filters_[worker].offer(codec_, elements(), begin, end);
  }

  void select(const std::vector<uint64_t> &others) override {
    uint64_t count = others.size();
    for (Filter &filter : filters_) count += filter.finish();
    const HostBuffer<Candidate<K, uint64_t>> all(memory_, count);
    Candidate<K, uint64_t> *next = all.data();
    for (const uint64_t index : others) *next++ = {codec_.encode(elements()[index]), index};
    for (uint64_t worker = 0; worker < filters_.size(); ++worker) {
      const Candidate<K, uint64_t> *const kept = candidates_.data() + worker * room_;
      next = std::copy(kept, kept + filters_[worker].finish(), next);
    }
    select_and_sort(all.data(), count, r_.k);
    const TopkOutput<K> out = output_of<K>(r_, 0);
    for (uint64_t i = 0; i < r_.k; ++i) out.put(i, codec_.decode(all[i].key), all[i].index);
  }

 private:
  using Filter = TopkFilter<K, uint64_t>;

  const K *elements() const { return static_cast<const K *>(r_.in); }

  HostMemory &memory_;
  const Request &r_;
  const KeyCodec<K> codec_;
  const uint64_t room_;  // candidates of each worker
  const HostBuffer<Candidate<K, uint64_t>> candidates_;
  std::vector<Filter> filters_;
};

}  // namespace

std::unique_ptr<TopkShare> make_topk_share(HostMemory &memory, const Request &request, uint32_t workers) {
  return with_width(dtype_bytes(request.order.dtype), [&](auto tag) -> std::unique_ptr<TopkShare> {
    return std::make_unique<TopkShareOf<typename decltype(tag)::type>>(memory, request, workers);
  });
}

void cpu_topk(Context &context, const Request &r) {
  if (r.n == 0 || r.k == 0) return;
  with_width(dtype_bytes(r.order.dtype), [&](auto tag) {
    using K = typename decltype(tag)::type;
    Topk<K>(context, r.order, static_cast<const K *>(r.in), r.n, r.k, output_of<K>(r, 0)).run();
  });
}

void cpu_topk_rows(Context &context, const Request &r) {
  if (TopkRowSet(r).rows() == 0 || r.k == 0) return;
  with_width(dtype_bytes(r.order.dtype), [&](auto tag) { TopkRows<typename decltype(tag)::type>(context, r).run(); });
}

}  // namespace gsort_internal
