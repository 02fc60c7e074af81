// SPDX-License-Identifier: MIT OR Apache-2.0
// The engine on a GPU. cuda_engine.cu has its streams, its memory and its launches, host_arrays.cu calls whose arrays
// lie in host memory.
#ifndef GSORT_CUDA_ENGINE_CUDA_ENGINE_H_
#define GSORT_CUDA_ENGINE_CUDA_ENGINE_H_

#include <cuda_runtime.h>

#include <initializer_list>
#include <memory>
#include <optional>

#include "cuda/engine/check.h"
#include "cuda/engine/device.h"
#include "cuda/engine/launch.h"
#include "cuda/engine/notice.h"
#include "cuda/engine/piece_device.h"
#include "cuda/engine/staging.h"
#include "cuda/engine/workspace.h"
#include "cuda/sort/in_place/plan.h"
#include "engine.h"
#include "host_memory/pieces.h"
#include "host_memory/pinned_ring.h"
#include "host_memory/placement.h"

namespace gsort_internal {

// For the length of a call: on the handle's device, and free to ask CUDA about memory while the application captures
// another stream.
class CallScope {
 public:
  explicit CallScope(const OpenedDevice &device) : device_(device.ordinal, device.primary.context) {
    require_same_context(device);
  }

 private:
  DeviceScope device_;
  CaptureModeScope capture_mode_;
};

// A stream that is captured may not be asked for its id; that is done when it is needed, which is afterwards.
constexpr uint64_t kIdUnknown = 0;

class CudaEngine final : public Engine {
 public:
  explicit CudaEngine(const EngineOptions &options);
  ~CudaEngine() override;

  void describe(gsort_info &info) const override;
  void check_array(const char *argument, const void *array, uint64_t bytes) override;
  bool host_readable(const void *array) override;
  void execute(const Request &request) override;
  bool sort_few(const KeyOrder &order, const void *in, void *out, uint64_t n) noexcept override {
    return on_cpu_at_once({in, out}, [&] { return cpu_->sort_few(order, in, out, n); });
  }
  bool sort_few_pairs(const FewPairs &p) noexcept override {
    return on_cpu_at_once({p.keys, p.keys_out, p.values, p.values_out}, [&] { return cpu_->sort_few_pairs(p); });
  }
  bool index_few(const KeyOrder &order, bool ranks, const void *keys, uint64_t n, uint32_t index_bytes,
                 void *out) noexcept override {
    return on_cpu_at_once({keys, out}, [&] { return cpu_->index_few(order, ranks, keys, n, index_bytes, out); });
  }
  bool reduce_few(uint32_t op, const KeyOrder &order, const void *in, uint64_t n, void *out) noexcept override {
    return on_cpu_at_once({in, out}, [&] { return cpu_->reduce_few(op, order, in, n, out); });
  }
  bool sum_few(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept override {
    return on_cpu_at_once({in, out}, [&] { return cpu_->sum_few(t, in, n, out, rounds); });
  }
  bool mean_few(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept override {
    return on_cpu_at_once({in, out}, [&] { return cpu_->mean_few(t, in, n, out, rounds); });
  }
  bool scan_few(gsort_dtype t, bool exclusive, const void *in, void *out, uint64_t n) noexcept override {
    return on_cpu_at_once({in, out}, [&] { return cpu_->scan_few(t, exclusive, in, out, n); });
  }
  bool merge_few(const FewMerge &m) noexcept override {
    return on_cpu_at_once({m.a_n == 0 ? m.out : m.a, m.b_n == 0 ? m.out : m.b, m.out},
                          [&] { return cpu_->merge_few(m); });
  }
  bool sort_few_segments(const FewSegments &s) noexcept override {
    return on_cpu_at_once({s.in, s.out, s.offsets}, [&] { return cpu_->sort_few_segments(s); });
  }
  bool topk_few(const FewTopk &t) noexcept override {
    return on_cpu_at_once(
        {t.in, t.values_out == nullptr ? t.in : t.values_out, t.indices_out == nullptr ? t.in : t.indices_out},
        [&] { return cpu_->topk_few(t); });
  }
  void set_stream(void *stream) override;
  void synchronize() override;
  void reserve(const Request &shape) override;
  void set_workspace(void *memory, uint64_t bytes) override;
  void end_call() noexcept override {
    kinds_.forget();
    scope_.reset();
  }
  void abandon() noexcept override {
    abandoned_ = true;
    workspace_.abandon();
    ring_->abandon();
    notice_board_.abandon();
    copy_streams_.abandon();
    pool_.abandon();
    if (cpu_ != nullptr) cpu_->abandon();
  }

 private:
  // Until the call's end.
  void enter_call() {
    if (!scope_.has_value()) scope_.emplace(device_);
  }
  MemoryKind kind_of(const char *argument, const void *array) {
    enter_call();
    return kinds_.of(argument, array, device_.ordinal);
  }
  bool wait_for_default_stream();
  WorkQueue queue();
  WorkMemory room(uint64_t bytes, const WorkQueue &queue);
  sort::in_place::Plan in_place_plan(const Request &request) const;
  WorkMemory room_or_less(const Request &request, const WorkQueue &queue, sort::in_place::Plan &in_place);
  struct StagedCall;
  StagedCall look_at_staged(const Request &request, const Staging &staging, const WorkQueue &queue) const;
  void execute_staged(const Request &request, const Staging &staging, const WorkQueue &queue);
  void execute_pieces_or_else(const StagedCall &call);
  void execute_at_once(const Request &request, const Staging &staging, const WorkMemory &work);
  // `placement` says how many threads of the CPU take a part in it; else_at_once as in PieceContext.
  void execute_pieces(const Request &request, const Staging &staging, const WorkQueue &queue,
                      const Placement &placement, bool else_at_once);
  template <class F>
  void with_copies(F &&copies);
  void wait_and_tell(const PieceProgress &progress);
  void wait_for_earlier_work();
  bool is_idle();
  bool room_for(uint64_t bytes, const WorkQueue &queue, WorkMemory &work);
  uint64_t piece_budget() const;
  void write_empty_result(const Request &request);
  void launch(const Request &request, const WorkMemory &work, bool capturing,
              const sort::in_place::Plan &in_place = {});
  void launch_planned(const Request &request, const WorkMemory &work, bool capturing, const DeviceFacts &facts,
                      const sort::in_place::Plan &in_place);
  void launch_segments_checked(const LaunchContext &context, const Request &request, void *workspace, bool capturing);

  Placement choose_placement(const Request &request, const Staging &staging, bool in_pieces) const;
  void execute_on_cpu(const Request &request);
  bool are_idle_host_arrays(std::initializer_list<const void *> arrays) noexcept;
  // A call of few elements by the engine on the CPU, once another call has made that, if its arrays lie on the host and
  // nothing is left on the stream that could use them.
  template <class F>
  bool on_cpu_at_once(std::initializer_list<const void *> arrays, F &&few) noexcept {
    if (cpu_ == nullptr) return false;
    const bool done = are_idle_host_arrays(arrays) && few();
    end_call();
    return done;
  }

  const EngineOptions options_;
  Control &control_;
  OpenedDevice device_;
  std::optional<CallScope> scope_;
  MemoryKinds kinds_;
  Workspace workspace_;
  Pool pool_;  // for what the host does in calls that are worked in pieces
  std::unique_ptr<PinnedRing> ring_;
  NoticeBoard notice_board_;
  CopyStreams copy_streams_;     // of calls that are worked in pieces
  std::unique_ptr<Engine> cpu_;  // where calls on host arrays may run, made when the first does
  cudaStream_t stream_ = nullptr;
  uint64_t stream_id_ = kIdUnknown;
  // Work that synchronize() has not waited for: on which stream the last of it is, and whether some is on others.
  bool busy_ = false, busy_elsewhere_ = false;
  uint64_t busy_stream_id_ = 0;
  bool abandoned_ = false;
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_CUDA_ENGINE_H_
