// SPDX-License-Identifier: MIT OR Apache-2.0
// Splitters of the MSD sort: one block cuts the key range into bins that hold about equally many keys of a sorted
// sample, however they lie.
#ifndef GSORT_CUDA_SORT_MSD_SPLIT_BINS_CUH_
#define GSORT_CUDA_SORT_MSD_SPLIT_BINS_CUH_

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/sort/msd/split_state.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

constexpr uint32_t kSplitThreads = 1024;

template <class U>
struct SplitStorage {
  U sample[kSplitSampleMax];  // sorted
  U starts[kSplitBinsMax + 1];
  uint32_t before[kSplitRoots + 1];  // sampled keys below an entry
  uint16_t base[kSplitRoots];        // first bin of an entry
  uint16_t bin_entry[kSplitBinsMax];
  uint16_t searched[kSplitRoots];    // not 0: the entry's keys lie unevenly
  uint16_t kept[kSplitBinsMax + 1];  // bins without those that no key has
  uint32_t sub[kSplitRoots / 2];     // of entries, two a word: number of its own table and one, or 0
  uint32_t table[kSplitSubWords];
  uint32_t sub_words[kSplitSubsMax], sub_entry[kSplitSubsMax];
  U sub_least[kSplitSubsMax];
  uint32_t subs, table_words;
  uint32_t warp_totals[kSplitThreads / 32];
};

// The number of sampled keys below `key`.
template <class U>
__device__ __noinline__ uint32_t sampled_below(const U *sample, uint32_t count, U key) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (sample[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Where part `part` of `parts` equal ones of an entry begins, above the entry's least key: see SplitBins::rest.
template <class U>
__device__ __forceinline__ U part_begin(uint32_t part, uint32_t parts, uint32_t shift) {
  const uint64_t rest = ((uint64_t{part} << 32) + parts - 1) / parts;
  if (shift >= 32) return static_cast<U>(rest << (shift - 32));
  return static_cast<U>((rest + (uint64_t{1} << (32 - shift)) - 1) >> (32 - shift));
}

template <class U>
struct SplitEntry {
  U least;  // 0 for the first entry, which has what lies below the sample too
  U own_least;
  uint32_t first, sampled, bins, base;
  bool heavy;
};

// Start of bin `number` of an entry that is searched: of every share-th sampled key, the last of some equal ones stands
// for the next value, so that the bin before is theirs alone.
template <class U>
__device__ __forceinline__ U searched_start(const SplitStorage<U> &storage, const SplitEntry<U> &entry, uint32_t number,
                                            uint32_t share, uint32_t shift) {
  constexpr U kLast = static_cast<U>(~U{0});
  if (number == 0) return entry.least;
  if (shift == 0) {
    const bool below = entry.own_least != entry.least && number == 1;
    return entry.own_least + (!below && entry.own_least != kLast ? 1 : 0);
  }
  const U *const sampled = storage.sample + entry.first;
  const U key = sampled[number * share];
  const bool same_before = sampled[(number - 1) * share] == key;
  const bool same_behind = number + 1 < entry.bins && sampled[(number + 1) * share] == key;
  return key + (same_before && !same_behind && key != kLast ? 1 : 0);
}

template <class U>
class SplitMaker {
 public:
  __device__ SplitMaker(const SplitArguments<U> &arguments, SplitStorage<U> &storage)
      : arguments_(arguments), storage_(storage), count_(arguments.plan.sample), share_(arguments.plan.share) {}

  // storage.sample is filled and sorted; behind a barrier.
  __device__ __forceinline__ void make() {
    least_ = storage_.sample[0];
    const U range = static_cast<U>(storage_.sample[count_ - 1] - least_);
    const uint32_t bits = bit_width(range);
    shift_ = bits > kSplitRootBits ? bits - kSplitRootBits : 0;
    count_entries(range);
    const uint32_t all = number_bins();
    find_uneven(all);
    const uint32_t bins = drop_empty_bins(all);
    write_bins(bins);
    make_sub_tables();
    write_root();
    if (threadIdx.x != 0) return;
    SplitState<U> &state = *arguments_.state;
    state.bins = bins;
    state.subs = storage_.subs;
    state.shift = shift_;
    state.tickets = state.moved = state.cells = state.bigs = state.fills = state.finish_tickets = 0;
    state.least = least_;
    // What lies above the sample is with the last bin of the last entry.
    const U room = static_cast<U>(~U{0} - least_), most = static_cast<U>(static_cast<U>(used_) << shift_);
    state.most = most == 0 || static_cast<U>(most - 1) > room || (static_cast<U>(most >> shift_) != used_)
                     ? static_cast<U>(~U{0})
                     : static_cast<U>(least_ + (most - 1));
  }

 private:
  __device__ __forceinline__ U entry_least(uint32_t entry) const {
    return static_cast<U>(least_ + (static_cast<U>(entry) << shift_));
  }

  // Sampled keys below each entry. Entries above the sample's last key have none.
  __device__ __forceinline__ void count_entries(U range) {
    used_ = static_cast<uint32_t>(range >> shift_) + 1;
    for (uint32_t entry = threadIdx.x; entry <= kSplitRoots; entry += kSplitThreads) {
      storage_.before[entry] = entry < used_ ? sampled_below(storage_.sample, count_, entry_least(entry)) : count_;
      if (entry < kSplitRoots) storage_.searched[entry] = 0;
    }
    __syncthreads();
  }

  __device__ __forceinline__ uint32_t sampled(uint32_t entry) const {
    return storage_.before[entry + 1] - storage_.before[entry];
  }
  __device__ __forceinline__ bool heavy(uint32_t entry) const { return sampled(entry) >= 2 * share_; }
  __device__ __forceinline__ uint32_t bins_of_heavy(uint32_t entry) const {
    if (shift_ == 0) return entry == 0 ? 3 : 2;
    return sampled(entry) / share_;
  }

  // Bins that begin with an entry: several for one with many sampled keys, one for neighbours with few.
  __device__ __forceinline__ uint32_t bins_from(uint32_t entry) const {
    if (entry >= used_) return 0;  // what lies there is with the last bin
    if (heavy(entry)) return bins_of_heavy(entry);
    if (entry == 0 || heavy(entry - 1)) return 1;
    return storage_.before[entry] / share_ != storage_.before[entry - 1] / share_;
  }

  __device__ __forceinline__ uint32_t number_bins() {
    constexpr uint32_t kOwn = kSplitRoots / kSplitThreads;
    uint32_t own = 0, bins;
    for (uint32_t i = 0; i < kOwn; ++i) own += bins_from(threadIdx.x * kOwn + i);
    uint32_t next = block_exclusive_sum<kSplitThreads>(own, storage_.warp_totals, bins);
    for (uint32_t i = 0; i < kOwn; ++i) {
      const uint32_t entry = threadIdx.x * kOwn + i, more = bins_from(entry);
      for (uint32_t bin = 0; bin < more; ++bin) storage_.bin_entry[next + bin] = static_cast<uint16_t>(entry);
      next += more;
      storage_.base[entry] = static_cast<uint16_t>(heavy(entry) ? next - more : next - 1);
    }
    __syncthreads();
    return bins;
  }

  __device__ __forceinline__ SplitEntry<U> entry_of(uint32_t bin) const {
    const uint32_t entry = storage_.bin_entry[bin];
    SplitEntry<U> result;
    result.own_least = entry_least(entry);
    result.least = entry == 0 ? U{0} : result.own_least;
    result.first = storage_.before[entry];
    result.sampled = sampled(entry);
    result.heavy = heavy(entry);
    result.bins = result.heavy ? bins_of_heavy(entry) : 1;
    result.base = storage_.base[entry];
    return result;
  }

  // Entries that equal parts would not spread are searched instead.
  __device__ __forceinline__ void find_uneven(uint32_t bins) {
    for (uint32_t bin = threadIdx.x; bin < bins; bin += kSplitThreads) {
      const SplitEntry<U> entry = entry_of(bin);
      if (!entry.heavy) continue;
      bool uneven = shift_ == 0;
      if (!uneven) {
        const uint32_t number = bin - entry.base, end = entry.first + entry.sampled;
        const auto below = [&](uint32_t part) {
          if (part == entry.bins) return end;
          const U begin = static_cast<U>(entry.own_least + part_begin<U>(part, entry.bins, shift_));
          return min(sampled_below(storage_.sample, count_, begin), end);
        };
        uneven = below(number + 1) - below(number) > 2 * share_ + share_ / 4 + 3;
      }
      if (uneven) storage_.searched[storage_.bin_entry[bin]] = 1;
    }
    __syncthreads();
  }

  __device__ __forceinline__ U start_of(uint32_t bin) const {
    const SplitEntry<U> entry = entry_of(bin);
    const uint32_t number = bin - entry.base;
    if (!entry.heavy || number == 0) return entry.least;
    if (storage_.searched[storage_.bin_entry[bin]] != 0) return searched_start(storage_, entry, number, share_, shift_);
    return static_cast<U>(entry.own_least + part_begin<U>(number, entry.bins, shift_));
  }

  // Of bins that are searched and begin at the same key the last has all keys. Returns how many bins are left.
  __device__ __forceinline__ uint32_t drop_empty_bins(uint32_t bins) {
    static_assert(kSplitBinsMax <= kSplitThreads, "a thread a bin");
    const uint32_t bin = threadIdx.x;
    const U start = bin < bins ? start_of(bin) : U{0};
    const uint32_t entry = bin < bins ? storage_.bin_entry[bin] : 0;
    if (bin <= bins && bin < kSplitBinsMax + 1) storage_.starts[bin] = start;
    __syncthreads();
    const bool kept = bin < bins && !(storage_.searched[entry] != 0 && bin + 1 < bins &&
                                      storage_.bin_entry[bin + 1] == entry && storage_.starts[bin + 1] == start);
    uint32_t left;
    const uint32_t number = block_exclusive_sum<kSplitThreads>(kept, storage_.warp_totals, left);
    if (bin <= bins) storage_.kept[bin] = static_cast<uint16_t>(number);
    if (kept) storage_.starts[number] = start, storage_.bin_entry[number] = static_cast<uint16_t>(entry);
    if (bin == 0) storage_.starts[left] = 0, storage_.subs = storage_.table_words = 0;
    __syncthreads();
    return left;
  }

  // Digits of a bin: between its sampled keys and as much on either side, or shared out between them.
  __device__ __forceinline__ void write_digits(uint32_t bin, U start, U last, SplitKind kind) {
    U low = start, high = last;
    const uint32_t digit_bits = arguments_.plan.digit_bits;
    const uint32_t first = sampled_below(storage_.sample, count_, start);
    uint32_t sampled = count_ - first;
    if (last != static_cast<U>(~U{0}))
      sampled = sampled_below(storage_.sample, count_, static_cast<U>(last + 1)) - first;
    if (kind == SplitKind::kWide && sampled != 0) {
      const U least = storage_.sample[first], most = storage_.sample[first + sampled - 1], wide = most - least;
      low = static_cast<U>(least - min(wide, static_cast<U>(least - start)));
      high = static_cast<U>(most + min(wide, static_cast<U>(last - most)));
    }
    const uint32_t bits = bit_width(static_cast<U>(high - low));
    uint32_t shift = bits > digit_bits ? bits - digit_bits : 0;
    if (kind == SplitKind::kWide && sampled >= kSplitKnots / 2 && lie_unevenly(first, sampled, low, shift)) {
      write_knots(bin, start, last, first, sampled);
      shift = kSplitUneven;
    }
    arguments_.digit_least[bin] = low;
    arguments_.digit_shift[bin] = shift;
  }

  // Whether more than half of the sampled keys have one of sixteen equal shares of the digits. Spread evenly, they have
  // five shares or more.
  __device__ __forceinline__ bool lie_unevenly(uint32_t first, uint32_t sampled, U low, uint32_t shift) const {
    uint32_t run = 0, share = ~0u;
#pragma unroll 1
    for (uint32_t i = 0; i < sampled; ++i) {
      const uint32_t own =
          static_cast<uint32_t>((storage_.sample[first + i] - low) >> shift) >> (arguments_.plan.digit_bits - 4);
      run = own == share ? run + 1 : 1;
      share = own;
      if (2 * run > sampled + 2) return true;
    }
    return false;
  }

  __device__ __forceinline__ void write_knots(uint32_t bin, U start, U last, uint32_t first, uint32_t sampled) {
    U knot = start;
#pragma unroll 1
    for (uint32_t i = 0; i < kSplitKnots; ++i) {
      const U end =
          i + 1 < kSplitKnots ? static_cast<U>(storage_.sample[first + i * sampled / (kSplitKnots - 1)]) : last;
      const uint32_t bits = bit_width(static_cast<U>(end - knot)), own = arguments_.plan.digit_bits - kSplitKnotBits;
      arguments_.knots[bin * kSplitKnots + i] = knot;
      arguments_.knot_shift[bin * kSplitKnots + i] = bits > own ? bits - own : 0;
      knot = end;
    }
  }

  __device__ __forceinline__ void write_bins(uint32_t bins) {
    const uint32_t bin = threadIdx.x;
    if (bin > bins || bin > kSplitBinsMax) return;
    const U start = storage_.starts[bin];
    arguments_.starts[bin] = start;
    if (bin == bins) return;
    const U width = split_width(storage_.starts, bin), last = static_cast<U>(storage_.starts[bin + 1] - 1);
    SplitKind kind = width < U{1} << arguments_.plan.digit_bits ? SplitKind::kNarrow : SplitKind::kWide;
    if (width == 0 && storage_.searched[storage_.bin_entry[bin]] != 0) kind = SplitKind::kValue;
    arguments_.kinds[bin] = kind;
    arguments_.bin_counts[bin] = 0;
    // A bin without a key may begin where the next one does.
    write_digits(bin, start, last < start ? start : last, kind);
  }

  __device__ __forceinline__ uint32_t kept_base(uint32_t entry) const { return storage_.kept[storage_.base[entry]]; }
  __device__ __forceinline__ uint32_t kept_bins(uint32_t entry) const {
    if (!heavy(entry)) return 1;
    return storage_.kept[storage_.base[entry] + bins_of_heavy(entry)] - kept_base(entry);
  }

  // Tables of their own for entries in which many bins would have to be searched.
  __device__ __forceinline__ void make_sub_tables() {
    for (uint32_t i = threadIdx.x; i < kSplitRoots / 2; i += kSplitThreads) storage_.sub[i] = 0;
    __syncthreads();
    for (uint32_t entry = threadIdx.x; entry < kSplitRoots; entry += kSplitThreads) {
      const uint32_t bins = storage_.searched[entry] != 0 ? kept_bins(entry) : 0;
      if (bins < kSplitSubBinsMin) continue;
      const uint32_t base = kept_base(entry);
      const U least = storage_.starts[base + 1], range = static_cast<U>(storage_.starts[base + bins - 1] - least);
      const uint32_t words = sub_number(range) + 1, first = atomicAdd(&storage_.table_words, words);
      if (first + words > kSplitSubWords) continue;  // it stays searched
      const uint32_t sub = atomicAdd(&storage_.subs, 1u);
      if (sub >= kSplitSubsMax) continue;
      storage_.sub_entry[sub] = entry;
      storage_.sub_least[sub] = least;
      storage_.sub_words[sub] = (words - 1) | (kSplitRoots + first) << 16;
      atomicOr(&storage_.sub[entry / 2], (sub + 1) << entry % 2 * 16);
    }
    __syncthreads();
    for (uint32_t sub = 0; sub < min(storage_.subs, kSplitSubsMax); ++sub) fill_sub_table(storage_.sub_entry[sub], sub);
    __syncthreads();
    if (threadIdx.x == 0) storage_.subs = min(storage_.subs, kSplitSubsMax);
    __syncthreads();
  }

  __device__ __forceinline__ uint32_t bin_of(U key, uint32_t base, uint32_t bins) const {
    uint32_t bin = base;
    while (bins > 1) {
      const uint32_t half = bins / 2;
      if (storage_.starts[bin + half] <= key) bin += half;
      bins -= half;
    }
    return bin;
  }

  __device__ __forceinline__ void fill_sub_table(uint32_t entry, uint32_t sub) {
    const uint32_t base = kept_base(entry), bins = kept_bins(entry), words = storage_.sub_words[sub];
    const uint32_t last = words & 0xffffu;
    const U least = storage_.sub_least[sub];
    for (uint32_t i = threadIdx.x; i <= last; i += kSplitThreads) {
      const U begin = static_cast<U>(least + sub_number_begin<U>(i));
      const U end = static_cast<U>(least + (sub_number_begin<U>(i + 1) - 1));
      const uint32_t low = i == 0 ? base : bin_of(begin, base, bins);
      const uint32_t high = i == last ? base + bins - 1 : bin_of(end, base, bins);
      // Searched even if it is one bin, for that may be of one value.
      storage_.table[(words >> 16) - kSplitRoots + i] = low | (high - low + 1) << 10 | kSplitSearch;
    }
  }

  __device__ __forceinline__ void write_root() {
    for (uint32_t entry = threadIdx.x; entry < kSplitRoots; entry += kSplitThreads) {
      uint32_t word = kept_base(entry) | kept_bins(entry) << 10;
      if (storage_.searched[entry] != 0) word |= kSplitSearch;
      const uint32_t sub = storage_.sub[entry / 2] >> entry % 2 * 16 & 0xffffu;
      if (sub != 0) word = (sub - 1) | kSplitSub;
      arguments_.root[entry] = word;
    }
    for (uint32_t i = threadIdx.x; i < kSplitSubWords && storage_.subs != 0; i += kSplitThreads)
      arguments_.root[kSplitRoots + i] = storage_.table[i];
    if (threadIdx.x < kSplitSubsMax) {
      arguments_.sub_least[threadIdx.x] = storage_.sub_least[threadIdx.x];
      arguments_.sub_words[threadIdx.x] = storage_.sub_words[threadIdx.x];
    }
  }

  const SplitArguments<U> &arguments_;
  SplitStorage<U> &storage_;
  const uint32_t count_, share_;
  U least_ = 0;
  uint32_t shift_ = 0, used_ = 0;  // bits below the root's, entries that the sample reaches
};

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SPLIT_BINS_CUH_
