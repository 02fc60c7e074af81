// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan of floats in one pass, many tiles a block. A block keeps three tiles in shared memory: while it finishes
// one, the next has its total published already and a warp of its own looks back for it, and the one after is on its
// way from memory.
//
// Forward progress: a tile's number is a ticket drawn when its block already runs, and a block draws ascending ones. It
// publishes a tile's total after it has waited for what tiles below the one before publish, which is totals, and group
// prefixes of groups before that tile's. So the lowest tile that has not published waits only for lower ones, all of
// which have.
#ifndef GSORT_CUDA_KERNELS_SCAN_PIPELINE_CUH_
#define GSORT_CUDA_KERNELS_SCAN_PIPELINE_CUH_

#include <cstdint>

#include "cuda/kernels/scan.cuh"

namespace gsort_internal {

template <class Element>
class ScanPipeline {
 public:
  using Bits = typename Element::Bits;
  using Row = ScanRow<Bits, true>;

  // Pairs are used by turns, so that one side writes the one while the other still reads the other.
  struct Shared {
    ScanRowSums sums[2];
    ScanRowStarts<Bits> starts[2];
    uint32_t tickets[2];
    uint32_t first_tickets[2];
  };

  __device__ __forceinline__ ScanPipeline(const ScanArguments &args, uint4 *staging, Shared &shared)
      : args_(args),
        staging_(staging),
        shared_(shared),
        tiles_(static_cast<uint32_t>((args.n + kScanTileItems - 1) / kScanTileItems)),
        warp_(threadIdx.x / 32) {}

  __device__ __forceinline__ void run() {
    if (warp_ == kScanTileRows)
      serve();
    else
      scan();
  }

 private:
  // All warps. The two kinds of warps reach it in different places of the code, as PTX allows: only the threads of one
  // warp must be at the same instruction. compute-sanitizer's synccheck reports this pattern all the same ("divergent
  // threads in block").
  __device__ static __forceinline__ void block_sync() {
    asm volatile("bar.sync 1, %0;" ::"n"(ScanTuning::kPipelineThreads) : "memory");
  }

  // The warps of the rows. At each barrier the sums of `tile` are there for serve(), and what the rows of `held` begin
  // with and a new ticket come from it.
  __device__ __forceinline__ void scan() {
    block_sync();
    uint32_t tile = shared_.first_tickets[0], next = shared_.first_tickets[1], held = 0, turn = 0;
    uint32_t buffer = 0, held_buffer = 2;
    double held_before = scan_zero<double>();
    row(tile, 0).load_begin(Element::kIdentity);
    row(next, 1).load_begin(Element::kIdentity);
    for (bool holding = false;; holding = true) {
      Row::template load_end<1>();
      const double before = sum_up_row<Element>(row(tile, buffer), shared_.sums[turn]);
      block_sync();
      if (holding) {
        Row own = row(held, held_buffer);
        finish_row<Element>(own, shared_.starts[turn], held_before, args_.exclusive);
        __syncwarp();  // the lanes have read what they stored from the buffer
      }
      if (tile >= tiles_) break;
      const uint32_t drawn = shared_.tickets[turn];
      row(drawn, held_buffer).load_begin(Element::kIdentity);
      held = tile, tile = next, next = drawn;
      held_before = before;
      const uint32_t third = 3 - buffer - held_buffer;
      held_buffer = buffer, buffer = third;
      turn ^= 1;
    }
    copy_async_wait<0>();
  }

  // The last warp.
  __device__ __forceinline__ void serve() {
    uint32_t tile = draw(), next = draw(), turn = 0;
    if ((threadIdx.x & 31) == 0) shared_.first_tickets[0] = tile, shared_.first_tickets[1] = next;
    block_sync();
    uint32_t drawn = draw();
    if ((threadIdx.x & 31) == 0) shared_.tickets[0] = drawn;
    while (true) {
      block_sync();
      if (tile >= tiles_) return;
      const uint32_t newest = draw();
      start_rows<Element>(args_, tile, shared_.sums[turn], shared_.starts[turn ^ 1]);
      turn ^= 1;
      if ((threadIdx.x & 31) == 0) shared_.tickets[turn] = newest;
      tile = next, next = drawn, drawn = newest;
    }
  }

  // In all lanes.
  __device__ __forceinline__ uint32_t draw() const {
    uint32_t ticket = 0;
    if ((threadIdx.x & 31) == 0) ticket = atomicAdd(args_.tickets, 1u) + 1u;
    return __shfl_sync(0xffffffffu, ticket, 0);
  }

  __device__ __forceinline__ Row row(uint32_t tile, uint32_t buffer) const {
    return row_of_tile<Row>(args_, tile, warp_, staging_ + buffer * (kScanTileItems / Row::kVectorElements));
  }

  const ScanArguments &args_;
  uint4 *staging_;
  Shared &shared_;
  uint32_t tiles_, warp_;
};

template <class Element>
__global__ void __launch_bounds__(ScanTuning::kPipelineThreads, ScanTuning::pipeline_blocks(sizeof(typename Element::Bits)))
    scan_pipeline_kernel(const ScanArguments args) {
  extern __shared__ uint4 staging[];
  __shared__ typename ScanPipeline<Element>::Shared shared;
  ScanPipeline<Element>(args, staging, shared).run();
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_SCAN_PIPELINE_CUH_
