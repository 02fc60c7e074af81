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
#ifndef GSORT_CUDA_SCAN_INTEGER_CUH_
#define GSORT_CUDA_SCAN_INTEGER_CUH_

#include <cstdint>

#include "cuda/primitive/ptx.cuh"
#include "cuda/scan/mailbox.cuh"
#include "cuda/scan/plan.h"
#include "cuda/scan/vector.cuh"

namespace gsort_internal::scan {

template <class U>
struct IntegerArguments {
  const U *in;
  U *out;
  uint64_t n;
  uint32_t skew;   // elements by which `in` lies behind a multiple of 16 bytes: vectors begin there
  uint32_t tiles;  // of the vectors
  bool exclusive;
  // All words empty (kEmpty) before the launch; none is touched if there is one tile.
  uint32_t *tickets;  // starts at 2^32 - 1, so that the first ticket is 0
  Mailbox<IntegerSumOf<U>> tile_totals;
};

template <class U>
class IntegerScan {
 public:
  using Sum = IntegerSumOf<U>;
  using Tuning = IntegerTuning;
  static constexpr uint32_t kVectors = Tuning::kVectors, kWarps = Tuning::kWarps;
  using Vectors = uint4[kVectors];

  // Pairs are used by turns, so that one side writes the one while the other still reads the other.
  struct Shared {
    Sum warp_totals[2][kWarps];
    Sum warp_prefixes[2][kWarps];
    uint32_t tickets[2];
    uint32_t first_ticket;
    uint32_t arrived;  // how many of the block's tiles but the first have come
    // The last warp's own: in registers they would cost the other warps as many.
    Sum before;        // of all tiles below `reached`
    uint32_t reached;  // one more than the block's last tile that has its prefix
    uint32_t served;   // tiles of the block that have
  };

  __device__ __forceinline__ IntegerScan(const IntegerArguments<U> &args, Shared &shared)
      : args_(args), shared_(shared), lane_(threadIdx.x & 31), warp_(threadIdx.x / 32) {}

  __device__ __forceinline__ void run() {
    if (!scans()) open();
    __syncthreads();
    uint32_t tile = shared_.first_ticket, waiting = kNone;
    Vectors even, odd;
    // A block that starts when the others have drawn all tiles, as blocks do whose multiprocessors other kernels had,
    // has none.
    if (tile >= args_.tiles) return;
    if (scans())
      load(tile, even);
    else
      hand_out(draw_next(), 0);
    while (step<0>(tile, waiting, even, odd) && step<1>(tile, waiting, odd, even)) continue;
  }

 private:
  __device__ __forceinline__ bool scans() const { return warp_ < kWarps; }

  // Sums up `tile`, which is on its way to `arriving`, and stores `waiting`, whose running sums are in `running`. Then
  // it is `tile` that waits, and another one on its way to `running`. False: there is none.
  //
  // At the barrier the total of `tile` is there for look_back(), and the prefix of `waiting` and a new ticket come from
  // it. Both kinds of warps meet at the same barriers, which tools that check them ask for.
  template <uint32_t kTurn>
  __device__ __forceinline__ bool step(uint32_t &tile, uint32_t &waiting, Vectors &arriving, Vectors &running) {
    if (scans()) {
      Sum total = 0;
      if (tile < args_.tiles) total = sum_up(arriving);
      if (lane_ == 0) shared_.warp_totals[kTurn][warp_] = total;
      if (waiting != kNone && warp_ == 0) tell_arrival();
      if (tile < args_.tiles) publish_total(tile, kTurn);
    }
    __syncthreads();
    if (scans() && waiting != kNone) store(waiting, running, shared_.warp_prefixes[kTurn][warp_]);
    if (tile >= args_.tiles) return false;
    waiting = tile;
    tile = shared_.tickets[kTurn];
    if (scans()) {
      if (tile < args_.tiles) load(tile, running);
    } else {
      look_back(waiting, kTurn);
      // The last warp holds no tile. Without this the compiler would keep the registers of two while it looks back.
#pragma unroll
      for (uint32_t k = 0; k < kVectors; ++k) arriving[k] = running[k] = make_uint4(0, 0, 0, 0);
    }
    return true;
  }

  // The first warp tells the last one that the block's next tile has come. Nothing is handed over: the wait only keeps
  // the last warp from polling too early, so the counter needs no order with other accesses.
  __device__ __forceinline__ void tell_arrival() {
    if (lane_ == 0) atomicAdd(&shared_.arrived, 1);
  }
  __device__ __forceinline__ void wait_for_arrival(uint32_t tiles) {
    if (lane_ == 0)
      while (atomicAdd(&shared_.arrived, 0) < tiles) __nanosleep(Tuning::kArrivalNanoseconds);
    __syncwarp();
  }

  // By the warps that have the tile, before the barrier at which look_back() may still be at work for the tile before:
  // no block's total waits for another one's look-back.
  __device__ __forceinline__ void publish_total(uint32_t tile, uint32_t turn) {
    if (args_.tiles == 1) return;
    sync_threads<1, kWarps * 32>();
    if (warp_ != 0) return;
    Sum total = lane_ < kWarps ? shared_.warp_totals[turn][lane_] : Sum{0};
    for (uint32_t d = 16; d > 0; d /= 2) total += __shfl_xor_sync(kFullWarp, total, d);
    if (lane_ == 0) args_.tile_totals.publish(tile, total);
  }

  // The last warp, before all else.
  __device__ __forceinline__ void open() {
    const uint32_t first = draw_first();
    if (lane_ != 0) return;
    shared_.first_ticket = first, shared_.arrived = 0;
    shared_.before = 0, shared_.reached = 0, shared_.served = 0;
  }
  __device__ __forceinline__ void hand_out(uint32_t ticket, uint32_t turn) {
    if (lane_ == 0) shared_.tickets[turn] = ticket;
  }

  // The last warp. The prefix of `tile`, whose totals are those of this turn, and a ticket for the next turn.
  __device__ __forceinline__ void look_back(uint32_t tile, uint32_t turn) {
    const Sum own = lane_ < kWarps ? shared_.warp_totals[turn][lane_] : Sum{0};
    const Sum warps = scan_lanes(own, kWarps, lane_);
    const Sum total = __shfl_sync(kFullWarp, warps, kWarps - 1);
    const uint32_t served = shared_.served + 1;
    // Until the block's next tile has come: by then what this one looks for is there, and polling would slow the
    // memory.
    wait_for_arrival(served);
    const uint32_t drawn = draw_next();  // comes while looking back
    const Sum before = shared_.before + totals_between(shared_.reached, tile);
    if (lane_ < kWarps) shared_.warp_prefixes[turn ^ 1][lane_] = before + (warps - own);
    hand_out(drawn, turn ^ 1);
    __syncwarp();
    if (lane_ == 0) shared_.before = before + total, shared_.reached = tile + 1, shared_.served = served;
    __syncwarp();
  }

  // In the first lane. If there is a block for every tile, the first ticket is its only one.
  __device__ __forceinline__ uint32_t draw_first() const {
    return args_.tiles == 1 || lane_ != 0 ? 0 : draw_ticket(args_.tickets);
  }
  __device__ __forceinline__ uint32_t draw_next() const {
    return args_.tiles <= gridDim.x || lane_ != 0 ? args_.tiles : draw_ticket(args_.tickets);
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
      while (true) {
        args_.tile_totals.template fetch_missing<kLoads>(base + lane_, missing, sum);
        if (missing == 0) break;
        __nanosleep(Tuning::kPollNanoseconds);
      }
    }
    for (uint32_t d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(kFullWarp, sum, d);
    return sum;
  }

  // The lane's first vector, counted from the tile's.
  __device__ __forceinline__ uint32_t first_vector() const { return warp_ * (kVectors * 32) + lane_; }
  // Where the first tile would begin if `begin` were not `skew` elements behind a vector's.
  template <class T>
  __device__ __forceinline__ T *tile_begin(T *begin, uint32_t tile) const {
    return begin - args_.skew + uint64_t{tile} * kTileItems;
  }
  // All vectors of the tile lie in the array: only the first and the last tile may have others.
  __device__ __forceinline__ bool is_inner(uint32_t tile) const { return tile != 0 && tile + 1 < args_.tiles; }

  // Of such a tile's elements those from `begin` up to `end` lie in the array.
  struct Part {
    uint32_t begin, end;
    __device__ __forceinline__ bool has_vector(uint32_t v) const {
      return v * kVectorItems >= begin && (v + 1) * kVectorItems <= end;
    }
    // A part of one at least.
    __device__ __forceinline__ bool has_any_of(uint32_t v) const {
      return (v + 1) * kVectorItems > begin && v * kVectorItems < end;
    }
    __device__ __forceinline__ bool has_element(uint32_t i) const { return i >= begin && i < end; }
  };
  __device__ __forceinline__ Part part_of(uint32_t tile) const {
    const uint64_t left = args_.n + args_.skew - uint64_t{tile} * kTileItems;
    return {tile == 0 ? args_.skew : 0, static_cast<uint32_t>(left < kTileItems ? left : kTileItems)};
  }

  // Elements outside the array come as 0.
  __device__ __forceinline__ void load(uint32_t tile, Vectors &v) const {
    const U *const elements = tile_begin(args_.in, tile);
    const uint4 *const source = reinterpret_cast<const uint4 *>(elements) + first_vector();
    if (is_inner(tile)) {
#pragma unroll
      for (uint32_t k = 0; k < kVectors; ++k) v[k] = __ldcs(source + k * 32);
      return;
    }
    const Part part = part_of(tile);
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      v[k] = make_uint4(0, 0, 0, 0);
      if (part.has_vector(first_vector() + k * 32)) v[k] = __ldcs(source + k * 32);
    }
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      const uint32_t vector = first_vector() + k * 32;
      if (part.has_any_of(vector) && !part.has_vector(vector)) v[k] = load_elements(elements, part, vector);
    }
  }

  __device__ __forceinline__ static uint4 load_elements(const U *elements, const Part &part, uint32_t vector) {
    uint64_t low = 0, high = 0;
#pragma unroll 1
    for (uint32_t e = kVectorItems; e-- > 0;) {
      const uint32_t i = vector * kVectorItems + e;
      const uint64_t bits = part.has_element(i) ? elements[i] : U{0};
      high = kElementBits == 64 ? low : high << (kElementBits & 63) | low >> (64 - kElementBits);
      low = kElementBits == 64 ? bits : low << (kElementBits & 63) | bits;
    }
    return make_uint4(static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
                      static_cast<uint32_t>(high >> 32));
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
        const Sum below = __shfl_up_sync(kFullWarp, scanned[k], d);
        if (lane_ >= d) scanned[k] += below;
      }
    }
    Sum before = 0;
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      const Sum in_lanes_below = before + (scanned[k] - last_of<U>(v[k]));
      add_to_all<U>(v[k], in_lanes_below);
      if (args_.exclusive) shift_vector<U>(v[k], in_lanes_below);
      before += __shfl_sync(kFullWarp, scanned[k], 31);
    }
    return before;
  }

  __device__ __forceinline__ void store(uint32_t tile, Vectors &v, Sum prefix) const {
    U *const elements = tile_begin(args_.out, tile);
    uint4 *const target = reinterpret_cast<uint4 *>(elements) + first_vector();
    const bool aligned = (reinterpret_cast<uint64_t>(elements) & 15) == 0;
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) add_to_all<U>(v[k], prefix);
    if (aligned && is_inner(tile)) {
#pragma unroll
      for (uint32_t k = 0; k < kVectors; ++k) __stcs(target + k * 32, v[k]);
      return;
    }
    const Part part = part_of(tile);
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      const uint32_t vector = first_vector() + k * 32;
      if (aligned && part.has_vector(vector))
        __stcs(target + k * 32, v[k]);
      else if (part.has_any_of(vector))
        store_elements(elements, part, vector, v[k]);
    }
  }

  __device__ __forceinline__ static void store_elements(U *elements, const Part &part, uint32_t vector,
                                                        const uint4 &v) {
    uint64_t low = v.x | static_cast<uint64_t>(v.y) << 32, high = v.z | static_cast<uint64_t>(v.w) << 32;
#pragma unroll 1
    for (uint32_t e = 0; e < kVectorItems; ++e) {
      const uint32_t i = vector * kVectorItems + e;
      if (part.has_element(i)) elements[i] = static_cast<U>(low);
      low = kElementBits == 64 ? high : low >> (kElementBits & 63) | high << (64 - kElementBits);
      high = kElementBits == 64 ? 0 : high >> (kElementBits & 63);
    }
  }

  static constexpr uint32_t kNone = UINT32_MAX;  // no tile
  static constexpr uint32_t kElementBits = sizeof(U) * 8;
  static constexpr uint32_t kTileItems = Tuning::kTileBytes / sizeof(U);
  static constexpr uint32_t kLoads = Tuning::totals_in_flight(sizeof(U));
  static constexpr uint32_t kVectorItems = 16 / sizeof(U);

  const IntegerArguments<U> &args_;
  Shared &shared_;
  uint32_t lane_, warp_;
};

template <class U>
__global__ void __launch_bounds__(IntegerTuning::kThreads, IntegerTuning::kBlocksPerMultiprocessor)
    scan_integer_kernel(const IntegerArguments<U> args) {
  __shared__ typename IntegerScan<U>::Shared shared;
  IntegerScan<U>(args, shared).run();
}

}  // namespace gsort_internal::scan

#endif  // GSORT_CUDA_SCAN_INTEGER_CUH_
