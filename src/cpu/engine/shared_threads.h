// SPDX-License-Identifier: MIT OR Apache-2.0
// The library's own threads, which all handles share: started when first needed, asleep between calls, ended with the
// last handle that used them.
//
// Nobody waits for a thread to wake up: a run begins with the caller alone, threads join it as they come, and what has
// not come when the work is done is left out. The caller wakes a few threads, which wake the next ones. A thread that
// has just worked looks for more for a moment before it sleeps, so that the steps of a call follow each other without a
// wake-up.
//
// Runs that go on at the same time have as many threads in all as there are processors, their callers included, or as
// the one that wants the most asks for. Each has an equal share of them, and more while others want less. Between two
// steps a thread checks whether its run has more than that while another has less, and goes there.
#ifndef GSORT_CPU_ENGINE_SHARED_THREADS_H_
#define GSORT_CPU_ENGINE_SHARED_THREADS_H_

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace gsort_internal {

constexpr uint32_t kThreadsMax = 1024;  // more than any machine this runs on; bounds what a wrong option can ask for

// Processors that this process may use, by its affinity and its control groups, at least 1.
uint32_t allowed_processors();

// A thread's way to sleep until another wakes it. The sleeper announces its sleep and then checks whether what it waits
// for has come; the waker makes it come and then looks for sleepers. All of that is sequentially consistent, so one of
// them sees the other.
class Sleeper {
 public:
  template <class Come>
  void sleep_until(Come &&come) {
    for (;;) {
      asleep_.store(1);
      if (come()) break;
      wait();
    }
    asleep_.store(0);
  }
  void wake() {
    if (asleep_.load() == 1 && asleep_.exchange(0) == 1) notify();
  }

 private:
  void wait();
  void notify();

  std::atomic<uint32_t> asleep_{0};
};

class SharedThreads {
 public:
  // Does one step of the work; false: none is left. A worker is one thread at a time, and another may go on with its
  // number between two steps, to which all that the first wrote is visible. Must not throw on other threads than the
  // caller's.
  using Step = bool (*)(void *user, uint32_t worker);

  // The threads that run on the processors that the calling thread may use: threads that are kept to some processors
  // share theirs among each other. `processors`: how many may be used. NULL: there is no memory. Each join is followed
  // by one leave, the last of which waits for the threads to end.
  static SharedThreads *join(uint32_t processors);
  static void leave(SharedThreads *threads);

  // Has at least as many threads, if they can be had; kThreadsMax - 1 at most.
  void grow(uint32_t threads);

  // Calls step(user, 0) on the caller's thread until nothing is left, and step(user, worker) for workers from 1 to
  // workers - 1 on as many threads as come. Returns when all of them have ended their last step.
  void run(uint32_t workers, Step step, void *user);

 private:
  static constexpr uint32_t kRunsMax = 64;  // at a time; callers of more work alone
  static constexpr uint32_t kWordBits = 64;

  // What one thread writes often lies a cache line away from what others read; by padding, because memory of a larger
  // alignment would be one more kind of request to the system.
  struct Apart {
    char bytes[64];
  };

  struct Worker {
    std::thread thread;
    std::atomic<uint32_t> woken{0};
    Apart apart;
  };

  // The number of the run in this slot in the upper half of the gate; below it how many workers may be inside, the
  // caller aside, which is 0 as soon as one of them found that nothing is left, and how many are. Those inside have the
  // numbers from 1 on: who comes gets the next one, and while others may come only the last can go.
  struct Run {
    std::atomic<uint64_t> gate{0};
    std::atomic<uint32_t> to_wake{0};  // threads that are still to be woken for it
    Step step = nullptr;               // read by those inside alone, before whom nobody changes it
    void *user = nullptr;
    Apart apart;
    Sleeper caller;
    Apart apart_too;
  };
  static constexpr uint64_t kNumber = uint64_t{1} << 32, kCapacity = 0xffff0000, kInside = 0xffff;
  static uint32_t capacity(uint64_t gate) { return static_cast<uint32_t>((gate & kCapacity) >> 16); }
  static uint32_t inside(uint64_t gate) { return static_cast<uint32_t>(gate & kInside); }

  // What goes on at a moment, or nearly so: it is read while it changes.
  struct View {
    uint32_t runs, busy, inside, budget;  // threads at work, callers included; those among them that are not callers
    // Of one run.
    uint32_t share() const { return budget / runs > 1 ? budget / runs : 1; }
  };

  SharedThreads() = default;
  ~SharedThreads() = default;

  // Runs are given by their slots, each a bit.
  View view(uint64_t open) const;
  bool wants_more(uint64_t open, uint32_t share) const;
  uint32_t take_slot();
  void open(Run &run, uint32_t workers, Step step, void *user);
  void close(Run &run);
  uint32_t enter_one(uint32_t &slot);
  static uint32_t enter(Run &run, uint32_t workers_max);
  bool should_leave(const Run &run) const;
  static bool leave_run(Run &run, uint32_t worker);
  static void end_run(Run &run);
  bool take_part();
  void work(uint32_t thread);
  bool may_spin(uint32_t thread) const;
  void sleep(uint32_t thread, uint32_t seen);
  uint32_t count_asleep() const;
  void wake_some(Run &run);
  bool wake_one();
  void stop();

  std::atomic<uint64_t> open_{0};    // the slots of runs that are taken, a bit each
  std::atomic<uint32_t> opened_{0};  // counts runs that begin: what threads without work look at
  Apart apart_;
  std::atomic<uint64_t> asleep_[kThreadsMax / kWordBits] = {};  // threads, a bit each
  Apart apart_too_;
  std::atomic<uint32_t> size_{0}, processors_{1};
  std::atomic<bool> stopping_{false};
  Run runs_[kRunsMax];
  Worker *workers_[kThreadsMax] = {};

  // Of the list of all, under its lock.
  static constexpr uint32_t kSets = 8;  // 8,192 processors: the system refuses room for fewer than it knows
  cpu_set_t allowed_[kSets];
  uint32_t members_ = 0;
  SharedThreads *next_ = nullptr;
  friend struct SharedThreadsList;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_ENGINE_SHARED_THREADS_H_
