// SPDX-License-Identifier: MIT OR Apache-2.0
// The one exception type that travels inside the library; src/api turns it into a status and a sentence.
#ifndef GSORT_CORE_ERROR_H_
#define GSORT_CORE_ERROR_H_

#include <cstdarg>
#include <cstdio>

#include "gsort.h"

namespace gsort_internal {

// Holds its sentence in itself, so that reporting "out of memory" needs no memory.
class Error {
 public:
  // `format` as in printf: what went wrong, the value, the remedy.
  __attribute__((format(printf, 3, 4))) Error(gsort_status status, const char *format, ...) : status_(status) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text_, sizeof text_, format, arguments);
    va_end(arguments);
  }
  gsort_status status() const { return status_; }
  const char *text() const { return text_; }

 private:
  gsort_status status_;
  char text_[480];
};

}  // namespace gsort_internal

#endif  // GSORT_CORE_ERROR_H_
