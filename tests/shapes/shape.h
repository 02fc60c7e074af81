// SPDX-License-Identifier: MIT OR Apache-2.0
// One call of the library, drawn at random: operation, type, data, sizes on the log scale, flags, where arrays lie.
#ifndef GSORT_TESTS_SHAPES_SHAPE_H_
#define GSORT_TESTS_SHAPES_SHAPE_H_

#include <functional>
#include <string>

#include "inputs/distributions.h"
#include "reference/sorting.h"
#include "support/run.h"

namespace gsort_test {

struct Shape {
  uint32_t operation = GSORT_OP_SORT;  // GSORT_OP_*
  gsort_dtype type = GSORT_U32;
  Distribution distribution = Distribution::kUniform;
  uint64_t seed = 0;
  uint32_t flags = 0;
  uint64_t n = 0;
  uint64_t b_n = 0;           // merge: keys of the second array, n those of the first
  uint64_t k = 0;             // top-k
  Matrix matrix = {0, 0, 0};  // top-k of rows
  Indices offsets;            // segments
  uint32_t value_bytes = 0;   // pairs
  uint32_t reduce_op = 0;     // reductions
  gsort_dtype index_t = GSORT_U32;
  Wanted wanted = Wanted::kBoth;
  Place place = Place::kHost;
  Place place_out = Place::kHost;
  uint32_t offset_elements = 0;
  bool in_place = false;

  std::string describe() const;
};

// The most elements that a shape has in all, rows and what lies between them included.
struct ShapeLimits {
  uint64_t elements;
  bool device_places;  // arrays may lie in any kind of memory
};

// The same shape for the same seed, always.
Shape draw_shape(uint64_t seed, const ShapeLimits &limits);

// The same for an operation and a number of elements that are given, a row's for rows.
Shape draw_shape_of(uint32_t operation, uint64_t n, uint64_t seed, const ShapeLimits &limits);

// Calls the library as the shape says and compares every byte with the reference; failures are those of GoogleTest.
// `calling(true)` is told right before the library is called, `calling(false)` right after.
void check_shape(gsort *g, const Shape &shape, const std::function<void(bool)> &calling);

}  // namespace gsort_test

#endif  // GSORT_TESTS_SHAPES_SHAPE_H_
