// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/host_work.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "core/dtype.h"

namespace gsort_internal {
namespace {

// As many elements as make a part worth a thread's turn at the counter.
constexpr uint64_t kPartItems = uint64_t{1} << 16;

struct Shared {
  void (*work)(void *, uint64_t, uint64_t);
  void *user;
  uint64_t n, part;
  std::atomic<uint64_t> next{0};
};

bool take_part(void *user, uint32_t) {
  Shared &shared = *static_cast<Shared *>(user);
  const uint64_t begin = shared.next.fetch_add(shared.part, std::memory_order_relaxed);
  if (begin >= shared.n) return false;
  shared.work(shared.user, begin, shared.n - begin < shared.part ? shared.n : begin + shared.part);
  return true;
}

// Of a function object that stays with the caller.
template <class F>
void share(Pool &pool, uint64_t n, F work) {
  on_all_threads(
      pool, n, [](void *user, uint64_t begin, uint64_t end) { (*static_cast<F *>(user))(begin, end); }, &work);
}

template <class F>
void with_index_bytes(uint32_t bytes, F &&f) {
  bytes == 4 ? f(TypeTag<uint32_t>{}) : f(TypeTag<uint64_t>{});
}

}  // namespace

void on_all_threads(Pool &pool, uint64_t n, void (*work)(void *, uint64_t, uint64_t), void *user) {
  Shared shared{work, user, n, kPartItems};
  const uint64_t parts = (n + kPartItems - 1) / kPartItems;
  pool.run(static_cast<uint32_t>(parts < pool.threads() ? parts : pool.threads()), take_part, &shared);
}

HostBuffer<char> large_scratch(HostMemory &memory, uint64_t bytes) {
  constexpr uint64_t kPageBytes = uint64_t{2} << 20;
  HostBuffer<char> scratch(memory, bytes);
  if (memory.is_callers() || bytes < 2 * kPageBytes) return scratch;
  const uint64_t address = reinterpret_cast<uintptr_t>(scratch.data());
  const uint64_t before = (kPageBytes - address % kPageBytes) % kPageBytes;
  madvise(scratch.data() + before, (bytes - before) / kPageBytes * kPageBytes, MADV_HUGEPAGE);
  return scratch;
}

void touch_pages(Pool &pool, void *memory, uint64_t bytes) {
  constexpr uint64_t kUnit = 64, kPageBytes = 4096;  // so that a part is 4 MB
  share(pool, (bytes + kUnit - 1) / kUnit, [&](uint64_t begin, uint64_t end) {
    const uint64_t last = end * kUnit < bytes ? end * kUnit : bytes;
    for (uint64_t at = begin * kUnit; at < last; at += kPageBytes) static_cast<char *>(memory)[at] = 0;
  });
}

void copy_on_host(Pool &pool, void *to, const void *from, uint64_t bytes) {
  constexpr uint64_t kUnit = 32;  // so that a part is 2 MB
  share(pool, (bytes + kUnit - 1) / kUnit, [&](uint64_t begin, uint64_t end) {
    const uint64_t last = end * kUnit < bytes ? end * kUnit : bytes;
    std::memcpy(static_cast<char *>(to) + begin * kUnit, static_cast<const char *>(from) + begin * kUnit,
                last - begin * kUnit);
  });
}

void copy_each_on_host(Pool &pool, const std::vector<HostCopy> &copies) {
  const auto copy = [](void *user, uint64_t begin, uint64_t) {
    const HostCopy &each = static_cast<const HostCopy *>(user)[begin];
    std::memcpy(each.to, each.from, each.bytes);
  };
  Shared shared{copy, const_cast<HostCopy *>(copies.data()), copies.size(), 1};
  pool.run(static_cast<uint32_t>(copies.size() < pool.threads() ? copies.size() : pool.threads()), take_part, &shared);
}

void invert_on_host(Pool &pool, void *to, const void *places, uint64_t n, uint32_t index_bytes) {
  with_index_bytes(index_bytes, [&](auto tag) {
    using Index = typename decltype(tag)::type;
    share(pool, n, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) {
        const Index place = static_cast<const Index *>(places)[i];
        if (place < n) static_cast<Index *>(to)[place] = static_cast<Index>(i);
      }
    });
  });
}

void gather_on_host(Pool &pool, void *to, const void *from, const void *places, uint64_t n, uint32_t index_bytes,
                    uint64_t element_bytes) {
  with_index_bytes(index_bytes, [&](auto tag) {
    using Index = typename decltype(tag)::type;
    share(pool, n, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) {
        const Index place = static_cast<const Index *>(places)[i];
        if (place < n)
          std::memcpy(static_cast<char *>(to) + i * element_bytes,
                      static_cast<const char *>(from) + place * element_bytes, element_bytes);
      }
    });
  });
}

}  // namespace gsort_internal
