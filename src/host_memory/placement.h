// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a call on host arrays ends first: on the device, with copies both ways, or on the CPU's threads.
#ifndef GSORT_HOST_MEMORY_PLACEMENT_H_
#define GSORT_HOST_MEMORY_PLACEMENT_H_

#include <cstdint>

#include "core/request.h"

namespace gsort_internal {

struct HostCall {
  uint64_t bytes_in, bytes_out;                    // that would travel
  uint32_t threads;                                // that the CPU engine has
  bool in_pieces = false;                          // the device cannot hold the arrays at once
  uint64_t registered_in = 0, registered_out = 0;  // of the bytes above, those that the bus reaches as they lie
};

struct Placement {
  bool on_cpu;
  double cpu_us, device_us;  // what the two are expected to take
  // Where the call is shared with the device: its threads, of which the caller's drives the device; 0: it is not.
  uint32_t shared_by = 0;
  double both_us = 0;
  // They begin alone, and go on so if each does more than so many bytes a microsecond; else so many of them work beside
  // the device. 0: the device takes part from the beginning.
  double alone_above = 0;
  uint32_t shared_beside = 0;
};

// The most threads that feed the bus where a call is shared.
constexpr uint32_t kSharedRingThreads = 4;

// A plain function; its constants were measured and say where.
Placement plan_placement(const Request &request, const HostCall &call);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PLACEMENT_H_
