// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/engine/readable.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace gsort_internal {

namespace {

// The kernel copies the signal set before it refuses the way to apply it, and answers EFAULT where it cannot.
bool kernel_reads(uintptr_t address) {
  constexpr long no_way = ~0L, set_bytes = 8;
  const int errno_before = errno;
  const long result = syscall(SYS_rt_sigprocmask, no_way, address & ~uintptr_t{7}, nullptr, set_bytes);
  const bool fault = result == -1 && errno == EFAULT;
  errno = errno_before;
  return !fault;
}

}  // namespace

bool ReadablePages::look_at(const void *address) {
  if (!kernel_reads(reinterpret_cast<uintptr_t>(address))) return false;
  const uintptr_t page = reinterpret_cast<uintptr_t>(address) / kPageBytes;
  uintptr_t *const pages = pages_[page % kSets];
  pages[1] = pages[0];
  pages[0] = page;
  return true;
}

}  // namespace gsort_internal
