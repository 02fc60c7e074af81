// SPDX-License-Identifier: MIT OR Apache-2.0
// The engine on the threads of the CPU.
#include <dlfcn.h>
#include <link.h>

#include <new>

#include "cpu/float_environment.h"
#include "cpu/operations.h"
#include "cpu/pool.h"
#include "cpu/processor.h"
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
      return cpu_topk_rows(context, request);
    case Operation::kSum:
      return cpu_sum(context, request);
    case Operation::kReduce:
      return cpu_reduce(context, request);
    case Operation::kScan:
      return cpu_scan(context, request);
    case Operation::kTopkSegments:
      break;
  }
  throw Error(GSORT_ERROR_INTERNAL, "no operation %u", static_cast<uint32_t>(request.operation));
}

// cuPointerGetAttribute of a driver that the process has loaded already, or NULL: without one there can be no device
// memory, and loading it only to ask would be the library's doing.
using PointerAttribute = int (*)(void *data, int attribute, uint64_t pointer);
PointerAttribute loaded_driver_query() {
  void *const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return nullptr;
  const PointerAttribute query = reinterpret_cast<PointerAttribute>(dlsym(driver, "cuPointerGetAttribute"));
  dlclose(driver);  // the process holds it open itself
  return query;
}

// Changes whenever a library is loaded or unloaded. Far cheaper than dlopen, which looks for the file when it is not
// there.
unsigned long long loaded_libraries() {
  unsigned long long changes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *out) {
        *static_cast<unsigned long long *>(out) = info->dlpi_adds + info->dlpi_subs;
        return 1;
      },
      &changes);
  return changes;
}

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const EngineOptions &options)
      : memory_(*options.host_memory),
        control_(*options.control),
        pool_(options.options.threads),
        own_memory_(options.options.host_allocate == nullptr) {}

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

  bool host_readable(const void *array) override {
    constexpr int attribute_memory_type = 2, attribute_is_managed = 8, type_device = 2;
    const PointerAttribute query = driver_query();
    if (query == nullptr) return true;
    const uint64_t pointer = reinterpret_cast<uintptr_t>(array);
    uint32_t type = 0, managed = 0;
    if (query(&type, attribute_memory_type, pointer) != 0) return true;  // the driver does not know it: plain memory
    if (type != type_device) return true;
    return query(&managed, attribute_is_managed, pointer) == 0 && managed != 0;
  }

  void execute(const Request &request) override {
    const FloatEnvironment float_environment;
    Context context(memory_, control_, pool_, own_memory_);
    run_operation(context, request);
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
  PointerAttribute driver_query() {
    const unsigned long long libraries = loaded_libraries();
    if (libraries != libraries_at_query_) {
      query_ = loaded_driver_query();
      libraries_at_query_ = libraries;
    }
    return query_;
  }

  HostMemory &memory_;
  Control &control_;
  Pool pool_;
  bool own_memory_;
  unsigned long long libraries_at_query_ = 0;
  PointerAttribute query_ = nullptr;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(const EngineOptions &options) {
  Engine *const engine = new (std::nothrow) CpuEngine(options);
  if (engine == nullptr) throw Error(GSORT_ERROR_OUT_OF_MEMORY, "no memory for a CPU handle; free some memory");
  return std::unique_ptr<Engine>(engine);
}

}  // namespace gsort_internal
