// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support/occupier.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gsort_test {
namespace {

// A block of it takes all shared memory of a multiprocessor, so that no other block fits beside it, and waits until
// the word `released` is set or the time is over. Compiled by the driver: the tests need no CUDA compiler.
constexpr const char *kHold = R"(
.version 6.3
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry hold(.param .u64 started, .param .u64 released, .param .u64 nanoseconds)
.maxntid 1024, 1, 1
{
  .reg .pred %p<5>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<13>;
  ld.param.u64 %rd4, [started];
  ld.param.u64 %rd5, [released];
  ld.param.u64 %rd6, [nanoseconds];
  mov.u32 %r1, %tid.x;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd8, %rd4;
  mov.u64 %rd7, %globaltimer;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd9, %r2, 4;
  add.s64 %rd10, %rd8, %rd9;
  mov.u32 %r3, 1;
  st.volatile.global.u32 [%rd10], %r3;
  cvta.to.global.u64 %rd2, %rd5;
AGAIN:
  mov.u32 %r4, 500;
  nanosleep.u32 %r4;
  mov.u64 %rd11, %globaltimer;
  ld.volatile.global.u32 %r5, [%rd2];
  setp.eq.s32 %p2, %r5, 0;
  sub.s64 %rd12, %rd11, %rd7;
  setp.lt.u64 %p3, %rd12, %rd6;
  and.pred %p4, %p2, %p3;
  @%p4 bra AGAIN;
  st.shared.u64 [room], %rd11;
DONE:
  bar.sync 0;
  ret;
}
)";

struct Driver {
  int (*module_load)(void **, const void *) = nullptr;
  int (*module_unload)(void *) = nullptr;
  int (*get_function)(void **, void *, const char *) = nullptr;
  int (*set_attribute)(void *, int, int) = nullptr;
  int (*device_attribute)(int *, int, int) = nullptr;
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                void **) = nullptr;
};

void must(bool good, const char *what) {
  if (good) return;
  std::fprintf(stderr, "the occupier of multiprocessors: %s failed\n", what);
  std::abort();
}

template <typename Function>
void find(void *library, const char *name, Function *function) {
  void *symbol = dlsym(library, name);
  must(symbol != nullptr, name);
  std::memcpy(function, &symbol, sizeof(symbol));
}

const Driver &driver() {
  static const Driver kDriver = [] {
    Driver d;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    must(library != nullptr, "dlopen");
    find(library, "cuModuleLoadData", &d.module_load);
    find(library, "cuModuleUnload", &d.module_unload);
    find(library, "cuModuleGetFunction", &d.get_function);
    find(library, "cuFuncSetAttribute", &d.set_attribute);
    find(library, "cuDeviceGetAttribute", &d.device_attribute);
    find(library, "cuLaunchKernel", &d.launch);
    return d;
  }();
  return kDriver;
}

uint32_t device_attribute(int which) {
  int value = 0;
  must(driver().device_attribute(&value, which, 0) == 0, "cuDeviceGetAttribute");
  return static_cast<uint32_t>(value);
}

}  // namespace

Occupier::Occupier() {
  must(device_available(), "finding a device");
  must(driver().module_load(&module_, kHold) == 0, "cuModuleLoadData");
  must(driver().get_function(&kernel_, module_, "hold") == 0, "cuModuleGetFunction");
  multiprocessors_ = device_attribute(16);
  shared_bytes_ = device_attribute(97);  // a block's most, with opt-in
  must(driver().set_attribute(kernel_, 8 /* dynamic shared memory */, static_cast<int>(shared_bytes_)) == 0,
       "cuFuncSetAttribute");
  flags_ = static_cast<uint32_t *>(place_allocate(Place::kPinned, (multiprocessors_ + 1) * sizeof(uint32_t)));
  must(flags_ != nullptr, "pinned memory");
}

Occupier::~Occupier() {
  release();
  wait();
  place_free(Place::kPinned, flags_);
  driver().module_unload(module_);
}

void Occupier::hold(uint32_t free, uint64_t nanoseconds) {
  if (free >= multiprocessors_) return;
  wait();
  const uint32_t blocks = multiprocessors_ - free;
  std::memset(flags_, 0, (blocks + 1) * sizeof(uint32_t));
  uint32_t *started = flags_ + 1, *released = flags_;
  void *arguments[] = {&started, &released, &nanoseconds};
  must(driver().launch(kernel_, blocks, 1, 1, 1024, 1, 1, shared_bytes_, stream_.get(), arguments, nullptr) == 0,
       "cuLaunchKernel");
  const auto begin = std::chrono::steady_clock::now();
  for (uint32_t b = 0; b < blocks; ++b)
    while (*static_cast<volatile uint32_t *>(started + b) == 0)
      must(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60), "holding the multiprocessors");
}

void Occupier::release() { *static_cast<volatile uint32_t *>(flags_) = 1; }
void Occupier::wait() { stream_.synchronize(); }

SteadyForeignWork::SteadyForeignWork()
    : thread_([this] {
        use_device(0);
        Occupier occupier;
        uint32_t state = 12345;
        while (!stop_) {
          state = state * 1664525u + 1013904223u;
          const uint32_t free = (state >> 8) % occupier.multiprocessors();
          occupier.hold(free, 5000 + (state >> 16) % 195000);
        }
      }) {}

SteadyForeignWork::~SteadyForeignWork() {
  stop_ = true;
  thread_.join();
}

}  // namespace gsort_test
