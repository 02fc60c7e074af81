// SPDX-License-Identifier: MIT OR Apache-2.0
// Last step of the stable MSD sort: a block sorts one cell on chip. It sorts words of the rest of a key and, below it,
// the pair's place in the cell, by the method of the MSD sort's finish: a digit is ranked
// by counters, words that share it lie side by side then and are put in order. Values are fetched by these places.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_FINISH_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_FINISH_CUH_

#include <cstdint>
#include <type_traits>

#include "core/key_bits.h"
#include "cuda/primitive/copy_async.cuh"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/sort/msd/names.h"
#include "cuda/sort/msd/stable_crowds.cuh"
#include "cuda/sort/msd/stable_order.cuh"
#include "cuda/sort/msd/stable_state.cuh"
#include "cuda/sort/msd/window_sort.cuh"

namespace gsort_internal::sort::msd {

template <class U>
struct StableFinishParams {
  const U *keys_in;
  const void *values_in;
  U *keys_out;  // may be keys_in; NULL: not wanted
  void *values_out;
  KeyCodec<U> codec;
  FinalValues final_values;
  StableArguments arguments;
  uint32_t ahead;  // by how many cells pairs with 4-byte values are fetched into the L2 cache before their turn
};

struct NoCrowds {};

template <class U, class V, class S = StableFinishShape<sizeof(U)>>
struct StableFinishStorage {
  // 4-byte values have room of their own and are on their way while the keys are ranked. Wider ones take the room of
  // the sorted words: two blocks an SM matter more.
  static constexpr bool kValuesEarly = sizeof(U) + sizeof(V) == 8;

  union {
    alignas(16) uint32_t counters[S::kDigits];
    uint32_t moves[S::kPairs];  // once the words are ranked
  };
  union {
    // Words of no pair lie around the cell's, where windows and looks at neighbours end.
    U padded_words[kWindowGroup + S::kPairs + S::kItems + kWindowHalo];
    V late_values[S::kPairs];
  };
  V early_values[kValuesEarly ? S::kPairs : 1];
  uint32_t warp_totals[32];
  uint32_t cell_first, cell_items, digit_shift, place_bits, dropped;
  U cell_least;
  std::conditional_t<stable_offers_map(sizeof(U)), StableCrowds, NoCrowds> crowds;
};

// Byte offset of a word's counter; words have no bits above their digit, and digit_shift is at least 12.
template <class S, class U>
__device__ __forceinline__ uint32_t stable_counter_offset(U word, uint32_t digit_shift) {
  return static_cast<uint32_t>(word >> (digit_shift - 2)) & ((S::kDigits - 1) * 4);
}

__device__ __forceinline__ uint32_t *stable_counter_at(uint32_t *counters, uint32_t offset) {
  return reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(counters) + offset);
}

// Rows that a cell of the usual size fills; they need no test.
template <class S, bool kFull>
__device__ constexpr int stable_sure_rows() {
  return kFull ? S::kItems * 7 / 9 : 0;
}

// Loads the cell's words and sends for its values, clears the counters, and fills the places around the words. Without
// a barrier. kFull: the first stable_sure_rows() rows are there.
template <class U, class V, class S, StableWay kWay, bool kFull, int kItems>
__device__ __forceinline__ void load_words(const StableFinishParams<U> &params, uint32_t number, uint32_t first,
                                           uint32_t count, StableFinishStorage<U, V, S> &storage, U (&words)[kItems]) {
  constexpr uint32_t kThreads = S::kThreads;
  constexpr int kSure = stable_sure_rows<S, kFull>();
  U *const sorted = storage.padded_words + kWindowGroup;
  const U *const from = params.keys_in + first;
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (i < kSure || i * kThreads + threadIdx.x < count) words[i] = __ldcs(from + i * kThreads + threadIdx.x);
  const V *const values = static_cast<const V *>(params.values_in) + first;
  if (StableFinishStorage<U, V, S>::kValuesEarly) {
#pragma unroll
    for (int i = 0; i < kItems; ++i)
      if (i < kSure || i * kThreads + threadIdx.x < count)
        copy_async(storage.early_values + i * kThreads + threadIdx.x, values + i * kThreads + threadIdx.x);
    copy_async_close();
  } else {
    for (uint32_t i = threadIdx.x * (128 / sizeof(V)); i < count; i += kThreads * (128 / sizeof(V)))
      prefetch_line(values + i);
  }
#pragma unroll
  for (uint32_t i = 0; i < S::kDigits / 4 / kThreads; ++i)
    reinterpret_cast<uint4 *>(storage.counters)[i * kThreads + threadIdx.x] = make_uint4(0, 0, 0, 0);
  if (threadIdx.x < kWindowGroup) storage.padded_words[threadIdx.x] = 0;
  if (threadIdx.x < kItems + kWindowHalo) sorted[count + threadIdx.x] = static_cast<U>(~U{0});
  const StableCell<U> cell = stable_cell<U, kWay>(params.arguments, number);
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    words[i] = static_cast<U>(static_cast<U>(words[i] - cell.least) >> cell.dropped << cell.place_bits) |
               (i * kThreads + threadIdx.x);
}

// Reads the cell's digit_shift or cell_items anew in each phase: kept in registers they would spill, and offsets of
// counters with them.
__device__ __forceinline__ uint32_t read_anew(const uint32_t &word) {
  return *static_cast<const volatile uint32_t *>(&word);
}

// Counts the words' digits and numbers the words of each, two numbers a register. Returns whether one of this thread's
// words has a number of kWindowGroup or more: the last of a digit's words has the largest.
template <class U, class V, class S, bool kFull, int kItems>
__device__ __forceinline__ bool number_words(const U (&words)[kItems], StableFinishStorage<U, V, S> &storage,
                                             uint32_t (&numbers)[(kItems + 1) / 2]) {
  constexpr uint32_t kThreads = S::kThreads;
  constexpr int kSure = stable_sure_rows<S, kFull>();
  const uint32_t digit_shift = read_anew(storage.digit_shift), items = read_anew(storage.cell_items);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    uint32_t number = 0;
    if (i < kSure || i * kThreads + threadIdx.x < items)
      number = atomicAdd(stable_counter_at(storage.counters, stable_counter_offset<S>(words[i], digit_shift)), 1u);
    numbers[i / 2] = i % 2 == 0 ? number : __byte_perm(numbers[i / 2], number, 0x5410);
  }
  // This also has the numbers packed before the scan needs registers.
  static_assert(kWindowGroup == 8, "numbers from 8 on have a bit above the lowest three");
  uint32_t all = 0;
#pragma unroll
  for (int i = 0; i < (kItems + 1) / 2; ++i) all |= numbers[i];
  return (all & 0xfff8fff8u) != 0;
}

// Sorts the cell's words by digit into storage. Ends with a barrier. Returns whether some digit has more than
// kWindowGroup words.
template <class U, class V, class S, StableWay kWay, bool kFull>
__device__ __forceinline__ bool rank_words(const StableFinishParams<U> &params, uint32_t number, uint32_t first,
                                           uint32_t count, StableFinishStorage<U, V, S> &storage) {
  constexpr uint32_t kThreads = S::kThreads;
  constexpr int kItems = S::kItems;
  constexpr int kSure = stable_sure_rows<S, kFull>();
  U *const sorted = storage.padded_words + kWindowGroup;
  U words[kItems];
  load_words<U, V, S, kWay, kFull>(params, number, first, count, storage, words);
  __syncthreads();
  uint32_t numbers[(kItems + 1) / 2];
  const bool many = __syncthreads_or(number_words<U, V, S, kFull>(words, storage, numbers));
  scan_finish_counters<kThreads, S::kDigits>(storage.counters, storage.warp_totals);
  const uint32_t digit_shift = read_anew(storage.digit_shift), items = read_anew(storage.cell_items);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (i >= kSure && i * kThreads + threadIdx.x >= items) continue;
    const uint32_t begin = *stable_counter_at(storage.counters, stable_counter_offset<S>(words[i], digit_shift));
    sorted[begin + (i % 2 == 0 ? numbers[i / 2] & 0xffffu : numbers[i / 2] >> 16)] = words[i];
  }
  __syncthreads();
  return many;
}

// Stores values whose places are known: next(at) returns source << 16 | place for a row's item.
template <class V, class Next>
__device__ __forceinline__ void store_moved(FinalValues how, void *values_out, uint32_t first, uint32_t count,
                                            const V *values, Next next) {
  if (how == FinalValues::kStore) {
#pragma unroll 3
    for (uint32_t at = threadIdx.x; at < count; at += blockDim.x) {
      const uint32_t move = next(at);
      static_cast<V *>(values_out)[first + (move & 0xffffu)] = values[move >> 16];
    }
  } else {
#pragma unroll 1
    for (uint32_t at = threadIdx.x; at < count; at += blockDim.x) {
      const uint32_t move = next(at);
      store_final(how, values_out, first + (move & 0xffffu), values[move >> 16]);
    }
  }
}

// Puts the words of crowded digits where they belong. Behind a barrier.
template <class U, class V, class S>
__device__ __noinline__ void order_crowds(StableFinishStorage<U, V, S> &storage) {
  using Sorter = StableCrowdSorter<U, S::kThreads>;
  static_assert(S::kDigits == kFinishDigits && sizeof(storage.moves) - sizeof(storage.counters) >= Sorter::kSample * 8,
                "room for the tree");
  const Sorter sorter = {storage.padded_words + kWindowGroup,
                         storage.cell_items,
                         storage.place_bits,
                         storage.crowds,
                         storage.counters,
                         reinterpret_cast<uint64_t *>(storage.moves + kFinishDigits),
                         storage.warp_totals};
  if (sorter.list()) sorter.order();
}

// Where the word `at` of those that are sorted by digit alone belongs, behind order_crowds() where digits are crowded.
template <StableWay kWay, class U, class V, class S>
__device__ __forceinline__ uint32_t final_place(const StableFinishStorage<U, V, S> &storage, uint32_t at,
                                                uint32_t digit_shift) {
  if constexpr (kWay == StableWay::kSplitters) {
    const StableCrowds &crowds = storage.crowds;
    if (crowds.listed != 0 && StableCrowds::bit(crowds.ordered, at)) return at;
    if (crowds.respread)
      return place_between_starts(storage.padded_words + kWindowGroup, at, storage.cell_items, crowds.starts);
  }
  return place_among_equal_digits(storage.padded_words + kWindowGroup, at, digit_shift);
}

// The cell's values come into the room of its words.
template <class U, class V>
__device__ __forceinline__ void load_late_values(const StableFinishParams<U> &params, uint32_t first, uint32_t count,
                                                 V *room) {
  const V *const values = static_cast<const V *>(params.values_in) + first;
#pragma unroll 3
  for (uint32_t at = threadIdx.x; at < count; at += blockDim.x) copy_async(room + at, values + at);
  copy_async_close();
  copy_async_wait<0>();
  __syncthreads();
}

// Stores the cell. kInOrder: the words are sorted; otherwise by digit only, and each looks at its neighbours, with a
// word of another digit at either end.
template <class U, class V, class S, StableWay kWay, bool kInOrder>
__device__ __forceinline__ void store_sorted(const StableFinishParams<U> &params, uint32_t number,
                                             StableFinishStorage<U, V, S> &storage) {
  [[maybe_unused]] constexpr uint32_t kThreads = S::kThreads;
  const U *const sorted = storage.padded_words + kWindowGroup;
  const uint32_t first = storage.cell_first, count = storage.cell_items, digit_shift = storage.digit_shift;
  StableCell<U> cell = {storage.cell_least, 0, storage.place_bits, 0};
  if constexpr (kWay == StableWay::kEven) cell = stable_cell<U, kWay>(params.arguments, number);
  const uint32_t place_bits = cell.place_bits, place_mask = (1u << place_bits) - 1;
  const U least = cell.least;
  const bool identity = params.codec.is_identity();
  // Of the sorted word `at`: stores the key, returns where the value comes from and goes to.
  const auto store_key = [&](uint32_t at) {
    const U word = sorted[at];
    const uint32_t to = kInOrder ? at : final_place<kWay>(storage, at, digit_shift);
    if (params.keys_out != nullptr) {
      const U key = static_cast<U>(least + (word >> place_bits));
      params.keys_out[first + to] = identity ? key : params.codec.decode(key);
    }
    return (static_cast<uint32_t>(word) & place_mask) << 16 | to;
  };
  if constexpr (StableFinishStorage<U, V, S>::kValuesEarly) {
    store_moved<V>(params.final_values, params.values_out, first, count, storage.early_values, store_key);
  } else {
#pragma unroll 3
    for (uint32_t at = threadIdx.x; at < count; at += kThreads) storage.moves[at] = store_key(at);
    __syncthreads();  // the words are read: values take their room
    load_late_values(params, first, count, storage.late_values);
    store_moved<V>(params.final_values, params.values_out, first, count, storage.late_values,
                   [&](uint32_t at) { return storage.moves[at]; });
  }
}

// Stores keys and values of a cell in an order that is known: order[i] is the place of the i-th. Both may lie where
// they go to: all keys are in shared memory, and values take their room. keys_in_order: they have been moved.
template <class U, class V, class Order>
__device__ __forceinline__ void store_by_order(const StableFinishParams<U> &params, uint32_t first, uint32_t count,
                                               const U *keys, bool keys_in_order, V *values, const Order *order) {
  if (params.keys_out != nullptr)
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
      params.keys_out[first + i] = params.codec.decode(keys[keys_in_order ? i : order[i]]);
  __syncthreads();
  load_late_values(params, first, count, values);
  store_moved<V>(params.final_values, params.values_out, first, count, values,
                 [&](uint32_t i) { return uint32_t{order[i]} << 16 | i; });
}

// The same for a cell whose words lack their keys' lowest bits. Keys that differ in these alone are rare: then all are
// sorted anew as they are.
template <class U, class V, class S>
__device__ __noinline__ void store_wide(const StableFinishParams<U> &params, StableFinishStorage<U, V, S> &storage) {
  U *const keys = storage.padded_words + kWindowGroup;
  const uint32_t first = storage.cell_first, count = storage.cell_items, digit_shift = storage.digit_shift;
  const uint32_t place_mask = (1u << storage.place_bits) - 1;
  for (uint32_t at = threadIdx.x; at < count; at += blockDim.x)
    storage.moves[final_place<StableWay::kSplitters>(storage, at, digit_shift)] =
        static_cast<uint32_t>(keys[at]) & place_mask;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) keys[i] = params.keys_in[first + i];
  __syncthreads();
  bool wrong = false;
  for (uint32_t i = threadIdx.x; i + 1 < count; i += blockDim.x)
    wrong |= keys[storage.moves[i]] > keys[storage.moves[i + 1]];
  const bool sort_anew = __syncthreads_or(wrong);
  if (sort_anew) {
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) storage.moves[i] = i;
    __syncthreads();
    network_sort_with<ByBlock>(keys, storage.moves, count);
  }
  store_by_order(params, first, count, keys, sort_anew, storage.late_values, storage.moves);
}

// One thread notes what the cell is, and asks L2 for one that comes later.
template <class U, class V, class S, StableWay kWay>
__device__ __forceinline__ void begin_stable_cell(const StableFinishParams<U> &params, uint32_t number, uint32_t first,
                                                  uint32_t count, StableFinishStorage<U, V, S> &storage) {
  const uint32_t later = blockIdx.x + params.ahead;
  if (sizeof(V) == 4 && later < finished_cells<kWay>(params.arguments)) {
    const uint32_t cell = finished_cell<kWay>(params.arguments, later);
    const uint32_t begin = params.arguments.cells[cell], end = params.arguments.cells[cell + 1];
    prefetch_to_l2(params.keys_in, begin, end - begin, end);
    prefetch_to_l2(static_cast<const V *>(params.values_in), begin, end - begin, end);
  }
  const StableCell<U> cell = stable_cell<U, kWay>(params.arguments, number);
  storage.cell_first = first;
  storage.cell_items = count;
  storage.digit_shift = cell.place_bits + (cell.word_bits > S::kDigitBits ? cell.word_bits - S::kDigitBits : 0);
  storage.place_bits = cell.place_bits;
  storage.dropped = cell.dropped;
  storage.cell_least = cell.least;
  if constexpr (kWay == StableWay::kSplitters) storage.crowds.listed = 0, storage.crowds.respread = false;
}

// Sorts the cell of this number, which has `count` pairs from `first` on.
template <class U, class V, class S, StableWay kWay>
__device__ __forceinline__ void finish_stable_cell(const StableFinishParams<U> &params, uint32_t number, uint32_t first,
                                                   uint32_t count, StableFinishStorage<U, V, S> &storage) {
  constexpr uint32_t kThreads = S::kThreads;
  U *const sorted = storage.padded_words + kWindowGroup;
  if (threadIdx.x == 0) begin_stable_cell<U, V, S, kWay>(params, number, first, count, storage);
  const bool many = count >= stable_sure_rows<S, true>() * kThreads
                        ? rank_words<U, V, S, kWay, true>(params, number, first, count, storage)
                        : rank_words<U, V, S, kWay, false>(params, number, first, count, storage);
  copy_async_wait<0>();  // before the barriers below
  if (sizeof(U) == 4 && !many) {
    if constexpr (sizeof(U) == 4) sort_in_windows<S::kItems, kWindowHalo>(sorted, storage.cell_items);
    store_sorted<U, V, S, kWay, true>(params, number, storage);
    return;
  }
  if constexpr (kWay == StableWay::kSplitters) {
    if (many) order_crowds(storage);
  } else if (many && any_crowded_digit<S::kDigits>(storage.counters, storage.cell_items)) {
    using Passes = PassSortStorage<kThreads>;
    static_assert(sizeof(Passes) <= sizeof(storage.counters), "in place of the counters");
    sort_crowded_words<kThreads, S::kItems>(sorted, storage.cell_items, storage.place_bits,
                                            *reinterpret_cast<Passes *>(storage.counters));
    store_sorted<U, V, S, kWay, true>(params, number, storage);
    return;
  }
  if (threadIdx.x == 0) {
    sorted[-1] = static_cast<U>(~sorted[0]);
    sorted[storage.cell_items] = static_cast<U>(~sorted[storage.cell_items - 1]);
  }
  __syncthreads();
  if constexpr (kWay == StableWay::kSplitters) {
    if (storage.dropped != 0) {
      store_wide(params, storage);
      return;
    }
  }
  store_sorted<U, V, S, kWay, false>(params, number, storage);
}

template <class U, class V, class S, StableWay kWay>
__device__ __forceinline__ void finish_stable_block(const StableFinishParams<U> &params,
                                                    StableFinishStorage<U, V, S> &storage) {
  if (blockIdx.x >= finished_cells<kWay>(params.arguments)) return;
  const uint32_t number = finished_cell<kWay>(params.arguments, blockIdx.x);
  const uint32_t first = params.arguments.cells[number], count = params.arguments.cells[number + 1] - first;
  if (count != 0) finish_stable_cell<U, V, S, kWay>(params, number, first, count, storage);
}

// A block a cell, whatever the way: shared memory is the same. Outputs may be the inputs: a cell is loaded whole before
// any of it is stored.
template <class U, class V, class S = StableFinishShape<sizeof(U)>>
__global__ void __launch_bounds__(S::kThreads, blocks_here(S::kThreads, S::kBlocks))
    stable_finish_kernel(const __grid_constant__ StableFinishParams<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<StableFinishStorage<U, V, S> *>(shared);
  wait_for_kernel_before();
  const StableState &state = *params.arguments.state;
  if (!kStableHasCode || state.go == 0) return;
  if constexpr (kStableMapHasCode<U>) {
    if (state.way == StableWay::kMapped) return finish_stable_block<U, V, S, StableWay::kMapped>(params, storage);
    if (state.way == StableWay::kSplitters) return finish_stable_block<U, V, S, StableWay::kSplitters>(params, storage);
  }
  finish_stable_block<U, V, S, StableWay::kEven>(params, storage);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_FINISH_CUH_
