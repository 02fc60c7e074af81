// SPDX-License-Identifier: MIT OR Apache-2.0
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"

enum { buffer_bytes = 1 << 18, proc_path_bytes = 64 };

// A link stays a link: the file that it leads to is replaced.
static char *resolve_target(const char *path) {
  char *resolved = realpath(path, NULL);
  return resolved != NULL ? resolved : strdup(path);
}

static char *temporary_beside(const char *target) {
  static const char name[] = ".gsort-XXXXXX";
  const char *slash = strrchr(target, '/');
  const size_t folder_bytes = slash == NULL ? 0 : (size_t)(slash - target) + 1;
  char *path = malloc(folder_bytes + sizeof name);
  if (path == NULL) return NULL;
  memcpy(path, target, folder_bytes);
  memcpy(path + folder_bytes, name, sizeof name);
  return path;
}

static mode_t mode_of_new_file(const char *target) {
  struct stat existing;
  if (stat(target, &existing) == 0) return existing.st_mode & 0777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static char *folder_of(const char *target) {
  const char *slash = strrchr(target, '/');
  return slash == NULL ? strdup(".") : strndup(target, (size_t)(slash - target) + 1);
}

static void print_proc_path(char *path, int fd) { snprintf(path, proc_path_bytes, "/proc/self/fd/%d", fd); }

// A file without a name that can be given one later; -1 where the file system or the machine does not know such.
static int open_nameless(const char *folder) {
#if defined(O_TMPFILE)
  char path[proc_path_bytes];
  const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  print_proc_path(path, fd);
  if (access(path, F_OK) == 0) return fd;
  close(fd);
#else
  (void)folder;
#endif
  return -1;
}

// The X of a name become letters that differ from call to call; whether such a file is there is not known yet.
static void make_name(char *path, unsigned attempt) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t bits = (uint64_t)now.tv_nsec * 2654435761u ^ (uint64_t)getpid() << 20 ^ attempt;
  for (char *at = path + strlen(path) - 6; *at != '\0'; at++, bits /= 36) *at = letters[bits % 36];
}

// Gives a nameless file its temporary name, with the signals blocked.
static int give_name(output *out) {
  char path[proc_path_bytes];
  print_proc_path(path, out->fd);
  for (unsigned attempt = 0; attempt < 100; attempt++) {
    make_name(out->temporary, attempt);
    if (linkat(AT_FDCWD, path, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) == 0) {
      cleanup_arm(out->temporary);
      out->nameless = false;
      return exit_ok;
    }
    if (errno != EEXIST) break;
  }
  return report_failure("%s: cannot put the finished file in its folder: %s", out->name, strerror(errno));
}

static int open_named(output *out) {
  cleanup_block_signals();
  out->fd = mkstemp(out->temporary);
  const int error = errno;
  if (out->fd >= 0) cleanup_arm(out->temporary);
  cleanup_unblock_signals();
  if (out->fd >= 0) return exit_ok;
  free(out->temporary);
  out->temporary = NULL;
  return report_failure("%s: cannot write in its folder: %s", out->name, strerror(error));
}

static int open_temporary(output *out, const char *path) {
  out->target = resolve_target(path);
  out->temporary = out->target == NULL ? NULL : temporary_beside(out->target);
  char *folder = out->temporary == NULL ? NULL : folder_of(out->target);
  if (folder == NULL) return report_failure("not enough memory");
  out->fd = open_nameless(folder);
  free(folder);
  out->nameless = out->fd >= 0;
  const int code = out->nameless ? exit_ok : open_named(out);
  if (code != exit_ok) return code;
  if (fchmod(out->fd, mode_of_new_file(out->target)) != 0) {
    return report_failure("%s: cannot set its permissions: %s", path, strerror(errno));
  }
  return exit_ok;
}

int output_open_scratch(output *out, const char *folder) {
  memset(out, 0, sizeof *out);
  out->name = folder;
  out->buffer = malloc(buffer_bytes);
  char *path = malloc(strlen(folder) + sizeof "/.gsort-XXXXXX");
  if (out->buffer == NULL || path == NULL) {
    free(path);
    out->fd = -1;
    return report_failure("not enough memory");
  }
  out->fd = open_nameless(folder);
  if (out->fd < 0) {
    sprintf(path, "%s/.gsort-XXXXXX", folder);
    cleanup_block_signals();
    out->fd = mkstemp(path);
    const int error = errno;
    if (out->fd >= 0) unlink(path);
    cleanup_unblock_signals();
    errno = error;
  }
  free(path);
  if (out->fd >= 0) return exit_ok;
  return report_failure("%s: cannot write a temporary file there: %s", folder, strerror(errno));
}

int output_open(output *out, const char *path) {
  const bool to_stdout = path == NULL || strcmp(path, "-") == 0;
  memset(out, 0, sizeof *out);
  out->fd = -1;
  out->name = to_stdout ? "standard output" : path;
  out->buffer = malloc(buffer_bytes);
  if (out->buffer == NULL) return report_failure("not enough memory");
  if (to_stdout) {
    out->fd = STDOUT_FILENO;
    return exit_ok;
  }
  struct stat existing;
  const bool exists = stat(path, &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) return report_failure("%s: is a folder, not a file", path);
  if (exists && access(path, W_OK) != 0) return report_failure("%s: cannot write: %s", path, strerror(errno));
  if (!exists || S_ISREG(existing.st_mode)) return open_temporary(out, path);
  // A device or a pipe cannot be replaced by renaming.
  out->fd = open(path, O_WRONLY);
  if (out->fd < 0) return report_failure("%s: cannot open for writing: %s", path, strerror(errno));
  return exit_ok;
}

// What was written to a file goes to the disk while more is made: in the end all of it must be there.
static void begin_sync(output *out, size_t bytes) {
#if defined(SYNC_FILE_RANGE_WRITE)
  enum { piece_bytes = 1 << 25 };
  out->unsynced_bytes += bytes;
  if (out->target == NULL || out->unsynced_bytes < piece_bytes) return;
  const off_t end = lseek(out->fd, 0, SEEK_CUR), begin = end - (off_t)out->unsynced_bytes;
  if (begin >= 0) (void)sync_file_range(out->fd, begin, (off_t)out->unsynced_bytes, SYNC_FILE_RANGE_WRITE);
  out->unsynced_bytes = 0;
#else
  (void)out;
  (void)bytes;
#endif
}

static int report_unwritten(const output *out) {
  if (errno == ENOSPC) return report_failure("%s: no space left on the device", out->name);
  return report_failure("%s: cannot write: %s", out->name, strerror(errno));
}

static int write_all(output *out, const char *data, size_t bytes) {
  if (out->direct.begun) {
    return past_cache_write(&out->direct, out->fd, data, bytes) ? exit_ok : report_unwritten(out);
  }
  while (bytes > 0) {
    const ssize_t written = write(out->fd, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return report_unwritten(out);
    data += written;
    bytes -= (size_t)written;
    begin_sync(out, (size_t)written);
  }
  return exit_ok;
}

int output_rewrite(output *out, uint64_t offset, const void *data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t written = pwrite(out->fd, (const char *)data + done, bytes - done, (off_t)(offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return report_unwritten(out);
    done += (size_t)written;
  }
  return exit_ok;
}

void output_pass_cache(output *out) {
  const bool to_file = out->target != NULL || out->fd > STDERR_FILENO;
  if (to_file && out->take == NULL && out->written_bytes == 0) (void)past_cache_begin(&out->direct, out->fd);
}

static int write_buffer(output *out) {
  const size_t bytes = out->buffered_bytes;
  out->buffered_bytes = 0;
  return write_all(out, out->buffer, bytes);
}

int output_flush(output *out) {
  const int code = write_buffer(out);
  if (code != exit_ok || !out->direct.begun) return code;
  return past_cache_flush(&out->direct, out->fd) ? exit_ok : report_unwritten(out);
}

int output_write(output *out, const void *data, size_t bytes) {
  out->written_bytes += bytes;
  if (out->take != NULL) return out->take(out->context, data, bytes);
  if (bytes > buffer_bytes - out->buffered_bytes) {
    const int code = write_buffer(out);
    if (code != exit_ok) return code;
  }
  if (bytes >= buffer_bytes) return write_all(out, data, bytes);
  if (bytes > 0) memcpy(out->buffer + out->buffered_bytes, data, bytes);
  out->buffered_bytes += bytes;
  return exit_ok;
}

int output_format(output *out, const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  const int bytes = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (bytes < 0) return report_failure("%s: cannot format a line", out->name);
  return output_write(out, line, (size_t)bytes < sizeof line ? (size_t)bytes : sizeof line - 1);
}

// So that the new name survives a power cut. Some file systems cannot sync a folder; the file is there all the same.
static void sync_folder_of(const char *target) {
  char *folder = folder_of(target);
  if (folder == NULL) return;
  const int fd = open(folder, O_RDONLY | O_DIRECTORY);
  free(folder);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

static int close_checked(output *out) {
  const int fd = out->fd;
  out->fd = -1;
  if (close(fd) == 0) return exit_ok;
  return report_failure("%s: cannot write: %s", out->name, strerror(errno));
}

// With the signals blocked, so that none comes between the temporary name and its removal or the final one.
static int put_in_place(output *out) {
  int code = out->nameless ? give_name(out) : exit_ok;
  if (code == exit_ok) code = close_checked(out);
  if (code != exit_ok) return code;
  if (rename(out->temporary, out->target) != 0) {
    return report_failure("%s: cannot put the finished file in its place: %s", out->name, strerror(errno));
  }
  cleanup_disarm();
  free(out->temporary);
  out->temporary = NULL;
  return exit_ok;
}

int output_commit(output *out) {
  int code = output_flush(out);
  if (code != exit_ok) return code;
  if (out->temporary == NULL) return close_checked(out);
  if (fsync(out->fd) != 0) return report_failure("%s: cannot write to the disk: %s", out->name, strerror(errno));
  cleanup_block_signals();
  code = put_in_place(out);
  if (code == exit_ok) sync_folder_of(out->target);
  cleanup_unblock_signals();
  return code;
}

void output_close(output *out) {
  if (out->temporary != NULL && !out->nameless) {
    unlink(out->temporary);
    cleanup_disarm();
  }
  if (out->fd > STDERR_FILENO) close(out->fd);
  past_cache_end(&out->direct);
  free(out->temporary);
  free(out->target);
  free(out->buffer);
  memset(out, 0, sizeof *out);
  out->fd = -1;
}
