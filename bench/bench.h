// SPDX-License-Identifier: MIT OR Apache-2.0
// What all rows of a run share: the stream, the handle, the buffers, the clock.
#ifndef GSORT_BENCH_BENCH_H_
#define GSORT_BENCH_BENCH_H_

#include <functional>
#include <stdexcept>
#include <string>

#include "cuda_error.h"
#include "gsort.h"
#include "options.h"
#include "peer.h"
#include "row.h"

namespace gsort_bench {

using Task = std::function<void()>;

// A peer's way of doing a row's work.
struct PeerTask {
  std::string name;
  Task task;
  uint64_t extra_bytes = 0;
};

inline void require_gsort(gsort_status status, const gsort *g, const char *what) {
  if (status == GSORT_OK) return;
  throw std::runtime_error(std::string(what) + ": " + gsort_status_name(status) + ": " + gsort_error_message(g));
}

class Bench {
 public:
  explicit Bench(const Options &options);
  ~Bench();
  Bench(const Bench &) = delete;
  Bench &operator=(const Bench &) = delete;

  // Made at the first use, so that a row that measures a first call can come before it.
  gsort *handle();
  bool has_handle() const { return handle_ != nullptr; }

  // Times gsort's task and the peers' in turns; the tasks enqueue work on `stream`. The peer with the least median is
  // the one that the result names; the others' medians stand in its `others`.
  void measure(const Task &gsort_task, const std::vector<PeerTask> &peers, Result &result);
  // The same with one peer, which may be empty and which the caller has named in the result.
  void measure(const Task &gsort_task, const Task &peer_task, Result &result);

  // Finds out what scratch memory a peer's call wants, and provides it. `call` takes the scratch. Returns false if the
  // peer does not support the call.
  bool prepare_peer(const std::function<cudaError_t(PeerScratch &)> &call, PeerScratch &scratch);

  const Options options;
  cudaStream_t stream = nullptr;
  DeviceBuffer in, out, values_in, values_out, peer_out, peer_values_out, peer_temp, offsets, offsets_32;

 private:
  float timed_run(const Task &task);
  Timing summary(std::vector<float> times) const;

  gsort *handle_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  DeviceBuffer flush_;
};

// Runs one row: makes the data, times, checks. Never throws.
Result run_row(Bench &bench, const Row &row);

void run_sort(Bench &bench, Result &result);
void run_pairs(Bench &bench, Result &result);
void run_argsort(Bench &bench, Result &result);
void run_merge(Bench &bench, Result &result);
void run_segments(Bench &bench, Result &result);
void run_topk(Bench &bench, Result &result);
void run_topk_rows(Bench &bench, Result &result);
void run_sum(Bench &bench, Result &result);
void run_reduce(Bench &bench, Result &result);
void run_scan(Bench &bench, Result &result);
void run_ceiling(Bench &bench, Result &result);
void run_first_call(Bench &bench, Result &result);
void run_low_memory(Bench &bench, Result &result);

// With --spoil, flips a bit of the middle one of `n` elements, in its most significant byte.
void spoil(Bench &bench, const DeviceBuffer &buffer, uint64_t n, uint32_t element_bytes);

// Sets the outcome by a check's sentence: right if it is empty.
void judge(Result &result, const std::string &fault);

// Makes the row's input in bench.in.
void make_input(Bench &bench, const Row &row);

// What gsort_workspace_bytes() says; 0 if it fails.
uint64_t gsort_extra_bytes(uint32_t op, const Row &row, uint64_t parameter);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_BENCH_H_
