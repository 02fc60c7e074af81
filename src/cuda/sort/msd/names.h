// SPDX-License-Identifier: MIT OR Apache-2.0
// What the partition sorts take from the rest of the sort's room, by its short names.
#ifndef GSORT_CUDA_SORT_MSD_NAMES_H_
#define GSORT_CUDA_SORT_MSD_NAMES_H_

#include "cuda/sort/job.h"
#include "cuda/sort/lsd/radix_pass.cuh"

namespace gsort_internal::sort::msd {

using lsd::first_item;
using lsd::kLargeTileSharedBytes;
using lsd::large_tile_items;
using lsd::LargeTile;
using lsd::load_keys;
using lsd::load_rows;
using lsd::PassStorage;
using lsd::sort_tile_by;
using lsd::sort_tile_from;
using lsd::store_final;
using lsd::store_keys;
using lsd::store_values;
using lsd::take_tile;
using lsd::tile_place;
using lsd::tile_target;
using lsd::TileDigits;
using lsd::TileJob;
using lsd::wide_bytes;
using sort::FinalValues;
}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_NAMES_H_
