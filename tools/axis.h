// SPDX-License-Identifier: MIT OR Apache-2.0
// An array of any number of dimensions as rows along one of them.
#ifndef GSORT_TOOLS_AXIS_H_
#define GSORT_TOOLS_AXIS_H_

#include "options.h"
#include "types.h"

// The elements along an axis are `columns` apart from each other's neighbours: outer x columns x inner elements.
typedef struct axis_view {
  uint64_t outer, columns, inner;
  uint64_t rows;    // outer x inner
  uint32_t extent;  // which of the extents is `columns`
} axis_view;

// What --axis asks for: one axis, or the whole array as one row, which `a` then becomes (one dimension). `whole`: the
// latter is the default. Returns an exit code.
int axis_choose(const options *opt, bool whole, array *a, axis_view *view);

// Rearranges outer x columns x inner elements as rows x columns and back. They own their memory alone. Nothing is moved
// where inner is 1. Returns an exit code.
int axis_to_rows(array *a, const axis_view *view);
int axis_from_rows(array *a, const axis_view *view);

// An array shaped as `a` with another extent along the axis, or without the axis. It has no memory yet.
#define axis_dropped UINT64_MAX
array axis_shape(const array *a, const axis_view *view, const type_info *type, uint64_t extent);

#endif  // GSORT_TOOLS_AXIS_H_
