// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan of integers, signed and unsigned alike, modulo their width. Their additions are associative, so tiles need
// not be those of core/scan_order.h: a tile is what a block holds in registers.
//
// Blocks stay and draw tiles from a counter. While a block's warps finish one tile, the next one's total is on its way
// to all other blocks, and the one after is on its way from memory. A warp of its own keeps the sum of all tiles up to
// the block's last one, to which it adds the totals of the tiles between that one and the next: no block waits for
// another one's prefix, only for totals, each published as soon as its tile has arrived.
//
// Forward progress: a tile's number is a ticket drawn when its block already runs, and a block draws ascending ones. It
// publishes a tile's total after it has waited for totals of lower tiles at most, so the lowest total that is missing
// waits for nobody.
#ifndef GSORT_CUDA_KERNELS_SCAN_INTEGER_CUH_
#define GSORT_CUDA_KERNELS_SCAN_INTEGER_CUH_

#include <cstdint>

#include "cuda/kernels/scan_mailbox.cuh"
#include "cuda/kernels/scan_vector.cuh"
#include "plan/scan_plan.h"

namespace gsort_internal {

template <class U>
struct IntegerScanArguments {
  const U *in;
  U *out;
  uint64_t n;
  uint32_t skew;   // elements by which `in` lies behind a multiple of 16 bytes: vectors begin there
  uint32_t tiles;  // of the vectors
  bool exclusive;
  // All words empty (kScanEmpty) before the launch; none is touched if there is one tile.
  uint32_t *tickets;  // starts at 2^32 - 1, so that the first ticket is 0
  ScanMailbox<IntegerSumOf<U>> tile_totals;
};

template <class U>
class IntegerScan {
 public:
  using Sum = IntegerSumOf<U>;
  using Tuning = IntegerScanTuning;
  static constexpr uint32_t kVectors = Tuning::kVectors, kWarps = Tuning::kWarps;
  using Vectors = uint4[kVectors];

  // Pairs are used by turns, so that one side writes the one while the other still reads the other.
  struct Shared {
    Sum warp_totals[2][kWarps];
    Sum warp_prefixes[2][kWarps];
    uint32_t tickets[2];
    uint32_t first_ticket;
  };

  __device__ __forceinline__ IntegerScan(const IntegerScanArguments<U> &args, Shared &shared)
      : args_(args), shared_(shared), lane_(threadIdx.x & 31), warp_(threadIdx.x / 32) {}

  __device__ __forceinline__ void run() {
    if (warp_ == kWarps)
      serve();
    else
      scan();
  }

 private:
  // All warps. The two kinds of warps reach it in different places of the code, as PTX allows: only the threads of one
  // warp must be at the same instruction.
  __device__ static __forceinline__ void block_sync() {
    asm volatile("bar.sync 1, %0;" ::"n"(Tuning::kThreads) : "memory");
  }

  // The warps that hold the tiles. At each barrier the total of `tile` is there for serve(), and the prefix of `held`
  // and a new ticket come from it.
  __device__ __forceinline__ void scan() {
    block_sync();
    uint32_t tile = shared_.first_ticket, held = 0, turn = 0;
    Vectors arriving, running;
    load(tile, arriving);
    for (bool holding = false;; holding = true) {
      const Sum total = sum_up(arriving);
      if (lane_ == 0) shared_.warp_totals[turn][warp_] = total;
      block_sync();
      if (holding) store(held, running, shared_.warp_prefixes[turn][warp_]);
      if (tile >= args_.tiles) return;
#pragma unroll
      for (uint32_t k = 0; k < kVectors; ++k) running[k] = arriving[k];
      held = tile;
      tile = shared_.tickets[turn];
      load(tile, arriving);
      turn ^= 1;
    }
  }

  // The last warp.
  __device__ __forceinline__ void serve() {
    uint32_t tile = draw(0), turn = 0;
    if (lane_ == 0) shared_.first_ticket = tile;
    block_sync();
    uint32_t next = draw(1);
    if (lane_ == 0) shared_.tickets[0] = next;
    uint32_t reached = 0;  // tiles whose totals are in `before`
    Sum before = 0;
    while (true) {
      block_sync();
      if (tile >= args_.tiles) return;
      const Sum own = lane_ < kWarps ? shared_.warp_totals[turn][lane_] : Sum{0};
      const Sum warps = scan_lanes(own, kWarps, lane_);
      const Sum total = __shfl_sync(0xffffffffu, warps, kWarps - 1);
      if (lane_ == 0 && args_.tiles > 1) args_.tile_totals.publish(tile, total);
      const uint32_t drawn = draw(1);
      before += totals_between(reached, tile);
      turn ^= 1;
      if (lane_ < kWarps) shared_.warp_prefixes[turn][lane_] = before + (warps - own);
      if (lane_ == 0) shared_.tickets[turn] = drawn;
      before += total;
      reached = tile + 1;
      tile = next, next = drawn;
    }
  }

  // The next ticket, in all lanes; `alone` if there is one tile.
  __device__ __forceinline__ uint32_t draw(uint32_t alone) const {
    if (args_.tiles == 1) return alone;
    uint32_t ticket = 0;
    if (lane_ == 0) ticket = atomicAdd(args_.tickets, 1u) + 1u;
    return __shfl_sync(0xffffffffu, ticket, 0);
  }

  // The sum of the totals of tiles [begin, end), in all lanes. Waits until they are there; what is there is not read
  // again, because polling costs the L2 cache's time.
  __device__ __forceinline__ Sum totals_between(uint32_t begin, uint32_t end) const {
    Sum sum = 0;
#pragma unroll 1
    for (uint32_t base = begin; base < end; base += 32 * kLoads) {
      uint32_t missing = 0;
#pragma unroll
      for (uint32_t j = 0; j < kLoads; ++j)
        if (base + j * 32 + lane_ < end) missing |= 1u << j;
      while (missing != 0) args_.tile_totals.template fetch_missing<kLoads>(base + lane_, missing, sum);
    }
    for (uint32_t d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    return sum;
  }

  // The first vector of the lane in a tile.
  __device__ __forceinline__ uint64_t first_vector(uint32_t tile) const {
    return (uint64_t{tile} * kWarps + warp_) * (kVectors * 32) + lane_;
  }

  // All vectors of the tile lie in the array.
  __device__ __forceinline__ bool is_inner(uint32_t tile) const {
    const uint64_t begin = uint64_t{tile} * kTileItems;
    return begin >= args_.skew && begin + kTileItems - args_.skew <= args_.n;
  }

  // Elements outside the array come as 0.
  __device__ __forceinline__ void load(uint32_t tile, Vectors &v) const {
    const uint64_t first = first_vector(tile);
    if (is_inner(tile)) {
      const uint4 *const source = reinterpret_cast<const uint4 *>(args_.in - args_.skew) + first;
#pragma unroll
      for (uint32_t k = 0; k < kVectors; ++k) v[k] = __ldcs(source + k * 32);
      return;
    }
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      uint64_t half[2] = {0, 0};
#pragma unroll 1
      for (uint32_t e = 0; e < kVectorItems; ++e) {
        const uint64_t i = (first + k * 32) * kVectorItems + e - args_.skew;  // wraps before the array
        if (i >= args_.n) continue;
        const uint64_t bits = static_cast<uint64_t>(args_.in[i]) << (e * sizeof(U) * 8 & 63);
        if (e < kVectorItems / 2)
          half[0] |= bits;
        else
          half[1] |= bits;
      }
      v[k] = make_uint4(static_cast<uint32_t>(half[0]), static_cast<uint32_t>(half[0] >> 32),
                        static_cast<uint32_t>(half[1]), static_cast<uint32_t>(half[1] >> 32));
    }
  }

  // Turns the warp's elements into their running sums (exclusive ones if asked for); returns their sum.
  __device__ __forceinline__ Sum sum_up(Vectors &v) const {
    Sum scanned[kVectors];
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      make_running<U>(v[k]);
      scanned[k] = last_of<U>(v[k]);
    }
#pragma unroll
    for (uint32_t d = 1; d < 32; d *= 2) {
#pragma unroll
      for (uint32_t k = 0; k < kVectors; ++k) {
        const Sum below = __shfl_up_sync(0xffffffffu, scanned[k], d);
        if (lane_ >= d) scanned[k] += below;
      }
    }
    Sum before = 0;
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      const Sum in_lanes_below = before + (scanned[k] - last_of<U>(v[k]));
      add_to_all<U>(v[k], in_lanes_below);
      if (args_.exclusive) shift_vector<U>(v[k], in_lanes_below);
      before += __shfl_sync(0xffffffffu, scanned[k], 31);
    }
    return before;
  }

  __device__ __forceinline__ void store(uint32_t tile, Vectors &v, Sum prefix) const {
    const uint64_t first = first_vector(tile);
    const bool aligned = (reinterpret_cast<uint64_t>(args_.out - args_.skew) & 15) == 0;
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) add_to_all<U>(v[k], prefix);
    if (aligned && is_inner(tile)) {
      uint4 *const target = reinterpret_cast<uint4 *>(args_.out - args_.skew) + first;
#pragma unroll
      for (uint32_t k = 0; k < kVectors; ++k) __stcs(target + k * 32, v[k]);
      return;
    }
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      const uint64_t low = v[k].x | static_cast<uint64_t>(v[k].y) << 32;
      const uint64_t high = v[k].z | static_cast<uint64_t>(v[k].w) << 32;
#pragma unroll 1
      for (uint32_t e = 0; e < kVectorItems; ++e) {
        const uint64_t i = (first + k * 32) * kVectorItems + e - args_.skew;
        const uint64_t bits = e < kVectorItems / 2 ? low : high;
        if (i < args_.n) args_.out[i] = static_cast<U>(bits >> (e * sizeof(U) * 8 & 63));
      }
    }
  }

  static constexpr uint32_t kLoads = Tuning::totals_in_flight(sizeof(U));
  static constexpr uint32_t kVectorItems = 16 / sizeof(U);
  static constexpr uint32_t kTileItems = Tuning::kTileBytes / sizeof(U);

  const IntegerScanArguments<U> &args_;
  Shared &shared_;
  uint32_t lane_, warp_;
};

template <class U>
__global__ void __launch_bounds__(IntegerScanTuning::kThreads, IntegerScanTuning::kBlocksPerMultiprocessor)
    scan_integer_kernel(const IntegerScanArguments<U> args) {
  __shared__ typename IntegerScan<U>::Shared shared;
  IntegerScan<U>(args, shared).run();
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_SCAN_INTEGER_CUH_
