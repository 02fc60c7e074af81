// SPDX-License-Identifier: MIT OR Apache-2.0
// What every operation of the CPU engine works with: memory, threads, progress.
#ifndef GSORT_CPU_ENGINE_CONTEXT_H_
#define GSORT_CPU_ENGINE_CONTEXT_H_

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/control.h"
#include "core/host_memory.h"
#include "cpu/engine/pool.h"
#include "cpu/primitive/range.h"

namespace gsort_internal {

// Lives for one call. Work is cut into items; between two of its own the calling thread tells of progress, and after a
// request to stop `stopped()` is true on every thread. What items do then is up to them: those that own a part of an
// in-place array still put a permutation back.
class Context {
 public:
  // own_memory: scratch comes from the library's own allocator, not from the caller's functions.
  Context(HostMemory &memory_in, Control &control_in, Pool &pool_in, bool own_memory)
      : memory(memory_in), control(control_in), pool(pool_in), threads_(pool_in.threads()), own_memory_(own_memory) {}

  HostMemory &memory;
  Control &control;
  Pool &pool;

  uint32_t threads() const { return threads_; }

  // Takes no more threads than have `items_each` of the n items to do, some microseconds of work: that is what a thread
  // costs that is awake still. One that sleeps comes some tens of microseconds later, and nobody waits for it.
  void limit_threads(uint64_t n, uint64_t items_each) {
    const uint64_t busy = n / items_each;
    if (busy < threads_) threads_ = busy == 0 ? 1 : static_cast<uint32_t>(busy);
  }
  // How many parts the threads cut n items into: four each, so that they end at about the same time, but none of fewer
  // than `least` items and, so that there are chances to cancel, none of more than `most`.
  uint64_t parts_for(uint64_t n, uint64_t least, uint64_t most) const {
    constexpr uint64_t parts_of_thread = 4;
    const uint64_t wanted = parts_of_thread * threads_, few = n / most + (n % most != 0), many = n / least;
    const uint64_t parts = few > wanted ? few : (wanted < many ? wanted : many);
    return parts > few ? parts : (few == 0 ? 1 : few);
  }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // Says how much work the call is, in elements, and gives the first chance to cancel. Nothing has been written yet.
  // What begins again, because a sample misled it, say, takes what is left of the call or of its part of it. The
  // calling thread's, as what follows.
  void begin(uint64_t total) {
    const uint64_t before = begun_ ? told() : 0;
    if (!begun_) total_ = end_ = total, begun_ = true;
    go_on(before, total);
    control.checkpoint(begin_, total_);
  }

  // In the scope of it a call does `elements` of its work in a way that says for itself how much that is, and that may
  // take fewer threads, which is over with it.
  class Part {
   public:
    Part(Context &context, uint64_t elements) : context_(context), threads_(context.threads_) {
      const uint64_t begin = context.told(), left = context.total_ - begin;
      context.end_ = begin + (elements < left ? elements : left);
      context.go_on(begin, elements);
    }
    ~Part() {
      context_.go_on(context_.end_, context_.total_ - context_.end_);
      context_.end_ = context_.total_;
      context_.threads_ = threads_;
    }
    Part(const Part &) = delete;
    Part &operator=(const Part &) = delete;

   private:
    Context &context_;
    uint32_t threads_;
  };

  // Says that `elements` more are done. Any thread. A thread that is alone needs no locked addition, which takes as
  // long as sorting eight keys.
  void advance(uint64_t elements) {
    if (threads_ > 1) {
      done_.fetch_add(elements, std::memory_order_relaxed);
    } else {
      done_.store(done_.load(std::memory_order_relaxed) + elements, std::memory_order_relaxed);
    }
  }

  // Calls f(item, worker) for every item below `items`, on as many threads as help. What f throws stops the context,
  // and is thrown by throw_if_stopped().
  template <class F>
  void for_each(uint64_t items, F &&f) {
    run_items(items, threads(), true, f);
  }
  // The same without chances to cancel.
  template <class F>
  void for_each_unbroken(uint64_t items, F &&f) {
    run_items(items, threads(), false, f);
  }

  // Calls f(worker) on as many threads as help, over and over, until it returns false, which says that no work is left.
  template <class F>
  void repeat(F &&f) {
    Repeated<F> repeated{this, &f};
    const auto step = [](void *user, uint32_t worker) {
      Repeated<F> &r = *static_cast<Repeated<F> *>(user);
      bool goes_on = false;
      r.context->guarded([&] { goes_on = (*r.f)(worker); });
      if (worker == 0) r.context->poll();
      return goes_on;
    };
    pool.run(threads(), step, &repeated);
  }

  // Asks the system for large pages behind scratch memory that is scattered to: a fifth of a large sort's time is page
  // faults and address translation otherwise. Only advice, and none about memory that the caller provides.
  void prefer_large_pages(void *scratch, uint64_t bytes) const {
    constexpr uint64_t page_bytes = 2 * 1024 * 1024;
    if (!own_memory_ || bytes < 2 * page_bytes) return;
    const uint64_t address = reinterpret_cast<uintptr_t>(scratch);
    const uint64_t before = (page_bytes - address % page_bytes) % page_bytes;
    madvise(static_cast<char *>(scratch) + before, (bytes - before) / page_bytes * page_bytes, MADV_HUGEPAGE);
  }

  // The calling thread's, between items: tells of progress, and sees requests to stop. On its own, as what follows a
  // failure, so that messages are no part of the frames of those that call it.
  __attribute__((noinline)) void poll() {
    if (stopped()) return;
    guarded([this] { control.checkpoint(told(), total_); });
  }

  // In the midst of an item: whether its work goes on. The calling thread, which is worker 0, tells of progress; others
  // hear of gsort_cancel() themselves, for the calling one may have nothing left to do but to wait for them.
  __attribute__((noinline)) bool goes_on(uint32_t worker) {
    if (worker == 0) {
      poll();
    } else if (control.cancelled()) {
      guarded([this] { control.throw_if_cancelled(); });
    }
    return !stopped();
  }

  // Throws if a request to stop was seen, or an item threw.
  void throw_if_stopped() {
    if (stopped()) throw *error_;
  }

 private:
  template <class F>
  struct Run {
    Context *context;
    F *f;
    uint64_t items;
    bool breakable;
    std::atomic<uint64_t> next{0};
  };

  template <class F>
  struct Repeated {
    Context *context;
    F *f;
  };

  template <class F>
  void run_items(uint64_t items, uint32_t workers, bool breakable, F &f) {
    if (items == 0) return;
    Run<F> run{this, &f, items, breakable, {}};
    const auto step = [](void *user, uint32_t worker) {
      Run<F> &r = *static_cast<Run<F> *>(user);
      const uint64_t item = r.next.fetch_add(1, std::memory_order_relaxed);
      if (item >= r.items) return false;
      r.context->guarded([&] { (*r.f)(item, worker); });
      if (worker == 0 && r.breakable) r.context->poll();
      return true;
    };
    pool.run(static_cast<uint32_t>(items < workers ? items : workers), step, &run);
  }

  // No exception leaves a worker, and none leaves the pool while workers run. The first one is kept.
  template <class F>
  void guarded(F &&f) noexcept {
    try {
      f();
    } catch (const Error &error) {
      stop(error);
    } catch (...) {
      stop_for_unknown();
    }
  }
  __attribute__((noinline)) void stop_for_unknown() {
    stop(Error(GSORT_ERROR_INTERNAL, "an unexpected exception in a part of the work; please report it"));
  }
  __attribute__((noinline)) void stop(const Error &error) {
    const std::lock_guard<std::mutex> lock(error_mutex_);
    if (!error_) error_.emplace(error);
    stopped_.store(true, std::memory_order_release);
  }

  // How much of the whole is done.
  uint64_t told() const {
    __extension__ typedef unsigned __int128 Product;
    const uint64_t done = done_.load(std::memory_order_relaxed), room = end_ - begin_;
    if (done >= work_) return end_;
    return begin_ + (room == work_ ? done : static_cast<uint64_t>(Product{room} * done / work_));
  }
  void go_on(uint64_t begin, uint64_t work) {
    begin_ = begin;
    work_ = work;
    done_.store(0, std::memory_order_relaxed);
  }

  uint32_t threads_;
  bool own_memory_, begun_ = false;
  uint64_t total_ = 0;  // of the call, in the units of the first begin()
  // What is done now is the part from begin_ to end_ of that, and counts for itself to work_.
  uint64_t begin_ = 0, end_ = 0, work_ = 0;
  std::atomic<uint64_t> done_{0};
  std::atomic<bool> stopped_{false};
  std::mutex error_mutex_;
  std::optional<Error> error_;  // set before stopped_
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_ENGINE_CONTEXT_H_
