// SPDX-License-Identifier: MIT OR Apache-2.0
// Results must not depend on the rounding mode or the flush-to-zero bits that the caller's thread happens to have.
#ifndef GSORT_CPU_FLOAT_ENVIRONMENT_H_
#define GSORT_CPU_FLOAT_ENVIRONMENT_H_

#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace gsort_internal {

// For its scope: round to nearest even, subnormals kept, no traps.
class FloatEnvironment {
 public:
  FloatEnvironment() : before_(get()) {
    if (before_ != kDefault) set(kDefault);
  }
  ~FloatEnvironment() {
    if (before_ != kDefault) set(before_);
  }
  FloatEnvironment(const FloatEnvironment &) = delete;
  FloatEnvironment &operator=(const FloatEnvironment &) = delete;

 private:
#if defined(__x86_64__) || defined(__i386__)
  static constexpr uint64_t kDefault = 0x1f80;  // MXCSR: all exceptions masked, nearest, no FTZ, no DAZ
  static constexpr uint32_t kExceptionFlags = 0x3f;
  static uint64_t get() { return _mm_getcsr() & ~kExceptionFlags; }
  static void set(uint64_t value) { _mm_setcsr(static_cast<uint32_t>(value)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kDefault = 0;  // FPCR: no traps, nearest, no flush to zero
  static uint64_t get() {
    uint64_t value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set(uint64_t value) { __asm__ volatile("msr fpcr, %0" : : "r"(value)); }
#else
  static constexpr uint64_t kDefault = 0;
  static uint64_t get() { return 0; }
  static void set(uint64_t) {}
#endif

  uint64_t before_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_FLOAT_ENVIRONMENT_H_
