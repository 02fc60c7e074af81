// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of a sort, a sort of pairs, an argsort or a rank: which algorithm, what each of its parts does, and where
// everything lies in the workspace. One value a call: the size query, the run and the log read the same one. No CUDA
// header: plans are made and tested in every build.
#ifndef GSORT_CUDA_SORT_PLAN_H_
#define GSORT_CUDA_SORT_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "core/request.h"
#include "cuda/engine/device_facts.h"
#include "cuda/sort/fast_path/plan.h"
#include "cuda/sort/inverse_plan.h"
#include "cuda/sort/lsd/plan.h"
#include "cuda/sort/msd/plan.h"
#include "cuda/sort/msd/split_plan.h"
#include "cuda/sort/msd/stable_plan.h"
#include "cuda/sort/sample_sort/plan.h"
#include "cuda/sort/sample_sort/stable_plan.h"
#include "cuda/sort/small/plan.h"

namespace gsort_internal::sort {

static_assert(fast_path::kLongItemsMin > sample_sort::items_max(8), "no workspace is smaller than one of fewer keys");

enum class Algorithm : uint32_t {
  kAuto,
  kRankSort,        // one block, every thread counts the elements below its own
  kSmallBlock,      // one block, everything in shared memory
  kGridSampleSort,  // blocks of one cooperative launch: cut into buckets by a sample, buckets sorted on chip
  kGridRadixSort,   // blocks of one cooperative launch: all stable passes
  kLsd,             // stable passes over memory from the lowest digit
  kMsd,         // keys alone: unstable partition by leading bits, finished on chip; LSD where the data is not for it
  kStable,      // pairs and argsort: stable partition by leading bits, finished on chip; LSD behind it likewise
  kSampleSort,  // keys alone: cells between splitters of a sorted sample, sorted on chip; before it a look for even
                // keys
  kStableSampleSort,  // pairs and argsort: bins between splitters of a sorted sample, finished on chip; a radix sort
                      // behind it likewise
  kCountFill,         // keys of 1 or 2 bytes alone: count every value, write them out
};

const char *algorithm_name(Algorithm algorithm);

// What looks for keys that spread evenly before a sample sort, and sorts those.
enum class EvenFirst : uint32_t { kNothing, kGrid, kMsd };

// Values of 1 or 2 bytes of many pairs travel as 4 bytes: to fetch them by the sorted indices is to fetch as many
// sectors.
constexpr uint64_t kWidenedItemsMin = 1 << 22;

// What travels with a key through the passes.
enum class Carry : uint32_t { kNothing, kValue4, kValue8, kIndex4, kIndex8 };

constexpr uint32_t carry_bytes(Carry carry) {
  return carry == Carry::kNothing ? 0 : carry == Carry::kValue4 || carry == Carry::kIndex4 ? 4 : 8;
}
constexpr bool carries_index(Carry carry) { return carry == Carry::kIndex4 || carry == Carry::kIndex8; }
Carry carry_of(const Request &request);

// Keys of 1 byte alone are counted on every device; there are no kernels for passes over them.
constexpr bool passes_apply(uint32_t key_bytes, bool alone) { return key_bytes > 1 || !alone; }

// What tests ask for, to reach every path at sizes that are quick to check.
struct Options {
  Algorithm algorithm = Algorithm::kAuto;  // not taken where it cannot do the request
  uint32_t portion_tiles = 0;              // 0: the plan's own
  uint32_t sampled_items = 0;              // the grid's sample is drawn from so many leading items; 0: from all
  uint64_t fast_path_items_min = 0;        // 0: the plan's own
  uint64_t inverse_bytes_min = kInverseBytesMin;
  uint64_t dense_items_min = 0;  // 0: the plan's own
};

// What plans ask of a device, answered once.
struct Abilities {
  uint32_t shared_bytes;     // of a block
  uint32_t partition_bytes;  // of a block of the partition sorts, likewise
  bool cooperative_grids;    // of as many blocks as the sorts by a grid have, all on the device at once
};
Abilities abilities_of(const DeviceFacts &device);

// Of no real device: small tiles, as on the least, and tables of partition sorts, as on the greatest, so that a plan
// for it needs no less workspace than one for any other.
constexpr Abilities kMostWorkspace = {0, UINT32_MAX, false};

// The workspace as named slices.
struct Slices {
  // Cleared before every sort by passes; the first zero_bytes of the workspace.
  uint64_t counts, blocks_done, tickets, look_back, look_back_groups, actions, zero_bytes;
  // Sorts that try the fast path clear these as well, at the same time; counts only for keys alone.
  uint64_t fast_path_state, fast_path_counts, fast_path_zero_bytes;

  uint64_t bases;
  uint64_t dense_codes;
  uint64_t keys_x, keys_y;      // x only where the sorted keys are not an output
  uint64_t values_x, values_y;  // x only where the values are not of the travelling kind, or an order is inverted
  uint64_t small_indices;       // pairs sorted on chip
  uint64_t gathered;            // values on their way to an output that is their input
  uint64_t values_wide;         // those that are widened
  uint64_t inverse_cursors;     // ranks found from the order
  uint64_t inverse_records;     // where keys and values have been
  uint64_t fill_counts;         // count and fill: counts, the counter of blocks (both cleared), first places
  uint64_t fill_blocks_done;
  uint64_t fill_bases;
  uint64_t fast_path_bases;
  uint64_t msd_tables;                                    // partition sorts
  uint64_t sample_sort_tables;                            // with values or without
  uint64_t grid_staged, grid_spare, grid_starts;          // the grid's sample sort
  uint64_t grid_counts, grid_group_counts, grid_varying;  // and radix sort
  uint64_t grid_cells;                                    // which it finds
  uint64_t bytes;
};

struct Plan {
  Algorithm algorithm;
  Carry carry;
  uint32_t key_bytes;
  bool gathers_values;    // that do not travel: they are fetched by the sorted indices in the end
  bool widens_values;     // of 1 or 2 bytes, which travel as 4
  bool inverts_order;     // for ranks, which are not stored as they come
  bool tries_fast_path;   // before a sort by passes or partitions, which may have nothing to do then
  bool grid_finds_cells;  // of a radix sort by a grid: keys that spread evenly are moved once and finished in cells
  uint32_t sampled_items;

  lsd::Plan lsd;                          // also behind the partition sorts and the stable sample sort
  uint32_t dense_passes_min;              // of lsd: what dense keys must save; 0: they are not tried
  lsd::GridPlan grid_radix;               // of kGridRadixSort, and before a sample sort
  msd::Plan msd;                          // of kMsd, and before a sample sort
  msd::SplitPlan split;                   // of kMsd; no sample: splitters are not tried
  sample_sort::Plan sample_sort;          // of kSampleSort
  EvenFirst even_first;                   // of kSampleSort
  sample_sort::StablePlan stable_sample;  // of kStableSampleSort
  msd::StablePlan stable;                 // of kStable
  small::GridPlan grid;                   // of kGridSampleSort
  fast_path::Plan fast_path;              // where it is tried
  uint64_t look_back_tiles;

  uint64_t workspace_bytes;
  Slices slices;
};

Plan make_plan(const Request &request, const DeviceFacts &device, const Options &options = {});

// An upper bound for every device.
uint64_t workspace_bytes(const Request &shape, const Options &options = {});

// One line for the log.
void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

// Sorts of keys alone that can be told by a device word that there is nothing to do.
constexpr bool can_be_done(Algorithm algorithm) {
  return algorithm == Algorithm::kMsd || algorithm == Algorithm::kLsd || algorithm == Algorithm::kSampleSort;
}

inline Options passes_alone() {
  Options options{};
  options.algorithm = Algorithm::kLsd;
  return options;
}

// Sorts on chip, in one launch.
constexpr bool is_on_chip(Algorithm algorithm) {
  return algorithm == Algorithm::kRankSort || algorithm == Algorithm::kSmallBlock ||
         algorithm == Algorithm::kGridSampleSort;
}

}  // namespace gsort_internal::sort

#endif  // GSORT_CUDA_SORT_PLAN_H_
