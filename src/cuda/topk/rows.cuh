// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows that a block reads once, for k of some dozen and more. A row is read in tiles, each of which has pieces
// of all of the row. The first tile is a sample: an element of it bounds the best k, and what passes is listed in
// shared memory (R. W. Floyd and R. L. Rivest, "Expected time bounds for selection", 1975). A row that the list has
// room for is kept whole. The best of the list are sorted by one count of bins (tile.cuh).
//
// Work whatever the data: where the sample misleads, the row is read again, tile by tile under bounds that at least k
// elements are at or under. A tile that has more than there is room for lowers the bound, and is read once more.
#ifndef GSORT_CUDA_TOPK_ROWS_CUH_
#define GSORT_CUDA_TOPK_ROWS_CUH_

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/topk/common.cuh"
#include "cuda/topk/filter.cuh"
#include "cuda/topk/tile.cuh"
#include "cuda/topk/widened.cuh"

namespace gsort_internal::topk {

template <class Key>
struct RowsProblem {
  WidenedProblem<Key> rows;
  RowsBounds bounds;  // of rows of one length
};

// ---- a block ----

// What is at or under it: lesser keys, and of equal ones those with an index up to this.
template <class Key>
struct RowsBound {
  Key key;
  uint32_t index;

  __device__ __forceinline__ bool passes(Key other, uint32_t at) const {
    return other < key || (other == key && at <= index);
  }
};

// A digit and how many items it has; `before`: those of lesser digits.
struct RowsDigit {
  uint32_t digit, before, count;
};

template <class KeyType, uint32_t kBlockThreads>
struct RowsBlock {
  using Key = KeyType;
  static constexpr uint32_t kThreads = kBlockThreads, kWarps = kThreads / 32;
  static constexpr uint32_t kEach = kRowsTileEach, kTile = kThreads * kEach;
  static constexpr uint32_t kListEach = kRowsListEach, kRoom = kThreads * kListEach;
  static constexpr uint32_t kDigitBins = 4 * kThreads;  // a quadruple of counters a thread
  using Shape = small::TileSortShape<small::ItemCodecOf<Key, true>, kThreads, kListEach, kThreads * kListEach>;
  using Item = typename Shape::Item;

  TileStorage<Shape> tile;  // its items are the list
  RowsDigit found;
  uint64_t ticket;
  uint32_t count;  // of the list; goes on counting where there is no more room

  __device__ __forceinline__ Item *list() { return tile.sort.items(); }
};

// ---- choosing ----

// Counts digits and finds the one that holds item `need` of them. count_all(count) calls count(digit) for this thread's
// items. Ends with a barrier.
template <class Block, class CountAll>
__device__ __forceinline__ RowsDigit rows_find(Block &block, uint32_t need, CountAll &&count_all) {
  auto &storage = block.tile.sort;
  uint4 *const own = reinterpret_cast<uint4 *>(storage.counters) + threadIdx.x;
  *own = make_uint4(0, 0, 0, 0);
  __syncthreads();
  count_all([&](uint32_t digit) { shared_count(&storage.counters[digit]); });
  __syncthreads();
  const uint4 counts = *own;
  const uint32_t sum = counts.x + counts.y + counts.z + counts.w;
  uint32_t total;
  const uint32_t before = block_inclusive_sum(warp_inclusive_sum(sum), Block::kWarps, storage.warp_totals, total) - sum;
  if (before < need && need <= before + sum) {
    RowsDigit found = {4 * threadIdx.x, before, counts.x};
    const auto go_on = [&](uint32_t next) {
      if (need > found.before + found.count) found = {found.digit + 1, found.before + found.count, next};
    };
    go_on(counts.y), go_on(counts.z), go_on(counts.w);
    block.found = found;
  }
  __syncthreads();
  return block.found;
}

// The least and the greatest of the block's keys. Ends with a barrier.
template <class Block, class Key>
__device__ __forceinline__ void rows_range(Block &block, Key &least, Key &most) {
  auto &storage = block.tile.sort;
  least = warp_least(least), most = warp_greatest(most);
  if (lane_id() == 0) storage.least[threadIdx.x / 32] = least, storage.greatest[threadIdx.x / 32] = most;
  __syncthreads();
  const bool mine = lane_id() < Block::kWarps;
  least = warp_least(mine ? static_cast<Key>(storage.least[lane_id()]) : ~Key{0});
  most = warp_greatest(mine ? static_cast<Key>(storage.greatest[lane_id()]) : Key{0});
}

// A bound that at least `rank` and at most rank + slack of the block's items are at or under; for_each(f) calls f(key,
// index) for this thread's. Indices are below `items`. All threads call it, behind a barrier.
template <class Block, class ForEach>
__device__ __forceinline__ RowsBound<typename Block::Key> rows_select(Block &block, uint32_t rank, uint32_t slack,
                                                                      uint32_t items, ForEach &&for_each) {
  using Key = typename Block::Key;
  constexpr uint32_t kBits = bit_count(Block::kDigitBins) - 1;
  Key least = ~Key{0}, most = 0;
  for_each([&](Key key, uint32_t) { least = min(least, key), most = max(most, key); });
  rows_range(block, least, most);
  uint32_t need = rank, shift = bit_width(static_cast<Key>(most - least));
  shift = shift > kBits ? shift - kBits : 0;
  RowsDigit found = rows_find(block, need, [&](auto count) {
    for_each([&](Key key, uint32_t) { count(static_cast<uint32_t>(static_cast<Key>(key - least) >> shift)); });
  });
  for (;;) {
    least += static_cast<Key>(found.digit) << shift;
    need -= found.before;
    // The last digit may reach past the greatest key there is.
    const Key width = (Key{1} << shift) - 1;
    if (found.count - need <= slack) return {most - least < width ? most : static_cast<Key>(least + width), ~0u};
    if (shift == 0) break;
    shift = shift > kBits ? shift - kBits : 0;
    found = rows_find(block, need, [&](auto count) {
      for_each([&](Key key, uint32_t) {
        const Key digit = static_cast<Key>(key - least) >> shift;
        if (key >= least && digit < Block::kDigitBins) count(static_cast<uint32_t>(digit));
      });
    });
  }
  // Too many keys are equal to this one.
  uint32_t low = 0;
  shift = bit_width(items - 1);
  shift = shift > kBits ? shift - kBits : 0;
  for (;;) {
    found = rows_find(block, need, [&](auto count) {
      for_each([&](Key key, uint32_t index) {
        const uint32_t digit = (index - low) >> shift;
        if (key == least && index >= low && digit < Block::kDigitBins) count(digit);
      });
    });
    low += found.digit << shift;
    need -= found.before;
    if (found.count - need <= slack || shift == 0) return {least, low + ((1u << shift) - 1)};
    shift = shift > kBits ? shift - kBits : 0;
  }
}

// ---- listing ----

// Lists this thread's marked items; item(j) makes the one of bit j. Whole warps call it.
template <uint32_t kEach, class Block, class MakeItem>
__device__ __forceinline__ void rows_append(Block &block, uint32_t marked, MakeItem &&item) {
  if (!__any_sync(kFullWarp, marked != 0)) return;
  const uint32_t mine = static_cast<uint32_t>(__popc(marked)), upto = warp_inclusive_sum(mine);
  uint32_t at = 0;
  if (lane_id() == 31) at = shared_add(&block.count, upto);
  at = __shfl_sync(kFullWarp, at, 31) + upto - mine;
#pragma unroll
  for (uint32_t j = 0; j < kEach; ++j) {
    if ((marked >> j & 1) == 0) continue;
    if (at < Block::kRoom) block.list()[at] = item(j);
    ++at;
  }
}

template <class Key>
struct RowsThinned {
  RowsBound<Key> bound;
  uint32_t count;  // that are left
};

// Keeps of the first `count` of the list what is among the first `keep` and at or under a bound that `rank` of the
// `count` are at or under, or some more. Begins and ends with a barrier.
template <class Block>
__device__ __noinline__ RowsThinned<typename Block::Key> rows_thin(Block &block, uint32_t count, uint32_t keep,
                                                                   uint32_t rank, uint32_t row_items) {
  using Codec = typename Block::Shape::ItemCodec;
  typename Block::Item items[Block::kListEach];
  __syncthreads();
#pragma unroll
  for (uint32_t j = 0; j < Block::kListEach; ++j) items[j] = block.list()[j * Block::kThreads + threadIdx.x];
  const auto bound = rows_select(block, rank, rows_slack_of_sample(rank), row_items, [&](auto &&f) {
#pragma unroll
    for (uint32_t j = 0; j < Block::kListEach; ++j)
      if (j * Block::kThreads + threadIdx.x < count) f(Codec::key(items[j]), Codec::index(items[j]));
  });
  if (threadIdx.x == 0) block.count = 0;
  __syncthreads();
  uint32_t marked = 0;
#pragma unroll
  for (uint32_t j = 0; j < Block::kListEach; ++j)
    if (j * Block::kThreads + threadIdx.x < keep && bound.passes(Codec::key(items[j]), Codec::index(items[j])))
      marked |= 1u << j;
  rows_append<Block::kListEach>(block, marked, [&](uint32_t j) { return items[j]; });
  __syncthreads();
  const uint32_t left = block.count;
  __syncthreads();
  return {bound, left};
}

// A thread's keys of a tile. Tiles take pieces of 32 elements in turns, a warp each.
template <class Block>
struct RowsTile {
  using Key = typename Block::Key;
  Key keys[Block::kEach];
  uint32_t there;        // a bit a key
  uint32_t first, step;  // index of the first, and distance to the next

  __device__ __forceinline__ uint32_t index(uint32_t j) const { return first + j * step; }

  // Leaves the keys as they are in the row.
  __device__ __forceinline__ void load(const WidenedRow<Key> &row, uint32_t tiles, uint32_t tile) {
    first = (threadIdx.x / 32 * tiles + tile) * 32 + lane_id(), step = Block::kThreads * tiles, there = 0;
    with_loader(row, [&](const auto &loader) {
#pragma unroll
      for (uint32_t j = 0; j < Block::kEach; ++j) keys[j] = loader.widen(loader.load(min(index(j), row.items - 1)));
    });
#pragma unroll
    for (uint32_t j = 0; j < Block::kEach; ++j) there |= static_cast<uint32_t>(index(j) < row.items) << j;
  }

  __device__ __forceinline__ void encode(const WidenedRow<Key> &row) {
    with_codec(row.codec, [&](const KeyCodec<Key> &codec) {
#pragma unroll
      for (uint32_t j = 0; j < Block::kEach; ++j) keys[j] = codec.encode(keys[j]);
    });
  }

  template <class F>
  __device__ __forceinline__ void for_each(F &&f) const {
#pragma unroll
    for (uint32_t j = 0; j < Block::kEach; ++j)
      if ((there >> j & 1) != 0) f(keys[j], index(j));
  }

  // Lists what is at or under the bound. Whole warps call it.
  __device__ __forceinline__ void filter(Block &block, const RowsBound<Key> &bound) const {
    uint32_t marked = 0;
#pragma unroll
    for (uint32_t j = 0; j < Block::kEach; ++j) marked |= static_cast<uint32_t>(keys[j] <= bound.key) << j;
    marked &= there;
    if (bound.index != ~0u) {
#pragma unroll
      for (uint32_t j = 0; j < Block::kEach; ++j)
        if (keys[j] == bound.key && index(j) > bound.index) marked &= ~(1u << j);
    }
    rows_append<Block::kEach>(block, marked,
                              [&](uint32_t j) { return Block::Shape::ItemCodec::make(keys[j], index(j)); });
  }
};

// Lists what is at or under bounds by samples. False: these are not k, or more than there is room for. Begins and ends
// with a barrier.
template <class Block>
__device__ __noinline__ bool rows_list_once(Block &block, const WidenedRow<typename Block::Key> row, uint32_t tiles,
                                            uint32_t k, const RowsBounds way) {
  constexpr bool kAhead = sizeof(typename Block::Key) == 4;  // a tile is loaded ahead: longer keys would be spilt
  RowsTile<Block> tile, next;
  tile.load(row, tiles, 0);
  tile.encode(row);
  if (threadIdx.x == 0) block.count = 0;
  auto bound = rows_select(block, way.rank, way.slack, row.items, [&](auto &&f) { tile.for_each(f); });
  for (uint32_t t = 0;;) {
    const bool is_last = ++t == tiles;
    if (kAhead && !is_last) next.load(row, tiles, t);
    tile.filter(block, bound);
    if (is_last) break;
    if (t == way.tiles) {
      __syncthreads();
      const uint32_t count = block.count;
      if (count < way.again || count > Block::kRoom) return false;
      bound = rows_thin(block, count, count, way.again, row.items).bound;
    }
    if (!kAhead) next.load(row, tiles, t);
    next.encode(row);
    tile = next;
  }
  __syncthreads();
  return block.count >= k && block.count <= Block::kRoom;
}

// The same under bounds that at least k elements are at or under, whatever they are. Begins and ends with a barrier.
template <class Block>
__device__ __noinline__ void rows_list_surely(Block &block, const WidenedRow<typename Block::Key> row, uint32_t tiles,
                                              uint32_t k) {
  using Key = typename Block::Key;
  __syncthreads();
  if (threadIdx.x == 0) block.count = 0;
  __syncthreads();
  RowsBound<Key> bound = {static_cast<Key>(~Key{0}), ~0u};
  // Tiles that are listed for good, the end of those in work, and how many elements are listed of the former.
  uint32_t done = 0, phase = 1, kept = 0;
  for (;;) {
    for (uint32_t t = done; t < phase; ++t) {
      RowsTile<Block> tile;
      tile.load(row, tiles, t);
      tile.encode(row);
      tile.filter(block, bound);
    }
    __syncthreads();
    const uint32_t count = block.count;
    const bool full = count > Block::kRoom;
    if (!full && phase == tiles) return;
    // A bound that was found from tiles that are to be read again may have fewer than k of the list under it.
    if (full || count > k + rows_slack_of_sample(k)) {
      const auto thinned = rows_thin(block, full ? Block::kRoom : count, full ? kept : count, k, row.items);
      bound = thinned.bound, kept = thinned.count;
    } else {
      kept = count;
      __syncthreads();
    }
    if (!full) done = phase;
    // As many as are likely to fit: of each tile k / done pass.
    phase = full ? done + 1 : min(tiles, done + max(1u, done * (Block::kRoom - kept) / (2 * k)));
  }
}

// Lists all of a row that there is room for. Begins and ends with a barrier.
template <class Block>
__device__ __noinline__ void rows_keep(Block &block, const WidenedRow<typename Block::Key> row) {
  typename Block::Key keys[Block::kListEach];
  with_loader(row, [&](const auto &loader) {
#pragma unroll
    for (uint32_t j = 0; j < Block::kListEach; ++j)
      keys[j] = loader.widen(loader.load(min(j * Block::kThreads + threadIdx.x, row.items - 1)));
  });
#pragma unroll
  for (uint32_t j = 0; j < Block::kListEach; ++j) {
    const uint32_t at = j * Block::kThreads + threadIdx.x;
    if (at < row.items) block.list()[at] = Block::Shape::ItemCodec::make(row.codec.encode(keys[j]), at);
  }
  if (threadIdx.x == 0) block.count = row.items;
  __syncthreads();
}

// Lists at least k, and no more than there is room for, of the row's elements, the best k among them. Begins and ends
// with a barrier.
template <class Block>
__device__ __forceinline__ void rows_list(Block &block, const WidenedRow<typename Block::Key> &row, uint32_t k,
                                          const RowsBounds &way) {
  const uint32_t tiles = (row.items + Block::kTile - 1) / Block::kTile;
  if (way.rank == 0 || !rows_list_once(block, row, tiles, k, way)) rows_list_surely(block, row, tiles, k);
}

// ---- a row ----

// The list's items, and the greatest of their indices, behind the next barrier in block.tile.greatest.
template <class Block>
__device__ __forceinline__ void rows_take(Block &block, uint32_t count,
                                          typename Block::Item (&items)[Block::kListEach]) {
  uint32_t greatest = 0;
#pragma unroll
  for (uint32_t j = 0; j < Block::kListEach; ++j) {
    const uint32_t at = j * Block::kThreads + threadIdx.x;
    if (at >= count) continue;
    items[j] = block.list()[at];
    greatest = max(greatest, Block::Shape::ItemCodec::index(items[j]));
  }
  greatest = warp_greatest(greatest);
  if (lane_id() == 0) shared_max(&block.tile.greatest, greatest);
}

// Writes the best k of the list from place `begin` of the results on. Begins and ends with a barrier.
template <class Block>
__device__ __noinline__ void rows_place(Block &block, const WidenedProblem<typename Block::Key> &problem,
                                        uint64_t begin, uint32_t k) {
  using Codec = typename Block::Shape::ItemCodec;
  const uint32_t count = block.count;
  typename Block::Item items[Block::kListEach];
  rows_take(block, count, items);
  const auto codec = problem.codec;
  unsigned char *const values = problem.values;
  void *const indices = problem.indices;
  const uint32_t key_bytes = problem.key_bytes, index_bytes = problem.index_bytes;
  tile_topk(block.tile, items, count, k, [&](uint32_t place, const typename Block::Item &item) {
    if (values != nullptr) widened_store(values, key_bytes, begin + place, codec.decode(Codec::key(item)));
    write_index(indices, index_bytes, begin + place, Codec::index(item));
  });
  __syncthreads();
}

// Begins and ends with a barrier.
template <class Block>
__device__ __forceinline__ void rows_do(Block &block, const RowsProblem<typename Block::Key> &bounded, uint64_t r) {
  using Key = typename Block::Key;
  const WidenedProblem<Key> &problem = bounded.rows;
  const WidenedRow<Key> row = widened_row(problem, r);
  const uint32_t k = static_cast<uint32_t>(min_of(problem.k, row.items));
  if (threadIdx.x == 0) block.tile.greatest = 0;
  if (row.items <= Block::kRoom)
    rows_keep(block, row);
  else if (problem.ragged.offsets != nullptr)
    rows_list(block, row, k, rows_bounds(row.items, k, Block::kThreads));
  else
    rows_list(block, row, k, bounded.bounds);
  const uint64_t begin = r * problem.k;
  rows_place(block, problem, begin, k);
  for (uint64_t at = k + threadIdx.x; at < problem.k; at += Block::kThreads) {
    if (problem.values != nullptr) widened_store<Key>(problem.values, problem.key_bytes, begin + at, 0);
    write_index(problem.indices, problem.index_bytes, begin + at, ~uint64_t{0});
  }
}

// The block's rows: those of its number and of every so many blocks behind it, or, of rows with offsets, the next that
// nobody does.
template <class Block>
__device__ __forceinline__ void rows_all(Block &block, const RowsProblem<typename Block::Key> &problem) {
  for (uint64_t r = blockIdx.x;; r += gridDim.x) {
    if (problem.rows.ragged.offsets != nullptr) {
      const bool any = threadIdx.x == 0 && rows_ticket(problem.rows.ragged, block.ticket);
      if (__syncthreads_or(any) == 0) return;
      r = block.ticket;
    } else if (r >= problem.rows.rows) {
      return;
    }
    rows_do(block, problem, r);
  }
}

template <class Key, uint32_t kThreads>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    topk_rows_kernel(const __grid_constant__ RowsProblem<Key> problem) {
  using Block = RowsBlock<Key, kThreads>;
  if constexpr (!kFitsHere<sizeof(Block)>) return;
  extern __shared__ __align__(16) unsigned char dynamic[];
  wait_for_kernel_before();
  rows_all(*reinterpret_cast<Block *>(dynamic), problem);
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_ROWS_CUH_
