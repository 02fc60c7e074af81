// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls of the caller's functions: an exception that leaves one of them ends here.
#ifndef GSORT_CORE_CALLBACK_H_
#define GSORT_CORE_CALLBACK_H_

#include <cstdint>

namespace gsort_internal {

// To be called before a callback: lets an unwinder of the program's own pass through the library. Returns the number of
// exceptions on their way in this thread, as the C++ runtime that is linked into the library counts them.
uint32_t prepare_to_catch() noexcept;

// To be called when an exception of a callback was caught, with the number from before. The program may have a C++
// runtime of its own, which counted the exception as thrown, while the library's counted it as caught: puts both right,
// or std::uncaught_exceptions() would be wrong in the program from then on. Looks symbols up, which is slow.
void settle_exceptions(uint32_t uncaught_before) noexcept;

// Runs f(), which calls one of the caller's functions. False if that left by an exception.
template <class F>
bool call_guarded(F &&f) noexcept {
  const uint32_t uncaught_before = prepare_to_catch();
  try {
    f();
    return true;
  } catch (...) {
  }
  settle_exceptions(uncaught_before);
  return false;
}

}  // namespace gsort_internal

#endif  // GSORT_CORE_CALLBACK_H_
