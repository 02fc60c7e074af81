// SPDX-License-Identifier: MIT OR Apache-2.0
// The map of the MSD sort: where keys spread unevenly, a large sample gives every part of the range as many cells as it
// has keys. This file makes the map that shares.h describes for 4-byte keys; for 8-byte keys it gives every entry of
// the range cells of its own.
#ifndef GSORT_CUDA_SORT_MSD_MAP_CUH_
#define GSORT_CUDA_SORT_MSD_MAP_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/primitive/search.cuh"
#include "cuda/sort/msd/closeness.cuh"
#include "cuda/sort/msd/frequent.cuh"
#include "cuda/sort/msd/map_rules.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

// What the sample says about the entries of the map, in shared memory.
struct MapStorage {
  uint32_t sums[kMapEntries];   // sampled keys of an entry
  uint32_t needs[kMapEntries];  // see needed_weight
};
static_assert(sizeof(MapStorage) == kMapWeights * sizeof(uint16_t), "in place of the counters of weights");

// The keys that a part at an end would have if it was everywhere as dense as the slope from the part before leads to.
__device__ __forceinline__ float steep_end(float last, float before) {
  return last > before && before > 0 ? last * sqrtf(last / before) : last;
}

// Sampled keys that an entry's cells, which are equally wide, have to be enough for: as if the densest part of the
// entry was everywhere in it. That is one of its four parts, or an end of it, where the slope from one part to the next
// leads. Less what chance adds to the largest of some numbers. One value beside few others would lead anywhere: no more
// than twice what any sample has, by which all entries are known to be too uneven.
constexpr uint32_t kNeededMost = 1u << 22;
static_assert(kNeededMost >= 2 * 256 * kMapThreads * kMapItems && kNeededMost < kTailed, "below the flags");
__device__ __forceinline__ uint32_t needed_weight(uint4 parts) {
  const float a = static_cast<float>(parts.x), b = static_cast<float>(parts.y), c = static_cast<float>(parts.z),
              d = static_cast<float>(parts.w), most = fmaxf(fmaxf(steep_end(a, b), steep_end(d, c)), fmaxf(b, c));
  const float needed = fminf(4 * fmaxf(most - 1.5f * sqrtf(most), 0.0f), static_cast<float>(kNeededMost));
  return max(parts.x + parts.y + parts.z + parts.w, static_cast<uint32_t>(needed));
}

// Keys to find room for in an entry. A small sample may have missed some, where the neighbours have more; and an entry
// that the data fills in part only is as dense as its denser neighbour.
__device__ __forceinline__ uint32_t entry_weight(const MapStorage &storage, uint32_t entry) {
  const uint32_t own = storage.sums[entry];
  if (own == 0) return 0;
  const uint32_t left = entry != 0 ? storage.sums[entry - 1] : 0;
  const uint32_t right = entry + 1 < kMapEntries ? storage.sums[entry + 1] : 0;
  const uint32_t needs = storage.needs[entry], chance = static_cast<uint32_t>(sqrtf(static_cast<float>(own)));
  uint32_t most = max(needs & (kTailed - 1), min((left + own + right) / 3, own + 3 * chance));
  if ((needs & kOpenEnd) != 0) most = max(most, max(left, right));
  return most + chance;
}

// Cells that an entry needs should it have 3.5 deviations more keys than its `sampled` ones stand for: of few sampled
// keys that is a large part. cell_room: sampled keys that stand for a cell as full as the finish takes it.
__device__ __forceinline__ uint32_t needed_cells(uint32_t sampled, float cell_room) {
  const float keys = static_cast<float>(sampled);
  return sampled == 0 ? 0 : static_cast<uint32_t>((keys + 3.5f * sqrtf(keys) + 6) / cell_room) + 1;
}

constexpr uint32_t kOwnEntries = kMapEntries / kMapThreads;  // of a thread

// Adds the weights up by entry. By one block of kMapThreads.
template <class U>
__device__ __forceinline__ void weigh_entries(const Arguments<U> &arguments, MapStorage &storage) {
  static_assert(kMapWeights == 4 * kMapEntries, "an entry has four parts");
  uint4 parts[kOwnEntries];  // all under way at once
#pragma unroll
  for (uint32_t i = 0; i < kOwnEntries; ++i)
    parts[i] = __ldcg(reinterpret_cast<const uint4 *>(arguments.weights) + i * kMapThreads + threadIdx.x);
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kOwnEntries; ++i) {
    const uint4 part = parts[i];
    const uint32_t entry = i * kMapThreads + threadIdx.x, keys = part.x + part.y + part.z + part.w;
    const uint32_t most = max(max(part.x, part.y), max(part.z, part.w));
    uint32_t needs = 0;
    if (keys != 0) needs = needed_weight(part) | (part.x == 0 || part.w == 0 ? kOpenEnd : 0);
    if (2 * most > keys) needs |= kLumpy | (keys - most >= keys / 50 ? kTailed : 0);
    storage.sums[entry] = keys;
    storage.needs[entry] = needs;
  }
  __syncthreads();
}

// Whether a cell begins where an entry does: keys of a heavy entry then share none with those of a much lighter one,
// whose values are many. Entries of less than kApart cells leave cells that a block has room for.
constexpr uint32_t kApart = 4;
__device__ __forceinline__ bool begins_cell(uint32_t before, uint32_t weight, float cell_weight) {
  const uint32_t less = min(before, weight), more = max(before, weight);
  return static_cast<float>(more) >= kApart * cell_weight && more > 4 * less;
}

// Neighbouring words of shared memory, of each thread as many as it has entries.
__device__ __forceinline__ void load_own(const uint32_t *words, uint32_t (&own)[kOwnEntries]) {
  static_assert(kOwnEntries == 8, "two vectors");
  const uint4 *const from = reinterpret_cast<const uint4 *>(words) + 2 * threadIdx.x;
  const uint4 a = from[0], b = from[1];
  own[0] = a.x, own[1] = a.y, own[2] = a.z, own[3] = a.w;
  own[4] = b.x, own[5] = b.y, own[6] = b.z, own[7] = b.w;
}
__device__ __forceinline__ void store_own(uint32_t *words, const uint32_t (&own)[kOwnEntries]) {
  uint4 *const to = reinterpret_cast<uint4 *>(words) + 2 * threadIdx.x;
  to[0] = make_uint4(own[0], own[1], own[2], own[3]);
  to[1] = make_uint4(own[4], own[5], own[6], own[7]);
}

// Which of the thread's entries begin a cell, a bit each. left: the weight before them.
__device__ __forceinline__ uint32_t entries_apart(const uint32_t (&weights)[kOwnEntries], uint32_t left,
                                                  float cell_weight) {
  uint32_t apart = 0;
#pragma unroll
  for (uint32_t i = 0; i < kOwnEntries; ++i) {
    if (begins_cell(left, weights[i], cell_weight)) apart |= 1u << i;
    left = weights[i];
  }
  return apart;
}

// Makes the map out of where entries begin, in shares of cells. By one block of kMapThreads.
__device__ __forceinline__ void write_shares(const Arguments<uint32_t> &arguments, const uint32_t *begins,
                                             uint32_t last) {
  for (uint32_t entry = threadIdx.x; entry < kMapEntries; entry += kMapThreads) {
    const uint32_t begin = begins[entry], next = entry + 1 < kMapEntries ? begins[entry + 1] : last + 1;
    arguments.map[entry] = share_word(begin, next - begin);
  }
}

// The totals of this thread's entries, whose weights replace what they need.
__device__ __forceinline__ EntryTotals weigh_own(MapStorage &storage, float cell, uint32_t sampled) {
  EntryTotals mine{};
#pragma unroll
  for (uint32_t i = 0; i < kOwnEntries; ++i) {
    const uint32_t entry = i * kMapThreads + threadIdx.x, weight = entry_weight(storage, entry);
    mine.weight += weight;
    add_entry(mine, storage.sums[entry], storage.needs[entry], cell, sampled);
    storage.needs[entry] = weight;  // nobody else reads it before the barrier
  }
  return mine;
}

// Where this thread's entries begin, in shares of cells, in place of their weights. before, apart_before: the weights,
// and the entries that begin a cell of their own, before them; eighths: of a cell, of one sampled key.
__device__ __forceinline__ void find_own_begins(uint32_t (&weights)[kOwnEntries], uint32_t before, uint32_t apart,
                                                uint32_t apart_before, double eighths, uint32_t last) {
#pragma unroll
  for (uint32_t i = 0; i < kOwnEntries; ++i) {
    const bool begins = (apart >> i & 1) != 0;
    apart_before += begins;
    const uint32_t begin = static_cast<uint32_t>(before * eighths) + apart_before * kShareUnit;
    before += weights[i];
    weights[i] = min(begins ? begin / kShareUnit * kShareUnit : begin, last);
  }
}

// Makes the map of 4-byte keys: see shares.h. Where many entries are uneven inside, more cells for those would be taken
// from where keys are: all then have what was sampled. sampled: keys; close_keys: of the second sample, this thread's.
// By one block of kMapThreads; behind MapStorage is room for ClosenessStorage.
__device__ __forceinline__ void make_shares(const Arguments<uint32_t> &arguments, uint32_t sampled,
                                            const uint32_t (&close_keys)[kSampleAhead], MapStorage &storage,
                                            uint32_t *warp_totals) {
  constexpr uint32_t kOwn = kOwnEntries;
  __shared__ uint32_t sums[kEntryTotals];
  const uint32_t cells = arguments.plan.map_shares;
  if (threadIdx.x < kEntryTotals) sums[threadIdx.x] = 0;
  weigh_entries(arguments, storage);
  const float cell = static_cast<float>(sampled) / static_cast<float>(usual_shares(arguments.plan.cell_bits));
  const EntryTotals totals = sum_totals(weigh_own(storage, cell, sampled), sums);
  if (is_for_passes(arguments, totals, sampled)) {
    if (threadIdx.x == 0) turn_away(arguments.state);
    return;
  }
  const bool plain = uint64_t{totals.weight} * 2 > uint64_t{sampled} * 3;
  const uint32_t total = plain ? sampled : totals.weight;
  uint32_t *const words = storage.needs;
  const uint32_t *const shared_out = plain ? storage.sums : words;
  uint32_t weights[kOwn], sum = 0, all;
  load_own(shared_out, weights);
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) sum += weights[i];
  uint32_t left = __shfl_up_sync(kFullWarp, weights[kOwn - 1], 1);
  if (lane_id() == 0) left = shared_out[max(threadIdx.x * kOwn, 1u) - 1];
  const uint32_t before = block_exclusive_sum<kMapThreads>(sum, warp_totals, all);
  const float cell_weight = static_cast<float>(total) / static_cast<float>(cells);
  const uint32_t apart = entries_apart(weights, left, cell_weight);
  uint32_t total_apart;
  const uint32_t apart_before = block_exclusive_sum<kMapThreads>(__popc(apart), warp_totals, total_apart);
  const uint32_t last = cells * kShareUnit - 1;
  const double eighths = static_cast<double>((cells - total_apart) * kShareUnit) / total;
  find_own_begins(weights, before, apart, apart_before, eighths, last);
  store_own(words, weights);
  __syncthreads();
  write_shares(arguments, words, last);
  if (!arguments.plan.leaves_close) return;
  ClosenessStorage &close = *reinterpret_cast<ClosenessStorage *>(&storage + 1);
  if (lie_closely(close_keys, words, last, close) && threadIdx.x == 0) turn_away(arguments.state);
}

// How many cells this thread's entries need that they do not have.
__device__ __forceinline__ uint32_t missing_cells(const MapStorage &storage, float cell_room,
                                                  const uint32_t (&had)[kOwnEntries]) {
  uint32_t missing = 0;
#pragma unroll
  for (uint32_t i = 0; i < kOwnEntries; ++i) {
    const uint32_t needed = needed_cells(storage.sums[threadIdx.x * kOwnEntries + i], cell_room);
    if (needed > had[i]) missing += needed - had[i];
  }
  return missing;
}

// Gives this thread's entries, which have `sum` cells together, what they need beyond those, if enough are left.
// Returns how many they have then.
template <class U>
__device__ __forceinline__ uint32_t add_missing_cells(const Arguments<U> &arguments, float cell_room,
                                                      const MapStorage &storage, uint32_t *warp_totals, uint32_t sum,
                                                      uint32_t (&cells)[kOwnEntries]) {
  uint32_t total, total_missing;
  const uint32_t missing = missing_cells(storage, cell_room, cells);
  block_exclusive_sum<kMapThreads>(sum, warp_totals, total);
  const uint32_t before = block_exclusive_sum<kMapThreads>(missing, warp_totals, total_missing);
  const uint32_t spare = arguments.plan.mapped_cells - 1 - total;
  if (missing == 0 || before + missing > spare) return sum;
#pragma unroll
  for (uint32_t i = 0; i < kOwnEntries; ++i)
    cells[i] = max(cells[i], needed_cells(storage.sums[threadIdx.x * kOwnEntries + i], cell_room));
  return sum + missing;
}

// Writes this thread's entries, which have so many cells each from `first` on.
template <class U>
__device__ __forceinline__ void write_cells(const Arguments<U> &arguments, const uint32_t (&cells)[kOwnEntries],
                                            uint32_t first) {
#pragma unroll
  for (uint32_t i = 0; i < kOwnEntries; ++i) {
    arguments.map[threadIdx.x * kOwnEntries + i] = first | cells[i] << 16;
    first += cells[i];
  }
}

// Makes the map out of `weights`: every entry gets cells in proportion, and one more. What rounding down leaves goes to
// entries that need more cells than that. cell_room: see needed_cells. By one block of kMapThreads.
template <class U>
__device__ __forceinline__ void make_map(const Arguments<U> &arguments, float cell_room, MapStorage &storage,
                                         uint32_t *warp_totals) {
  constexpr uint32_t kOwn = kOwnEntries;
  weigh_entries(arguments, storage);
  uint32_t weights[kOwn], used = 0, sampled = 0, sum = 0, cells = 0;
  uint32_t total_sampled, entries_used, total_weight, total_cells;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    const uint32_t entry = threadIdx.x * kOwn + i;
    weights[i] = entry_weight(storage, entry);
    used += weights[i] != 0;
    sampled += storage.sums[entry];
    sum += weights[i];
  }
  block_exclusive_sum<kMapThreads>(used, warp_totals, entries_used);
  block_exclusive_sum<kMapThreads>(sampled, warp_totals, total_sampled);
  block_exclusive_sum<kMapThreads>(sum, warp_totals, total_weight);
  // Cells that are wanted for the uneven entries are missing elsewhere, and one more for each entry. One is left for
  // what lies above the last entry that has any.
  const uint32_t most = arguments.plan.mapped_cells - 1;
  const uint64_t shared_out = min(most - min(entries_used, most), arguments.plan.map_shares);
  if (uint64_t{total_weight} * 2 > uint64_t{total_sampled} * 3 || 4 * shared_out + 4 < 3 * arguments.plan.map_shares) {
    if (threadIdx.x == 0) turn_away(arguments.state);
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    weights[i] = weights[i] == 0 ? 0 : static_cast<uint32_t>(weights[i] * shared_out / total_weight) + 1;
    cells += weights[i];
  }
  cells = add_missing_cells(arguments, cell_room, storage, warp_totals, cells, weights);
  write_cells(arguments, weights, block_exclusive_sum<kMapThreads>(cells, warp_totals, total_cells));
}

// Place of the j-th key of the map's sample: eight neighbours out of each `part` keys, in units of map_part().
__device__ __forceinline__ uint64_t map_sample_place(uint32_t j, uint64_t part) {
  const uint32_t group = j / 8;
  return (group * part >> kMapPartBits) + __umulhi(mix_bits(group), static_cast<uint32_t>(part >> kMapPartBits) - 7) +
         j % 8;
}

// Adds the share of a sample that block number `block` takes to `weights`. leading_of(key): its leading 32 bits. pairs:
// kMapWeights / 2 words of shared memory.
template <class U, class LeadingOf>
__device__ __forceinline__ void weigh_sample(const U *keys_in, uint32_t block, uint64_t part, uint32_t *weights,
                                             uint32_t *pairs, LeadingOf leading_of) {
  for (uint32_t i = threadIdx.x; i < kMapWeights / 2; i += kMapThreads) pairs[i] = 0;
  U keys[kMapItems];
#pragma unroll
  for (uint32_t i = 0; i < kMapItems; ++i)
    keys[i] = keys_in[map_sample_place((block * kMapItems + i) * kMapThreads + threadIdx.x, part)];
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kMapItems; ++i) {
    const uint32_t weight = leading_of(keys[i]) >> (32 - kMapWeightBits);
    atomicAdd(&pairs[weight / 2], weight % 2 == 0 ? 1u : 1u << 16);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kMapWeights / 2; i += kMapThreads) {
    const uint32_t pair = pairs[i];
    if ((pair & 0xffffu) != 0) atomicAdd(&weights[2 * i], pair & 0xffffu);
    if (pair >> 16 != 0) atomicAdd(&weights[2 * i + 1], pair >> 16);
  }
}

// Of 4-byte keys with room for ClosenessStorage.
template <class U>
constexpr uint32_t map_bytes() {
  return static_cast<uint32_t>(sizeof(MapStorage) + (sizeof(U) == 4 ? sizeof(ClosenessStorage) : 0));
}

static_assert(map_bytes<uint32_t>() <= kSharedBytesMin && map_bytes<uint32_t>() <= sizeof(FrequentStorage),
              "a device that takes the sort takes the map");

// Weighs the parts of the range by a large sample; the last block makes the map. If frequent values are looked for, the
// first block does that, and those behind it weigh. Dynamic shared memory: map_bytes<U>(); FrequentStorage.
template <class U>
__global__ void __launch_bounds__(kMapThreads)
    msd_map_kernel(const U *keys_in, uint64_t n, uint64_t part, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) uint32_t pairs[];  // counters of 16 bits, which a block's keys cannot overflow
  __shared__ uint32_t warp_totals[kMapThreads / 32];
  static_assert(kMapThreads * kMapItems < 65536, "counters of 16 bits");
  wait_for_kernel_before();
  if (arguments.state->go == 0 || arguments.state->mapped == 0) return;
  const bool frequent = sizeof(U) == 4 && arguments.plan.takes_frequent;
  // By every block, for one that is last would wait for them.
  U close_keys[kSampleAhead];
  if constexpr (sizeof(U) == 4) load_sampled<ClosenessSample, kMapThreads>(keys_in, n, codec, 0, close_keys);
  if (!frequent || blockIdx.x != 0) {
    const uint32_t align = map_align(arguments);
    weigh_sample(keys_in, blockIdx.x - (frequent ? 1 : 0), part, arguments.weights, pairs,
                 [&](U key) { return leading_bits(codec.encode(key), align); });
  } else if (arguments.state->many_equal != 0) {
    if constexpr (sizeof(U) == 4)
      sample_frequent(keys_in, n, codec, arguments, *reinterpret_cast<FrequentStorage *>(pairs));
  }
  if (!is_last_block(&arguments.state->map_tickets, gridDim.x)) return;
  MapStorage &storage = *reinterpret_cast<MapStorage *>(pairs);
  if constexpr (sizeof(U) == 4) {
    make_shares(arguments, (gridDim.x - (frequent ? 1 : 0)) * kMapThreads * kMapItems, close_keys, storage,
                warp_totals);
    __syncthreads();
    if (arguments.state->go != 0) choose_frequent(arguments, *reinterpret_cast<ChoiceStorage *>(pairs), warp_totals);
  } else {
    // Eight keys out of each `part` are sampled. 0.95: the finish's cells less 4 deviations of their keys.
    const float keys = static_cast<float>(part) / (1u << kMapPartBits);
    make_map(arguments, 0.95f * 8 * BlockShape<sizeof(U)>::kFinishKeysMax / keys, storage, warp_totals);
  }
}

// The last entry whose first cell is at most `cell`; 0 if there is none.
__device__ __forceinline__ uint32_t entry_of_cell(const uint32_t *map, uint32_t cell) {
  return last_not_above(kMapEntries, cell, [&](uint32_t entry) { return map[entry] & 0xffffu; });
}

// What the finish must know of a cell, see MappedDigits.
__device__ __forceinline__ TwoWords mapped_range(const uint32_t *map, uint32_t cell) {
  const uint32_t entry = entry_of_cell(map, cell), first = map[entry] & 0xffffu, cells = map[entry] >> 16;
  // Above the last entry that has cells: anywhere in the range.
  if (cell - first >= cells) return {0, kFinishDigits | 32u << 16};
  const uint32_t within = static_cast<uint32_t>(((uint64_t{cell - first} << kMapShift) + cells - 1) / cells);
  const uint32_t begin = (entry << kMapShift) + within, width = ((1u << kMapShift) + cells - 1) / cells;
  const uint32_t shift = 32 - __clz(static_cast<int>(width));  // of the 20 that a width has at most
  return {begin, static_cast<uint32_t>((uint64_t{kFinishDigits} << shift) / width) | shift << 16};
}

// The same for the cells of shares.h. Of a cell that can have no keys, anything.
__device__ __forceinline__ TwoWords shared_range(const uint32_t *words, uint32_t cell, uint32_t cells) {
  const uint64_t begin = first_key_of_cell(words, cell);
  const uint64_t end = cell + 1 < cells ? first_key_of_cell(words, cell + 1) : uint64_t{1} << 32;
  // Digits are of the distance from `below`.
  const uint32_t below = static_cast<uint32_t>(begin - (begin != 0));
  const uint32_t factor = KeyRange{below, static_cast<uint32_t>(end - 1) - below}.factor();
  return {below, factor == 0 ? ~0u : factor};
}

// Writes what later kernels must know of cells and bins, by all blocks of the histogram together. map: in shared
// memory.
template <class U>
__device__ __forceinline__ void describe_mapped_cells(const Arguments<U> &arguments, const uint32_t *map) {
  const uint32_t cells = mapped_cells<U>(arguments.plan), second_bits = arguments.plan.second_bits;
  // A few threads of every block, for it takes them long.
  for (uint32_t i = threadIdx.x * gridDim.x + blockIdx.x; i < cells; i += gridDim.x * blockDim.x) {
    const bool first_of_bin = i % (1u << second_bits) == 0;
    if constexpr (sizeof(U) == 4) {
      arguments.ranges[i] = shared_range(map, i, cells);
      if (first_of_bin)
        arguments.bin_entries[i >> second_bits] =
            min(static_cast<uint32_t>(first_key_of_cell(map, i) >> kMapShift), kMapEntries - 1);
    } else {
      arguments.ranges[i] = mapped_range(map, i);
      // From the last entry with cells of the bin before, for it may be shared, and those behind it may have no cell.
      if (first_of_bin) arguments.bin_entries[i >> second_bits] = i == 0 ? 0 : entry_of_cell(map, i - 1);
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) arguments.bin_entries[cells >> second_bits] = kMapEntries - 1;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_MAP_CUH_
