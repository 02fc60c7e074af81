// SPDX-License-Identifier: MIT OR Apache-2.0
// Where calls on host arrays run.
#include "host_memory/placement.h"
#include "core/dtype.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

Placement placement(Operation operation, uint64_t n, uint32_t threads, bool whole_output) {
  Request r{};
  r.operation = operation;
  r.order.dtype = GSORT_F32;
  r.n = n;
  r.k = operation == Operation::kTopk ? 100 : 0;
  r.reduce_op = GSORT_MAX;
  return plan_placement(r, {n * 4, whole_output ? n * 4 : 8, threads});
}

// What was measured on an H200's host with 16 cores must come out as it was measured.
TEST(Placement, AsMeasured) {
  const uint64_t large = uint64_t{1} << 28;
  for (const Operation operation : {Operation::kSum, Operation::kReduce, Operation::kTopk})
    EXPECT_LT(placement(operation, large, 16, false).cpu_us, 26000) << static_cast<uint32_t>(operation);
  EXPECT_FALSE(placement(Operation::kSort, large, 16, true).on_cpu);
  EXPECT_TRUE(placement(Operation::kSort, 1024, 16, true).on_cpu);
  for (const uint64_t n : {1 << 14, 1 << 16, 1 << 17, 1 << 18})
    EXPECT_TRUE(placement(Operation::kSort, n, 16, true).on_cpu) << n;
  EXPECT_FALSE(placement(Operation::kSort, 1 << 20, 16, true).on_cpu);
  Request wide{};
  wide.operation = Operation::kSort;
  wide.order.dtype = GSORT_U64;
  for (wide.n = 1 << 12; wide.n <= 1 << 24; wide.n *= 16)
    EXPECT_EQ(wide.n < 1 << 24, plan_placement(wide, {wide.n * 8, wide.n * 8, 16}).on_cpu) << wide.n;
  for (const uint64_t n : {1 << 14, 1 << 16, 1 << 18, 1 << 20})
    EXPECT_FALSE(placement(Operation::kArgsort, n, 16, true).on_cpu) << n;
  EXPECT_TRUE(placement(Operation::kSum, 1 << 16, 16, false).on_cpu);
  EXPECT_TRUE(placement(Operation::kSum, 1000, 1, false).on_cpu);
  EXPECT_TRUE(placement(Operation::kScan, 1 << 20, 16, true).on_cpu);
  EXPECT_TRUE(placement(Operation::kScan, 1 << 18, 16, true).on_cpu);
  // Long scans go by pieces: 37.3 ms of pageable floats by 16 threads' ring and 50.1 by eight, 23.0 of registered ones;
  // by the CPU 42.7 with 16 threads.
  Request scan{};
  scan.operation = Operation::kScan;
  scan.order.dtype = GSORT_F32;
  scan.n = large;
  EXPECT_FALSE(plan_placement(scan, {large * 4, large * 4, 16, true}).on_cpu);
  EXPECT_TRUE(plan_placement(scan, {large * 4, large * 4, 15, true}).on_cpu);
  EXPECT_FALSE(plan_placement(scan, {large * 4, large * 4, 16, true, large * 4, large * 4}).on_cpu);
}

// The bus reads registered arrays at its own speed: a sum of 2^28 floats took 20.0 ms so, and the CPU 9 to 38.
TEST(Placement, RegisteredArrays) {
  Request r{};
  r.operation = Operation::kSum;
  r.order.dtype = GSORT_F32;
  r.n = uint64_t{1} << 28;
  const Placement pageable = plan_placement(r, {r.n * 4, 8, 16, true});
  const Placement registered = plan_placement(r, {r.n * 4, 8, 16, true, r.n * 4, 0});
  EXPECT_TRUE(pageable.on_cpu);
  EXPECT_NE(0u, registered.shared_by);
  EXPECT_NEAR(registered.device_us, 20000, 1000);
  // Those that caches hold the CPU reads in less time than the bus.
  for (const gsort_dtype t : {GSORT_F32, GSORT_U32, GSORT_F64}) {
    r.order.dtype = t;
    for (r.n = 1 << 22; r.n <= 1 << 24; r.n *= 2) {
      const uint64_t bytes = r.n * dtype_bytes(t);
      EXPECT_TRUE(plan_placement(r, {bytes, 8, 16, bytes >= 1 << 27, bytes, 0}).on_cpu) << r.n;
    }
  }
  r.order.dtype = GSORT_F32;
  r.n = uint64_t{1} << 28;
  // A part of the arrays is pageable: its way is the ring's.
  const Placement half = plan_placement(r, {r.n * 4, 8, 16, true, r.n * 2, 0});
  EXPECT_GT(half.device_us, registered.device_us);
  EXPECT_LT(half.device_us, pageable.device_us);
}

Placement reduction(uint32_t op, gsort_dtype t, uint64_t n, uint32_t threads, bool registered, bool in_pieces = true) {
  Request r{};
  r.operation = op == 0 ? Operation::kSum : Operation::kReduce;
  r.reduce_op = op;
  r.order.dtype = t;
  r.n = n;
  const uint64_t bytes = n * dtype_bytes(t);
  return plan_placement(r, {bytes, 8, threads, in_pieces, registered ? bytes : 0, 0});
}

// Exact sums of floats, whose threads begin alone unless the bus asks no thread and the array is long; and all of long
// registered arrays.
TEST(Placement, OnBoth) {
  for (const uint32_t op : {0u, GSORT_MEAN})
    for (const gsort_dtype t : {GSORT_F32, GSORT_F64})
      for (const uint32_t threads : {11u, 16u})
        for (uint64_t bytes = uint64_t{1} << 28; bytes <= uint64_t{1} << 32; bytes *= 2) {
          SCOPED_TRACE(std::to_string(bytes) + " bytes of type " + std::to_string(t));
          const uint64_t n = bytes / dtype_bytes(t);
          const Placement pageable = reduction(op, t, n, threads, false),
                          registered = reduction(op, t, n, threads, true);
          EXPECT_EQ(threads, registered.shared_by);
          EXPECT_EQ(threads, registered.shared_beside);
          EXPECT_LT(registered.both_us, registered.device_us);
          if (bytes < uint64_t{1} << 29) {
            EXPECT_EQ(0u, pageable.shared_by);
          } else {
            EXPECT_EQ(threads, pageable.shared_by);
            EXPECT_EQ(threads - kSharedRingThreads + 1, pageable.shared_beside);
            EXPECT_NEAR(3300, pageable.alone_above, 700);  // between sums of doubles and of floats
            EXPECT_LT(pageable.both_us, pageable.device_us);
          }
          EXPECT_EQ(bytes < uint64_t{1} << 29, registered.alone_above != 0);
        }
  for (const uint64_t n : {1 << 26, 1 << 27, 1 << 28}) {
    EXPECT_EQ(0u, reduction(0, GSORT_U32, n, 16, false).shared_by);
    EXPECT_EQ(n == 1 << 26 ? 0u : 16u, reduction(0, GSORT_U32, n, 16, true).shared_by);
    for (const uint32_t op : {GSORT_MIN, GSORT_ARGMAX}) {
      EXPECT_EQ(0u, reduction(op, GSORT_F32, n, 16, false).shared_by);
      EXPECT_EQ(n == 1 << 26 ? 0u : 16u, reduction(op, GSORT_F32, n, 16, true).shared_by);
      EXPECT_EQ(0, reduction(op, GSORT_F32, n, 16, true).alone_above);
    }
  }
}

// Selections of few, of long registered arrays.
TEST(Placement, TopkOnBoth) {
  for (const gsort_dtype t : {GSORT_F32, GSORT_U64, GSORT_U8})
    for (const uint64_t bytes : {uint64_t{1} << 28, uint64_t{1} << 29, uint64_t{1} << 32})
      for (const uint64_t k : {1, 256, 1024, 1025, 4096})
        for (const bool registered : {false, true}) {
          Request r{};
          r.operation = Operation::kTopk;
          r.order.dtype = t;
          r.n = bytes / dtype_bytes(t);
          r.k = k;
          const Placement placement = plan_placement(r, {bytes, 12 * k, 16, true, registered ? bytes : 0, 0});
          SCOPED_TRACE(std::to_string(bytes) + " bytes of type " + std::to_string(t) + ", k " + std::to_string(k));
          EXPECT_EQ(registered && bytes >= uint64_t{1} << 29 && k <= 1024 ? 16u : 0u, placement.shared_by);
          EXPECT_EQ(0, placement.alone_above);
        }
}

// One side alone: short arrays, those that the device takes at once, few threads, and all other operations.
TEST(Placement, NotOnBoth) {
  for (const bool registered : {false, true})
    for (const uint32_t op : {0u, GSORT_MEAN, GSORT_MIN}) {
      for (const uint64_t n : {1, 1000, 1 << 20}) EXPECT_EQ(0u, reduction(op, GSORT_F32, n, 16, registered).shared_by);
      EXPECT_EQ(0u, reduction(op, GSORT_F32, 1 << 28, 1, registered).shared_by);
      EXPECT_EQ(0u, reduction(op, GSORT_F32, 1 << 28, 16, registered, false).shared_by);
    }
  EXPECT_EQ(0u, reduction(0, GSORT_F32, 1 << 28, kSharedRingThreads, false).shared_by);
  for (const Operation operation : {Operation::kScan, Operation::kTopkRows, Operation::kSort}) {
    Request r{};
    r.operation = operation;
    r.order.dtype = GSORT_F32;
    r.n = 1 << 28, r.k = 100;
    EXPECT_EQ(0u, plan_placement(r, {r.n * 4, 8, 16, true}).shared_by);
  }
}

// In pieces a sort takes two trips over the bus, both ways at once; ranks take three, a scan one.
TEST(Placement, InPieces) {
  const uint64_t n = uint64_t{1} << 28;
  Request r{};
  r.order.dtype = GSORT_U32;
  r.n = n;
  for (const Operation operation : {Operation::kSort, Operation::kRank, Operation::kScan}) {
    r.operation = operation;
    const double whole = plan_placement(r, {n * 4, n * 4, 16, false}).device_us,
                 pieces = plan_placement(r, {n * 4, n * 4, 16, true}).device_us;
    const double trips = operation == Operation::kSort ? 2 : operation == Operation::kRank ? 3 : 1;
    EXPECT_NEAR(pieces, trips * 37500, trips * 1000) << "the ring's threads do one copy or the other";
    EXPECT_NEAR(plan_placement(r, {n * 4, n * 4, 8, true}).device_us, trips * 50000, trips * 1500) << "eight of them";
    EXPECT_GT(pieces, whole * trips * 0.6);
    const double registered = plan_placement(r, {n * 4, n * 4, 16, true, n * 4, n * 4}).device_us;
    EXPECT_NEAR(registered, trips * 20000, trips * 1000) << "the bus goes both ways at once";
    // One of the two arrays is registered: the bus goes on while the ring's threads copy the other.
    EXPECT_NEAR(plan_placement(r, {n * 4, n * 4, 16, true, n * 4, 0}).device_us, trips * 25000, trips * 1000);
  }
}

TEST(Placement, FewThreadsLeaveLargeArraysToTheDevice) {
  for (const Operation operation : {Operation::kSum, Operation::kScan, Operation::kSort, Operation::kArgsort})
    EXPECT_FALSE(placement(operation, uint64_t{1} << 28, 1, operation != Operation::kSum).on_cpu);
}

TEST(Placement, TimesGrowWithTheArrayAndNotWithThreads) {
  for (const Operation operation : {Operation::kSum, Operation::kReduce, Operation::kTopk, Operation::kScan,
                                    Operation::kSort, Operation::kArgsort, Operation::kMerge})
    for (uint64_t n = 1; n < uint64_t{1} << 34; n *= 2)
      for (const uint32_t threads : {1u, 4u, 64u}) {
        const Placement small = placement(operation, n, threads, true),
                        twice = placement(operation, 2 * n, threads, true);
        EXPECT_GT(small.cpu_us, 0);
        EXPECT_LE(small.device_us * 0.2, twice.device_us) << n;
        if (n > 1 << 17) {
          EXPECT_LT(small.cpu_us, twice.cpu_us) << n;
          EXPECT_LE(placement(operation, n, threads * 2, true).cpu_us, small.cpu_us) << n;
        }
      }
}

}  // namespace
}  // namespace gsort_test
