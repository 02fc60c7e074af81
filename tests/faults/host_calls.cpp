// SPDX-License-Identifier: MIT OR Apache-2.0
#include "faults/host_calls.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <system_error>

namespace gsort_test {
namespace {

struct State {
  std::atomic<bool> armed{false};
  std::atomic<int64_t> live_blocks{0};
  std::mutex mutex;  // for what follows
  uint64_t calls = 0, at = 0, failures = 0;
  bool for_good = false;
  std::string first;
  std::set<std::string> failed;
};

// Never destroyed, as the library may be used while the program ends, and made without asking for memory.
State &state() {
  alignas(State) static char place[sizeof(State)];
  static State *const the_state = ::new (place) State;
  return *the_state;
}

bool refuses(const char *name) {
  State &s = state();
  if (!s.armed) return false;
  const std::lock_guard<std::mutex> lock(s.mutex);
  const uint64_t number = s.calls++;
  if (number != s.at && !(s.for_good && number > s.at)) return false;
  // What is noted must not be counted as a request of the library's.
  s.armed = false;
  if (s.first.empty()) s.first = name;
  s.failed.insert(name);
  s.failures++;
  s.armed = true;
  return true;
}

}  // namespace

void arm_host(uint64_t at, bool for_good) {
  State &s = state();
  s.calls = 0, s.at = at, s.for_good = for_good;
  s.first.clear();
  s.armed = true;
}

std::string disarm_host() {
  state().armed = false;
  return state().first;
}

uint64_t host_failures_made() { return state().failures; }
const std::set<std::string> &failed_host_functions() { return state().failed; }
int64_t live_host_blocks() { return state().live_blocks; }

}  // namespace gsort_test

using gsort_test::refuses;
using gsort_test::state;

// The linker sends the calls of a function F to __wrap_F; __real_F is the system's.
extern "C" {
void *__real__Znwm(size_t bytes);
void *__wrap__Znwm(size_t bytes);
void *__wrap__Znwm(size_t bytes) {
  if (refuses("_Znwm")) throw std::bad_alloc();
  return __real__Znwm(bytes);
}

void *__real__ZnwmRKSt9nothrow_t(size_t bytes, const std::nothrow_t &tag);
void *__wrap__ZnwmRKSt9nothrow_t(size_t bytes, const std::nothrow_t &tag);
void *__wrap__ZnwmRKSt9nothrow_t(size_t bytes, const std::nothrow_t &tag) {
  return refuses("_ZnwmRKSt9nothrow_t") ? nullptr : __real__ZnwmRKSt9nothrow_t(bytes, tag);
}

// std::thread's start: the state it takes is passed by address.
#define GSORT_START_THREAD _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE
#define GSORT_JOIN(a, b) a##b
#define GSORT_NAME(prefix, name) GSORT_JOIN(prefix, name)
void GSORT_NAME(__real_, GSORT_START_THREAD)(void *thread, void *thread_state, void (*depend)());
void GSORT_NAME(__wrap_, GSORT_START_THREAD)(void *thread, void *thread_state, void (*depend)());
void GSORT_NAME(__wrap_, GSORT_START_THREAD)(void *thread, void *thread_state, void (*depend)()) {
  if (refuses("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"))
    throw std::system_error(EAGAIN, std::generic_category());
  GSORT_NAME(__real_, GSORT_START_THREAD)(thread, thread_state, depend);
}

void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
  void *const memory = refuses("aligned_alloc") ? nullptr : __real_aligned_alloc(alignment, bytes);
  if (memory != nullptr) ++state().live_blocks;
  return memory;
}
void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory) {
  if (memory != nullptr) --state().live_blocks;
  __real_free(memory);
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) { return refuses("fopen") ? nullptr : __real_fopen(path, mode); }

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) { return refuses("open") ? -1 : __real_open(path, flags); }

int __real_madvise(void *memory, size_t bytes, int advice);
int __wrap_madvise(void *memory, size_t bytes, int advice);
int __wrap_madvise(void *memory, size_t bytes, int advice) {
  return refuses("madvise") ? -1 : __real_madvise(memory, bytes, advice);
}

int __real_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
  return refuses("pthread_sigmask") ? EINVAL : __real_pthread_sigmask(how, set, before);
}

int __real_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set) {
  return refuses("sched_getaffinity") ? -1 : __real_sched_getaffinity(pid, bytes, set);
}
}
