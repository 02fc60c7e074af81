// SPDX-License-Identifier: MIT OR Apache-2.0
// Host scratch memory through the caller's hooks and under the caller's limit. Safe from any thread.
#ifndef GSORT_CORE_HOST_MEMORY_H_
#define GSORT_CORE_HOST_MEMORY_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>

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

  // Never NULL, also for 0 bytes. Throws Error(OUT_OF_MEMORY).
  void *allocate(uint64_t bytes) {
    const uint64_t rounded = round_up(bytes);
    const uint64_t held = held_bytes_.fetch_add(rounded) + rounded;
    if (rounded < bytes || (limit_bytes_ != 0 && held > limit_bytes_)) {
      held_bytes_.fetch_sub(rounded);
      throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                  "%llu bytes of host scratch memory go past host_memory_limit_bytes = %llu; raise the limit",
                  ull(bytes), ull(limit_bytes_));
    }
    void *memory =
        allocate_ != nullptr ? allocate_(user_, rounded, kAlignment) : std::aligned_alloc(kAlignment, rounded);
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
    if (deallocate_ != nullptr)
      deallocate_(user_, memory, rounded);
    else
      std::free(memory);
    held_bytes_.fetch_sub(rounded);
  }
  uint64_t held_bytes() const { return held_bytes_.load(); }

 private:
  static unsigned long long ull(uint64_t v) { return v; }
  static uint64_t round_up(uint64_t bytes) {
    return bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  gsort_allocate_fn allocate_;
  gsort_deallocate_fn deallocate_;
  void *user_;
  uint64_t limit_bytes_;
  std::atomic<uint64_t> held_bytes_{0};
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
