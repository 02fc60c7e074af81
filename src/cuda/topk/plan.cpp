// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/topk/plan.h"

#include <cstdio>

#include "core/dtype.h"
#include "cuda/sort/plan.h"

namespace gsort_internal::topk {
namespace {

using ull = unsigned long long;

Shape shape_of(const Request &request) {
  const bool rows = request.operation == Operation::kTopkRows;
  Shape shape{};
  shape.rows = rows ? request.rows : 1;
  shape.columns = rows ? request.columns : request.n;
  shape.k = min_of(request.k, shape.columns);
  shape.key_bytes = dtype_bytes(request.order.dtype);
  return shape;
}

Request request_of(const SortStep &step, const KeyOrder &order, bool pairs) {
  Request r{};
  r.operation = pairs ? Operation::kSortPairs : Operation::kSort;
  r.order = order;
  r.n = step.items;
  r.value_bytes = pairs ? step.index_bytes : 0;
  return r;
}

SortStep sort_step(const Shape &s, const KeyOrder &order) {
  SortStep step{};
  step.all = sorts_all(s);
  step.items = step.all ? s.columns : s.k;
  step.index_bytes = s.columns <= uint64_t{1} << 32 ? 4 : 8;
  step.keys = 0;
  step.indices = slice_bytes(step.items * s.key_bytes);
  step.rest = step.indices + slice_bytes(step.items * step.index_bytes);
  const uint64_t sorts = max_of(sort::workspace_bytes(request_of(step, order, false)),
                                sort::workspace_bytes(request_of(step, order, true)));
  step.bytes = step.rest + max_of(sorts, team_layout(s, true).bytes);
  return step;
}

SelectStep select_step(const Shape &s) {
  SelectStep step{};
  step.items = select_items(s);
  step.sorted = team_layout(s, false, step.items).bytes;
  step.rest = step.sorted + slice_bytes(step.items * sizeof(uint64_t));
  step.bytes = step.rest + sort::workspace_bytes(composite_sort_request(step.items));
  return step;
}

// The most that bytes(n) is for any n from `from` to `to`. It grows with n but where the sort changes its plan, at
// sizes that nobody but the sort knows: they are found as bends of an otherwise straight line. Slices are rounded up,
// so that the line is not quite straight; what a bend too small to be told from that may hide is added to the answer.
constexpr uint64_t kRounding = 16 * 1024;
template <class Bytes>
uint64_t most_between(uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t to_bytes, const Bytes &bytes) {
  if (to - from < 2) return max_of(from_bytes, to_bytes);
  const uint64_t middle = from + (to - from) / 2, middle_bytes = bytes(middle);
  const double share = static_cast<double>(middle - from) / static_cast<double>(to - from);
  const double line =
      static_cast<double>(from_bytes) + share * (static_cast<double>(to_bytes) - static_cast<double>(from_bytes));
  const double bend = static_cast<double>(middle_bytes) - line;
  if (bend < kRounding && -bend < kRounding) return max_of(max_of(from_bytes, to_bytes), middle_bytes) + 2 * kRounding;
  return max_of(most_between(from, from_bytes, middle, middle_bytes, bytes),
                most_between(middle, middle_bytes, to, to_bytes, bytes));
}

// Of rows that are sorted whole and of those that are not, any number of which, but not one, are cut from s.columns
// elements. In parts, so that two bends that cancel each other out are not overlooked.
uint64_t sorts_bytes_max(const Shape &s, const KeyOrder &order) {
  constexpr uint64_t kParts = 64;
  const auto bytes = [&](uint64_t columns) { return sort_step({2, columns, s.k, s.key_bytes}, order).bytes; };
  uint64_t longest = min_of(s.columns, s.k + s.k / 3 + 2);  // row that is sorted whole
  while (!sorts_all({2, longest, s.k, s.key_bytes})) --longest;
  uint64_t most = bytes(s.columns), from = s.k, from_bytes = bytes(from);
  for (uint64_t part = 1; part <= kParts; ++part) {
    const uint64_t to = s.k + (longest - s.k) * part / kParts, to_bytes = bytes(to);
    most = max_of(most, most_between(from, from_bytes, to, to_bytes, bytes));
    from = to, from_bytes = to_bytes;
  }
  return most;
}

// Whether a block's shared memory holds a row is the device's matter; a team's workspace is counted always.
void lay_out(const Request &request, const Options &options, Plan &plan) {
  const Shape &s = plan.shape;
  const Algorithm large = large_k_algorithm(s, options);
  plan.team_layout = team_layout(s, large == Algorithm::kSort);
  if (large == Algorithm::kSort) {
    plan.sort = sort_step(s, request.order);
    plan.workspace_bytes = plan.sort.bytes;
  } else if (large == Algorithm::kSelect) {
    plan.select = select_step(s);
    plan.team_layout = team_layout(s, false, plan.select.items);
    plan.workspace_bytes = plan.select.bytes;
  } else {
    plan.workspace_bytes = plan.team_layout.bytes * teams_max(s);
  }
  plan.workspace_bytes = max_of(plan.workspace_bytes, plan_parts(s).bytes);
  if (wants_buckets(s, options)) plan.workspace_bytes = max_of(plan.workspace_bytes, plan_buckets(s).bytes);
  // A reservation knows rows * columns and k, and says so as one row: then every split into rows must have room.
  if (request.operation != Operation::kTopkRows || s.rows != 1) return;
  const uint64_t split = s.k > kTeamItemsMax ? sorts_bytes_max(s, request.order) : teams_bytes_max(s);
  plan.workspace_bytes = max_of(plan.workspace_bytes, max_of(split, parts_bytes_max(s)));
}

// How the best k are selected before a sort of pairs: by a sample, where there is room for what it lets through.
void plan_split(const Options &options, Plan &plan) {
  TeamPlan &team = plan.team;
  const Shape row{1, plan.shape.columns, plan.shape.k, plan.shape.key_bytes};
  const Sample sample = options.no_sample ? Sample{0, 0} : split_sample(row);
  team.sample = {0, 0}, team.resident = {};
  if (sample.items == 0) return;
  TeamLayout &layout = plan.team_layout;
  // Nothing is sorted on chip. What the sort needs in the same place, and the selection does not, is room as well.
  const uint64_t on_chip = team.buffer_items + team.run_items;
  const uint64_t beside = (plan.sort.bytes - plan.sort.rest - layout.bytes) / plan.composite_bytes;
  // The blocks do not have the same number of candidates.
  if (split_items(row, sample) > team.blocks * on_chip / 8 * 7 + beside) return;
  layout.list_a = layout.bytes, layout.list_a_items = beside;
  team.buffer_items = static_cast<uint32_t>(on_chip), team.run_items = 0;
  team.drawn_rank = 0, team.slot_bits = 0, team.tiles_ahead = 0;
  team.group_lanes = 0, team.groups = kSampleGroups;
  team.sample = sample;
  if (options.sample_rank != 0) team.sample.rank = min_of(options.sample_rank, kSampleGroups);
}

}  // namespace

Request sort_request(const Plan &plan, const KeyOrder &order, bool pairs) {
  return request_of(plan.sort, order, pairs);
}

Request composite_sort_request(uint64_t items) {
  Request r{};
  r.operation = Operation::kSort;
  r.order = {GSORT_U64, false, false};
  r.n = items;
  return r;
}

Plan make_plan(const Request &request, const DeviceFacts &device, const Options &options) {
  const Shape shape = shape_of(request);
  Plan plan{};
  plan.shape = shape;
  if (shape.k == 0 || shape.columns == 0 || shape.rows == 0) return plan;
  plan = choose(shape, device, options);
  lay_out(request, options, plan);
  if (plan.algorithm == Algorithm::kSort && !plan.sort.all) plan_split(options, plan);
  return plan;
}

uint64_t workspace_bytes(const Request &shape) {
  Plan plan{};
  plan.shape = shape_of(shape);
  if (plan.shape.k == 0 || plan.shape.columns == 0 || plan.shape.rows == 0) return 0;
  lay_out(shape, {}, plan);
  return plan.workspace_bytes;
}

void describe(const Request &, const Plan &p, char *text, size_t text_bytes) {
  const Shape &s = p.shape;
  char call[96];
  std::snprintf(call, sizeof call, "top-k: %llu rows of %llu, k = %llu", static_cast<ull>(s.rows),
                static_cast<ull>(s.columns), static_cast<ull>(s.k));
  if (p.algorithm == Algorithm::kBest && p.best.warps)
    std::snprintf(text, text_bytes, "%s: the best of a row by a warp", call);
  else if (p.algorithm == Algorithm::kBest)
    std::snprintf(text, text_bytes, "%s: the best of a row by %u block%s", call, p.best.parts,
                  p.best.parts == 1 ? ""
                  : p.best.cluster  ? "s (clusters)"
                                    : "s");
  else if (p.algorithm == Algorithm::kLanes)
    std::snprintf(text, text_bytes, "%s: %u lanes a row", call, p.lanes.lanes);
  else if (p.algorithm == Algorithm::kSortedLanes)
    std::snprintf(text, text_bytes, "%s: %u lanes a row, which they sort", call, p.sorted_lanes.lanes);
  else if (p.algorithm == Algorithm::kBoundLanes)
    std::snprintf(text, text_bytes, "%s: one warp a row, bound by %u groups a lane", call, p.bound_lanes.groups);
  else if (p.algorithm == Algorithm::kBoundRows)
    std::snprintf(text, text_bytes, "%s: one block of %u warps a row, bound by groups of each", call,
                  p.bound_rows.warps);
  else if (p.algorithm == Algorithm::kParts)
    std::snprintf(text, text_bytes, "%s: %u parts a row, one block of %u warps each, then a merge", call,
                  p.parts.of_row, p.parts.rows.warps);
  else if (p.algorithm == Algorithm::kStream)
    std::snprintf(text, text_bytes, "%s: one block of %u threads a row, which is its own sample", call,
                  p.stream.threads);
  else if (p.algorithm == Algorithm::kWarp)
    std::snprintf(text, text_bytes, "%s: one warp a row", call);
  else if (p.algorithm == Algorithm::kTile)
    std::snprintf(text, text_bytes, "%s: one block of %u threads a row, which it holds", call, p.tile_threads);
  else if (p.algorithm == Algorithm::kRows)
    std::snprintf(text, text_bytes, "%s: one block of %u threads a row, %s", call, p.rows.threads,
                  s.columns <= rows_room(p.rows.threads) ? "which it lists"
                  : p.rows.bounds.rank == 0              ? "tile by tile"
                  : p.rows.bounds.tiles == 0             ? "bound by a sample"
                                                         : "bound by two samples");
  else if (p.algorithm == Algorithm::kTeam)
    std::snprintf(text, text_bytes, "%s: %u teams of %u blocks%s, sample of %llu, bound at its rank %llu", call,
                  p.team.teams, p.team.blocks, p.team.cluster ? " (clusters)" : "",
                  static_cast<ull>(p.team.sample.items), static_cast<ull>(p.team.sample.rank));
  else if (p.algorithm == Algorithm::kBuckets)
    std::snprintf(text, text_bytes,
                  "%s: buckets by the blocks of a grid%s, %u blocks, bound at rank %u of a sample of %u", call,
                  p.buckets.is_long ? " that read tiles" : "", p.buckets.blocks, p.buckets.rank, p.buckets.samples);
  else if (p.algorithm == Algorithm::kSelect)
    std::snprintf(text, text_bytes, "%s: %llu listed by %u blocks, sample of %llu, then a sort of u64", call,
                  static_cast<ull>(p.select.items), p.team.blocks, static_cast<ull>(p.team.sample.items));
  else
    std::snprintf(text, text_bytes, "%s: %s of pairs", call,
                  p.sort.all                 ? "sort"
                  : p.team.sample.items != 0 ? "selection by a sample, then a sort"
                                             : "exact selection, then a sort");
}

}  // namespace gsort_internal::topk
