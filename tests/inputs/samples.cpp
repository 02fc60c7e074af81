// SPDX-License-Identifier: MIT OR Apache-2.0
#include "inputs/samples.h"

#include <algorithm>
#include <cstdlib>

namespace gsort_test {
namespace {

// Around warps, blocks and the tiles that small arrays meet. 1 to 7 have no room for some patterns.
const std::vector<uint64_t> kSizes = {0,    1,    2,    3,    7,    31,   32,   33,   63,   64,    65,
                                      127,  128,  129,  255,  256,  257,  511,  512,  513,  1023,  1024,
                                      1025, 2047, 2048, 2049, 3072, 4095, 4096, 4097, 8193, 20001, 66001};
const std::vector<uint64_t> kFewSizes = {0, 1, 2, 33, 257, 1025, 4097};
// At these every flag is tried with every distribution.
const std::vector<uint64_t> kAllFlagSizes = {257, 2049, 4097};

// GSORT_TESTS_SEED in the environment: other samples than those of every other number.
uint64_t first_seed() {
  const char *text = std::getenv("GSORT_TESTS_SEED");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10) * 1000003;
}

std::vector<Sample> make_samples(gsort_dtype t, const FlagSets &flag_sets, const std::vector<uint64_t> &sizes) {
  std::vector<Sample> all;
  const uint64_t first = first_seed();
  uint64_t counter = 0;
  for (uint64_t round = 0; round < rounds(); round++) {
    for (const Distribution distribution : kAllDistributions) {
      if (!applies(distribution, t)) continue;
      for (const uint64_t n : sizes) {
        const bool every_flag = std::find(kAllFlagSizes.begin(), kAllFlagSizes.end(), n) != kAllFlagSizes.end();
        const size_t flag_count = every_flag ? flag_sets.size() : 1;
        for (size_t f = 0; f < flag_count; f++, counter++) {
          const uint32_t flags = flag_sets[(counter + round) % flag_sets.size()];
          const auto offset = static_cast<uint32_t>(counter % 3 == 0 ? 0 : counter % 16);
          all.push_back({distribution, t, n, first + counter + round * 7919, flags, offset, counter % 5 < 2});
        }
      }
    }
  }
  return all;
}

}  // namespace

uint64_t rounds() {
  const char *text = std::getenv("GSORT_TESTS_ROUNDS");
  return text == nullptr ? 1 : std::max<uint64_t>(std::strtoull(text, nullptr, 10), 1);
}

std::string Sample::describe() const {
  return std::string(distribution_name(distribution)) + ", " + element_type(type).name + ", n " + std::to_string(n) +
         ", seed " + std::to_string(seed) + "," + describe_flags(flags) + ", offset " +
         std::to_string(offset_elements) + (in_place ? ", in place" : "");
}

std::vector<Sample> samples(gsort_dtype t, const FlagSets &flag_sets) { return make_samples(t, flag_sets, kSizes); }

std::vector<Sample> few_samples(gsort_dtype t, const FlagSets &flag_sets) {
  return make_samples(t, flag_sets, kFewSizes);
}

}  // namespace gsort_test
