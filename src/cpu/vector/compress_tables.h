// SPDX-License-Identifier: MIT OR Apache-2.0
// Which lanes to take so that those whose mask is not set come first and the others follow. Our own, because the tables
// of Highway 1.0 are built anew on the stack each time.
#ifndef GSORT_CPU_VECTOR_COMPRESS_TABLES_H_
#define GSORT_CPU_VECTOR_COMPRESS_TABLES_H_

#include <cstdint>

namespace gsort_internal {

// For each mask of kLanes lanes: the places that a permutation of kEntries entries takes; a lane is
// kEntries / kLanes entries.
template <uint32_t kLanes, uint32_t kEntries>
struct CompressTable {
  alignas(16) uint8_t places[uint32_t{1} << kLanes][kEntries] = {};

  constexpr CompressTable() {
    constexpr uint32_t entries_of_lane = kEntries / kLanes;
    for (uint32_t mask = 0; mask < (uint32_t{1} << kLanes); ++mask) {
      uint32_t next = 0;
      for (uint32_t set = 0; set < 2; ++set)
        for (uint32_t lane = 0; lane < kLanes; ++lane)
          for (uint32_t entry = 0; ((mask >> lane) & 1) == set && entry < entries_of_lane; ++entry)
            places[mask][next++] = static_cast<uint8_t>(lane * entries_of_lane + entry);
    }
  }
};

template <uint32_t kLanes, uint32_t kEntries>
inline constexpr CompressTable<kLanes, kEntries> kCompressTable{};

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_COMPRESS_TABLES_H_
