// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef GSORT_CPU_PRIMITIVE_RELAX_H_
#define GSORT_CPU_PRIMITIVE_RELAX_H_

namespace gsort_internal {

// Tells the processor that this thread looks again and again for what another is about to write.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_PRIMITIVE_RELAX_H_
