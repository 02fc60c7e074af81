// SPDX-License-Identifier: MIT OR Apache-2.0
// The device memory that a handle works in: its own, which grows, or the caller's.
#ifndef GSORT_CUDA_WORKSPACE_H_
#define GSORT_CUDA_WORKSPACE_H_

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "gsort.h"

namespace gsort_internal {

// Slices are aligned to this; so is what cudaMalloc returns and what gsort_set_workspace takes.
constexpr uint64_t kWorkspaceAlignment = 256;

// The handle's own memory begins with so many bytes that are zero between calls: a kernel that counts in them leaves
// them zero again, which saves its next call the clearing.
constexpr uint64_t kStandingBytes = 1024;

constexpr uint64_t aligned_slice_bytes(uint64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

class Workspace {
 public:
  explicit Workspace(const gsort_options &options);
  ~Workspace() { clear(); }
  Workspace(const Workspace &) = delete;
  Workspace &operator=(const Workspace &) = delete;

  // Memory of at least `bytes`, valid until the next call; NULL for none. May wait for `stream` to grow. Inside a
  // capture nothing is allocated: what is there must do. Throws Error(OUT_OF_MEMORY), or Error(NOT_SUPPORTED) inside a
  // capture.
  void *at_least(uint64_t bytes, cudaStream_t stream, bool capturing);
  // The kStandingBytes that go with the memory of the last at_least(). NULL if that is the caller's, or if they could
  // not be cleared yet.
  void *standing() const { return lent_.memory != nullptr || !standing_is_zero_ ? nullptr : own_.memory; }

  void lend(void *memory, uint64_t bytes);  // NULL, 0: back to our own
  // Frees the handle's own memory. The device must be current, and no work may run in the memory.
  void clear() noexcept;
  void abandon() noexcept;  // forgets the memory without freeing it
  uint64_t held_bytes() const { return held_bytes_; }

 private:
  struct Block {
    void *memory;  // of our own: kStandingBytes come first
    uint64_t bytes;
  };
  void grow(uint64_t bytes, cudaStream_t stream);
  void *allocate(uint64_t bytes);
  void release(Block block) noexcept;

  const gsort_allocate_fn allocate_;
  const gsort_deallocate_fn deallocate_;
  void *const user_;
  const uint64_t limit_bytes_;
  Block own_ = {nullptr, 0};
  Block lent_ = {nullptr, 0};
  bool captured_ = false;  // a graph holds the address of own_
  bool standing_is_zero_ = false;
  std::vector<Block> retired_;  // replaced, but held by graphs
  uint64_t held_bytes_ = 0;
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_WORKSPACE_H_
