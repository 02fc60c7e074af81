// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge of many tiles by blocks that stay, one a multiprocessor (compute capability 9.0). A warp of each brings
// one group after the other to shared memory by bulk copies, into a ring of slots, while the others merge. A group
// leaves its slot as soon as its keys are in registers.
#ifndef GSORT_CUDA_MERGE_RING_CUH_
#define GSORT_CUDA_MERGE_RING_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/merge/borders.cuh"
#include "cuda/merge/plan.h"
#include "cuda/merge/split.cuh"
#include "cuda/merge/tile.cuh"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/bulk_copy.cuh"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/ptx.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::merge {

// What lies in a slot of the ring; a group without keys comes behind the last one.
struct SlotContent {
  uint32_t a, b;      // where the parts begin: bytes of dynamic shared memory
  uint32_t a_n, b_n;  // keys
  uint64_t begin;     // of the group, in the output
};

// Group `i` of the block lies in slot i % kRingSlots.
struct Ring {
  BulkCount full[Tuning::kRingSlots];   // the fetching thread arrives, and the group's bytes
  BulkCount empty[Tuning::kRingSlots];  // a warp for each tile arrives, once it has read it
  SlotContent contents[Tuning::kRingSlots];
  bool unsorted;  // some tile's ends did not fit together

  __device__ __forceinline__ void open() {
    for (BulkCount &count : full) count.open(1);
    for (BulkCount &count : empty) count.open(Tuning::kRingTiles);
    unsorted = false;
  }
  // Ends since the warps that have tiles of the group before in this slot wait for nothing but that group.
  __device__ __forceinline__ void wait_for_slot(uint32_t i) {
    constexpr uint32_t kSlots = Tuning::kRingSlots;
    if (i >= kSlots) empty[i % kSlots].wait(i / kSlots - 1);
  }
};
// Each warp reads a tile of every group that comes to a slot that it looks at, so that no round passes it unseen.
static_assert(Tuning::kRingWarps % Tuning::kRingTiles == 0 &&
                  Tuning::kRingSlots % (Tuning::kRingWarps / Tuning::kRingTiles) == 0,
              "see BulkCount");

// A part on its way to shared memory, where it keeps its offset within 128 bytes. What the array's own whole vectors
// hold of it comes by a bulk copy, with keys beside the part; the array may begin and end within a vector.
template <class U>
struct BulkFetch {
  uint64_t begin, end;   // addresses of the part
  uint64_t first, last;  // of the vectors
  uint32_t target;       // of the part, in shared memory

  // `room`: a multiple of 128.
  __device__ __forceinline__ BulkFetch(const U *array, uint64_t array_n, uint64_t from, uint32_t n, uint32_t room) {
    const uint64_t base = reinterpret_cast<uint64_t>(array);
    begin = base + from * sizeof(U);
    end = begin + n * sizeof(U);
    first = max(begin & ~uint64_t{15}, (base + 15) & ~uint64_t{15});
    last = min((end + 15) & ~uint64_t{15}, (base + array_n * sizeof(U)) & ~uint64_t{15});
    if (n == 0 || last < first) last = first;
    target = room + static_cast<uint32_t>(begin & 127);
  }
  __device__ __forceinline__ uint32_t bulk_bytes() const { return static_cast<uint32_t>(last - first); }
  // Behind all that is written there.
  __device__ __forceinline__ uint32_t next_room() const {
    return (target + static_cast<uint32_t>(end - begin) + 15 + 127) & ~127u;
  }
  __device__ __forceinline__ uint32_t shared_at(uint64_t address) const {
    return target + static_cast<uint32_t>(address - begin);
  }
  __device__ __forceinline__ void start(BulkCount &count) const {
    if (last != first) count.copy(shared_at(first), first, bulk_bytes());
    if (begin < first || last < end) edges();
  }
  __device__ __forceinline__ void edges() const {
    copy_keys(begin, min(first, end));
    copy_keys(max(last, begin), end);
    order_bulk_copies();  // of a later group to the same slot
  }
  __device__ __forceinline__ void copy_keys(uint64_t from, uint64_t to) const {
    using Word = std::conditional_t<sizeof(U) == 8, unsigned long long, uint32_t>;
    for (; from < to; from += sizeof(U)) store_shared(shared_at(from), *reinterpret_cast<const Word *>(from));
  }
};

// By one thread, all groups of a block: whoever is done with one takes the next that nobody has taken, one ahead of
// its borders and two ahead of its keys, so that the thread waits for none of them.
template <class U>
class Fetcher {
 public:
  __device__ __forceinline__ Fetcher(const Arguments<U> &args, uint32_t shared, Ring &ring)
      : args_(args), shared_(shared), ring_(ring) {}

  __device__ __forceinline__ void fetch_all() {
    uint64_t group = take(), next = take();
    Borders borders = borders_of(group);
    while (group < args_.groups) {
      const uint64_t after = take();
      const Borders coming = borders_of(next);
      fetch(group, borders);
      group = next, next = after, borders = coming;
    }
    for (uint32_t set = 0; set < Tuning::kRingWarps / Tuning::kRingTiles; ++set) {
      ring_.wait_for_slot(fetched_);
      const uint32_t slot = fetched_++ % Tuning::kRingSlots;
      ring_.contents[slot] = {0, 0, 0, 0, 0};
      ring_.full[slot].arrive();
    }
  }

 private:
  struct Borders {
    uint64_t begin, end;
  };
  __device__ __forceinline__ uint64_t take() { return atomicAdd(&args_.between->taken, 1u); }
  __device__ __forceinline__ Borders borders_of(uint64_t group) const {
    if (group >= args_.groups) return {0, 0};
    return {args_.borders[group], args_.borders[group + 1]};
  }
  __device__ __forceinline__ void fetch(uint64_t group, const Borders &borders) {
    constexpr uint64_t kGroup = Tile<sizeof(U)>::kRingKeys;
    const uint64_t begin = group * kGroup;
    const uint32_t all = static_cast<uint32_t>(min(kGroup, args_.total() - begin));
    const uint32_t a_n = static_cast<uint32_t>(borders.end - borders.begin), b_n = all - a_n;
    ring_.wait_for_slot(fetched_);
    const uint32_t slot = fetched_++ % Tuning::kRingSlots;
    const uint32_t room = shared_ + slot * Tile<sizeof(U)>::kRingSlotBytes;
    const BulkFetch<U> a(args_.a, args_.a_n, borders.begin, a_n, room);
    const BulkFetch<U> b(args_.b, args_.b_n, begin - borders.begin, b_n, a.next_room());
    ring_.contents[slot] = {a.target - shared_, b.target - shared_, a_n, b_n, begin};
    a.start(ring_.full[slot]);
    b.start(ring_.full[slot]);
    ring_.full[slot].arrive_expecting(a.bulk_bytes() + b.bulk_bytes());
  }

  const Arguments<U> &args_;
  const uint32_t shared_;
  Ring &ring_;
  uint32_t fetched_ = 0;
};

// Merges the warp's tile of a group, and lets go of the group by `leave` as soon as it can. False if the tile's ends
// do not fit together.
template <class U, class Leave>
__device__ __forceinline__ bool merge_own_tile(const Arguments<U> &args, const SlotContent &content, const char *shared,
                                               const Room<U> &room, const Leave &leave) {
  constexpr uint32_t kTile = Tile<sizeof(U)>::kKeys;
  const Parts<U, uint32_t> parts = {reinterpret_cast<const U *>(shared + content.a),
                                    reinterpret_cast<const U *>(shared + content.b), content.a_n, content.b_n};
  const uint32_t all = parts.a_n + parts.b_n, begin = min(threadIdx.x / 32 % Tuning::kRingTiles * kTile, all);
  const uint32_t count = min(kTile, all - begin);
  const TileEnds ends = split_by_halves(parts, begin, begin + count, args.codec);
  const uint32_t from_a = ends.end - ends.begin, from_b = count - from_a;
  const bool fits = ends.end >= ends.begin && from_a <= count;
  if (!fits || count == 0) {
    leave();
    return fits;
  }
  const Parts<U, uint32_t> own = {parts.a + ends.begin, parts.b + (begin - ends.begin), from_a, from_b};
  U *const out = args.out + content.begin + begin;
  if (from_a == 0 || from_b == 0) {
    copy_vectors(from_b == 0 ? own.a : own.b, out, count);
    leave();
    return true;
  }
  TileKeys<U> keys;
  load_tile(keys, own, from_a, from_b, args.codec);
  leave();
  merge_tile(keys, room, args.codec, out, count);
  return true;
}

// By a warp: its tiles of every group that comes to its slots.
template <class U>
__device__ __forceinline__ void merge_own_tiles(const Arguments<U> &args, char *shared, Ring &ring) {
  constexpr uint32_t kSlots = Tuning::kRingSlots, kSets = Tuning::kRingWarps / Tuning::kRingTiles;
  const uint32_t warp = threadIdx.x / 32;
  const Room<U> room = {shared + kSlots * Tile<sizeof(U)>::kRingSlotBytes + warp * Tile<sizeof(U)>::kRoomBytes};
  for (uint32_t i = warp / Tuning::kRingTiles;; i += kSets) {
    const uint32_t slot = i % kSlots;
    ring.full[slot].wait(i / kSlots);  // ends: the fetching thread waits for nothing but tiles that lie before
    const SlotContent content = ring.contents[slot];
    if (content.a_n + content.b_n == 0) return;
    const auto leave = [&] {
      __syncwarp();
      if (lane_id() == 0) ring.empty[slot].arrive();
    };
    if (!merge_own_tile(args, content, shared, room, leave)) ring.unsorted = true;
  }
}

// Whether the kernel before has found borders that do not fit together. All threads of the block.
template <class U>
__device__ __forceinline__ bool any_misfit(const Arguments<U> &args) {
  bool misfit = false;
  for (uint64_t i = threadIdx.x; i < args.misfits_n; i += blockDim.x) misfit |= args.misfits[i] != 0;
  return __syncthreads_or(misfit) != 0;
}

template <class U>
__global__ void __launch_bounds__(Tuning::kRingThreads) merge_ring_kernel(const Arguments<U> args) {
  if constexpr (!kFitsHere<Tile<sizeof(U)>::kRingBytes>) return;
  extern __shared__ __align__(128) char ring_keys[];
  __shared__ Ring ring;
  if (threadIdx.x == 0) ring.open();
  wait_for_kernel_before();
  if (any_misfit(args))  // a barrier, behind which the ring is open
    return copy_inputs(args, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
  if (threadIdx.x < Tuning::kRingWarps * 32) {
    merge_own_tiles(args, ring_keys, ring);
  } else {
    if (lane_id() == 0) Fetcher<U>(args, shared_address(ring_keys), ring).fetch_all();
    __syncwarp();
  }
  __syncthreads();
  if (end_of_block(!ring.unsorted, args.counters) == End::kUnsorted) copy_inputs(args, threadIdx.x, blockDim.x);
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_RING_CUH_
