// SPDX-License-Identifier: MIT OR Apache-2.0
// What blocks can have on each architecture that a release serves: one table for the host, which chooses, and for
// kernels, which are empty where nobody can choose them. No CUDA header.
#ifndef GSORT_CUDA_PRIMITIVE_ARCHITECTURE_H_
#define GSORT_CUDA_PRIMITIVE_ARCHITECTURE_H_

#include <cstdint>

namespace gsort_internal {

struct Architecture {
  uint32_t compute_capability;      // major * 10 + minor, and later ones up to the next entry
  uint32_t shared_bytes_block_max;  // with opt-in
  uint32_t threads;                 // of a multiprocessor
  bool clusters;                    // of 8 blocks, on every device
};

constexpr Architecture kArchitectures[] = {
    {75, 64 * 1024, 1024, false},  {80, 163 * 1024, 2048, false}, {86, 99 * 1024, 1536, false},
    {89, 99 * 1024, 1536, false},  {90, 227 * 1024, 2048, true},  {100, 227 * 1024, 2048, true},
    {120, 99 * 1024, 1536, false},
};

constexpr Architecture architecture_of(uint32_t compute_capability) {
  Architecture found = kArchitectures[0];
  for (const Architecture &architecture : kArchitectures)
    if (architecture.compute_capability <= compute_capability) found = architecture;
  return found;
}

// What a kernel is being compiled for; 0 in the host's pass, in which no kernel is left out.
#ifdef __CUDA_ARCH__
constexpr uint32_t kCompiledFor = __CUDA_ARCH__ / 10;
#else
constexpr uint32_t kCompiledFor = 0;
#endif

// The first line of a kernel of so much shared memory, or of one for clusters alone:
//   if constexpr (!kFitsHere<kBytes>) return;
template <uint32_t kSharedBytes>
constexpr bool kFitsHere = kCompiledFor == 0 || architecture_of(kCompiledFor).shared_bytes_block_max >= kSharedBytes;
constexpr bool kClustersHere = kCompiledFor == 0 || architecture_of(kCompiledFor).clusters;

// For __launch_bounds__: as many blocks a multiprocessor as wanted, or as it takes.
constexpr uint32_t blocks_here(uint32_t threads, uint32_t wanted) {
  if (kCompiledFor == 0) return wanted;
  const uint32_t most = architecture_of(kCompiledFor).threads / threads;
  return most < wanted ? most : wanted;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_ARCHITECTURE_H_
