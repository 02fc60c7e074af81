// SPDX-License-Identifier: MIT OR Apache-2.0
// What count, median and percentile make of elements that come in order, piece by piece.
#ifndef GSORT_TOOLS_ORDERED_ELEMENTS_H_
#define GSORT_TOOLS_ORDERED_ELEMENTS_H_

#include "job.h"
#include "types.h"

// Two elements for a median.
enum { places_max = percentiles_max + 2 };

typedef struct ordered_elements {
  job *j;
  const type_info *type;
  uint64_t at;     // elements that have come
  uint64_t equal;  // count: how often the last one was there
  uint64_t last;   // the bytes of one element
  int place_count;
  uint64_t places[places_max];  // of the elements that the command asks for
  uint64_t picked[places_max];  // these
} ordered_elements;

// `total`: how many elements will come, at least one. The output is open.
void ordered_elements_begin(ordered_elements *o, job *j, const type_info *type, uint64_t total);

// Both return an exit code; `context` is an ordered_elements.
int ordered_elements_take(void *context, const array *piece);
int ordered_elements_end(ordered_elements *o);

// The places, from 0, that the command asks for of `total` numbers in order. Returns how many these are.
int ordered_places(const options *opt, uint64_t total, uint64_t *places);

#endif  // GSORT_TOOLS_ORDERED_ELEMENTS_H_
