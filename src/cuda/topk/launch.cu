// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k: which way a call takes, its workspace, and the way of large k (exact selection, then a sort of pairs).
#include "cuda/engine/check.h"
#include "cuda/engine/launch.h"
#include "cuda/sort/sort_plan.h"
#include "cuda/topk/launch.h"

namespace gsort_internal {
namespace {

TopkShape shape_of(const Request &request) {
  const bool rows = request.operation == Operation::kTopkRows;
  TopkShape shape{};
  shape.rows = rows ? request.rows : 1;
  shape.columns = rows ? request.columns : request.n;
  shape.k = topk_min(request.k, shape.columns);
  shape.key_bytes = dtype_bytes(request.order.dtype);
  return shape;
}

// ---- the way of large k ----

// Indices travel through the sort in 4 bytes where they fit, whatever the caller's index type.
uint32_t inner_index_bytes(const TopkShape &s) { return s.columns <= uint64_t{1} << 32 ? 4 : 8; }

// Near k = columns sorting everything is cheaper than selecting first.
bool sorts_all(const TopkShape &s) { return s.k > s.columns - s.columns / 4; }
uint64_t sorted_items(const TopkShape &s) { return sorts_all(s) ? s.columns : s.k; }

struct SortLayout {
  uint64_t keys, indices, rest;  // rest: the selection's workspace, then the sort's
  uint64_t bytes;
};

Request sort_request(const TopkShape &s, const KeyOrder &order, bool pairs) {
  Request r{};
  r.operation = pairs ? Operation::kSortPairs : Operation::kSort;
  r.order = order;
  r.n = sorted_items(s);
  r.value_bytes = pairs ? inner_index_bytes(s) : 0;
  return r;
}

SortLayout sort_layout(const TopkShape &s, const KeyOrder &order) {
  SortLayout l{};
  l.keys = 0;
  l.indices = topk_round(sorted_items(s) * s.key_bytes);
  l.rest = l.indices + topk_round(sorted_items(s) * inner_index_bytes(s));
  const uint64_t sorts =
      topk_max(sort_workspace_bytes(sort_request(s, order, false)), sort_workspace_bytes(sort_request(s, order, true)));
  l.bytes = l.rest + topk_max(sorts, topk_team_layout(s, true).bytes);
  return l;
}

constexpr uint32_t kTakeThreads = 256;

uint32_t take_blocks(uint64_t items) {
  return static_cast<uint32_t>(topk_min((items + kTakeThreads - 1) / kTakeThreads, 4096));
}

template <class From, class To>
__global__ void topk_take_kernel(const From *from, To *to, uint64_t n) {
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < n; i += uint64_t{gridDim.x} * blockDim.x)
    to[i] = static_cast<To>(from[i]);
}

template <class From, class To>
void take(const LaunchContext &context, const void *from, void *to, uint64_t n) {
  topk_take_kernel<<<take_blocks(n), kTakeThreads, 0, context.stream>>>(static_cast<const From *>(from),
                                                                        static_cast<To *>(to), n);
  check_launch("top-k: take");
}

void take_indices(const LaunchContext &context, const void *from, uint32_t from_bytes, void *to, uint32_t to_bytes,
                  uint64_t n) {
  if (from_bytes == 8)
    take<uint64_t, uint64_t>(context, from, to, n);
  else if (to_bytes == 8)
    take<uint32_t, uint64_t>(context, from, to, n);
  else
    take<uint32_t, uint32_t>(context, from, to, n);
}

// Leaves the best k of the row, in the order of the input, in the workspace.
template <class U>
void select_for_sort(const LaunchContext &context, const TopkProblem<U> &row, const TopkShape &s, const TopkPlan &plan,
                     const SortLayout &layout, unsigned char *workspace) {
  TopkTeamArgs<U> args{};
  args.problem = row;
  args.plan = plan.team;
  args.plan.sample = {0, 0};
  args.plan.held = {};
  args.layout = topk_team_layout(s, true);
  args.workspace = workspace + layout.rest;
  args.split_keys = reinterpret_cast<U *>(workspace + layout.keys);
  args.split_indices = row.output.indices != nullptr ? workspace + layout.indices : nullptr;
  args.split_index_bytes = inner_index_bytes(s);
  launch_topk_team<U>(context, args, plan.composite_bytes);
}

template <class U>
void sort_row(const LaunchContext &context, const TopkProblem<U> &row, const KeyOrder &order, const TopkShape &s,
              const TopkPlan &plan, unsigned char *workspace) {
  const SortLayout layout = sort_layout(s, order);
  const TopkOutput<U> &output = row.output;
  const bool pairs = output.indices != nullptr, exact = sorted_items(s) == s.k;
  Request sort = sort_request(s, order, pairs);
  U *const keys = reinterpret_cast<U *>(workspace + layout.keys);
  void *const indices = workspace + layout.indices;
  // Of all keys the sort makes the indices itself.
  sort.in = row.in;
  if (!sorts_all(s)) {
    select_for_sort<U>(context, row, s, plan, layout, workspace);
    sort.in = keys;
    sort.values_in = pairs ? indices : nullptr;
  }
  sort.out = exact && output.values != nullptr ? output.values : keys;
  if (pairs) sort.values_out = exact && output.index_bytes == inner_index_bytes(s) ? output.indices : indices;
  launch_sort(context, sort, workspace + layout.rest);
  if (output.values != nullptr && sort.out != output.values) take<U, U>(context, sort.out, output.values, s.k);
  if (pairs && sort.values_out != output.indices)
    take_indices(context, indices, inner_index_bytes(s), output.indices, output.index_bytes, s.k);
}

// ---- all ways ----

template <class U>
void launch_as(const LaunchContext &context, const Request &request, const TopkShape &s, const TopkPlan &plan,
               unsigned char *workspace) {
  TopkProblem<U> problem{};
  problem.in = static_cast<const U *>(request.in);
  problem.rows = s.rows, problem.columns = s.columns, problem.k = s.k;
  problem.row_stride = request.operation == Operation::kTopkRows ? request.row_stride : s.columns;
  problem.index_bits = plan.index_bits;
  problem.codec = make_codec<U>(request.order);
  problem.output = {static_cast<U *>(request.out), request.indices_out, 0};
  if (request.indices_out != nullptr) problem.output.index_bytes = dtype_bytes(request.index_t);
  if (plan.path == TopkPath::kWarp) return launch_topk_warp<U>(context, problem, static_cast<uint32_t>(s.columns));
  if (plan.path == TopkPath::kRows) return launch_topk_rows<U>(context, problem, plan);
  if (plan.path == TopkPath::kTeam) {
    TopkTeamArgs<U> args{};
    args.problem = problem;
    args.plan = plan.team;
    args.layout = topk_team_layout(s, false);
    args.workspace = workspace;
    return launch_topk_team<U>(context, args, plan.composite_bytes);
  }
  for (uint64_t r = 0; r < s.rows; ++r) {
    TopkProblem<U> row = problem;
    row.rows = 1;
    row.in = problem.in + r * problem.row_stride;
    if (row.output.values != nullptr) row.output.values += r * s.k;
    if (row.output.indices != nullptr)
      row.output.indices = static_cast<unsigned char *>(row.output.indices) + r * s.k * row.output.index_bytes;
    sort_row<U>(context, row, request.order, s, plan, workspace);
  }
}

}  // namespace

uint64_t topk_workspace_bytes_forced(const Request &request, const TopkForce &force) {
  const TopkShape s = shape_of(request);
  if (s.k == 0 || s.columns == 0 || s.rows == 0) return 0;
  // Whether a block's shared memory holds a row is the device's matter; the bound counts the team's workspace always.
  const bool sorts = force.sort || (s.k > kTopkTeamItemsMax && !force.team);
  uint64_t bytes = sorts ? sort_layout(s, request.order).bytes : topk_team_layout(s, false).bytes * topk_teams_max(s);
  // A reservation knows rows * columns and k, and says so as one row: then every split into rows must have room.
  if (request.operation == Operation::kTopkRows && s.rows == 1) {
    if (sorts) {
      // The longest row that is sorted whole.
      TopkShape all{1, topk_min(s.columns, s.k + s.k / 3 + 2), s.k, s.key_bytes};
      while (!sorts_all(all)) --all.columns;
      bytes = topk_max(bytes, sort_layout(all, request.order).bytes);
      // Just up to these sizes a sort takes more workspace than just above them.
      for (const uint64_t edge : {kSmallTilesItemsMax, kStableItemsMax})
        if (edge >= s.k && edge < all.columns)
          bytes = topk_max(bytes, sort_layout({1, edge, s.k, s.key_bytes}, request.order).bytes);
      return bytes;
    }
    bytes = topk_max(bytes, topk_teams_bytes_max(s));
  }
  return bytes;
}

uint64_t topk_workspace_bytes(const Request &shape) { return topk_workspace_bytes_forced(shape, TopkForce{}); }

void launch_topk_forced(const LaunchContext &context, const Request &request, void *workspace, const TopkForce &force) {
  const TopkShape s = shape_of(request);
  if (s.k == 0 || s.columns == 0 || s.rows == 0) return;
  const TopkPlan plan = plan_topk(s, topk_device(*context.device), force);
  if (context.control != nullptr && context.control->has_log()) {
    char line[256];
    topk_describe(s, plan, line, sizeof line);
    context.control->log("%s", line);
  }
  with_width(s.key_bytes, [&](auto tag) {
    using U = typename decltype(tag)::type;
    launch_as<U>(context, request, s, plan, static_cast<unsigned char *>(workspace));
  });
}

void launch_topk(const LaunchContext &context, const Request &request, void *workspace) {
  launch_topk_forced(context, request, workspace, TopkForce{});
}

}  // namespace gsort_internal
