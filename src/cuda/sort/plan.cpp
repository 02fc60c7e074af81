// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/plan.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "core/dtype.h"
#include "core/slices.h"
#include "cuda/sort/msd/tables.h"
#include "cuda/sort/sample_sort/stable_tables.h"
#include "cuda/sort/sample_sort/tables.h"

namespace gsort_internal::sort {
namespace {

using ull = unsigned long long;

bool is_pairs(const Request &request) { return request.operation == Operation::kSortPairs; }
// The order of the input is wanted, not the keys alone.
bool wants_sources(const Request &request) { return request.operation != Operation::kSort; }
bool keys_are_output(const Request &request) { return is_pairs(request) || request.operation == Operation::kSort; }
bool widens_values(const Request &request) {
  return is_pairs(request) && (request.value_bytes == 1 || request.value_bytes == 2) && request.n >= kWidenedItemsMin;
}

// What a plan would choose, and what it may be asked to choose instead.
struct Choice {
  bool rank, block, grid_sample, grid_radix, found_cells, msd, stable, sample_sort, share, stable_sample, count, passes;
};

Choice choices(const Request &request, const Plan &plan, const Abilities &abilities, Algorithm asked) {
  const bool alone = plan.carry == Carry::kNothing;
  const bool partition = abilities.partition_bytes >= msd::kSharedBytesMin;
  const bool partition_stable = abilities.partition_bytes >= msd::kStableSharedBytesMin;
  Choice can{};
  can.rank = request.n <= small::kRankSortItemsMax;
  can.block = small::block_applies(request.n, plan.key_bytes, wants_sources(request), abilities.shared_bytes);
  can.grid_sample = abilities.cooperative_grids && abilities.shared_bytes >= small::grid_shared_bytes(request.n) &&
                    small::grid_applies(request.n, plan.key_bytes, wants_sources(request));
  can.grid_radix = abilities.cooperative_grids && abilities.shared_bytes >= lsd::kGridSharedBytes &&
                   lsd::grid_applies(request.n, plan.key_bytes, alone);
  // Floats, whose exponents differ, hardly ever spread evenly, and a look at them costs a part of what a sort by four
  // passes takes. Of 8 bytes they have more passes to save.
  can.found_cells = alone && partition && plan.key_bytes >= 4 && request.order.dtype != GSORT_F32;
  const uint64_t float_min = asked == Algorithm::kMsd ? msd::kNarrowMapForcedMin : msd::kFloatItemsMin;
  can.msd = alone && partition && msd::applies(request.n, plan.key_bytes) &&
            !(request.order.dtype == GSORT_F32 && request.n < float_min);
  can.share = abilities.cooperative_grids && abilities.shared_bytes >= sample_sort::kShareSharedBytes;
  can.sample_sort =
      alone && partition && sample_sort::applies(request.n, plan.key_bytes) && (can.share || plan.key_bytes == 8);
  can.stable = !alone && partition_stable &&
               msd::stable_applies(request.n, plan.key_bytes, carry_bytes(plan.carry), asked == Algorithm::kStable);
  can.stable_sample = !alone && abilities.cooperative_grids &&
                      abilities.partition_bytes >= msd::kStableMapSharedBytesMin &&
                      sample_sort::stable_applies(request.n, plan.key_bytes, carry_bytes(plan.carry),
                                                  asked == Algorithm::kStableSampleSort);
  // The counters of all values of 2 bytes must fit a block; those of 1 byte fit any.
  can.count = alone && (plan.key_bytes == 1 ||
                        (plan.key_bytes == 2 && fast_path::kCountFillSharedBytes + 1024 <= abilities.shared_bytes));
  can.passes = passes_apply(plan.key_bytes, alone);
  return can;
}

bool can_take(const Choice &can, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kRankSort:
      return can.rank;
    case Algorithm::kSmallBlock:
      return can.block;
    case Algorithm::kGridSampleSort:
      return can.grid_sample;
    case Algorithm::kGridRadixSort:
      return can.grid_radix;
    case Algorithm::kMsd:
      return can.msd;
    case Algorithm::kStable:
      return can.stable;
    case Algorithm::kSampleSort:
      return can.sample_sort;
    case Algorithm::kStableSampleSort:
      return can.stable_sample;
    case Algorithm::kCountFill:
      return can.count;
    default:
      return algorithm == Algorithm::kLsd && can.passes;
  }
}

// The quickest of those that can.
Algorithm choose(const Request &request, const Plan &plan, const Choice &can) {
  if (can.rank) return Algorithm::kRankSort;
  if (can.grid_sample && request.n > small::single_block_items(plan.key_bytes, wants_sources(request)))
    return Algorithm::kGridSampleSort;
  if (can.block) return Algorithm::kSmallBlock;
  if (can.sample_sort) return Algorithm::kSampleSort;
  if (can.grid_radix) return Algorithm::kGridRadixSort;
  if (can.count && (plan.key_bytes == 1 || request.n >= fast_path::kCountFillItemsMin2)) return Algorithm::kCountFill;
  if (can.stable_sample) return Algorithm::kStableSampleSort;
  if (can.stable) return Algorithm::kStable;
  return can.msd ? Algorithm::kMsd : Algorithm::kLsd;
}

// Floats hardly ever spread evenly, and a look at them costs a part of what the sort itself takes.
EvenFirst even_first(const Request &request, const Choice &can) {
  if (is_float(request.order.dtype)) return EvenFirst::kNothing;
  if (can.grid_radix && can.found_cells) return EvenFirst::kGrid;
  return can.msd ? EvenFirst::kMsd : EvenFirst::kNothing;
}

bool has_passes(Algorithm algorithm) {
  return algorithm == Algorithm::kLsd || algorithm == Algorithm::kMsd || algorithm == Algorithm::kStable ||
         algorithm == Algorithm::kStableSampleSort;
}

uint64_t partition_tables_bytes(const Request &request, const Plan &plan) {
  if (plan.algorithm == Algorithm::kMsd || plan.even_first == EvenFirst::kMsd)
    return msd::tables_bytes(plan.msd, plan.split, plan.key_bytes);
  return plan.algorithm == Algorithm::kStable ? msd::stable_tables(plan.stable, request.n).bytes : 0;
}

// Counting needs no room for keys, nor look-back. Of so few keys that a grid sorts them on another device it has both,
// as these sorts do.
bool counts_alone(const Request &request, const Plan &plan) {
  return plan.algorithm == Algorithm::kCountFill && !lsd::grid_applies(request.n, plan.key_bytes, true);
}

// Whether some device sorts them by middle tiles.
bool may_have_middle_tiles(const Plan &plan) {
  return plan.key_bytes == 4 && plan.carry == Carry::kNothing && !plan.lsd.small_tiles;
}

// Tiles of passes over so many items at most, on any device, and not fewer than of fewer items.
uint64_t tiles_max(uint64_t n, const Plan &plan) {
  const uint64_t tiles = n / plan.lsd.tile_items + 1;
  if (!may_have_middle_tiles(plan)) return tiles;
  return std::max(tiles, std::min(n, lsd::kMiddleTilesItemsMax) / lsd::MiddleTile::kItems + 1);
}

// The first slices, which are cleared, and the digits' first places.
void lay_out_passes(const Plan &plan, SliceCounter &counter, Slices &slices) {
  const lsd::Plan &lsd = plan.lsd;
  slices.counts = counter.take(uint64_t{lsd.digits} * kDigitBins * 8);
  slices.blocks_done = counter.take(8);
  slices.tickets = counter.take((lsd.portions + 1) * lsd.slots * 4);
  slices.look_back = counter.take(plan.look_back_tiles * kDigitBins * 4);
  // As many for more items than go by groups, so that no workspace is smaller than one of fewer items.
  const uint64_t grouped_tiles = tiles_max(lsd::kGroupedItemsMax, plan);
  const uint64_t tiles = plan.look_back_tiles < grouped_tiles ? plan.look_back_tiles : grouped_tiles;
  const uint64_t groups = tiles == 0 || plan.carry != Carry::kNothing ? 0 : tiles / lsd::kGroupTiles + 1;
  slices.look_back_groups = counter.take(groups * lsd.slots * kDigitBins * 4);
  // All zeros is the action of doing nothing.
  slices.actions = counter.take(uint64_t{lsd.slots} * lsd::kPassActionBytes);
  slices.zero_bytes = counter.bytes();
  uint64_t bins = 0;
  if (plan.tries_fast_path) bins = plan.carry == Carry::kNothing ? fast_path::kBins : fast_path::kBinsWithValues;
  slices.fast_path_state = counter.take(plan.tries_fast_path ? fast_path::kStateBytes : 0);
  slices.fast_path_counts = counter.take(bins * 4);
  slices.fast_path_zero_bytes = counter.bytes();
  slices.bases = counter.take(uint64_t{lsd.slots} * 2 * kDigitBins * 8);
}

// What sorts on chip and sample sorts need is counted whether this device takes them or not: another may. asked: by a
// test.
Slices lay_out(const Request &request, const Plan &plan, Algorithm asked) {
  Slices slices{};
  SliceCounter counter;
  lay_out_passes(plan, counter, slices);
  slices.dense_codes = counter.take(plan.dense_passes_min != 0 ? lsd::kDenseCodesBytes : 0);
  slices.inverse_cursors = counter.take(plan.inverts_order ? kInverseCursorBytes : 0);
  const bool pairs = is_pairs(request), sources = wants_sources(request);
  const uint64_t key_bytes = request.n * plan.key_bytes, carried_bytes = request.n * carry_bytes(plan.carry);
  if (plan.inverts_order) slices.values_x = counter.take(carried_bytes);
  slices.keys_x = counter.take(keys_are_output(request) ? 0 : key_bytes);
  const bool grid = small::grid_applies(request.n, plan.key_bytes, sources);
  slices.keys_y = counter.take(counts_alone(request, plan) ? 0 : key_bytes);
  if (!plan.inverts_order)
    slices.values_x = counter.take(plan.gathers_values || plan.widens_values ? carried_bytes : 0);
  slices.values_y = counter.take(carried_bytes);
  const bool on_chip =
      pairs && (grid || small::block_applies(request.n, plan.key_bytes, sources, small::kLongBlockSharedBytes));
  slices.small_indices = counter.take(on_chip ? request.n * 4 : 0);
  slices.gathered = counter.take(plan.gathers_values || on_chip ? request.n * request.value_bytes : 0);
  slices.values_wide = counter.take(plan.widens_values ? carried_bytes : 0);
  const uint64_t fill_bins = plan.key_bytes == 2 && plan.carry == Carry::kNothing ? fast_path::kCountFillBins : 0;
  slices.fill_counts = counter.take(fill_bins * 8);
  slices.fill_blocks_done = counter.take(fill_bins != 0 ? 8 : 0);
  slices.fill_bases = counter.take(fill_bins * 8);
  slices.fast_path_bases = counter.take(slices.fast_path_zero_bytes - slices.fast_path_counts);
  slices.msd_tables = counter.take(partition_tables_bytes(request, plan));
  const uint64_t sample_sort_bytes =
      plan.carry == Carry::kNothing
          ? sample_sort::tables_bytes(request.n, plan.key_bytes)
          : sample_sort::stable_tables_bytes(request.n, plan.key_bytes, carry_bytes(plan.carry),
                                             asked == Algorithm::kStableSampleSort);
  slices.sample_sort_tables = counter.take(sample_sort_bytes);
  // Keys alone are staged where passes would put them, and buckets that no block can hold are sorted in the output.
  const uint64_t staged_bytes = grid && sources ? request.n * small::bytes_of_item(plan.key_bytes, sources) : 0;
  slices.grid_staged = counter.take(staged_bytes);
  slices.grid_spare = counter.take(staged_bytes);
  if (grid && !sources) slices.grid_staged = slices.keys_y;
  slices.grid_starts = counter.take(grid ? small::kGridStartsBytes : 0);
  const bool alone = plan.carry == Carry::kNothing;
  const bool radix = lsd::grid_applies(request.n, plan.key_bytes, alone);
  const uint64_t radix_blocks = radix ? lsd::plan_grid(request.n).blocks : 0;
  slices.grid_counts = counter.take(radix_blocks * kDigitBins * 2);
  slices.grid_group_counts = counter.take(radix_blocks != 0 ? lsd::kGridRounds * lsd::kGridGroupWords * 4 : 0);
  slices.grid_varying = counter.take(radix_blocks * 8);
  slices.grid_cells = counter.take(radix && alone && plan.key_bytes >= 4 ? msd::found_cells_bytes() : 0);
  slices.bytes = counter.bytes();
  if (plan.inverts_order) {
    slices.inverse_records = slices.keys_x;
    slices.bytes = std::max(slices.bytes, slices.inverse_records + request.n * kInverseRecordBytes);
  }
  return slices;
}

// All but the sub-plan of the fast path, which asks how many multiprocessors there are.
Plan plan_for(const Request &request, const Abilities &abilities, const Options &options) {
  Plan plan{};
  plan.carry = carry_of(request);
  plan.key_bytes = dtype_bytes(request.order.dtype);
  plan.gathers_values = is_pairs(request) && carries_index(plan.carry);
  plan.widens_values = widens_values(request);
  plan.sampled_items = options.sampled_items;
  plan.lsd =
      lsd::make_plan(request.n, plan.key_bytes, carry_bytes(plan.carry), abilities.shared_bytes, options.portion_tiles);
  const Choice can = choices(request, plan, abilities, options.algorithm);
  plan.algorithm = can_take(can, options.algorithm) ? options.algorithm : choose(request, plan, can);
  plan.inverts_order =
      request.operation == Operation::kRank && !is_on_chip(plan.algorithm) &&
      inverse_applies(request.n, plan.key_bytes, dtype_bytes(request.index_t), options.inverse_bytes_min);
  plan.tries_fast_path =
      has_passes(plan.algorithm) && plan.algorithm != Algorithm::kStableSampleSort &&
      fast_path::applies(request.n, plan.key_bytes, plan.carry == Carry::kNothing, options.fast_path_items_min);
  if (has_passes(plan.algorithm) &&
      lsd::dense_applies(request.n, plan.key_bytes, plan.carry == Carry::kNothing, options.dense_items_min))
    plan.dense_passes_min = lsd::kDensePassesMin;
  if (plan.algorithm == Algorithm::kMsd) {
    plan.msd = msd::make_plan_on(request.n, abilities.partition_bytes);
    if (plan.key_bytes == 4 && request.n < msd::kNarrowMapItemsMin && options.algorithm != Algorithm::kMsd)
      plan.msd = msd::without_map(plan.msd);
    if (msd::uses_splitters(request.n, plan.key_bytes)) plan.split = msd::plan_split(request.n);
  }
  if (plan.algorithm == Algorithm::kStable) {
    plan.stable = msd::plan_stable_on(request.n, plan.key_bytes, carry_bytes(plan.carry), abilities.partition_bytes);
    if (plan.dense_passes_min != 0)
      plan.stable.dense_passes = keys_are_output(request) ? msd::kDensePassesBack : msd::kDensePasses;
  }
  if (plan.algorithm == Algorithm::kSampleSort) {
    plan.even_first = even_first(request, can);
    if (can.share) plan.sample_sort = sample_sort::make_plan(request.n, plan.key_bytes);
  }
  if (plan.even_first == EvenFirst::kMsd) plan.msd = msd::make_plan_on(request.n, abilities.partition_bytes);
  const bool grid = plan.algorithm == Algorithm::kGridRadixSort || plan.even_first == EvenFirst::kGrid;
  if (grid) plan.grid_radix = lsd::plan_grid(request.n);
  plan.grid_finds_cells = grid && can.found_cells;
  if (plan.algorithm == Algorithm::kStableSampleSort) plan.stable_sample = sample_sort::make_stable_plan(request.n);
  if (plan.algorithm == Algorithm::kGridSampleSort) plan.grid = small::plan_grid(request.n);
  // The stable partition's second pass may end every bin of the first with a part of a tile.
  plan.look_back_tiles = tiles_max(request.n, plan) + (plan.algorithm == Algorithm::kStable ? msd::kStableBinsMax : 0);
  if (counts_alone(request, plan)) plan.look_back_tiles = 0;
  plan.slices = lay_out(request, plan, options.algorithm);
  plan.workspace_bytes = plan.slices.bytes;
  return plan;
}

// A line that grows by what is printed to it.
struct Line {
  char *text;
  size_t bytes, used;

  __attribute__((format(printf, 2, 3))) void add(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int more = std::vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
    if (more > 0) used = used + static_cast<size_t>(more) < bytes ? used + static_cast<size_t>(more) : bytes - 1;
  }
};

}  // namespace

const char *algorithm_name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kRankSort:
      return "rank sort in one block";
    case Algorithm::kSmallBlock:
      return "sort in one block";
    case Algorithm::kGridSampleSort:
      return "sample sort by the blocks of a grid";
    case Algorithm::kGridRadixSort:
      return "LSD radix sort by the blocks of a grid";
    case Algorithm::kLsd:
      return "LSD radix sort";
    case Algorithm::kMsd:
      return "MSD partition sort, an LSD radix sort behind it";
    case Algorithm::kStable:
      return "stable MSD partition sort, an LSD radix sort behind it";
    case Algorithm::kSampleSort:
      return "sample sort";
    case Algorithm::kStableSampleSort:
      return "stable sample sort, a radix sort behind it";
    case Algorithm::kCountFill:
      return "count and fill";
    default:
      return "undecided";
  }
}

Carry carry_of(const Request &request) {
  if (request.operation == Operation::kSort) return Carry::kNothing;
  if (is_pairs(request) && (request.value_bytes == 4 || widens_values(request))) return Carry::kValue4;
  if (is_pairs(request) && request.value_bytes == 8) return Carry::kValue8;
  // The last index is n - 1. Indices for the caller have the caller's type, which holds it, so 4 bytes are never
  // widened where 4 are wanted.
  return request.n <= uint64_t{1} << 32 ? Carry::kIndex4 : Carry::kIndex8;
}

Abilities abilities_of(const DeviceFacts &device) {
  const uint32_t shared = device.shared_bytes_block_max;
  // Smaller chips than those with clusters were not measured.
  const bool grid =
      device.clusters() && device.multiprocessors >= small::kGridBlocksMax && shared >= small::kGridSharedBytesMin;
  return {shared, shared, grid};
}

Plan make_plan(const Request &request, const DeviceFacts &device, const Options &options) {
  Plan plan = plan_for(request, abilities_of(device), options);
  if (may_have_middle_tiles(plan)) plan.lsd = lsd::fit_tiles(plan.lsd, request.n, device.multiprocessors);
  if (plan.tries_fast_path)
    plan.fast_path = fast_path::make_plan(request.n, plan.key_bytes, plan.carry == Carry::kNothing,
                                          device.multiprocessors, device.shared_bytes_block_max);
  return plan;
}

uint64_t workspace_bytes(const Request &shape, const Options &options) {
  const uint64_t bytes = plan_for(shape, kMostWorkspace, options).workspace_bytes;
  // Whoever has room for many keys has it for fewer, of which a sample sort needs more.
  Request fewer = shape;
  fewer.n = shape.operation == Operation::kSort ? sample_sort::items_max(dtype_bytes(shape.order.dtype))
                                                : sample_sort::kStableItemsMax;
  if (shape.n <= fewer.n) return bytes;
  const uint64_t bytes_fewer = plan_for(fewer, kMostWorkspace, options).workspace_bytes;
  return bytes > bytes_fewer ? bytes : bytes_fewer;
}

void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes) {
  Line line = {text, text_bytes, 0};
  line.add("sort on the GPU: %llu keys of %u bytes with %u bytes each: %s", static_cast<ull>(request.n), plan.key_bytes,
           carry_bytes(plan.carry), algorithm_name(plan.algorithm));
  if (plan.algorithm == Algorithm::kGridSampleSort)
    line.add(", %u blocks, %u keys each, a sample of %u", plan.grid.blocks, plan.grid.share, plan.grid.samples);
  if (plan.algorithm == Algorithm::kSampleSort) line.add(", %u bins", sample_sort::kBins);
  if (plan.sample_sort.share_items != 0)
    line.add(", held by %llu blocks", static_cast<ull>((request.n - 1) / plan.sample_sort.share_items + 1));
  if (plan.even_first == EvenFirst::kMsd)
    line.add(", even keys before it by an MSD partition sort, %u cells", msd::even_cells(plan.msd, plan.key_bytes));
  if (plan.algorithm == Algorithm::kMsd)
    line.add(", %u cells%s, %u for uneven keys by a map, partition by %u + %u bits",
             msd::even_cells(plan.msd, plan.key_bytes), plan.msd.counted_late ? " counted between the passes" : "",
             plan.msd.mapped_cells, plan.msd.cell_bits - plan.msd.second_bits, plan.msd.second_bits);
  if (plan.algorithm == Algorithm::kStable)
    line.add(", %u cells, partition by %u + %u bits", 1u << plan.stable.cell_bits, plan.stable.first_bits,
             plan.stable.second_bits);
  if (plan.algorithm == Algorithm::kStableSampleSort)
    line.add(", %u bins, shares of %u pairs", 1u << sample_sort::stable_bin_bits(request.n),
             plan.stable_sample.share_items);
  if (plan.stable.mapped_cells != 0) line.add(", or %u cells by a map of uneven keys", plan.stable.mapped_cells);
  if (plan.grid_finds_cells) line.add(", or one pass to %u cells of even keys", 1u << msd::kFoundCellBits);
  if (plan.grid_radix.blocks != 0)
    line.add("%s, %u blocks, %u keys each", plan.algorithm == Algorithm::kGridRadixSort ? "" : " by a grid",
             plan.grid_radix.blocks, plan.grid_radix.rows * lsd::kGridThreads);
  else if (has_passes(plan.algorithm))
    line.add("; LSD: %u digits, tiles of %u, %llu portions", plan.lsd.digits, plan.lsd.tile_items,
             static_cast<ull>(plan.lsd.portions));
  if (plan.dense_passes_min != 0)
    line.add(", or fewer by dense keys where these save %u at least", plan.dense_passes_min);
  if (plan.widens_values) line.add("; values widened to 4 bytes");
  if (plan.inverts_order) line.add("; ranks by windows of 2^%u", inverse_window_bits(request.n));
  if (!plan.tries_fast_path) return;
  const fast_path::Plan &fast = plan.fast_path;
  line.add("; before it a fast path for ordered keys");
  if (fast.number_bits != 0 && plan.carry == Carry::kNothing)
    line.add(" and combinations of up to %u bits", fast.number_bits);
  else if (fast.number_bits != 0)
    line.add(" and up to %u values", 1u << fast.number_bits);
  line.add(": %u chunks of %u keys", fast.chunks, fast.chunk_items);
}

}  // namespace gsort_internal::sort
