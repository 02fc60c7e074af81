// SPDX-License-Identifier: MIT OR Apache-2.0
// The MSD sort's tables in device memory: what they are, and where they lie in their slice of the workspace, for the
// size query and the run alike.
#ifndef GSORT_CUDA_SORT_MSD_TABLES_H_
#define GSORT_CUDA_SORT_MSD_TABLES_H_

#include <cstdint>

#include "core/slices.h"
#include "cuda/sort/msd/plan.h"
#include "cuda/sort/msd/split_plan.h"

namespace gsort_internal::sort::msd {

// Read and written at once.
struct alignas(8) TwoWords {
  uint32_t x, y;
};

// Hands out memory piece by piece; of NULL, it only counts.
class TableSlices {
 public:
  explicit TableSlices(void *memory) : memory_(static_cast<char *>(memory)) {}
  // Each of the tables has `count` entries.
  template <class... T>
  void take(uint64_t count, T *&...tables) {
    (take_one(count, tables), ...);
  }
  uint64_t bytes() const { return slices_.bytes(); }

 private:
  template <class T>
  void take_one(uint64_t count, T *&table) {
    const uint64_t offset = slices_.take(count * sizeof(T));
    table = memory_ == nullptr ? nullptr : reinterpret_cast<T *>(memory_ + offset);
  }

  char *memory_;
  SliceCounter slices_;
};

// A cell with very many keys. They are counted in chunks, some values of a chunk at a time, and written in pieces: such
// counts and pieces are numbered across cells.
struct HugeCell {
  uint32_t cell, first_count, first_piece;
  uint32_t begin, last;          // its values: from `begin` to begin + last
  uint32_t totals[kValueParts];  // keys of each part of its values
};

// A value that many keys have, and its cell, in which no other such value is.
struct FrequentValue {
  uint32_t key, cell;
  uint32_t split;  // keys of the cell that are less, once they are sorted
};

// Written by the sample kernel. The kernels up to the histogram may clear `go` and `sorted`; no key is moved before it
// has run. With go = 0 the MSD kernels do nothing; with sorted = 0 the LSD sort behind them does the work.
template <class U>
struct State {
  uint32_t go;
  uint32_t sorted;          // as `go`, but set too where the keys are sorted before this sort begins
  uint32_t foreign;         // set by the histogram: a key has another prefix
  uint32_t tickets;         // of the histogram's blocks
  uint32_t late_tickets;    // of the late count's blocks
  uint32_t mapped;          // the keys spread unevenly: cells are found by the map
  uint32_t map_tickets;     // of the blocks that make the map
  uint32_t range_bits;      // bits of a key below the common prefix
  uint32_t takes_crowds;    // cells with more keys than the finish takes are listed
  uint32_t crowded;         // cells in that list
  uint32_t many_equal;      // the sample has many equal keys
  uint32_t few_values;      // an eighth of it and more
  uint32_t listed;          // values that the sample has often
  uint32_t frequent;        // of these, the most frequent of every cell; set by the map's last block
  uint32_t run_tickets;     // of what the kernel that writes their keys has to do
  uint32_t pieces_saved;    // by that kernel
  unsigned long long huge;  // see HugeCounts
  U prefix;                 // the prefix in the upper bits, zeros below
};

template <class U>
struct Arguments {
  State<U> *state;
  uint32_t *cells;          // one more than there are cells: keys in a cell, after the scan the place of its first key
  uint32_t *bin_first;      // one more than bins of the first pass: place of a bin's first key
  uint32_t *first_room;     // cursors of the first pass, one a bin
  uint32_t *room;           // cursors of the second pass, one a cell
  uint32_t *first_tile;     // one more than bins: number of the first tile of each bin of the first pass, in the second
  uint32_t *weights;        // kMapWeights: sampled keys of each part of the range
  uint32_t *map;            // kMapEntries: first cell, and number of cells in the upper half; 4-byte keys: see shares.h
  uint32_t *bin_entries;    // one more than bins: the map's first entry that keys of a bin of the first pass can have
  uint32_t *crowded;        // cells that a block of the crowds' kernel sorts, in any order
  HugeCell *huge;           // cells whose values many blocks count, in the order of their counts and pieces
  TwoWords *ranges;         // mapped_cells: see MappedDigits
  uint64_t *listed;         // values in the upper half, and how many of the sample have them
  FrequentValue *frequent;  // in the order of their keys
  uint32_t *frequent_table;  // kFrequentSlots: see is_frequent()
  Plan plan;
  uint32_t ahead;  // by how many tiles or cells keys are fetched into the L2 cache before their turn
};

// Bins of the first pass, one behind the other, that are sorted at a time where there is scratch memory for no more
// keys.
struct Batch {
  uint32_t first_cell, end_cell;
  uint32_t first_tile, end_tile;  // of the second pass
  uint32_t place;                 // of the first key
};

// Cells that another sort finds: 2^kFoundCellBits equal parts of the range below the keys' common prefix.
constexpr uint32_t kFoundCellBits = 8;
template <class U>
struct FoundCells {
  State<U> *state;
  uint32_t *places;  // of the first key of each cell, and n
};
template <class U>
FoundCells<U> make_found_cells(TableSlices &slices) {
  FoundCells<U> cells{};
  slices.take(1, cells.state);
  slices.take((1u << kFoundCellBits) + 1, cells.places);
  return cells;
}
inline uint64_t found_cells_bytes() {
  TableSlices slices(nullptr);
  make_found_cells<uint64_t>(slices);
  return slices.bytes();
}

// ahead: see Arguments.
template <class U>
Arguments<U> make_arguments(const Plan &plan, uint32_t ahead, TableSlices &slices) {
  const uint64_t cells = cells_max(plan), bins = bins_max(plan);
  Arguments<U> tables{};
  slices.take(1, tables.state);
  slices.take(cells + 1, tables.cells);
  slices.take(bins + 1, tables.bin_first);
  slices.take(bins, tables.first_room);
  slices.take(cells, tables.room);
  slices.take(bins + 1, tables.first_tile);
  slices.take(kMapWeights, tables.weights);
  slices.take(kMapEntries, tables.map);
  slices.take(bins + 1, tables.bin_entries);
  if (sizeof(U) == 4 && plan.takes_crowds) {
    // A crowded cell has more keys than a cell has on average.
    slices.take(uint64_t{1} << plan.cell_bits, tables.crowded);
    slices.take((kCellKeysMean * (uint64_t{1} << plan.cell_bits)) / kHugeCellKeys + 1, tables.huge);
  }
  slices.take(cells, tables.ranges);
  if (sizeof(U) == 4 && plan.takes_frequent) {
    slices.take(kFrequentMax, tables.listed);
    slices.take(kFrequentMax, tables.frequent);
    slices.take(kFrequentSlots, tables.frequent_table);
  }
  tables.plan = plan;
  tables.ahead = ahead;
  return tables;
}

// Written by the kernel that samples but for what others count.
template <class U>
struct SplitState {
  uint32_t bins;
  uint32_t subs;
  uint32_t shift;               // of a key above `least`, to its entry of the root
  uint32_t tickets;             // of the blocks that sample, then of the histogram's; 0 before the first
  uint32_t moved;               // keys that the first pass moves
  uint32_t cells, bigs, fills;  // in the lists
  uint32_t finish_tickets;
  uint32_t go;      // not 0: the keys are sorted by splitters
  uint32_t sorted;  // not 0: nothing is left to do for what comes behind
  U least, most;    // of the sample
};

// Keys [first, first + count) of the output are one value or, of a bin whose every value was counted, several.
struct SplitFill {
  uint32_t first, count, bin;
};

// Of a bin. kValue: its keys are one value, not moved, only counted. kNarrow: every value has a digit, so that counts
// of digits are all there is to know.
enum class SplitKind : uint32_t { kValue, kNarrow, kWide };

template <class U>
struct SplitArguments {
  const uint32_t *sorted;  // not 0: the keys are sorted without splitters
  SplitState<U> *state;
  U *sample;                // sorted
  uint32_t *root;           // kSplitTableWords: bins of the keys with these leading bits, see SplitBins
  U *sub_least;             // kSplitSubsMax: the key where a table of its own begins
  uint32_t *sub_words;      // kSplitSubsMax: last number, and the first word in the upper half
  U *starts;                // of bins, the least key each can hold; one more: 0
  U *digit_least;           // of bins, the key where digits begin
  uint32_t *digit_shift;    // of bins; kSplitUneven: digits are shared out between knots
  U *knots;                 // kSplitKnots of a bin: ascending, the first is the bin's start
  uint32_t *knot_shift;     // likewise, of a key above its knot
  SplitKind *kinds;         // of bins
  uint32_t *bin_counts;     // of bins
  uint32_t *bin_done;       // of bins: keys counted by digit
  uint32_t *scratch_first;  // of bins and one more: place after the first pass
  uint32_t *out_first;      // of bins: place in the output
  uint32_t *first_room;     // of bins: cursor of the first pass
  uint32_t *first_tile;     // of bins and one more: number of the first tile in the second pass
  TwoWords *bin_cells;      // of bins: first cell, number of cells
  uint32_t *digits;         // 2^digit_bits of every bin: counts, then, where no cells are made of them, first places
  uint16_t *digit_cell;     // 2^digit_bits of every bin: number of the cell within the bin
  TwoWords *cells;          // place in the output, number of keys
  uint32_t *room;           // of cells: cursor of the second pass
  uint32_t *big;            // cells with more keys than a block holds
  SplitFill *fills;
  bool always;  // also keys that the LSD sort does sooner
  SplitPlan plan;
};

// sorted, always: see SplitArguments. Behind the other tables.
template <class U>
SplitArguments<U> make_split_arguments(const SplitPlan &plan, const uint32_t *sorted, bool always,
                                       TableSlices &slices) {
  const uint64_t bins = plan.bins_max + 1, digits = bins << plan.digit_bits;
  SplitArguments<U> tables{};
  tables.sorted = sorted;
  slices.take(1, tables.state);
  slices.take(kSplitSampleMax, tables.sample);
  slices.take(kSplitTableWords, tables.root);
  slices.take(kSplitSubsMax, tables.sub_least, tables.sub_words);
  slices.take(bins, tables.starts, tables.digit_least, tables.digit_shift);
  slices.take(bins * kSplitKnots, tables.knots, tables.knot_shift);
  slices.take(bins, tables.kinds, tables.bin_counts, tables.bin_done, tables.scratch_first, tables.out_first,
              tables.first_room, tables.first_tile, tables.bin_cells);
  slices.take(digits, tables.digits, tables.digit_cell);
  slices.take(plan.cells_max, tables.cells, tables.room, tables.big);
  slices.take(plan.fills_max, tables.fills);
  tables.always = always;
  tables.plan = plan;
  return tables;
}

// Bytes for the tables, besides one array of n keys.
template <class U>
uint64_t tables_bytes_of(const Plan &plan, const SplitPlan &split) {
  TableSlices slices(nullptr);
  make_arguments<U>(plan, 0, slices);
  if (split.sample != 0) make_split_arguments<U>(split, nullptr, false, slices);
  return slices.bytes();
}
inline uint64_t tables_bytes(const Plan &plan, const SplitPlan &split, uint32_t key_bytes) {
  return key_bytes == 8 ? tables_bytes_of<uint64_t>(plan, split) : tables_bytes_of<uint32_t>(plan, split);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_TABLES_H_
