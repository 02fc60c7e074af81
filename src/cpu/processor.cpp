// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/processor.h"

#include <atomic>
#include <cstdio>
#include <cstring>

#if defined(GSORT_X86_AVX2)
#include <cpuid.h>
#endif

namespace gsort_internal {

namespace {

#if defined(GSORT_X86_AVX2)
bool detect_avx2() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr uint32_t os_saves = 1u << 27, avx = 1u << 28, avx2 = 1u << 5;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & os_saves) == 0 || (c & avx) == 0) return false;
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6) != 6) return false;  // the system keeps both halves of the registers
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & avx2) != 0;
}
#else
bool detect_avx2() { return false; }
#endif

}  // namespace

bool has_avx2() {
  static std::atomic<int> known{-1};
  int value = known.load(std::memory_order_relaxed);
  if (value < 0) known.store(value = detect_avx2() ? 1 : 0, std::memory_order_relaxed);
  return value == 1;
}

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
