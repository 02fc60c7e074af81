// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys that the sample calls combinations of few bits, or of few values: each is compared with that and counted by its
// number among them, then every key is written as often as it was counted.
#ifndef GSORT_CUDA_SORT_FAST_PATH_COUNT_CUH_
#define GSORT_CUDA_SORT_FAST_PATH_COUNT_CUH_

#include <cstdint>

#include "cuda/sort/fast_path/count_fill.cuh"
#include "cuda/sort/fast_path/sample.cuh"
#include "cuda/sort/lsd/pass_action.cuh"

namespace gsort_internal::sort::fast_path {

template <class U>
__device__ __forceinline__ U key_of_number(const FewBits<U> &few, uint32_t number) {
  return few.low[number & 255] ^ few.high[number >> 8];
}

// How numbers find their counters: one each with copies next to it where there is room, or two in a word.
struct CounterShape {
  uint32_t copy_bits;
  bool halves;

  __device__ __forceinline__ CounterShape(uint32_t number_bits, uint32_t counter_bits)
      : copy_bits(min(counter_bits - min(number_bits, counter_bits), kCopyBitsMax)),
        halves(number_bits > counter_bits) {}
};

// Numbers of keys, as FewBits describes them.
template <class U, uint32_t kRows>
__device__ __forceinline__ void number_keys(const FewBits<U> &few, const U (&key)[kRows], uint32_t (&number)[kRows]) {
  if (few.neighbours) {
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row)
      number[row] = static_cast<uint32_t>(key[row] >> few.shift) & ((1u << few.count) - 1);
    return;
  }
  U bits[kRows];
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) bits[row] = key[row] & few.pivots;
#pragma unroll
  for (uint32_t step = 0; step < sizeof(few.moves) / sizeof(U); ++step) {
    const U moves = few.moves[step];
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const U moving = bits[row] & moves;
      bits[row] = (bits[row] ^ moving) | moving >> (1u << step);
    }
  }
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) number[row] = static_cast<uint32_t>(bits[row]);
}

// Keys by the bits in which they differ. A numbering gives neighbouring numbers to keys in their order.
template <class U>
struct BitsNumbering {
  static constexpr uint32_t kMostBits = kBitsMax;
  const FewBits<U> &few;

  __device__ __forceinline__ uint32_t bits() const { return few.count; }
  __device__ __forceinline__ U any_key() const { return few.origin; }
  __device__ __forceinline__ U key_of(uint32_t number) const { return key_of_number(few, number); }
  // False: one of the keys has no number.
  template <uint32_t kRows>
  __device__ __forceinline__ bool number(const U (&key)[kRows], uint32_t (&number)[kRows]) const {
    U foreign = 0;
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) foreign |= key[row] ^ few.origin;
    number_keys(few, key, number);
    bool bad = (foreign & ~few.varying) != 0;
    if (few.varying != few.pivots) {  // bits that follow from others are looked up
#pragma unroll
      for (uint32_t row = 0; row < kRows; ++row) bad |= key[row] != key_of_number(few, number[row]);
    }
    return !bad;
  }
};

// Keys by a table of their values.
template <class U>
struct ValuesNumbering {
  static constexpr uint32_t kMostBits = 9;
  static_assert(1u << kMostBits == kValuesMax, "all values have numbers");
  const ValueTable<U> &table;
  uint32_t count, multiplier;

  __device__ __forceinline__ uint32_t bits() const { return bit_width(count - 1); }
  __device__ __forceinline__ U any_key() const { return table.values[0]; }
  __device__ __forceinline__ U key_of(uint32_t number) const { return table.values[number]; }
  template <uint32_t kRows>
  __device__ __forceinline__ bool number(const U (&key)[kRows], uint32_t (&number)[kRows]) const {
    bool bad = false;
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t bucket = hash_key(key[row], multiplier, table.kBucketBits);
      const uint32_t numbers = *reinterpret_cast<const uint32_t *>(table.numbers[bucket]);
      number[row] = table.keys[bucket][0] == key[row]   ? numbers & 0xffffu
                    : table.keys[bucket][1] == key[row] ? numbers >> 16
                                                        : kNoNumber;
      bad |= number[row] == kNoNumber;
    }
    return !bad;
  }
};

// Counts numbers in halves of words. What a word holds is exactly the sum of all that was added to it, modulo 2^32, so
// a carry is known to the one lane that made it. The word then lacks 2^16 of the half that overflowed, which `counts`
// receives at once, and the upper half has one too many after the lower one overflowed. `counts` are exact modulo 2^32
// once all blocks have added what their words hold, in whatever order.
template <uint32_t kRows>
__device__ __forceinline__ void count_in_halves(const uint32_t (&number)[kRows], const bool (&counted)[kRows],
                                                uint32_t *counters, uint32_t *counts) {
  uint32_t before[kRows];
  bool carries = false;
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row)
    before[row] = counted[row] ? atomicAdd(&counters[number[row] / 2], number[row] % 2 == 0 ? 1u : 0x10000u) : 0;
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) carries |= (before[row] >> number[row] % 2 * 16 & 0xffff) == 0xffff;
  if (!carries) return;
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    const uint32_t upper = number[row] | 1;
    if (number[row] != upper && (before[row] & 0xffff) == 0xffff) {
      atomicAdd(&counts[number[row]], 0x10000u);
      atomicSub(&counts[upper], 1u);
    }
    if (before[row] + (number[row] == upper ? 0x10000u : 1u) < before[row]) atomicAdd(&counts[upper], 0x10000u);
  }
}

// Counts kRows rows of a warp's keys; kWhole: all these exist. kWithValues: leaves the numbers for a pass by them.
// False: one of the keys has no number.
template <bool kWithValues, uint32_t kRows, bool kWhole, class U, class Numbering>
__device__ __forceinline__ bool count_rows(const Arrays<U> &work, const Numbering &numbering, const CounterShape &shape,
                                           uint32_t *counters, uint64_t first) {
  const uint64_t at = first + lane_id();
  U key[kRows];
  bool counted[kRows];
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    counted[row] = kWhole || at + row * 32 < work.n;
    key[row] = counted[row] ? __ldcs(work.keys_in + at + row * 32) : work.codec.decode(numbering.any_key());
  }
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) key[row] = work.codec.encode(key[row]);
  uint32_t number[kRows];
  const bool known = numbering.number(key, number);
  if (!__all_sync(kFullWarp, known)) return false;
  if constexpr (kWithValues) {
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row)
      if (counted[row]) work.numbers[at + row * 32] = work.codec.decode(static_cast<U>(number[row]));
  }
  if (Numbering::kMostBits > kCounterBitsMax && shape.halves) {
    count_in_halves(number, counted, counters, work.counts);
    return true;
  }
  const uint32_t copy = lane_id() & ((1u << shape.copy_bits) - 1);
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row)
    if (counted[row]) atomicAdd(&counters[number[row] << shape.copy_bits | copy], 1u);
  return true;
}

// A group of a warp's keys; the last of all may be a part.
template <bool kWithValues, class U, class Numbering>
__device__ __forceinline__ bool count_group(const Arrays<U> &work, const Numbering &numbering,
                                            const CounterShape &shape, uint32_t *counters, uint64_t first) {
  using Shape = GroupShape<sizeof(U)>;
  if (first + Shape::kGroupItems <= work.n)
    return count_rows<kWithValues, Shape::kRows, true>(work, numbering, shape, counters, first);
#pragma unroll 1
  for (; first < work.n; first += 32)
    if (!count_rows<kWithValues, 1, false>(work, numbering, shape, counters, first)) return false;
  return true;
}

// Adds the block's counters to those of all blocks.
__device__ __forceinline__ void add_counters(const CounterShape &shape, uint32_t number_bits, const uint32_t *counters,
                                             uint32_t *counts) {
  const uint32_t copies = 1u << shape.copy_bits;
  for (uint32_t i = threadIdx.x; i < 1u << number_bits; i += kThreads) {
    uint32_t sum = 0;
    if (shape.halves) {
      sum = counters[i / 2] >> i % 2 * 16 & 0xffff;
    } else {
      for (uint32_t copy = 0; copy < copies; ++copy)
        sum +=
            counters[i << shape.copy_bits | ((copy + threadIdx.x) & (copies - 1))];  // turned: other lanes, other banks
    }
    if (sum != 0) atomicAdd(&counts[i], sum);
  }
}

// One block: exclusive sums of all counts. Every warp takes rows of 128; counts behind the last number are 0.
template <uint32_t kMostBits, class U>
__device__ __forceinline__ void place_numbers(const Params<U> &params, Storage<U> &storage, uint32_t bits) {
  constexpr uint32_t kBitsOfOneRow = 12;
  static_assert(kWarps * 128 == 1u << kBitsOfOneRow, "a row of every warp");
  const uint32_t rows = kMostBits > kBitsOfOneRow && bits > kBitsOfOneRow ? 1u << (bits - kBitsOfOneRow) : 1;
  const uint32_t warp = threadIdx.x / 32, first = warp * rows * 32 + lane_id();
  const uint4 *counts = reinterpret_cast<const uint4 *>(params.work.counts);
  uint4 *bases = reinterpret_cast<uint4 *>(params.work.bases);
  uint32_t sum = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    const uint4 count = __ldcg(counts + first + row * 32);
    sum += count.x + count.y + count.z + count.w;
  }
  sum = warp_inclusive_sum(sum);
  if (lane_id() == 31) storage.warp_sums[warp] = sum;
  __syncthreads();
  const uint32_t warp_sum = storage.warp_sums[lane_id()];
  uint32_t base = __shfl_sync(kFullWarp, warp_inclusive_sum(warp_sum) - warp_sum, warp);
  for (uint32_t row = 0; row < rows; ++row) {
    const uint4 count = __ldcg(counts + first + row * 32);
    const uint32_t all = count.x + count.y + count.z + count.w, up_to = warp_inclusive_sum(all);
    const uint32_t own = base + up_to - all;
    bases[first + row * 32] =
        make_uint4(own, own + count.x, own + count.x + count.y, own + count.x + count.y + count.z);
    base += __shfl_sync(kFullWarp, up_to, 31);
  }
}

template <class U>
__device__ __forceinline__ uint4 four_words(U key) {
  if constexpr (sizeof(U) == 4) {
    return make_uint4(key, key, key, key);
  } else {
    const auto low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
    return make_uint4(low, high, low, high);
  }
}

// A warp's chunk of the output, counted from out - skew, where vectors begin at multiples of 16 bytes. The first and
// the last vector may reach past the array.
template <class U, class Numbering>
__device__ __forceinline__ void fill_chunk(const Params<U> &params, const Numbering &numbering, uint64_t skew,
                                           uint32_t chunk) {
  constexpr uint32_t kPerVector = 16 / sizeof(U);
  const Arrays<U> &work = params.work;
  const uint32_t *bases = work.bases, numbers = 1u << numbering.bits();
  const uint64_t end = work.n + skew;
  const uint64_t chunk_begin = uint64_t{chunk} * params.plan.chunk_items;
  const uint64_t chunk_end = min(chunk_begin + params.plan.chunk_items, end);
  // Which numbers the chunk holds: lane 0 looks for the first, the others for the last.
  const uint64_t border = lane_id() == 0 ? max(chunk_begin, skew) : chunk_end - 1;
  const uint32_t found = find_value(bases, 0, numbers, border - skew);
  const uint32_t low = __shfl_sync(kFullWarp, found, 0), high = __shfl_sync(kFullWarp, found, 1) + 1;
  for (uint64_t begin = chunk_begin + lane_id() * kPerVector; begin < chunk_end; begin += 32 * kPerVector) {
    const uint64_t first = max(begin, skew) - skew, after = min(begin + kPerVector, end) - skew;
    uint32_t number = find_value(bases, low, high, first);
    uint64_t number_end = number + 1 < numbers ? bases[number + 1] : work.n;
    if (after - first == kPerVector && number_end >= after) {
      *reinterpret_cast<uint4 *>(work.keys_out + first) = four_words(work.codec.decode(numbering.key_of(number)));
      continue;
    }
    for (uint64_t place = first; place < after; ++place) {
      if (place >= number_end) {
        number = find_later_value(bases, number, high, place);
        number_end = number + 1 < numbers ? bases[number + 1] : work.n;
      }
      work.keys_out[place] = work.codec.decode(numbering.key_of(number));
    }
  }
}

template <class U, class Numbering>
__device__ __forceinline__ void fill_keys(const Params<U> &params, const Numbering &numbering) {
  const uint64_t skew = reinterpret_cast<uint64_t>(params.work.keys_out) % 16 / sizeof(U);
  const uint32_t chunk_items = params.plan.chunk_items;
  const auto chunks = static_cast<uint32_t>((params.work.n + skew + chunk_items - 1) / chunk_items);
  for_each_chunk(&params.state->second_tickets.word, chunks, [&](uint32_t chunk) {
    fill_chunk(params, numbering, skew, chunk);
    return true;
  });
}

// Counts what is left. Returns how many chunks passed.
template <bool kWithValues, class U, class Numbering>
__device__ __forceinline__ uint32_t count_chunks(const Params<U> &params, Storage<U> &storage,
                                                 const Numbering &numbering, const CounterShape &shape,
                                                 uint32_t *counters) {
  const uint32_t counter_bits = shape.halves ? params.plan.counter_bits : numbering.bits() + shape.copy_bits;
  for (uint32_t i = threadIdx.x; i < 1u << counter_bits; i += kThreads) counters[i] = 0;
  if (threadIdx.x == 0) storage.chunks = 0;
  __syncthreads();
  const uint32_t passed = for_each_chunk(&params.state->tickets.word, params.plan.chunks, [&](uint32_t chunk) {
    const uint64_t begin = uint64_t{chunk} * params.plan.chunk_items;
    const uint64_t end = min(begin + params.plan.chunk_items, params.work.n);
    for (uint64_t first = begin; first < end; first += GroupShape<sizeof(U)>::kGroupItems)
      if (!count_group<kWithValues>(params.work, numbering, shape, counters, first)) {
        if (lane_id() == 0) fail(params.state);
        return false;
      }
    return true;
  });
  if (lane_id() == 0) atomicAdd(&storage.chunks, passed);
  __syncthreads();
  return storage.chunks;
}

// The last block, after place_numbers(): the passes behind are to move the values by the numbers.
template <class U>
__device__ __forceinline__ void leave_values_to_passes(const Arrays<U> &work, uint32_t bits) {
  __syncthreads();  // the bases are there
  if (threadIdx.x < kDigitBins)
    work.digit_bases[threadIdx.x] = threadIdx.x < 1u << bits ? work.bases[threadIdx.x] : work.n;
  if (threadIdx.x == 0) lsd::decide_numbered_actions(work.actions, work.values_in == work.values_out);
}

// Keys that a numbering knows, as far as the sample tells.
template <bool kWithValues, class U, class Numbering>
__device__ __forceinline__ void sort_numbered(const Params<U> &params, Storage<U> &storage, const Numbering &numbering,
                                              uint32_t *counters) {
  const CounterShape shape(numbering.bits(), params.plan.counter_bits);
  const uint32_t chunks = count_chunks<kWithValues>(params, storage, numbering, shape, counters);
  // A block that came too late for a chunk may have sampled keys that others had begun to write.
  if (chunks == 0) return;
  add_counters(shape, numbering.bits(), counters, params.work.counts);
  if (arrive_with_chunks(params.state, chunks, params.plan.chunks)) {
    place_numbers<Numbering::kMostBits>(params, storage, numbering.bits());
    if constexpr (kWithValues) leave_values_to_passes(params.work, numbering.bits());
    announce_ready(params.state);
  } else if (!wait_for_verdict(params.state)) {
    return;
  }
  if (kWithValues && params.work.keys_out == nullptr) return;
  fill_keys(params, numbering);
}

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_COUNT_CUH_
