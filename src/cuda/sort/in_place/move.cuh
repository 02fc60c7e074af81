// SPDX-License-Identifier: MIT OR Apache-2.0
// The second step of the partition: bricks go to their buckets' regions. All of it is known once the bricks are
// labelled: how many each bucket has says where it lies, and cycles of bricks that take each other's places are made
// before any is moved. No block waits for another or meets it in a slot.
#ifndef GSORT_CUDA_SORT_IN_PLACE_MOVE_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_MOVE_CUH_

#include <cstdint>

#include "cuda/primitive/last_block.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/in_place/job.cuh"

namespace gsort_internal::sort::in_place {

constexpr uint32_t kBordersThreads = 512;
constexpr uint32_t kSlotThreads = 1024;
constexpr uint32_t kEdgesMax = kBucketsMax * kBucketsMax;

// What the borders' block takes out of slots, to the end of a list.
struct Spill {
  uint32_t slot, bucket;
  uint64_t place;
};

// The slot of a brick of `bucket`, in every thread. There is one. A region's own bricks are looked at first.
template <class U>
__device__ __forceinline__ uint32_t find_brick(const Job<U> &job, uint32_t first, uint32_t bucket) {
  __shared__ uint32_t found;
  if (threadIdx.x == 0) found = ~0u;
  __syncthreads();
  for (uint32_t at = 0; at < job.grid.slots; at += kBordersThreads) {
    const uint64_t turned = uint64_t{first} + at + threadIdx.x;
    const uint32_t slot = static_cast<uint32_t>(turned < job.grid.slots ? turned : turned - job.grid.slots);
    const bool here = at + threadIdx.x < job.grid.slots && job.labels[slot] == bucket;
    if (here) atomicMin(&found, slot);
    if (__syncthreads_or(here)) break;
  }
  const uint32_t slot = found;
  __syncthreads();
  return slot;
}

// One block: where the buckets lie, and which slots hold bricks that must make room for the keys of two. Afterwards no
// bucket has more bricks in slots than its region has slots.
template <class U>
__global__ void __launch_bounds__(kBordersThreads) borders_kernel(const __grid_constant__ Job<U> job) {
  __shared__ Regions regions;
  __shared__ Spill spills[kBucketsMax];
  __shared__ uint64_t sizes[kBucketsMax];
  __shared__ uint32_t spill_count, crowded;
  State &state = *job.state;
  if (threadIdx.x == 0) {
    for (uint32_t b = 0; b < job.buckets; ++b) sizes[b] = state.left[b] + uint64_t{state.bricks[b]} * job.grid.brick;
    find_regions(job.grid, sizes, job.buckets, regions);
    spill_count = 0;
    for (uint32_t i = 0; i < regions.borders; ++i) {
      const uint32_t slot = regions.border[i], bucket = job.labels[slot];
      job.labels[slot] = kBorder;
      if (bucket == kHole) continue;
      spills[spill_count++] = {slot, bucket, state.left[bucket]};
      state.left[bucket] += job.grid.brick;
      --state.bricks[bucket];
    }
    crowded = 0;
    for (uint32_t b = 0; b < job.buckets; ++b) {
      const uint32_t room = regions.last[b] - regions.first[b];
      if (state.bricks[b] > room) crowded |= 1u << b;
      state.filled[b] = state.bricks[b] > room ? 0 : room - state.bricks[b];
    }
  }
  __syncthreads();
  for (uint32_t i = 0; i < spill_count; ++i)
    copy_brick_to(job.left_of(spills[i].bucket) + spills[i].place, job.slot(spills[i].slot), job.grid.brick);
  // Its region holds all of its keys but two parts of a brick, so that it has one brick too many at most.
  for (uint32_t b = 0; b < job.buckets; ++b) {
    if ((crowded >> b & 1) == 0) continue;
    const uint32_t slot = find_brick(job, regions.first[b], b);
    copy_brick_to(job.left_of(b) + state.left[b], job.slot(slot), job.grid.brick);
    __syncthreads();
    if (threadIdx.x == 0) {
      state.left[b] += job.grid.brick;
      job.labels[slot] = kHole;
    }
  }
  if (threadIdx.x == 0) {
    state.regions = regions;
    bool failed = false;
    for (uint32_t b = 1; b < job.buckets; ++b) {
      const uint64_t target = job.grid.n / job.buckets * b + job.grid.n % job.buckets * b / job.buckets;
      const uint64_t start = regions.start[b];
      failed = failed || (start > target ? start - target : target - start) > job.slack;
    }
    state.failed = failed;
  }
}

// Lists the slots that hold nothing.
template <class U>
__global__ void __launch_bounds__(kSlotThreads) holes_kernel(const __grid_constant__ Job<U> job) {
  const uint32_t slot = blockIdx.x * kSlotThreads + threadIdx.x;
  if (slot < job.grid.slots && job.labels[slot] == kHole) job.holes[atomicAdd(&job.state->holes, 1u)] = slot;
}

// Holes get bricks out of the lists, as many of each bucket as its region lacks: then every slot of a region has one.
template <class U>
__global__ void __launch_bounds__(kBrickVectors) fill_kernel(const __grid_constant__ Job<U> job) {
  for (uint32_t hole = blockIdx.x; hole < job.state->holes; hole += gridDim.x) {
    uint32_t bucket = 0, brick = hole;
    while (brick >= job.state->filled[bucket]) brick -= job.state->filled[bucket++];
    const uint32_t slot = job.holes[hole];
    const auto *const from = reinterpret_cast<const uint4 *>(job.left_of(bucket) + uint64_t{brick} * job.grid.brick);
    reinterpret_cast<uint4 *>(job.slot(slot))[threadIdx.x] = from[threadIdx.x];
    if (threadIdx.x == 0) job.labels[slot] = static_cast<uint8_t>(bucket);
  }
}

// The edge of a slot whose brick belongs elsewhere; kEdgesMax: it does not.
template <class U>
__device__ __forceinline__ uint32_t edge_of(const Job<U> &job, const Regions &regions, uint32_t slot) {
  if (slot >= job.grid.slots) return kEdgesMax;
  const uint32_t region = region_of(regions, job.buckets, slot), bucket = job.labels[slot];
  return region == job.buckets || region == bucket ? kEdgesMax : region * kBucketsMax + bucket;
}

// Counts the bricks of every edge; the last block makes the cycles.
template <class U>
__global__ void __launch_bounds__(kSlotThreads) edges_kernel(const __grid_constant__ Job<U> job) {
  __shared__ Regions regions;
  __shared__ Edges edges;
  State &state = *job.state;
  if (threadIdx.x == 0) regions = state.regions;
  if (threadIdx.x < kEdgesMax) edges.count[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t edge = edge_of(job, regions, blockIdx.x * kSlotThreads + threadIdx.x);
  if (edge != kEdgesMax) atomicAdd(&edges.count[edge], 1u);
  __syncthreads();
  if (threadIdx.x < kEdgesMax && edges.count[threadIdx.x] != 0)
    atomicAdd(&state.edges.count[threadIdx.x], edges.count[threadIdx.x]);
  if (!is_last_block(&state.blocks_done, gridDim.x)) return;
  if (threadIdx.x < kEdgesMax) edges.count[threadIdx.x] = __ldcg(&state.edges.count[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x < 32) {  // where each edge's bricks begin in the list
    uint32_t carried = 0;
    for (uint32_t i = threadIdx.x; i < kEdgesMax; i += 32) {
      const uint32_t count = edges.count[i], inclusive = warp_inclusive_sum(count);
      edges.next[i] = state.cursor[i] = carried + inclusive - count;
      carried += __shfl_sync(kFullWarp, inclusive, 31);
    }
    __syncwarp();
    if (threadIdx.x == 0) {
      uint32_t cycles = 0;
      state.items = find_cycles(edges, job.buckets, job.cycles, cycles);
      state.cycle_count = cycles;
    }
  }
}

// Lists the slots of every edge.
template <class U>
__global__ void __launch_bounds__(kSlotThreads) list_kernel(const __grid_constant__ Job<U> job) {
  __shared__ Regions regions;
  __shared__ uint32_t counts[kEdgesMax];
  if (threadIdx.x == 0) regions = job.state->regions;
  if (threadIdx.x < kEdgesMax) counts[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t slot = blockIdx.x * kSlotThreads + threadIdx.x, edge = edge_of(job, regions, slot);
  uint32_t place = 0;
  if (edge != kEdgesMax) place = atomicAdd(&counts[edge], 1u);
  __syncthreads();
  if (threadIdx.x < kEdgesMax && counts[threadIdx.x] != 0)
    counts[threadIdx.x] = atomicAdd(&job.state->cursor[threadIdx.x], counts[threadIdx.x]);
  __syncthreads();
  if (edge != kEdgesMax) job.list[counts[edge] + place] = slot;
}

// Moves the bricks of one item of a cycle after the other. A thread has the same vector of all bricks, so that none
// waits for another.
template <class U>
__global__ void __launch_bounds__(kBrickVectors) cycles_kernel(const __grid_constant__ Job<U> job) {
  __shared__ uint32_t firsts[kCyclesMax];
  const uint32_t cycles = job.state->cycle_count, items = job.state->items;
  for (uint32_t i = threadIdx.x; i < cycles; i += kBrickVectors) firsts[i] = job.cycles[i].first;
  __syncthreads();
  const auto vector_of = [&](uint32_t place) {
    return reinterpret_cast<uint4 *>(job.slot(job.list[place])) + threadIdx.x;
  };
  for (uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    uint32_t begin = 0, end = cycles;  // the last cycle whose first item is not behind this one
    while (end - begin > 1) {
      const uint32_t middle = (begin + end) / 2;
      if (firsts[middle] <= item)
        begin = middle;
      else
        end = middle;
    }
    const Cycle &cycle = job.cycles[begin];
    const uint32_t step = item - firsts[begin], length = cycle.length;
    uint4 *const first = vector_of(cycle.start[0] + step);
    uint4 *next = vector_of(cycle.start[1] + step);
    const uint4 held_first = *first, held_second = *next;
    *next = held_first;
    uint4 held = held_second;
    for (uint32_t t = 2; t < length; ++t) {
      next = vector_of(cycle.start[t] + step);
      const uint4 other = *next;
      *next = held;
      held = other;
    }
    *first = held;
  }
}

// A block a bucket: the keys that are in no slot go to the bucket's ends.
template <class U>
__global__ void __launch_bounds__(kBordersThreads) ends_kernel(const __grid_constant__ Job<U> job) {
  const uint32_t b = blockIdx.x;
  const Regions &regions = job.state->regions;
  const uint64_t used = uint64_t{job.state->filled[b]} * job.grid.brick, rest = job.state->left[b] - used;
  const U *const from = job.left_of(b) + used;
  const uint64_t start = regions.start[b], slots = regions.last[b] - regions.first[b];
  const uint64_t region = job.grid.head + uint64_t{regions.first[b]} * job.grid.brick;
  const uint64_t in_front = slots == 0 ? rest : region - start;
  for (uint64_t i = threadIdx.x; i < rest; i += kBordersThreads)
    job.keys[i < in_front ? start + i : start + i + slots * job.grid.brick] = from[i];
}

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_MOVE_CUH_
