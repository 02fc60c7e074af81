// SPDX-License-Identifier: MIT OR Apache-2.0
// Which way a top-k takes, and with which numbers. Pure functions of the call's shape and a few device facts.
#ifndef GSORT_CUDA_TOPK_PLAN_H_
#define GSORT_CUDA_TOPK_PLAN_H_

#include <cstdint>
#include <cstdio>

#include "cuda/topk/shape.h"
#include "cuda/topk/team_plan.h"

namespace gsort_internal {

// Most elements a block sorts in shared memory for one row.
constexpr uint64_t kTopkRowsSortMax = 2048;
// Elements of one row that a block keeps whole; longer rows are filtered first.
constexpr uint64_t kTopkRowsDirectMax = 8192;
// Candidates of a longer row that a block holds.
constexpr uint64_t kTopkRowsCandidatesMax = 12288;
// Up to here a single row is left to one block, and up to the other size one of several rows: a launch of one block
// is cheaper than grid barriers.
constexpr uint64_t kTopkRowsColumnsSingle = (uint64_t{1} << 14) - 1;
constexpr uint64_t kTopkRowsColumnsSeveral = uint64_t{1} << 17;
constexpr uint64_t kTopkSeveralRows = 16;
// Rows that a warp holds, and the most of them it sorts; four warps a block.
constexpr uint32_t kTopkWarpItemsMax = 1024;
constexpr uint32_t kTopkWarpSortMax = 256;
constexpr uint32_t kTopkWarpThreads = 128;

enum class TopkPath : uint32_t { kWarp, kRows, kTeam, kSort };

struct TopkRowsPlan {
  uint32_t threads;
  uint32_t bin_bits;
  uint32_t buffer_items;
  uint32_t direct_items;  // rows of so many elements and less are kept whole
  uint32_t sorted_items;  // a power of two, at least k
  TopkSample sample;
};

struct TopkPlan {
  TopkPath path;
  uint32_t index_bits;
  uint32_t composite_bytes;
  TopkRowsPlan rows;
  TopkTeamPlan team;
};

// For tests: make a call take the way it would not take by itself.
struct TopkForce {
  bool warp = false, rows = false, team = false, sort = false;  // a way that cannot do the call is not taken
  bool no_sample = false;
  bool no_cluster = false;
  bool random_sample = false;  // also where the whole row would take the sample's place
  uint64_t sample_rank = 0;    // not 0: in place of the planned one (1: too few candidates; huge: too many)
  uint32_t count_items = 0;    // not 0: in place of the planned ones (small: candidates are thinned out first)
};

// Candidates of a row that a sample lets expect.
GSORT_HOST_DEVICE constexpr uint64_t topk_rows_expected(const TopkSample &sample, uint64_t columns) {
  return (sample.rank + sample.rank / 8 + 1) * (columns / sample.items + 1);
}

// The sample of a row that one block filters into room for `room` elements; items = 0 if none suits.
GSORT_HOST_DEVICE constexpr TopkSample topk_rows_sample(uint64_t columns, uint64_t k, uint64_t room) {
  const uint64_t direct = topk_min(room, kTopkRowsDirectMax);
  const uint64_t m = topk_min(topk_max(topk_power_up(columns / 32), 1024), topk_power_down(direct));
  if (m == 0 || columns < 2 * m) return {0, 0};
  const TopkSample sample{m, topk_sample_rank(k, m, columns)};
  return sample.rank < m / 2 && topk_rows_expected(sample, columns) <= room / 5 * 3 ? sample : TopkSample{0, 0};
}

GSORT_HOST_DEVICE constexpr uint32_t topk_rows_sorted_items(uint64_t k) {
  return static_cast<uint32_t>(topk_max(topk_power_up(k), 32));
}

// Composites beside the counters and `sorted_items` that fit a block's shared memory.
constexpr uint64_t topk_rows_room(uint32_t composite_bytes, uint32_t bin_bits, uint32_t sorted_items,
                                  const TopkDevice &d) {
  const uint64_t fixed = kTopkScratchBytes + (uint64_t{4} << bin_bits) + uint64_t{sorted_items} * composite_bytes;
  return fixed < d.shared_bytes_block_max ? (d.shared_bytes_block_max - fixed) / composite_bytes : 0;
}

// False if a block cannot hold what a row needs.
constexpr bool topk_plan_rows(const TopkShape &s, const TopkDevice &d, TopkRowsPlan &plan) {
  if (s.k > kTopkRowsSortMax || s.columns >= uint64_t{1} << 31) return false;
  plan.sorted_items = topk_rows_sorted_items(s.k);
  plan.bin_bits = s.columns <= 2048 ? 8 : kTopkBinBits;
  const uint64_t most = topk_rows_room(topk_composite_bytes(s), plan.bin_bits, plan.sorted_items, d);
  const uint64_t direct = topk_min(most, kTopkRowsDirectMax), room = topk_min(most, kTopkRowsCandidatesMax);
  plan.threads = s.columns <= 128 ? 32 : s.columns <= 512 ? 128 : s.columns <= 2048 ? 256 : 512;
  if (s.columns > 4096 && s.rows <= d.multiprocessors) plan.threads = 1024;
  // The sort holds at most four composites a thread.
  plan.threads = static_cast<uint32_t>(topk_max(plan.threads, plan.sorted_items / 4));
  plan.sample = {0, 0};
  plan.direct_items = static_cast<uint32_t>(s.columns <= direct ? s.columns : 0);
  plan.buffer_items = static_cast<uint32_t>(s.columns <= direct ? s.columns : room);
  if (s.columns <= direct) return true;
  plan.sample = topk_rows_sample(s.columns, s.k, room);
  if (plan.sample.items == 0) return false;
  // Several blocks on an SM hide each other's waits: no more room than is likely to be used.
  if (s.rows > d.multiprocessors)
    plan.buffer_items = static_cast<uint32_t>(
        topk_min(room, topk_max(plan.sample.items, 2 * topk_rows_expected(plan.sample, s.columns) + 512)));
  return true;
}

constexpr TopkPlan plan_topk(const TopkShape &s, const TopkDevice &d, const TopkForce &force) {
  TopkPlan plan{};
  plan.index_bits = topk_index_bits(s);
  plan.composite_bytes = topk_composite_bytes(s);
  const bool rows_fit = topk_plan_rows(s, d, plan.rows);
  const bool rows_better = s.columns <= kTopkRowsColumnsSingle || s.rows >= d.multiprocessors / 2 ||
                           (s.columns <= kTopkRowsColumnsSeveral && s.rows > kTopkSeveralRows);
  plan.path = rows_fit && rows_better ? TopkPath::kRows : TopkPath::kTeam;
  if (plan.path == TopkPath::kTeam && s.k > kTopkTeamItemsMax) plan.path = TopkPath::kSort;
  // A block is quicker with a row, but it takes a warp's rows at the speed of its barriers.
  const bool warp_fits = s.columns <= kTopkWarpItemsMax && s.k <= kTopkWarpSortMax;
  if (warp_fits && (s.rows > 4 * uint64_t{d.multiprocessors} || force.warp)) plan.path = TopkPath::kWarp;
  if (force.rows && rows_fit) plan.path = TopkPath::kRows;
  if (force.team) plan.path = TopkPath::kTeam;
  if (force.sort) plan.path = TopkPath::kSort;
  // Before a sort the rows are selected from one after the other, each by all blocks: a team for every row would wait
  // for teams that have none.
  const TopkShape at_a_time{plan.path == TopkPath::kSort ? 1 : s.rows, s.columns, s.k, s.key_bytes};
  plan.team = topk_plan_team(at_a_time, d);
  if (force.no_cluster) plan.team.cluster = false;
  if (force.no_sample) plan.team.sample = {0, 0};
  if (force.random_sample && plan.team.group_lanes != 0)
    plan.team.sample = topk_team_sample(s), plan.team.group_lanes = 0, plan.team.groups = kTopkSampleGroups;
  if (force.sample_rank != 0 && plan.team.sample.items != 0)
    plan.team.sample.rank = topk_min(force.sample_rank, plan.team.groups);
  if (force.count_items != 0) plan.team.count_items = force.count_items;
  plan.team.held = topk_plan_held(at_a_time, plan.team);
  plan.team.drawn_rank = topk_drawn_rank(s, plan.team);
  plan.team.slot_bits = topk_few_slots(s, plan.team);
  plan.team.tiles_ahead = topk_tiles_ahead(s, plan.team);
  if (force.sample_rank != 0 && plan.rows.sample.items != 0)
    plan.rows.sample.rank = topk_min(force.sample_rank, plan.rows.sample.items);
  return plan;
}

// One line for the log.
inline void topk_describe(const TopkShape &s, const TopkPlan &p, char *text, size_t text_bytes) {
  const auto ull = [](uint64_t v) { return static_cast<unsigned long long>(v); };
  if (p.path == TopkPath::kWarp)
    std::snprintf(text, text_bytes, "top-k: %llu rows of %llu, k = %llu: one warp a row", ull(s.rows), ull(s.columns),
                  ull(s.k));
  else if (p.path == TopkPath::kRows)
    std::snprintf(text, text_bytes, "top-k: %llu rows of %llu, k = %llu: one block of %u threads a row, sample of %llu",
                  ull(s.rows), ull(s.columns), ull(s.k), p.rows.threads, ull(p.rows.sample.items));
  else if (p.path == TopkPath::kTeam)
    std::snprintf(text, text_bytes,
                  "top-k: %llu rows of %llu, k = %llu: %u teams of %u blocks%s, sample of %llu, bound at its rank %llu",
                  ull(s.rows), ull(s.columns), ull(s.k), p.team.teams, p.team.blocks,
                  p.team.cluster ? " (clusters)" : "", ull(p.team.sample.items), ull(p.team.sample.rank));
  else
    std::snprintf(text, text_bytes, "top-k: %llu rows of %llu, k = %llu: exact selection, then a sort of pairs",
                  ull(s.rows), ull(s.columns), ull(s.k));
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_TOPK_PLAN_H_
