// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies of every length and distance that the library's own has a way for, and nothing beside them.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cpu/primitive/copy.h"

namespace gsort_test {
namespace {

TEST(Copy, EveryDistanceWithinAPage) {
  constexpr uint64_t kPage = 4096, kLongest = 5000;
  std::vector<unsigned char> memory(8 * kPage);
  unsigned char *const base = memory.data() + (kPage - reinterpret_cast<uintptr_t>(memory.data()) % kPage);
  unsigned char *const source = base + 7, *const far = base + 3 * kPage + 7;
  for (uint64_t i = 0; i < kLongest; ++i) source[i] = static_cast<unsigned char>(i * 131 + i / 256);
  for (uint64_t ahead = 0; ahead < 140; ++ahead)
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{2047}, uint64_t{2048}, uint64_t{2049},
                                 uint64_t{2111}, uint64_t{2112}, uint64_t{4096}, kLongest}) {
      unsigned char *const to = far + ahead;
      std::memset(to - 64, 0xa5, bytes + 128);
      gsort_internal::copy_bytes(to, source, bytes);
      ASSERT_EQ(0, std::memcmp(to, source, bytes)) << "ahead " << ahead << " bytes " << bytes;
      for (uint64_t i = 1; i <= 64; ++i) {
        ASSERT_EQ(0xa5, *(to - i)) << "ahead " << ahead << " bytes " << bytes;
        ASSERT_EQ(0xa5, to[bytes + i - 1]) << "ahead " << ahead << " bytes " << bytes;
      }
    }
}

}  // namespace
}  // namespace gsort_test
