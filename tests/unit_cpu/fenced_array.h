// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef GSORT_TESTS_UNIT_CPU_FENCED_ARRAY_H_
#define GSORT_TESTS_UNIT_CPU_FENCED_ARRAY_H_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace gsort_test {

// An array that ends, or begins, where memory may not be touched.
template <class U>
class FencedArray {
 public:
  FencedArray(const std::vector<U> &values, bool fence_behind) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes = values.size() * sizeof(U);
    bytes_ = (bytes + page - 1) / page * page + 2 * page;
    map_ = static_cast<char *>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED) std::abort();
    mprotect(map_, page, PROT_NONE);
    mprotect(map_ + bytes_ - page, page, PROT_NONE);
    data_ = reinterpret_cast<U *>(fence_behind ? map_ + bytes_ - page - bytes : map_ + page);
    std::copy(values.begin(), values.end(), data_);
  }
  ~FencedArray() { munmap(map_, bytes_); }
  FencedArray(const FencedArray &) = delete;
  FencedArray &operator=(const FencedArray &) = delete;
  U *data() const { return data_; }

 private:
  char *map_;
  size_t bytes_;
  U *data_;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CPU_FENCED_ARRAY_H_
