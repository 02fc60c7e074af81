/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Loaded in front of libc (LD_PRELOAD), makes one of the system's calls fail or do half its work.
 *   GSORT_TEST_FAULT=CALL:N:WHAT    the N-th call; N+: it and all after it; WHAT: an errno's number, "short" or "end"
 *   GSORT_TEST_LOG=FILE             the names of the calls, a line each, but not those of reading
 *   GSORT_TEST_PLACES=FILE          of each long file that is closed, a line: its bytes, and those it has on the disk
 * Or size:N:BYTES, the N-th look at a regular file tells so many bytes.
 * Calls: open (for writing, or of a temporary file), direct (an open past the page cache), read (and pread), write (and
 * pwrite), fallocate, fsync, close, rename, linkat, fchmod, thread, memory, aligned (memory that is). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_int calls;
static char call_name[16];
static int first = -1, what_errno = 0, shortened = 0, ended = 0, forever = 0;
static const char *log_path = NULL, *places_path = NULL;

__attribute__((constructor)) static void read_environment(void) {
  const char *fault = getenv("GSORT_TEST_FAULT");
  log_path = getenv("GSORT_TEST_LOG");
  places_path = getenv("GSORT_TEST_PLACES");
  char number[16] = "", what[16] = "";
  if (fault == NULL || sscanf(fault, "%15[^:]:%15[^:]:%15s", call_name, number, what) != 3) return;
  forever = strchr(number, '+') != NULL;
  shortened = strcmp(what, "short") == 0;
  ended = strcmp(what, "end") == 0;
  what_errno = atoi(what);
  first = atoi(number);
}

/* By the system call itself, so that the log is not counted. */
static void append_line(const char *path, const char *line) {
  if (path == NULL) return;
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  syscall(SYS_write, fd, line, strlen(line));
  syscall(SYS_write, fd, "\n", 1);
  syscall(SYS_close, fd);
}

static void note(const char *name) { append_line(log_path, name); }

static void note_place(int fd) {
  char line[64];
  struct stat status;
  if (places_path == NULL || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 1 << 20) return;
  snprintf(line, sizeof line, "%lld %lld", (long long)status.st_size, (long long)status.st_blocks * 512);
  append_line(places_path, line);
}

static int now(const char *name) {
  if (first < 0 || strcmp(name, call_name) != 0) return 0;
  const int n = ++calls;
  return forever ? n >= first : n == first;
}

static int fails(const char *name) {
  if (!now(name)) return 0;
  errno = what_errno;
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_ACCMODE) != O_RDONLY && fails("open")) return -1;
  if ((flags & O_DIRECT) != 0 && fails("direct")) return -1;
  return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open(path, flags, mode);
}

int fstat64(int fd, struct stat64 *status) {
  const int code = REAL(fstat64)(fd, status);
  if (code == 0 && S_ISREG(status->st_mode) && now("size")) status->st_size = what_errno;
  return code;
}

ssize_t read(int fd, void *to, size_t bytes) {
  if (now("read")) {
    if (ended) return 0;
    if (!shortened) return errno = what_errno, -1;
    bytes = (bytes + 1) / 2;
  }
  return REAL(read)(fd, to, bytes);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset) {
  if (now("read")) {
    if (ended) return 0;
    if (!shortened) return errno = what_errno, -1;
    bytes = (bytes + 1) / 2;
  }
  return syscall(SYS_pread64, fd, to, bytes, offset);
}

ssize_t pread64(int fd, void *to, size_t bytes, off64_t offset) { return pread(fd, to, bytes, offset); }

ssize_t write(int fd, const void *from, size_t bytes) {
  note("write");
  if (now("write")) {
    if (!shortened) return errno = what_errno, -1;
    bytes = (bytes + 1) / 2;
  }
  return REAL(write)(fd, from, bytes);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset) {
  note("write");
  if (now("write")) {
    if (!shortened) return errno = what_errno, -1;
    bytes = (bytes + 1) / 2;
  }
  return REAL(pwrite)(fd, from, bytes, offset);
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t offset) { return pwrite(fd, from, bytes, offset); }

int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  note("fallocate");
  return fails("fallocate") ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t bytes) { return fallocate(fd, mode, offset, bytes); }

int fsync(int fd) {
  note("fsync");
  return fails("fsync") ? -1 : REAL(fsync)(fd);
}

int close(int fd) {
  note("close");
  note_place(fd);
  const int failed = fails("close"), error = errno;
  const int result = REAL(close)(fd);
  if (failed) errno = error;
  return failed ? -1 : result;
}

int rename(const char *from, const char *to) {
  note("rename");
  return fails("rename") ? -1 : REAL(rename)(from, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
  note("linkat");
  return fails("linkat") ? -1 : REAL(linkat)(from_fd, from, to_fd, to, flags);
}

int fchmod(int fd, mode_t mode) { return fails("fchmod") ? -1 : REAL(fchmod)(fd, mode); }

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *argument) {
  note("thread");
  if (now("thread")) return what_errno;
  return REAL(pthread_create)(thread, how, run, argument);
}

void *malloc(size_t bytes) { return fails("memory") ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t bytes) { return fails("memory") ? NULL : __libc_calloc(count, bytes); }

void *realloc(void *memory, size_t bytes) { return fails("memory") ? NULL : __libc_realloc(memory, bytes); }

void *aligned_alloc(size_t alignment, size_t bytes) {
  return fails("aligned") ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  if (fails("aligned")) return what_errno;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == NULL ? ENOMEM : 0;
}
