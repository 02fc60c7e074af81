// SPDX-License-Identifier: MIT OR Apache-2.0
// The engine on the threads of the CPU.
#include <dlfcn.h>

#include <new>

#include "cpu/engine/float_environment.h"
#include "cpu/engine/operations.h"
#include "cpu/engine/pool.h"
#include "cpu/engine/processor.h"
#include "cpu/engine/readable.h"
#include "engine.h"

namespace gsort_internal {

namespace {

void run_operation(Context &context, const Request &request) {
  switch (request.operation) {
    case Operation::kSort:
      return cpu_sort(context, request);
    case Operation::kSortPairs:
      return cpu_sort_pairs(context, request);
    case Operation::kArgsort:
      return cpu_argsort(context, request);
    case Operation::kRank:
      return cpu_rank(context, request);
    case Operation::kMerge:
      return cpu_merge(context, request);
    case Operation::kSortSegments:
      return cpu_sort_segments(context, request);
    case Operation::kTopk:
      return cpu_topk(context, request);
    case Operation::kTopkRows:
    case Operation::kTopkSegments:
      return cpu_topk_rows(context, request);
    case Operation::kSum:
      return cpu_sum(context, request);
    case Operation::kReduce:
      return cpu_reduce(context, request);
    case Operation::kScan:
      return cpu_scan(context, request);
  }
  throw Error(GSORT_ERROR_INTERNAL, "no operation %u", static_cast<uint32_t>(request.operation));
}

// cuPointerGetAttributes of a driver that the process has loaded already, or NULL: without one there can be no device
// memory, and loading it only to ask would be the library's doing. Unlike cuPointerGetAttribute it does not fail on
// memory that CUDA does not know, but leaves zeros.
using PointerAttributes = int (*)(unsigned int count, int *attributes, void **data, uint64_t pointer);
PointerAttributes loaded_driver_query() {
  void *const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return nullptr;
  const PointerAttributes query = reinterpret_cast<PointerAttributes>(dlsym(driver, "cuPointerGetAttributes"));
  dlclose(driver);  // the process holds it open itself
  return query;
}

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const EngineOptions &options)
      : memory_(*options.host_memory),
        control_(*options.control),
        pool_(options.options.threads, options.processors),
        own_memory_(options.options.host_allocate == nullptr) {
    known_pages_ = &readable_pages_;
  }

  void describe(gsort_info &info) const override {
    info.backend = GSORT_BACKEND_CPU;
    info.device = -1;
    info.threads = pool_.threads();
    info.compute_capability = 0;
    info.device_memory_bytes = info.device_memory_free_bytes = info.device_held_bytes = 0;
    info.host_held_bytes = memory_.held_bytes();
    processor_name(info.device_name, sizeof info.device_name);
  }

  void check_array(const char *argument, const void *array, uint64_t) override {
    if (host_readable(array)) return;
    throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                "%s = %p is device memory, which a CPU handle cannot reach; copy it to the host or use a CUDA handle",
                argument, array);
  }

  // Memory of a device cannot be read, and only then is the driver looked for, which takes the loader's lock. Memory
  // that cannot be read and is no device's counts as readable: the application may map it when it is touched.
  bool host_readable(const void *array) override {
    if (readable_pages_.contains(array)) return true;
    constexpr uint32_t type_device = 2;
    const PointerAttributes query = loaded_driver_query();
    if (query == nullptr) return true;
    int attributes[2] = {2, 8};  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE, _IS_MANAGED
    uint32_t type = 0, managed = 0;
    void *data[2] = {&type, &managed};
    if (query(2, attributes, data, reinterpret_cast<uintptr_t>(array)) != 0) return true;
    return type != type_device || managed != 0;
  }

  bool sort_few(const KeyOrder &order, const void *in, void *out, uint64_t n) noexcept override {
    if (control_.has_listener()) return false;
    // Nothing is called before the sort where nothing has to be: a short sort then needs no frame here.
    if (readable_pages_.remembers(in) && (in == out || readable_pages_.remembers(out)))
      return sort_few_keys(order, in, out, n);
    return sort_few_elsewhere(order, in, out, n);
  }

  bool sort_few_pairs(const FewPairs &p) noexcept override {
    return !control_.has_listener() && are_readable(p.keys, p.keys_out) && are_readable(p.values, p.values_out) &&
           gsort_internal::sort_few_pairs(p);
  }

  bool index_few(const KeyOrder &order, bool ranks, const void *keys, uint64_t n, uint32_t index_bytes,
                 void *out) noexcept override {
    return !control_.has_listener() && are_readable(keys, out) &&
           index_few_keys(order, ranks, keys, n, index_bytes, out);
  }

  bool reduce_few(uint32_t op, const KeyOrder &order, const void *in, uint64_t n, void *out) noexcept override {
    return !control_.has_listener() && are_readable(in, out) && gsort_internal::reduce_few(op, order, in, n, out);
  }

  bool sum_few(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept override {
    return !control_.has_listener() && are_readable(in, out) && gsort_internal::sum_few(t, in, n, out, rounds);
  }

  bool mean_few(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept override {
    return !control_.has_listener() && are_readable(in, out) && gsort_internal::mean_few(t, in, n, out, rounds);
  }

  bool scan_few(gsort_dtype t, bool exclusive, const void *in, void *out, uint64_t n) noexcept override {
    return !control_.has_listener() && are_readable(in, out) && gsort_internal::scan_few(t, exclusive, in, out, n);
  }

  bool merge_few(const FewMerge &m) noexcept override {
    if (control_.has_listener() || !readable_pages_.contains(m.out) ||
        !((m.a_n == 0 || readable_pages_.contains(m.a)) && (m.b_n == 0 || readable_pages_.contains(m.b))))
      return false;
    gsort_internal::merge_few(m);
    return true;
  }

  bool sort_few_segments(const FewSegments &s) noexcept override {
    return !control_.has_listener() && are_readable(s.in, s.out) && readable_pages_.contains(s.offsets) &&
           gsort_internal::sort_few_segments(s);
  }

  bool topk_few(const FewTopk &t) noexcept override {
    return !control_.has_listener() && readable_pages_.contains(t.in) &&
           (t.values_out == nullptr || readable_pages_.contains(t.values_out)) &&
           (t.indices_out == nullptr || readable_pages_.contains(t.indices_out)) &&
           gsort_internal::topk_few(t, {topk_places_, topk_memory_, kTopkRoom});
  }

  void execute(const Request &request) override {
    const FloatEnvironment float_environment;
    Context context(memory_, control_, pool_, own_memory_);
    run_operation(context, request);
    context.throw_if_stopped();
  }

  void set_stream(void *stream) override {
    if (stream == nullptr) return;
    throw Error(GSORT_ERROR_NOT_SUPPORTED, "cuda_stream = %p, but a CPU handle has no streams; pass NULL", stream);
  }

  void synchronize() override {}
  void reserve(const Request &) override {}

  void set_workspace(void *memory, uint64_t bytes) override {
    if (memory == nullptr) return;
    throw Error(GSORT_ERROR_NOT_SUPPORTED,
                "device_memory = %p of %llu bytes, but a CPU handle works in host memory; pass NULL and 0", memory,
                static_cast<unsigned long long>(bytes));
  }

  void abandon() noexcept override { pool_.abandon(); }

 private:
  __attribute__((noinline)) bool sort_few_elsewhere(const KeyOrder &order, const void *in, void *out,
                                                    uint64_t n) noexcept {
    return are_readable(in, out) && sort_few_keys(order, in, out, n);
  }
  bool are_readable(const void *in, const void *out) {
    return readable_pages_.contains(in) && (in == out || readable_pages_.contains(out));
  }

  HostMemory &memory_;
  Control &control_;
  Pool pool_;
  bool own_memory_;
  ReadablePages readable_pages_;
  static constexpr uint64_t kTopkRoom = 768;  // enough but for a k of some hundred of some thousand elements
  uint32_t topk_places_[2 * kTopkRoom];
  alignas(8) unsigned char topk_memory_[24 * kTopkRoom];
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(const EngineOptions &options) {
  Engine *const engine = new (std::nothrow) CpuEngine(options);
  if (engine == nullptr) throw Error(GSORT_ERROR_OUT_OF_MEMORY, "no memory for a CPU handle; free some memory");
  return std::unique_ptr<Engine>(engine);
}

}  // namespace gsort_internal
