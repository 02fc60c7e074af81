// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/workspace.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "core/callback.h"
#include "core/error.h"
#include "cuda/engine/check.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

constexpr uint64_t block_bytes(uint64_t bytes) { return slice_bytes(bytes + kStandingBytes); }

// Zeroes a new block's standing bytes: on the stream of the call that needs it, or, where there is none that can be
// used because it is captured, on one of its own, for which it waits.
void clear_standing(void *memory, const WorkQueue *queue) {
  if (queue != nullptr && queue->capture_id == 0)
    return cuda_check(cudaMemsetAsync(memory, 0, kStandingBytes, queue->stream), "clearing the workspace's begin");
  cudaStream_t stream = nullptr;
  cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  cudaError_t result = cudaMemsetAsync(memory, 0, kStandingBytes, stream);
  if (result == cudaSuccess) result = cudaStreamSynchronize(stream);
  const cudaError_t destroyed = cudaStreamDestroy(stream);
  cuda_check(result, "clearing the workspace's begin");
  cuda_check(destroyed, "cudaStreamDestroy");
}

}  // namespace

// Shared by a block of the handle's and the graph that works in it: CUDA tells when the graph, what was instantiated
// from it and its launches are all gone. Whoever of the two ends last deletes it.
class GraphLease {
 public:
  // Returns NULL and leaves CUDA's error cleared if the graph cannot be followed.
  static GraphLease *of(cudaGraph_t graph) {
    auto *const lease = new (std::nothrow) GraphLease;
    if (lease == nullptr) return nullptr;
    cudaUserObject_t object = nullptr;
    if (cudaUserObjectCreate(&object, lease, graph_ended, 1, cudaUserObjectNoDestructorSync) != cudaSuccess) {
      (void)cudaGetLastError();
      delete lease;
      return nullptr;
    }
    if (cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) != cudaSuccess) {
      (void)cudaGetLastError();
      lease->drop();
      if (cudaUserObjectRelease(object, 1) != cudaSuccess) (void)cudaGetLastError();  // runs graph_ended()
      return nullptr;
    }
    return lease;
  }

  // Acquire: what the graph's end was told after happens before whatever is done with its memory next.
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // Once by each side.
  void drop() {
    if (sides_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  // Called by a thread of CUDA's that may not call CUDA.
  static void CUDART_CB graph_ended(void *lease) {
    auto *const self = static_cast<GraphLease *>(lease);
    self->ended_.store(true, std::memory_order_release);
    self->drop();
  }
  std::atomic<bool> ended_{false};
  std::atomic<int> sides_{2};
};

Workspace::Workspace(const gsort_options &options)
    : allocate_(options.device_allocate),
      deallocate_(options.device_deallocate),
      user_(options.allocator_user),
      limit_bytes_(options.device_memory_limit_bytes) {}

void Workspace::clear() noexcept {
  for (const StreamBlock &used : streams_) release(used.block);
  for (const GraphBlock &used : graphs_) {
    release(used.block);
    if (used.lease != nullptr) used.lease->drop();
  }
  streams_.clear();
  graphs_.clear();
  drop_free();
}

WorkMemory Workspace::at_least(uint64_t bytes, const WorkQueue &queue) {
  if (lent_.memory != nullptr) {
    if (lent_.bytes >= bytes) return {lent_.memory, nullptr};
    throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                "the call needs %llu bytes of workspace and gsort_set_workspace() lent %llu; lend more", ull(bytes),
                ull(lent_.bytes));
  }
  if (bytes == 0) return {};
  const Block block = queue.capture_id != 0 ? for_capture(bytes, queue) : for_stream(bytes, queue);
  return {static_cast<char *>(block.memory) + kStandingBytes, block.memory};
}

bool Workspace::forbids(uint64_t bytes) const {
  if (lent_.memory != nullptr) return bytes > lent_.bytes;
  return bytes != 0 && limit_bytes_ != 0 && block_bytes(bytes) > limit_bytes_;
}

void Workspace::reserve(uint64_t bytes) {
  if (bytes == 0 || lent_.memory != nullptr) return;
  sweep_graphs();
  if (std::none_of(free_.begin(), free_.end(), [&](const Block &b) { return b.bytes >= block_bytes(bytes); })) {
    drop_free();
    free_.reserve(free_.size() + 1);
    free_.push_back(new_block(bytes, nullptr));
  }
  reserved_bytes_ = std::max(reserved_bytes_, bytes);
}

Workspace::Block Workspace::for_stream(uint64_t bytes, const WorkQueue &queue) {
  const auto used = std::find_if(streams_.begin(), streams_.end(),
                                 [&](const StreamBlock &s) { return s.stream_id == queue.stream_id; });
  ++calls_;
  reserved_bytes_ = std::max(reserved_bytes_, bytes);
  if (used != streams_.end()) {
    used->last_use = calls_;
    if (used->block.bytes >= block_bytes(bytes)) return used->block;
    cuda_check(cudaStreamSynchronize(queue.stream), "waiting for earlier work");
    release(used->block);
    streams_.erase(used);
  }
  sweep_graphs();
  if (streams_.size() >= kStreamsMax) (void)drop_oldest();
  streams_.reserve(streams_.size() + 1);
  const Block block = take_free(bytes, queue);
  streams_.push_back({queue.stream_id, calls_, block});
  return block;
}

// Calls of one capture on one stream follow each other in the graph and share a block. It is the graph's until CUDA
// tells that the graph is gone.
Workspace::Block Workspace::for_capture(uint64_t bytes, const WorkQueue &queue) {
  for (const GraphBlock &used : graphs_)
    if (used.capture_id == queue.capture_id && used.stream_id == queue.stream_id &&
        used.block.bytes >= block_bytes(bytes))
      return used.block;
  if (bytes > reserved_bytes_)
    throw Error(GSORT_ERROR_NOT_SUPPORTED,
                "the stream is being captured, and the call needs %llu bytes of workspace where %llu are reserved; "
                "call gsort_reserve() before the capture",
                ull(bytes), ull(reserved_bytes_));
  sweep_graphs();
  graphs_.reserve(graphs_.size() + 1);
  const Block block = take_free(bytes, queue);
  graphs_.push_back({queue.stream_id, queue.capture_id, block, GraphLease::of(queue.capturing)});
  return block;
}

// The least free block that is large enough, or a new one.
Workspace::Block Workspace::take_free(uint64_t bytes, const WorkQueue &queue) {
  auto best = free_.end();
  for (auto b = free_.begin(); b != free_.end(); ++b)
    if (b->bytes >= block_bytes(bytes) && (best == free_.end() || b->bytes < best->bytes)) best = b;
  if (best == free_.end()) return new_block(bytes, &queue);
  const Block block = *best;
  free_.erase(best);
  return block;
}

// Blocks whose graphs are gone are free.
void Workspace::sweep_graphs() {
  free_.reserve(free_.size() + graphs_.size());
  for (GraphBlock &used : graphs_) {
    if (used.lease == nullptr || !used.lease->ended()) continue;
    free_.push_back(used.block);
    used.lease->drop();
    used.block = {};
  }
  graphs_.erase(
      std::remove_if(graphs_.begin(), graphs_.end(), [](const GraphBlock &b) { return b.block.memory == nullptr; }),
      graphs_.end());
}

// queue: of the call that needs it; NULL: none does yet. Inside a capture nothing can be waited for, so no other block
// makes room then.
Workspace::Block Workspace::new_block(uint64_t bytes, const WorkQueue *queue) {
  bytes = block_bytes(bytes);
  const auto make_room = [&] { return (queue == nullptr || queue->capture_id == 0) && drop_oldest(); };
  if (!fits_limit(bytes)) {
    sweep_graphs();
    drop_free();
  }
  while (!fits_limit(bytes) && make_room()) continue;
  if (!fits_limit(bytes))
    throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                "%llu bytes of device memory go past device_memory_limit_bytes = %llu; raise it",
                ull(held_bytes_ + bytes), ull(limit_bytes_));
  void *memory = allocate(bytes);
  while (memory == nullptr && make_room()) memory = allocate(bytes);
  if (memory == nullptr)
    throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                "%llu bytes of device memory could not be had; free some or sort less at once", ull(bytes));
  const Block block{memory, bytes};
  held_bytes_ += bytes;
  try {
    clear_standing(memory, queue);
  } catch (...) {
    release(block);
    throw;
  }
  return block;
}

// Frees the block of the stream that was used longest ago. That stream may be destroyed already, so it cannot be waited
// for; the whole device can. False: there is none, or the device cannot be waited for now.
bool Workspace::drop_oldest() {
  const auto oldest =
      std::min_element(streams_.begin(), streams_.end(),
                       [](const StreamBlock &a, const StreamBlock &b) { return a.last_use < b.last_use; });
  if (oldest == streams_.end()) return false;
  if (cudaDeviceSynchronize() != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  release(oldest->block);
  streams_.erase(oldest);
  return true;
}

void Workspace::drop_free() noexcept {
  for (const Block &block : free_) release(block);
  free_.clear();
}

// NULL if there is not enough.
void *Workspace::allocate(uint64_t bytes) {
  void *memory = nullptr;
  if (allocate_ != nullptr) {
    (void)call_guarded([&] { memory = allocate_(user_, bytes, kSliceAlignment); });
    return memory;
  }
  const cudaError_t result = cudaMalloc(&memory, bytes);
  if (result == cudaSuccess) return memory;
  if (result != cudaErrorMemoryAllocation) cuda_check(result, "cudaMalloc");
  (void)cudaGetLastError();
  return nullptr;
}

void Workspace::release(Block block) noexcept {
  if (block.memory == nullptr) return;
  if (deallocate_ != nullptr)
    (void)call_guarded([&] { deallocate_(user_, block.memory, block.bytes); });
  else if (cudaFree(block.memory) != cudaSuccess)
    (void)cudaGetLastError();
  held_bytes_ -= block.bytes;
}

void Workspace::lend(void *memory, uint64_t bytes) { lent_ = {memory, bytes}; }

void Workspace::abandon() noexcept {
  streams_.clear();
  graphs_.clear();
  free_.clear();
  held_bytes_ = 0;
}

}  // namespace gsort_internal
