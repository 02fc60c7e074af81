// SPDX-License-Identifier: MIT OR Apache-2.0
// Teams of blocks that do a row together: as a cluster or by a cooperative launch, from registers or through a sample.
#ifndef GSORT_CUDA_TOPK_TEAM_PLAN_H_
#define GSORT_CUDA_TOPK_TEAM_PLAN_H_

#include <cstdint>

#include "cuda/topk/shape.h"

namespace gsort_internal::topk {

// 16-byte loads a thread has in flight while it filters: 4 x 16 B x 1024 threads cover an SM's share of DRAM latency.
constexpr uint32_t kVectorsThread = 4;
// A sample is cut into so many groups; the bound is chosen among the groups' best elements. 2048 keeps that choice
// under 4 us and is six times the ranks that matter.
constexpr uint32_t kSampleGroups = 2048;
// Groups that share all of a row. For k of up to 2048 twice k and more, so that few elements beside
// the best k are at or under the k-th best group's best: k groups of g elements hold at most k g.
constexpr uint32_t kGroupsMax = 8448;
constexpr uint64_t kCountedMax = 2048;
// Up to so many 16-byte vectors and so large a k a team is a cluster of up to 8 blocks, the most that every device with
// clusters has: its barriers take a third of the time, which is more than the other blocks would save.
constexpr uint64_t kClusterVectorsMax = uint64_t{1} << 15;
constexpr uint64_t kClusterKMax = 512;
constexpr uint64_t kClusterBlocks = 8;
// A cluster first tries to do with what its blocks have in registers and send each other: so many candidates of each
// block, and composites of shared memory for them.
constexpr uint32_t kClusterListItems = 512;
constexpr uint64_t kClusterRoomItems = (kClusterBlocks + 1) * kClusterListItems + 320;
// Most elements that each of a block's 32 warps offers for the bound of a resident row.
constexpr uint32_t kResidentOffersMax = 8;
// If a row is resident in a grid: the most candidates that a block may have, and the most slots of all blocks'
// lists that are read before anyone knows how many candidates there are.
constexpr uint32_t kGridListItems = 128;
constexpr uint32_t kGridSlots = 132 * 16;
// Loads of slots of all lists that a block does where it looks for the places of its own candidates alone.
constexpr uint32_t kFewLoads = 2;
// Shared memory that this takes beside the candidates of all blocks.
constexpr uint32_t kGridBytes = 32 * 1024;
// Rows of up to so many bytes are read twice, which L2 serves, rather than sampled: no draw can mislead then.
constexpr uint64_t kWholeBytesMax = uint64_t{8} << 20;
// Most blocks of one cooperative launch that have room in the workspace, whatever the device.
constexpr uint32_t kTeamBlocksMax = 256;
constexpr uint32_t kTeamThreads = 1024;
// Above this k the k survivors are sorted by the library's own sort, which then is faster than the in-kernel merge.
constexpr uint64_t kTeamItemsMax = uint64_t{1} << 18;
// Lists of teams that work on different rows at a time may take so much together.
constexpr uint64_t kTeamsBytesMax = uint64_t{256} << 20;

static_assert(kScratchBytes + kBins * 4 + kSampleGroups * 16 <= 48 * 1024,
              "the groups of a sample fit the smallest device's shared memory in the widest composites");

// How the blocks agree on a bound of a resident row, one that lies in their registers: a bound which at least need *
// rank elements are at or under.
struct ResidentBound {
  uint32_t need;       // elements that each block's own bound has at or under it; 0: the row is not resident
  uint32_t each;       // of its best that each warp of a block offers
  uint32_t rank;       // of the bound among the blocks' bounds, from 1
  uint32_t slot_bits;  // of a grid: the candidates of a block have 2^slot_bits slots that are read unasked
};

struct TeamPlan {
  uint32_t teams;   // rows worked on at a time
  uint32_t blocks;  // of a team
  uint32_t buffer_items;
  uint32_t run_items;  // a power of two: what one block sorts
  Sample sample;
  uint32_t tile_vectors;   // 16-byte loads a thread has under way in the filter
  uint32_t group_lanes;    // threads of a group when the whole row is its own sample; 0: a random sample
  uint32_t groups;         // whose best elements the bound is chosen among
  uint32_t count_items;    // candidates whose places are found by counting; 0: never
  bool cluster;            // a team is a cluster
  uint32_t cluster_tiles;  // which reads a row in so many parts, the first of which is the sample
  ResidentBound resident;  // how a row is done in registers, which is tried first
  uint32_t drawn_rank;     // not 0: the bound of a random sample is the one of this rank among the blocks' best draws
  uint32_t slot_bits;      // not 0: few candidates are likely, and each block has 2^slot_bits sure slots for its own
  uint32_t tiles_ahead;    // of each block, asked for before the bound is known
};

GSORT_HOST_DEVICE constexpr Sample team_sample(const Shape &s) {
  if (s.columns < uint64_t{1} << 14 || s.k > s.columns / 8) return {0, 0};
  uint64_t m = power_down(s.columns / 64);
  // For small k more candidates are cheaper than more random reads.
  m = max_of(min_of(m, uint64_t{1} << (s.k <= kCountedMax ? 17 : 18)), kSampleGroups);
  // Of G groups' best the rank may be a third of G: two samples of that rank rarely share a group.
  while (m > kSampleGroups && rank_of_sample(s.k, m, s.columns) > kSampleGroups / 3) m /= 2;
  const uint64_t rank = rank_of_sample(s.k, m, s.columns);
  return rank <= kSampleGroups / 3 ? Sample{m, rank} : Sample{0, 0};
}

// Room for candidates: twice the expected number and 30 ranks more, a quarter for groups shared by two good samples,
// and a tile in which all ties pass. More than this come about once in 10^8 calls, and then cost exact passes.
constexpr uint64_t team_list_items(const Shape &s) {
  const Sample sample = team_sample(s);
  if (sample.items == 0) return 0;
  const uint64_t likely = (2 * sample.rank + 30) * (s.columns / sample.items + 1);
  const uint64_t tile = uint64_t{kTeamThreads} * kVectorsThread * 16 / s.key_bytes;
  return min_of(s.columns, max_of(likely + likely / 4 + tile, s.k));
}

// Elements that a bound of a sample lets through where a sort of pairs follows, and three times what varies by chance.
// Where every group is one draw no two share one.
constexpr uint64_t split_items(const Shape &s, const Sample &sample) {
  const uint64_t groups = sample.rank + slack_of_sample(sample.rank);
  const uint64_t drawn =
      sample.items == kSampleGroups ? groups : groups * 2 * kSampleGroups / (2 * kSampleGroups - groups);
  return (drawn + 3 * integer_root(drawn)) * (s.columns / sample.items + 1);
}

// More than the blocks of a launch have on chip: beyond it every few candidates wait for one counter.
constexpr uint64_t kSplitBytesMax = kTeamBlocksMax * uint64_t{227 * 1024};

// The sample that bounds what is selected before a sort of pairs; items = 0: none. Keys of 4 bytes are listed with
// their indices for lower k, and narrower ones selected from exactly in a read or two. (H100, 2026-11-26, times by
// exact selection over these: above an 8th of a row up to a 4th f32 1.1 to 1.4, f64 1.4 to 1.6; up to a 3rd f32 0.95.)
constexpr Sample split_sample(const Shape &s) {
  if (s.key_bytes < 4 || s.columns < uint64_t{1} << 14 || s.columns > uint64_t{1} << 32 || s.k > s.columns / 4)
    return {0, 0};
  Sample sample = team_sample(s);
  if (sample.items != 0 && s.key_bytes == 4) return {0, 0};
  if (sample.items == 0) sample = {kSampleGroups, rank_of_sample(s.k, kSampleGroups, s.columns)};
  return split_items(s, sample) * composite_bytes_of(s) <= kSplitBytesMax ? sample : Sample{0, 0};
}

// A bit an element, and a count for every 64.
constexpr uint64_t split_map_bytes(const Shape &s) {
  return split_sample(s).items == 0 ? 0 : slice_bytes((s.columns + 63) / 64 * 12);
}

// ---- workspace of teams: one set of slices a team, sized without looking at the device ----

// Candidates of one block that other blocks can fetch.
constexpr uint32_t kRegionItems = 512;

struct TeamControl {
  uint32_t barrier;
  uint32_t unused;
  unsigned long long overflow[2];  // candidates beyond the blocks' buffers, of even and of odd rounds
};

struct TeamLayout {
  uint64_t samples, least, regions, candidate_counts, counts, list_a, list_b;
  uint64_t list_a_items;
  uint64_t bytes;  // of one team
};

constexpr uint64_t kControlBytes = slice_bytes(sizeof(TeamControl));

// `split`: the selected k go to arrays of the caller, not to list_b, which holds a map of them. listed: what list_b has
// room for, if more than k.
constexpr TeamLayout team_layout(const Shape &s, bool split, uint64_t listed = 0) {
  const uint64_t composite = composite_bytes_of(s);
  TeamLayout l{};
  l.samples = kControlBytes + slice_bytes(uint64_t{3} * kBins * 8);
  l.least = l.samples + slice_bytes(kGroupsMax * composite);
  l.regions = l.least + slice_bytes(kTeamBlocksMax * composite);
  l.candidate_counts = l.regions + slice_bytes(uint64_t{kTeamBlocksMax} * kRegionItems * composite);
  l.counts = l.candidate_counts + slice_bytes(uint64_t{kTeamBlocksMax} * 4);
  l.list_a = l.counts + slice_bytes(uint64_t{kTeamBlocksMax} * 16);
  l.list_a_items = split ? 0 : max_of(team_list_items(s), s.k);
  l.list_b = l.list_a + slice_bytes(l.list_a_items * composite);
  l.bytes = l.list_b + (split ? split_map_bytes(s) : slice_bytes(max_of(s.k, listed) * composite));
  return l;
}

constexpr uint64_t teams_max(const Shape &s) {
  return max_of(1, min_of(min_of(s.rows, kTeamBlocksMax), kTeamsBytesMax / max_of(1, team_layout(s, false).bytes)));
}

// Room for the teams of any split of s.columns elements into rows of at least k. list_a holds no more than a row's
// elements or k, so that all lists_a together hold no more than twice the elements.
constexpr uint64_t teams_bytes_max(const Shape &s) {
  const Shape least{1, s.k, s.k, 8};  // the widest composites
  const uint64_t teams = min_of(kTeamBlocksMax, s.columns / s.k);
  return min_of(max_of(kTeamsBytesMax, team_layout(s, false).bytes),
                teams * (team_layout(least, false).bytes + 256) + 2 * s.columns * composite_bytes_of(s));
}

// ---- plans ----

// What lies in the shared memory of a block of a cluster, and behind it the tiles under way.
GSORT_HOST_DEVICE constexpr uint32_t cluster_shared_bytes(uint32_t composite) {
  return static_cast<uint32_t>((kClusterBlocks + 1) * kClusterListItems * composite +
                               kResidentOffersMax * (kTeamThreads / 32) * composite + kClusterBlocks * (composite + 8) +
                               16);
}
static_assert(cluster_shared_bytes(8) % 16 == 0 && cluster_shared_bytes(16) % 16 == 0, "vectors are copied behind it");
constexpr uint32_t kClusterTilesAhead = 2;
constexpr uint32_t kClusterAheadBytes = kClusterTilesAhead * kVectorsThread * kTeamThreads * 16;

// A cluster keeps the first of so many tiles of a row in its registers.
constexpr uint64_t kClusterTilesMax = 8;
constexpr uint64_t cluster_tiles(uint64_t vectors, uint64_t blocks) {
  const uint64_t tile = blocks * kTeamThreads * kVectorsThread;
  return max_of(1, (vectors + tile - 1) / tile);
}

// Candidates of a cluster, but for bad luck: what is under the greatest of its blocks' bounds in the first tile, and as
// many in the others. Of an ordered row a block's bound has whole vectors under it, of which each thread offers the
// best.
constexpr uint64_t cluster_candidates(const Shape &s, uint64_t blocks, uint64_t tiles) {
  const uint64_t need = (s.k + blocks - 1) / blocks, first = s.k + blocks * (integer_root(9 * need / 4) + 1);
  return tiles * max_of(first + 4 * integer_root(first), blocks * (need + 1) * (16 / s.key_bytes));
}

// Blocks of a cluster, so that those of all rows have room at once: of the groups of multiprocessors, one of which each
// must be in, larger ones leave some over (H200: 15 clusters of 8 blocks, 30 of 4, 66 of 2). 0: they have not.
constexpr uint64_t cluster_blocks(uint64_t rows, uint64_t multiprocessors) {
  for (uint64_t blocks = kClusterBlocks; blocks > 2; blocks /= 2)
    if (rows * blocks <= multiprocessors - multiprocessors / 11) return blocks;
  return 2 * rows <= multiprocessors ? 2 : 0;
}

// Most candidates that are counted quickly by so many blocks: see counted_items_max().
constexpr uint64_t quickly_counted(uint64_t blocks) { return integer_root(blocks << 18); }

// A row of several that is read in more than one tile. More candidates take longer to count than other ways take.
constexpr bool cluster_reads_tiles(const Shape &s, const DeviceFacts &d) {
  const uint64_t blocks = cluster_blocks(s.rows, d.multiprocessors), vectors = s.columns * s.key_bytes / 16;
  if (!d.clusters() || s.rows == 1 || s.k > kClusterKMax || blocks == 0) return false;
  const uint64_t tiles = cluster_tiles(vectors, blocks);
  if (tiles == 1 || tiles > kClusterTilesMax) return false;
  const uint64_t counted = quickly_counted(blocks);
  return cluster_candidates(s, blocks, tiles) <= (tiles == 2 ? counted : blocks > 2 ? counted * 2 / 3 : counted / 3);
}

// The whole row as its own sample, if it is short enough: every thread is sure of a vector, and groups are as large
// as leaves four of them, or at least two, for each of the k.
constexpr void plan_whole(const Shape &s, const DeviceFacts &d, TeamPlan &plan) {
  const uint64_t vectors_sure = s.columns * s.key_bytes / 16 - 1;
  uint64_t blocks = min_of(plan.blocks, vectors_sure / kTeamThreads);
  if (plan.sample.items == 0 || s.k > kCountedMax || s.columns * s.key_bytes > kWholeBytesMax || blocks == 0) return;
  const uint64_t composite = composite_bytes_of(s), area = (uint64_t{plan.buffer_items} + plan.run_items) * composite;
  const bool reads_tiles =
      cluster_reads_tiles(s, d) &&
      cluster_shared_bytes(static_cast<uint32_t>(composite)) + kClusterAheadBytes <= kBins * 4 + area;
  const bool cluster = d.clusters() && (vectors_sure <= kClusterVectorsMax || reads_tiles) && s.k <= kClusterKMax &&
                       plan.buffer_items + plan.run_items >= kClusterRoomItems;
  if (cluster) blocks = power_down(min_of(blocks, kClusterBlocks));
  const uint64_t at_once = min_of(blocks, cluster_blocks(s.rows, d.multiprocessors));
  if (cluster && at_once != 0 && (reads_tiles || cluster_tiles(s.columns * s.key_bytes / 16, at_once) == 1))
    blocks = at_once;
  const uint64_t most = min_of(kGroupsMax, plan.buffer_items), threads = blocks * kTeamThreads;
  // Groups of a whole warp hold neighbours of a sorted row, so that more candidates remain of one.
  uint32_t lanes = cluster ? 16 : 32;
  while (lanes > 1 && threads / lanes < 4 * s.k && 2 * threads / lanes <= most) lanes /= 2;
  if (threads / lanes < 2 * s.k || threads / lanes > most) return;
  plan.blocks = static_cast<uint32_t>(blocks);
  plan.cluster = cluster;
  if (cluster && reads_tiles)
    plan.cluster_tiles = static_cast<uint32_t>(cluster_tiles(s.columns * s.key_bytes / 16, blocks));
  plan.group_lanes = lanes;
  plan.groups = static_cast<uint32_t>(threads / lanes);
  plan.sample = {s.columns, s.k};
}

constexpr uint32_t slot_bits_for(uint32_t blocks) { return bit_count(min_of(kGridSlots / blocks, kGridListItems)) - 1; }

// Every block offers a bound for its share of the best. Among the few blocks of a cluster the greatest counts, so that
// the shares are small; where there are many, one of them may well have a bound far above the others, and a middle one
// is taken.
constexpr ResidentBound plan_resident(const Shape &s, const TeamPlan &plan) {
  const uint64_t vectors = s.columns * s.key_bytes / 16;
  // One block that sends to itself is no cluster, says compute-sanitizer.
  if (plan.group_lanes == 0 || plan.sample.items == 0 || plan.blocks < 2 ||
      vectors > uint64_t{plan.blocks} * kTeamThreads * kVectorsThread * (plan.cluster ? plan.cluster_tiles : 1))
    return {};
  const uint64_t shared_bytes = kBins * 4 + (uint64_t{plan.buffer_items} + plan.run_items) * composite_bytes_of(s);
  if (!plan.cluster && (s.rows > 1 || shared_bytes < kGridBytes)) return {};
  const uint64_t k = plan.sample.rank, share = plan.cluster ? k : 2 * k;
  const uint64_t need = (share + plan.blocks - 1) / plan.blocks,
                 rank = plan.cluster ? plan.blocks : (k + need - 1) / need;
  // On average that many of a warp's are among them, and one more, or two: of an ordered row two threads of a warp hold
  // neighbours, and both count.
  const bool tiles = plan.cluster && plan.cluster_tiles > 1;
  const uint64_t each = (tiles ? 2 : 1) * need / (kTeamThreads / 32) + (plan.cluster && !tiles ? 1 : 2);
  const uint32_t slot_bits = slot_bits_for(plan.blocks), slots = 1u << slot_bits;
  // A grid takes longer for more.
  if (each > kResidentOffersMax || (!plan.cluster && need > min_of(32, slots + slots / 2))) return {};
  return {static_cast<uint32_t>(need), static_cast<uint32_t>(each), static_cast<uint32_t>(rank), slot_bits};
}

// Shared memory beside the candidates for what the blocks tell each other of few of them.
constexpr bool few_fit(const Shape &s, const TeamPlan &plan) {
  return uint64_t{plan.run_items} * composite_bytes_of(s) >= kGridBytes;
}

// A low rank of a sample: so few of the blocks have two of the best draws that their best alone tell it.
constexpr uint32_t plan_drawn_rank(const Shape &s, const TeamPlan &plan) {
  const bool low = plan.group_lanes == 0 && plan.sample.items != 0 && 3 * plan.sample.rank <= plan.blocks;
  return low && few_fit(s, plan) ? static_cast<uint32_t>(plan.sample.rank) : 0;
}

// More candidates a block than this take longer to count against their shares of all than to fetch and count.
constexpr uint64_t kFewEach = 24;
constexpr uint32_t plan_few_slots(const Shape &s, const TeamPlan &plan) {
  if (plan.drawn_rank == 0) return 0;
  const uint64_t likely = plan.sample.rank * (s.columns / plan.sample.items + 1) / plan.blocks;
  return likely <= kFewEach ? slot_bits_for(plan.blocks) : 0;
}

// The most candidates of a block for whose places it looks alone. Of more all blocks look for a share, for few of them
// may have nearly all: those with the best of a row of equal neighbours, or with the first of many ties. (H200,
// 2026-11-27, 5,900,000 keys of 4 bytes in runs of 64, k = 10: alone 115 us, by all 29.)
GSORT_HOST_DEVICE constexpr uint32_t few_items_max(uint32_t slot_bits) {
  return static_cast<uint32_t>(min_of(uint64_t{kFewLoads} << slot_bits, kGridListItems));
}

// Shorter rows, of which L2 may still have a part, gain nothing.
constexpr uint64_t kAheadBytesMin = uint64_t{512} << 20;
constexpr uint32_t plan_tiles_ahead(const Shape &s, const TeamPlan &plan) {
  return plan.drawn_rank != 0 && s.columns * s.key_bytes >= kAheadBytesMin ? 2 : 0;
}

// Counting compares every two candidates. Up to here that is quicker than to thin them out first, which takes two
// barriers and a choice; up to twice as many it is quicker than selection and sort, which is left if there is no room
// for the groups of thinning out.
constexpr uint32_t counted_items_max(const TeamPlan &plan, uint64_t k) {
  const uint64_t quick = quickly_counted(plan.blocks);
  const bool thins = plan.run_items >= 2 * k + plan.blocks;
  return static_cast<uint32_t>(min_of(thins ? quick : 2 * quick, uint64_t{plan.buffer_items} + plan.run_items));
}

// may_read_twice: the whole row may be its own sample.
constexpr TeamPlan plan_team(const Shape &s, const DeviceFacts &d, bool may_read_twice = true) {
  TeamPlan plan{};
  plan.teams = static_cast<uint32_t>(min_of(teams_max(s), d.multiprocessors));
  const uint64_t vectors = s.columns * s.key_bytes / 16;
  const uint64_t most = min_of(d.multiprocessors, kTeamBlocksMax) / plan.teams;
  plan.blocks = static_cast<uint32_t>(max_of(1, min_of(most, (vectors + kTeamThreads - 1) / kTeamThreads)));
  const uint64_t area = (d.shared_bytes_block_max - kScratchBytes - kBins * 4) / composite_bytes_of(s);
  plan.run_items = static_cast<uint32_t>(min_of(4 * kTeamThreads, power_down(area / 3)));
  plan.buffer_items = static_cast<uint32_t>(min_of(16384, area - plan.run_items));
  plan.sample = team_sample(s);
  plan.groups = kSampleGroups;
  plan.cluster_tiles = 1;
  if (may_read_twice) plan_whole(s, d, plan);
  const uint64_t tile = uint64_t{plan.blocks} * kTeamThreads;
  plan.tile_vectors = static_cast<uint32_t>(max_of(1, min_of((vectors + tile - 1) / tile, kVectorsThread)));
  plan.count_items = counted_items_max(plan, s.k);
  return plan;
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_TEAM_PLAN_H_
