// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows that add, compare or only move.
#include <cstdio>
#include <cstring>

#include "bench.h"
#include "ceiling.h"
#include "check.h"
#include "exact_sum.h"

namespace gsort_bench {
namespace {

constexpr uint64_t kResultBytes = 32;  // a peer's ArgMin writes a value and an index

uint64_t read_word(const DeviceBuffer &buffer, uint32_t bytes) {
  uint64_t word = 0;
  require_cuda(cudaMemcpy(&word, buffer.get(), bytes, cudaMemcpyDeviceToHost), "read the result");
  return word;
}

std::string compare_words(uint64_t got, uint64_t expected) {
  if (got == expected) return "";
  char text[96];
  snprintf(text, sizeof text, "got bits %016llx, expected %016llx", static_cast<unsigned long long>(got),
           static_cast<unsigned long long>(expected));
  return text;
}

uint64_t double_bits(double x) {
  uint64_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// The right result of a sum or, with divide_log2, of a mean over 2^divide_log2 elements.
uint64_t expected_sum(Bench &bench, const Row &row, uint32_t divide_log2) {
  if (dtype_is_float(row.t)) return double_bits(exact_sum(row.t, bench.in.get(), row.n, divide_log2, bench.stream));
  return integer_sum(row.t, bench.in.get(), row.n, bench.stream);
}

void reserve_results(Bench &bench) {
  bench.out.reserve(kResultBytes);
  bench.peer_out.reserve(kResultBytes);
  require_cuda(cudaMemsetAsync(bench.out.get(), 0xcd, kResultBytes, bench.stream), "poison");
}

}  // namespace

void run_sum(Bench &bench, Result &result) {
  const Row &row = result.row;
  gsort *const g = bench.handle();
  make_input(bench, row);
  reserve_results(bench);
  PeerScratch scratch;
  const auto peer = [&](PeerScratch &scr) {
    return peer_sum(row.t, scr, bench.in.get(), bench.peer_out.get(), row.n, bench.stream);
  };
  Task peer_task;
  if (bench.prepare_peer(peer, scratch)) {
    peer_task = [&] { require_cuda(peer(scratch), "cub::DeviceReduce"); };
    result.peer_name = dtype_is_float(row.t) ? "DeviceReduce, rounded at every step" : "DeviceReduce";
    result.peer_extra_bytes = scratch.bytes;
  }
  result.bytes_moved = row.n * dtype_bytes(row.t);
  result.gsort_extra_bytes = gsort_extra_bytes(GSORT_OP_SUM, row, 0);
  bench.measure([&] { require_gsort(gsort_sum(g, row.t, bench.in.get(), row.n, bench.out.get(), 0), g, "gsort_sum"); },
                peer_task, result);
  spoil(bench, bench.out, 1, 8);
  judge(result, compare_words(read_word(bench.out, 8), expected_sum(bench, row, 0)));
}

void run_reduce(Bench &bench, Result &result) {
  const Row &row = result.row;
  const bool mean = row.reduce_op == GSORT_MEAN;
  gsort *const g = bench.handle();
  make_input(bench, row);
  reserve_results(bench);
  PeerScratch scratch;
  const auto peer = [&](PeerScratch &scr) {
    if (mean) return peer_sum(row.t, scr, bench.in.get(), bench.peer_out.get(), row.n, bench.stream);
    return peer_reduce(row.reduce_op, row.t, scr, bench.in.get(), bench.peer_out.get(), row.n, bench.stream);
  };
  Task peer_task;
  if (bench.prepare_peer(peer, scratch)) {
    peer_task = [&] { require_cuda(peer(scratch), "cub::DeviceReduce"); };
    result.peer_name = mean ? "DeviceReduce, the sum alone" : "DeviceReduce";
    result.peer_extra_bytes = scratch.bytes;
  }
  result.bytes_moved = row.n * dtype_bytes(row.t);
  result.gsort_extra_bytes = gsort_extra_bytes(GSORT_OP_REDUCE, row, 0);
  bench.measure(
      [&] {
        require_gsort(gsort_reduce(g, row.reduce_op, row.t, bench.in.get(), row.n, bench.out.get(), 0), g,
                      "gsort_reduce");
      },
      peer_task, result);
  const bool is_index = row.reduce_op == GSORT_ARGMIN || row.reduce_op == GSORT_ARGMAX;
  const uint32_t result_bytes = mean || is_index ? 8 : dtype_bytes(row.t);
  spoil(bench, bench.out, 1, result_bytes);
  const uint64_t got = read_word(bench.out, result_bytes);
  if (mean) {
    const uint32_t log2 = static_cast<uint32_t>(__builtin_ctzll(row.n));
    if (row.n != uint64_t{1} << log2) throw std::runtime_error("a mean can be checked for powers of two only");
    judge(result, compare_words(got, expected_sum(bench, row, log2)));
    return;
  }
  judge(result, check_extreme(row.reduce_op, row.t, bench.in.get(), row.n, got, bench.stream));
}

namespace {

// The results are the inclusive ones, which rows of their own check, one place on.
void judge_exclusive_scan(Bench &bench, const DeviceBuffer &inclusive, Result &result) {
  const uint64_t width = dtype_bytes(result.row.t), bytes = result.row.n * width;
  require_cuda(cudaMemsetAsync(bench.peer_out.get(), 0, width, bench.stream), "first result");
  require_cuda(cudaMemcpyAsync(bench.peer_out.as<char>() + width, inclusive.get(), bytes - width,
                               cudaMemcpyDeviceToDevice, bench.stream),
               "inclusive results");
  judge(result, check_same_bytes(bench.out.get(), bench.peer_out.get(), bytes, bench.stream));
}

void judge_float_scan(Bench &bench, PeerScratch &scratch, Result &result) {
  const uint64_t n = result.row.n;
  const auto wide = [&](PeerScratch &scr) {
    return peer_scan_wide(scr, bench.in.as<float>(), bench.peer_out.as<double>(), n, bench.stream);
  };
  if (!bench.prepare_peer(wide, scratch)) throw std::runtime_error("no reference for this scan");
  require_cuda(wide(scratch), "cub::DeviceScan");
  judge(result, check_scan_close(bench.out.as<float>(), bench.peer_out.as<double>(), n, bench.stream));
}

}  // namespace

void run_scan(Bench &bench, Result &result) {
  const Row &row = result.row;
  const uint64_t bytes = row.n * dtype_bytes(row.t);
  gsort *const g = bench.handle();
  make_input(bench, row);
  require_cuda(cudaMemsetAsync(bench.out.reserve(bytes), 0xcd, bytes, bench.stream), "poison");
  bench.peer_out.reserve(2 * bytes);  // floats: the reference lies in doubles
  PeerScratch scratch;
  const auto peer = [&](PeerScratch &scr) {
    return peer_scan(row.t, scr, bench.in.get(), bench.peer_out.get(), row.n, bench.stream);
  };
  Task peer_task;
  if (bench.prepare_peer(peer, scratch)) {
    peer_task = [&] { require_cuda(peer(scratch), "cub::DeviceScan"); };
    result.peer_name = "DeviceScan::InclusiveSum";
    result.peer_extra_bytes = scratch.bytes;
  }
  result.bytes_moved = 2 * bytes;
  result.gsort_extra_bytes = gsort_extra_bytes(GSORT_OP_SCAN, row, 0);
  const auto scan = [&](void *out, uint32_t flags) {
    require_gsort(gsort_scan(g, row.t, bench.in.get(), out, row.n, flags), g, "gsort_scan");
  };
  bench.measure([&] { scan(bench.out.get(), row.exclusive ? GSORT_EXCLUSIVE : 0); }, peer_task, result);
  spoil(bench, bench.out, row.n, dtype_bytes(row.t));
  if (row.exclusive) {
    if (peer_task) result.peer_name = "DeviceScan::InclusiveSum, which is not exclusive";
    DeviceBuffer inclusive;
    scan(inclusive.reserve(bytes), 0);
    judge_exclusive_scan(bench, inclusive, result);
  } else if (row.t == GSORT_F32) {
    judge_float_scan(bench, scratch, result);
  } else {
    judge(result, check_same_bytes(bench.out.get(), bench.peer_out.get(), bytes, bench.stream));
  }
}

void run_ceiling(Bench &bench, Result &result) {
  const Row &row = result.row;
  const bool copies = row.work == Work::kCopyCeiling;
  const uint64_t bytes = row.n * dtype_bytes(row.t);
  make_input(bench, row);
  bench.out.reserve(bytes);
  const Task own = [&] {
    require_cuda(copies ? copy_kernel(bench.in.get(), bench.out.get(), bytes, bench.stream)
                        : read_kernel(bench.in.get(), bench.out.get(), bytes, bench.stream),
                 "ceiling");
  };
  Task driver;
  if (copies) {
    driver = [&] {
      require_cuda(cudaMemcpyAsync(bench.out.get(), bench.in.get(), bytes, cudaMemcpyDeviceToDevice, bench.stream),
                   "cudaMemcpyAsync");
    };
  }
  bench.measure(own, driver, result);
  // The ceiling is the better of the two, and has no peer.
  const bool driver_better = copies && result.peer.median_ms < result.gsort.median_ms;
  if (driver_better) result.gsort = result.peer;
  result.peer = Timing{};
  result.note = driver_better ? "by cudaMemcpyAsync" : "by a kernel with 16-byte accesses";
  result.bytes_moved = copies ? 2 * bytes : bytes;
  if (!copies) {
    result.outcome = Outcome::kRight;
    return;
  }
  spoil(bench, bench.out, row.n, dtype_bytes(row.t));
  judge(result, check_same_bytes(bench.in.get(), bench.out.get(), bytes, bench.stream));
}

}  // namespace gsort_bench
