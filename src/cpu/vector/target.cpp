// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/target.h"

#include <initializer_list>

#if GSORT_HIGHWAY
#include "cpu/vector/highway.h"
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace gsort_internal {

namespace {

#if GSORT_HIGHWAY
constexpr bool compiled(VectorTarget target) {
  constexpr long long bits[kVectorTargets] = {HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_NEON};
  return target != VectorTarget::kNone && (HWY_TARGETS & bits[static_cast<uint32_t>(target)]) != 0;
}
#else
constexpr bool compiled(VectorTarget) { return false; }
#endif

#if defined(__x86_64__)
constexpr uint32_t bit(uint32_t i) { return uint32_t{1} << i; }

// Registers of cpuid leaves, as the processors' manuals number the bits.
struct Features {
  uint32_t leaf_1_ecx = 0, leaf_7_ebx = 0, leaf_81_ecx = 0, system_saves = 0;

  Features() {
    uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0) leaf_1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) leaf_7_ebx = b;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) leaf_81_ecx = c;
    if ((leaf_1_ecx & bit(27)) != 0) __asm__("xgetbv" : "=a"(system_saves), "=d"(d) : "c"(0));
  }
  bool sse4() const {
    constexpr uint32_t wanted = bit(0) | bit(9) | bit(19) | bit(20);  // SSE3, SSSE3, SSE4.1, SSE4.2
    return (leaf_1_ecx & wanted) == wanted;
  }
  bool avx2() const {
    constexpr uint32_t wanted_1 = bit(12) | bit(28) | bit(29);  // FMA, AVX, F16C
    constexpr uint32_t wanted_7 = bit(3) | bit(5) | bit(8);     // BMI1, AVX2, BMI2
    constexpr uint32_t wanted_81 = bit(5);                      // LZCNT
    constexpr uint32_t saved = bit(1) | bit(2);                 // both halves of the registers
    return sse4() && (leaf_1_ecx & wanted_1) == wanted_1 && (leaf_7_ebx & wanted_7) == wanted_7 &&
           (leaf_81_ecx & wanted_81) == wanted_81 && (system_saves & saved) == saved;
  }
  bool avx512() const {
    constexpr uint32_t wanted_7 = bit(16) | bit(17) | bit(30) | bit(31);  // AVX-512 F, DQ, BW, VL
    constexpr uint32_t saved = bit(5) | bit(6) | bit(7);                  // masks, upper halves, further registers
    return avx2() && (leaf_7_ebx & wanted_7) == wanted_7 && (system_saves & saved) == saved;
  }
};

bool is_of_amd() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr uint32_t auth = 0x68747541;  // the first letters of the vendor's name
  return __get_cpuid(0, &a, &b, &c, &d) != 0 && b == auth;
}

bool supported(VectorTarget target) {
  const Features features;
  switch (target) {
    case VectorTarget::kSse4:
      return features.sse4();
    case VectorTarget::kAvx2:
      return features.avx2();
    case VectorTarget::kAvx512:
      return features.avx512();
    default:
      return false;
  }
}
#elif defined(__aarch64__)
bool is_of_amd() { return false; }
bool supported(VectorTarget target) {
  constexpr unsigned long aes = 1ul << 3;  // of HWCAP; Highway compiles NEON with the cryptographic instructions
  return target == VectorTarget::kNeon && (getauxval(AT_HWCAP) & aes) != 0;
}
#else
bool is_of_amd() { return false; }
bool supported(VectorTarget) { return false; }
#endif

VectorTarget best_target() {
  for (const VectorTarget target :
       {VectorTarget::kAvx512, VectorTarget::kAvx2, VectorTarget::kSse4, VectorTarget::kNeon})
    if (vector_target_usable(target)) return target;
  return VectorTarget::kNone;
}

}  // namespace

std::atomic<uint32_t> vector_target_in_use{kVectorTargetUnknown};
std::atomic<bool> processor_is_of_amd{false};

const char *vector_target_name(VectorTarget target) {
  constexpr const char *names[] = {"SSE4", "AVX2", "AVX-512", "NEON", "no"};
  return names[static_cast<uint32_t>(target)];
}

bool vector_target_usable(VectorTarget target) { return compiled(target) && supported(target); }

VectorTarget find_vector_target() {
  const VectorTarget target = best_target();
  processor_is_of_amd.store(is_of_amd(), std::memory_order_relaxed);
  vector_target_in_use.store(static_cast<uint32_t>(target), std::memory_order_relaxed);
  return target;
}

void force_vector_target(VectorTarget target) {
  vector_target_in_use.store(static_cast<uint32_t>(target), std::memory_order_relaxed);
}

}  // namespace gsort_internal
