// SPDX-License-Identifier: MIT OR Apache-2.0
// How a running call hears of cancellation and tells of its progress and decisions.
#ifndef GSORT_CORE_CONTROL_H_
#define GSORT_CORE_CONTROL_H_

#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "core/error.h"
#include "gsort.h"

namespace gsort_internal {

class Control {
 public:
  // Any thread.
  void request_cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // The calling thread, under the handle's lock.
  void begin_call() { cancelled_.store(false, std::memory_order_relaxed); }
  void set_progress(gsort_progress_fn fn, void *user) {
    progress_ = fn;
    progress_user_ = user;
  }
  void set_log(gsort_log_fn fn, void *user) {
    log_ = fn;
    log_user_ = user;
  }
  bool has_log() const { return log_ != nullptr; }

  // Tells of progress; throws Error(CANCELLED) if the caller's function or gsort_cancel() asked to stop. Call it
  // between chunks, from the calling thread only, at points where in-place arrays hold a permutation of their input.
  void checkpoint(uint64_t done, uint64_t total) {
    if (progress_ != nullptr && progress_(progress_user_, done, total) != 0) request_cancel();
    if (cancelled()) throw Error(GSORT_ERROR_CANCELLED, "the call was cancelled; call again to start over");
  }

  __attribute__((format(printf, 2, 3))) void log(const char *format, ...) const {
    if (log_ == nullptr) return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log_(log_user_, line);
  }

 private:
  std::atomic<bool> cancelled_{false};
  gsort_progress_fn progress_ = nullptr;
  void *progress_user_ = nullptr;
  gsort_log_fn log_ = nullptr;
  void *log_user_ = nullptr;
};

}  // namespace gsort_internal

#endif  // GSORT_CORE_CONTROL_H_
