// SPDX-License-Identifier: MIT OR Apache-2.0
// Which way a top-k takes, and with which numbers. Pure functions of the call's shape and a few device facts.
#ifndef GSORT_PLAN_TOPK_PLAN_H_
#define GSORT_PLAN_TOPK_PLAN_H_

#include <cstdint>
#include <cstdio>

#include "core/key_bits.h"

namespace gsort_internal {

// 16-byte loads a thread has in flight while it filters: 4 x 16 B x 1024 threads cover an SM's share of DRAM latency.
constexpr uint32_t kTopkVectorsThread = 4;
// Bits that one histogram pass looks at: 32-bit keys in three passes, and 8 KB of counters.
constexpr uint32_t kTopkBinBits = 11;
constexpr uint32_t kTopkBins = 1u << kTopkBinBits;
// A sample is cut into so many groups; the bound is chosen among the groups' best elements. 2048 keeps that choice
// under 4 us and is six times the ranks that matter.
constexpr uint32_t kTopkSampleGroups = 2048;
// Groups that share all of a row. For k of up to 2048 twice k and more, so that few elements beside
// the best k are at or under the k-th best group's best: k groups of g elements hold at most k g.
constexpr uint32_t kTopkGroupsMax = 8448;
constexpr uint64_t kTopkCountedMax = 2048;
// Up to so many 16-byte vectors and so large a k a team is a cluster of up to 8 blocks, the most that every device with
// clusters has: its barriers take a third of the time, which is more than the other blocks would save.
constexpr uint64_t kTopkClusterVectorsMax = uint64_t{1} << 15;
constexpr uint64_t kTopkClusterKMax = 512;
constexpr uint64_t kTopkClusterBlocks = 8;
// A cluster first tries to do with what its blocks hold in registers and send each other: so many candidates of each
// block, and composites of shared memory for them.
constexpr uint32_t kTopkClusterListItems = 512;
constexpr uint64_t kTopkClusterRoomItems = (kTopkClusterBlocks + 1) * kTopkClusterListItems + 320;
// Most elements that each of a block's 32 warps offers for the bound of a row that is held in registers.
constexpr uint32_t kTopkHeldOffersMax = 8;
// If a grid holds a row in registers: the most candidates that a block may have, and the most places of all blocks'
// lists that are read before anyone knows how many candidates there are.
constexpr uint32_t kTopkGridListItems = 128;
constexpr uint32_t kTopkGridSlots = 132 * 16;
// Shared memory that this takes.
constexpr uint32_t kTopkGridBytes = 32 * 1024;
// Rows of up to so many bytes are read twice, which L2 serves, rather than sampled: no draw can mislead then.
constexpr uint64_t kTopkWholeBytesMax = uint64_t{8} << 20;
// Most blocks of one cooperative launch that have room in the workspace, whatever the device.
constexpr uint32_t kTopkTeamBlocksMax = 256;
constexpr uint32_t kTopkTeamThreads = 1024;
// Above this k the k survivors are sorted by the library's own sort, which then is faster than the in-kernel merge.
constexpr uint64_t kTopkTeamItemsMax = uint64_t{1} << 18;
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
// Static shared memory of the kernels, rounded up.
constexpr uint32_t kTopkScratchBytes = 2048;
// Lists of teams that work on different rows at a time may take so much together.
constexpr uint64_t kTopkTeamsBytesMax = uint64_t{256} << 20;

static_assert(kTopkScratchBytes + kTopkBins * 4 + kTopkSampleGroups * 16 <= 48 * 1024,
              "the groups of a sample fit the smallest device's shared memory in the widest composites");

enum class TopkPath : uint32_t { kWarp, kRows, kTeam, kSort };

struct TopkShape {
  uint64_t rows, columns, k;
  uint32_t key_bytes;
};

struct TopkDevice {
  uint32_t multiprocessors;
  uint32_t shared_bytes_block_max;
  bool clusters = false;  // has barriers of up to 8 neighbouring blocks
};

// How the bound of the filter is sampled; sample_items = 0: no sample, exact selection at once.
struct TopkSample {
  uint64_t items;
  uint64_t rank;
};

struct TopkRowsPlan {
  uint32_t threads;
  uint32_t bin_bits;
  uint32_t buffer_items;
  uint32_t direct_items;  // rows of so many elements and less are kept whole
  uint32_t sorted_items;  // a power of two, at least k
  TopkSample sample;
};

// How the blocks that hold a row in their registers agree on a bound, which at least need * rank elements are at or
// under.
struct TopkHeldBound {
  uint32_t need;       // elements that each block's own bound has at or under it; 0: the row is not held
  uint32_t each;       // of its best that each warp of a block offers
  uint32_t rank;       // of the bound among the blocks' bounds, from 1
  uint32_t slot_bits;  // of a grid: the candidates of a block have 2^slot_bits places that are read unasked
};

struct TopkTeamPlan {
  uint32_t teams;   // rows worked on at a time
  uint32_t blocks;  // of a team
  uint32_t buffer_items;
  uint32_t run_items;  // a power of two: what one block sorts
  TopkSample sample;
  uint32_t tile_vectors;  // 16-byte loads a thread has under way in the filter
  uint32_t group_lanes;   // threads of a group when the whole row takes the sample's place; 0: a random sample
  uint32_t groups;        // whose best elements the bound is chosen among
  uint32_t count_items;   // candidates whose places are found by counting; 0: never
  bool cluster;           // a team is a cluster
  TopkHeldBound held;     // how a row is done in registers, which is tried first
  uint32_t drawn_rank;    // not 0: the bound of a random sample is the one of this rank among the blocks' best draws
  uint32_t slot_bits;     // not 0: few candidates are likely, and each block has 2^slot_bits sure places for its own
  uint32_t tiles_ahead;   // of each block, asked for before the bound is known
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

GSORT_HOST_DEVICE constexpr uint64_t topk_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
GSORT_HOST_DEVICE constexpr uint64_t topk_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

GSORT_HOST_DEVICE constexpr uint32_t topk_bits(uint64_t v) {
  uint32_t bits = 0;
  for (; v != 0; v >>= 1) ++bits;
  return bits;
}
GSORT_HOST_DEVICE constexpr uint64_t topk_power_up(uint64_t v) { return v <= 1 ? 1 : uint64_t{1} << topk_bits(v - 1); }
GSORT_HOST_DEVICE constexpr uint64_t topk_power_down(uint64_t v) {
  return v == 0 ? 0 : uint64_t{1} << (topk_bits(v) - 1);
}

GSORT_HOST_DEVICE constexpr uint64_t topk_root(uint64_t v) {
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << 31; bit != 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= v) root += bit;
  return root;
}

GSORT_HOST_DEVICE constexpr uint32_t topk_index_bits(const TopkShape &s) { return topk_bits(s.columns - 1); }
GSORT_HOST_DEVICE constexpr uint32_t topk_composite_bytes(const TopkShape &s) {
  return s.key_bytes < 8 && s.key_bytes * 8 + topk_index_bits(s) <= 64 ? 8 : 16;
}

// The rank in a sample of m of n elements whose element has at least k of the n at or under it, but for bad luck: the
// number of the best k in the sample is close to Poisson with mean L = k m / n, and more than L + 4 sqrt(L) + 5 of them
// come about once in 10^5 calls or less often.
GSORT_HOST_DEVICE constexpr uint64_t topk_sample_rank(uint64_t k, uint64_t m, uint64_t n) {
  const uint64_t mean = k / (n / m) + 1;
  return mean + 4 * topk_root(mean) + 5;
}

// How far above its rank the bound may lie: saves passes over the sample, costs as many more candidates.
GSORT_HOST_DEVICE constexpr uint64_t topk_sample_slack(uint64_t rank) { return rank / 4 + 3; }

GSORT_HOST_DEVICE constexpr TopkSample topk_team_sample(const TopkShape &s) {
  if (s.columns < uint64_t{1} << 14 || s.k > s.columns / 8) return {0, 0};
  uint64_t m = topk_power_down(s.columns / 64);
  // For small k more candidates are cheaper than more random reads.
  m = topk_max(topk_min(m, uint64_t{1} << (s.k <= kTopkCountedMax ? 17 : 18)), kTopkSampleGroups);
  // Of G groups' best the rank may be a third of G: two samples of that rank rarely share a group.
  while (m > kTopkSampleGroups && topk_sample_rank(s.k, m, s.columns) > kTopkSampleGroups / 3) m /= 2;
  const uint64_t rank = topk_sample_rank(s.k, m, s.columns);
  return rank <= kTopkSampleGroups / 3 ? TopkSample{m, rank} : TopkSample{0, 0};
}

// Room for candidates: twice the expected number and 30 ranks more, a quarter for groups shared by two good samples,
// and a tile in which all ties pass. More than this come about once in 10^8 calls, and then cost exact passes.
constexpr uint64_t topk_team_list_items(const TopkShape &s) {
  const TopkSample sample = topk_team_sample(s);
  if (sample.items == 0) return 0;
  const uint64_t likely = (2 * sample.rank + 30) * (s.columns / sample.items + 1);
  const uint64_t tile = uint64_t{kTopkTeamThreads} * kTopkVectorsThread * 16 / s.key_bytes;
  return topk_min(s.columns, topk_max(likely + likely / 4 + tile, s.k));
}

// ---- workspace of the team path: one set of slices a team, sized without looking at the device ----

// Candidates of one block that other blocks can fetch.
constexpr uint32_t kTopkRegionItems = 512;

struct TopkControl {
  uint32_t barrier;
  uint32_t unused;
  unsigned long long overflow[2];  // candidates beyond the blocks' buffers, of even and of odd rounds
};

struct TopkTeamLayout {
  uint64_t samples, least, regions, held, counts, list_a, list_b;
  uint64_t list_a_items;
  uint64_t bytes;  // of one team
};

constexpr uint64_t topk_round(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

constexpr uint64_t kTopkControlBytes = topk_round(sizeof(TopkControl));

// `split`: the selected k go to arrays of the caller, not to list_b.
constexpr TopkTeamLayout topk_team_layout(const TopkShape &s, bool split) {
  const uint64_t composite = topk_composite_bytes(s);
  TopkTeamLayout l{};
  l.samples = kTopkControlBytes + topk_round(uint64_t{3} * kTopkBins * 8);
  l.least = l.samples + topk_round(kTopkGroupsMax * composite);
  l.regions = l.least + topk_round(kTopkTeamBlocksMax * composite);
  l.held = l.regions + topk_round(uint64_t{kTopkTeamBlocksMax} * kTopkRegionItems * composite);
  l.counts = l.held + topk_round(uint64_t{kTopkTeamBlocksMax} * 4);
  l.list_a = l.counts + topk_round(uint64_t{kTopkTeamBlocksMax} * 16);
  l.list_a_items = split ? 0 : topk_max(topk_team_list_items(s), s.k);
  l.list_b = l.list_a + topk_round(l.list_a_items * composite);
  l.bytes = l.list_b + (split ? 0 : topk_round(s.k * composite));
  return l;
}

constexpr uint64_t topk_teams_max(const TopkShape &s) {
  return topk_max(1, topk_min(topk_min(s.rows, kTopkTeamBlocksMax),
                              kTopkTeamsBytesMax / topk_max(1, topk_team_layout(s, false).bytes)));
}

// Room for the teams of any split of s.columns elements into rows of at least k. list_a holds no more than a row's
// elements or k, so that all lists_a together hold no more than twice the elements.
constexpr uint64_t topk_teams_bytes_max(const TopkShape &s) {
  const TopkShape least{1, s.k, s.k, 8};  // the widest composites
  const uint64_t teams = topk_min(kTopkTeamBlocksMax, s.columns / s.k);
  return topk_min(topk_max(kTopkTeamsBytesMax, topk_team_layout(s, false).bytes),
                  teams * (topk_team_layout(least, false).bytes + 256) + 2 * s.columns * topk_composite_bytes(s));
}

// ---- plans ----

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

// The whole row in the sample's place, if it is short enough: every thread is sure of a vector, and groups are as large
// as leaves four of them, or at least two, for each of the k.
constexpr void topk_plan_whole(const TopkShape &s, const TopkDevice &d, TopkTeamPlan &plan) {
  const uint64_t vectors_sure = s.columns * s.key_bytes / 16 - 1;
  uint64_t blocks = topk_min(plan.blocks, vectors_sure / kTopkTeamThreads);
  if (plan.sample.items == 0 || s.k > kTopkCountedMax || s.columns * s.key_bytes > kTopkWholeBytesMax || blocks == 0)
    return;
  const bool cluster = d.clusters && vectors_sure <= kTopkClusterVectorsMax && s.k <= kTopkClusterKMax &&
                       plan.buffer_items + plan.run_items >= kTopkClusterRoomItems;
  if (cluster) blocks = topk_power_down(topk_min(blocks, kTopkClusterBlocks));
  const uint64_t most = topk_min(kTopkGroupsMax, plan.buffer_items), threads = blocks * kTopkTeamThreads;
  // Groups of a whole warp hold neighbours of a sorted row, so that more candidates remain of one.
  uint32_t lanes = cluster ? 16 : 32;
  while (lanes > 1 && threads / lanes < 4 * s.k && 2 * threads / lanes <= most) lanes /= 2;
  if (threads / lanes < 2 * s.k || threads / lanes > most) return;
  plan.blocks = static_cast<uint32_t>(blocks);
  plan.cluster = cluster;
  plan.group_lanes = lanes;
  plan.groups = static_cast<uint32_t>(threads / lanes);
  plan.sample = {s.columns, s.k};
}

constexpr uint32_t topk_slot_bits(uint32_t blocks) {
  return topk_bits(topk_min(kTopkGridSlots / blocks, kTopkGridListItems)) - 1;
}

// Every block offers a bound for its share of the best. Among the few blocks of a cluster the greatest counts, so that
// the shares are small; where there are many, one of them may well have a bound far above the others, and a middle one
// is taken.
constexpr TopkHeldBound topk_plan_held(const TopkShape &s, const TopkTeamPlan &plan) {
  const uint64_t vectors = s.columns * s.key_bytes / 16;
  // One block that sends to itself is no cluster, says compute-sanitizer.
  if (plan.group_lanes == 0 || plan.sample.items == 0 || plan.blocks < 2 ||
      vectors > uint64_t{plan.blocks} * kTopkTeamThreads * kTopkVectorsThread)
    return {};
  const uint64_t shared_bytes =
      kTopkBins * 4 + (uint64_t{plan.buffer_items} + plan.run_items) * topk_composite_bytes(s);
  if (!plan.cluster && (s.rows > 1 || shared_bytes < kTopkGridBytes)) return {};
  const uint64_t k = plan.sample.rank, share = plan.cluster ? k : 2 * k;
  const uint64_t need = (share + plan.blocks - 1) / plan.blocks,
                 rank = plan.cluster ? plan.blocks : (k + need - 1) / need;
  // On average that many of a warp's are among them, and one more, or two: of an ordered row two threads of a warp hold
  // neighbours, and both count.
  const uint64_t each = need / (kTopkTeamThreads / 32) + (plan.cluster ? 1 : 2);
  const uint32_t slot_bits = topk_slot_bits(plan.blocks), slots = 1u << slot_bits;
  // A grid takes longer for more.
  if (each > kTopkHeldOffersMax || (!plan.cluster && need > topk_min(32, slots + slots / 2))) return {};
  return {static_cast<uint32_t>(need), static_cast<uint32_t>(each), static_cast<uint32_t>(rank), slot_bits};
}

// Shared memory beside the candidates for what the blocks tell each other of few of them.
constexpr bool topk_few_fit(const TopkShape &s, const TopkTeamPlan &plan) {
  return uint64_t{plan.run_items} * topk_composite_bytes(s) >= kTopkGridBytes;
}

// A low rank of a sample: so few of the blocks have two of the best draws that their best alone tell it.
constexpr uint32_t topk_drawn_rank(const TopkShape &s, const TopkTeamPlan &plan) {
  const bool low = plan.group_lanes == 0 && plan.sample.items != 0 && 3 * plan.sample.rank <= plan.blocks;
  return low && topk_few_fit(s, plan) ? static_cast<uint32_t>(plan.sample.rank) : 0;
}

// More candidates a block than this take longer to count against their shares of all than to fetch and count.
constexpr uint64_t kTopkFewEach = 24;
constexpr uint32_t topk_few_slots(const TopkShape &s, const TopkTeamPlan &plan) {
  if (plan.drawn_rank == 0) return 0;
  const uint64_t likely = plan.sample.rank * (s.columns / plan.sample.items + 1) / plan.blocks;
  return likely <= kTopkFewEach ? topk_slot_bits(plan.blocks) : 0;
}

// Shorter rows, of which L2 may still have a part, gain nothing.
constexpr uint64_t kTopkAheadBytesMin = uint64_t{512} << 20;
constexpr uint32_t topk_tiles_ahead(const TopkShape &s, const TopkTeamPlan &plan) {
  return plan.drawn_rank != 0 && s.columns * s.key_bytes >= kTopkAheadBytesMin ? 2 : 0;
}

// Counting compares every two candidates. Up to here that is quicker than to thin them out first, which takes two
// barriers and a choice; up to twice as many it is quicker than selection and sort, which is left if there is no room
// for the groups of thinning out.
constexpr uint32_t topk_count_items(const TopkTeamPlan &plan, uint64_t k) {
  const uint64_t quick = topk_root(uint64_t{plan.blocks} << 18);
  const bool thins = plan.run_items >= 2 * k + plan.blocks;
  return static_cast<uint32_t>(topk_min(thins ? quick : 2 * quick, uint64_t{plan.buffer_items} + plan.run_items));
}

constexpr TopkTeamPlan topk_plan_team(const TopkShape &s, const TopkDevice &d) {
  TopkTeamPlan plan{};
  plan.teams = static_cast<uint32_t>(topk_min(topk_teams_max(s), d.multiprocessors));
  const uint64_t vectors = s.columns * s.key_bytes / 16;
  const uint64_t most = topk_min(d.multiprocessors, kTopkTeamBlocksMax) / plan.teams;
  plan.blocks = static_cast<uint32_t>(topk_max(1, topk_min(most, (vectors + kTopkTeamThreads - 1) / kTopkTeamThreads)));
  const uint64_t area = (d.shared_bytes_block_max - kTopkScratchBytes - kTopkBins * 4) / topk_composite_bytes(s);
  plan.run_items = static_cast<uint32_t>(topk_min(4 * kTopkTeamThreads, topk_power_down(area / 3)));
  plan.buffer_items = static_cast<uint32_t>(topk_min(16384, area - plan.run_items));
  plan.sample = topk_team_sample(s);
  plan.groups = kTopkSampleGroups;
  topk_plan_whole(s, d, plan);
  const uint64_t tile = uint64_t{plan.blocks} * kTopkTeamThreads;
  plan.tile_vectors = static_cast<uint32_t>(topk_max(1, topk_min((vectors + tile - 1) / tile, kTopkVectorsThread)));
  plan.count_items = topk_count_items(plan, s.k);
  return plan;
}

constexpr TopkPlan plan_topk(const TopkShape &s, const TopkDevice &d, const TopkForce &force) {
  TopkPlan plan{};
  plan.index_bits = topk_index_bits(s);
  plan.composite_bytes = topk_composite_bytes(s);
  plan.team = topk_plan_team(s, d);
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
  if (force.no_cluster) plan.team.cluster = false;
  if (force.no_sample) plan.team.sample = {0, 0};
  if (force.random_sample && plan.team.group_lanes != 0)
    plan.team.sample = topk_team_sample(s), plan.team.group_lanes = 0, plan.team.groups = kTopkSampleGroups;
  if (force.sample_rank != 0 && plan.team.sample.items != 0)
    plan.team.sample.rank = topk_min(force.sample_rank, plan.team.groups);
  if (force.count_items != 0) plan.team.count_items = force.count_items;
  plan.team.held = topk_plan_held(s, plan.team);
  plan.team.drawn_rank = topk_drawn_rank(s, plan.team);
  plan.team.slot_bits = topk_few_slots(s, plan.team);
  plan.team.tiles_ahead = topk_tiles_ahead(s, plan.team);
  if (force.sample_rank != 0 && plan.rows.sample.items != 0)
    plan.rows.sample.rank = topk_min(force.sample_rank, plan.rows.sample.items);
  return plan;
}

// ---- ragged rows ----

// Rows longer than this are left to all blocks together, unless there are many of them.
constexpr uint64_t kTopkRaggedLong = uint64_t{1} << 18;
constexpr uint64_t kTopkRaggedLongMany = 64;
constexpr uint32_t kTopkRaggedThreads = 512;

// Who does a row of ragged rows, and rows of which class are listed where.
enum class TopkRaggedClass : uint32_t { kWarp, kBlock, kLong, kTeam };

GSORT_HOST_DEVICE constexpr TopkRaggedClass topk_ragged_class(uint64_t items, uint64_t k, uint64_t block_k_max) {
  const uint64_t found = topk_min(items, k);
  if (items <= kTopkWarpItemsMax && found <= kTopkWarpSortMax) return TopkRaggedClass::kWarp;
  if (found > block_k_max || items >= uint64_t{1} << 31) return TopkRaggedClass::kTeam;
  return items <= kTopkRaggedLong ? TopkRaggedClass::kBlock : TopkRaggedClass::kLong;
}

// Most rows that the classes can have among n elements. More than kTopkWarpSortMax elements are in every row that no
// warp does.
struct TopkRaggedLayout {
  uint64_t lists[3];     // of kBlock, kLong, kTeam
  uint64_t capacity[3];  // rows
  uint64_t team;
  uint64_t bytes;
};

constexpr uint32_t kTopkRaggedCounters = 4;  // rows in each list, and the ticket of the list in work

constexpr TopkRaggedLayout topk_ragged_layout(const TopkShape &whole, uint64_t segments) {
  TopkRaggedLayout l{};
  l.bytes = topk_round(kTopkRaggedCounters * 8);
  const uint64_t least[3] = {kTopkWarpSortMax + 1, kTopkRaggedLong + 1, kTopkWarpSortMax + 1};
  for (uint32_t i = 0; i < 3; ++i) {
    l.lists[i] = l.bytes;
    l.capacity[i] = topk_min(segments, whole.columns / least[i]);
    l.bytes += topk_round(l.capacity[i] * 8);
  }
  l.team = l.bytes;
  l.bytes += topk_team_layout(whole, false).bytes;
  return l;
}

// The plan of blocks that do one row each, whatever its length: the sample is found for each row.
constexpr TopkRowsPlan topk_plan_ragged_rows(const TopkShape &whole, const TopkDevice &d) {
  TopkRowsPlan plan{};
  const uint32_t composite = whole.key_bytes == 8 ? 16 : 8;
  plan.threads = kTopkRaggedThreads;
  plan.bin_bits = kTopkBinBits;
  plan.sorted_items = topk_rows_sorted_items(topk_min(whole.k, kTopkRowsSortMax));
  while (plan.sorted_items > 32 &&
         topk_rows_room(composite, plan.bin_bits, plan.sorted_items, d) < topk_max(plan.sorted_items, 1024))
    plan.sorted_items /= 2;
  // Two blocks an SM.
  const TopkDevice half{d.multiprocessors, d.shared_bytes_block_max / 2 - kTopkScratchBytes};
  const uint64_t room = topk_max(topk_rows_room(composite, plan.bin_bits, plan.sorted_items, half),
                                 topk_min(topk_rows_room(composite, plan.bin_bits, plan.sorted_items, d), 4096));
  plan.buffer_items = static_cast<uint32_t>(topk_min(room, kTopkRowsCandidatesMax));
  plan.direct_items = static_cast<uint32_t>(topk_min(plan.buffer_items, kTopkRowsDirectMax));
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

#endif  // GSORT_PLAN_TOPK_PLAN_H_
