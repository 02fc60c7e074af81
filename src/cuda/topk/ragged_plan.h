// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows of different lengths: who does a row, and where rows of each class are listed.
#ifndef GSORT_CUDA_TOPK_RAGGED_PLAN_H_
#define GSORT_CUDA_TOPK_RAGGED_PLAN_H_

#include <cstdint>

#include "cuda/topk/plan.h"

namespace gsort_internal::topk {

// Rows longer than this are left to all blocks together, unless there are many of them, or so many that the teams, of
// which there are eight at most, would take longer for one after the other than a block takes for the longest. (H200,
// 2026-11-28, 30 rows of 273,000 f32 140 us by teams, 17 of 480,000 141, 15 of 540,000 84; a block reads 4,096 a us.)
// longest: of their elements, or 0: nobody has looked.
constexpr uint64_t kRaggedLong = uint64_t{1} << 18;
constexpr uint64_t kRaggedLongMany = 64, kRaggedLongRound = 184000, kRaggedLongAtOnce = 8;
GSORT_HOST_DEVICE constexpr bool long_rows_by_blocks(uint64_t rows, uint64_t longest) {
  const uint64_t rounds = (rows + kRaggedLongAtOnce - 1) / kRaggedLongAtOnce;
  return rows >= kRaggedLongMany || (longest != 0 && longest < rounds * kRaggedLongRound);
}
// Longer ones are never one block's, which would take milliseconds to choose exactly.
constexpr uint64_t kRaggedGiant = uint64_t{1} << 20;
// Rows that all blocks do together they do in so many teams at most, side by side: a row takes some 20 us however few
// its elements are.
constexpr uint64_t kRaggedTeamsMax = 8;
constexpr uint32_t kRaggedLanesMax = 32;  // results of a row that lanes rank

// Rows that some lanes of a warp do, so many elements in each, and the others that the warp looks at at once.
constexpr uint32_t kSomeRegisters = 8, kSomeLanesMin = 8, kSomeLanesMax = 16;
constexpr uint32_t kSomeItemsMax = kSomeLanesMax * kSomeRegisters;

// Whether rows have lists by length, and are done from there as rows of one length are, in registers; warps look for
// the shorter ones alone. Only devices with clusters have the kernels of more than so many results, and of rows of more
// than a warp does.
constexpr bool ragged_rows_listed(uint64_t k, const DeviceFacts &device) {
  return k <= (device.clusters() ? kWarpSortMax : kRaggedLanesMax);
}
// The most elements of a row that is on no list, unless so much of it is wanted that no warp does it.
constexpr uint32_t ragged_short_items_max(uint64_t k, const DeviceFacts &device) {
  return ragged_rows_listed(k, device) && k <= kSomeItemsMax ? kSomeItemsMax : kWarpItemsMax;
}
// The most elements of rows that have lists by length; 0: there are no such lists.
constexpr uint32_t ragged_listed_items_max(uint64_t k, uint32_t key_bytes, const DeviceFacts &device) {
  if (!ragged_rows_listed(k, device)) return 0;
  if (!device.clusters()) return kWarpItemsMax;
  if (k == 1) return static_cast<uint32_t>(kRaggedLong);
  return k > 128 || key_bytes == 1 || key_bytes == 8 ? 8192 : 16384;
}
// Whether rows longer than `min` elements are cut into parts, but for those longer than kPartsRowMax. min: of many
// elements a block each is as quick with rows that are a small share of them, but not those of 4 and 8 bytes with a k
// above some. (H200, 2026-11-29, us by a block each and by parts, 33.5 million elements on the average in rows of
// 20,000, k = 8 and 64: f32 82 and 90, 117 and 99; u16 83 and 90, 96 and 97; u8 74 and 100, 83 and 95; of 100,000,
// exponential, f32 186 and 93, 151 and 116, u8 159 and 99, 110 and 108; 20 rows of 100,000, k = 64 48 and 26; of up to
// 100,000, k = 8 83, and 106 with those longer than 65,000 in parts.)
struct CutRows {
  bool any;
  uint64_t min;
};
constexpr uint64_t kCutShare = 64, kCutAlwaysK = 17;
constexpr CutRows ragged_cut_rows(uint64_t segments, const Shape &whole, uint64_t k, const DeviceFacts &device) {
  const uint64_t listed = ragged_listed_items_max(k, whole.key_bytes, device);
  if (!device.clusters() || k == 1 || k > kPartsKMax || segments > kSplitRowsMax) return {false, 0};
  if (whole.key_bytes >= 4 && k >= kCutAlwaysK) return {true, listed};
  return {true, min_of(max_of(listed, whole.columns / (kCutShare * whole.key_bytes)), kRaggedLong)};
}

// Whether some lists share kernels: of so few rows these take no longer than their launches. (H200, 2026-11-29, us with
// kernels of their own and shared: lengths of 1,000 on the average, exponential, 1,000 rows, k = 8 39 and 25, before
// there were lists 52 and 42 in the two runs; but 13,333 of 300 took 42 by shared ones, before 29.)
constexpr bool ragged_lists_share(uint64_t segments, const DeviceFacts &device) {
  return segments <= 32 * uint64_t{device.multiprocessors};
}

// Who does a row of ragged rows, and rows of which class are listed where.
enum class RaggedClass : uint32_t { kWarp, kBlock, kLong, kTeam };

GSORT_HOST_DEVICE constexpr RaggedClass ragged_class(uint64_t items, uint64_t k, uint64_t block_k_max) {
  const uint64_t found = min_of(items, k);
  if (items <= kWarpItemsMax && found <= kWarpSortMax) return RaggedClass::kWarp;
  if (found > block_k_max || items > kRaggedGiant) return RaggedClass::kTeam;
  return items <= kRaggedLong ? RaggedClass::kBlock : RaggedClass::kLong;
}

// Rows of blocks, long ones, and those of teams are listed, behind these the rows by length, and then parts of rows and
// the rows that have parts (part_entry(), split_entry()).
enum RaggedList : uint32_t {
  kListBlocks,
  kListLong,
  kListTeam,
  kListTo512,
  kListTo1024,
  kListTo2048,
  kListTo4096,
  kListTo8192,
  kListLonger,
  kListParts,
  kListSplit
};
constexpr uint32_t kRowLists = kListLonger + 1, kLists = kListSplit + 1;

GSORT_HOST_DEVICE constexpr uint32_t list_by_length(uint64_t items) {
  return kListTo512 + (items > 512) + (items > 1024) + (items > 2048) + (items > 4096) + (items > 8192);
}

// Lists that a kernel takes rows from, those of longer rows first.
struct ListRange {
  uint32_t first, last;
};

// Most rows that the lists can have among n elements. More than kWarpSortMax elements are in every row that no warp
// does, and so on one of the first three.
struct RaggedLayout {
  uint64_t list_counters;  // where there is no standing memory
  uint64_t lists[kLists];
  uint64_t capacity[kLists];  // rows, or parts
  uint64_t best_of_parts;
  uint64_t team;
  uint64_t bytes;
};

// Rows in each list, the ticket of the list in work, and the elements of the longest of the long rows and of all of
// them.
constexpr uint32_t kTicket = kLists, kLongest = kLists + 1, kLongAll = kLists + 2, kRaggedCounters = kLists + 3;

// What blocks that list rows count together; zero before and after.
struct ListCounters {
  unsigned long long lists[kLists];
  unsigned long long longest, all;
  uint32_t error, tickets;
};

// Each has a workspace of its own: only where there is room for rows that are worth it.
constexpr uint32_t ragged_teams_max(const Shape &whole) {
  if (whole.k > kRowsSortMax) return 1;
  return static_cast<uint32_t>(power_down(max_of(1, min_of(whole.columns >> 19, kRaggedTeamsMax))));
}

// Of whatever rows.
constexpr bool ragged_has_parts(const Shape &whole) {
  if (whole.k == 1 || whole.k > kPartsKMax) return false;
  const uint64_t parts = parts_max(whole.columns, whole.columns);
  return plan_parts_of(parts, whole.k, whole.key_bytes).bytes <= kPartsBytesMax;
}
constexpr RaggedLayout ragged_layout(const Shape &whole, uint64_t segments) {
  RaggedLayout l{};
  l.list_counters = slice_bytes(kRaggedCounters * 8);
  l.bytes = l.list_counters + slice_bytes(sizeof(ListCounters));
  constexpr uint64_t kLeast[kRowLists] = {
      kWarpSortMax + 1, kRaggedLong + 1, kWarpSortMax + 1, kSomeItemsMax + 1, 513, 1025, 2049, 4097, 8193};
  for (uint32_t i = 0; i < kRowLists; ++i) l.capacity[i] = min_of(segments, whole.columns / kLeast[i]);
  if (ragged_has_parts(whole)) {
    l.capacity[kListParts] = parts_max(whole.columns, segments);
    l.capacity[kListSplit] = min_of(segments, whole.columns / (kPartItems + 1));
  }
  for (uint32_t i = 0; i < kLists; ++i) {
    l.lists[i] = l.bytes;
    l.bytes += slice_bytes(l.capacity[i] * 8);
  }
  l.best_of_parts = l.bytes;
  l.bytes += plan_parts_of(l.capacity[kListParts], whole.k, whole.key_bytes).bytes;
  l.team = l.bytes;
  l.bytes += team_layout(whole, false).bytes * ragged_teams_max(whole);
  return l;
}

// Rows of different lengths: row s is [offsets[s], offsets[s + 1]). Who does it is found on the device.
struct Ragged {
  const uint64_t *offsets;    // NULL: the rows have one length
  uint32_t *error;            // set where the offsets are wrong; then nothing else is done
  uint64_t elements;          // the offsets' limit
  uint64_t block_k_max;       // most results of a row that one block does
  uint32_t short_items_max;   // of rows on no list
  uint32_t listed_items_max;  // of rows on lists by length
  bool cuts;                  // rows of more than cut_min elements, up to kPartsRowMax, are cut into parts
  uint64_t cut_min;
  uint32_t rows_at_once;         // that a warp looks at, 32 at most
  ListRange taken;               // by a kernel that takes rows from lists by length
  bool waits;                    // of kernels that run beside each other the first
  unsigned long long *counters;  // rows in each list, then the ticket
  uint64_t *lists[kLists];
  uint64_t capacity[kLists];
};

GSORT_HOST_DEVICE constexpr bool is_on_no_list(uint64_t items, uint64_t k, uint32_t short_items_max) {
  return items <= short_items_max && min_of(items, k) <= kWarpSortMax;
}

// The plan of blocks that do one row each, whatever its length.
constexpr RowsPlan plan_ragged_rows(uint64_t segments, const Shape &whole, const DeviceFacts &d) {
  const uint64_t columns = min_of(max_of(whole.columns / segments, 1), kRaggedGiant);
  constexpr uint32_t kFewest = kRowsThreads[1];  // there may be long ones
  const uint32_t threads = rows_threads(segments, columns, min_of(whole.k, kRowsSortMax), whole.key_bytes, d, kFewest);
  return {threads != 0 ? threads : kFewest, {}};
}

// The plan of the blocks that do one long row after the other, or in fewer teams than planned, of as many more blocks;
// each row's sample is found when it is its turn.
constexpr TeamPlan plan_ragged_team(const Shape &whole, const DeviceFacts &device) {
  TeamPlan plan = plan_team(whole, device);
  const uint64_t blocks = min_of(device.multiprocessors, kTeamBlocksMax);
  plan.teams = static_cast<uint32_t>(min_of(ragged_teams_max(whole), power_down(blocks)));
  plan.blocks = static_cast<uint32_t>(blocks);
  plan.count_items = counted_items_max(plan, whole.k);
  plan.blocks /= plan.teams;
  plan.sample = {0, 0};
  plan.cluster = false;
  plan.group_lanes = 0, plan.groups = kSampleGroups;
  plan.tile_vectors = kVectorsThread;
  return plan;
}

// Blocks that read once the rows that have more elements than a warp does. Where there are hardly more rows than SMs
// and these are short, blocks that keep them are as quick, and others lack threads for rows that are far longer than
// the average. (H100, 2026-11-26, the times of blocks that keep rows or filter them over these: 528 rows and more of
// over 1,024 elements on the average 1.2 to 1.5, fewer 1.0 to 1.2, of up to 4 KB 0.95 to 1.0.)
constexpr uint64_t kStreamRaggedKMax = 128;
constexpr uint64_t kStreamShortColumns = 4096;  // on the average: fewer threads are enough
static_assert(kStreamRaggedKMax <= kWarpSortMax && kStreamRaggedKMax <= stream_k_max(256), "blocks' rows have more");
constexpr StreamPlan plan_ragged_stream(uint64_t segments, const Shape &whole, uint64_t k, const DeviceFacts &device) {
  if (k > kStreamRaggedKMax) return {0};
  const uint64_t columns = whole.columns / segments, listed = ragged_listed_items_max(k, whole.key_bytes, device);
  if (listed > kWarpItemsMax) {  // of some thousand elements, and long ones
    const bool many = columns > listed && segments >= 4 * uint64_t{device.multiprocessors};
    return {many && whole.key_bytes < 8 ? 256u : 512u};
  }
  if (columns > kWarpItemsMax && segments >= 4 * uint64_t{device.multiprocessors})
    return {columns <= kStreamShortColumns && k <= stream_k_max(128) &&
                    segments >= 16 * uint64_t{device.multiprocessors}
                ? 128u
                : 256u};
  return {columns > kWarpItemsMax / 2 && columns * whole.key_bytes < 4096 ? 0u : 512u};
}

// Rows that a warp looks at, of which some lanes do each those on no list: so many as leave some for every warp that
// the device has room for, or as a warp has such lanes; more, where most rows are others'.
constexpr uint32_t ragged_rows_at_once(uint64_t segments, const Shape &whole, uint64_t k, const DeviceFacts &device) {
  constexpr uint64_t kWarpsEach = 64, kMost = 32, kSorting = 4;
  const uint64_t each = segments / (uint64_t{device.multiprocessors} * kWarpsEach), items = whole.columns / segments;
  const uint64_t together = k <= kSomeLanesMax ? 32 / kSomeLanesMax : kSorting;
  return static_cast<uint32_t>(items > kWarpItemsMax ? kMost : min_of(max_of(each, together), kMost));
}

constexpr uint32_t kListThreads = 256;
// Up to so many rows one block lists as quickly as more would.
constexpr uint64_t kListAloneMax = 16384;
constexpr uint32_t kListAloneThreads = 1024;

struct RaggedPlan {
  Shape whole;  // all elements as one row: what bounds the workspace
  RaggedLayout layout;
  uint32_t list_blocks;
  bool listed_alone;                           // rows come onto their lists by one block
  uint32_t short_items_max, listed_items_max;  // see Ragged
  CutRows cut;
  PartsPlan parts;    // behind layout.best_of_parts
  StreamPlan stream;  // of rows that blocks do; threads = 0: they are done by RowsPlan
  RowsPlan rows;
  uint32_t rows_at_once;  // that a warp looks at
  TeamPlan team;
  TeamLayout team_layout;
  uint32_t team_composite_bytes;
  bool rows_may_be_for_blocks, rows_may_be_for_team;
  uint64_t workspace_bytes;  // whatever the device
};

// gsort_topk_segments.
RaggedPlan make_ragged_plan(const Request &request, const DeviceFacts &device);

// One line for the log.
void describe(const Request &request, const RaggedPlan &plan, char *text, size_t text_bytes);

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_RAGGED_PLAN_H_
