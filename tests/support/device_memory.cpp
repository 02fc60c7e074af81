// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support/device_memory.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gsort_test {
namespace {

// The part of the driver's interface that the tests use; types as in the driver's documentation.
using DevicePointer = unsigned long long;
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*device_get_count)(int *) = nullptr;
  int (*device_get)(int *, int) = nullptr;
  int (*primary_ctx_retain)(void **, int) = nullptr;
  int (*ctx_set_current)(void *) = nullptr;
  int (*mem_alloc)(DevicePointer *, size_t) = nullptr;
  int (*mem_free)(DevicePointer) = nullptr;
  int (*mem_alloc_managed)(DevicePointer *, size_t, unsigned) = nullptr;
  int (*mem_host_alloc)(void **, size_t, unsigned) = nullptr;
  int (*mem_free_host)(void *) = nullptr;
  int (*mem_copy)(DevicePointer, DevicePointer, size_t) = nullptr;
  int (*mem_copy_async)(DevicePointer, DevicePointer, size_t, void *) = nullptr;
  int (*memset_async)(DevicePointer, unsigned char, size_t, void *) = nullptr;
  int (*mem_get_info)(size_t *, size_t *) = nullptr;
  int (*stream_create)(void **, unsigned) = nullptr;
  int (*stream_destroy)(void *) = nullptr;
  int (*stream_synchronize)(void *) = nullptr;
  int (*stream_begin_capture)(void *, int) = nullptr;
  int (*stream_end_capture)(void *, void **) = nullptr;
  int (*graph_instantiate)(void **, void *, unsigned long long) = nullptr;
  int (*graph_launch)(void *, void *) = nullptr;
  int (*graph_exec_destroy)(void *) = nullptr;
  int (*graph_destroy)(void *) = nullptr;
  int count = 0;
  std::string problem;
};

template <typename Function>
bool find(void *library, const char *name, Function *function) {
  void *symbol = dlsym(library, name);
  std::memcpy(function, &symbol, sizeof(symbol));
  return symbol != nullptr;
}

bool find_all(void *library, Driver *d) {
  return find(library, "cuInit", &d->init) && find(library, "cuDeviceGetCount", &d->device_get_count) &&
         find(library, "cuDeviceGet", &d->device_get) &&
         find(library, "cuDevicePrimaryCtxRetain", &d->primary_ctx_retain) &&
         find(library, "cuCtxSetCurrent", &d->ctx_set_current) && find(library, "cuMemAlloc_v2", &d->mem_alloc) &&
         find(library, "cuMemFree_v2", &d->mem_free) && find(library, "cuMemAllocManaged", &d->mem_alloc_managed) &&
         find(library, "cuMemHostAlloc", &d->mem_host_alloc) && find(library, "cuMemFreeHost", &d->mem_free_host) &&
         find(library, "cuMemcpy", &d->mem_copy) && find(library, "cuMemcpyAsync", &d->mem_copy_async) &&
         find(library, "cuMemsetD8Async", &d->memset_async) && find(library, "cuMemGetInfo_v2", &d->mem_get_info) &&
         find(library, "cuStreamCreate", &d->stream_create) &&
         find(library, "cuStreamDestroy_v2", &d->stream_destroy) &&
         find(library, "cuStreamSynchronize", &d->stream_synchronize) &&
         find(library, "cuStreamBeginCapture_v2", &d->stream_begin_capture) &&
         find(library, "cuStreamEndCapture", &d->stream_end_capture) &&
         find(library, "cuGraphInstantiateWithFlags", &d->graph_instantiate) &&
         find(library, "cuGraphLaunch", &d->graph_launch) &&
         find(library, "cuGraphExecDestroy", &d->graph_exec_destroy) &&
         find(library, "cuGraphDestroy", &d->graph_destroy);
}

std::string start(Driver *d) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "no CUDA driver (libcuda.so.1)";
  if (!find_all(library, d)) return "the CUDA driver is too old for the tests";
  if (d->init(0) != 0) return "cuInit failed";
  if (d->device_get_count(&d->count) != 0 || d->count == 0) return "no CUDA device";
  int device = 0;
  void *context = nullptr;
  if (d->device_get(&device, 0) != 0 || d->primary_ctx_retain(&context, device) != 0) return "no primary context";
  return d->ctx_set_current(context) == 0 ? std::string() : std::string("the context cannot be made current");
}

const Driver &driver() {
  static const Driver kDriver = [] {
    Driver d;
    d.problem = start(&d);
    return d;
  }();
  return kDriver;
}

void must(int result, const char *what) {
  if (result == 0) return;
  std::fprintf(stderr, "%s failed with CUDA driver error %d\n", what, result);
  std::abort();
}

DevicePointer to_device(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

}  // namespace

const std::string &device_problem() { return driver().problem; }
int device_count() { return device_available() ? driver().count : 0; }

const char *place_name(Place place) {
  switch (place) {
    case Place::kHost:
      return "host";
    case Place::kPinned:
      return "pinned";
    case Place::kManaged:
      return "managed";
    case Place::kDevice:
      return "device";
  }
  return "?";
}

void *place_allocate(Place place, size_t bytes) {
  void *memory = nullptr;
  DevicePointer address = 0;
  if (bytes == 0) bytes = 1;
  switch (place) {
    case Place::kHost:
      return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    case Place::kPinned:
      return driver().mem_host_alloc(&memory, bytes, 1 /* portable */) == 0 ? memory : nullptr;
    case Place::kManaged:
      driver().mem_alloc_managed(&address, bytes, 1 /* attach global */);
      break;
    case Place::kDevice:
      driver().mem_alloc(&address, bytes);
      break;
  }
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

void place_free(Place place, void *memory) {
  if (memory == nullptr) return;
  if (place == Place::kHost) {
    std::free(memory);
  } else if (place == Place::kPinned) {
    must(driver().mem_free_host(memory), "cuMemFreeHost");
  } else {
    must(driver().mem_free(to_device(memory)), "cuMemFree");
  }
}

void copy_bytes(void *to, const void *from, size_t bytes) {
  if (bytes == 0) return;
  must(driver().mem_copy(to_device(to), to_device(from), bytes), "cuMemcpy");
  // A copy from pageable memory may still be under way, and a non-blocking stream does not wait for it.
  must(driver().stream_synchronize(nullptr), "cuStreamSynchronize");
}

size_t device_free_bytes() {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  must(driver().mem_get_info(&free_bytes, &total_bytes), "cuMemGetInfo");
  return free_bytes;
}

DeviceStream::DeviceStream(bool blocking) {
  must(driver().stream_create(&stream_, blocking ? 0 : 1 /* non-blocking */), "cuStreamCreate");
}
DeviceStream::~DeviceStream() { driver().stream_destroy(stream_); }
void DeviceStream::synchronize() { must(driver().stream_synchronize(stream_), "cuStreamSynchronize"); }

void DeviceStream::copy_async(void *to, const void *from, size_t bytes) {
  if (bytes == 0) return;
  must(driver().mem_copy_async(to_device(to), to_device(from), bytes, stream_), "cuMemcpyAsync");
}

void DeviceStream::fill_async(void *to, uint8_t byte, size_t bytes) {
  if (bytes == 0) return;
  must(driver().memset_async(to_device(to), byte, bytes, stream_), "cuMemsetD8Async");
}

void DeviceStream::begin_capture() {
  must(driver().stream_begin_capture(stream_, 1 /* thread local */), "cuStreamBeginCapture");
}

void *DeviceStream::end_capture() {
  void *graph = nullptr;
  return driver().stream_end_capture(stream_, &graph) == 0 ? graph : nullptr;
}

DeviceGraph::DeviceGraph(void *graph) : graph_(graph) {
  must(driver().graph_instantiate(&exec_, graph, 0), "cuGraphInstantiateWithFlags");
}

DeviceGraph::~DeviceGraph() {
  driver().graph_exec_destroy(exec_);
  driver().graph_destroy(graph_);
}

void DeviceGraph::launch(const DeviceStream &stream) {
  must(driver().graph_launch(exec_, stream.get()), "cuGraphLaunch");
}

void use_device(int ordinal) {
  int device = 0;
  void *context = nullptr;
  must(driver().device_get(&device, ordinal), "cuDeviceGet");
  must(driver().primary_ctx_retain(&context, device), "cuDevicePrimaryCtxRetain");
  must(driver().ctx_set_current(context), "cuCtxSetCurrent");
}

}  // namespace gsort_test
