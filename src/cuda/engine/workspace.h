// SPDX-License-Identifier: MIT OR Apache-2.0
// The device memory that a handle works in: a block for each stream that it works on, one for each capture of a graph,
// or the caller's. Calls on different streams, replays of graphs and direct calls never meet in one block, so that
// nothing has to order them.
#ifndef GSORT_CUDA_ENGINE_WORKSPACE_H_
#define GSORT_CUDA_ENGINE_WORKSPACE_H_

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "core/slices.h"
#include "cuda/engine/launch.h"
#include "gsort.h"

namespace gsort_internal {

// Where a call's work goes.
struct WorkQueue {
  cudaStream_t stream;
  uint64_t stream_id;     // differs from that of every other stream of the process, living or destroyed
  uint64_t capture_id;    // of the capture that is under way; 0: none
  cudaGraph_t capturing;  // the graph that it makes
};

// What a call works in; `standing` is NULL where the memory is the caller's.
struct WorkMemory {
  void *memory = nullptr;    // of at least the bytes that were asked for; NULL for none
  void *standing = nullptr;  // kStandingBytes that are zero
};

class GraphLease;

class Workspace {
 public:
  explicit Workspace(const gsort_options &options);
  ~Workspace() { clear(); }
  Workspace(const Workspace &) = delete;
  Workspace &operator=(const Workspace &) = delete;

  // Memory for a call on `queue`, valid until the next call. May wait for the queue's stream to grow; inside a capture
  // it waits for nothing, and takes no more than was reserved or a direct call took before.
  WorkMemory at_least(uint64_t bytes, const WorkQueue &queue);
  // Makes sure that a block of so many bytes is free for the next call or capture that needs it.
  void reserve(uint64_t bytes);

  void lend(void *memory, uint64_t bytes);  // NULL, 0: back to our own
  bool is_lent() const { return lent_.memory != nullptr; }
  // Whether so many bytes cannot be had, whatever else is freed: the caller's memory has fewer, or the limit does.
  bool forbids(uint64_t bytes) const;
  // Frees the handle's own memory. The device must be current, and no work may run in the memory.
  void clear() noexcept;
  void abandon() noexcept;  // forgets the memory without freeing it
  uint64_t held_bytes() const { return held_bytes_; }

 private:
  struct Block {
    void *memory = nullptr;  // kStandingBytes come first
    uint64_t bytes = 0;
  };
  struct StreamBlock {
    uint64_t stream_id;
    uint64_t last_use;  // counts calls
    Block block;
  };
  struct GraphBlock {
    uint64_t stream_id, capture_id;
    Block block;
    GraphLease *lease;  // says when the graph is gone
  };
  // Handles are seldom moved between more streams than this, and each keeps a block of its own.
  static constexpr size_t kStreamsMax = 8;

  Block for_stream(uint64_t bytes, const WorkQueue &queue);
  Block for_capture(uint64_t bytes, const WorkQueue &queue);
  Block new_block(uint64_t bytes, const WorkQueue *queue);
  Block take_free(uint64_t bytes, const WorkQueue &queue);
  void sweep_graphs();
  bool drop_oldest();
  void drop_free() noexcept;
  bool fits_limit(uint64_t bytes) const { return limit_bytes_ == 0 || held_bytes_ + bytes <= limit_bytes_; }
  void *allocate(uint64_t bytes);
  void release(Block block) noexcept;

  const gsort_allocate_fn allocate_;
  const gsort_deallocate_fn deallocate_;
  void *const user_;
  const uint64_t limit_bytes_;
  Block lent_;
  std::vector<StreamBlock> streams_;
  std::vector<GraphBlock> graphs_;
  std::vector<Block> free_;  // no work is or will be in them
  uint64_t calls_ = 0;
  uint64_t reserved_bytes_ = 0;  // the most that was reserved, or that a direct call took
  uint64_t held_bytes_ = 0;
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_WORKSPACE_H_
