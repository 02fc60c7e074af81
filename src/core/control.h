// SPDX-License-Identifier: MIT OR Apache-2.0
// How a running call hears of cancellation and tells of its progress and decisions.
#ifndef GSORT_CORE_CONTROL_H_
#define GSORT_CORE_CONTROL_H_

#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "core/callback.h"
#include "core/error.h"
#include "gsort.h"

namespace gsort_internal {

class Control {
 public:
  // Any thread.
  void request_cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // The calling thread, under the handle's lock.
  void begin_call() {
    cancelled_.store(false, std::memory_order_relaxed);
    callback_threw_.store(false, std::memory_order_relaxed);
  }
  void set_progress(gsort_progress_fn fn, void *user) {
    progress_ = fn;
    progress_user_ = user;
  }
  void set_log(gsort_log_fn fn, void *user) {
    log_ = fn;
    log_user_ = user;
  }
  bool has_log() const { return log_ != nullptr; }
  // Whether one of the caller's functions wants to hear of a call.
  bool has_listener() const { return log_ != nullptr || progress_ != nullptr; }

  // Tells of progress; throws Error(CANCELLED) if the caller's function or gsort_cancel() asked to stop. Call it
  // between chunks, from the calling thread only, at points where in-place arrays hold a permutation of their input.
  void checkpoint(uint64_t done, uint64_t total) {
    report(done, total);
    throw_if_callback_threw();
    throw_if_cancelled();
  }
  // Any thread.
  void throw_if_cancelled() const {
    if (cancelled()) throw Error(GSORT_ERROR_CANCELLED, "the call was cancelled; call again to start over");
  }

  // Tells of progress where the work cannot stop any more; what the caller's function asks for is kept.
  void report(uint64_t done, uint64_t total) {
    if (progress_ == nullptr) return;
    int32_t answer = 0;
    if (!call_guarded([&] { answer = progress_(progress_user_, done, total); })) note_exception();
    if (answer != 0) request_cancel();
  }

  // Throws if an exception left the log or the progress function since begin_call().
  void throw_if_callback_threw() const {
    if (callback_threw_.load(std::memory_order_relaxed))
      throw Error(GSORT_ERROR_CANCELLED,
                  "an exception left the log or the progress function and cancelled the call; catch it there");
  }

  __attribute__((format(printf, 2, 3))) void log(const char *format, ...) const {
    if (log_ == nullptr) return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!call_guarded([&] { log_(log_user_, line); })) note_exception();
  }

 private:
  // Not thrown on from where it happened: a log line is written between steps that must not come apart.
  void note_exception() const { callback_threw_.store(true, std::memory_order_relaxed); }

  std::atomic<bool> cancelled_{false};
  mutable std::atomic<bool> callback_threw_{false};
  gsort_progress_fn progress_ = nullptr;
  void *progress_user_ = nullptr;
  gsort_log_fn log_ = nullptr;
  void *log_user_ = nullptr;
};

}  // namespace gsort_internal

#endif  // GSORT_CORE_CONTROL_H_
