// SPDX-License-Identifier: MIT OR Apache-2.0
// One block of memory cut into aligned slices: plans hand out offsets, whoever has the block adds them to its address.
#ifndef GSORT_CORE_SLICES_H_
#define GSORT_CORE_SLICES_H_

#include <cstdint>

namespace gsort_internal {

// What cudaMalloc aligns to, what gsort_set_workspace() asks for, and more than any vector access needs.
constexpr uint64_t kSliceAlignment = 256;

constexpr uint64_t slice_bytes(uint64_t bytes) {
  return (bytes + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment;
}

// Hands out slices one after the other.
class SliceCounter {
 public:
  constexpr uint64_t take(uint64_t bytes) {
    const uint64_t offset = bytes_;
    bytes_ += slice_bytes(bytes);
    return offset;
  }
  constexpr uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

}  // namespace gsort_internal

#endif  // GSORT_CORE_SLICES_H_
