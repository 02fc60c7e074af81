// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/in_place/plan.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/dtype.h"
#include "core/slices.h"
#include "cuda/sort/msd/tables.h"
#include "cuda/sort/plan.h"

namespace gsort_internal::sort::in_place {
namespace {

using ull = unsigned long long;

// Of those that count keys of 2 bytes any will do.
constexpr DeviceFacts kCountingDevice = {90, 132, 227 * 1024};

uint64_t square_root(uint64_t square) {
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << 31; bit != 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= square) root += bit;
  return root;
}

// Keys alone may be asked for by radix passes (part_options()).
uint64_t sort_bytes(const Request &shape, uint64_t n, uint32_t value_bytes) {
  Request part{};
  part.operation = value_bytes == 0 ? Operation::kSort : Operation::kSortPairs;
  part.order = shape.order;
  part.n = n;
  part.value_bytes = value_bytes;
  const uint64_t bytes = workspace_bytes(part);
  return value_bytes != 0 ? bytes : std::max(bytes, workspace_bytes(part, passes_alone()));
}

// The slices of one step, all of which begin behind the state.
struct Arena {
  uint64_t begin;
  SliceCounter counter;
  uint64_t take(uint64_t bytes) { return begin + counter.take(bytes); }
  uint64_t end() const { return begin + counter.bytes(); }
};

// The most that the sort of a window needs; not always that of the longest, where another way begins between them.
uint64_t window_bytes(const Request &shape, const Plan &plan) {
  uint64_t most = 0;
  for (uint32_t bucket = 0; bucket < plan.buckets; ++bucket) {
    const Window window = window_of(plan, bucket);
    most = std::max(most, sort_bytes(shape, window.end - window.begin, plan.value_bytes));
  }
  return most;
}

uint64_t slots_of(const Plan &plan) {
  const uint64_t brick = brick_items(plan.item_bytes());
  return (plan.n + brick - 1) / brick;
}

uint64_t sample_end(const Request &shape, Plan &plan, Arena arena) {
  Slices &slices = plan.slices;
  slices.sample = arena.take(plan.samples * plan.key_bytes);
  slices.sample_sorted = arena.take(plan.samples * plan.key_bytes);
  slices.sample_workspace = arena.take(sort_bytes(shape, plan.samples, 0));
  return arena.end();
}

uint64_t partition_end(Plan &plan, Arena arena) {
  Slices &slices = plan.slices;
  const uint64_t brick = brick_items(plan.item_bytes()), slots = slots_of(plan), cuts = slots / kSlotsPerCut + 1;
  const uint64_t parts = uint64_t{plan.buckets} * plan.stripes_max + 1;
  slices.counts = arena.take(4 * parts);
  slices.starts = arena.take(8 * parts);
  slices.piece_of = arena.take(4 * parts);
  slices.piece_keys = arena.take(parts * brick * plan.key_bytes);
  slices.piece_values = arena.take(parts * brick * plan.value_bytes);
  slices.source = arena.take(4 * slots);
  slices.target = arena.take(4 * slots);
  slices.moves = arena.take(4 * slots);
  slices.cut_keys = arena.take(cuts * brick * plan.key_bytes);
  slices.cut_values = arena.take(cuts * brick * plan.value_bytes);
  return arena.end();
}

// Lays out what plan.samples, plan.buckets and plan.stripes_max ask for, and returns the bytes.
uint64_t lay_out(const Request &shape, Plan &plan) {
  SliceCounter first;
  plan.slices.state = first.take(kStateBytes);
  plan.slices.done = first.take(4);
  const Arena arena = {first.bytes(), {}};
  Arena windows = arena;
  plan.slices.window_workspace = windows.take(window_bytes(shape, plan));
  return std::max({sample_end(shape, plan, arena), partition_end(plan, arena), windows.end()});
}

// As many as their sort has room for, and so few that there are many items for each.
uint64_t samples_for(const Request &shape, Plan plan, uint64_t most_bytes) {
  uint64_t samples = kSamplesMax;
  while (samples > plan.n / 32) samples /= 2;
  for (; samples >= 1024; samples /= 2) {
    plan.samples = samples;
    if (sample_end(shape, plan, {kStateBytes + kSliceAlignment, {}}) <= most_bytes) return samples;
  }
  return 0;
}

// As many stripes as there is room for their pieces, up to what the largest devices can use.
uint32_t stripes_for(const Request &shape, Plan plan, uint64_t most_bytes) {
  constexpr uint32_t kStripesMost = 1024, kStripesLeast = 8;
  for (uint32_t stripes = kStripesMost; stripes >= kStripesLeast; stripes -= stripes / 8) {
    plan.stripes_max = stripes;
    if (lay_out(shape, plan) <= most_bytes) return stripes;
  }
  return 0;
}

// The sort of keys of 2 bytes on a device that holds their counters.
sort::Plan counting_plan(const Request &shape) {
  sort::Options options;
  options.algorithm = Algorithm::kCountFill;
  return sort::make_plan(shape, kCountingDevice, options);
}

Plan make_counting_plan(const Request &shape, Plan plan, uint64_t most_bytes) {
  plan.workspace_bytes = counting_plan(shape).workspace_bytes;
  plan.applies = plan.counts = plan.workspace_bytes <= most_bytes;
  return plan;
}

// What an eighth of the bytes leaves beside what the engine adds to a workspace.
uint64_t most_bytes_of(const Plan &plan) {
  return plan.n * plan.item_bytes() / 8 / kSliceAlignment * kSliceAlignment - kEngineBytes;
}

bool takes(const Request &shape) {
  const uint32_t key_bytes = dtype_bytes(shape.order.dtype), value_bytes = shape.value_bytes;
  if (shape.operation == Operation::kSort) return key_bytes >= 2;
  return shape.operation == Operation::kSortPairs && key_bytes >= 4 &&
         (value_bytes == 4 || value_bytes == 8 || value_bytes == 16);
}

// The MSD sort's plan for the cells; no second pass: there are none.
msd::Plan cells_of(uint64_t n, uint32_t key_bytes) {
  if (!msd::applies(n, key_bytes)) return {};
  msd::Plan plan = msd::make_plan(n);
  plan.takes_crowds = plan.takes_frequent = false;
  if (plan.counted_late) plan.second_bits = 0;
  return plan;
}

// Lays the first pass out, and then the second, which has what is left of the bytes. Returns where the first, or the
// fast path before it, ends.
uint64_t lay_out_cells(const Plan &plan, CellsPlan &cells, uint64_t most_bytes) {
  const uint64_t brick = bin_brick_keys(plan.key_bytes), slots = (plan.n + brick - 1) / brick;
  CellsSlices &slices = cells.slices;
  Arena both = {plan.slices.done + kSliceAlignment, {}};
  slices.tables = both.take(msd::tables_bytes(cells.msd, {}, plan.key_bytes));
  slices.batches = both.take(kBatchesMax * sizeof(msd::Batch));
  slices.bricks = both.take(2 * uint64_t{cells.bins} * 4);
  Arena first = {both.end(), {}}, look = first;
  slices.left = first.take(uint64_t{cells.bins} * cells.left_each * plan.key_bytes);
  slices.source = first.take(2 * 4 * slots);
  slices.moves = first.take(4 * slots);
  slices.cut_keys = first.take((slots / kSlotsPerCut + 1) * brick * plan.key_bytes);
  slices.fast_path_state = look.take(fast_path::kStateBytes);
  slices.fast_path_counts = look.take(fast_path::kBins * 4);
  slices.fast_path_bases = look.take(fast_path::kBins * 4);
  slices.scratch = both.end();
  cells.batch_keys = 0;
  if (most_bytes > slices.scratch)
    cells.batch_keys =
        static_cast<uint32_t>(std::min<uint64_t>((most_bytes - slices.scratch) / plan.key_bytes, plan.n));
  return std::max(first.end(), look.end());
}

// Of keys alone, behind the rest of the plan.
CellsPlan make_cells_plan(const Plan &plan, uint64_t most_bytes) {
  constexpr uint32_t kStripesMost = 256, kStripesLeast = 64;
  CellsPlan cells{};
  cells.msd = cells_of(plan.n, plan.key_bytes);
  if (cells.msd.second_bits == 0) return {};
  const uint32_t even = msd::even_cells(cells.msd, plan.key_bytes) >> cells.msd.second_bits;
  const uint32_t mapped =
      (plan.key_bytes == 4 ? cells.msd.map_shares : cells.msd.mapped_cells) >> cells.msd.second_bits;
  cells.bins = std::max(even, mapped);
  if (cells.bins > kBinsMax) return {};
  for (cells.stripes_max = kStripesMost; cells.stripes_max >= kStripesLeast;
       cells.stripes_max -= cells.stripes_max / 8) {
    // What a block leaves of a bin is less than a brick, and one brick of a bin may find no slot.
    cells.left_each = (cells.stripes_max + 1) * bin_brick_keys(plan.key_bytes);
    if (lay_out_cells(plan, cells, most_bytes) > most_bytes) continue;
    // Bins are some percent larger than they are on average, and a batch ends with a whole one.
    const uint64_t bin = plan.n / even + plan.n / even / 32 + 1, bins = cells.batch_keys / bin;
    if (bins * (kBatchesMax - 1) < even) return {};
    const uint32_t all = cells.bins << cells.msd.second_bits;
    cells.batch_bins = (std::max(all / 7, kBatchCellsLeast) >> cells.msd.second_bits) + 1;
    cells.applies = true;
    return cells;
  }
  return {};
}

}  // namespace

Plan make_plan(const Request &shape, uint64_t cells_bytes_min) {
  Plan plan{};
  if (!takes(shape)) return plan;
  plan.key_bytes = dtype_bytes(shape.order.dtype);
  plan.value_bytes = shape.operation == Operation::kSort ? 0 : shape.value_bytes;
  plan.n = shape.n;
  if (shape.n < kBytesMin / plan.item_bytes() || slots_of(plan) > kSlotsMax) return plan;
  const uint64_t most_bytes = most_bytes_of(plan);
  if (plan.key_bytes == 2) return make_counting_plan(shape, plan, most_bytes);
  plan.samples = samples_for(shape, plan, most_bytes);
  if (plan.samples == 0) return {};
  // A border's place among the items deviates by half a root of the samples, of `samples`, at most.
  plan.slack = kDeviations * (shape.n / (2 * square_root(plan.samples)) + 1);
  for (plan.buckets = kBucketsMin; plan.buckets <= kBucketsMax; ++plan.buckets) {
    if (shape.n / plan.buckets < 4 * plan.slack) break;
    plan.stripes_max = stripes_for(shape, plan, most_bytes);
    if (plan.stripes_max == 0) continue;
    plan.workspace_bytes = lay_out(shape, plan);
    plan.applies = true;
    if (plan.value_bytes == 0 && shape.n >= cells_bytes_min / plan.key_bytes)
      plan.cells = make_cells_plan(plan, most_bytes);
    if (plan.cells.applies) plan.workspace_bytes = most_bytes;
    return plan;
  }
  return {};
}

bool cells_fit(const Plan &plan, const DeviceFacts &device) {
  const uint32_t block = bin_block_bytes(plan.key_bytes, plan.cells.bins) + kBinStaticBytes;
  return plan.cells.applies && device.shared_bytes_block_max >= 1024 + std::max(block, kBinSharedBytesMin) &&
         device.shared_bytes_block_max >= 1024 + msd::histogram_bytes(plan.cells.msd);
}

bool fits(const Plan &plan, const DeviceFacts &device) {
  if (plan.counts) return fast_path::kCountFillSharedBytes + 1024 <= device.shared_bytes_block_max;
  return plan.applies &&
         block_items(plan.item_bytes(), plan.buckets) * plan.item_bytes() + kPartitionStaticBytes + 1024 <=
             device.shared_bytes_block_max;
}

bool takes_arrays(const Request &request) {
  if (request.operation != Operation::kSortPairs) return true;
  const auto places = reinterpret_cast<uintptr_t>(request.values_in) | reinterpret_cast<uintptr_t>(request.values_out);
  return request.values_in != nullptr && places % request.value_bytes == 0;
}

void describe(const Request &, const Plan &plan, char *text, size_t text_bytes) {
  if (plan.counts) {
    std::snprintf(text, text_bytes,
                  "sort on the GPU: %llu keys of %u bytes in place, with %llu bytes of scratch memory, by counting",
                  static_cast<ull>(plan.n), plan.key_bytes, static_cast<ull>(plan.workspace_bytes));
    return;
  }
  const Window second = window_of(plan, 1);
  std::snprintf(text, text_bytes,
                "sort on the GPU: %llu keys of %u bytes%s in place, with %llu bytes of scratch memory: partition into "
                "%u buckets by a sample of %llu, then sorts of up to %llu keys",
                static_cast<ull>(plan.n), plan.key_bytes, plan.value_bytes != 0 ? " with their values" : "",
                static_cast<ull>(plan.workspace_bytes), plan.buckets, static_cast<ull>(plan.samples),
                static_cast<ull>(second.end - second.begin));
  if (!plan.cells.applies) return;
  const size_t used = std::strlen(text);
  std::snprintf(text + used, text_bytes - used, "; before it by %u cells in up to %u bins, %u keys at a time",
                msd::even_cells(plan.cells.msd, plan.key_bytes), plan.cells.bins, plan.cells.batch_keys);
}

}  // namespace gsort_internal::sort::in_place
