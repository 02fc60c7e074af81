// SPDX-License-Identifier: MIT OR Apache-2.0
// Which vector instructions the kernels of this folder use: chosen at run time, for the machine that runs them.
#ifndef GSORT_CPU_VECTOR_TARGET_H_
#define GSORT_CPU_VECTOR_TARGET_H_

#include <atomic>
#include <cstdint>

namespace gsort_internal {

// In the order of the kernels' tables. kNone: no vectors, either because the library was built without Highway or
// because the processor is older than all of them.
enum class VectorTarget : uint32_t { kSse4, kAvx2, kAvx512, kNeon, kNone };
constexpr uint32_t kVectorTargets = static_cast<uint32_t>(VectorTarget::kNone);

const char *vector_target_name(VectorTarget target);

// Whether kernels for the target were compiled and the processor and the system support it.
bool vector_target_usable(VectorTarget target);

// The target in use: the best usable one, or the one that a test asked for.
constexpr uint32_t kVectorTargetUnknown = kVectorTargets + 1;  // nobody has asked yet
extern std::atomic<uint32_t> vector_target_in_use;
VectorTarget find_vector_target();
inline VectorTarget vector_target() {
  const uint32_t target = vector_target_in_use.load(std::memory_order_relaxed);
  return target == kVectorTargetUnknown ? find_vector_target() : static_cast<VectorTarget>(target);
}

// Known with the target. With AVX-512 more than a few floats of 8 bytes are sorted as integers where it is, and as
// numbers elsewhere: on a Xeon numbers took 0.83 to 0.97 of the time of integers from 256 keys on, on an EPYC (Zen 4)
// integers 0.73 to 0.90 of that of numbers. And a few pairs that would fill a wide vector go to narrow ones: 16 pairs
// of 4-byte (8-byte) keys took 0.79 (0.86) of the time so on the EPYC, 1.10 (1.41) on the Xeon. So do short arrays of
// keys alone: 0.67 to 0.95 of the time on the EPYC; not measured on a Xeon.
extern std::atomic<bool> processor_is_of_amd;

// For tests, while no call runs: the kernels use this target, which must be usable or kNone.
void force_vector_target(VectorTarget target);

// The kernels of the target in use, from a table with an entry for each; NULL without any.
template <class Kernels>
const Kernels *pick_kernels(const Kernels *const (&table)[kVectorTargets]) {
  const VectorTarget target = vector_target();
  return target == VectorTarget::kNone ? nullptr : table[static_cast<uint32_t>(target)];
}

}  // namespace gsort_internal

// Defines `const Kernels *function(type)`, which returns the kernels of the target in use, each target's being the
// object `kernels` of its namespace; NULL in a build without vectors. Stands in gsort_internal, once a source.
#if GSORT_HIGHWAY
#define GSORT_DEFINE_KERNELS_OF(Kernels, function, type, kernels)      \
  const Kernels *function(type) {                                      \
    static const Kernels *const table[] = GSORT_VECTOR_TABLE(kernels); \
    return pick_kernels(table);                                        \
  }
#else
#define GSORT_DEFINE_KERNELS_OF(Kernels, function, type, kernels) \
  const Kernels *function(type) { return nullptr; }
#endif

#endif  // GSORT_CPU_VECTOR_TARGET_H_
