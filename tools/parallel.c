// SPDX-License-Identifier: MIT OR Apache-2.0
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct task {
  void (*work)(void *context, unsigned part);
  void *context;
  unsigned part;
} task;

unsigned parallel_threads(uint32_t wanted) {
  uint32_t threads = wanted;
  if (threads == 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    threads = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
  }
  if (threads < 1) threads = 1;
  return threads > parallel_parts_max ? parallel_parts_max : threads;
}

static void *run_task(void *argument) {
  const task *t = argument;
  t->work(t->context, t->part);
  return NULL;
}

void parallel_run(unsigned parts, void (*work)(void *context, unsigned part), void *context) {
  pthread_t threads[parallel_parts_max];
  bool started[parallel_parts_max] = {false};
  task tasks[parallel_parts_max];
  for (unsigned i = 1; i < parts; i++) {
    tasks[i] = (task){work, context, i};
    started[i] = pthread_create(&threads[i], NULL, run_task, &tasks[i]) == 0;
  }
  work(context, 0);
  for (unsigned i = 1; i < parts; i++) {
    if (started[i]) {
      pthread_join(threads[i], NULL);
    } else {
      work(context, i);
    }
  }
}
