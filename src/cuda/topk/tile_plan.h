// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows that a block holds whole in its registers, for k of a hundred and more. Read by host and device.
#ifndef GSORT_CUDA_TOPK_TILE_PLAN_H_
#define GSORT_CUDA_TOPK_TILE_PLAN_H_

#include <cstdint>

#include "cuda/sort/small/plan.h"
#include "cuda/topk/shape.h"

namespace gsort_internal::topk {

// Elements of a thread, and threads of the blocks there are. A bin an element.
constexpr uint32_t kTileEach = 8;
constexpr uint32_t kTileThreads[] = {128, 512};

// Shared memory of a block, rounded up.
constexpr uint32_t tile_bytes(uint32_t threads, uint32_t key_bytes) {
  constexpr uint32_t kBesides = 2048;
  return threads * kTileEach * (sort::small::bytes_of_item(key_bytes, true) + 4) + threads + kBesides;
}

// Keys of 1 byte have no kernel: they are too few to be worth its size.
constexpr bool tile_serves(uint32_t key_bytes) { return key_bytes != 1; }

// Threads of the block that holds a row; 0: none does.
constexpr uint32_t plan_tile(const Shape &s, const DeviceFacts &d) {
  if (s.rows > 0x7fffffff || !tile_serves(s.key_bytes)) return 0;
  for (const uint32_t threads : kTileThreads)
    if (s.columns <= threads * kTileEach)
      return tile_bytes(threads, s.key_bytes) <= d.shared_bytes_block_max ? threads : 0;
  return 0;
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_TILE_PLAN_H_
