// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls that a device, which the CPU plays, and the CPU's threads do together.
#ifndef GSORT_TESTS_UNIT_CPU_BOTH_FIXTURE_H_
#define GSORT_TESTS_UNIT_CPU_BOTH_FIXTURE_H_

#include <algorithm>
#include <functional>
#include <string>

#include "host_memory/pieces.h"
#include "piece_device_on_cpu.h"

namespace gsort_test {

constexpr uint64_t kBudget = 600000;

// Steps of a device that begin, and those that take long.
class DeviceBesides final : public PieceDeviceOnCpu {
 public:
  using PieceDeviceOnCpu::PieceDeviceOnCpu;
  std::function<void()> before_step;
  uint64_t shortest = UINT64_MAX, longest = 0;  // of the pieces that came

  void step(const std::vector<PieceCopy> &in, const PieceWork *work, const std::vector<PieceCopy> &out,
            PieceProgress &progress) override {
    if (before_step) before_step();
    for (const PieceCopy &copy : in) {
      shortest = std::min(shortest, copy.bytes);
      longest = std::max(longest, copy.bytes);
    }
    PieceDeviceOnCpu::step(in, work, out, progress);
  }
};

struct Both {
  explicit Both(uint64_t budget_bytes, uint32_t threads = 4)
      : device(budget_bytes), memory(nullptr, nullptr, nullptr, 0), pool(threads) {}
  gsort_status run(const Request &request, bool begins = true) {
    try {
      if (begins) control.begin_call();
      execute_on_both({device, memory, control, pool}, sharing, request);
      return GSORT_OK;
    } catch (const Error &error) {
      said = error.text();
      return error.status();
    }
  }
  Sharing sharing = {4, 1 << 15, 1000};
  DeviceBesides device;
  HostMemory memory;
  Control control;
  Pool pool;
  std::string said;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CPU_BOTH_FIXTURE_H_
