// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/placement.h"

#include <algorithm>

#include "core/dtype.h"
#include "host_memory/piece_plan.h"

namespace gsort_internal {
namespace {

// The device's side, H200 behind PCIe 5 (2026-11-22): a call with its copies' launches and waits; a byte each way by
// the driver's copies, which short arrays take, and by the ring; an element in the kernels.
constexpr double kDeviceCallUs = 26, kDeviceSortUs = 8;  // 2^14 keys and more are sorted by more than one block
constexpr double kDriverInNs = 1.0 / 10, kDriverOutNs = 1.0 / 19;  // a byte
// The ring: what waking its threads and filling it for the first time takes, and a byte, in either direction; a sum of
// 2^20, 2^24 and 2^28 floats took 255, 1,742 and 24,829 us, a scan 457, 3,486 and 50,067 (2026-11-23).
// Both ways at once 16 threads bring 57 GB/s in all (37.3 ms, 2026-11-24), and as many are no fewer than a ring uses.
constexpr double kRingUs = 150, kRingNs = 1.0 / 43, kRingBothWaysNs = 1.0 / 57;
constexpr uint32_t kRingBothWaysThreads = 16;
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

// Exact sums of floats: where exponents are near, as they mostly are, and where they are far apart (16 cores, 2^25 and
// 2^28 floats in 0.7 and 9.1 ms, and in 2.5 and 20, 2026-11-23).
constexpr CpuCost kNearSum = {0.3, 0.04}, kWideSum = {0.9, 0.09};

bool adds_floats(const Request &request) {
  return is_float(request.order.dtype) && (request.operation == Operation::kSum || request.reduce_op == GSORT_MEAN);
}

CpuCost cpu_cost(const Request &request) {
  switch (request.operation) {
    case Operation::kSum:
    case Operation::kReduce:
      return adds_floats(request) ? kNearSum : CpuCost{0.09, 0.04};
    case Operation::kScan:
      return {0.65, 0.16};  // 2^28 floats in 42.7 ms
    case Operation::kTopk:
    case Operation::kTopkRows:
    case Operation::kTopkSegments:
      // A large k is a sort of much of the input. 256 of 2^28 floats take 9.5 ms.
      return request.k <= 4096 ? CpuCost{0.24, 0.04} : CpuCost{6, 1.5};
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

// Keys of 8 bytes are sorted in the time of those of 4 (2^14 to 2^28 of them, 16 cores, 2026-11-23).
double width_of(const Request &request) {
  const double width = dtype_bytes(request.order.dtype) / 4.0;
  return width < 1 || request.operation == Operation::kSort ? 1 : width;
}

// What all threads take when they are awake.
double all_threads_us(const CpuCost &cost, const Request &request, double items, uint32_t threads) {
  const double shared = cost.one_thread_ns / threads;
  return items * (shared > cost.all_threads_ns ? shared : cost.all_threads_ns) * width_of(request) / 1000;
}

double cpu_us(const Request &request, double items, uint32_t threads) {
  const bool selects = request.operation == Operation::kTopk || request.operation == Operation::kTopkRows ||
                       request.operation == Operation::kTopkSegments;
  const double begin = selects ? kCpuCallUs + kSelectUs : kCpuCallUs,
               one = items * cpu_cost(request).one_thread_ns * width_of(request) / 1000;
  if (threads <= 1) return begin + one;
  const double all = kWakeUs + all_threads_us(cpu_cost(request), request, items, threads);
  return begin + (one < all ? one : all);
}

// Both at once, by gsort_bench_both on an H200 and 16 processors (2026-11-23). The ring with kSharedRingThreads beside
// threads of the CPU brings 23 GB/s. Exact sums of floats do 2.6 GB/s in each of the threads where exponents are far
// apart, and are 1.2 times as quick by both; those of doubles 4.1, and take as long; where exponents are near and
// memory is the limit, 6 to 8, and take longer. Only the data tell, and below 2^29 bytes of pageable memory it costs as
// much to find out as it brings. Of registered arrays sharing costs as much as it brings up to 2^28 bytes, which caches
// hold there, and is 1.1 to 1.3 times as quick from 2^29 on, 1.2 to 1.7 where exponents are far apart.
constexpr double kSharedRingNs = 1.0 / 23, kAloneAbove = 3500;  // bytes a microsecond
constexpr uint64_t kSharedTrialBytesMin = uint64_t{1} << 28, kSharedBytesMin = uint64_t{1} << 29;
// Each thread and each piece leaves so many, of which one thread takes the first: 50,000 in 0.5 ms.
constexpr uint64_t kSharedKMax = 1024;

bool may_be_shared(const Request &request) {
  return request.operation == Operation::kSum || request.operation == Operation::kReduce ||
         (request.operation == Operation::kTopk && request.k <= kSharedKMax);
}

// What feeds the ring has no time for the CPU's part, and of registered arrays the caller's thread waits for the
// device. The limit of all threads is that of their processors, so that fewer reach as much less of it. In the mean one
// side waits for a quarter of the shortest piece. Where a trial decides, it is for exponents that are far apart.
void plan_both(const Request &request, double items, const HostCall &call, Placement &placement) {
  const bool pageable = call.registered_in < call.bytes_in, floats = adds_floats(request);
  const uint64_t bytes_min = floats && !pageable ? kSharedTrialBytesMin : kSharedBytesMin;
  const uint32_t feeding = pageable ? kSharedRingThreads : 1;
  if (!may_be_shared(request) || !call.in_pieces || call.bytes_in < bytes_min || call.threads <= feeding) return;
  if (pageable && !floats) return;
  const bool tries = floats && (pageable || call.bytes_in < kSharedBytesMin);
  const double byte_us = (pageable ? kSharedRingNs : kRegisteredNs) / 1000, bytes = static_cast<double>(call.bytes_in);
  const double alone_us = all_threads_us(tries ? kWideSum : cpu_cost(request), request, items, call.threads),
               beside_us = alone_us * call.threads / (call.threads - feeding), device_us = bytes * byte_us;
  placement.both_us = kDeviceCallUs + kWakeUs + (pageable ? kRingUs : 0) +
                      static_cast<double>(kPieceBytesMin) * byte_us / 4 + 1 / (1 / beside_us + 1 / device_us);
  if (placement.both_us >= alone_us || placement.both_us >= placement.device_us) return;
  placement.shared_by = call.threads;
  placement.shared_beside = call.threads - feeding + 1;
  if (tries) placement.alone_above = kAloneAbove;
}

// Both directions at once.
double trip_us(const HostCall &call) {
  const double in_us = copy_us(call.bytes_in, call.registered_in, kDriverInNs),
               out_us = copy_us(call.bytes_out, call.registered_out, kDriverOutNs),
               ring_ns = call.threads < kRingBothWaysThreads ? kRingNs : kRingBothWaysNs,
               pageable = static_cast<double>(call.bytes_in - call.registered_in) +
                          static_cast<double>(call.bytes_out - call.registered_out);
  return std::max(kRingUs + pageable * ring_ns / 1000, std::max(in_us, out_us));
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
  // In pieces both directions overlap, but not within the ring, whose threads they share. Sorts take two trips; those
  // whose values stay at home are not told apart.
  if (call.in_pieces) placement.device_us = kDeviceCallUs + piece_trips(request) * trip_us(call);
  placement.on_cpu = placement.cpu_us < placement.device_us;
  plan_both(request, items, call, placement);
  return placement;
}

}  // namespace gsort_internal
