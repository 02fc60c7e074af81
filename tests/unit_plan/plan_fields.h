// SPDX-License-Identifier: MIT OR Apache-2.0
// Every field of every plan, folded into one number: what differs between two plans shows in it.
#ifndef GSORT_TESTS_UNIT_PLAN_PLAN_FIELDS_H_
#define GSORT_TESTS_UNIT_PLAN_PLAN_FIELDS_H_

#include <cstdint>

#include "cuda/merge/plan.h"
#include "cuda/scan/plan.h"
#include "cuda/segments/plan.h"
#include "cuda/sort/plan.h"
#include "cuda/sum/plan.h"
#include "cuda/topk/plan.h"
#include "cuda/topk/ragged_plan.h"

namespace gsort_test {

// FNV-1a over 64-bit words, with a shift so that high bits reach low ones.
class Digest {
 public:
  void add_word(uint64_t word) {
    value_ = (value_ ^ word) * 0x100000001b3;
    value_ ^= value_ >> 29;
  }
  uint64_t value() const { return value_; }

  // All fields of a T. A field that is left out makes the sizes differ by more than padding.
  template <class T, class... Fields>
  void add_fields(const Fields &...fields) {
    static_assert(sizeof(T) < (sizeof(Fields) + ...) + 12, "a field of the plan is missing here");
    (add(fields), ...);
  }

  template <class T>
  std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>> add(T field) {
    add_word(static_cast<uint64_t>(field));
  }
  template <size_t kFields>
  void add(const uint64_t (&fields)[kFields]) {
    for (const uint64_t field : fields) add_word(field);
  }

  void add(const gsort_internal::sort::lsd::Plan &p) {
    add_fields<gsort_internal::sort::lsd::Plan>(p.digits, p.slots, p.small_tiles, p.tile_items, p.portion_items,
                                                p.portions, p.groups, p.histogram_copies);
  }
  void add(const gsort_internal::sort::lsd::GridPlan &p) {
    add_fields<gsort_internal::sort::lsd::GridPlan>(p.blocks, p.rows);
  }
  void add(const gsort_internal::sort::msd::Plan &p) {
    add_fields<gsort_internal::sort::msd::Plan>(p.cell_bits, p.narrow_cells, p.second_bits, p.counted_late,
                                                p.mapped_cells, p.map_shares, p.takes_crowds, p.takes_frequent,
                                                p.huge_chunk, p.huge_piece);
  }
  void add(const gsort_internal::sort::msd::SplitPlan &p) {
    add_fields<gsort_internal::sort::msd::SplitPlan>(p.sample, p.share, p.bins_max, p.copy_bits, p.digit_bits,
                                                     p.cells_max, p.fills_max);
  }
  void add(const gsort_internal::sort::sample_sort::Plan &p) {
    add_fields<gsort_internal::sort::sample_sort::Plan>(p.share_items);
  }
  void add(const gsort_internal::sort::msd::StablePlan &p) {
    add_fields<gsort_internal::sort::msd::StablePlan>(p.cell_bits, p.first_bits, p.second_bits, p.place_bits,
                                                      p.cell_items_max, p.mapped_cells, p.mapped_items, p.split_bins,
                                                      p.split_sample, p.split_share, p.split_cells, p.split_passes,
                                                      p.crowded_share, p.crowded_entropy, p.dense_passes);
  }
  void add(const gsort_internal::sort::sample_sort::StablePlan &p) {
    add_fields<gsort_internal::sort::sample_sort::StablePlan>(p.blocks, p.share_items);
  }
  void add(const gsort_internal::sort::small::GridPlan &p) {
    add_fields<gsort_internal::sort::small::GridPlan>(p.blocks, p.share, p.samples, p.is_long);
  }
  void add(const gsort_internal::sort::fast_path::Plan &p) {
    add_fields<gsort_internal::sort::fast_path::Plan>(p.chunk_items, p.chunks, p.counter_bits, p.number_bits);
  }
  void add(const gsort_internal::sort::Slices &s) {
    add_fields<gsort_internal::sort::Slices>(
        s.counts, s.blocks_done, s.tickets, s.look_back, s.look_back_groups, s.actions, s.zero_bytes, s.fast_path_state,
        s.fast_path_counts, s.fast_path_zero_bytes, s.bases, s.dense_codes, s.keys_x, s.keys_y, s.values_x, s.values_y,
        s.small_indices, s.gathered, s.values_wide, s.inverse_cursors, s.inverse_records, s.fill_counts,
        s.fill_blocks_done, s.fill_bases, s.fast_path_bases, s.msd_tables, s.sample_sort_tables, s.grid_staged,
        s.grid_spare, s.grid_starts, s.grid_counts, s.grid_group_counts, s.grid_varying, s.grid_cells, s.bytes);
  }
  void add(const gsort_internal::sort::Plan &p) {
    add_fields<gsort_internal::sort::Plan>(
        p.algorithm, p.carry, p.key_bytes, p.gathers_values, p.widens_values, p.inverts_order, p.tries_fast_path,
        p.grid_finds_cells, p.sampled_items, p.lsd, p.dense_passes_min, p.grid_radix, p.msd, p.split, p.sample_sort,
        p.even_first, p.stable_sample, p.stable, p.grid, p.fast_path, p.look_back_tiles, p.workspace_bytes, p.slices);
  }

  void add(const gsort_internal::topk::Shape &s) {
    add_fields<gsort_internal::topk::Shape>(s.rows, s.columns, s.k, s.key_bytes);
  }
  void add(const gsort_internal::topk::Sample &s) { add_fields<gsort_internal::topk::Sample>(s.items, s.rank); }
  void add(const gsort_internal::topk::RowsBounds &b) {
    add_fields<gsort_internal::topk::RowsBounds>(b.rank, b.slack, b.tiles, b.again);
  }
  void add(const gsort_internal::topk::RowsPlan &p) { add_fields<gsort_internal::topk::RowsPlan>(p.threads, p.bounds); }
  void add(const gsort_internal::topk::ResidentBound &b) {
    add_fields<gsort_internal::topk::ResidentBound>(b.need, b.each, b.rank, b.slot_bits);
  }
  void add(const gsort_internal::topk::TeamPlan &p) {
    add_fields<gsort_internal::topk::TeamPlan>(p.teams, p.blocks, p.buffer_items, p.run_items, p.sample, p.tile_vectors,
                                               p.group_lanes, p.groups, p.count_items, p.cluster, p.resident,
                                               p.drawn_rank, p.slot_bits, p.tiles_ahead, p.cluster_tiles);
  }
  void add(const gsort_internal::topk::TeamLayout &l) {
    add_fields<gsort_internal::topk::TeamLayout>(l.samples, l.least, l.regions, l.candidate_counts, l.counts, l.list_a,
                                                 l.list_b, l.list_a_items, l.bytes);
  }
  void add(const gsort_internal::topk::BucketsPlan &p) {
    add_fields<gsort_internal::topk::BucketsPlan>(p.is_long, p.blocks, p.share, p.samples, p.rank, p.room, p.rough_rank,
                                                  p.starts, p.bytes);
  }
  void add(const gsort_internal::topk::SelectStep &s) {
    add_fields<gsort_internal::topk::SelectStep>(s.items, s.sorted, s.rest, s.bytes);
  }
  void add(const gsort_internal::topk::SortStep &s) {
    add_fields<gsort_internal::topk::SortStep>(s.all, s.items, s.index_bytes, s.keys, s.indices, s.rest, s.bytes);
  }
  void add(const gsort_internal::topk::PartsPlan &p) {
    add_fields<gsort_internal::topk::PartsPlan>(p.rows.warps, p.rows.groups, p.rows.places, p.of_row, p.indices,
                                                p.bytes);
  }
  void add(const gsort_internal::topk::Plan &p) {
    add_fields<gsort_internal::topk::Plan>(
        p.shape, p.algorithm, p.index_bits, p.composite_bytes, p.tile_threads, p.lanes.lanes, p.lanes.registers,
        p.sorted_lanes.lanes, p.sorted_lanes.keys, p.bound_lanes.registers, p.bound_lanes.groups, p.best.warps,
        p.best.parts, p.best.cluster, p.bound_rows.warps, p.bound_rows.groups, p.bound_rows.places, p.parts,
        p.stream.threads, p.rows, p.team, p.team_layout, p.buckets, p.select, p.sort, p.workspace_bytes);
  }
  void add(const gsort_internal::topk::RaggedLayout &l) {
    add_fields<gsort_internal::topk::RaggedLayout>(l.list_counters, l.lists, l.capacity, l.best_of_parts, l.team,
                                                   l.bytes);
  }
  void add(const gsort_internal::topk::CutRows &c) { add_fields<gsort_internal::topk::CutRows>(c.any, c.min); }
  void add(const gsort_internal::topk::RaggedPlan &p) {
    add_fields<gsort_internal::topk::RaggedPlan>(p.whole, p.layout, p.list_blocks, p.listed_alone, p.short_items_max,
                                                 p.listed_items_max, p.cut, p.parts, p.stream.threads, p.rows,
                                                 p.rows_at_once, p.team, p.team_layout, p.team_composite_bytes,
                                                 p.rows_may_be_for_blocks, p.rows_may_be_for_team, p.workspace_bytes);
  }

  void add(const gsort_internal::segments::Plan &p) {
    add_fields<gsort_internal::segments::Plan>(
        p.small_max, p.middle_max, p.medium_max, p.big_max, p.large_max, p.large_tiles_max, p.partition_tiles_max,
        p.parts_max, p.buckets_max, p.merge, p.big, p.spread, p.partition, p.short_tiles, p.list_counts, p.tickets,
        p.bounds, p.zero_bytes, p.look_back, p.large_counts, p.small_list, p.middle_list, p.medium_list, p.big_list,
        p.small_merges_list, p.middle_merges_list, p.medium_merges_list, p.large_list, p.large_tile_begins,
        p.again_list, p.radix_list, p.parts, p.bucket_begins, p.bucket_counts, p.bucket_room, p.bucket_starts, p.keys_y,
        p.workspace_bytes, p.check_blocks, p.short_blocks, p.count_blocks, p.merge_blocks, p.big_blocks, p.small_blocks,
        p.middle_blocks, p.medium_blocks, p.whole);
  }
  void add(const gsort_internal::merge::Plan &p) {
    add_fields<gsort_internal::merge::Plan>(p.way, p.tiles, p.groups, p.blocks, p.warps, p.shared_bytes, p.counters,
                                            p.between, p.borders, p.misfits, p.workspace_bytes);
  }
  void add(const gsort_internal::sum::Plan &p) {
    add_fields<gsort_internal::sum::Plan>(p.scope, p.blocks, p.threads, p.shared_bytes, p.counters, p.extremes,
                                          p.workspace_bytes);
  }
  void add(const gsort_internal::scan::FloatPlan &p) {
    add_fields<gsort_internal::scan::FloatPlan>(p.tiles, p.groups, p.way, p.blocks, p.shared_bytes);
  }
  void add(const gsort_internal::scan::IntegerPlan &p) {
    add_fields<gsort_internal::scan::IntegerPlan>(p.tiles, p.planes, p.blocks);
  }
  void add(const gsort_internal::scan::Plan &p) {
    add_fields<gsort_internal::scan::Plan>(p.path, p.floats, p.integers, p.tickets, p.tile_totals, p.group_prefixes,
                                           p.tile_ends, p.inclusive_words, p.words, p.workspace_bytes);
  }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_PLAN_PLAN_FIELDS_H_
