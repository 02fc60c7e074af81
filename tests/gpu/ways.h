// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls that take, all together, each way of the plan of each family on a GPU like an H100, and what the log says of
// the way of each. Where a threshold moves, a call's line is another one, and the test that holds them to it fails.
#ifndef GSORT_TESTS_GPU_WAYS_H_
#define GSORT_TESTS_GPU_WAYS_H_

#include <string>
#include <vector>

#include "inputs/distributions.h"

namespace gsort_test {

enum class Called {
  kSort,
  kPairs,
  kArgsort,
  kRank,
  kMerge,
  kSegments,
  kTopk,
  kTopkRows,
  kTopkSegments,
  kReduce,
  kScan
};

struct WayCall {
  Called called;
  gsort_dtype type;
  uint64_t n;             // elements of all rows or segments
  const char *says;       // a part of the log of the call
  uint64_t argument = 0;  // bytes of a value; k; GSORT_MIN to GSORT_MEAN, or 0: the sum
  uint64_t rows = 1;      // rows, or segments of equal length; 0: of lengths for every class of segments
  Distribution keys = Distribution::kUniform;
  uint32_t flags = 0;
  bool in_place = false;
  bool little_memory = false;  // with an eighth of the bytes of its input
  uint64_t input_bytes() const;
  std::string name() const;
};

std::vector<WayCall> calls_of_all_ways();
bool reads_the_same(const WayCall &a, const WayCall &b);

// The device that they are for; others may take other ways.
constexpr uint32_t kWaysCapability = 90, kWaysMultiprocessors = 128;

// Arrays of a call, or their sizes in bytes.
template <class Each>
struct WayArrays {
  Each keys, values, offsets, keys_out, values_out, indices_out;
};
WayArrays<uint64_t> array_sizes(const WayCall &call);
// Of a call in place keys_out and values_out are what is sorted.
gsort_status run(gsort *g, const WayCall &call, const WayArrays<void *> &arrays);

// The offsets of a call on segments, one more than there are segments.
std::vector<uint64_t> offsets_of(const WayCall &call);

}  // namespace gsort_test

#endif  // GSORT_TESTS_GPU_WAYS_H_
