// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench.h"

#include <algorithm>
#include <cstdio>

#include "ceiling.h"
#include "check.h"

namespace gsort_bench {
namespace {

constexpr uint32_t kRunsLeast = 5;
constexpr uint32_t kRunsMost = 101;
constexpr uint32_t kWarmRuns = 2;
constexpr size_t kFlushBytes = size_t{256} << 20;  // several times any L2 cache of today
constexpr uint32_t kDelayUs = 200;                 // longer than the host takes to enqueue one call

}  // namespace

Bench::Bench(const Options &o) : options(o) {
  require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  require_cuda(cudaEventCreate(&begin_), "cudaEventCreate");
  require_cuda(cudaEventCreate(&end_), "cudaEventCreate");
}

Bench::~Bench() {
  gsort_destroy(handle_);
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
  cudaStreamDestroy(stream);
}

gsort *Bench::handle() {
  if (handle_ != nullptr) return handle_;
  gsort_options o{};
  o.struct_size = sizeof o;
  o.backend = GSORT_BACKEND_CUDA;
  o.device = -1;
  require_gsort(gsort_create(&o, &handle_), nullptr, "gsort_create");
  require_gsort(gsort_set_stream(handle_, stream), handle_, "gsort_set_stream");
  return handle_;
}

float Bench::timed_run(const Task &task) {
  if (options.cold) {
    require_cuda(cudaMemsetAsync(flush_.reserve(kFlushBytes), 0, kFlushBytes, stream), "flush");
  }
  if (options.queued) require_cuda(delay_kernel(kDelayUs, stream), "delay");
  require_cuda(cudaEventRecord(begin_, stream), "cudaEventRecord");
  task();
  require_cuda(cudaEventRecord(end_, stream), "cudaEventRecord");
  require_cuda(cudaEventSynchronize(end_), "timed run");
  float ms = 0;
  require_cuda(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
  return ms;
}

Timing Bench::summary(std::vector<float> times) const {
  std::sort(times.begin(), times.end());
  return Timing{times[times.size() / 2], times.front(), static_cast<uint32_t>(times.size())};
}

void Bench::measure(const Task &gsort_task, const Task &peer_task, Result &result) {
  if (!peer_task) return measure(gsort_task, std::vector<PeerTask>(), result);
  measure(gsort_task, {{result.peer_name, peer_task, result.peer_extra_bytes}}, result);
}

void Bench::measure(const Task &gsort_task, const std::vector<PeerTask> &peers, Result &result) {
  float estimate_ms = 0;
  for (uint32_t run = 0; run < kWarmRuns; ++run) {
    estimate_ms = timed_run(gsort_task);
    for (const PeerTask &peer : peers) estimate_ms = std::max(estimate_ms, timed_run(peer.task));
  }
  const double fitting = options.row_ms / std::max(0.001, static_cast<double>(estimate_ms));
  const double bounded = std::min(std::max(fitting, 1.0 * kRunsLeast), 1.0 * kRunsMost);
  const uint32_t runs = options.runs > 0 ? options.runs : static_cast<uint32_t>(bounded) | 1u;
  std::vector<float> gsort_ms;
  std::vector<std::vector<float>> peer_ms(peers.size());
  for (uint32_t run = 0; run < runs; ++run) {
    gsort_ms.push_back(timed_run(gsort_task));
    for (size_t p = 0; p < peers.size(); ++p) peer_ms[p].push_back(timed_run(peers[p].task));
  }
  result.gsort = summary(gsort_ms);
  for (size_t p = 0; p < peers.size(); ++p) {
    const Timing timing = summary(peer_ms[p]);
    if (peers.size() > 1) {
      char text[32];
      snprintf(text, sizeof text, " %.5g", timing.median_ms);
      result.others += (result.others.empty() ? "" : "; ") + peers[p].name + text;
    }
    if (result.peer.runs > 0 && result.peer.median_ms <= timing.median_ms) continue;
    result.peer = timing;
    result.peer_name = peers[p].name;
    result.peer_extra_bytes = peers[p].extra_bytes;
  }
}

bool Bench::prepare_peer(const std::function<cudaError_t(PeerScratch &)> &call, PeerScratch &scratch) {
  scratch = PeerScratch{};
  const cudaError_t e = call(scratch);
  if (e == cudaErrorNotSupported) return false;
  require_cuda(e, "size of the peer's scratch memory");
  // A null pointer would ask for the size again.
  scratch.memory = peer_temp.reserve(std::max<size_t>(scratch.bytes, 256));
  return true;
}

void spoil(Bench &bench, const DeviceBuffer &buffer, uint64_t n, uint32_t element_bytes) {
  if (bench.options.spoil && n > 0) flip_bit(buffer.get(), n / 2 * element_bytes + element_bytes - 1, bench.stream);
}

void judge(Result &result, const std::string &fault) {
  result.outcome = fault.empty() ? Outcome::kRight : Outcome::kWrong;
  if (!fault.empty()) result.note = fault;
}

void make_input(Bench &bench, const Row &row) {
  bench.in.reserve(row.n * dtype_bytes(row.t));
  require_cuda(generate(row.distribution, row.t, bench.in.get(), row.n, bench.options.seed, bench.stream), "data");
}

uint64_t gsort_extra_bytes(uint32_t op, const Row &row, uint64_t parameter) {
  uint64_t bytes = 0;
  return gsort_workspace_bytes(op, row.t, row.n, parameter, &bytes) == GSORT_OK ? bytes : 0;
}

namespace {

void run_work(Bench &bench, Result &result) {
  switch (result.row.work) {
    case Work::kSort:
      return run_sort(bench, result);
    case Work::kSortPairs:
      return run_pairs(bench, result);
    case Work::kArgsort:
      return run_argsort(bench, result);
    case Work::kMerge:
      return run_merge(bench, result);
    case Work::kSegments:
      return run_segments(bench, result);
    case Work::kTopk:
      return run_topk(bench, result);
    case Work::kTopkRows:
      return run_topk_rows(bench, result);
    case Work::kSum:
      return run_sum(bench, result);
    case Work::kReduce:
      return run_reduce(bench, result);
    case Work::kScan:
      return run_scan(bench, result);
    case Work::kCopyCeiling:
    case Work::kReadCeiling:
      return run_ceiling(bench, result);
    case Work::kFirstCall:
      return run_first_call(bench, result);
    case Work::kLowMemory:
      return run_low_memory(bench, result);
  }
}

}  // namespace

Result run_row(Bench &bench, const Row &row) {
  Result result;
  result.row = row;
  try {
    run_work(bench, result);
  } catch (const OutOfDeviceMemory &e) {
    result.outcome = Outcome::kSkipped;
    result.note = e.what();
  } catch (const std::exception &e) {
    result.outcome = Outcome::kFailed;
    result.note = e.what();
  }
  cudaGetLastError();  // an error that is not sticky must not reach the next row
  return result;
}

}  // namespace gsort_bench
