// SPDX-License-Identifier: MIT OR Apache-2.0
// What the partition sorts take from the rest of the sort's room, by its short names.
#ifndef GSORT_CUDA_SORT_MSD_NAMES_H_
#define GSORT_CUDA_SORT_MSD_NAMES_H_

#include "cuda/sort/job.h"
#include "cuda/sort/lsd/radix_pass.cuh"

namespace gsort_internal {

using sort::FinalValues;
using sort::lsd::first_item;
using sort::lsd::kLargeTileSharedBytes;
using sort::lsd::large_tile_items;
using sort::lsd::LargeTile;
using sort::lsd::load_keys;
using sort::lsd::load_rows;
using sort::lsd::PassStorage;
using sort::lsd::sort_tile_from;
using sort::lsd::store_final;
using sort::lsd::store_items;
using sort::lsd::store_values;
using sort::lsd::take_tile;
using sort::lsd::TileJob;
using sort::lsd::wide_bytes;
}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_MSD_NAMES_H_
