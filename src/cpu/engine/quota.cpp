// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/engine/quota.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gsort_internal {

namespace {

constexpr uint32_t kPathBytes = 1024;

// The beginning of a file as text; false if there is none.
bool read_text(const char *path, char *text, size_t bytes) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  size_t filled = 0;
  for (ssize_t got = 1; got > 0 && filled + 1 < bytes; filled += got > 0 ? static_cast<size_t>(got) : 0)
    got = read(file, text + filled, bytes - 1 - filled);
  close(file);
  text[filled] = '\0';
  return filled > 0;
}

bool read_file(const char *root, const char *mount, const char *group, const char *name, char *text, size_t bytes) {
  char path[kPathBytes];
  const int length = std::snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", root, mount, group, name);
  return length > 0 && static_cast<size_t>(length) < sizeof path && read_text(path, text, bytes);
}

uint32_t rounded_up(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return UINT32_MAX;
  const long long processors = (quota - 1) / period + 1;
  return processors < UINT32_MAX ? static_cast<uint32_t>(processors) : UINT32_MAX;
}

// Version 2: "max 100000" or "150000 100000".
uint32_t quota_of_group_2(const char *root, const char *group) {
  char text[64];
  if (!read_file(root, "", group, "cpu.max", text, sizeof text)) return UINT32_MAX;
  char *rest = text;
  const long long quota = std::strtoll(text, &rest, 10);
  return rest == text ? UINT32_MAX : rounded_up(quota, std::strtoll(rest, nullptr, 10));
}

uint32_t quota_of_group_1(const char *root, const char *group) {
  char quota[64], period[64];
  if (!read_file(root, "/cpu", group, "cpu.cfs_quota_us", quota, sizeof quota)) return UINT32_MAX;
  if (!read_file(root, "/cpu", group, "cpu.cfs_period_us", period, sizeof period)) return UINT32_MAX;
  return rounded_up(std::strtoll(quota, nullptr, 10), std::strtoll(period, nullptr, 10));
}

// The least of a group and those around it. A container may see its own group as the root, under a path that it cannot
// see: what is not there does not limit.
uint32_t least_on_the_way_up(const char *root, char *group, uint32_t (*quota_of)(const char *, const char *)) {
  uint32_t least = UINT32_MAX;
  for (;;) {
    if (std::strcmp(group, "/") == 0) group[0] = '\0';
    const uint32_t quota = quota_of(root, group);
    least = quota < least ? quota : least;
    char *const last = std::strrchr(group, '/');
    if (last == nullptr) return least;
    *last = '\0';
  }
}

// Whether a list such as "cpu,cpuacct" names the controller of processor time.
bool names_cpu(const char *list) {
  for (const char *name = list; name != nullptr; name = std::strchr(name, ',')) {
    if (*name == ',') ++name;
    if (std::strncmp(name, "cpu", 3) == 0 && (name[3] == ',' || name[3] == '\0')) return true;
  }
  return false;
}

}  // namespace

uint32_t quota_processors(const char *root) {
  char path[kPathBytes], groups[4096];
  const int length = std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  if (length <= 0 || static_cast<size_t>(length) >= sizeof path) return UINT32_MAX;
  if (!read_text(path, groups, sizeof groups)) return UINT32_MAX;
  uint32_t least = UINT32_MAX;
  // Each line is id:controllers:group, of version 2 0::group.
  for (char *line = groups, *next = nullptr; line != nullptr && *line != '\0'; line = next) {
    next = std::strchr(line, '\n');
    if (next != nullptr) *next++ = '\0';
    char *const controllers = std::strchr(line, ':');
    char *const group = controllers == nullptr ? nullptr : std::strchr(controllers + 1, ':');
    if (group == nullptr) continue;
    *group = '\0';
    uint32_t quota = UINT32_MAX;
    if (controllers[1] == '\0') quota = least_on_the_way_up(root, group + 1, quota_of_group_2);
    if (names_cpu(controllers + 1)) quota = least_on_the_way_up(root, group + 1, quota_of_group_1);
    least = quota < least ? quota : least;
  }
  return least;
}

}  // namespace gsort_internal
