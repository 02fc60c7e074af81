// SPDX-License-Identifier: MIT OR Apache-2.0
// An exception that leaves a callback as the first thing that the process does with the library. It is unwound by the
// program's own libgcc through frames of the library, which has another libgcc inside it, one that was never used
// before.
//
// usage: gsort_test_exception progress|log|allocator
#include <gsort.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

static bool armed = true;

static void throw_if_armed() {
  if (armed) throw std::runtime_error(std::string(100, 'x'));
}

extern "C" {
static int32_t progress(void *, uint64_t, uint64_t) {
  throw_if_armed();
  return 0;
}
static void log_line(void *, const char *) { throw_if_armed(); }
static void *allocate(void *, uint64_t bytes, uint64_t alignment) {
  throw_if_armed();
  return std::aligned_alloc(alignment, bytes);
}
static void deallocate(void *, void *memory, uint64_t) { std::free(memory); }
}

static int fail(const char *what, gsort_status status) {
  std::fprintf(stderr, "%s: status %d, %d exceptions on their way\n", what, static_cast<int>(status),
               std::uncaught_exceptions());
  return 1;
}

int main(int argc, char **argv) {
  const std::string where = argc > 1 ? argv[1] : "";
  gsort_options options = {};
  options.struct_size = sizeof options;
  options.backend = GSORT_BACKEND_CPU;
  options.device = -1;
  if (where == "log") options.log = log_line;
  if (where == "allocator") options.host_allocate = allocate, options.host_deallocate = deallocate;
  gsort *g = nullptr;
  gsort_status status = gsort_create(&options, &g);
  if (where == "log") {
    if (status != GSORT_ERROR_CANCELLED || g != nullptr || std::uncaught_exceptions() != 0)
      return fail("gsort_create with a log that throws", status);
    armed = false;
    status = gsort_create(&options, &g);
    armed = true;
  }
  if (status != GSORT_OK) return fail("gsort_create", status);
  if (where == "progress") gsort_set_progress(g, progress, nullptr);
  static float keys[1000];
  for (int i = 0; i < 1000; i++) keys[i] = static_cast<float>(1000 - i);
  // Ranks take scratch memory, which sorts of keys alone do without.
  static uint32_t ranks[1000];
  status = gsort_rank(g, GSORT_F32, keys, 1000, GSORT_U32, ranks, 0);
  const gsort_status expected = where == "allocator" ? GSORT_ERROR_OUT_OF_MEMORY : GSORT_ERROR_CANCELLED;
  if (status != expected || std::uncaught_exceptions() != 0) return fail("ranks with a callback that throws", status);
  armed = false;
  status = gsort_sort_f32(g, keys, 1000, 0);
  if (status != GSORT_OK || keys[0] != 1.0f || keys[999] != 1000.0f) return fail("the sort after it", status);
  gsort_destroy(g);
  std::puts("caught inside the library, and settled in the program");
  return 0;
}
