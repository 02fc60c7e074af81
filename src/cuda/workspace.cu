// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/workspace.h"

#include "core/error.h"
#include "cuda/check.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

}  // namespace

Workspace::Workspace(const gsort_options &options)
    : allocate_(options.device_allocate),
      deallocate_(options.device_deallocate),
      user_(options.allocator_user),
      limit_bytes_(options.device_memory_limit_bytes) {}

void Workspace::clear() noexcept {
  for (const Block &block : retired_) release(block);
  retired_.clear();
  release(own_);
  own_ = {nullptr, 0};
}

void *Workspace::at_least(uint64_t bytes, cudaStream_t stream, bool capturing) {
  if (lent_.memory != nullptr) {
    if (lent_.bytes >= bytes) return lent_.memory;
    throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                "the call needs %llu bytes of workspace and gsort_set_workspace() lent %llu; lend more", ull(bytes),
                ull(lent_.bytes));
  }
  if (bytes == 0) return nullptr;
  if (own_.bytes < bytes + kStandingBytes) {
    if (capturing)
      throw Error(
          GSORT_ERROR_NOT_SUPPORTED,
          "the stream is being captured, and the call needs %llu bytes of workspace where %llu are reserved; call "
          "gsort_reserve() before the capture",
          ull(bytes), ull(own_.bytes == 0 ? 0 : own_.bytes - kStandingBytes));
    grow(bytes + kStandingBytes, stream);
  }
  if (!standing_is_zero_ && !capturing) {
    cuda_check(cudaMemsetAsync(own_.memory, 0, kStandingBytes, stream), "clearing the workspace's begin");
    standing_is_zero_ = true;
  }
  if (capturing) captured_ = true;
  return static_cast<char *>(own_.memory) + kStandingBytes;
}

void Workspace::grow(uint64_t bytes, cudaStream_t stream) {
  bytes = aligned_slice_bytes(bytes);
  const uint64_t kept = captured_ ? held_bytes_ : held_bytes_ - own_.bytes;
  if (limit_bytes_ != 0 && kept + bytes > limit_bytes_)
    throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                "%llu bytes of device memory go past device_memory_limit_bytes = %llu; raise it", ull(kept + bytes),
                ull(limit_bytes_));
  if (captured_) {
    retired_.push_back(own_);
  } else if (own_.memory != nullptr) {
    cuda_check(cudaStreamSynchronize(stream), "waiting for earlier work");
    release(own_);
  }
  own_ = {nullptr, 0};
  captured_ = false;
  standing_is_zero_ = false;
  own_ = {allocate(bytes), bytes};
  held_bytes_ += bytes;
}

void *Workspace::allocate(uint64_t bytes) {
  void *memory = nullptr;
  if (allocate_ != nullptr) {
    memory = allocate_(user_, bytes, kWorkspaceAlignment);
  } else {
    const cudaError_t result = cudaMalloc(&memory, bytes);
    if (result != cudaErrorMemoryAllocation) cuda_check(result, "cudaMalloc");
    if (result != cudaSuccess) {
      (void)cudaGetLastError();
      memory = nullptr;
    }
  }
  if (memory == nullptr)
    throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                "%llu bytes of device memory could not be had; free some or sort less at once", ull(bytes));
  return memory;
}

void Workspace::release(Block block) noexcept {
  if (block.memory == nullptr) return;
  if (deallocate_ != nullptr)
    deallocate_(user_, block.memory, block.bytes);
  else if (cudaFree(block.memory) != cudaSuccess)
    (void)cudaGetLastError();
  held_bytes_ -= block.bytes;
}

void Workspace::lend(void *memory, uint64_t bytes) { lent_ = {memory, bytes}; }

void Workspace::abandon() noexcept {
  own_ = {nullptr, 0};
  retired_.clear();
  held_bytes_ = 0;
}

}  // namespace gsort_internal
