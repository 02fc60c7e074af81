// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gsort_dl.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char library_name[] = "libgsort.so.1";

typedef struct table_entry {
  const char *symbol;
  size_t offset;  // of the pointer in gsort_dl
} table_entry;

#define ENTRY(name) {"gsort_" #name, offsetof(gsort_dl, name)}

static const table_entry entries[] = {
    ENTRY(create),        ENTRY(destroy),      ENTRY(error_message), ENTRY(info_get),    ENTRY(set_stream),
    ENTRY(synchronize),   ENTRY(sort_u32),     ENTRY(sort_i32),      ENTRY(sort_u64),    ENTRY(sort_i64),
    ENTRY(sort_f32),      ENTRY(sort_f64),     ENTRY(sort),          ENTRY(sort_pairs),  ENTRY(argsort),
    ENTRY(rank),          ENTRY(merge),        ENTRY(sort_segments), ENTRY(topk),        ENTRY(topk_rows),
    ENTRY(topk_segments), ENTRY(sum),          ENTRY(reduce),        ENTRY(scan),        ENTRY(topk_u32),
    ENTRY(topk_i32),      ENTRY(topk_u64),     ENTRY(topk_i64),      ENTRY(topk_f32),    ENTRY(topk_f64),
    ENTRY(argsort_u32),   ENTRY(argsort_i32),  ENTRY(argsort_u64),   ENTRY(argsort_i64), ENTRY(argsort_f32),
    ENTRY(argsort_f64),   ENTRY(sum_u32),      ENTRY(sum_i32),       ENTRY(sum_u64),     ENTRY(sum_i64),
    ENTRY(sum_f32),       ENTRY(sum_f64),      ENTRY(mean_u32),      ENTRY(mean_i32),    ENTRY(mean_u64),
    ENTRY(mean_i64),      ENTRY(mean_f32),     ENTRY(mean_f64),      ENTRY(min_u32),     ENTRY(min_i32),
    ENTRY(min_u64),       ENTRY(min_i64),      ENTRY(min_f32),       ENTRY(min_f64),     ENTRY(max_u32),
    ENTRY(max_i32),       ENTRY(max_u64),      ENTRY(max_i64),       ENTRY(max_f32),     ENTRY(max_f64),
    ENTRY(argmin_u32),    ENTRY(argmin_i32),   ENTRY(argmin_u64),    ENTRY(argmin_i64),  ENTRY(argmin_f32),
    ENTRY(argmin_f64),    ENTRY(argmax_u32),   ENTRY(argmax_i32),    ENTRY(argmax_u64),  ENTRY(argmax_i64),
    ENTRY(argmax_f32),    ENTRY(argmax_f64),   ENTRY(scan_u32),      ENTRY(scan_i32),    ENTRY(scan_u64),
    ENTRY(scan_i64),      ENTRY(scan_f32),     ENTRY(scan_f64),      ENTRY(reserve),     ENTRY(workspace_bytes),
    ENTRY(set_workspace), ENTRY(set_progress), ENTRY(cancel),        ENTRY(version),     ENTRY(version_string),
    ENTRY(status_name),
};

enum { entry_count = sizeof(entries) / sizeof(entries[0]) };

// Does not compile where a data pointer, which dlsym() returns, cannot hold a function's address.
typedef char pointers_have_one_size[sizeof(void *) == sizeof(void (*)(void)) ? 1 : -1];

// All pointers come before `library`, so a function missing in `entries` does not compile either.
typedef char every_function_is_listed[entry_count * sizeof(void (*)(void)) == offsetof(gsort_dl, library) ? 1 : -1];

static int fail(gsort_dl *dl, int error) {
  char sentence[sizeof dl->error];
  memcpy(sentence, dl->error, sizeof sentence);
  gsort_dl_close(dl);
  memcpy(dl->error, sentence, sizeof sentence);
  return error;
}

static int fill_table(gsort_dl *dl, const char *path) {
  for (int i = 0; i < entry_count; i++) {
    void *address = dlsym(dl->library, entries[i].symbol);
    if (address == NULL) {
      snprintf(dl->error, sizeof dl->error, "%s is not gsort %d: it has no function %s", path, GSORT_VERSION_MAJOR,
               entries[i].symbol);
      return GSORT_DL_NOT_GSORT;
    }
    // C has no conversion from a data pointer to a function pointer; copying the bytes is the way around that.
    memcpy((char *)dl + entries[i].offset, &address, sizeof address);
  }
  return GSORT_DL_OK;
}

// Before the table is filled, so that another major version is called that and not a library without functions.
static int check_version(gsort_dl *dl, const char *path) {
  uint32_t (*version)(void) = NULL;
  void *address = dlsym(dl->library, "gsort_version");
  memcpy(&version, &address, sizeof version);
  if (version == NULL) {
    snprintf(dl->error, sizeof dl->error, "%s is not gsort: it has no function gsort_version", path);
    return GSORT_DL_NOT_GSORT;
  }
  const unsigned loaded = (unsigned)version();
  if (loaded / 10000 == GSORT_VERSION_MAJOR) return GSORT_DL_OK;
  snprintf(dl->error, sizeof dl->error, "%s is gsort %u.%u.%u, but this program needs version %d", path, loaded / 10000,
           loaded / 100 % 100, loaded % 100, GSORT_VERSION_MAJOR);
  return GSORT_DL_WRONG_VERSION;
}

int gsort_dl_open(gsort_dl *dl, const char *path) {
  memset(dl, 0, sizeof *dl);
  if (path == NULL) path = getenv("GSORT_LIBRARY");
  if (path == NULL || path[0] == '\0') path = library_name;
  dl->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (dl->library == NULL) {
    const char *reason = dlerror();
    snprintf(dl->error, sizeof dl->error, "cannot load gsort from %s: %s", path, reason != NULL ? reason : "unknown");
    return fail(dl, GSORT_DL_NOT_FOUND);
  }
  int error = check_version(dl, path);
  if (error == GSORT_DL_OK) error = fill_table(dl, path);
  return error == GSORT_DL_OK ? GSORT_DL_OK : fail(dl, error);
}

void gsort_dl_close(gsort_dl *dl) {
  if (dl->library != NULL) dlclose(dl->library);
  memset(dl, 0, sizeof *dl);
}
