// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: sorts of up to two blocks of keys, each of which the registers hold.
#if defined(GSORT_CPU_VECTOR_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_BLOCKS_INL_H_
#undef GSORT_CPU_VECTOR_BLOCKS_INL_H_
#else
#define GSORT_CPU_VECTOR_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include "cpu/vector/network-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET

// Two sorted blocks and their merge cost less than a partition, whose larger side would be too large for one block.
template <class K>
constexpr size_t kNetworkKeys = 2 * kBlockKeys<K>;

// Sorts more than kBlockKeys keys, up to kNetworkKeys: two blocks, and a bitonic merge of rows that follow each other.
template <class K, bool kEncode>
class TwoBlocks {
 public:
  static HWY_NOINLINE void run(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
    const KeyTag<K> d;
    HWY_ALIGN LaneOf<K> second[kBlockKeys<K>];
    const size_t rest = n - kBlockKeys<K>;
    const SortCoder<K> to_inner = coder.encoding_only();
    for (size_t i = rest / kLanes<K> * kLanes<K>; i < kBlockKeys<K>; i += kLanes<K>)
      hn::Store(hn::Set(d, kGreatestLane<K>), d, second + i);
    sort_block_of_rows<K, kEncode>(to_inner, in + kBlockKeys<K>, second, rest);
    RowSort<K, kRowsMax<K>, kEncode>::run(to_inner, in, out, kBlockKeys<K>);
    KeyVec<K> v[kRowsMax<K>];
    part<0>(out, second, v);
    finish(v);
    store<0>(coder, v, out, kBlockKeys<K>);
    load_upper<0>(second, v);
    finish(v);
    store<0>(coder, v, out + kBlockKeys<K>, rest);
  }

 private:
  struct Lanes {
    template <size_t kRow>
    static HWY_INLINE void run(KeyVec<K> *v) {
      compare_lanes<K, kLanes<K> / 2>(v[kRow]);
    }
  };

  // Leaves the lower keys of both blocks in `v` and the others, in rows in the reverse order, in `second`.
  template <size_t kRow>
  static HWY_INLINE void part(const LaneOf<K> *first, LaneOf<K> *second, KeyVec<K> *v) {
    if constexpr (kRow < kRowsMax<K>) {
      const KeyTag<K> d;
      LaneOf<K> *const mirrored = second + (kRowsMax<K> - 1 - kRow) * kLanes<K>;
      const auto a = hn::LoadU(d, first + kRow * kLanes<K>), b = reverse_lanes<K, kLanes<K>>(hn::Load(d, mirrored));
      v[kRow] = hn::Min(a, b);
      hn::Store(not_lower<K>(v[kRow], a, b), d, mirrored);
      part<kRow + 1>(first, second, v);
    }
  }
  template <size_t kRow>
  static HWY_INLINE void load_upper(const LaneOf<K> *second, KeyVec<K> *v) {
    if constexpr (kRow < kRowsMax<K>) {
      v[kRow] = hn::Load(KeyTag<K>(), second + (kRowsMax<K> - 1 - kRow) * kLanes<K>);
      load_upper<kRow + 1>(second, v);
    }
  }
  static HWY_INLINE void finish(KeyVec<K> *v) {
    MergeRows<K, 0, kRowsMax<K>>::run_all(v);
    for_rows<0, kRowsMax<K>, Lanes>(v);
  }
  template <size_t kRow>
  static HWY_INLINE void store(const SortCoder<K> &coder, const KeyVec<K> *v, LaneOf<K> *out, size_t n) {
    RowSort<K, kRowsMax<K>, kEncode>::template store<kRow>(coder, v, out, n);
  }
};

// Sorts up to kNetworkKeys keys.
template <class K, bool kEncode>
HWY_INLINE void network_sort(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
  if (n > kBlockKeys<K>) return TwoBlocks<K, kEncode>::run(coder, in, out, n);
  sort_block_of_rows<K, kEncode>(coder, in, out, n);
}

#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_BLOCKS_INL_H_
