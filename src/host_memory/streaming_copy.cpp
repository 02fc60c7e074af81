// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/streaming_copy.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gsort_internal {

#if defined(__SSE2__)
void copy_past_caches(void *to_bytes, const void *from_bytes, uint64_t bytes) noexcept {
  constexpr uint64_t kLineBytes = 64, kWords = kLineBytes / sizeof(__m128i);
  char *to = static_cast<char *>(to_bytes);
  const char *from = static_cast<const char *>(from_bytes);
  const uint64_t before = (kLineBytes - reinterpret_cast<uintptr_t>(to) % kLineBytes) % kLineBytes;
  const uint64_t head = before < bytes ? before : bytes;
  std::memcpy(to, from, head);
  to += head, from += head, bytes -= head;
  for (; bytes >= kLineBytes; to += kLineBytes, from += kLineBytes, bytes -= kLineBytes) {
    __m128i words[kWords];
    for (uint64_t i = 0; i < kWords; ++i) words[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from) + i);
    for (uint64_t i = 0; i < kWords; ++i) _mm_stream_si128(reinterpret_cast<__m128i *>(to) + i, words[i]);
  }
  std::memcpy(to, from, bytes);
  _mm_sfence();  // such stores are in no order with those that tell others of them
}
#else
void copy_past_caches(void *to, const void *from, uint64_t bytes) noexcept { std::memcpy(to, from, bytes); }
#endif

}  // namespace gsort_internal
