// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/callback.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unwind.h>

#include <atomic>

namespace gsort_internal {

namespace {

// What a runtime knows of a thread's exceptions (Itanium C++ ABI: Exception Handling, 2.2.2).
struct Globals {
  void *caught;
  unsigned int uncaught;
};

Globals *globals_here() noexcept { return reinterpret_cast<Globals *>(abi::__cxa_get_globals()); }

Globals *globals_of_program() noexcept {
  using Getter = void *();
  void *const getter = dlsym(RTLD_DEFAULT, "__cxa_get_globals");
  return getter == nullptr ? nullptr : static_cast<Globals *>(reinterpret_cast<Getter *>(getter)());
}

}  // namespace

uint32_t prepare_to_catch() noexcept {
  // The unwinder that is linked into the library fills a table of its own at its first use, and ends the program if
  // that of the program leads it through a frame of the library before. A walk of one step is a use.
  static std::atomic<bool> used{false};
  if (!used.load(std::memory_order_acquire)) {
    _Unwind_Backtrace([](_Unwind_Context *, void *) { return _URC_END_OF_STACK; }, nullptr);
    used.store(true, std::memory_order_release);
  }
  return globals_here()->uncaught;
}

void settle_exceptions(uint32_t uncaught_before) noexcept {
  Globals *const here = globals_here();
  if (here->uncaught == uncaught_before) return;  // thrown and caught by one runtime
  here->uncaught = uncaught_before;
  Globals *const program = globals_of_program();
  if (program != nullptr && program != here && program->uncaught > 0) --program->uncaught;
}

}  // namespace gsort_internal
