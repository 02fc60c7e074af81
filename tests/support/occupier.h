// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels of "the application" that hold multiprocessors of device 0 while the library's kernels run: the library's
// blocks then start late, a few at a time and in any order, as they do beside other work.
#ifndef GSORT_TESTS_SUPPORT_OCCUPIER_H_
#define GSORT_TESTS_SUPPORT_OCCUPIER_H_

#include <atomic>
#include <cstdint>
#include <thread>

#include "support/device_memory.h"

namespace gsort_test {

// Needs device_available().
class Occupier {
 public:
  Occupier();
  ~Occupier();
  Occupier(const Occupier &) = delete;
  Occupier &operator=(const Occupier &) = delete;

  uint32_t multiprocessors() const { return multiprocessors_; }
  // Holds all multiprocessors but `free` until release(), or `nanoseconds` long, whichever comes first. Returns when
  // they are held, or after the earlier work on the device has ended if that holds them.
  void hold(uint32_t free, uint64_t nanoseconds);
  void release();
  // Waits until nothing is held any more.
  void wait();

 private:
  void *module_ = nullptr, *kernel_ = nullptr;
  DeviceStream stream_;
  uint32_t multiprocessors_ = 0, shared_bytes_ = 0;
  uint32_t *flags_ = nullptr;  // pinned: released, then one a block that says that it runs
};

// Holds changing numbers of multiprocessors for 5 to 200 us at a time, on a thread of its own, until it is destroyed.
class SteadyForeignWork {
 public:
  SteadyForeignWork();
  ~SteadyForeignWork();

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_SUPPORT_OCCUPIER_H_
