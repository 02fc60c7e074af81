/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loads the library, uses it, unloads it, in the orders that have brought others down.
 * usage: load_unload LIBRARY SCENARIO */
#include <dlfcn.h>
#include <gsort.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef gsort_status (*create_fn)(const gsort_options *, gsort **);
typedef void (*destroy_fn)(gsort *);
typedef gsort_status (*sort_fn)(gsort *, uint32_t *, uint64_t, uint32_t);

enum { kItems = 300000 };

static void *library;
static create_fn create;
static destroy_fn destroy;
static sort_fn sort;

static void fail(const char *what) {
  const char *why = dlerror();
  fprintf(stderr, "%s failed: %s\n", what, why == NULL ? "" : why);
  _Exit(1);
}

static void find(const char *name, void *function) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) fail(name);
  memcpy(function, &symbol, sizeof(symbol));
}

static void load(const char *path) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail("dlopen");
  find("gsort_create", &create);
  find("gsort_destroy", &destroy);
  find("gsort_sort_u32", &sort);
}

static gsort *new_handle(void) {
  gsort_options options;
  gsort *g = NULL;
  memset(&options, 0, sizeof(options));
  options.struct_size = (uint32_t)sizeof(options);
  options.backend = GSORT_BACKEND_CPU;
  options.threads = 3;
  options.device = -1;
  if (create(&options, &g) != GSORT_OK) fail("gsort_create");
  return g;
}

static void sort_something(gsort *g) {
  uint32_t *keys = malloc(kItems * sizeof(*keys));
  uint32_t state = 1;
  int i;
  if (keys == NULL) fail("malloc");
  for (i = 0; i < kItems; i++) keys[i] = state = state * 1664525u + 1013904223u;
  if (sort(g, keys, kItems, 0) != GSORT_OK) fail("gsort_sort_u32");
  for (i = 1; i < kItems; i++) {
    if (keys[i - 1] > keys[i]) fail("the order");
  }
  free(keys);
}

static void *use_in_thread(void *g) {
  sort_something(g);
  return NULL;
}

static void run_thread(gsort *g) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, use_in_thread, g) != 0 || pthread_join(thread, NULL) != 0) fail("thread");
}

static gsort *at_exit_handle;
static void destroy_at_exit(void) { destroy(at_exit_handle); }
static void use_at_exit(void) { sort_something(at_exit_handle); }

static int run(const char *path, const char *scenario) {
  gsort *g;
  int i;
  if (strcmp(scenario, "load_only") == 0) {
    load(path);
    return dlclose(library);
  }
  if (strcmp(scenario, "many_times") == 0) {
    for (i = 0; i < 50; i++) {
      load(path);
      g = new_handle();
      if (i % 10 == 0) sort_something(g);
      destroy(g);
      if (dlclose(library) != 0) fail("dlclose");
    }
    return 0;
  }
  if (strcmp(scenario, "at_exit_before_load") == 0) atexit(destroy_at_exit);
  load(path);
  g = at_exit_handle = new_handle();
  sort_something(g);
  if (strcmp(scenario, "exit_with_live_handle") == 0) return 0;
  if (strcmp(scenario, "at_exit_before_load") == 0) return 0;
  if (strcmp(scenario, "at_exit_after_load") == 0) return atexit(destroy_at_exit);
  if (strcmp(scenario, "use_at_exit") == 0) return atexit(use_at_exit);
  if (strcmp(scenario, "close_with_live_handle") == 0) return dlclose(library);
  if (strcmp(scenario, "destroy_after_close") == 0) {
    if (dlclose(library) != 0) fail("dlclose");
    destroy(g);
    return 0;
  }
  if (strcmp(scenario, "thread_ends_then_close") == 0) {
    run_thread(g);
    destroy(g);
    return dlclose(library);
  }
  fprintf(stderr, "unknown scenario %s\n", scenario);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  return run(argv[1], argv[2]);
}
