// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of ragged rows. The host knows neither lengths nor how many rows are of which kind: each kernel finds its rows.
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/topk/launch.h"
#include "cuda/topk/problem.h"
#include "cuda/topk/ragged.cuh"

namespace gsort_internal::topk {
namespace {

Ragged ragged_of(const Request &request, const RaggedLayout &layout, unsigned char *workspace, uint32_t *error) {
  Ragged ragged{};
  ragged.offsets = request.offsets;
  ragged.error = error;
  ragged.elements = request.n;
  ragged.counters = reinterpret_cast<unsigned long long *>(workspace);
  for (uint32_t i = 0; i < kLists; ++i) {
    ragged.lists[i] = reinterpret_cast<uint64_t *>(workspace + layout.lists[i]);
    ragged.capacity[i] = layout.capacity[i];
  }
  return ragged;
}

void list_rows(LaunchChain &chain, const Ragged &ragged, const RaggedPlan &plan, unsigned char *workspace,
               uint64_t rows, uint64_t k, const Notice *notice) {
  constexpr const char *kName = "top-k of segments: list of rows";
  const Notice told = notice != nullptr ? *notice : Notice{nullptr, 0};
  if (plan.listed_alone)
    return chain(topk_list_few_rows_kernel, kName, 1, kListAloneThreads, 0, ragged, static_cast<uint32_t>(rows), k,
                 told);
  ListCounters *const counts = zero_counters<ListCounters>(chain.context, workspace + plan.layout.list_counters, true);
  chain(topk_list_rows_kernel, kName, plan.list_blocks, kListThreads, 0, ragged, rows, k, counts, told);
}

// Those on no list.
template <class U>
void launch_unlisted_rows(LaunchChain &chain, const Problem<U> &problem, const RaggedPlan &plan) {
  if (plan.short_items_max == kSomeItemsMax) return launch_short_rows<U>(chain, problem);
  launch_warp<U>(chain, problem, kWarpItemsMax);
}

// How many rows there are, or may be for all the host knows, on each list and for the kernels of blocks and of teams.
struct RowsLeft {
  uint64_t listed[kLists];
  bool for_blocks, for_team;
};

RowsLeft rows_perhaps_left(const RaggedPlan &plan) {
  RowsLeft left{};
  for (uint32_t i = kListTo512; i < kLists; ++i) left.listed[i] = plan.layout.capacity[i];
  if (!plan.cut.any) left.listed[kListParts] = left.listed[kListSplit] = 0;
  left.for_blocks = plan.rows_may_be_for_blocks, left.for_team = plan.rows_may_be_for_team;
  return left;
}

// All rows on the list on which they would be, had they one length: as many as any lists have that share a kernel.
RowsLeft rows_likely_left(const RaggedPlan &plan, uint64_t segments) {
  RowsLeft left{};
  const uint64_t items = plan.whole.columns / segments;
  if (items <= plan.short_items_max) return left;
  if (items <= plan.listed_items_max)
    left.listed[list_by_length(items)] = segments;
  else if (plan.cut.any && items > plan.cut.min)
    left.listed[kListParts] = plan.layout.capacity[kListParts];
  return left;
}

RowsLeft rows_left(const LaunchContext &context, const Notice &notice) {
  RowsLeft left{};
  notice.wait(context.stream);
  if (notice.word(1) != 0) return left;
  for (uint32_t i = 0; i < kLists; ++i) left.listed[i] = notice.word(2 + i);
  const uint64_t longer = left.listed[kListLong];
  const bool many_long = long_rows_by_blocks(longer, notice.word(2 + kLists));
  left.for_blocks = left.listed[kListBlocks] != 0 || many_long;
  left.for_team = left.listed[kListTeam] != 0 || (longer != 0 && !many_long);
  return left;
}

// Warps that merge a row's parts are at least as many as for so many parts, whatever the average of all rows.
constexpr uint64_t kMergedAtLeast = 8;

// Launches the kernels of the rows on lists by length: as rows are done that have one length, the longest of a list's.
template <class U>
class ListedRows {
 public:
  // share: some lists share kernels.
  ListedRows(LaunchChain &chain, Problem<U> &problem, const RaggedPlan &plan, unsigned char *workspace, bool share)
      : chain_(chain), problem_(problem), plan_(plan), workspace_(workspace), share_(share) {}

  // Those of lists that have rows, or may have some, and that have not been launched before.
  void launch(const RowsLeft &left) {
    const uint32_t most = problem_.ragged.listed_items_max;
    if (most == 0) return;
    left_ = &left;
    const bool by_best = problem_.k == 1 && most > kWarpItemsMax;
    if (by_best) {
      with(share_ ? kListTo512 : kListTo1024, kListLonger,
           [&](uint64_t rows) { launch_best_listed<U>(chain_, problem_, rows); });
    } else if (most > kWarpItemsMax) {
      by_parts();
      if (most > 8192) by_blocks(kListLonger, kListLonger, most);
      by_blocks(kListTo8192, kListTo8192, 8192);
      by_blocks(share_ ? kListTo2048 : kListTo4096, kListTo4096, 4096);
      by_blocks(kListTo2048, kListTo2048, 2048);
    }
    if (problem_.ragged.short_items_max != kSomeItemsMax) return;
    if (!by_best) by_warps(share_ ? kListTo512 : kListTo1024, kListTo1024, 1024);
    by_warps(kListTo512, kListTo512, 512);
  }

 private:
  template <class F>
  void with(uint32_t first, uint32_t last, F f) {
    uint64_t rows = 0;
    for (uint32_t list = first; list <= last; ++list) rows += left_->listed[list];
    if (rows == 0 || launched_[first]) return;
    launched_[first] = true;
    problem_.ragged.taken = {first, last};
    f(rows);
    problem_.ragged.waits = false;
  }
  void by_parts() {
    with(kListParts, kListParts,
         [&](uint64_t parts) { launch_parts<U>(chain_, problem_, plan_.parts, workspace_, parts); });
  }
  void by_blocks(uint32_t first, uint32_t last, uint64_t columns) {
    with(first, last, [&](uint64_t rows) {
      launch_bound_rows<U>(chain_, problem_, plan_bound_rows({rows, columns, problem_.k, sizeof(U)}), rows);
    });
  }
  void by_warps(uint32_t first, uint32_t last, uint64_t columns) {
    with(first, last, [&](uint64_t rows) {
      const Shape shape = {rows, columns, problem_.k, sizeof(U)};
      if (problem_.k <= kRaggedLanesMax) return launch_lanes<U>(chain_, problem_, plan_lanes(shape), rows);
      launch_bound_lanes<U>(chain_, problem_, plan_bound_lanes(shape), rows);
    });
  }

  LaunchChain &chain_;
  Problem<U> &problem_;  // whose kernels wait until one has been launched
  const RaggedPlan &plan_;
  unsigned char *const workspace_;  // for parts
  const bool share_;
  const RowsLeft *left_ = nullptr;
  bool launched_[kLists] = {};  // by the first list that a kernel takes
};

template <class U>
Problem<U> problem_of(const Request &request, const RaggedPlan &plan, unsigned char *workspace, uint32_t *error) {
  Problem<U> problem{};
  problem.in = static_cast<const U *>(request.in);
  problem.rows = request.segments, problem.k = request.k;
  problem.index_bits = sizeof(U) == 8 ? 64 : 32;
  problem.codec = make_codec<U>(request.order);
  problem.output = {static_cast<U *>(request.out), request.indices_out, 0};
  if (request.indices_out != nullptr) problem.output.index_bytes = dtype_bytes(request.index_t);
  problem.ragged = ragged_of(request, plan.layout, workspace, error);
  problem.ragged.block_k_max = rows_k_max(plan.rows.threads);
  problem.ragged.short_items_max = plan.short_items_max;
  problem.ragged.listed_items_max = plan.listed_items_max;
  problem.ragged.cuts = plan.cut.any, problem.ragged.cut_min = plan.cut.min;
  problem.ragged.rows_at_once = plan.rows_at_once;
  return problem;
}

template <class U>
void launch_as(const LaunchContext &context, const Request &request, const RaggedPlan &plan, unsigned char *workspace,
               uint32_t *error, const Notice *notice) {
  Problem<U> problem = problem_of<U>(request, plan, workspace, error);
  LaunchChain chain = {context, true};
  list_rows(chain, problem.ragged, plan, workspace, request.segments, request.k, notice);
  problem.ragged.waits = true;
  unsigned char *const parts = workspace + plan.layout.best_of_parts;
  ListedRows<U> listed(chain, problem, plan, parts, ragged_lists_share(request.segments, *context.device));
  // Of few rows, what is likely to be most of the work does not wait for the notice. Of many the longest come first.
  if (notice != nullptr && plan.listed_alone) listed.launch(rows_likely_left(plan, request.segments));
  launch_unlisted_rows<U>(chain, problem, plan);
  problem.ragged.waits = false;
  const RowsLeft left = notice != nullptr ? rows_left(context, *notice) : rows_perhaps_left(plan);
  const bool streams = left.for_blocks && plan.stream.threads != 0;
  if (streams) launch_ragged_stream<U>(chain, problem, plan.stream);
  listed.launch(left);
  if (left.for_blocks && !streams) launch_rows<U>(chain, problem, plan.rows);
  if (left.listed[kListSplit] != 0)
    launch_merge_parts<U>(chain, problem, plan.parts, parts, left.listed[kListSplit],
                          merge_warps(max_of(left.listed[kListParts] / left.listed[kListSplit], kMergedAtLeast)));
  if (!left.for_team) return;
  TeamArgs<U> args{};
  args.problem = problem;
  args.problem.index_bits = index_bits_of(plan.whole);
  args.plan = plan.team;
  args.layout = plan.team_layout;
  args.workspace = workspace + plan.layout.team;
  launch_team<U>(context, args, plan.team_composite_bytes);
}

}  // namespace

bool launch_segments(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out,
                     const Notice *notice) {
  if (request.segments == 0 || request.k == 0) {
    cuda_check(cudaMemsetAsync(error_out, 0, sizeof *error_out, context.stream), "cudaMemsetAsync(error)");
    return false;
  }
  const RaggedPlan plan = make_ragged_plan(request, *context.device);
  log_plan(context, request, plan);
  with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
    launch_as<typename decltype(tag)::type>(context, request, plan, static_cast<unsigned char *>(workspace), error_out,
                                            notice);
  });
  return notice != nullptr;
}

}  // namespace gsort_internal::topk
