// SPDX-License-Identifier: MIT OR Apache-2.0
// The processor's own record of arithmetic that was not exact.
#ifndef GSORT_CORE_ROUNDING_RECORD_H_
#define GSORT_CORE_ROUNDING_RECORD_H_

#include <cstdint>

namespace gsort_internal {

// The word of a thread's float environment that holds the record, and which of its bits do: that something was rounded,
// went past the greatest number or below the least, or was no number's.
struct RoundingRecord {
#if defined(__x86_64__) || defined(__i386__)
  static constexpr uint64_t kBits = 0x39;  // MXCSR: precision, underflow, overflow, invalid
  static uint64_t word() {
    uint32_t value;
    __asm__ volatile("stmxcsr %0" : "=m"(value) : : "memory");
    return value;
  }
  static void set_word(uint64_t value) {
    const uint32_t word = static_cast<uint32_t>(value);
    __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory");
  }
#elif defined(__aarch64__)
  static constexpr uint64_t kBits = 0x1d;  // FPSR: inexact, underflow, overflow, invalid
  static uint64_t word() {
    uint64_t value;
    __asm__ volatile("mrs %0, fpsr" : "=r"(value) : : "memory");
    return value;
  }
  static void set_word(uint64_t value) { __asm__ volatile("msr fpsr, %0" : : "r"(value) : "memory"); }
#else
  static constexpr uint64_t kBits = 1;
  static uint64_t word() { return 0; }
  static void set_word(uint64_t) {}
#endif
  static uint64_t get() { return word() & kBits; }
};

}  // namespace gsort_internal

#endif  // GSORT_CORE_ROUNDING_RECORD_H_
