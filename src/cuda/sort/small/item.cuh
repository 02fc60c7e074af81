// SPDX-License-Identifier: MIT OR Apache-2.0
// What the sorts of short inputs move: a key in ordered bits, alone or with its place in the input. With the place
// items are distinct, so any sort of them is the stable sort of the keys.
#ifndef GSORT_CUDA_SORT_SMALL_ITEM_CUH_
#define GSORT_CUDA_SORT_SMALL_ITEM_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/warp.cuh"

namespace gsort_internal::sort::small {

struct WideItem {
  uint64_t key;
  uint32_t index;
};
__device__ __forceinline__ bool operator<(const WideItem &a, const WideItem &b) {
  return a.key < b.key || (a.key == b.key && a.index < b.index);
}
__device__ __forceinline__ bool operator>(const WideItem &a, const WideItem &b) { return b < a; }

// Places of keys of 1 and 2 bytes must be below 2^13: with more bits than they need, bins would stay empty.
template <class U, bool kSources>
struct ItemCodecOf {
  using Item = typename std::conditional<
      kSources,
      typename std::conditional<sizeof(U) == 8, WideItem,
                                typename std::conditional<sizeof(U) == 4, uint64_t, uint32_t>::type>::type,
      typename std::conditional<sizeof(U) == 8, uint64_t, uint32_t>::type>::type;
  static constexpr bool kPlaced = kSources;
  static constexpr uint32_t kIndexBits = !kSources || sizeof(U) == 8 ? 0 : sizeof(U) == 4 ? 32 : 13;

  static __device__ __forceinline__ Item make(U key, uint32_t index) {
    if constexpr (sizeof(U) == 8 && kSources)
      return {key, index};
    else if constexpr (kSources)
      return static_cast<Item>(static_cast<Item>(key) << kIndexBits | index);
    else
      return key;
  }
  static __device__ __forceinline__ U key(const Item &item) {
    if constexpr (sizeof(U) == 8 && kSources)
      return item.key;
    else
      return static_cast<U>(item >> kIndexBits);
  }
  static __device__ __forceinline__ uint32_t index(const Item &item) {
    if constexpr (sizeof(U) == 8 && kSources)
      return item.index;
    else if constexpr (kSources)
      return static_cast<uint32_t>(item & ((Item{1} << kIndexBits) - 1));
    else
      return 0;
  }
};

// No item orders above greatest_item() or below least_item().
template <class Item>
__device__ __forceinline__ Item greatest_item() {
  if constexpr (std::is_same<Item, WideItem>::value)
    return {~uint64_t{0}, ~uint32_t{0}};
  else
    return static_cast<Item>(~Item{0});
}
template <class Item>
__device__ __forceinline__ Item least_item() {
  if constexpr (std::is_same<Item, WideItem>::value)
    return {0, 0};
  else
    return 0;
}

// The leading bits of an item that an integer holds.
template <class Item>
using ItemHead = typename std::conditional<std::is_same<Item, WideItem>::value, uint64_t, Item>::type;
template <class Item>
__device__ __forceinline__ ItemHead<Item> item_head(const Item &item) {
  if constexpr (std::is_same<Item, WideItem>::value)
    return item.key;
  else
    return item;
}

template <class Item>
__device__ __forceinline__ Item shuffle_item(const Item &item, uint32_t lanes_xor) {
  if constexpr (std::is_same<Item, WideItem>::value)
    return {__shfl_xor_sync(kFullWarp, item.key, lanes_xor), __shfl_xor_sync(kFullWarp, item.index, lanes_xor)};
  else
    return __shfl_xor_sync(kFullWarp, item, lanes_xor);
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_ITEM_CUH_
