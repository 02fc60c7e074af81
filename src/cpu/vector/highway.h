// SPDX-License-Identifier: MIT OR Apache-2.0
// How a source of this folder is compiled once for every vector target. The source defines HWY_TARGET_INCLUDE as its
// own name, includes this header, then <hwy/foreach_target.h> and <hwy/highway.h>, and puts its kernels between
// HWY_BEFORE_NAMESPACE() and HWY_AFTER_NAMESPACE(), within `#if GSORT_VECTOR_TARGET`.
//
// Highway's headers are all that is used: which target to call is decided by target.cpp, so that the library links
// nothing of it.
#ifndef GSORT_CPU_VECTOR_HIGHWAY_H_
#define GSORT_CPU_VECTOR_HIGHWAY_H_

// No kernel needs these instructions, so processors without them may run the others.
#define HWY_DISABLE_PCLMUL_AES 1

#include <hwy/detect_targets.h>

// Four targets: each one more is compile time and size for little speed. The baseline, which Highway always compiles,
// gets no kernels: there the engine's own code without vectors is as good. A build for tests of one machine under
// sanitizers names the one target that it takes there.
#if !defined(GSORT_VECTOR_TARGETS)
#define GSORT_VECTOR_TARGETS (HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON)
#endif
#if defined(HWY_EMU128)
#define GSORT_BASELINE_TARGETS (HWY_EMU128 | HWY_SCALAR)
#else
#define GSORT_BASELINE_TARGETS HWY_SCALAR
#endif
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (~(GSORT_VECTOR_TARGETS | GSORT_BASELINE_TARGETS))

// Whether the target that is being compiled gets kernels.
#define GSORT_VECTOR_TARGET ((HWY_TARGET & GSORT_VECTOR_TARGETS) != 0)

// Loads and stores of a part of a vector touch nothing beyond that part.
#define GSORT_VECTOR_MASKED_MEMORY (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)

// Whether floats of 8 bytes may be sorted as numbers: integers of that width have no minimum with AVX2, and a slow one
// with AVX-512 of Intel's (see processor_is_of_amd).
#define GSORT_VECTOR_NUMBERS GSORT_VECTOR_MASKED_MEMORY

// Whether integers of 8 bytes are sorted as numbers where they can be: without a minimum of theirs, AVX2 takes three
// instructions for the lesser and the greater of two, and waits three times as long.
#define GSORT_VECTOR_KEYS_AS_NUMBERS (HWY_TARGET == HWY_AVX2)

// The table of a source's kernels, an object `name` in each target's namespace; in the namespace around those.
#define GSORT_VECTOR_TABLE(name) \
  {HWY_CHOOSE_SSE4(name), HWY_CHOOSE_AVX2(name), HWY_CHOOSE_AVX3(name), GSORT_CHOOSE_NEON(name)}
#define GSORT_CHOOSE_NEON(name) HWY_CHOOSE_NEON(name)

#endif  // GSORT_CPU_VECTOR_HIGHWAY_H_
