// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory of any kind with a red zone on either side, so that a write outside the array is seen.
#ifndef GSORT_TESTS_SUPPORT_BUFFER_H_
#define GSORT_TESTS_SUPPORT_BUFFER_H_

#include <gtest/gtest.h>

#include "support/device_memory.h"
#include "support/element.h"

namespace gsort_test {

inline constexpr size_t kRedZoneBytes = 512;

class Buffer {
 public:
  // `offset_bytes` moves the array away from the 256-byte boundary that it would otherwise start at.
  Buffer(Place place, size_t bytes, size_t offset_bytes = 0);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  void *data() const { return base_ + kRedZoneBytes + offset_bytes_; }
  size_t bytes() const { return bytes_; }
  void write(const Bytes &content);
  Bytes read() const;
  // Every byte of the array and of its red zones takes the poison again.
  void poison();
  ::testing::AssertionResult red_zones_intact() const;
  // True if nothing was written into the array since poison().
  ::testing::AssertionResult untouched() const;

 private:
  size_t whole_bytes() const { return bytes_ + offset_bytes_ + 2 * kRedZoneBytes; }
  Bytes read_whole() const;
  ::testing::AssertionResult compare_poison(const Bytes &whole, size_t begin, size_t end) const;

  Place place_;
  size_t bytes_;
  size_t offset_bytes_;
  uint8_t *base_;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_SUPPORT_BUFFER_H_
