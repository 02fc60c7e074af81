// SPDX-License-Identifier: MIT OR Apache-2.0
// Results must not depend on the rounding mode or the flush-to-zero bits that the caller's thread happens to have.
#ifndef GSORT_CPU_ENGINE_FLOAT_ENVIRONMENT_H_
#define GSORT_CPU_ENGINE_FLOAT_ENVIRONMENT_H_

#include <cstdint>

#include "core/rounding_record.h"

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

// Whether arithmetic was exact, by the processor's own record of what was rounded: additions that need not be looked at
// one by one. It is a thread's, and is put back as it was. Arithmetic to be watched stands in functions that the
// compiler does not see into, so that it cannot move past the looks at the record.
class RoundingWatch {
 public:
  RoundingWatch() : before_(RoundingRecord::word()) {}
  ~RoundingWatch() { RoundingRecord::set_word(before_); }
  RoundingWatch(const RoundingWatch &) = delete;
  RoundingWatch &operator=(const RoundingWatch &) = delete;

  // Whether there is a record: programs that stand in for a processor may keep none.
  bool works() {
    begin();
    const volatile double one = 1, little = 0x1p-60;
    volatile double sum = one + little;
    (void)sum;
    return !was_exact();
  }
  void begin() { RoundingRecord::set_word(before_ & ~RoundingRecord::kBits); }
  // Since begin() nothing was rounded, went past the greatest number or was no number's.
  bool was_exact() const { return RoundingRecord::get() == 0; }

 private:
  uint64_t before_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_ENGINE_FLOAT_ENVIRONMENT_H_
