// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/engine/processor.h"

#include <cstdio>
#include <cstring>

namespace gsort_internal {

void processor_name(char *name, uint32_t bytes) {
  std::snprintf(name, bytes, "%s", "CPU");
  std::FILE *const file = std::fopen("/proc/cpuinfo", "re");
  if (file == nullptr) return;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    const char *const colon = std::strchr(line, ':');
    if (std::strncmp(line, "model name", 10) != 0 || colon == nullptr) continue;
    const char *const text = colon + 1 + std::strspn(colon + 1, " \t");
    std::snprintf(name, bytes, "%.*s", static_cast<int>(std::strcspn(text, "\n")), text);
    break;
  }
  std::fclose(file);
}

}  // namespace gsort_internal
