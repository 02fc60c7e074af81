// SPDX-License-Identifier: MIT OR Apache-2.0
// What a backend must do. api checks a call, makes a Request and hands it to the handle's engine.
#ifndef GSORT_ENGINE_H_
#define GSORT_ENGINE_H_

#include <cstdint>
#include <memory>

#include "core/control.h"
#include "core/host_memory.h"
#include "core/request.h"
#include "gsort.h"

namespace gsort_internal {

// Keys with values, in place or not.
struct FewPairs {
  KeyOrder order;
  uint32_t value_bytes;
  uint64_t n;
  const void *keys, *values;
  void *keys_out, *values_out;
  bool tried = false;  // whether kernels that sort in registers have refused them
};

// Two sorted arrays that are to be one.
struct FewMerge {
  KeyOrder order;
  const void *a;
  uint64_t a_n;
  const void *b;
  uint64_t b_n;
  void *out;
};

// A sort of segments, whose offsets nobody has looked at yet.
struct FewSegments {
  KeyOrder order;
  const void *in;
  void *out;
  uint64_t n;
  const uint64_t *offsets;
  uint64_t segments;
};

// The first k of an array; either output may be NULL, but not both.
struct FewTopk {
  KeyOrder order;
  const void *in;
  uint64_t n, k;
  void *values_out, *indices_out;
  uint32_t index_bytes;
};

class ReadablePages;

// Every function throws Error on failure, leaves inputs that the call does not own intact and stays usable, a lost
// device excepted. Calls come one at a time; `control` is the handle's and outlives the engine.
class Engine {
 public:
  virtual ~Engine() = default;

  // Fills what the engine knows of gsort_info: backend, device, memory, names; not struct_size and reason.
  virtual void describe(gsort_info &info) const = 0;

  // Refuses an array that the engine cannot reach (another device's memory, device memory on the CPU) with
  // Error(INVALID_ARGUMENT) that names `argument`. bytes > 0, array not NULL.
  virtual void check_array(const char *argument, const void *array, uint64_t bytes) = 0;
  // Whether the CPU may read the array.
  virtual bool host_readable(const void *array) = 0;

  // Does, or enqueues, the request's work.
  virtual void execute(const Request &request) = 0;
  // Do a call of so few elements that its frame and a Request would take longer than they do, if there is nothing that
  // has to hear of it and nothing to refuse; otherwise return false and leave everything as it is. Arrays have been
  // checked, but not by check_array(); n > 0.
  virtual bool sort_few(const KeyOrder &, const void *, void *, uint64_t) noexcept { return false; }
  virtual bool sort_few_pairs(const FewPairs &) noexcept { return false; }
  // An argsort, or the ranks, as indices of index_bytes.
  virtual bool index_few(const KeyOrder &, bool /*ranks*/, const void *, uint64_t, uint32_t /*index_bytes*/,
                         void *) noexcept {
    return false;
  }
  // A minimum or maximum, or its place.
  virtual bool reduce_few(uint32_t /*op*/, const KeyOrder &, const void *, uint64_t, void *) noexcept { return false; }
  // A sum or a mean; `rounds` is set where it was found that additions of the floats as they come would round.
  virtual bool sum_few(gsort_dtype, const void *, uint64_t, void *, bool & /*rounds*/) noexcept { return false; }
  virtual bool mean_few(gsort_dtype, const void *, uint64_t, void *, bool & /*rounds*/) noexcept { return false; }
  // Running sums.
  virtual bool scan_few(gsort_dtype, bool /*exclusive*/, const void *, void *, uint64_t) noexcept { return false; }
  virtual bool merge_few(const FewMerge &) noexcept { return false; }
  virtual bool sort_few_segments(const FewSegments &) noexcept { return false; }
  virtual bool topk_few(const FewTopk &) noexcept { return false; }

  virtual void set_stream(void *stream) = 0;
  virtual void synchronize() = 0;
  // Makes room for a request of this shape with device arrays (pointers in it are not looked at).
  virtual void reserve(const Request &shape) = 0;
  virtual void set_workspace(void *memory, uint64_t bytes) = 0;

  // The end of an entry point's call, however it ended: what the functions above found out for it is forgotten.
  virtual void end_call() noexcept {}

  // Of an engine on the CPU, the pages that it knows to be readable: all that calls of very few elements ask of it.
  // NULL where such calls are not to go past it.
  const ReadablePages *known_pages() const { return known_pages_; }

  // In a child of fork(): let go of what can be freed without touching threads or the device, so that destruction
  // neither waits nor crashes.
  virtual void abandon() noexcept = 0;

 protected:
  const ReadablePages *known_pages_ = nullptr;
};

struct EngineOptions {
  gsort_options options;  // complete, of the newest size
  HostMemory *host_memory;
  Control *control;
  bool may_use_cpu = false;  // an engine on a device may let calls on host arrays run on the CPU's threads
  uint32_t processors = 0;   // that this process may use; 0: the engine counts them
};

std::unique_ptr<Engine> make_cpu_engine(const EngineOptions &options);

// Throws Error(NO_DEVICE) with the reason if no usable device is there. In a build without CUDA always.
std::unique_ptr<Engine> make_cuda_engine(const EngineOptions &options);

// Whether a request needs no work but, of sums and reductions, the result of nothing.
bool has_no_elements(const Request &shape);

// Device memory beyond the arrays for a request of this shape on the CUDA engine, from its plan. Pure arithmetic, in
// every build.
uint64_t cuda_workspace_bytes(const Request &shape);

}  // namespace gsort_internal

#endif  // GSORT_ENGINE_H_
