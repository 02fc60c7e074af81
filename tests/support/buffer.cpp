// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support/buffer.h"

#include <cstdio>
#include <cstdlib>

namespace gsort_test {
namespace {

// Differs from byte to byte, so that a stray copy inside a red zone is seen too.
uint8_t poison_at(size_t i) { return static_cast<uint8_t>(0xA5u ^ (i * 37u) ^ (i >> 8)); }

}  // namespace

Buffer::Buffer(Place place, size_t bytes, size_t offset_bytes)
    : place_(place), bytes_(bytes), offset_bytes_(offset_bytes), base_(nullptr) {
  base_ = static_cast<uint8_t *>(place_allocate(place, whole_bytes()));
  if (base_ == nullptr) {
    std::fprintf(stderr, "the test could not allocate %zu bytes of %s memory\n", whole_bytes(), place_name(place));
    std::abort();
  }
  poison();
}

Buffer::~Buffer() { place_free(place_, base_); }

void Buffer::poison() {
  Bytes pattern(whole_bytes());
  for (size_t i = 0; i < pattern.size(); i++) pattern[i] = poison_at(i);
  if (place_ == Place::kHost) {
    std::memcpy(base_, pattern.data(), pattern.size());
  } else {
    copy_bytes(base_, pattern.data(), pattern.size());
  }
}

void Buffer::write(const Bytes &content) {
  if (content.size() != bytes_) std::abort();
  if (bytes_ == 0) return;
  if (place_ == Place::kHost) {
    std::memcpy(data(), content.data(), bytes_);
  } else {
    copy_bytes(data(), content.data(), bytes_);
  }
}

Bytes Buffer::read_whole() const {
  if (place_ == Place::kHost) return Bytes(base_, base_ + whole_bytes());
  Bytes whole(whole_bytes());
  copy_bytes(whole.data(), base_, whole.size());
  return whole;
}

Bytes Buffer::read() const {
  Bytes content(bytes_);
  if (bytes_ == 0) return content;
  if (place_ == Place::kHost) {
    std::memcpy(content.data(), data(), bytes_);
  } else {
    copy_bytes(content.data(), data(), bytes_);
  }
  return content;
}

::testing::AssertionResult Buffer::compare_poison(const Bytes &whole, size_t begin, size_t end) const {
  const auto array_begin = static_cast<long long>(kRedZoneBytes + offset_bytes_);
  for (size_t i = begin; i < end; i++) {
    if (whole[i] == poison_at(i)) continue;
    return ::testing::AssertionFailure() << "byte " << static_cast<long long>(i) - array_begin << " of an array of "
                                         << bytes_ << " bytes was overwritten";
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult Buffer::red_zones_intact() const {
  const Bytes whole = read_whole();
  const ::testing::AssertionResult before = compare_poison(whole, 0, kRedZoneBytes + offset_bytes_);
  if (!before) return before;
  return compare_poison(whole, kRedZoneBytes + offset_bytes_ + bytes_, whole.size());
}

::testing::AssertionResult Buffer::untouched() const { return compare_poison(read_whole(), 0, whole_bytes()); }

}  // namespace gsort_test
