// SPDX-License-Identifier: MIT OR Apache-2.0
// The parts of an array that the threads of a quicksort have still to sort: whoever has split one adds a half of it,
// and whoever has nothing to do takes one.
#ifndef GSORT_CPU_SORT_PART_LIST_H_
#define GSORT_CPU_SORT_PART_LIST_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <new>
#include <thread>

#include "core/host_memory.h"
#include "cpu/primitive/relax.h"

namespace gsort_internal {

// Any thread calls any function.
template <class Part>
class PartList {
 public:
  // With room for so many parts.
  PartList(HostMemory &memory, uint64_t room) : parts_(memory, room) {}

  // False if there is no room for one more.
  __attribute__((noinline)) bool add(const Part &part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (count_ == parts_.count()) return false;
    new (&parts_[count_++]) Part(part);
    known_.store(count_, std::memory_order_relaxed);
    return true;
  }

  enum class Taken { kPart, kNothingYet, kNothing };

  // Takes the part that was added last. While there is none, but a thread that may add some, it waits for a moment: it
  // looks as long as it takes to wake a thread, and then sleeps as long, for that thread may want the processor. Each
  // part that is taken is followed by one finish().
  __attribute__((noinline)) Taken take(Part &part) {
    constexpr std::chrono::microseconds moment{50};
    const auto end = std::chrono::steady_clock::now() + moment;
    do {
      for (uint32_t look = 0; look < kLooks; ++look) {
        const Taken taken = look_for(part);
        if (taken != Taken::kNothingYet) return taken;
        for (uint32_t i = 0; i < kLooks && known_.load(std::memory_order_relaxed) == 0; ++i) relax();
      }
    } while (std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(moment);
    return Taken::kNothingYet;
  }

  // One of the threads' steps: takes a part, if there is one, and calls f(part), which may add some. Returns whether
  // more may come.
  template <class F>
  bool step(F &&f) {
    Part part{};
    const Taken taken = take(part);
    if (taken != Taken::kPart) return taken == Taken::kNothingYet;
    f(part);
    finish();
    return true;
  }

  // What was taken adds no more.
  void finish() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --taken_;
  }

 private:
  static constexpr uint32_t kLooks = 16;

  Taken look_for(Part &part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (count_ > 0) {
      part = parts_[--count_];
      known_.store(count_, std::memory_order_relaxed);
      ++taken_;
      return Taken::kPart;
    }
    return taken_ == 0 ? Taken::kNothing : Taken::kNothingYet;
  }

  HostBuffer<Part> parts_;
  std::mutex mutex_;
  uint64_t count_ = 0, taken_ = 0;
  std::atomic<uint64_t> known_{0};  // count_, for who only looks
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_PART_LIST_H_
