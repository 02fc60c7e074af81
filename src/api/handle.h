// SPDX-License-Identifier: MIT OR Apache-2.0
// What a handle is, and the frame that every entry point runs in: fork check, lock, the one try/catch.
#ifndef GSORT_API_HANDLE_H_
#define GSORT_API_HANDLE_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include "api/message.h"
#include "core/control.h"
#include "core/error.h"
#include "core/host_memory.h"
#include "engine.h"
#include "gsort.h"

namespace gsort_internal {

// The lock by which calls on a handle take turns. Short calls take no more than one exchange for it; others, which wait
// for each other at the mutex, hold both. While one of these waits, no more short calls begin: they queue up behind it.
class Turn {
 public:
  // For calls of a few microseconds at most; the caller unlocks by end_short().
  bool try_begin_short() { return !wanted_.load(std::memory_order_relaxed) && try_hold(); }
  void end_short() { held_.store(false, std::memory_order_release); }

  void lock() {
    mutex_.lock();
    if (!try_hold()) wait_for_short();
  }
  void unlock() {
    end_short();
    mutex_.unlock();
  }

 private:
  bool try_hold() { return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire); }
  void wait_for_short();  // the mutex is held, so that it is a short call's turn

  std::mutex mutex_;
  std::atomic<bool> held_{false}, wanted_{false};
};

// What a `gsort *` points to. A type of its own, because the `gsort` of C++ programs is the one of gsort.hpp.
struct Handle {
  explicit Handle(const gsort_options &options)
      : host_memory(options.host_allocate, options.host_deallocate, options.allocator_user,
                    options.host_memory_limit_bytes) {}

  uint64_t id = 0;               // never reused, unlike an address: messages go by it
  uint64_t fork_generation = 0;  // at creation
  Turn turn;
  HostMemory host_memory;
  Control control;
  std::unique_ptr<Engine> engine;
  bool lost = false;  // the device failed for good
  char reason[256] = "";
};

inline Handle *handle_of(gsort *g) { return reinterpret_cast<Handle *>(g); }
inline const Handle *handle_of(const gsort *g) { return reinterpret_cast<const Handle *>(g); }

// The forks that led to this process, counted from the first handle's making on.
extern std::atomic<uint64_t> fork_count;
inline uint64_t fork_generation() { return fork_count.load(std::memory_order_relaxed); }

uint64_t id_of(const gsort *g);

// Remembers the sentence for gsort_error_message() and returns the status.
gsort_status fail(const gsort *g, gsort_status status, const char *text);

// Runs f() and turns what it throws into a status. For calls without a handle g is NULL.
template <class F>
gsort_status caught(const gsort *g, F &&f) noexcept {
  try {
    f();
    return GSORT_OK;
  } catch (const Error &error) {
    return fail(g, error.status(), error.text());
  } catch (const std::bad_alloc &) {
    return fail(g, GSORT_ERROR_OUT_OF_MEMORY, "host memory ran out; free some memory");
  } catch (...) {
    return fail(g, GSORT_ERROR_INTERNAL, "an unexpected exception; please report it");
  }
}

// For its scope pthread_cancel() waits: a thread that ended inside a call would leave its work and its locks behind.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation &) = delete;
  NoCancellation &operator=(const NoCancellation &) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Tells the engine that the call has ended.
class CallEnd {
 public:
  explicit CallEnd(Engine &engine) : engine_(engine) {}
  ~CallEnd() { engine_.end_call(); }
  CallEnd(const CallEnd &) = delete;
  CallEnd &operator=(const CallEnd &) = delete;

 private:
  Engine &engine_;
};

gsort_status fail_null_handle();
gsort_status fail_forked(const gsort *g);
gsort_status fail_lost(const gsort *g);

// Runs f(handle), one call at a time. A lost device is remembered. Inlined, so that f's arguments stay in registers.
template <class F>
__attribute__((always_inline)) inline gsort_status with_handle(gsort *g, F &&f) noexcept {
  if (g == nullptr) return fail_null_handle();
  Handle &handle = *handle_of(g);
  if (handle.fork_generation != fork_generation()) return fail_forked(g);
  const NoCancellation no_cancellation;
  try {
    const std::lock_guard<Turn> turn(handle.turn);
    if (handle.lost) return fail_lost(g);
    handle.control.begin_call();
    const gsort_status status = caught(g, [&] {
      const CallEnd call_end(*handle.engine);
      f(handle);
      handle.control.throw_if_callback_threw();
    });
    if (status == GSORT_ERROR_DEVICE_LOST) handle.lost = true;
    return status;
  } catch (...) {
    return fail(g, GSORT_ERROR_INTERNAL, "the handle's lock failed; was it destroyed by another thread?");
  }
}

// Runs f(engine), which throws nothing, for a call so short that this frame is most of it; false, and nothing done, if
// f says so, or another call has its turn, or with_handle() has something to say of the handle. A thread is not kept
// from being cancelled, because nothing in f is a point where that happens.
template <class F>
__attribute__((always_inline)) inline bool done_at_once(gsort *g, F &&f) noexcept {
  if (g == nullptr) return false;
  Handle &handle = *handle_of(g);
  if (handle.fork_generation != fork_generation() || !handle.turn.try_begin_short()) return false;
  const bool done = f(*handle.engine);
  handle.turn.end_short();
  return done;
}

}  // namespace gsort_internal

#endif  // GSORT_API_HANDLE_H_
