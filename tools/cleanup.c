// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cleanup.h"

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGALRM};

enum { ending_signal_count = sizeof(ending_signals) / sizeof(ending_signals[0]) };

// A copy, so that the handler never reads memory that its owner has freed.
static char armed_path[PATH_MAX];
static volatile sig_atomic_t armed = 0;

static void remove_and_end(int signal_number) {
  if (armed != 0) unlink(armed_path);
  // The handler was reset on entry, so this ends the program the way the sender of the signal expects.
  raise(signal_number);
}

void cleanup_install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = remove_and_end;
  action.sa_flags = (int)SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < ending_signal_count; i++) {
    struct sigaction old;
    if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    sigaction(ending_signals[i], &action, NULL);
  }
  // A file size limit should be an error of write(), with a sentence, not the end of the program.
  signal(SIGXFSZ, SIG_IGN);
}

static void change_mask(int how) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < ending_signal_count; i++) sigaddset(&set, ending_signals[i]);
  sigprocmask(how, &set, NULL);
}

void cleanup_block_signals(void) { change_mask(SIG_BLOCK); }

void cleanup_unblock_signals(void) { change_mask(SIG_UNBLOCK); }

void cleanup_arm(const char *path) {
  // A path that the system has just taken is shorter than PATH_MAX.
  strncpy(armed_path, path, sizeof armed_path - 1);
  armed = 1;
}

void cleanup_disarm(void) { armed = 0; }
