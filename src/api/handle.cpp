// SPDX-License-Identifier: MIT OR Apache-2.0
// Handles: create, destroy, information, stream, and the small calls on them.
#include "api/handle.h"

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace gsort_internal {
namespace {

std::atomic<uint64_t> next_id{1};

void count_fork() { fork_count.fetch_add(1, std::memory_order_relaxed); }

// pthread_atfork may fail for want of memory; then forks are not noticed, as before there was such a check. No lock
// guards it, because a child would wait for ever for one that was held at the fork: threads that meet here may both
// register, and a fork then counts twice, which tells as much.
void count_forks() {
  static std::atomic<bool> registered{false};
  if (registered.load(std::memory_order_acquire)) return;
  pthread_atfork(nullptr, nullptr, count_fork);
  registered.store(true, std::memory_order_release);
}

// A struct of the caller's, of whatever size its version has, as the newest one. What the caller does not know is zero;
// what this library does not know must be zero.
gsort_options complete_options(const gsort_options *given) {
  gsort_options options;
  std::memset(&options, 0, sizeof options);
  if (given == nullptr) return options;
  const uint32_t size = given->struct_size;
  constexpr uint32_t smallest = offsetof(gsort_options, device_memory_limit_bytes);
  // More than any version will have. A size that was never set is not followed through memory.
  constexpr uint32_t largest = 4096;
  if (size < smallest || size > largest)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                "options->struct_size is %u; set it to sizeof(gsort_options), which is %zu here", size, sizeof options);
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  for (uint32_t i = sizeof options; i < size; ++i)
    if (bytes[i] != 0)
      throw Error(
          GSORT_ERROR_INVALID_ARGUMENT,
          "options has a non-zero byte at offset %u, in a field that this version (%s) does not know; zero it or "
          "use a newer library",
          i, gsort_version_string());
  std::memcpy(&options, given, size < sizeof options ? size : sizeof options);
  return options;
}

void check_options(const gsort_options &options) {
  if (options.backend > GSORT_BACKEND_CUDA)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "options->backend is %u; use GSORT_BACKEND_AUTO, _CPU or _CUDA",
                options.backend);
  if (options.device < -1)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "options->device is %d; use a device ordinal, or -1 for the current one",
                options.device);
  if (options.threads > 4096)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "options->threads is %u; use at most 4096, or 0 for all processors",
                options.threads);
  if ((options.host_allocate == nullptr) != (options.host_deallocate == nullptr))
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "options->host_allocate and host_deallocate: set both or neither");
  if ((options.device_allocate == nullptr) != (options.device_deallocate == nullptr))
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "options->device_allocate and device_deallocate: set both or neither");
}

// What AUTO means, by the environment; AUTO again if it says nothing.
uint32_t auto_backend() {
  const char *const text = std::getenv("GSORT_BACKEND");
  if (text == nullptr || text[0] == '\0' || std::strcmp(text, "auto") == 0) return GSORT_BACKEND_AUTO;
  if (std::strcmp(text, "cpu") == 0) return GSORT_BACKEND_CPU;
  if (std::strcmp(text, "cuda") == 0) return GSORT_BACKEND_CUDA;
  throw Error(GSORT_ERROR_INVALID_ARGUMENT,
              "the environment variable GSORT_BACKEND is \"%.40s\"; set it to cpu or cuda", text);
}

void open_engine(Handle &g, const gsort_options &options) {
  EngineOptions engine_options = {options, &g.host_memory, &g.control};
  const bool by_options = options.backend != GSORT_BACKEND_AUTO;
  const uint32_t backend = by_options ? options.backend : auto_backend();
  const char *const asker = by_options ? "options->backend" : "the environment variable GSORT_BACKEND";
  if (backend == GSORT_BACKEND_CUDA) {
    g.engine = make_cuda_engine(engine_options);
    std::snprintf(g.reason, sizeof g.reason, "%s asks for CUDA", asker);
  } else if (backend == GSORT_BACKEND_CPU) {
    g.engine = make_cpu_engine(engine_options);
    std::snprintf(g.reason, sizeof g.reason, "%s asks for the CPU", asker);
  } else {
    engine_options.may_use_cpu = true;
    try {
      g.engine = make_cuda_engine(engine_options);
      std::snprintf(g.reason, sizeof g.reason, "a usable CUDA device is there");
    } catch (const Error &error) {
      if (error.status() != GSORT_ERROR_NO_DEVICE) throw;
      g.engine = make_cpu_engine(engine_options);
      std::snprintf(g.reason, sizeof g.reason, "on the CPU because %.230s", error.text());
    }
  }
  g.control.log("backend chosen: %s", g.reason);
}

std::unique_ptr<Handle> create(const gsort_options *given) {
  const gsort_options options = complete_options(given);
  check_options(options);
  std::unique_ptr<Handle> g(new Handle(options));
  g->id = next_id.fetch_add(1);
  count_forks();
  g->fork_generation = fork_generation();
  g->control.set_log(options.log, options.log_user);
  open_engine(*g, options);
  g->control.throw_if_callback_threw();
  return g;
}

}  // namespace

std::atomic<uint64_t> fork_count{0};

void Turn::wait_for_short() {
  constexpr uint32_t looks = 1000;  // as long as a short call takes, whose thread has a processor
  wanted_.store(true, std::memory_order_relaxed);
  for (uint32_t look = 0; !try_hold(); ++look) {
    if (look < looks) continue;
    const timespec nap = {0, 50'000};  // a thread of lower priority may need this one's processor to end its call
    nanosleep(&nap, nullptr);
  }
  wanted_.store(false, std::memory_order_relaxed);
}

uint64_t id_of(const gsort *g) { return g == nullptr ? 0 : handle_of(g)->id; }

gsort_status fail(const gsort *g, gsort_status status, const char *text) {
  remember_message(id_of(g), text);
  return status;
}

gsort_status fail_null_handle() {
  return fail(nullptr, GSORT_ERROR_INVALID_ARGUMENT, "g is NULL; pass a handle that gsort_create() made");
}

gsort_status fail_forked(const gsort *g) {
  return fail(
      g, GSORT_ERROR_FORKED,
      "this handle was made before fork(), and threads and devices do not follow into a child; make a handle in "
      "the child");
}

gsort_status fail_lost(const gsort *g) {
  return fail(g, GSORT_ERROR_DEVICE_LOST,
              "the device failed in an earlier call and cannot be used again by this process; restart it");
}

}  // namespace gsort_internal

using namespace gsort_internal;

gsort_status gsort_create(const gsort_options *options, gsort **out) {
  if (out == nullptr)
    return fail(nullptr, GSORT_ERROR_INVALID_ARGUMENT, "out is NULL; pass the address of a gsort pointer");
  *out = nullptr;
  const NoCancellation no_cancellation;
  return caught(nullptr, [&] { *out = reinterpret_cast<gsort *>(create(options).release()); });
}

void gsort_destroy(gsort *g) {
  if (g == nullptr) return;
  Handle *const handle = handle_of(g);
  if (handle->fork_generation != fork_generation()) {
    // The lock may have been held by a thread that the child does not have: the handle's own memory is given up.
    handle->engine->abandon();
    return;
  }
  const NoCancellation no_cancellation;
  delete handle;
}

const char *gsort_error_message(const gsort *g) { return remembered_message(id_of(g)); }

gsort_status gsort_info_get(const gsort *g, gsort_info *info) {
  // The handle is only read, but in turn with the calls that change it.
  return with_handle(const_cast<gsort *>(g), [&](Handle &handle) {
    constexpr uint32_t smallest = offsetof(gsort_info, device);
    if (info == nullptr) throw Error(GSORT_ERROR_INVALID_ARGUMENT, "info is NULL; pass the address of a gsort_info");
    const uint32_t size = info->struct_size;
    if (size < smallest)
      throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                  "info->struct_size is %u; set it to sizeof(gsort_info), which is %zu here", size, sizeof(gsort_info));
    gsort_info full;
    std::memset(&full, 0, sizeof full);
    handle.engine->describe(full);
    full.struct_size = size;
    full.host_held_bytes = handle.host_memory.held_bytes();
    std::memcpy(full.reason, handle.reason, sizeof full.reason);
    std::memcpy(info, &full, size < sizeof full ? size : sizeof full);
  });
}

gsort_status gsort_set_stream(gsort *g, void *cuda_stream) {
  return with_handle(g, [&](Handle &handle) { handle.engine->set_stream(cuda_stream); });
}

gsort_status gsort_synchronize(gsort *g) {
  return with_handle(g, [&](Handle &handle) { handle.engine->synchronize(); });
}

gsort_status gsort_set_workspace(gsort *g, void *device_memory, uint64_t bytes) {
  return with_handle(g, [&](Handle &handle) {
    if ((device_memory == nullptr) != (bytes == 0))
      throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                  "device_memory = %p with bytes = %llu; pass memory and its size, or NULL and 0", device_memory,
                  static_cast<unsigned long long>(bytes));
    if (reinterpret_cast<uintptr_t>(device_memory) % 256 != 0)
      throw Error(GSORT_ERROR_INVALID_ARGUMENT, "device_memory = %p is not aligned to 256 bytes", device_memory);
    handle.engine->set_workspace(device_memory, bytes);
  });
}

gsort_status gsort_set_progress(gsort *g, gsort_progress_fn fn, void *user) {
  return with_handle(g, [&](Handle &handle) { handle.control.set_progress(fn, user); });
}

gsort_status gsort_cancel(gsort *g) {
  if (g == nullptr) return fail_null_handle();
  if (handle_of(g)->fork_generation != fork_generation()) return fail_forked(g);
  handle_of(g)->control.request_cancel();
  return GSORT_OK;
}
