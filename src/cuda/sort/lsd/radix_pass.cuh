// SPDX-License-Identifier: MIT OR Apache-2.0
// One stable pass by an 8-bit digit: every key is read once and written once.
#ifndef GSORT_CUDA_SORT_LSD_RADIX_PASS_CUH_
#define GSORT_CUDA_SORT_LSD_RADIX_PASS_CUH_

#include <cstdint>
#include <type_traits>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/digit_rank.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/sort/job.h"
#include "cuda/sort/lsd/digit_look_back.cuh"
#include "cuda/sort/lsd/pass_action.cuh"
#include "cuda/sort/lsd/plan.h"
#include "cuda/sort/lsd/tile_store.cuh"

namespace gsort_internal::sort::lsd {

struct NoValue {};

// Whether blocks may stay and take tile after tile, rather than one each. Behind another sort that has done the work, a
// block that starts only to find nothing to do costs 0.7 ns (H200, 2026-11-21). On the other hand a tile takes up to 8%
// longer, which pairs cannot spare.
template <class V>
constexpr bool kPassMayStay = std::is_same<V, NoValue>::value;

// Whether tiles may look back by way of groups. With values the code for both ways takes 3 to 5% longer (H200,
// 2026-11-26).
template <class V, class Word>
constexpr bool kPassMayGroup = std::is_same<V, NoValue>::value && sizeof(Word) == 4;

template <class U>
struct PassParams : Arrays<U> {
  KeyCodec<U> codec;
  const PassAction *action;
  uint64_t *bases;         // [2][256]: first places of the digits in this portion and in the next
  uint32_t base_parity;    // which of them is this portion's
  uint32_t *look_back;     // [tiles][256]
  uint32_t *group_counts;  // [groups][256], 0 on entry; NULL: tiles look back by tiles alone
  uint32_t *next_tile;     // ticket, 0 on entry
  uint64_t begin;          // the portion
  uint64_t items;
  uint32_t tiles;  // of the portion
  uint32_t ahead;  // by how many tiles keys alone are fetched into the L2 cache before their turn
  uint32_t shift;
  bool values_are_indices;  // the first pass makes them up
  bool stays;               // the grid need not have a block for every tile; only where kPassMayStay
  FinalValues final_values;
};

// A tile of a chain of tiles whose digits look back at each other.
template <class Word>
struct TileJob {
  uint64_t begin;  // index of its first item
  uint32_t items;  // below the shape's kItems in the last tile of an array
  uint32_t tile;   // number within the chain
  Word *look_back;
  uint32_t *group_counts;  // or NULL
  const uint64_t *bases;
  uint64_t *bases_after;  // receives the ends of the chain's digits, or NULL
  uint32_t shift;
  uint32_t sort_parity;
};

template <class U, class V, class Shape>
struct PassStorage {
  static constexpr uint32_t kWideBytes =
      std::is_same<V, NoValue>::value || sizeof(V) < sizeof(U) ? sizeof(U) : sizeof(V);
  union {
    U keys[Shape::kItems];
    unsigned char bytes[Shape::kItems * kWideBytes];  // values, once the keys are stored
  };
  DigitRankStorage<Shape::kWarps> rank;
  uint64_t runs[kDigitBins];  // where each digit's items go; see tile_store.cuh
  uint32_t tile, shift;
  PassAction action;
};
static_assert(sizeof(PassStorage<uint32_t, uint32_t, LargeTile<4>>) <= 65536, "a block must fit an SM of sm_75");
static_assert(sizeof(PassStorage<uint64_t, uint64_t, SmallTile<8>>) <= 65536, "a block must fit an SM of sm_75");
static_assert(sizeof(PassStorage<uint64_t, uint64_t, LargeTile<8>>) <= kLargeTileSharedBytes,
              "the plan chooses by this size");

// Index within the tile of this thread's item of row 0; the next row is 32 further.
template <class Shape>
__device__ __forceinline__ uint32_t first_item() {
  return threadIdx.x / 32 * (32 * Shape::kRows) + lane_id();
}

// Items past the end become the greatest key: they are the last of it, so they end up behind all real keys.
template <class Shape, class U>
__device__ __forceinline__ void load_rows(const U *array, uint32_t items, U padding, U (&rows)[Shape::kRows]) {
  const uint32_t first = first_item<Shape>();
  if (items == Shape::kItems) {
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row) rows[row] = __ldcs(array + first + row * 32);
  } else {
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row)
      rows[row] = first + row * 32 < items ? array[first + row * 32] : padding;
  }
}

template <class Shape, class U>
__device__ __forceinline__ void load_keys(const U *array, uint32_t items, const KeyCodec<U> *codec,
                                          U (&keys)[Shape::kRows]) {
  constexpr U kGreatest = static_cast<U>(~U{0});
  load_rows<Shape>(array, items, codec == nullptr ? kGreatest : codec->decode(kGreatest), keys);
  if (codec == nullptr || codec->is_identity()) return;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) keys[row] = codec->encode(keys[row]);
}

// The digit of the tile, read anew where blocks stay.
template <class U, class V, class Shape, class Word>
__device__ __forceinline__ uint32_t shift_of(const PassStorage<U, V, Shape> &storage, const TileJob<Word> &job) {
  return kPassMayStay<V> ? storage.shift : job.shift;
}

// From keys in registers to sorted keys in shared memory with every run's destination known: first_place(digit) is
// where the chain's keys of a digit begin in `target`. digit_at(row): the digit of this thread's item. again(): behind
// the ranks; what it returns is asked for digits once more, and put(place, digit) hears where an item is. Leaves each
// item's place in the tile in `places`. Ends with a barrier.
template <class U, class V, class Shape, class Word, class DigitAt, class Again, class Put, class FirstPlace>
__device__ __forceinline__ void sort_tile_by(PassStorage<U, V, Shape> &storage, const TileJob<Word> &job,
                                             const U (&keys)[Shape::kRows], const U *target,
                                             PackedPlaces<Shape::kRows> &places, DigitAt digit_at, Again again, Put put,
                                             FirstPlace first_place) {
  using Status = LookBackWord<Word>;
  const uint32_t warp = threadIdx.x / 32;
  if (kPassMayStay<V> && threadIdx.x == 0) storage.shift = job.shift;
  rank_digits<Shape::kRows>(Shape::kRows, digit_at, storage.rank.counters[warp], places);
  __syncthreads();

  const Word total_status = Status::total_status(job.sort_parity);
  Word *own_words = job.look_back + uint64_t{job.tile} * kDigitBins;
  scan_counters<kPassMayStay<V>>(storage.rank, [&](uint32_t pair, uint32_t low, uint32_t high) {
    const Word status = job.tile == 0 ? total_status : Status::kOwn;
    store_relaxed(own_words + 2 * pair, status | low);
    store_relaxed(own_words + 2 * pair + 1, status | high);
    if constexpr (kPassMayGroup<V, Word>) {
      if (job.group_counts == nullptr) return;
      add_to_group(job.group_counts + 2 * pair, job.tile, low);
      add_to_group(job.group_counts + 2 * pair + 1, job.tile, high);
    }
  });

  const auto digit_again = again();
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t digit = digit_again(row), place = storage.rank.counters[warp][digit] + places.get(row);
    storage.keys[place] = keys[row];
    put(place, digit);
    places.reset(row, place);
  }

  if (threadIdx.x < kDigitBins) {
    const uint32_t digit = threadIdx.x;
    const uint32_t begin = storage.rank.run_begin[digit];
    const uint32_t count = storage.rank.run_begin[digit + 1] - begin;
    Word before;
    bool by_groups = false;
    if constexpr (kPassMayGroup<V, Word>) {
      by_groups = job.group_counts != nullptr;
      if (by_groups)
        before = look_back_by_groups(job.look_back + digit, job.group_counts + digit, job.tile, job.sort_parity);
    }
    if (!by_groups) before = look_back(job.look_back + digit, job.tile, job.sort_parity);
    if (job.tile != 0) store_relaxed(own_words + digit, total_status | (before + count));
    const uint64_t base = first_place(digit) + before;
    storage.runs[digit] = address_of_run(target, base - begin);
    if (job.bases_after != nullptr) job.bases_after[digit] = base + count;
  }
  __syncthreads();
}

// The same by the digit that the job names.
template <class U, class V, class Shape, class Word, class FirstPlace>
__device__ __forceinline__ void sort_tile_from(PassStorage<U, V, Shape> &storage, const TileJob<Word> &job,
                                               const U (&keys)[Shape::kRows], const U *target,
                                               PackedPlaces<Shape::kRows> &places, FirstPlace first_place) {
  sort_tile_by(
      storage, job, keys, target, places, [&](uint32_t row) { return digit_of(keys[row], job.shift); },
      [&] {
        // So that digits are computed again: kept, they would spill.
        return [&keys, shift = shift_of(storage, job)](uint32_t row) { return digit_of(keys[row], shift); };
      },
      [](uint32_t, uint32_t) {}, first_place);
}

template <class U, class V, class Shape, class Word>
__device__ __forceinline__ void sort_tile(PassStorage<U, V, Shape> &storage, const TileJob<Word> &job,
                                          const U (&keys)[Shape::kRows], const U *target,
                                          PackedPlaces<Shape::kRows> &places) {
  sort_tile_from(storage, job, keys, target, places, [&](uint32_t digit) { return job.bases[digit]; });
}

// Leaves in `digits` what store_values() needs to know of the keys. No codec: they are stored as they are.
template <class U, class V, class Shape>
__device__ __forceinline__ void store_keys(const PassStorage<U, V, Shape> &storage, uint32_t items, uint32_t shift,
                                           const KeyCodec<U> *codec, TileDigits<Shape> &digits) {
  if (codec == nullptr || codec->is_identity()) {
    store_tile_keys<Shape>(storage.keys, items, shift, storage.runs, digits, [](U key) { return key; });
  } else {
    store_tile_keys<Shape>(storage.keys, items, shift, storage.runs, digits, [=](U key) { return codec->decode(key); });
  }
}

template <class V>
__device__ __forceinline__ void store_final(FinalValues how, void *target, uint64_t index, V value) {
  if (how == FinalValues::kStore) static_cast<V *>(target)[index] = value;
  if (how == FinalValues::kWiden) static_cast<uint64_t *>(target)[index] = value;
  if (how == FinalValues::kRank4) static_cast<uint32_t *>(target)[value] = static_cast<uint32_t>(index);
  if (how == FinalValues::kRank8) static_cast<uint64_t *>(target)[value] = index;
}

// Behind the keys, which were sorted for `keys_target`: values take their room and go to `target`. All threads call it.
template <class U, class V, class Shape>
__device__ __forceinline__ void store_values(PassStorage<U, V, Shape> &storage, uint32_t items,
                                             const V (&values)[Shape::kRows], const PackedPlaces<Shape::kRows> &places,
                                             const TileDigits<Shape> &digits, const U *keys_target, void *target,
                                             FinalValues how) {
  V *const sorted = reinterpret_cast<V *>(storage.bytes);
  __syncthreads();  // the keys are stored
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) sorted[places.get(row)] = values[row];
  if (threadIdx.x < kDigitBins) {
    const uint64_t index = index_of_run(keys_target, storage.runs[threadIdx.x]);
    storage.runs[threadIdx.x] =
        how == FinalValues::kStore ? address_of_run(static_cast<const V *>(target), index) : index;
  }
  __syncthreads();
  if (how == FinalValues::kStore) {
    store_tile_values<Shape>(sorted, items, storage.runs, digits);
  } else {
    visit_tile_values<Shape>(sorted, items, storage.runs, digits,
                             [=](uint64_t index, V value) { store_final(how, target, index, value); });
  }
}

// A slot whose digit does not vary, but whose turn it is to bring the data into the right array.
template <class U, class V, class Shape>
__device__ __forceinline__ void copy_portion(const PassParams<U> &params, const PassAction &action) {
  const uint64_t end = params.begin + params.items, stride = uint64_t{gridDim.x} * Shape::kThreads;
  const FinalValues how = action.last() ? params.final_values : FinalValues::kStore;
#pragma unroll 1  // rare
  for (uint64_t i = params.begin + uint64_t{blockIdx.x} * Shape::kThreads + threadIdx.x; i < end; i += stride) {
    if (action.stores_keys()) {
      U key = params.keys[action.source][i];
      if (action.encodes() && !action.decodes()) key = params.codec.encode(key);
      if (action.decodes() && !action.encodes()) key = params.codec.decode(key);
      params.keys[action.target][i] = key;
    }
    if constexpr (!std::is_same<V, NoValue>::value) {
      const bool made_up = action.first() && params.values_are_indices;
      const V value = made_up ? static_cast<V>(i) : static_cast<const V *>(params.values[action.source])[i];
      store_final(how, params.values[action.target], i, value);
    }
  }
}

template <class Shape, class U, class V>
__device__ __forceinline__ void load_values(const PassParams<U> &params, const PassAction &action,
                                            const TileJob<uint32_t> &job, V (&values)[Shape::kRows]) {
  if constexpr (!std::is_same<V, NoValue>::value) {
    if (action.first() && params.values_are_indices) {
#pragma unroll
      for (uint32_t row = 0; row < Shape::kRows; ++row)
        values[row] = static_cast<V>(job.begin + first_item<Shape>() + row * 32);
    } else {
      load_rows<Shape>(static_cast<const V *>(params.values[action.source]) + job.begin, job.items, V{0}, values);
    }
  }
}

template <class Shape>
__device__ __forceinline__ TileJob<uint32_t> take_tile(uint32_t tile, uint64_t portion_begin, uint64_t portion_items) {
  TileJob<uint32_t> job{};
  job.tile = tile;
  job.begin = portion_begin + uint64_t{tile} * Shape::kItems;
  const uint64_t left = portion_begin + portion_items - job.begin;
  job.items = left < Shape::kItems ? static_cast<uint32_t>(left) : Shape::kItems;
  return job;
}

// Draws the block's next tile into storage.tile. Ends with a barrier.
template <class U, class V, class Shape>
__device__ __forceinline__ void draw_tile(const PassParams<U> &params, PassStorage<U, V, Shape> &storage) {
  if (threadIdx.x == 0) storage.tile = atomicAdd(params.next_tile, 1u);
  __syncthreads();
}

// Sorts the tile that storage.tile names.
template <class U, class V, class Shape>
__device__ __forceinline__ void pass_tile(const PassParams<U> &params, const PassAction &action,
                                          PassStorage<U, V, Shape> &storage) {
  TileJob<uint32_t> job = take_tile<Shape>(storage.tile, params.begin, params.items);
  job.look_back = params.look_back;
  if (kPassMayGroup<V, uint32_t>) job.group_counts = params.group_counts;
  job.bases = params.bases + params.base_parity * kDigitBins;
  job.bases_after = job.tile == params.tiles - 1 ? params.bases + (1 - params.base_parity) * kDigitBins : nullptr;
  job.shift = params.shift;
  job.sort_parity = action.sort_parity;

  U *const target = params.keys[action.target];
  PackedPlaces<Shape::kRows> places;
  {
    if (std::is_same<V, NoValue>::value && threadIdx.x == 0)
      prefetch_to_l2(params.keys[action.key_source], job.begin + uint64_t{params.ahead} * Shape::kItems, Shape::kItems,
                     params.begin + params.items);
    U keys[Shape::kRows];
    load_keys<Shape>(params.keys[action.key_source] + job.begin, job.items, action.encodes() ? &params.codec : nullptr,
                     keys);
    sort_tile<U, V, Shape>(storage, job, keys, target, places);
  }
  // Loading the values before the look-back was slower (H200, 7.39 ms in place of 6.98 for 2^28 pairs of 4 + 4 bytes).
  V values[Shape::kRows];
  load_values<Shape>(params, action, job, values);
  TileDigits<Shape> digits;
  const uint32_t shift = shift_of(storage, job);
  if (action.stores_keys())
    store_keys(storage, job.items, shift, action.decodes() ? &params.codec : nullptr, digits);
  else
    note_tile_digits<Shape>(storage.keys, shift, digits);
  if constexpr (!std::is_same<V, NoValue>::value)
    store_values(storage, job.items, values, places, digits, target, params.values[action.target],
                 action.last() ? params.final_values : FinalValues::kStore);
}

// A tile is drawn when its block begins with it, not before: what is drawn and not yet counted keeps all tiles behind
// it waiting.
template <class U, class V, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 2) radix_pass_kernel(const __grid_constant__ PassParams<U> params) {
  if constexpr (!kFitsHere<sizeof(PassStorage<U, V, Shape>)>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<PassStorage<U, V, Shape> *>(shared);
  wait_for_kernel_before();
  const PassAction action = *params.action;
  if (action.kind == PassKind::kSkip) return;
  if (action.kind == PassKind::kCopy) {
    copy_portion<U, V, Shape>(params, action);
    return;
  }
  if constexpr (!kPassMayStay<V>) {
    draw_tile(params, storage);
    pass_tile(params, action, storage);
  } else {
    if (threadIdx.x == 0) storage.action = action;
#pragma unroll 1
    for (;;) {
      draw_tile(params, storage);
      if (storage.tile >= params.tiles) return;
      pass_tile(params, storage.action, storage);
      if (!params.stays) return;
      __syncthreads();  // the tile is stored: the next one takes its room
    }
  }
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_RADIX_PASS_CUH_
