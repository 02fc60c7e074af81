// SPDX-License-Identifier: MIT OR Apache-2.0
// Every operation as one function on one input, for tests that make each of them fail or run side by side.
#ifndef GSORT_TESTS_LIFECYCLE_OPERATIONS_H_
#define GSORT_TESTS_LIFECYCLE_OPERATIONS_H_

#include <functional>
#include <string>

#include "inputs/distributions.h"
#include "support/buffer.h"

namespace gsort_test {

// The arrays that an operation reads and writes; none of them in place.
struct Arrays {
  Arrays(Place place, const Array &input);
  bool inputs_intact() const;

  gsort_dtype type;
  uint64_t n;
  Bytes keys_content;
  Bytes values_content;  // 4 bytes an element
  std::vector<uint64_t> offsets_content;
  Buffer keys;
  Buffer values;
  Buffer sorted_halves;  // what merge reads
  Buffer offsets;        // kSegments + 1
  Buffer keys_out;
  Buffer values_out;
  Buffer indices_out;  // 4 bytes an element

  static constexpr uint64_t kSegments = 20;
  static constexpr uint64_t kBestOfSegments = 10 * kSegments;  // what a top-k of segments writes
};

struct NamedOperation {
  const char *name;
  std::function<gsort_status(gsort *, const Arrays &)> run;
  // The bytes of the result, of arrays that a successful run left behind.
  std::function<Bytes(const Arrays &)> result;
  // The same bytes by the reference, which shares nothing with the library.
  std::function<Bytes(const Arrays &)> expected;
};

const std::vector<NamedOperation> &all_operations();

}  // namespace gsort_test

#endif  // GSORT_TESTS_LIFECYCLE_OPERATIONS_H_
