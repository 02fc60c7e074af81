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
#include <unistd.h>

#include "cleanup.h"

enum { buffer_bytes = 1 << 16 };

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

static int open_temporary(output *out, const char *path) {
  out->target = resolve_target(path);
  out->temporary = out->target == NULL ? NULL : temporary_beside(out->target);
  if (out->temporary == NULL) return report_failure("not enough memory");
  cleanup_block_signals();
  out->fd = mkstemp(out->temporary);
  const int error = errno;
  if (out->fd >= 0) cleanup_arm(out->temporary);
  cleanup_unblock_signals();
  if (out->fd < 0) {
    free(out->temporary);
    out->temporary = NULL;
    return report_failure("%s: cannot write in its folder: %s", path, strerror(error));
  }
  if (fchmod(out->fd, mode_of_new_file(out->target)) != 0) {
    return report_failure("%s: cannot set its permissions: %s", path, strerror(errno));
  }
  return exit_ok;
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

static int write_all(output *out, const char *data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(out->fd, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == ENOSPC) return report_failure("%s: no space left on the device", out->name);
    if (written <= 0) return report_failure("%s: cannot write: %s", out->name, strerror(errno));
    data += written;
    bytes -= (size_t)written;
  }
  return exit_ok;
}

static int flush(output *out) {
  const size_t bytes = out->buffered_bytes;
  out->buffered_bytes = 0;
  return write_all(out, out->buffer, bytes);
}

int output_write(output *out, const void *data, size_t bytes) {
  if (bytes > buffer_bytes - out->buffered_bytes) {
    const int code = flush(out);
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
  const char *slash = strrchr(target, '/');
  char *folder = slash == NULL ? strdup(".") : strndup(target, (size_t)(slash - target) + 1);
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

int output_commit(output *out) {
  int code = flush(out);
  if (code != exit_ok) return code;
  if (out->temporary == NULL) return close_checked(out);
  if (fsync(out->fd) != 0) return report_failure("%s: cannot write to the disk: %s", out->name, strerror(errno));
  code = close_checked(out);
  if (code != exit_ok) return code;
  if (rename(out->temporary, out->target) != 0) {
    return report_failure("%s: cannot put the finished file in its place: %s", out->name, strerror(errno));
  }
  cleanup_disarm();
  free(out->temporary);
  out->temporary = NULL;
  sync_folder_of(out->target);
  return exit_ok;
}

void output_close(output *out) {
  if (out->temporary != NULL) {
    unlink(out->temporary);
    cleanup_disarm();
  }
  if (out->fd > STDERR_FILENO) close(out->fd);
  free(out->temporary);
  free(out->target);
  free(out->buffer);
  memset(out, 0, sizeof *out);
  out->fd = -1;
}
