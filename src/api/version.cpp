// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls that need no handle: versions and names.
#include "gsort.h"

#define GSORT_TEXT_OF(x) #x
#define GSORT_TEXT(x) GSORT_TEXT_OF(x)

uint32_t gsort_version(void) { return GSORT_VERSION; }

const char *gsort_version_string(void) {
  return GSORT_TEXT(GSORT_VERSION_MAJOR) "." GSORT_TEXT(GSORT_VERSION_MINOR) "." GSORT_TEXT(GSORT_VERSION_PATCH);
}

const char *gsort_status_name(gsort_status s) {
  switch (s) {
    case GSORT_OK:
      return "GSORT_OK";
    case GSORT_ERROR_INVALID_ARGUMENT:
      return "GSORT_ERROR_INVALID_ARGUMENT";
    case GSORT_ERROR_OUT_OF_MEMORY:
      return "GSORT_ERROR_OUT_OF_MEMORY";
    case GSORT_ERROR_NO_DEVICE:
      return "GSORT_ERROR_NO_DEVICE";
    case GSORT_ERROR_DEVICE_LOST:
      return "GSORT_ERROR_DEVICE_LOST";
    case GSORT_ERROR_CANCELLED:
      return "GSORT_ERROR_CANCELLED";
    case GSORT_ERROR_FORKED:
      return "GSORT_ERROR_FORKED";
    case GSORT_ERROR_NOT_SUPPORTED:
      return "GSORT_ERROR_NOT_SUPPORTED";
    case GSORT_ERROR_INTERNAL:
      return "GSORT_ERROR_INTERNAL";
    default:
      return "unknown status";
  }
}
