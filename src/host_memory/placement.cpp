// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/placement.h"

#include "core/dtype.h"

namespace gsort_internal {
namespace {

// The device's side, H200 behind PCIe 5 (2026-11-22): a call with its copies' launches and waits; a byte each way by
// the driver's copies, which short arrays take, and by the ring; an element in the kernels.
constexpr double kDeviceCallUs = 26, kDeviceSortUs = 8;  // 2^14 keys and more are sorted by more than one block
constexpr double kDriverInNs = 1.0 / 10, kDriverOutNs = 1.0 / 19;  // a byte
// The ring: what waking its threads and filling it for the first time takes, and a byte; a sum of 2^20 and 2^24 floats
// took 308 and 2,015 us, a scan 545 and 4,104.
constexpr double kRingUs = 150, kRingNs = 1.0 / 35;
constexpr uint64_t kRingBytesMin = uint64_t{1} << 20;

constexpr uint64_t kGridKeysMin = uint64_t{1} << 14;

// A byte of registered memory: 2^30 of them took 19.4 ms one way (the same host). Short arrays were not measured.
constexpr double kRegisteredNs = 1.0 / 55;

double copy_us(uint64_t bytes, uint64_t registered, double driver_ns) {
  const double pageable = static_cast<double>(bytes - registered),
               registered_us = static_cast<double>(registered) * kRegisteredNs / 1000;
  if (bytes - registered < kRingBytesMin) return registered_us + pageable * driver_ns / 1000;
  return registered_us + kRingUs + pageable * kRingNs / 1000;
}

// The CPU's side, the same machine's host (11 cores of a Xeon with AVX-512, gsort_bench_host, 2026-11-22): nanoseconds
// an element of 4 bytes for one thread, and for all of them, where caches and memory are the limit. Wider elements take
// as much longer as they are wider. Sorts of 2^14, 2^16 and 2^18 u32 took 31, 63 and 187 us, sums of 2^14 and 2^16
// floats 14 and 23 us.
struct CpuCost {
  double one_thread_ns, all_threads_ns;
};

CpuCost cpu_cost(const Request &request) {
  switch (request.operation) {
    case Operation::kSum:
      return {0.9, 0.09};
    case Operation::kReduce:
      return request.reduce_op == GSORT_MEAN ? CpuCost{0.9, 0.09} : CpuCost{0.09, 0.04};
    case Operation::kScan:
      return {0.65, 0.2};
    case Operation::kTopk:
    case Operation::kTopkRows:
    case Operation::kTopkSegments:
      // A large k is a sort of much of the input.
      return request.k <= 4096 ? CpuCost{0.24, 0.06} : CpuCost{6, 1.5};
    case Operation::kMerge:
      return {4.0, 0.5};
    case Operation::kSort:
      return {2.2, 0.65};
    case Operation::kSortSegments:
      return {2.5, 0.5};
    default:  // pairs, argsort, rank
      return {5.5, 2.0};
  }
}

// Waking all threads and waiting for them; a call begins with 2 us, a selection with 12.
constexpr double kCpuCallUs = 2, kSelectUs = 10, kWakeUs = 25;

double cpu_us(const Request &request, double items, uint32_t threads) {
  const CpuCost cost = cpu_cost(request);
  const double width = dtype_bytes(request.order.dtype) / 4.0 < 1 ? 1 : dtype_bytes(request.order.dtype) / 4.0;
  const bool selects = request.operation == Operation::kTopk || request.operation == Operation::kTopkRows ||
                       request.operation == Operation::kTopkSegments;
  const double begin = selects ? kCpuCallUs + kSelectUs : kCpuCallUs, one = items * cost.one_thread_ns * width / 1000;
  if (threads <= 1) return begin + one;
  const double shared = one / threads, least = items * cost.all_threads_ns * width / 1000;
  const double all = kWakeUs + (shared > least ? shared : least);
  return begin + (one < all ? one : all);
}

// How often a call in pieces goes over the bus.
double piece_trips(const Request &request) {
  switch (request.operation) {
    case Operation::kSort:
    case Operation::kSortPairs:
    case Operation::kArgsort:
      return 2;
    case Operation::kRank:
      return 3;
    default:
      return 1;
  }
}

}  // namespace

Placement plan_placement(const Request &request, const HostCall &call) {
  const double items = static_cast<double>(request.n) + static_cast<double>(request.b_n);
  Placement placement{};
  placement.cpu_us = cpu_us(request, items, call.threads);
  const double in_us = copy_us(call.bytes_in, call.registered_in, kDriverInNs),
               out_us = copy_us(call.bytes_out, call.registered_out, kDriverOutNs);
  placement.device_us = kDeviceCallUs + in_us + out_us + items * 3e-5;
  if (piece_trips(request) >= 2 && request.n >= kGridKeysMin) placement.device_us += kDeviceSortUs;
  // In pieces both directions overlap, but sorts take two trips; those whose values stay at home are not told apart.
  if (call.in_pieces) placement.device_us = kDeviceCallUs + piece_trips(request) * (in_us > out_us ? in_us : out_us);
  placement.on_cpu = placement.cpu_us < placement.device_us;
  return placement;
}

}  // namespace gsort_internal
