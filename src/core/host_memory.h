// SPDX-License-Identifier: MIT OR Apache-2.0
// Host scratch memory through the caller's hooks and under the caller's limit. Safe from any thread.
#ifndef GSORT_CORE_HOST_MEMORY_H_
#define GSORT_CORE_HOST_MEMORY_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "core/callback.h"
#include "core/error.h"
#include "gsort.h"

namespace gsort_internal {

class HostMemory {
 public:
  static constexpr uint64_t kAlignment = 64;  // a cache line, and the widest vector

  HostMemory(gsort_allocate_fn allocate_fn, gsort_deallocate_fn deallocate_fn, void *user, uint64_t limit_bytes)
      : allocate_(allocate_fn), deallocate_(deallocate_fn), user_(user), limit_bytes_(limit_bytes) {}
  HostMemory(const HostMemory &) = delete;
  HostMemory &operator=(const HostMemory &) = delete;
  ~HostMemory() {
    // In a child of fork() a thread that is not there any more may hold the mutex; the memory then goes with the child.
    if (!mutex_.try_lock()) return;
    mutex_.unlock();
    free_kept();
  }

  // Never NULL, also for 0 bytes. Throws Error(OUT_OF_MEMORY).
  void *allocate(uint64_t bytes) {
    if (bytes > kBytesMax)
      throw Error(GSORT_ERROR_OUT_OF_MEMORY, "%llu bytes of host scratch memory are more than a process can have",
                  ull(bytes));
    const uint64_t rounded = round_up(bytes);
    if (void *const kept = take_kept(rounded)) return kept;
    const uint64_t all = held_bytes_.fetch_add(rounded) + rounded;
    if (limit_bytes_ != 0 && all > limit_bytes_) {
      held_bytes_.fetch_sub(rounded);
      throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                  "%llu bytes of host scratch memory go past host_memory_limit_bytes = %llu; raise the limit",
                  ull(bytes), ull(limit_bytes_));
    }
    void *const memory = allocate_ != nullptr ? allocate_by_caller(rounded) : allocate_own(rounded);
    if (memory == nullptr) {
      held_bytes_.fetch_sub(rounded);
      throw Error(GSORT_ERROR_OUT_OF_MEMORY, "%llu bytes of host scratch memory could not be had; free some memory",
                  ull(bytes));
    }
    return memory;
  }
  void deallocate(void *memory, uint64_t bytes) noexcept {
    if (memory == nullptr) return;
    const uint64_t rounded = round_up(bytes);
    if (keeps(rounded)) return keep({memory, rounded});
    if (deallocate_ != nullptr)
      (void)call_guarded([&] { deallocate_(user_, memory, rounded); });
    else
      std::free(memory);
    held_bytes_.fetch_sub(rounded);
  }
  bool is_callers() const { return allocate_ != nullptr; }
  // Whether nobody counts what is allocated: blocks of some size stay for the next call.
  bool keeps_blocks() const { return allocate_ == nullptr && limit_bytes_ == 0; }
  // In use and kept.
  uint64_t held_bytes() const { return held_bytes_.load(); }
  uint64_t kept_bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return kept_bytes_;
  }

 private:
  struct Block {
    void *memory;
    uint64_t bytes;
  };
  // Blocks stay for the next call: fresh pages must be cleared by the system, one after the other, which took a tenth
  // of a large sort's time on one thread and more on several, and as much of one of 100 KB, whose pages the C library
  // gives back to the system, too. Small ones, for which the C library searches and joins what is free, are all of one
  // size. No more than this, none under a limit, and none from the caller's functions.
  static constexpr uint64_t kKeptBytesMin = uint64_t{1} << 9, kKeptBytesLeast = uint64_t{1} << 12;
  static constexpr uint64_t kKeptBytesMax = uint64_t{256} << 20;
  static constexpr uint32_t kKeptBlocksMax = 16;
  // Far more than any address space, and far from where sums and roundings of sizes wrap.
  static constexpr uint64_t kBytesMax = uint64_t{1} << 60;
  static constexpr uint64_t kPageBytes = uint64_t{2} << 20;  // the system's large pages

  static unsigned long long ull(uint64_t v) { return v; }

  bool keeps(uint64_t bytes) const { return keeps_blocks() && bytes >= kKeptBytesMin && bytes <= kKeptBytesMax; }
  // Sizes that are kept are rounded to an eighth of a power of two, so that calls of similar sizes share blocks.
  uint64_t round_up(uint64_t bytes) const {
    uint64_t grain = kAlignment;
    if (keeps(bytes)) {
      if (bytes < kKeptBytesLeast) return kKeptBytesLeast;
      while (grain * 16 <= bytes) grain *= 2;
    }
    return bytes == 0 ? kAlignment : (bytes + grain - 1) / grain * grain;
  }

  void *allocate_by_caller(uint64_t bytes) noexcept {
    void *memory = nullptr;
    (void)call_guarded([&] { memory = allocate_(user_, bytes, kAlignment); });
    return memory;
  }

  void *allocate_own(uint64_t bytes) {
    const uint64_t alignment = bytes >= 2 * kPageBytes ? kPageBytes : kAlignment;
    // aligned_alloc() wants a multiple of the alignment. What that adds is never touched and so takes no memory.
    const uint64_t whole = (bytes + alignment - 1) / alignment * alignment;
    void *memory = std::aligned_alloc(alignment, whole);
    if (memory != nullptr || kept_bytes() == 0) return memory;
    free_kept();
    return std::aligned_alloc(alignment, whole);
  }

  void *take_kept(uint64_t bytes) {
    if (!keeps(bytes)) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (uint32_t i = 0; i < kept_count_; ++i)
      if (kept_[i].bytes == bytes) return remove_kept(i).memory;
    return nullptr;
  }

  // The oldest make room.
  void keep(const Block &block) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (kept_count_ == kKeptBlocksMax || kept_bytes_ + block.bytes > kKeptBytesMax) {
      const Block oldest = remove_kept(0);
      std::free(oldest.memory);
      held_bytes_.fetch_sub(oldest.bytes);
    }
    kept_[kept_count_++] = block;
    kept_bytes_ += block.bytes;
  }

  void free_kept() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (kept_count_ > 0) {
      const Block block = remove_kept(kept_count_ - 1);
      std::free(block.memory);
      held_bytes_.fetch_sub(block.bytes);
    }
  }

  Block remove_kept(uint32_t i) {
    const Block block = kept_[i];
    --kept_count_;
    for (uint32_t j = i; j < kept_count_; ++j) kept_[j] = kept_[j + 1];
    kept_bytes_ -= block.bytes;
    return block;
  }

  gsort_allocate_fn allocate_;
  gsort_deallocate_fn deallocate_;
  void *user_;
  uint64_t limit_bytes_;
  std::atomic<uint64_t> held_bytes_{0};
  mutable std::mutex mutex_;  // of what follows
  Block kept_[kKeptBlocksMax];
  uint32_t kept_count_ = 0;
  uint64_t kept_bytes_ = 0;
};

// An array of scratch memory, given back at the end of its scope. Elements are not initialised.
template <class T>
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(HostMemory &memory, uint64_t count) : memory_(&memory), count_(count) {
    if (count > UINT64_MAX / sizeof(T)) throw Error(GSORT_ERROR_OUT_OF_MEMORY, "host scratch memory past 2^64 bytes");
    data_ = static_cast<T *>(memory.allocate(count * sizeof(T)));
  }
  HostBuffer(HostBuffer &&other) noexcept { swap(other); }
  HostBuffer &operator=(HostBuffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~HostBuffer() {
    if (memory_ != nullptr) memory_->deallocate(data_, count_ * sizeof(T));
  }
  T *data() const { return data_; }
  uint64_t count() const { return count_; }
  T &operator[](uint64_t i) const { return data_[i]; }

 private:
  void swap(HostBuffer &other) noexcept {
    HostMemory *const memory = memory_;
    T *const data = data_;
    const uint64_t count = count_;
    memory_ = other.memory_, data_ = other.data_, count_ = other.count_;
    other.memory_ = memory, other.data_ = data, other.count_ = count;
  }
  HostMemory *memory_ = nullptr;
  T *data_ = nullptr;
  uint64_t count_ = 0;
};

}  // namespace gsort_internal

#endif  // GSORT_CORE_HOST_MEMORY_H_
