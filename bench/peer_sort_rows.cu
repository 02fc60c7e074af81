// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cuda/iterator>

#include "peer_detail.h"

namespace gsort_bench {
namespace {

struct RowStart {
  int64_t columns;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * columns; }
};

}  // namespace

template <typename Key>
cudaError_t cub_sort_rows(PeerScratch &scratch, const PeerRows &rows, const uint32_t *indices_in, cudaStream_t s) {
  const auto starts =
      cuda::make_transform_iterator(cuda::counting_iterator<int64_t>(0), RowStart{static_cast<int64_t>(rows.columns)});
  return cub::DeviceSegmentedRadixSort::SortPairsDescending(
      scratch.memory, scratch.bytes, static_cast<const Key *>(rows.in), static_cast<Key *>(rows.values_out), indices_in,
      rows.indices_out, static_cast<int64_t>(rows.rows * rows.columns), static_cast<int64_t>(rows.rows), starts,
      starts + 1, 0, static_cast<int>(8 * sizeof(Key)), s);
}

template cudaError_t cub_sort_rows<float>(PeerScratch &, const PeerRows &, const uint32_t *, cudaStream_t);

}  // namespace gsort_bench
