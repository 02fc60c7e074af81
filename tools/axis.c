// SPDX-License-Identifier: MIT OR Apache-2.0
#include "axis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static int make_whole(const options *opt, array *a, axis_view *view) {
  const uint32_t ordered = command_argsort | command_rank | command_topk | command_scan;
  if (a->fortran_order && ((opt->command & ordered) != 0 || opt->check != check_off)) {
    return report_failure("an array in Fortran order has no order of all its elements here: give --axis a number");
  }
  a->dimensions = 1;
  a->extents[0] = a->count;
  a->fortran_order = false;
  *view = (axis_view){1, a->count, 1, 1, 0};
  return exit_ok;
}

int axis_choose(const options *opt, bool whole, array *a, axis_view *view) {
  if (opt->axis_is == axis_none || (opt->axis_is == axis_unset && (whole || a->dimensions == 1))) {
    return make_whole(opt, a, view);
  }
  const int64_t dimensions = a->dimensions;
  const int64_t axis = opt->axis_is == axis_unset ? dimensions - 1 : opt->axis < 0 ? opt->axis + dimensions : opt->axis;
  if (axis < 0 || axis >= dimensions) {
    return report_failure("--axis %" PRId64 ": the array has %" PRIu32 " dimension%s", opt->axis, a->dimensions,
                          a->dimensions == 1 ? "" : "s");
  }
  *view = (axis_view){1, a->extents[axis], 1, 0, (uint32_t)axis};
  for (int64_t i = 0; i < dimensions; i++) {
    if (i == axis) continue;
    // In Fortran order what comes before the axis changes fastest.
    const bool inner = a->fortran_order ? i < axis : i > axis;
    *(inner ? &view->inner : &view->outer) *= a->extents[i];
  }
  view->rows = view->outer * view->inner;
  return exit_ok;
}

// Copies an m x n matrix to an n x m one, in squares that stay in the cache.
static void turn(const char *from, char *to, uint64_t m, uint64_t n, uint32_t size_bytes) {
  enum { square = 32 };
  for (uint64_t row = 0; row < m; row += square) {
    for (uint64_t column = 0; column < n; column += square) {
      for (uint64_t i = row; i < m && i < row + square; i++) {
        for (uint64_t k = column; k < n && k < column + square; k++) {
          memcpy(to + (k * m + i) * size_bytes, from + (i * n + k) * size_bytes, size_bytes);
        }
      }
    }
  }
}

static int turn_all(array *a, uint64_t matrices, uint64_t m, uint64_t n) {
  if (m == 1 || n == 1 || a->count == 0) return exit_ok;
  const uint32_t size = a->type->size_bytes;
  char *turned = malloc((size_t)a->count * size);
  if (turned == NULL) return report_failure("not enough memory for %" PRIu64 " elements", a->count);
  for (uint64_t i = 0; i < matrices; i++) {
    const uint64_t at = i * m * n * size;
    turn((const char *)a->data + at, turned + at, m, n, size);
  }
  free(a->memory);
  a->memory = turned;
  a->data = turned;
  return exit_ok;
}

int axis_to_rows(array *a, const axis_view *view) { return turn_all(a, view->outer, view->columns, view->inner); }

int axis_from_rows(array *a, const axis_view *view) {
  if (view->rows == 0) return exit_ok;
  return turn_all(a, view->outer, view->inner, a->count / view->rows);
}

array axis_shape(const array *a, const axis_view *view, const type_info *type, uint64_t extent) {
  array shape = *a;
  shape.type = type;
  shape.data = NULL;
  shape.memory = NULL;
  shape.count = view->rows * (extent == axis_dropped ? 1 : extent);
  shape.extents[view->extent] = extent;
  if (extent != axis_dropped) return shape;
  for (uint32_t i = view->extent; i + 1 < a->dimensions; i++) shape.extents[i] = a->extents[i + 1];
  shape.dimensions--;
  if (shape.dimensions == 0) {  // one number, as an array of one
    shape.dimensions = 1;
    shape.extents[0] = 1;
  }
  return shape;
}
