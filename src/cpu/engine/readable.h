// SPDX-License-Identifier: MIT OR Apache-2.0
// Whether the CPU can read an address, found out without any lock: a thread of the process may hold the loader's at the
// moment of a fork(), and the child would wait for it for ever.
#ifndef GSORT_CPU_ENGINE_READABLE_H_
#define GSORT_CPU_ENGINE_READABLE_H_

#include <cstdint>

namespace gsort_internal {

// Remembers pages that were found readable, so that arrays used again and again, and short ones on one page, cost no
// system call, which takes longer than sorting 16 pairs. Calls come one at a time.
class ReadablePages {
 public:
  // Whether the page of `address` can be read; what the system does not say counts as readable.
  bool contains(const void *address) { return remembers(address) || look_at(address); }
  bool remembers(const void *address) const {
    const uintptr_t page = reinterpret_cast<uintptr_t>(address) / kPageBytes;
    const uintptr_t *const pages = pages_[page % kSets];
    return (pages[0] == page || pages[1] == page) && page != 0;
  }

 private:
  static constexpr uintptr_t kPageBytes = 4096;  // the least of any system; a larger page then takes several slots
  bool look_at(const void *address);             // asks the system, and remembers
  static constexpr uint32_t kSets = 512;         // two arrays of 2 MiB, which may lie anywhere; 8 KiB
  uintptr_t pages_[kSets][2] = {};               // the newest first; page 0 is mapped nowhere
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_ENGINE_READABLE_H_
