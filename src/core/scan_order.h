// SPDX-License-Identifier: MIT OR Apache-2.0
// The fixed shape in which both engines add floats in gsort_scan(); docs/scan-order.md states it in words. Change
// nothing here without changing results.
#ifndef GSORT_CORE_SCAN_ORDER_H_
#define GSORT_CORE_SCAN_ORDER_H_

#include <cstdint>

namespace gsort_internal {

// All additions are of doubles, in round to nearest even; the identity is -0.0, so that -0 is kept.
//   chunk: 16 consecutive elements, running sums s_0 = x_0, s_i = s_{i-1} + x_i from the left.
//   row:   32 chunks; the chunk totals are scanned inclusively as Kogge and Stone do: for d = 1, 2, 4, 8, 16 in turn
//          every t_i with i >= d becomes t_{i-d} + t_i, all at once.
//   tile:  16 rows; the row totals (the last value of each row's scan) are scanned likewise with d = 1, 2, 4, 8.
//   group: 256 tiles; the tile totals (the last value of the tile's scan) make 32 runs of 8, each summed from the left,
//          and the run totals are scanned likewise with d = 1, 2, 4, 8, 16.
//   groups: prefix of group 0 is -0.0; prefix of group g + 1 is prefix of group g + (the last value of group g's scan).
// Prefix of tile t in group g: group prefix + (scan value of the run before t's run + the sum, from the left, of the
// tile totals before t in t's run); a missing term is -0.0. Prefix of a row: tile prefix + scan value of the row
// before. Prefix of a chunk: row prefix + scan value of the chunk before. Result of element i: chunk prefix + s_i,
// rounded once to the element's type. Absent elements at the end count as -0.0. An exclusive scan gives element i - 1's
// result, and +0.0 first.
constexpr uint32_t kScanChunkItems = 16;
constexpr uint32_t kScanRowChunks = 32;
constexpr uint32_t kScanTileRows = 16;
constexpr uint32_t kScanRunTiles = 8;
constexpr uint32_t kScanGroupRuns = 32;

constexpr uint32_t kScanRowItems = kScanChunkItems * kScanRowChunks;  // 512
constexpr uint32_t kScanTileItems = kScanRowItems * kScanTileRows;    // 8192
constexpr uint32_t kScanGroupTiles = kScanRunTiles * kScanGroupRuns;  // 256

}  // namespace gsort_internal

#endif  // GSORT_CORE_SCAN_ORDER_H_
