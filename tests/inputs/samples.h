// SPDX-License-Identifier: MIT OR Apache-2.0
// The samples that a differential test walks through: every distribution with every size, while flags, alignment and
// in-place use rotate so that each meets each.
#ifndef GSORT_TESTS_INPUTS_SAMPLES_H_
#define GSORT_TESTS_INPUTS_SAMPLES_H_

#include <string>

#include "inputs/distributions.h"
#include "support/run.h"

namespace gsort_test {

struct Sample {
  Distribution distribution;
  gsort_dtype type;
  uint64_t n;
  uint64_t seed;
  uint32_t flags;
  uint32_t offset_elements;
  bool in_place;

  Array make() const { return generate(distribution, type, n, seed); }
  Where where(gsort *g, Place place) const { return {g, place, place, offset_elements, in_place}; }
  std::string describe() const;
};

using FlagSets = std::vector<uint32_t>;
inline const FlagSets kSortFlags = {0, GSORT_DESCENDING, GSORT_NAN_LAST, GSORT_DESCENDING | GSORT_NAN_LAST};
inline const FlagSets kTopkFlags = {0, GSORT_SMALLEST, GSORT_NAN_LAST, GSORT_SMALLEST | GSORT_NAN_LAST};

// GSORT_TESTS_ROUNDS in the environment, at least 1: multiplies samples and repeats.
uint64_t rounds();

// Each round has other seeds, and so has each GSORT_TESTS_SEED in the environment.
std::vector<Sample> samples(gsort_dtype t, const FlagSets &flag_sets);
// A short list for slow references and for second aspects: some thousand elements at most.
std::vector<Sample> few_samples(gsort_dtype t, const FlagSets &flag_sets);

}  // namespace gsort_test

#endif  // GSORT_TESTS_INPUTS_SAMPLES_H_
