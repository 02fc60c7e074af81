// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/topk/few.h"

#include <cstring>
#include <type_traits>

#include "core/random_draws.h"
#include "cpu/engine/float_environment.h"
#include "cpu/engine/operations.h"
#include "cpu/primitive/scatter.h"
#include "cpu/sort/record_sort.h"
#include "cpu/topk/output.h"
#include "cpu/vector/select.h"
#include "cpu/vector/sort.h"

namespace gsort_internal {

namespace {

// A bound that at least k elements do not come after, or most likely so: the k-th of the least keys of sets, which
// takes so many sets for each of the k, and so many elements a set; or one of some that are drawn.
constexpr uint64_t kSetsOfK = 3, kBlocksMax = 128;
constexpr uint64_t kSetsOfN = 2;  // fewer elements are sooner sorted all, as are so many keys alone, by a network
constexpr uint64_t kDrawnItemsMin = 512, kDraws = 256;
constexpr uint64_t kDrawnMost = 4, kDrawnLeast = 512;  // elements for each of the k, for which draws are worth it
constexpr uint64_t kMoreThanK = 256;                   // that are before a bound by sets, where mostly few are
constexpr uint64_t kItemsMax = 1 << 16;                // of more, other ways are as quick
constexpr uint64_t kFewRecords = 128;                  // 8-byte keys with places, which are no words
static_assert(kDraws <= kMoreThanK + kSelectRoom, "the least room holds them");

// How many come before a bound by draws.
uint64_t found_by_draws(uint64_t n, uint64_t k) { return rank_of_bound(n, k, kDraws) * (n / kDraws + 1); }
bool is_for_draws(uint64_t n, uint64_t k) { return n >= kDrawnItemsMin && k <= n / kDrawnMost && k >= n / kDrawnLeast; }

template <class K>
class SelectFew {
 public:
  SelectFew(const FewTopk &t, const TopkScratch &scratch)
      : n_(t.n),
        k_(t.k),
        order_(t.order),
        codec_(make_codec<K>(t.order)),
        in_(static_cast<const K *>(t.in)),
        out_{static_cast<K *>(t.values_out), t.indices_out, t.index_bytes},
        places_(scratch.places),
        keys_(static_cast<K *>(scratch.memory)),
        words_(static_cast<Word *>(scratch.memory)),
        room_(scratch.room) {}

  bool run() const {
    const SelectKernels<K> *const kernels = select_kernels(K{});
    if (kernels == nullptr) return false;
    if (k_ == 1) {
      const FirstOfLeast<K> best = kernels->least(codec_, in_, n_);
      out_.put(0, codec_.decode(best.key), best.index);
      return true;
    }
    if (room_ < kMoreThanK + kSelectRoom) return false;
    const uint64_t sets = kernels->minima_sets;
    if (k_ <= sets / kSetsOfK && n_ >= kSetsOfN * sets + (out_.indices == nullptr ? 1 : 0) &&
        has_room(2 * k_ * (n_ / (blocks_of(sets) * sets))))
      return sort_before(*kernels, bound_by_sets(*kernels));
    if (is_for_draws(n_, k_) && has_room(found_by_draws(n_, k_))) return sort_before(*kernels, bound_by_draws());
    return out_.indices == nullptr ? sort_all_keys() : sort_all_places();
  }

 private:
  static constexpr gsort_dtype kUnsigned = sizeof(K) == 1   ? GSORT_U8
                                           : sizeof(K) == 2 ? GSORT_U16
                                           : sizeof(K) == 4 ? GSORT_U32
                                                            : GSORT_U64;
  // A word is a key and, below it, its place: no two are equal, so their order is the stable one.
  using Word = std::conditional_t<sizeof(K) >= 4, uint64_t, uint32_t>;
  static constexpr uint32_t kPlaceBits = sizeof(Word) * 4;
  static_assert(kItemsMax <= uint64_t{1} << kPlaceBits, "places fit");

  uint64_t blocks_of(uint64_t sets) const { return min_u64(n_ / sets, kBlocksMax); }
  // Whether there is for so many, and as many more as kernels may write behind them.
  bool has_room(uint64_t found) const { return found + kSelectRoom <= room_; }
  static void sort_ordered(K *keys, uint64_t count) {
    if constexpr (sizeof(K) >= 4) {
      sort_kernels(K{})->sort_few(kUnsignedOrder, keys, keys, count);
    } else {
      sort_few_keys({kUnsigned, false, false}, keys, keys, count);
    }
  }

  // On its own, so that its memory is no part of another frame.
  __attribute__((noinline)) K bound_by_sets(const SelectKernels<K> &kernels) const {
    const uint32_t sets = kernels.minima_sets;
    const uint64_t blocks = blocks_of(sets), part = n_ / blocks;
    uint32_t starts[kBlocksMax];
    K least[kMinimaSetsMax / sizeof(K)];
    for (uint64_t b = 0; b < blocks; ++b) starts[b] = static_cast<uint32_t>(b * part);
    kernels.minima(codec_, in_, starts, static_cast<uint32_t>(blocks), least);
    sort_ordered(least, sets);
    return least[k_ - 1];
  }
  K bound_by_draws() const {
    RandomDraws draws(n_);
    for (uint64_t i = 0; i < kDraws; ++i) keys_[i] = codec_.encode(in_[draws.below_short(n_)]);
    sort_ordered(keys_, kDraws);
    return keys_[min_u64(rank_of_bound(n_, k_, kDraws), kDraws - 1)];
  }

  bool sort_before(const SelectKernels<K> &kernels, K bound) const {
    if constexpr (sizeof(K) >= 4)
      if (out_.indices == nullptr) return sort_keys_before(kernels, bound);
    return sort_places_before(kernels, bound);
  }

  // Finds the first of those that are the bound, until there are k with the `count` before it, and no further; false if
  // there are not. Their places go behind those of the others.
  bool find_bound(const SelectKernels<K> &kernels, K bound, uint64_t &count) const {
    if (count >= k_) return true;
    kernels.equal(codec_, in_, n_, bound, places_, k_ + kSelectRoom - 1, &count);
    if (count < k_) return false;
    count = k_;
    return true;
  }

  // Keys that are equal are the same bits: those that are the bound need not be fetched, but as many must be there.
  bool sort_keys_before(const SelectKernels<K> &kernels, K bound) const {
    uint64_t count = 0;
    if (room_ < k_ + kSelectRoom || kernels.keys_below(codec_, in_, n_, bound, keys_, room_, &count) < n_) return false;
    if (uint64_t all = count; !find_bound(kernels, bound, all)) return false;
    encode_keys(codec_, keys_, keys_, count);
    if (count > 1) sort_ordered(keys_, count);
    for (uint64_t i = count; i < k_; ++i) keys_[i] = bound;
    decode_keys(codec_, keys_, k_);
    std::memcpy(out_.values, keys_, k_ * sizeof(K));
    return true;
  }

  bool sort_places_before(const SelectKernels<K> &kernels, K bound) const {
    uint64_t count = 0;
    if (room_ < k_ + kSelectRoom || kernels.below(codec_, in_, n_, bound, places_, room_, &count) < n_) return false;
    if (!find_bound(kernels, bound, count)) return false;
    if constexpr (sizeof(K) <= 4) {
      sort_words(count, [this](uint64_t i) { return places_[i]; });
    } else {
      sort_records(count);
    }
    return true;
  }
  // By their places_, which rise.
  void sort_records(uint64_t count) const {
    uint32_t *const order = places_ + room_;
    for (uint64_t i = 0; i < count; ++i) keys_[i] = codec_.encode(in_[places_[i]]);
    if (count <= kFewRecords &&
        index_few_keys({kUnsigned, false, false}, false, keys_, count, sizeof order[0], order)) {
      for (uint64_t i = 0; i < k_; ++i) out_.put(i, in_[places_[order[i]]], places_[order[i]]);
      return;
    }
    const Records<K, uint32_t> records{keys_, places_}, scratch{keys_ + room_, order};
    const uint32_t items = static_cast<uint32_t>(count), bits = sizeof(K) * 8;
    if (!sort_by_words(records, scratch, items, bits, true, words_ + 2 * room_))
      sort_block(records, scratch, items, bits, true);
    for (uint64_t i = 0; i < k_; ++i) out_.put(i, in_[order[i]], order[i]);
  }

  bool sort_all_keys() const {
    if (n_ > room_) return false;
    if constexpr (sizeof(K) < 4) {
      if (!are_few_keys(order_, n_)) return false;
      sort_few_keys(order_, in_, keys_, n_);
    } else if (!order_.nan_last) {
      sort_kernels(K{})->sort_few(order_number(order_), in_, keys_, n_);
    } else {
      encode_keys(codec_, in_, keys_, n_);
      sort_ordered(keys_, n_);
      decode_keys(codec_, keys_, k_);
    }
    std::memcpy(out_.values, keys_, k_ * sizeof(K));
    return true;
  }

  bool sort_all_places() const {
    if (n_ > room_) return false;
    if (index_few_keys(order_, false, in_, n_, sizeof places_[0], places_)) {
      for (uint64_t i = 0; i < k_; ++i) out_.put(i, in_[places_[i]], places_[i]);
      return true;
    }
    if constexpr (sizeof(K) <= 4) {
      sort_words(n_, [](uint64_t i) { return i; });
    } else {
      for (uint64_t i = 0; i < n_; ++i) places_[i] = static_cast<uint32_t>(i);
      sort_records(n_);
    }
    return true;
  }

  template <class Place>
  void sort_words(uint64_t count, Place &&place) const {
    for (uint64_t i = 0; i < count; ++i)
      words_[i] = static_cast<Word>(static_cast<Word>(codec_.encode(in_[place(i)])) << kPlaceBits | place(i));
    sort_kernels(Word{})->sort_few(kUnsignedOrder, words_, words_, count);
    constexpr Word places = (Word{1} << kPlaceBits) - 1;
    for (uint64_t i = 0; i < k_; ++i) {
      const uint64_t at = words_[i] & places;
      out_.put(i, in_[at], at);
    }
  }

  uint64_t n_, k_;
  KeyOrder order_;
  KeyCodec<K> codec_;
  const K *in_;
  TopkOutput<K> out_;
  uint32_t *places_;
  K *keys_;  // the same memory as words_: one of them is in use
  Word *words_;
  uint64_t room_;
};

}  // namespace

uint64_t topk_scratch_room(uint64_t n, uint64_t k) {
  if (n > kItemsMax || sort_kernels(uint32_t{}) == nullptr) return 0;
  const uint64_t found = is_for_draws(n, k) ? 2 * found_by_draws(n, k) : k > n / kDrawnMost ? n : 0;
  return max_u64(k + kMoreThanK, found) + kSelectRoom;
}

bool topk_few(const FewTopk &t, const TopkScratch &scratch) noexcept {
  if (t.n > kItemsMax || sort_kernels(uint32_t{}) == nullptr) return false;
  const FloatEnvironment float_environment;  // keys of 8 bytes may be compared as floats
  return with_width(dtype_bytes(t.order.dtype),
                    [&](auto tag) { return SelectFew<typename decltype(tag)::type>(t, scratch).run(); });
}

}  // namespace gsort_internal
